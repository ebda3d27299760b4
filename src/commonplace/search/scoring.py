"""Score the candidates of both retrievers on one scale: every factor adds to the odds that a passage answers.

The weights were chosen on one half of a benchmark and are reported on the other (`docs/benchmarks.md`); each factor
can be switched off to see what it earns (`bench/ablation.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..index.base import Candidate
from ..model import Hit, Query
from .bm25 import QueryTerms, bm25_score, match_key
from .dates import Span, asks_about_now, date_proximity, parse_span


class Weights(NamedTuple):
    """What one unit of each factor adds to the odds, on a logarithmic scale."""

    words: float = 9.0  # the share of BM25
    meaning: float = 0.9  # the z-score of the cosine
    tokens: float = 1.0  # the part of MaxSim in that z-score, against the cosine of whole texts
    support: float = 0.5  # the best passages of the same page
    phrase: float = 0.5
    key: float = 2.0
    date: float = 1.5
    recent: float = 1.0
    close: float = 6.0  # MaxSim of the packaged model
    read: float = 0.5  # the score of the cross-encoder
    repeated: float = 1.0  # taken off for every earlier hit with the same text


class Factors(NamedTuple):
    """What each factor found for a hit, before it is weighed."""

    words: float = 0.0
    meaning: float | None = None
    phrase: float = 0.0
    key: float = 0.0
    date: float = 0.0
    recent: float = 0.0


class ScoredHit(NamedTuple):
    """A hit with its odds and what they are made of."""

    number: int
    hit: Hit
    odds: float
    factors: Factors
    support: float = 0.0  # of its page
    repeats: int = 0  # earlier hits with the same text
    background: float = 0.0  # taken off for what else was found
    close: float | None = None  # MaxSim above average, where it was computed
    read: float | None = None  # the score of the cross-encoder, where it was computed


WEIGHTS = Weights()
_RECENCY_HALF_LIFE_DAYS = 90
_KIND_WEIGHTS = {"activity": 0.3}  # logs mention every key that was written: they come after what they mention
_MIN_Z_SCORE = 2.0  # from which similarity alone makes a hit
_MIN_SHARE_OF_BEST = 0.3  # of the odds of the best hit, which similarity alone needs to be one
_SUPPORT_TEMPERATURE = 0.7  # how far behind the best of its page a passage may be and still support the page
UNKNOWN_Z_SCORE = -0.5  # of a passage without a vector: a little less similar than most


def score_candidates(
    query: Query,
    terms: QueryTerms,
    candidates: Iterable[Candidate],
    z_scores: Mapping[int, float] | None,
    weights: Weights = WEIGHTS,
) -> list[ScoredHit]:
    """Score the candidates and sort them, best first. `z_scores` is None where no embedder answers."""
    span = parse_span(query.text, query.today)
    about_now = asks_about_now(query.text)
    rows: list[tuple[Candidate, Factors, float]] = []
    for candidate in candidates:
        factors = _factors(query, terms, candidate, z_scores, span, about_now=about_now)
        rows.append((candidate, factors, _odds(factors, weights)))
    rows = _drop_unlikely(rows)
    support = page_support((candidate.hit.path, odds) for candidate, _, odds in rows)
    hits = []
    for candidate, factors, odds in rows:
        page = support[candidate.hit.path]
        hits.append(ScoredHit(candidate.number, candidate.hit, odds + weights.support * page, factors, page))
    return _demote_repeats(sort_by_odds(hits), weights)


def _factors(
    query: Query,
    terms: QueryTerms,
    candidate: Candidate,
    z_scores: Mapping[int, float] | None,
    span: Span | None,
    *,
    about_now: bool,
) -> Factors:
    day = candidate.day
    words, phrase = bm25_score(terms, candidate)
    recent = 0.0
    if about_now and day is not None and query.today:
        recent = 0.5 ** (max(0, query.today - day) / _RECENCY_HALF_LIFE_DAYS)
    return Factors(
        words * _KIND_WEIGHTS.get(candidate.kind, 1.0),
        None if z_scores is None else z_scores.get(candidate.number, UNKNOWN_Z_SCORE),
        phrase,
        match_key(terms, candidate.hit.key) if candidate.hit.key else 0.0,
        date_proximity(span, day) if span and day is not None else 0.0,
        recent,
    )


def _odds(factors: Factors, weights: Weights) -> float:
    return (
        weights.words * factors.words
        + weights.meaning * (factors.meaning or 0.0)
        + weights.phrase * factors.phrase
        + weights.key * factors.key
        + weights.date * factors.date
        + weights.recent * factors.recent
    )


def _drop_unlikely(rows: list[tuple[Candidate, Factors, float]]) -> list[tuple[Candidate, Factors, float]]:
    """Drop what was found by similarity alone, unless that is two deviations and 30 % of the best: some passage is
    always the nearest, however far it is."""
    enough = _MIN_SHARE_OF_BEST * max((odds for _, _, odds in rows), default=0.0)
    return [
        (candidate, factors, odds)
        for candidate, factors, odds in rows
        if factors.words > 0 or ((factors.meaning or 0.0) >= _MIN_Z_SCORE and odds >= enough)
    ]


def page_support(odds: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The support for each page: its best passage, and a little those that come close to it."""
    pages: dict[str, list[float]] = {}
    for path, each in odds:
        pages.setdefault(path, []).append(each)
    return {path: _soft_maximum(some) for path, some in pages.items()}


def _soft_maximum(odds: Sequence[float]) -> float:
    best = max(odds)
    if len(odds) == 1:
        return best
    temperature = _SUPPORT_TEMPERATURE
    return best + temperature * math.log(sum(math.exp((each - best) / temperature) for each in odds))


def rescore(rows: Sequence[ScoredHit], more: Sequence[float], weights: Weights) -> list[ScoredHit]:
    """Add to the odds of each hit, and so to the support of its page."""
    alone = [row.odds - weights.support * row.support + each for row, each in zip(rows, more, strict=True)]
    support = page_support((row.hit.path, odds) for row, odds in zip(rows, alone, strict=True))
    return [
        row._replace(odds=odds + weights.support * support[row.hit.path], support=support[row.hit.path])
        for row, odds in zip(rows, alone, strict=True)
    ]


def put_first(best: Sequence[ScoredHit], rest: Iterable[ScoredHit]) -> list[ScoredHit]:
    """Put hits that were reranked before the others, whose odds are cut to the last of them."""
    last = best[-1].odds
    return [*best, *(row._replace(odds=last) if row.odds > last else row for row in rest)]


def _demote_repeats(rows: Sequence[ScoredHit], weights: Weights) -> list[ScoredHit]:
    """Put the same text on other pages after what says something else as likely."""
    seen: dict[str, int] = {}
    out: list[ScoredHit] = []
    for row in rows:
        repeats = seen.get(row.hit.text, 0)
        seen[row.hit.text] = repeats + 1
        out.append(row._replace(odds=row.odds - weights.repeated * repeats, repeats=repeats) if repeats else row)
    return out if len(seen) == len(out) else sort_by_odds(out)


def sort_by_odds(rows: Iterable[ScoredHit]) -> list[ScoredHit]:
    return sorted(rows, key=_rank)


def _rank(row: ScoredHit) -> tuple[float, str, int]:
    return -row.odds, row.hit.path, row.hit.start
