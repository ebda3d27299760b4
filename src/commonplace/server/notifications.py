"""Notifications of changed pages, whoever changed them: an agent, another process, a person with an editor.

A home is watched for as long as a listener wants it. Listeners are the MCP subscriptions and the change feeds of HTTP,
which number changes so that a client can resume. Each listener reports a page only to agents that may see it; a feed
counts only what its agent may see, so that its numbers say nothing of what others write.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from ..errors import CommonplaceError
from ..home import Home
from ..index.watcher import PageChanges
from ..memory import Memory

MAX_WATCHED_HOMES = 32  # with more, the watcher of the home that was requested longest ago stops
WATCH_START_TIMEOUT_SECONDS = 5.0
FEED_CHANGES = 1000  # changes that a feed remembers
MAX_FEED_READERS = 500
MAX_FEEDS = 1000  # one for each agent that listens; the least recently used are dropped


class ChangeListener(Protocol):
    def list_homes(self) -> set[str]:
        """Return the homes whose changes are of interest."""
        ...

    async def notify(self, home: str, changes: PageChanges, added: frozenset[str]) -> None:
        """Report the changes in a home; `added` are those changed pages that are new."""
        ...

    def close(self) -> None:
        """Close the clients' open streams, since the server ends."""
        ...


@dataclass
class _Watch:
    """A running watcher of one home, and the pages it knows."""

    stop: threading.Event = field(default_factory=threading.Event)
    pages: set[str] = field(default_factory=set)
    started: asyncio.Event = field(default_factory=asyncio.Event)  # set once no change is missed any more
    on_late_start: list[Callable[[], None]] = field(default_factory=list)  # called then, for those who stopped waiting


class HomeWatchers:
    """One watcher thread per home. All methods run in the event loop."""

    def __init__(self) -> None:
        self._watches: OrderedDict[str, _Watch] = OrderedDict()
        self._listeners: list[ChangeListener] = []
        self._notifying: set[asyncio.Task[None]] = set()

    def add_listener(self, listener: ChangeListener) -> None:
        self._listeners.append(listener)

    def watch(self, memory: Memory) -> bool:
        """Watch the pages of a home from now on; return False if it is watched already."""
        home = memory.home
        if home.root in self._watches:
            self._watches.move_to_end(home.root)
            return False
        watch = _Watch()
        self._watches[home.root] = watch
        if len(self._watches) > MAX_WATCHED_HOMES:
            self._watches.popitem(last=False)[1].stop.set()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, args=(loop, home, watch), name=f"watch {home.root}", daemon=True).start()
        return True

    def _run(self, loop: asyncio.AbstractEventLoop, home: Home, watch: _Watch) -> None:
        """Watch until stopped, in a separate thread, and report to the event loop."""

        def report(callback: Callable[..., object], *arguments: object) -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(callback, *arguments)

        def on_start(_: object) -> None:
            report(self._start, watch)

        def on_change(changes: PageChanges) -> None:
            report(self._notify, home.root, watch, changes)

        with suppress(CommonplaceError, OSError):  # without a watcher, searches look for changes themselves
            watch.pages.update(home.index.query(lambda view: view.index.stamps()))
            embedding = home.embedding if home.search_settings.enabled else None
            home.index.watch(watch.stop, on_change, embedding, on_start)
        report(self._remove, home.root, watch)

    def _start(self, watch: _Watch) -> None:
        watch.started.set()
        while watch.on_late_start:
            watch.on_late_start.pop()()

    def _notify(self, root: str, watch: _Watch, changes: PageChanges) -> None:
        added = frozenset(changes.changed) - watch.pages
        watch.pages.update(changes.changed)
        watch.pages.difference_update(changes.removed)
        for listener in self._listeners:  # a task each, so that one that waits delays no other
            task = asyncio.get_running_loop().create_task(listener.notify(root, changes, added))
            self._notifying.add(task)
            task.add_done_callback(self._notifying.discard)

    def _remove(self, root: str, watch: _Watch) -> None:
        """Forget a watcher that ended; the next `watch` starts another."""
        watch.started.set()
        if self._watches.get(root) is watch:
            del self._watches[root]

    async def wait_until_started(self, root: str, on_late_start: Callable[[], None]) -> None:
        """Wait, for a limited time, until no change in a home is missed; after that, `on_late_start` is called."""
        if watch := self._watches.get(root):
            try:
                async with asyncio.timeout(WATCH_START_TIMEOUT_SECONDS):
                    await watch.started.wait()
            except TimeoutError:
                if not watch.started.is_set():
                    watch.on_late_start.append(on_late_start)

    def stop_unused(self) -> None:
        """Stop watching homes that no listener wants any more."""
        roots = {root for listener in self._listeners for root in listener.list_homes()}
        for root in [root for root in self._watches if root not in roots]:
            self._watches.pop(root).stop.set()

    def close(self) -> None:
        for watch in self._watches.values():
            watch.stop.set()
        for listener in self._listeners:
            listener.close()


