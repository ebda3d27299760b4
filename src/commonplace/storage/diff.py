"""Which lines of a text are still there in another: as exact as there is time for, and never longer than that.

Small texts are compared line by line. In large ones the lines that stand once in each are found first, which takes
hardly longer than reading them, and only what is between two of those is compared; too much of that counts as changed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Block = tuple[int, int, int]  # where in the old, where in the new, how many lines
Opcode = tuple[str, int, int, int, int]  # as difflib has them
_MOST_PAIRS = 50_000  # of equal lines, for an exact comparison
_MOST_LINES = 2000


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    out: list[Opcode] = []
    i = j = 0
    for one, two, size in [*blocks(old, new), (len(old), len(new), 0)]:
        if i < one or j < two:
            out.append(("replace" if i < one and j < two else "delete" if i < one else "insert", i, one, j, two))
        if size:
            out.append(("equal", one, one + size, two, two + size))
        i, j = one + size, two + size
    return out


def blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Stretches of lines that are in both, in order; two that touch are one."""
    out: list[Block] = []
    for one, two, size in _found(old, new):
        if out and out[-1][0] + out[-1][2] == one and out[-1][1] + out[-1][2] == two:
            out[-1] = (*out[-1][:2], out[-1][2] + size)
        elif size:
            out.append((one, two, size))
    return out


def _found(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    if _is_small(old, new):
        yield from _compared(old, new, 0, 0)
        return
    head = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    ends = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = next((n for n, (a, b) in enumerate(ends) if a != b), min(len(old), len(new)) - head)
    yield 0, 0, head
    i = j = head
    for one, two in [*_anchors(old, new, head, tail), (len(old) - tail, len(new) - tail)]:
        if _is_small(old[i:one], new[j:two]):
            yield from _compared(old[i:one], new[j:two], i, j)
        if one < len(old) - tail:
            yield one, two, 1
        i, j = one + 1, two + 1
    yield len(old) - tail, len(new) - tail, tail


def _is_small(old: Sequence[str], new: Sequence[str]) -> bool:
    if len(old) + len(new) > _MOST_LINES:
        return False
    counts = Counter(new)
    return sum(counts[line] for line in old) <= _MOST_PAIRS


def _compared(old: Sequence[str], new: Sequence[str], i: int, j: int) -> Iterator[Block]:
    if old and new:
        found = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        yield from ((i + one, j + two, size) for one, two, size in found)


def _anchors(old: Sequence[str], new: Sequence[str], head: int, tail: int) -> list[tuple[int, int]]:
    """Lines that stand once in each, the most of them that come in the same order in both."""
    places = [_once(side, head, len(side) - tail) for side in (old, new)]
    pairs = [(at, places[1][line]) for line, at in places[0].items() if line in places[1]]
    ends: list[int] = []  # of the best row of each length, its last place in the new
    rows: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, two) in enumerate(pairs):
        length = bisect_left(ends, two)
        before.append(rows[length - 1] if length else -1)
        ends[length : length + 1], rows[length : length + 1] = [two], [number]
    out: list[tuple[int, int]] = []
    at = rows[-1] if rows else -1
    while at >= 0:
        out.append(pairs[at])
        at = before[at]
    return out[::-1]


def _once(side: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(side[start:end])
    return {side[at]: at for at in range(start, end) if counts[side[at]] == 1}
