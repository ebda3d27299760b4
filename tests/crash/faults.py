"""A disk that fails on demand: the operations on the files of one home are counted, and a chosen one fails.

The functions of `os`, `open`, SQLite's connections and the system call behind an exchange of two files are wrapped,
once and for the whole process. They work as usual until a home is watched. `fsync` returns at once, as the system keeps what
a process has written even if that process dies.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import io
import os
import signal
import sqlite3
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

WRITES = frozenset({"write", "statement"})
_TAKES_SPACE = frozenset({"create", "write", "mkdir", "link", "truncate", "statement"})
_NEEDS_NO_SPACE = ("SELECT", "PRAGMA", "BEGIN", "ROLLBACK")
_CREATING = os.O_CREAT | os.O_TRUNC
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_INSTRUCTIONS = 20  # of a statement in SQLite, after which it is interrupted


class Variant(NamedTuple):
    """What happens at an operation. `number` is the error, if it is one; `halfway` does a part of a write first."""

    name: str
    number: int = 0
    killed: str = ""  # before, after or halfway
    halfway: bool = False
    stays: bool = False  # every later operation that takes space fails as well

    def applies(self, kind: str) -> bool:
        if self.stays:
            return kind in _TAKES_SPACE
        if self.name == "short":
            return kind == "write"
        return kind in WRITES if self.halfway else True


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("EIO", errno.EIO),
        Variant("ENOSPC", errno.ENOSPC),
        Variant("short", halfway=True),
        Variant("short-ENOSPC", errno.ENOSPC, halfway=True),
        Variant("full-disk", errno.ENOSPC, stays=True),
        Variant("killed-before", killed="before"),
        Variant("killed-halfway", killed="halfway", halfway=True),
        Variant("killed-after", killed="after"),
    )
}


class Operation(NamedTuple):
    """One thing done to a home: what, and to which file; where it went, for what is renamed."""

    kind: str
    path: str = ""
    target: str = ""


class Disk:
    """The files of one home, while it is watched."""

    def __init__(self) -> None:
        self.home = ""
        self.variant: Variant | None = None
        self.number = 0
        self.struck = ""
        self.count = 0
        self.operations: deque[Operation] = deque()
        self.handles: dict[int, str] = {}

    def watch(self, home: str, variant: Variant | None = None, number: int = 0) -> None:
        self.home, self.variant, self.number = os.path.realpath(home), variant, number
        self.struck, self.count, self.operations, self.handles = "", 0, deque(), {}

    def leave(self) -> None:
        self.home = ""

    def inside(self, path: Any) -> bool:
        """Whether a path is in the home, or is the folder that the home is in: a new home is an entry there."""
        if not self.home or not isinstance(path, str):
            return False
        return f"{path}/".startswith(f"{self.home}/") or path == os.path.dirname(self.home)

    def perform(self, operation: Operation, act: Callable[[], Any], some: Callable[[], Any] | None = None) -> Any:
        """Do it, unless this is the one that goes wrong; `some` does a part of it."""
        self.count += 1
        self.operations.append(operation)
        variant = self.variant
        if variant is None or not self._strikes(variant, operation.kind):
            return act()
        self.struck = f"{operation.kind} {operation.path}"
        if variant.killed:
            return _kill(variant.killed, act, some)
        if not variant.halfway:
            raise _error(operation.kind, variant.number)
        done = some() if some else act()
        if variant.number and (operation.kind != "statement" or done is None):
            raise _error(operation.kind, variant.number)
        return done

    def _strikes(self, variant: Variant, kind: str) -> bool:
        now = self.count == self.number or (variant.stays and self.count > self.number)
        return now and variant.applies(kind)


DISK = Disk()


def _kill(when: str, act: Callable[[], Any], some: Callable[[], Any] | None) -> None:
    if when == "after":
        act()
    elif when == "halfway" and some:
        some()
    os.kill(os.getpid(), signal.SIGKILL)


def _error(kind: str, number: int) -> Exception:
    if kind not in ("statement", "select", "connect"):
        return OSError(number, os.strerror(number))
    full = number == errno.ENOSPC
    error = sqlite3.OperationalError("database or disk is full" if full else "disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL if full else sqlite3.SQLITE_IOERR
    return error


def install() -> None:
    """Wrap what touches files, for the rest of this process. Once."""
    for name in ("unlink", "remove", "mkdir", "rmdir", "truncate"):
        setattr(os, name, _on_path({"remove": "unlink"}.get(name, name), getattr(os, name)))
    for name in ("rename", "replace", "link"):
        setattr(os, name, _on_two_paths("link" if name == "link" else "rename", getattr(os, name)))
    for name in ("read", "ftruncate"):
        setattr(os, name, _on_handle(name.removeprefix("f"), getattr(os, name)))
    for name in ("fsync", "fdatasync"):
        setattr(os, name, _on_handle("fsync", lambda handle: None))
    os.write, os.pwrite = _writing(os.write), _writing(os.pwrite)
    os.open, os.close = _opening(os.open), _closing(os.close)  # type: ignore[assignment]
    builtins.open = _opening_files(builtins.open)
    sqlite3.connect = _connecting(sqlite3.connect)
    ctypes.CDLL = _loading(ctypes.CDLL)  # type: ignore[assignment, misc]


def _full_path(path: Any, dir_fd: int | None) -> Any:
    """Return the path of a name in an open folder."""
    if dir_fd is None or not DISK.home:
        return path
    return os.path.normpath(os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), path))


def _on_path(kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(path: Any, *rest: Any, **more: Any) -> Any:
        full = _full_path(path, more.get("dir_fd"))
        if not DISK.inside(full):
            return real(path, *rest, **more)
        return DISK.perform(Operation(kind, full), lambda: real(path, *rest, **more))

    return wrapper


def _on_two_paths(kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(source: Any, target: Any, **more: Any) -> Any:
        to = _full_path(target, more.get("dst_dir_fd"))
        if not DISK.inside(to):
            return real(source, target, **more)
        operation = Operation(kind, _full_path(source, more.get("src_dir_fd")), to)
        return DISK.perform(operation, lambda: real(source, target, **more))

    return wrapper


def _on_handle(kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(handle: int, *rest: Any) -> Any:
        if handle not in DISK.handles:
            return real(handle, *rest)
        return DISK.perform(Operation(kind, DISK.handles[handle]), lambda: real(handle, *rest))

    return wrapper


def _writing(real: Callable[..., int]) -> Callable[..., int]:
    def wrapper(handle: int, data: Any, *rest: Any) -> int:
        if handle not in DISK.handles:
            return real(handle, data, *rest)
        operation, half = Operation("write", DISK.handles[handle]), len(data) // 2
        written: int = DISK.perform(
            operation, lambda: real(handle, data, *rest), lambda: real(handle, bytes(data)[:half], *rest)
        )
        return written

    return wrapper


def _opening(real: Callable[..., int]) -> Callable[..., int]:
    def wrapper(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        full = _full_path(path, more.get("dir_fd"))
        if not DISK.inside(full):
            return real(path, flags, *rest, **more)
        kind = "create" if flags & _CREATING else "list" if flags & _FOLDER else "open"
        operation = Operation(kind, full)
        handle: int = DISK.perform(operation, lambda: real(path, flags, *rest, **more))
        DISK.handles[handle] = full
        return handle

    return wrapper


def _closing(real: Callable[[int], None]) -> Callable[[int], None]:
    def wrapper(handle: int) -> None:
        DISK.handles.pop(handle, None)
        real(handle)

    return wrapper


class _File(io.FileIO):
    """A file opened by `open`, whose writes are operations like those of `os`."""

    def write(self, data: Any) -> int:
        arguments, real = bytes(data), super().write
        operation = Operation("write", DISK.handles.get(self.fileno(), ""))
        return int(DISK.perform(operation, lambda: real(arguments), lambda: real(arguments[: len(arguments) // 2])))

    def truncate(self, size: int | None = None) -> int:
        real = super().truncate
        return int(DISK.perform(Operation("truncate", DISK.handles.get(self.fileno(), "")), lambda: real(size)))

    def close(self) -> None:
        if not self.closed:
            DISK.handles.pop(self.fileno(), None)
        super().close()


def _opening_files(real: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if isinstance(file, int) and file in DISK.handles:
            opened = _File(file, mode.replace("b", ""))
            return io.BufferedRandom(opened) if opened.writable() and opened.readable() else io.BufferedReader(opened)
        if not DISK.inside(file):
            return real(file, mode, *rest, **more)
        kind = "open" if mode.startswith("r") else "create"
        return DISK.perform(Operation(kind, file), lambda: real(file, mode, *rest, **more))

    return wrapper


class _Connection(sqlite3.Connection):
    """A connection whose statements are operations. One that is cut short in the middle is what a full disk leaves."""

    watched = False

    def execute(self, sql: str, *values: Any) -> Any:
        return self._count(sql, lambda: super(_Connection, self).execute(sql, *values))

    def executemany(self, sql: str, values: Any) -> Any:
        arguments = list(values)
        return self._count(sql, lambda: super(_Connection, self).executemany(sql, arguments))

    def executescript(self, sql: str) -> Any:
        return self._count(sql, lambda: super(_Connection, self).executescript(sql))

    def _count(self, sql: str, act: Callable[[], Any]) -> Any:
        if not (self.watched and DISK.home):
            return act()
        kind = "select" if sql.lstrip().startswith(_NEEDS_NO_SPACE) else "statement"
        return DISK.perform(Operation(kind, sql), act, lambda: self._interrupt(act))

    def _interrupt(self, act: Callable[[], Any]) -> Any:
        """None when the statement was stopped on its way; one too short for that is done."""
        left = _INSTRUCTIONS

        def stop() -> int:
            nonlocal left
            left -= 1
            if left == 0 and DISK.variant and DISK.variant.killed:
                os.kill(os.getpid(), signal.SIGKILL)
            return int(left <= 0)

        self.set_progress_handler(stop, 1)
        try:
            return act()
        except sqlite3.OperationalError:
            return None
        finally:
            self.set_progress_handler(None, 0)


def _connecting(real: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(path: Any, **more: Any) -> Any:
        if not DISK.inside(path):
            return real(path, factory=_Connection, **more)
        connection = DISK.perform(Operation("connect", path), lambda: real(path, factory=_Connection, **more))
        connection.watched = True
        return connection

    return wrapper


class _RenameAt2:
    """The system call by which two files change places."""

    argtypes: Any = None

    def __init__(self, real: Any) -> None:
        self.real = real

    def __call__(self, *arguments: Any) -> int:
        self.real.argtypes = self.argtypes
        folders = [None if dir_fd < 0 else dir_fd for dir_fd in (arguments[0], arguments[2])]
        source, target = (_full_path(os.fsdecode(name), at) for name, at in zip(arguments[1::2], folders, strict=False))
        if not DISK.inside(target):
            return int(self.real(*arguments))
        try:
            return int(DISK.perform(Operation("rename", source, target), lambda: self.real(*arguments)))
        except OSError as error:
            ctypes.set_errno(error.errno or 0)
            return -1


def _loading(real: Any) -> Callable[..., Any]:
    def wrapper(name: Any, *rest: Any, **more: Any) -> Any:
        library = real(name, *rest, **more)
        if name is None and hasattr(library, "renameat2"):
            library.renameat2 = _RenameAt2(library.renameat2)
        return library

    return wrapper
