"""Bytes on disk: read whole, replaced whole or not at all, in folders only their owner can open.

The order of a write is what makes it safe: the new bytes are on disk under another name before they take the place of
the old ones, and the folder's own entry is on disk before the write is reported. And the old ones are looked at once
they are out of the way: what an editor saved in the last moment is not lost either.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from ...errors import FolderInTheWay, InTheWay, NotText, PageNotFound, StorageError
from .swap import CanNot, exchange, put

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# What a killed process leaves beside a page.
_LEFT_BEHIND = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{12}\.tmp", re.DOTALL)
TICK = 50_000_000  # nanoseconds: file times move in steps of up to 10 ms; two writes inside one step look alike
_READ = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)  # through no link
_IGNORED = getattr(signal, "SIGURG", 0)  # a signal that does nothing
_LONGEST_NAME = 230  # bytes of a name that still has room for more, where names have 255
_STILL_WRITING = 1.0  # seconds to wait for an editor that is in the middle of saving
_ADVICE = {
    errno.ENOSPC: "the disk is full: free some space and try again",
    errno.EDQUOT: "the disk quota is used up: free some space and try again",
    errno.EROFS: "the file system is read-only: make it writable or use another home",
    errno.EACCES: "permission denied: check who owns the home and its access rights",
    errno.EPERM: "permission denied: check who owns the home and its access rights",
    errno.ENOTDIR: "a file stands where a folder should be: move it away, or use another name",
    errno.EEXIST: "a file stands where a folder should be: move it away, or use another name",
    errno.EISDIR: "a folder stands where a page should be: move it away, or use another name",
    errno.ENAMETOOLONG: "the path is too long for this file system: use a home with a shorter path",
}
_KINDS = {errno.ENOTDIR: InTheWay, errno.EEXIST: InTheWay, errno.EISDIR: FolderInTheWay}


@contextmanager
def storage_errors(path: str) -> Iterator[None]:
    """What the system refuses, in words: which page, why, and what to do."""
    try:
        yield
    except FileNotFoundError as error:
        raise PageNotFound(path) from error
    except OSError as error:
        number = error.errno or 0
        reason = _ADVICE.get(number, error.strerror or str(error))
        raise _KINDS.get(number, StorageError)(f"{path}: {reason}") from error


def read_bytes(place: str, path: str) -> bytes:
    handle = os.open(place, _READ)
    try:
        info = os.fstat(handle)
        if stat.S_ISDIR(info.st_mode):
            raise FolderInTheWay(f"{path}: {_ADVICE[errno.EISDIR]}")
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


class Overtaken(Exception):
    """Somebody else saved the page since it was read, and that stands. `found` is what they saved."""

    def __init__(self, found: bytes | None) -> None:
        self.found = found


def replace(place: str, data: bytes, as_read: bytes | None, *, in_a_hurry: bool = False) -> None:
    """Put new bytes in place of those that were read (None: of no page), all of them or none; or Overtaken.

    `in_a_hurry`: leave as little time as possible between a last look and the change; the disk is waited for after it.
    """
    folder, name = os.path.split(place)
    handle, temporary, made = _create(folder, name)
    try:
        with _or_without(temporary):
            _keep_mode(handle, place)
            write_all(handle, data)
            if not in_a_hurry:
                os.fsync(handle)
        _take_place(temporary, place, data, as_read)
        if in_a_hurry:
            os.fsync(handle)
    finally:
        os.close(handle)
    _confirm(name, (folder, *made))


def put_whole(place: str, data: bytes) -> None:
    """The same for a file that is ours alone, whatever stands there."""
    with suppress(Overtaken):
        replace(place, data, read_bytes_or_none(place, place))
        return
    put_whole(place, data)


def take_away(place: str, as_read: bytes) -> None:
    """Remove a page that still is as it was read; or Overtaken, and it is back."""
    folder, name = os.path.split(place)
    aside = _beside(folder, name)
    os.rename(place, aside)
    found = _settled(aside, place)
    if found != as_read:
        _back(aside, place)
        raise Overtaken(found)
    os.unlink(aside)
    _confirm(name, (folder,))


def read_settled(place: str, path: str) -> bytes | None:
    """A page, or None; an editor that is in the middle of saving it is waited for."""
    try:
        return _settled(place, path)
    except FileNotFoundError:
        return None


@contextmanager
def _or_without(temporary: str) -> Iterator[None]:
    """A file that did not come to anything goes."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _take_place(temporary: str, place: str, data: bytes, as_read: bytes | None) -> None:
    with _or_without(temporary):
        if not _changed_places(temporary, place, as_read):
            return
    found = _settled(temporary, place)  # from here on the temporary file is theirs: it only goes when that is safe
    if found != as_read:
        _give_back(temporary, place, data)
        os.unlink(temporary)
        raise Overtaken(found)
    os.unlink(temporary)


