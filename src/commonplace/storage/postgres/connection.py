"""Connections to PostgreSQL: pools, transactions bound to one tenant, retries, and the server's errors as ours.

Row-level security on the server decides what a transaction may see, not the statements it sends. A transaction that
lost to a concurrent writer is retried; whatever was acknowledged is committed.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ...errors import CommonplaceError, ConnectionLost, InvalidArgument, NotInstalled, StorageError
from ...tracing import trace_calls
from .pipelines import answers_within, open_pipeline, pipelined_transaction
from .url import Address, parse_conninfo

if TYPE_CHECKING:
    import psycopg
    import psycopg_pool

    Connection = psycopg.Connection[tuple[Any, ...]]
    Cursor = psycopg.Cursor[tuple[Any, ...]]
    ConnectionPool = psycopg_pool.ConnectionPool[Connection]

Answer = TypeVar("Answer")
Row = tuple[Any, ...]
Purpose = Literal["work", "lock", "retryable"]
MEMBER_ROLE = "commonplace_member"  # every transaction runs as this role: table owners bypass row-level security
RETRY_SECONDS = 30.0  # longer than a server takes to restart
STATEMENT_TIMEOUT_MS = 15_000  # default; statements that read a whole memory set their own
FIRST_BACKOFF_SECONDS = 0.005
MAX_BACKOFF_SECONDS = 0.5
POOL_TIMEOUT_SECONDS = 15.0  # to get a connection from a pool, and to open one
RECONNECT_SECONDS = 4.0  # that a pool tries to connect, with longer and longer pauses, before it starts over
REPLICA_POOL_TIMEOUT_SECONDS = 1.0  # the same for a replica, whose searches the primary can answer
MAX_CONNECTIONS = 8  # of each purpose
PREPARE_AFTER_RUNS = 2  # of one statement on one connection
# For statements of a few rows whose plan is the same for all values: to plan one would take as long as it runs.
ONE_PLAN = {"plan_cache_mode": "force_generic_plan", "jit": "off", "max_parallel_workers_per_gather": "0"}
# A host that vanished sends no reset: after half a minute of silence a connection counts as dead.
_KEEPALIVE_OPTIONS = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# Connection failures that a retry does not help, by what the server or libpq says, and what to do about each.
_NEXT_STEPS = (
    ("password authentication failed", "see the user in the URL, and the password in ~/.pgpass or PGPASSWORD"),
    ("no password supplied", "put the password into ~/.pgpass or PGPASSWORD"),
    ("no pg_hba.conf entry", "have an administrator let this user in from here, in pg_hba.conf"),
    ('database ".*" does not exist', "check its name in the URL, or make it: createdb, then `commonplace db init`"),
    ('role ".*" does not exist', "see the user in the URL, or have an administrator make it with CREATE ROLE"),
    ("certificate|SSL was required|SSL is not enabled", "see sslmode, sslrootcert and the name of the host in the URL"),
)
_NO_CONNECTION_LEFT = ("too many clients", "remaining connection slots", "no more connections allowed")
# A pooler that can be reached had no connection to its server; what PgBouncer says of it, and psycopg's pool.
_POOLER_IS_BUSY = ("query_wait_timeout", "couldn't get a connection after")


class Pools:
    """The connection pools of one server URL, shared by every handle of this process whatever its tenant.

    `users` counts the handles; the last one to leave closes the pools.
    """

    def __init__(self, url: str, *, is_primary: bool) -> None:
        self.url = url
        self.is_primary = is_primary
        self.users = 0
        self._lock = threading.Lock()
        self._pools: dict[Purpose, ConnectionPool] = {}

    def get(self, purpose: Purpose) -> ConnectionPool:
        """Return the pool for a purpose, opened on first use.

        `work` connections are checked before use. `retryable` ones are not: their statements are simply retried.
        `lock` connections stay busy as long as a lock is held, so they must not use up those of the others.
        """
        with self._lock:
            if purpose not in self._pools:
                self._pools[purpose] = self._open(check=self.is_primary and purpose == "work")
            return self._pools[purpose]

    def _open(self, *, check: bool) -> ConnectionPool:
        try:
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error
        _silence_logger()
        timeout = POOL_TIMEOUT_SECONDS if self.is_primary else REPLICA_POOL_TIMEOUT_SECONDS
        return ConnectionPool(
            self.url,
            min_size=0,
            max_size=MAX_CONNECTIONS,
            open=True,
            timeout=timeout,
            reconnect_timeout=min(timeout, RECONNECT_SECONDS),
            check=ConnectionPool.check_connection if check else None,
            configure=_allow_preparing,
            kwargs=connection_options(self.url),
        )

    def all(self) -> list[ConnectionPool]:
        return [*self._pools.values()]


_registry_lock = threading.Lock()
_registry: dict[tuple[str, bool], Pools] = {}
_abandoned: list[Pools] = []  # pools of the parent process: kept, so that nothing closes their sockets


def acquire_pools(url: str, *, is_primary: bool = True) -> Pools:
    with _registry_lock:
        pools = _registry.setdefault((url, is_primary), Pools(url, is_primary=is_primary))
        pools.users += 1
        return pools


def release_pools(pools: Pools) -> None:
    with _registry_lock:
        pools.users -= 1
        if pools.users:
            return
        if _registry.get((pools.url, pools.is_primary)) is pools:
            del _registry[pools.url, pools.is_primary]
    for pool in pools.all():
        pool.close()


def _abandon_pools_after_fork() -> None:
    """Start afresh in a forked child: two processes on one socket would read each other's answers."""
    global _registry_lock, _registry
    for pools in _registry.values():
        for pool in pools.all():
            vars(pool)["_closed"] = True  # else it waits for its threads, which the fork did not copy
    _abandoned.extend(_registry.values())
    _registry_lock = threading.Lock()
    _registry = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_pools_after_fork)


