"""Vectors in the PostgreSQL index: one space per embedding model, vectors by owner and content, HNSW indexes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...formats.passages import embedding_text
from ...index.base import NEIGHBOUR_LINES, Coverage, PassageEmbedding, PendingBatch, TokenVectors, find_neighbour_turns
from ...model import Filters, Viewer
from .connection import Database, Row
from .index_tables import (
    EXACT_SEARCH_LIMIT,
    OWN_ROWS,
    IndexTables,
    Values,
    dense_cte,
    lexeme_prefix,
    owners_cte,
    passage_sql,
    vector_literal,
)

if TYPE_CHECKING:
    from ...embedding.base import Vectors
    from .connection import Connection

_SAMPLE_VECTORS = 64  # vectors that the similarity statistics are taken from
_MAX_ORPHANED_VECTORS = 1_000  # that are not worth removing
_ANALYZE_VECTORS = 1_000  # from this many vectors on, the planner's statistics matter
# A search is short: JIT compilation or parallel workers would take longer than it does, and its data fits in memory.
SEARCH_SETTINGS = {"jit": "off", "max_parallel_workers_per_gather": "0", "work_mem": "32MB"}
# A plan made for any limit would not use the index.
_HNSW_SETTINGS = {
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "400",
    "hnsw.max_scan_tuples": "100000",
    "plan_cache_mode": "force_custom_plan",
}
_HNSW_MAX_DIMS = 2_000
_HNSW_MIN_MEMORY_KB = 64_000  # to build an index in; with too little memory a build takes many times as long
_HNSW_MAX_MEMORY_KB = 4_000_000


class Space(NamedTuple):
    id: int
    dims: int
    vectors: int
    seen: int
    sampled: int
    mean: float | None
    deviation: float | None


_HAS_VECTOR = """EXISTS (SELECT 1 FROM commonplace.index_vectors AS vectors
  WHERE vectors.tenant = %(tenant)s AND vectors.territory = %(territory)s AND vectors.space = %(space)s
  AND vectors.owner = passages.owner AND vectors.hash = passages.hash)"""
_NO_SPACE = Space(0, 0, 0, 0, 0, None, None)
_COLUMNS = ", ".join(Space._fields)


class VectorSpaces:
    def __init__(self, tables: IndexTables) -> None:
        self._tables = tables
        self._cache: dict[str, Space] = {}
        self._similarity: dict[str, tuple[tuple[int, int, int, Viewer], tuple[float, float] | None]] = {}

    def read_space(self, name: str) -> Space:
        sql = f"SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN_ROWS} AND name = %(name)s"
        return self._remember(name, self._tables.query(sql, {"name": name}))

    def read_cached_space(self, name: str) -> Space:
        return self._cache.get(name) or self.read_space(name)

    def forget_space(self, name: str) -> None:
        self._cache.pop(name, None)

    def _remember(self, name: str, rows: Sequence[Row]) -> Space:
        space = Space(*rows[0]) if rows else _NO_SPACE
        self._cache[name] = space
        return space

    def spaces(self) -> list[str]:
        sql = f"SELECT name FROM commonplace.index_spaces WHERE {OWN_ROWS} ORDER BY id"
        return [row[0] for row in self._tables.query(sql)]

    def accepts_dimensions(self, space: str, dims: int) -> bool:
        """Return whether such vectors fit the cached space, which is current: the caller has just caught up."""
        stored = self.read_cached_space(space)
        return not stored.vectors or stored.dims == dims

    def coverage(self, space: str, viewer: Viewer | None = None) -> Coverage:
        if viewer is not None:
            return self._coverage_for(space, viewer)
        sql = f"""
            WITH space AS (SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN_ROWS} AND name = %(name)s)
            SELECT (SELECT coalesce(sum(passages), 0)::bigint FROM commonplace.index_owners WHERE {OWN_ROWS}),
              (SELECT count(*) FROM commonplace.index_passages WHERE {OWN_ROWS} AND id > (SELECT seen FROM space)),
              space.*
            FROM (SELECT 1) AS one LEFT JOIN space ON true"""
        total, behind, *row = self._tables.query(sql, {"name": space})[0]
        stored = self._remember(space, [] if row[0] is None else [tuple(row)])
        return Coverage(total - behind if stored.id else 0, total, stored.vectors)

    def _coverage_for(self, name: str, viewer: Viewer) -> Coverage:
        """Return what the space has passed for a viewer, and what was embedded ahead for somebody who waited."""
        owners, values = owners_cte(viewer)
        space = self.read_space(name)
        sql = f"""WITH {owners} SELECT size.passages::bigint, (
            SELECT count(*) FROM commonplace.index_passages AS passages WHERE {OWN_ROWS} AND id > %(seen)s
            AND owner = ANY(ARRAY(SELECT id FROM owners WHERE visible)) AND NOT {_HAS_VECTOR}) FROM size"""
        total, behind = self._tables.query(sql, values | {"seen": space.seen, "space": space.id})[0]
        return Coverage(total - behind, total, total - behind)

    def _pending_for(self, name: str, limit: int, viewer: Viewer) -> PendingBatch | None:
        owners, values = owners_cte(viewer)
        space = self.read_space(name)
        sql = f"""WITH {owners} SELECT owner, hash, lead, text FROM commonplace.index_passages AS passages
            WHERE {OWN_ROWS} AND id > %(seen)s AND owner = ANY(ARRAY(SELECT id FROM owners WHERE visible))
            AND NOT {_HAS_VECTOR} ORDER BY id LIMIT %(limit)s"""
        rows = self._tables.query(sql, values | {"seen": space.seen, "space": space.id, "limit": limit})
        texts = {(owner, digest): embedding_text(lead, text) for owner, digest, lead, text in rows}
        return PendingBatch(space.seen, space.seen, texts, space.id) if rows else None

    def next_pending(self, space: str, limit: int, viewer: Viewer | None = None) -> PendingBatch | None:
        """Return the passages after those the space has seen, in one statement with the space itself."""
        if viewer is not None:
            return self._pending_for(space, limit, viewer)
        sql = f"""
            WITH space AS (SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN_ROWS} AND name = %(name)s),
            start AS MATERIALIZED (SELECT coalesce(max(seen), 0) AS seen FROM space)
            SELECT space.*, passages.*, vectors.found IS NULL
            FROM start LEFT JOIN space ON true LEFT JOIN LATERAL (
              -- row-level security lets the server use an index for a column, not for what is computed of one
              SELECT id, owner, hash, lead, text FROM commonplace.index_passages
              WHERE {OWN_ROWS} AND id > start.seen ORDER BY id LIMIT %(limit)s) AS passages ON true
            LEFT JOIN LATERAL (
              SELECT 1 AS found FROM commonplace.index_vectors AS vectors WHERE {OWN_ROWS} AND vectors.space = space.id
              AND vectors.owner = passages.owner AND vectors.hash = passages.hash LIMIT 1) AS vectors ON true"""
        rows = self._tables.query(sql, {"name": space, "limit": limit})
        width = len(Space._fields)
        stored = self._remember(space, [] if rows[0][0] is None else [rows[0][:width]])
        passages = [row[width:] for row in rows if row[width] is not None]
        if not passages:
            return None
        texts = {
            (owner, digest): embedding_text(lead, text) for _, owner, digest, lead, text, is_new in passages if is_new
        }
        return PendingBatch(stored.seen, passages[-1][0], texts, stored.id)

    def _add(self, name: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]) -> None:
        """Store vectors, within `write_transaction`. Another process may have stored some of them, or be further on."""
        dims = len(next(iter(embedded.values())).vector) if embedded else 0
        space = self._ensure_space(name, dims)
        if pending.space not in (0, space.id):  # what had a vector then may have none in the present space
            return
        missing = self._missing_keys(space.id, list(embedded))
        new = [(key, embedding) for key, embedding in embedded.items() if key in missing]
        if new and dims != space.dims:  # another model is behind the name now
            self._drop(name)
            return
        pack = _vector_packer(self._tables.counters.connection)
        self._tables.send_many(
            """INSERT INTO commonplace.index_vectors
            VALUES (%(tenant)s, %(index_key)s, %(space)s, %(owner)s, %(hash)s, %(vector)s::vector, %(tokens)s)""",
            [
                {"space": space.id, "owner": owner, "hash": digest, "vector": pack(vector), "tokens": tokens or None}
                for (owner, digest), (vector, tokens) in new
            ],
        )
        upto = pending.upto if space.seen >= pending.after else space.seen
        self._after_insert(name, space, space.vectors + len(new), upto)

    def _after_insert(self, name: str, space: Space, count: int, upto: int) -> None:
        self._update(name, "vectors = %(count)s, seen = greatest(seen, %(upto)s)", {"count": count, "upto": upto})
        if count > 2 * self._count_passages() + _MAX_ORPHANED_VECTORS:  # most belong to texts that are gone
            count = self._compact(name, space.id)
        if count >= _ANALYZE_VECTORS and count >= 2 * space.sampled:
            self._update(name, "sampled = %(count)s", {"count": count})
            self._tables.counters.needs_analyze = True

    def nearest(
        self, space: str, query: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        stored = self.read_space(space)
        if not stored.vectors or len(query) != stored.dims:
            return []
        owners, values = owners_cte(viewer)
        condition, more = passage_sql(viewer, filters)
        values |= more | {"query0": vector_literal(query), "space0": stored.id, "limit": limit}
        sql = f"""WITH {owners}, {dense_cte(0, stored.dims, condition, filters)}
            SELECT id, cosine, (SELECT count(*) FROM near0) FROM (SELECT 1) AS one LEFT JOIN dense0 ON true"""
        near = first_vector_limit(limit)
        while True:
            rows = self._tables.query(sql, values | {"near": near}, search_settings(stored))
            passages = [(number, float(cosine)) for number, cosine, _ in rows if number is not None]
            if len(passages) >= limit or rows[0][2] < near:
                return sorted(passages, key=by_cosine)
            near *= 4  # many belonged to texts that are gone

    def cosines(self, space: str, query: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        stored = self.read_space(space)
        if not stored.vectors or len(query) != stored.dims or not numbers:
            return {}
        sql = f"""
            SELECT passages.id, -(vector <#> %(query)s::vector) FROM commonplace.index_passages AS passages
            JOIN commonplace.index_vectors AS vectors USING (tenant, territory, owner, hash)
            WHERE {OWN_ROWS} AND space = %(space)s AND passages.id = ANY(%(ids)s)"""
        values = {"query": vector_literal(query), "space": stored.id, "ids": list(numbers)}
        return dict(self._tables.query(sql, values))

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        """Fetch the pairs of neighbouring turns, and the tokens of all passages in them, in one statement."""
        sql = f"""
            WITH pairs AS MATERIALIZED (
              SELECT passages.id, other.id AS other, other.first - passages.first AS further
              FROM commonplace.index_passages AS passages CROSS JOIN LATERAL (
                SELECT id, first FROM commonplace.index_passages AS other
                WHERE {OWN_ROWS} AND other.path = passages.path
                AND other.first BETWEEN passages.first - {NEIGHBOUR_LINES}
                  AND passages.first + {NEIGHBOUR_LINES}) AS other
              WHERE {OWN_ROWS} AND passages.id = ANY(%(ids)s) AND passages.source = 'session'
              AND other.id <> passages.id),
            named AS MATERIALIZED (
              SELECT id, owner, hash FROM commonplace.index_passages
              WHERE {OWN_ROWS} AND id = ANY(%(ids)s::bigint[] || ARRAY(SELECT DISTINCT other FROM pairs)))
            SELECT id, other, further, NULL::bytea FROM pairs
            UNION ALL SELECT named.id, NULL, NULL, vectors.tokens
            FROM named CROSS JOIN LATERAL (
              SELECT tokens FROM commonplace.index_vectors AS vectors WHERE {OWN_ROWS} AND vectors.owner = named.owner
              AND vectors.hash = named.hash AND vectors.space = (
                SELECT id FROM commonplace.index_spaces WHERE {OWN_ROWS} AND name = %(name)s) LIMIT 1) AS vectors
            WHERE vectors.tokens IS NOT NULL"""
        with self._tables.without_snapshot():
            rows = self._tables.query(sql, {"name": space, "ids": list(numbers)}, SEARCH_SETTINGS)
        pairs = [row[:3] for row in rows if row[3] is None]
        return TokenVectors({row[0]: bytes(row[3]) for row in rows if row[3] is not None}, find_neighbour_turns(pairs))

    def similarity_stats(self, space: str, viewer: Viewer) -> tuple[float, float] | None:
        """Return how similar unrelated vectors are, among those the viewer may see. The lowest hashes are as good as
        a random sample."""
        stored = self.read_cached_space(space)
        if stored.vectors < _SAMPLE_VECTORS:
            return None
        key = (stored.id, stored.vectors, stored.seen, viewer)
        if self._similarity.get(space, (None,))[0] != key:
            self._similarity[space] = (key, self._measure_similarity(stored, viewer))
        return self._similarity[space][1]

    def _measure_similarity(self, space: Space, viewer: Viewer) -> tuple[float, float] | None:
        owners, values = owners_cte(viewer)
        sql = f"""
            WITH {owners}, sample AS MATERIALIZED (
              SELECT lowest.* FROM owners CROSS JOIN LATERAL (
                SELECT hash, owner, vector FROM commonplace.index_vectors AS vectors
                WHERE {OWN_ROWS} AND space = %(space)s AND vectors.owner = owners.id AND EXISTS (
                  SELECT 1 FROM commonplace.index_passages AS passages
                  WHERE {OWN_ROWS} AND passages.owner = vectors.owner AND passages.hash = vectors.hash)
                ORDER BY hash LIMIT {_SAMPLE_VECTORS}) AS lowest
              WHERE owners.visible ORDER BY hash, owner LIMIT {_SAMPLE_VECTORS})
            SELECT (SELECT count(*) FROM sample), avg(-(one.vector <#> other.vector)),
              stddev_pop(-(one.vector <#> other.vector))
            FROM sample AS one JOIN sample AS other ON (one.hash, one.owner) < (other.hash, other.owner)"""
        count, mean, deviation = self._tables.query(sql, values | {"space": space.id})[0]
        return (mean, deviation) if count == _SAMPLE_VECTORS else None

    def _drop(self, name: str) -> None:
        """Remove a space and its vectors, within `write_transaction`."""
        self.forget_space(name)
        sql = f"DELETE FROM commonplace.index_spaces WHERE {OWN_ROWS} AND name = %(name)s RETURNING id"
        ids = [row[0] for row in self._tables.execute(sql, {"name": name})]
        sql = f"DELETE FROM commonplace.index_vectors WHERE {OWN_ROWS} AND space = ANY(%(ids)s)"
        self._tables.execute(sql, {"ids": ids})

    def _promote(self, new: str, name: str) -> None:
        """Replace a space by a new one, which takes its name, within `write_transaction`."""
        sql = f"SELECT 1 FROM commonplace.index_spaces WHERE {OWN_ROWS} AND name = %(name)s"
        if not self._tables.execute(sql, {"name": new}):
            return
        self._drop(name)
        self.forget_space(new)
        self._update(new, "name = %(new)s", {"new": name})

    def _compact(self, name: str, space: int) -> int:
        """Remove vectors of texts that are gone, within `write_transaction`; return how many are left."""
        self._tables.execute(
            f"""DELETE FROM commonplace.index_vectors AS vectors WHERE {OWN_ROWS} AND space = %(space)s AND NOT EXISTS (
              SELECT 1 FROM commonplace.index_passages AS passages
              WHERE passages.tenant = %(tenant)s AND passages.territory = %(index_key)s
              AND passages.owner = vectors.owner AND passages.hash = vectors.hash)""",
            {"space": space},
        )
        sql = f"SELECT count(*) FROM commonplace.index_vectors WHERE {OWN_ROWS} AND space = %(space)s"
        count: int = self._tables.execute(sql, {"space": space})[0][0]
        self._update(name, "vectors = %(count)s", {"count": count})
        return count

    def _ensure_space(self, name: str, dims: int) -> Space:
        self.forget_space(name)
        sql = f"SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN_ROWS} AND name = %(name)s"
        rows = self._tables.execute(sql, {"name": name})
        if not rows:
            counters = self._tables.counters
            counters.spaces += 1
            rows = self._tables.execute(
                f"""INSERT INTO commonplace.index_spaces (tenant, territory, name, {_COLUMNS})
                VALUES (%(tenant)s, %(index_key)s, %(name)s, %(id)s, %(dims)s, 0, 0, 0, NULL, NULL)
                RETURNING {_COLUMNS}""",
                {"name": name, "id": counters.spaces, "dims": dims},
            )
        space = Space(*rows[0])
        if dims and not space.vectors and space.dims != dims:  # a first batch may have had nothing to embed
            self._update(name, "dims = %(dims)s", {"dims": dims})
            return space._replace(dims=dims)
        return space

    def _missing_keys(self, space: int, keys: Sequence[tuple[int, bytes]]) -> set[tuple[int, bytes]]:
        """Return the texts without a vector that are still in the index: some may be gone since they were read."""
        if not keys:
            return set()
        sql = f"""
            SELECT owner, hash FROM unnest(%(owners)s::int[], %(hashes)s::bytea[]) AS asked(owner, hash)
            CROSS JOIN LATERAL (
              SELECT 1 FROM commonplace.index_passages AS passages WHERE {OWN_ROWS}
              AND passages.owner = asked.owner AND passages.hash = asked.hash LIMIT 1) AS present
            LEFT JOIN LATERAL (
              SELECT 1 AS found FROM commonplace.index_vectors AS vectors WHERE {OWN_ROWS} AND space = %(space)s
              AND vectors.owner = asked.owner AND vectors.hash = asked.hash LIMIT 1) AS vectors ON true
            WHERE vectors.found IS NULL"""
        values = {"space": space, "owners": [key[0] for key in keys], "hashes": [key[1] for key in keys]}
        return {(owner, digest) for owner, digest in self._tables.execute(sql, values)}

    def _update(self, name: str, assignments: str, values: Values) -> None:
        sql = f"UPDATE commonplace.index_spaces SET {assignments} WHERE {OWN_ROWS} AND name = %(name)s"
        self._tables.execute(sql, values | {"name": name})

    def _count_passages(self) -> int:
        sql = f"SELECT coalesce(sum(passages), 0)::bigint FROM commonplace.index_owners WHERE {OWN_ROWS}"
        count: int = self._tables.execute(sql)[0][0]
        return count


def by_cosine(passage: tuple[int, float]) -> tuple[float, int]:
    """Return the sort key of a passage and its cosine: best first, then by number."""
    number, cosine = passage
    return -cosine, number


def first_vector_limit(limit: int) -> int:
    """Return how many vectors to fetch for a number of passages: some may belong to texts that are gone."""
    return limit + limit // 2


def search_settings(*spaces: Space) -> dict[str, str]:
    if any(space.vectors > EXACT_SEARCH_LIMIT for space in spaces):
        return SEARCH_SETTINGS | _HNSW_SETTINGS
    return SEARCH_SETTINGS


class _PackedVector(bytes):
    """A vector in pgvector's binary format: number of dimensions, a zero, then big-endian floats."""


def _vector_packer(connection: Connection) -> Callable[[Vectors], _PackedVector]:
    """Return a function that packs vectors for this connection, which is faster than text."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    class PackedVectorDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: _PackedVector) -> bytes:
            return bytes(obj)

    connection.adapters.register_dumper(_PackedVector, PackedVectorDumper)
    return _pack_vector


def _pack_vector(vector: Vectors) -> _PackedVector:
    return _PackedVector(struct.pack(">HH", len(vector), 0) + vector.astype(">f4").tobytes())


class LargeSpace(NamedTuple):
    """A space with so many vectors that an HNSW index helps."""

    index_key: str
    name: str
    id: int
    dims: int
    vectors: int
    has_hnsw: bool


_HNSW_INDEXES = """
    SELECT relname, indisvalid, EXISTS (SELECT 1 FROM pg_stat_progress_create_index AS made
      WHERE made.index_relid = indexes.indexrelid)
    FROM pg_index AS indexes JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = 'commonplace.index_vectors'::regclass AND starts_with(relname, %s)"""


def large_spaces(database: Database) -> list[LargeSpace]:
    """Return the large spaces of one tenant, in all its indexes."""
    rows = database.query(
        "SELECT territory, name, id, dims, vectors FROM commonplace.index_spaces"
        " WHERE tenant = %(tenant)s AND vectors > %(exact)s AND dims <= %(dims)s ORDER BY territory, id",
        {"tenant": database.tenant, "exact": EXACT_SEARCH_LIMIT, "dims": _HNSW_MAX_DIMS},
    )
    if not rows:
        return []
    with database.admin_connection() as connection:
        valid = {name: is_valid for name, is_valid, _ in connection.execute(_HNSW_INDEXES, ("index_vectors_",))}
    return [
        LargeSpace(*row, has_hnsw=valid.get(_hnsw_name(database.tenant, row[0], row[2]), False))  # type: ignore[misc]
        for row in rows
    ]


def build_hnsw_index(database: Database, space: LargeSpace) -> bool:
    """Build the HNSW index of a space; False for a user who does not own the tables.

    It takes minutes and blocks nobody. Each space has an index of its own, so that no tenant's vectors are in another's
    way. An unfinished index of an earlier attempt is built again, and indexes of removed spaces are dropped.
    """
    from psycopg import sql

    used = {large.id for large in large_spaces(database) if large.index_key == space.index_key}
    name = _hnsw_name(database.tenant, space.index_key, space.id)
    create = sql.SQL(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON commonplace.index_vectors"
        " USING hnsw ((vector::vector({})) vector_ip_ops) WITH (m = 16, ef_construction = 64)"
        " WHERE tenant = {} AND territory = {} AND space = {}"
    ).format(
        sql.Identifier(name),
        sql.Literal(space.dims),
        sql.Literal(database.tenant),
        sql.Literal(space.index_key),
        sql.Literal(space.id),
    )
    needed_kb = space.vectors * (4 * space.dims + 600) // 900
    memory_kb = min(max(_HNSW_MIN_MEMORY_KB, needed_kb), _HNSW_MAX_MEMORY_KB)
    with database.admin_connection() as connection:
        if not _owns_tables(connection):
            return False
        current_names = {_hnsw_name(database.tenant, space.index_key, number) for number in used}
        for obsolete in _obsolete_hnsw_indexes(connection, name.rpartition("_")[0] + "_", current_names):
            drop = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS commonplace.{}")
            connection.execute(drop.format(sql.Identifier(obsolete)))
        connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (str(memory_kb),))
        connection.execute(create)
    return True


def _hnsw_name(tenant: str, index_key: str, space: int) -> str:
    return f"index_vectors_{lexeme_prefix(tenant, index_key)}_{space}"


def _obsolete_hnsw_indexes(connection: Connection, prefix: str, current_names: set[str]) -> list[str]:
    rows = connection.execute(_HNSW_INDEXES, (prefix,)).fetchall()
    return [name for name, valid, is_building in rows if not is_building and (not valid or name not in current_names)]


def _owns_tables(connection: Connection) -> bool:
    row = connection.execute(
        "SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class"
        " WHERE oid = 'commonplace.index_vectors'::regclass"
    ).fetchone()
    return row == (True,)
