"""Many pages put into a database in one transaction: all of them are there, with their history, or none.

What is large is sent first, under numbers that nobody sees; the tenant's own numbers are taken at the very end, so that
other writers wait for a moment only. Done again, it finds everything there and changes nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import InTheWay, StaleVersion
from ...formats.timestamps import format_timestamp
from ...model import Clock
from ...storage.author import current_write
from ...storage.base import ABSENT
from ...storage.deltas import Change, Line, line_of, version_of
from ...storage.postgres.backend import PostgresStorage
from ...storage.postgres.history import INSERT_LINE, PostgresHistory, line_values, new_change_id
from ...storage.postgres.listen import notify
from ...storage.postgres.pages import TRANSCRIPT_SUFFIX, find_path_conflicts
from .bulk_folder import batches
from .snapshot_postgres import LONG

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

Told = Callable[[int], None]
Left = dict[str, StaleVersion | InTheWay]
_SOME = 200  # pages that are in memory at once
_MINE = "tenant = %(tenant)s AND path = %(path)s"
_OURS = "tenant = %(tenant)s AND path = ANY(%(paths)s)"
_THEN = "timestamptz 'epoch' + %(modified)s * interval '1 microsecond'"
_MAKE = """INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)
  SELECT %(tenant)s, path, NULL, '', 0, 0, clock_timestamp() FROM unnest(%(paths)s::text[]) AS path
  ORDER BY path COLLATE "C" ON CONFLICT (tenant, path) DO NOTHING"""
_LOCK = f"SELECT path, version FROM commonplace.pages WHERE {_OURS} ORDER BY path FOR UPDATE"
_HEADS = f"""SELECT DISTINCT ON (path) path, version FROM commonplace.history WHERE {_OURS}
  ORDER BY path, seq DESC"""
_PUT = f"""UPDATE commonplace.pages SET data = %(page)s, version = %(version)s, size = %(size)s, seq = %(seq)s,
  written_at = {_THEN} WHERE {_MINE}"""
_GONE = f"UPDATE commonplace.pages SET seq = %(seq)s WHERE {_MINE} AND data IS NULL"
_EARLIER = f"UPDATE commonplace.pages SET written_at = {_THEN} WHERE {_MINE} AND written_at > {_THEN}"
_NUMBERS = """INSERT INTO commonplace.tenants AS mine (tenant, seq) VALUES (%(tenant)s, %(count)s)
  ON CONFLICT (tenant) DO UPDATE SET seq = mine.seq + %(count)s RETURNING mine.seq"""
_COUNTED = "seq = seq - %(low)s + %(base)s WHERE tenant = %(tenant)s AND seq < 0"


class Coming(NamedTuple):
    """A page to be. `standing`: the version of what was seen in its place; `modified`: in nanoseconds."""

    path: str
    standing: str
    modified: int
    read: Callable[[], bytes]


class Load(NamedTuple):
    """What goes into a database at once. `past`: history that comes along; `earlier`: pages that stay, and since when
    they have said what they say; `also`: what else is written in the same transaction, by the paths that were put."""

    coming: Sequence[Coming]
    past: Sequence[Line] = ()
    earlier: Mapping[str, int] = {}
    also: Callable[[Connection, frozenset[str]], None] = lambda connection, put: None


def put_all(
    storage: PostgresStorage, clock: Clock, load: Load, *, skip: bool = False, told: Told = lambda done: None
) -> Left:
    """Put pages where something else may stand only as it was seen (StaleVersion), and where no folder of pages stands
    nor a page in a folder's place (InTheWay); or nothing is written.

    With `skip` such a page alone is left out; those are what is answered, with what kept each from it.
    """
    last: list[_Putting] = []

    def work(connection: Connection) -> Left:
        last.append(_Putting(connection, storage, format_timestamp(clock()), load))
        return last[-1].run(skip=skip, told=told)

    left = storage.database.run(work, timeout_ms=LONG)
    last[-1].notify()
    return left


class _Putting:
    """One try."""

    def __init__(self, connection: Connection, storage: PostgresStorage, now: str, load: Load) -> None:
        self._connection, self._storage, self._now, self._load = connection, storage, now, load
        self._tenant = storage.database.tenant
        self._low = secrets.randbelow(1 << 61) - (1 << 62)  # below all numbers that are given out
        self._count = self._seq = 0

    def run(self, *, skip: bool, told: Told) -> Left:
        coming, past = self._load.coming, self._unknown(self._load.past)
        paths = sorted({*(each.path for each in coming), *(line.change.path for line in past)})
        found = self._taken(paths)
        left = self._left(found)
        if left and not skip:
            raise next(iter(left.values()))
        fresh = [each for each in coming if found[each.path] == each.standing and each.path not in left]
        heads = self._heads(paths) | {line.change.path: line.change.version for line in past}
        self._add(past)
        done = 0
        for some in batches(fresh, _SOME):
            self._put(some, heads)
            done += len(some)
            told(done)
        self._many(_GONE, [{"path": path, "seq": self._next()} for path in {line.change.path for line in past}])
        self._many(_EARLIER, [{"path": path, "modified": at // 1000} for path, at in self._load.earlier.items()])
        self._load.also(self._connection, frozenset(each.path for each in coming) - left.keys())
        self._number(paths)
        return left

    def _left(self, found: Mapping[str, str]) -> Left:
        """What can not be put, by the versions of what stands there."""
        other = [each for each in self._load.coming if found[each.path] != each.standing]
        stale = [each.path for each in other if found[each.path] != version_of(each.read())]
        new = [each.path for each in self._load.coming if found[each.path] == each.standing == ABSENT]
        return {path: StaleVersion(path) for path in stale} | find_path_conflicts(self._connection, self._tenant, new)

    def notify(self) -> None:
        """Once it is committed."""
        history = self._storage.history
        if self._seq:
            notify(self._storage.database, self._seq)
            assert isinstance(history, PostgresHistory)
            history.prune_if_due(self._seq, self._count)

    def _unknown(self, past: Sequence[Line]) -> list[Line]:
        """Without what is there already. A line whose id belongs to another change gets one of its own."""
        asked = "SELECT id, path, version FROM commonplace.history WHERE tenant = %s AND id = ANY(%s)"
        names = [line.change.id for line in past]
        taken = {name: rest for name, *rest in self._connection.execute(asked, (self._tenant, names)).fetchall()}
        out: list[Line] = []
        for line in past:
            change = line.change
            if taken.get(change.id) != [change.path, change.version]:
                name = new_change_id() if change.id in taken else change.id
                taken[name] = []
                out.append(line._replace(change=change._replace(id=name)))
        return out

    def _taken(self, paths: list[str]) -> dict[str, str]:
        """The versions of pages whose rows are ours until the end; a row is made where there is none."""
        found: dict[str, str] = {}
        while missing := [path for path in paths if path not in found]:
            given = {"tenant": self._tenant, "paths": missing}
            self._connection.execute(_MAKE, given)
            found |= dict(self._connection.execute(_LOCK, given).fetchall())
        return found

    def _heads(self, paths: list[str]) -> dict[str, str]:
        return dict(self._connection.execute(_HEADS, {"tenant": self._tenant, "paths": paths}).fetchall())

    def _put(self, some: list[Coming], heads: Mapping[str, str]) -> None:
        lines, pages = [], []
        for each in some:
            data, before = each.read(), heads.get(each.path, ABSENT)
            if each.standing and each.path.endswith(TRANSCRIPT_SUFFIX):
                self._keep(each.path)
            version = version_of(data)
            if before != version:  # else the history that came along tells of it
                by = current_write().author
                change = Change(new_change_id(), self._now, each.path, version, before, *by)
                lines.append(line_of(change, None, data, -1))
            said = {"path": each.path, "page": data, "version": version, "size": len(data)}
            pages.append(said | {"seq": self._next(), "modified": each.modified // 1000})
        self._add(lines)
        self._many(_PUT, pages)

    def _keep(self, path: str) -> None:
        asked = f"SELECT data FROM commonplace.pages WHERE {_MINE} AND data IS NOT NULL"
        row = self._connection.execute(asked.encode(), {"tenant": self._tenant, "path": path}).fetchone()
        history = self._storage.history
        assert isinstance(history, PostgresHistory)
        if row:
            history.record_unrecorded(self._connection, path, row[0])

    def _add(self, lines: Iterable[Line]) -> None:
        rows = [line_values(self._tenant, line) | {"seq": self._next()} for line in lines]
        self._many(INSERT_LINE, rows)

    def _many(self, statement: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            with self._connection.cursor() as cursor:
                cursor.executemany(statement.encode(), [{"tenant": self._tenant, **row} for row in rows])

    def _next(self) -> int:
        self._count += 1
        return self._low + self._count

    def _number(self, paths: list[str]) -> None:
        """The last lock: whoever waits for it waits for the commit alone."""
        given: dict[str, Any] = {"tenant": self._tenant, "paths": paths}
        self._connection.execute(f"DELETE FROM commonplace.pages WHERE {_OURS} AND seq = 0".encode(), given)
        if not self._count:
            return
        row = self._connection.execute(_NUMBERS, {"tenant": self._tenant, "count": self._count}).fetchone()
        assert row
        self._seq = row[0]
        given |= {"low": self._low, "base": self._seq - self._count}
        self._connection.execute(f"UPDATE commonplace.pages SET {_COUNTED}".encode(), given)
        self._connection.execute(f"UPDATE commonplace.history SET {_COUNTED} AND path = ANY(%(paths)s)".encode(), given)
