"""Earlier versions of pages that are rows: written in the transaction that writes the page, so that neither is there
without the other."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ...errors import NotFound, StorageError
from ...formats.timestamps import stamp
from ...model import Clock
from ..author import Author
from ..base import ABSENT, ChooseVersions, Head, Retention, Versions
from ..deltas import DEEPEST, Change, Line, content, contents, line_of, sized, version_of
from ..history import keep_since, rebuild_lines
from .connection import Database

if TYPE_CHECKING:
    from psycopg import Connection as _Connection
    from psycopg import Cursor as _Cursor

    Connection = _Connection[tuple[Any, ...]]
    Cursor = _Cursor[tuple[Any, ...]]

Row = tuple[Any, ...]
_SELDOM = 1000  # writes of a tenant, from one look at the size of its history to the next
_AT_ONCE = 100  # pages whose history is read in one go
_LONG = 300_000  # milliseconds: what goes over the whole history
_CHANGE = ", ".join(Change._fields)
_FIELDS = (*Change._fields, "depth", "span_start", "span_end", "data")
LINE = ", ".join(_FIELDS)
_BYTES = "(octet_length(data) + octet_length(path) + octet_length(why) + 200)"  # of a row: 200 for what is always there

# The next number of a tenant, taken as the last lock of a transaction: whoever waits for it waits for the commit alone.
NEXT_SEQ = """WITH next AS (
  INSERT INTO commonplace.tenants AS mine (tenant, seq) VALUES (%(tenant)s, 1)
  ON CONFLICT (tenant) DO UPDATE SET seq = mine.seq + 1 RETURNING mine.seq
)"""
INSERT_NEXT_LINE = f"""INSERT INTO commonplace.history (tenant, seq, {LINE})
  SELECT %(tenant)s, next.seq, {", ".join(f"%({name})s" for name in _FIELDS)} FROM next"""
INSERT_LINE = f"""INSERT INTO commonplace.history (tenant, seq, {LINE})
  VALUES (%(tenant)s, %(seq)s, {", ".join(f"%({name})s" for name in _FIELDS)})"""


def new_change_id() -> str:
    """Made before the first try of a change: a second try knows by it that the first one came through."""
    return os.urandom(8).hex()


class PostgresHistory:
    def __init__(self, database: Database, clock: Clock, retention: Retention | None = None) -> None:
        """With `retention` it keeps to them by itself; without, it grows until somebody collects."""
        self._database, self._clock, self.retention = database, clock, retention

    def record_outside_edit(self, path: str, data: bytes | None, saved: float | None = None) -> Change | None:
        """Nobody edits rows by hand: whatever stands there was kept when it was written."""

    def record_change(self, path: str, old: bytes | None, new: bytes | None, by: Author) -> Change:
        """For what is told of a page beside writing it; pages keep their own changes."""
        name = new_change_id()

        def work(connection: Connection) -> Change:
            self._lock(connection, path)
            made = self.made(connection, name)
            if made is None:
                line = self.line(connection, name, path, old, new, by)
                connection.execute(f"{NEXT_SEQ} {INSERT_NEXT_LINE}", values(self._database.tenant, line))
                made = line.change
            return made

        return self._database.run(work)

    def line(
        self,
        connection: Connection,
        name: str,
        path: str,
        old: bytes | None,
        new: bytes | None,
        by: Author,
        asked: Cursor | None = None,
    ) -> Line:
        """What is to be kept of a change, by who holds the row of the page. `asked`: for the head, since then."""
        head = _head_of(asked or self.ask_head(connection, path))
        before = head.version if head else ABSENT
        change = Change(name, stamp(self._clock()), path, version_of(new), before, *by)
        return line_of(change, old, new, head.depth if head and version_of(old) == before else -1)

    def keep(self, connection: Connection, path: str, data: bytes) -> None:
        """Keep what stands there, if it is not what was last known: a transcript grows without history."""
        head = self._head(connection, path)
        if version_of(data) != (head.version if head else ABSENT):
            line = self.line(connection, new_change_id(), path, None, data, Author(tool=""))
            connection.execute(f"{NEXT_SEQ} {INSERT_NEXT_LINE}", values(self._database.tenant, line))

    def made(self, connection: Connection, name: str) -> Change | None:
        """The change of this id, if it was committed."""
        found = connection.execute(
            f"SELECT {_CHANGE} FROM commonplace.history WHERE tenant = %s AND id = %s", (self._database.tenant, name)
        ).fetchone()
        return Change(*found) if found else None

    def number(self, connection: Connection, name: str) -> Cursor:
        """What tells the number of the change of this id."""
        return connection.execute(
            "SELECT seq FROM commonplace.history WHERE tenant = %s AND id = %s", (self._database.tenant, name)
        )

    def head(self, path: str) -> Head | None:
        if not _can_be(path):
            return None
        return self._database.run(lambda connection: self._head(connection, path))

    def _head(self, connection: Connection, path: str) -> Head | None:
        return _head_of(self.ask_head(connection, path))

    def ask_head(self, connection: Connection, path: str) -> Cursor:
        """What tells the last change of a page."""
        return connection.execute(
            "SELECT version, depth, at, tool, agent, session, why, call FROM commonplace.history"
            " WHERE tenant = %s AND path = %s ORDER BY seq DESC LIMIT 1",
            (self._database.tenant, path),
        )

    def changes(self, path: str | None = None) -> list[Change]:
        if path is not None:
            return [Change(*row) for row in self._rows(_CHANGE, "path = %s ORDER BY seq", path)]
        return [Change(*row) for row in self._rows(_CHANGE, "true ORDER BY at, seq")]

    def page_sizes(self) -> list[tuple[Change, int]]:
        return sorted(sized(map(parse_line, self._rows(LINE, "true ORDER BY seq"))), key=lambda each: each[0].at)

    def change(self, name: str) -> Change:
        # Ids are hexadecimal: all that begin with a name come before the name with a tilde.
        rows = self._rows(_CHANGE, "id >= %s AND id < %s LIMIT 1000", name, f"{name}~")
        if len(rows) == 1:
            return Change(*rows[0])
        if rows:
            raise NotFound(f"{name} is the beginning of {len(rows)} changes: give more of it")
        raise NotFound(f"there is no change {name}: `commonplace log` lists them")

    def read_version(self, path: str, version: str) -> bytes | None:
        if version == ABSENT:
            return None
        last = "SELECT max(seq) FROM commonplace.history WHERE tenant = %s AND path = %s AND version = %s"
        rows = self._rows(
            LINE, f"path = %s AND seq <= ({last}) ORDER BY seq DESC LIMIT {DEEPEST + 1}",
            path, self._database.tenant, path, version,
        )  # fmt: skip
        return content([parse_line(row) for row in reversed(rows)], version, path)

    def versions(self, path: str) -> Versions:
        return list(contents(parse_line(row) for row in self._rows(LINE, "path = %s ORDER BY seq", path)))

    def iterate_pages(self) -> Iterator[tuple[str, Versions]]:
        for path, some in self._pages(self.paths()):
            yield path, list(contents(some))

    def _pages(self, paths: list[str]) -> Iterator[tuple[str, list[Line]]]:
        """What is kept of pages, many at a time."""
        for start in range(0, len(paths), _AT_ONCE):
            rows = self._rows(LINE, "path = ANY(%s) ORDER BY path, seq", paths[start : start + _AT_ONCE])
            for path, some in groupby(map(parse_line, rows), key=lambda line: line.change.path):
                yield path, list(some)

    def paths(self) -> list[str]:
        return sorted(path for (path,) in self._rows("DISTINCT path", "true"))

    def size(self) -> int:
        return int(self._rows(f"coalesce(sum({_BYTES}), 0)", "true")[0][0])

    def prune(self, retention: Retention) -> int:
        moment = max(stamp(self._clock() - timedelta(days=retention.days)), self._fitting(retention.size))
        old = [path for (path,) in self._rows("DISTINCT path", "at < %s", moment)]
        return self._all_rewritten(sorted(old), keep_since(moment))

    def _fitting(self, most: int) -> str:
        """The moment from which on everything fits into so many bytes."""
        sums = f"SELECT at, sum({_BYTES}) OVER (ORDER BY at DESC, seq DESC) AS total FROM commonplace.history"
        rows = self._database.run(
            lambda connection: connection.execute(
                "SELECT min(at) FILTER (WHERE total <= %(most)s), max(at) FILTER (WHERE total > %(most)s)"
                f" FROM ({sums} WHERE tenant = %(tenant)s) AS summed",
                {"most": most, "tenant": self._database.tenant},
            ).fetchall(),
            timeout_ms=_LONG,
        )
        fits, does_not = rows[0]
        return "" if does_not is None else str(fits or does_not)

    def grew(self, seq: int) -> None:
        """Told of every write: one in many looks whether it is more than is to be kept."""
        if self.retention and seq % _SELDOM == 0:
            with suppress(StorageError):  # the page is written; the next one in line looks again
                self.prune(self.retention)

    def grew_by(self, seq: int, count: int) -> None:
        """The same for many writes at once, the last of which had this number."""
        if seq // _SELDOM > (seq - count) // _SELDOM:
            self.grew(seq - seq % _SELDOM)

    def rewrite(self, choose: ChooseVersions) -> int:
        return self._all_rewritten(self.paths(), choose)

    def _all_rewritten(self, paths: list[str], choose: ChooseVersions) -> int:
        """Only pages of which something goes are locked, one at a time, so that writers of others do not wait."""
        gone = 0
        for path, before in self._pages(paths):
            after = rebuild_lines(choose(path, list(contents(before))))
            if after != before:
                gone += self._rewritten(path, choose, before, after)
        return gone

    def _rewritten(self, path: str, choose: ChooseVersions, seen: list[Line], wanted: list[Line]) -> int:
        """`wanted` is what is chosen of the lines that were `seen`; chosen again, where others came since."""

        def work(connection: Connection) -> int:
            self._lock(connection, path)
            rows = connection.execute(
                f"SELECT seq, {LINE} FROM commonplace.history WHERE tenant = %s AND path = %s ORDER BY seq",
                (self._database.tenant, path),
            ).fetchall()
            before = [parse_line(row[1:]) for row in rows]
            after = wanted if before == seen else rebuild_lines(choose(path, list(contents(before))))
            if after != before:
                self._replace(connection, path, after, {row[1]: row[0] for row in rows})
            return len(before) - len(after)

        return self._database.run(work, timeout_ms=_LONG)

    def _replace(self, connection: Connection, path: str, kept: Iterable[Line], order: Mapping[str, int]) -> None:
        tenant = self._database.tenant
        connection.execute("DELETE FROM commonplace.history WHERE tenant = %s AND path = %s", (tenant, path))
        lines = [values(tenant, line) | {"seq": order[line.change.id]} for line in kept]
        if lines:
            with connection.cursor() as cursor:
                cursor.executemany(INSERT_LINE, lines)
        else:
            self._forget(connection, path)

    def _forget(self, connection: Connection, path: str) -> None:
        """A page that is not there and has no history: nothing is to tell of it any more, its name included."""
        row = connection.execute(
            "DELETE FROM commonplace.pages WHERE tenant = %s AND path = %s AND data IS NULL RETURNING seq",
            (self._database.tenant, path),
        ).fetchone()
        if row:
            connection.execute(
                "UPDATE commonplace.tenants SET forgotten = greatest(forgotten, %s) WHERE tenant = %s",
                (row[0], self._database.tenant),
            )

    def _lock(self, connection: Connection, path: str) -> None:
        """Keep off who writes the page."""
        connection.execute(
            "SELECT 1 FROM commonplace.pages WHERE tenant = %s AND path = %s FOR UPDATE", (self._database.tenant, path)
        )

    def _rows(self, columns: str, which: str, *arguments: object) -> list[Row]:
        if not all(_can_be(each) for each in arguments):
            return []
        asked = f"SELECT {columns} FROM commonplace.history WHERE tenant = %s AND {which}"
        return self._database.run(
            lambda connection: connection.execute(asked, (self._database.tenant, *arguments)).fetchall(),
            timeout_ms=_LONG,
        )


def _head_of(asked: Cursor) -> Head | None:
    row = asked.fetchone()
    return Head(row[0], row[1], Author(*row[3:]), row[2]) if row else None


def values(tenant: str, line: Line) -> dict[str, Any]:
    """A line of history as the columns of a row."""
    start, end = line.span or (None, None)
    said: dict[str, Any] = {name: _storable(value) for name, value in line.change._asdict().items()}
    said |= {"tenant": tenant, "depth": line.depth, "span_start": start, "span_end": end}
    return said | {"data": base64.b64decode(line.data)}


def _storable(text: str) -> str:
    """A column of text takes neither a zero nor half a character."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _can_be(value: object) -> bool:
    """Whether a row can hold it: what no column takes is in none."""
    return not isinstance(value, str) or _storable(value) == value


def parse_line(row: Row) -> Line:
    *said, depth, start, end, data = row
    span = None if start is None else (start, end)
    return Line(Change(*said), depth, span, base64.b64encode(data).decode())
