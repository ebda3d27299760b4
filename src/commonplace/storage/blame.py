"""Blame: which change wrote each line of a page, found by comparing its versions one after another.

A line that was there before the first version that is read has no known author. Work is bounded: of a long history only
the newest versions are compared.
"""

from __future__ import annotations

from typing import NamedTuple

from .history import ABSENT, APPROVE, Change, Versions, as_text, kind_of_origin
from .merge import matching_blocks

_PERSON = "person"


class Bounds(NamedTuple):
    """How many of the newest versions are compared, and how many bytes in all."""

    versions: int
    size: int


class LineOrigin(NamedTuple):
    """Which change wrote a line; None where history does not know. A person wrote or approved it, if `is_approved`."""

    change: Change | None
    is_approved: bool = False


UNKNOWN = LineOrigin(None)


def split_lines(text: str) -> list[str]:
    """Return the lines of a page as citations count them."""
    return text.removesuffix("\n").split("\n") if text else []


def blame(versions: Versions, bounds: Bounds) -> list[LineOrigin]:
    """Return the origin of every line of the last version."""
    start = _find_start(versions, bounds)
    lines: list[str] = []
    origins: list[LineOrigin] = []
    before = ABSENT
    for change, data in versions[start:]:
        # After a gap, what is new may be from a change that history no longer holds.
        is_next = change.before == before and (start == 0 or before != ABSENT)
        new_lines = split_lines(as_text(data))
        own = LineOrigin(change, is_by_person(change)) if is_next else UNKNOWN
        origins = _carry_over(lines, new_lines, origins, own)
        if change.tool == APPROVE and kind_of_origin(change.origin) != "import":
            origins = [origin._replace(is_approved=True) for origin in origins]
        lines = new_lines
        before = change.version
    return origins


def is_by_person(change: Change) -> bool:
    """Return whether a person made a change: in the web page, or in a file, by an editor."""
    kind = kind_of_origin(change.origin)
    return kind == _PERSON or (not change.tool and kind != "import")


def _find_start(versions: Versions, bounds: Bounds) -> int:
    """Return the first of the newest versions that are within the bounds; the last one always is."""
    size = 0
    start = len(versions)
    while start and len(versions) - start < bounds.versions:
        size += len(versions[start - 1][1] or b"")
        if size > bounds.size and start < len(versions):
            break
        start -= 1
    return start


def _carry_over(lines: list[str], new_lines: list[str], origins: list[LineOrigin], own: LineOrigin) -> list[LineOrigin]:
    """Return the origins of the new lines: those that were there before keep theirs."""
    head = _count_equal(lines, new_lines)
    tail = _count_equal(lines[head:][::-1], new_lines[head:][::-1])
    old_end = len(lines) - tail
    new_end = len(new_lines) - tail
    middle = [own] * (new_end - head)
    for one, two, size in matching_blocks(lines[head:old_end], new_lines[head:new_end]):
        middle[two : two + size] = origins[head + one : head + one + size]
    return [*origins[:head], *middle, *origins[old_end:]]


def _count_equal(lines: list[str], new_lines: list[str]) -> int:
    """Return how many lines are the same at the start of both."""
    pairs = zip(lines, new_lines, strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(lines), len(new_lines)))
