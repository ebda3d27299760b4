"""Locks between processes and threads: released by the system when their holder dies, so none is ever stale.

One lock file serves many names (256 of each kind), so that a hundred thousand pages do not need as many lock files.
Two kinds keep the order that rules out deadlock: an area (a key, a folder of pages) is always taken before a page,
and nobody holds two of one kind, but who takes all, in order. The `filelock` package does the same but takes longer to
import than a write takes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import Literal

from ...errors import LockTimeout
from .atomic import make_folders, sync_folder

Kind = Literal["area", "page"]
KINDS: tuple[Kind, ...] = ("area", "page")  # in the order they are taken
PATIENCE = 10.0  # seconds: far longer than any write takes, short enough to be told about
_SLOTS = 256
_OPEN_FILES = 4 * _SLOTS  # enough for all locks at once, and for what a program has open besides

try:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
except ImportError:  # Windows
    import msvcrt

    def _try_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]


@contextmanager
def lock(folder: str, kind: Kind, name: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a name; LockTimeout names who has it when it does not come free."""
    with lock_slot(folder, kind, slot_of(name), name, patience):
        yield


def slot_of(name: str) -> str:
    """Which of the 256 lock files serves a name."""
    return hashlib.blake2b(name.encode(), digest_size=1).hexdigest()


@contextmanager
def lock_slot(folder: str, kind: Kind, slot: str, name: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of all names that share a slot; `name` is what is said of it."""
    path = os.path.join(folder, f"{kind}-{slot}")
    with _turn(path, name, patience) as left:
        handle = _acquire(path, name, left)
        try:
            _sign(handle)
            yield
        finally:
            os.close(handle)  # closing releases the lock, as death would


@contextmanager
def _turn(path: str, name: str, patience: float) -> Iterator[float]:
    """Threads of one process stand in line for a lock, instead of asking for it again and again against each other.

    Gives how much of the patience is left.
    """
    line, since = _lines.setdefault(path, Lock()), time.monotonic()
    if not line.acquire(timeout=patience):
        raise LockTimeout(_complaint(str(os.getpid()), name, patience))
    try:
        yield max(0.0, patience - (time.monotonic() - since))
    finally:
        line.release()


_lines: dict[str, Lock] = {}
if hasattr(os, "register_at_fork"):  # who stood in line before a fork is not there after it
    os.register_at_fork(after_in_child=_lines.clear)


@contextmanager
def everything(folder: str, patience: float = PATIENCE / 2) -> Iterator[None]:
    """Hold all locks, to see the whole memory as it is at one moment. In the order that everybody keeps.

    Those who wait have more patience than we have: who gives up here makes no write fail.
    """
    deadline = time.monotonic() + patience
    _allow_open_files()
    with ExitStack() as held:
        for kind in KINDS:
            for number in range(_SLOTS):
                left = max(0.0, round(deadline - time.monotonic(), 1))
                try:
                    held.enter_context(lock_slot(folder, kind, f"{number:02x}", "part of the memory", left))
                except LockTimeout as error:
                    raise LockTimeout(f"writers could not be held within {patience:g} seconds: {error}") from error
        yield


def _allow_open_files() -> None:
    """Some systems let a program have 256 files open, unless it asks for more."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < _OPEN_FILES:
            most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _acquire(path: str, name: str, patience: float) -> int:
    """A descriptor that holds the lock of the file that is there now: one somebody removed locks nobody else out."""
    deadline = time.monotonic() + patience
    while True:
        handle = _open(path)
        try:
            _wait(handle, name, deadline, patience)
            if _is_current(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _open(path: str) -> int:
    for _ in range(100):
        for parent in make_folders(os.path.dirname(path)):  # the first lock makes the home itself: that has to last
            sync_folder(parent)
        with suppress(FileNotFoundError):  # the folder was removed after it was made
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    raise LockTimeout(f"{os.path.dirname(path)} is removed again and again: stop what removes it, then try again")


def _wait(handle: int, name: str, deadline: float, patience: float) -> None:
    pause = 0.0005
    while True:
        try:
            return _try_lock(handle)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise
            if time.monotonic() > deadline:
                raise LockTimeout(_complaint(_holder(handle), name, patience)) from error
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def _is_current(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _sign(handle: int) -> None:
    with suppress(OSError):  # the signature only serves the error message of another process
        os.pwrite(handle, f"{os.getpid():<12}\n".encode(), 0)


def _holder(handle: int) -> str:
    with suppress(OSError):
        return os.pread(handle, 12, 0).decode("ascii", "replace").strip()
    return ""


def _complaint(holder: str, name: str, patience: float) -> str:
    who = f"process {holder}" if holder else "another process"
    long = f"{round(patience, 1):g} seconds"
    return f"{name} is held by {who} for more than {long}: wait for it or stop it, then try again"
