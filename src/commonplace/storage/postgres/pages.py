"""Pages as rows of a database, for many machines.

A page and its history are written in one transaction, by whoever holds the lock on the page's row. A write whose
commit was not confirmed is not made twice: its id is chosen before the first attempt, and a retry finds it in history.
Every write takes the tenant's next sequence number, in commit order, so whoever follows by it misses nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import (
    ConnectionLost,
    NotFound,
    NotText,
    OutsideHome,
    PageNotFound,
    PathIsFile,
    PathIsFolder,
    StaleVersion,
    StorageError,
)
from ...formats.json_text import is_unicode
from ...model import Page
from ..base import ABSENT, Changes, Head, PageElsewhere, Paths, Root, Sentences, Suffix, Texts
from ..conflicts import ByteChange, ConflictDetector, TextPages, change_text, decode_text, split_unique_path
from ..history import current_write, version_of
from ..layout import PagePaths, folders_above
from ..names import MAX_PATH_BYTES, path_range
from ..tree import PageSize
from .connection import ONE_PLAN, Database, Row, apply_settings, make_storable
from .history import INSERT_NEXT_LINE, NEXT_SEQ, QUERY_HEAD, PostgresHistory, line_values, new_change_id, parse_head
from .listen import notify
from .locks import LockIsBusy, NamedLocks, limit_lock_wait

if TYPE_CHECKING:
    from .connection import Connection, Cursor

_PAGES_PER_QUERY = 200
_SMALL_PAGE_BYTES = 64_000  # larger pages are fetched one by one, so that they are not all in memory
TRANSCRIPT_SUFFIX = ".jsonl"  # pages that grow line by line, without a change in history for each
_RELEASE = "DELETE FROM commonplace.locks WHERE tenant = %(tenant)s AND name = %(lock)s"
_NEXT_LINE = f"{NEXT_SEQ}, line AS ({INSERT_NEXT_LINE})"
_PUT_PAGE = """UPDATE commonplace.pages SET data = %(page)s, version = %(version)s, size = %(size)s, seq = next.seq,
  written_at = clock_timestamp()
FROM next WHERE tenant = %(tenant)s AND path = %(path)s
RETURNING next.seq"""
_UPDATE_PAGE = f"{_NEXT_LINE} {_PUT_PAGE}"
_UPDATE_AND_RELEASE = f"{_NEXT_LINE}, released AS ({_RELEASE}) {_PUT_PAGE}"
# Finds bytes that are not UTF-8 without making the server fail: `encode` writes high bytes as \\ooo, every valid
# multi-byte character is taken away, and whatever escape is left is invalid.
_CONTINUATION = r"\\2[0-7][0-7]"
_VALID_CHARACTERS = (
    rf"\\\\|\\3(?:0[2-7]|[1-3][0-7]){_CONTINUATION}|\\340\\2[4-7][0-7]{_CONTINUATION}"
    rf"|\\3(?:4[1-7]|5[0-467])(?:{_CONTINUATION}){{2}}"
    rf"|\\355\\2[0-3][0-7]{_CONTINUATION}|\\360\\2[2-7][0-7](?:{_CONTINUATION}){{2}}"
    rf"|\\36[1-3](?:{_CONTINUATION}){{3}}|\\364\\2[01][0-7](?:{_CONTINUATION}){{2}}"
)
_IS_NOT_TEXT = r"regexp_replace(encode(data, 'escape'), %(valid)s, '', 'g') ~ '\\[23][0-7][0-7]'"
_EXISTING = "tenant = %(tenant)s AND data IS NOT NULL"
_EXISTING_BELOW = f"{_EXISTING} AND path >= %(start)s AND path < %(end)s"
_WRITTEN_AT = "extract(epoch FROM written_at)::float8"
# From one folder to the next by the index, so that the cost follows the folders and not the pages in them. Row-level
# security lets the server use an index for a column, not for what is computed of one: hence `after` and `path`.
_FOLDERS_BELOW = f"""WITH RECURSIVE folders (name, after) AS (
  SELECT NULL::text COLLATE "C", %(start)s::text COLLATE "C"
  UNION ALL SELECT next.name, %(start)s || next.name || '0' FROM folders CROSS JOIN LATERAL (
    SELECT split_part(substr(path, %(below)s), '/', 1) AS name FROM commonplace.pages
    WHERE {_EXISTING} AND path >= folders.after AND path < %(end)s AND strpos(substr(path, %(below)s), '/') > 0
    ORDER BY path LIMIT 1) AS next)
