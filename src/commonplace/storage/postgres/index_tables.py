"""The tables of the index: one writer at a time by a row lock, readers on one snapshot, and who may see what.

The visibility rules are those of `index/visibility.py`, as common table expressions (CTEs) that `index`, `vectors` and
`query` put together with those that find passages by words and vectors.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import LockTimeout, StorageError
from ...index.base import BM25_B, BM25_K1, CONTEXT_WEIGHT
from ...index.visibility import Conditions
from ...model import EVERYTHING, Filters, Viewer
from ..names import translate_glob
from .connection import Database, Row
from .pipelines import open_pipeline

if TYPE_CHECKING:
    from ...embedding.base import Vectors
    from .connection import Connection

Answer = TypeVar("Answer")
LOCK_TIMEOUT = "2s"  # how long to wait for another writer; then the answer is marked stale instead
NO_WAIT = "1ms"  # for callers who need not wait: whoever holds the lock does the same work
_WRITE_TIMEOUT_MS = 300_000
_ANALYZE_PASSAGES = 1_000  # from this many passages on, the planner's statistics matter
TABLES = ("pages", "owners", "frequencies", "passages", "words", "facts", "statements", "records", "spaces", "vectors")
_COUNTERS = ("passages", "owners", "spaces", "seq")
Values = dict[str, Any]
# The column `territory` holds the key of an index: the schema version and the fingerprint of what is indexed.
OWN_ROWS = "tenant = %(tenant)s AND territory = %(index_key)s"
MAX_COPIES = 3  # passages of identical text that are worth returning
EXACT_SEARCH_LIMIT = 10_000  # vectors that a viewer may see, up to which each is compared without an HNSW index
# A viewer who sees little of a large memory is searched exactly, too: an index over all finds mostly hidden passages.
_IS_SMALL = f"(passages <= {EXACT_SEARCH_LIMIT} OR (passages <= 50000 AND passages * 10 < all_passages))"
LEXEME_FIELDS = "ba"  # a letter of each lexeme: the word is in the body of a passage, or around it
_MAX_TERM_CHARACTERS = 120  # longer words are looked up by their hash


class PostgresConditions(Conditions):
    """Conditions in PostgreSQL's SQL. Values are named by a prefix and a number."""

    def __init__(self, prefix: str) -> None:
        self.values: Values = {}
        self._prefix = prefix

    def add_value(self, value: str | int | Sequence[str]) -> str:
        name = f"{self._prefix}{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"

    def has_extra_pattern(self, pattern: str) -> str:
        lines = "chr(10) || who || chr(10)"
        return f"(scope = 'extra' AND strpos({lines}, chr(10) || {self.add_value(pattern)} || chr(10)) > 0)"

    def has_tag(self, tag: str) -> str:
        return (
            f"EXISTS (SELECT 1 FROM json_array_elements_text(passages.tags::json) WHERE value = {self.add_value(tag)})"
        )

    def matches_path(self, pattern: str) -> str:
        return f"passages.path ~ {self.add_value(f'^(?:{translate_glob(pattern)})$')}"

    def is_none_of(self, paths: Sequence[str]) -> str:
        return f"passages.path NOT IN (SELECT unnest({self.add_value(list(paths))}::text[]))"


def lexeme_prefix(tenant: str, index_key: str) -> str:
    """Return what the lexemes of one index begin with, since all indexes share one table of lexemes."""
    return hashlib.blake2b(f"{tenant}\0{index_key}".encode(errors="replace"), digest_size=5).hexdigest()


def lookup_term(word: str) -> str:
    """Return the word as it is looked up: itself, or the hash of a very long one."""
    if len(word) <= _MAX_TERM_CHARACTERS:
        return word
    return hashlib.blake2b(word.encode(errors="replace"), digest_size=16).hexdigest()


def lookup_terms(words: Sequence[str]) -> list[str]:
    return [lookup_term(word) for word in words]


def vector_literal(vector: Vectors) -> str:
    return json.dumps(vector.astype("float64").round(8).tolist())


def owners_cte(viewer: Viewer) -> tuple[str, Values]:
    """Return `owners`, with whether the viewer may see each, and `size`, the totals that BM25 needs."""
    conditions = PostgresConditions("viewer")
    is_visible = conditions.is_visible(viewer)
    sql = f"""
        owners AS MATERIALIZED (SELECT *, {is_visible} AS visible FROM commonplace.index_owners WHERE {OWN_ROWS}),
        size AS MATERIALIZED (
          SELECT coalesce(sum(passages) FILTER (WHERE visible), 0)::float8 AS passages,
            coalesce(sum(length) FILTER (WHERE visible), 0)::float8 AS length,
            coalesce(sum(passages), 0)::float8 AS all_passages,
            coalesce(bool_and(visible OR passages = 0), true) AS sees_all
          FROM owners)"""
    return sql, conditions.values


