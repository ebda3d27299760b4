"""Access to the tables of the index: one writer at a time by a row lock, readers on one snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import LockTimeout, StorageError
from .connection import Database, Row
from .visibility import OWN_ROWS, lexeme_prefix

if TYPE_CHECKING:
    from .connection import Connection

Answer = TypeVar("Answer")
LOCK_TIMEOUT = "2s"  # how long to wait for another writer; then the answer is marked stale instead
NO_WAIT = "1ms"  # for callers who need not wait: whoever holds the lock does the same work
_WRITE_TIMEOUT_MS = 300_000
_ANALYZE_PASSAGES = 1_000  # from this many passages on, the planner's statistics matter
TABLES = ("pages", "owners", "frequencies", "passages", "words", "records", "spaces", "vectors")
_COUNTERS = ("passages", "owners", "spaces", "seq")


class Counters:
    """The last ids given out, and `seq`, the page sequence number that the index is up to. Only a writer has them."""

    def __init__(self, connection: Connection, *numbers: int) -> None:
        self.connection = connection
        self.passages, self.owners, self.spaces, self.seq, self.analyzed_passages = numbers
        self.needs_analyze = False
        self._before = self.as_dict()

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in _COUNTERS}

    @property
    def has_changed(self) -> bool:
        return self.as_dict() != self._before


class IndexTables:
    """The rows of one index of a tenant. Safe to share between threads."""

    def __init__(self, database: Database, index_key: str) -> None:
        self.database = database
        self.own = {
            "tenant": database.tenant,
            "index_key": index_key,
            "mark": lexeme_prefix(database.tenant, index_key),
        }
        self._thread_state = threading.local()

    def query(
        self, sql: str, values: Mapping[str, Any] | None = None, settings: Mapping[str, str] | None = None
    ) -> list[Row]:
        """Return the rows of a statement: in one round trip, or within what this thread has begun."""
        snapshot: ExitStack | None = getattr(self._thread_state, "pending_snapshot", None)
        if snapshot is not None:
            snapshot.enter_context(self.database.transaction(snapshot=True))
            self._thread_state.pending_snapshot = None
        return self.database.query(sql, {**self.own, **(values or {})}, settings)

    def execute(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        """Run a statement and return its rows, within `write_transaction`."""
        cursor = self.counters.connection.execute(sql, {**self.own, **(values or {})})
        return cursor.fetchall() if cursor.description else []

    def send(self, sql: str, values: Mapping[str, Any] | None = None) -> None:
        """Run a statement without waiting for its result, within `write_transaction`."""
        self.counters.connection.execute(sql, {**self.own, **(values or {})})

    def send_many(self, sql: str, values: list[dict[str, Any]]) -> None:
        if values:
            self.counters.connection.cursor().executemany(sql, [{**self.own, **row} for row in values])

    def pipeline(self) -> AbstractContextManager[Any]:
        """Send the statements of this block together, within `write_transaction`."""
        return self.counters.connection.pipeline()

    @property
    def is_writing(self) -> bool:
        return getattr(self._thread_state, "counters", None) is not None

    @property
    def counters(self) -> Counters:
        counters: Counters | None = getattr(self._thread_state, "counters", None)
        if counters is None:
            raise RuntimeError("an index is written within `write_transaction`")
        return counters

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Show one snapshot to all statements of a block; it begins with the first, since many blocks send none."""
        if getattr(self._thread_state, "is_reading", False) or self.is_writing:
            yield
            return
        with ExitStack() as stack:
            self._thread_state.is_reading = True
            self._thread_state.pending_snapshot = stack
            try:
                yield
            finally:
                self._thread_state.is_reading = False
                self._thread_state.pending_snapshot = None

    @contextmanager
    def without_snapshot(self) -> Iterator[None]:
        """Run a statement that need not begin the snapshot of `read_transaction`, since it is consistent in itself."""
        snapshot = getattr(self._thread_state, "pending_snapshot", None)
        self._thread_state.pending_snapshot = None
        try:
            yield
        finally:
            self._thread_state.pending_snapshot = snapshot

    @contextmanager
    def write_transaction(self) -> Iterator[None]:
        """Apply all of a block or nothing; a nested block of the same thread belongs to the outer one."""
        if self.is_writing:
            yield
            return
        with (
            self.database.transaction(timeout_ms=_WRITE_TIMEOUT_MS) as connection,
            self._hold_index(connection, LOCK_TIMEOUT) as counters,
        ):
            yield
        self._analyze_if_due(counters)

    def write(self, work: Callable[[], Answer], lock_timeout: str = LOCK_TIMEOUT) -> Answer:
        """Run `work` as the only writer and return its answer, retrying from the start on conflicts.

        With NO_WAIT it is not retried.
        """
        if self.is_writing:
            return work()
        attempts: list[Counters] = []

        def attempt(connection: Connection) -> Answer:
            with self._hold_index(connection, lock_timeout) as counters:
                attempts.append(counters)
                return work()

        if lock_timeout == NO_WAIT:
            with self.database.transaction(timeout_ms=_WRITE_TIMEOUT_MS) as connection:
                answer = attempt(connection)
        else:
            answer = self.database.run(attempt, timeout_ms=_WRITE_TIMEOUT_MS)
        self._analyze_if_due(attempts[-1])
        return answer

    @contextmanager
    def _hold_index(self, connection: Connection, lock_timeout: str) -> Iterator[Counters]:
        counters = self._lock_index(connection, lock_timeout)
        self._thread_state.counters = counters
        try:
            yield counters
            if counters.has_changed:
                assignments = ", ".join(f"{name} = %({name})s" for name in _COUNTERS)
                self.send(f"UPDATE commonplace.indexes SET {assignments} WHERE {OWN_ROWS}", counters.as_dict())
        finally:
            self._thread_state.counters = None

    def _lock_index(self, connection: Connection, lock_timeout: str) -> Counters:
        """Lock the row of this index, created if needed, until the transaction ends."""
        from psycopg.errors import LockNotAvailable

        sql = f"SELECT {', '.join(_COUNTERS)}, settled FROM commonplace.indexes WHERE {OWN_ROWS} FOR UPDATE"
        try:
            with connection.pipeline():
                connection.execute("SELECT set_config('lock_timeout', %s, true)", (lock_timeout,))
                cursor = connection.execute(sql, self.own)
            row = cursor.fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO commonplace.indexes VALUES (%(tenant)s, %(index_key)s, 0, 0, 0)"
                    " ON CONFLICT DO NOTHING",
                    self.own,
                )
                row = connection.execute(sql, self.own).fetchone()
        except LockNotAvailable as error:
            raise LockTimeout("another process writes to the index: it follows with the next search") from error
        connection.execute("SELECT set_config('lock_timeout', '0', true)")
        assert row is not None
        return Counters(connection, *row)

    def _analyze_if_due(self, counters: Counters) -> None:
        if counters.needs_analyze or counters.passages >= 2 * counters.analyzed_passages + _ANALYZE_PASSAGES:
            self.analyze(counters.passages)

    def analyze(self, passages: int) -> None:
        """Update the planner's statistics of tables that grew; with old ones a search may take seconds.

        Autovacuum would do it later. A failure loses nothing.
        """

        def work(connection: Connection) -> None:
            connection.execute("SELECT commonplace.index_settle()")
            sql = f"UPDATE commonplace.indexes SET settled = %(passages)s WHERE {OWN_ROWS}"
            connection.execute(sql, {**self.own, "passages": passages})

        with suppress(StorageError):
            self.database.run(work, timeout_ms=_WRITE_TIMEOUT_MS)
