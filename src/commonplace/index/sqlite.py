"""The index in SQLite: one file beside the pages, FTS5 for the words, and a file of vectors for each space.

The file's name has the schema version and a fingerprint of what is indexed, so that two versions of the program, or two
settings, have an index each. One that was not used for a month is removed when another is created.
"""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, TypeVar

from ..formats.passages import words_to_index
from ..formats.transcripts import USER_STARTS
from ..model import EVERYTHING, Filters, Passage, Record, Scope, Viewer
from ..storage.names import path_range
from .base import (
    BM25_B,
    BM25_K1,
    CONTEXT_WEIGHT,
    MAX_PASSAGES_PER_FACT_KEY,
    SHARED_LETTERS,
    Candidate,
    ChoosePassages,
    CorpusStats,
    Entry,
    candidate_of,
    choose_by_rarity,
    digest_of,
    list_fact_keys,
    passage_row,
    read_passage_facts,
    record_of,
    record_row,
    sort_newest_first,
    stored_fact_keys,
    stored_statements_of,
    weighted_length,
)
from .passage_cache import PassageCache
from .statements import StoredStatements
from .terms import AROUND, BODY, list_lexemes, make_lexeme, pack_terms, words_of
from .tokenizer import tokenize_passage
from .vector_spaces import TABLES, VectorSpaces
from .visibility import (
    GIVEN,
    SqliteConditions,
    matches,
    placeholders,
)

