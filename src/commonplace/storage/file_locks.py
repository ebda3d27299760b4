"""Locks between processes and threads: released by the system when their holder dies, so none is ever stale.

One lock file serves many names (256 of each kind), so that a hundred thousand pages do not need as many files. Two
kinds keep the order that rules out deadlock: a named lock (of a key, of a folder of pages) is always taken before the
lock of a page, and nobody holds two of one kind except `lock_all`, which takes them in order. The `filelock` package
would do, but takes longer to import than a write takes.
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

from ..errors import LockTimeout
from .files import NO_FOLLOW, make_folders, open_own_entry, sync_folder

Kind = Literal["area", "page"]  # an area is a named lock; earlier releases use this file name
KINDS: tuple[Kind, ...] = ("area", "page")  # in the order they are taken
LOCK_TIMEOUT_SECONDS = 10.0  # far longer than any write takes, short enough for a caller to wait for the error
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
def lock(folder: str, kind: Kind, name: str, timeout: float = LOCK_TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the lock of a name; LockTimeout names its holder when it does not come free."""
    with lock_slot(folder, kind, slot_of(name), name, timeout):
        yield


def slot_of(name: str) -> str:
    """Return which of the 256 lock files serves a name."""
    return hashlib.blake2b(name.encode(), digest_size=1).hexdigest()


@contextmanager
def lock_slot(folder: str, kind: Kind, slot: str, name: str, timeout: float = LOCK_TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the lock of all names that share a slot; `name` is what errors call it."""
    path = os.path.join(folder, f"{kind}-{slot}")
    with _wait_for_threads(path, name, timeout) as remaining:
        handle = _acquire(path, name, remaining)
        try:
            _write_holder(handle)
            yield
        finally:
            os.close(handle)  # closing releases the lock, as death would


@contextmanager
def _wait_for_threads(path: str, name: str, timeout: float) -> Iterator[float]:
    """Queue the threads of this process for a lock file, and yield the rest of the timeout."""
    thread_lock = _thread_locks.setdefault(path, Lock())
    started = time.monotonic()
    if not thread_lock.acquire(timeout=timeout):
        raise LockTimeout(_describe_holder(str(os.getpid()), name, timeout))
    try:
        yield max(0.0, timeout - (time.monotonic() - started))
    finally:
        thread_lock.release()


_thread_locks: dict[str, Lock] = {}
if hasattr(os, "register_at_fork"):  # after a fork the waiting threads do not exist
    os.register_at_fork(after_in_child=_thread_locks.clear)


@contextmanager
def lock_all(folder: str, timeout: float = LOCK_TIMEOUT_SECONDS / 2) -> Iterator[None]:
    """Hold all locks, taken in the common order, to see the whole memory as of one moment.

    The timeout is shorter than that of writers, so that giving up here makes no write fail.
    """
    deadline = time.monotonic() + timeout
    _allow_open_files()
    with ExitStack() as stack:
        for kind in KINDS:
            for number in range(_SLOTS):
                remaining = max(0.0, round(deadline - time.monotonic(), 1))
                try:
                    stack.enter_context(lock_slot(folder, kind, f"{number:02x}", "part of the memory", remaining))
                except LockTimeout as error:
                    raise LockTimeout(f"writers could not be paused within {timeout:g} seconds: {error}") from error
        yield


def _allow_open_files() -> None:
    """Raise the limit of open files: some systems start with 256."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < _OPEN_FILES:
            limit = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _acquire(path: str, name: str, timeout: float) -> int:
    """Return a descriptor that holds the lock of the current file: a removed file locks nobody else out."""
    deadline = time.monotonic() + timeout
    while True:
        handle = _open(path)
        try:
            _wait(handle, name, deadline, timeout)
            if _is_current(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _open(path: str) -> int:
    for _ in range(100):
        for parent in make_folders(os.path.dirname(path)):  # may create the home itself
            sync_folder(parent)
        # FileNotFoundError: the folder was removed after it was made.
        with suppress(FileNotFoundError), open_own_entry(path) as entry:
            return entry.open(os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | NO_FOLLOW)
    raise LockTimeout(f"{os.path.dirname(path)} keeps being removed: stop the program that removes it, then try again")


def _wait(handle: int, name: str, deadline: float, timeout: float) -> None:
    pause = 0.0005
    while True:
        try:
            return _try_lock(handle)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise
            if time.monotonic() > deadline:
                raise LockTimeout(_describe_holder(_holder(handle), name, timeout)) from error
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def _is_current(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _write_holder(handle: int) -> None:
    with suppress(OSError):  # it only serves the error message of another process
        os.pwrite(handle, f"{os.getpid():<12}\n".encode(), 0)


def _holder(handle: int) -> str:
    with suppress(OSError):
        return os.pread(handle, 12, 0).decode("ascii", "replace").strip()
    return ""


def _describe_holder(holder: str, name: str, timeout: float) -> str:
    who = f"process {holder}" if holder else "another process"
    return (
        f"{name} is held by {who} for more than {round(timeout, 1):g} seconds: wait for it or stop it, then try again"
    )
