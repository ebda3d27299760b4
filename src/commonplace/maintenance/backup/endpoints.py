"""The two ends of a copy: a folder or a database, whole pages with all that history knows of them.

A page is put with what is missing of its history, while nobody else can write it: neither is there without the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...errors import CommonplaceError, ConnectionLost, PageNotFound, Refused, StaleVersion, StorageError
from ...formats.timestamps import format_timestamp
from ...home import Home
from ...storage.base import ABSENT, Sentences, Versions
from ...storage.deltas import Change, Line, version_of
from ...storage.file_locks import lock
from ...storage.files import ConcurrentWrite, read_settled, remove_file, replace_file, storage_errors
from ...storage.folder.history import History
from ...storage.history import rebuild_lines
from ...storage.postgres.backend import PostgresStorage
from ...storage.postgres.listen import notify
from .bulk_folder import place_of
from .scope import extent, files, holds, locks_of, oddity

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

_LONG = 300_000  # milliseconds that a statement may take: a page may have a long history
_LONGISH = 1000  # bytes of a path, from which on it is asked whether a database takes it
_MINE = "tenant = %(tenant)s AND path = %(path)s"
_MICROSECONDS = "(extract(epoch FROM written_at) * 1000000)::bigint"
_TAKE = """INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)
  VALUES (%(tenant)s, %(path)s, NULL, '', 0, 0, clock_timestamp()) ON CONFLICT (tenant, path) DO NOTHING"""
_NUMBERS = """INSERT INTO commonplace.tenants AS mine (tenant, seq) VALUES (%(tenant)s, %(count)s)
  ON CONFLICT (tenant) DO UPDATE SET seq = mine.seq + %(count)s RETURNING mine.seq"""
_PUT = f"""UPDATE commonplace.pages SET data = %(data)s, version = %(version)s, size = %(size)s, seq = %(seq)s,
  written_at = timestamptz 'epoch' + %(modified)s * interval '1 microsecond' WHERE {_MINE}"""


class Copy(NamedTuple):
    """A page with its past, oldest version first. `data` is None for one that was removed. `modified`: nanoseconds."""

    path: str
    data: bytes | None
    modified: int
    past: Versions

    @property
    def version(self) -> str:
        return version_of(self.data)


Step = tuple[Copy, str]  # a page, and the version of what was seen in its place


class _Ready(NamedTuple):
    """A page whose row is ours, what is to be added to its history, and the version of what stands there."""

    page: Copy
    made: Versions
    found: str


class Side(Protocol):
    home: Home

    def pages(self, warnings: Sentences) -> dict[str, str]:
        """The versions of all pages of memory, by path."""
        ...

    def versions(self, paths: Iterable[str]) -> dict[str, str]:
        """The versions of those of some pages that are there."""
        ...

    def read(self, path: str) -> tuple[bytes | None, int]:
        """What stands there, and when it was written, in nanoseconds."""
        ...

    def put(self, some: Sequence[Step]) -> dict[str, str]:
        """Let pages stand here, with what is missing of their history; what kept those that do not from it, by path:
        something else than what was seen is there by now, or it can be no page here."""
        ...

    def done(self) -> None:
        """All is put: who follows this memory should look."""
        ...


def side_of(home: Home) -> Side:
    return OfDatabase(home, home.storage) if isinstance(home.storage, PostgresStorage) else OfFolder(home)


def to_add(page: Copy, known: Sequence[str], standing: str, now: str) -> Versions:
    """What is to be added to a history that has some versions already.

    One that the page's own goes on from is continued. One of another life stays; that the page is replaced is a change
    of its own in it.
    """
    if [*known] == [change.version for change, _ in page.past[: len(known)]]:
        return page.past[len(known) :]
    if page.version == standing:
        return []
    before = known[-1] if known else ABSENT
    return [(Change(os.urandom(8).hex(), now, page.path, page.version, before, "copy"), page.data)]


class OfFolder:
    def __init__(self, home: Home) -> None:
        self.home = home
        assert isinstance(home.storage.history, History)
        self._history = home.storage.history

    def pages(self, warnings: Sentences) -> dict[str, str]:
        found = files(os.path.realpath(self.home.root), extent(self.home, history=False), warnings)
        return self.versions([path for path, _ in found])

    def versions(self, paths: Iterable[str]) -> dict[str, str]:
        found = ((path, self.home.storage.read_bytes(path)) for path in paths)
        return {path: version_of(data) for path, data in found if data is not None}

    def read(self, path: str) -> tuple[bytes | None, int]:
        data = self.home.storage.read_bytes(path)
        try:
            return data, 0 if data is None else os.stat(place_of(self.home, path)).st_mtime_ns
        except FileNotFoundError:  # removed just now
            return None, 0

    def put(self, some: Sequence[Step]) -> dict[str, str]:
        problems: dict[str, str] = {}
        for page, standing in some:
            try:
                self._put(page, standing)
            except CommonplaceError as error:
                problems[page.path] = str(error)
        return problems

    def _put(self, page: Copy, standing: str) -> None:
        place, path = place_of(self.home, page.path), page.path
        if standing:
            self.home.storage.pages.record_outside_edits([path])
        with storage_errors(path), lock(locks_of(self.home), "page", path):
            found = read_settled(place, path)
            if version_of(found) not in (standing, page.version):
                raise StaleVersion(path)
            known = [change.version for change in self._history.changes(path)]
            self._history.bring(path, to_add(page, known, version_of(found), format_timestamp(self.home.clock())))
            if version_of(found) == page.version:
                return
            try:
                _replace(place, found, page)
            except ConcurrentWrite as error:
                raise StaleVersion(path) from error

    def done(self) -> None:
        self.home.index.invalidate()


def _replace(place: str, found: bytes | None, page: Copy) -> None:
    if page.data is None:
        remove_file(place, found or b"")
        return
    replace_file(place, page.data, found)
    os.utime(place, ns=(page.modified, page.modified))


class OfDatabase:
    def __init__(self, home: Home, storage: PostgresStorage) -> None:
        self.home, self._database = home, storage.database
        self._seq = 0

    def pages(self, warnings: Sentences) -> dict[str, str]:
        roots, every = extent(self.home, history=False), self._every()
        others = sum(not holds(roots, path) for path in every)
        if others:
            warnings.append(f"{others} page{'s' * (others > 1)} where these settings keep no memory: left out")
        return {path: version for path, version in every.items() if holds(roots, path)}

    def versions(self, paths: Iterable[str]) -> dict[str, str]:
        every = self._every()
        return {path: every[path] for path in paths if path in every}

    def _every(self) -> dict[str, str]:
        asked = "SELECT path, version FROM commonplace.pages WHERE tenant = %(tenant)s AND data IS NOT NULL"
        return dict(self._database.query(asked, {"tenant": self._database.tenant}))

    def read(self, path: str) -> tuple[bytes | None, int]:
        asked = f"SELECT data, {_MICROSECONDS} FROM commonplace.pages WHERE {_MINE} AND data IS NOT NULL"
        rows = self._database.query(asked, {"tenant": self._database.tenant, "path": path})
        return (rows[0][0], rows[0][1] * 1000) if rows else (None, 0)

    def put(self, some: Sequence[Step]) -> dict[str, str]:
        """In one transaction: the rows of all pages are locked first, in order, and the tenant's number after them, as
        every writer does it."""

        from ...storage.postgres.pages import find_path_conflicts

        def work(connection: Connection) -> dict[str, str]:
            problems: dict[str, str] = {}
            ready: list[_Ready] = []
            for page, standing in sorted(some, key=lambda step: step[0].path):
                try:
                    ready.append(self._ready(connection, page, standing))
                except (StaleVersion, Refused, StorageError) as error:
                    if isinstance(error, ConnectionLost):
                        raise
                    problems[page.path] = str(error)
            new = [page.path for page, _, found in ready if found == ABSENT and page.data is not None]
            problems |= {
                path: str(error) for path, error in find_path_conflicts(connection, self._database.tenant, new).items()
            }
            for page, made, found in ready:
                if made and page.path not in problems:
                    self._add(connection, page, rebuild_lines(made), changed=found != page.version)
                connection.execute(f"DELETE FROM commonplace.pages WHERE {_MINE} AND seq = 0", self._named(page.path))
            return problems

        return self._database.run(work, timeout_ms=_LONG)

    def _ready(self, connection: Connection, page: Copy, standing: str) -> _Ready:
        self._refuse_odd(page.path)
        found = version_of(self._taken(connection, page.path))
        if found not in (standing, page.version):
            raise StaleVersion(page.path)
        made = to_add(page, self._known(connection, page.path), found, format_timestamp(self.home.clock()))
        return _Ready(page, made, found)

    def done(self) -> None:
        if self._seq:
            notify(self._database, self._seq)

    def _refuse_odd(self, path: str) -> None:
        """An error for a path that is none here."""
        if oddity(path) or len(path.encode()) > _LONGISH:
            try:
                self.home.storage.pages.modified_at(path)
            except PageNotFound:
                return

    def _named(self, path: str) -> dict[str, Any]:
        return {"tenant": self._database.tenant, "path": path}

    def _taken(self, connection: Connection, path: str) -> bytes | None:
        """What stands in a page whose row is ours until the end of the transaction; one is made if there is none."""
        asked, named = f"SELECT data FROM commonplace.pages WHERE {_MINE} FOR UPDATE", self._named(path)
        while (row := connection.execute(asked, named).fetchone()) is None:
            connection.execute(_TAKE, named)
        data: bytes | None = row[0]
        return data

    def _known(self, connection: Connection, path: str) -> list[str]:
        asked = f"SELECT version FROM commonplace.history WHERE {_MINE} ORDER BY seq"
        return [version for (version,) in connection.execute(asked, self._named(path))]

    def _add(self, connection: Connection, page: Copy, lines: list[Line], *, changed: bool) -> None:
        from ...storage.postgres.history import line_values

        taken = self._taken_ids(connection, [line.change.id for line in lines])
        rows = [line_values(self._database.tenant, _under_new_id(line, taken)) for line in lines]
        number = connection.execute(_NUMBERS, self._named(page.path) | {"count": len(rows)}).fetchone()
        assert number
        self._seq = number[0]
        for at, row in enumerate(rows, start=self._seq - len(rows) + 1):
            row["seq"] = at
        with connection.cursor() as cursor:
            cursor.executemany(_insert(rows[0]), rows)
        if changed or page.data is None:
            said = {"data": page.data, "version": page.version, "size": len(page.data or b""), "seq": self._seq}
            connection.execute(_PUT, self._named(page.path) | said | {"modified": page.modified // 1000})

    def _taken_ids(self, connection: Connection, names: list[str]) -> set[str]:
        asked = "SELECT id FROM commonplace.history WHERE tenant = %(tenant)s AND id = ANY(%(names)s)"
        found = connection.execute(asked, {"tenant": self._database.tenant, "names": names}).fetchall()
        return {name for (name,) in found}


def _insert(row: dict[str, Any]) -> bytes:
    named = ", ".join(f"%({name})s" for name in row)
    return f"INSERT INTO commonplace.history ({', '.join(row)}) VALUES ({named})".encode()


def _under_new_id(line: Line, taken: set[str]) -> Line:
    """A line whose id belongs to another change here gets one of its own."""
    if line.change.id not in taken:
        return line
    return line._replace(change=line.change._replace(id=os.urandom(8).hex()))
