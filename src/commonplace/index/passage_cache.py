"""A cache of the passages of an index and of their statements, lengths and vector rows, for later queries.

No two passages have the same number, and a passage keeps everything but its line numbers. So after any write to the
index, only these are read again. A transaction that is rolled back frees its numbers: what it reads is not kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from typing import Any

from ..caching import ByteCache
from .base import Candidate, stored_statements_of
from .statements import StoredStatements

Lines = tuple[int, int, int]  # the number of a passage, its first and its last line
_MAX_CURRENT = 20_000  # passages with cached data that any write may change
_UNKNOWN = -1
_Key = tuple[Hashable, int]  # the index, and the number of a passage
_candidates: ByteCache[_Key, Candidate] = ByteCache("passages", 20_000_000)
_statements: ByteCache[_Key, StoredStatements | None] = ByteCache("statements of passages", 16_000_000)


class StateCache:
    """Data that is valid as long as nobody writes to an index, in tables by name."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._state: object = None
        self._tables: dict[Any, dict[Any, Any]] = {}

    def open_table(self, name: Hashable, state: object) -> dict[Any, Any]:
        """Return a table, empty if the index is in another state than before."""
        if state != self._state:
            self._state = state
            self._tables = {}
        table: dict[Any, Any] = self._tables.setdefault(name, {})
        if len(table) > _MAX_CURRENT:
            table.clear()
        return table


class PassageCache:
    """The passages of one index. All of a process share the same bytes; all connections to one file, such as those of
    several agents, share the passages."""

    def __init__(self, file: Hashable = None) -> None:
        """`file` distinguishes the file of the index from every other; None if it has no other connection."""
        self._owner = object() if file is None else file
        self.is_writing = False  # what is read meanwhile is not kept: it may be rolled back, and its numbers used again
        self.clear()

    def clear(self) -> None:
        """Forget what is only true for the present state of the index."""
        self._state: object = None
        self._current: dict[int, tuple[int, int]] = {}  # the lines of passages for which they are current
        self._lengths = array("i")  # by number

    def load_candidates(
        self,
        numbers: Iterable[int],
        state: object,
        read_candidates: Callable[[Sequence[int]], list[Candidate]],
        read_lines: Callable[[Sequence[int]], list[Lines]],
    ) -> list[Candidate]:
        """Return passages in the order of their numbers, as they are in this state of the index."""
        if state != self._state or len(self._current) > _MAX_CURRENT:
            self._state = state
            self._current = {}
        owner = self._owner
        current = self._current
        known: dict[int, Candidate | None] = {number: _candidates.get((owner, number)) for number in sorted({*numbers})}
        moved = [number for number, each in known.items() if each and current.get(number) != _lines_of(each)]
        if moved:
            self._move(known, moved, read_lines(moved))
        missing = [number for number, candidate in known.items() if candidate is None]
        for candidate in read_candidates(missing) if missing else ():
            known[candidate.number] = candidate
            if not self.is_writing:
                _candidates.add_new((owner, candidate.number), candidate)
        found = [candidate for candidate in known.values() if candidate]
        for candidate in found if moved or missing else ():
            current[candidate.number] = _lines_of(candidate)
        return found

    def _move(self, known: dict[int, Candidate | None], numbers: Sequence[int], lines: Iterable[Lines]) -> None:
        """Put passages where their lines are now; those that are gone are looked for again, and not found."""
        by_number = {number: (first, last) for number, first, last in lines}
        for number in numbers:
            candidate = known[number]
            place = by_number.get(number)
            if candidate and place != _lines_of(candidate):
                _candidates.pop((self._owner, number))
                known[number] = None

    def load_statements(
        self, numbers: Iterable[int], read_statements: Callable[[Sequence[int]], dict[int, StoredStatements]]
    ) -> dict[int, StoredStatements]:
        """Return the statements of those passages for which they are stored."""
        owner = self._owner
        stored: dict[int, StoredStatements] = {}
        missing: list[int] = []
        for number in numbers:
            known = _statements.get((owner, number), ...)
            if known is ...:
                missing.append(number)
            elif known is not None:
                stored[number] = known
        if missing:
            found = read_statements(missing)
            for number in missing if not self.is_writing else ():
                _statements.add_new((owner, number), found.get(number))
            stored |= found
        return stored

    def add_statements(self, rows: Iterable[tuple[int, object, object]]) -> None:
        """Keep the statements of passages, given as they are stored, or as None if none are."""
        for number, *stored in rows:
            key = self._owner, number
            if _statements.get(key, ...) is ...:
                found = None if stored[0] is None else stored_statements_of((number, *stored))[1]
                _statements.add_new(key, found)

    def load_lengths(
        self, numbers: Set[int], read_lengths: Callable[[Sequence[int]], list[tuple[int, int]]]
    ) -> array[int]:
        """Return the lengths of passages, by number; of others than those asked for, not all are known."""
        lengths = self._lengths
        lengths.extend([_UNKNOWN] * (max(numbers, default=0) + 1 - len(lengths)))
        missing = [number for number in numbers if lengths[number] == _UNKNOWN]
        for number, length in read_lengths(missing) if missing else ():
            lengths[number] = length
        return lengths


def _lines_of(candidate: Candidate) -> tuple[int, int]:
    hit = candidate.hit
    return hit.start, hit.end
