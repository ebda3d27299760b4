"""The index in SQLite: one file beside the pages, FTS5 for the words.

The file's name carries the schema's number and what is indexed, so that two versions of the program, or two settings,
on one home keep an index each and do not fight. One that nobody has used for a month is removed when another is made.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ..model import Hit, Passage, Record, Scope, Viewer
from ..pages.files import make_folders
from . import AROUND, Candidate, Corpus, Entry, weighed_length
from .words import words

SCHEMA = 2
_UNUSED = 30 * 86400  # seconds after which an index that nobody opened is thrown away
_PATIENCE = 2.0  # seconds to wait for another process that writes; then the answer is marked stale instead
_TABLES = """
CREATE TABLE IF NOT EXISTS pages(
  path TEXT PRIMARY KEY, stamp INTEGER NOT NULL, version TEXT NOT NULL, warning TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passages(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, text TEXT NOT NULL,
  key TEXT NOT NULL, tags TEXT NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL, scope TEXT NOT NULL,
  who TEXT NOT NULL, source TEXT NOT NULL, length INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS passages_of_page ON passages(path);
CREATE TABLE IF NOT EXISTS records(
  path TEXT PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, category TEXT NOT NULL, tags TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, scope TEXT NOT NULL, who TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
  body, around, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* So Co'");
CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab(words, row);
CREATE TABLE IF NOT EXISTS totals(
  one INTEGER PRIMARY KEY CHECK (one = 1), passages INTEGER, length INTEGER);
INSERT OR IGNORE INTO totals VALUES(1, 0, 0);
"""


class SqliteIndex:
    """Safe to share between threads; any number of processes may open the same file."""

    def __init__(self, path: str) -> None:
        self.in_memory = path == ":memory:"
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        self.close = weakref.finalize(self, self._db.close)  # a handle that is dropped closes its file, too
        try:
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY;")
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'totals'").fetchone():
                self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
        except BaseException:
            self.close()
            raise

    def stamps(self, below: str | None = None) -> dict[str, int]:
        if below is None:
            return dict(self._rows("SELECT path, stamp FROM pages"))
        return dict(self._rows(f"SELECT path, stamp FROM pages WHERE {_BELOW}", _below(below)))

    def versions(self, paths: Iterable[str]) -> dict[str, str]:
        rows = (self._rows("SELECT path, version FROM pages WHERE path = ?", (path,)) for path in paths)
        return dict(row[0] for row in rows if row)

    def apply(self, entries: Iterable[Entry], removed: Iterable[str]) -> None:
        for path in removed:
            self._forget(path)
            self._db.execute("DELETE FROM pages WHERE path = ?", (path,))
        for entry in entries:
            if entry.passages is None:
                self._db.execute("UPDATE pages SET stamp = ? WHERE path = ?", (entry.stamp, entry.path))
                continue
            self._forget(entry.path)
            self._add(entry, entry.passages)
            row = (entry.path, entry.stamp, entry.version, entry.warning)
            self._db.execute("INSERT OR REPLACE INTO pages VALUES(?, ?, ?, ?)", row)

    def words(self, words: Sequence[str], viewer: Viewer, limit: int) -> list[Candidate]:
        match = " OR ".join(f'"{word}"' for word in words)
        allowed, values = _visible(viewer)
        sql = f"""
            SELECT passages.*, words.body, words.around FROM words JOIN passages ON passages.id = words.rowid
            WHERE words MATCH ? AND {allowed} ORDER BY bm25(words, 1, {AROUND}) LIMIT ?"""
        return _read(_candidate, self._rows(sql, (match, *values, limit)))

    def corpus(self, words: Sequence[str]) -> Corpus:
        passages, length = self._totals()
        holes = ",".join("?" * len(words))
        rows = self._rows(f"SELECT term, doc FROM vocabulary WHERE term IN ({holes})", tuple(words))
        return Corpus(passages, length / passages if passages else 1.0, dict(rows))

    def records(self, prefix: str) -> list[Record]:
        return _read(_record, self._rows(f"SELECT * FROM records WHERE {_BELOW} ORDER BY path", _below(prefix)))

    def warnings(self) -> list[str]:
        return [row[0] for row in self._rows("SELECT warning FROM pages WHERE warning != '' ORDER BY path")]

    def size(self) -> tuple[int, int]:
        """How many pages and how many passages are known."""
        return self._rows("SELECT count(*) FROM pages")[0][0], self._totals()[0]

    def _totals(self) -> tuple[int, int]:
        rows = self._rows("SELECT passages, length FROM totals")
        if len(rows) != 1 or not all(isinstance(number, int) for number in rows[0]):
            raise sqlite3.DatabaseError("the totals are not there")
        passages, length = rows[0]
        return passages, length

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except UnicodeDecodeError as error:
            raise sqlite3.DatabaseError("a text is not UTF-8") from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise

    def _forget(self, path: str) -> None:
        rows = self._db.execute("SELECT id, length FROM passages WHERE path = ?", (path,)).fetchall()
        self._db.executemany("DELETE FROM words WHERE rowid = ?", ((row[0],) for row in rows))
        self._db.execute("DELETE FROM passages WHERE path = ?", (path,))
        self._db.execute("DELETE FROM records WHERE path = ?", (path,))
        self._count(-len(rows), -sum(row[1] for row in rows))

    def _add(self, entry: Entry, passages: Sequence[Passage]) -> None:
        total = 0
        for passage in passages:
            body, around = words(f"{passage.hint} {passage.text}"), words(passage.around)
            length = weighed_length(len(body), len(around))
            row = _passage_row(entry, passage, length)
            number = self._db.execute(f"INSERT INTO passages VALUES(NULL{', ?' * len(row)})", row).lastrowid
            columns = (number, " ".join(body), " ".join(around))
            self._db.execute("INSERT INTO words(rowid, body, around) VALUES(?, ?, ?)", columns)
            total += length
        if entry.record:
            self._db.execute("INSERT INTO records VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", _record_row(entry.record))
        self._count(len(passages), total)

    def _count(self, passages: int, length: int) -> None:
        self._db.execute("UPDATE totals SET passages = passages + ?, length = length + ?", (passages, length))


_BELOW = "(path = ? OR (path >= ? AND path < ?))"


def _below(prefix: str) -> tuple[str, str, str]:
    """A page, or everything in a folder: `0` is the character after the slash."""
    return prefix, f"{prefix}/", f"{prefix}0"


def _visible(viewer: Viewer) -> tuple[str, list[str]]:
    """Who may see a passage, as SQL: what is not allowed is never a row, so it can not be counted or inferred."""
    rules, values = (
        ["scope IN ('shared', 'world', 'global')", "(scope = 'agent' AND who = ?)"],
        [viewer.agent],
    )
    for pattern in viewer.extra:  # a page knows every pattern it matches, one a line
        rules.append("(scope = 'extra' AND instr(char(10) || who || char(10), char(10) || ? || char(10)))")
        values.append(pattern)
    for scope, names in (("channel", [viewer.channel]), ("skill", ["global", viewer.user])):
        known = [name for name in names if name is not None]
        some = f"(scope = '{scope}' AND who IN ({','.join('?' * len(known))}))"
        rules.append(some if viewer.one_conversation else f"scope = '{scope}'")
        values += known if viewer.one_conversation else []
    return f"({' OR '.join(rules)})", values


Row = TypeVar("Row")


def _read(read: Callable[[tuple[Any, ...]], Row], rows: list[tuple[Any, ...]]) -> list[Row]:
    """Rows as values. One that makes no sense is damage like any other, and the index is replaced."""
    try:
        return [read(row) for row in rows]
    except (ValueError, TypeError, AttributeError) as error:
        raise sqlite3.DatabaseError(f"a row makes no sense ({error})") from error


def _passage_row(entry: Entry, passage: Passage, length: int) -> tuple[Any, ...]:
    return (
        entry.path, passage.start, passage.end, passage.text, passage.key, json.dumps(passage.tags), passage.at,
        entry.kind, entry.scope.kind, entry.scope.name, entry.source, length,
    )  # fmt: skip


def _candidate(row: tuple[Any, ...]) -> Candidate:
    _, path, first, last, text, key, tags, at, kind, scope, who, source, _, body, around = row
    if not isinstance(text, str):
        raise TypeError("a passage is text")
    hit = Hit(path, first, last, text, 0.0, Scope(scope, who), source, key, tuple(json.loads(tags)), at)
    return Candidate(hit, kind, body.split(), around.split())


def _record_row(record: Record) -> tuple[str, ...]:
    return (
        record.path, record.key, json.dumps(record.value, ensure_ascii=False), record.category,
        json.dumps(record.tags), record.created_at, record.updated_at, record.scope.kind, record.scope.name,
    )  # fmt: skip


def _record(row: tuple[Any, ...]) -> Record:
    path, key, value, category, tags, created_at, updated_at, scope, who = row
    return Record(
        key,
        json.loads(value),
        category,
        tuple(json.loads(tags)),
        created_at,
        updated_at,
        path,
        Scope(scope, who),
    )


def open_index(folder: str, name: str, damaged: str = "") -> tuple[SqliteIndex, str]:
    """An index of a home and, when it had to be thrown away or kept in memory, a sentence that says so."""
    path = os.path.join(folder, f"words-{SCHEMA}-{name}.sqlite")
    if os.path.islink(folder) or os.path.islink(path):
        return SqliteIndex(":memory:"), f"the index {path} is a link and was not used: this process keeps its own"
    try:
        if damaged:
            return _rebuilt(path, damaged)
        if not os.path.isdir(os.path.dirname(folder)):  # a home that is not there yet is not made by looking
            return SqliteIndex(":memory:"), ""
        make_folders(folder)
        return _private(path), ""
    except OSError as error:
        return SqliteIndex(
            ":memory:"
        ), f"no index can be kept in {folder} ({error.strerror}): this process keeps its own"
    except sqlite3.OperationalError as error:
        return SqliteIndex(":memory:"), f"the index {path} can not be used ({error}): this process keeps its own"
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return open_index(folder, name, damaged=str(error)) if not damaged else (SqliteIndex(":memory:"), str(error))


def _rebuilt(path: str, damage: str) -> tuple[SqliteIndex, str]:
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + ending)
    return _private(path), f"the index {path} was damaged ({damage}) and is rebuilt from the pages"


def _private(path: str) -> SqliteIndex:
    """The index in a file that only its owner can read: SQLite gives the files beside it the same rights."""
    if not os.path.exists(path):
        _remove_unused(os.path.dirname(path))
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    os.utime(path)
    return SqliteIndex(path)


def _remove_unused(folder: str) -> None:
    for entry in os.scandir(folder):
        if entry.name.startswith("words-") and time.time() - entry.stat(follow_symlinks=False).st_mtime > _UNUSED:
            with suppress(OSError):
                os.unlink(entry.path)
