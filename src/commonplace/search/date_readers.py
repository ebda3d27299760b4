"""Patterns of the phrases that name days, in fifteen languages, and which days each names."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from ..formats.timestamps import MONTHS
from ..patterns import lazy_pattern
from .date_phrases import (
    ARABIC_DUALS,
    CHINESE_WEEKDAYS,
    IN_YEAR,
    JAPANESE_WEEKDAYS,
    KOREAN_WEEKDAYS,
    NOT_OF,
    OWN_WORDS,
    VOCABULARIES,
    WEEKDAYS,
    WORD_CHARACTERS,
    WORD_END,
    WORD_START,
    fold_phrase,
)
from .date_ranges import Direction, lead_pattern, trail_pattern
from .words import guess_languages

FIRST_DAY = 1  # of all: where a range has no beginning
_SHORT_MONTH_CHARACTERS = 3  # `mai`, `mar` and `set` are words of many languages
DAYS_IN_A_UNIT = {"day": 1, "week": 7, "month": 30, "year": 365}
_ENGLISH_NUMBERS = "a/an/one two/couple_of/a_couple_of three/few/a_few four five six seven eight nine ten"
_CHINESE_NUMBERS = "一 二/两/兩 三 四 五 六 七 八 九 十 十一 十二"
_CHINESE_DIGITS = "〇一二三四五六七八九"
# Every English way to name a day contains one of these; a text without any of them names none.
_HINTS = (
    *"0123456789",
    "day",
    "ago",
    "night",
    "week",
    "month",
    "year",
    "morning",
    "noon",
    "evening",
    "tomorrow",
    *MONTHS,
)

_WORDS = lazy_pattern(f"[{WORD_CHARACTERS}]+")
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_FIGURES = lazy_pattern("[0-9][-/.][0-9]")  # in every date in figures
_YEAR = r"(?P<year>[0-9]{4})"
_PLAIN_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_DAY = r"(?P<day>[0-9]{1,2})"


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


_Read = Callable[[re.Match[str], date], Span | None]


class Reader(NamedTuple):
    """A pattern of phrases, and which days a match of it names.

    `hints`: a text that has none of them has no match, which takes less time to tell; without hints, any may have one.
    In English they are whole words.
    """

    pattern: re.Pattern[str]
    read: _Read
    is_relative: bool
    hints: frozenset[str]


_RawReader = tuple[str, _Read, bool, str]  # with its hints, separated by spaces


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


def _read_month_of(months: dict[str, int]) -> _Read:
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


def _read_day_and_number(match: re.Match[str], today: date) -> Span | None:
    """Return the latest day that is written as `21.10.`."""
    month = int(match["number"])
    return _day_or_month(_latest_year(today, month, match["day"]), month, match["day"])


def _read_slashes(match: re.Match[str], _: date) -> Span | None:
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


def _read_numeric(match: re.Match[str], _: date) -> Span | None:
    try:
        day = date(int(match["year"]), int(match["number"]), int(match["day"])).toordinal()
    except ValueError:
        return None
    return Span(day, day)


def _read_ago_of(numbers: dict[str, int]) -> _Read:
    def read(match: re.Match[str], today: date) -> Span:
        amount = _amount(match, numbers)
        days = DAYS_IN_A_UNIT[_unit_name(match)]
        middle = max(1, today.toordinal() - amount * days)
        return Span(max(1, middle - days // 2), min(date.max.toordinal(), middle + days // 2))

    return read


def _read_two_ago(match: re.Match[str], today: date) -> Span | None:
    return _read_ago_of({"": 2})(match, today)


def _read_until_today_of(numbers: dict[str, int]) -> _Read:
    def read(match: re.Match[str], today: date) -> Span:
        days = DAYS_IN_A_UNIT[_unit_name(match)] * _amount(match, numbers)
        return Span(max(1, today.toordinal() - days), today.toordinal())

    return read


def _amount(match: re.Match[str], numbers: dict[str, int]) -> int:
    amount = match["amount"]
    return 1 if amount is None else numbers.get(amount) or int(amount)


def _unit_name(match: re.Match[str]) -> str:
    """Return the unit whose group matched."""
    groups = match.groupdict()
    return next(name for name in DAYS_IN_A_UNIT if groups.get(name))


def _read_unit(offset: int) -> _Read:
    def read(match: re.Match[str], today: date) -> Span | None:
        """Return the calendar week, month or year before the present one, the present one, or the one after."""
        return _calendar_unit(_unit_name(match), today, offset)

    return read


def _calendar_unit(name: str, today: date, offset: int) -> Span | None:
    if name == "week":
        monday = max(1, today.toordinal() - today.weekday() + 7 * offset)
        return Span(monday, monday + 6) if monday + 6 <= date.max.toordinal() else None
    if name == "month":
        months = today.year * 12 + today.month - 1 + offset
        return _month(months // 12, months % 12 + 1)
    return _whole_year(today.year + offset)


def _whole_year(year: int) -> Span | None:
    if not 1 <= year <= 9999:
        return None
    return Span(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal())


def _read_weekday_of(weekdays: dict[str, int]) -> _Read:
    def read(match: re.Match[str], today: date) -> Span:
        back = (today.weekday() - weekdays[match["weekday"]]) % 7 or 7
        day = max(1, today.toordinal() - back)
        return Span(day, day)

    return read


def _read_weekday_of_last_week(names: str) -> _Read:
    """Return a reader of the weekday that a character names, in the calendar week before."""

    def read(match: re.Match[str], today: date) -> Span:
        monday = today.toordinal() - today.weekday() - 7
        day = max(1, monday + names.index(match["weekday"].replace("天", "日")))
        return Span(day, day)

    return read


def _read_chinese_day(match: re.Match[str], today: date) -> Span | None:
    """Return the day of a date in Chinese numerals: 二〇二五年十月二十一日."""
    month = number_words(_CHINESE_NUMBERS)[match["month"]]
    tens, ten, ones = match["day"].rpartition("十")
    day = 10 * (_CHINESE_DIGITS.index(tens) if tens else 1) * bool(ten) + (_CHINESE_DIGITS.index(ones) if ones else 0)
    digits = [str(_CHINESE_DIGITS.index(digit.replace("零", "〇"))) for digit in match["year"] or ""]
    year = int("".join(digits)) if digits else _latest_year(today, month, str(day))
    return _day_or_month(year, month, str(day))


def _read_day(offset: int) -> _Read:
    def read(_: re.Match[str], today: date) -> Span | None:
        day = max(1, today.toordinal() + offset)
        return Span(day, day) if day <= date.max.toordinal() else None

    return read


def _read_last_night(_: re.Match[str], today: date) -> Span:
    return Span(max(1, today.toordinal() - 1), today.toordinal())


def _read_weekend(_: re.Match[str], today: date) -> Span:
    """Return the last Saturday and Sunday that are over."""
    sunday = today.toordinal() - (today.weekday() + 1)
    return Span(max(1, sunday - 1), max(1, sunday))


def _read_year(match: re.Match[str], _: date) -> Span | None:
    return _whole_year(int(match["year"]))


def choose_languages(folded: str) -> list[str]:
    """Return the languages that a text may be in: compiling the patterns of all takes longer than a search."""
    chosen: list[str] = []
    if _has_any(folded, _HINTS):
        chosen.append("english")
    if not folded.isascii() and max(folded) >= "\u3040":
        chosen.append("unspaced")
    words = frozenset(_LETTERS.findall(folded))
    languages = guess_languages(words)
    for language, vocabulary in VOCABULARIES.items():
        if vocabulary.script:
            is_likely = not folded.isascii() and _compile_once(f"[{vocabulary.script}]").search(folded) is not None
        else:
            is_known = not languages or language in languages or not words.isdisjoint(_own_words(language))
            has_year = language in languages and _has_year(folded)
            is_likely = has_year or (is_known and _has_any(folded, _latin_hints(language)))
        if is_likely:
            chosen.append(language)
    return chosen


def _has_any(folded: str, hints: Iterable[str]) -> bool:
    return any(map(folded.__contains__, hints))


@cache
def _latin_hints(language: str) -> tuple[str, ...]:
    return tuple(VOCABULARIES[language].hints.split())


@cache
def _own_words(language: str) -> frozenset[str]:
    """Return words of one language alone, and its months."""
    months = number_words(VOCABULARIES[language].months)
    long_months = (month for month in months if len(month) > _SHORT_MONTH_CHARACTERS)
    return frozenset((*OWN_WORDS.get(language, "").split(), *long_months))


def _has_year(folded: str) -> bool:
    return _compile_once(_PLAIN_YEAR).search(folded) is not None


def choose_readers(languages: Iterable[str], folded: str) -> Iterator[Reader]:
    """Yield the readers of these languages that may find something in a text."""
    for language in languages:
        if language == "english":
            words = frozenset(_WORDS.findall(folded))
            if _FIGURES.search(folded):
                yield from _figure_readers()
            yield from (reader for reader in _english_readers() if not reader.hints.isdisjoint(words))
            if _has_year(folded):
                yield _english_year_reader()
        elif language == "unspaced":
            yield from (reader for reader in _unspaced_readers() if _has_any(folded, reader.hints))
        else:
            yield from _vocabulary_readers(language)


@cache
def _compile_once(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _figure_readers() -> tuple[Reader, ...]:
    """Return the patterns of dates in figures."""
    raw: tuple[_RawReader, ...] = (
        (rf"(?<![0-9]){_YEAR}[-/.](?P<number>[0-9]{{1,2}})[-/.]{_DAY}(?![0-9])", _read_numeric, False, ""),
        (rf"(?<![0-9.]){_DAY}\.(?P<number>[0-9]{{1,2}})\.{_YEAR}(?![0-9])", _read_numeric, False, ""),
        (rf"(?<![0-9/]){_DAY}/(?P<number>[0-9]{{1,2}})/{_YEAR}(?![0-9/])", _read_slashes, False, ""),
        (
            rf"{WORD_START}(?:am|vom|zum|seit dem|bis zum|ab dem) {_DAY}\.(?P<number>[0-9]{{1,2}})\.(?![0-9])",
            _read_day_and_number,
            False,
            "",
        ),
    )
    return _compile(raw)


@cache
def _english_readers() -> tuple[Reader, ...]:
    """Return the patterns of English. A month is always a whole word."""
    numbers = number_words(_ENGLISH_NUMBERS)
    amount = f"(?P<amount>[0-9]{{1,3}}|{any_of(numbers)})"
    units = "(?:(?P<day>day)|(?P<week>week)|(?P<month>month)|(?P<year>year))s?"
    unit = "(?:(?P<week>week)|(?P<month>month)|(?P<year>year))(?:'s)?"
    month = f"(?P<month>{any_of(MONTHS)})"
    months = " ".join(MONTHS)
    units_named = "day week month year"
    ordinal = "(?P<ordinal>st|nd|rd|th)?"
    of_year = rf"(?:,? {_YEAR})?"
    lead = "(?:(?P<lead>on|by|since|from|before|after|until|till|up to)(?: the)? )?"
    weekdays = {name: number for number, name in enumerate(WEEKDAYS)}
    read_month = _read_month_of(MONTHS)
    raw: tuple[_RawReader, ...] = (
        (rf"{WORD_START}(?:the )?day before yesterday(?:'s)?{WORD_END}", _read_day(-2), True, "yesterday"),
        (
            rf"{WORD_START}yesterday(?:'s)?(?: (?:morning|afternoon|evening))?{WORD_END}",
            _read_day(-1),
            True,
            "yesterday",
        ),
        (
            rf"{WORD_START}(?<!as of )(?<!until )(?<!till )(?:earlier )?today(?:'s)?{WORD_END}"
            rf"|{WORD_START}this (?:morning|afternoon|evening){WORD_END}|{WORD_START}tonight{WORD_END}",
            _read_day(0),
            True,
            "today tonight morning afternoon evening",
        ),
        (rf"{WORD_START}last night{WORD_END}", _read_last_night, True, "night"),
        (rf"{WORD_START}(?:the )?day after tomorrow{WORD_END}", _read_day(2), True, "tomorrow"),
        (rf"{WORD_START}tomorrow{WORD_END}", _read_day(1), True, "tomorrow"),
        (rf"{WORD_START}{amount} {units} ago{WORD_END}", _read_ago_of(numbers), True, "ago"),
        (
            rf"{WORD_START}(?:in |over |during |within )?(?:the )?(?:last|past) {amount} {units}{WORD_END}",
            _read_until_today_of(numbers),
            True,
            f"{units_named} days weeks months years",
        ),
        (rf"{WORD_START}(?:last|over the|at the|this past) weekend{WORD_END}", _read_weekend, True, "weekend"),
        (rf"{WORD_START}(?:the )?(?:last|previous|past) {unit}{WORD_END}{NOT_OF}", _read_unit(-1), True, units_named),
        (rf"{WORD_START}(?:earlier )?this {unit}{WORD_END}", _read_unit(0), True, units_named),
        (rf"{WORD_START}next {unit}{WORD_END}", _read_unit(1), True, "next"),
        (
            rf"{WORD_START}(?<!the )(?:last|on|this past) (?P<weekday>{'|'.join(WEEKDAYS)}){WORD_END}(?!['’]s){NOT_OF}",
            _read_weekday_of(weekdays),
            True,
            " ".join(WEEKDAYS),
        ),
        (rf"{WORD_START}{lead}{_DAY}{ordinal}(?: of)? {month}{of_year}{WORD_END}", read_month, False, months),
        (rf"{WORD_START}{lead}{month} {_DAY}{ordinal}{of_year}{WORD_END}", read_month, False, months),
        (
            rf"{WORD_START}(?P<lead>in|during|of|last|since|before|after|until|till|up to|early|late|mid)"
            rf"(?: (?:early|late|mid))? {month}{of_year}{WORD_END}",
            read_month,
            False,
            months,
        ),
        (rf"{WORD_START}{month} {_YEAR}{WORD_END}", read_month, False, months),
    )
    return _compile(raw)


@cache
def _english_year_reader() -> Reader:
    pattern = rf"{WORD_START}(?:in|during) {_PLAIN_YEAR}{WORD_END}"
    return Reader(re.compile(pattern), _read_year, is_relative=False, hints=frozenset())


@cache
def _unspaced_readers() -> tuple[Reader, ...]:
    """Return the patterns of Chinese, Japanese and Korean."""
    numbers = number_words(_CHINESE_NUMBERS)
    number = any_of(numbers)
    amount = f"(?P<amount>[0-9]{{1,3}}|{number})"
    counted = "(?:(?P<day>天|日)|(?P<week>週間|周|週|星期|礼拜|禮拜)|(?P<month>个月|個月|か月|ヶ月|カ月)|(?P<year>年))"
    korean = "(?:(?P<day>일)|(?P<week>주)|(?P<month>개월|달)|(?P<year>년))"
    unit = "(?:(?P<week>周|週|星期|礼拜|禮拜|주)|(?P<month>月|달))"
    weeks = "(?:周|週|星期|礼拜|禮拜)"
    raw: tuple[_RawReader, ...] = (
        (r"(?<![之以目从])前天|一昨日|おととい|그저께|그제", _read_day(-2), True, "前天 一昨日 おととい 그저께 그제"),
        (r"昨天|昨日|きのう|昨晚|昨夜|어제", _read_day(-1), True, "昨 きのう 어제"),
        (r"今天|今日|本日|今早|今晚|今朝|今夜|きょう|오늘", _read_day(0), True, "今 本日 きょう 오늘"),
        (r"(?<![以今然之最往先])[后後]天|明後日|あさって|모레", _read_day(2), True, "天 明後日 あさって 모레"),
        (r"明天|明日|あした|내일", _read_day(1), True, "明 あした 내일"),
        (rf"{amount}{counted}(?:之|以)?前", _read_ago_of(numbers), True, "前"),
        (rf"(?P<amount>[0-9]{{1,3}})\s?{korean}\s?전", _read_ago_of(numbers), True, "전"),
        (r"上(?:个|個)?(?:周|週)末|先週末|지난\s?주말", _read_weekend, True, "末 주말"),
        (
            rf"(?<![早晚马馬以])上(?:个|個)?{weeks}(?P<weekday>[一二三四五六日天])",
            _read_weekday_of_last_week(CHINESE_WEEKDAYS),
            True,
            "上",
        ),
        (r"先週の?(?P<weekday>[月火水木金土日])曜日?", _read_weekday_of_last_week(JAPANESE_WEEKDAYS), True, "先週"),
        (r"지난\s?주\s?(?P<weekday>[월화수목금토일])요일", _read_weekday_of_last_week(KOREAN_WEEKDAYS), True, "요일"),
        (rf"(?:(?<![早晚马馬以])上(?:个|個)?|先|지난)\s?{unit}", _read_unit(-1), True, "上 先 지난"),
        (r"(?P<year>去年|昨年|작년|지난해)", _read_unit(-1), True, "去年 昨年 작년 지난해"),
        (r"(?P<year>今年|올해)", _read_unit(0), True, "今年 올해"),
        (rf"(?:这个?|這個?|(?<!日)本|今|이번)\s?{unit}", _read_unit(0), True, "这 這 本 今 이번"),
        (rf"(?:下(?:个|個)?|来|來|다음)\s?{unit}", _read_unit(1), True, "下 来 來 다음"),
        (
            rf"(?:(?P<year>[〇零一二三四五六七八九]{{4}})年)?(?P<month>{number})月(?P<day>[一二三]?十?[一二三四五六七八九]?)(?<=[一-十])[日号號]",
            _read_chinese_day,
            False,
            "月",
        ),
        (
            rf"(?:(?P<year>[0-9]{{4}})[年년]\s?)?(?P<month>[0-9]{{1,2}}|{number})[月월](?:\s?{_DAY}[日号號일])?",
            _read_month_of(numbers),
            False,
            "月 월",
        ),
        (r"(?P<year>(?:19|20)[0-9]{2})[年년]", _read_year, False, "年 년"),
    )
    return _compile(raw)


@cache
def _vocabulary_readers(language: str) -> tuple[Reader, ...]:
    words = VOCABULARIES[language]
    numbers = number_words(words.numbers)
    months = number_words(words.months)
    weekdays = {name: number - 1 for name, number in number_words(words.weekdays).items()}
    names = ("day", "week", "month", "year")
    units = "|".join(f"(?P<{name}>{fold_phrase(forms)})" for name, forms in zip(names, words.units, strict=True))
    unit = "|".join(
        f"(?P<{name}>{fold_phrase(form)})"
        for name, form in zip(names[1:], (words.week, words.month, words.year), strict=True)
    )
    parts = {
        "unit": f"(?:{unit})",
        "units": f"(?:{units})",
        "amount": f"(?P<amount>[0-9]{{1,3}}|{any_of(numbers)})",
        "weekday": f"(?P<weekday>{any_of(weekdays)})",
        "month": f"(?P<month>{any_of(months)})",
        "day": _DAY,
        "year": _PLAIN_YEAR,
    }
    of_year = rf"(?:,? (?:de |del |di |года? )?{_YEAR})?"
    raw: list[_RawReader] = []

    def add(templates: str, read: _Read, *, is_relative: bool, tail: str = "") -> None:
        for template in templates.split(" | "):
            pattern = re.sub(r"\{(\w+)\}", lambda part: parts.get(part[1], part[0]), fold_phrase(template))
            raw.append((f"{WORD_START}{pattern}{tail}{WORD_END}{NOT_OF}", read, is_relative, ""))

    for offset in sorted(words.days, key=abs, reverse=True):
        add(words.days[offset], _read_day(offset), is_relative=True)
    if language == "arabic":
        for name, dual in ARABIC_DUALS.items():
            raw.append(
                (
                    f"{WORD_START}(?:قبل|منذ) (?P<amount>)(?P<{name}>{fold_phrase(dual)}){WORD_END}",
                    _read_two_ago,
                    True,
                    "",
                )
            )
    add(words.ago, _read_ago_of(numbers), is_relative=True)
    for templates, offset in ((words.last, -1), (words.this, 0), (words.next, 1)):
        add(templates, _read_unit(offset), is_relative=True)
    add(words.weekday, _read_weekday_of(weekdays), is_relative=True)
    add(words.day_of_month, _read_month_of(months), is_relative=False, tail=of_year)
    if leads := lead_pattern(language):
        raw.append(
            (f"{WORD_START}(?P<lead>{leads}) {parts['month']}{of_year}{WORD_END}", _read_month_of(months), False, "")
        )
    if trails := trail_pattern(language):
        raw.append(
            (f"{WORD_START}{parts['month']}{of_year} (?P<trail>{trails}){WORD_END}", _read_month_of(months), False, "")
        )
    add(words.in_month, _read_month_of(months), is_relative=False, tail=of_year)
    raw.append((f"{WORD_START}{parts['month']}(?: de| del| di)? {_YEAR}{WORD_END}", _read_month_of(months), False, ""))
    add(IN_YEAR[language], _read_year, is_relative=False)
    return _compile(raw)


@cache
def number_words(words: str) -> dict[str, int]:
    """Return the numbers of words in a list, from 1; forms of one word are separated by `/`."""
    entries = enumerate(fold_phrase(words).split(), start=1)
    return {form.replace("_", " "): number for number, forms in entries for form in forms.split("/")}


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for any of these words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _compile(raw: Iterable[_RawReader]) -> tuple[Reader, ...]:
    return tuple(
        Reader(re.compile(pattern), read, is_relative, frozenset(hints.split()))
        for pattern, read, is_relative, hints in raw
    )
