"""Validity: until when, or from when, a text is true: `until Friday`, `ab 1. März`, `for the next two weeks`.

Days are relative to the day on which the text was written and lie ahead of it, unlike those of a query, which lie in
the past (`dates.py`). Fields say it, too: `valid_until: 2026-05-12` in front matter is about the page, at the end of a
line about that line, on a line of its own about the text above it, and in code about nothing.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from typing import Literal, NamedTuple

from ..caching import cache_within
from ..facts.cues import has_cue
from ..facts.statements import list_sentences
from ..formats.timestamps import MONTHS, parse_day
from ..index.base import VALIDITY_MARK
from ..patterns import lazy_pattern
from .date_phrases import (
    LISTS,
    WORD_CHARACTERS,
    WORD_END,
    WORD_START,
    Vocabulary,
    fill_fields,
    fold_phrase,
    read_field,
    read_vocabulary,
)
from .date_readers import any_of
from .date_spans import DAYS_IN_A_UNIT, number_words
from .dates import note_named_days

_Kind = Literal["between", "coming", "until", "start"]
_Pattern = tuple[re.Pattern[str], _Kind]


class Validity(NamedTuple):
    """The first and the last day on which something is true, as ordinals; None if not stated."""

    first: int | None = None
    last: int | None = None

    def is_over(self, today: int) -> bool:
        return self.last is not None and self.last < today

    def is_ahead(self, today: int) -> bool:
        return self.first is not None and self.first > today

    @property
    def valid_from(self) -> str:
        return str(date.fromordinal(self.first)) if self.first is not None else ""

    @property
    def valid_until(self) -> str:
        return str(date.fromordinal(self.last)) if self.last is not None else ""


class ValidityWords(NamedTuple):
    """What one language adds to its vocabulary of days. A template with `{date}` has any way to name a day, a week, a
    month or a year; `until`, `start` and the like are lists `VALID_UNTIL`, `VALID_START` in `lists/`."""

    until: str  # templates with {date}, the last day
    start: str  # templates with {date}, the first day
    coming: str  # templates with {amount} and {units}: from now on for that long
    next: str  # before or after a weekday: the one to come
    end: str  # templates with {unit} or {month}: the end of it
    weekdays: str  # further forms of the days of the week, from Monday
    units: str  # further forms of week, month and year, in this order
    days: dict[int, str]  # further names of days, by how many they are from today
    between: str  # templates with {date} and {end}: from one day to another
    past: str  # one of these words before the phrase means the past: nothing is valid any more


ALWAYS = Validity()
_MAX_CHARACTERS = 2_000  # of a text that is read
_FIELD = lazy_pattern(r"(?m)^[ \t]*(?:<!--[ \t]*)?valid_(from|until):[ \t]*[\"']?([^\n\"'>]+)")
_COMMENT = lazy_pattern(r"<!--[ \t]*valid_(from|until):[ \t]*[\"']?([^\n\"'>]+)")
_FENCE = lazy_pattern(r" {0,3}(?:`{3}|~{3})")
_UNSPACED_LANGUAGES = "unspaced"
_LATE_DAYS = 60  # how long ago a day without a year may be
_WORDS = lazy_pattern(rf"[{WORD_CHARACTERS}]+")
_UNSPACED_DATES = (
    r"(?:(?P<year>[0-9]{4})[年년]\s?)?(?P<month>1[0-2]|0?[1-9])[月월]\s?(?P<day>[0-9]{1,2})[日号號일]",
    r"(?P<week>(?:这|這|本|今|이번\s?)(?:个|個)?(?:周末|週末|周|週|星期|주말|주))",
    r"(?P<month_>(?:这个?|這個?|本|今|이번\s?)?(?:月底|月末|달\s?말|월말)|(?:本|今)月|이번\s?달)",
    r"(?P<year_>年底|年末|今年底?|올해(?:\s?말)?|연말)",
    r"(?P<following>)(?P<week>(?:下(?:个|個)?|来|다음\s?)(?:周|週|星期|주)(?![一二三四五六日天末]))",
    r"(?P<following>)(?P<month_>(?:下(?:个|個)?|来|다음\s?)(?:月|달)(?:底|末|\s?말)?)",
    r"(?P<following>)(?P<year_>明年|来年|내년)",
    r"(?P<next>下(?:个|個)?|来週の?|다음\s?주\s?)?(?:这|這|本|今週の?|이번\s?주\s?)?"
    r"(?:周|週|星期|礼拜|禮拜)(?P<weekday>[一二三四五六日天])",
    r"(?P<next>来週の?|다음\s?주\s?)?(?:今週の?|이번\s?주\s?)?(?P<weekday>[月火水木金土日월화수목금토일])(?:曜日?|요일)",
    r"(?:(?P<year>[0-9]{4})[年년]\s?)?(?P<month>1[0-2]|0?[1-9])[月월](?:底|末|\s?말)?",
    r"(?P<year>20[0-9]{2})[年년](?:底|末|말)?",
)
_LANGUAGES = ("english", "german", "french", "spanish", "portuguese", "italian", "russian", "hindi", "arabic")
_MIN_PART_CHARACTERS = 4  # of a hint that may be a part of a word
# In scripts without spaces, a marker stands directly before or after a date.
_UNSPACED_HINT = lazy_pattern(
    r"[0-9天日늘たて일레号號末周週期말주底月달월年년해一二三四五六曜]\s?"
    r"(?:为止|為止|まで|까지|起|开始|開始|から|以降|より|부터|到|至|~|～|-)"
    r"|[到至止][0-9今本明后後あ내모오这這이周週星月年올연下来다礼禮火水木金土日월화수목금토일]"
    r"|接下来|接下來|未来|未來|今后|今後|往后|これから|向こう|앞으로|다음|향후"
)
_ENDS_WITH_MARK = ("hindi", _UNSPACED_LANGUAGES)  # languages in which a range is marked after its days
_SENTENCE_BREAK = lazy_pattern(r"[;!?\n。；！？]|\.(?=\s|$)")
_ISO = "(?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2})"
_WEEKDAY_SUFFIX = "(?: (?:prochain|proximo|que viene|que vem|prossim[oa]|القادم|المقبل))?"


def describe_validity(valid_from: str, valid_until: str, validity: str) -> str:
    """Describe until when, or from when, something is valid: `until 12 May 2026: over`."""
    last = f"until {_day_in_words(valid_until)}" if valid_until else ""
    if validity == "over":
        return f"{last}: over"
    first = f"from {_day_in_words(valid_from)}" if valid_from else ""
    return f"{' '.join(filter(None, (first, last)))}{': not yet' if validity == 'ahead' else ''}"


def _day_in_words(day: str) -> str:
    named = date.fromisoformat(day)
    return f"{named.day} {named:%B} {named.year}"


@cache_within(1_000_000)
def may_say_validity(text: str) -> bool:
    """Return whether a text may have such a phrase: most texts have no such word, or name no day."""
    folded = fold_phrase(text[:_MAX_CHARACTERS])
    has_emphasis = "__" in folded  # not a letter, but `\w` matches it
    return any(has_emphasis or _names_day(folded, language) for language in _choose_languages(folded))


@cache_within(1_000_000)
def find_validity(text: str, day: int | None) -> Validity:
    """Return the validity of a sentence that was written on a day; without a day, only full dates count."""
    first: int | None = None
    last: int | None = None
    for start, end in find_validity_phrases(text, day).values():
        first = start if start is not None else first
        last = end if end is not None else last
    return Validity(first, last)


def find_validity_phrases(text: str, day: int | None) -> dict[str, Validity]:
    """Return the validity that each phrase of a text gives, by its words."""
    found: dict[str, Validity] = {}
    taken: list[tuple[int, int]] = []
    for match, kind, language in _find_phrases(fold_phrase(text[:_MAX_CHARACTERS])):
        if any(match.start() < end and match.end() > start for start, end in taken):
            continue
        validity = _read(match, kind, day, language)
        if validity:
            taken.append(match.span())
            found[match[0].strip()] = validity
    return found


def _find_phrases(folded: str) -> Iterator[tuple[re.Match[str], _Kind, str]]:
    """Yield the phrases of a text that are neither about the past nor about every time; some may overlap."""
    for language in _choose_languages(folded):
        if not _names_day(folded, language):
            continue
        past = _past_pattern(language)
        for pattern, kind in _patterns(language):
            for match in pattern.finditer(folded):
                before = _clause_before(folded, match.start())
                if past.search(before) or _is_recurring(folded, match):
                    continue
                if kind == "between" and has_cue(before + _SENTENCE_BREAK.split(folded[match.start() :])[0], "change"):
                    continue  # `moved from 12 to 26 November` names an old day and a new one
                yield match, kind, language


def note_days(text: str, day: int | None, is_turn: bool) -> str:  # noqa: FBT001 - as `NoteDays` says
    """Return what the index keeps of a passage, so that a query need not read it: the days that it names, and a mark if
    it says until when something holds."""
    mark = VALIDITY_MARK if _says_validity(text, is_turn=is_turn) else ""
    return f"{note_named_days(text, day)} {mark}".strip()


def may_be_limited(days: str) -> bool:
    """Return whether, according to the index, a passage may say until when it is true."""
    return VALIDITY_MARK in days


def _says_validity(text: str, *, is_turn: bool) -> bool:
    if "valid_" in text:
        return True
    return may_say_validity(text) and any(
        "; " in sentence or next(_find_phrases(fold_phrase(sentence)), None) is not None
        for sentence in list_sentences(text, is_turn=is_turn)
        if may_say_validity(sentence)
    )


def _names_day(folded: str, language: str) -> bool:
    """Return whether a text has a number or a word that some name of a day has: most texts with a hint do not."""
    return language == _UNSPACED_LANGUAGES or _day_pattern(language).search(folded) is not None


@cache
def _day_pattern(language: str) -> re.Pattern[str]:
    words, vocabulary = _words_of(language)
    units = filter(None, (vocabulary.week, vocabulary.month, vocabulary.year, *words.units.split(), *vocabulary.units))
    names = any_of({**_months(language), **_weekdays(language)})
    days = "|".join(names for _, names in _days_ahead(language))
    return re.compile(f"[0-9]|{WORD_START}(?:{names}|{days}|{fold_phrase('|'.join(units))})")


def _is_recurring(folded: str, match: re.Match[str]) -> bool:
    """Return whether a sentence is about something that happens every time, or has `until Friday's deploy`, which is
    not a day."""
    before = _SENTENCE_BREAK.split(folded[: match.start()])[-1]
    after = _SENTENCE_BREAK.split(folded[match.end() :], maxsplit=1)[0]
    if after.startswith(("'s ", "’s ")):
        return True
    return _recurring_pattern().search(f"{before} {match[0]} {after}") is not None


@cache
def _recurring_pattern() -> re.Pattern[str]:
    words, unspaced = ("|".join(LISTS.list_phrases("validity", name)) for name in ("RECURRING", "RECURRING_UNSPACED"))
    return re.compile(f"{WORD_START}(?:{fold_phrase(words)}){WORD_END}|{unspaced}")


@cache
def _split_hints() -> dict[str, tuple[frozenset[str], tuple[str, ...]]]:
    """Return the hints of each language that are whole words, and those that may be a part of one."""
    hints = {language: read_field(language, "VALID_HINTS").split() for language in _LANGUAGES}
    return {
        language: (
            frozenset(word for word in words if len(word) < _MIN_PART_CHARACTERS),
            tuple(word for word in words if len(word) >= _MIN_PART_CHARACTERS),
        )
        for language, words in hints.items()
    }


def _clause_before(text: str, end: int) -> str:
    return re.split(r"[.;:!?\n,，。；]", text[max(0, end - 200) : end])[-1]


def _choose_languages(folded: str) -> Iterator[str]:
    words = frozenset(_WORDS.findall(folded))
    for language, (whole, parts) in _split_hints().items():
        if not whole.isdisjoint(words):
            yield language
            continue
        for part in parts:
            if part in folded:
                yield language
                break
    if not folded.isascii() and _UNSPACED_HINT.search(folded):
        yield _UNSPACED_LANGUAGES


@cache
def _past_pattern(language: str) -> re.Pattern[str]:
    start, end = _edges(language)
    return re.compile(f"{start}(?:{fold_phrase(_words_of(language)[0].past)}){end}")


def _edges(language: str) -> tuple[str, str]:
    """Return patterns for where a phrase may begin and end."""
    return ("", "") if language == _UNSPACED_LANGUAGES else (WORD_START, WORD_END)


# Reading a phrase.


def _read(match: re.Match[str], kind: _Kind, day: int | None, language: str) -> Validity | None:
    if kind == "coming":
        return None if day is None else _read_duration(match, day, language)
    groups = _parse_date(match["date"], language)
    if kind == "between":
        if match.start() == match.start("date") and language not in _ENDS_WITH_MARK:
            return ALWAYS  # `1 to 7 June` is when something happens, which stays true
        return _read_range(groups, _parse_date(match["end"], language), day, language)
    days = _read_date(groups, day, language, is_end=kind == "until")
    if days is None:
        return None
    return Validity(None, days[1]) if kind == "until" else Validity(days[0], None)


def _read_range(start: Mapping[str, str], end: Mapping[str, str], day: int | None, language: str) -> Validity | None:
    """Return the days from one to another. `Monday to Friday` is every week: it holds always."""
    if "weekday" in start or "weekday" in end:
        return ALWAYS
    first = _read_date(start, day, language, is_end=False)
    last = _read_date(end, day, language, is_end=True)
    return Validity(first[0], last[1]) if first and last and first[0] <= last[1] else None


def _read_duration(match: re.Match[str], day: int, language: str) -> Validity:
    groups = {name: value for name, value in match.groupdict().items() if value}
    amount = groups.get("amount", "1")
    count = _numbers(language).get(amount) or int(amount)
    days = next(days for name, days in DAYS_IN_A_UNIT.items() if f"n_{name}" in groups)
    return Validity(None, min(day + count * days, date.max.toordinal()))


def _parse_date(text: str, language: str) -> dict[str, str]:
    """Return the parts of a date by name."""
    for pattern in _date_readers(language):
        if match := pattern.fullmatch(text):
            return {name: value for name, value in match.groupdict().items() if value is not None}
    return {}


def _read_date(groups: Mapping[str, str], day: int | None, language: str, *, is_end: bool) -> tuple[int, int] | None:
    """Return the first and the last day that the parts of a date name."""
    if "iso" in groups:
        exact = parse_day(groups["iso"])
        return (exact, exact) if exact else None
    year = int(groups["year"]) if "year" in groups else None
    if "month" in groups:
        name = groups["month"]
        month = _months(language).get(name) or int(name)
        return _read_month(year, month, int(groups.get("day", 0)), day)
    if year:
        return date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal()
    return None if day is None else _read_relative(groups, day, language, is_end=is_end)


def _read_month(year: int | None, month: int, number: int, day: int | None) -> tuple[int, int] | None:
    """Return a month, or a day of it. Without a year it is the next one, unless it was a short time ago."""
    if year is None:
        if day is None:
            return None
        earliest = date.fromordinal(max(1, day - _LATE_DAYS))
        year = earliest.year + ((month, number or 31) < (earliest.month, earliest.day))
    try:
        last = number or monthrange(year, month)[1]
        return date(year, month, number or 1).toordinal(), date(year, month, last).toordinal()
    except ValueError:
        return None


def _read_relative(groups: Mapping[str, str], day: int, language: str, *, is_end: bool) -> tuple[int, int] | None:
    today = date.fromordinal(day)
    if "offset" in groups:
        exact = day + next(offset for offset, names in _days_ahead(language) if re.fullmatch(names, groups["offset"]))
        return _one_day(exact)
    if "weekday" in groups:
        exact = _read_weekday(_weekdays(language)[groups["weekday"]], today, is_end=is_end)
        if "next" in groups and is_end and exact - day <= 6 - today.weekday():
            exact += 7  # `next Friday` may be that of next week
        return _one_day(exact)
    unit = next((name for name in ("week", "month_", "year_") if name in groups), "")
    return _read_unit(unit.rstrip("_"), today, int("following" in groups)) if unit else None


def _one_day(day: int) -> tuple[int, int] | None:
    return (day, day) if day <= date.max.toordinal() else None


def _read_weekday(weekday: int, today: date, *, is_end: bool) -> int:
    """Return the next such day: from today on or, for an end, after today."""
    ahead = (weekday - today.weekday()) % 7
    return today.toordinal() + (ahead or 7 if is_end else ahead)


def _read_unit(unit: str, today: date, offset: int) -> tuple[int, int] | None:
    if unit == "week":
        monday = today.toordinal() - today.weekday() + 7 * offset
        return max(1, monday), min(monday + 6, date.max.toordinal())
    if unit == "month":
        months = today.year * 12 + today.month - 1 + offset
        return _read_month(months // 12, months % 12 + 1, 0, None)
    year = today.year + offset
    return (date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal()) if year <= date.max.year else None


# From words to patterns.


@cache
def _patterns(language: str) -> tuple[_Pattern, ...]:
    words, _ = _words_of(language)
    any_date = "|".join(map(_without_names, _date_options(language)))
    parts = {
        "date": f"(?P<date>{any_date})",
        "end": f"(?P<end>{any_date})",
        "amount": f"(?P<amount>[0-9]{{1,3}}|{any_of(_numbers(language))})",
        "units": _counted_units(language),
    }
    templates: tuple[tuple[str, _Kind], ...] = (
        (words.between, "between"),
        (words.coming, "coming"),
        (words.until, "until"),
        (words.start, "start"),
    )
    start, end = _edges(language)
    return tuple(
        (re.compile(f"{start}{_fill(template, parts)}{end}"), kind)
        for every, kind in templates
        for template in every.split(" | ")
    )


def _without_names(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


@cache
def _date_readers(language: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(option) for option in _date_options(language))


@cache
def _words_of(language: str) -> tuple[ValidityWords, Vocabulary]:
    return ValidityWords(**fill_fields(language, ValidityWords._fields, "VALID_")), read_vocabulary(language)


@cache
def _date_options(language: str) -> tuple[str, ...]:
    """Return patterns for all ways to name days ahead."""
    names = "|".join(names for _, names in _days_ahead(language))
    if language == _UNSPACED_LANGUAGES:
        return (_ISO, f"(?P<offset>{names})", *(_fill(option, {}) for option in _UNSPACED_DATES))
    words, vocabulary = _words_of(language)
    month = f"(?P<month>{any_of(_months(language))})"
    of_year = "(?:,? (?:de |del |di |года? )?(?P<year>[0-9]{4}))?"
    suffix = r"(?:st|nd|rd|th|er|º|-го|-е|\.)?(?: of| de| d'|)?"
    more = words.units.split() or ["", "", ""]
    units = zip(("week", "month_", "year_"), (vocabulary.week, vocabulary.month, vocabulary.year), more, strict=True)
    unit = "|".join(f"(?P<{name}>{'|'.join(filter(None, forms))})" for name, *forms in units)
    parts = {"unit": f"(?:{_fold_template(unit)})", "month": month}
    following = (f"(?P<following>){template}" for template in vocabulary.next.split(" | "))
    return (
        _ISO,
        r"(?P<day>[0-9]{1,2})\.(?P<month>1[0-2]|0?[1-9])\.(?P<year>[0-9]{4})?",
        f"(?P<day>[0-9]{{1,2}}){suffix} {month}{of_year}",
        f"{month} (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9:]){of_year}",
        *(_fill(template, parts) for template in words.end.split(" | ")),
        *(_fill(template, parts) for template in vocabulary.this.split(" | ")),
        *(_fill(template, parts) for template in following),
        f"(?P<offset>{names})",
        f"(?:(?P<next>{fold_phrase(words.next)}) )?(?P<weekday>{any_of(_weekdays(language))}){_WEEKDAY_SUFFIX}",
        f"{month}{of_year}",
        "(?P<year>20[0-9]{2})(?![0-9.:])",
    )


def _counted_units(language: str) -> str:
    named = zip(DAYS_IN_A_UNIT, _words_of(language)[1].units, strict=True)
    return f"(?:{'|'.join(f'(?P<n_{name}>{fold_phrase(forms)})' for name, forms in named)})"


@cache
def _days_ahead(language: str) -> tuple[tuple[int, str], ...]:
    """Return patterns for the names of today and of the days after it, the last first, with how far ahead they are."""
    words, vocabulary = _words_of(language)
    days = [words.days, vocabulary.days]
    offsets = sorted({offset for names in days for offset in names if offset >= 0}, reverse=True)
    joined = (" | ".join(names[offset] for names in days if offset in names) for offset in offsets)
    return tuple(zip(offsets, (fold_phrase(names).replace(" | ", "|") for names in joined), strict=True))


def _fill(template: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda part: parts.get(part[1], part[0]), _fold_template(template))


def _fold_template(template: str) -> str:
    """Return a template as texts are compared, with its groups as they are."""
    return fold_phrase(template).replace("(?p<", "(?P<")


@cache
def _months(language: str) -> dict[str, int]:
    return dict(MONTHS) if language == "english" else number_words(_words_of(language)[1].months)


@cache
def _weekdays(language: str) -> dict[str, int]:
    words, vocabulary = _words_of(language)
    every = number_words(vocabulary.weekdays) | (number_words(words.weekdays) if words.weekdays else {})
    return {name: number - 1 for name, number in every.items()}


@cache
def _numbers(language: str) -> dict[str, int]:
    return number_words(_words_of(language)[1].numbers) | number_words(
        LISTS.read_text(language, "VALID_NUMBERS", default="")
    )


# Fields.


def read_fields(head: str) -> Validity:
    """Return the validity in the fields of front matter."""
    return _read_days(_FIELD, head)


def is_field(line: str) -> bool:
    """Return whether a line is nothing but a field."""
    return "valid_" in line and _FIELD.match(line) is not None


@cache_within(500_000)
def _find_line_fields(text: str) -> tuple[tuple[int, Validity], ...]:
    fields: dict[int, Validity] = {}
    above: int | None = None  # the last line that is text
    is_code = False
    for number, line in enumerate(text.split("\n")):
        is_fence = _FENCE.match(line) is not None
        if is_fence or is_code:
            above = None
        elif is_field(line) and above is not None:
            _add(fields, above, _read_days(_FIELD, line))
        elif line.strip() and not is_field(line):
            above = number
            _add(fields, number, _read_days(_COMMENT, line))
        is_code = is_code != is_fence
    return tuple(fields.items())


def _add(fields: dict[int, Validity], line: int, more: Validity) -> None:
    if more != ALWAYS:
        known = fields.get(line, ALWAYS)
        fields[line] = Validity(known.first or more.first, known.last or more.last)


def find_line_fields(text: str) -> dict[int, Validity]:
    """Return the validity that fields give to lines of a text, counted from 0."""
    return dict(_find_line_fields(text)) if "valid_" in text else {}


def _read_days(pattern: re.Pattern[str], text: str) -> Validity:
    if "valid_" not in text:
        return ALWAYS
    days: dict[str, int] = {}
    for name, value in pattern.findall(text):
        day = parse_day(value)
        if day is not None:
            days.setdefault(name, day)
    return Validity(days.get("from"), days.get("until"))
