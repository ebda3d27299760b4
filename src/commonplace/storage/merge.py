"""Comparing and merging texts line by line: the three-way merge, what a write lost, and the diff both rest on.

The diff takes bounded time. Small texts are compared exactly. In large ones the lines that occur once in each are
matched first, and only what lies between two of those is compared; stretches that are still too large count as changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

Block = tuple[int, int, int]  # a position in the old lines, one in the new lines, and how many lines match
Opcode = tuple[str, int, int, int, int]  # as in difflib
_MAX_EXACT_PAIRS = 50_000  # of equal lines
_MAX_EXACT_LINES = 2000
# Lines that every write renews: losing them loses nothing.
_STAMPS = re.compile(r"updated_at: |created_at: |<!-- agentool-memory: at=|\s*$")


def merge(base: str, theirs: str, ours: str) -> str | None:
    """Return both changes of a text in one; None where they overlap or touch."""
    if theirs == ours:
        return ours
    start = base.splitlines(keepends=True)
    changes: list[tuple[int, int, list[str]]] = []
    for side in (theirs.splitlines(keepends=True), ours.splitlines(keepends=True)):
        opcodes = diff_lines(start, side)
        changes += [(one, two, side[three:four]) for what, one, two, three, four in opcodes if what != "equal"]
    changes.sort(key=lambda change: change[:2])
    merged: list[str] = []
    end = -1  # of the last change: the next one must leave a line between
    for one, two, lines in changes:
        if one <= end:
            return None
        merged += start[max(end, 0) : one] + lines
        end = two
    return _join_lines(merged + start[max(end, 0) :])


def _join_lines(lines: list[str]) -> str:
    """Join lines; one that was the last of its side and no longer is gets a line break."""
    ended = [line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines[:-1]]
    return "".join(ended + lines[-1:])


def loses_changes(base: str, theirs: str, ours: str) -> bool:
    """Return whether ours lacks something that theirs added to the base."""
    return bool(_added_lines(base, theirs) - Counter(ours.splitlines()))


def omits_changes(base: str, theirs: str, ours: str) -> bool:
    """Return whether ours has nothing of what theirs added to the base."""
    added = _added_lines(base, theirs)
    return bool(added) and not added.keys() & set(ours.splitlines())


def _added_lines(base: str, text: str) -> Counter[str]:
    added = Counter(text.splitlines()) - Counter(base.splitlines())
    return Counter({line: count for line, count in added.items() if not _STAMPS.match(line)})


class Part(NamedTuple):
    """A stretch of a merged text. Where both sides changed the same lines it is a conflict, and `text` is empty."""

    kind: Literal["same", "mine", "theirs", "conflict"]
    text: str = ""
    base: str = ""
    theirs: str = ""
    mine: str = ""


def merge_parts(base: str, theirs: str, ours: str) -> list[Part]:
    """Return two changes of a text side by side, stretch by stretch, for a person to decide where they conflict."""
    start = base.splitlines(keepends=True)
    their_lines = theirs.splitlines(keepends=True)
    our_lines = ours.splitlines(keepends=True)
    their_map = _map_lines(start, their_lines)
    our_map = _map_lines(start, our_lines)
    parts: list[Part] = []
    at = their_at = our_at = 0
    for here in [*(line for line in range(len(start)) if line in their_map and line in our_map), len(start)]:
        their_here = their_map.get(here, len(their_lines))
        our_here = our_map.get(here, len(our_lines))
        if here > at or their_here > their_at or our_here > our_at:
            before = "".join(start[at:here])
            parts.append(
                _make_part(before, "".join(their_lines[their_at:their_here]), "".join(our_lines[our_at:our_here]))
            )
        if here < len(start):
            parts.append(Part("same", start[here]))
        at = here + 1
        their_at = their_here + 1
        our_at = our_here + 1
    return _join_parts(parts)


def _map_lines(start: list[str], side: list[str]) -> dict[int, int]:
    """Return which line of a side each unchanged line of the start became."""
    return {one + step: two + step for one, two, size in matching_blocks(start, side) for step in range(size)}


def _make_part(base: str, theirs: str, ours: str) -> Part:
    if theirs == ours:
        return Part("same", ours)
    if theirs == base:
        return Part("mine", ours)
    return Part("theirs", theirs) if ours == base else Part("conflict", "", base, theirs, ours)


def _join_parts(parts: list[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if joined and part.kind == joined[-1].kind == "same":
            joined[-1] = Part("same", joined[-1].text + part.text)
        elif part != Part("same"):
            joined.append(part)
    return joined


def diff_lines(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return the opcodes that turn the old lines into the new ones, as difflib does, in bounded time."""
    opcodes: list[Opcode] = []
    i = j = 0
    for one, two, size in [*matching_blocks(old, new), (len(old), len(new), 0)]:
        if i < one or j < two:
            opcodes.append(("replace" if i < one and j < two else "delete" if i < one else "insert", i, one, j, two))
        if size:
            opcodes.append(("equal", one, one + size, two, two + size))
        i = one + size
        j = two + size
    return opcodes


