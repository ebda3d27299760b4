"""What a piece of work costs, on however slow or busy a machine: counted calls, or a ratio of CPU times.

No test asserts a time. What may grow with a square inside one call, as a regular expression does, is compared between a
text and one several times as long.
"""

from __future__ import annotations

import cProfile
import time
from collections.abc import Callable
from typing import Any

from commonplace.caching import list_caches


def count_calls(work: Callable[..., object], *arguments: Any) -> int:
    """Return how many functions a piece of work calls in this thread, in Python and in C: the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(work, *arguments)
    return sum(entry.callcount for entry in profile.getstats())


def empty_caches() -> None:
    """Empty the caches of this process: how full earlier tests left them decides what stays in them, and so what is
    done again."""
    for cache in list_caches():
        cache.clear()


def measure_seconds(work: Callable[[Any], object], text: Any) -> float:
    """Return the CPU time of this thread."""
    started = time.thread_time()
    work(text)
    return time.thread_time() - started


def costs_little_more(
    work: Callable[[Any], object], long: Any, short: Any, tolerance: float, at_most: float = 8
) -> bool:
    """Return whether a long text takes at most so many times as long as a short one, or hardly any time at all."""
    taken = measure_seconds(work, long)
    return taken < tolerance or taken < at_most * measure_seconds(work, short) + tolerance
