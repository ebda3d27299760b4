"""Access rights that hold for root as for everybody else, since tests may run as root."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Result = TypeVar("_Result")
_VERSION_3 = 0x20080522  # of the structures of capget(2) and capset(2)
_READ_AND_WRITE_ANYTHING = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def call_unprivileged(work: Callable[[], _Result]) -> _Result:
    """Call a function in a thread that may read and write only what the access rights allow, and return its result."""

    def work_without() -> _Result:
        if os.geteuid() == 0:
            assert sys.platform == "linux", "elsewhere the tests do not run as root"
            _give_up(_READ_AND_WRITE_ANYTHING)
        return work()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work_without).result()


def _give_up(capabilities: int) -> None:
    """Take these capabilities from this thread for good: from its effective, permitted and inheritable ones."""
    system = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    words = (ctypes.c_uint32 * 6)()  # the lower words of the three, then their upper words
    assert system.capget(header, words) == 0, os.strerror(ctypes.get_errno())
    words[:3] = [word & ~capabilities for word in words[:3]]
    assert system.capset(header, words) == 0, os.strerror(ctypes.get_errno())
