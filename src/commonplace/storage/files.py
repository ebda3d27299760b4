"""Files on disk: read as a whole, replaced atomically, in folders that only their owner can open.

Writes are atomic by their order: the new bytes are on disk under another name before they replace the old ones, and the
folder's entry is on disk before the write is reported. Linux swaps the two files in one step, so that what an editor
saved at the last moment can be read afterwards; elsewhere a final check and a rename have to do.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import NamedTuple

from ..errors import CommonplaceError, NotText, OutsideHome, PageNotFound, PathIsFile, PathIsFolder, StorageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PRIVATE_FILE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700
TICK_NANOSECONDS = 50_000_000  # file times have a resolution of 10 ms or better: two writes within it look alike
SECOND_NANOSECONDS = 1_000_000_000  # resolution of some network shares, where nothing may be missed
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # for a pipe, which a folder of somebody else may contain
APPEND_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | _NO_WAIT | NO_FOLLOW
CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | NO_FOLLOW | getattr(os, "O_BINARY", 0)
READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | _NO_WAIT | getattr(os, "O_BINARY", 0)
CAN_OPEN_FOLDERS = os.name == "posix"  # on Windows, a path is checked before use instead
STEP_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)
LINK_ERRORS = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)  # raised instead of following a link
_LEFTOVER = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{12}\.tmp", re.DOTALL)  # temporary file of a killed process
# What editors and patches keep beside a file: `x.md~`, `x.md.bak`, `x.md.1`, `#x.md#`, `.#x.md`, `.x.md.swp`, …
_COPY_ENDING = r"~|\.(?:bak|orig|save|old|rej|tmp|sw[a-p]|[0-9])|___jb_(?:tmp|old)___"
_EDITOR_COPY = re.compile(rf"\.#(.+)|\.(.+)\.(?:sw[a-p]|un~|kate-swp)|#(.+)#|([^.].*)(?:{_COPY_ENDING})", re.DOTALL)
_MAX_KEPT_NAME_BYTES = 230  # of the original name in a temporary name; file systems allow 255
_HARMLESS_SIGNAL = getattr(signal, "SIGURG", 0)
_SAVING_SECONDS = 1.0  # wait this long for an editor that is saving
_CREATE_ATTEMPTS = 100
_PROBLEMS = {
    errno.ENOSPC: ("the disk is full", "free some space and try again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and try again"),
    errno.EROFS: ("the file system is read-only", "make it writable or use another home"),
    errno.EACCES: ("permission denied", "check who owns the home and its access rights"),
    errno.EPERM: ("permission denied", "check who owns the home and its access rights"),
    errno.ENOTDIR: ("a file is where a folder should be", "move it away, or use another name"),
    errno.EEXIST: ("a file is where a folder should be", "move it away, or use another name"),
    errno.EISDIR: ("a folder is where a page should be", "move it away, or use another name"),
    errno.ELOOP: ("leads through a link", "put the file itself in its place"),
    errno.ENAMETOOLONG: ("the path is too long for this file system", "use a home with a shorter path"),
}
_ERROR_TYPES: dict[int, type[CommonplaceError]] = {
    errno.ENOTDIR: PathIsFile,
    errno.EEXIST: PathIsFile,
    errno.EISDIR: PathIsFolder,
    errno.ELOOP: OutsideHome,
}


FileStamp = tuple[int, int, int, int]  # inode, size, and the times of its content and of itself


def stamp_file(info: os.stat_result, now_ns: int, tick_ns: int | None = None) -> FileStamp | None:
    """Return a stamp that changes with a file; None if it was written so recently that another could look the same.

    `now_ns` is of the system's clock, not the memory's: file times are compared with it.
    """
    if max(info.st_mtime_ns, info.st_ctime_ns) >= now_ns - (tick_ns or TICK_NANOSECONDS):
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


@contextmanager
def storage_errors(path: str) -> Iterator[None]:
    """Translate errors of the operating system: which page, why, and what to do."""
    try:
        yield
    except FileNotFoundError as error:
        raise PageNotFound(path) from error
    except OSError as error:
        number = error.errno or 0
        problem, advice = _PROBLEMS.get(number, (error.strerror or str(error), ""))
        raise _ERROR_TYPES.get(number, StorageError)(problem, path=path, advice=advice) from error


def read_bytes(file_path: str, path: str, *, dir_fd: int | None = None) -> bytes:
    """Return the bytes of a regular file; `path` is how errors name it.

    Here and below, `dir_fd` is an open folder that holds the file: then a link in its place is not followed.
    """
    return read_and_close(_open_to_read(file_path, dir_fd), path)


def _open_to_read(file_path: str, dir_fd: int | None) -> int:
    return os.open(file_path, READ_FLAGS if dir_fd is None else READ_FLAGS | NO_FOLLOW, dir_fd=dir_fd)


def read_and_close(handle: int, path: str) -> bytes:
    """Return the bytes of an open regular file, and close it."""
    try:
        info = os.fstat(handle)
        if stat.S_ISDIR(info.st_mode):
            problem, advice = _PROBLEMS[errno.EISDIR]
            raise PathIsFolder(problem, path=path, advice=advice)
        if not stat.S_ISREG(info.st_mode):
            raise NotText("is not a regular file and was not read", path=path)
        data = os.read(handle, info.st_size + 1)
        if len(data) == info.st_size:  # nearly always: the whole page in one read
            return data
        rest = [data]
        while chunk := os.read(handle, 1 << 20):
            rest.append(chunk)
        return b"".join(rest)
    finally:
        os.close(handle)


def read_bytes_or_none(file_path: str, path: str, *, dir_fd: int | None = None) -> bytes | None:
    try:
        return read_bytes(file_path, path, dir_fd=dir_fd)
    except FileNotFoundError:
        return None


def read_own_state(file_path: str) -> str:
    """Return the text of a file of our own that may be lost, such as a log; empty if there is none, or if something
    else is in its place: a folder that came from somebody else may have a pipe there, which never ends."""
    with suppress(OSError, CommonplaceError):
        return read_bytes(file_path, file_path).decode("utf-8", "replace")
    return ""


def read_settled(file_path: str, path: str, *, dir_fd: int | None) -> bytes | None:
    """Return a file's bytes, or None; wait for an editor that is in the middle of saving it."""
    try:
        return _read_when_settled(file_path, path, dir_fd)
    except FileNotFoundError:
        return None


