"""A whole question in one statement: what weighs its words, who holds them, what is nearest, and the passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...index.base import BatchQuery, Candidate, CorpusStats, Retriever, TokenVectors
from ...index.rows import candidate_of
from ...model import Filters, Viewer
from .index_tables import Tables
from .vectors import Space, Spaces, at_first, settings_for, spread_of
from .visibility import (
    CHOSEN,
    FREQUENT,
    OWN,
    Values,
    allowed_passages,
    found_by_meaning,
    found_by_words,
    seen_owners,
    term,
    terms_of,
    text_of,
)  # fmt: skip

if TYPE_CHECKING:
    from ...embedding.base import Vectors

CANDIDATE = """passages.id, path, first, last, text, key, tags, at, day, kind, scope, who, source, passages.length,
    body, around"""


class Fetched:
    """What one question asks of an index, fetched before. Whatever else is asked goes to the index itself."""

    def __init__(self, index: Retriever, asking: BatchQuery, rows: Sequence[tuple[Any, ...]]) -> None:
        self._index, self._asking = index, asking
        facts = rows[0][0]
        found = [row for row in rows if row[4] is not None]
        self._corpus = _corpus_of(facts, asking)
        self._words = [row[4] for row in sorted((row for row in found if row[1]), key=lambda row: row[1])]
        self._candidates = {row[4]: candidate_of(row[4:]) for row in found}
        self._spaces = {name: Space(*facts["spaces"][name]) for name in facts["spaces"] or {}}
        self._near: dict[str, list[tuple[int, float]]] = {}
        self._like: dict[str, dict[int, float | None]] = {}
        for place, (name, _) in enumerate(asking.questions):
            near = [(row[4], row[2][place]) for row in found if row[2][place] is not None]
            if len(near) >= asking.limit or facts["near"][place] < at_first(asking.limit):
                self._near[name] = sorted(near, key=lambda each: (-each[1], each[0]))
            self._like[name] = {row[4]: row[3][place] for row in found}

    def spaces_are(self, spaces: Mapping[str, Space]) -> bool:
        """Whether the question met the spaces that it was made for: another process may have put others in place."""
        return all((space.id, space.dims) == self._spaces.get(name, (0, 0))[:2] for name, space in spaces.items())

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        return self._corpus

    def match_terms(self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        if limit == self._asking.limit:
            return self._words
        return self._index.match_terms(weights, viewer, filters, limit)

    def nearest(
        self, space: str, question: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        if limit == self._asking.limit and space in self._near:
            return self._near[space]
        return self._index.nearest(space, question, viewer, filters, limit)

    def cosines(self, space: str, question: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        known = self._like[space]
        found = {number: cosine for number in numbers if (cosine := known.get(number)) is not None}
        if others := [number for number in numbers if number not in known]:
            found |= self._index.cosines(space, question, others)
        return found

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        return self._index.token_vectors(space, numbers)

    def similarity_stats(self, space: str) -> tuple[float, float] | None:
        return spread_of(self._spaces[space]) if space in self._spaces else None

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        known = [self._candidates[number] for number in sorted(set(numbers)) if number in self._candidates]
        others = [number for number in numbers if number not in self._candidates]
        return [*known, *self._index.load_candidates(others)] if others else known


def ask(tables: Tables, spaces: Spaces, index: Retriever, asking: BatchQuery) -> Fetched:
    while True:
        met = {name: spaces.last_seen(name) for name, _ in asking.questions}
        sql, values = _statement(asking, met)
        with tables.apart():
            fetched = Fetched(index, asking, tables.rows(sql, values, settings_for(*met.values())))
        if fetched.spaces_are(met):
            return fetched
        for name in met:
            spaces.forget(name)


def _statement(asking: BatchQuery, spaces: Mapping[str, Space]) -> tuple[str, Values]:
    owners, values = seen_owners(asking.viewer)
    condition, more = allowed_passages(asking.viewer, asking.filters)
    values |= more | {
        "words": list(asking.words), "terms": terms_of(asking.words),
        "faint": [word in asking.faint for word in asking.words], "faintness": asking.faintness,
        "background": asking.background, "most": asking.most, "limit": asking.limit, "near": at_first(asking.limit),
        "spaces": [name for name, _ in asking.questions],
    }  # fmt: skip
    found = [owners, FREQUENT, CHOSEN, found_by_words(condition, asking.filters)]
    served = []
    for place, (name, question) in enumerate(asking.questions):
        space = spaces[name]
        if space.vectors and len(question) == space.dims:
            served.append(place)
            values |= {f"question{place}": text_of(question), f"space{place}": space.id}
            found.append(found_by_meaning(place, space.dims, condition, asking.filters))
    found.append(_together(len(asking.questions), served))
    found.append(_facts(len(asking.questions), served))
    return f"WITH {', '.join(found)} {_selected(len(asking.questions), served)}", values


def _facts(questions: int, served: Sequence[int]) -> str:
    counts = (f"(SELECT count(*) FROM near{place})" if place in served else "0" for place in range(questions))
    columns = ", ".join(Space._fields)
    return f"""
    facts AS (SELECT json_build_object(
      'passages', size.passages, 'length', size.length,
      'frequency', (SELECT json_object_agg(term, passages) FROM frequent WHERE passages > 0),
      'spaces', (SELECT json_object_agg(name, json_build_array({columns})) FROM commonplace.index_spaces
        WHERE {OWN} AND name = ANY(%(spaces)s)),
      'near', json_build_array({", ".join(counts)})) AS facts FROM size)"""


def _together(questions: int, served: Sequence[int]) -> str:
    """`ids`: every passage that was found, its place by words, and its cosine where it is one of the nearest; `chosen`:
    these passages, read in one go."""
    none = ["NULL::float8"] * questions
    legs = [", ".join(["SELECT id, place", *none]) + " FROM by_words"]
    for place in served:
        cosines = [*none[:place], "cosine", *none[place + 1 :]]
        legs.append(", ".join(["SELECT id, NULL", *cosines]) + f" FROM by_meaning{place}")
    names = [f"cosine{place}" for place in range(questions)]
    columns = ", ".join(["id", "min(place) AS place", *(f"max({name}) AS {name}" for name in names)])
    return f"""
    ids AS MATERIALIZED (
      SELECT {columns} FROM ({" UNION ALL ".join(legs)}) AS legs({", ".join(["id", "place", *names])}) GROUP BY id),
    chosen AS MATERIALIZED (
      SELECT * FROM commonplace.index_passages WHERE {OWN} AND id = ANY(ARRAY(SELECT id FROM ids)))"""


def _selected(questions: int, served: Sequence[int]) -> str:
    """A row a passage: the facts on the first, its place by words, its cosines as one of the nearest and at all."""
    cosines = ", ".join(f"cosine{place}" for place in range(questions))
    likes = ", ".join(
        f"-(like{place}.vector <#> %(question{place})s::vector)" if place in served else "NULL"
        for place in range(questions)
    )
    joined = "".join(
        f"""
        LEFT JOIN LATERAL (SELECT vector FROM commonplace.index_vectors AS vectors
          WHERE {OWN} AND space = %(space{place})s AND vectors.owner = passages.owner AND vectors.hash = passages.hash
          LIMIT 1) AS like{place} ON true"""
        for place in served
    )
    return f"""
    SELECT CASE WHEN row_number() OVER () = 1 THEN facts END, place, ARRAY[{cosines}]::float8[],
      ARRAY[{likes}]::float8[], {CANDIDATE}
    FROM facts LEFT JOIN (ids JOIN chosen AS passages ON passages.id = ids.id
      JOIN owners ON owners.id = passages.owner {joined}) ON true"""


def _corpus_of(facts: Mapping[str, Any], asking: BatchQuery) -> CorpusStats:
    frequency = facts["frequency"] or {}
    known = {word: int(frequency[term(word)]) for word in asking.words if term(word) in frequency}
    passages = int(facts["passages"])
    return CorpusStats(passages, facts["length"] / passages if passages else 1.0, known)
