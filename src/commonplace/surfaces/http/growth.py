"""How much memory there is, and how it came to be, day by day, as history tells."""

from __future__ import annotations

import os
from typing import NamedTuple

from ...home import Home
from ...maintenance import timeline
from ...storage.backends import INDEX_FOLDER

_MOST_DAYS = 366


class Day(NamedTuple):
    """What there was at the end of a day. `changes`: how many were made on it."""

    day: str
    pages: int
    bytes: int
    changes: int


class Sizes(NamedTuple):
    """Of what this agent may see; history and index are everybody's, and None where nobody can tell."""

    pages: int
    bytes: int
    history_bytes: int | None
    index_bytes: int | None


def growth(home: Home) -> list[Day]:
    """The days on which something changed that this agent may see, oldest first; the last year of them."""
    timeline.look(home)
    days: dict[str, Day] = {}
    sizes: dict[str, int] = {}
    pages = held = 0
    for change, size in home.history.sizes():
        if not timeline.may_see(home, change.path):
            continue
        before, sizes[change.path] = sizes.get(change.path, -1), size
        pages += (size >= 0) - (before >= 0)
        held += max(size, 0) - max(before, 0)
        day = change.at[:10]
        days[day] = Day(day, pages, held, days[day].changes + 1 if day in days else 1)
    return [days[day] for day in sorted(days)][-_MOST_DAYS:]


def sizes(home: Home, grown: list[Day]) -> Sizes:
    """What memory takes now."""
    last = grown[-1] if grown else Day("", 0, 0, 0)
    return Sizes(last.pages, last.bytes, home.history.size(), _index_bytes(home))


def _index_bytes(home: Home) -> int | None:
    if not home.ground.folder:
        return None
    try:
        with os.scandir(os.path.join(home.ground.folder, INDEX_FOLDER)) as found:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in found)
    except OSError:
        return 0