def passage_sql(viewer: Viewer, filters: Filters) -> tuple[str, Values]:
    """Return the condition on `passages` that the viewer and the filters impose, given `owners`."""
    conditions = PostgresConditions("allowed")
    return conditions.passes(viewer, filters), conditions.values


# Document frequencies of the terms, counted over what the viewer may see.
FREQUENCIES_CTE = """
    frequent AS MATERIALIZED (
      SELECT word AS term, coalesce(sum(frequencies.passages) FILTER (WHERE visible), 0)::float8 AS passages
      FROM commonplace.index_frequencies AS frequencies JOIN owners ON owners.id = frequencies.owner
      WHERE frequencies.tenant = %(tenant)s AND frequencies.territory = %(index_key)s AND word = ANY(%(terms)s)
      GROUP BY word)"""
# The words to look up with the weights that the caller gives.
GIVEN_WEIGHTS_CTE = """
    lookup AS MATERIALIZED (
      SELECT word, term, weight, place FROM unnest(%(words)s::text[], %(terms)s::text[], %(weights)s::float8[])
        WITH ORDINALITY AS given(word, term, weight, place))"""
# The words to look up, chosen and weighed on the server as `search/bm25.py` does.
CHOSEN_WEIGHTS_CTE = """
    known AS MATERIALIZED (
      SELECT word, term, place, faint, frequent.passages,
        ln(1 + (size.passages + %(background)s - frequent.passages + 0.5) / (frequent.passages + 0.5))
          * factor AS weight
      FROM unnest(%(words)s::text[], %(terms)s::text[], %(faint)s::bool[], %(factors)s::float8[])
        WITH ORDINALITY AS given(word, term, faint, factor, place) JOIN frequent USING (term) CROSS JOIN size
      WHERE frequent.passages > 0),
    rarest AS (
      SELECT *, row_number() OVER by_number AS turn, sum(passages) OVER by_number AS total FROM known
      WHERE NOT faint OR NOT EXISTS (SELECT 1 FROM known WHERE NOT faint)
      WINDOW by_number AS (ORDER BY passages, place ROWS UNBOUNDED PRECEDING)),
    lookup AS MATERIALIZED (
      SELECT word, term, weight, turn AS place FROM rarest WHERE turn = 1 OR total <= %(most)s)"""


def lexical_cte(condition: str, filters: Filters) -> str:
    """Return `lexical`: the passages that score best by BM25, in the same order as SQLite's index finds them.

    Passages are read by all their numbers at once: one by one, a server with a poor estimate of the tables would scan
    all of them for each.
    """
    sees_all = "(SELECT sees_all FROM size)" if filters == EVERYTHING else "false"
    lexemes = " || ".join(
        f"array_agg(quote_literal(%(mark)s || '{field}' || term) ORDER BY place)" for field in LEXEME_FIELDS
    )
    return f"""
    looked_up AS MATERIALIZED (
      SELECT array_agg(weight ORDER BY place) AS weights, count(*) AS words, {lexemes} AS lexemes FROM lookup),
    matches AS MATERIALIZED (
      SELECT place, id FROM commonplace.index_lookup(%(index_key)s, (SELECT lexemes FROM looked_up))),
    allowed AS MATERIALIZED (
      SELECT id, {BM25_K1}::float8 * (1 - {BM25_B}::float8)
          + {BM25_K1}::float8 * {BM25_B}::float8 / (greatest(size.length, 1) / greatest(size.passages, 1))
          * passages.length AS norm
      FROM commonplace.index_passages AS passages CROSS JOIN size
      WHERE {OWN_ROWS} AND passages.id = ANY(ARRAY(SELECT DISTINCT id FROM matches)) AND ({sees_all} OR {condition})),
    counted AS (
      SELECT id, 1 + mod(place - 1, words) AS word,
        sum(CASE WHEN place <= words THEN 1 ELSE {CONTEXT_WEIGHT} END)::float8 AS times
      FROM matches CROSS JOIN looked_up GROUP BY 1, 2),
    lexical AS MATERIALIZED (
      SELECT id, score FROM (
        SELECT id, sum(weights[word] * times / (times + norm) ORDER BY word) AS score
        FROM counted JOIN allowed USING (id) CROSS JOIN looked_up GROUP BY id) AS scored
      ORDER BY score DESC, id LIMIT %(limit)s)"""


