"""News of pages, home by home, numbered; the last of them are kept for who was away for a moment."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ...index.watcher import PageChanges
from ...memory import Memory
from ..mcp.notifications import Notices

KEPT = 1000
_MOST = 500  # who listen at once


class News(NamedTuple):
    number: int
    path: str
    kind: str  # changed or removed


class Feed:
    """Of one home. `run` tells its numbers from those of another time."""

    def __init__(self) -> None:
        self.run, self.last, self.closed = secrets.token_hex(4), 0, False
        self._kept: deque[News] = deque(maxlen=KEPT)
        self._waiting: set[asyncio.Event] = set()

    def tell(self, seen: PageChanges) -> None:
        told = [*((path, "changed") for path in seen.changed), *((path, "removed") for path in seen.removed)]
        for path, kind in told:
            self.last += 1
            self._kept.append(News(self.last, path, kind))
        self._wake()

    def forget(self) -> None:
        """Something may have been missed: who comes back from before is to look at everything anew."""
        self.run = secrets.token_hex(4)
        self._kept.clear()
        self._wake()

    def since(self, number: int) -> Iterator[News]:
        return (news for news in [*self._kept] if news.number > number)

    def reaches(self, number: int) -> bool:
        """Whether all that came after a number is still kept."""
        return number >= self.last - len(self._kept)

    async def wait(self, seconds: float) -> None:
        """Until there is something new, or so long."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(event)

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()

    def close(self) -> None:
        self.closed = True
        self._wake()


class Feeds:
    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._feeds: dict[str, Feed] = {}
        self.listening = 0

    @property
    def is_full(self) -> bool:
        return self.listening >= _MOST

    def of(self, memory: Memory) -> Feed:
        """The feed of a home, which is followed from now on."""
        root = memory.home.root
        if root not in self._feeds:
            self._feeds[root] = Feed()
            self._notices.hear(root, self._feeds[root].tell)
            self._notices.follow(memory)
        elif self._notices.follow(memory):  # nobody watched for a while
            self._feeds[root].forget()
        return self._feeds[root]

    async def begun(self, memory: Memory) -> Feed:
        """The same, once nothing that happens from now on is missed."""
        feed = self.of(memory)
        await self._notices.followed(memory.home.root)
        return feed

    def close(self) -> None:
        for feed in self._feeds.values():
            feed.close()
