"""Candidates: the passages with the words of a query, those close to its meaning, and those of the days that it
names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..index.base import Candidate, Retriever, SearchIndex, SingleQueryIndex
from ..model import Filters, Query
from .bm25 import NO_CORRECTIONS, QueryTerms, build_batch_query, share_of, weigh_terms
from .dates import QueryDates, names_days_within
from .dense import QueryVectors, find_by_similarity
from .scoring import UNKNOWN_Z_SCORE, Weights
from .weekdays import words_for
from .words import find_corrections

_POOL_PASSAGES = 100  # candidates from each of the two retrievers, and in all that are scored
_MAX_POOLS = 32  # to read when duplicates of a few texts fill the first one
_NAMING_DAYS = 8  # around the days asked about, in which notes may name them by words like `tomorrow`
_MAX_NAMING_DAYS = 60


class Candidates(NamedTuple):
    terms: QueryTerms
    passages: list[Candidate]
    z_scores: Mapping[int, float] | None  # of the similarity, by passage; None if no embedder answers


def find_candidates(
    index: SearchIndex, query: Query, dates: QueryDates, vectors: QueryVectors, weights: Weights
) -> Candidates:
    """Collect the lexical and the dense candidates, with the similarity of both; and those of the days asked about."""
    found = _retrieve(index, query, vectors, weights)
    filters = _narrow_to_dates(query.filters, dates)
    if filters is None:
        return found
    dated = _retrieve(index, query._replace(filters=filters), vectors, weights, newest=dates.selects_all)
    naming = _find_naming_days(index, query, dates) if dates.selects_all else []
    naming += _find_weekdays(index, query, dates)
    passages = {candidate.number: candidate for candidate in [*found.passages, *naming, *dated.passages]}
    z_scores = None if found.z_scores is None else {**found.z_scores, **(dated.z_scores or {})}
    return Candidates(found.terms, [*passages.values()], z_scores)


def _find_naming_days(index: SearchIndex, query: Query, dates: QueryDates) -> list[Candidate]:
    """Return passages of the days around those asked about that name one of them: `tomorrow` in a note of the day
    before, `yesterday` in one of the day after."""
    first = min(span.first for span in dates.spans) - _NAMING_DAYS
    last = max(span.last for span in dates.spans) + _NAMING_DAYS
    if last - first > _MAX_NAMING_DAYS:
        return []
    filters = query.filters._replace(
        since=max(first, query.filters.since or 1), until=min(last, query.filters.until or date.max.toordinal())
    )
    candidates = index.load_candidates(index.newest(query.viewer, filters, _POOL_PASSAGES))
    return [
        each for each in candidates if names_days_within(each.hit.text, each.day, each.days, query.today, dates.spans)
    ]


def _find_weekdays(index: SearchIndex, query: Query, dates: QueryDates) -> list[Candidate]:
    """Return passages that name a weekday asked about, or the coming one by its date."""
    if not dates.weekdays:
        return []
    terms = weigh_terms(index, words_for(dates.weekdays, dates.spans), query.viewer)
    return [
        each
        for each in index.load_candidates([*_find_by_words(index, query, terms, _POOL_PASSAGES)])
        if dates.is_said_in(each.hit.text)
        or names_days_within(each.hit.text, each.day, each.days, query.today, dates.spans)
    ]


def _narrow_to_dates(filters: Filters, dates: QueryDates) -> Filters | None:
    """Return the filters restricted to the days that a query names; None if it names none, or the filters exclude
    them."""
    if not dates.spans:
        return None
    since = max(min(span.first for span in dates.spans), filters.since or 0)
    until = min(max(span.last for span in dates.spans), filters.until or date.max.toordinal())
    return filters._replace(since=since, until=until) if since <= until else None


def _retrieve(
    index: SearchIndex, query: Query, vectors: QueryVectors, weights: Weights, *, newest: bool = False
) -> Candidates:
    """Collect the candidates of both retrievers. If no passage has a word of the query, a word that is spelled nearly
    the same counts."""
    found = _retrieve_words(index, query, vectors, weights, NO_CORRECTIONS, newest=newest)
    corrections = find_corrections(index, found.terms.unknown, query.viewer)
    return _retrieve_words(index, query, vectors, weights, corrections, newest=newest) if corrections else found


def _retrieve_words(
    index: SearchIndex,
    query: Query,
    vectors: QueryVectors,
    weights: Weights,
    corrections: Mapping[str, str],
    *,
    newest: bool,
) -> Candidates:
    pool = _POOL_PASSAGES if query.limit <= _POOL_PASSAGES // 2 else query.limit * 2
    retriever: Retriever = index
    if isinstance(index, SingleQueryIndex):
        by_space = ((vector.space, vector.vector) for vector in vectors.vectors)
        retriever = index.fetch(build_batch_query(query, by_space, pool, corrections))
    terms = weigh_terms(retriever, query.text, query.viewer, corrections, is_task=query.is_task)
    by_words = _find_by_words(retriever, query, terms, pool)
    dated = retriever.newest(query.viewer, query.filters, pool) if newest else []

    def collect(lexical: Mapping[int, float], most: int) -> Candidates:
        numbers = list(dict.fromkeys([*lexical, *dated]))
        z_scores = find_by_similarity(retriever, query, vectors.vectors, pool, numbers, weights.tokens)
        best = _choose_best(terms, lexical, z_scores, weights, pool)[:most]
        return Candidates(terms, retriever.load_candidates([*best, *dated]), z_scores)

    found = collect(by_words, pool)
    if len(found.passages) < pool or _count_texts(found.passages) >= pool // 2:
        return found
    return collect(_find_distinct(retriever, query, terms, by_words, pool), 2 * pool)


def _choose_best(
    terms: QueryTerms, by_words: Mapping[int, float], z_scores: Mapping[int, float] | None, weights: Weights, pool: int
) -> list[int]:
    """Return the candidates of both retrievers by the two factors that count most, best first: what comes last here
    comes first by no other factor, and need not be read. What words alone did not find may have been the next."""
    similarity = z_scores or {}
    others = min(by_words.values()) if len(by_words) >= pool else 0.0
    odds = {
        number: weights.lexical * share_of(terms, by_words.get(number, others))
        + weights.dense * similarity.get(number, UNKNOWN_Z_SCORE)
        for number in (*by_words, *similarity)
    }
    return sorted(odds, key=odds.__getitem__, reverse=True)


def _count_texts(candidates: Iterable[Candidate]) -> int:
    return len({candidate.hit.text for candidate in candidates})


def _find_by_words(index: Retriever, query: Query, terms: QueryTerms, pool: int) -> dict[int, float]:
    """Return the passages that contain words of the query, best first, with their BM25 by these words."""
    lookup = {word: terms.weights[word] for word in terms.lookup}
    return index.match_terms(lookup, query.viewer, query.filters, pool) if lookup else {}


def _find_distinct(
    index: Retriever, query: Query, terms: QueryTerms, by_words: Mapping[int, float], pool: int
) -> dict[int, float]:
    """Return the passages that contain words of the query; if duplicates of a few texts fill the pool, also others
    that say something else."""
    if len(by_words) < pool or _count_texts(index.load_candidates([*by_words])) >= pool // 4:
        return dict(by_words)
    more = _find_by_words(index, query, terms, pool * _MAX_POOLS)
    others = [number for number in more if number not in by_words]
    return {**by_words, **{number: more[number] for number in _choose_distinct(index, others)[:pool]}}


def _choose_distinct(index: Retriever, numbers: Sequence[int]) -> list[int]:
    """Return the first passage with each text."""
    texts = {candidate.number: candidate.hit.text for candidate in index.load_candidates(numbers)}
    first = {texts[number]: number for number in reversed(numbers)}
    return sorted(first.values(), key=numbers.index)


def words_to_find(index: SearchIndex, query: Query, dates: QueryDates) -> str:
    """Return a query without the days that it names; but with them if no passage has such a date, as texts may name
    them."""
    if dates.is_relative or not dates.has_content or dates.rest == query.text:
        return dates.rest
    filters = _narrow_to_dates(query.filters, dates)
    return dates.rest if filters and index.newest(query.viewer, filters, 1) else query.text
