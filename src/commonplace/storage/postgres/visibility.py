"""The visibility rules of `index/visibility.py` in PostgreSQL, and the SQL that finds passages by words and vectors.

The functions return common table expressions (CTEs) that `index`, `vectors` and `query` put together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...index.base import BM25_B, BM25_K1, CONTEXT_WEIGHT
from ...index.visibility import owner_condition, passage_condition, render
from ...model import EVERYTHING, Filters, Viewer
from ..names import compile_glob

if TYPE_CHECKING:
    from ...embedding.base import Vectors

Values = dict[str, Any]
# The column `territory` holds the key of an index: the schema version and the fingerprint of what is indexed.
OWN_ROWS = "tenant = %(tenant)s AND territory = %(index_key)s"
MAX_COPIES = 3  # passages of identical text that are worth returning
EXACT_SEARCH_LIMIT = 10_000  # vectors that a viewer may see, up to which each is compared without an HNSW index
# A viewer who sees little of a large memory is searched exactly, too: an index over all finds mostly hidden passages.
_IS_SMALL = f"(passages <= {EXACT_SEARCH_LIMIT} OR (passages <= 50000 AND passages * 10 < all_passages))"
LEXEME_FIELDS = "ba"  # a letter of each lexeme: the word is in the body of a passage, or around it
FACT_FIELD = "f"  # the letter of a lexeme that is the key of a fact
_MAX_TERM_CHARACTERS = 120  # longer words are looked up by their hash


class PostgresRenderer:
    """Renders conditions in PostgreSQL's SQL. Values are named by a prefix and a number."""

    def __init__(self, prefix: str) -> None:
        self.values: Values = {}
        self._prefix = prefix

    def add_value(self, value: str | int | Sequence[str]) -> str:
        name = f"{self._prefix}{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"

    def render_extra_pattern(self, pattern: str) -> str:
        lines = "chr(10) || who || chr(10)"
        return f"(scope = 'extra' AND strpos({lines}, chr(10) || {self.add_value(pattern)} || chr(10)) > 0)"

    def render_tag(self, tag: str) -> str:
        return (
            f"EXISTS (SELECT 1 FROM json_array_elements_text(passages.tags::json) WHERE value = {self.add_value(tag)})"
        )

    def render_path(self, pattern: str) -> str:
        return f"passages.path ~ {self.add_value(f'^(?:{compile_glob(pattern).pattern})$')}"

    def render_other_paths(self, paths: Sequence[str]) -> str:
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
    renderer = PostgresRenderer("viewer")
    condition = render(owner_condition(viewer), renderer)
    sql = f"""
        owners AS MATERIALIZED (SELECT *, {condition} AS visible FROM commonplace.index_owners WHERE {OWN_ROWS}),
        size AS MATERIALIZED (
          SELECT coalesce(sum(passages) FILTER (WHERE visible), 0)::float8 AS passages,
            coalesce(sum(length) FILTER (WHERE visible), 0)::float8 AS length,
            coalesce(sum(passages), 0)::float8 AS all_passages,
            coalesce(bool_and(visible OR passages = 0), true) AS sees_all
          FROM owners)"""
    return sql, renderer.values


def passage_sql(viewer: Viewer, filters: Filters) -> tuple[str, Values]:
    """Return the condition on `passages` that the viewer and the filters impose, given `owners`."""
    renderer = PostgresRenderer("allowed")
    return render(passage_condition(viewer, filters), renderer), renderer.values


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
      SELECT id, row_number() OVER (ORDER BY score DESC, id) AS place FROM (
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
