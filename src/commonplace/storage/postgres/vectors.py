"""Meaning in the index in PostgreSQL: the spaces, and the vectors of each by owner and content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...formats.passages import meant
from ...index.base import NEIGHBOUR_LINES, Coverage, PassageEmbedding, PendingBatch, TokenVectors, find_neighbour_turns
from ...model import Filters, Viewer
from .binary import packing
from .index_tables import Tables
from .visibility import EXACT, OWN, Values, allowed_passages, found_by_meaning, seen_owners, text_of

if TYPE_CHECKING:
    from ...embedding.base import Vectors

_SAMPLE = 64
_SLACK = 1_000  # vectors that stand for nothing any more and are not worth tidying up
_MANY = 1_000  # vectors, from which on it matters what the server knows of their table
# A question is short: to compile it, or to start others for it, takes longer than it does. What it reads fits here.
QUESTION = {"jit": "off", "max_parallel_workers_per_gather": "0", "work_mem": "32MB"}
SIFTING = {"hnsw.iterative_scan": "relaxed_order", "hnsw.ef_search": "400", "hnsw.max_scan_tuples": "100000"}


class Space(NamedTuple):
    id: int
    dims: int
    vectors: int
    seen: int
    sampled: int
    mean: float | None
    deviation: float | None


NONE = Space(0, 0, 0, 0, 0, None, None)
_COLUMNS = ", ".join(Space._fields)


class Spaces:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: dict[str, Space] = {}  # as they were at the last look, for what need not be newer

    def look(self, name: str) -> Space:
        sql = f"SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN} AND name = %(name)s"
        return self._noted(name, self._tables.rows(sql, {"name": name}))

    def last_seen(self, name: str) -> Space:
        return self._known.get(name) or self.look(name)

    def forget(self, name: str) -> None:
        self._known.pop(name, None)

    def _noted(self, name: str, rows: Sequence[tuple[Any, ...]]) -> Space:
        space = Space(*rows[0]) if rows else NONE
        self._known[name] = space
        return space

    def names(self) -> list[str]:
        return [
            row[0] for row in self._tables.rows(f"SELECT name FROM commonplace.index_spaces WHERE {OWN} ORDER BY id")
        ]

    def accepts_dimensions(self, name: str, dims: int) -> bool:
        """By the last look: whoever asks has just let the space catch up."""
        space = self.last_seen(name)
        return not space.vectors or space.dims == dims

    def coverage(self, name: str) -> Coverage:
        sql = f"""
            WITH space AS (SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN} AND name = %(name)s)
            SELECT (SELECT coalesce(sum(passages), 0)::bigint FROM commonplace.index_owners WHERE {OWN}),
              (SELECT count(*) FROM commonplace.index_passages WHERE {OWN} AND id > (SELECT seen FROM space)), space.*
            FROM (SELECT 1) AS one LEFT JOIN space ON true"""
        total, behind, *row = self._tables.rows(sql, {"name": name})[0]
        space = self._noted(name, [] if row[0] is None else [tuple(row)])
        return Coverage(total - behind if space.id else 0, total, space.vectors)

    def next_pending(self, name: str, limit: int) -> PendingBatch | None:
        """The passages after those it has seen, in one statement with the space itself."""
        sql = f"""
            WITH space AS (SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN} AND name = %(name)s),
            start AS MATERIALIZED (SELECT coalesce(max(seen), 0) AS seen FROM space)
            SELECT space.*, passages.*, vectors.found IS NULL
            FROM start LEFT JOIN space ON true LEFT JOIN LATERAL (
              -- row-level security lets the server use an index for a column, not for what is computed of one
              SELECT id, owner, hash, lead, text FROM commonplace.index_passages
              WHERE {OWN} AND id > start.seen ORDER BY id LIMIT %(limit)s) AS passages ON true
            LEFT JOIN LATERAL (
              SELECT 1 AS found FROM commonplace.index_vectors AS vectors WHERE {OWN} AND vectors.space = space.id
              AND vectors.owner = passages.owner AND vectors.hash = passages.hash LIMIT 1) AS vectors ON true"""
        rows = self._tables.rows(sql, {"name": name, "limit": limit})
        width = len(Space._fields)
        space = self._noted(name, [] if rows[0][0] is None else [rows[0][:width]])
        found = [row[width:] for row in rows if row[width] is not None]
        if not found:
            return None
        texts = {(owner, hashed): meant(lead, text) for _, owner, hashed, lead, text, new in found if new}
        return PendingBatch(space.seen, found[-1][0], texts, space.id)

    def add(self, name: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]) -> None:
        """Within `writing`. Another process may have done some of it, or moved on."""
        dims = len(next(iter(embedded.values())).vector) if embedded else 0
        space = self._made(name, dims)
        if pending.space not in (0, space.id):  # what had a vector then may have none now: look again
            return
        wanted = self._wanted(space.id, list(embedded))
        new = [(key, each) for key, each in embedded.items() if key in wanted]
        if new and dims != space.dims:  # another model stands behind the name now
            self.drop(name)
            return
        packed = packing(self._tables.counters.connection)
        self._tables.send_many(
            """INSERT INTO commonplace.index_vectors
            VALUES (%(tenant)s, %(territory)s, %(space)s, %(owner)s, %(hash)s, %(vector)s::vector, %(tokens)s)""",
            [
                {"space": space.id, "owner": owner, "hash": hashed, "vector": packed(vector), "tokens": tokens or None}
                for (owner, hashed), (vector, tokens) in new
            ],
        )
        count = space.vectors + len(new)
        upto = pending.upto if space.seen >= pending.after else space.seen
        self._update(name, "vectors = %(count)s, seen = greatest(seen, %(upto)s)", {"count": count, "upto": upto})
        if count > 2 * self._passages() + _SLACK:  # most stand for texts that are gone
            count = self.compact(name, space.id)
        if count >= _SAMPLE and count >= 2 * space.sampled:
            self._sample(name, space.id, count)
            self._tables.counters.grew |= count >= _MANY

    def nearest(
        self, name: str, question: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        space = self.look(name)
        if not space.vectors or len(question) != space.dims:
            return []
        owners, values = seen_owners(viewer)
        condition, more = allowed_passages(viewer, filters)
        values |= more | {"question0": text_of(question), "space0": space.id, "limit": limit}
        sql = f"""WITH {owners}, {found_by_meaning(0, space.dims, condition, filters)}
            SELECT id, cosine, (SELECT count(*) FROM near0) FROM (SELECT 1) AS one LEFT JOIN by_meaning0 ON true"""
        near = at_first(limit)
        while True:
            rows = self._tables.rows(sql, values | {"near": near}, settings_for(space))
            found = [(number, float(cosine)) for number, cosine, _ in rows if number is not None]
            if len(found) >= limit or rows[0][2] < near:
                return sorted(found, key=lambda each: (-each[1], each[0]))
            near *= 4  # many stood for texts that are gone

    def cosines(self, name: str, question: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        space = self.look(name)
        if not space.vectors or len(question) != space.dims or not numbers:
            return {}
        sql = f"""
            SELECT passages.id, -(vector <#> %(question)s::vector) FROM commonplace.index_passages AS passages
            JOIN commonplace.index_vectors AS vectors USING (tenant, territory, owner, hash)
            WHERE {OWN} AND space = %(space)s AND passages.id = ANY(%(ids)s)"""
        values = {"question": text_of(question), "space": space.id, "ids": list(numbers)}
        return dict(self._tables.rows(sql, values))

    def token_vectors(self, name: str, numbers: Sequence[int]) -> TokenVectors:
        """In one statement: pairs of turns that stand beside each other, then the tokens of all that are named."""
        sql = f"""
            WITH pairs AS MATERIALIZED (
              SELECT passages.id, other.id AS other, other.first - passages.first AS further
              FROM commonplace.index_passages AS passages CROSS JOIN LATERAL (
                SELECT id, first FROM commonplace.index_passages AS other WHERE {OWN} AND other.path = passages.path
                AND other.first BETWEEN passages.first - {NEIGHBOUR_LINES}
                  AND passages.first + {NEIGHBOUR_LINES}) AS other
              WHERE {OWN} AND passages.id = ANY(%(ids)s) AND passages.source = 'session' AND other.id <> passages.id),
            named AS MATERIALIZED (
              SELECT id, owner, hash FROM commonplace.index_passages
              WHERE {OWN} AND id = ANY(%(ids)s::bigint[] || ARRAY(SELECT DISTINCT other FROM pairs)))
            SELECT id, other, further, NULL::bytea FROM pairs
            UNION ALL SELECT named.id, NULL, NULL, vectors.tokens
            FROM named CROSS JOIN LATERAL (
              SELECT tokens FROM commonplace.index_vectors AS vectors WHERE {OWN} AND vectors.owner = named.owner
              AND vectors.hash = named.hash AND vectors.space = (
                SELECT id FROM commonplace.index_spaces WHERE {OWN} AND name = %(name)s) LIMIT 1) AS vectors
            WHERE vectors.tokens IS NOT NULL"""
        with self._tables.apart():
            rows = self._tables.rows(sql, {"name": name, "ids": list(numbers)}, QUESTION)
        pairs = [row[:3] for row in rows if row[3] is None]
        return TokenVectors({row[0]: bytes(row[3]) for row in rows if row[3] is not None}, find_neighbour_turns(pairs))

    def similarity_stats(self, name: str) -> tuple[float, float] | None:
        return spread_of(self.look(name))

    def drop(self, name: str) -> None:
        """Within `writing`: forget a space."""
        self.forget(name)
        sql = f"DELETE FROM commonplace.index_spaces WHERE {OWN} AND name = %(name)s RETURNING id"
        gone = [row[0] for row in self._tables.write(sql, {"name": name})]
        self._tables.write(f"DELETE FROM commonplace.index_vectors WHERE {OWN} AND space = ANY(%(s)s)", {"s": gone})

    def promote_space(self, new: str, name: str) -> None:
        """Within `writing`: a space takes the name, and the place, of another."""
        sql = f"SELECT 1 FROM commonplace.index_spaces WHERE {OWN} AND name = %(name)s"
        if not self._tables.write(sql, {"name": new}):
            return
        self.drop(name)
        self.forget(new)
        self._update(new, "name = %(new)s", {"new": name})

    def compact(self, name: str, space: int) -> int:
        """Within `writing`: keep the vectors that stand for a passage; how many those are."""
        self._tables.write(
            f"""DELETE FROM commonplace.index_vectors AS vectors WHERE {OWN} AND space = %(space)s AND NOT EXISTS (
              SELECT 1 FROM commonplace.index_passages AS passages
              WHERE passages.tenant = %(tenant)s AND passages.territory = %(territory)s
              AND passages.owner = vectors.owner AND passages.hash = vectors.hash)""",
            {"space": space},
        )
        sql = f"SELECT count(*) FROM commonplace.index_vectors WHERE {OWN} AND space = %(space)s"
        count: int = self._tables.write(sql, {"space": space})[0][0]
        self._update(name, "vectors = %(count)s", {"count": count})
        return count

    def _made(self, name: str, dims: int) -> Space:
        self.forget(name)
        sql = f"SELECT {_COLUMNS} FROM commonplace.index_spaces WHERE {OWN} AND name = %(name)s"
        rows = self._tables.write(sql, {"name": name})
        if not rows:
            counters = self._tables.counters
            counters.spaces += 1
            rows = self._tables.write(
                f"""INSERT INTO commonplace.index_spaces (tenant, territory, name, {_COLUMNS})
                VALUES (%(tenant)s, %(territory)s, %(name)s, %(id)s, %(dims)s, 0, 0, 0, NULL, NULL)
                RETURNING {_COLUMNS}""",
                {"name": name, "id": counters.spaces, "dims": dims},
            )
        space = Space(*rows[0])
        if dims and not space.vectors and space.dims != dims:  # a first batch may have had nothing to embed
            self._update(name, "dims = %(dims)s", {"dims": dims})
            return space._replace(dims=dims)
        return space

    def _wanted(self, space: int, keys: Sequence[tuple[int, bytes]]) -> set[tuple[int, bytes]]:
        """Texts that have no vector yet, and stand somewhere: one may have been forgotten while it was read."""
        sql = f"""
            SELECT owner, hash FROM unnest(%(owners)s::int[], %(hashes)s::bytea[]) AS asked(owner, hash)
            CROSS JOIN LATERAL (
              SELECT 1 FROM commonplace.index_passages AS passages WHERE {OWN}
              AND passages.owner = asked.owner AND passages.hash = asked.hash LIMIT 1) AS standing
            LEFT JOIN LATERAL (
              SELECT 1 AS found FROM commonplace.index_vectors AS vectors WHERE {OWN} AND space = %(space)s
              AND vectors.owner = asked.owner AND vectors.hash = asked.hash LIMIT 1) AS vectors ON true
            WHERE vectors.found IS NULL"""
        values = {"space": space, "owners": [key[0] for key in keys], "hashes": [key[1] for key in keys]}
        return {(owner, hashed) for owner, hashed in self._tables.write(sql, values)} if keys else set()

    def _sample(self, name: str, space: int, count: int) -> None:
        """How alike vectors are that have nothing to do with each other. Hashes are as good as chance."""
        sql = f"""
            WITH sample AS MATERIALIZED (
              SELECT hash, owner, vector FROM commonplace.index_vectors WHERE {OWN} AND space = %(space)s
              ORDER BY hash, owner LIMIT {_SAMPLE}),
            alike AS (
              SELECT avg(-(one.vector <#> other.vector)) AS mean,
                stddev_pop(-(one.vector <#> other.vector)) AS deviation
              FROM sample AS one JOIN sample AS other ON (one.hash, one.owner) < (other.hash, other.owner))
            UPDATE commonplace.index_spaces SET sampled = %(count)s, mean = alike.mean, deviation = alike.deviation
            FROM alike WHERE {OWN} AND name = %(name)s"""
        self._tables.write(sql, {"space": space, "count": count, "name": name})

    def _update(self, name: str, what: str, values: Values) -> None:
        sql = f"UPDATE commonplace.index_spaces SET {what} WHERE {OWN} AND name = %(name)s"
        self._tables.write(sql, values | {"name": name})

    def _passages(self) -> int:
        sql = f"SELECT coalesce(sum(passages), 0)::bigint FROM commonplace.index_owners WHERE {OWN}"
        count: int = self._tables.write(sql)[0][0]
        return count


def at_first(limit: int) -> int:
    """Vectors to look at for so many passages: some may stand for texts that are gone."""
    return limit + limit // 2


def settings_for(*spaces: Space) -> dict[str, str]:
    return QUESTION | SIFTING if any(space.vectors > EXACT for space in spaces) else QUESTION


def spread_of(space: Space) -> tuple[float, float] | None:
    return None if space.mean is None or space.deviation is None else (space.mean, space.deviation)
