"""An index in a database follows the pages there: who asks reads what was written since it last asked, by number.

Whoever is first among many machines does the work; the others find it done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

from ..database import Database
from ..database.listen import listening
from ..errors import LockTimeout, NotFound, StorageError
from ..pages.postgres import PostgresPages
from . import Index, Progress, tell_asker
from .follow import View
from .postgres import PostgresIndex
from .sync import Territory, catch_up, rebuild, refresh

if TYPE_CHECKING:
    from .follow import Starts, Told
    from .meaning import Meaning

Answer = TypeVar("Answer")
_LATEST = 2**62  # after every number that was given out
_PATIENCE = 0.5  # seconds: how soon one who watches sees that it shall end


class DatabaseFollower:
    def __init__(self, database: Database, pages: PostgresPages, territory: Territory) -> None:
        self.territory, self._pages, self._database = territory, pages, database
        self._index = PostgresIndex(database, territory.fingerprint)
        self._seq: int | None = None  # up to which number of the pages this process knows the index to be
        self._lock = Lock()

    def ask(self, question: Callable[[View], Answer], below: str | None = None) -> Answer:
        """What the index answers, after it caught up with the pages."""
        return question(self._caught_up(tell_asker))

    def touched(self, paths: Iterable[str]) -> None:
        """Pages were just written: follow at once. A failure costs nothing, the next question reads them."""
        with suppress(*_failures()):
            refresh(self._index, self._pages, self.territory, paths)

    def purge(self) -> None:
        """Leave nothing of what was removed from pages."""
        self._caught_up(tell_asker)
        self._index.purge()

    def look_again(self) -> None:
        """The next question looks at the pages: as every question does here."""

    def build(self, progress: Progress, *, anew: bool) -> Index:
        """Bring the index up to date, or make it anew from the pages, and wait for it."""
        if anew:
            rebuild(self._index, self._pages, self.territory, progress)
        self._caught_up(progress)
        return self._index

    def watch(self, stop: Event, told: Told, meaning: Meaning | None, starts: Starts) -> None:
        """Woken by the server's notices, or by asking every second where there are none."""
        from .watch import How, Seen

        bell, since = Event(), self._pages.changed_since(_LATEST).seq
        with listening(self._database, lambda seq: bell.set()):
            starts(How(events=True))
            while not stop.is_set():
                if not bell.wait(_PATIENCE):
                    continue
                bell.clear()
                try:
                    news = self._pages.changed_since(since)
                except NotFound:  # what was removed since is not known any more: what is there may have changed
                    news = self._pages.changed_since(0)
                since = news.seq
                if news.changed or news.removed:
                    self.ask(lambda view: meaning.serve(view.index) if meaning else None)
                    told(Seen(tuple(news.changed), tuple(news.removed)))

    def close(self) -> None:
        """Connections are the database's own."""

    def _caught_up(self, progress: Progress) -> View:
        try:
            with self._lock:
                self._look(progress)
        except LockTimeout:
            note = "another process is indexing many pages: the answer may miss some until it is done"
            return View(self._index, True, (note,), tuple(self._index.warnings()))
        except _failures() as error:  # what is indexed already can still answer
            note = f"the index is behind ({error})"
            return View(self._index, True, (note,), tuple(self._index.warnings()))
        return View(self._index, False, (), tuple(self._index.warnings()))

    def _look(self, progress: Progress) -> None:
        if self._seq is not None:
            try:
                news = self._pages.changed_since(self._seq)
            except NotFound:  # too much has happened to tell: all is compared
                self._seq = None
            else:
                if news.changed or news.removed:
                    refresh(self._index, self._pages, self.territory, (*news.changed, *news.removed))
                self._seq = news.seq
                return
        upto = self._pages.changed_since(_LATEST).seq
        catch_up(self._index, self._pages, self.territory, None, progress=progress)
        self._seq = upto


def _failures() -> tuple[type[Exception], ...]:
    """What keeps an index from following: the server, or another writer that came first. Who asks next tries again."""
    from psycopg import errors

    return StorageError, errors.SerializationFailure, errors.DeadlockDetected
