"""Many pages at once in a database: a snapshot as of one moment, and batches that are written entirely or not at all.

A batch is one transaction. Its large part is sent first, under numbers that nobody reads; the tenant's own numbers are
taken at the very end, so that other writers wait only for the commit. A batch that is put again changes nothing.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import CommonplaceError, Refused, StaleVersion, StorageError
from ...formats.timestamps import format_timestamp, parse_timestamp, to_nanoseconds
from ...model import Clock
from .. import bulk
from ..base import ABSENT, HISTORY_FOLDER, Root, Sentences
from ..file_locks import slot_of
from ..files import PRIVATE_FILE_MODE
from ..history import (
    Change,
    Line,
    current_write,
    format_line,
    id_in_slot,
    make_line,
    parse_lines,
    rebuild_lines,
    version_of,
)
from ..layout import PagePaths
from ..names import MAX_PATH_BYTES
from .connection import Database
from .history import INSERT_LINE, LINE_COLUMNS, PostgresHistory, line_values, new_change_id, parse_line
from .listen import notify
from .pages import TRANSCRIPT_SUFFIX, find_path_conflicts, normalize_path, path_conflict

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

Failures = dict[str, CommonplaceError]
MICROSECONDS = "(extract(epoch FROM written_at) * 1000000)::bigint"
_STATEMENT_TIMEOUT_MS = 600_000  # for a statement over a whole memory
_ROWS_PER_FETCH = 100
_PAGES_PER_BATCH = 200  # in memory at once
_MAX_LINE_NUMBER = 1 << 31  # largest depth or offset accepted in a line of an archive's history
_MAX_FIELD_CHARACTERS = 10_000  # of a field in such a line
_HISTORY_FILE = f"{HISTORY_FOLDER}/{{}}.jsonl"

_PAGE = "tenant = %(tenant)s AND path = %(path)s"
_PAGES = "tenant = %(tenant)s AND path = ANY(%(paths)s)"
_WRITTEN_AT = "timestamptz 'epoch' + %(modified)s * interval '1 microsecond'"
_MAKE_ROWS = """INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)
  SELECT %(tenant)s, path, NULL, '', 0, 0, clock_timestamp() FROM unnest(%(paths)s::text[]) AS path
  ORDER BY path COLLATE "C" ON CONFLICT (tenant, path) DO NOTHING"""
_LOCK_ROWS = f"SELECT path, version FROM commonplace.pages WHERE {_PAGES} ORDER BY path FOR UPDATE"
_DELETE_UNUSED_ROWS = f"DELETE FROM commonplace.pages WHERE {_PAGES} AND seq = 0"
_KNOWN_VERSIONS = f"SELECT path, version FROM commonplace.history WHERE {_PAGES} ORDER BY seq"
_PUT_PAGE = f"""UPDATE commonplace.pages SET data = %(page)s, version = %(version)s, size = %(size)s, seq = %(seq)s,
  written_at = {_WRITTEN_AT} WHERE {_PAGE}"""
_NUMBER_REMOVED = f"UPDATE commonplace.pages SET seq = %(seq)s WHERE {_PAGE} AND data IS NULL"
_SET_EARLIER_TIME = (
    f"UPDATE commonplace.pages SET written_at = {_WRITTEN_AT} WHERE {_PAGE} AND written_at > {_WRITTEN_AT}"
)
_TAKE_NUMBERS = """INSERT INTO commonplace.tenants AS mine (tenant, seq) VALUES (%(tenant)s, %(count)s)
  ON CONFLICT (tenant) DO UPDATE SET seq = mine.seq + %(count)s RETURNING mine.seq"""
_RENUMBER = "seq = seq - %(low)s + %(base)s WHERE tenant = %(tenant)s AND seq < 0"
_READ_IMPORT_LOG = "SELECT key, version FROM commonplace.imports WHERE tenant = %(tenant)s"
_ADD_TO_IMPORT_LOG = """INSERT INTO commonplace.imports (tenant, key, version) VALUES (%(tenant)s, %(key)s, %(version)s)
  ON CONFLICT (tenant, key) DO UPDATE SET version = excluded.version"""


class PostgresBulk:
    def __init__(self, database: Database, clock: Clock, history: PostgresHistory) -> None:
        self._database = database
        self._clock = clock
        self._history = history

    @contextmanager
    def snapshot(self, roots: Sequence[Root], base: str, *, history: bool) -> Iterator[bulk.Snapshot]:
        """Read everything in one transaction that sees one state: no writer waits."""
        tenant = self._database.tenant
        other_paths: list[str] = []
        with bulk.Spool() as spool:
            with self._database.transaction(timeout_ms=_STATEMENT_TIMEOUT_MS, snapshot=True) as connection:
                files = dict(_spool_pages(connection, tenant, spool, roots, other_paths))
                if history:
                    for path, lines in read_history_files(connection, tenant):
                        files[path] = spool.add(PRIVATE_FILE_MODE, _latest_time(lines), map(format_line, lines))
            untracked = bulk.find_untracked(bulk.names_in(base, other_paths), roots, base)
            yield bulk.Snapshot(dict(sorted(files.items())), spool, 0.0, untracked, ())

    def list_versions(self, roots: Sequence[Root]) -> tuple[dict[str, str], Sentences]:
        every = self._read_all_versions()
        covered = {path: version for path, version in every.items() if bulk.any_covers(roots, path)}
        others = len(every) - len(covered)
        if not others:
            return covered, []
        return covered, [f"{others} page{'s' * (others > 1)} where these settings keep no memory: left out"]

    def version_lookup(self) -> Callable[[str], str]:
        versions = self._read_all_versions()
        existing = PagePaths(versions)
        history: dict[str, str] = {}

        def look_up(path: str) -> str:
            if path.startswith(f"{HISTORY_FOLDER}/"):
                history.update(history or self._read_history_versions())
                return history.get(path, ABSENT)
            if other := existing.find_conflict(normalize_path(path)):
                raise path_conflict(path, other)
            return versions.get(path, ABSENT)

        return look_up

    def _read_all_versions(self) -> dict[str, str]:
        query = "SELECT path, version FROM commonplace.pages WHERE tenant = %(tenant)s AND data IS NOT NULL"
        return dict(self._database.query(query, {"tenant": self._database.tenant}))

    def _read_history_versions(self) -> dict[str, str]:
        """Return the versions of the history files that an export would have."""
        with self._database.transaction(timeout_ms=_STATEMENT_TIMEOUT_MS, snapshot=True) as connection:
            files = read_history_files(connection, self._database.tenant)
            return {path: version_of(b"".join(map(format_line, lines))) for path, lines in files}

    def read(self, path: str) -> tuple[bytes | None, int]:
        query = f"SELECT data, {MICROSECONDS} FROM commonplace.pages WHERE {_PAGE} AND data IS NOT NULL"
        rows = self._database.query(query, {"tenant": self._database.tenant, "path": path})
        return (rows[0][0], rows[0][1] * 1000) if rows else (None, 0)

    def put(
        self, batch: bulk.PageBatch, *, skip_failed: bool = False, progress: bulk.WriteProgress = bulk.ignore_progress
    ) -> Failures:
        attempts: list[_Put] = []

        def work(connection: Connection) -> Failures:
            attempts.append(
                _Put(connection, self._database.tenant, self._history, format_timestamp(self._clock()), batch)
            )
            return attempts[-1].run(skip_failed=skip_failed, progress=progress)

        failures = self._database.run(work, timeout_ms=_STATEMENT_TIMEOUT_MS)
        last = attempts[-1]
        if last.seq:
            notify(self._database, last.seq)
            self._history.prune_if_due(last.seq, last.count)
        return failures

    def read_import_log(self) -> dict[str, str]:
        return dict(self._database.query(_READ_IMPORT_LOG, {"tenant": self._database.tenant}))

    @contextmanager
    def import_run(self, name: str) -> Iterator[str]:
        """Run an import under a new id: it is one transaction, so none is ever continued."""
        yield ""


class _Put:
    """One attempt to write a batch, inside a transaction."""

    def __init__(
        self, connection: Connection, tenant: str, history: PostgresHistory, now: str, batch: bulk.PageBatch
    ) -> None:
        self._connection = connection
        self._tenant = tenant
        self._history = history
        self._now = now
        self._batch = batch
        self._pages = [page for page in batch.pages if not bulk.is_history_file(page.path)]
        self._low = secrets.randbelow(1 << 61) - (1 << 62)  # below all real numbers
        self.count = 0
        self.seq = 0

    def run(self, *, skip_failed: bool, progress: bulk.WriteProgress) -> Failures:
        archived = self._drop_known(self._archived_lines())
        failures = _check_paths(self._pages)
        archived_paths = {line.change.path for line in archived}
        paths = sorted({page.path for page in self._pages if page.path not in failures} | archived_paths)
        found = self._lock_rows(paths)
        failures |= self._find_conflicts(found)
        if failures and not skip_failed:
            raise next(iter(failures.values()))
        accepted = [page for page in self._pages if page.path not in failures]
        known = self._read_known(paths)
        for line in archived:
            known.setdefault(line.change.path, []).append(line.change.version)
        self._add_lines(archived)
        removed = archived_paths | self._put_pages(accepted, found, known, progress)
        self._execute_many(_NUMBER_REMOVED, [{"path": path, "seq": self._next()} for path in sorted(removed)])
        unchanged = {path: file for path, file in self._batch.unchanged.items() if not bulk.is_history_file(path)}
        times = [{"path": path, "modified": file.modified // 1000} for path, file in unchanged.items()]
        self._execute_many(_SET_EARLIER_TIME, times)
        self._log_imports(accepted)
        self._assign_numbers(paths)
        return failures

    def _archived_lines(self) -> list[Line]:
        """Return the lines of the history files in the batch that a database can hold: archives are not trusted."""
        files = [page.file for page in self._batch.pages if bulk.is_history_file(page.path) and page.file]
        every = [line for file in files for line in parse_lines(self._batch.spool.read(file))]
        valid = [line for line in every if _is_valid(line)]
        invalid = len(every) - len(valid)
        if invalid:
            warning = f"{invalid} line{'s' * (invalid > 1)} of the archive's history can be no history: left out"
            current_write().warnings.append(warning)
        return valid

    def _drop_known(self, lines: Sequence[Line]) -> list[Line]:
        """Drop lines that are here already. A line whose id belongs to another change gets a new one."""
        query = "SELECT id, path, version FROM commonplace.history WHERE tenant = %s AND id = ANY(%s)"
        ids = [line.change.id for line in lines]
        existing = {name: rest for name, *rest in self._connection.execute(query, (self._tenant, ids)).fetchall()}
        fresh: list[Line] = []
        for line in lines:
            change = line.change
            if existing.get(change.id) != [change.path, change.version]:
                name = new_change_id() if change.id in existing else change.id
                existing[name] = []
                fresh.append(line._replace(change=change._replace(id=name)))
        return fresh

    def _lock_rows(self, paths: list[str]) -> dict[str, str]:
        """Lock the rows of pages until the end, making those that are missing; return their versions."""
        found: dict[str, str] = {}
        while missing := [path for path in paths if path not in found]:
            given = {"tenant": self._tenant, "paths": missing}
            self._connection.execute(_MAKE_ROWS, given)
            found |= dict(self._connection.execute(_LOCK_ROWS, given).fetchall())
        return found

    def _find_conflicts(self, found: Mapping[str, str]) -> Failures:
        locked = [page for page in self._pages if page.path in found]
        stale = [page.path for page in locked if found[page.path] not in (page.seen, page.version)]
        new = [page.path for page in locked if found[page.path] == ABSENT and page.file and page.path not in stale]
        failures: Failures = {path: StaleVersion(path) for path in stale}
        return failures | find_path_conflicts(self._connection, self._tenant, new)

    def _read_known(self, paths: list[str]) -> dict[str, list[str]]:
        """Return the versions that history has of pages, oldest first."""
        known: dict[str, list[str]] = {}
        for path, version in self._connection.execute(_KNOWN_VERSIONS, {"tenant": self._tenant, "paths": paths}):
            known.setdefault(path, []).append(version)
        return known

    def _put_pages(
        self,
        pages: Sequence[bulk.IncomingPage],
        found: Mapping[str, str],
        known: Mapping[str, list[str]],
        progress: bulk.WriteProgress,
    ) -> set[str]:
        """Write pages and their history; return the paths of pages that were removed."""
        removed: set[str] = set()
        done = 0
        for page_batch in bulk.in_batches(pages, _PAGES_PER_BATCH):
            new_lines: list[Line] = []
            rows: list[dict[str, Any]] = []
            for page in page_batch:
                data = None if page.file is None else self._batch.spool.read(page.file)
                page_lines = self._lines_of(page, data, found[page.path], known.get(page.path, []))
                new_lines += page_lines
                if data is None and (page_lines or found[page.path]):
                    removed.add(page.path)
                if found[page.path] != page.version:
                    modified = page.file.modified // 1000 if page.file else 0
                    row = {"path": page.path, "page": data, "version": page.version, "size": len(data or b"")}
                    rows.append(row | {"seq": self._next(), "modified": modified})
            self._add_lines(new_lines)
            self._execute_many(_PUT_PAGE, rows)
            done += len(page_batch)
            progress(done)
        return removed

    def _lines_of(self, page: bulk.IncomingPage, data: bytes | None, found: str, known: list[str]) -> list[Line]:
        """Return what to add to the history of a page."""
        if page.history is not None:
            missing = bulk.missing_versions(page, known, found, data, self._now)
            return self._with_free_ids(rebuild_lines(missing))
        if found == page.version:
            return []
        before = known[-1] if known else ABSENT
        if found and page.path.endswith(TRANSCRIPT_SUFFIX):
            before = self._keep_transcript(page.path) or before
        if before == page.version:  # the history that comes along ends with it
            return []
        change = Change(new_change_id(), self._now, page.path, page.version, before, *current_write().author)
        return [make_line(change, None, data, -1)]

    def _with_free_ids(self, lines: list[Line]) -> list[Line]:
        query = "SELECT id FROM commonplace.history WHERE tenant = %s AND id = ANY(%s)"
        ids = [line.change.id for line in lines]
        existing = (
            {name for (name,) in self._connection.execute(query, (self._tenant, ids)).fetchall()} if ids else set()
        )
        return [
            line._replace(change=line.change._replace(id=new_change_id())) if line.change.id in existing else line
            for line in lines
        ]

    def _keep_transcript(self, path: str) -> str:
        """Record a transcript as it is, since it grows without history; return its version."""
        query = f"SELECT data FROM commonplace.pages WHERE {_PAGE} AND data IS NOT NULL"
        row = self._connection.execute(query.encode(), {"tenant": self._tenant, "path": path}).fetchone()
        if row is None:
            return ABSENT
        self._history.record_unrecorded(self._connection, path, row[0])
        return version_of(row[0])

    def _add_lines(self, lines: Iterable[Line]) -> None:
        self._execute_many(INSERT_LINE, [line_values(self._tenant, line) | {"seq": self._next()} for line in lines])

    def _log_imports(self, accepted: Sequence[bulk.IncomingPage]) -> None:
        written = {page.import_key: page.version for page in accepted if page.import_key}
        entries = {**self._batch.import_log, **written}
        self._execute_many(_ADD_TO_IMPORT_LOG, [{"key": key, "version": version} for key, version in entries.items()])

    def _execute_many(self, statement: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            with self._connection.cursor() as cursor:
                cursor.executemany(statement.encode(), [{"tenant": self._tenant, **row} for row in rows])

    def _next(self) -> int:
        self.count += 1
        return self._low + self.count

    def _assign_numbers(self, paths: list[str]) -> None:
        """Replace temporary numbers by the tenant's own. This is the last lock: whoever waits for it waits briefly."""
        given: dict[str, Any] = {"tenant": self._tenant, "paths": paths}
        self._connection.execute(_DELETE_UNUSED_ROWS.encode(), given)
        if not self.count:
            return
        row = self._connection.execute(_TAKE_NUMBERS, {"tenant": self._tenant, "count": self.count}).fetchone()
        assert row
        self.seq = row[0]
        given |= {"low": self._low, "base": self.seq - self.count}
        self._connection.execute(f"UPDATE commonplace.pages SET {_RENUMBER}".encode(), given)
        self._connection.execute(
            f"UPDATE commonplace.history SET {_RENUMBER} AND path = ANY(%(paths)s)".encode(), given
        )


