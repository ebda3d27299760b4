"""Change notifications: LISTEN/NOTIFY if it works, else polling (behind some poolers).

A notification is only a hint to look: any login of the database can send one, with any payload. What a listener
reports is what the tables say. The payload is for older programs, which read the sequence number from it.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ...errors import StorageError
from .connection import Database

_POLL_SECONDS = 1.0  # until a notification of a write has proved that they arrive
_SLOW_POLL_SECONDS = 5.0  # afterwards
_STOP_CHECK_SECONDS = 0.2
_BURST_SECONDS = 0.1  # between two notifications of one handle
_PAUSE_SECONDS = 0.05  # after a notification without a write, so that a flood of them costs few queries


def channel_name(tenant: str) -> str:
    """Return the channel of a tenant: nobody is woken by the writes of other tenants, or learns of them."""
    return f"commonplace_{hashlib.blake2b(tenant.encode(), digest_size=8).hexdigest()}"


def notify(database: Database, seq: int) -> None:
    """Wake the listeners of a tenant after a write was committed. Every writer of pages calls this.

    Not within the write's transaction: the server commits notifications one at a time across all tenants, so each
    would wait for the disk of the one before. The first is sent at once, those of a burst of writes now and then, and
    the last in any case. Polling makes up for a notification that is lost.
    """
    database.last_seq = max(database.last_seq, seq)
    _find_burst(database).add()


def flush_notices(database: Database) -> None:
    """Send the notification that waits, before a handle is closed."""
    with _bursts_lock:
        burst = _bursts.pop(database, None)
    if burst:
        burst.flush()


class _Burst:
    """The notifications of one handle: after one was sent, the next waits a moment, and reports all changes since."""

    def __init__(self, database: Database) -> None:
        self.process = os.getpid()
        self._database = weakref.ref(database)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._next_at = 0.0

    def add(self) -> None:
        with self._lock:
            wait = self._next_at - time.monotonic()
            if self._timer is not None:
                return
            if wait > 0:
                self._timer = threading.Timer(wait, self.flush)
                self._timer.daemon = True
                self._timer.start()
                return
            self._next_at = time.monotonic() + _BURST_SECONDS
        self._send()

    def flush(self) -> None:
        """Send what waits, at once."""
        with self._lock:
            timer = self._timer
            self._timer = None
            self._next_at = time.monotonic() + _BURST_SECONDS
        if timer is not None:
            timer.cancel()
            self._send()

    def _send(self) -> None:
        database = self._database()
        if database is not None and not database.is_closed:
            _send(database)


_bursts: weakref.WeakKeyDictionary[Database, _Burst] = weakref.WeakKeyDictionary()
_bursts_lock = threading.Lock()


def _find_burst(database: Database) -> _Burst:
    with _bursts_lock:
        burst = _bursts.get(database)
        if burst is None or burst.process != os.getpid():  # a forked child has none of its parent's threads
            burst = _bursts[database] = _Burst(database)
        return burst


def _send(database: Database) -> None:
    with suppress(StorageError):
        database.query(
            "SELECT pg_notify(%(channel)s, %(seq)s)",
            {"channel": channel_name(database.tenant), "seq": str(database.last_seq)},
            {"synchronous_commit": "off"},  # nothing is lost with it, and all notifications wait for each other
            retry_seconds=0,
        )


@contextmanager
def listen(database: Database, on_change: Callable[[int], None]) -> Iterator[None]:
    """Call `on_change` with the tenant's sequence number at the start and whenever it grows, from a thread."""
    listener = _Listener(database, on_change)
    thread = threading.Thread(target=listener.run, name="commonplace-listening", daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.stop.set()
        thread.join()


class _Listener:
    def __init__(self, database: Database, on_change: Callable[[int], None]) -> None:
        self._database = database
        self._on_change = on_change
        self._seq = -1
        self._poll_seconds = _POLL_SECONDS
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self._listen()
            except StorageError:  # the server is away: changes are reported when it is back
                self._poll_seconds = _POLL_SECONDS
                self.stop.wait(_POLL_SECONDS)

    def _listen(self) -> None:
        with self._database.admin_connection() as connection:
            connection.execute(f"LISTEN {channel_name(self._database.tenant)}".encode())
            last_poll = 0.0
            is_notified = False
            while not self.stop.is_set():
                if is_notified or time.monotonic() - last_poll >= self._poll_seconds:
                    has_grown = self._poll(is_notified=is_notified)
                    last_poll = time.monotonic()
                    if is_notified and not has_grown:
                        self.stop.wait(_PAUSE_SECONDS)
                # All that arrive together count as one.
                is_notified = bool([*connection.notifies(timeout=_STOP_CHECK_SECONDS, stop_after=1)])

    def _poll(self, *, is_notified: bool) -> bool:
        """Report growth, and return whether there was any.

        How it was noticed says whether notifications arrive; one without growth proves nothing.
        """
        statement = "SELECT seq FROM commonplace.tenants WHERE tenant = %(tenant)s"
        rows = self._database.query(statement, {"tenant": self._database.tenant})
        seq = rows[0][0] if rows else 0
        if seq <= self._seq:
            return False
        if self._seq >= 0:
            self._poll_seconds = _SLOW_POLL_SECONDS if is_notified else _POLL_SECONDS
        self._seq = seq
        self._on_change(seq)
        return True
