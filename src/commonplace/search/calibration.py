"""What the numbers are worth: likeness in standard deviations of its space, odds as the chance that a hit is right.

A hit is as likely right as it stands out from what is also found: from the thirtieth best, or, where fewer are found,
from what the thirtieth would be worth. Fitted by `bench/calibrate.py`, with a reliability table in
`docs/benchmarks.md`, so that one cut means the same whoever answers: 0.5 is as often right as wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Scale(NamedTuple):
    """The cosine of a question with passages that have nothing to do with it, and how odds become a chance."""

    mean: float
    deviation: float
    slope: float
    offset: float


class Spread(NamedTuple):
    """Token by token, how like texts are that have nothing to do with each other: one in forty stands out twice."""

    mean: float
    deviation: float


BY_TOKEN = Spread(0.172, 0.01125)
WORDS = Scale(0.0, 1.0, 0.45, -4.26)
READ = Scale(0.0, 1.0, 0.23, -3.69)  # after a reranker
READ_BY_TOKEN = Scale(0.0, 1.0, 0.171, -3.84)  # the same of what was found token by token
_SPACES = {
    "commonplace-static": Scale(0.05, 0.115, 0.3, -3.9),
    "local-answerai-colbert": Scale(0.83, 0.03, 0.16, -3.4),
    "local-bge-small-en": Scale(0.38, 0.064, 0.37, -4.28),
    "local-bge-small-zh": Scale(0.30, 0.08, 0.37, -4.28),
}
_OTHER = Scale(0.30, 0.10, 0.36, -4.13)
_BACKGROUND = 30
_NOTHING = -2.0  # the odds of a passage that has nothing to do with the question


def scale_for(space: str, spread: tuple[float, float] | None = None) -> Scale:
    """The scale of a space: of one we know, as it was measured; of another, as its own vectors lie."""
    known = next((scale for name, scale in _SPACES.items() if space.startswith(name)), None)
    if known:
        return known
    return _OTHER._replace(mean=spread[0], deviation=max(spread[1], 0.01)) if spread else _OTHER


def background_odds(odds: Sequence[float]) -> float:
    """What a hit has to stand out from, given the odds of all, best first."""
    if not odds:
        return _NOTHING
    found = min(len(odds), _BACKGROUND)
    return _NOTHING + (odds[found - 1] - _NOTHING) * found / _BACKGROUND


def calibrate(odds: float, scale: Scale) -> float:
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, scale.slope * odds + scale.offset)))), 4)