def _check_paths(pages: Sequence[bulk.IncomingPage]) -> Failures:
    """Return the pages whose paths no row can have."""
    failures: Failures = {}
    for page in pages:
        try:
            normalize_path(page.path)
        except (Refused, StorageError) as error:
            failures[page.path] = error
    return failures


def _is_valid(line: Line) -> bool:
    """Return whether a database can hold a line of history."""
    change = line.change
    if not all(isinstance(value, str) and len(value) <= _MAX_FIELD_CHARACTERS for value in tuple(change)):
        return False
    if bulk.path_problem(change.path) or len(change.path.encode()) > MAX_PATH_BYTES or not change.id:
        return False
    try:
        base64.b64decode(line.data, validate=True)
    except ValueError:
        return False
    return all(0 <= number < _MAX_LINE_NUMBER for number in (line.depth, *(line.span or ())))


def _spool_pages(
    connection: Connection, tenant: str, spool: bulk.Spool, roots: Sequence[Root], other_paths: list[str]
) -> Iterator[tuple[str, bulk.SpooledFile]]:
    """Yield the pages that are memory; the paths of all others are added to `other_paths`."""
    with connection.cursor("pages") as cursor:
        cursor.itersize = _ROWS_PER_FETCH
        query = f"SELECT path, data, {MICROSECONDS} FROM commonplace.pages WHERE tenant = %s AND data IS NOT NULL"
        for path, data, modified in cursor.execute(f"{query} ORDER BY path".encode(), (tenant,)):
            if bulk.any_covers(roots, path) and not bulk.path_problem(path):
                yield path, spool.add(PRIVATE_FILE_MODE, modified * 1000, [data])
            else:
                other_paths.append(path)


def read_history_files(connection: Connection, tenant: str) -> Iterator[tuple[str, list[Line]]]:
    """Yield the lines of history by the file in which a folder would keep them."""
    slots: dict[str, list[str]] = {}
    query = "SELECT DISTINCT path FROM commonplace.history WHERE tenant = %s"
    for (path,) in connection.execute(query, (tenant,)).fetchall():
        slots.setdefault(slot_of(path), []).append(path)
    for slot, paths in sorted(slots.items()):
        query = f"SELECT {LINE_COLUMNS} FROM commonplace.history WHERE tenant = %s AND path = ANY(%s) ORDER BY seq"
        rows = connection.execute(query.encode(), (tenant, paths)).fetchall()
        yield _HISTORY_FILE.format(slot), [_in_slot(slot, parse_line(row)) for row in rows]


def _in_slot(slot: str, line: Line) -> Line:
    return line._replace(change=line.change._replace(id=id_in_slot(slot, line.change.id)))


def _latest_time(lines: list[Line]) -> int:
    """Return the time of the latest change in nanoseconds, so that the same history always gives the same file."""
    moments = [moment for line in lines if (moment := parse_timestamp(line.change.at))]
    return to_nanoseconds(max(moments)) if moments else 0
