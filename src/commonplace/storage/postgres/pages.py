"""Pages as rows of a database, for many machines.

A page and its history are written in one transaction, by who holds the page's row. A write whose commit was not
confirmed is not made twice: its id is made before the first try, and found in history by the second. Every write takes
the next number of the tenant, in the order of the commits: who follows by it misses nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import InTheWay, NotFound, NotText, OutsideHome, PageNotFound, StaleVersion, StorageError
from ...formats.json_text import is_unicode
from ...model import Page
from ..author import current_write
from ..base import ABSENT, Changes, Paths, Root, Sentences, Suffix, Texts
from ..conflicts import ConflictDetector
from ..deltas import version_of
from ..edits import Change, edited, text_of, whole
from ..layout import Standing, folders_above
from .connection import Database
from .history import INSERT_NEXT_LINE, NEXT_SEQ, PostgresHistory, new_change_id, values
from .listen import notify
from .locks import NamedLocks

if TYPE_CHECKING:
    from psycopg import Connection as _Connection
    from psycopg import Cursor as _Cursor

    Connection = _Connection[tuple[Any, ...]]
    Cursor = _Cursor[tuple[Any, ...]]

Rows = list[tuple[Any, ...]]
TRANSCRIPT = ".jsonl"  # what such a page is called: lines are added to it that history does not keep one by one
LONGEST = 1500  # bytes of a path: an index takes no longer ones
_PUT = f"""{NEXT_SEQ}, line AS ({INSERT_NEXT_LINE})
UPDATE commonplace.pages SET data = %(page)s, version = %(version)s, size = %(size)s, seq = next.seq,
  written_at = clock_timestamp()
