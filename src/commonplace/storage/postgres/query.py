"""Searches in one statement: a whole one (term weights, lexical and dense candidates, and their passages), and one for
passages by the keys of their facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...caching import cache_within
from ...index.base import (
    MAX_PASSAGES_PER_FACT_KEY,
    BatchQuery,
    Candidate,
    ChoosePassages,
    CorpusStats,
    Retriever,
    TokenVectors,
    candidate_of,
)
from ...model import EVERYTHING, Filters, Viewer
from .connection import Row
from .index_tables import (
    CHOSEN_WEIGHTS_CTE,
    FREQUENCIES_CTE,
    OWN_ROWS,
    IndexTables,
    Values,
    dense_cte,
    lexical_cte,
    lookup_term,
    lookup_terms,
    owners_cte,
    passage_sql,
    vector_literal,
)
from .vectors import Space, by_cosine, first_vector_limit, search_settings

if TYPE_CHECKING:
    from ...embedding.base import Vectors
    from .index import PostgresIndex

CANDIDATE_COLUMNS = """passages.id, path, first, last, text, lead, key, tags, at, day, days, kind, scope, who, source,
    passages.length, terms"""


class PrefetchedRetriever:
    """The answers to one search, fetched in advance. Whatever else is asked goes to the index itself."""

    def __init__(self, index: Retriever, search: BatchQuery, rows: Sequence[Row]) -> None:
        """Read rows of: facts (the first row only), lexical score, cosines as nearest, cosines, and the candidate."""
        self._index = index
        self._search = search
        facts = rows[0][0]
        passages = [row for row in rows if row[4] is not None]
        by_score = sorted((-row[1], row[4]) for row in passages if row[1] is not None)
        self._corpus = _read_corpus(facts, search)
        self._words = {number: -negative for negative, number in by_score}
        self._candidates = {row[4]: candidate_of(row[4:]) for row in passages}
        self._spaces = {name: Space(*facts["spaces"][name]) for name in facts["spaces"] or {}}
        self._nearest: dict[str, list[tuple[int, float]]] = {}
        self._cosines: dict[str, dict[int, float | None]] = {}
        for place, (name, _) in enumerate(search.query_vectors):
            nearest = [(row[4], row[2][place]) for row in passages if row[2][place] is not None]
            if len(nearest) >= search.limit or facts["near"][place] < first_vector_limit(search.limit):
                self._nearest[name] = sorted(nearest, key=by_cosine)
            self._cosines[name] = {row[4]: row[3][place] for row in passages}

    def matches_spaces(self, spaces: Mapping[str, Space]) -> bool:
        """Return whether the statement met the spaces it was made for: another process may have replaced some."""
        return all((space.id, space.dims) == self._spaces.get(name, (0, 0))[:2] for name, space in spaces.items())

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        return self._corpus

    def words_like(self, word: str, viewer: Viewer) -> dict[str, int]:
        return self._index.words_like(word, viewer)

    def match_terms(
        self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int
    ) -> dict[int, float]:
        if limit == self._search.limit:
            return self._words
        return self._index.match_terms(weights, viewer, filters, limit)

    def nearest(
        self, space: str, query: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        if limit == self._search.limit and space in self._nearest:
            return self._nearest[space]
        return self._index.nearest(space, query, viewer, filters, limit)

    def cosines(self, space: str, query: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        known = self._cosines[space]
        cosines = {number: cosine for number in numbers if (cosine := known.get(number)) is not None}
        if others := [number for number in numbers if number not in known]:
            cosines |= self._index.cosines(space, query, others)
        return cosines

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        return self._index.token_vectors(space, numbers)

    def similarity_stats(self, space: str, viewer: Viewer) -> tuple[float, float] | None:
        return self._index.similarity_stats(space, viewer)

    def newest(self, viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        return self._index.newest(viewer, filters, limit)

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        known = [self._candidates[number] for number in sorted(set(numbers)) if number in self._candidates]
        others = [number for number in numbers if number not in self._candidates]
        return [*known, *self._index.load_candidates(others)] if others else known

    def find_by_fact_keys(
        self,
        keys: Sequence[int],
        viewer: Viewer,
        limit: int,
        filters: Filters = EVERYTHING,
        choose: ChoosePassages | None = None,
    ) -> list[Candidate]:
        return self._index.find_by_fact_keys(keys, viewer, limit, filters, choose)


def run_search(tables: IndexTables, index: PostgresIndex, search: BatchQuery) -> PrefetchedRetriever:
    while True:
        expected = {name: index.read_cached_space(name) for name, _ in search.query_vectors}
        sql, values = _build_statement(search, expected)
        with tables.without_snapshot():
            rows = tables.query(sql, values, search_settings(*expected.values()))
        retriever = PrefetchedRetriever(index, search, rows)
        if retriever.matches_spaces(expected):
            return retriever
        for name in expected:
            index.forget_space(name)


def _build_statement(search: BatchQuery, spaces: Mapping[str, Space]) -> tuple[str, Values]:
    owners, values = owners_cte(search.viewer)
    condition, more = passage_sql(search.viewer, search.filters)
    values |= more | {
        "words": list(search.words),
        "terms": lookup_terms(search.words),
        "faint": [word in search.function_words for word in search.words],
        "factors": list(search.factors),
        "background": search.idf_prior_passages,
        "most": search.max_lookup_passages,
        "limit": search.limit,
        "near": first_vector_limit(search.limit),
        "spaces": [name for name, _ in search.query_vectors],
    }
    ctes = [owners, FREQUENCIES_CTE, CHOSEN_WEIGHTS_CTE, lexical_cte(condition, search.filters)]
    searched: list[int] = []  # places of the query vectors whose space has comparable vectors
    for place, (name, vector) in enumerate(search.query_vectors):
        space = spaces[name]
        if space.vectors and len(vector) == space.dims:
            searched.append(place)
            values |= {f"query{place}": vector_literal(vector), f"space{place}": space.id}
            ctes.append(dense_cte(place, space.dims, condition, search.filters))
    count = len(search.query_vectors)
    ctes += [_candidates_cte(count, searched), _facts_cte(count, searched)]
    return f"WITH {', '.join(ctes)} {_select(count, searched)}", values


def _facts_cte(vector_count: int, searched: Sequence[int]) -> str:
    counts = (f"(SELECT count(*) FROM near{place})" if place in searched else "0" for place in range(vector_count))
    columns = ", ".join(Space._fields)
    return f"""
    facts AS (SELECT json_build_object(
      'passages', size.passages, 'length', size.length,
      'frequency', (SELECT json_object_agg(term, passages) FROM frequent WHERE passages > 0),
      'spaces', (SELECT json_object_agg(name, json_build_array({columns})) FROM commonplace.index_spaces
        WHERE {OWN_ROWS} AND name = ANY(%(spaces)s)),
      'near', json_build_array({", ".join(counts)})) AS facts FROM size)"""


def _candidates_cte(vector_count: int, searched: Sequence[int]) -> str:
    """Return `ids`, every candidate with its lexical score and its cosines as nearest, and `chosen`, their rows."""
    none = ["NULL::float8"] * vector_count
    retrievers = [", ".join(["SELECT id, score", *none]) + " FROM lexical"]
    for place in searched:
        cosines = [*none[:place], "cosine", *none[place + 1 :]]
        retrievers.append(", ".join(["SELECT id, NULL", *cosines]) + f" FROM dense{place}")
    names = [f"cosine{place}" for place in range(vector_count)]
    columns = ", ".join(["id", "max(score) AS score", *(f"max({name}) AS {name}" for name in names)])
    retrieved = f"({' UNION ALL '.join(retrievers)}) AS retrieved({', '.join(['id', 'score', *names])})"
    return f"""
    ids AS MATERIALIZED (SELECT {columns} FROM {retrieved} GROUP BY id),
    chosen AS MATERIALIZED (
      SELECT * FROM commonplace.index_passages WHERE {OWN_ROWS} AND id = ANY(ARRAY(SELECT id FROM ids)))"""


def _select(vector_count: int, searched: Sequence[int]) -> str:
    """Return the main query; `PrefetchedRetriever` describes its rows."""
    nearest = ", ".join(f"cosine{place}" for place in range(vector_count))
    cosines = ", ".join(
        f"-(like{place}.vector <#> %(query{place})s::vector)" if place in searched else "NULL"
        for place in range(vector_count)
    )
    joins = "".join(
        f"""
        LEFT JOIN LATERAL (SELECT vector FROM commonplace.index_vectors AS vectors
          WHERE {OWN_ROWS} AND space = %(space{place})s AND vectors.owner = passages.owner
          AND vectors.hash = passages.hash LIMIT 1) AS like{place} ON true"""
        for place in searched
    )
    return f"""
    SELECT CASE WHEN row_number() OVER () = 1 THEN facts END, score, ARRAY[{nearest}]::float8[],
      ARRAY[{cosines}]::float8[], {CANDIDATE_COLUMNS}
    FROM facts LEFT JOIN (ids JOIN chosen AS passages ON passages.id = ids.id
      JOIN owners ON owners.id = passages.owner {joins}) ON true"""


def _read_corpus(facts: Mapping[str, Any], search: BatchQuery) -> CorpusStats:
    frequency = facts["frequency"] or {}
    known = {word: int(frequency[lookup_term(word)]) for word in search.words if lookup_term(word) in frequency}
    passages = int(facts["passages"])
    return CorpusStats(passages, facts["length"] / passages if passages else 1.0, known)


_IDENTITY = "tenant, territory, id, owner"
# One row by its primary key, even if the server has no statistics of a table. Then it takes any index that begins with
# the tenant for as good, and would read all rows of one for each; but only the primary key has them in this order.
_OWN_ROW = f"{OWN_ROWS} AND id >= rarest.id AND id <= rarest.id ORDER BY id LIMIT 1"


@cache_within(500_000)
def build_fact_query(viewer: Viewer, limit: int, filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return the query for passages by the keys of their facts, and its values but for the keys. Every write makes it,
    so its text is built once for a viewer. Do not change the values: they are cached."""
    owners, values = owners_cte(viewer)
    condition, more = passage_sql(viewer, filters)
    sees_all = "false"
    source = f"commonplace.index_facts AS facts JOIN commonplace.index_passages AS passages USING ({_IDENTITY})"
    if filters == EVERYTHING:  # the owner decides, and is in the table of facts, too
        sees_all = "(SELECT sees_all FROM size)"
        source = "commonplace.index_facts AS passages"
    sql = f"""WITH {owners}, shared AS MATERIALIZED (
          SELECT place, id, count(*) OVER (PARTITION BY place) AS passages
          FROM unnest(%(keys)s::bigint[]) WITH ORDINALITY AS asked(fact, place) CROSS JOIN LATERAL (
            SELECT id FROM {source} WHERE {OWN_ROWS} AND fact = asked.fact AND ({sees_all} OR ({condition}))
            ORDER BY id DESC LIMIT {MAX_PASSAGES_PER_FACT_KEY}) AS newest),
        rarest AS MATERIALIZED (
          SELECT id, array_agg(place) AS places FROM shared GROUP BY id
          ORDER BY sum(1 / passages::float8) DESC, min(place), id DESC LIMIT {limit:d}),
        frequent AS MATERIALIZED (
          SELECT array_agg(DISTINCT place) AS frequent FROM shared WHERE passages >= {MAX_PASSAGES_PER_FACT_KEY})
        SELECT places || frequent, numbers, parsed, {CANDIDATE_COLUMNS}
        FROM frequent CROSS JOIN rarest
        CROSS JOIN LATERAL (SELECT * FROM commonplace.index_passages WHERE {_OWN_ROW}) AS passages
        JOIN owners ON owners.id = passages.owner
        LEFT JOIN LATERAL (SELECT numbers, parsed FROM commonplace.index_statements WHERE {_OWN_ROW}) AS statements
        ON true"""
    return sql, dict(values | more)