SELECT name FROM folders WHERE name IS NOT NULL"""
_FOLDERS_WITH = f"""SELECT DISTINCT wanted.name FROM (
  SELECT folder.name, %(start)s || folder.name || '/' || page.name AS path
  FROM ({_FOLDERS_BELOW}) AS folder CROSS JOIN unnest(%(names)s::text[]) AS page (name)) AS wanted
CROSS JOIN LATERAL (SELECT FROM commonplace.pages WHERE {_EXISTING} AND path = wanted.path LIMIT 1) AS existing"""
# As among files, nothing is a page and a folder at once: otherwise a memory could not be copied into a folder.
_CONFLICTING_PATHS = f"""SELECT path FROM commonplace.pages WHERE {_EXISTING} AND path = ANY(%(above)s)
UNION ALL SELECT other.path FROM unnest(%(new)s::text[]) AS wanted (path) CROSS JOIN LATERAL (
  SELECT page.path FROM commonplace.pages AS page
  WHERE {_EXISTING} AND page.path >= wanted.path || '/' AND page.path < wanted.path || '0' LIMIT 1) AS other"""
# Locks the row of a page until the transaction ends. A row that is there already stays as it is.
_LOCK_OR_CREATE = """INSERT INTO commonplace.pages AS page (tenant, path, data, version, size, seq, written_at)
VALUES (%(tenant)s, %(path)s, NULL, '', 0, 0, clock_timestamp())
ON CONFLICT (tenant, path) DO UPDATE SET seq = page.seq WHERE false"""
# The same under a named lock: a row that others cannot insert until the transaction ends, before which it is removed.
_LOCK_NAME_AND_PAGE = """WITH held AS (
  INSERT INTO commonplace.locks (tenant, name) VALUES (%(tenant)s, %(lock)s)
  RETURNING set_config('lock_timeout', '0', true))
