"""Newer statements that are true only from a later day on, or on one day: they do not replace what is true until then.

`Diego starts at Bosch on 1 August` says where he works from that day on, and `no deploy this Thursday` says nothing of
other Thursdays. If the older statement names a day itself, that day may be what changed.
"""

from __future__ import annotations

from datetime import date

from ..caching import cache_within
from ..facts.links import Link, LinkKind
from ..facts.statements import Statement
from ..facts.states import read_states
from ..facts.words import IRREGULAR_PAST, fold, read_list, split_words
from ..patterns import lazy_pattern
from .date_phrases import LISTS
from .date_spans import DAYS_IN_A_UNIT, Span
from .dates import DatePhrase, find_phrases
from .validity import find_validity

_LASTING_KINDS: tuple[LinkKind, ...] = ("confirmed", "done")  # of links that need no day
_MAX_OCCASION_DAYS = 7  # of days on which something does not take place
_WEEK = DAYS_IN_A_UNIT["week"]
_WEEKDAYS = "|".join(read_list("words", "WEEKDAYS").split())
_THIS_DAY = lazy_pattern(
    rf"(?<!from )(?<!since )(?<!starting )(?<!ab )(?<!desde )"
    rf"\b(?:this|diese[nmrs]?|est[ea]|ce(?:tte)?|quest[oa]|nest[ea]|эт(?:от|у|о)) (?:coming )?(?:{_WEEKDAYS})\b"
    r"|\b(?:during|während|durante|pendant|во время) \w|(?:这|本)(?:周|星期)[一二三四五六日天]|今週の.曜"
)
_SOME_DAY = LISTS.phrase_pattern("occasions", "SOME_DAY")
_WILL = LISTS.phrase_pattern("occasions", "WILL")
_FROM_NOW = lazy_pattern(
    r"\b(?:from|as of|since|starting|effective|ab|seit|desde|a partir de|dès|depuis|da|con) "
    r"(?:today|now(?: on)?|heute|sofort|jetzt|hoy|ahora|aujourd'hui|maintenant|hoje|agora|oggi|ora)\b"
    r"|\bс сегодняшнего|从今天起|今日から"
)
_WEEKDAY = lazy_pattern(rf"\b(?:{_WEEKDAYS})\b")
_PAST_FORM = LISTS.phrase_pattern("occasions", "PAST_FORM")


def holds_by(older: Statement, newer: Statement, link: Link, day: int, today: int) -> bool:
    """Return whether the newer of two statements, which is of a day, replaces the older one by today."""
    if link.kind in _LASTING_KINDS or (link.kind == "retraction" and newer.speaker):
        return True
    folded = fold(newer.text)
    if _THIS_DAY.search(folded) and not _THIS_DAY.search(fold(older.text)):
        return False
    if _name_days(older.text, day) or _WEEKDAY.search(fold(older.text)) or _FROM_NOW.search(folded):
        return True
    first = find_validity(newer.text, day).first
    if first is not None:
        return first <= today
    is_change = not newer.cues.isdisjoint(("change", "weak change")) or _says_new_state(newer)
    if _is_ahead(older, newer, is_change=is_change):
        return False
    spans = _name_days(newer.text, day)
    if not spans:
        return True
    start = min(span.first for span in spans)
    if start <= day:
        has_numbers = all(any(map(str.isdigit, each.text)) for each in (older, newer))
        is_lasting = is_change or has_numbers or link.kind == "retraction"
        return is_lasting or not any(span.contains(day) for span in spans)
    is_short = all(span.last - span.first < _MAX_OCCASION_DAYS for span in spans)
    if not is_change or (is_short and "retraction" in newer.cues):
        return False
    return start <= today


def _is_ahead(older: Statement, newer: Statement, *, is_change: bool) -> bool:
    """Return whether the newer statement announces a change at an unspecified future time."""
    folded = fold(newer.text)
    if not _SOME_DAY.search(folded) or _SOME_DAY.search(fold(older.text)) or _is_past(newer.text):
        return False
    return is_change or _WILL.search(folded) is not None


def _says_new_state(newer: Statement) -> bool:
    return any(state.phase != "state" for state in read_states(newer.text))


@cache_within(500_000)
def _name_days(text: str, day: int) -> tuple[Span, ...]:
    """Return the days that a note names; those without a year are read as seen from the day of the note."""
    is_past = _is_past(text)
    phrases = (phrase for phrase in find_phrases(text, day) if not phrase.is_open or phrase.span.first > day)
    return tuple(_find_meant(text, phrase, day, is_past=is_past) for phrase in phrases)


def _is_past(text: str) -> bool:
    folded = fold(text)
    return _PAST_FORM.search(folded) is not None or not IRREGULAR_PAST.isdisjoint(split_words(folded))


def _find_meant(text: str, phrase: DatePhrase, day: int, *, is_past: bool) -> Span:
    """Return the days of a phrase, which is read as the latest such days: those ahead, if they are nearer."""
    span = phrase.span
    if is_past or phrase.is_open or span.last >= day:
        return span
    if phrase.is_relative:
        is_weekday = _WEEKDAY.search(fold(text[phrase.start : phrase.end])) is not None
        return Span(span.first + _WEEK, span.last + _WEEK) if is_weekday and span.first == span.last else span
    ahead = Span(_next_year(span.first), _next_year(span.last))
    is_nearer = ahead.first - day < day - span.last
    return ahead if not phrase.has_year and is_nearer else span


def _next_year(day: int) -> int:
    then = date.fromordinal(day)
    try:
        return then.replace(year=then.year + 1).toordinal()
    except ValueError:  # 29 February, or the last year of the calendar
        return min(day + DAYS_IN_A_UNIT["year"], date.max.toordinal())
