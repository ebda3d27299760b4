"""The best few looked at closely: compared with the question token by token, where that takes nothing but a look."""

from __future__ import annotations

from collections.abc import Iterable

from ..embedding.base import AtHand, Embedder
from .scoring import Ranked, Weights, before_the_rest, best_first, weighed_again

_CLOSELY = 20  # hits that are looked at
_CHARACTERS = 1_000  # of a passage: what answers a question mostly stands early, and the longer, the more is like it
_USUAL = 0.5  # how like a question what is found for it mostly is


def closely(question: str, embedders: Iterable[Embedder], rows: list[Ranked], weights: Weights) -> list[Ranked]:
    """The hits in their new order, where one of the embedders can tell at once."""
    teller = next((each for each in embedders if isinstance(each, AtHand)), None)
    if teller is None or not rows or not weights.close:
        return rows
    some = rows[:_CLOSELY]
    found = teller.closeness(question, [row.hit.text[:_CHARACTERS] for row in some])
    if not found:
        return rows
    close = [each - _USUAL for each in found]
    again = weighed_again(some, [weights.close * each for each in close], weights)
    best = best_first(row._replace(close=each) for row, each in zip(again, close, strict=True))
    return before_the_rest(best, rows[_CLOSELY:])
