"""Weekdays in questions: `what is on Saturday?` asks for the coming one, `what did we do on Saturday?` for the last.

A question in the present or the future is about the coming day of that name, and about what is so every week; one in
the past is about the last such day, which `date_readers.py` reads. Only the verb tells the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from typing import Literal, NamedTuple

from ..formats.timestamps import MONTHS
from ..patterns import lazy_pattern
from .date_phrases import (
    CHINESE_WEEKDAYS,
    JAPANESE_WEEKDAYS,
    KOREAN_WEEKDAYS,
    LISTS,
    NOT_OF,
    WEEKDAYS,
    WORD_END,
    WORD_START,
    find_direction,
    fold_phrase,
    read_vocabulary,
)
from .date_readers import any_of, choose_languages
from .date_spans import Span, number_words

Tense = Literal["past", "coming", ""]
_LANGUAGES = ("german", "french", "spanish", "portuguese", "italian", "russian", "hindi", "arabic")
_NOT_COUNTED = "(?<![一二三四五六七八九十两兩几幾])"  # 一周一次 means once a week
_SPACED_WORD = lazy_pattern(r"[^\W\d_\u3040-\uffff]+")
_THIS = lazy_pattern(r"\b(?:this|diese)")
_NEVER = "(?!)"
_AROUND = 14  # characters around a weekday in which `last` may refer to it
_LAST = LISTS.phrase_pattern("weekdays", "LAST")
_UNSPACED = (
    (
        rf"(?P<next_week>下(?:个|個)?)?(?:这|這|本)?(?:个|個)?{_NOT_COUNTED}(?:周|週|星期|礼拜|禮拜)"
        "(?P<weekday>[一二三四五六日天])",
        CHINESE_WEEKDAYS,
    ),
    (r"(?P<next_week>来週の?)?(?:今週の?)?(?:次の)?(?P<weekday>[月火水木金土日])曜日?の?", JAPANESE_WEEKDAYS),
    (r"(?P<next_week>다음\s?주\s?)?(?:이번\s?주\s?)?(?P<weekday>[월화수목금토일])요일(?:에)?", KOREAN_WEEKDAYS),
)


class Weekday(NamedTuple):
    """A weekday in a question, its place, and the tense of the question."""

    start: int
    end: int
    number: int  # from 0 for Monday
    tense: Tense
    in_next_week: bool = False

    def find_coming(self, today: int) -> Span:
        """Return the next such day: tomorrow at the earliest."""
        weekday = date.fromordinal(today).weekday()
        ahead = self.number - weekday + 7 if self.in_next_week else (self.number - weekday) % 7 or 7
        day = min(today + ahead, date.max.toordinal())
        return Span(day, day)


def find_weekdays(folded: str, text: str) -> Iterator[Weekday]:
    """Yield the weekdays that a question names, but not `last Friday` or `since Friday`. `folded`: its text as phrases
    are compared."""
    if not any(map(folded.__contains__, _weekday_hints())) or not _any_weekday().search(folded):
        return
    languages = choose_languages(folded)
    tense: Tense | None = None
    for match, number in _match_weekdays(folded, languages):
        start, end = match.span()
        around = folded[max(0, start - _AROUND) : end + _AROUND]
        if _LAST.search(around) or find_direction(folded[:start], match[0], folded[end:], languages):
            continue
        groups = match.groupdict()
        is_next = any(value for name, value in groups.items() if name.startswith("next"))
        if tense is None:
            tense = read_tense(text, languages)
        is_coming = is_next and (tense != "past" or not _THIS.search(match[0]))
        yield Weekday(start, end, number, "coming" if is_coming else tense, bool(groups.get("next_week")))


def find_single_weekday(folded: str, today: int) -> tuple[int, int, Span] | None:
    """Return the place of the only weekday that a text names, however it does, and the last such day."""
    if not _any_weekday().search(folded):
        return None
    places = {
        match.span(): number for match, number in _match_weekdays(folded, choose_languages(folded), any_lead=True)
    }
    if len(places) != 1:
        return None
    ((start, end), number) = places.popitem()
    day = today - ((date.fromordinal(today).weekday() - number) % 7 or 7)
    return start, end, Span(day, day)


def _match_weekdays(
    folded: str, languages: list[str], *, any_lead: bool = False
) -> Iterator[tuple[re.Match[str], int]]:
    for language in languages:
        if language == "unspaced":
            for pattern, names in _UNSPACED:
                for match in re.finditer(pattern, folded):
                    yield match, names.index(match["weekday"].replace("天", "日"))
        elif language in ("english", *_LANGUAGES):
            needed = LISTS.read_text(language, "WEEKDAY_LEAD", default="").strip()
            for match in _phrase(language).finditer(folded):
                lead = match[0][: match.start("weekday") - match.start()]
                if any_lead or not needed or re.search(needed, lead):
                    yield match, _names(language)[match["weekday"]]


@cache
def _names(language: str) -> dict[str, int]:
    if language == "english":
        return {name: number for number, name in enumerate(WEEKDAYS)}
    return {name: number - 1 for name, number in number_words(read_vocabulary(language).weekdays).items()}


@cache
def _phrase(language: str) -> re.Pattern[str]:
    day = f"(?P<weekday>{any_of(_names(language))})"
    phrase = (
        fold_phrase(LISTS.read_text(language, "WEEKDAY_ASKED").strip())
        .replace("?p<", "?P<")
        .replace("{next}", "next")
        .replace("{day}", day)
    )
    return re.compile(f"{WORD_START}{phrase}{WORD_END}{NOT_OF}")


def read_tense(text: str, languages: Iterable[str]) -> Tense:
    """Return whether a question is about the past, or about now and later; empty if its verb does not show it."""
    lowered = _SPACED_WORD.sub(_leave_out_weekday, " ".join(text.lower().replace("’", "'").split()))
    patterns = [_read_tenses(language) for language in languages]
    if any(past.search(lowered) for past, _ in patterns):
        return "past"
    return "coming" if any(coming.search(lowered) for _, coming in patterns) else ""


@cache
def _read_tenses(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the words of the past, and those of the present or the future, in lower case with accents."""
    past, coming = (LISTS.list_phrases(language, name, default=_NEVER) for name in ("TENSE_PAST", "TENSE_COMING"))
    return re.compile("|".join(past)), re.compile("|".join(coming))