@contextmanager
def _borrow_connection(pools: Pools, purpose: Purpose) -> Iterator[Connection]:
    """Lend a connection of a pool. One to a read-only server is closed afterwards: another host may be writable."""
    from psycopg.errors import ReadOnlySqlTransaction
    from psycopg_pool import PoolTimeout

    pool = pools.get(purpose)
    try:
        connection = _get_connection(pool)
    except PoolTimeout as error:
        _raise_connect_error(pools.url)
        if pool.get_stats().get("pool_size", 0) >= MAX_CONNECTIONS:
            raise StorageError(
                f"all {MAX_CONNECTIONS} connections of this process to the database are in use: try again"
            ) from error
        connection = pool.getconn()  # it became reachable again
    try:
        with connection:
            yield connection
    except ReadOnlySqlTransaction:
        connection.close()
        raise
    finally:
        pool.putconn(connection)


def _get_connection(pool: ConnectionPool) -> Connection:
    """Return a connection of a pool; PoolTimeout if there is none within the pool's time.

    A pool that cannot connect waits twice as long before each attempt. Asked every few seconds, it starts over, so
    that a server that is back is noticed soon.
    """
    from psycopg_pool import PoolTimeout

    deadline = time.monotonic() + pool.timeout
    while True:
        left = deadline - time.monotonic()
        try:
            return pool.getconn(max(0.1, min(left, RECONNECT_SECONDS)))
        except PoolTimeout:
            if left <= RECONNECT_SECONDS:
                raise


def _raise_connect_error(url: str) -> None:
    """Connect once without the pool, which does not say why it could not."""
    import psycopg

    psycopg.connect(url, **connection_options(url) | {"connect_timeout": 3}).close()


def connection_options(url: str) -> dict[str, Any]:
    """Return the libpq options of every connection, without overriding what the URL says.

    The application name lets a lock timeout name the process that holds the lock (see `locks`). Nothing is prepared
    on the server unless `_allow_preparing` finds that no pooler is in between.
    """
    given = parse_conninfo(url)
    options: dict[str, Any] = {
        "autocommit": True,
        "prepare_threshold": None,
        "client_encoding": "UTF8",
        "connect_timeout": int(POOL_TIMEOUT_SECONDS),
        "application_name": f"commonplace {os.getpid()} on {socket.gethostname()}"[:63],
    }
    options |= {name: value for name, value in _KEEPALIVE_OPTIONS.items() if name not in given}
    has_several_hosts = any("," in str(given.get(name) or "") for name in ("host", "hostaddr"))
    if has_several_hosts and "target_session_attrs" not in given:
        options["target_session_attrs"] = "read-write"  # else libpq takes the first to answer, even a replica
    return options


