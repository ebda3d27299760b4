"""Lists and tables in a page: which lines are one item, and which lists are cut so that a hit is one item.

A list of people or facts is: each of its items makes sense alone. Steps, checklists and lists of a word or two
stay whole, since only the whole says something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

_MIN_ITEMS = 4
_MIN_SHARE = 3 / 4  # of the items, which must say something by themselves
_MIN_WORDS = 3
_MIN_WIDE_CHARACTERS = 6  # of scripts without spaces
_MAX_CONTEXT_CHARACTERS = 200
_TAB_COLUMNS = 4

_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}$")
_BULLET = re.compile(r"([ \t]{0,3})[-*+][ \t]+(?=\S)")
_ORDERED = re.compile(r"([ \t]{0,3})\d{1,3}[.)][ \t]+(?=\S)")
_LABEL = re.compile(r"()(?:\*\*[^*\n]{1,60}\*\*[ \t]*[:–—-]|\*\*[^*\n]{1,60}:\*\*|\*\*[^*\n]{1,60}\*\*[ \t]*$)")
_CHECKBOX = re.compile(r"\[[ xX]\][ \t]")
_ENTRY = re.compile(r"(?:\*\*[^*\n]{1,60}\*\*|[^\s:.!?][^:.!?\n]{0,60}?(?::| [–—-]) )")
_TABLE_ROW = re.compile(r" {0,3}\|.*\|?[ \t]*$")
_TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

Kind = Literal["bullets", "steps", "labels", "table"]
_MARKERS: tuple[tuple[Kind, re.Pattern[str]], ...] = (("bullets", _BULLET), ("steps", _ORDERED), ("labels", _LABEL))


class Items(NamedTuple):
    """The items of a list, each as its first and last line, counted from 1; `context` is what they have in common."""

    kind: Kind
    first: int
    last: int
    items: list[tuple[int, int]]
    context: str = ""


def find_lists(lines: Sequence[str], first: int, last: int) -> Iterator[Items]:
    """Yield the lists and tables between two lines that are cut by item, in order."""
    number = first
    while number <= last:
        line = lines[number - 1]
        if _FENCE.match(line):
            number = _skip_fence(lines, number, last) + 1
            continue
        found = _read_table(lines, number, last) or _read_list(lines, number, last)
        if found is None:
            number += 1
            continue
        if _is_cut(lines, found):
            yield found._replace(context=found.context or _find_intro(lines, first, found.first))
        number = found.last + 1


def is_heading_or_intro(line: str) -> bool:
    """Return whether a line only announces what follows: it is empty, a heading, or ends with a colon."""
    return not line.strip() or bool(_HEADING.match(line)) or line.rstrip().endswith((":", "："))


def _skip_fence(lines: Sequence[str], number: int, last: int) -> int:
    """Return the line that closes a code fence; the last line if none does."""
    match = _FENCE.match(lines[number - 1])
    mark = match[1] if match else ""
    for after in range(number + 1, last + 1):
        if lines[after - 1].strip().startswith(mark):
            return after
    return last


def _read_table(lines: Sequence[str], number: int, last: int) -> Items | None:
    if number + 2 > last or not _TABLE_ROW.match(lines[number - 1]) or not _TABLE_RULE.match(lines[number]):
        return None
    end = number + 1
    while end < last and _TABLE_ROW.match(lines[end]):
        end += 1
    rows = [(row, row) for row in range(number + 2, end + 1)]
    head = " ".join(cell.strip() for cell in lines[number - 1].split("|") if cell.strip())
    return Items("table", number, end, rows, head[:_MAX_CONTEXT_CHARACTERS])


def _read_list(lines: Sequence[str], number: int, last: int) -> Items | None:
    """Return the list that begins at a line; None if none does."""
    kind, base = _find_marker(lines[number - 1])
    if kind is None:
        return None
    starts: list[int] = []
    end = number
    at = number
    while at <= last:
        line = lines[at - 1]
        if _find_marker(line) == (kind, base):
            starts.append(at)
        elif line.strip() and not _continues(lines, at, base):
            break
        if _FENCE.match(line):
            at = _skip_fence(lines, at, last)
        end = at if line.strip() else end
        at += 1
    bounds = [*starts, end + 1]
    items = [(start, _last_filled(lines, start, after)) for start, after in pairwise(bounds)]
    return Items(kind, number, end, items)


def _find_marker(line: str) -> tuple[Kind | None, int]:
    """Return what kind of list a line is an item of, and how far the item is indented."""
    if _RULE.match(line):
        return None, 0
    for kind, pattern in _MARKERS:
        if match := pattern.match(line):
            return kind, _indentation(match[1])
    return None, 0


def _indentation(text: str) -> int:
    blank = text[: len(text) - len(text.lstrip(" \t"))]
    return len(blank.expandtabs(_TAB_COLUMNS))


def _continues(lines: Sequence[str], number: int, base: int) -> bool:
    """Return whether a line belongs to the item above it: it is indented, or goes on with the paragraph."""
    line = lines[number - 1]
    if _indentation(line) > base:
        return True
    is_after_text = bool(lines[number - 2].strip())
    return is_after_text and not (
        _HEADING.match(line)
        or _RULE.match(line)
        or _TABLE_ROW.match(line)
        or _find_marker(line)[0]
        or _FENCE.match(line)
    )


def _last_filled(lines: Sequence[str], start: int, after: int) -> int:
    last = after - 1
    while last > start and not lines[last - 1].strip():
        last -= 1
    return last


def _is_cut(lines: Sequence[str], found: Items) -> bool:
    if len(found.items) < _MIN_ITEMS:
        return False
    texts = [_text_of(lines, found.kind, item) for item in found.items]
    is_checklist = sum(bool(_CHECKBOX.match(text)) for text in texts) > len(texts) / 2
    says = [_says_something(text) and (found.kind != "steps" or bool(_ENTRY.match(text))) for text in texts]
    return not is_checklist and sum(says) >= _MIN_SHARE * len(says)


def _text_of(lines: Sequence[str], kind: Kind, item: tuple[int, int]) -> str:
    """Return the text of an item without its marker."""
    first, last = item
    text = "\n".join(lines[first - 1 : last])
    match = _BULLET.match(text) if kind == "bullets" else _ORDERED.match(text) if kind == "steps" else None
    return text[match.end() :] if match else text


def _says_something(text: str) -> bool:
    return len(_WORD.findall(text)) >= _MIN_WORDS or len(_WIDE.findall(text)) >= _MIN_WIDE_CHARACTERS


def _find_intro(lines: Sequence[str], first: int, start: int) -> str:
    """Return the line above a list that announces it with a colon; empty if there is none."""
    for number in range(start - 1, max(first, start - 2) - 1, -1):
        line = lines[number - 1].strip()
        if line:
            announces = line.endswith((":", "：")) and not _HEADING.match(line)
            return line[:_MAX_CONTEXT_CHARACTERS] if announces else ""
    return ""
