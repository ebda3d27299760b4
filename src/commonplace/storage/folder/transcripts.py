"""Transcripts as files of JSON lines. Items are appended in place, so that the thousandth costs what the first did.

Whoever changes a file holds the lock of its page.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ...errors import NotText, StorageError
from ...formats.transcripts import Reader, find_append_point, format_items, iterate_backwards, read_last
from ..file_locks import lock
from ..files import NO_FOLLOW, PRIVATE_FILE_MODE, storage_errors, sync_folder, write_all
from .root import OpenEntry, RootFolder

_APPEND_ATTEMPTS = 100  # to append to a file that others keep replacing
_CREATE = os.O_RDWR | os.O_CREAT
_OPEN = os.O_CLOEXEC | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FolderTranscript:
    """The items of one file in a home. Safe for any number of threads and processes."""

    def __init__(self, root: str, locks: str, path: str) -> None:
        self._top = RootFolder(root)
        self._locks = locks
        self.path = path

    def items(self, last: int | None = None) -> list[Any]:
        """Return all items, or only the `last`, oldest first."""
        with (
            storage_errors(self.path),
            suppress(FileNotFoundError),
            self._top.open_parent(self.path) as place,
            self._open(place, os.O_RDONLY) as handle,
        ):
            return read_last(_make_reader(handle), last)
        return []

    def add(self, items: Iterable[Any]) -> None:
        """Append items durably; TypeError, and nothing appended, when one is not JSON."""
        data = format_items(items)
        if not data:
            return
        with storage_errors(self.path), lock(self._locks, "page", self.path):
            if not any(self._append(data) for _ in range(_APPEND_ATTEMPTS)):
                raise StorageError(f"{self.path} is replaced again and again: close it elsewhere, then try again")

    def _append(self, data: bytes) -> bool:
        """Return whether the data is in the file that is there now: an editor may have put another in its place."""
        try:
            with self._top.open_parent(self.path, create=True) as place, self._open(place, _CREATE) as handle:
                end, first = find_append_point(_make_reader(handle))
                _write_at(handle, end, first + data)
                is_current = os.path.samestat(os.fstat(handle), place.stat())
                if not end:
                    sync_folder(os.path.dirname(place.name), dir_fd=place.dir_fd)
        except FileNotFoundError:  # removed just now, or the folder with the last session in it
            return False
        return is_current

    def pop(self) -> Any:
        """Remove the last item and return it; None when there is none."""
        with storage_errors(self.path), lock(self._locks, "page", self.path), suppress(FileNotFoundError):
            return self._pop()
        return None

    def _pop(self) -> Any:
        with self._top.open_parent(self.path) as place, self._open(place, os.O_RDWR) as handle:
            item = next(iterate_backwards(_make_reader(handle)), None)
            if item is None:
                return None
            os.ftruncate(handle, item.start)
            os.fsync(handle)
            return item.value

    @contextmanager
    def _open(self, place: OpenEntry, flags: int) -> Iterator[int]:
        handle = os.open(place.name, flags | _OPEN, PRIVATE_FILE_MODE, dir_fd=place.dir_fd)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise NotText(f"{self.path} is not a regular file: move it away")
            yield handle
        finally:
            os.close(handle)


def _make_reader(handle: int) -> Reader:
    def read(at: int, size: int) -> bytes:
        os.lseek(handle, at, os.SEEK_SET)
        return os.read(handle, size)

    return Reader(os.fstat(handle).st_size, read)


def _write_at(handle: int, end: int, data: bytes) -> None:
    """Write bytes at an offset and cut off what follows; all of them or none."""
    os.ftruncate(handle, end)
    os.lseek(handle, end, os.SEEK_SET)
    try:
        write_all(handle, data)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, end)
        raise
