"""Compares and merges texts line by line: the diff, the three-way merge and its conflicts, and what a write lost.

The diff takes bounded time. Small texts are compared exactly. In large ones the lines that occur once in each are
matched first, and only what lies between two of those is compared; stretches that are still too large count as changed.

`merge` gives up if two changes overlap. `merge_rewrites` always succeeds: what either side added stays, a line that one
side changed or removed takes that change, and where both changed a line the later side's stays and the earlier side's
is reported. A line break at the end, and carriage returns, change no line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ..formats.blocks import strip_own_annotations

Block = tuple[int, int, int]  # a position in the old lines, one in the new lines, and how many lines match
Opcode = tuple[str, int, int, int, int]  # as in difflib
_MAX_EXACT_PAIRS = 50_000  # pairs of equal lines up to which difflib compares
_MAX_EXACT_LINES = 2000
# Lines that every write renews: losing them loses nothing.
_STAMPS = re.compile(r"updated_at: |created_at: |<!-- agentool-memory: at=|\s*$")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+\S")
_MAX_PAIRS = 2500  # pairs of lines compared by likeness within one change; a larger one is paired in order
_MAX_CHANGED_LINES = 20  # lines of a save that are checked for being reworded
_MIN_LIKENESS = 0.6  # between a line and its reworded form
_PAIR_WEIGHT = 0.1  # for any pair: a line unlike all others still replaces the line in its place


def merge(base: str, theirs: str, ours: str) -> str | None:
    """Return both changes of a text in one; None if they overlap or touch, and differ."""
    parts = merge_parts(base, theirs, ours)
    return None if any(part.kind == "conflict" for part in parts) else "".join(part.text for part in parts)


def loses_changes(base: str, theirs: str, ours: str) -> bool:
    """Return whether ours lacks something that theirs added to the base."""
    return bool(_added_lines(base, theirs) - Counter(ours.splitlines()))


def omits_changes(base: str, theirs: str, ours: str) -> bool:
    """Return whether ours lacks everything that theirs added to the base, even reworded. Annotations by programs do
    not count: a person who edits the line may remove them."""
    base, theirs, ours = map(strip_own_annotations, (base, theirs, ours))
    added = _added_lines(base, theirs)
    if not added or added.keys() & set(ours.splitlines()):
        return False
    changed = [*_added_lines(base, ours)]
    return not any(_is_new_form(line, [*added], [*_added_lines(ours, base)]) for line in changed[:_MAX_CHANGED_LINES])


def _is_new_form(line: str, added: Sequence[str], gone: Sequence[str]) -> bool:
    """Return whether a line is a reworded form of an added line, rather than of a removed one."""
    if (len(added) + len(gone)) * _MAX_CHANGED_LINES > _MAX_PAIRS:
        return False
    ((*likeness,),) = _measure_likeness([line], [*added, *gone])
    best = max(likeness[: len(added)]) - _PAIR_WEIGHT
    return best >= _MIN_LIKENESS and best > max(likeness[len(added) :], default=0.0) - _PAIR_WEIGHT


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
    """Return two changes of a text side by side, stretch by stretch, for a person to resolve conflicts."""
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
    """Return the line of a side that each unchanged line of the base became."""
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
    head = count_equal(old, new)
    tail = count_equal(old[head:][::-1], new[head:][::-1])
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


def count_equal(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines are the same at the start of both."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(old), len(new)))


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
    last_pairs: list[int] = []  # and the index of that sequence's last pair
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


class MergedText(NamedTuple):
    """Two rewrites in one, and the lines of the earlier that are not in it, each with the newline between them."""

    text: str
    lost: str


class _Edit(NamedTuple):
    """What one side made of the base: changed lines by number (None: removed), and lines added before a number."""

    changed: dict[int, str | None]
    added: dict[int, list[str]]


def merge_rewrites(base: str, earlier: str, later: str) -> MergedText:
    """Return both rewrites of a base in one text. `earlier` is on the page already, `later` is about to be written."""
    base_lines = _split(base)
    earlier_edit = _compare(base_lines, _split(earlier))
    later_edit = _compare(base_lines, _split(later))
    merged: list[str] = []
    for number, line in enumerate(base_lines):
        merged += _join_added(earlier_edit.added.get(number, []), later_edit.added.get(number, []))
        edit = later_edit if number in later_edit.changed else earlier_edit
        new_line = edit.changed.get(number, line)
        merged += [] if new_line is None else [new_line]
    end = len(base_lines)
    merged += _join_added(earlier_edit.added.get(end, []), later_edit.added.get(end, []))
    ending = later[len(later.rstrip("\n")) :] if later.strip("\n") else "\n"
    text = "\n".join(merged) + ending if merged else ""
    return MergedText(text, find_lost_lines(_changed_lines(earlier_edit), merged))


def find_lost_lines(lines: Iterable[str], present: Iterable[str]) -> str:
    """Return the lines that are missing among others, in order, each as often as it is missing; blank ones never."""
    counts = Counter(_key(line) for line in present)
    lost: list[str] = []
    for line in lines:
        counts[_key(line)] -= 1
        if line.strip() and counts[_key(line)] < 0:
            lost.append(_key(line))
    return "\n".join(lost)


def _changed_lines(edit: _Edit) -> list[str]:
    """Return the lines that a side added or changed, in their order on the page."""
    numbers = sorted({*edit.changed, *edit.added})
    lines: list[str] = []
    for number in numbers:
        lines += edit.added.get(number, [])
        lines += [line] if (line := edit.changed.get(number)) is not None else []
    return lines


def _split(text: str) -> list[str]:
    stripped = text.rstrip("\n")
    return stripped.split("\n") if stripped else []


def _key(line: str) -> str:
    return line.removesuffix("\r")


def _compare(base: list[str], side: list[str]) -> _Edit:
    edit = _Edit({}, {})
    for what, start, end, first, last in diff_lines([*map(_key, base)], [*map(_key, side)]):
        if what != "equal":
            _add_change(edit, base, start, end, side[first:last])
    return edit


def _add_change(edit: _Edit, base: list[str], start: int, end: int, lines: list[str]) -> None:
    """Add one change: each new line is the new form of a line of the base, or an addition before the next such line."""
    numbers = [number for number in range(start, end) if base[number].strip()]
    edit.changed.update(dict.fromkeys(range(start, end)))
    positions = [position for position, line in enumerate(lines) if line.strip()]
    pairs = _pair([base[number] for number in numbers], [lines[position] for position in positions])
    next_position = 0
    for old, new in pairs:
        edit.changed[numbers[old]] = lines[positions[new]]
        _add_lines(edit, numbers[old], lines[next_position : positions[new]])
        next_position = positions[new] + 1
    _add_lines(edit, end, lines[next_position:])


def _add_lines(edit: _Edit, number: int, lines: list[str]) -> None:
    if lines:
        edit.added.setdefault(number, []).extend(lines)


def _pair(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return which new line each old line became, in order; the most similar ones are paired."""
    if len(old) * len(new) > _MAX_PAIRS:
        return [(number, number) for number in range(min(len(old), len(new)))]
    likeness = _measure_likeness(old, new)
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j + 1] + likeness[i][j], best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
            pairs.append((i, j))
            i += 1
            j += 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _measure_likeness(old: Sequence[str], new: Sequence[str]) -> list[list[float]]:
    """Return the similarity of the lines: the share of letter pairs that two have in common, and a little for any."""
    old_pairs = [_letter_pairs(line) for line in old]
    new_pairs = [_letter_pairs(line) for line in new]
    return [
        [2 * len(one & other) / max(1, len(one) + len(other)) + _PAIR_WEIGHT for other in new_pairs]
        for one in old_pairs
    ]


