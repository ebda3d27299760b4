"""The days that a phrase names, given the day on which it was said: one reader for each kind of phrase."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import NamedTuple

from .date_phrases import Direction, fold_phrase

FIRST_DAY = 1  # the start of a range without a beginning
DAYS_IN_A_UNIT = {"day": 1, "week": 7, "month": 30, "year": 365}
_UNITS = ("hour", "day", "week", "month", "quarter", "year")
FEW = 0  # an indefinite amount
_LEAST_FEW = 2
_MOST_FEW = {"hour": 24, "day": 7, "week": 4, "month": 6, "year": 4}
CHINESE_NUMBERS = "一 二/两/兩 三 四 五 六 七 八 九 十 十一 十二"
_CHINESE_DIGITS = "〇一二三四五六七八九"


class Span(NamedTuple):
    """Days, both included, as ordinals."""

    first: int
    last: int

    def contains(self, day: int) -> bool:
        return self.first <= day <= self.last

    def __str__(self) -> str:
        first = date.fromordinal(self.first)
        if self.first == FIRST_DAY:
            return f"up to {date.fromordinal(self.last)}"
        return f"{first}" if self.first == self.last else f"{first} to {date.fromordinal(self.last)}"

    def describe(self) -> str:
        """Return the days as people write them: `9–15 November 2026`."""
        first = date.fromordinal(self.first)
        last = date.fromordinal(self.last)
        end = f"{last.day} {last:%B} {last.year}"
        if first == last:
            return end
        if self.first == FIRST_DAY:
            return f"up to {end}"
        if (first.year, first.month) == (last.year, last.month):
            return f"{first.day}–{end}"
        return f"{first.day} {first:%B}{'' if first.year == last.year else f' {first.year}'} – {end}"


Read = Callable[[re.Match[str], date], Span | None]


@cache
def number_words(words: str) -> dict[str, int]:
    """Return the numbers of words in a list, from 1; forms of one word are separated by `/`."""
    entries = enumerate(fold_phrase(words).split(), start=1)
    return {form.replace("_", " "): number for number, forms in entries for form in forms.split("/")}


def open_span(span: Span, direction: Direction, today: int) -> Span:
    """Return the range from days on, or up to them; without another end, it goes up to today."""
    if direction == "before":
        return Span(FIRST_DAY, max(FIRST_DAY, span.first - 1))
    if direction == "until":
        return Span(FIRST_DAY, span.last)
    first = min(span.first if direction == "since" else span.last + 1, date.max.toordinal())
    return Span(first, today if first <= today else min(first + DAYS_IN_A_UNIT["year"], date.max.toordinal()))


def _month(year: int, month: int) -> Span | None:
    if not (1 <= month <= 12 and 1 <= year <= 9998):
        return None
    return Span(date(year, month, 1).toordinal(), date(year, month, monthrange(year, month)[1]).toordinal())


def _day_or_month(year: int, month: int, day: str | None) -> Span | None:
    """Return a month, or a day of it; None for a day that the month does not have."""
    span = _month(year, month)
    if not span or not day:
        return span
    exact = span.first + int(day) - 1
    return Span(exact, exact) if span.contains(exact) else None


def read_month_of(months: dict[str, int]) -> Read:
    def read(match: re.Match[str], today: date) -> Span | None:
        """Return a month, or a day of it. Without a year it is the latest month of that name."""
        month = months.get(match["month"]) or int(match["month"])
        day = match.groupdict().get("day")
        year = int(match["year"]) if match["year"] else _latest_year(today, month, day)
        return _day_or_month(year, month, day)

    return read


def _latest_year(today: date, month: int, day: str | None) -> int:
    """Return the latest year that had a month, or a day of it: not every year has a 29 February."""
    year = today.year - (month > today.month)
    while month == 2 and day == "29" and not isleap(year) and year > 1:
        year -= 1
    return year


def read_day_and_number(match: re.Match[str], today: date) -> Span | None:
    """Return the latest day that is written as `21.10.`."""
    month = int(match["number"])
    return _day_or_month(_latest_year(today, month, match["day"]), month, match["day"])


def read_slashes(match: re.Match[str], _: date) -> Span | None:
    """Return the day of `21/10/2025` or `10/21/2025`; None for `5/6/2025`, which means two days."""
    first = int(match["day"])
    second = int(match["number"])
    if first <= 12 and second <= 12 and first != second:
        return None
    month, day = (second, first) if second <= 12 else (first, second)
    try:
        ordinal = date(int(match["year"]), month, day).toordinal()
    except ValueError:
        return None
    return Span(ordinal, ordinal)


def read_numeric(match: re.Match[str], _: date) -> Span | None:
    try:
        day = date(int(match["year"]), int(match["number"]), int(match["day"])).toordinal()
    except ValueError:
        return None
    return Span(day, day)


def read_ago_of(numbers: dict[str, int]) -> Read:
    def read(match: re.Match[str], today: date) -> Span:
        return _find_ago(_unit_name(match), _amount(match, numbers), today.toordinal())

    return read


def read_two_ago(match: re.Match[str], today: date) -> Span:
    """Return the days two units ago, for a single word that means that."""
    return _find_ago(_unit_name(match), 2, today.toordinal())


def _find_ago(unit: str, amount: int, today: int) -> Span:
    if amount == FEW:
        most = _count_days(unit, _MOST_FEW[unit])
        return Span(max(1, today - most), max(1, today - _count_days(unit, _LEAST_FEW)))
    if unit == "hour":
        return Span(max(1, today - _count_days(unit, amount)), today)
    days = DAYS_IN_A_UNIT[unit]
    middle = max(1, today - amount * days)
    return Span(max(1, middle - days // 2), min(date.max.toordinal(), middle + days // 2))


def read_until_today_of(numbers: dict[str, int]) -> Read:
    def read(match: re.Match[str], today: date) -> Span:
        """Return that many days, weeks, months or years until today; a single one if the phrase has no number."""
        name = _unit_name(match)
        amount = _amount(match, numbers)
        days = _count_days(name, _MOST_FEW[name] if amount == FEW else amount)
        return Span(max(1, today.toordinal() - days), today.toordinal())

    return read


def read_few_until_today(match: re.Match[str], today: date) -> Span:
    """Return the last days, weeks, months or years until today, where the phrase does not say how many."""
    name = _unit_name(match)
    return Span(max(1, today.toordinal() - _count_days(name, _MOST_FEW[name])), today.toordinal())


def _amount(match: re.Match[str], numbers: dict[str, int]) -> int:
    amount = match.groupdict().get("amount")
    if amount is None:
        return 1
    return numbers[amount] if amount in numbers else int(amount)


def _count_days(unit: str, amount: int) -> int:
    """Return the number of days in an amount of units; for hours, the days that they may reach back to."""
    return -(-amount // 24) if unit == "hour" else amount * DAYS_IN_A_UNIT[unit]


def _unit_name(match: re.Match[str]) -> str:
    """Return the unit whose group matched."""
    groups = match.groupdict()
    return next(name for name in _UNITS if groups.get(name))


def read_unit(offset: int) -> Read:
    def read(match: re.Match[str], today: date) -> Span | None:
        """Return the calendar week, month or year before the present one, the present one, or the one after."""
        return _calendar_unit(_unit_name(match), today, offset)

    return read


def read_early(match: re.Match[str], today: date) -> Span | None:
    """Return the present week, month or year up to today."""
    span = _calendar_unit(_unit_name(match), today, 0)
    return Span(span.first, today.toordinal()) if span else None


def _calendar_unit(name: str, today: date, offset: int) -> Span | None:
    if name == "week":
        monday = max(1, today.toordinal() - today.weekday() + 7 * offset)
        return Span(monday, monday + 6) if monday + 6 <= date.max.toordinal() else None
    if name == "month":
        months = today.year * 12 + today.month - 1 + offset
        return _month(months // 12, months % 12 + 1)
    if name == "quarter":
        quarters = today.year * 4 + (today.month - 1) // 3 + offset
        first = _month(quarters // 4, quarters % 4 * 3 + 1)
        last = _month(quarters // 4, quarters % 4 * 3 + 3)
        return Span(first.first, last.last) if first and last else None
    return _whole_year(today.year + offset)


def _whole_year(year: int) -> Span | None:
    if not 1 <= year <= 9999:
        return None
    return Span(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal())


def read_weekday_of(weekdays: dict[str, int]) -> Callable[[re.Match[str], date], Span]:
    def read(match: re.Match[str], today: date) -> Span:
        back = (today.weekday() - weekdays[match["weekday"]]) % 7 or 7
        day = max(1, today.toordinal() - back)
        return Span(day, day)

    return read


def read_since_weekday_of(weekdays: dict[str, int]) -> Read:
    def read(match: re.Match[str], today: date) -> Span:
        """Return the days from the last day of that name until today."""
        return Span(read_weekday_of(weekdays)(match, today).first, today.toordinal())

    return read


def read_weekday_of_last_week(weekdays: dict[str, int]) -> Read:
    """Return a reader of the day of that name in the calendar week before."""

    def read(match: re.Match[str], today: date) -> Span:
        monday = today.toordinal() - today.weekday() - 7
        day = max(1, monday + weekdays[match["weekday"]])
        return Span(day, day)

    return read


def number_characters(names: str) -> dict[str, int]:
    """Return the weekdays that characters name, from 0; in Chinese, Sunday has two."""
    return {**{name: number for number, name in enumerate(names)}, "天": 6}


def read_day_of_month(match: re.Match[str], today: date) -> Span | None:
    """Return the latest day of this number, as of `on the 3rd`."""
    months = today.year * 12 + today.month - 1 - (int(match["day"]) > today.day)
    for back in range(3):  # of three months in a row, one has it
        year, month = divmod(months - back, 12)
        if span := _day_or_month(year, month + 1, match["day"]):
            return span
    return None


def read_chinese_day(match: re.Match[str], today: date) -> Span | None:
    """Return the day of a date in Chinese numerals: 二〇二五年十月二十一日."""
    month = number_words(CHINESE_NUMBERS)[match["month"]]
    tens, ten, ones = match["day"].rpartition("十")
    day = 10 * (_CHINESE_DIGITS.index(tens) if tens else 1) * bool(ten) + (_CHINESE_DIGITS.index(ones) if ones else 0)
    digits = [str(_CHINESE_DIGITS.index(digit.replace("零", "〇"))) for digit in match["year"] or ""]
    year = int("".join(digits)) if digits else _latest_year(today, month, str(day))
    return _day_or_month(year, month, str(day))


def read_day(offset: int) -> Read:
    def read(_: re.Match[str], today: date) -> Span | None:
        day = max(1, today.toordinal() + offset)
        return Span(day, day) if day <= date.max.toordinal() else None

    return read


def read_last_night(_: re.Match[str], today: date) -> Span:
    return Span(max(1, today.toordinal() - 1), today.toordinal())


def read_weekend(weeks: int) -> Read:
    def read(_: re.Match[str], today: date) -> Span:
        """Return the last Saturday and Sunday that are over, or those so many weeks before."""
        sunday = today.toordinal() - (today.weekday() + 1) - 7 * weeks
        return Span(max(1, sunday - 1), max(1, sunday))

    return read


def read_half_a_year_ago(_: re.Match[str], today: date) -> Span:
    """Return the third of a year around the day half a year ago, since nobody means it more exactly."""
    year = DAYS_IN_A_UNIT["year"]
    middle = today.toordinal() - year // 2
    return Span(max(1, middle - year // 6), max(1, middle + year // 6))


def read_year(match: re.Match[str], _: date) -> Span | None:
    return _whole_year(int(match["year"]))
