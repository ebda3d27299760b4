"""For our tests and yours: a clock that only a test moves, a storage kept in memory, and the contract of every storage.

Subclass `StorageContract`, say how a storage is opened, and pytest runs the whole contract over it. Importing this
package adds the scheme `memory://` to the table of backends: `Memory("memory://name")` lives as long as the process.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .contract import PagesContract, StorageContract
from .memory_storage import MemoryStorage

__all__ = ["FrozenClock", "MemoryStorage", "PagesContract", "StorageContract"]


class FrozenClock:
    """A clock that moves only when a test moves it."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        """Move on, by what `timedelta` takes: advance(minutes=5)."""
        self.now += timedelta(**by)
