"""An index that is there when it is needed: opened on first use, caught up before it answers, replaced when damaged.

Whatever goes wrong with it, memory can still be read and written, and the answer says what is missing.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from threading import Event, RLock
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..errors import LockTimeout, StorageError
from ..storage.base import Pages, PathWarnings
from ..storage.file_locks import lock
from .base import Index, Progress, report_progress
from .files import open_index, remove_others
from .freshness import Promise, promise_for, promised
from .sqlite import SqliteIndex
from .sync import IndexScope, catch_up, rebuild, update_pages

if TYPE_CHECKING:
    from .embedding_service import EmbeddingService
    from .inspection import IndexInspection
    from .watcher import PageChanges, WatchMode

    OnChange = Callable[[PageChanges], None]
    OnStart = Callable[[WatchMode], None]

Answer = TypeVar("Answer")
_LONG = 0.02  # seconds: a look at the pages of a large home that takes longer than this is shared
_SHARED = 10  # so many times as long as it took: a tenth of the time goes into looking, at the most
_WAITING = 3600.0  # seconds to wait for another process that builds the index, by one who asked for it to be built
_RETRY = 5.0  # seconds after which an index that could not be opened is tried again
# What says nothing about the index itself, only about what stands in the way of it.
_IN_THE_WAY = frozenset(
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


@dataclass(frozen=True)
class IndexView:
    """The index as it can be asked now. `stale`: pages may have changed that it does not show; `notes` say why.

    `page_warnings` is what is wrong with single pages: not everybody may know of them.
    """

    index: Index
    stale: bool
    warnings: tuple[str, ...]
    page_warnings: tuple[tuple[str, str], ...]


class IndexHandle(Protocol):
    """What others need of who keeps an index up to date, wherever that is."""

    scope: IndexScope

    def query(self, question: Callable[[IndexView], Answer], below: str | None = None) -> Answer: ...

    def update(self, paths: Iterable[str]) -> None: ...

    def purge(self) -> None: ...

    def invalidate(self) -> None: ...

    def build(self, progress: Progress, *, anew: bool) -> Index: ...

    def watch(self, stop: Event, on_change: OnChange, embedding: EmbeddingService | None, on_start: OnStart) -> None:
        """Follow the pages until `stop` is set, telling what changed once it can be found, and how they are watched."""
        ...

    def inspect(self) -> IndexInspection:
        """Return what the index knows, without catching up."""
        ...

    def find_changes(self, inspection: IndexInspection) -> set[str] | None:
        """Return the pages that the index would see as changed since it was inspected; None when that may be any."""
        ...

    def discard(self) -> None:
        """Throw a damaged index away; the next use rebuilds it."""
        ...

    def close(self) -> None: ...


class SqliteIndexHandle:
    def __init__(self, folder: str, pages: Pages, scope: IndexScope) -> None:
        self.folder, self._pages, self.scope = folder, pages, scope
        self._index: SqliteIndex | None = None
        self._note = ""
        self._process = 0
        self._retry_at = float("inf")
        self._look_again, self._looks, self._seen = 0.0, 0, list[tuple[str, str]]()
        self._lock = RLock()

    def query(self, question: Callable[[IndexView], Answer], below: str | None = None) -> Answer:
        """What the index answers, after it caught up with the whole home or with one folder of it.

        An index that turns out to be damaged is replaced, and asked again.
        """
        with self._lock:
            try:
                return question(self._caught_up(self._open(), below))
            except sqlite3.DatabaseError as error:
                if not _in_the_way(error):
                    with suppress(sqlite3.DatabaseError):  # another process may just have put something else in place
                        return question(self._caught_up(self._open(), below))
                self._replace(error)
                return question(self._caught_up(self._open(), below))

    def update(self, paths: Iterable[str]) -> None:
        """Pages were just written: follow at once. A failure costs nothing, the next look sees them."""
        with self._lock:
            try:
                update_pages(self._open(), self._pages, self.scope, paths)
            except sqlite3.Error:
                self.invalidate()

    def purge(self) -> None:
        """Leave no bytes of what was removed from pages. An index that can not be cleaned is thrown away."""
        with self._lock:
            self.invalidate()
            try:
                self.query(lambda _: None)
                index = self._open()
                index.purge()
                keep = index.in_place() and not index.in_memory
            except sqlite3.Error:
                keep = False
            self.close()
            remove_others(self.folder, self.scope.fingerprint if keep else "")

    def watch(self, stop: Event, on_change: OnChange, embedding: EmbeddingService | None, on_start: OnStart) -> None:
        from .watcher import watch

        watch(self, stop, on_change, embedding, on_start)

    def another(self) -> SqliteIndexHandle:
        """One of its own over the same pages: neither waits for the other."""
        return SqliteIndexHandle(self.folder, self._pages, self.scope)

    def promise(self) -> Promise | None:
        """What others in this process may rely on, by who keeps this index up to date. Nobody sees one in memory."""
        place = self._index.place if self._index else None
        promise = promise_for(place) if place else None
        if promise:
            promise.seen = self._seen
        return promise

    def in_place(self) -> bool:
        """Whether the index is the one that others see."""
        return self._index is None or self._index.in_place()

    def inspect(self) -> IndexInspection:
        from .inspection import inspect_sqlite_index

        return inspect_sqlite_index(self.folder, self.scope.fingerprint)

    def find_changes(self, inspection: IndexInspection) -> set[str] | None:
        changes = self._pages.changes(inspection.stamps, self.scope.roots())
        return {*changes.changed, *changes.removed}

    def discard(self) -> None:
        self.close()
        index, _ = open_index(self.folder, self.scope.fingerprint, damaged="discarded")
        index.close()

    def invalidate(self) -> None:
        """The next question looks at the pages itself, whatever was promised."""
        self._look_again = 0.0
        if self._index and (promise := promised(self._index.place)):
            promise.asked = True

    def close(self) -> None:
        with self._lock:
            if self._index:
                self._index.close()
                self._index = None

    def _open(self) -> SqliteIndex:
        forked = self._process != os.getpid()  # SQLite's files must not be carried over a fork
        if self._index and not forked and not self._index.in_place():
            self._index.close()
            self._index = None
        if self._index is None or forked or time.monotonic() > self._retry_at:
            self._use(*open_index(self.folder, self.scope.fingerprint))
        assert self._index is not None
        return self._index

    def _use(self, index: SqliteIndex, note: str) -> None:
        """Answer from this index from now on; one in memory, because of some hindrance, is not kept for long."""
        self._index, self._note, self._process = index, note, os.getpid()
        self._look_again, self._looks = 0.0, 0
        self._retry_at = time.monotonic() + _RETRY if note and index.in_memory else float("inf")

    def _caught_up(self, index: SqliteIndex, below: str | None) -> IndexView:
        warnings = [self._note] if self._note else []
        if not index.in_memory:
            self._note = ""  # a rebuilt index is told of once
        unseen: PathWarnings = []
        try:
            unseen = self._looked(index, below)
        except sqlite3.OperationalError as error:
            if not _in_the_way(error):
                raise
            warnings.append(f"the index is behind the pages ({error}): the answer may miss the latest changes")
            return IndexView(index, True, tuple(warnings), tuple(index.warnings()))
        except LockTimeout:
            warnings.append("another process is indexing many pages: the answer may miss some until it is done")
            return IndexView(index, True, tuple(warnings), tuple(index.warnings()))
        return IndexView(index, False, tuple(warnings), (*index.warnings(), *unseen))

    def build(self, progress: Progress, *, anew: bool) -> Index:
        """Bring the index up to date, or make it anew from the pages, and wait for it."""
        with self._lock:
            try:
                return self._built(progress, anew=anew)
            except sqlite3.DatabaseError as error:
                if _in_the_way(error):
                    reason = f"the index in {self.folder} can not be written ({error}): try again"
                    raise StorageError(reason) from error
                self._replace(error)
                return self._built(progress, anew=anew)

    def _built(self, progress: Progress, *, anew: bool) -> Index:
        index = self._open()
        if anew:
            rebuild(index, self._pages, self.scope, progress)
        self.invalidate()
        self._looked(index, None, progress, _WAITING)
        return index

    def _alone(self, index: SqliteIndex, patience: float) -> Callable[[], AbstractContextManager[None]]:
        """Keeps other processes from doing the same long work."""
        if index.in_memory:
            return nullcontext
        return lambda: lock(self.folder, "area", f"the index {self.scope.fingerprint}", patience)

    def _looked(
        self, index: SqliteIndex, below: str | None, progress: Progress = report_progress, patience: float = 0
    ) -> PathWarnings:
        """Look what changed, unless somebody watches. Where looking takes long, many questions in a row share a look:
        see `_SHARED`."""
        started, worked = time.monotonic(), time.thread_time()
        if below is None and (seen := self._need_not_look(index, started)) is not None:
            return seen
        changed: list[int] = []

        def told(what: str, done: int, total: int) -> None:
            changed.append(total)
            progress(what, done, total)

        seen = catch_up(index, self._pages, self.scope, below, self._alone(index, patience), told)
        if below is None:
            took = time.thread_time() - worked  # not the clock: a busy machine does not make a home large
            shared = took > _LONG and not any(changed)  # what took long was looking, not reading
            self._seen, self._look_again = seen, started + min(1.0, (1 + _SHARED) * took) if shared else 0.0
            self._looks += 1
        return seen

    def _need_not_look(self, index: SqliteIndex, now: float) -> PathWarnings | None:
        """What could not be seen at the last look, where that is new enough or somebody watches the pages.

        The first look is always its own: what this handle wrote before, nobody may have followed.
        """
        if now < self._look_again:
            return self._seen
        promise = promised(index.place) if self._looks else None
        return promise.seen if promise and promise.holds() else None

    def _replace(self, error: sqlite3.DatabaseError) -> None:
        """Do without an index that can not be read: a damaged one is thrown away, a busy one is left alone."""
        if self._index:
            self._index.close()
        if _in_the_way(error):
            note = f"the index in {self.folder} can not be used ({error}): this process keeps its own"
            self._use(SqliteIndex(":memory:"), note)
        else:
            self._use(*open_index(self.folder, self.scope.fingerprint, damaged=str(error)))


def _in_the_way(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _IN_THE_WAY