def _allow_preparing(connection: Connection) -> None:
    """Let the server keep the plans of repeated statements, unless a pooler is in between.

    Behind a pooler the next statement may reach another backend, which knows nothing of what was prepared. A pooler
    makes up the number of the backend that a client gets when it connects; the backend itself tells its own.
    """
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    if row and row[0] == connection.info.backend_pid:
        connection.prepare_threshold = PREPARE_AFTER_RUNS


def is_pooled(connection: Connection) -> bool:
    """Return whether a pooler is between this connection and the server, as `_allow_preparing` found."""
    return connection.prepare_threshold is None


def _silence_logger() -> None:
    """Keep reconnects off the terminal; whoever collects logs still gets them."""
    logger = logging.getLogger("psycopg")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


class Database:
    """One tenant of one server. Safe to share between threads; connections are opened on demand and after a restart."""

    _shared_pools: Pools | None

    def __init__(self, address: Address, *, is_primary: bool = True) -> None:
        """Bind a handle to a tenant. A replica (`is_primary` False) is not waited for: the primary can answer."""
        self.address = address
        self._is_primary = is_primary
        self.last_seq = 0  # sequence number of the last write confirmed through this handle; see `listen.notify`
        self._reset()

    @property
    def tenant(self) -> str:
        return self.address.tenant

    def _reset(self) -> None:
        self._process = os.getpid()
        self._thread_state = threading.local()
        self._pools_lock = threading.Lock()
        self._shared_pools = None

    def _reset_after_fork(self) -> None:
        """Start afresh in a forked child, which is in no transaction and has no connections."""
        if self._process != os.getpid():
            self._reset()

    @property
    def is_closed(self) -> bool:
        """Return whether it has no connections, which a statement would open again."""
        return self._shared_pools is None

    @property
    def _pools(self) -> Pools:
        self._reset_after_fork()
        with self._pools_lock:
            if self._shared_pools is None:
                self._shared_pools = acquire_pools(self.address.url, is_primary=self._is_primary)
            return self._shared_pools

    @property
    def _current(self) -> Connection | None:
        """Return the connection of the transaction that this thread is in, or None."""
        self._reset_after_fork()
        connection: Connection | None = getattr(self._thread_state, "connection", None)
        return connection

    @contextmanager
    def transaction(
        self,
        *,
        timeout_ms: int = STATEMENT_TIMEOUT_MS,
        snapshot: bool = False,
        pipeline: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> Iterator[Connection]:
        """Run a transaction as this tenant; a failure of the server is a StorageError.

        A transaction within another of the same thread is a savepoint of it. With `snapshot` every statement sees the
        same state, whatever others commit meanwhile. `pipeline`: see `run`.
        """
        outer = self._current
        with translate_errors():
            if outer is not None:
                self._sync_pipeline()
                with outer.transaction():
                    apply_settings(outer, settings or {})
                    yield outer
                return
            with (
                _borrow_connection(self._pools, "retryable" if pipeline else "work") as connection,
                _isolation(connection, snapshot=snapshot),
                pipelined_transaction(connection) if pipeline else connection.transaction() as begun,
            ):
                self._bind_tenant(connection, timeout_ms, settings)
                self._thread_state.connection = connection
                self._thread_state.pipeline = begun if pipeline else None
                try:
                    yield connection
                finally:
                    self._thread_state.connection = None
                    self._thread_state.pipeline = None

    def _sync_pipeline(self) -> None:
        """Wait for what this thread's transaction has sent, if it is pipelined.

        Only then the connection knows that it is in a transaction, and that one within it is a savepoint.
        """
        pipeline: psycopg.Pipeline | None = self._thread_state.pipeline
        if pipeline is not None:
            pipeline.sync()

    @contextmanager
    def lock_transaction(self, settings: Mapping[str, str] | None = None) -> Iterator[Connection]:
        """Run a transaction beside those of this thread, on a connection they do not share, and roll it back.

        Its uncommitted rows act as locks for as long as it lasts.
        """
        with (
            translate_errors(),
            _borrow_connection(self._pools, "lock") as connection,
            pipelined_transaction(connection, end="ROLLBACK"),
        ):
            self._bind_tenant(connection, STATEMENT_TIMEOUT_MS, settings)
            yield connection

    def answers_within(self, seconds: float) -> bool:
        """Return whether the server answers beside the transactions of this thread, on a connection they do not share.

        Behind a pooler, all connections to the server may be in transactions that wait for one more.
        """
        from psycopg_pool import PoolTimeout

        pool = self._pools.get("retryable")
        try:
            connection = pool.getconn(seconds)
        except PoolTimeout:
            return False
        try:
            with translate_errors():
                return answers_within(connection, seconds)
        finally:
            pool.putconn(connection)

    @contextmanager
    def admin_connection(self) -> Iterator[Connection]:
        """Connect as the user of the URL, bound to no tenant and in no transaction: for the tables themselves."""
        try:
            import psycopg
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error
        options = connection_options(self.address.url)
        with translate_errors(), psycopg.connect(self.address.url, **options) as connection:
            yield connection

    def _bind_tenant(self, connection: Connection, timeout_ms: int, settings: Mapping[str, str] | None = None) -> None:
        bound = {"commonplace.tenant": self.tenant, "role": MEMBER_ROLE, "statement_timeout": str(timeout_ms)}
        apply_settings(connection, {**bound, **(settings or {})})

    @trace_calls("database")
    def run(
        self,
        work: Callable[[Connection], Answer],
        *,
        timeout_ms: int = STATEMENT_TIMEOUT_MS,
        pipeline: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> Answer:
        """Run `work` in a transaction of its own and return its answer, retrying on conflicts and lost connections.

        With `pipeline`, statements are sent when their answer, or that of a later one, is fetched; the last ones go
        together with the commit. So whoever waits for a row lock waits for the server, not for this process.

        `work` may run more than once, and its last run may have been committed although the confirmation was lost.
        Work that writes must find out by itself that it is already done.
        """
        try:
            import psycopg
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error

        deadline = time.monotonic() + RETRY_SECONDS
        pause = FIRST_BACKOFF_SECONDS
        is_nested = self._current is not None
        while True:
            try:
                with self.transaction(timeout_ms=timeout_ms, pipeline=pipeline, settings=settings) as connection:
                    return work(connection)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                if is_nested:  # only the outermost transaction can be retried
                    raise
                if time.monotonic() > deadline:
                    raise StorageError("the database is too busy with the same page: try again") from error
            except ConnectionLost:
                if is_nested or time.monotonic() > deadline:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, MAX_BACKOFF_SECONDS)

    @trace_calls("database")
    def query(
        self,
        statement: str,
        values: Sequence[Any] | Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
        *,
        retry_seconds: float = RETRY_SECONDS,
    ) -> list[Row]:
        """Return the rows of one statement, in a single round trip including the tenant binding. It may run more than
        once. Within a transaction of this thread it is part of that.
        """
        outer = self._current
        if outer is not None:
            with translate_errors():
                apply_settings(outer, settings or {})
                return outer.execute(statement, values).fetchall()
        deadline = time.monotonic() + retry_seconds
        pause = FIRST_BACKOFF_SECONDS
        while True:
            try:
                return self._query_once(statement, values, settings or {})
            except ConnectionLost:
                if time.monotonic() > deadline:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, MAX_BACKOFF_SECONDS)

    @property
    def is_pipelined(self) -> bool:
        """Return whether this thread is in a pipelined transaction, with which `send` sends a statement."""
        return self._current is not None and self._thread_state.pipeline is not None

    def send(self, statement: str, values: Mapping[str, Any]) -> Cursor:
        """Send a statement along with others of this thread's pipelined transaction, under its settings. Its rows can
        be fetched from the cursor after that, without waiting. If it fails, the transaction does, too."""
        connection = self._current
        assert connection is not None
        return connection.execute(statement.encode(), values)

    def _query_once(
        self, statement: str, values: Sequence[Any] | Mapping[str, Any], settings: Mapping[str, str]
    ) -> list[Row]:
        with translate_errors(), _borrow_connection(self._pools, "retryable") as connection:
            with open_pipeline(connection):  # it is one implicit transaction
                self._bind_tenant(connection, STATEMENT_TIMEOUT_MS, settings)
                cursor = connection.execute(statement, values)
            return cursor.fetchall()

    def close(self) -> None:
        if self._process == os.getpid() and self._shared_pools is not None:
            pools = self._shared_pools
            self._shared_pools = None
            release_pools(pools)


