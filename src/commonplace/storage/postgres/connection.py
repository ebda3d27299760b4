"""ONE DATABASE FOR MANY MACHINES: connections to PostgreSQL, each transaction bound to one tenant.

What a transaction may see is decided by the server (row-level security), not by the statements it sends. A statement
that another writer got in the way of is tried again; what was acknowledged is committed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import ConnectionLost, NotInstalled, StorageError
from .errors import ROLE, told_errors
from .pool import Pools, given_back, lent, settings, taken
from .url import DEFAULT_TENANT, Address, address_of, searching, with_tenant

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["DEFAULT_TENANT", "PATIENCE", "ROLE", "Address", "Database", "address_of", "searching", "with_tenant"]
Answer = TypeVar("Answer")
PATIENCE = 30.0  # seconds that work is tried again: longer than a server takes to start again
_STATEMENT = 15_000  # milliseconds that a statement may take; what goes over a whole memory sets its own
_CALM = 0.005, 0.5  # seconds between tries, at first and at the most


class Database:
    """Safe to share between threads. Connections are made when they are needed, and made anew after a restart."""

    _shared: Pools | None

    def __init__(self, address: Address, *, is_main: bool = True) -> None:
        """`is_main`: whether it is waited for. For one that another can stand in for, nobody does for long."""
        self.address, self._is_main = address, is_main
        self.written = 0  # the number of the last write that was confirmed here; see `listen.tell`
        self._begin()

    @property
    def tenant(self) -> str:
        return self.address.tenant

    @property
    def _pools(self) -> Pools:
        self._look_at_process()
        with self._opening:
            if self._shared is None:
                self._shared = taken(self.address.url, is_main=self._is_main)
            return self._shared

    @property
    def _inside(self) -> Connection[tuple[Any, ...]] | None:
        """The transaction that this thread is in."""
        self._look_at_process()
        connection: Connection[tuple[Any, ...]] | None = getattr(self._open, "connection", None)
        return connection

    def _look_at_process(self) -> None:
        """A process that was forked off is in no transaction, and has no connections."""
        if self._process != os.getpid():
            self._begin()

    def _begin(self) -> None:
        self._process, self._open, self._opening = os.getpid(), threading.local(), threading.Lock()
        self._shared = None

    @contextmanager
    def transaction(
        self, *, statement_ms: int = _STATEMENT, snapshot: bool = False, in_flights: bool = False
    ) -> Iterator[Connection[tuple[Any, ...]]]:
        """All or nothing, as one tenant. What goes wrong with the server is a StorageError.

        One inside of another, in the same thread, is a part of it: it sees what that one did. With `snapshot` all its
        statements see one state, whatever others commit meanwhile. `in_flights`: see `run`.
        """
        outer = self._inside
        with told_errors():
            if outer is not None:
                with outer.transaction():
                    yield outer
                return
            pools = self._pools
            with (
                lent(pools.of("asking" if in_flights else "work"), pools.url) as connection,
                _isolated(connection, snapshot=snapshot),
                connection.pipeline() if in_flights else nullcontext(),
                connection.transaction(),
            ):
                self._bind(connection, statement_ms)
                self._open.connection = connection
                try:
                    yield connection
                finally:
                    self._open.connection = None

    @contextmanager
    def aside(self, *, statement_ms: int = _STATEMENT) -> Iterator[Connection[tuple[Any, ...]]]:
        """A transaction beside the others of this thread, on a connection that they do not wait for. It is not
        committed: what it does holds as long as it lasts."""
        pools = self._pools
        with (
            told_errors(),
            lent(pools.of("holding"), pools.url) as connection,
            connection.pipeline(),
            connection.transaction(force_rollback=True),
        ):
            self._bind(connection, statement_ms)
            yield connection

    @contextmanager
    def maintenance(self) -> Iterator[Connection[tuple[Any, ...]]]:
        """A connection as who the URL names: bound to no tenant, in no transaction. For the tables, not for what is
        in them."""
        try:
            import psycopg
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error
        with told_errors(), psycopg.connect(self.address.url, **settings(self.address.url)) as connection:
            yield connection

    def _bind(self, connection: Connection[tuple[Any, ...]], statement_ms: int) -> None:
        connection.execute(
            "SELECT set_config('commonplace.tenant', %s, true), set_config('role', %s, true),"
            " set_config('statement_timeout', %s, true)",
            (self.tenant, ROLE, str(statement_ms)),
        )

    def run(
        self,
        work: Callable[[Connection[tuple[Any, ...]]], Answer],
        *,
        statement_ms: int = _STATEMENT,
        in_flights: bool = False,
    ) -> Answer:
        """What some work answers, in a transaction of its own, tried again when another writer got in its way.

        With `in_flights` a statement is sent when its answer, or that of a later one, is asked for; the last ones go
        together with the commit, and their answers are there afterwards. So who waits for a row waits for the server,
        and not for this process to hear and to answer.

        It may run more than once, and its last run may have been committed although the server's word did not arrive:
        work that writes must say by itself, from what it finds, that it is done already.
        """
        try:
            import psycopg
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error

        deadline = time.monotonic() + PATIENCE
        pause, longest = _CALM
        inside = self._inside is not None
        while True:
            try:
                with self.transaction(statement_ms=statement_ms, in_flights=in_flights) as connection:
                    return work(connection)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                if inside:  # only the whole can be tried again
                    raise
                if time.monotonic() > deadline:
                    raise StorageError("the database is too busy with the same page: try again") from error
            except ConnectionLost:
                if inside or time.monotonic() > deadline:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, longest)

    def rows(
        self,
        statement: str,
        values: Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
        *,
        patience: float = PATIENCE,
    ) -> list[tuple[Any, ...]]:
        """What one statement that only reads answers: it goes to the server together with all that binds it to the
        tenant, so that it costs one round trip. Within a transaction of this thread it is a part of that."""
        outer = self._inside
        if outer is not None:
            with told_errors():
                _set(outer, settings or {})
                return outer.execute(statement, values, prepare=False).fetchall()
        deadline, pause = time.monotonic() + patience, _CALM[0]
        while True:
            try:
                pools = self._pools
                with told_errors(), lent(pools.of("asking"), pools.url) as connection:
                    with connection.pipeline():  # what stands before its end is one transaction
                        self._bind(connection, _STATEMENT)
                        _set(connection, settings or {})
                        cursor = connection.execute(statement, values, prepare=False)
                    return cursor.fetchall()
            except ConnectionLost:
                if time.monotonic() > deadline:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, _CALM[1])

    def close(self) -> None:
        if self._process == os.getpid() and self._shared is not None:
            pools, self._shared = self._shared, None
            given_back(pools)


def _set(connection: Connection[tuple[Any, ...]], settings: Mapping[str, str]) -> None:
    """What the server should keep to, up to the end of the transaction."""
    if settings:
        each = ", ".join(["set_config(%s, %s, true)"] * len(settings))
        connection.execute(f"SELECT {each}".encode(), [part for item in settings.items() for part in item])


@contextmanager
def _isolated(connection: Connection[tuple[Any, ...]], *, snapshot: bool) -> Iterator[None]:
    from psycopg import IsolationLevel
    from psycopg.pq import TransactionStatus

    connection.isolation_level = IsolationLevel.REPEATABLE_READ if snapshot else None
    try:
        yield
    finally:
        if connection.info.transaction_status == TransactionStatus.IDLE:
            connection.isolation_level = None
        else:  # what came of the commit is not known: nobody uses this connection again
            connection.close()
