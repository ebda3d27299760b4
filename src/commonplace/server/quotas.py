"""Quotas: how many writes a token may make in a day, and how many bytes it may add. Off unless a server is started so.

Each is a bucket that refills all the time and holds one day. Writes are counted where they are made (`writing.py`), so
every tool and endpoint of every surface counts, whatever the backend.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from ..errors import QuotaExceeded
from ..writing import limit_writes
from .rate_limits import Buckets, RateLimiter

DAY_SECONDS = 86_400.0


class Quotas:
    """The quotas of all tokens of a server; 0 is no limit. Workers share them by their `Buckets`."""

    def __init__(
        self,
        writes_per_day: int,
        bytes_per_day: int,
        writes: Buckets | None = None,
        added: Buckets | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writes = RateLimiter(writes_per_day, now, writes, DAY_SECONDS)
        self._bytes = RateLimiter(bytes_per_day, now, added, DAY_SECONDS)
        self._writes_per_day = writes_per_day
        self._bytes_per_day = bytes_per_day

    def apply(self, token: str) -> AbstractContextManager[None]:
        """Count the writes inside the block as a token's; one that is over its quota raises QuotaExceeded."""
        if not self._writes_per_day and not self._bytes_per_day:
            return nullcontext()
        return limit_writes(_TokenQuota(self, token))

    def count_write(self, token: str) -> None:
        seconds = self._writes.seconds_to_wait(token)
        if seconds:
            raise _make_error(f"{self._writes_per_day:,} writes a day", seconds)

    def count_bytes(self, token: str, size: int) -> None:
        if self._bytes_per_day and size > self._bytes_per_day:
            problem = f"it has {size:,} bytes, more than this token may add in a day ({self._bytes_per_day:,})"
            raise QuotaExceeded(problem, advice="write less, or ask whoever runs the server")
        seconds = self._bytes.seconds_to_wait(token, size)
        if seconds:
            raise _make_error(f"{self._bytes_per_day:,} bytes a day", seconds)


class _TokenQuota:
    """The quotas of one token, as a writer counts against them."""

    def __init__(self, quotas: Quotas, token: str) -> None:
        self._quotas = quotas
        self._token = token

    def count_write(self) -> None:
        self._quotas.count_write(self._token)

    def count_bytes(self, size: int) -> None:
        self._quotas.count_bytes(self._token, size)


def _make_error(quota: str, seconds: float) -> QuotaExceeded:
    wait = max(1, math.ceil(seconds))
    return QuotaExceeded(f"this token has used up its {quota}", retry_seconds=wait, advice=f"wait {wait} s")
