"""Something larger than a page, held by one writer at a time, among machines: a row that is inserted and never
committed. Who inserts the same one waits. It goes with its holder, by death too, and leaves nothing."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...errors import ConnectionLost, LockTimeout
from .connection import Database

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

PATIENCE = 10.0  # seconds: far longer than any write takes, short enough to be told about
_AT_ONCE = 0.2  # seconds to wait at the server: behind a pooler, who waits keeps a connection from who holds


class _Taken(Exception):
    """Somebody else has it."""


class Holds:
    """What one handle holds, or waits for."""

    def __init__(self, database: Database, patience: float = PATIENCE) -> None:
        self._database, self._patience = database, patience
        self._lines: dict[str, Lock] = {}

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """LockTimeout names who has it when it does not come free."""
        deadline = time.monotonic() + self._patience
        name = name.replace("\0", "\ufffd")  # which no column takes; to hold more than was asked for does no harm
        line = self._lines.setdefault(name, Lock())  # threads stand in line here, and use up no connections
        if not line.acquire(timeout=self._patience):
            raise LockTimeout(self._complaint(name))
        try:
            held = self._taken(name, deadline)
            try:
                yield
            finally:
                with suppress(ConnectionLost):  # then the server has let go of it already
                    held.close()
        finally:
            line.release()

    def _taken(self, name: str, deadline: float) -> ExitStack:
        """A transaction that holds a name until it is closed."""
        pause = 0.01
        while True:
            try:
                with ExitStack() as stack:
                    self._insert(stack.enter_context(self._database.aside()), name, deadline)
                    return stack.pop_all()
            except ConnectionLost:
                if time.monotonic() > deadline:
                    raise
            except _Taken as error:
                if time.monotonic() > deadline:
                    raise LockTimeout(self._complaint(name)) from error
            time.sleep(pause)
            pause = min(pause * 2, 0.05)

    def _insert(self, connection: Connection, name: str, deadline: float) -> None:
        import psycopg

        left = max(1, int(1000 * min(_AT_ONCE, deadline - time.monotonic())))
        key = self._key(name)
        signed = f"commonplace {key} {os.getpid()} {socket.gethostname()}"[:63]
        connection.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('idle_in_transaction_session_timeout', '0', true)",
            (str(left),),
        )
        connection.execute("INSERT INTO commonplace.locks (tenant, name) VALUES (%s, %s)", (self._database.tenant, key))
        named = connection.execute("SELECT set_config('application_name', %s, true)", (signed,))
        try:
            named.fetchone()  # all of it went in one flight: here is whether it arrived
        except psycopg.errors.LockNotAvailable as error:
            raise _Taken from error

    def _complaint(self, name: str) -> str:
        """With who holds it, as far as the server shows."""
        seen = self._database.run(
            lambda connection: connection.execute(
                "SELECT split_part(application_name, ' ', 3), split_part(application_name, ' ', 4)"
                " FROM pg_stat_activity WHERE application_name LIKE %s",
                (f"commonplace {self._key(name)} %",),
            ).fetchone()
        )
        who = f"process {seen[0]} on {seen[1]}" if seen else "another process"
        return (
            f"{name} is held by {who} for more than {self._patience:g} seconds: wait for it or stop it, then try again"
        )

    def _key(self, name: str) -> str:
        """What stands for a name where other tenants could see it, or after it was forgotten."""
        return hashlib.blake2b(f"{self._database.tenant}\0{name}".encode("utf-8", "replace"), digest_size=8).hexdigest()
