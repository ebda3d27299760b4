"""The index in PostgreSQL, for a memory that many machines share: the same answers as the SQLite index gives.

Every row has a tenant and the key of an index: the schema version and a fingerprint of what is indexed. So two versions
of the program, or two settings, have an index each.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

from ...formats.passages import words_to_index
from ...formats.transcripts import USER_STARTS
from ...index.base import (
    SHARED_LETTERS,
    BatchQuery,
    Candidate,
    ChoosePassages,
    CorpusStats,
    Entry,
    PassageEmbedding,
    PendingBatch,
    Retriever,
    candidate_of,
    digest_of,
    passage_row,
    read_passage_facts,
    record_of,
    record_row,
    sort_newest_first,
    stored_fact_keys,
    stored_statements_of,
    weighted_length,
)
from ...index.passage_cache import PassageCache
from ...index.statements import PassageFacts, StoredStatements
from ...index.terms import pack_terms
from ...index.tokenizer import tokenize_passage
from ...model import EVERYTHING, Filters, Passage, Record, Scope, Viewer
from ..names import path_range
from .connection import ONE_PLAN, Database, Row, make_storable
from .index_tables import (
    FREQUENCIES_CTE,
    GIVEN_WEIGHTS_CTE,
    LEXEME_FIELDS,
    LOCK_TIMEOUT,
    OWN_ROWS,
    TABLES,
    IndexTables,
    lexical_cte,
    lookup_term,
    lookup_terms,
    owners_cte,
    passage_sql,
)
from .query import CANDIDATE_COLUMNS, build_fact_query, run_search
from .vectors import SEARCH_SETTINGS, VectorSpaces, build_hnsw_index, large_spaces

Answer = TypeVar("Answer")
SCHEMA_VERSION = 19  # covers the tables, and how `facts/` reads the statements that are stored
_BELOW = "(path = %(prefix)s OR (path >= %(first)s AND path < %(last)s))"


class IndexStatus(NamedTuple):
    """The sequence number of the last write, the number the index is up to, and warnings about pages."""

    written_seq: int
    indexed_seq: int
    warnings: tuple[tuple[str, str], ...]


class PostgresIndex(VectorSpaces):
    """Safe to share between threads; any number of processes may use the same one."""

    def __init__(self, database: Database, fingerprint: str) -> None:
        super().__init__(IndexTables(database, f"{SCHEMA_VERSION}-{fingerprint}"))
        self._passages = PassageCache()

    def write_transaction(self) -> AbstractContextManager[None]:
        return self._tables.write_transaction()

    def write(self, work: Callable[[], Answer], lock_timeout: str = LOCK_TIMEOUT) -> Answer:
        """Run `work` as the only writer, retrying on conflicts; see `IndexTables.write`."""
        return self._tables.write(work, lock_timeout)

    def read_transaction(self) -> AbstractContextManager[None]:
        return self._tables.read_transaction()

    def status(self) -> IndexStatus:
        sql = f"""SELECT coalesce((SELECT seq FROM commonplace.tenants WHERE tenant = %(tenant)s), 0),
            coalesce((SELECT seq FROM commonplace.indexes WHERE {OWN_ROWS}), 0),
            (SELECT json_agg(json_build_array(path, warning) ORDER BY path) FROM commonplace.index_pages
              WHERE {OWN_ROWS} AND warning <> '')"""
        written, indexed, warnings = self._tables.query(sql)[0]
        return IndexStatus(written, indexed, tuple((path, warning) for path, warning in warnings or ()))

    @property
    def seq(self) -> int:
        """Return the page sequence number that the index is up to, within `write`."""
        return self._tables.counters.seq

    @seq.setter
    def seq(self, seq: int) -> None:
        self._tables.counters.seq = max(self._tables.counters.seq, seq)

    def set_seq(self, seq: int) -> None:
        """Note, in a write of its own, that the index is up to a sequence number."""

        def work() -> None:
            self.seq = seq

        self.write(work)

    def analyze(self) -> None:
        """Update the planner's statistics."""
        self._tables.analyze(self.write(lambda: self._tables.counters.passages))

    def state(self) -> object:
        return None

    def stamps(self, below: str | None = None) -> dict[str, int]:
        condition = "true" if below is None else _BELOW
        sql = f"SELECT path, stamp FROM commonplace.index_pages WHERE {OWN_ROWS} AND {condition}"
        return dict(self._tables.query(sql, {} if below is None else _below(below)))

    def versions(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        condition = "true" if paths is None else "path = ANY(%(paths)s)"
        sql = f"SELECT path, version FROM commonplace.index_pages WHERE {OWN_ROWS} AND {condition}"
        return dict(self._tables.query(sql, {"paths": list(paths or ())}))

    def apply(self, entries: Iterable[Entry], removed: Iterable[str]) -> None:
        changed, stamps = _newest_entries(entries)
        removed = [path for path in dict.fromkeys(removed) if path not in changed]
        _PageUpdate(self._tables, changed, removed).write()
        sql = f"UPDATE commonplace.index_pages SET stamp = %(stamp)s WHERE {OWN_ROWS} AND path = %(path)s"
        self._tables.send_many(sql, stamps)

    def fetch(self, query: BatchQuery) -> Retriever:
        """Run a whole search in one round trip; see `query`."""
        return run_search(self._tables, self, query)

    def match_terms(
        self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int
    ) -> dict[int, float]:
        owners, values = owners_cte(viewer)
        condition, more = passage_sql(viewer, filters)
        values |= more | {"words": list(weights), "terms": lookup_terms(list(weights)), "limit": limit}
        values["weights"] = list(weights.values())
        sql = f"""WITH {owners}, {GIVEN_WEIGHTS_CTE}, {lexical_cte(condition, filters)}
            SELECT id, score FROM lexical ORDER BY score DESC, id"""
        return dict(self._tables.query(sql, values, SEARCH_SETTINGS))

    def newest(self, viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        owners, values = owners_cte(viewer)
        condition, more = passage_sql(viewer, filters)
        sql = f"""WITH {owners} SELECT id FROM commonplace.index_passages AS passages
            WHERE {OWN_ROWS} AND day IS NOT NULL AND {condition}
            ORDER BY day DESC, at DESC, id DESC LIMIT %(limit)s"""
        return [row[0] for row in self._tables.query(sql, values | more | {"limit": limit})]

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        if not numbers:
            return []
        sql = f"""
            SELECT {CANDIDATE_COLUMNS}
            FROM commonplace.index_passages AS passages JOIN commonplace.index_owners AS owners
            ON owners.tenant = %(tenant)s AND owners.territory = %(index_key)s AND owners.id = owner
            WHERE passages.tenant = %(tenant)s AND passages.territory = %(index_key)s AND passages.id = ANY(%(ids)s)
            ORDER BY passages.id"""
        return [candidate_of(row) for row in self._tables.query(sql, {"ids": list(numbers)})]

    def find_by_fact_keys(
        self,
        keys: Sequence[int],
        viewer: Viewer,
        limit: int,
        filters: Filters = EVERYTHING,
        choose: ChoosePassages | None = None,
    ) -> list[Candidate]:
        if not keys:
            return []
        sql, values = build_fact_query(viewer, limit, filters)
        with self._tables.without_snapshot():
            rows = self._tables.query(sql, {**values, "keys": list(keys)}, ONE_PLAN)
        return sort_newest_first(self._choose_candidates(keys, rows, choose))

    def send_fact_query(self, keys: Sequence[int], viewer: Viewer, limit: int) -> Callable[[], list[Candidate]]:
        """Send the query of `find_by_fact_keys` along with the statements of the pipelined transaction that this thread
        is in. Return what reads its answer, once that is committed."""
        sql, values = build_fact_query(viewer, limit, EVERYTHING)
        cursor = self._tables.database.send(sql, {**self._tables.own, **values, "keys": list(keys)})

        def read() -> list[Candidate]:
            import psycopg

            try:
                rows = cursor.fetchall()
            except psycopg.Error:  # the transaction was retried, and found its work done
                return self.find_by_fact_keys(keys, viewer, limit)
            return sort_newest_first(self._choose_candidates(keys, rows, None))

        return read

    def _choose_candidates(
        self, keys: Sequence[int], rows: Sequence[Row], choose: ChoosePassages | None
    ) -> Iterator[Candidate]:
        """Yield the passages of rows that `choose` returns: of places among the keys, statements, and a candidate."""
        candidates = {row[3]: row[3:] for row in rows}
        keys_of = {row[3]: frozenset(keys[place - 1] for place in row[0]) for row in rows}
        self._passages.add_statements((row[3], row[1], row[2]) for row in rows)
        for number in choose(keys_of) if choose else keys_of:
            yield candidate_of(candidates[number])._replace(fact_keys=keys_of[number])

    def load_statements(self, numbers: Sequence[int]) -> dict[int, StoredStatements]:
        return self._passages.load_statements(numbers, self._read_statements)

    def _read_statements(self, numbers: Sequence[int]) -> dict[int, StoredStatements]:
        sql = f"SELECT id, numbers, parsed FROM commonplace.index_statements WHERE {OWN_ROWS} AND id = ANY(%(ids)s)"
        with self._tables.without_snapshot():
            return dict(map(stored_statements_of, self._tables.query(sql, {"ids": list(numbers)})))

    def preceding_text(self, number: int) -> str:
        sql = f"""
            WITH asked AS MATERIALIZED (
              SELECT path, first FROM commonplace.index_passages WHERE {OWN_ROWS} AND id = %(id)s)
            SELECT text FROM commonplace.index_passages AS earlier
            WHERE {OWN_ROWS} AND path = (SELECT path FROM asked) AND last < (SELECT first FROM asked)
            ORDER BY last DESC LIMIT 1"""
        return next((row[0] for row in self._tables.query(sql, {"id": number})), "")

    def find_questions(self, numbers: Sequence[int]) -> dict[int, str]:
        if not numbers:
            return {}
        sql = """
            SELECT asked.id, earlier.text FROM commonplace.index_passages AS asked
            CROSS JOIN LATERAL (
              SELECT text FROM commonplace.index_passages
              WHERE tenant = %(tenant)s AND territory = %(index_key)s AND path = asked.path AND first < asked.first
              AND text LIKE ANY(%(starts)s) ORDER BY first DESC, id LIMIT 1) AS earlier
            WHERE asked.tenant = %(tenant)s AND asked.territory = %(index_key)s AND asked.id = ANY(%(ids)s)"""
        values = {"ids": list(numbers), "starts": [f"{start}%" for start in USER_STARTS]}
        return dict(self._tables.query(sql, values))

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        owners, values = owners_cte(viewer)
        sql = f"""WITH {owners}, {FREQUENCIES_CTE} SELECT size.passages, length, term, frequent.passages
            FROM size LEFT JOIN frequent ON frequent.passages > 0"""
        rows = self._tables.query(sql, values | {"terms": lookup_terms(words)})
        frequency = {term: int(count) for _, _, term, count in rows if term is not None}
        known = {word: frequency[lookup_term(word)] for word in words if lookup_term(word) in frequency}
        passages, length = rows[0][:2]
        return CorpusStats(int(passages), length / passages if passages else 1.0, known)

    def words_like(self, word: str, viewer: Viewer) -> dict[str, int]:
        owners, values = owners_cte(viewer)
        sql = f"""WITH {owners} SELECT word, sum(frequencies.passages)::int
            FROM commonplace.index_frequencies AS frequencies JOIN owners ON owners.id = frequencies.owner
            WHERE frequencies.tenant = %(tenant)s AND frequencies.territory = %(index_key)s AND visible
              AND word LIKE %(start)s AND length(word) BETWEEN %(least)s AND %(most)s
            GROUP BY word HAVING sum(frequencies.passages) > 0"""
        start = re.sub(r"([\\%_])", r"\\\1", word[:SHARED_LETTERS])
        limits = {"start": f"{start}%", "least": len(word) - 1, "most": len(word) + 1}
        return dict(self._tables.query(sql, values | limits))

    def add_vectors(
        self, space: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]
    ) -> None:
        self.write(lambda: self._add(space, pending, embedded))

    def drop_space(self, space: str) -> None:
        self.write(lambda: self._drop(space))

    def promote_space(self, new: str, space: str) -> None:
        self.write(lambda: self._promote(new, space))

    def build_ann_index(self, space: str) -> bool:
        """Build the HNSW index of a space if it has very many vectors; return whether there is one now."""
        tables = self._tables
        for large in large_spaces(tables.database):
            if (large.index_key, large.name) == (tables.own["index_key"], space):
                return large.has_hnsw or build_hnsw_index(tables.database, large)
        return False

    def records(self, prefix: str) -> list[Record]:
        columns = "path, key, value, category, tags, created_at, updated_at, scope, who"
        sql = f"SELECT {columns} FROM commonplace.index_records WHERE {OWN_ROWS} AND {_BELOW} ORDER BY path"
        return [record_of(row) for row in self._tables.query(sql, _below(prefix))]

    def warnings(self) -> list[tuple[str, str]]:
        sql = f"SELECT path, warning FROM commonplace.index_pages WHERE {OWN_ROWS} AND warning <> '' ORDER BY path"
        return [(path, warning) for path, warning in self._tables.query(sql)]

    def size(self) -> tuple[int, int]:
        sql = f"""SELECT (SELECT count(*) FROM commonplace.index_pages WHERE {OWN_ROWS}),
            (SELECT coalesce(sum(passages), 0)::bigint FROM commonplace.index_owners WHERE {OWN_ROWS})"""
        pages, passages = self._tables.query(sql)[0]
        return pages, passages

    def purge(self) -> None:
        """Remove every trace of removed text: orphaned vectors, and indexes of other settings or versions."""

        def work() -> None:
            for name in self.spaces():
                self._compact(name, self.read_space(name).id)
            nameless = (
                f"UPDATE commonplace.index_owners SET scope = '', who = id::text WHERE {OWN_ROWS} AND passages = 0"
            )
            self._tables.send(nameless)
            for table in (*(f"index_{name}" for name in TABLES), "indexes"):
                others = "tenant = %(tenant)s AND territory <> %(index_key)s"
                self._tables.send(f"DELETE FROM commonplace.{table} WHERE {others}")

        self.write(work)


def _below(prefix: str) -> dict[str, Any]:
    """Return the values of `_BELOW`: a page, or everything in a folder."""
    first, last = path_range(prefix)
    return {"prefix": prefix, "first": first, "last": last}


def _newest_entries(entries: Iterable[Entry]) -> tuple[dict[str, Entry], list[dict[str, Any]]]:
    """Return the pages to index again, and those with nothing new but the stamp."""
    changed: dict[str, Entry] = {}
    stamps: dict[str, int] = {}
    for entry in entries:
        if entry.passages is not None:
            changed[entry.path] = entry
            stamps.pop(entry.path, None)
        else:
            stamps[entry.path] = entry.stamp
    return changed, [{"path": path, "stamp": stamp} for path, stamp in stamps.items()]


_PASSAGE_COLUMNS = {
    "path": "text",
    "first": "integer",
    "last": "integer",
    "text": "text",
    "lead": "text",
    "key": "text",
    "tags": "text",
    "at": "text",
    "day": "integer",
    "days": "text",
    "kind": "text",
    "owner": "integer",
    "source": "text",
    "length": "integer",
    "hash": "bytea",
    "digest": "bytea",
    "id": "bigint",
    "tokens": "integer",
    "terms": "bytea",
    "body": "text",
    "around": "text",
}
_WORD_COLUMNS = {"id": "bigint", "part": "integer", "words": "tsvector"}
_RECORD_COLUMNS = dict.fromkeys(
    ("path", "key", "value", "category", "tags", "created_at", "updated_at", "scope", "who"), "text"
)
_PAGE_COLUMNS = {"path": "text", "stamp": "bigint", "version": "text", "warning": "text"}
_FACT_COLUMNS = {"fact": "bigint", "id": "bigint", "owner": "integer"}
_STATEMENT_COLUMNS = {"id": "bigint", "numbers": "bytea", "parsed": "text"}
_LEXEMES_PER_ROW = 2_000  # the server limits a tsvector to a megabyte
_ADD_FREQUENCIES = """
    INSERT INTO commonplace.index_frequencies AS known (tenant, territory, word, owner, passages)
    SELECT %(tenant)s, %(index_key)s, word, owner, by
    FROM unnest(%(words)s::text[], %(owners)s::int[], %(by)s::bigint[]) AS changed(word, owner, by)
    ON CONFLICT (tenant, territory, word, owner) DO UPDATE SET passages = known.passages + excluded.passages"""
_DROP_UNUSED_FREQUENCIES = f"""
    DELETE FROM commonplace.index_frequencies WHERE {OWN_ROWS} AND passages <= 0 AND (word, owner) IN (
      SELECT * FROM unnest(%(words)s::text[], %(owners)s::int[]))"""


class _IndexedPassage(NamedTuple):
    """A passage that the index has of a page."""

    number: int
    first: int
    last: int


class _PageUpdate:
    """The difference between the index and some pages, written in a few statements."""

    def __init__(self, tables: IndexTables, changed: dict[str, Entry], removed: Sequence[str]) -> None:
        self._tables = tables
        self._changed = changed
        self._removed = removed
        self._frequency_changes: Counter[tuple[str, int]] = Counter()  # by term and owner
        self._owner_changes: dict[int, list[int]] = {}  # passages, length and tokens by owner
        self._new_passages: list[dict[str, Any]] = []
        self._new_words: list[dict[str, Any]] = []
        self._new_facts: list[dict[str, Any]] = []
        self._new_statements: list[dict[str, Any]] = []
        self._moved_passages: list[dict[str, Any]] = []

    def write(self) -> None:
        paths = [*self._changed, *self._removed]
        if not paths:
            return
        indexed = self._read_indexed(paths)
        owners = self._ensure_owners({entry.scope for entry in self._changed.values()})
        for path, entry in self._changed.items():
            self._compare(entry, owners[entry.scope], indexed.get(path, {}))
        removed = [passages for by_digest in indexed.values() for passages in by_digest.values()]
        self._delete([passage.number for passages in removed for passage in passages])
        with self._tables.pipeline():
            self._write_passages()
            self._write_counts()
            self._write_pages(paths)

    def _read_indexed(self, paths: Sequence[str]) -> dict[str, dict[bytes, list[_IndexedPassage]]]:
        sql = f"""SELECT path, digest, id, first, last FROM commonplace.index_passages
            WHERE {OWN_ROWS} AND path = ANY(%(paths)s) ORDER BY id"""
        indexed: dict[str, dict[bytes, list[_IndexedPassage]]] = {}
        for path, digest, *rest in self._tables.execute(sql, {"paths": paths}):
            indexed.setdefault(path, {}).setdefault(digest, []).append(_IndexedPassage(*rest))
        return indexed

    def _ensure_owners(self, scopes: set[Scope]) -> dict[Scope, int]:
        rows = self._tables.execute(f"SELECT scope, who, id FROM commonplace.index_owners WHERE {OWN_ROWS}")
        owners = {Scope(scope, who): number for scope, who, number in rows}
        new = []
        for scope in sorted(scopes - set(owners)):
            self._tables.counters.owners += 1
            owners[scope] = self._tables.counters.owners
            new.append({"scope": scope.kind, "who": scope.name, "id": owners[scope]})
        sql = """INSERT INTO commonplace.index_owners
            VALUES (%(tenant)s, %(index_key)s, %(id)s, %(scope)s, %(who)s, 0, 0, 0)"""
        self._tables.send_many(sql, new)
        return owners

    def _compare(self, entry: Entry, owner: int, indexed: dict[bytes, list[_IndexedPassage]]) -> None:
        """Keep a passage with the same content, perhaps on other lines. What remains in `indexed` will be deleted."""
        for passage in entry.passages or ():
            digest = digest_of(owner, entry, passage)
            if not (same := indexed.get(digest)):
                self._add_passage(entry, owner, passage, digest)
                continue
            number, first, last = same.pop(0)
            if (first, last) != (passage.start, passage.end):
                self._moved_passages.append({"id": number, "first": passage.start, "last": passage.end})

    def _add_passage(self, entry: Entry, owner: int, passage: Passage, digest: bytes) -> None:
        counters = self._tables.counters
        counters.passages += 1
        body, around, *lengths = tokenize_passage(words_to_index(passage), passage.around)
        length = weighted_length(*lengths)
        tokens = len(body) + len(around)
        storable = passage._replace(tags=tuple(map(make_storable, passage.tags)))
        row = (*passage_row(entry, owner, storable, length), digest)
        different = sorted({*body, *around})
        # Each word once, to be counted when the passage goes; `around` is left from older programs.
        more = (counters.passages, tokens, pack_terms(body, around), " ".join(different), "")
        self._new_passages.append(dict(zip(_PASSAGE_COLUMNS, map(make_storable, (*row, *more)), strict=True)))
        self._add_lexemes(counters.passages, body, around)
        self._add_facts(counters.passages, owner, read_passage_facts(entry.kind, passage.key, passage.text))
        self._count(owner, length, tokens, different, 1)

    def _add_facts(self, number: int, owner: int, facts: PassageFacts) -> None:
        self._new_facts += [{"fact": key, "id": number, "owner": owner} for key in facts.keys]
        if facts.stored:
            row = (number, *facts.stored)
            self._new_statements.append(dict(zip(_STATEMENT_COLUMNS, map(make_storable, row), strict=True)))

    def _add_lexemes(self, number: int, body: Iterable[str], around: Iterable[str]) -> None:
        mark = self._tables.own["mark"]
        fields = zip(LEXEME_FIELDS, (body, around), strict=True)
        lexemes = [f"'{mark}{field}{lookup_term(word)}'" for field, words in fields for word in sorted({*words})]
        for start in range(0, len(lexemes), _LEXEMES_PER_ROW):
            row_words = " ".join(lexemes[start : start + _LEXEMES_PER_ROW])
            self._new_words.append({"id": number, "part": start // _LEXEMES_PER_ROW, "words": row_words})

    def _count(self, owner: int, length: int, tokens: int, distinct_words: Sequence[str], by: int) -> None:
        """Note that an owner has one passage more (`by` 1) or less (-1) with these words."""
        for term in lookup_terms(distinct_words):
            self._frequency_changes[term, owner] += by
        totals = self._owner_changes.setdefault(owner, [0, 0, 0])
        for place, change in enumerate((by, by * length, by * tokens)):
            totals[place] += change

    def _delete(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        sql = f"""DELETE FROM commonplace.index_passages WHERE {OWN_ROWS} AND id = ANY(%(ids)s)
            RETURNING owner, length, tokens, body, id, kind, key, text"""
        rows = self._tables.execute(sql, {"ids": numbers})
        for owner, length, tokens, body, *_ in rows:
            self._count(owner, length, tokens, body.split(), -1)
        self._delete_facts([row[4:] for row in rows])
        sql = f"DELETE FROM commonplace.index_words WHERE {OWN_ROWS} AND id = ANY(%(ids)s)"
        self._tables.send(sql, {"ids": numbers})

    def _delete_facts(self, passages: Sequence[Row]) -> None:
        """Delete the facts of passages, given with number, kind, key and text. They are found by their keys."""
        sql = f"""DELETE FROM commonplace.index_statements WHERE {OWN_ROWS} AND id = ANY(%(ids)s)
            RETURNING id, numbers, parsed"""
        rows = self._tables.execute(sql, {"ids": [number for number, *_ in passages]})
        stored = dict(map(stored_statements_of, rows))
        facts = [
            (each, number)
            for number, kind, key, text in passages
            for each in stored_fact_keys(kind, key, text, stored.get(number))
        ]
        sql = f"""DELETE FROM commonplace.index_facts WHERE {OWN_ROWS} AND (fact, id) IN (
            SELECT * FROM unnest(%(keys)s::bigint[], %(ids)s::bigint[]))"""
        self._tables.send(sql, {"keys": [key for key, _ in facts], "ids": [number for _, number in facts]})

    def _write_passages(self) -> None:
        tables = self._tables
        assignments = "first = %(first)s, last = %(last)s"
        sql = f"UPDATE commonplace.index_passages SET {assignments} WHERE {OWN_ROWS} AND id = %(id)s"
        tables.send_many(sql, self._moved_passages)
        _bulk_insert(tables, "passages", _PASSAGE_COLUMNS, self._new_passages)
        _bulk_insert(tables, "words", _WORD_COLUMNS, self._new_words)
        _bulk_insert(tables, "facts", _FACT_COLUMNS, self._new_facts, "ON CONFLICT DO NOTHING")
        _bulk_insert(tables, "statements", _STATEMENT_COLUMNS, self._new_statements)

    def _write_counts(self) -> None:
        """Update document frequencies by owner: the weight of a word must not depend on pages that are hidden."""
        changed = sorted((term, owner, by) for (term, owner), by in self._frequency_changes.items() if by)
        if changed:
            terms, owners, by = (list(column) for column in zip(*changed, strict=True))
            values = {"words": terms, "owners": owners, "by": by}
            self._tables.send(_ADD_FREQUENCIES, values)
            if min(by) < 0:
                self._tables.send(_DROP_UNUSED_FREQUENCIES, values)
        names = ("passages", "length", "tokens")
        totals = [
            {"id": owner, **dict(zip(names, by, strict=True))} for owner, by in sorted(self._owner_changes.items())
        ]
        assignments = ", ".join(f"{name} = {name} + %({name})s" for name in names)
        sql = f"UPDATE commonplace.index_owners SET {assignments} WHERE {OWN_ROWS} AND id = %(id)s"
        self._tables.send_many(sql, totals)

    def _write_pages(self, paths: Sequence[str]) -> None:
        tables = self._tables
        sql = f"DELETE FROM commonplace.index_records WHERE {OWN_ROWS} AND path = ANY(%(paths)s)"
        tables.send(sql, {"paths": paths})
        sql = f"DELETE FROM commonplace.index_pages WHERE {OWN_ROWS} AND path = ANY(%(paths)s)"
        tables.send(sql, {"paths": list(self._removed)})
        records = [entry.record for entry in self._changed.values() if entry.record]
        rows_by_path = {record.path: map(make_storable, record_row(record)) for record in records}
        record_rows = [dict(zip(_RECORD_COLUMNS, row, strict=True)) for row in rows_by_path.values()]
        _bulk_insert(tables, "records", _RECORD_COLUMNS, record_rows)
        page_rows = [
            {
                "path": entry.path,
                "stamp": entry.stamp,
                "version": entry.version,
                "warning": make_storable(entry.warning),
            }
            for entry in self._changed.values()
        ]
        on_conflict = """ON CONFLICT (tenant, territory, path)
            DO UPDATE SET stamp = excluded.stamp, version = excluded.version, warning = excluded.warning"""
        _bulk_insert(tables, "pages", _PAGE_COLUMNS, page_rows, on_conflict)


def _bulk_insert(
    tables: IndexTables,
    table: str,
    columns: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    on_conflict: str = "",
) -> None:
    """Insert any number of rows in one statement. (COPY does not work with row-level security.)"""
    if not rows:
        return
    names = ", ".join(columns)
    typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    sql = f"""INSERT INTO commonplace.index_{table} (tenant, territory, {names})
        SELECT %(tenant)s, %(index_key)s, {names}
        FROM json_to_recordset(%(rows)s::json) AS new({typed}) {on_conflict}"""
    tables.send(sql, {"rows": json.dumps(rows, ensure_ascii=False, default=_encode_bytea)})


def _encode_bytea(value: bytes) -> str:
    return f"\\x{value.hex()}"
