"""The handle on an index: opens it on first use, catches up with the pages before it answers, replaces it when damaged.

Whatever goes wrong with the index, memory can still be read and written, and the answer says what is missing.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, RLock
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakValueDictionary

from ..errors import LockTimeout, StorageError
from ..model import Viewer
from ..storage.base import Pages, PathWarnings
from ..storage.file_locks import lock
from ..storage.files import make_folders
from ..tracing import trace_calls
from .base import Candidate, Index, IndexInspection, Progress, report_progress
from .folder_events import FolderEvents, open_folder_events
from .recalls import forget
from .sqlite import SCHEMA_VERSION, FileId, SqliteIndex
from .sync import CatchUpStopped, IndexScope, catch_up, catch_up_pages, rebuild, update_pages

if TYPE_CHECKING:
    from .embedding_service import EmbeddingService
    from .watcher import PageChanges, WatchMode

    OnChange = Callable[[PageChanges], None]
    OnStart = Callable[[WatchMode], None]

Answer = TypeVar("Answer")
_LONG_SWEEP_SECONDS = 0.02  # a sweep that takes longer is reused by the next queries …
_SWEEP_REUSE_FACTOR = 10  # … for this many times its duration, so that sweeping takes a tenth of the time at most
_MAX_SWEEP_REUSE_SECONDS = 1.0
_BUILD_LOCK_TIMEOUT_SECONDS = 3600.0  # a build waits this long for another process that is building
_REOPEN_SECONDS = 5.0  # until an index that could not be opened is tried again
_LEASE_SECONDS = 1.0
_INSPECTION_TIMEOUT_SECONDS = 2.0  # wait for another process that writes
_UNUSED_SECONDS = 30 * 86400  # an index that nobody has opened for this long is removed
_creation_lock = Lock()
# Errors that say nothing about the index file itself, only that something is in the way of using it.
_OBSTACLES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)


class FreshnessLease:
    """While a watcher in this process holds one for an index file, searches skip the sweep over the pages.

    A lease expires after a second and is renewed while events arrive, so that it soon ends when the watcher does.
    `revoked`: pages are known to have changed, and a sweep has to come first.
    """

    def __init__(self) -> None:
        self.revoked = False
        self.unreadable: PathWarnings = []  # what the holder's last sweep could not read
        self._valid_until = 0.0
        self._process = os.getpid()

    def is_valid(self) -> bool:
        return not self.revoked and time.monotonic() < self._valid_until and self._process == os.getpid()

    def renew(self) -> None:
        self._valid_until = time.monotonic() + _LEASE_SECONDS

    def end(self) -> None:
        self._valid_until = 0.0


_leases: WeakValueDictionary[FileId, FreshnessLease] = WeakValueDictionary()  # each is kept alive by its holder


@dataclass(frozen=True)
class IndexView:
    """The index as a query sees it. `stale`: it may miss changes of pages; `warnings` say why.

    `page_warnings` are about single pages, which not every viewer may know of.
    """

    index: Index
    stale: bool
    warnings: tuple[str, ...]
    page_warnings: tuple[tuple[str, str], ...]


class IndexHandle(Protocol):
    """What the rest of the program uses of an index, whatever the backend."""

    scope: IndexScope

    def query(self, answer: Callable[[IndexView], Answer], below: str | None = None) -> Answer:
        """Catch up with the pages, all of them or those below a folder, and return what `answer` makes of the index."""
        ...

    def peek(self, answer: Callable[[Index], Answer]) -> Answer | None:
        """Return what `answer` makes of the index as it is, without catching up; None if it cannot be used now."""
        ...

    @property
    def can_look_ahead(self) -> bool:
        """Return whether `look_ahead` saves time now: within a write, to a server."""
        return False

    def look_ahead(self, keys: Sequence[int], viewer: Viewer, limit: int) -> Callable[[], list[Candidate]]:
        """Send the question of `find_by_fact_keys` along with the write that is in progress. Return what reads its
        answer after the write. If the question fails, so does the write."""
        raise StorageError("nothing can be asked along with a write here")

    def update(self, paths: Iterable[str]) -> None:
        """Index pages that were just written."""
        ...

    def invalidate(self) -> None:
        """Make the next query sweep the pages, even if a recent sweep could be reused."""
        return

    def purge(self) -> None:
        """Leave no bytes of what was removed from pages."""
        ...

    def build(self, progress: Progress, *, anew: bool) -> Index:
        """Bring the index up to date, or rebuild it from the pages, and wait for it."""
        ...

    def watch(self, stop: Event, on_change: OnChange, embedding: EmbeddingService | None, on_start: OnStart) -> None:
        """Watch the pages until `stop` is set. Report how they are watched, and each change once search finds it."""
        ...

    def inspect(self) -> IndexInspection:
        """Return what the index knows, without catching up."""
        ...

    def find_changes(self, inspection: IndexInspection) -> set[str] | None:
        """Return the pages that the index would see as changed since it was inspected; None when that may be any."""
        ...

    def discard(self) -> None:
        """Throw a damaged index away; the next use rebuilds it."""
        return

    def close(self) -> None:
        """Close what is open between queries, if anything is."""
        return


class SqliteIndexHandle(IndexHandle):
    """An index in a folder. Safe to share between threads."""

    def __init__(self, folder: str, pages: Pages, scope: IndexScope, home: str = "") -> None:
        """`home`: the folder of the pages, whose events show whether any changed; empty if they are elsewhere, so that
        every search sweeps them."""
        self.folder = folder
        self._home = home
        self.scope = scope
        self._pages = pages
        self._index: SqliteIndex | None = None
        self._warning = ""  # why the index was rebuilt, or is kept in memory
        self._process = 0
        self._retry_at = float("inf")
        self._next_sweep_at = 0.0
        self._sweeps = 0
        self._events: FolderEvents | None = None
        self._unreadable: PathWarnings = []
        self._written: deque[str] = deque()  # pages that are not indexed yet
        self._lock = RLock()

    def query(self, answer: Callable[[IndexView], Answer], below: str | None = None) -> Answer:
        """Catch up and return what `answer` makes of the index. An index that turns out to be damaged is replaced."""
        with self._lock:
            try:
                return answer(self._catch_up(self._open(), below))
            except sqlite3.DatabaseError as error:
                if not _is_obstacle(error):
                    with suppress(sqlite3.DatabaseError):  # another process may just have replaced the file
                        return answer(self._catch_up(self._open(), below))
                self._replace(error)
                return answer(self._catch_up(self._open(), below))

    def peek(self, answer: Callable[[Index], Answer]) -> Answer | None:
        with self._lock, suppress(sqlite3.Error):
            return answer(self._open())
        return None

    @trace_calls("index")
    def update(self, paths: Iterable[str]) -> None:
        """Index pages that were just written. A failure costs nothing: the next sweep sees them.

        Whoever gets the lock takes in what all who wait for it have written, so that a burst shares transactions, and
        a page that several wrote is read once.
        """
        self._written.extend(paths)
        with self._lock:
            waiting: dict[str, None] = {}
            while self._written:
                waiting[self._written.popleft()] = None
            try:
                if waiting:
                    update_pages(self._open(), self._pages, self.scope, waiting)
            except BaseException as error:
                self.invalidate()
                if not isinstance(error, sqlite3.Error):
                    raise

    def purge(self) -> None:
        """Leave no bytes of what was removed from pages. An index that cannot be cleaned is removed."""
        with self._lock:
            self.invalidate()
            try:
                self.query(_do_nothing)
                index = self._open()
                index.purge()
                keep = index.is_current_file() and not index.in_memory
            except sqlite3.Error:
                keep = False
            self.close()
            _remove_other_indexes(self.folder, self.scope.fingerprint if keep else "")

    def watch(self, stop: Event, on_change: OnChange, embedding: EmbeddingService | None, on_start: OnStart) -> None:
        from .watcher import watch

        watch(self, stop, on_change, embedding, on_start)

    def clone(self) -> SqliteIndexHandle:
        """Return a second handle over the same pages: neither waits for the other's lock."""
        return SqliteIndexHandle(self.folder, self._pages, self.scope, self._home)

    def freshness_lease(self) -> FreshnessLease | None:
        """Return the lease that handles on this index file share; None for an index in memory."""
        file = self._index.file_id if self._index else None
        if file is None:
            return None
        lease = _leases.setdefault(file, FreshnessLease())
        lease.unreadable = self._unreadable
        return lease

    def is_current_file(self) -> bool:
        """Return whether the open file is still the one at its path."""
        return self._index is None or self._index.is_current_file()

    def inspect(self) -> IndexInspection:
        return _inspect_index(self.folder, self.scope.fingerprint)

    def find_changes(self, inspection: IndexInspection) -> set[str] | None:
        changes = self._pages.changes(inspection.stamps, self.scope.roots())
        return {*changes.changed, *changes.removed}

    def discard(self) -> None:
        self.close()
        index, _ = open_index(self.folder, self.scope.fingerprint, damaged="discarded")
        index.close()

    def invalidate(self) -> None:
        self._next_sweep_at = 0.0
        if self._events:
            self._events.invalidate()
        lease = self._current_lease()
        if lease:
            lease.revoked = True

    def close(self) -> None:
        with self._lock:
            if self._events:
                self._events.close()
                self._events = None
            if self._index:
                self._index.close()
                self._index = None

    def build(self, progress: Progress, *, anew: bool) -> Index:
        with self._lock:
            try:
                return self._build(progress, anew=anew)
            except sqlite3.DatabaseError as error:
                if _is_obstacle(error):
                    reason = f"the index in {self.folder} cannot be written ({error}): try again"
                    raise StorageError(reason) from error
                self._replace(error)
                return self._build(progress, anew=anew)

    def _build(self, progress: Progress, *, anew: bool) -> Index:
        index = self._open()
        if anew:
            rebuild(index, self._pages, self.scope, progress)
        self.invalidate()
        self._sweep(index, None, progress, _BUILD_LOCK_TIMEOUT_SECONDS)
        return index

    def _current_lease(self) -> FreshnessLease | None:
        file = self._index.file_id if self._index else None
        return _leases.get(file) if file else None

    def _open(self) -> SqliteIndex:
        forked = self._process != os.getpid()  # SQLite's files must not be carried over a fork
        if self._index and not forked and not self._index.is_current_file():
            self._index.close()
            self._index = None
        if self._index is None or forked or time.monotonic() > self._retry_at:
            self._use(*open_index(self.folder, self.scope.fingerprint))
        assert self._index is not None
        return self._index

    def _use(self, index: SqliteIndex, warning: str) -> None:
        """Use this index from now on. If it had to be kept in memory, opening the file is soon tried again."""
        self._index = index
        self._warning = warning
        self._process = os.getpid()
        self._next_sweep_at = 0.0
        self._sweeps = 0
        self._events = None
        self._retry_at = time.monotonic() + _REOPEN_SECONDS if warning and index.in_memory else float("inf")

    def _replace(self, error: sqlite3.DatabaseError) -> None:
        """Continue without an index that cannot be read: a damaged file is removed, a busy one is left alone."""
        if self._index:
            self._index.close()
        if _is_obstacle(error):
            warning = (
                f"the index in {os.path.basename(self.folder)} cannot be used ({error}): this process keeps its own"
            )
            self._use(SqliteIndex(":memory:"), warning)
        else:
            self._use(*open_index(self.folder, self.scope.fingerprint, damaged=str(error)))

    @trace_calls("index")
    def _catch_up(self, index: SqliteIndex, below: str | None) -> IndexView:
        warnings = [self._warning] if self._warning else []
        if not index.in_memory:
            self._warning = ""  # the warning that an index was rebuilt is given once
        try:
            unreadable = self._sweep(index, below)
        except sqlite3.OperationalError as error:
            if not _is_obstacle(error):
                raise
            warnings.append(f"the index is behind the pages ({error}): the answer may miss the latest changes")
            return IndexView(index, True, tuple(warnings), tuple(index.warnings()))
        except CatchUpStopped as error:
            warnings.append(f"the index is behind the pages: {error}")
            return IndexView(index, True, tuple(warnings), tuple(index.warnings()))
        except LockTimeout:
            warnings.append("another process is indexing many pages: the answer may miss some until it is done")
            return IndexView(index, True, tuple(warnings), tuple(index.warnings()))
        return IndexView(index, False, tuple(warnings), (*index.warnings(), *unreadable))

    def _sweep(
        self,
        index: SqliteIndex,
        below: str | None,
        progress: Progress = report_progress,
        lock_timeout: float = 0,
    ) -> PathWarnings:
        """Compare the pages with the index and read what changed, unless that is known to be unnecessary."""
        started = time.monotonic()
        cpu_started = time.thread_time()
        known = self._known_fresh(index, started) if below is None else None
        if known is not None:
            return known
        changed: list[int] = []

        def count_changes(step: str, done: int, total: int) -> None:
            changed.append(total)
            progress(step, done, total)

        if below is None and self._catch_up_by_events(index):
            return self._unreadable
        if below is None:
            self._prepare_events()
        exclusive = self._exclusive(index, lock_timeout)
        unreadable = catch_up(index, self._pages, self.scope, below, exclusive, count_changes)
        if below is None:
            duration = time.thread_time() - cpu_started  # CPU time, since a busy machine does not make a home large
            is_long = duration > _LONG_SWEEP_SECONDS and not any(changed)  # reading pages does not count
            reuse = min(_MAX_SWEEP_REUSE_SECONDS, (1 + _SWEEP_REUSE_FACTOR) * duration)
            self._next_sweep_at = started + reuse if is_long else 0.0
            self._unreadable = unreadable
            self._sweeps += 1
            if self._events:
                self._events.confirm()
        return unreadable

    def _catch_up_by_events(self, index: SqliteIndex) -> bool:
        """Check only the files that events name; return False if only a sweep can find what changed."""
        changed = self._events.take_changes() if self._events else None
        if changed is None:
            return False
        if self._events and changed:
            try:
                catch_up_pages(index, self._pages, self.scope, changed)
            except BaseException:
                self._events.invalidate()  # these changes are not in the index: a sweep finds them
                raise
        return True

    def _prepare_events(self) -> None:
        """Listen to events from the second sweep on: a command that searches once does not need them."""
        if self._sweeps == 1 and self._events is None and self._home:
            self._events = open_folder_events(self._home, self.scope.roots())
        if self._events:
            self._events.prepare()

    def _known_fresh(self, index: SqliteIndex, now: float) -> PathWarnings | None:
        """Return what the last sweep could not read, if that sweep is recent or a watcher holds a lease; else None.

        The first sweep is always done: pages that were written before it may not be indexed yet.
        """
        if now < self._next_sweep_at:
            return self._unreadable
        lease = self._current_lease() if self._sweeps else None
        return lease.unreadable if lease and lease.is_valid() else None

    def _exclusive(self, index: SqliteIndex, timeout: float) -> Callable[[], AbstractContextManager[None]]:
        """Return a lock that keeps other processes from doing the same long-running work."""
        if index.in_memory:
            return nullcontext
        return partial(lock, self.folder, "area", f"the index {self.scope.fingerprint}", timeout)


