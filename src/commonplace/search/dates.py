"""What a query says beside its subject: the days that it names (`last week`, 上周), requests, and past or present.

`read_dates` takes phrases of days out of a query. Passages of the days they name come first; a date written in a
text counts like the date of its page. `Before` asks about the past where the question is in the past (`where did Tom
live before Bristol?`) or ends with it. `What must be done before Friday?` asks about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ..caching import cache_within
from ..facts.cues import has_cue
from ..facts.words import fold, is_number, split_words, word_set
from ..formats.timestamps import MONTHS, parse_day
from ..index.base import UNKNOWN_DAYS
from ..patterns import lazy_pattern
from .date_phrases import (
    LISTS,
    RELATIVE_WORDS,
    Direction,
    find_direction,
    find_range,
    find_short_end,
    fold_phrase,
    vocabularies,
)
from .date_readers import any_of, choose_languages, choose_readers
from .date_spans import DAYS_IN_A_UNIT, Span, number_words, open_span
from .weekdays import find_single_weekday, find_weekdays, read_tense, says_weekday
from .words import has_content, has_subject


class DatePhrase(NamedTuple):
    """Where a text names days, and which. `is_relative`: they depend on the day on which it was written."""

    start: int
    end: int
    span: Span
    is_relative: bool
    is_open: bool = False  # a range without a beginning, or up to now
    has_year: bool = True  # if not, it is the year of the latest such day


class QueryDates(NamedTuple):
    """The days that a query names, the phrases that name them, and the words that are looked for.

    `is_relative`: the days are named as seen from today (`last week`). Phrases are left out of the words, except a
    year (`in 2024`), which texts have as a word, and for a date that is all there is. In a long text, a date is only an
    aside.
    """

    spans: tuple[Span, ...] = ()
    phrases: tuple[str, ...] = ()
    is_relative: bool = False
    is_aside: bool = False
    rest: str = ""
    has_content: bool = True  # the rest asks for something specific, not only for what happened
    has_subject: bool = True  # the rest names a subject, not only that something was agreed or decided
    is_open: bool = False  # one of them is a range without a beginning, or up to now
    weekdays: frozenset[int] = frozenset()  # asked about by name, unless it is certain that the last ones are meant
    is_coming: bool = False  # it is certain that the coming ones are meant

    def includes(self, day: int) -> bool:
        return any(span.contains(day) for span in self.spans)

    @property
    def selects_all(self) -> bool:
        """Return whether everything of these days is asked for: they are few, and named relative to today."""
        is_short = self.is_relative and self._count_days() <= _FEW_DAYS
        return bool(self.spans) and (not self.has_content or is_short)

    @property
    def selects_first(self) -> bool:
        """Return whether passages of these days come before all others: they are asked for, and the days are few."""
        if self.is_coming and self.has_content:
            return False  # what happens on Thursdays in general is not what happened on Thursday
        return self.is_relative or (not self.is_aside and (self.is_open or self.are_few))

    @property
    def are_few(self) -> bool:
        """Return whether these days are few enough to look for them in texts."""
        return self._count_days() <= _FEW_DAYS

    @property
    def is_one_day(self) -> bool:
        return len(self.spans) == 1 and self._count_days() == 1

    def _count_days(self) -> int:
        return sum(span.last - span.first + 1 for span in self.spans)

    def is_said_in(self, text: str) -> bool:
        """Return whether a text names a weekday that is asked about, such as `on Thursdays`."""
        return bool(self.weekdays) and says_weekday(
            text[:_MAX_SCAN_CHARACTERS], self.weekdays, is_coming=self.is_coming
        )

    def describe(self) -> str:
        """Return the phrases and the days they name, for people to read."""
        named = (f'"{phrase}" ({span})' for phrase, span in zip(self.phrases, self.spans, strict=True))
        return ", ".join(named)

    def describe_plainly(self) -> str:
        """Return the phrases and the days within a sentence: `last week (9–15 November)`."""
        named = (f"{phrase} ({span.describe()})" for phrase, span in zip(self.phrases, self.spans, strict=True))
        return " or ".join(named)


NO_DATES = QueryDates()
_FEW_DAYS = 31
# Japanese and Korean: a particle of a day belongs to the day.
_PARTICLE = lazy_pattern(
    r"(?<=[\u3040-\u9fff])(?:のこと)?[のをはに](?=[\u3040-\u9fff])|(?<=[\uac00-\ud7af])[를을의은는](?= )"
)
_MAX_YEARS = 60  # of a range, for which each year is looked for
_MAX_QUESTION_WORDS = 30  # in a longer query, a date is an aside
_MAX_SCAN_CHARACTERS = 2_000  # of a passage or a query in which dates are looked for
_ANY_DAY = date(2024, 2, 29).toordinal()
_LATE_DAYS = 10  # after a span, during which people may still write about it
_AMBIGUOUS_MONTHS = ("may", "march", "mar")  # words of their own unless they are written as names
_DAY_BEFORE_MONTH = lazy_pattern(r"(?<![\w.:/-])(?:[12]?\d|3[01])(?:st|nd|rd|th|\.)?\s*$")
_RECURRING = r"\b(?:every|each|usually|always|weekly|jede[nrs]?|chaque|cada|todos|ogni)\b|每|毎"
_NOW = (
    r"(?i)\b(?:now|currently|these days|nowadays|at the moment|latest|newest|recent(?:ly)?|lately)\b"
    r"|现在|目前|最近|最新|現在|지금|최근"
)


def asks_about_now(text: str) -> bool:
    return re.search(_NOW, text) is not None


def parse_span(text: str, today: int) -> Span | None:
    """Return the days that a text names, or None; of several, those of the phrase that is least ambiguous."""
    if (day := parse_day(text.lower())) is not None:
        return Span(day, day)
    return next((phrase.span for phrase in _search_phrases(text, today)), None)


@cache_within(250_000)
def read_dates(text: str, today: int) -> QueryDates:
    """Return the days that a query names, and the rest of the query."""
    phrases, weekdays, is_coming = _find_asked(text[:_MAX_SCAN_CHARACTERS], today)
    if not phrases:
        return QueryDates(rest=text)
    parts: list[str] = []
    end = 0
    for phrase in phrases:
        parts.append(text[end : phrase.start])
        particle = _PARTICLE.match(text, phrase.end)
        end = particle.end() if particle else phrase.end
    rest = re.sub(r"\s+(?=[\s?!.,;:]|$)", "", " ".join([*parts, text[end:]])).strip()
    is_relative = all(phrase.is_relative for phrase in phrases)
    is_question = len(text.split()) <= _MAX_QUESTION_WORDS
    is_request = is_question and _REQUEST_BEFORE.fullmatch(rest) is not None
    asks = not is_question or (not is_request and has_content(rest, is_coming=is_coming))
    return QueryDates(
        tuple(phrase.span for phrase in phrases),
        tuple(text[phrase.start : phrase.end].strip() for phrase in phrases),
        is_relative and is_question,
        not is_question,
        rest if is_question and _leaves_words(phrases, rest, asks=asks) else text,
        asks,
        not is_question or (not is_request and has_subject(rest, is_coming=is_coming)),
        any(phrase.is_open for phrase in phrases),
        weekdays,
        is_coming,
    )


def _find_asked(text: str, today: int) -> tuple[list[DatePhrase], frozenset[int], bool]:
    """Return where a query names days, which weekdays are among them, and whether the coming ones are meant."""
    phrases = _join_ranges(text, find_phrases(text, today), today)
    if today and not phrases and (day := _find_retold_day(text, today)):
        return [day], frozenset(), False
    if not today or len(text.split()) > _MAX_QUESTION_WORDS or re.search(_RECURRING, fold_phrase(text)):
        return phrases, frozenset(), False
    folded, offsets = _fold_with_offsets(text)
    days = [day for day in find_weekdays(folded, text) if day.tense != "past"]
    coming = [
        DatePhrase(offsets[day.start], offsets[day.end], day.find_coming(today), is_relative=True)
        for day in days
        if day.tense == "coming"
    ]
    others = [phrase for phrase in phrases if not any(_overlap(phrase, day) for day in coming)]
    every = [*others, *coming]
    numbers = [
        day.number
        for day in days
        if any(phrase.start < offsets[day.end] and offsets[day.start] < phrase.end for phrase in every)
    ]
    return sorted(every), frozenset(numbers), bool(coming)


def _find_retold_day(text: str, today: int) -> DatePhrase | None:
    """Return the weekday that a text asks to be told about, and nothing else: `recap of Wednesday`."""
    if len(text) > _MAX_REQUEST_CHARACTERS:
        return None
    folded, offsets = _fold_with_offsets(text)
    found = find_single_weekday(folded, today)
    if not found:
        return None
    start, end, span = found
    rest = f"{text[: offsets[start]]} {text[offsets[end] :]}".strip()
    is_request = _LETTER.search(rest) and (_REQUEST_BEFORE.fullmatch(rest) or not has_content(rest))
    if not is_request or re.search(_RECURRING, folded) or read_tense(text, choose_languages(folded)) == "coming":
        return None
    return DatePhrase(offsets[start], offsets[end], span, is_relative=True)


def _join_ranges(text: str, phrases: list[DatePhrase], today: int) -> list[DatePhrase]:
    """Return the phrases of a query with the two ends of a range as one phrase: `from 3 May to 5 May`."""
    lower = text.lower()
    if not phrases or len(lower) != len(text):
        return phrases
    ends = sorted(_search_phrases(text, today, has_ranges=False))
    ranges = [
        joined
        for first, last in pairwise(ends)
        if (place := find_range(lower, first.start, first.end, last.start, last.end))
        and (joined := _join_ends(first, last, place))
    ]
    single = (end for end in ends if not any(_overlap(end, joined) for joined in ranges))
    ranges += filter(None, (_find_short_range(lower, end) for end in single))
    return sorted([*ranges, *(each for each in phrases if not any(_overlap(each, joined) for joined in ranges))])


def _join_ends(first: DatePhrase, last: DatePhrase, place: tuple[int, int]) -> DatePhrase | None:
    start = first.span.first
    if start > last.span.last and not first.has_year and not first.is_relative:
        start -= DAYS_IN_A_UNIT["year"]  # each end was the latest such day
    if start > last.span.last:
        return None
    is_relative = first.is_relative and last.is_relative
    return DatePhrase(*place, Span(start, last.span.last), is_relative, has_year=first.has_year and last.has_year)


def _find_short_range(lower: str, end: DatePhrase) -> DatePhrase | None:
    """Return the range between a phrase and a day of the same month: `3 to 5 May`."""
    if end.is_relative or end.span.first != end.span.last:
        return None
    other = find_short_end(lower, end.start, end.end)
    if not other:
        return None
    day = date.fromordinal(end.span.first)
    exact = end.span.first + other.day - day.day
    is_first = other.start < end.start and exact < end.span.first
    is_last = other.end > end.end and end.span.first < exact
    if not other.day or date.fromordinal(max(1, exact)).month != day.month or not (is_first or is_last):
        return None
    span = Span(exact, end.span.last) if is_first else Span(end.span.first, exact)
    return DatePhrase(other.start, other.end, span, is_relative=False, has_year=end.has_year)


def _overlap(one: DatePhrase, other: DatePhrase) -> bool:
    return one.start < other.end and other.start < one.end


def _leaves_words(phrases: list[DatePhrase], rest: str, *, asks: bool) -> bool:
    """Return whether the query without its dates is what to search for."""
    if not asks:
        return bool(rest) or all(phrase.is_relative for phrase in phrases)
    is_short = (phrase.span.last - phrase.span.first < _FEW_DAYS for phrase in phrases)
    return all(phrase.is_relative or phrase.is_open or short for phrase, short in zip(phrases, is_short, strict=True))


def find_phrases(text: str, today: int) -> list[DatePhrase]:
    """Return where a text names days, in the order of the text; `today` is the day on which it was written."""
    return sorted(_search_phrases(text, today))


def name_relative_days(text: str, day: int) -> list[tuple[str, Span]]:
    """Return words like `tomorrow` in a text of a day, each with the days that it means."""
    text = text[:_MAX_SCAN_CHARACTERS]
    if not re.search(RELATIVE_WORDS, fold_phrase(text)):
        return []
    relative = (phrase for phrase in find_phrases(text, day) if phrase.is_relative and not phrase.is_open)
    return [(text[phrase.start : phrase.end].strip(), phrase.span) for phrase in relative]


def names_days_within(text: str, day: int | None, days: str, today: int, spans: tuple[Span, ...]) -> bool:
    """Return whether a text names days that are within one of the spans. `days`: what the index notes of it.

    Words like `yesterday` refer to the day of the text, so in a text without a date they are ignored.
    """
    text = text[:_MAX_SCAN_CHARACTERS]
    if UNKNOWN_DAYS not in days:
        return _any_within(_read_noted(days), spans) and _may_name_days(text, day, spans)
    if not _may_name_days(text, day, spans):
        return False
    named = (span for span, is_relative in _named_spans(text, day or today) if day is not None or not is_relative)
    return _any_within(named, spans)


def note_named_days(text: str, day: int | None) -> str:
    """Return the days that a text names, as the index keeps them: `738000-738006`. Where they depend on when somebody
    asks, the index does not know them."""
    found = [*_search_phrases(text, day or _ANY_DAY, has_ranges=False)]
    named = [phrase for phrase in found if day is not None or not phrase.is_relative]
    if day is None and not all(phrase.has_year for phrase in named):
        return UNKNOWN_DAYS
    return " ".join(f"{phrase.span.first}-{phrase.span.last}" for phrase in named)


def _read_noted(days: str) -> Iterator[Span]:
    for noted in days.split():
        first, _, last = noted.partition("-")
        if last:
            yield Span(int(first), int(last))


def _any_within(named: Iterable[Span], spans: tuple[Span, ...]) -> bool:
    return any(span.contains(each.first) and span.contains(each.last) for each in named for span in spans)


@cache_within(1_000_000)
def _named_spans(text: str, today: int) -> tuple[tuple[Span, bool], ...]:
    """Return the days that a text names, and whether they are relative to its own; cached, as queries share
    passages."""
    return tuple((phrase.span, phrase.is_relative) for phrase in _search_phrases(text, today, has_ranges=False))


def _may_name_days(text: str, day: int | None, spans: tuple[Span, ...]) -> bool:
    """Return whether a text may name days within the spans: most texts have no such word."""
    if day is not None and any(span.first - _LATE_DAYS <= day <= span.last + _LATE_DAYS for span in spans):
        return True  # `yesterday` may be one of them
    return _date_words(spans).search(fold_phrase(text)) is not None


@cache_within(250_000)
def _date_words(spans: tuple[Span, ...]) -> re.Pattern[str]:
    """Return a pattern of the years and months of spans; a whole year is not named by its months."""
    words: set[str] = set()
    for span in spans:
        first = date.fromordinal(span.first)
        last = date.fromordinal(span.last)
        words |= {str(year) for year in range(max(first.year, last.year - _MAX_YEARS), last.year + 1)}
        if span.last - span.first < DAYS_IN_A_UNIT["month"] + 1:
            words |= {name for month in {first.month, last.month} for name in _month_names(month)}
    return re.compile(any_of(words))


@cache
def _month_names(month: int) -> tuple[str, ...]:
    others = (number_words(vocabulary.months) for vocabulary in vocabularies().values())
    names = (name for months in (MONTHS, *others) for name, number in months.items() if number == month)
    return (*names, f"{month}月", f"{month}월")


def date_proximity(span: Span, day: int) -> float:
    """Return how well the day of a passage fits: 1 within the span, falling to 0 over the days after it."""
    if day < span.first:
        return 0.0
    return max(0.0, 1 - max(0, day - span.last) / _LATE_DAYS)


def _search_phrases(text: str, today: int, *, has_ranges: bool = True) -> Iterator[DatePhrase]:
    """Yield the phrases of a text that do not overlap, the least ambiguous first.

    Without ranges, `until 3 May` names that day alone.
    """
    text = text[:_MAX_SCAN_CHARACTERS]
    folded, offsets = _fold_with_offsets(text)
    taken: list[tuple[int, int]] = []
    languages = choose_languages(folded)
    for pattern, read, is_relative, _ in choose_readers(languages, folded):
        for match in pattern.finditer(folded):
            start, end = match.span()
            if any(start < other_end and end > other_start for other_start, other_end in taken):
                continue
            original = text[offsets[start] : offsets[end]]
            if not _is_meant(match, original, text[: offsets[start]], folded):
                continue
            has_year = not is_relative and bool(match.groupdict().get("year"))
            if not today and not has_year:
                continue
            span = read(match, date.fromordinal(today or 1))
            if not span:
                continue
            opened = _find_direction(match, folded, languages) if has_ranges else None
            if opened:
                direction, more_before, more_after = opened
                span = open_span(span, direction, today)
                start -= more_before
                end += more_after
            taken.append((start, end))
            yield DatePhrase(offsets[start], offsets[end], span, is_relative, bool(opened), has_year)


def _find_direction(match: re.Match[str], folded: str, languages: list[str]) -> tuple[Direction, int, int] | None:
    """Return the direction of the open range that words in or around a match make of it, and how much more text they
    take."""
    groups = match.groupdict()
    lead = groups.get("lead") or ""
    trail = groups.get("trail") or ""
    start = match.start("lead") + len(lead) if lead else match.start()
    end = match.start("trail") - 1 if trail else match.end()
    opened = find_direction(folded[:start], match[0], folded[end:], languages)
    if not opened:
        return None
    direction, before, after = opened
    return direction, max(0, before - (start - match.start())), max(0, after - (match.end() - end))


def _is_meant(match: re.Match[str], original: str, before: str, folded: str) -> bool:
    """Return whether a match really names days, rather than being a word or a name that looks like one."""
    groups = match.groupdict()
    if groups.get("weekday") and re.search(_RECURRING, folded):
        return False
    month = groups.get("month")
    if month and "week" not in groups and not groups.get("day") and _DAY_BEFORE_MONTH.search(before):
        return False  # `31 June`: there is no such day
    if month in _AMBIGUOUS_MONTHS and not (groups.get("lead") or groups.get("year") or groups.get("ordinal")):
        return month not in original  # `May 5`, not `may 5`
    is_title = original[:1].isupper() and original[1:2].islower() and original.isascii() and " " not in original
    return not (is_title and not month and before.strip() and before.strip()[-1] not in ".!?:;\"'(\n-")


def _fold_with_offsets(text: str) -> tuple[str, list[int] | range]:
    """Return the folded text, and the offset in the original text of each of its characters."""
    folded = fold_phrase(text)
    if len(folded) == len(text):
        return folded, range(len(text) + 1)
    parts = [fold_phrase(char) for char in text]
    offsets = [place for place, part in enumerate(parts) for _ in part]
    return "".join(parts), [*offsets, len(text)]


# Questions about what was: `what was the deadline?`, and those about what was before something, in ten languages.

_BEFORE = lazy_pattern(
    r"(?<!\w)(?P<german>bevor|vor|ehe)(?!\w)|(?P<tense>(?<!\w)(?:before|prior to|до|перед|прежде чем)(?!\w)|前に)"
    r"|(?<!\w)(?:antes|avant|पहले|قبل)(?!\w)|之前|以前|前は"
)
_PAST_TENSE = LISTS.phrase_pattern("questions", "PAST_TENSE")
_SERIES = LISTS.phrase_pattern("questions", "SERIES")
_GERMAN_PAST_TENSE = lazy_pattern(  # `was` is English as well
    r"(?<!\w)(?:war|waren|warst|hatte\w*|wurde\w*|hieß\w*|ge\w{3,}(?:t|en)"
    r"|(?!heute|bitte|mitte|erste|letzte|nächste)\w{3,}te[nst]?)(?!\w)"
)
_DUTY = LISTS.phrase_pattern("questions", "DUTY")
_UNSPACED_DAY = lazy_pattern(
    r"(?:周|星期|礼拜)[一二三四五六日天]|[\d一二三四五六七八九十]+[日号月点時时]|曜日?|今天|明天|下周|今日|明日|来週"
)
_DAYS = word_set("words", "MONTHS_AND_DAYS") | word_set("words", "NEXT_DAYS")
_MAX_DISTANCE = 25  # characters from `before` to a day that it is about
_END = lazy_pattern(r"[\s?？!.。।؟]*\Z")


def asks_about_past(text: str) -> bool:
    """Return whether a question is about what was."""
    return has_cue(fold(text), "past") or asks_what_was_before(text)


def asks_for_series(text: str) -> bool:
    """Return whether a question asks for the first of several reports or for all of them, not for the last."""
    return _SERIES.search(fold(text)) is not None


@cache_within(100_000)
def asks_what_was_before(text: str) -> bool:
    """Return whether a question is about what was before something else was."""
    folded = fold(text)
    found = [*_BEFORE.finditer(folded)]
    if not found or _DUTY.search(folded):
        return False
    tenses = {_GERMAN_PAST_TENSE if match["german"] else _PAST_TENSE for match in found}
    return any(tense.search(folded) for tense in tenses) or any(_needs_no_tense(folded, match) for match in found)


def _needs_no_tense(folded: str, before: re.Match[str]) -> bool:
    is_last = _END.match(folded, before.end()) is not None
    needs_tense = bool(before["tense"] or before["german"])
    return is_last or not (needs_tense or _is_about_day(folded, before))


def _is_about_day(folded: str, before: re.Match[str]) -> bool:
    around = folded[max(0, before.start() - _MAX_DISTANCE) : before.end() + _MAX_DISTANCE]
    words = split_words(around)
    return any(word in _DAYS or is_number(word) for word in words) or _UNSPACED_DAY.search(around) is not None


# Words that only ask: `tell me about Priya` is a query for `Priya`.

_REQUESTS = LISTS.join_phrases("questions", "REQUESTS")
_REQUESTS_AFTER = LISTS.join_phrases("questions", "REQUESTS_AFTER")
_REQUEST_BEFORE = lazy_pattern(rf"[\W_]*(?:{_REQUESTS})[\s:,]*", re.IGNORECASE)
_REQUEST_AFTER = lazy_pattern(rf"\s*(?:{_REQUESTS_AFTER})[\W_]*\Z", re.IGNORECASE)
_LETTER = lazy_pattern(r"[^\W_]")
_MAX_REQUEST_CHARACTERS = 60  # in which a request after its subject is looked for


def strip_request(text: str) -> str:
    """Return a query without a request at its beginning or end; the whole query if nothing else is left."""
    before = _REQUEST_BEFORE.match(text)
    rest = text[before.end() :] if before else text
    end = max(0, len(rest) - _MAX_REQUEST_CHARACTERS)
    after = _REQUEST_AFTER.search(rest, end)
    rest = rest[: after.start()] if after else rest
    is_day = len(rest.split()) == 1 and says_weekday(rest, range(7), is_coming=False)
    return rest if _LETTER.search(rest) and not is_day else text
