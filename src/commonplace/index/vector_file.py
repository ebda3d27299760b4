"""A file of vectors: the rows of one space, memory-mapped and quantized to one byte a dimension.

A row is written once and never changed, so that readers need no lock. The database has the file of each space, the
number of valid rows and the passage of each row; what is in the file after the valid rows is overwritten.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_MAX_EXACT_ROWS = 8_000  # more are first filtered by the signs of their dimensions
_ROWS_PER_HIT = 20  # rows that pass the filter for each hit requested
_MIN_FILTERED_ROWS = 2_500
_MAX_EXACT_SETS = 4  # one for each set of visible owners; the least recently used are dropped
_MIN_FILTERS = 4  # always kept, however large
_FILTER_BYTES = 16_000_000  # limit for all filters beyond those
_SAMPLE_ROWS = 2_000
_BLOCK_ROWS = 512  # packed at a time, so that intermediate results stay in the processor's cache


def row_type(dims: int) -> np.dtype[Any]:
    """Return the type of a row: its owner, the scale of its values, and the values."""
    return np.dtype([("owner", "<i4"), ("scale", "<f4"), ("values", "i1", (dims,))])


def quantize(vectors: Array, owners: list[int]) -> Array:
    """Return vectors as rows: each is scaled so that its largest value is 127 or -127."""
    rows = np.zeros(len(vectors), row_type(vectors.shape[1]))
    largest = np.abs(vectors).max(axis=1)
    scale = np.where(largest > 0, largest, 1.0) / 127
    rows["owner"] = owners
    rows["scale"] = scale
    rows["values"] = np.round(vectors / scale[:, None])
    return rows


def _as_vectors(rows: Array) -> Array:
    vectors: Array = rows["values"].astype(np.float32) * rows["scale"][:, None]
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
        self._owners: Array = np.zeros(0, np.int32)  # owner of each row, in a separate array that is fast to scan
        self._exact_sets: OrderedDict[bytes, Array] = OrderedDict()  # rows with floats, by their owners
        self._filters: OrderedDict[bytes, _SignFilter] = OrderedDict()  # keyed by the owners whose rows they hold

    def write(self, start: int, rows: Array) -> None:
        """Write rows after the first `start` rows. They are on disk before the database counts them."""
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
        """Make the first `count` rows available; return False if the file does not have them."""
        if self.path is not None and not self._map(self.path, count):
            return False
        self.count = count
        return len(self._rows) >= count

    def _map(self, path: str, count: int) -> bool:
        """Map the file, after a check of its size: reading a mapped page that was truncated would crash the process."""
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

    def nearest(self, query: Array, owners: Array, limit: int, rows: Array | None = None) -> tuple[Array, Array]:
        """Return the rows most similar to a query, best first, and their cosines: of `rows`, or of these owners.

        How rows are compared depends on those of these owners alone, whatever else is in the file.
        """
        if rows is not None:
            candidates = rows
            cosines = self.cosines(query, rows)
        else:
            candidates = self._find_rows(owners)
            if len(candidates) <= _MAX_EXACT_ROWS:
                cosines = self._scan(query, owners, candidates)
            else:
                candidates = self._filter_rows(query, owners, candidates, limit)
                cosines = self.cosines(query, candidates)
        best = _largest(cosines, limit)
        best = best[np.argsort(-cosines[best], kind="stable")]
        return candidates[best], cosines[best]

    def cosines(self, query: Array, numbers: Array) -> Array:
        """Return the cosine of each of these rows with the query."""
        rows = self._rows.take(numbers)  # takes a third of the time of `[numbers]`
        cosines: Array = np.vecdot(rows["values"].astype(np.float32), query) * rows["scale"]
        return cosines

    def similarity_stats(self, numbers: Array) -> tuple[float, float]:
        """Return mean and deviation of the cosine between these rows."""
        vectors = _as_vectors(self._rows.take(numbers))
        cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
        return float(cosines.mean()), float(cosines.std())

    def _find_rows(self, owners: Array) -> Array:
        """Return the numbers of all rows of these owners."""
        start = len(self._owners) if len(self._owners) <= self.count else 0
        if start < self.count:
            self._owners = np.concatenate([self._owners[:start], self._rows["owner"][start : self.count]])
        row_owners = self._owners[: self.count]
        is_visible = np.zeros(int(max(row_owners.max(initial=0), owners.max(initial=0))) + 1, bool)
        is_visible[owners] = True
        return np.flatnonzero(is_visible[row_owners])

    def _scan(self, query: Array, owners: Array, numbers: Array) -> Array:
        """Return the cosine of each of these owners' rows, computed with floats. A file of few rows is kept in memory
        so; of a larger one, the rows of those owners who were last asked for."""
        if self.count > _MAX_EXACT_ROWS:
            exact: Array = np.vecdot(self._load_exact(owners, numbers), query)
            return exact
        start = len(self._exact_rows)
        if start > self.count:
            self._exact_rows = self._exact_rows[:0]
            start = 0
        if start < self.count:
            new_rows = self._rows[start : self.count]
            self._exact_rows = np.concatenate([self._exact_rows, _as_vectors(new_rows)])
        # Not `@`: for so few vectors, starting BLAS threads takes longer than they save.
        cosines: Array = np.vecdot(self._exact_rows, query)
        return cosines[numbers]

    def _load_exact(self, owners: Array, numbers: Array) -> Array:
        """Return these owners' rows with floats. Only rows that were added since the last time are converted."""
        key = np.sort(owners).tobytes()
        known = self._exact_sets.pop(key, self._exact_rows[:0])
        if len(known) > len(numbers):
            known = known[:0]
        if len(known) < len(numbers):
            known = np.concatenate([known, _as_vectors(self._rows.take(numbers[len(known) :]))])
        self._exact_sets[key] = known
        while len(self._exact_sets) > _MAX_EXACT_SETS:
            self._exact_sets.popitem(last=False)
        return known

    def _filter_rows(self, query: Array, owners: Array, numbers: Array, limit: int) -> Array:
        """Return those of these owners' rows that are worth comparing, by a filter that holds no other rows."""
        key = np.sort(owners).tobytes()
        rows = self._rows[: self.count]
        known = self._filters.pop(key, None)
        if known is None or known.count > len(numbers):
            known = _SignFilter(rows, numbers, self.dims)
        known.grow(rows, numbers)
        self._filters[key] = known
        while len(self._filters) > max(_MIN_FILTERS, _FILTER_BYTES // known.size_bytes):
            self._filters.popitem(last=False)
        return numbers[known.nearest(query, max(_MIN_FILTERED_ROWS, _ROWS_PER_HIT * limit))]


class _SignFilter:
    """A prefilter with one bit for each dimension: the sign relative to the mean. Rows with mostly the same signs as a
    query are then compared exactly."""

    def __init__(self, rows: Array, numbers: Array, dims: int) -> None:
        sample = numbers[:: max(1, len(numbers) // _SAMPLE_ROWS)]
        self._mean = _as_vectors(rows.take(sample)).mean(axis=0)
        self._words = -(-dims // 64)
        self._bits: Array = np.zeros((self._words, 0), np.uint64)
        self.count = 0

    @property
    def size_bytes(self) -> int:
        return self._bits.nbytes

    def grow(self, rows: Array, numbers: Array) -> None:
        """Add the rows with these numbers that are new. Some space is allocated ahead, so that adding one row does not
        copy everything."""
        count = len(numbers)
        if count == self.count:
            return
        if count > self._bits.shape[1]:
            capacity = count + count // 8 + 64
            new_bits = np.zeros((self._words, capacity - self._bits.shape[1]), np.uint64)
            self._bits = np.concatenate([self._bits, new_bits], 1)
        for start in range(self.count, count, _BLOCK_ROWS):
            block = rows.take(numbers[start : start + _BLOCK_ROWS])
            end = start + len(block)
            self._bits[:, start:end] = self._pack_bits(block["values"] > self._mean / block["scale"][:, None])
        self.count = count

    def nearest(self, query: Array, limit: int) -> Array:
        """Return the places of at least `limit` rows, those whose bits differ least from the query's."""
        query_bits = self._pack_bits((query > self._mean)[None, :])
        distances = np.zeros(self.count, np.uint16)
        for word, bits in enumerate(self._bits[:, : self.count]):
            distances += np.bitwise_count(bits ^ query_bits[word, 0])
        return np.flatnonzero(distances <= self._distance_cutoff(distances, limit))

    def _distance_cutoff(self, distances: Array, limit: int) -> int:
        """Return the distance within which there are at least `limit` rows.

        A binary search that counts is faster than sorting, since there are few different distances.
        """
        low = 0
        high = 64 * self._words
        while low < high:
            middle = (low + high) // 2
            if np.count_nonzero(distances <= middle) < limit:
                low = middle + 1
            else:
                high = middle
        return low

    def _pack_bits(self, signs: Array) -> Array:
        """Pack rows of booleans into columns of 64-bit words."""
        packed = np.packbits(signs, axis=1)
        padded = np.zeros((len(signs), self._words * 8), np.uint8)
        padded[:, : packed.shape[1]] = packed
        return padded.view(np.uint64).T


def _map_rows(path: str, kind: np.dtype[Any], count: int) -> Array:
    """Map the rows of a file as a plain array: slicing a `memmap` is slow."""
    return np.memmap(path, kind, "r", shape=(count,)).view(np.ndarray)


def _largest(values: Array, limit: int) -> Array:
    if len(values) <= limit:
        return np.arange(len(values))
    return np.argpartition(-values, limit)[:limit]


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