def _letter_pairs(line: str) -> frozenset[str]:
    text = line.casefold()
    return frozenset(text[at : at + 2] for at in range(len(text) - 1))


def _join_added(earlier: list[str], later: list[str]) -> list[str]:
    """Return what both sides added in one place: the earlier side's first, and what they have in common once."""
    if _contains(later, earlier):
        return later
    if _contains(earlier, later):
        return earlier
    if all(_ITEM.match(line) for line in (*earlier, *later)):  # items that both added appear once
        present = {*map(_key, earlier)}
        return [*earlier, *(line for line in later if _key(line) not in present)]
    head = _count_common(earlier, later)
    tail = _count_common(earlier[head:][::-1], later[head:][::-1])
    return [*earlier[: len(earlier) - tail], *later[head:]]


def _contains(whole: list[str], part: list[str]) -> bool:
    """Return whether the lines of a part occur consecutively in a whole."""
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


def _count_common(one: list[str], other: list[str]) -> int:
    """Return how many lines two lists have in common at their start, up to the last of them that is not blank.

    A blank line is not content: what one side wrote below it must not move to the other's.
    """
    count = 0
    for number, (left, right) in enumerate(zip(one, other, strict=False), start=1):
        if left != right:
            break
        if left.strip():
            count = number
    return count
