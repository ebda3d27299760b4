"""Who watches the pages promises all others in this process that an index shows them: then nobody need look.

A promise holds for a moment and is renewed while all is well, so that one nobody keeps any more is soon worth nothing.
"""

from __future__ import annotations

import os
import time
from weakref import WeakValueDictionary

Place = tuple[int, int]  # which file an index is: its device and its number there
_MOMENT = 1.0  # seconds


class Promise:
    """Made for one index file. `asked`: somebody knows better, and a look has to come first."""

    def __init__(self) -> None:
        self.asked, self.seen = False, list[tuple[str, str]]()
        self._until, self._process = 0.0, os.getpid()

    def holds(self) -> bool:
        return not self.asked and time.monotonic() < self._until and self._process == os.getpid()

    def renew(self) -> None:
        self._until = time.monotonic() + _MOMENT

    def withdraw(self) -> None:
        self._until = 0.0


_made: WeakValueDictionary[Place, Promise] = WeakValueDictionary()  # each is kept by who made it


def promise_for(place: Place) -> Promise:
    return _made.setdefault(place, Promise())


def promised(place: Place | None) -> Promise | None:
    return _made.get(place) if place else None
