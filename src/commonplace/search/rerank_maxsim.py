"""The best few looked at closely: compared with the question token by token, where that takes nothing but a look."""

from __future__ import annotations

from collections.abc import Iterable

from ..embedding.base import Embedder, MaxSimEmbedder
from .scoring import ScoredHit, Weights, put_first, rescore, sort_by_odds

_CLOSELY = 20  # hits that are looked at
_CHARACTERS = 1_000  # of a passage: what answers a question mostly stands early, and the longer, the more is like it
_USUAL = 0.5  # how like a question what is found for it mostly is


def rerank_maxsim(
    question: str, embedders: Iterable[Embedder], rows: list[ScoredHit], weights: Weights
) -> list[ScoredHit]:
    """The hits in their new order, where one of the embedders can tell at once."""
    teller = next((each for each in embedders if isinstance(each, MaxSimEmbedder)), None)
    if teller is None or not rows or not weights.close:
        return rows
    some = rows[:_CLOSELY]
    found = teller.maxsim(question, [row.hit.text[:_CHARACTERS] for row in some])
    if not found:
        return rows
    close = [each - _USUAL for each in found]
    again = rescore(some, [weights.close * each for each in close], weights)
    best = sort_by_odds(row._replace(close=each) for row, each in zip(again, close, strict=True))
    return put_first(best, rows[_CLOSELY:])
