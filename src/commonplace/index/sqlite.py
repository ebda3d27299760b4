"""The index in SQLite: one file beside the pages, FTS5 for the words, and a file of vectors for each space.

The file's name carries the schema's number and what is indexed, so that two versions of the program, or two settings,
on one home keep an index each and do not fight. One that nobody has used for a month is removed when another is made.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model import EVERYTHING, Filters, Passage, Record, Scope, Viewer
from .base import (
    BM25_K1,
    CONTEXT_WEIGHT,
    Candidate,
    CorpusStats,
    Entry,
    weighted_length,
)
from .rows import candidate_of, digest_of, passage_row, read_rows, record_of, record_row
from .tokenizer import tokenize
from .vector_spaces import TABLES, VectorSpaces
from .visibility import allowed, matches, placeholders, visible_rule

if TYPE_CHECKING:
    pass

SCHEMA = 5
_WHERE = ("body", "around")  # the columns of words
_CACHE_KILOBYTES = 16_000  # of the file, for a connection: passages lie far apart and are read again
_LOCK_TIMEOUT_SECONDS = 2.0  # for another process that writes; then the answer is marked stale instead
_TABLES = """
CREATE TABLE IF NOT EXISTS pages(
  path TEXT PRIMARY KEY, stamp INTEGER NOT NULL, version TEXT NOT NULL, warning TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pages_with_a_warning ON pages(path, warning) WHERE warning != '';
CREATE TABLE IF NOT EXISTS owners(
  id INTEGER PRIMARY KEY, scope TEXT NOT NULL, who TEXT NOT NULL, passages INTEGER NOT NULL, length INTEGER NOT NULL,
  UNIQUE(scope, who));
CREATE TABLE IF NOT EXISTS frequencies(
  word TEXT NOT NULL, owner INTEGER NOT NULL, passages INTEGER NOT NULL, PRIMARY KEY(word, owner)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passages(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  text TEXT NOT NULL, lead TEXT NOT NULL, key TEXT NOT NULL, tags TEXT NOT NULL, at TEXT NOT NULL, day INTEGER,
  kind TEXT NOT NULL, owner INTEGER NOT NULL, source TEXT NOT NULL, length INTEGER NOT NULL, hash BLOB NOT NULL,
  digest BLOB NOT NULL, body TEXT NOT NULL, around TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS passages_of_page ON passages(path, first);
CREATE INDEX IF NOT EXISTS passages_by_content ON passages(owner, hash);
CREATE TABLE IF NOT EXISTS records(
  path TEXT PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, category TEXT NOT NULL, tags TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, scope TEXT NOT NULL, who TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
  body, around, content = 'passages', content_rowid = 'id', columnsize = 0,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* So Co'");
"""
_COLUMNS = """passages.id, path, first, last, text, key, tags, at, day, kind, scope, who, source, passages.length,
    body, around"""


FileId = tuple[int, int]  # device and inode


class SqliteIndex(VectorSpaces):
    """Safe to share between threads; any number of processes may open the same file."""

    def __init__(self, path: str) -> None:
        self.in_memory = path == ":memory:"
        db = sqlite3.connect(path, timeout=_LOCK_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False)
        super().__init__(db, None if self.in_memory else path.removesuffix(".sqlite"))
        self._closing = weakref.finalize(self, self._db.close)  # a handle that is dropped closes its file, too
        self._place = None if self.in_memory else _identity(path)
        self._counted: Counter[tuple[str, int]] = Counter()  # by how much frequencies have changed, until written
        try:
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY;")
            self._db.execute(f"PRAGMA cache_size=-{_CACHE_KILOBYTES}")
            self._db.create_function("matches", 2, matches, deterministic=True)
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'pages'").fetchone():
                self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {TABLES} COMMIT;")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._closing()

    @property
    def file_id(self) -> FileId | None:
        """Which file this is, whatever it is called; None when it is kept in memory."""
        return self._place and self._place[1]

    def is_current_file(self) -> bool:
        """Whether the file that is open is the one that others see: somebody may have removed the index."""
        return self._place is None or self.file_id == _identity(self._place[0])[1]

    def stamps(self, below: str | None = None) -> dict[str, int]:
        if below is None:
            return dict(self._rows("SELECT path, stamp FROM pages"))
        return dict(self._rows(f"SELECT path, stamp FROM pages WHERE {_BELOW}", _below(below)))

    def versions(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        if paths is None:
            return dict(self._rows("SELECT path, version FROM pages"))
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
            self._replace(entry, entry.passages)
            row = (entry.path, entry.stamp, entry.version, entry.warning)
            self._db.execute("INSERT OR REPLACE INTO pages VALUES(?, ?, ?, ?)", row)
        self._write_counts()

    def match_terms(self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        """Word by word: the order FTS5 gives costs ten times the finding, and tells of words that others keep to
        themselves."""
        sql, values = self._holding(viewer, filters)
        found: dict[int, float] = {}
        for word, weight in weights.items():
            body, around = (self._rows(sql, (f'{column} : "{word}"', *values)) for column in _WHERE)
            for rows, times in _apart(body, around):
                worth = weight * times / (times + BM25_K1)
                for (number,) in rows:
                    found[number] = found.get(number, 0.0) + worth
        enough = sorted(found.values())[-limit] if len(found) > limit else 0.0
        best = sorted((-worth, number) for number, worth in found.items() if worth >= enough)
        return [number for _, number in best[:limit]]

    def _holding(self, viewer: Viewer, filters: Filters) -> tuple[str, Sequence[Any]]:
        """How to ask for the passages with a word, among those that count for this viewer."""
        if filters == EVERYTHING and self._sees_all(viewer):
            return "SELECT rowid FROM words WHERE words MATCH ?", ()
        condition, values = allowed(viewer, filters)
        sql = f"""
            SELECT passages.id FROM words CROSS JOIN passages ON passages.id = words.rowid
            WHERE words MATCH ? AND {condition}"""
        return sql, values

    def _sees_all(self, viewer: Viewer) -> bool:
        rules, values = visible_rule(viewer)
        return not self._rows(f"SELECT 1 FROM owners WHERE passages > 0 AND NOT ({rules}) LIMIT 1", values)

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        sql = f"""
            SELECT {_COLUMNS} FROM passages CROSS JOIN owners ON owners.id = owner
            WHERE passages.id IN ({placeholders(numbers)})"""
        return read_rows(candidate_of, self._rows(sql, numbers)) if numbers else []

    def preceding_text(self, number: int) -> str:
        sql = """
            SELECT earlier.text FROM passages CROSS JOIN passages AS earlier ON earlier.path = passages.path
            WHERE passages.id = ? AND earlier.last < passages.first ORDER BY earlier.last DESC LIMIT 1"""
        return next((row[0] for row in self._rows(sql, (number,))), "")

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        rules, values = visible_rule(viewer)
        sizes = self._rows(f"SELECT id, passages, length FROM owners WHERE {rules}", values)
        passages = sum(row[1] for row in sizes)
        length = sum(row[2] for row in sizes)
        sql = f"""
            SELECT word, sum(passages) FROM frequencies WHERE word IN ({placeholders(words)})
            AND owner IN ({",".join(str(row[0]) for row in sizes)}) GROUP BY word HAVING sum(passages) > 0"""
        return CorpusStats(passages, length / passages if passages else 1.0, dict(self._rows(sql, words)))

    def records(self, prefix: str) -> list[Record]:
        return read_rows(record_of, self._rows(f"SELECT * FROM records WHERE {_BELOW} ORDER BY path", _below(prefix)))

    def warnings(self) -> list[tuple[str, str]]:
        rows = self._rows("SELECT path, warning FROM pages WHERE warning != '' ORDER BY path")
        return [(path, warning) for path, warning in rows]

    def size(self) -> tuple[int, int]:
        """How many pages and how many passages are known."""
        sql = "SELECT (SELECT count(*) FROM pages), (SELECT coalesce(sum(passages), 0) FROM owners)"
        pages, passages = self._rows(sql)[0]
        return pages, passages

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except UnicodeDecodeError as error:
            raise sqlite3.DatabaseError("a text is not UTF-8") from error

    def _discard_pending(self) -> None:
        super()._discard_pending()
        self._counted.clear()

    def purge(self) -> None:
        """Leave no bytes of what was removed: not among vectors, nor in freed places of the file, nor in its log."""
        with self.write_transaction():
            for space in self.spaces():
                self.compact(space)
            self._db.execute("INSERT INTO words(words) VALUES('optimize')")
        with self._lock:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _forget(self, path: str) -> None:
        self._remove([row[0] for row in self._db.execute("SELECT id FROM passages WHERE path = ?", (path,))])
        self._db.execute("DELETE FROM records WHERE path = ?", (path,))

    def _remove(self, numbers: Sequence[int]) -> None:
        sql = "SELECT owner, length, body, around FROM passages WHERE id = ?"
        gone = "INSERT INTO words(words, rowid, body, around) VALUES('delete', ?, ?, ?)"
        for number in numbers:
            owner, length, body, around = self._db.execute(sql, (number,)).fetchone() or (0, 0, None, None)
            if not (isinstance(body, str) and isinstance(around, str) and isinstance(length, int)):
                raise sqlite3.DatabaseError("the words of a passage are not there")
            self._count(owner, length, {*body.split(), *around.split()}, -1)
            self._db.execute(gone, (number, body, around))
            self._db.execute("DELETE FROM passages WHERE id = ?", (number,))

    def _replace(self, entry: Entry, passages: Sequence[Passage]) -> None:
        """Make the index say what a page says: a passage that reads as before stays, at most on other lines."""
        owner = self._owner(entry.scope)
        sql = "SELECT digest, id, first, last FROM passages WHERE path = ?"
        known: dict[bytes, list[tuple[int, int, int]]] = {}
        for digest, *rest in self._db.execute(sql, (entry.path,)):
            known.setdefault(digest, []).append(tuple(rest))
        new: list[tuple[bytes, Passage]] = []
        moved: list[tuple[int, int, int]] = []
        for passage in passages:
            digest = digest_of(owner, entry, passage)
            if not (same := known.get(digest)):
                new.append((digest, passage))
                continue
            number, first, last = same.pop(0)
            if (first, last) != (passage.start, passage.end):
                moved.append((passage.start, passage.end, number))
        self._remove([number for rows in known.values() for number, _, _ in rows])
        self._db.executemany("UPDATE passages SET first = ?, last = ? WHERE id = ?", moved)
        self._add(entry, owner, new)
        self._db.execute("DELETE FROM records WHERE path = ?", (entry.path,))
        if entry.record:
            self._db.execute("INSERT INTO records VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", record_row(entry.record))

    def _add(self, entry: Entry, owner: int, passages: Sequence[tuple[bytes, Passage]]) -> None:
        for digest, passage in passages:
            body = tokenize(f"{passage.hint} {passage.text}")
            around = tokenize(passage.around)
            length = weighted_length(len(body), len(around))
            said = ("  ".join(body), "  ".join(around))  # a space either side of each, for counting
            row = (*passage_row(entry, owner, passage, length), digest, *said)
            number = self._db.execute(f"INSERT INTO passages VALUES(NULL{', ?' * len(row)})", row).lastrowid
            self._db.execute("INSERT INTO words(rowid, body, around) VALUES(?, ?, ?)", (number, *said))
            self._count(owner, length, {*body, *around}, 1)

    def _owner(self, scope: Scope) -> int:
        self._db.execute("INSERT OR IGNORE INTO owners VALUES(NULL, ?, ?, 0, 0)", scope)
        number: int = self._db.execute("SELECT id FROM owners WHERE scope = ? AND who = ?", scope).fetchone()[0]
        return number

    def _count(self, owner: int, length: int, words: set[str], by: int) -> None:
        """Note that an owner has one passage more, or less, with these words."""
        self._counted.update({(word, owner): by for word in words})
        sizes = (by, by * length, owner)
        self._db.execute("UPDATE owners SET passages = passages + ?, length = length + ? WHERE id = ?", sizes)

    def _write_counts(self) -> None:
        """What each owner's passages say, in how many of them: nobody's words weigh less by what others keep."""
        sql = """
            INSERT INTO frequencies VALUES(?, ?, ?)
            ON CONFLICT(word, owner) DO UPDATE SET passages = passages + excluded.passages"""
        self._db.executemany(sql, sorted((word, owner, by) for (word, owner), by in self._counted.items() if by))
        if any(by < 0 for by in self._counted.values()):  # a word that nobody says any more is not kept
            gone = [key for key, by in self._counted.items() if by < 0]
            self._db.executemany("DELETE FROM frequencies WHERE word = ? AND owner = ? AND passages <= 0", gone)
        self._counted.clear()


_Rows = Sequence[tuple[Any, ...]]


def _apart(body: _Rows, around: _Rows) -> Iterable[tuple[Iterable[tuple[Any, ...]], float]]:
    """Who holds a word, and how often that counts: in the passage, beside it, or both."""
    if not around:
        return ((body, 1.0),)
    inside = set(body)
    beside = set(around)
    return (inside - beside, 1.0), (beside - inside, CONTEXT_WEIGHT), (inside & beside, 1 + CONTEXT_WEIGHT)


_BELOW = "(path = ? OR (path >= ? AND path < ?))"


def _below(prefix: str) -> tuple[str, str, str]:
    """A page, or everything in a folder: `0` is the character after the slash."""
    return prefix, f"{prefix}/", f"{prefix}0"


def _identity(path: str) -> tuple[str, tuple[int, int]]:
    try:
        found = os.stat(path)
    except OSError:
        return path, (0, 0)
    return path, (found.st_dev, found.st_ino)
