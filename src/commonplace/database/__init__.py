"""ONE DATABASE FOR MANY MACHINES: connections to PostgreSQL, each transaction bound to one tenant.

What a transaction may see is decided by the server (row-level security), not by the statements it sends. A statement
that another writer got in the way of is tried again; what was acknowledged is committed.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote

from ..errors import ConnectionLost, InvalidArgument, NotInstalled, StorageError

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

Answer = TypeVar("Answer")
DEFAULT_TENANT = "default"
ROLE = "commonplace_member"  # what every transaction runs as: row-level security does not bind owners of everything
PATIENCE = 30.0  # seconds that work is tried again: longer than a server takes to start again
_STATEMENT = 15_000  # milliseconds that a statement may take; migrations and bulk loads set their own
_WAIT = 15.0  # seconds for a connection out of the pool
_MOST_CONNECTIONS = 8
_CALM = 0.005, 0.5  # seconds between tries, at first and at the most


class Address(NamedTuple):
    """A database, and whose rows of it. `tenant` stands in the URL beside what the server itself understands."""

    url: str
    tenant: str = DEFAULT_TENANT


def address_of(home: str) -> Address:
    """`postgresql://user@host/db?tenant=acme`; without a tenant it is `default`."""
    # By hand: what takes URLs apart and puts them together again does not give back the ones that libpq takes.
    url, _, query = home.partition("?")
    asked = [each for each in query.split("&") if each]
    tenants = [unquote(each.removeprefix("tenant=")) for each in asked if each.startswith("tenant=")]
    if len(tenants) > 1 or "" in tenants or any("\0" in tenant or len(tenant) > 200 for tenant in tenants):
        raise InvalidArgument("a database URL names one tenant, of at most 200 characters: ?tenant=NAME")
    rest = "&".join(each for each in asked if not each.startswith("tenant="))
    return Address(f"{url}?{rest}" if rest else url, *tenants)


class Database:
    """Safe to share between threads. Connections are made when they are needed, and made anew after a restart."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._open = threading.local()
        self._opening = threading.Lock()

    @property
    def tenant(self) -> str:
        return self.address.tenant

    @cached_property
    def _pool(self) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        return self._new_pool()

    @cached_property
    def _holding(self) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        """For transactions that last while others work: they must not take the connections that work needs."""
        return self._new_pool()

    @cached_property
    def _asking(self) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        """For single statements that only read: they are tried again, so nobody looks first whether the wire stands."""
        return self._new_pool(checked=False)

    def _new_pool(self, *, checked: bool = True) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        try:
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error
        _keep_quiet()
        return ConnectionPool(
            self.address.url, min_size=0, max_size=_MOST_CONNECTIONS, open=True, timeout=_WAIT,
            check=ConnectionPool.check_connection if checked else None, kwargs=_settings(), reconnect_timeout=_WAIT,
        )  # fmt: skip

    @contextmanager
    def transaction(
        self, *, statement_ms: int = _STATEMENT, snapshot: bool = False
    ) -> Iterator[Connection[tuple[Any, ...]]]:
        """All or nothing, as one tenant. What goes wrong with the server is a StorageError.

        One inside of another, in the same thread, is a part of it: it sees what that one did. With `snapshot` all its
        statements see one state, whatever others commit meanwhile.
        """
        outer: Connection[tuple[Any, ...]] | None = getattr(self._open, "connection", None)
        with _told_errors():
            if outer is not None:
                with outer.transaction():
                    yield outer
                return
            with self._opening:
                pool = self._pool
            with pool.connection() as connection, _isolated(connection, snapshot=snapshot), connection.transaction():
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
        with self._opening:
            pool = self._holding
        with _told_errors(), pool.connection() as connection, connection.transaction(force_rollback=True):
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
        with _told_errors(), psycopg.connect(self.address.url, **_settings()) as connection:
            yield connection

    def _bind(self, connection: Connection[tuple[Any, ...]], statement_ms: int) -> None:
        connection.execute(
            "SELECT set_config('commonplace.tenant', %s, true), set_config('role', %s, true),"
            " set_config('statement_timeout', %s, true)",
            (self.tenant, ROLE, str(statement_ms)),
        )

    def run(self, work: Callable[[Connection[tuple[Any, ...]]], Answer], *, statement_ms: int = _STATEMENT) -> Answer:
        """What some work answers, in a transaction of its own, tried again when another writer got in its way.

        It may run more than once, and its last run may have been committed although the server's word did not arrive:
        work that writes must say by itself, from what it finds, that it is done already.
        """
        try:
            import psycopg
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error

        deadline = time.monotonic() + PATIENCE
        pause, longest = _CALM
        inside = getattr(self._open, "connection", None) is not None
        while True:
            try:
                with self.transaction(statement_ms=statement_ms) as connection:
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
        outer: Connection[tuple[Any, ...]] | None = getattr(self._open, "connection", None)
        if outer is not None:
            with _told_errors():
                _set(outer, settings or {})
                return outer.execute(statement, values, prepare=False).fetchall()
        deadline, pause = time.monotonic() + patience, _CALM[0]
        while True:
            try:
                with self._opening:
                    pool = self._asking
                with _told_errors(), pool.connection() as connection:
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
        for name in ("_pool", "_holding", "_asking"):
            pool = self.__dict__.pop(name, None)
            if pool is not None:
                pool.close()


def _set(connection: Connection[tuple[Any, ...]], settings: Mapping[str, str]) -> None:
    """What the server should keep to, up to the end of the transaction."""
    for each in settings.items():
        connection.execute("SELECT set_config(%s, %s, true)", each)


@contextmanager
def _isolated(connection: Connection[tuple[Any, ...]], *, snapshot: bool) -> Iterator[None]:
    from psycopg import IsolationLevel

    connection.isolation_level = IsolationLevel.REPEATABLE_READ if snapshot else None
    try:
        yield
    finally:
        if not connection.closed:
            connection.isolation_level = None


def _keep_quiet() -> None:
    """A connection that is made anew is no news for a terminal; who collects logs still gets it."""
    import logging

    logger = logging.getLogger("psycopg")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _settings() -> dict[str, Any]:
    """The name tells others who holds what they wait for; see `pages/postgres.py`."""
    return {
        "autocommit": True, "client_encoding": "UTF8", "connect_timeout": int(_WAIT),
        "application_name": f"commonplace {os.getpid()} on {socket.gethostname()}"[:63],
    }  # fmt: skip


@contextmanager
def _told_errors() -> Iterator[None]:
    """What goes wrong with the server, as one of our errors; what is to be tried again stays what it is."""
    import psycopg

    try:
        yield
    except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
        raise
    except psycopg.Error as error:
        raise _told(error) from error


def _told(error: Exception) -> StorageError:
    import psycopg

    text = str(error).strip().partition("\n")[0]
    if _is_unmade(error):
        return StorageError("the database has not all tables of commonplace: run `commonplace db migrate`")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return StorageError("the database took too long over a statement: try again, or ask for less")
    if isinstance(error, psycopg.errors.InsufficientPrivilege) and "set role" in text:
        return StorageError(f"this user may not use the memory: have an owner run GRANT {ROLE} TO the user")
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return ConnectionLost(f"the database can not be reached ({text}): see that it runs, then try again")
    return StorageError(f"the database refused ({text}): see `commonplace db status`")


def _is_unmade(error: Exception) -> bool:
    import psycopg

    kinds = (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedColumn)
    if isinstance(error, kinds):
        return True
    return isinstance(error, psycopg.errors.InvalidParameterValue) and ROLE in str(error)
