"""Waiting for what another process does, on however busy a machine: only a test that fails waits long.

What takes a second when nothing else runs has three minutes, and a test that hangs costs less than half a run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LONG_SECONDS = 180.0
_PAUSE_SECONDS = 0.01


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Return as soon as something is so; AssertionError if it never is."""
    deadline = time.monotonic() + LONG_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"not within {LONG_SECONDS:.0f} seconds: {what}"
        time.sleep(_PAUSE_SECONDS)