def index_file_stem(fingerprint: str) -> str:
    """Return what the names of the files of an index begin with: they depend on the schema and on what is indexed."""
    return f"words-{SCHEMA_VERSION}-{fingerprint}"


def _inspect_index(folder: str, fingerprint: str) -> IndexInspection:
    name = f"{index_file_stem(fingerprint)}.sqlite"
    location = f"{os.path.basename(folder)}/{name}"
    path = os.path.join(folder, name)
    if os.path.islink(folder) or os.path.islink(path):
        return IndexInspection(location, "unused", "it is a link, which is not followed")
    if not os.path.isfile(path) or not os.path.getsize(path):
        return IndexInspection(location, "missing")
    try:
        _check_integrity(path)
        with closing(SqliteIndex(path)) as index:
            stamps = index.stamps()
            versions = index.versions(stamps)
            return IndexInspection(location, "ok", "", stamps, versions, dict(index.warnings()))
    except sqlite3.DatabaseError as error:
        is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        return IndexInspection(location, "busy" if is_busy else "damaged", str(error))


def _check_integrity(path: str) -> None:
    from urllib.parse import quote  # with what it imports, this takes as long as opening the index

    uri = f"file:{quote(path)}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=_INSPECTION_TIMEOUT_SECONDS)) as db:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(str(verdict).split("\n")[-1])


