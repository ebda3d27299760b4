"""Calibration: cosines as z-scores of their space, odds as the probability that a hit is right.

The probability depends on how far the odds of a hit exceed the background (the odds of the thirtieth hit, or an
estimate of them where there are fewer hits) and those of the best other hit, on its share of BM25 and of adjacent
words, and on how much the query says: three words are matched by chance, ten are not, and words that the memory lacks
weigh the most. The fewer of the query's words a memory has, the more similarity tells; a small memory errs less. Fitted
by `./dev calibrate` over many sets of questions at once, among them questions that the memory cannot answer, so that a
threshold means the same whatever the language and the length of the question: at 0.5, half of the hits are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Scale(NamedTuple):
    """Mean and deviation of the cosine between a query and unrelated passages; the logistic curve that turns the
    evidence for a hit into a probability: its offset, and the slope of each part of the evidence. `slope` is that of
    the odds, `log_slope` that of their logarithm: from some odds on, more of them say little."""

    mean: float
    deviation: float
    slope: float
    offset: float
    log_slope: float = 0.0
    lead: float = 0.0
    lexical: float = 0.0
    query: float = 0.0
    words: float = 0.0
    phrase: float = 0.0
    unknown: float = 0.0
    similarity: float = 0.0
    size: float = 0.0


class Match(NamedTuple):
    """How a hit fits: its odds above the background, and the factors that tell more than their part in them."""

    odds: float
    lexical: float = 0.0
    phrase: float = 0.0
    z_score: float = 0.0


class QueryWeight(NamedTuple):
    """What a query says: how much its words weigh, how many have a meaning of their own, the share of their weight that
    the memory lacks, and how many passages it was asked of."""

    total: float
    words: int
    unknown: float = 0.0
    passages: int = 1


class Evidence(NamedTuple):
    """What speaks for a hit."""

    odds: float  # above the background
    lead: float  # above the best other hit, or below it
    lexical: float  # its share of BM25
    query: float  # the logarithm of what all words of the query weigh
    words: float  # the logarithm of how many content words it has
    phrase: float = 0.0  # the share of the query's word pairs that are adjacent in the hit
    unknown: float = 0.0  # the share of the query that the memory lacks
    similarity: float = 0.0  # the z-score, as far as words cannot tell
    size: float = 0.0  # the logarithm of how many passages there are


class MaxSimScale(NamedTuple):
    """Mean and deviation of MaxSim between unrelated texts: one in forty exceeds twice the deviation."""

    mean: float
    deviation: float


MAXSIM = MaxSimScale(0.172, 0.01125)
KEYWORD = Scale(
    0.0,
    1.0,
    0.0,
    -2.277,
    log_slope=1.562,
    lead=0.608,
    lexical=-0.14,
    query=-0.196,
    words=0.57,
    phrase=0.467,
    unknown=-1.97,
    size=-0.23,
)
DATES_ALONE = Scale(0.0, 1.0, 0.3, -3.9)  # where a query asks for days and nothing else, all that is dated so is right
CROSS_ENCODER = Scale(0.0, 1.0, 0.23, -3.69)
CROSS_ENCODER_AFTER_MAXSIM = Scale(0.0, 1.0, 0.171, -3.84)
_SPACES = {
    "commonplace-static": Scale(
        0.05,
        0.115,
        0.0,
        -2.524,
        log_slope=1.979,
        lead=0.377,
        lexical=-0.786,
        query=-1.02,
        words=1.261,
        phrase=0.758,
        unknown=-2.181,
        similarity=0.574,
        size=-0.171,
    ),
    "local-answerai-colbert": Scale(0.83, 0.03, 0.16, -3.4),
    "local-bge-small-en": Scale(0.38, 0.064, 0.37, -4.28),
    "local-bge-small-zh": Scale(0.30, 0.08, 0.37, -4.28),
}
_UNKNOWN_SPACE = Scale(0.30, 0.10, 0.36, -4.13)
_MIN_DEVIATION = 0.01
_BACKGROUND_RANK = 30  # the hit whose odds are the background
_UNRELATED_ODDS = -2.0  # of a passage that has nothing to do with the query
_MAX_LOGIT = 30.0
_MAX_LEAD = 6.0  # beyond which a hit is no more certain
_MAX_LAG = 8.0


def scale_for(space: str, measure: Callable[[], tuple[float, float] | None] | None = None) -> Scale:
    """Return the scale of a vector space: fitted for a known model; for another, from the similarity stats that
    `measure` returns."""
    known = next((scale for name, scale in _SPACES.items() if space.startswith(name)), None)
    if known:
        return known
    stats = measure() if measure else None
    if stats is None:
        return _UNKNOWN_SPACE
    mean, deviation = stats
    return _UNKNOWN_SPACE._replace(mean=mean, deviation=max(deviation, _MIN_DEVIATION))


def background_odds(odds: Sequence[float]) -> float:
    """Return the odds that a hit has to exceed, given those of all hits, best first."""
    if not odds:
        return _UNRELATED_ODDS
    rank = min(len(odds), _BACKGROUND_RANK)
    return _UNRELATED_ODDS + (odds[rank - 1] - _UNRELATED_ODDS) * rank / _BACKGROUND_RANK


def weigh_evidence(matches: Sequence[Match], query: QueryWeight) -> list[Evidence]:
    """Return the evidence for each hit of a query."""
    best = sorted((match.odds for match in matches), reverse=True)[:2]
    second = best[1] if len(best) > 1 else 0.0
    weight = math.log1p(query.total)
    words = math.log1p(query.words)
    size = math.log(max(1, query.passages))
    return [
        Evidence(
            match.odds,
            _clip_lead(match.odds - (second if match.odds == best[0] else best[0])),
            match.lexical,
            weight,
            words,
            match.phrase,
            query.unknown,
            query.unknown * match.z_score,
            size,
        )
        for match in matches
    ]


def _clip_lead(lead: float) -> float:
    return max(-_MAX_LAG, min(_MAX_LEAD, lead))


def calibrate(evidence: Evidence, scale: Scale) -> float:
    """Return the probability that a hit with this evidence is right."""
    logit = (
        scale.offset
        + scale.slope * evidence.odds
        + scale.log_slope * math.log1p(max(0.0, evidence.odds))
        + scale.lead * evidence.lead
        + scale.lexical * evidence.lexical
        + scale.query * evidence.query
        + scale.words * evidence.words
        + scale.phrase * evidence.phrase
        + scale.unknown * evidence.unknown
        + scale.similarity * evidence.similarity
        + scale.size * evidence.size
    )
    return round(1 / (1 + math.exp(-max(-_MAX_LOGIT, min(_MAX_LOGIT, logit)))), 4)