def dense_cte(place: int, dims: int, condition: str, filters: Filters) -> str:
    """Return `near…`, the vectors nearest to the query vector at a place, and `dense…`, their passages."""
    return f"""
    near{place} AS MATERIALIZED ({_nearest_vectors(place, dims, condition, filters)}),
    copies{place} AS MATERIALIZED (
      SELECT id, owner, hash, row_number() OVER (PARTITION BY owner, hash ORDER BY id) AS copy
      FROM commonplace.index_passages AS passages WHERE {OWN_ROWS}
      AND owner = ANY(ARRAY(SELECT DISTINCT owner FROM near{place}))
      AND hash = ANY(ARRAY(SELECT hash FROM near{place})) AND {condition}),
    dense{place} AS MATERIALIZED (
      SELECT id, cosine FROM near{place} JOIN copies{place} USING (owner, hash) WHERE copy <= {MAX_COPIES}
      ORDER BY cosine DESC, id LIMIT %(limit)s)"""


def _nearest_vectors(place: int, dims: int, condition: str, filters: Filters) -> str:
    """Compare each vector where a viewer sees few or filters, else let the server use the HNSW index of the space."""
    query = f"%(query{place})s"
    exact_distance = f"vectors.vector <#> {query}::vector"
    vectors = "commonplace.index_vectors AS vectors"
    space = f"vectors.tenant = %(tenant)s AND vectors.territory = %(index_key)s AND space = %(space{place})s"
    if filters != EVERYTHING:
        return f"""
          SELECT owner, hash, -({exact_distance}) AS cosine FROM {vectors} JOIN (
            SELECT DISTINCT owner, hash FROM commonplace.index_passages AS passages WHERE {OWN_ROWS} AND {condition}
          ) AS asked USING (owner, hash) WHERE {space} ORDER BY {exact_distance} LIMIT %(near)s"""
    indexed_distance = f"vectors.vector::vector({dims}) <#> {query}::vector({dims})"
    visible = "owner = ANY(ARRAY(SELECT id FROM owners WHERE visible))"
    return f"""
          (SELECT owner, hash, -({exact_distance}) AS cosine FROM {vectors}
            WHERE {space} AND {visible} AND (SELECT {_IS_SMALL} FROM size)
            ORDER BY {exact_distance} LIMIT %(near)s)
          UNION ALL (SELECT owner, hash, -({indexed_distance}) FROM {vectors}
            WHERE {space} AND {visible} AND (SELECT NOT {_IS_SMALL} FROM size)
            ORDER BY {indexed_distance} LIMIT %(near)s)"""


class Counters:
    """The last ids given out, and `seq`, the page sequence number that the index is up to. Only a writer has them."""

    def __init__(self, connection: Connection, *numbers: int) -> None:
        self.connection = connection
        self.passages, self.owners, self.spaces, self.seq, self.analyzed_passages = numbers
        self.needs_analyze = False
        self._before = self.as_dict()

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in _COUNTERS}

    @property
    def has_changed(self) -> bool:
        return self.as_dict() != self._before


