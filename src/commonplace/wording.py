"""Words for messages: numbers with what they count, and lists that are cut."""

from __future__ import annotations

from collections.abc import Sequence


def count_words(number: int, noun: str) -> str:
    """Return a number with what it counts: `1 page`, `2 pages`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def list_some(names: Sequence[str], limit: int) -> str:
    """Return the first names, and how many others there are: `a, b and 3 more`."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