INSERT INTO commonplace.pages AS page (tenant, path, data, version, size, seq, written_at)
SELECT %(tenant)s, %(path)s, NULL, '', 0, 0, clock_timestamp() FROM held
ON CONFLICT (tenant, path) DO UPDATE SET seq = page.seq WHERE false"""
# What a write has to know of a page, asked once its row is locked: a statement sees what was there when it began.
_LOCKED = f"""page.data, conflict.path, head.* FROM commonplace.pages AS page
LEFT JOIN LATERAL (SELECT path FROM ({_CONFLICTING_PATHS}) AS paths WHERE page.data IS NULL LIMIT 1) AS conflict ON true
LEFT JOIN LATERAL ({QUERY_HEAD}) AS head ON true
WHERE page.tenant = %(tenant)s AND page.path = %(path)s"""
_READ_LOCKED = f"SELECT {_LOCKED}"
_READ_UNIQUE = f"SELECT ARRAY({_FOLDERS_WITH}), {_LOCKED}"


class ChangesSince(NamedTuple):
    """Pages that changed and pages that are gone since a sequence number, and the number to ask with next."""

    seq: int
    changed: Paths
    removed: Paths


class _WriteOutcome(NamedTuple):
    """The outcome of a write: the page's version and size (0: removed), and a query for its sequence number.

    Without the query nothing was written.
    """

    version: str
    size: int = 0
    seq_query: Cursor | None = None


class PostgresPages(TextPages):
    def __init__(self, database: Database, on_write: Callable[[str, int], None], history: PostgresHistory) -> None:
        """Open the pages of a tenant. `on_write` is called after each commit with a path and its size (0: removed)."""
        super().__init__(ConflictDetector(history))
        self._database = database
        self._on_write = on_write
        self.history = history
        self._locks = NamedLocks(database)

    def read(self, path: str) -> Page:
        data = self.read_bytes(path)
        if data is None:
            raise PageNotFound(path)
        return Page(path, decode_text(data, path), version_of(data))

    def read_bytes(self, path: str) -> bytes | None:
        statement = f"SELECT data FROM commonplace.pages WHERE {_EXISTING} AND path = %(path)s"
        rows = self._query(statement, path=normalize_path(path))
        return rows[0][0] if rows else None

    def page_reader(self, paths: Sequence[str]) -> Callable[[str], Page]:
        position = {path: number for number, path in enumerate(paths)}
        fetched: dict[str, bytes] = {}
        after = 0  # how many of the paths were asked for

        def read(path: str) -> Page:
            nonlocal after
            start = position[path]
            if start >= after:
                after = start + _PAGES_PER_QUERY
                fetched.clear()
                fetched.update(self._read_small(paths[start:after]))
            data = fetched.pop(path, None)
            if data is None:  # large, or removed since it was listed
                return self.read(path)
            return Page(path, decode_text(data, path), version_of(data))

        return read

    def _read_small(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the bytes of several pages, without those that are large or not there."""
        statement = (
            f"SELECT path, data FROM commonplace.pages WHERE {_EXISTING} AND path = ANY(%(paths)s) AND size <= %(most)s"
        )
        return dict(self._query(statement, paths=[*paths], most=_SMALL_PAGE_BYTES))

    def version(self, path: str) -> str:
        """Return the version of a page without reading it; ABSENT when it is not there."""
        statement = f"SELECT version FROM commonplace.pages WHERE {_EXISTING} AND path = %(path)s"
        values = {"tenant": self._database.tenant, "path": normalize_path(path)}
        rows = self._database.query(statement, values, retry_seconds=0)
        return str(rows[0][0]) if rows else ABSENT

    def _normalize(self, path: str) -> str:
        return normalize_path(path)

    def change_bytes(self, path: str, change: ByteChange) -> str:
        return self._change(normalize_path(path), change)

    def edit_unique(self, path: str, change: Callable[[str], str], lock: str) -> str:
        """See `PageWriter`. All of it is one transaction, which takes half as many round trips as a lock of its own; if
        others hold the lock for long, it is waited for without the connection."""
        try:
            return self._change(normalize_path(path), change_text(path, change), self._locks.key(lock))
        except LockIsBusy:
            return super().edit_unique(path, change, lock)

    def _change(self, path: str, change: ByteChange, lock: str = "") -> str:
        """Change the bytes of a page; under a named lock, only if there is none of its name in folders beside its
        own."""

        def work(connection: Connection, change_id: str) -> _WriteOutcome:
            old, head = self._lock_unique(connection, path, lock) if lock else self._lock_or_create(connection, path)
            new = change(old)
            if new is None or new == old:
                drop_placeholder(connection, self._database.tenant, path)
                if lock:
                    connection.execute(_RELEASE, {"tenant": self._database.tenant, "lock": lock})
                return _WriteOutcome(version_of(new))
            self._conflicts.report_lost_changes(path, old, new)
            return self._put(connection, path, change_id, old, new, head, lock)

        outcome = self._write_once(path, work, limit_lock_wait() if lock else {})
        self._conflicts.mark_read(path, outcome.version)
        return outcome.version

    def reaffirm(self, path: str, if_version: str | None = None) -> None:
        path = normalize_path(path)
        data = self.read_bytes(path)
        if data is None:
            raise PageNotFound(path)
        if if_version is not None and version_of(data) != if_version:
            raise StaleVersion(path)
        self.history.record_change(path, data, data, current_write().author, if_version=if_version)

    def remove(self, path: str, if_version: str | None = None) -> None:
        path = normalize_path(path)

        def work(connection: Connection, change_id: str) -> _WriteOutcome:
            statement = "SELECT data FROM commonplace.pages WHERE tenant = %s AND path = %s FOR UPDATE"
            row = connection.execute(statement, (self._database.tenant, path)).fetchone()
            if row is None or row[0] is None:
                raise PageNotFound(path)
            if if_version is not None and version_of(row[0]) != if_version:
                raise StaleVersion(path)
            return self._put(connection, path, change_id, row[0], None, self.history.read_head(connection, path))

        self._write_once(path, work)
        self._conflicts.forget(path)

    def _write_once(
        self, path: str, work: Callable[[Connection, str], _WriteOutcome], settings: Mapping[str, str] | None = None
    ) -> _WriteOutcome:
        """Retry `work` until the server confirms it, without repeating what was already committed."""
        change_id = new_change_id()
        attempts: list[_WriteOutcome] = []

        def attempt(connection: Connection) -> _WriteOutcome:
            if attempts:
                apply_settings(connection, {"lock_timeout": "0"})
                self._lock_or_create(connection, path)  # waits for the first attempt, if the server is still at it
                if self.history.find_change(connection, change_id):
                    return attempts[-1]._replace(seq_query=self.history.query_seq(connection, change_id))
                apply_settings(connection, settings or {})
            attempts.append(work(connection, change_id))
            return attempts[-1]

        run = partial(self._database.run, attempt, pipeline=True, settings={**ONE_PLAN, **(settings or {})})
        try:
            outcome = run()
        except StorageError as error:
            # A question that was sent along must not keep anybody from writing.
            if isinstance(error, ConnectionLost) or not current_write().stop_looking_ahead():
                raise
            outcome = run()
        if outcome.seq_query is not None:
            row = outcome.seq_query.fetchone()
            assert row
            notify(self._database, row[0])
            self.history.prune_if_due(row[0])
            self._on_write(path, outcome.size)
        return outcome

    def _lock_or_create(self, connection: Connection, path: str) -> tuple[bytes | None, Head | None]:
        """Lock the page's row, created if needed, until the transaction ends; return its data and its latest change."""
        lock_or_create(connection, self._database.tenant, path)
        values = {"tenant": self._database.tenant, "path": path, "above": [*folders_above(path)], "new": [path]}
        row = connection.execute(_READ_LOCKED, values).fetchone()
        assert row
        return _read_locked(path, row)

    def _lock_unique(self, connection: Connection, path: str, lock: str) -> tuple[bytes | None, Head | None]:
        """Do the same under a named lock; PageElsewhere if a folder beside the page's own has a page of its name."""
        from psycopg.errors import LockNotAvailable

        siblings, folder, name = split_unique_path(path)
        start, end = path_range(siblings)
        values: dict[str, Any] = {"tenant": self._database.tenant, "path": path, "lock": lock, "names": [name]}
        values |= {"above": [*folders_above(path)], "new": [path], "start": start, "end": end, "below": len(start) + 1}
        connection.execute(_LOCK_NAME_AND_PAGE, values)
        try:
            row = connection.execute(_READ_UNIQUE, values).fetchone()
        except LockNotAvailable as error:
            raise LockIsBusy from error
        assert row
        folders, *others = row
        if {*folders} - {folder}:
            raise PageElsewhere(path)
        return _read_locked(path, others)

    def _put(
        self,
        connection: Connection,
        path: str,
        change_id: str,
        old: bytes | None,
        new: bytes | None,
        head: Head | None,
        lock: str = "",
    ) -> _WriteOutcome:
        if old is not None and path.endswith(TRANSCRIPT_SUFFIX):
            self.history.record_unrecorded(connection, path, old)
            head = self.history.read_head(connection, path)
        line = self.history.build_line(change_id, path, old, new, current_write().author, head)
        size = len(new or b"")
        # All other writers wait for the number taken here, so it is sent together with the commit.
        values = line_values(self._database.tenant, line) | {"page": new, "size": size, "lock": lock}
        statement = _UPDATE_AND_RELEASE if lock else _UPDATE_PAGE
        return _WriteOutcome(version_of(new), size, connection.execute(statement, values))

    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        only_here = "" if deep else " AND strpos(substr(path, %(below)s), '/') = 0"
        rows = self._query_below("path", folder, only_here)
        return sorted(path for (path,) in rows if path.endswith(suffix) and not _is_hidden(path, folder))

    def list_sizes(self, folder: str = "") -> Sequence[PageSize]:
        return sorted(PageSize(*row) for row in self._query_below(f"path, size, {_WRITTEN_AT}", folder))

    def find_page(self, path: str) -> PageSize | None:
        statement = f"SELECT path, size, {_WRITTEN_AT} FROM commonplace.pages WHERE {_EXISTING} AND path = %(path)s"
        rows = self._query(statement, path=normalize_path(path))
        return PageSize(*rows[0]) if rows else None

    def has_pages_below(self, folder: str) -> bool:
        return any(self._query_below("1", folder, " LIMIT 1"))

    def find_text(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        condition = f" AND right(path, 3) = '.md' AND (position(%(text)s::bytea IN data) > 0 OR {_IS_NOT_TEXT})"
        rows = self._query_below("path, data", folder, condition, text=text.encode(), valid=_VALID_CHARACTERS)
        texts: Texts = []
        warnings: Sentences = []
        for path, data in sorted(rows):
            if _is_hidden(path, folder):
                continue
            try:
                texts.append((path, decode_text(data, path)))
            except NotText as error:
                warnings.append(str(error))
        return texts, warnings

    def list_folders(self, folder: str) -> Paths:
        return self._list_folders(_FOLDERS_BELOW, folder)

    def list_folders_with(self, folder: str, names: Sequence[str]) -> Paths:
        return self._list_folders(_FOLDERS_WITH, folder, names=[*map(make_storable, names)])

    def _list_folders(self, statement: str, folder: str, **values: object) -> Paths:
        try:
            start, end = path_range(normalize_path(folder)) if folder else ("", "\U0010ffff")
        except OutsideHome:
            return []
        values |= {"tenant": self._database.tenant, "start": start, "end": end, "below": len(start) + 1}
        rows = self._database.query(statement, values, ONE_PLAN)
        return sorted(name for (name,) in rows if name[0] != ".")

    def modified_at(self, path: str) -> float:
        statement = f"SELECT {_WRITTEN_AT} FROM commonplace.pages WHERE {_EXISTING} AND path = %(path)s"
        rows = self._query(statement, path=normalize_path(path))
        if not rows:
            raise PageNotFound(path)
        return float(rows[0][0])

    def modified_times(self) -> dict[str, float]:
        """Return when each page was last written."""
        return dict(self._query(f"SELECT path, {_WRITTEN_AT} FROM commonplace.pages WHERE {_EXISTING}"))

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        stamps: dict[str, int] = {}
        for root in roots:
            stamps.update(self._stamps(root))
        if stamps == known:
            return Changes({}, ())
        changed = {path: seq for path, seq in stamps.items() if known.get(path) != seq}
        return Changes(changed, tuple(path for path in known if path not in stamps))

    def _stamps(self, root: Root) -> dict[str, int]:
        if root.is_page:
            statement = f"SELECT path, seq FROM commonplace.pages WHERE {_EXISTING} AND path = %(path)s"
            return dict(self._query(statement, path=root.path))
        return {
            path: seq
            for path, seq in self._query_below("path, seq", root.path)
            if path.endswith(root.suffix)
            and (root.pattern is None or root.pattern.fullmatch(path))
            and not _is_hidden(path, root.path)
        }

    def changed_since(self, seq: int, limit: int | None = None) -> ChangesSince:
        """Return the first changes after a sequence number, up to a limit, and the number to ask with next.

        NotFound when removals since then were forgotten: then compare all pages (`changes`).
        """
        statement = (
            "SELECT mine.seq, mine.forgotten, pages.path, pages.data IS NULL, pages.seq"
            " FROM commonplace.tenants AS mine LEFT JOIN LATERAL ("
            "  SELECT path, data, seq FROM commonplace.pages WHERE tenant = %(tenant)s AND seq > %(seq)s"
            "  ORDER BY seq LIMIT %(limit)s) AS pages ON true"
            " WHERE mine.tenant = %(tenant)s ORDER BY pages.seq"
        )
        rows = self._query(statement, seq=seq, limit=limit)
        if not rows:
            return ChangesSince(0, [], [])
        if seq < rows[0][1]:
            raise NotFound(f"what was removed since {seq} is not known any more: compare all pages instead")
        written = [(path, is_gone) for _, _, path, is_gone, _ in rows if path is not None]
        upto = rows[-1][4] if len(written) == limit else rows[0][0]
        changed = [path for path, is_gone in written if not is_gone]
        return ChangesSince(upto, changed, [path for path, is_gone in written if is_gone])

    def lock(self, name: str) -> AbstractContextManager[None]:
        return self._locks.lock(name)

    def _query_below(self, columns: str, folder: str, condition: str = "", **values: object) -> Iterator[Row]:
        """Yield rows of the pages below a folder. `%(below)s`: where in a path the name within the folder begins."""
        try:
            start, end = path_range(normalize_path(folder)) if folder else ("", "\U0010ffff")
        except OutsideHome:
            return iter(())
        statement = f"SELECT {columns} FROM commonplace.pages WHERE {_EXISTING_BELOW}{condition}"
        return iter(self._query(statement, start=start, end=end, below=len(start) + 1, **values))

    def _query(self, statement: str, **values: object) -> Sequence[Row]:
        return self._database.query(statement, {"tenant": self._database.tenant, **values})


def _read_locked(path: str, row: Sequence[Any]) -> tuple[bytes | None, Head | None]:
    """Return what a write has to know of a page, of a row of `_LOCKED`."""
    data, other, *head = row
    if data is None and other:
        raise path_conflict(path, other)
    return data, parse_head(head)


def lock_or_create(connection: Connection, tenant: str, path: str) -> None:
    """Lock the row of a page until the transaction ends; one of a page that is not there yet is inserted."""
    connection.execute(_LOCK_OR_CREATE, {"tenant": tenant, "path": path})


def drop_placeholder(connection: Connection, tenant: str, path: str) -> None:
    """Drop the row of a page if it was inserted only to be locked."""
    connection.execute("DELETE FROM commonplace.pages WHERE tenant = %s AND path = %s AND seq = 0", (tenant, path))


def normalize_path(path: str) -> str:
    """Return the path of a row; OutsideHome for what would be outside of a home of files as well."""
    parts = path.split("/")
    is_outside = not path or path[0] in "/~" or "\0" in path or "\\" in path or ".." in parts or path[1:2] == ":"
    if is_outside or parts[-1] in ("", ".") or not is_unicode(path):
        raise OutsideHome(f"{path!r} is not a path inside the home: use one like memory/notes.md")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise StorageError(
            f"{path[:60]}… is longer than a path may be ({MAX_PATH_BYTES} bytes): give it a shorter name"
        )
    return posixpath.normpath(path)


def find_path_conflicts(connection: Connection, tenant: str, new: Sequence[str]) -> dict[str, StorageError]:
    """Return which of some new pages cannot be added, in their order, because a page would also be a folder."""
    existing = PagePaths(path for (path,) in _query_conflicting_paths(connection, tenant, new))
    conflicts: dict[str, StorageError] = {}
    for path in new:
        if other := existing.find_conflict(path):
            conflicts[path] = path_conflict(path, other)
        else:
            existing.add(path)
    return conflicts


def _query_conflicting_paths(connection: Connection, tenant: str, new: Sequence[str]) -> Cursor:
    above = [*{folder for path in new for folder in folders_above(path)}]
    return connection.execute(_CONFLICTING_PATHS, {"tenant": tenant, "above": above, "new": [*new]})


def path_conflict(path: str, other: str) -> StorageError:
    """Return the error for a page whose path is a folder, or leads through the page `other`."""
    error = PathIsFolder if other.startswith(f"{path}/") else PathIsFile
    return error(f"{path} cannot be a page beside the page {other}: use another name")


def _is_hidden(path: str, folder: str) -> bool:
    """Return whether anything in a path below a folder begins with a dot."""
    return "/." in path[len(folder) if folder else 0 :] or (not folder and path[0] == ".")