FROM next WHERE tenant = %(tenant)s AND path = %(path)s
RETURNING next.seq"""
# Bytes that are no UTF-8, as far as a server says it without failing: of what is written as text with its high bytes as
# \\ooo, everything that is a whole character is taken away; what stays of those is none.
_MORE = r"\\2[0-7][0-7]"
_WHOLE = (
    rf"\\\\|\\3(?:0[2-7]|[1-3][0-7]){_MORE}|\\340\\2[4-7][0-7]{_MORE}|\\3(?:4[1-7]|5[0-467])(?:{_MORE}){{2}}"
    rf"|\\355\\2[0-3][0-7]{_MORE}|\\360\\2[2-7][0-7](?:{_MORE}){{2}}|\\36[1-3](?:{_MORE}){{3}}"
    rf"|\\364\\2[01][0-7](?:{_MORE}){{2}}"
)
_NO_TEXT = r"regexp_replace(encode(data, 'escape'), %(whole)s, '', 'g') ~ '\\[23][0-7][0-7]'"
_THERE = "tenant = %(tenant)s AND data IS NOT NULL"
_WRITTEN = "extract(epoch FROM written_at)::float8"
_BELOW = f"{_THERE} AND path >= %(start)s AND path < %(end)s"
# As among files: nothing is a page and a folder at once, or a memory could not be copied into one.
_IN_THE_WAY = f"""SELECT path FROM commonplace.pages WHERE {_THERE} AND path = ANY(%(above)s)
UNION ALL SELECT other.path FROM unnest(%(new)s::text[]) AS wanted (path) CROSS JOIN LATERAL (
  SELECT page.path FROM commonplace.pages AS page
  WHERE {_THERE} AND page.path >= wanted.path || '/' AND page.path < wanted.path || '0' LIMIT 1) AS other"""


class News(NamedTuple):
    """What became of the pages since a number: the number to ask with next, pages that changed, pages that are gone."""

    seq: int
    changed: Paths
    removed: Paths


class _Done(NamedTuple):
    """What came of a change: the version of the page, its size (0: removed) and what tells the number of the write."""

    version: str
    size: int = 0
    taken: Cursor | None = None


class PostgresPages:
    def __init__(self, database: Database, wrote: Callable[[str, int], None], history: PostgresHistory) -> None:
        """`wrote` is told of every page written, with its size in bytes (0: removed), once it is committed."""
        self._database, self._wrote, self.history = database, wrote, history
        self._conflicts = ConflictDetector(history)
        self._holds = NamedLocks(database)

    def read(self, path: str) -> Page:
        data = self.read_bytes(path)
        if data is None:
            raise PageNotFound(path)
        return Page(path, text_of(data, path), version_of(data))

    def read_bytes(self, path: str) -> bytes | None:
        """A page as it is, text or not; None when it is not there."""
        rows = self._rows(f"SELECT data FROM commonplace.pages WHERE {_THERE} AND path = %(path)s", path=located(path))
        return rows[0][0] if rows else None

    def version(self, path: str) -> str:
        """Of a page as it is now, without reading it; empty when it is not there."""
        asked = f"SELECT version FROM commonplace.pages WHERE {_THERE} AND path = %(path)s"
        rows = self._database.query(asked, {"tenant": self._database.tenant, "path": located(path)}, retry_seconds=0)
        return str(rows[0][0]) if rows else ABSENT

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        return self._change(path, whole(path, text, if_version))

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        return self._change(path, edited(path, change))

    def append(self, path: str, text: str) -> str:
        return self.edit(path, lambda old: old + text)

    def rewrite(self, path: str, text: str) -> str:
        return self._change(path, lambda old: self._conflicts.merge_with_others(located(path), old, text).encode())

    def mark_read(self, page: Page) -> None:
        self._conflicts.mark_read(located(page.path), page.version)

    def record_outside_edits(self, paths: Iterable[str]) -> None:
        """Nobody edits rows by hand: history has them already."""

    def _change(self, path: str, change: Change) -> str:
        """Read, change, write; nothing, when `change` gives what is there or None."""
        place = located(path)

        def changed(connection: Connection, name: str) -> _Done:
            old, head = self._taken(connection, place)
            new = change(old)
            if new is None or new == old:
                self._let_go(connection, place)
                return _Done(version_of(new))
            self._conflicts.report_lost_changes(place, old, new)
            return self._put(connection, place, name, old, new, head)

        done = self._made_once(place, changed)
        self._conflicts.mark_read(place, done.version)
        return done.version

    def remove(self, path: str, if_version: str | None = None) -> None:
        place = located(path)

        def removed(connection: Connection, name: str) -> _Done:
            old = self._lock(connection, place).fetchone()
            if old is None or old[0] is None:
                raise PageNotFound(path)
            if if_version is not None and version_of(old[0]) != if_version:
                raise StaleVersion(path)
            return self._put(connection, place, name, old[0], None, self.history.ask_head(connection, place))

        self._made_once(place, removed)
        self._conflicts.forget(place)

    def _made_once(self, place: str, work: Callable[[Connection, str], _Done]) -> _Done:
        """Work that is tried again until the server confirms it, and is not done again when it was done already."""
        name = new_change_id()
        tried: list[_Done] = []

        def once(connection: Connection) -> _Done:
            if tried:
                self._taken(connection, place)  # waits for the first try, if the server still is at it
                if self.history.made(connection, name):
                    return tried[-1]._replace(taken=self.history.number(connection, name))
            tried.append(work(connection, name))
            return tried[-1]

        done = self._database.run(once, pipeline=True)
        if done.taken is not None:
            row = done.taken.fetchone()
            assert row
            notify(self._database, row[0])
            self.history.grew(row[0])
            self._wrote(place, done.size)
        return done

    def _taken(self, connection: Connection, place: str) -> tuple[bytes | None, Cursor]:
        """What stands in a page whose row is ours until the end of the transaction, and what tells its last change; a
        row is made if there is none. All is asked in one flight."""
        while True:
            connection.execute(
                "INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)"
                " VALUES (%s, %s, NULL, '', 0, 0, clock_timestamp()) ON CONFLICT (tenant, path) DO NOTHING",
                (self._database.tenant, place),
            )
            locked, head = self._lock(connection, place), self.history.ask_head(connection, place)
            in_the_way = _ask_in_the_way(connection, self._database.tenant, [place])
            if row := locked.fetchone():
                if row[0] is None and (other := in_the_way.fetchone()):
                    raise beside(place, other[0])
                return row[0], head

    def _lock(self, connection: Connection, place: str) -> Cursor:
        return connection.execute(
            "SELECT data FROM commonplace.pages WHERE tenant = %s AND path = %s FOR UPDATE",
            (self._database.tenant, place),
        )

    def _let_go(self, connection: Connection, place: str) -> None:
        """A row that was made to be locked, and that nothing was written to, does not stay."""
        connection.execute(
            "DELETE FROM commonplace.pages WHERE tenant = %s AND path = %s AND seq = 0", (self._database.tenant, place)
        )

    def _put(
        self, connection: Connection, place: str, name: str, old: bytes | None, new: bytes | None, head: Cursor
    ) -> _Done:
        if old is not None and place.endswith(TRANSCRIPT):
            self.history.keep(connection, place, old)
            head = self.history.ask_head(connection, place)
        line = self.history.line(connection, name, place, old, new, current_write().author, head)
        size = len(new or b"")
        # All others wait for the number that is taken here: it goes to the server together with the commit.
        taken = connection.execute(_PUT, values(self._database.tenant, line) | {"page": new, "size": size})
        return _Done(version_of(new), size, taken)

    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        flat = "" if deep else " AND strpos(substr(path, %(below)s), '/') = 0"
        rows = self._below("path", folder, flat)
        return sorted(path for (path,) in rows if path.endswith(suffix) and _is_shown(path, folder))

    def find_text(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        which = f" AND right(path, 3) = '.md' AND (position(%(text)s::bytea IN data) > 0 OR {_NO_TEXT})"
        rows = self._below("path, data", folder, which, text=text.encode(), whole=_WHOLE)
        found: Texts = []
        warnings: Sentences = []
        for path, data in sorted(rows):
            if _is_shown(path, folder):
                try:
                    found.append((path, text_of(data, path)))
                except NotText as error:
                    warnings.append(str(error))
        return found, warnings

    def list_folders(self, folder: str) -> Paths:
        first = "split_part(substr(path, %(below)s), '/', 1)"
        rows = self._below(f"DISTINCT {first}", folder, " AND strpos(substr(path, %(below)s), '/') > 0")
        return sorted(name for (name,) in rows if name[0] != ".")

    def modified_at(self, path: str) -> float:
        asked = f"SELECT {_WRITTEN} FROM commonplace.pages WHERE {_THERE} AND path = %(path)s"
        rows = self._rows(asked, path=located(path))
        if not rows:
            raise PageNotFound(path)
        return float(rows[0][0])

    def times(self) -> dict[str, float]:
        """When each page was last written."""
        return dict(self._rows(f"SELECT path, {_WRITTEN} FROM commonplace.pages WHERE {_THERE}"))

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        seen: dict[str, int] = {}
        for root in roots:
            seen.update(self._stamps(root))
        if seen == known:
            return Changes({}, ())
        changed = {path: seq for path, seq in seen.items() if known.get(path) != seq}
        return Changes(changed, tuple(path for path in known if path not in seen))

    def _stamps(self, root: Root) -> dict[str, int]:
        if root.is_page:
            asked = f"SELECT path, seq FROM commonplace.pages WHERE {_THERE} AND path = %(path)s"
            return dict(self._rows(asked, path=root.path))
        found = {path: seq for path, seq in self._below("path, seq", root.path) if path.endswith(root.suffix)}
        chosen = (path for path in found if root.pattern is None or root.pattern.fullmatch(path))
        return {path: found[path] for path in chosen if _is_shown(path, root.path)}

    def changed_since(self, seq: int, most: int | None = None) -> News:
        """What was written after a number, the first so many of it, and the number to ask with next.

        NotFound when removals since then were forgotten: then all is to be compared (`changes`).
        """
        rows = self._rows(
            "SELECT mine.seq, mine.forgotten, pages.path, pages.data IS NULL, pages.seq"
            " FROM commonplace.tenants AS mine LEFT JOIN LATERAL ("
            "  SELECT path, data, seq FROM commonplace.pages WHERE tenant = %(tenant)s AND seq > %(seq)s"
            "  ORDER BY seq LIMIT %(most)s) AS pages ON true"
            " WHERE mine.tenant = %(tenant)s ORDER BY pages.seq",
            seq=seq, most=most,
        )  # fmt: skip
        if not rows:
            return News(0, [], [])
        if seq < rows[0][1]:
            raise NotFound(f"what was removed since {seq} is not known any more: compare all pages instead")
        written = [(path, gone) for _, _, path, gone, _ in rows if path is not None]
        removed = [path for path, gone in written if gone]
        upto = rows[-1][4] if len(written) == most else rows[0][0]
        return News(upto, [path for path, gone in written if not gone], removed)

    def lock(self, name: str) -> AbstractContextManager[None]:
        return self._holds.hold(name)

    def _below(self, columns: str, folder: str, which: str = "", **values: object) -> Iterator[tuple[Any, ...]]:
        """Rows of the pages below a folder. `below`: where in a path its name begins."""
        try:
            start = f"{located(folder)}/" if folder else ""
        except OutsideHome:
            return iter(())
        end = f"{start[:-1]}0" if folder else "\U0010ffff"  # the character after a slash
        asked = f"SELECT {columns} FROM commonplace.pages WHERE {_BELOW}{which}"
        return iter(self._rows(asked, start=start, end=end, below=len(start) + 1, **values))

    def _rows(self, statement: str, **values: object) -> Rows:
        return self._database.query(statement, {"tenant": self._database.tenant, **values})


def located(path: str) -> str:
    """The path of a row; OutsideHome for what would not be inside of a home of files either."""
    parts = path.split("/")
    outside = not path or path[0] in "/~" or "\0" in path or "\\" in path or ".." in parts or path[1:2] == ":"
    if outside or parts[-1] in ("", ".") or not is_unicode(path):
        raise OutsideHome(f"{path!r} is not a path inside the home: use one like memory/notes.md")
    if len(path.encode()) > LONGEST:
        raise StorageError(f"{path[:60]}… is longer than a path may be ({LONGEST} bytes): give it a shorter name")
    return posixpath.normpath(path)


def in_the_way(connection: Connection, tenant: str, new: Sequence[str]) -> dict[str, InTheWay]:
    """Of pages that are to be, in the order they come: those that can not be, beside what stands there by then."""
    standing = Standing(path for (path,) in _ask_in_the_way(connection, tenant, new))
    found: dict[str, InTheWay] = {}
    for path in new:
        if other := standing.in_the_way(path):
            found[path] = beside(path, other)
        else:
            standing.add(path)
    return found


def _ask_in_the_way(connection: Connection, tenant: str, new: Sequence[str]) -> Cursor:
    above = [*{folder for path in new for folder in folders_above(path)}]
    return connection.execute(_IN_THE_WAY, {"tenant": tenant, "above": above, "new": [*new]})


def beside(path: str, other: str) -> InTheWay:
    return InTheWay(f"{path} can not be a page beside the page {other}: use another name")


def _is_shown(path: str, folder: str) -> bool:
    """Nothing in a path below a folder is hidden, as files are that begin with a dot."""
    return "/." not in path[len(folder) if folder else 0 :] and (bool(folder) or path[0] != ".")
