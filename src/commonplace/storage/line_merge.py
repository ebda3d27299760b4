"""The merge of two rewrites of one page: it always succeeds, and says which lines of the earlier one it left out.

What either side added stays. A line that one side changed or removed takes that change. Where both changed a line, the
later side's stays, and the earlier side's is reported. A line break at the end, and carriage returns, change no line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .merge import diff_lines

_MAX_PAIRS = 2500  # of lines that are compared for likeness within one change; a larger one is paired in order
_PAIR_WEIGHT = 0.1  # of any pair: a line without a like one is still the new form of the line in its place


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


def find_lost_lines(wanted: Iterable[str], present: Iterable[str]) -> str:
    """Return the lines that are missing among others, in order, each as often as it is missing; blank ones never."""
    counts = Counter(_key(line) for line in present)
    lost: list[str] = []
    for line in wanted:
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
    done = 0
    for old, new in pairs:
        edit.changed[numbers[old]] = lines[positions[new]]
        _add_lines(edit, numbers[old], lines[done : positions[new]])
        done = positions[new] + 1
    _add_lines(edit, end, lines[done:])


def _add_lines(edit: _Edit, number: int, lines: list[str]) -> None:
    if lines:
        edit.added.setdefault(number, []).extend(lines)


def _pair(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return which new line each old line became, in order; the likest ones are paired."""
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
    """Return how alike the lines are: the share of pairs of letters that two have in common, and a little for any."""
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
    head = _count_common(earlier, later)
    tail = _count_common(earlier[head:][::-1], later[head:][::-1])
    return [*earlier[: len(earlier) - tail], *later[head:]]


def _contains(whole: list[str], part: list[str]) -> bool:
    """Return whether the lines of a part stand together in a whole."""
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


def _count_common(one: list[str], other: list[str]) -> int:
    """Return how many lines two lists have in common at their start, up to the last of them that is not blank.

    A blank line is no content: what one side wrote below it must not move to the other's.
    """
    count = 0
    for number, (left, right) in enumerate(zip(one, other, strict=False), start=1):
        if left != right:
            break
        if left.strip():
            count = number
    return count
