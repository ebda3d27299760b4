"""Named locks between machines: on a key, an agent's notes, a skill. Each is a row that is not committed."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING

from ...errors import ConnectionLost, LockTimeout
from .connection import Database, busy_pooler, is_pooled

if TYPE_CHECKING:
    from .connection import Connection

LOCK_TIMEOUT_SECONDS = 10.0  # far longer than any write takes
_SERVER_WAIT_SECONDS = 0.2  # behind a pooler, whoever waits on the server keeps a connection from the holder
_ANSWER_SECONDS = 0.5  # at least, and at most twice that: who holds a lock must get a second connection meanwhile
_FIRST_PAUSE_SECONDS = 0.01
_MAX_PAUSE_SECONDS = 0.05


class LockIsBusy(Exception):
    """Somebody else holds the lock."""


class _Crowded(Exception):
    """The pooler has no second connection for the work that the lock is for."""


def _lock_settings(remaining_seconds: float) -> dict[str, str]:
    """Return the settings of a transaction that waits for a lock, and then holds it for as long as it likes."""
    return {**limit_lock_wait(remaining_seconds), "idle_in_transaction_session_timeout": "0"}


def limit_lock_wait(remaining_seconds: float = _SERVER_WAIT_SECONDS) -> dict[str, str]:
    """Return the setting of how long a statement waits for a lock."""
    return {"lock_timeout": str(max(1, int(1000 * min(_SERVER_WAIT_SECONDS, remaining_seconds))))}


class NamedLocks:
    """The locks between machines that one handle takes: each is a row that is inserted and never committed.

    Whoever inserts the same row waits. A lock ends with the connection of its holder, even if the holder dies.

    What is done under a lock takes a second connection. Behind a pooler, all of its connections could hold locks, and
    each holder wait for one more. So whoever gets a lock, but no answer on another connection, gives the lock back.
    """

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
                    settings = _lock_settings(deadline - time.monotonic())
                    connection = stack.enter_context(self._database.lock_transaction(settings))
                    self._insert(connection, name)
                    if is_pooled(connection):
                        self._require_second_connection()
                    return stack.pop_all()
            except ConnectionLost:
                if time.monotonic() > deadline:
                    raise
            except LockIsBusy as error:
                if time.monotonic() > deadline:
                    raise LockTimeout(self._timeout_message(name)) from error
            except _Crowded as error:
                if time.monotonic() > deadline:
                    raise busy_pooler(f"{name} takes two") from error
            time.sleep(pause)
            pause = min(pause * 2, _MAX_PAUSE_SECONDS)

    def _insert(self, connection: Connection, name: str) -> None:
        """Insert the row of a lock, and be named as its holder from then on."""
        import psycopg

        key = self.key(name)
        holder = f"commonplace {key} {os.getpid()} {socket.gethostname()}"[:63]
        cursor = connection.execute(
            "INSERT INTO commonplace.locks (tenant, name) VALUES (%s, %s)"
            " RETURNING set_config('application_name', %s, true)",
            (self._database.tenant, key, holder),
        )
        try:
            cursor.fetchone()  # the statements were pipelined: an error of any of them arrives here
        except psycopg.errors.LockNotAvailable as error:
            raise LockIsBusy from error

    def _require_second_connection(self) -> None:
        # Waiting times differ, or all would give back their locks and take them again at once.
        if not self._database.answers_within(_ANSWER_SECONDS * random.uniform(1, 2)):
            raise _Crowded

    def _timeout_message(self, name: str) -> str:
        """Return the message for a lock that stays taken; it names the holder if the server shows it."""
        statement = (
            "SELECT split_part(application_name, ' ', 3), split_part(application_name, ' ', 4)"
            " FROM pg_stat_activity WHERE application_name LIKE %s"
        )
        holders = self._database.query(statement, (f"commonplace {self.key(name)} %",))
        who = "process {} on {}".format(*holders[0]) if holders else "another process"
        seconds = f"{self._timeout_seconds:g} seconds"
        return f"{name} is held by {who} for more than {seconds}: wait for it or stop it, then try again"

    def key(self, name: str) -> str:
        """Return a hash of the name, which other tenants could see and which outlives what was forgotten."""
        return hashlib.blake2b(f"{self._database.tenant}\0{name}".encode("utf-8", "replace"), digest_size=8).hexdigest()
