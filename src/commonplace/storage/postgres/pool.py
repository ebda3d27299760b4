"""Connections that this process keeps to a database, shared by all that name the same one, whichever tenant they are.

A process that is forked makes its own: two that speak on one wire would hear each other's answers.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from ...errors import NotInstalled, StorageError
from .url import parts_of

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

Kind = Literal["work", "holding", "asking"]
WAIT, WAIT_A_LITTLE = 15.0, 1.0  # seconds for a connection out of a pool, and for one to be made
MOST_CONNECTIONS = 8  # of each kind
# A machine that vanished sends no word: after half a minute of silence a wire counts as cut.
_SILENCE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
_lock = threading.Lock()
_open: dict[tuple[str, bool], Pools] = {}


class Pools:
    """`users`: how many handles there are; the last one closes."""

    def __init__(self, url: str, *, is_main: bool) -> None:
        self.url, self.is_main, self.users = url, is_main, 0
        self._making = threading.Lock()
        self._made: dict[Kind, ConnectionPool[Connection[tuple[Any, ...]]]] = {}

    def of(self, kind: Kind) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        """`work`: looked at first, whether the wire still stands. `asking`: for what is tried again when it turns out
        to be cut. `holding`: for transactions that last while others work, whose connections they must not take; who
        wants to hold something tries again."""
        with self._making:
            if kind not in self._made:
                self._made[kind] = self._new(checked=self.is_main and kind == "work")
            return self._made[kind]

    def _new(self, *, checked: bool) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        try:
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise NotInstalled("a memory in PostgreSQL", "postgres") from error
        _keep_quiet()
        wait = WAIT if self.is_main else WAIT_A_LITTLE
        return ConnectionPool(
            self.url, min_size=0, max_size=MOST_CONNECTIONS, open=True, timeout=wait, reconnect_timeout=wait,
            check=ConnectionPool.check_connection if checked else None, kwargs=settings(self.url),
        )  # fmt: skip

    def each(self) -> list[ConnectionPool[Connection[tuple[Any, ...]]]]:
        """Those that were made."""
        return [*self._made.values()]


def taken(url: str, *, is_main: bool = True) -> Pools:
    with _lock:
        pools = _open.setdefault((url, is_main), Pools(url, is_main=is_main))
        pools.users += 1
        return pools


def given_back(pools: Pools) -> None:
    with _lock:
        pools.users -= 1
        if pools.users:
            return
        if _open.get((pools.url, pools.is_main)) is pools:
            del _open[pools.url, pools.is_main]
    for pool in pools.each():
        pool.close()


def _forked() -> None:
    """In the new process: leave the connections of the old one alone. Not even an end is said on them."""
    global _lock, _open
    for pools in _open.values():
        for pool in pools.each():
            vars(pool)["_closed"] = True  # else it waits for its threads, which did not come along
    _left_behind.extend(_open.values())
    _lock, _open = threading.Lock(), {}


_left_behind: list[Pools] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def lent(pool: ConnectionPool[Connection[tuple[Any, ...]]], url: str) -> Iterator[Connection[tuple[Any, ...]]]:
    """A connection out of a pool. One that leads to a server which takes no writes is not kept: another host may."""
    from psycopg.errors import ReadOnlySqlTransaction
    from psycopg_pool import PoolTimeout

    try:
        connection = pool.getconn()
    except PoolTimeout as error:
        _say_why(url)
        raise StorageError(
            f"all {MOST_CONNECTIONS} connections of this process to the database are in use: try again"
        ) from error
    try:
        with connection:
            yield connection
    except ReadOnlySqlTransaction:
        connection.close()
        raise
    finally:
        pool.putconn(connection)


def _say_why(url: str) -> None:
    """What keeps a connection from being made: a pool does not tell."""
    import psycopg

    psycopg.connect(url, **settings(url) | {"connect_timeout": 3}).close()


def settings(url: str) -> dict[str, Any]:
    """The name tells others who holds what they wait for; see `pages/postgres_hold.py`.

    Nothing is prepared at the server: behind a pooler the next statement may come to another one.
    """
    said = parts_of(url)
    given: dict[str, Any] = {
        "autocommit": True, "prepare_threshold": None, "client_encoding": "UTF8", "connect_timeout": int(WAIT),
        "application_name": f"commonplace {os.getpid()} on {socket.gethostname()}"[:63],
    }  # fmt: skip
    quiet = {name: value for name, value in _SILENCE.items() if name not in said}
    several = any("," in str(said.get(name) or "") for name in ("host", "hostaddr"))
    if several and "target_session_attrs" not in said:
        return given | quiet | {"target_session_attrs": "read-write"}  # else the first that answers, be it a replica
    return given | quiet


def _keep_quiet() -> None:
    """A connection that is made anew is no news for a terminal; who collects logs still gets it."""
    import logging

    logger = logging.getLogger("psycopg")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
