"""What a line of a page said before its last change: the earlier version of the same fact, in the same place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..errors import CommonplaceError
from ..facts.statements import split_statements
from ..facts.versions import judge
from ..storage.base import HistoryStore
from ..storage.history import Change, as_text
from ..storage.merge import diff_lines

_MAX_CHANGES = 40  # of a page, the newest ones, whose lines are compared
_MAX_BLOCK_LINES = 30  # that one change replaced at once: a page that was written anew says little of single lines


def find_replaced_lines(
    history: HistoryStore, path: str, lines: Sequence[str], changes: Sequence[Change | None]
) -> dict[int, str]:
    """Return what lines of a page said before, by their numbers from 1. `changes`: which one wrote each of them."""
    replaced: dict[int, str] = {}
    newest = sorted({change for change in changes if change and change.before}, key=lambda change: change.at)
    for change in newest[-_MAX_CHANGES:]:
        said: dict[str, str] = {}
        with suppress(CommonplaceError):  # a version that history no longer has
            texts = [as_text(history.read_version(path, version)) for version in (change.before, change.version)]
            said = dict(_pair_lines(*(text.split("\n") for text in texts)))
        own = [number for number, each in enumerate(changes, start=1) if each == change]
        replaced |= {number: said[lines[number - 1]] for number in own if lines[number - 1] in said}
    return replaced


def _pair_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the new lines that replaced others, each with the one that it is a version of."""
    for operation, first, last, start, stop in diff_lines(before, after):
        if operation != "replace" or max(last - first, stop - start) > _MAX_BLOCK_LINES:
            continue
        for line in after[start:stop]:
            old = next((each for each in before[first:last] if _is_version(each, line)), "")
            if old:
                yield line, old.strip()


def _is_version(older: str, newer: str) -> bool:
    pairs = ((one, other) for one in split_statements(older) for other in split_statements(newer))
    return any(judge(one, other, is_same_place=True) for one, other in pairs)
