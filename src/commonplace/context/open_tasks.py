"""What is to be done, of days for which there is no room: `TODO: ask Ann` is worth more than its day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
_MAX_TOKENS = 40  # of an entry; a longer one says more than what is to be done
_NEWEST = (-2, "")
_TASKS = (-1, "")


def put_tasks_first(
    home: Home, viewer: Viewer, days: Sequence[DayItem], older: Sequence[DayItem], limit: int
) -> list[DayItem]:
    """Return the days, but each with its open tasks as an item of its own: where there is no room for all, these stay,
    after the newest day. Of older days, which are not shown, only the tasks are returned."""
    chosen = _choose(home, viewer, [*days[1:], *older], limit * _MOST_SHARE)
    if not chosen:
        return [*days]
    items = [replace(days[0], rank=_NEWEST)]
    for day in (*days[1:], *older):
        tasks = tuple(entry for entry in day.entries if (day.path, entry) in chosen)
        rest = tuple(entry for entry in day.entries if (day.path, entry) not in chosen)
        if tasks:
            items.append(replace(day, entries=tasks, earlier_entries=0, rank=_TASKS))
        if rest and day not in older:
            items.append(replace(day, entries=rest))
    return items


def _choose(home: Home, viewer: Viewer, days: Sequence[DayItem], most: float) -> set[tuple[str, Entry]]:
    """Return the open tasks that take at most so many tokens, the newest first. Those that are done are none."""
    tasks = [*_find_tasks(days)]
    texts = [ShownText(path, entry.first_line, entry.text) for path, entry in tasks]
    done = find_replaced(home, viewer, texts, catches_up=False)
    chosen: set[tuple[str, Entry]] = set()
    for number, (path, entry) in enumerate(tasks):
        most -= 0 if number in done else estimate_tokens(entry.text)
        if most < 0:
            break
        if number not in done:
            chosen.add((path, entry))
    return chosen


def _find_tasks(days: Sequence[DayItem]) -> Iterator[tuple[str, Entry]]:
    for day in days:
        for entry in reversed(day.entries):
            is_short = entry.is_whole and estimate_tokens(entry.text) <= _MAX_TOKENS
            if is_short and has_open_task(strip_accents(fold(entry.text))):
                yield day.path, entry
