"""A memory in a database as the files of an archive: all pages as of one moment, and history as a folder keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...formats.timestamps import parse_timestamp
from ...home import HISTORY_FOLDER, Home
from ...storage.base import Paths, Root
from ...storage.deltas import Line, version_of, written
from ...storage.file_locks import slot_of
from ...storage.folder.history import id_in
from ...storage.postgres.backend import PostgresStorage
from ...storage.postgres.history import LINE_COLUMNS, parse_line
from .scope import extent, holds, oddity, strangers
from .snapshot import Snapshot
from .spool import Item, Spool

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

PRIVATE = 0o600  # who may read a page, the database says: a file that is made of it is its owner's
LONG = 600_000  # milliseconds that a statement over a whole memory may take
MICROSECONDS = "(extract(epoch FROM written_at) * 1000000)::bigint"
_AT_ONCE = 100  # pages that come from the server together
_SLOT_FILE = f"{HISTORY_FOLDER}/{{}}.jsonl"


@contextmanager
def one_moment(home: Home, storage: PostgresStorage, *, history: bool) -> Iterator[Snapshot]:
    """All of it in one transaction, which sees one state: nobody waits for it."""
    roots, tenant, others = extent(home, history=False), storage.database.tenant, Paths()
    with Spool() as spool:
        with storage.database.transaction(timeout_ms=LONG, snapshot=True) as connection:
            items = dict(_pages(connection, tenant, spool, roots, others))
            if history:
                for path, lines in history_files(connection, tenant, None):
                    items[path] = spool.add(PRIVATE, _last(lines), map(written, lines))
        above = f"{home.layout.base}/" if home.layout.base else ""
        beside = (path.removeprefix(above) for path in others if path.startswith(above))
        warnings = strangers(home, roots, [path.partition("/")[0] for path in beside])
        yield Snapshot(dict(sorted(items.items())), spool, 0.0, tuple(warnings))


def _pages(
    connection: Connection, tenant: str, spool: Spool, roots: list[Root], others: Paths
) -> Iterator[tuple[str, Item]]:
    """The pages that are memory; those that are none are only named."""
    with connection.cursor("pages") as cursor:
        cursor.itersize = _AT_ONCE
        asked = f"SELECT path, data, {MICROSECONDS} FROM commonplace.pages WHERE tenant = %s AND data IS NOT NULL"
        for path, data, modified in cursor.execute(f"{asked} ORDER BY path".encode(), (tenant,)):
            if holds(roots, path) and not oddity(path):
                yield path, spool.add(PRIVATE, modified * 1000, [data])
            else:
                others.append(path)


def history_files(connection: Connection, tenant: str, names: Iterable[str] | None) -> Iterator[tuple[str, list[Line]]]:
    """The lines of history by the file that a folder keeps them in; of some files, or of all."""
    wanted = None if names is None else {*names}
    slots: dict[str, list[str]] = {}
    asked = "SELECT DISTINCT path FROM commonplace.history WHERE tenant = %s"
    for (path,) in connection.execute(asked, (tenant,)).fetchall():
        slots.setdefault(slot_of(path), []).append(path)
    for slot, paths in sorted(slots.items()):
        name = _SLOT_FILE.format(slot)
        if wanted is None or name in wanted:
            asked = f"SELECT {LINE_COLUMNS} FROM commonplace.history WHERE tenant = %s AND path = ANY(%s) ORDER BY seq"
            rows = connection.execute(asked.encode(), (tenant, paths)).fetchall()
            yield name, [_in_slot(slot, parse_line(row)) for row in rows]


def _in_slot(slot: str, line: Line) -> Line:
    return line._replace(change=line.change._replace(id=id_in(slot, line.change.id)))


def _last(lines: list[Line]) -> int:
    """When such a file was last written, in nanoseconds: by the changes in it, so that it is always the same."""
    moments = (parse_timestamp(line.change.at) for line in lines)
    latest = max((moment for moment in moments if moment), default=None)
    return 0 if latest is None else _nanoseconds(latest)


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 10**6) * 1000


def versions_there(storage: PostgresStorage, names: Iterable[str]) -> dict[str, str]:
    """The versions of all pages, and of those files of history that are asked for, by path."""
    database = storage.database
    with database.transaction(timeout_ms=LONG, snapshot=True) as connection:
        asked = "SELECT path, version FROM commonplace.pages WHERE tenant = %s AND data IS NOT NULL"
        found = dict(connection.execute(asked, (database.tenant,)).fetchall())
        past = [name for name in names if name.startswith(f"{HISTORY_FOLDER}/")]
        for path, lines in history_files(connection, database.tenant, past) if past else ():
            found[path] = version_of(b"".join(map(written, lines)))
        return found