def apply_settings(connection: Connection, settings: Mapping[str, str]) -> None:
    """Set server settings until the end of the transaction."""
    if settings:
        calls = ", ".join(f"set_config('{name}', %s, true)" for name in settings)
        connection.execute(f"SELECT {calls}".encode(), [*settings.values()])


@contextmanager
def _isolation(connection: Connection, *, snapshot: bool) -> Iterator[None]:
    from psycopg import IsolationLevel
    from psycopg.pq import TransactionStatus

    connection.isolation_level = IsolationLevel.REPEATABLE_READ if snapshot else None
    try:
        yield
    finally:
        if connection.info.transaction_status == TransactionStatus.IDLE:
            connection.isolation_level = None
        else:  # the outcome of the commit is unknown: this connection must not be reused
            connection.close()


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise the server's errors as ours. Conflicts pass through, so that the whole transaction can be retried."""
    import psycopg

    try:
        yield
    except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
        raise
    except psycopg.Error as error:
        raise translate_error(error) from error


def translate_error(error: Exception) -> CommonplaceError:
    import psycopg

    message = str(error).strip().partition("\n")[0]
    if _is_missing_schema(error):
        return StorageError("the database does not have all tables of commonplace: run `commonplace db migrate`")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return StorageError("the database took too long over a statement: try again, or ask for less")
    if isinstance(error, psycopg.errors.InsufficientPrivilege) and ("set role" in message or "for schema" in message):
        step = f"have an owner run `commonplace db grant` for one tenant, or GRANT {MEMBER_ROLE} TO the user for all"
        return StorageError(f"this user may not use the memory ({message}): {step}")
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        step = "name all hosts in the URL, with target_session_attrs=read-write"
        return ConnectionLost(f"the server that answered takes no writes ({message}): {step}")
    if isinstance(error, psycopg.DataError) and "NUL" in message:
        return InvalidArgument("the text contains a null character, which a database cannot store: take it out")
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return _translate_connection_error(str(error), message)
    return StorageError(f"the database refused ({message}): see `commonplace db status`")


