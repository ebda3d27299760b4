"""How a moment is written in a page: RFC 3339 in UTC, to the microsecond, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime


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
