"""Ranges of days: the words that make one of a date (`since March`, `bis zum 3. Mai`, 三月以前), or of two of them
(`from 3 May to 5 May`, `zwischen dem 1. und dem 15. Oktober`, 5月3日到5日)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple, get_args

from ..patterns import lazy_pattern
from .date_phrases import fold_phrase

Direction = Literal["since", "after", "before", "until"]
# The words before a date, by language; where a language puts them after it, a template begins with `{}`.
_WORDS: dict[str, dict[Direction, str]] = {
    "english": {"since": "since", "after": "after", "before": "before", "until": "until|till|up to"},
    "german": {"since": "seit|ab", "after": "nach", "before": "vor", "until": "bis(?: zum| zur)?"},
    "french": {
        "since": "depuis|a partir (?:de|du)",
        "after": "apres",
        "before": "avant",
        "until": "jusqu'(?:au|a|en)",
    },
    "spanish": {"since": "desde", "after": "despues del?|tras", "before": "antes del?", "until": "hasta"},
    "portuguese": {
        "since": "desde|a partir d[eoa]",
        "after": "depois d[eoa]|apos",
        "before": "antes d[eoa]",
        "until": "ate(?: ao)?",
    },
    "italian": {
        "since": "da(?:l|lla|ll')?",
        "after": "dopo",
        "before": "prima d(?:i|el|ella|ell')",
        "until": "fino a(?:l|lla|ll')?",
    },
    "russian": {"since": "со?|начиная с", "after": "после", "before": "до|перед", "until": "по|вплоть до"},
    "hindi": {
        "since": "{}से(?! पहले)|{}के बाद से",
        "after": "{}के बाद(?! से)",
        "before": "{}(?:से|के) पहले",
        "until": "{}तक",
    },
    "arabic": {"since": "منذ|ابتداء من", "after": "بعد", "before": "قبل", "until": "حتى"},
    "bengali": {"since": "{}থেকে", "after": "{}(?:এর )?পরে?", "before": "{}(?:এর )?আগে", "until": "{}পর্যন্ত"},
    "urdu": {"since": "{}سے(?! پہلے)", "after": "{}کے بعد", "before": "{}(?:سے|کے) پہلے", "until": "{}تک"},
    "indonesian": {"since": "sejak", "after": "setelah", "before": "sebelum", "until": "sampai|hingga"},
    "unspaced": {
        "since": "自从?|自從|从|從|{}(?:以来|以來|起(?![床来來])|至今|以降|から|이후|이래|부터)",
        "after": "{}(?:之后|之後|以后|以後|后(?![来面台端])|後(?![來面半])|の後|후)",
        "before": "{}(?:之前|以前|より前|の前|前(?!半)|이전|전)",
        "until": "直到|截至|到|{}(?:为止|為止|まで|까지)",
    },
}
_ARTICLE = "(?: the| dem| der| den| le| la| el| il| o| a)?"
# `the day before 3 May` is a day, and no range.
_COUNTED = lazy_pattern(r"\b(?:days?|weeks?|months?|years?|tage?|wochen?|jours?|semaines?|dias?|giorn[oi])\s*$")
_POSSESSIVE = lazy_pattern(r"['’]s$")
# Words between the two ends of a range; after those like `and`, only where the range begins with a word like `between`.
_TO = (
    r"to|till|until|through|thru|bis|zum|au|jusqu['’]au|à|al?|hasta|até|ate|ao|fino al?|tot|по|до|إلى|الى|حتى|से|থেকে|سے"
    r"|sampai|hingga"
)
_AND = r"and|und|et|y|e|en|и|و|और|dan"
_UNSPACED_TO = r"到|至|から|부터|에서|[-–—~〜～]|\.\.+"
_UNSPACED_AND = r"和|与|與|と|와|과"
_BETWEEN = r"between|zwischen|entre|tra|fra|tussen|между|بين|antara"
_FROM = r"from|vom?|von|du|del?|desde|dall['’]|dal?|van|со?|от|من|dari|从|從|自"
_ENDING = r"तक|के बीच|পর্যন্ত|تک|まで|까지|为止|為止"
_ENDING_BETWEEN = r"之间|之間|の間|사이"
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


def find_direction(before: str, phrase: str, after: str, languages: Iterable[str]) -> tuple[Direction, int, int] | None:
    """Return how the words around a date open it, and how many characters before and after it they take."""
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
    """The other end of a range, of which the text says the day alone, as in `3 to 5 May`; and where the range is."""

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
    """Return the words that stand before a date, and those after it."""
    words = _split_alternatives(fold_phrase(_WORDS[language][direction]))
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
