"""When statements were made or last edited, from when on they hold, and which of two is newer.

A newer statement that is true only from a later day on, or on one day, does not replace what is true until then:
`Diego starts at Bosch on 1 August` says where he works from that day on, and `no deploy this Thursday` says nothing of
other Thursdays. If the older statement names a day itself, that day may be what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, tzinfo
from typing import NamedTuple

from ..caching import cache_within
from ..facts.links import Link, LinkKind
from ..facts.statements import Statement, find_lines, read_statements
from ..facts.states import read_states
from ..facts.words import IRREGULAR_PAST, fold, read_list, split_words
from ..formats.timestamps import parse_day, parse_timestamp
from ..model import Hit
from ..patterns import lazy_pattern
from ..storage.authors import Provenance
from ..storage.history import OUTSIDE
from .date_phrases import LISTS
from .date_spans import DAYS_IN_A_UNIT, Span
from .dates import DatePhrase, find_phrases
from .replacements import FoundStatement, date_of
from .validity import find_validity

NO_ORIGIN = Provenance()

Origins = dict[str, Provenance]  # by citation
FindOrigins = Callable[[Sequence[Hit]], Sequence[Provenance]]  # when passages were written


class Moment(NamedTuple):
    """When a statement was made, or last edited, and where it is. `at`: in UTC, or a day of the memory's time zone."""

    at: str
    day: int | None
    is_edited: bool
    hit: Hit


def find_moment(place: FoundStatement, origins: Origins) -> Moment:
    """Return when a statement was made: the date that it or its page has, or when its line was edited later."""
    moments = list_moments(place.hit, origins, origins.get(locate(place).citation))
    return moments[-1] if len(moments) > 1 and _is_alone(place) else moments[0]


def list_moments(hit: Hit, origins: Origins, line: Provenance | None = None) -> list[Moment]:
    """Return the date of a passage or of one of its lines, and, if later, the time of its last edit: a statement
    may be from either. A corrected spelling says nothing new. What a tool wrote under a later date, such as a plan,
    counts from the time it was written: a text is not newer because it says so."""
    origin = origins.get(hit.citation, NO_ORIGIN)
    said_at = (line or origin).said_at
    zone = origin.zone
    at = _to_utc(date_of(hit), zone)
    if OUTSIDE not in (line or origin).names and _is_at_or_after(at, said_at, zone):
        at = said_at
    dated = Moment(at or said_at, _find_day(at or said_at, zone), is_edited=False, hit=hit)
    if at and origin.is_edited and said_at == origin.said_at and _is_not_before(said_at, dated, zone):
        return [dated, Moment(said_at, _find_day(said_at, zone), is_edited=True, hit=hit)]
    if at or line or not origin.is_edited:
        return [dated]
    first = origin.first_said_at  # any of its lines may be as old as that
    return [dated, Moment(first, _find_day(first, zone), is_edited=False, hit=hit)]


def _to_utc(at: str, zone: tzinfo) -> str:
    """Return a date as it is, and a time of a page, which is one of the memory's zone unless it names another, in UTC,
    as precise as it was."""
    return at if zone is UTC or not _has_time(at) else _convert_to_utc(at, zone)


@cache_within(200_000)
def _convert_to_utc(at: str, zone: tzinfo) -> str:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    in_utc = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    return in_utc.isoformat()[: len(at.removesuffix("Z"))]


def _find_day(at: str, zone: tzinfo) -> int | None:
    """Return the day of a date, or of a moment in UTC, in a time zone."""
    return parse_day(at) if zone is UTC or not _has_time(at) else _find_local_day(at, zone)


@cache_within(200_000)
def _find_local_day(at: str, zone: tzinfo) -> int | None:
    moment = parse_timestamp(at)
    return moment.astimezone(zone).toordinal() if moment else parse_day(at)


def _has_time(at: str) -> bool:
    return at[10:11] == "T"


def _is_at_or_after(at: str, said_at: str, zone: tzinfo) -> bool:
    """Return whether a time is after a moment or, as far as it is known, the same; or a day is after the moment's."""
    if not said_at:
        return False
    if _has_time(at):
        return at.removesuffix("Z") >= said_at[: len(at.removesuffix("Z"))]
    day = parse_day(at)
    written = _find_day(said_at, zone)
    return day is not None and written is not None and day > written


def _is_not_before(said_at: str, dated: Moment, zone: tzinfo) -> bool:
    if _has_time(dated.at):
        return said_at >= dated.at
    written = _find_day(said_at, zone)
    return dated.day is None or (written is not None and written >= dated.day)


def _is_alone(place: FoundStatement) -> bool:
    """Return whether a statement has a line to itself: otherwise nobody knows which one on the line was edited."""
    line = place.statement.first_line
    return sum(each.first_line == line for each in read_statements(place.hit.text)) <= 1


def may_be_edited(hit: Hit) -> bool:
    """Return whether a passage may have been edited after its date; sessions only grow."""
    return hit.source != "session" or not date_of(hit)


def is_newer(older: Moment, newer: Moment) -> bool:
    """Return whether the second of two statements was made later: by day, then by time, within one page by line."""
    if older.day is None or newer.day is None:
        return False
    if older.day != newer.day:
        return older.day < newer.day
    has_times = _has_time(older.at) and _has_time(newer.at)
    if older.is_edited != newer.is_edited:
        return older.at < newer.at if has_times else newer.is_edited
    if older.hit.path == newer.hit.path and not newer.is_edited:
        return bool(older.hit.at and newer.hit.at) and older.hit.start < newer.hit.start
    return has_times and older.at < newer.at


def find_origins_of(hits: Iterable[Hit], find_origins: FindOrigins) -> Origins:
    edited = {hit.citation: hit for hit in hits if may_be_edited(hit)}
    return dict(zip(edited, find_origins(list(edited.values())), strict=True)) if edited else {}


def locate(place: FoundStatement) -> Hit:
    """Return the lines of a statement, which may be all that a hit has."""
    hit = place.hit
    if hit.end - hit.start == place.statement.last_line - place.statement.first_line:
        return hit
    start, end = find_lines(hit, place.statement)
    return hit._replace(start=start, end=end)


# From when on a newer statement holds.

_LASTING_KINDS: tuple[LinkKind, ...] = (
    "confirmed",
    "done",
)  # of links that hold whatever days both name
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
_REPORT = lazy_pattern(r"\A[^:.!?\n]{1,60}: ")
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
    """Return whether a text is about the past. That somebody said it (`Decided: …`), and what has to happen before it
    (`once the lease is signed`), says nothing of that."""
    folded = _SOME_DAY.sub(" ", _REPORT.sub("", fold(text)))
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