def open_index(folder: str, fingerprint: str, damaged: str = "") -> tuple[SqliteIndex, str]:
    """Open an index of a home. The second value says why it had to be rebuilt or kept in memory; empty if neither.

    Remote callers read it, too, so it does not say where on this machine the home is.
    """
    path = os.path.join(folder, f"{index_file_stem(fingerprint)}.sqlite")
    name = f"{os.path.basename(folder)}/{os.path.basename(path)}"
    if os.path.islink(folder) or os.path.islink(path):
        return SqliteIndex(":memory:"), f"the index {name} is a link and was not used: this process keeps its own"
    try:
        if damaged:
            _remove_index(path)
            return _open_private(path), f"the index {name} was damaged ({damaged}) and is rebuilt from the pages"
        if not os.path.isdir(os.path.dirname(folder)):  # a query must not create a home
            return SqliteIndex(":memory:"), ""
        make_folders(folder)
        return _open_private(path), ""
    except OSError as error:
        warning = f"no index can be kept in {os.path.basename(folder)} ({error.strerror}): this process keeps its own"
    except sqlite3.OperationalError as error:
        warning = f"the index {name} cannot be used ({error}): this process keeps its own"
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if not damaged:
            return open_index(folder, fingerprint, damaged=str(error))
        warning = str(error)
    return SqliteIndex(":memory:"), warning


