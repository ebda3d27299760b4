"""A file of vectors: the rows of one space, memory-mapped and quantized to one byte a dimension.

A row is written once and never changed, so that readers need no lock. SQLite says how many rows are valid, which file
they are in and which passage each belongs to; what is in the file beyond that is overwritten.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_MAX_EXACT_ROWS = 8_000  # more are first filtered by the signs of their dimensions
_ROWS_PER_HIT = 20  # that pass the filter, for each one asked for
_MIN_FILTERED_ROWS = 2_500
_SAMPLE_ROWS = 64
_MAX_DISTANCE = 65_535  # further apart than any two rows


def row_type(dims: int) -> np.dtype[Any]:
    """A row: who it belongs to, what a unit of its numbers is worth, and the numbers."""
    return np.dtype([("owner", "<i4"), ("unit", "<f4"), ("numbers", "i1", (dims,))])


def quantize(vectors: Array, owners: list[int]) -> Array:
    """Vectors as rows: each is stretched so that its largest number takes the whole byte."""
    rows = np.zeros(len(vectors), row_type(vectors.shape[1]))
    largest = np.abs(vectors).max(axis=1)
    unit = np.where(largest > 0, largest, 1.0) / 127
    rows["owner"] = owners
    rows["unit"] = unit
    rows["numbers"] = np.round(vectors / unit[:, None])
    return rows


def _as_vectors(rows: Array) -> Array:
    vectors: Array = rows["numbers"].astype(np.float32) * rows["unit"][:, None]
    return vectors


class VectorFile:
    """The rows of one space. Without a path they are kept in this process alone."""

    def __init__(self, path: str | None, dims: int) -> None:
        self.path = path
        self.dims = dims
        self._type = row_type(dims)
        self._rows: Array = np.zeros(0, self._type)
        self.count = 0
        self._exact_rows: Array = np.zeros((0, dims), np.float32)
        self._filter: _SignFilter | None = None
        self._spread: tuple[float, float] | None = None

    def write(self, start: int, rows: Array) -> None:
        """Put rows after the first `start`, on the disk before they are counted."""
        if self.path is None:
            self._rows = np.concatenate([self._rows[:start], rows])
            return
        with open(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | _NOFOLLOW, 0o600), "r+b") as file:
            if os.fstat(file.fileno()).st_size < start * self._type.itemsize:
                raise EOFError(f"{self.path} has lost rows")
            file.truncate(start * self._type.itemsize)
            file.seek(0, os.SEEK_END)
            file.write(rows.tobytes())
            file.flush()
            os.fsync(file.fileno())

    def load(self, count: int) -> bool:
        """Look at the first `count` rows; False when the file does not have them."""
        if self.path is not None and not self._map(self.path, count):
            return False
        self.count = count
        return len(self._rows) >= count

    def _map(self, path: str, count: int) -> bool:
        """Look at the size every time: reading what somebody cut off would end the process."""
        try:
            if os.path.getsize(path) < count * self._type.itemsize:
                return False
            if count != self.count:
                self._rows = _map_rows(path, self._type, count) if count else np.zeros(0, self._type)
        except OSError:
            return False
        return True

    def rows(self, numbers: Array) -> Array:
        return self._rows.take(numbers)

    def nearest(self, question: Array, owners: Array, limit: int, among: Array | None = None) -> tuple[Array, Array]:
        """The rows most like a question, best first, and how like it: only those of these owners, or these rows."""
        if among is None and self.count <= _MAX_EXACT_ROWS:
            candidates, likeness = self._all(question, owners)
        else:
            candidates = self._filter_rows(question, owners, limit) if among is None else among
            likeness = self.cosines(question, candidates)
        best = _largest(likeness, limit)
        best = best[np.argsort(-likeness[best], kind="stable")]
        return candidates[best], likeness[best]

    def cosines(self, question: Array, numbers: Array) -> Array:
        """The cosine of each of these rows with the question."""
        rows = self._rows.take(numbers)  # a third of the time of [numbers]
        found: Array = np.vecdot(rows["numbers"].astype(np.float32), question) * rows["unit"]
        return found

    def similarity_stats(self) -> tuple[float, float] | None:
        """How alike rows are that have nothing to do with each other, by a sample; None of too few."""
        if self.count < _SAMPLE_ROWS:
            return None
        if self._spread is None:
            some = self._rows[: self.count : self.count // _SAMPLE_ROWS][:_SAMPLE_ROWS]
            vectors = _as_vectors(some)
            alike = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
            self._spread = float(alike.mean()), float(alike.std())
        return self._spread

    def _all(self, question: Array, owners: Array) -> tuple[Array, Array]:
        """Every row of these owners. So few rows are kept as they are computed with."""
        start = len(self._exact_rows)
        if start > self.count:
            self._exact_rows = self._exact_rows[:0]
            start = 0
        if start < self.count:
            some = self._rows[start : self.count]
            self._exact_rows = np.concatenate([self._exact_rows, _as_vectors(some)])
        mine = np.flatnonzero(np.isin(self._rows["owner"][: self.count], owners))
        likeness: Array = np.vecdot(self._exact_rows, question)  # not @: threads for so little cost more than they save
        return mine, likeness[mine]

    def _filter_rows(self, question: Array, owners: Array, limit: int) -> Array:
        if self._filter is None or self._filter.count > self.count:
            self._filter = _SignFilter(self._rows, self.dims)
        self._filter.grow(self._rows, self.count)
        return self._filter.nearest(question, owners, max(_MIN_FILTERED_ROWS, _ROWS_PER_HIT * limit))


class _SignFilter:
    """One bit for each dimension: the sign of a row relative to the mean. Rows that agree with a query in most signs
    are worth comparing exactly."""

    def __init__(self, rows: Array, dims: int) -> None:
        some = rows[:: max(1, len(rows) // 2_000)]
        self._middle = _as_vectors(some).mean(axis=0)
        self._words = -(-dims // 64)
        self._bits: Array = np.zeros((self._words, 0), np.uint64)
        self._owners: Array = np.zeros(0, np.int32)
        self._everybody = set[int]()
        self.count = 0

    def grow(self, rows: Array, count: int) -> None:
        """Take in rows up to a count. Some room is kept, so that growing by one does not copy everything."""
        if count == self.count:
            return
        if count > self._bits.shape[1]:
            room = count + count // 8 + 64
            self._bits = np.concatenate([self._bits, np.zeros((self._words, room - self._bits.shape[1]), np.uint64)], 1)
            self._owners = np.concatenate([self._owners, np.zeros(room - len(self._owners), np.int32)])
        for start in range(self.count, count, 16_384):
            some = rows[start : min(count, start + 16_384)]
            self._bits[:, start : start + len(some)] = self._signs(
                some["numbers"] > self._middle / some["unit"][:, None]
            )
            self._owners[start : start + len(some)] = some["owner"]
            self._everybody.update(np.unique(some["owner"]).tolist())
        self.count = count

    def nearest(self, question: Array, owners: Array, limit: int) -> Array:
        asked = self._signs((question > self._middle)[None, :])
        apart = np.zeros(self.count, np.uint16)
        for column, sides in enumerate(self._bits[:, : self.count]):
            apart += np.bitwise_count(sides ^ asked[column, 0])
        if not self._everybody <= set(owners.tolist()):
            mine = self._owners[: self.count]
            known = np.zeros(int(max(mine.max(initial=0), owners.max(initial=0))) + 1, bool)
            known[owners] = True
            apart[~known[mine]] = _MAX_DISTANCE
        return np.flatnonzero(apart <= self._furthest(apart, limit))

    def _furthest(self, apart: Array, limit: int) -> int:
        """How far apart as many rows are as asked for. Counting is faster than sorting: there are few distances."""
        nearest = 0
        furthest = 64 * self._words
        while nearest < furthest:
            middle = (nearest + furthest) // 2
            if np.count_nonzero(apart <= middle) < limit:
                nearest = middle + 1
            else:
                furthest = middle
        return nearest

    def _signs(self, sides: Array) -> Array:
        packed = np.packbits(sides, axis=1)
        padded = np.zeros((len(sides), self._words * 8), np.uint8)
        padded[:, : packed.shape[1]] = packed
        return padded.view(np.uint64).T


def _map_rows(path: str, kind: np.dtype[Any], count: int) -> Array:
    """Rows of a file as a plain array: each look at a part of a memmap costs as much as the part."""
    return np.memmap(path, kind, "r", shape=(count,)).view(np.ndarray)


def _largest(values: Array, limit: int) -> Array:
    if len(values) <= limit:
        return np.arange(len(values))
    return np.argpartition(-values, limit)[:limit]


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
