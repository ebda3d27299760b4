"""Page history as rows, written in the same transaction as the page."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ...errors import StaleVersion, StorageError
from ...formats.timestamps import format_timestamp
from ...model import Clock
from ..base import ABSENT, Head, HistoryStore, Retention
from ..history import (
    MAX_DELTA_DEPTH,
    Author,
    Change,
    ChooseVersions,
    Line,
    PastPage,
    Versions,
    describe_past_page,
    find_version,
    keep_since,
    make_line,
    newest_lines,
    rebuild_lines,
    replay,
    replay_sizes,
    require_one,
    version_of,
)
from .connection import Database, Row, make_storable

if TYPE_CHECKING:
    from .connection import Connection, Cursor

_PRUNE_INTERVAL_WRITES = 1000  # writes of a tenant between two checks of its history's size
_PAGES_PER_QUERY = 100
_LONG_TIMEOUT_MS = 300_000  # for statements over the whole history
_LONG = {"statement_timeout": str(_LONG_TIMEOUT_MS)}
_CHANGE_COLUMNS = ", ".join(Change._fields)
_LINE_FIELDS = (*Change._fields, "depth", "span_start", "span_end", "data")
LINE_COLUMNS = ", ".join(_LINE_FIELDS)
_ROW_BYTES = "(octet_length(data) + octet_length(path) + octet_length(why) + 200)"  # 200 for the fixed columns

QUERY_HEAD = """SELECT version, depth, at, tool, agent, session, why, call, origin FROM commonplace.history
  WHERE tenant = %(tenant)s AND path = %(path)s ORDER BY seq DESC LIMIT 1"""
# The tenant's next sequence number. It is taken as the last lock of a transaction, so that whoever waits for it only
# waits for a commit.
NEXT_SEQ = """WITH next AS (
  INSERT INTO commonplace.tenants AS mine (tenant, seq) VALUES (%(tenant)s, 1)
  ON CONFLICT (tenant) DO UPDATE SET seq = mine.seq + 1 RETURNING mine.seq
)"""
INSERT_NEXT_LINE = f"""INSERT INTO commonplace.history (tenant, seq, {LINE_COLUMNS})
  SELECT %(tenant)s, next.seq, {", ".join(f"%({name})s" for name in _LINE_FIELDS)} FROM next"""
INSERT_LINE = f"""INSERT INTO commonplace.history (tenant, seq, {LINE_COLUMNS})
  VALUES (%(tenant)s, %(seq)s, {", ".join(f"%({name})s" for name in _LINE_FIELDS)})"""

# For each page that changed after a moment: its last version, the first change after it, and the last one before.
_PAST_PAGES = f"""
  SELECT latest.version, later.*, earlier.* FROM (
    SELECT path, min(seq) AS first, max(seq) AS last FROM commonplace.history
    WHERE tenant = %(tenant)s AND at > %(moment)s GROUP BY path) AS changed
  JOIN LATERAL (SELECT version FROM commonplace.history
    WHERE tenant = %(tenant)s AND path = changed.path AND seq = changed.last) AS latest ON true
  JOIN LATERAL (SELECT {_CHANGE_COLUMNS} FROM commonplace.history
    WHERE tenant = %(tenant)s AND path = changed.path AND seq = changed.first) AS later ON true
  LEFT JOIN LATERAL (SELECT {_CHANGE_COLUMNS} FROM commonplace.history
    WHERE tenant = %(tenant)s AND path = changed.path AND at <= %(moment)s ORDER BY seq DESC LIMIT 1) AS earlier
  ON true"""


def new_change_id() -> str:
    """Return an id made before the first attempt of a change, so that a retry can see that an earlier attempt
    succeeded."""
    return os.urandom(8).hex()


class PostgresHistory(HistoryStore):
    def __init__(self, database: Database, clock: Clock, retention: Retention | None = None) -> None:
        self._database = database
        self._clock = clock
        self.retention = retention

    def record_change(
        self, path: str, old: bytes | None, new: bytes | None, by: Author, *, if_version: str | None = None
    ) -> Change:
        """Record a change on its own; pages record theirs when they are written. StaleVersion unless the page is at
        `if_version`, if that is given."""
        change_id = new_change_id()

        def work(connection: Connection) -> Change:
            version = self._lock_page(connection, path)
            change = self.find_change(connection, change_id)
            if change is None and if_version not in (None, version):
                raise StaleVersion(path)
            if change is None:
                line = self.build_line(change_id, path, old, new, by, self.read_head(connection, path))
                connection.execute(f"{NEXT_SEQ} {INSERT_NEXT_LINE}", line_values(self._database.tenant, line))
                change = line.change
            return change

        return self._database.run(work)

    def build_line(
        self, change_id: str, path: str, old: bytes | None, new: bytes | None, by: Author, head: Head | None
    ) -> Line:
        """Return the line that records a change, while the page's row is locked. `head`: the page's latest change."""
        before = head.version if head else ABSENT
        change = Change(change_id, format_timestamp(self._clock()), path, version_of(new), before, *by)
        return make_line(change, old, new, head.depth if head and version_of(old) == before else -1)

    def record_unrecorded(self, connection: Connection, path: str, data: bytes) -> None:
        """Record what a page holds if history does not have it: a transcript grows without history."""
        head = self.read_head(connection, path)
        if version_of(data) != (head.version if head else ABSENT):
            line = self.build_line(new_change_id(), path, None, data, Author(tool=""), head)
            connection.execute(f"{NEXT_SEQ} {INSERT_NEXT_LINE}", line_values(self._database.tenant, line))

    def find_change(self, connection: Connection, change_id: str) -> Change | None:
        """Return the change with this id if it was committed."""
        row = connection.execute(
            f"SELECT {_CHANGE_COLUMNS} FROM commonplace.history WHERE tenant = %s AND id = %s",
            (self._database.tenant, change_id),
        ).fetchone()
        return Change(*row) if row else None

    def query_seq(self, connection: Connection, change_id: str) -> Cursor:
        """Send a query for the sequence number of a change."""
        return connection.execute(
            "SELECT seq FROM commonplace.history WHERE tenant = %s AND id = %s", (self._database.tenant, change_id)
        )

    def read_head(self, connection: Connection, path: str) -> Head | None:
        """Return the latest change of a page, within a transaction."""
        row = connection.execute(QUERY_HEAD, {"tenant": self._database.tenant, "path": path}).fetchone()
        return parse_head(row) if row else None

    def head(self, path: str) -> Head | None:
        if not _is_storable(path):
            return None
        return self._database.run(partial(self.read_head, path=path))

    def changes(self, path: str | None = None) -> list[Change]:
        if path is not None:
            return [Change(*row) for row in self._query(_CHANGE_COLUMNS, "path = %s ORDER BY seq", path)]
        return [Change(*row) for row in self._query(_CHANGE_COLUMNS, "true ORDER BY at, seq")]

    def past_pages(self, moment: str) -> dict[str, PastPage]:
        values = {"tenant": self._database.tenant, "moment": moment}
        rows = self._database.query(_PAST_PAGES, values, _LONG)
        width = len(Change._fields)
        changes = ((Change(*row[1 : width + 1]), row[0], row[width + 1 :]) for row in rows)
        return {
            later.path: describe_past_page(Change(*before) if before[0] else None, later, latest)
            for later, latest, before in changes
        }

    def page_sizes(self) -> list[tuple[Change, int]]:
        lines = map(parse_line, self._query(LINE_COLUMNS, "true ORDER BY seq"))
        return sorted(replay_sizes(lines), key=lambda each: each[0].at)

    def change(self, name: str) -> Change:
        # Ids are hexadecimal: everything with the prefix sorts before the prefix with a tilde.
        rows = self._query(_CHANGE_COLUMNS, "id >= %s AND id < %s LIMIT 1000", name, f"{name}~")
        return require_one(name, [Change(*row) for row in rows])

    def read_version(self, path: str, version: str) -> bytes | None:
        if version == ABSENT:
            return None
        latest = "SELECT max(seq) FROM commonplace.history WHERE tenant = %s AND path = %s AND version = %s"
        condition = f"path = %s AND seq <= ({latest}) ORDER BY seq DESC LIMIT {MAX_DELTA_DEPTH + 1}"
        rows = self._query(LINE_COLUMNS, condition, path, self._database.tenant, path, version)
        return find_version([parse_line(row) for row in reversed(rows)], version, path)

    def versions(self, path: str, newest: int | None = None) -> Versions:
        if newest is None:
            return list(replay(parse_line(row) for row in self._query(LINE_COLUMNS, "path = %s ORDER BY seq", path)))
        return list(replay(self.lines(path, newest)))[-newest:]

    def lines(self, path: str, newest: int) -> list[Line]:
        limit = newest + MAX_DELTA_DEPTH + 1
        rows = self._query(LINE_COLUMNS, f"path = %s ORDER BY seq DESC LIMIT {limit}", path)
        return newest_lines([parse_line(row) for row in reversed(rows)], newest)

    def line_reader(self, paths: Sequence[str], newest: int) -> Callable[[str], list[Line]]:
        fetched: dict[str, list[Line]] | None = None

        def read(path: str) -> list[Line]:
            nonlocal fetched
            if fetched is None:
                fetched = self._fetch_lines(paths, newest + MAX_DELTA_DEPTH + 1)
            return newest_lines(fetched.get(path, []), newest)

        return read

    def _fetch_lines(self, paths: Sequence[str], newest: int) -> dict[str, list[Line]]:
        """Return the newest lines of each page."""
        statement = f"""SELECT newest.* FROM unnest(%(paths)s::text[]) AS asked (path) CROSS JOIN LATERAL (
          SELECT {LINE_COLUMNS} FROM commonplace.history WHERE tenant = %(tenant)s AND path = asked.path
          ORDER BY seq DESC LIMIT %(newest)s) AS newest"""
        values = {"tenant": self._database.tenant, "paths": [*filter(_is_storable, paths)], "newest": newest}
        lines: dict[str, list[Line]] = {}
        for row in reversed(self._database.query(statement, values, _LONG)):
            line = parse_line(row)
            lines.setdefault(line.change.path, []).append(line)
        return lines

    def stamps(self, paths: Sequence[str]) -> dict[str, str]:
        condition = "path = ANY(%s) GROUP BY path"
        storable = [path for path in paths if _is_storable(path)]
        return {path: str(seq) for path, seq in self._query("path, max(seq)", condition, storable)}

    def iterate_pages(self) -> Iterator[tuple[str, Versions]]:
        for path, lines in self._iterate_lines(self.paths()):
            yield path, list(replay(lines))

    def _iterate_lines(self, paths: list[str]) -> Iterator[tuple[str, list[Line]]]:
        for start in range(0, len(paths), _PAGES_PER_QUERY):
            batch = paths[start : start + _PAGES_PER_QUERY]
            rows = self._query(LINE_COLUMNS, "path = ANY(%s) ORDER BY path, seq", batch)
            for path, lines in groupby(map(parse_line, rows), key=lambda line: line.change.path):
                yield path, list(lines)

    def paths(self) -> list[str]:
        return sorted(path for (path,) in self._query("DISTINCT path", "true"))

    def size(self) -> int:
        return int(self._query(f"coalesce(sum({_ROW_BYTES}), 0)", "true")[0][0])

    def prune(self, retention: Retention) -> int:
        oldest = format_timestamp(self._clock() - timedelta(days=retention.days))
        moment = max(oldest, self._oldest_that_fits(retention.size))
        paths = [path for (path,) in self._query("DISTINCT path", "at < %s", moment)]
        return self._rewrite_pages(sorted(paths), keep_since(moment))

    def _oldest_that_fits(self, limit: int) -> str:
        """Return the moment from which on everything fits into `limit` bytes; empty when all of it does."""
        sums = f"SELECT at, sum({_ROW_BYTES}) OVER (ORDER BY at DESC, seq DESC) AS total FROM commonplace.history"
        statement = (
            "SELECT min(at) FILTER (WHERE total <= %(limit)s), max(at) FILTER (WHERE total > %(limit)s)"
            f" FROM ({sums} WHERE tenant = %(tenant)s) AS summed"
        )
        values = {"limit": limit, "tenant": self._database.tenant}
        ((fits, exceeds),) = self._database.query(statement, values, _LONG)
        return "" if exceeds is None else str(fits or exceeds)

    def prune_if_due(self, seq: int, count: int = 1) -> None:
        """Prune after one in many writes. `seq` is the number of the last of `count` writes."""
        is_due = seq // _PRUNE_INTERVAL_WRITES > (seq - count) // _PRUNE_INTERVAL_WRITES
        if self.retention and is_due:
            with suppress(StorageError):  # the page is written; a later write prunes
                self.prune(self.retention)

    def rewrite(self, choose: ChooseVersions) -> int:
        return self._rewrite_pages(self.paths(), choose)

    def _rewrite_pages(self, paths: list[str], choose: ChooseVersions) -> int:
        """Rewrite pages that lose a version, locking one at a time so that writers of others do not wait."""
        dropped = 0
        for path, before in self._iterate_lines(paths):
            after = rebuild_lines(choose(path, list(replay(before))))
            if after != before:
                dropped += self._rewrite_page(path, choose, before, after)
        return dropped

    def _rewrite_page(self, path: str, choose: ChooseVersions, seen: list[Line], wanted: list[Line]) -> int:
        """Replace the lines that were `seen` by those `wanted`; choose again if there are new ones since."""

        def work(connection: Connection) -> int:
            self._lock_page(connection, path)
            rows = connection.execute(
                f"SELECT seq, {LINE_COLUMNS} FROM commonplace.history WHERE tenant = %s AND path = %s ORDER BY seq",
                (self._database.tenant, path),
            ).fetchall()
            before = [parse_line(row[1:]) for row in rows]
            after = wanted if before == seen else rebuild_lines(choose(path, list(replay(before))))
            if after != before:
                self._replace_lines(connection, path, after, {row[1]: row[0] for row in rows})
            return len(before) - len(after)

        return self._database.run(work, timeout_ms=_LONG_TIMEOUT_MS)

    def _replace_lines(self, connection: Connection, path: str, lines: Iterable[Line], seqs: Mapping[str, int]) -> None:
        tenant = self._database.tenant
        connection.execute("DELETE FROM commonplace.history WHERE tenant = %s AND path = %s", (tenant, path))
        rows = [line_values(tenant, line) | {"seq": seqs[line.change.id]} for line in lines]
        if rows:
            with connection.cursor() as cursor:
                cursor.executemany(INSERT_LINE, rows)
        else:
            self._drop_removed_page(connection, path)

    def _drop_removed_page(self, connection: Connection, path: str) -> None:
        """Drop the row of a removed page without history, so that not even its name is left."""
        row = connection.execute(
            "DELETE FROM commonplace.pages WHERE tenant = %s AND path = %s AND data IS NULL RETURNING seq",
            (self._database.tenant, path),
        ).fetchone()
        if row:
            connection.execute(
                "UPDATE commonplace.tenants SET forgotten = greatest(forgotten, %s) WHERE tenant = %s",
                (row[0], self._database.tenant),
            )

    def _lock_page(self, connection: Connection, path: str) -> str:
        """Lock a page until the transaction ends, and return its version; ABSENT when it is not there."""
        row = connection.execute(
            "SELECT version FROM commonplace.pages WHERE tenant = %s AND path = %s FOR UPDATE",
            (self._database.tenant, path),
        ).fetchone()
        return str(row[0]) if row else ABSENT

    def _query(self, columns: str, condition: str, *arguments: object) -> list[Row]:
        if not all(_is_storable(each) for each in arguments):
            return []
        statement = f"SELECT {columns} FROM commonplace.history WHERE tenant = %s AND {condition}"
        values = (self._database.tenant, *arguments)
        return self._database.query(statement, values, _LONG)


def parse_head(row: Sequence[Any]) -> Head | None:
    """Return the latest change of a page; None if all columns are empty, since there is none."""
    version, depth, at, *author = row
    return None if version is None else Head(version, depth, Author(*author), at)


def line_values(tenant: str, line: Line) -> dict[str, Any]:
    """Return a line of history as the columns of a row."""
    start, end = line.span or (None, None)
    values: dict[str, Any] = {name: make_storable(value) for name, value in line.change._asdict().items()}
    values |= {"tenant": tenant, "depth": line.depth, "span_start": start, "span_end": end}
    return values | {"data": base64.b64decode(line.data)}


def parse_line(row: Row) -> Line:
    *change, depth, start, end, data = row
    span = None if start is None else (start, end)
    return Line(Change(*change), depth, span, base64.b64encode(data).decode())


def _is_storable(value: object) -> bool:
    return not isinstance(value, str) or make_storable(value) == value