class NumberedChange(NamedTuple):
    number: int
    path: str
    kind: Literal["changed", "removed"]


class ChangeFeed:
    """The latest changes that one agent may see, numbered. `run` distinguishes these numbers from those before a gap or
    restart."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.run = secrets.token_hex(4)
        self.last = 0
        self.is_closed = False
        self._changes: deque[NumberedChange] = deque(maxlen=FEED_CHANGES)
        self._waiting: set[asyncio.Event] = set()

    def add(self, changes: PageChanges) -> None:
        before = self.last
        for path in changes.changed:
            self._append(path, "changed")
        for path in changes.removed:
            self._append(path, "removed")
        if self.last > before:
            self._wake()

    def _append(self, path: str, kind: Literal["changed", "removed"]) -> None:
        if not self.memory.home.visibility.may_see_page(path):
            return
        self.last += 1
        self._changes.append(NumberedChange(self.last, path, kind))

    def restart(self) -> None:
        """Begin a new run, since changes may have been missed: existing readers must read everything again."""
        self.run = secrets.token_hex(4)
        self._changes.clear()
        self._wake()

    def read_after(self, number: int) -> Iterator[NumberedChange]:
        return (change for change in [*self._changes] if change.number > number)

    def reaches(self, number: int) -> bool:
        """Return whether every change after a number is still remembered."""
        return number >= self.last - len(self._changes)

    async def wait(self, seconds: float) -> None:
        """Wait for the next change, or for the given time."""
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
        self.is_closed = True
        self._wake()


class ChangeFeeds:
    """The change feeds in use, by home and agent: their homes stay watched."""

    def __init__(self, watchers: HomeWatchers) -> None:
        self._watchers = watchers
        self._feeds: OrderedDict[tuple[str, str], ChangeFeed] = OrderedDict()
        self.readers = 0
        watchers.add_listener(self)

    @property
    def is_full(self) -> bool:
        return self.readers >= MAX_FEED_READERS

    def list_homes(self) -> set[str]:
        return {root for root, _ in self._feeds}

    async def notify(self, home: str, changes: PageChanges, added: frozenset[str]) -> None:
        for (root, _), feed in self._feeds.items():
            if root == home:
                feed.add(changes)

    def get(self, memory: Memory) -> ChangeFeed:
        """Return the feed of an agent, and keep its home watched."""
        root = memory.home.root
        if self._watchers.watch(memory):  # the home was not watched for a while
            self._restart(root)
        key = (root, memory.home.agent)
        feed = self._feeds.setdefault(key, ChangeFeed(memory))
        feed.memory = memory  # it may have been reopened with new settings
        self._feeds.move_to_end(key)
        if len(self._feeds) > MAX_FEEDS:
            self._feeds.popitem(last=False)
        return feed

    def _restart(self, root: str) -> None:
        for (home, _), feed in self._feeds.items():
            if home == root:
                feed.restart()

    async def start(self, memory: Memory) -> ChangeFeed:
        """Return the feed of an agent once no change is missed any more, or restart it later when that is so."""
        feed = self.get(memory)
        root = memory.home.root
        await self._watchers.wait_until_started(root, lambda: self._restart(root))
        return feed

    def close(self) -> None:
        for feed in self._feeds.values():
            feed.close()
