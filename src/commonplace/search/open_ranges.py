"""Open-ended ranges of days: the words that make one of a date (`since March`, `bis zum 3. Mai`, 三月以前)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal, get_args

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
_COUNTED = re.compile(r"\b(?:days?|weeks?|months?|years?|tage?|wochen?|jours?|semaines?|dias?|giorn[oi])\s*$")
_POSSESSIVE = re.compile(r"['’]s$")


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
