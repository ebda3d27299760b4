"""Who follows a memory is woken when it changes: by notices of the server where they arrive, else by asking.

A notice is a hint, with the tenant's number: what changed is asked of the pages.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ...errors import StorageError
from .connection import Database

_OFTEN, _SELDOM = 1.0, 5.0  # seconds between questions: before a notice has proved that notices arrive, and after
_GLANCE = 0.2  # seconds: how soon a listener sees that it shall end


def channel_of(tenant: str) -> str:
    """A channel of its own for every tenant: nobody is woken by, or learns of, the writes of others."""
    return f"commonplace_{hashlib.blake2b(tenant.encode(), digest_size=8).hexdigest()}"


def tell(database: Database, seq: int) -> None:
    """Wake who listens to a tenant, when a write is committed. Whoever writes pages says it here.

    Not within the write: the server lets only one transaction at a time commit a notice, of all tenants together, and
    each would wait for the disk of the one before. A notice that is lost is made up for by asking.
    """
    database.written = max(database.written, seq)
    with suppress(StorageError):
        asked = "SELECT pg_notify(%(channel)s, %(seq)s)"
        database.rows(asked, {"channel": channel_of(database.tenant), "seq": str(seq)}, patience=0)


@contextmanager
def listening(database: Database, told: Callable[[int], None]) -> Iterator[None]:
    """Tell the tenant's number once at the beginning, and whenever it has grown. Told from a thread of its own."""
    listener = _Listener(database, told)
    thread = threading.Thread(target=listener.run, name="commonplace-listening", daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.ended.set()
        thread.join()


class _Listener:
    def __init__(self, database: Database, told: Callable[[int], None]) -> None:
        self._database, self._told = database, told
        self._seq = -1
        self._between = _OFTEN
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.is_set():
            try:
                self._listen()
            except StorageError:  # the server is away: what changed meanwhile is told when it is back
                self._between = _OFTEN
                self.ended.wait(_OFTEN)

    def _listen(self) -> None:
        with self._database.maintenance() as connection:
            connection.execute(f"LISTEN {channel_of(self._database.tenant)}".encode())
            asked = 0.0
            while not self.ended.is_set():
                if time.monotonic() - asked >= self._between:
                    self._ask()
                    asked = time.monotonic()
                for notice in connection.notifies(timeout=_GLANCE, stop_after=1):
                    self._between = _SELDOM
                    self._tell(int(notice.payload))

    def _ask(self) -> None:
        asked = "SELECT seq FROM commonplace.tenants WHERE tenant = %(tenant)s"
        rows = self._database.rows(asked, {"tenant": self._database.tenant})
        seq = rows[0][0] if rows else 0
        if self._seq >= 0 and seq > self._seq:  # no notice told of it
            self._between = _OFTEN
        self._tell(seq)

    def _tell(self, seq: int) -> None:
        if seq > self._seq:
            self._seq = seq
            self._told(seq)
