"""How a moment is written in a page: RFC 3339 in UTC, to the microsecond, so that text order is time order.

Other programs write moments in other ways: `day_of` reads the common ones.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import cache

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR_FIRST = r"(?<![0-9])([0-9]{4})[-/.年년]\s?([0-9]{1,2})[-/.月월]\s?([0-9]{1,2})(?![0-9])"
_DAY_FIRST = rf"(?ai)(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?,? (\d{{4}})"
_MONTH_FIRST = rf"(?ai)\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})"
_SECONDS = r"[0-9]{9,10}(?:\.[0-9]+)?|[0-9]{12,13}"  # since 1970, or thousandths of them
_YEAR = re.compile("[0-9]{4}")  # what all of them have


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse(text: str) -> datetime | None:
    """The moment a stamp names, however a person or another program wrote it; None when it names none."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def sort_key(text: str) -> float:
    """Oldest first; what has no readable stamp is older than everything."""
    moment = parse(text)
    return moment.timestamp() if moment else float("-inf")


def day_of(text: str) -> int | None:
    """The day a moment falls on, as its ordinal: RFC 3339, seconds since 1970, `8 May 2023`, `May 8, 2023`."""
    if not _YEAR.search(text):
        return None
    if found := _made(_YEAR_FIRST).search(text):
        return _ordinal(found[1], found[2], found[3])
    if found := _made(_DAY_FIRST).search(text):
        return _ordinal(found[3], MONTHS[found[2].lower()], found[1])
    if found := _made(_MONTH_FIRST).search(text):
        return _ordinal(found[3], MONTHS[found[1].lower()], found[2])
    text = text.strip()
    if _made(_SECONDS).fullmatch(text):
        seconds = float(text) / (1000 if len(text.partition(".")[0]) > 10 else 1)
        return datetime.fromtimestamp(seconds, UTC).toordinal()
    return None


@cache
def _made(pattern: str) -> re.Pattern[str]:
    """Made when it is first needed: all of them take longer than many a command."""
    return re.compile(pattern)


def _ordinal(year: str | int, month: str | int, day: str | int) -> int | None:
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