def _open_private(path: str) -> SqliteIndex:
    """Open an index in a file that only its owner can read: SQLite gives the files beside it the same mode."""
    if not os.path.exists(path):
        _remove_unused_indexes(os.path.dirname(path))
    # Closing a file drops all locks of this process on it, so an existing one must not be opened here.
    with _creation_lock, suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    os.utime(path)
    return SqliteIndex(path)


def _remove_unused_indexes(folder: str) -> None:
    for entry in os.scandir(folder):
        is_index = entry.name.startswith("words-") and entry.name.endswith(".sqlite")
        if is_index and time.time() - entry.stat(follow_symlinks=False).st_mtime > _UNUSED_SECONDS:
            _remove_index(entry.path)


def _remove_other_indexes(folder: str, fingerprint: str) -> None:
    """Remove every index but this one, of any schema and settings, and the log of recalls, which names pages.

    With an empty fingerprint, all indexes are removed.
    """
    stem = index_file_stem(fingerprint)
    forget(folder)
    with suppress(FileNotFoundError, NotADirectoryError):
        for file in os.listdir(folder):
            if file.startswith("words-") and not (fingerprint and file.startswith(stem)):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, file))


def _remove_index(path: str) -> None:
    """Remove an index with its write-ahead log and its vector files."""
    folder, name = os.path.split(path)
    for file in os.listdir(folder):
        if file.startswith((name, f"{name.removesuffix('.sqlite')}-")):
            with suppress(OSError):
                os.unlink(os.path.join(folder, file))


def _do_nothing(_: IndexView) -> None:
    """Answer a query that only has to catch up."""


def _is_obstacle(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _OBSTACLES
