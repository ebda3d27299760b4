"""Transcripts that are rows: the server adds lines to what it has, so that no more than these goes over the wire.

Who adds holds the row of the page, which the server writes anew: it is kept uncompressed, so that this is quick.
History is kept when a transcript is replaced or removed, not line by line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..folder.transcripts import Reader, backwards, healed, last_items, lines_of
from .connection import Database
from .history import NEXT_SEQ
from .listen import notify
from .pages import located

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

Answer = TypeVar("Answer")
_MINE = "tenant = %(tenant)s AND path = %(path)s"
_MAKE = """INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)
  VALUES (%(tenant)s, %(path)s, NULL, '', 0, 0, clock_timestamp()) ON CONFLICT (tenant, path) DO NOTHING"""
_PUT = f"""{NEXT_SEQ} UPDATE commonplace.pages SET data = coalesce(substring(data FROM 1 FOR %(end)s), '') || %(added)s,
  version = %(version)s, size = %(size)s, seq = next.seq, written_at = clock_timestamp()
  FROM next WHERE {_MINE} RETURNING next.seq"""


class _Seen(NamedTuple):
    """A transcript as this handle left it: what names its bytes, and what makes that of them and more."""

    version: str
    hash: Any


class _Change(NamedTuple):
    """Bytes up to a place stay, others come behind them."""

    end: int
    added: bytes
    hash: Any
    answer: Any = None


class PostgresTranscript:
    """The items of one page of a database. Safe for any number of threads, processes and machines."""

    def __init__(self, database: Database, path: str) -> None:
        self._database, self.path = database, located(path)
        self._seen: _Seen | None = None

    def items(self, last: int | None = None) -> list[Any]:
        """All items, or the last so many of them; the oldest comes first."""
        if last is None:
            asked = f"SELECT data FROM commonplace.pages WHERE {_MINE} AND data IS NOT NULL"
            rows = self._database.query(asked, self._named)
            return last_items(_reader(rows[0][0]), None) if rows else []
        with self._database.transaction(snapshot=True) as connection:
            asked = f"SELECT size FROM commonplace.pages WHERE {_MINE} AND data IS NOT NULL"
            row = connection.execute(asked.encode(), self._named).fetchone()
            return last_items(Reader(row[0], self._part(connection)), last) if row else []

    def add(self, items: Iterable[Any]) -> None:
        """Add items at the end: committed when this returns. TypeError, and nothing added, when one is not JSON."""
        data = lines_of(items)
        if not data:
            return
        tried: list[int] = []  # where it was put before

        def change(connection: Connection, version: str, size: int) -> _Change | None:
            if tried and self._part(connection)(tried[-1], len(data)) == data:
                return None
            seen = self._seen
            if seen and version == seen.version:
                end, hash_, first = size, seen.hash.copy(), b""
            else:
                old = self._part(connection)(0, size)
                end, first = healed(_reader(old))
                hash_ = _hash(old[:end])
            hash_.update(first + data)
            tried.append(end + len(first))
            return _Change(end, first + data, hash_)

        self._changed(change)

    def pop(self) -> Any:
        """Take the last item away and give it back; None when there is none."""
        tried: list[tuple[str, Any]] = []

        def change(connection: Connection, version: str, size: int) -> _Change | None:
            if tried and tried[-1][0] == version:
                return None
            old = self._part(connection)(0, size)
            item = next(backwards(_reader(old)), None)
            if item is None:
                return None
            hash_ = _hash(old[: item.start])
            tried.append((hash_.hexdigest(), item.value))
            return _Change(item.start, b"", hash_, item.value)

        self._changed(change)
        return tried[-1][1] if tried else None

    @property
    def _named(self) -> dict[str, Any]:
        return {"tenant": self._database.tenant, "path": self.path}

    def _changed(self, change: Callable[[Connection, str, int], _Change | None]) -> None:
        def work(connection: Connection) -> tuple[int, _Seen] | None:
            version, size = self._taken(connection)
            made = change(connection, version, size)
            if made is None:
                connection.execute(f"DELETE FROM commonplace.pages WHERE {_MINE} AND seq = 0".encode(), self._named)
                return None
            seen = _Seen(made.hash.hexdigest(), made.hash)
            said = {"end": made.end, "added": made.added, "version": seen.version, "size": made.end + len(made.added)}
            row = connection.execute(_PUT, self._named | said).fetchone()
            assert row
            return row[0], seen

        done = self._database.run(work)
        if done:
            self._seen = done[1]
            notify(self._database, done[0])

    def _taken(self, connection: Connection) -> tuple[str, int]:
        """The version and the size of a page whose row is ours until the end; one is made where there is none."""
        asked = f"SELECT version, size FROM commonplace.pages WHERE {_MINE} FOR UPDATE"
        while (row := connection.execute(asked.encode(), self._named).fetchone()) is None:
            connection.execute(_MAKE, self._named)
        return row[0], row[1]

    def _part(self, connection: Connection) -> Callable[[int, int], bytes]:
        def read(at: int, size: int) -> bytes:
            asked = f"SELECT substring(data FROM %(first)s FOR %(size)s) FROM commonplace.pages WHERE {_MINE}"
            row = connection.execute(asked.encode(), self._named | {"first": at + 1, "size": size}).fetchone()
            return (row[0] if row else None) or b""

        return read


def _reader(data: bytes) -> Reader:
    return Reader(len(data), lambda at, size: data[at : at + size])


def _hash(data: bytes) -> Any:
    """As `version_of` makes it, to go on from."""
    return hashlib.blake2b(data, digest_size=16)
