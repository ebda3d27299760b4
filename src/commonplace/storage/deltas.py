"""A version of a page as one line of history: whole, or as what changed since the line before; compressed either way.

A version is known by the hash of its bytes. What does not have that hash any more is not believed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import NotFound

ABSENT = ""  # the version of a page that is not there
DEEPEST = 50  # lines to go back for a version, at the most
_WORTH = 0.5  # of the page: if more than this changed, it is kept whole
_CHUNK = 1 << 16


class Change(NamedTuple):
    """A page became another: what it was, what it is, and who did it. An empty version is a page that is not there."""

    id: str
    at: str
    path: str
    version: str
    before: str
    tool: str = ""  # "" for a change by hand
    agent: str = ""
    session: str = ""
    why: str = ""
    call: str = ""  # the same for all pages that one call changed

    @property
    def by(self) -> str:
        """Who did it, in words."""
        if not self.tool:
            return "hand"
        return f"{self.agent} ({self.tool})" if self.agent else self.tool


class Line(NamedTuple):
    """A line of history: a change, and how its new version is kept. `depth`: how many lines it stands on."""

    change: Change
    depth: int
    span: tuple[int, int] | None  # of the bytes before that were replaced; None: the version is kept whole
    data: str


@lru_cache(maxsize=8)  # one write asks several times for what it replaces and what by
def version_of(data: bytes | None) -> str:
    return ABSENT if data is None else hashlib.blake2b(data, digest_size=16).hexdigest()


def as_text(data: bytes | None) -> str:
    """A version as people read it, text or not; one that is not there says nothing."""
    return "" if data is None else data.decode("utf-8", "replace")


def line_of(change: Change, old: bytes | None, new: bytes | None, depth: int) -> Line:
    """`depth` is that of the line before, which holds `old`; -1 when there is none."""
    if new is None:
        return Line(change, 0, None, "")
    if old is not None and 0 <= depth < DEEPEST:
        start, end, middle = _difference(old, new)
        if len(middle) <= _WORTH * len(new):
            return Line(change, depth + 1, (start, end), _pack(middle))
    return Line(change, 0, None, _pack(new))


def written(line: Line) -> bytes:
    """A line as it is kept. It begins with a line break too: one that was cut off spoils no other."""
    said: dict[str, Any] = {name: value for name, value in line.change._asdict().items() if value}
    said |= {"depth": line.depth, "span": line.span, "data": line.data}
    return f"\n{json.dumps(said, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def parsed(text: bytes) -> Line | None:
    """None for a line that was cut off or is not ours."""
    try:
        said = json.loads(text)
        span = said.pop("span")
        depth, data = int(said.pop("depth")), str(said.pop("data"))
        change = Change(**{"version": ABSENT, "before": ABSENT, **said})
        return Line(change, depth, None if span is None else (int(span[0]), int(span[1])), data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def lines(raw: bytes) -> Iterator[Line]:
    return (line for each in raw.split(b"\n") if each and (line := parsed(each)))


def contents(kept: Iterable[Line]) -> Iterator[tuple[Change, bytes | None]]:
    """The versions of one page, in order; those that can not be made out any more are left out."""
    last: bytes | None = None
    for line in kept:
        data = _content(line, last)
        if version_of(data) == line.change.version:
            yield line.change, data
            last = data
        else:
            last = None


def sized(kept: Iterable[Line]) -> Iterator[tuple[Change, int]]:
    """Changes of any pages, each with the bytes the page had then; -1 when it was not there, or nobody can tell."""
    sizes: dict[str, int] = {}
    for line in kept:
        sizes[line.change.path] = size = _size(line, sizes.get(line.change.path, -1))
        yield line.change, size


def _size(line: Line, before: int) -> int:
    if line.change.version == ABSENT or (line.span and before < 0):
        return -1
    try:
        own = len(zlib.decompress(base64.b64decode(line.data)))
    except (ValueError, zlib.error):
        return -1
    return own if line.span is None else before - (line.span[1] - line.span[0]) + own


def content(kept: list[Line], version: str, path: str) -> bytes | None:
    """One version of a page."""
    for change, data in contents(_needed(kept, version)):
        if change.version == version:
            return data
    raise NotFound(f"history does not hold this version of {path} any more")


def _needed(kept: list[Line], version: str) -> list[Line]:
    """The lines that a version stands on, itself last."""
    last = next((at for at in range(len(kept) - 1, -1, -1) if kept[at].change.version == version), None)
    if last is None:
        return []
    return kept[max(0, last - kept[last].depth) : last + 1]


def _content(line: Line, before: bytes | None) -> bytes | None:
    if line.change.version == ABSENT:
        return None
    try:
        data = zlib.decompress(base64.b64decode(line.data))
    except (ValueError, zlib.error):
        return None
    if line.span is None:
        return data
    return None if before is None else before[: line.span[0]] + data + before[line.span[1] :]


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 1)).decode()


def _difference(old: bytes, new: bytes) -> tuple[int, int, bytes]:
    """The stretch of the old bytes that was replaced, and by what."""
    shorter = min(len(old), len(new))
    start = _same(old, new, shorter)
    same_end = _same(old[start:][::-1], new[start:][::-1], shorter - start) if start < shorter else 0
    return start, len(old) - same_end, new[start : len(new) - same_end]


def _same(one: bytes, other: bytes, most: int) -> int:
    """How many bytes two texts have in common at the start."""
    at = 0
    while at < most and one[at : at + _CHUNK] == other[at : at + _CHUNK]:
        at += _CHUNK
    low, high = min(at, most), min(at + _CHUNK, most)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
