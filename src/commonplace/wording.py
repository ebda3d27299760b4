"""Words for messages: numbers with what they count, lists that are cut, and commands to run next."""

from __future__ import annotations

from collections.abc import Sequence


def count_words(number: int, noun: str) -> str:
    """Return a number with what it counts: `1 page`, `2 pages`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_command(*words: str) -> str:
    """Return a command of ours with these words, quoted for a shell: whoever reads it may run it, and a file's name may
    be made to run something else."""
    import shlex

    return shlex.join(("commonplace", *words))


def list_some(names: Sequence[str], limit: int) -> str:
    """Return the first names, and how many others there are: `a, b and 3 more`."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
