"""The days that a query names (`last week`, `in March`, `on 8 May 2023`, 上周), and whether it asks about now.

Dates are a soft filter: what happened on a day is often written down a little later.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import NamedTuple

from ..formats.timestamps import MONTHS, parse_day


class Span(NamedTuple):
    """Days, both included, as ordinals."""

    first: int
    last: int


_LATE_DAYS = 10  # after a span, in which it may still be written about
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "couple of": 2,
    "一": 1,
    "两": 2,
    "兩": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "十一": 11,
    "十二": 12,
}
_UNITS = {
    "day": 1,
    "天": 1,
    "日": 1,
    "일": 1,
    "week": 7,
    "周": 7,
    "週": 7,
    "週間": 7,
    "星期": 7,
    "礼拜": 7,
    "주": 7,
    "month": 30,
    "个月": 30,
    "個月": 30,
    "か月": 30,
    "ヶ月": 30,
    "개월": 30,
    "달": 30,
    "year": 365,
    "年": 365,
    "년": 365,
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NOW = (
    r"(?i)\b(?:now|currently|these days|nowadays|at the moment|latest|newest|recent(?:ly)?|lately)\b"
    r"|现在|目前|最近|最新|現在|지금|최근"
)
# Every English way to name a day contains one of these; an ASCII query without any of them names none.
_HINTS = ("day", "ago", "this", "tonight", "weekend", "last ", "previous ", "past ", "in ", "during ", *MONTHS)


def asks_about_now(text: str) -> bool:
    return re.search(_NOW, text) is not None


def parse_span(text: str, today: int) -> Span | None:
    """Return the days that a query names, or None."""
    lower = text.lower()
    if (day := parse_day(lower)) is not None:
        return Span(day, day)
    if lower.isascii() and not any(hint in lower for hint in _HINTS):
        return None
    for pattern, read in _readers():
        if match := pattern.search(lower):
            return read(match, date.fromordinal(today)) if today else None
    return None


def date_proximity(span: Span, day: int) -> float:
    """Return how well the day of a passage fits: 1 within the span, falling to 0 over the days after it."""
    if day < span.first:
        return 0.0
    return max(0.0, 1 - max(0, day - span.last) / _LATE_DAYS)


def _month(year: int, month: int) -> Span | None:
    if not (1 <= month <= 12 and 1 <= year <= 9998):
        return None
    return Span(date(year, month, 1).toordinal(), date(year, month, monthrange(year, month)[1]).toordinal())


def _named_month(match: re.Match[str], today: date) -> Span | None:
    """Return a month, or a day of it. Without a year it is the latest month of that name."""
    month = MONTHS.get(match["month"]) or _NUMBERS.get(match["month"]) or int(match["month"])
    year = int(match["year"]) if match["year"] else today.year - (month > today.month)
    day = match.groupdict().get("day")
    span = _month(year, month)
    if span and day and 1 <= int(day) <= span.last - span.first + 1:
        exact = span.first + int(day) - 1
        return Span(exact, exact)
    return span


def _ago(match: re.Match[str], today: date) -> Span:
    amount = _NUMBERS.get(match["amount"]) or int(match["amount"])
    unit = _UNITS[match["unit"]]
    middle = max(1, today.toordinal() - amount * unit)
    return Span(max(1, middle - unit // 2), middle + unit // 2)


def _last(match: re.Match[str], today: date) -> Span | None:
    """Return the calendar week, month or year before the present one."""
    return _unit(match["unit"], today, before=1)


def _this(match: re.Match[str], today: date) -> Span | None:
    return _unit(match["unit"], today, before=0)


def _unit(name: str, today: date, before: int) -> Span | None:
    if _UNITS.get(name) == 7:
        monday = max(1, today.toordinal() - today.weekday() - 7 * before)
        return Span(monday, monday + 6)
    if name in ("month", "月", "달"):
        months = today.year * 12 + today.month - 1 - before
        return _month(months // 12, months % 12 + 1)
    return _whole_year(today.year - before)


def _last_year(_: re.Match[str], today: date) -> Span | None:
    return _unit("year", today, before=1)


def _this_year(_: re.Match[str], today: date) -> Span | None:
    return _unit("year", today, before=0)


def _whole_year(year: int) -> Span | None:
    if year < 1:
        return None
    return Span(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal())


def _weekday(match: re.Match[str], today: date) -> Span:
    back = (today.weekday() - _WEEKDAYS.index(match["name"])) % 7 or 7
    day = max(1, today.toordinal() - back)
    return Span(day, day)


def _days_back(days: int) -> Callable[[re.Match[str], date], Span]:
    def read(_: re.Match[str], today: date) -> Span:
        day = max(1, today.toordinal() - days)
        return Span(day, day)

    return read


def _weekend(_: re.Match[str], today: date) -> Span:
    """Return the last Saturday and Sunday that are over."""
    sunday = today.toordinal() - (today.weekday() + 1)
    return Span(max(1, sunday - 1), max(1, sunday))


def _year(match: re.Match[str], _: date) -> Span | None:
    return _whole_year(int(match["year"]))


_AMOUNT = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_DAY_AND_MONTH = rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})"
_MONTH_AND_DAY = rf"(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
_OF_YEAR = r"\b(?:,? (?P<year>\d{4}))?"
_WEEK_OR_MONTH = "(?P<unit>周|週|星期|礼拜|月|주|달)"
_Reader = Callable[[re.Match[str], date], Span | None]
_READERS: tuple[tuple[str, _Reader], ...] = (
    (r"\bday before yesterday\b|前天|一昨日|그저께", _days_back(2)),
    (r"\byesterday\b|昨天|昨日|어제", _days_back(1)),
    (r"\btoday\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b|今天|今日|오늘", _days_back(0)),
    (rf"\b(?P<amount>\d{{1,3}}|{_AMOUNT}) (?P<unit>day|week|month|year)s? ago\b", _ago),
    (rf"(?P<amount>\d{{1,3}}|{_AMOUNT})(?P<unit>天|日|週間|周|週|星期|礼拜|个月|個月|か月|ヶ月|年)(?:以)?前", _ago),
    (r"(?P<amount>\d{1,3})\s?(?P<unit>일|주|개월|달|년)\s?전", _ago),
    (r"\blast weekend\b|上周末|上週末", _weekend),
    (r"\b(?:last|previous|past) (?P<unit>week|month|year)\b", _last),
    (rf"(?:上个?|上個|先|지난)\s?{_WEEK_OR_MONTH}", _last),
    (r"去年|昨年|작년", _last_year),
    (r"\bthis (?P<unit>week|month|year)\b", _this),
    (r"今年|올해", _this_year),
    (rf"(?:这个?|這個?|本|今|이번)\s?{_WEEK_OR_MONTH}", _this),
    (rf"\b(?:last|on) (?P<name>{'|'.join(_WEEKDAYS)})\b", _weekday),
    (
        r"(?:(?P<year>\d{4})[年년]\s?)?(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])[月월]"
        r"(?:\s?(?P<day>\d{1,2})[日号일])?",
        _named_month,
    ),
    (rf"\b{_DAY_AND_MONTH}{_OF_YEAR}", _named_month),
    (rf"\b{_MONTH_AND_DAY}{_OF_YEAR}", _named_month),
    (rf"\b(?:in|during|of|last|since|early|late|mid) (?P<month>{_MONTH}){_OF_YEAR}", _named_month),
    (r"\b(?:in|during) (?P<year>(?:19|20)\d\d)\b", _year),
)


@cache
def _readers() -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """Compile the patterns, once a query may name a day: that takes longer than the search itself."""
    return tuple((re.compile(pattern, re.ASCII), read) for pattern, read in _READERS)
