"""Bytes put aside for a while: in memory when they are few, on disk when they are many, gone when the process is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

CHUNK = 1 << 20
_IN_MEMORY = 32 << 20


class Item(NamedTuple):
    """A file: its access rights, when it was written (nanoseconds since 1970), and where its bytes are put aside."""

    mode: int
    modified: int
    start: int
    size: int


class Spool:
    def __init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._end = 0

    def add(self, mode: int, modified: int, data: Iterable[bytes]) -> Item:
        start = self._end
        self._file.seek(start)
        for chunk in data:
            self._file.write(chunk)
            self._end += len(chunk)
        return Item(mode, modified, start, self._end - start)

    def read(self, item: Item) -> bytes:
        self._file.seek(item.start)
        return self._file.read(item.size)

    def chunks(self, item: Item) -> Iterator[bytes]:
        for done in range(0, item.size, CHUNK):
            self._file.seek(item.start + done)
            yield self._file.read(min(CHUNK, item.size - done))

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