class ConcurrentWrite(Exception):
    """Another program saved the file since it was read, and that version stays. `data` is what it saved."""

    def __init__(self, data: bytes | None) -> None:
        self.data = data


def replace_file(
    file_path: str, data: bytes, as_read: bytes | None, *, in_a_hurry: bool = False, dir_fd: int | None = None
) -> None:
    """Replace the bytes that were read (None: no file) with new ones, all of them or none; or raise ConcurrentWrite.

    `in_a_hurry`: leave as little time as possible between the final check and the change, and sync after it.
    """
    folder, name = os.path.split(file_path)
    handle, temporary, changed_folders = _create_temporary(folder, name, dir_fd)
    try:
        with _unlink_on_error(temporary, dir_fd):
            _copy_mode(handle, file_path, dir_fd)
            write_all(handle, data)
            if not in_a_hurry:
                os.fsync(handle)
        _move_into_place(temporary, file_path, data, as_read, dir_fd)
        if in_a_hurry:
            os.fsync(handle)
    finally:
        os.close(handle)
    _sync_folders(name, (folder, *changed_folders), dir_fd)


def write_file(file_path: str, data: bytes, *, dir_fd: int | None = None) -> None:
    """Replace a file that only we write, whatever its content."""
    while True:
        with suppress(ConcurrentWrite):
            as_read = read_bytes_or_none(file_path, file_path, dir_fd=dir_fd)
            replace_file(file_path, data, as_read, dir_fd=dir_fd)
            return


def remove_file(file_path: str, as_read: bytes, *, dir_fd: int | None = None) -> None:
    """Remove a file that is still as it was read; otherwise put it back and raise ConcurrentWrite."""
    folder, name = os.path.split(file_path)
    aside = temporary_path(file_path)
    os.rename(file_path, aside, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    try:
        data = _read_when_settled(aside, file_path, dir_fd)
    except OSError:  # it became a link since it was read
        _put_back(aside, file_path, dir_fd)
        raise
    if data != as_read:
        _put_back(aside, file_path, dir_fd)
        raise ConcurrentWrite(data)
    os.unlink(aside, dir_fd=dir_fd)
    _sync_folders(name, (folder,), dir_fd)


@contextmanager
def _unlink_on_error(temporary: str, dir_fd: int | None) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=dir_fd)
        raise


