"""Handles on the index in PostgreSQL: one that catches up with the pages, and one that searches a replica.

Pages are followed by their sequence number. Whichever machine is first does the work, and the others find it done;
writers do not wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event, Lock
from typing import TYPE_CHECKING, NoReturn, TypeVar

from ...errors import ConnectionLost, LockTimeout, NotFound, StorageError
from ...index.base import Candidate, Coverage, Index, IndexInspection, PendingBatch, Progress, report_progress
from ...index.handle import IndexHandle, IndexView
from ...index.sync import IndexScope, catch_up, rebuild, update_pages
from ...model import Viewer
from .connection import Database
from .index import PostgresIndex
from .index_tables import LOCK_TIMEOUT, NO_WAIT
from .listen import listen
from .pages import PostgresPages

if TYPE_CHECKING:
    from ...index.embedding_service import EmbeddingService
    from ...index.handle import OnChange, OnStart

Answer = TypeVar("Answer")
_LATEST_SEQ = 2**62  # after every sequence number
_STOP_CHECK_SECONDS = 0.5
_UPDATE_BATCH_PAGES = 200  # pages in one transaction
_BUILD_BATCH_PAGES = 500  # the same for a long build: a word is counted once for all of them
# Pause this many times as long as an update took, for each writer that updates: a fortieth of the time goes into them.
_UPDATE_REST_FACTOR = 39
_MAX_UPDATERS = 16  # writers that are taken into account
_BUILD_TRIES = 10  # of a long build that conflicts with other writers
_REPLICA_REST_SECONDS = 10.0  # how long to leave a replica alone that did not answer: each try may delay a search


class PostgresIndexHandle(IndexHandle):
    def __init__(self, database: Database, pages: PostgresPages, scope: IndexScope) -> None:
        self.scope = scope
        self._database = database
        self._pages = pages
        self._index = PostgresIndex(database, scope.fingerprint)
        self._next_update_at = 0.0
        self._updated_seq = 0  # where the index was after this handle's last update
        self._updaters = 1.0  # how many handles like this one keep the index up to date
        self._lock = Lock()

    def query(self, answer: Callable[[IndexView], Answer], below: str | None = None) -> Answer:
        return answer(self._catch_up(report_progress))

    def peek(self, answer: Callable[[Index], Answer]) -> Answer | None:
        with suppress(StorageError):
            return answer(self._index)
        return None

    @property
    def can_look_ahead(self) -> bool:
        """Return whether this thread is writing, and the index will not take that in: then it can be asked already."""
        return self._database.is_pipelined and time.monotonic() < self._next_update_at

    def look_ahead(self, keys: Sequence[int], viewer: Viewer, limit: int) -> Callable[[], list[Candidate]]:
        return self._index.send_fact_query(keys, viewer, limit)

    def update(self, paths: Iterable[str]) -> None:
        """Index what was just written, unless another process does or writes come too fast.

        The next search catches up with the rest, so a failure costs nothing.
        """
        started = time.monotonic()
        if started < self._next_update_at:
            return
        with suppress(NotFound, *_update_failures()):
            self._update_batch(NO_WAIT)
        ended = time.monotonic()
        self._next_update_at = ended + _UPDATE_REST_FACTOR * self._updaters * (ended - started)

    def purge(self) -> None:
        self._catch_up(report_progress)
        self._index.purge()

    def build(self, progress: Progress, *, anew: bool) -> Index:
        if anew:
            upto = self._pages.changed_since(_LATEST_SEQ).seq
            rebuild(self._index, self._pages, self.scope, progress)
            self._index.set_seq(upto)
        self._catch_up(progress)
        self._index.analyze()
        return self._index

    def watch(self, stop: Event, on_change: OnChange, embedding: EmbeddingService | None, on_start: OnStart) -> None:
        """Report changes until `stop` is set: woken by notifications, or by polling if there are none."""
        from ...index.watcher import PageChanges, WatchMode

        changed = Event()
        since = self._pages.changed_since(_LATEST_SEQ).seq
        with listen(self._database, lambda _seq: changed.set()):
            on_start(WatchMode(events=True))
            while not stop.is_set():
                if not changed.wait(_STOP_CHECK_SECONDS):
                    continue
                changed.clear()
                try:
                    news = self._pages.changed_since(since)
                except NotFound:  # removals were forgotten: anything may have changed
                    news = self._pages.changed_since(0)
                since = news.seq
                if news.changed or news.removed:
                    self.query(lambda view: embedding.acquire(view.index) if embedding else None)
                    on_change(PageChanges(tuple(news.changed), tuple(news.removed)))

    def inspect(self) -> IndexInspection:
        status = self._index.status()
        versions = self._index.versions()
        return IndexInspection(
            "commonplace.indexes",
            "ok" if status.indexed_seq or versions else "missing",
            "",
            self._index.stamps(),
            versions,
            dict(status.warnings),
            seq=status.indexed_seq,
            lag_is_normal=True,
        )

    def find_changes(self, inspection: IndexInspection) -> set[str] | None:
        try:
            changes = self._pages.changed_since(inspection.seq)
        except NotFound:  # removals were forgotten: anything may have changed
            return None
        return {*changes.changed, *changes.removed}

    def _catch_up(self, progress: Progress) -> IndexView:
        status = self._index.status()
        if status.written_seq == status.indexed_seq:
            return IndexView(self._index, False, (), status.warnings)
        try:
            with self._lock:
                self._follow_pages(status.indexed_seq, progress)
        except LockTimeout:
            return self._stale_view("another process is indexing many pages: the answer may miss some until it is done")
        except _update_failures() as error:  # what is indexed already can still answer
            return self._stale_view(f"the index is behind ({error})")
        return IndexView(self._index, False, (), tuple(self._index.warnings()))

    def _stale_view(self, note: str) -> IndexView:
        return IndexView(self._index, True, (note,), tuple(self._index.warnings()))

    def _follow_pages(self, indexed_seq: int, progress: Progress) -> None:
        """Bring the index to where the pages are now."""
        if indexed_seq:
            with suppress(NotFound):  # removals were forgotten: compare all pages instead
                while self._update_batch(LOCK_TIMEOUT):
                    pass
                return
        upto = self._pages.changed_since(_LATEST_SEQ).seq
        for tries_left in reversed(range(_BUILD_TRIES)):
            try:
                catch_up(self._index, self._pages, self.scope, None, progress=progress, batch=_BUILD_BATCH_PAGES)
                break
            except _conflicts():  # the next try goes on where this one stopped
                if not tries_left:
                    raise
        self._index.set_seq(upto)

    def _update_batch(self, lock_timeout: str) -> bool:
        """Index a batch of what was written since; return whether there may be more."""

        def work() -> bool:
            seq = self._index.seq
            news = self._pages.changed_since(seq, _UPDATE_BATCH_PAGES)
            paths = (*news.changed, *news.removed)
            update_pages(self._index, self._pages, self.scope, paths)
            self._index.seq = news.seq
            self._count_updaters(seq, news.seq)
            return len(paths) == _UPDATE_BATCH_PAGES

        return self._index.write(work, lock_timeout)

    def _count_updaters(self, before: int, after: int) -> None:
        """Estimate how many handles update the index, by how much the others did since this handle's last update, and
        how much it did now: together they take no more time than one alone."""
        if 0 < self._updated_seq <= before and before < after:
            others = (before - self._updated_seq) / (after - before)
            self._updaters = min(1 + others, _MAX_UPDATERS)
        self._updated_seq = after


def _update_failures() -> tuple[type[Exception], ...]:
    """Return what keeps an index from catching up: the server, or a concurrent writer. The next search tries again."""
    return StorageError, *_conflicts()


def _conflicts() -> tuple[type[Exception], ...]:
    from psycopg import errors

    return errors.SerializationFailure, errors.DeadlockDetected


class ReplicaIndexHandle(PostgresIndexHandle):
    """Searches a replica while it has everything this handle wrote, else the primary; updates the primary.

    Both sequence numbers are read from the replica: of the pages there, and of the index there.
    """

    def __init__(self, database: Database, pages: PostgresPages, scope: IndexScope, replica: Database) -> None:
        super().__init__(database, pages, scope)
        self._replica = replica
        self._replica_index = _ReplicaIndex(replica, scope.fingerprint)
        self._failure = ""
        self._retry_at = 0.0

    def query(self, answer: Callable[[IndexView], Answer], below: str | None = None) -> Answer:
        try:
            if time.monotonic() >= self._retry_at:
                return self._ask_replica(answer)
        except _replica_failures():
            pass  # behind, away, or what it replays just now got in the way
        if not self._failure:
            return super().query(answer, below)
        note = f"the replica for searches did not answer ({self._failure}): the database itself did"
        return super().query(lambda view: answer(replace(view, warnings=(*view.warnings, note))), below)

    def _ask_replica(self, answer: Callable[[IndexView], Answer]) -> Answer:
        """Run in one transaction, so that all statements reach the same server, even if several share a name."""
        try:
            with self._replica.transaction(snapshot=True):
                status = self._replica_index.status()
                self._failure = ""
                if status.indexed_seq != status.written_seq or status.written_seq < self._database.last_seq:
                    raise _ReplicaBehind
                return answer(IndexView(self._replica_index, False, (), status.warnings))
        except ConnectionLost as error:
            self._failure = str(error)
            self._retry_at = time.monotonic() + _REPLICA_REST_SECONDS
            raise

    def close(self) -> None:
        self._replica.close()


class _ReplicaBehind(Exception):
    """The replica does not have it yet, or it would have to be written."""


def _replica_failures() -> tuple[type[Exception], ...]:
    return _ReplicaBehind, *_update_failures()


class _ReplicaIndex(PostgresIndex):
    """The index on a replica: whatever is still to be written there, the primary has to do."""

    def next_pending(self, space: str, limit: int, viewer: Viewer | None = None) -> PendingBatch | None:
        if super().next_pending(space, limit, viewer) is not None:
            raise _ReplicaBehind
        return None

    def coverage(self, space: str, viewer: Viewer | None = None) -> Coverage:
        coverage = super().coverage(space, viewer)
        if coverage.behind:
            raise _ReplicaBehind
        return coverage

    def write_transaction(self) -> NoReturn:
        raise _ReplicaBehind

    def write(self, work: Callable[[], Answer], lock_timeout: str = "") -> NoReturn:
        raise _ReplicaBehind
