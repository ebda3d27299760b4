"""An index in a database follows the pages there, by their number: who asks reads what the index has not.

Whoever is first among many machines does the work; the others find it done. Who writes does not wait for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

from ...errors import LockTimeout, NotFound, StorageError
from ...index.base import Index, Progress, report_progress
from ...index.handle import IndexView
from ...index.sync import IndexScope, catch_up, rebuild, update_pages
from .connection import Database
from .index import PostgresIndex
from .index_tables import AT_ONCE, PATIENCE
from .listen import listen
from .pages import PostgresPages

if TYPE_CHECKING:
    from ...index.embedding_service import EmbeddingService
    from ...index.handle import OnChange, OnStart

Answer = TypeVar("Answer")
_LATEST = 2**62  # after every number that was given out
_GLANCE = 0.5  # seconds: how soon one who watches sees that it shall end
_SOME = 200  # pages in one transaction
_MANY = 500  # the same of a long build: words that stand in all of them are counted once
_REST = 9  # so many times as long as following took: a tenth of the time of one who writes goes into it, at the most
_TRIES = 10  # of a long build that others get in the way of


class PostgresIndexHandle:
    def __init__(self, database: Database, pages: PostgresPages, scope: IndexScope) -> None:
        self.scope, self._pages, self._database = scope, pages, database
        self._index = PostgresIndex(database, scope.fingerprint)
        self._rested = 0.0
        self._lock = Lock()

    def query(self, question: Callable[[IndexView], Answer], below: str | None = None) -> Answer:
        """What the index answers, after it caught up with the pages."""
        return question(self._caught_up(report_progress))

    def update(self, paths: Iterable[str]) -> None:
        """Pages were just written: follow them, and what others wrote, unless somebody is at it already or writing
        goes on and on. The next question reads the rest; so a failure costs nothing either."""
        started = time.monotonic()
        if started < self._rested:
            return
        with suppress(NotFound, *_failures()):
            self._follow(AT_ONCE)
        ended = time.monotonic()
        self._rested = ended + _REST * (ended - started)

    def purge(self) -> None:
        """Leave nothing of what was removed from pages."""
        self._caught_up(report_progress)
        self._index.purge()

    def invalidate(self) -> None:
        """The next question looks at the pages: as every question does here."""

    def build(self, progress: Progress, *, anew: bool) -> Index:
        """Bring the index up to date, or make it anew from the pages, and wait for it."""
        if anew:
            upto = self._pages.changed_since(_LATEST).seq
            rebuild(self._index, self._pages, self.scope, progress)
            self._index.written(lambda: setattr(self._index, "seq", upto))
        self._caught_up(progress)
        self._index.settle()
        return self._index

    def watch(self, stop: Event, on_change: OnChange, embedding: EmbeddingService | None, on_start: OnStart) -> None:
        """Woken by the server's notices, or by asking every second where there are none."""
        from ...index.watcher import PageChanges, WatchMode

        bell, since = Event(), self._pages.changed_since(_LATEST).seq
        with listen(self._database, lambda seq: bell.set()):
            on_start(WatchMode(events=True))
            while not stop.is_set():
                if not bell.wait(_GLANCE):
                    continue
                bell.clear()
                try:
                    news = self._pages.changed_since(since)
                except NotFound:  # what was removed since is not known any more: what is there may have changed
                    news = self._pages.changed_since(0)
                since = news.seq
                if news.changed or news.removed:
                    self.query(lambda view: embedding.acquire(view.index) if embedding else None)
                    on_change(PageChanges(tuple(news.changed), tuple(news.removed)))

    def close(self) -> None:
        """Connections are the database's own."""

    def _caught_up(self, progress: Progress) -> IndexView:
        standing = self._index.standing()
        if standing.written == standing.followed:
            return IndexView(self._index, False, (), standing.warnings)
        try:
            with self._lock:
                self._look(standing.followed, progress)
        except LockTimeout:
            note = "another process is indexing many pages: the answer may miss some until it is done"
            return IndexView(self._index, True, (note,), tuple(self._index.warnings()))
        except _failures() as error:  # what is indexed already can still answer
            note = f"the index is behind ({error})"
            return IndexView(self._index, True, (note,), tuple(self._index.warnings()))
        return IndexView(self._index, False, (), tuple(self._index.warnings()))

    def _look(self, followed: int, progress: Progress) -> None:
        """Bring the index to where the pages are now."""
        if followed:
            with suppress(NotFound):  # too much has happened to tell: all is compared
                while self._follow(PATIENCE):
                    pass
                return
        upto = self._pages.changed_since(_LATEST).seq
        for left in reversed(range(_TRIES)):
            try:
                catch_up(self._index, self._pages, self.scope, None, progress=progress, batch=_MANY)
                break
            except _conflicts():  # it goes on where it was
                if not left:
                    raise
        self._index.written(lambda: setattr(self._index, "seq", upto))

    def _follow(self, patience: str) -> bool:
        """Read what was written after what the index knows; whether there may be more. One does it for all."""

        def work() -> bool:
            news = self._pages.changed_since(self._index.seq, _SOME)
            paths = (*news.changed, *news.removed)
            update_pages(self._index, self._pages, self.scope, paths)
            self._index.seq = news.seq
            return len(paths) == _SOME

        return self._index.written(work, patience)


def _failures() -> tuple[type[Exception], ...]:
    """What keeps an index from following: the server, or another writer that came first. Who asks next tries again."""
    return StorageError, *_conflicts()


def _conflicts() -> tuple[type[Exception], ...]:
    from psycopg import errors

    return errors.SerializationFailure, errors.DeadlockDetected
