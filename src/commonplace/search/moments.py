"""When statements were made, or their lines last edited, and which of two is newer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..facts.statements import find_lines, read_statements
from ..formats.timestamps import parse_day
from ..model import Hit
from ..storage.authors import Provenance
from ..storage.history import OUTSIDE
from .replacements import FoundStatement, date_of

NO_ORIGIN = Provenance()

Origins = dict[str, Provenance]  # by citation
FindOrigins = Callable[[Sequence[Hit]], Sequence[Provenance]]  # when passages were written


class Moment(NamedTuple):
    """When a statement was made, or last edited, and where it is."""

    at: str
    day: int | None
    is_edited: bool
    hit: Hit


def find_moment(place: FoundStatement, origins: Origins) -> Moment:
    """Return when a statement was made: the date that it or its page has, or when its line was edited later."""
    moments = list_moments(place.hit, origins, origins.get(locate(place).citation))
    return moments[-1] if len(moments) > 1 and _is_alone(place) else moments[0]


def list_moments(hit: Hit, origins: Origins, line: Provenance | None = None) -> list[Moment]:
    """Return the date of a passage, or of one of its lines, and also when it was edited, if that was later: a statement
    may be from either. A corrected spelling says nothing new. What a tool wrote under a later date, such as a plan, is
    from when it was written: no text is newer than others because it says so."""
    origin = origins.get(hit.citation, NO_ORIGIN)
    said_at = (line or origin).said_at
    at = date_of(hit)
    if OUTSIDE not in (line or origin).names and _is_after(at, said_at):
        at = said_at
    is_later = bool(at) and origin.is_edited and said_at == origin.said_at and said_at[:10] >= at[:10]
    dated = Moment(at or said_at, parse_day(at or said_at), is_edited=False, hit=hit)
    if is_later:
        return [dated, Moment(said_at, parse_day(said_at), is_edited=True, hit=hit)]
    if at or line or not origin.is_edited:
        return [dated]
    first = origin.first_said_at  # any of its lines may be as old as that
    return [dated, Moment(first, parse_day(first), is_edited=False, hit=hit)]


def _is_after(at: str, said_at: str) -> bool:
    """Return whether a date is after a moment in every time zone."""
    day = parse_day(at)
    written = parse_day(said_at)
    return day is not None and written is not None and day > written + 1


def _is_alone(place: FoundStatement) -> bool:
    """Return whether a statement has a line to itself: otherwise nobody knows which one on the line was edited."""
    line = place.statement.first_line
    return sum(each.first_line == line for each in read_statements(place.hit.text)) <= 1


def may_be_edited(hit: Hit) -> bool:
    """Return whether history may tell more of a passage than its date: sessions only grow."""
    return hit.source != "session" or not date_of(hit)


def is_newer(older: Moment, newer: Moment) -> bool:
    """Return whether the second of two statements was made later: by day, then by time, within one page by line."""
    if older.day is None or newer.day is None:
        return False
    if older.day != newer.day:
        return older.day < newer.day
    if older.is_edited != newer.is_edited:
        are_moments = older.at.endswith("Z") and newer.at.endswith("Z")  # an entry says its time in the home's zone
        return older.at < newer.at if are_moments else newer.is_edited
    if older.hit.path == newer.hit.path and not newer.is_edited:
        return bool(older.hit.at and newer.hit.at) and older.hit.start < newer.hit.start
    has_times = older.at[10:11] == "T" and newer.at[10:11] == "T"
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
