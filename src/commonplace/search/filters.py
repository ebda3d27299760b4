"""Filters as people and models write them: words, dates such as `2026-03`, one or several of each."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, get_args

from ..errors import InvalidArgument, suggest
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..model import Filters, ScopeKind, Source
from ..patterns import lazy_pattern
from ..schema import TEXT, Schema, check
from ..storage.names import require_valid_name
from .dates import parse_span
from .weekdays import says_weekday

_MAX_FILTER_TEXTS = 50
_MAX_FILTER_CHARACTERS = 1000
_MAX_WEEKDAY_CHARACTERS = 30
_FIRST_DAY = date(1970, 1, 2).toordinal()  # no memory is older than this
_MAX_PATTERN_STARS = 6  # each one makes matching slower, and nobody needs more
_AGO = lazy_pattern(r"(\d{1,9})\s*(second|sec|minute|min|m|hour|h|day|d|week|w)s?(?: ago)?")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MAX_DAYS_AGO = 365 * 100
_DAY_AND_TIME = lazy_pattern(r"\d{4}-\d\d?-\d\d?[T ]")
_ZONE = lazy_pattern(r"(?:Z|[+-]\d\d:?\d\d)$")
_ONE_OR_MORE: Schema = {"type": ["string", "array"], "items": TEXT}
FILTERS = {
    "scope": _ONE_OR_MORE,
    "channel": TEXT,
    "agent": TEXT,
    "tags": _ONE_OR_MORE,
    "since": TEXT,
    "until": TEXT,
    "source": TEXT,
    "path": _ONE_OR_MORE,
    "author": TEXT,
    "as_of": TEXT,
}


_OPTIONS = ("limit", "min_score", "mode")  # of a search, beside its filters


def parse_filters(given: Mapping[str, Any], now: datetime) -> Filters:
    """Return the filters of a search; InvalidArgument for an unknown filter, a wrong type, or an invalid date."""
    today = now.toordinal()
    for name in given:
        if name not in FILTERS:
            advice = f"{suggest(name, (*FILTERS, *_OPTIONS))}use {', '.join(FILTERS)}"
            raise InvalidArgument(f"unknown filter: {name}", advice=advice)
    values = {name: _check_value(name, value) for name, value in given.items()}
    return Filters(
        _as_tuple(values.get("scope")),
        values.get("channel") or "",
        values.get("agent") or "",
        _as_tuple(values.get("tags")),
        _parse_day("since", values.get("since"), today, last=False),
        _parse_day("until", values.get("until"), today, last=True),
        values.get("source") or "",
        tuple(pattern for path in _as_tuple(values.get("path")) for pattern in _path_patterns(path)),
        values.get("author") or "",
        *_parse_as_of(values.get("as_of"), now),
    )


def _check_value(name: str, value: Any) -> Any:
    if value is None or (name in ("since", "until", "as_of") and isinstance(value, date)):
        return value
    return check(FILTERS[name], [*value] if isinstance(value, (set, frozenset)) else value, name)


def _as_tuple(value: str | list[str] | None) -> tuple[str, ...]:
    if not value:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _path_patterns(path: str) -> tuple[str, ...]:
    """Return the patterns of a path: a folder means all in it; below `memories` a name may be a page or a folder."""
    path = path.removeprefix("./")
    if not path.strip("./"):
        return ()
    is_page = path.endswith((".md", ".jsonl")) or set(path) & set("*?")
    if is_page:
        return (path,)
    below = f"{path.rstrip('/')}/**"
    return (path, below) if "/memories/" in f"/{path}" and path[-1] != "/" else (below,)


def _parse_day(name: str, value: str | date | None, today: int, *, last: bool) -> int | None:
    if not value:
        return None
    if isinstance(value, date):
        return value.toordinal()
    match = re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?", value.strip())
    if match:
        return _day_of_year_or_month(name, value, int(match[1]), int(match[2] or 0), last=last)
    span = parse_span(value, today)
    if span is None and (day := _find_last_weekday(value, today)):
        return day
    if span is None:
        or_time = ", 2026-03-01T09:30 or `2 hours ago`" if name == "as_of" else ""
        raise InvalidArgument(f"{name}: {value!r} is not a date: use one like 2026-03-01, 2026-03, yesterday{or_time}")
    return span.last if last else span.first


def _find_last_weekday(text: str, today: int) -> int | None:
    """Return the last day that a weekday alone names: `Monday` or `周一`."""
    if len(text) > _MAX_WEEKDAY_CHARACTERS or len(text.split()) != 1 or any(map(str.isdigit, text)):
        return None
    week = (date.fromordinal(today - ago) for ago in range(1, 8))
    return next((day.toordinal() for day in week if says_weekday(text, [day.weekday()], is_coming=False)), None)


def _parse_as_of(value: str | date | None, now: datetime) -> tuple[int | None, str]:
    """Return the day of an `as_of` filter, and the moment of it if one is named."""
    if isinstance(value, str) and not value.strip():
        raise InvalidArgument("as_of is blank: name a day or a time, like 2026-03-01, yesterday or `2 hours ago`")
    moment = parse_time(value, now) if isinstance(value, str) else None
    if moment is None:
        return _parse_day("as_of", value, now.toordinal(), last=True), ""
    if (ago := _AGO.fullmatch(str(value).strip().lower())) and ago[2][0] in "dw":  # the end of that day
        return moment.toordinal(), ""
    return moment.astimezone(now.tzinfo).toordinal(), f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def parse_time(text: str, now: datetime) -> datetime | None:
    """Return the moment that a text names: `2026-03-14T09:30`, in the zone of `now`, or `2 hours ago`; None for a day.

    InvalidArgument for a time that does not exist.
    """
    text = text.strip()
    if ago := _AGO.fullmatch(text.lower()):
        unit = timedelta(**{_UNITS[ago[2][0]]: 1})
        earliest = timedelta(days=_MAX_DAYS_AGO)
        return now - min(int(ago[1]), earliest // unit) * unit
    if text.lower() == "now":
        return now
    if not _DAY_AND_TIME.match(text):
        return None
    moment = parse_timestamp(text)
    if moment is None or moment.year in (date.min.year, date.max.year):  # not a valid time in every zone
        raise InvalidArgument(f"{text!r} is not a time: use one like 2026-03-14T09:30, 2026-03-14 or `2 hours ago`")
    return moment if _ZONE.search(text) else moment.replace(tzinfo=now.tzinfo)


def _day_of_year_or_month(name: str, value: str, year: int, month: int, *, last: bool) -> int:
    """Return the first or the last day of a year, or of a month of it."""
    month = month or (12 if last else 1)
    try:
        return date(year, month, monthrange(year, month)[1] if last else 1).toordinal()
    except ValueError as error:
        raise InvalidArgument(f"{name}: {value!r} is not a date: use one like 2026-03-01 or 2026-03") from error


def end_of_day(day: int, zone: tzinfo) -> str:
    """Return the last moment of a day as a timestamp."""
    last = date.fromordinal(max(day, _FIRST_DAY))
    return format_timestamp(datetime.combine(last, time.max, zone))


def check_filters(filters: Filters) -> None:
    """Raise InvalidArgument for a filter that can never match: a mistake should not look like an empty memory."""
    kinds = get_args(ScopeKind)
    sources = get_args(Source)
    if filters.past is not None:
        raise InvalidArgument("past is set by a search, not by its caller: use as_of")
    for day in (filters.since, filters.until, filters.as_of):
        if day is not None and not 0 < day <= date.max.toordinal():
            raise InvalidArgument(f"{day} is not a day")
    names = (filters.channel, filters.agent, filters.source, filters.author)
    for texts in (filters.scopes, filters.tags, filters.paths, *((name,) for name in names)):
        too_long = any(len(text) > _MAX_FILTER_CHARACTERS for text in texts)
        if len(texts) > _MAX_FILTER_TEXTS or too_long:
            limit = f"at most {_MAX_FILTER_TEXTS} texts of at most {_MAX_FILTER_CHARACTERS} characters"
            raise InvalidArgument(f"a filter takes {limit}")
        require_valid_name("filter", *texts)
    if any(pattern.replace("**", "*").count("*") > _MAX_PATTERN_STARS for pattern in filters.paths):
        raise InvalidArgument(f"path: a pattern has at most {_MAX_PATTERN_STARS} stars")
    for scope in filters.scopes:
        if scope.partition(":")[0] not in kinds:
            raise InvalidArgument(f"scope {scope!r} is not known: use {', '.join(kinds)}, or one like channel:NAME")
    if filters.source and filters.source not in sources:
        raise InvalidArgument(f"source {filters.source!r} is not known: use {', '.join(sources)}")
    if filters.since is not None and filters.until is not None and filters.since > filters.until:
        raise InvalidArgument("since is later than until: swap them")
