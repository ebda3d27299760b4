"""Candidates of both legs on one scale: every factor adds to the odds that a passage answers.

The weights were chosen on one half of a benchmark and are reported on the other (`docs/benchmarks.md`); each factor
can be switched off to see what it earns (`bench/ablation.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..index.base import Candidate
from ..model import Hit, Query
from .bm25 import QueryTerms, bm25_score, names
from .dates import Span, asks_about_now, date_proximity, parse_span


class Weights(NamedTuple):
    """What one unit of each factor adds to the odds, on a logarithmic scale."""

    words: float = 9.0
    meaning: float = 0.9
    tokens: float = 1.0  # of likeness token by token, against that of whole texts
    support: float = 0.5  # of the best passages of the same page
    phrase: float = 0.5
    key: float = 2.0
    date: float = 1.5
    recent: float = 1.0
    close: float = 6.0  # of how like the best are token by token, where the model in the package answers
    read: float = 0.5  # of what a reranker gives, where one is asked for
    repeated: float = 1.0  # what a text that stands higher up already loses


class Factors(NamedTuple):
    """Why a hit stands where it does: what each factor found, before it was weighed."""

    words: float = 0.0
    meaning: float | None = None
    phrase: float = 0.0
    key: float = 0.0
    date: float = 0.0
    recent: float = 0.0


class ScoredHit(NamedTuple):
    number: int
    hit: Hit
    odds: float
    factors: Factors
    support: float = 0.0  # of its page
    repeats: int = 0  # how often its text stands higher up
    background: float = 0.0  # what is taken off for what else was found
    close: float | None = None  # how much liker than most it is token by token, where it was looked at
    read: float | None = None  # what a reranker made of question and passage together


WEIGHTS = Weights()
_MONTHS_HALF = 90  # days after which a passage is half as recent
_QUIET = {"activity": 0.3}  # logs mention every key that was written: they come after what they mention
_ALIKE = 2.0  # standard deviations from which likeness alone makes a hit
_BESIDE_WORDS = 0.3  # of the odds of the best hit, that likeness alone needs beside it
_CLOSE = 0.7  # odds by which a passage may be behind the best of its page and still speak for it
_UNKNOWN = -0.5  # a passage without a vector is taken for a little less like the question than most


def score_candidates(
    query: Query,
    asked: QueryTerms,
    candidates: Iterable[Candidate],
    likeness: Mapping[int, float] | None,
    weights: Weights = WEIGHTS,
) -> list[ScoredHit]:
    """The candidates, the likeliest first. `likeness` says how like the question each is, in standard deviations."""
    span = parse_span(query.text, query.today)
    now = asks_about_now(query.text)
    rows = [(each, _reason(query, asked, each, likeness, span, now=now)) for each in candidates]
    alone = _found([(each, reason, _odds(reason, weights)) for each, reason in rows])
    support = page_support((each.hit.path, odds) for each, _, odds in alone)
    out = []
    for each, reason, odds in alone:
        page = support[each.hit.path]
        out.append(ScoredHit(each.number, each.hit, odds + weights.support * page, reason, page))
    return _repeats_later(sort_by_odds(out), weights)


def _reason(
    query: Query,
    asked: QueryTerms,
    candidate: Candidate,
    likeness: Mapping[int, float] | None,
    span: Span | None,
    *,
    now: bool,
) -> Factors:
    day = candidate.day
    words, phrase = bm25_score(asked, candidate)
    return Factors(
        words * _QUIET.get(candidate.kind, 1.0),
        None if likeness is None else likeness.get(candidate.number, _UNKNOWN),
        phrase,
        names(asked, candidate.hit.key) if candidate.hit.key else 0.0,
        date_proximity(span, day) if span and day is not None else 0.0,
        0.5 ** (max(0, query.today - day) / _MONTHS_HALF) if now and day is not None and query.today else 0.0,
    )


def page_support(odds: Iterable[tuple[str, float]]) -> dict[str, float]:
    """What speaks for a whole page: its best passage, and a little those that come close to it."""
    pages: dict[str, list[float]] = {}
    for path, each in odds:
        pages.setdefault(path, []).append(each)
    return {path: _together(some) for path, some in pages.items()}


def rescore(rows: Sequence[ScoredHit], more: Sequence[float], weights: Weights) -> list[ScoredHit]:
    """More was found that speaks for each of these: it adds to its odds, and so to those of its page."""
    alone = [row.odds - weights.support * row.support + each for row, each in zip(rows, more, strict=True)]
    support = page_support((row.hit.path, odds) for row, odds in zip(rows, alone, strict=True))
    return [
        row._replace(odds=odds + weights.support * support[row.hit.path], support=support[row.hit.path])
        for row, odds in zip(rows, alone, strict=True)
    ]


def put_first(best: Sequence[ScoredHit], rest: Iterable[ScoredHit]) -> list[ScoredHit]:
    """Those that were looked at again, then the others, none of which comes to stand above them by its odds."""
    last = best[-1].odds
    return [*best, *(row._replace(odds=last) if row.odds > last else row for row in rest)]


def _together(odds: Sequence[float]) -> float:
    best = max(odds)
    if len(odds) == 1:
        return best
    return best + _CLOSE * math.log(sum(math.exp((each - best) / _CLOSE) for each in odds))


def _found(rows: list[tuple[Candidate, Factors, float]]) -> list[tuple[Candidate, Factors, float]]:
    """Those with any ground for a hit. Something is always nearest, however far it is: likeness alone has to be there,
    and not to be dwarfed by what holds the words themselves."""
    best = max((odds for _, _, odds in rows), default=0.0)
    enough = _BESIDE_WORDS * best
    return [row for row in rows if row[1].words > 0 or ((row[1].meaning or 0.0) >= _ALIKE and row[2] >= enough)]


def _odds(reason: Factors, weights: Weights) -> float:
    words, meaning, phrase, key, date, recent = reason
    return (
        weights.words * words
        + weights.meaning * (meaning or 0.0)
        + weights.phrase * phrase
        + weights.key * key
        + weights.date * date
        + weights.recent * recent
    )


def _repeats_later(rows: Sequence[ScoredHit], weights: Weights) -> list[ScoredHit]:
    """The same text on other pages comes after what says something else as likely."""
    seen: dict[str, int] = {}
    out: list[ScoredHit] = []
    for each in rows:
        text = each.hit.text
        times = seen.get(text, 0)
        seen[text] = times + 1
        out.append(each._replace(odds=each.odds - weights.repeated * times, repeats=times) if times else each)
    return out if len(seen) == len(out) else sort_by_odds(out)


def sort_by_odds(rows: Iterable[ScoredHit]) -> list[ScoredHit]:
    return sorted(rows, key=lambda each: (-each.odds, each.hit.path, each.hit.start))
