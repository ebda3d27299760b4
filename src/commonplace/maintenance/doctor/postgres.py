"""A memory in a database, looked at as if its pages were files in folders; and what only a database can have."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence

from ...errors import NotFound
from ...model import Page
from ...storage.deltas import version_of
from ...storage.edits import text_of
from ...storage.postgres.backend import PostgresStorage
from ...storage.postgres.connection import Database
from ...storage.postgres.index import PostgresIndex
from ...storage.postgres.migrate import migration_status
from ...storage.postgres.pages import PostgresPages
from .index_drift import Known, compared
from .scan import Entry, Finding, Folder, Survey

_AT_ONCE = 200  # pages that come from the server together
_PLACES = """SELECT path, size, extract(epoch FROM written_at)::bigint FROM commonplace.pages
  WHERE tenant = %(tenant)s AND data IS NOT NULL ORDER BY path"""
_TEXTS = """SELECT path, data FROM commonplace.pages
  WHERE tenant = %(tenant)s AND data IS NOT NULL AND path = ANY(%(paths)s)"""
_INDEX = "commonplace.indexes"


class Rows:
    """The pages of a tenant, as they are now."""

    def __init__(self, storage: PostgresStorage) -> None:
        self._storage = storage
        self._below: dict[str, dict[str, Entry]] = {"": {}}
        for path, size, modified in storage.database.query(_PLACES, {"tenant": storage.database.tenant}):
            self._add(Entry(path, "file", _info(stat.S_IFREG | 0o600, size, modified)))

    def _add(self, entry: Entry) -> None:
        above = entry.path.rpartition("/")[0]
        if above not in self._below:
            self._below[above] = {}
            self._add(Entry(above, "folder", _info(stat.S_IFDIR | 0o700)))
        self._below[above].setdefault(entry.path, entry)

    def folder(self, path: str) -> Iterator[Folder]:
        if path in self._below:
            entries = sorted(self._below[path].values(), key=lambda entry: entry.path)
            yield Folder(path, _info(stat.S_IFDIR | 0o700), tuple(entries))

    def reader(self, order: Sequence[str]) -> Callable[[str], Page]:
        """Reads pages that are asked for in some order, many at once."""
        place, ready = {path: number for number, path in enumerate(order)}, dict[str, bytes]()

        def read(path: str) -> Page:
            if path not in ready:
                ready.clear()
                start = place[path]
                given = {"tenant": self._storage.database.tenant, "paths": [*order[start : start + _AT_ONCE]]}
                ready.update(self._storage.database.query(_TEXTS, given))
            data = ready.pop(path, None)
            if data is None:  # removed since it was seen
                return self._storage.pages.read(path)
            return Page(path, text_of(data, path), version_of(data))

        return read


def _info(mode: int, size: int = 0, modified: int = 0) -> os.stat_result:
    return os.stat_result((mode, 0, 0, 1, 0, 0, size, modified, modified, modified))


def tables(database: Database) -> Iterator[Finding]:
    """Tables that another version of the program made."""
    now = migration_status(database)
    if now.is_too_new:
        what = f"a newer commonplace changed the tables (there is {now.unknown[-1]})"
        yield Finding("tables", "commonplace", what, "update this program; nothing else was looked at")
    elif now.pending:
        what = f"the tables are not up to date ({', '.join(map(str, now.pending))} not applied)"
        advice = f"run `commonplace db {'migrate' if now.applied else 'init'}`; until then nothing else is looked at"
        yield Finding("tables", "commonplace", what, advice)


def index(found: Survey) -> Iterator[Finding]:
    """The index against the pages as they were just read. That it is behind is no finding here: who writes does not
    wait for it, and the next search catches up."""
    storage = found.home.storage
    assert isinstance(storage, PostgresStorage)
    opened = PostgresIndex(storage.database, found.scope.fingerprint)
    status = opened.status()
    known = Known(opened.stamps(), opened.versions(), dict(status.warnings))
    if not status.indexed_seq and not known.versions:
        if found.versions:
            advice = "the next search makes it; --fix does it now"
            yield Finding("index", _INDEX, "there is no index", advice, fixable=True, about=("behind",))
        return
    every = compared(found, _INDEX, known, lambda: _since(storage.pages, status.indexed_seq))
    yield from (each for each in every if each.about != ("behind",))


def _since(pages: object, seq: int) -> set[str] | None:
    """What was written after what the index knows; None when that can not be told any more."""
    assert isinstance(pages, PostgresPages)
    try:
        news = pages.changed_since(seq)
    except NotFound:
        return None
    return {*news.changed, *news.removed}
