"""The vocabulary of days and ranges of days, by language: the words of `lists/`, from which `dates.py` makes patterns.

A template has `{unit}` (a week, month or year), `{amount}`, `{units}` (days, weeks, months or years), `{weekday}`,
`{day}` or `{month}`; alternatives are separated by ` | `. All text is folded before it is compared. Some words make a
range of a date (`since March`, `bis zum 3. Mai`, 三月以前), others one of two dates (`from 3 May to 5 May`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ..index.tokenizer import fold_accents
from ..patterns import lazy_pattern
from ..word_lists import WordLists

LISTS = WordLists(Path(__file__).parent / "lists")
# A file of `lists/` for each; English and the languages without spaces have patterns of their own besides.
_LANGUAGES = (
    *("german", "french", "spanish", "portuguese", "italian", "russian", "hindi", "arabic"),
    *("bengali", "urdu", "indonesian", "dutch", "polish", "turkish"),
)
# Lists with other things than templates.
_WORD_FIELDS = ("HINTS", "NUMBERS", "MONTHS", "WEEKDAYS", "RECENT_FEW", "VALID_UNITS", "VALID_WEEKDAYS", "VALID_HINTS")
_DAY_FIELDS = ("DAYS", "VALID_DAYS")
_UNIT_FIELDS = ("UNITS", "RECENT_PLURALS")

# Arabic letters that are often written without their hamza, the apostrophe, and digits of Arabic, Persian, Hindi and
# Bengali.
_PLAIN_CHARACTERS = str.maketrans("أإآ’٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯", "ااا'" + "0123456789" * 4)
_ODD_CHARACTERS = "[\u0600-\u06ff\u0966-\u096f\u09e6-\u09ef\u2019]"
# `\w` does not match vowel signs of Devanagari, Bengali and Arabic, but they are parts of words.
WORD_CHARACTERS = r"\w\u0900-\u09ff\u064b-\u0652"
WORD_START = rf"(?<![{WORD_CHARACTERS}])"
WORD_END = rf"(?![{WORD_CHARACTERS}])"
NOT_OF = r"(?! (?:of|des|du|del|de cada|de chaque|von jede|dell|каждого) )"  # `the last week of May` is another one
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CHINESE_WEEKDAYS = "一二三四五六日"
JAPANESE_WEEKDAYS = "月火水木金土日"
KOREAN_WEEKDAYS = "월화수목금토일"
Direction = Literal["since", "after", "before", "until"]
_ARTICLE = "(?: the| dem| der| den| le| la| el| il| o| a)?"
# `the day before 3 May` is a day, and no range.
_COUNTED = lazy_pattern(r"\b(?:days?|weeks?|months?|years?|tage?|wochen?|jours?|semaines?|dias?|giorn[oi])\s*$")
_POSSESSIVE = lazy_pattern(r"['’]s$")
_TO = "|".join(LISTS.list_phrases("ranges", "TO"))
_AND = "|".join(LISTS.list_phrases("ranges", "AND"))
_UNSPACED_TO = "|".join(LISTS.list_phrases("ranges", "UNSPACED_TO"))
_UNSPACED_AND = "|".join(LISTS.list_phrases("ranges", "UNSPACED_AND"))
_BETWEEN = "|".join(LISTS.list_phrases("ranges", "BETWEEN"))
_FROM = "|".join(LISTS.list_phrases("ranges", "FROM"))
_ENDING = "|".join(LISTS.list_phrases("ranges", "ENDING"))
_ENDING_BETWEEN = "|".join(LISTS.list_phrases("ranges", "ENDING_BETWEEN"))
_NUMBER = r"(?P<day>\d{1,2})(?:st|nd|rd|th|[ºª.]|日|号|號|일)?"
_END_ARTICLE = r"(?:\s(?:the|dem|der|den|le|la|el|il|o|lo))?"
_JOINT = (
    rf"\s*(?:(?<!\w)(?:{_TO})(?!\w)|{_UNSPACED_TO}|(?P<and>(?<!\w)(?:{_AND})(?!\w)|{_UNSPACED_AND}))"
    rf"{_END_ARTICLE}\s*"
)
_JOINT_AFTER = lazy_pattern(_JOINT)
_OPENING = lazy_pattern(rf"(?:(?P<between>(?<!\w)(?:{_BETWEEN}))|(?<!\w)(?:{_FROM})){_END_ARTICLE}\s*$")
_OPENING_AT_START = lazy_pattern(rf"(?P<between>{_BETWEEN})(?!\w)")
_CLOSING = lazy_pattern(rf"\s?(?:(?P<between>{_ENDING_BETWEEN})|{_ENDING})")
_NUMBER_BEFORE = lazy_pattern(rf"(?<![\w.:/-]){_NUMBER}{_JOINT}$")
_NUMBER_AFTER = lazy_pattern(
    rf"(?:{_JOINT}{_NUMBER}(?=\s*(?:[?!.,;)]|$|19\d\d|20\d\d|{_ENDING}|{_ENDING_BETWEEN}))"
    r"|(?P<dash>[-–])(?P<dashed>\d{1,2})(?![\w.:/-])|(?:到|至|から|[-–~〜～])(?P<marked>\d{1,2})(?:日|号|號|일))"
)


def fold_phrase(text: str) -> str:
    """Return a text as phrases are compared: without case and accents, and with plain digits."""
    if text.isascii():
        return text.lower()
    plain = fold_accents(text)
    return plain.translate(_PLAIN_CHARACTERS) if re.search(_ODD_CHARACTERS, plain) else plain


class Vocabulary(NamedTuple):
    """The words of one language. Lists are in calendar order; forms of one word are separated by `/`."""

    language: str
    script: str  # a range of characters that every phrase has; empty for Latin script
    hints: str  # in Latin script: a phrase has one of these
    days: dict[int, str]  # by their distance from today
    week: str
    month: str
    year: str
    last: str
    this: str
    next: str
    ago: str
    units: tuple[str, str, str, str]  # days, weeks, months and years as they are counted
    numbers: str  # from one
    months: str
    weekdays: str
    weekday: str  # templates with a weekday of the past
    day_of_month: str
    in_month: str


class RecentPhrases(NamedTuple):
    """How one language names days shortly before today, in templates. Besides the above, these have `{any_unit}`, which
    is `{unit}` a second time; `{plural}`, units that are surely several; `{last_week}`."""

    few: str  # words for an indefinite number
    hours: str
    before_last: str  # with a unit: the one before the last one
    up_to_now: str  # with units: that many of them, until today
    since_weekday: str
    weekday_of_last_week: str
    early: str  # with a unit: from its beginning until today
    last_weekend: str
    weekend_before_last: str
    half_a_year_ago: str
    plurals: tuple[str, str, str, str] | None = None  # if they differ from the units as they are counted
    two_weeks: str = ""  # in place of an amount and a unit


@cache
def vocabularies() -> dict[str, Vocabulary]:
    """Return the vocabulary of each language that has one."""
    return {language: read_vocabulary(language) for language in _LANGUAGES}


@cache
def read_vocabulary(language: str) -> Vocabulary:
    return Vocabulary(language, **fill_fields(language, Vocabulary._fields[1:]))


@cache
def read_recent(language: str) -> RecentPhrases:
    return RecentPhrases(**fill_fields(language, RecentPhrases._fields, "RECENT_"))


def fill_fields(language: str, fields: Iterable[str], prefix: str = "") -> dict[str, Any]:
    """Return the words of a language for each field; empty if it has none."""
    return {field: read_field(language, f"{prefix}{field.upper()}") for field in fields}


def read_field(language: str, name: str) -> Any:
    """Return a list of a language: words in a row, days by number, units, or templates. It may have none."""
    if name in _WORD_FIELDS:
        return " ".join(LISTS.read_text(language, name, default="").split())
    if name in _DAY_FIELDS:
        return {int(day): names for day, names in LISTS.read_table(language, name, default="").items() if names}
    if name in _UNIT_FIELDS:
        return tuple(filter(None, LISTS.read_table(language, name, default="").values()))
    return " | ".join(LISTS.list_phrases(language, name, default=""))


# In Arabic, two days (weeks, months, years) are one word.
ARABIC_DUALS = {"day": "يومين", "week": "أسبوعين", "month": "شهرين", "year": "سنتين|عامين"}
# A text names days relative to its own only if it has one of these.
RELATIVE_WORDS = (
    r"yesterday|today|tonight|tomorrow|\bago\b|\b(?:last|next|past|this) (?:week|month|year|night|[mtwfs])"
    r"|gestern|heute|\bmorgen\b|\b(?:letzte|nachste|kommende|vorige|diese)[nrs]?\b|\bvor "
    r"|\bhier\b|aujourd|demain|dernier|prochain|il y a|\bayer\b|\bhoy\b|anoche|manana|pasad|proxim|\bhace\b"
    r"|ontem|\bhoje\b|amanha|passad|atras|\bieri\b|\boggi\b|domani|scors|prossim|\bfa\b"
    r"|вчера|сегодня|завтра|прошл|следующ|назад|कल|आज|परसों|पिछ|अगल|पहल|امس|البارحه|البارحة|اليوم|غد|الماضي|القادم|قبل"
    r"|[昨今明前上下先来來][天日周週月年晚夜个個]|去年|星期|어제|오늘|내일|지난|다음|이번|전"
)


def find_direction(before: str, phrase: str, after: str, languages: Iterable[str]) -> tuple[Direction, int, int] | None:
    """Return the direction that the words around a date give it, and how many characters before and after they take."""
    if _POSSESSIVE.search(phrase):
        return None
    for language in languages:
        for direction, start, end in _patterns(language):
            match = start.search(before) if start else None
            if match and not _COUNTED.search(before[: match.start()]):
                return direction, len(before) - match.start(), 0
            match = end.match(after) if end else None
            if match:
                return direction, 0, match.end()
    return None


class RangeEnd(NamedTuple):
    """The other end of a range, for which the text gives only the day, as in `3 to 5 May`; and where the range is."""

    day: int
    start: int
    end: int


def find_range(text: str, first_start: int, first_end: int, last_start: int, last_end: int) -> tuple[int, int] | None:
    """Return where the range is whose two ends are at these places of a text in lower case; None if there is none."""
    joint = _JOINT_AFTER.match(text, first_end)
    if not joint or not last_start <= joint.end() < last_end:
        return None
    return _widen(text, first_start, last_end, needs_between=bool(joint["and"]))


def find_short_end(text: str, start: int, end: int) -> RangeEnd | None:
    """Return the other end of a range, beside a day with its month; None if there is none."""
    before = _NUMBER_BEFORE.search(text, 0, start)
    number = before or _NUMBER_AFTER.match(text, end)
    if not number:
        return None
    first = min(start, number.start())
    last = max(end, number.end())
    place = _widen(text, first, last, needs_between=bool(number["and"]))
    day = next(each for each in number.groups()[::-1] if each and each.isdecimal())
    return RangeEnd(int(day), *place) if place else None


def _widen(text: str, start: int, end: int, *, needs_between: bool) -> tuple[int, int] | None:
    """Return a range with the words that open and close it."""
    opening = _OPENING.search(text, 0, start)
    closing = _CLOSING.match(text, end)
    is_between = _OPENING_AT_START.match(text, start) or any(
        mark and mark.groupdict().get("between") for mark in (opening, closing)
    )
    if needs_between and not is_between:
        return None
    return opening.start() if opening else start, closing.end() if closing else end


def lead_pattern(language: str) -> str:
    """Return a pattern for the words of a language that open a range and stand before the date."""
    words = [word for direction in get_args(Direction) for word in _split(language, direction)[0]]
    return "|".join(words)


def trail_pattern(language: str) -> str:
    """Return the same for words that stand after the date."""
    words = [word for direction in get_args(Direction) for word in _split(language, direction)[1]]
    return "|".join(words)


@cache
def _patterns(language: str) -> tuple[tuple[Direction, re.Pattern[str] | None, re.Pattern[str] | None], ...]:
    made: list[tuple[Direction, re.Pattern[str] | None, re.Pattern[str] | None]] = []
    is_spaced = language != "unspaced"
    for direction in get_args(Direction):
        start, end = _split(language, direction)
        first = rf"(?<!\w)(?:{'|'.join(start)}){_ARTICLE}[ ]*$" if is_spaced else f"(?:{'|'.join(start)})$"
        last = rf" (?:{'|'.join(end)})(?![\w\u0900-\u09ff])" if is_spaced else f" ?(?:{'|'.join(end)})"
        made.append((direction, re.compile(first) if start else None, re.compile(last) if end else None))
    return tuple(made)


def _split(language: str, direction: Direction) -> tuple[list[str], list[str]]:
    """Return the words that stand before a date, and those after it, which have `{}` before them."""
    words = _split_alternatives(fold_phrase(LISTS.read_table(language, "RANGE")[direction]))
    return [word for word in words if "{}" not in word], [word.removeprefix("{}") for word in words if "{}" in word]


def _split_alternatives(pattern: str) -> list[str]:
    """Split a pattern at the bars that are in no group."""
    parts = [""]
    depth = 0
    for character in pattern:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
