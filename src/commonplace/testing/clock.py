"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FrozenClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        """Move on, by what `timedelta` takes: advance(minutes=5)."""
        self.now += timedelta(**by)
