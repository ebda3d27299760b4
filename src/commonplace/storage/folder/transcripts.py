"""Transcripts: files of JSON lines that grow. A line is added at the end, and what stands there is not written again.

So the thousandth item costs what the first did. Who changes a file holds the lock of its page. A line that is not JSON
is no item: a process that is killed while it writes leaves half a line, which nobody reads and the next one cuts off.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, NamedTuple

from ...errors import NotText, OutsideHome, StorageError
from ...formats.json_text import is_unicode
from ..file_locks import lock
from ..files import make_folders, storage_errors, sync_folder, write_all

_ATTEMPTS = 100
_BLOCK = 1 << 16  # bytes read at once from the end; twice as many each time
_OPEN = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Item(NamedTuple):
    value: Any
    start: int  # where its line begins in the file


class FolderTranscript:
    """The items of one file in a home. Safe for any number of threads and processes."""

    def __init__(self, root: str, locks: str, path: str) -> None:
        self._root, self._locks, self.path = os.path.realpath(root), locks, path

    def items(self, last: int | None = None) -> list[Any]:
        """All items, or the last so many of them; the oldest comes first."""
        with storage_errors(self.path), suppress(FileNotFoundError), self._opened(os.O_RDONLY) as handle:
            return last_items(_reader(handle), last)
        return []

    def add(self, items: Iterable[Any]) -> None:
        """Add items at the end: on disk when this returns. TypeError, and nothing added, when one is not JSON."""
        data = lines_of(items)
        if not data:
            return
        with storage_errors(self.path), lock(self._locks, "page", self.path):
            if not any(self._added(data) for _ in range(_ATTEMPTS)):
                raise StorageError(f"{self.path} is replaced again and again: close it elsewhere, then try again")

    def _added(self, data: bytes) -> bool:
        """Whether the data stands at the end of the file that is there now: an editor puts another in its place."""
        folder = os.path.dirname(self._place())
        changed = make_folders(folder)
        try:
            with self._opened(os.O_RDWR | os.O_CREAT) as handle:
                end, first = healed(_reader(handle))
                _write_at(handle, end, first + data)
                stands = os.path.samestat(os.fstat(handle), os.stat(self._place()))
        except FileNotFoundError:  # removed just now, or the folder with the last session in it
            return False
        for each in (folder, *changed) if not end else ():
            sync_folder(each)
        return stands

    def pop(self) -> Any:
        """Take the last item away and give it back; None when there is none."""
        with storage_errors(self.path), lock(self._locks, "page", self.path), suppress(FileNotFoundError):
            return self._popped()
        return None

    def _popped(self) -> Any:
        with self._opened(os.O_RDWR) as handle:
            item = next(backwards(_reader(handle)), None)
            if item is None:
                return None
            os.ftruncate(handle, item.start)
            os.fsync(handle)
            return item.value

    @contextmanager
    def _opened(self, flags: int) -> Iterator[int]:
        handle = os.open(self._place(), flags | _OPEN, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise NotText(f"{self.path} is not a regular file: move it away")
            yield handle
        finally:
            os.close(handle)

    def _place(self) -> str:
        place = os.path.normpath(os.path.join(self._root, self.path))
        if os.path.realpath(place) != place:
            raise OutsideHome(f"{self.path} leads through a link: put the page itself in its place")
        return place


class Reader(NamedTuple):
    """Bytes that are somewhere: how many, and what gives so many of them from a place on."""

    size: int
    read: Callable[[int, int], bytes]


def _reader(handle: int) -> Reader:
    def read(at: int, size: int) -> bytes:
        os.lseek(handle, at, os.SEEK_SET)
        return os.read(handle, size)

    return Reader(os.fstat(handle).st_size, read)


def lines_of(items: Iterable[Any]) -> bytes:
    return b"".join(map(_line, items))


def _line(item: Any) -> bytes:
    """An item as people can read it; half a character, which UTF-8 can not hold, stays an escape."""
    text = json.dumps(item, ensure_ascii=False)
    return (text if is_unicode(text) else json.dumps(item)).encode() + b"\n"


def _value(line: bytes) -> tuple[bool, Any]:
    """Whether a line is an item, and which."""
    try:
        return True, json.loads(line)
    except (ValueError, RecursionError):
        return False, None


def last_items(source: Reader, last: int | None) -> list[Any]:
    """All items, or the last so many of them; the oldest comes first."""
    return [*islice((item.value for item in backwards(source)), last)][::-1]


def backwards(source: Reader) -> Iterator[Item]:
    """The items, the last one first."""
    for start, line in _lines_backwards(source):
        is_item, value = _value(line) if line.strip() else (False, None)
        if is_item:
            yield Item(value, start)


def _lines_backwards(source: Reader) -> Iterator[tuple[int, bytes]]:
    """The lines, the last one first, each with the place where it begins."""
    at, size, rest = source.size, _BLOCK, b""
    while at > 0:
        step, size = min(size, at), size * 2
        at -= step
        first, *lines = (source.read(at, step) + rest).split(b"\n")
        end = at + len(first) + sum(len(line) + 1 for line in lines)
        for line in reversed(lines):
            yield end - len(line), line
            end -= len(line) + 1
        rest = first
    yield 0, rest


def healed(source: Reader) -> tuple[int, bytes]:
    """Where the next line begins, and what it needs before it: half a line goes, one that lacks its end gets it."""
    start, line = next(_lines_backwards(source))
    if not line or (line.startswith(b"{") and not _value(line)[0]):
        return start, b""
    return start + len(line), b"\n"


def _write_at(handle: int, end: int, data: bytes) -> None:
    """Add bytes behind the first so many, all or none of them."""
    os.ftruncate(handle, end)
    os.lseek(handle, end, os.SEEK_SET)
    try:
        write_all(handle, data)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, end)
        raise