def _leave_out_weekday(word: re.Match[str]) -> str:
    """Return a word, but empty for a weekday: `sabato` and `samedi` end as participles do."""
    return "" if _any_weekday().search(fold_phrase(word[0])) else word[0]


@cache
def _weekday_hints() -> tuple[str, ...]:
    """Return texts such that every weekday name contains one: compiling all their patterns would take longer than a
    search."""
    names = (name for language in ("english", *_LANGUAGES) for name in _names(language))
    return (*names, "сред", "пятниц", "суббот", "воскресен", *"周週曜", "星期", "礼拜", "禮拜", "요일")


@cache
def _any_weekday() -> re.Pattern[str]:
    return re.compile("|".join(pattern.pattern for pattern in _weekday_patterns()))


@cache
def _weekday_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(map(_make_pattern, range(7)))


def _make_pattern(number: int) -> re.Pattern[str]:
    """Return a pattern for a weekday in any language, also in its plural: `Thursdays`, `donnerstags`, по четвергам."""
    names = [WEEKDAYS[number], *(name for language in _LANGUAGES for name in _names(language) if _is_sure(name))]
    own = [name for name in names if _names_number(name) == number]
    forms = any_of(own).replace(r"\-feira", r"s?\-feira")  # `quintas-feiras`
    word = rf"{WORD_START}(?:{forms})(?:s|en|ам|а|у|и|ы|abends?|nachmittags?|morgens?|vormittags?)?{WORD_END}"
    russian = {2: "|\\bсред(?:ам|ы)\\b", 4: "|\\bпятниц", 5: "|\\bсуббот", 6: "|\\bвоскресен"}.get(number, "")
    chinese = f"{_NOT_COUNTED}(?:周|週|星期|礼拜|禮拜)[{CHINESE_WEEKDAYS[number]}{'天' if number == 6 else ''}]"
    return re.compile(f"{word}{russian}|{chinese}|{JAPANESE_WEEKDAYS[number]}曜|{KOREAN_WEEKDAYS[number]}요일")


def _is_sure(name: str) -> bool:
    """Return whether a weekday name is unambiguous: in Portuguese, some are also numbers."""
    return name not in ("segunda", "terca", "quarta", "quinta", "sexta")


def _names_number(name: str) -> int:
    return next(_names(language)[name] for language in ("english", *_LANGUAGES) if name in _names(language))


def says_weekday(text: str, weekdays: Iterable[int], *, is_coming: bool) -> bool:
    """Return whether a text names one of these weekdays. What happened on such a day says nothing about the coming
    one."""
    folded = fold_phrase(text)
    matches = [match for number in weekdays if (match := _weekday_patterns()[number].search(folded))]
    if not matches or not is_coming or any(match[0].endswith("s") for match in matches):
        return bool(matches)
    return read_tense(text, choose_languages(folded)) != "past"


def words_for(weekdays: Iterable[int], spans: Iterable[Span]) -> str:
    """Return words of texts that name these weekdays, or the days of these spans."""
    words: list[str] = []
    for number in weekdays:
        words.append(WEEKDAYS[number])
        words += (name for language in _LANGUAGES for name, other in _names(language).items() if other == number)
        words += (
            f"星期{CHINESE_WEEKDAYS[number]}",
            f"周{CHINESE_WEEKDAYS[number]}",
            f"{JAPANESE_WEEKDAYS[number]}曜",
            f"{KOREAN_WEEKDAYS[number]}요일",
        )
    for span in spans:
        day = date.fromordinal(span.first)
        months = (MONTHS, *(number_words(read_vocabulary(language).months) for language in _LANGUAGES))
        words += (name for names in months for name, number in names.items() if number == day.month)
        words += (str(day), str(day.day), f"{day.day}.{day.month}.", f"{day.month}月{day.day}日")
    return " ".join(dict.fromkeys(words))
