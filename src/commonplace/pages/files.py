"""Bytes on disk: read whole, replaced whole or not at all, in folders only their owner can open.

The order of a write is what makes it safe: the new bytes are on disk under another name before they take the place of
the old ones, and the folder's own entry is on disk before the write is reported.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..errors import NotText, PageNotFound, StorageError

_READ = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
_ADVICE = {
    errno.ENOSPC: "the disk is full: free some space and try again",
    errno.EDQUOT: "the disk quota is used up: free some space and try again",
    errno.EROFS: "the file system is read-only: make it writable or use another home",
    errno.EACCES: "permission denied: check who owns the home and its access rights",
    errno.EPERM: "permission denied: check who owns the home and its access rights",
    errno.ENOTDIR: "a file stands where a folder should be: move it away or use another home",
    errno.EEXIST: "a file stands where a folder should be: move it away or use another home",
    errno.EISDIR: "a folder stands where a page should be: move it away",
    errno.ENAMETOOLONG: "the path is too long for this file system: use a home with a shorter path",
}


@contextmanager
def storage_errors(path: str) -> Iterator[None]:
    """What the system refuses, in words: which page, why, and what to do."""
    try:
        yield
    except FileNotFoundError as error:
        raise PageNotFound(path) from error
    except OSError as error:
        reason = _ADVICE.get(error.errno or 0, error.strerror or str(error))
        raise StorageError(f"{path}: {reason}") from error


def read_bytes(place: str, path: str) -> bytes:
    handle = os.open(place, _READ)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise NotText(f"{path} is not a regular file and was not read")
        data = os.read(handle, info.st_size + 1)
        if len(data) == info.st_size:  # as nearly always: the whole page in one go
            return data
        rest = [data]
        while chunk := os.read(handle, 1 << 20):
            rest.append(chunk)
        return b"".join(rest)
    finally:
        os.close(handle)


def read_bytes_or_none(place: str, path: str) -> bytes | None:
    try:
        return read_bytes(place, path)
    except FileNotFoundError:
        return None


def replace(place: str, data: bytes, still_as_read: Callable[[], bool]) -> bool:
    """Put new bytes in place of a page, all of them or none. False when the page changed while they were written."""
    folder, name = os.path.split(place)
    handle, temporary, made = _create(folder, name)
    try:
        try:
            _keep_mode(handle, place)
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        if not still_as_read():
            os.unlink(temporary)
            return False
        os.replace(temporary, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    try:
        for parent in (folder, *made):
            sync_folder(parent)
    except OSError as error:
        sentence = (
            f"the new text is in place, but the disk did not confirm it ({error.strerror}): look before you retry"
        )
        raise StorageError(f"{name}: {sentence}") from error
    return True


def _create(folder: str, name: str) -> tuple[int, str, list[str]]:
    """An empty private file beside the page, its path, and the folders whose entries changed on the way to it."""
    for attempt in range(100):
        temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}.tmp")
        made = make_folders(folder)
        try:
            return os.open(temporary, _CREATE, 0o600), temporary, made
        except FileNotFoundError:  # the last page of the folder was removed, and the folder with it, just now
            if attempt == 99:
                raise
    raise AssertionError("unreachable")


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _keep_mode(handle: int, place: str) -> None:
    """A page that a person opened to others stays open to them."""
    with suppress(OSError, AttributeError):
        os.fchmod(handle, stat.S_IMODE(os.stat(place).st_mode))


def make_folders(folder: str) -> list[str]:
    """Make the missing folders, private; the parents whose entry lists changed."""
    missing: list[str] = []
    while not os.path.isdir(folder):
        missing.append(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    for path in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
    return [os.path.dirname(path) for path in missing]


def sync_folder(folder: str) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except (
        PermissionError,
        FileNotFoundError,
    ):  # Windows has no folders to open; a removed folder has nothing to keep
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
