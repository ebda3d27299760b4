"""When statements were made or last edited, and which of two is newer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from ..caching import cache_within
from ..facts.statements import find_lines, read_statements
from ..formats.timestamps import parse_day, parse_timestamp
from ..model import Hit
from ..storage.authors import Provenance
from ..storage.history import OUTSIDE
from .replacements import FoundStatement, date_of

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