def _move_into_place(temporary: str, file_path: str, data: bytes, as_read: bytes | None, dir_fd: int | None) -> None:
    with _unlink_on_error(temporary, dir_fd):
        if not _swap_in(temporary, file_path, as_read, dir_fd):
            return
    # From here on the temporary file holds somebody's text: it is only unlinked when that is safe elsewhere.
    try:
        replaced = _read_when_settled(temporary, file_path, dir_fd)
    except OSError:  # what was replaced is a link
        _swap_back(temporary, file_path, data, dir_fd)
        os.unlink(temporary, dir_fd=dir_fd)
        raise
    if replaced != as_read:
        _swap_back(temporary, file_path, data, dir_fd)
        os.unlink(temporary, dir_fd=dir_fd)
        raise ConcurrentWrite(replaced)
    os.unlink(temporary, dir_fd=dir_fd)


def _swap_in(temporary: str, file_path: str, as_read: bytes | None, dir_fd: int | None) -> bool:
    """Put the new file in place and return whether the temporary file now holds the old content."""
    current = read_settled(file_path, file_path, dir_fd=dir_fd)
    if current != as_read:
        raise ConcurrentWrite(current)
    try:
        if as_read is None:
            rename_noreplace(temporary, file_path, dir_fd=dir_fd)
            return False
        swap(temporary, file_path, dir_fd=dir_fd)
    except Unsupported:  # an edit saved since the check above is lost
        os.replace(temporary, file_path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        return False
    except (FileExistsError, FileNotFoundError):  # created or removed since the check above
        raise ConcurrentWrite(read_bytes_or_none(file_path, file_path, dir_fd=dir_fd)) from None
    return True


def _swap_back(temporary: str, file_path: str, data: bytes, dir_fd: int | None) -> None:
    """Put the replaced file back, unless another program has since saved over ours: that version is later."""
    swap(temporary, file_path, dir_fd=dir_fd)
    if read_bytes(temporary, file_path, dir_fd=dir_fd) != data:
        swap(temporary, file_path, dir_fd=dir_fd)


def _put_back(aside: str, file_path: str, dir_fd: int | None) -> None:
    try:
        rename_noreplace(aside, file_path, dir_fd=dir_fd)
    except Unsupported:
        os.replace(aside, file_path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except FileExistsError:  # saved again meanwhile: that version is later
        os.unlink(aside, dir_fd=dir_fd)


def _read_when_settled(file_path: str, path: str, dir_fd: int | None) -> bytes:
    """Return a file's bytes once nobody writes to it: an editor may have just opened and emptied it."""
    deadline = time.monotonic() + _SAVING_SECONDS
    while _is_being_written(file_path, dir_fd) and time.monotonic() < deadline:
        time.sleep(0.001)
    return read_bytes(file_path, path, dir_fd=dir_fd)


def _is_being_written(file_path: str, dir_fd: int | None) -> bool:
    """Return whether any process has the file open for writing: if so, the system grants no read lease."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    handle = _open_to_read(file_path, dir_fd)
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, _HARMLESS_SIGNAL)  # sent to us if somebody opens the file just now
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(handle)
    return False


def _sync_folders(name: str, folders: Iterable[str], dir_fd: int | None) -> None:
    try:
        for folder in folders:
            sync_folder(folder, dir_fd=dir_fd)
    except OSError as error:
        sentence = (
            f"the new text is in place, but the disk did not confirm it ({error.strerror}): "
            "check the page before you retry"
        )
        raise StorageError(f"{name}: {sentence}") from error


def _create_temporary(folder: str, name: str, dir_fd: int | None) -> tuple[int, str, list[str]]:
    """Create an empty private file in a folder; return it, its path, and the folders whose entries changed."""
    if dir_fd is not None:
        temporary = temporary_path(name)
        return os.open(temporary, CREATE_FLAGS, PRIVATE_FILE_MODE, dir_fd=dir_fd), temporary, []
    for attempt in range(_CREATE_ATTEMPTS):
        temporary = temporary_path(os.path.join(folder, name))
        changed_folders = make_folders(folder)
        try:
            return os.open(temporary, CREATE_FLAGS, PRIVATE_FILE_MODE), temporary, changed_folders
        except FileNotFoundError:  # the folder's last page was removed just now, and the folder with it
            if attempt == _CREATE_ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def temporary_path(file_path: str) -> str:
    """Return a temporary name beside a file. Such files are never read as pages."""
    folder, name = os.path.split(file_path)
    return os.path.join(folder, f".{_shorten(name)}.{os.urandom(6).hex()}.tmp")


def page_of_leftover(path: str) -> str:
    """Return the page that a temporary file was made for; empty if it is not a temporary file."""
    folder, slash, name = path.rpartition("/")
    leftover = _LEFTOVER.fullmatch(name)
    return folder + slash + leftover["name"] if leftover else ""


def page_of_editor_copy(path: str) -> str:
    """Return the page of an editor's backup or swap file; empty for any other file."""
    folder, slash, name = path.rpartition("/")
    copy = _EDITOR_COPY.fullmatch(name)
    return folder + slash + next(filter(None, copy.groups())) if copy else ""


def _shorten(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_MAX_KEPT_NAME_BYTES])


def write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def append_to_log(path: str, earlier_path: str, line: str, max_bytes: int) -> None:
    """Append a line to a private, expendable log without waiting for the disk. A full log is rotated.

    Lines are appended whole, also by several processes at once.
    """
    handle = os.open(path, APPEND_FLAGS, PRIVATE_FILE_MODE)
    try:
        os.write(handle, f"{line}\n".encode())
        is_full = os.fstat(handle).st_size > max_bytes
    finally:
        os.close(handle)
    if is_full:
        os.replace(path, earlier_path)


def _copy_mode(handle: int, file_path: str, dir_fd: int | None) -> None:
    """Keep the permissions of the file to be replaced: one that a person shared with others stays shared."""
    with suppress(OSError, AttributeError):
        info = os.stat(file_path, dir_fd=dir_fd, follow_symlinks=dir_fd is None)
        os.fchmod(handle, stat.S_IMODE(info.st_mode))


def make_folders(folder: str) -> list[str]:
    """Create the missing folders, private, and return the parents whose entries changed."""
    missing: list[str] = []
    while not os.path.isdir(folder):
        missing.append(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    for path in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(path, PRIVATE_FOLDER_MODE)
    return [os.path.dirname(path) for path in missing]


def sync_folder(folder: str, *, dir_fd: int | None = None) -> None:
    """Wait until the entries of a folder are on disk; an empty name is `dir_fd` itself."""
    try:
        handle = os.open(folder or os.curdir, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=dir_fd)
    except (PermissionError, FileNotFoundError):  # on Windows folders cannot be opened; a removed one needs no sync
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def resolve_links(path: str) -> str:
    """Return a path without links. If a link changes while it is followed, try again."""
    while True:
        try:
            return os.path.realpath(path)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOENT):  # it was a link a moment ago
                raise


def open_folder_below(
    root: str, folders: Iterable[str], *, create: bool = False, inspect: Callable[[int], None] | None = None
) -> int:
    """Go down from a folder one folder at a time, following no link, and return a descriptor of the last.

    `inspect` sees each folder on the way, the root included, and may raise.
    """
    dir_fd = os.open(root, STEP_FLAGS)
    try:
        for name in folders:
            if inspect:
                inspect(dir_fd)
            below = _open_folder(name, dir_fd, create=create)
            os.close(dir_fd)
            dir_fd = below
        if inspect:
            inspect(dir_fd)
    except BaseException:
        os.close(dir_fd)
        raise
    return dir_fd


def _open_folder(name: str, dir_fd: int, *, create: bool) -> int:
    try:
        return os.open(name, STEP_FLAGS | NO_FOLLOW, dir_fd=dir_fd)
    except FileNotFoundError:
        if not create:
            raise
    try:
        os.mkdir(name, PRIVATE_FOLDER_MODE, dir_fd=dir_fd)
        sync_folder("", dir_fd=dir_fd)
    except FileExistsError:
        pass
    return os.open(name, STEP_FLAGS | NO_FOLLOW, dir_fd=dir_fd)


class OpenEntry(NamedTuple):
    """A file that exists or may be created: its name and the open folder; where folders cannot be opened, its path
    and None."""

    name: str
    dir_fd: int | None

    def stat(self) -> os.stat_result:
        return os.stat(self.name, dir_fd=self.dir_fd, follow_symlinks=False)

    def open(self, flags: int, mode: int = PRIVATE_FILE_MODE) -> int:
        """Return a descriptor; where folders can be opened, a link is not followed."""
        return os.open(self.name, flags if self.dir_fd is None else flags | NO_FOLLOW, mode, dir_fd=self.dir_fd)


@contextmanager
def open_own_entry(file_path: str) -> Iterator[OpenEntry]:
    """Open the folder of a file, in which only the program writes; OutsideHome if it is a link."""
    folder, name = os.path.split(file_path)
    if not CAN_OPEN_FOLDERS:
        _refuse_link(folder)
        yield OpenEntry(file_path, None)
        return
    try:
        dir_fd = os.open(folder, STEP_FLAGS | NO_FOLLOW)
    except OSError as error:
        if error.errno in LINK_ERRORS:
            _refuse_link(folder)
        raise
    try:
        yield OpenEntry(name, dir_fd)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        where = os.path.basename(folder)
        raise OutsideHome("holds a link", path=where, advice="put the file itself in its place") from error
    finally:
        os.close(dir_fd)


def _refuse_link(folder: str) -> None:
    if os.path.islink(folder):
        raise OutsideHome("is a link", path=os.path.basename(folder), advice="put a folder in its place")


class Unsupported(Exception):
    """This system or file system cannot do it."""


def swap(one: str, other: str, *, dir_fd: int | None = None) -> None:
    """Swap two files atomically. FileNotFoundError if one does not exist."""
    _rename(one, other, _RENAME_EXCHANGE, dir_fd, dir_fd)


def rename_noreplace(one: str, new: str, *, dir_fd: int | None, new_dir_fd: int | None = None) -> None:
    """Rename a file atomically; FileExistsError if the new name is taken. It stays in its folder by default."""
    _rename(one, new, _RENAME_NOREPLACE, dir_fd, dir_fd if new_dir_fd is None else new_dir_fd)


def rename_new(temporary: str, file_path: str, *, dir_fd: int | None = None) -> None:
    """Rename, but never over another file; if the system cannot guarantee that, after a final check."""
    try:
        rename_noreplace(temporary, file_path, dir_fd=dir_fd)
    except Unsupported:
        if entry_exists(file_path, dir_fd=dir_fd):
            raise FileExistsError(file_path) from None
        os.rename(temporary, file_path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)


def entry_exists(file_path: str, *, dir_fd: int | None) -> bool:
    """Return whether anything has that name, a broken link included."""
    try:
        os.stat(file_path, dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return True


_AT_FDCWD = -100  # paths are relative to the working directory
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
_UNSUPPORTED_ERRORS = frozenset({errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP})


def _rename(one: str, other: str, flag: int, dir_fd: int | None, other_dir_fd: int | None) -> None:
    call = _load_renameat2()
    if call is None:
        raise Unsupported
    number = call(
        _or_working_folder(dir_fd), os.fsencode(one), _or_working_folder(other_dir_fd), os.fsencode(other), flag
    )
    if number in _UNSUPPORTED_ERRORS:
        raise Unsupported
    if number:
        raise OSError(number, os.strerror(number), one, None, other)


def _or_working_folder(dir_fd: int | None) -> int:
    return _AT_FDCWD if dir_fd is None else dir_fd


@cache
def _load_renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes  # takes a millisecond, which only writers pay

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # a C library without it
        return None
    renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]

    def call(dir_fd: int, one: bytes, other_dir_fd: int, other: bytes, flag: int) -> int:
        return ctypes.get_errno() if renameat2(dir_fd, one, other_dir_fd, other, flag) else 0

    return call
