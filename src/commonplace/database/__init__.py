"""ONE DATABASE FOR MANY MACHINES: connections to PostgreSQL, each transaction bound to one tenant.

What a transaction may see is decided by the server (row-level security), not by the statements it sends. A statement
that another writer got in the way of is tried again; what was acknowledged is committed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..errors import ConnectionLost, InvalidArgument, NotInstalled, StorageError

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

Answer = TypeVar("Answer")
SCHEMES = ("postgresql", "postgres")
DEFAULT_TENANT = "default"
ROLE = "commonplace_member"  # what every transaction runs as: row-level security does not bind owners of everything
_TRIES = 8
_STATEMENT = 15_000  # milliseconds that a statement may take; migrations and bulk loads set their own
_WAIT = 15.0  # seconds for a connection out of the pool
_MOST_CONNECTIONS = 8


class Address(NamedTuple):
    """A database, and whose rows of it. `tenant` stands in the URL beside what the server itself understands."""

    url: str
    tenant: str = DEFAULT_TENANT


def is_address(home: str) -> bool:
    return home.partition("://")[0] in SCHEMES


def address_of(home: str) -> Address:
    """`postgresql://user@host/db?tenant=acme`; without a tenant it is `default`."""
    parts = urlsplit(home)
    asked = parse_qsl(parts.query, keep_blank_values=True)
    tenants = [value for name, value in asked if name == "tenant"]
    if len(tenants) > 1 or "" in tenants or any("\0" in tenant or len(tenant) > 200 for tenant in tenants):
        raise InvalidArgument("a database URL names one tenant, of at most 200 characters: ?tenant=NAME")
    rest = urlencode([(name, value) for name, value in asked if name != "tenant"])
    return Address(urlunsplit(parts._replace(query=rest)), *tenants)


class Database:
    """Safe to share between threads. Connections are made when they are needed, and made anew after a restart."""

    def __init__(self, address: Address) -> None:
        self.address = address

    @property
    def tenant(self) -> str:
        return self.address.tenant

    @cached_property
    def _pool(self) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        try:
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error
        return ConnectionPool(
            self.address.url, min_size=0, max_size=_MOST_CONNECTIONS, open=True, timeout=_WAIT,
            check=ConnectionPool.check_connection, kwargs={"autocommit": True},
        )  # fmt: skip

    @contextmanager
    def transaction(self, *, statement_ms: int = _STATEMENT) -> Iterator[Connection[tuple[Any, ...]]]:
        """All or nothing, as one tenant. What goes wrong with the server is a StorageError."""
        import psycopg

        try:
            with self._pool.connection() as connection, connection.transaction():
                connection.execute(
                    "SELECT set_config('commonplace.tenant', %s, true), set_config('role', %s, true),"
                    " set_config('statement_timeout', %s, true)",
                    (self.tenant, ROLE, str(statement_ms)),
                )
                yield connection
        except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
            raise
        except psycopg.Error as error:
            raise _told(error) from error

    def run(self, work: Callable[[Connection[tuple[Any, ...]]], Answer], *, statement_ms: int = _STATEMENT) -> Answer:
        """What some work answers, in a transaction of its own, tried again when another writer got in its way.

        It may run more than once, and its last run may have been committed although the server's word did not arrive:
        work that writes must say by itself, from what it finds, that it is done already.
        """
        import psycopg

        pause = 0.005
        for left in reversed(range(_TRIES)):
            try:
                with self.transaction(statement_ms=statement_ms) as connection:
                    return work(connection)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                if not left:
                    raise StorageError("the database is too busy with the same page: try again") from error
            except ConnectionLost:
                if not left:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
        raise AssertionError("unreachable")

    def close(self) -> None:
        if "_pool" in self.__dict__:
            self._pool.close()
            del self.__dict__["_pool"]


def _told(error: Exception) -> StorageError:
    import psycopg
    import psycopg_pool

    text = str(error).strip().partition("\n")[0]
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, psycopg_pool.PoolTimeout)):
        if isinstance(error, psycopg.errors.QueryCanceled):
            return StorageError("the database took too long over a statement: try again, or ask for less")
        return ConnectionLost(f"the database can not be reached ({text}): see that it runs, then try again")
    return StorageError(f"the database refused ({text}): see `commonplace db status`")