def _translate_connection_error(full_text: str, message: str) -> StorageError:
    if any(reason in full_text for reason in _NO_CONNECTION_LEFT):
        step = "put a connection pooler in front of it, or close other clients"
        return ConnectionLost(f"the database has no connection left ({message}): {step}")
    if any(reason in full_text for reason in _POOLER_IS_BUSY):
        return busy_pooler(message)
    for pattern, step in _NEXT_STEPS:
        if re.search(pattern, full_text):
            return StorageError(f"the database cannot be reached ({message}): {step}")
    step = "check that it runs, and that the URL names its host and port, then try again"
    return ConnectionLost(f"the database cannot be reached ({message}): {step}")


def busy_pooler(reason: str) -> ConnectionLost:
    """Return the error for a pooler that had no connection to its server: what was sent has not reached the server."""
    step = "give it more (default_pool_size in PgBouncer; docs/postgres.md says how many), then try again"
    return ConnectionLost(f"the pooler has no connection to the database left ({reason}): {step}")


def _is_missing_schema(error: Exception) -> bool:
    import psycopg

    missing = (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedColumn)
    if isinstance(error, missing):
        return True
    return isinstance(error, psycopg.errors.InvalidParameterValue) and MEMBER_ROLE in str(error)


def make_storable(value: Any) -> Any:
    """Replace what a text column cannot store: null characters and lone surrogates. Other values stay as they are."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.replace("\0", "\ufffd").encode(errors="replace").decode()
