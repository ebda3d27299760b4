"""All of memory as it was at one moment, while others go on writing.

Everything is copied first while nobody waits. Then all writers are held for as long as it takes to see what changed
since, and to copy that.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from ...errors import PageNotFound
from ...home import LOCKS_FOLDER, Home
from ...storage.base import Root, Sentences
from ...storage.file_locks import lock_all
from ...storage.files import TIMESTAMP_TICK_NANOSECONDS, storage_errors
from .scope import extent, files, locks_of, strangers
from .spool import CHUNK, Item, Spool

_READ = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_NOT_OURS = (errno.EROFS, errno.EACCES, errno.EPERM)

Stamp = tuple[int, int, int, int]


class _Copy(NamedTuple):
    stamp: Stamp | None  # None: it may change again without its stamp telling
    item: Item


class Snapshot(NamedTuple):
    """`held`: for how many seconds writers had to wait."""

    items: dict[str, Item]
    spool: Spool
    held: float
    warnings: tuple[str, ...]


@contextmanager
def one_moment(home: Home, *, history: bool) -> Iterator[Snapshot]:
    top, roots = os.path.realpath(home.root), extent(home, history=history)
    with Spool() as spool:
        copies: dict[str, _Copy] = {}
        for _ in range(2):  # the second time sees what changed during the first, which may have taken long
            copies = _look(top, roots, copies, spool, [])
        warnings = strangers(home, roots)
        started = time.perf_counter()
        with _writers_held(locks_of(home), warnings):
            copies = _look(top, roots, copies, spool, warnings)
        held = time.perf_counter() - started
        items = {path: copies[path].item for path in sorted(copies)}
        yield Snapshot(items, spool, held, tuple(warnings))


@contextmanager
def _writers_held(folder: str, warnings: Sentences) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_all(folder))
        except OSError as error:
            if error.errno not in _NOT_OURS:
                with storage_errors(LOCKS_FOLDER):
                    raise
            # Nobody writes to a read-only disk. In a home of somebody else's we can only look.
            if error.errno != errno.EROFS:
                reason = "what others write meanwhile may be in it by half"
                warnings.append(f"writers could not be held ({error.strerror}): {reason}")
        yield


def _look(
    top: str, roots: Iterable[Root], known: dict[str, _Copy], spool: Spool, warnings: Sentences
) -> dict[str, _Copy]:
    """Every file as it is now. What is as it was copied is not copied again."""
    found: dict[str, _Copy] = {}
    for path, info in files(top, roots, warnings):
        copy = known.get(path)
        if copy and copy.stamp == _stamp(info):
            found[path] = copy
        elif fresh := _copied(top, path, spool):
            found[path] = fresh
    return found


def _copied(top: str, path: str, spool: Spool) -> _Copy | None:
    try:
        with storage_errors(path), open(os.open(os.path.join(top, path), _READ), "rb", buffering=0) as file:
            info, now = os.fstat(file.fileno()), time.time_ns()
            if not stat.S_ISREG(info.st_mode):
                return None
            data = iter(lambda: file.read(CHUNK), b"")
            item = spool.add(stat.S_IMODE(info.st_mode) & 0o777, info.st_mtime_ns, data)
    except PageNotFound:  # removed since it was seen
        return None
    unsure = max(info.st_mtime_ns, info.st_ctime_ns) > now - TIMESTAMP_TICK_NANOSECONDS
    return _Copy(None if unsure else _stamp(info), item)


def _stamp(info: os.stat_result) -> Stamp:
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns
