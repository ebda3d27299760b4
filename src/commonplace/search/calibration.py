"""Calibration: cosines as z-scores of their space, odds as the probability that a hit is right.

The probability depends on how far the odds of a hit exceed the background: the odds of the thirtieth hit, or an
estimate of them where there are fewer hits. Fitted by `bench/calibrate.py`, with a reliability table in
`docs/benchmarks.md`, so that a threshold means the same for every embedder: at 0.5, half of the hits are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Scale(NamedTuple):
    """Mean and deviation of the cosine between a query and unrelated passages; slope and offset of the logistic
    curve that turns odds into a probability."""

    mean: float
    deviation: float
    slope: float
    offset: float


class MaxSimScale(NamedTuple):
    """Mean and deviation of MaxSim between unrelated texts: one in forty exceeds twice the deviation."""

    mean: float
    deviation: float


MAXSIM = MaxSimScale(0.172, 0.01125)
KEYWORD = Scale(0.0, 1.0, 0.45, -4.26)
CROSS_ENCODER = Scale(0.0, 1.0, 0.23, -3.69)
CROSS_ENCODER_AFTER_MAXSIM = Scale(0.0, 1.0, 0.171, -3.84)
_SPACES = {
    "commonplace-static": Scale(0.05, 0.115, 0.3, -3.9),
    "local-answerai-colbert": Scale(0.83, 0.03, 0.16, -3.4),
    "local-bge-small-en": Scale(0.38, 0.064, 0.37, -4.28),
    "local-bge-small-zh": Scale(0.30, 0.08, 0.37, -4.28),
}
_UNKNOWN_SPACE = Scale(0.30, 0.10, 0.36, -4.13)
_MIN_DEVIATION = 0.01
_BACKGROUND_RANK = 30  # the hit whose odds are the background
_UNRELATED_ODDS = -2.0  # of a passage that has nothing to do with the query
_MAX_LOGIT = 30.0


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


def calibrate(odds: float, scale: Scale) -> float:
    """Return the probability that a hit with these odds above the background is right."""
    logit = max(-_MAX_LOGIT, min(_MAX_LOGIT, scale.slope * odds + scale.offset))
    return round(1 / (1 + math.exp(-logit)), 4)
