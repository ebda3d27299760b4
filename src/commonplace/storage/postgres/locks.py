"""Named locks between machines: a row that is inserted and never committed.

Whoever inserts the same row waits. The lock ends with the connection of its holder, even if the holder dies.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING

from ...errors import ConnectionLost, LockTimeout
from .connection import Database

if TYPE_CHECKING:
    from .connection import Connection

LOCK_TIMEOUT_SECONDS = 10.0  # far longer than any write takes
_SERVER_WAIT_SECONDS = 0.2  # behind a pooler, whoever waits on the server keeps a connection from the holder
_FIRST_PAUSE_SECONDS = 0.01
_MAX_PAUSE_SECONDS = 0.05


class _Busy(Exception):
    """Somebody else holds the lock."""


class NamedLocks:
    """The locks that one handle takes."""

    def __init__(self, database: Database, timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds
        self._thread_locks: dict[str, Lock] = {}

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold a named lock; LockTimeout names its holder when it does not become free."""
        deadline = time.monotonic() + self._timeout_seconds
        name = name.replace("\0", "\ufffd")  # no column stores NUL, and locking more than was asked for does no harm
        thread_lock = self._thread_locks.setdefault(name, Lock())  # threads queue here, without a connection each
        if not thread_lock.acquire(timeout=self._timeout_seconds):
            raise LockTimeout(self._timeout_message(name))
        try:
            transaction = self._acquire(name, deadline)
            try:
                yield
            finally:
                with suppress(ConnectionLost):  # then the server has already released it
                    transaction.close()
        finally:
            thread_lock.release()

    def _acquire(self, name: str, deadline: float) -> ExitStack:
        """Return an open transaction that holds the lock until it is closed."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                with ExitStack() as stack:
                    self._insert(stack.enter_context(self._database.lock_transaction()), name, deadline)
                    return stack.pop_all()
            except ConnectionLost:
                if time.monotonic() > deadline:
                    raise
            except _Busy as error:
                if time.monotonic() > deadline:
                    raise LockTimeout(self._timeout_message(name)) from error
            time.sleep(pause)
            pause = min(pause * 2, _MAX_PAUSE_SECONDS)

    def _insert(self, connection: Connection, name: str, deadline: float) -> None:
        import psycopg

        wait_ms = max(1, int(1000 * min(_SERVER_WAIT_SECONDS, deadline - time.monotonic())))
        key = self._key(name)
        holder = f"commonplace {key} {os.getpid()} {socket.gethostname()}"[:63]
        connection.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('idle_in_transaction_session_timeout', '0', true)",
            (str(wait_ms),),
        )
        connection.execute("INSERT INTO commonplace.locks (tenant, name) VALUES (%s, %s)", (self._database.tenant, key))
        cursor = connection.execute("SELECT set_config('application_name', %s, true)", (holder,))
        try:
            cursor.fetchone()  # the statements were pipelined: an error of any of them arrives here
        except psycopg.errors.LockNotAvailable as error:
            raise _Busy from error

    def _timeout_message(self, name: str) -> str:
        """Return what to say of a lock that stays taken; it names the holder as far as the server shows it."""
        statement = (
            "SELECT split_part(application_name, ' ', 3), split_part(application_name, ' ', 4)"
            " FROM pg_stat_activity WHERE application_name LIKE %s"
        )
        holder = self._database.fetch_one(statement, (f"commonplace {self._key(name)} %",))
        who = f"process {holder[0]} on {holder[1]}" if holder else "another process"
        seconds = f"{self._timeout_seconds:g} seconds"
        return f"{name} is held by {who} for more than {seconds}: wait for it or stop it, then try again"

    def _key(self, name: str) -> str:
        """Return a hash of the name, which other tenants could see and which outlives what was forgotten."""
        return hashlib.blake2b(f"{self._database.tenant}\0{name}".encode("utf-8", "replace"), digest_size=8).hexdigest()
