"""Timestamps in pages: RFC 3339 in UTC, to the microsecond, so that text order is time order.

Other programs write dates in other ways; `parse_day` reads the common ones.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

from ..caching import cache_within
from ..patterns import lazy_pattern

_MONTH_NAMES = """
    january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, september sep sept,
    october oct, november nov, december dec
"""
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split(","), start=1) for name in names.split()}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR_FIRST = lazy_pattern(r"(?<![0-9])([0-9]{4})[-/.年년]\s?([0-9]{1,2})[-/.月월]\s?([0-9]{1,2})(?![0-9])")
_DAY_FIRST = lazy_pattern(rf"(?ai)(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?,? (\d{{4}})")
_MONTH_FIRST = lazy_pattern(rf"(?ai)\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})")
_EPOCH = lazy_pattern(r"[0-9]{9,10}(?:\.[0-9]+)?|[0-9]{12,13}")  # seconds since 1970, or milliseconds
_YEAR = lazy_pattern("[0-9]{4}")  # part of every form, so that a text without it needs no closer look


def format_timestamp(moment: datetime) -> str:
    """Return a moment as pages hold it: `2026-03-14T09:26:53.589793Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def to_nanoseconds(moment: datetime) -> int:
    """Return a moment as nanoseconds since 1970, as file systems count."""
    return int(moment.timestamp() * 10**6) * 1000


def parse_timestamp(text: str) -> datetime | None:
    """Return the moment an ISO 8601 timestamp names, or None if it is not one. Without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def sort_key(text: str) -> float:
    """Return a key that sorts timestamps oldest first; an unreadable one comes before all others."""
    moment = parse_timestamp(text)
    return moment.timestamp() if moment else float("-inf")


@cache_within(500_000)
def parse_day(text: str) -> int | None:
    """Return the day in a text as its ordinal, or None: RFC 3339, seconds since 1970, `8 May 2023`, `May 8, 2023`;
    cached, as a query reads the days of its hits several times."""
    if not _YEAR.search(text):
        return None
    if match := _YEAR_FIRST.search(text):
        return _ordinal(match[1], match[2], match[3])
    if match := _DAY_FIRST.search(text):
        return _ordinal(match[3], MONTHS[match[2].lower()], match[1])
    if match := _MONTH_FIRST.search(text):
        return _ordinal(match[3], MONTHS[match[1].lower()], match[2])
    text = text.strip()
    if _EPOCH.fullmatch(text):
        seconds = float(text) / (1000 if len(text.partition(".")[0]) > 10 else 1)
        return datetime.fromtimestamp(seconds, UTC).toordinal()
    return None


def _ordinal(year: str | int, month: str | int, day: str | int) -> int | None:
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
