"""Blame for people: every line of a page with who wrote it, when, and in which change."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import PageNotFound
from ..formats.transcripts import render_lines
from ..home import Home
from ..storage.blame import Bounds, LineOrigin, blame, split_lines
from ..storage.history import as_text
from .timeline import require_history

_BOUNDS = Bounds(versions=5000, size=100_000_000)


class BlameLine(NamedTuple):
    """A line of a page. Its author, time and change are empty where history does not know them."""

    number: int
    text: str
    author: str
    at: str
    change: str
    session: str
    why: str


def blame_page(home: Home, path: str, *, everyone: bool = False) -> list[BlameLine]:
    """Return the lines of a page as it is now; PageNotFound when it was removed. Sessions come without secrets."""
    path = require_history(home, path, everyone=everyone)
    versions = home.storage.history.versions(path)
    if not versions or versions[-1][1] is None:
        raise PageNotFound(path)
    place = home.layout.place(path)
    is_session = place is not None and place.kind == "session"
    lines = split_lines(as_text(versions[-1][1]))
    texts = render_lines(lines) if is_session else lines
    numbered = enumerate(zip(texts, blame(versions, _BOUNDS), strict=True), start=1)
    return [_make_line(number, text, origin) for number, (text, origin) in numbered]


def _make_line(number: int, text: str, origin: LineOrigin) -> BlameLine:
    change = origin.change
    if change is None:
        return BlameLine(number, text, "", "", "", "", "")
    return BlameLine(number, text, change.by, change.at, change.id, change.session, change.why)
