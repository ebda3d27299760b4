"""Questions go to a replica of the database while it knows all that this handle wrote, else to the database itself.

Both numbers are read off the replica: up to where the pages are there, and up to where the index there has followed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, NoReturn, TypeVar

from ...errors import ConnectionLost, StorageError
from ...index.base import Coverage, Index, Pending, Progress
from ...index.handle import View
from ...index.sync import Territory
from .connection import Database
from .index import PostgresIndex
from .index_handle import PostgresIndexHandle

if TYPE_CHECKING:
    from ...index.embedding_service import Meaning
    from ...index.handle import Starts, Told

Answer = TypeVar("Answer")
_REST = 10.0  # seconds that a replica which is away is left alone: each try may cost a question the wait for it


class ReplicaIndexHandle:
    """Follows in the database itself, and asks the replica."""

    def __init__(self, follower: PostgresIndexHandle, replica: Database, database: Database) -> None:
        self.territory: Territory = follower.territory
        self._follower, self._replica, self._database = follower, replica, database
        self._index = _OnReplica(replica, follower.territory.fingerprint)
        self._away, self._until = "", 0.0

    def ask(self, question: Callable[[View], Answer], below: str | None = None) -> Answer:
        from psycopg import errors

        try:
            if time.monotonic() >= self._until:
                return self._asked(question)
        except (_Behind, StorageError, errors.SerializationFailure, errors.DeadlockDetected):
            pass  # it is behind, or what it replays just now got in the way
        if not self._away:
            return self._follower.ask(question, below)
        note = f"the replica for searches did not answer ({self._away}): the database itself did"
        return self._follower.ask(lambda view: question(replace(view, notes=(*view.notes, note))), below)

    def _asked(self, question: Callable[[View], Answer]) -> Answer:
        """Within one transaction, so that all of it comes to the same server where several share a name."""
        try:
            with self._replica.transaction(snapshot=True):
                standing = self._index.standing()
                self._away = ""
                if standing.followed != standing.written or standing.written < self._database.last_seq:
                    raise _Behind
                return question(View(self._index, False, (), standing.warnings))
        except ConnectionLost as error:
            self._away, self._until = str(error), time.monotonic() + _REST
            raise

    def touched(self, paths: Iterable[str]) -> None:
        self._follower.touched(paths)

    def purge(self) -> None:
        self._follower.purge()

    def look_again(self) -> None:
        self._follower.look_again()

    def build(self, progress: Progress, *, anew: bool) -> Index:
        return self._follower.build(progress, anew=anew)

    def watch(self, stop: Event, told: Told, meaning: Meaning | None, starts: Starts) -> None:
        self._follower.watch(stop, told, meaning, starts)

    def close(self) -> None:
        self._follower.close()
        self._replica.close()


class _Behind(Exception):
    """What was asked for is not on the replica yet, or is to be written."""


class _OnReplica(PostgresIndex):
    """The index as a replica has it: what is still to be written there is the database's own to do."""

    def pending(self, space: str, limit: int) -> Pending | None:
        if super().pending(space, limit) is not None:
            raise _Behind
        return None

    def coverage(self, space: str) -> Coverage:
        found = super().coverage(space)
        if found.behind:
            raise _Behind
        return found

    def writing(self) -> NoReturn:
        raise _Behind

    def written(self, work: Callable[[], Answer], patience: str = "") -> NoReturn:
        raise _Behind
