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
from ...index.base import Coverage, Index, PendingBatch, Progress
from ...index.handle import IndexView
from ...index.sync import IndexScope
from .connection import Database
from .index import PostgresIndex
from .index_handle import PostgresIndexHandle

if TYPE_CHECKING:
    from ...index.embedding_service import EmbeddingService
    from ...index.handle import OnChange, OnStart

Answer = TypeVar("Answer")
_REST = 10.0  # seconds that a replica which is away is left alone: each try may cost a question the wait for it


class ReplicaIndexHandle:
    """Follows in the database itself, and asks the replica."""

    def __init__(self, follower: PostgresIndexHandle, replica: Database, database: Database) -> None:
        self.scope: IndexScope = follower.scope
        self._follower, self._replica, self._database = follower, replica, database
        self._index = _OnReplica(replica, follower.scope.fingerprint)
        self._away, self._until = "", 0.0

    def query(self, question: Callable[[IndexView], Answer], below: str | None = None) -> Answer:
        from psycopg import errors

        try:
            if time.monotonic() >= self._until:
                return self._asked(question)
        except (_Behind, StorageError, errors.SerializationFailure, errors.DeadlockDetected):
            pass  # it is behind, or what it replays just now got in the way
        if not self._away:
            return self._follower.query(question, below)
        note = f"the replica for searches did not answer ({self._away}): the database itself did"
        return self._follower.query(lambda view: question(replace(view, warnings=(*view.warnings, note))), below)

    def _asked(self, question: Callable[[IndexView], Answer]) -> Answer:
        """Within one transaction, so that all of it comes to the same server where several share a name."""
        try:
            with self._replica.transaction(snapshot=True):
                standing = self._index.standing()
                self._away = ""
                if standing.followed != standing.written or standing.written < self._database.last_seq:
                    raise _Behind
                return question(IndexView(self._index, False, (), standing.warnings))
        except ConnectionLost as error:
            self._away, self._until = str(error), time.monotonic() + _REST
            raise

    def update(self, paths: Iterable[str]) -> None:
        self._follower.update(paths)

    def purge(self) -> None:
        self._follower.purge()

    def invalidate(self) -> None:
        self._follower.invalidate()

    def build(self, progress: Progress, *, anew: bool) -> Index:
        return self._follower.build(progress, anew=anew)

    def watch(self, stop: Event, on_change: OnChange, embedding: EmbeddingService | None, on_start: OnStart) -> None:
        self._follower.watch(stop, on_change, embedding, on_start)

    def close(self) -> None:
        self._follower.close()
        self._replica.close()


class _Behind(Exception):
    """What was asked for is not on the replica yet, or is to be written."""


class _OnReplica(PostgresIndex):
    """The index as a replica has it: what is still to be written there is the database's own to do."""

    def next_pending(self, space: str, limit: int) -> PendingBatch | None:
        if super().next_pending(space, limit) is not None:
            raise _Behind
        return None

    def coverage(self, space: str) -> Coverage:
        found = super().coverage(space)
        if found.behind:
            raise _Behind
        return found

    def write_transaction(self) -> NoReturn:
        raise _Behind

    def written(self, work: Callable[[], Answer], patience: str = "") -> NoReturn:
        raise _Behind
