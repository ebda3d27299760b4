"""Open tasks of days that do not fit: `TODO: ask Ann` is worth more than the rest of its day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ..facts.tasks import has_open_task
from ..facts.words import fold, strip_accents
from ..framing import estimate_tokens
from ..home import Home
from ..model import Viewer
from ..search.shown_lines import ShownText
from .replaced import find_replaced

if TYPE_CHECKING:
    from .days import DayItem, Entry

_MOST_SHARE = 0.1  # of the budget
_MAX_TOKENS = 40  # of an entry; a longer one is more than a task
_NEWEST = (-2, "")
TASKS = (-1, "")


def put_tasks_first(
    home: Home, viewer: Viewer, days: Sequence[DayItem], older: Sequence[DayItem], limit: int
) -> list[DayItem]:
    """Return the days, but each with its open tasks as an item of its own: if there is no room for all, these stay,
    after the newest day. Of older days, which are not shown, only the tasks are returned."""
    others = [_split(day) for day in (*days[1:], *older)]
    chosen = _choose(home, viewer, others, limit * _MOST_SHARE)
    if not chosen:
        return [*days]
    items = [replace(days[0], rank=_NEWEST)]
    for number, (whole, split) in enumerate(zip((*days[1:], *older), others, strict=True), start=1):
        tasks = tuple(entry for entry in split.entries if (split.path, entry) in chosen)
        day = split if tasks else whole
        rest = tuple(entry for entry in day.entries if entry not in tasks)
        if tasks:
            items.append(replace(day, entries=tasks, earlier_entries=0, rank=TASKS))
        if rest and number < len(days):
            items.append(replace(day, entries=rest))
    return items


def _split(day: DayItem) -> DayItem:
    """Return a day with the tasks of long entries as entries of their own: people write lists and whole days as one."""
    return replace(day, entries=tuple(part for entry in day.entries for part in _split_entry(entry)))


def _split_entry(entry: Entry) -> Iterator[Entry]:
    """Yield an entry, or its lines before, between and after open tasks, and each of these."""
    lines = entry.text.split("\n")
    if not entry.is_whole or len(lines) != len(entry.line_numbers) or not _is_long(entry):
        yield entry
        return
    first = 1 if lines[0].startswith("#") else 0  # a heading stays with the line below it
    tasks = [place for place in range(first, len(lines)) if _is_task(lines[place])]
    cuts = sorted({0, *(cut for place in tasks for cut in (place if place > first else 0, place + 1)), len(lines)})
    for start, end in pairwise(cuts):
        text = "\n".join(lines[start:end])
        numbers = entry.line_numbers[start:end]
        yield entry._replace(
            text=text, first_line=numbers[0], last_line=numbers[-1], total_characters=len(text), line_numbers=numbers
        )


def _choose(home: Home, viewer: Viewer, days: Sequence[DayItem], budget: float) -> set[tuple[str, Entry]]:
    """Return the open tasks that fit this many tokens, newest first."""
    tasks = [*_find_tasks(days)]
    texts = [ShownText(path, entry.first_line, entry.text) for path, entry in tasks]
    done = find_replaced(home, viewer, texts, catches_up=False)
    chosen: set[tuple[str, Entry]] = set()
    for number, (path, entry) in enumerate(tasks):
        budget -= 0 if number in done else estimate_tokens(entry.text)
        if budget < 0:
            break
        if number not in done:
            chosen.add((path, entry))
    return chosen


def _find_tasks(days: Sequence[DayItem]) -> Iterator[tuple[str, Entry]]:
    for day in days:
        for entry in reversed(day.entries):
            if entry.is_whole and not _is_long(entry) and _is_task(entry.text):
                yield day.path, entry


def _is_long(entry: Entry) -> bool:
    return estimate_tokens(entry.text) > _MAX_TOKENS


def _is_task(text: str) -> bool:
    return has_open_task(strip_accents(fold(text)))