class IndexTables:
    """The rows of one index of a tenant. Safe to share between threads."""

    def __init__(self, database: Database, index_key: str) -> None:
        self.database = database
        self.own = {
            "tenant": database.tenant,
            "index_key": index_key,
            "mark": lexeme_prefix(database.tenant, index_key),
        }
        self._thread_state = threading.local()

    def query(
        self, sql: str, values: Mapping[str, Any] | None = None, settings: Mapping[str, str] | None = None
    ) -> list[Row]:
        """Return the rows of a statement: in one round trip, or within what this thread has begun."""
        snapshot: ExitStack | None = getattr(self._thread_state, "pending_snapshot", None)
        if snapshot is not None:
            snapshot.enter_context(self.database.transaction(snapshot=True))
            self._thread_state.pending_snapshot = None
        return self.database.query(sql, {**self.own, **(values or {})}, settings)

    def execute(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        """Run a statement and return its rows, within `write_transaction`."""
        cursor = self.counters.connection.execute(sql, {**self.own, **(values or {})})
        return cursor.fetchall() if cursor.description else []

    def send(self, sql: str, values: Mapping[str, Any] | None = None) -> None:
        """Run a statement without waiting for its result, within `write_transaction`."""
        self.counters.connection.execute(sql, {**self.own, **(values or {})})

    def send_many(self, sql: str, values: list[dict[str, Any]]) -> None:
        if values:
            self.counters.connection.cursor().executemany(sql, [{**self.own, **row} for row in values])

    def pipeline(self) -> AbstractContextManager[Any]:
        """Send the statements of this block together, within `write_transaction`."""
        return open_pipeline(self.counters.connection)

    @property
    def is_writing(self) -> bool:
        return getattr(self._thread_state, "counters", None) is not None

    @property
    def counters(self) -> Counters:
        counters: Counters | None = getattr(self._thread_state, "counters", None)
        if counters is None:
            raise RuntimeError("an index is written within `write_transaction`")
        return counters

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Show one snapshot to all statements of a block; it begins with the first, since many blocks send none."""
        if getattr(self._thread_state, "is_reading", False) or self.is_writing:
            yield
            return
        with ExitStack() as stack:
            self._thread_state.is_reading = True
            self._thread_state.pending_snapshot = stack
            try:
                yield
            finally:
                self._thread_state.is_reading = False
                self._thread_state.pending_snapshot = None

    @contextmanager
    def without_snapshot(self) -> Iterator[None]:
        """Run a statement that need not begin the snapshot of `read_transaction`, since it is consistent in itself."""
        snapshot = getattr(self._thread_state, "pending_snapshot", None)
        self._thread_state.pending_snapshot = None
        try:
            yield
        finally:
            self._thread_state.pending_snapshot = snapshot

    @contextmanager
    def write_transaction(self) -> Iterator[None]:
        """Apply all of a block or nothing; a nested block of the same thread belongs to the outer one."""
        if self.is_writing:
            yield
            return
        with (
            self.database.transaction(timeout_ms=_WRITE_TIMEOUT_MS) as connection,
            self._hold_index(connection, LOCK_TIMEOUT) as counters,
        ):
            yield
        self._analyze_if_due(counters)

    def write(self, work: Callable[[], Answer], lock_timeout: str = LOCK_TIMEOUT) -> Answer:
        """Run `work` as the only writer and return its answer, retrying from the start on conflicts.

        With NO_WAIT it is not retried.
        """
        if self.is_writing:
            return work()
        attempts: list[Counters] = []

        def attempt(connection: Connection) -> Answer:
            with self._hold_index(connection, lock_timeout) as counters:
                attempts.append(counters)
                return work()

        if lock_timeout == NO_WAIT:
            with self.database.transaction(timeout_ms=_WRITE_TIMEOUT_MS) as connection:
                answer = attempt(connection)
        else:
            answer = self.database.run(attempt, timeout_ms=_WRITE_TIMEOUT_MS)
        self._analyze_if_due(attempts[-1])
        return answer

    @contextmanager
    def _hold_index(self, connection: Connection, lock_timeout: str) -> Iterator[Counters]:
        counters = self._lock_index(connection, lock_timeout)
        self._thread_state.counters = counters
        try:
            yield counters
            if counters.has_changed:
                assignments = ", ".join(f"{name} = %({name})s" for name in _COUNTERS)
                self.send(f"UPDATE commonplace.indexes SET {assignments} WHERE {OWN_ROWS}", counters.as_dict())
        finally:
            self._thread_state.counters = None

    def _lock_index(self, connection: Connection, lock_timeout: str) -> Counters:
        """Lock the row of this index, created if needed, until the transaction ends."""
        from psycopg.errors import LockNotAvailable

        sql = f"SELECT {', '.join(_COUNTERS)}, settled FROM commonplace.indexes WHERE {OWN_ROWS} FOR UPDATE"
        try:
            with open_pipeline(connection):
                connection.execute("SELECT set_config('lock_timeout', %s, true)", (lock_timeout,))
                cursor = connection.execute(sql, self.own)
            row = cursor.fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO commonplace.indexes VALUES (%(tenant)s, %(index_key)s, 0, 0, 0)"
                    " ON CONFLICT DO NOTHING",
                    self.own,
                )
                connection.execute(f"DELETE FROM commonplace.index_facts WHERE {OWN_ROWS}", self.own)
                connection.execute(f"DELETE FROM commonplace.index_statements WHERE {OWN_ROWS}", self.own)
                row = connection.execute(sql, self.own).fetchone()
        except LockNotAvailable as error:
            raise LockTimeout("another process writes to the index: it follows with the next search") from error
        connection.execute("SELECT set_config('lock_timeout', '0', true)")
        assert row is not None
        return Counters(connection, *row)

    def _analyze_if_due(self, counters: Counters) -> None:
        if counters.needs_analyze or counters.passages >= 2 * counters.analyzed_passages + _ANALYZE_PASSAGES:
            self.analyze(counters.passages)

    def analyze(self, passages: int) -> None:
        """Update the planner's statistics of tables that grew; with old ones a search may take seconds.

        Autovacuum would do it later. A failure loses nothing.
        """

        def work(connection: Connection) -> None:
            connection.execute("SELECT commonplace.index_settle()")
            sql = f"UPDATE commonplace.indexes SET settled = %(passages)s WHERE {OWN_ROWS}"
            connection.execute(sql, {**self.own, "passages": passages})

        with suppress(StorageError):
            self.database.run(work, timeout_ms=_WRITE_TIMEOUT_MS)
