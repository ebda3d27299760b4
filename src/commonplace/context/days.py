"""The last days, newest first, each under its date: what was remembered yesterday is known today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from ..errors import CommonplaceError
from ..formats.structure import BLOCK_LEVEL, DAY_HEADING_PATTERN, ENTRY_LEVEL, FOOTER_START, find_marks
from ..home import Home
from .budget import Section
from .entries import DayItem, Entry

TITLE = "Recent Days"
_PLAIN_TOKENS = 3000  # what days may take where there is no budget
_PLAIN_DAYS = 7
_CHARACTERS_PER_TOKEN = 12  # more than any text has
_MAX_DAYS = 400
_DAY_HEADING = re.compile(rf"{DAY_HEADING_PATTERN}\s*")
_ENTRY_LEVELS = (ENTRY_LEVEL, BLOCK_LEVEL)
_ENTRY = f"\n{'#' * ENTRY_LEVEL} "
_ENTRY_START = re.compile(rf"^{'#' * ENTRY_LEVEL} ", re.MULTILINE)
_DIGITS = re.compile(r"\d+")


def recent_days(home: Home, limit: int | None) -> Section | None:
    """Return the section of the last days, with at least `limit` tokens of them where there are so many."""
    items: list[DayItem] = []
    warnings: list[str] = []
    room = float(_PLAIN_TOKENS if limit is None else limit)
    most = _PLAIN_DAYS if limit is None else _MAX_DAYS
    for day, path in list_days(home):
        if room <= 0 or len(items) == most:
            break
        item = _read_day(home, day, path, room, warnings)
        if item:
            items.append(item)
            room -= item.cost
    if not items and not warnings:
        return None
    return Section(TITLE, 78, items, floor_tokens=80, weight=5, sharing="in order", warnings=tuple(warnings))


def list_days(home: Home) -> Iterator[tuple[str, str]]:
    """Yield the agent's daily pages up to today with their days, newest first, without listing other folders."""
    layout = home.layout
    today = home.today().isoformat()
    for path in _list_newest(home, layout.days_folder(home.agent), layout.day_name.count("/")):
        day = layout.day_of(home.agent, path)
        if day and day <= today:
            yield day, path


def _list_newest(home: Home, folder: str, depth: int) -> Iterator[str]:
    if not depth:
        yield from reversed(home.storage.pages.list(folder))
        return
    for name in reversed(home.storage.pages.list_folders(folder)):
        if _DIGITS.fullmatch(name):
            yield from _list_newest(home, f"{folder}/{name}", depth - 1)


def _read_day(home: Home, day: str, path: str, room: float, warnings: list[str]) -> DayItem | None:
    try:
        text = home.storage.pages.read(path).text
    except CommonplaceError as error:
        warnings.append(f"skipped: {error}")
        return None
    most = int(room) * _CHARACTERS_PER_TOKEN
    spans = _choose_spans(text, most)
    earlier = len(_ENTRY_START.findall(text[: spans[0].start])) if spans[0].start else 0
    entries = [entry for span in spans for entry in _parse_entries(text, span, most)]
    return DayItem(path, _name_day(day, home.today()), tuple(entries), earlier) if entries else None


class _Span(NamedTuple):
    """A part of a page that is looked at; its last entry is longer than that by so many characters."""

    start: int
    end: int
    beyond: int = 0


def _choose_spans(text: str, most: int) -> list[_Span]:
    """Return where to look for entries: of a page that is much too long, the start of one entry and the end."""
    if len(text) <= 2 * most:
        return [_Span(0, len(text))]
    start = text.rfind(_ENTRY, 0, len(text) - most) + 1
    if len(text) - start <= 4 * most:
        return [_Span(start, len(text))]
    latest = text.find(_ENTRY, len(text) - most) + 1 or len(text)
    middle = start + most
    ends = [_Span(latest, len(text))] if latest < len(text) else []
    return [_Span(start, middle, latest - middle), *ends]


def _parse_entries(text: str, span: _Span, most: int) -> Iterator[Entry]:
    """Yield the entries of a part of a daily page, without the heading of the day, empty lines and footers.

    What a person wrote before the first heading is an entry too.
    """
    part = text[span.start : span.end]
    starts = [mark.start for mark in find_marks(part) if mark.level in _ENTRY_LEVELS and not mark.fenced]
    line = text.count("\n", 0, span.start) + 1
    for start, end in zip([0, *starts], [*starts, len(part)], strict=True):
        raw = part[start:end]
        beyond = span.beyond if end == len(part) else 0
        last = text.count("\n", 0, span.end + beyond) if beyond else line + raw.rstrip().count("\n")
        entry = _make_entry(raw, line, last, beyond, most)
        if entry:
            yield entry
        line += raw.count("\n")


def _make_entry(raw: str, first_line: int, last_line: int, beyond: int, most: int) -> Entry | None:
    lines = enumerate(raw.split("\n"), start=first_line)
    shown = [(number, line.rstrip()) for number, line in lines if _is_shown(line)]
    if all(line.startswith("#") for _, line in shown):
        return None
    text = "\n".join(line for _, line in shown)
    return Entry(text[:most], shown[0][0], last_line, len(text) + beyond)


def _is_shown(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(FOOTER_START) and not _DAY_HEADING.fullmatch(line)


def _name_day(day: str, today: date) -> str:
    age = today.toordinal() - date.fromisoformat(day).toordinal() if _is_date(day) else -1
    words = {0: "today", 1: "yesterday"}.get(age, f"{age} days ago" if age > 0 else "")
    return f"{day} ({words})" if words else day


def _is_date(day: str) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True