def matching_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Return stretches of lines that are in both, in order; two that touch are one."""
    blocks: list[Block] = []
    for one, two, size in _find_blocks(old, new):
        if blocks and blocks[-1][0] + blocks[-1][2] == one and blocks[-1][1] + blocks[-1][2] == two:
            blocks[-1] = (*blocks[-1][:2], blocks[-1][2] + size)
        elif size:
            blocks.append((one, two, size))
    return blocks


def _find_blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    if _is_small(old, new):
        yield from _compare_exactly(old, new, 0, 0)
        return
    head = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    ends = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = next((n for n, (a, b) in enumerate(ends) if a != b), min(len(old), len(new)) - head)
    yield 0, 0, head
    i = j = head
    for one, two in [*_find_anchors(old, new, head, tail), (len(old) - tail, len(new) - tail)]:
        if _is_small(old[i:one], new[j:two]):
            yield from _compare_exactly(old[i:one], new[j:two], i, j)
        if one < len(old) - tail:
            yield one, two, 1
        i = one + 1
        j = two + 1
    yield len(old) - tail, len(new) - tail, tail


def _is_small(old: Sequence[str], new: Sequence[str]) -> bool:
    if len(old) + len(new) > _MAX_EXACT_LINES:
        return False
    counts = Counter(new)
    return sum(counts[line] for line in old) <= _MAX_EXACT_PAIRS


def _compare_exactly(old: Sequence[str], new: Sequence[str], i: int, j: int) -> Iterator[Block]:
    from difflib import SequenceMatcher  # loaded only where two texts differ

    if old and new:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        yield from ((i + one, j + two, size) for one, two, size in blocks)


def _find_anchors(old: Sequence[str], new: Sequence[str], head: int, tail: int) -> list[tuple[int, int]]:
    """Return lines that occur once in each: the longest sequence of them that has the same order in both."""
    old_positions = _unique_lines(old, head, len(old) - tail)
    new_positions = _unique_lines(new, head, len(new) - tail)
    pairs = [(at, new_positions[line]) for line, at in old_positions.items() if line in new_positions]
    ends: list[int] = []  # for each length, the smallest last position of a sequence that long
    last_pairs: list[int] = []  # and the number of its last pair
    previous: list[int] = []
    for number, (_, two) in enumerate(pairs):
        length = bisect_left(ends, two)
        previous.append(last_pairs[length - 1] if length else -1)
        ends[length : length + 1] = [two]
        last_pairs[length : length + 1] = [number]
    anchors: list[tuple[int, int]] = []
    at = last_pairs[-1] if last_pairs else -1
    while at >= 0:
        anchors.append(pairs[at])
        at = previous[at]
    return anchors[::-1]


def _unique_lines(side: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(side[start:end])
    return {side[at]: at for at in range(start, end) if counts[side[at]] == 1}