SCHEMA_VERSION = 25  # covers the tables, and how `facts/` reads the statements that are stored
_CACHE_KILOBYTES = 16_000  # page cache per connection: passages are scattered over the file
_MIN_MERGED_PASSAGES = 100  # new passages after which the index of words is merged into one part
_MERGED_SHARE = 0.25  # or this share of all passages is new
_LOCK_TIMEOUT_SECONDS = 2.0  # wait for another writer; then the answer is marked stale
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
  days TEXT NOT NULL, kind TEXT NOT NULL, owner INTEGER NOT NULL, source TEXT NOT NULL, length INTEGER NOT NULL,
  hash BLOB NOT NULL, digest BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS passage_terms(id INTEGER PRIMARY KEY, terms BLOB NOT NULL, lexemes TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS passages_of_page ON passages(path, first);
CREATE INDEX IF NOT EXISTS passages_by_content ON passages(owner, hash);
CREATE INDEX IF NOT EXISTS passages_by_day ON passages(owner, day, hash, at, source);
CREATE INDEX IF NOT EXISTS passage_facts ON passages(id, owner, length, day, source);
CREATE TABLE IF NOT EXISTS records(
  path TEXT PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, category TEXT NOT NULL, tags TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, scope TEXT NOT NULL, who TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts(
  key INTEGER NOT NULL, passage INTEGER NOT NULL, PRIMARY KEY(key, passage)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS statements(id INTEGER PRIMARY KEY, keys BLOB NOT NULL, parsed TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
  lexemes, content = 'passage_terms', content_rowid = 'id', columnsize = 0, detail = none, tokenize = 'ascii');
"""
_IS_QUESTION = " OR ".join(f"earlier.text GLOB '{start}*'" for start in USER_STARTS).join("()")
_COLUMNS = """passages.id, path, first, last, text, lead, key, tags, at, day, days, kind, scope, who, source,
    passages.length, terms"""


FileId = tuple[int, int]  # device and inode
Value = TypeVar("Value")


class SqliteIndex(VectorSpaces):
    """Safe to share between threads; any number of processes may open the same file."""

    def __init__(self, path: str) -> None:
        self.in_memory = path == ":memory:"
        db = sqlite3.connect(path, timeout=_LOCK_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False)
        super().__init__(db, None if self.in_memory else path.removesuffix(".sqlite"))
        self._closing = weakref.finalize(self, self._db.close)  # an index that is dropped closes its file, too
        self._place = None if self.in_memory else _identity(path)
        self._frequency_changes: Counter[tuple[str, int]] = Counter()  # by word and owner, not yet written
        self._new_passages = 0  # since the index of words was merged
        self._opening = object()  # distinguishes states of this object from those of others
        self._warnings: tuple[object, list[tuple[str, str]]] = (None, [])  # with the index state they were read in
        try:
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY;")
            self._db.execute(f"PRAGMA cache_size=-{_CACHE_KILOBYTES}")
            self._db.create_function("matches", 2, matches, deterministic=True)
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'pages'").fetchone():
                mark = f"PRAGMA user_version={_draw_number()};"
                self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {TABLES} {mark} COMMIT;")
            (number,) = self._db.execute("PRAGMA user_version").fetchone()
            self._passages = PassageCache((self.file_id, number) if self._place and number else None)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._closing()

    @property
    def file_id(self) -> FileId | None:
        """Return the identity of the file (device and inode); None for an index in memory."""
        return self._place and self._place[1]

    def is_current_file(self) -> bool:
        """Return whether the open file is still the one at its path: somebody may have removed the index."""
        return self._place is None or self.file_id == _identity(self._place[0])[1]

    def state(self) -> object:
        with self._lock:
            if self._db.in_transaction:  # its writes may be rolled back
                return None
            return self._opening, *self._count_changes()

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
        self._merge_words()

    def _merge_words(self) -> None:
        """Merge the parts of the index of words once many passages are new: to look up a word, each part is read."""
        if self._new_passages < _MIN_MERGED_PASSAGES:  # true after most writes, so they need no count
            return
        if self._new_passages >= _MERGED_SHARE * self._count_passages():
            self._db.execute("INSERT INTO words(words) VALUES('optimize')")
            self._new_passages = 0

    def match_terms(
        self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int
    ) -> dict[int, float]:
        """Return the best passages, scored word by word.

        FTS5's own ranking would take ten times as long, and its weights would reveal words of pages that the viewer
        may not see.
        """
        owners = self._owners_with(weights, self._visible_owners(viewer, filters))
        sql, values = _match_sql(filters)
        per_word = BM25_K1 * BM25_B / self.corpus_stats((), viewer).average_length
        found: list[tuple[float, float, Iterable[int]]] = []  # the weight of a word, its count, and the passages
        for word, having in owners.items():
            body, around = (
                [row[0] for row in self._rows(sql, (_match(having, place, word), *values))] for place in (BODY, AROUND)
            )
            found += ((weights[word], times, numbers) for numbers, times in _split_by_place(body, around))
        lengths = self._passages.load_lengths({*chain.from_iterable(each[2] for each in found)}, self._read_lengths)
        scores: dict[int, float] = {}
        for weight, times, numbers in found:
            gain = weight * times
            shortest = times + BM25_K1 * (1 - BM25_B)
            for number in numbers:
                scores[number] = scores.get(number, 0.0) + gain / (shortest + per_word * lengths[number])
        min_score = sorted(scores.values())[-limit] if len(scores) > limit else 0.0
        best = sorted((-score, number) for number, score in scores.items() if score >= min_score)
        return {number: -negative for negative, number in best[:limit]}

    def _read_lengths(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        sql = """
            SELECT passages.id, passages.length FROM json_each(?) AS asked
            CROSS JOIN passages INDEXED BY passage_facts ON passages.id = asked.value"""
        return self._rows(sql, (json.dumps(numbers),))

    def _owners_with(self, words: Iterable[str], owners: Sequence[int]) -> dict[str, list[int]]:
        """Return which of these owners have passages with each word."""
        known: dict[str, list[int]] = {word: [] for word in words}
        sql = f"""
            SELECT word, owner FROM frequencies WHERE word IN ({placeholders([*known])})
            AND owner IN ({",".join(map(str, owners))})"""
        for word, owner in self._rows(sql, [*known]):
            known[word].append(owner)
        return {word: having for word, having in known.items() if having}

    def _sees_all(self, viewer: Viewer) -> bool:
        with self._lock:
            known = self._open_table("sees all")
            if viewer not in known:
                conditions = SqliteConditions()
                sql = f"SELECT 1 FROM owners WHERE passages > 0 AND NOT {conditions.is_visible(viewer)} LIMIT 1"
                known[viewer] = not self._rows(sql, conditions.values)
            return bool(known[viewer])

    def newest(self, viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        conditions = SqliteConditions()
        sql = f"""
            SELECT id FROM passages WHERE day IS NOT NULL AND {conditions.passes(viewer, filters)}
            ORDER BY day DESC, at DESC, id DESC LIMIT ?"""
        return [row[0] for row in self._rows(sql, (*conditions.values, limit))]

    @contextmanager
    def write_transaction(self) -> Iterator[None]:
        with self._lock:
            self._passages.is_writing = True
            try:
                with super().write_transaction():
                    yield
            finally:
                self._passages.is_writing = False

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        with self.read_transaction():
            state = self._count_changes()
            return self._passages.load_candidates(numbers, state, self._read_candidates, self._read_lines)

    def _read_lines(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        sql = f"SELECT id, first, last FROM passages WHERE id IN {GIVEN}"
        return self._rows(sql, (json.dumps(numbers),))

    def _read_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        sql = f"""
            SELECT {_COLUMNS} FROM passages CROSS JOIN owners ON owners.id = owner
            LEFT JOIN passage_terms ON passage_terms.id = passages.id
            WHERE passages.id IN {GIVEN}"""
        return _read_rows(candidate_of, self._rows(sql, (json.dumps(numbers),)))

    def load_statements(self, numbers: Sequence[int]) -> dict[int, StoredStatements]:
        return self._passages.load_statements(numbers, self._read_statements)

    def _read_statements(self, numbers: Sequence[int]) -> dict[int, StoredStatements]:
        sql = f"SELECT id, keys, parsed FROM statements WHERE id IN {GIVEN}"
        return dict(_read_rows(stored_statements_of, self._rows(sql, (json.dumps(numbers),))))

    def find_by_fact_keys(
        self,
        keys: Sequence[int],
        viewer: Viewer,
        limit: int,
        filters: Filters = EVERYTHING,
        choose: ChoosePassages | None = None,
    ) -> list[Candidate]:
        source = "facts"
        condition = "true"
        values: list[str | int] = []
        if filters != EVERYTHING or not self._sees_all(viewer):
            # The SQL index covers what most conditions need; rows of passages, with their texts, are far apart.
            source = "facts CROSS JOIN passages INDEXED BY passage_facts ON passages.id = facts.passage"
            condition = f"passages.owner IN ({','.join(map(str, self._visible_owners(viewer, filters)))})"
            conditions = SqliteConditions()
            if passes := conditions.passes_filters(filters):
                values = conditions.values
                condition = f"{condition} AND {passes}"
        with_key = f"SELECT passage FROM {source} WHERE facts.key = asked.value AND {condition}"
        # All keys in one statement: under each, from the last of its newest passages on.
        sql = f"""
            SELECT asked.value, passage FROM json_each(?) AS asked CROSS JOIN {source}
            WHERE facts.key = asked.value AND {condition} AND facts.passage >= ifnull((
              {with_key} ORDER BY passage DESC LIMIT 1 OFFSET {MAX_PASSAGES_PER_FACT_KEY - 1}), 0)"""
        by_key: dict[int, list[int]] = {}
        for key, number in self._rows(sql, (json.dumps(list(keys)), *values, *values)):
            by_key.setdefault(key, []).append(number)
        keys_of = list_fact_keys(choose_by_rarity(by_key, limit), by_key)
        candidates = self.load_candidates(choose(keys_of) if choose else [*keys_of])
        return sort_newest_first(each._replace(fact_keys=keys_of[each.number]) for each in candidates)

    def preceding_text(self, number: int) -> str:
        sql = """
            SELECT earlier.text FROM passages CROSS JOIN passages AS earlier ON earlier.path = passages.path
            WHERE passages.id = ? AND earlier.last < passages.first ORDER BY earlier.last DESC LIMIT 1"""
        return next((row[0] for row in self._rows(sql, (number,))), "")

    def find_questions(self, numbers: Sequence[int]) -> dict[int, str]:
        sql = f"""
            SELECT passages.id, (
              SELECT earlier.text FROM passages AS earlier
              WHERE earlier.path = passages.path AND earlier.first < passages.first AND {_IS_QUESTION}
              ORDER BY earlier.first DESC, earlier.id LIMIT 1)
            FROM passages WHERE passages.id IN {GIVEN}"""
        return {number: text for number, text in self._rows(sql, (json.dumps(numbers),)) if text is not None}

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        owners, passages, length = self._measure_owners(viewer)
        sql = f"""
            SELECT word, sum(passages) FROM frequencies WHERE word IN ({placeholders(words)})
            AND owner IN ({owners}) GROUP BY word HAVING sum(passages) > 0"""
        frequency = dict(self._rows(sql, words)) if words else {}
        return CorpusStats(passages, length / passages if passages else 1.0, frequency)

    def _measure_owners(self, viewer: Viewer) -> tuple[str, int, int]:
        """Return the owners that a viewer may see, how many passages they have, and how long these are together."""
        with self._lock:
            known = self._open_table("sizes")
            if viewer not in known:
                conditions = SqliteConditions()
                sql = f"SELECT id, passages, length FROM owners WHERE {conditions.is_visible(viewer)}"
                sizes = self._rows(sql, conditions.values)
                owners = ",".join(str(row[0]) for row in sizes)
                known[viewer] = (owners, sum(row[1] for row in sizes), sum(row[2] for row in sizes) or 1)
            measured: tuple[str, int, int] = known[viewer]
            return measured

    def words_like(self, word: str, viewer: Viewer) -> dict[str, int]:
        conditions = SqliteConditions()
        start = word[:SHARED_LETTERS]
        sql = f"""
            SELECT word, sum(frequencies.passages) FROM frequencies JOIN owners ON owners.id = frequencies.owner
            WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ? AND {conditions.is_visible(viewer)}
            GROUP BY word HAVING sum(frequencies.passages) > 0"""
        return dict(self._rows(sql, [start, f"{start}\U0010ffff", len(word) - 1, len(word) + 1, *conditions.values]))

    def records(self, prefix: str) -> list[Record]:
        return _read_rows(record_of, self._rows(f"SELECT * FROM records WHERE {_BELOW} ORDER BY path", _below(prefix)))

    def warnings(self) -> list[tuple[str, str]]:
        state = self.state()
        if state is None or state != self._warnings[0]:
            self._warnings = (state, self._read_warnings())
        return [*self._warnings[1]]

    def _read_warnings(self) -> list[tuple[str, str]]:
        rows = self._rows("SELECT path, warning FROM pages WHERE warning != '' ORDER BY path")
        return [(path, warning) for path, warning in rows]

    def size(self) -> tuple[int, int]:
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
        self._passages.clear()
        self._frequency_changes.clear()

    def purge(self) -> None:
        """Leave no bytes of what was removed: not in vector files, free database pages, or the write-ahead log."""
        with self.write_transaction():
            for space in self.spaces():
                self.compact(space)
            # The name of a channel may be what is forgotten. Its number is not used again: others may remember it.
            self._db.execute("UPDATE owners SET scope = '', who = id WHERE passages = 0")
            self._db.execute("INSERT INTO words(words) VALUES('optimize')")
        with self._lock:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _forget(self, path: str) -> None:
        self._remove([row[0] for row in self._db.execute("SELECT id FROM passages WHERE path = ?", (path,))])
        self._db.execute("DELETE FROM records WHERE path = ?", (path,))

    def _remove(self, numbers: Sequence[int]) -> None:
        sql = """
            SELECT owner, length, lexemes, kind, key, text FROM passages CROSS JOIN passage_terms USING(id)
            WHERE id = ?"""
        delete_sql = "INSERT INTO words(words, rowid, lexemes) VALUES('delete', ?, ?)"
        for number in numbers:
            row = self._db.execute(sql, (number,)).fetchone() or (0, 0, None, "", "", "")
            owner, length, lexemes, *about = row
            if not (isinstance(lexemes, str) and isinstance(length, int)):
                raise sqlite3.DatabaseError("the words of a passage are missing")
            self._count(owner, length, words_of(lexemes), -1)
            self._db.execute(delete_sql, (number, lexemes))
            self._db.execute("DELETE FROM passages WHERE id = ?", (number,))
            self._db.execute("DELETE FROM passage_terms WHERE id = ?", (number,))
            self._remove_facts(number, *about)

    def _remove_facts(self, number: int, kind: str, key: str, text: str) -> None:
        keys = stored_fact_keys(kind, key, text, self.load_statements([number]).get(number))
        self._db.execute("DELETE FROM statements WHERE id = ?", (number,))
        self._db.executemany("DELETE FROM facts WHERE key = ? AND passage = ?", [(each, number) for each in keys])

    def _replace(self, entry: Entry, passages: Sequence[Passage]) -> None:
        """Replace the passages of a page. One with the same content stays, perhaps with other line numbers."""
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
        self._new_passages += len(passages)
        for digest, passage in passages:
            words = tokenize_passage(words_to_index(passage), passage.around)
            length = weighted_length(words.body_length, words.around_length)
            lexemes = " ".join(list_lexemes(owner, words.body, words.around))
            row = (*passage_row(entry, owner, passage, length), digest)
            number = self._db.execute(f"INSERT INTO passages VALUES(NULL{', ?' * len(row)})", row).lastrowid
            terms = pack_terms(words.body, words.around)
            self._db.execute("INSERT INTO passage_terms VALUES(?, ?, ?)", (number, terms, lexemes))
            self._db.execute("INSERT INTO words(rowid, lexemes) VALUES(?, ?)", (number, lexemes))
            self._count(owner, length, {*words.body, *words.around}, 1)
            facts = read_passage_facts(entry.kind, passage.key, passage.text)
            self._db.executemany("INSERT OR IGNORE INTO facts VALUES(?, ?)", [(key, number) for key in facts.keys])
            if facts.stored:
                self._db.execute("INSERT INTO statements VALUES(?, ?, ?)", (number, *facts.stored))

    def _owner(self, scope: Scope) -> int:
        self._db.execute("INSERT OR IGNORE INTO owners VALUES(NULL, ?, ?, 0, 0)", scope)
        number: int = self._db.execute("SELECT id FROM owners WHERE scope = ? AND who = ?", scope).fetchone()[0]
        return number

    def _count(self, owner: int, length: int, words: set[str], by: int) -> None:
        """Note that an owner has one passage more (`by` 1) or less (-1) with these words."""
        self._frequency_changes.update({(word, owner): by for word in words})
        sizes = (by, by * length, owner)
        self._db.execute("UPDATE owners SET passages = passages + ?, length = length + ? WHERE id = ?", sizes)

    def _write_counts(self) -> None:
        """Write document frequencies by owner: the weight of a word must not depend on pages that are hidden."""
        sql = """
            INSERT INTO frequencies VALUES(?, ?, ?)
            ON CONFLICT(word, owner) DO UPDATE SET passages = passages + excluded.passages"""
        self._db.executemany(
            sql, sorted((word, owner, by) for (word, owner), by in self._frequency_changes.items() if by)
        )
        if any(by < 0 for by in self._frequency_changes.values()):  # words that are in no passage any more are removed
            decreased = [key for key, by in self._frequency_changes.items() if by < 0]
            self._db.executemany("DELETE FROM frequencies WHERE word = ? AND owner = ? AND passages <= 0", decreased)
        self._frequency_changes.clear()


def _read_rows(read: Callable[[tuple[Any, ...]], Value], rows: list[tuple[Any, ...]]) -> list[Value]:
    """Return rows as values. If one cannot be read, the index is damaged and is replaced."""
    try:
        return [read(row) for row in rows]
    except (ValueError, TypeError, AttributeError) as error:
        raise sqlite3.DatabaseError(f"a row is malformed ({error})") from error


def _match_sql(filters: Filters) -> tuple[str, Sequence[Any]]:
    """Return the statement for the passages with some lexemes that pass the filters.

    The SQL index covers what most filters need: the rows of passages, with their texts, are far apart.
    """
    conditions = SqliteConditions()
    passes = conditions.passes_filters(filters)
    if not passes:
        return "SELECT rowid FROM words WHERE words MATCH ?", ()
    sql = f"""
        SELECT passages.id FROM words CROSS JOIN passages INDEXED BY passage_facts ON passages.id = words.rowid
        WHERE words MATCH ? AND {passes}"""
    return sql, conditions.values


def _match(owners: Iterable[int], place: str, word: str) -> str:
    """Return the FTS5 query for the passages of these owners with a word."""
    return " OR ".join(f'"{make_lexeme(owner, place, word)}"' for owner in owners)


def _split_by_place(body: Sequence[int], around: Sequence[int]) -> Iterable[tuple[Iterable[int], float]]:
    """Split the passages with a word into those with it in the text, around it, or both; with the weight of each."""
    if not around:
        return ((body, 1.0),)
    inside = set(body)
    outside = set(around)
    return (inside - outside, 1.0), (outside - inside, CONTEXT_WEIGHT), (inside & outside, 1 + CONTEXT_WEIGHT)


_BELOW = "(path = ? OR (path >= ? AND path < ?))"


def _below(prefix: str) -> tuple[str, str, str]:
    """Return the values of `_BELOW`: a page, or everything in a folder."""
    return prefix, *path_range(prefix)


def _draw_number() -> int:
    """Return a number by which a new index differs from one that was in the same place on disk before."""
    return int.from_bytes(os.urandom(4), "big") >> 1 | 1


def _identity(path: str) -> tuple[str, tuple[int, int]]:
    try:
        info = os.stat(path)
    except OSError:
        return path, (0, 0)
    return path, (info.st_dev, info.st_ino)