def _changed_places(temporary: str, place: str, as_read: bytes | None) -> bool:
    """Whether what stood there is in the temporary file now; False when the new page is in place and that is all."""
    found = read_settled(place, place)
    if found != as_read:
        raise Overtaken(found)
    try:
        if as_read is None:
            put(temporary, place)
            return False
        exchange(temporary, place)
    except CanNot:  # what is saved between the look above and this is lost
        os.replace(temporary, place)
        return False
    except (FileExistsError, FileNotFoundError):  # made, or removed, since the look above
        raise Overtaken(read_bytes_or_none(place, place)) from None
    return True


def _give_back(temporary: str, place: str, data: bytes) -> None:
    """Let what was taken away stand again; unless it was saved once more meanwhile, over ours: that is the later."""
    exchange(temporary, place)
    if read_bytes(temporary, place) != data:
        exchange(temporary, place)


def _back(aside: str, place: str) -> None:
    try:
        put(aside, place)
    except CanNot:
        os.replace(aside, place)
    except FileExistsError:  # saved once more meanwhile: that is the later one
        os.unlink(aside)


def _settled(place: str, path: str) -> bytes:
    """The bytes of a file once nobody writes to it: an editor may have opened it, and emptied it, a moment ago."""
    deadline = time.monotonic() + _STILL_WRITING
    while _is_being_written(place) and time.monotonic() < deadline:
        time.sleep(0.001)
    return read_bytes(place, path)


def _is_being_written(place: str) -> bool:
    """Whether anybody has the file open for writing, as far as the system tells: a lease is only given if not."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    handle = os.open(place, _READ)
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, _IGNORED)  # who opens the file in this moment makes the system tell us
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(handle)
    return False


def _confirm(name: str, folders: Iterable[str]) -> None:
    try:
        for folder in folders:
            sync_folder(folder)
    except OSError as error:
        sentence = (
            f"the new text is in place, but the disk did not confirm it ({error.strerror}): look before you retry"
        )
        raise StorageError(f"{name}: {sentence}") from error


def _create(folder: str, name: str) -> tuple[int, str, list[str]]:
    """An empty private file beside the page, its path, and the folders whose entries changed on the way to it."""
    for attempt in range(100):
        temporary = _beside(folder, name)
        made = make_folders(folder)
        try:
            return os.open(temporary, _CREATE, 0o600), temporary, made
        except FileNotFoundError:  # the last page of the folder was removed, and the folder with it, just now
            if attempt == 99:
                raise
    raise AssertionError("unreachable")


def page_of_leftover(path: str) -> str:
    """The page that a temporary file was made to become; empty when it is none."""
    folder, slash, name = path.rpartition("/")
    left = _LEFT_BEHIND.fullmatch(name)
    return folder + slash + left["name"] if left else ""


def _beside(folder: str, name: str) -> str:
    """A name for a file that nobody reads as a page."""
    shown = os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])
    return os.path.join(folder, f".{shown}.{os.urandom(6).hex()}.tmp")


def write_all(handle: int, data: bytes) -> None:
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
