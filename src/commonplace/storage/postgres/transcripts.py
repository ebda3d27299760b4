"""Transcripts as rows: the server appends lines to what it has, so that only these go over the wire.

Appending locks the page's row, which the server rewrites; it is stored uncompressed so that this is fast. History
is recorded when a transcript is replaced or removed, not line by line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...formats.transcripts import Reader, find_append_point, format_items, iterate_backwards, read_last
from .connection import Database
from .history import NEXT_SEQ
from .listen import notify
from .pages import drop_placeholder, lock_or_create, normalize_path

if TYPE_CHECKING:
    from .connection import Connection

_THIS_PAGE = "tenant = %(tenant)s AND path = %(path)s"
_UPDATE = f"""{NEXT_SEQ} UPDATE commonplace.pages
  SET data = coalesce(substring(data FROM 1 FOR %(end)s), '') || %(added)s,
  version = %(version)s, size = %(size)s, seq = next.seq, written_at = clock_timestamp()
  FROM next WHERE {_THIS_PAGE} RETURNING next.seq"""


class _LastWrite(NamedTuple):
    """The version that this handle wrote last, and its hash object, to go on hashing from."""

    version: str
    hash: Any


class _Change(NamedTuple):
    """Keep the bytes up to `end` and append others."""

    end: int
    added: bytes
    hash: Any


class PostgresTranscript:
    """The items of one page. Safe for any number of threads, processes and machines."""

    def __init__(self, database: Database, path: str) -> None:
        self._database = database
        self.path = normalize_path(path)
        self._last_write: _LastWrite | None = None

    def items(self, last: int | None = None) -> list[Any]:
        if last is None:
            statement = f"SELECT data FROM commonplace.pages WHERE {_THIS_PAGE} AND data IS NOT NULL"
            rows = self._database.query(statement, self._key)
            return read_last(_bytes_reader(rows[0][0]), None) if rows else []
        with self._database.transaction(snapshot=True) as connection:
            statement = f"SELECT size FROM commonplace.pages WHERE {_THIS_PAGE} AND data IS NOT NULL"
            row = connection.execute(statement.encode(), self._key).fetchone()
            return read_last(Reader(row[0], self._range_reader(connection)), last) if row else []

    def add(self, items: Iterable[Any]) -> None:
        """Append items: committed when this returns. TypeError, and nothing appended, when one is not JSON."""
        data = format_items(items)
        if not data:
            return
        offsets: list[int] = []  # where earlier attempts put the data

        def change(connection: Connection, version: str, size: int) -> _Change | None:
            read = self._range_reader(connection)
            if offsets and read(offsets[-1], len(data)) == data:
                return None
            last = self._last_write
            if last and version == last.version:
                end = size
                digest = last.hash.copy()
                separator = b""
            else:
                old = read(0, size)
                end, separator = find_append_point(_bytes_reader(old))
                digest = _new_hash(old[:end])
            digest.update(separator + data)
            offsets.append(end + len(separator))
            return _Change(end, separator + data, digest)

        self._apply(change)

    def pop(self) -> Any:
        attempts: list[tuple[str, Any]] = []  # the version that each attempt wrote, and the item

        def change(connection: Connection, version: str, size: int) -> _Change | None:
            if attempts and attempts[-1][0] == version:
                return None
            old = self._range_reader(connection)(0, size)
            item = next(iterate_backwards(_bytes_reader(old)), None)
            if item is None:
                return None
            digest = _new_hash(old[: item.start])
            attempts.append((digest.hexdigest(), item.value))
            return _Change(item.start, b"", digest)

        self._apply(change)
        return attempts[-1][1] if attempts else None

    @property
    def _key(self) -> dict[str, Any]:
        return {"tenant": self._database.tenant, "path": self.path}

    def _apply(self, change: Callable[[Connection, str, int], _Change | None]) -> None:
        """Lock the page and apply a change; `change` returns None when there is nothing to do."""

        def work(connection: Connection) -> tuple[int, _LastWrite] | None:
            version, size = self._lock_or_create(connection)
            edit = change(connection, version, size)
            if edit is None:
                drop_placeholder(connection, self._database.tenant, self.path)
                return None
            written = _LastWrite(edit.hash.hexdigest(), edit.hash)
            values = {"end": edit.end, "added": edit.added, "size": edit.end + len(edit.added)}
            row = connection.execute(_UPDATE, self._key | values | {"version": written.version}).fetchone()
            assert row
            return row[0], written

        outcome = self._database.run(work)
        if outcome:
            seq, self._last_write = outcome
            notify(self._database, seq)

    def _lock_or_create(self, connection: Connection) -> tuple[str, int]:
        """Lock the page's row, created if needed, until the transaction ends; return its version and size."""
        statement = f"SELECT version, size FROM commonplace.pages WHERE {_THIS_PAGE} FOR UPDATE"
        while (row := connection.execute(statement.encode(), self._key).fetchone()) is None:
            lock_or_create(connection, self._database.tenant, self.path)
        return row[0], row[1]

    def _range_reader(self, connection: Connection) -> Callable[[int, int], bytes]:
        statement = f"SELECT substring(data FROM %(first)s FOR %(size)s) FROM commonplace.pages WHERE {_THIS_PAGE}"

        def read(at: int, size: int) -> bytes:
            row = connection.execute(statement.encode(), self._key | {"first": at + 1, "size": size}).fetchone()
            return (row[0] if row else None) or b""

        return read


def _bytes_reader(data: bytes) -> Reader:
    return Reader(len(data), lambda at, size: data[at : at + size])


def _new_hash(data: bytes) -> Any:
    """Return the hash object whose digest is `version_of(data)`."""
    return hashlib.blake2b(data, digest_size=16)
