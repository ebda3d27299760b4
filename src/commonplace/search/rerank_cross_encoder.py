"""The best few read again, question and passage together, by a small cross-encoder where the settings ask for one."""

from __future__ import annotations

from ..errors import Unavailable
from ..index.base import Index
from ..index.embedding_service import EmbeddingService
from ..model import Query
from .scoring import ScoredHit, Weights, put_first, rescore, sort_by_odds

_READ = 30  # hits that are read again
_BEFORE = 400  # characters of what stands before a turn: an answer is understood by its question


def rerank_cross_encoder(
    index: Index, query: Query, embedding: EmbeddingService, rows: list[ScoredHit], weights: Weights
) -> tuple[list[ScoredHit], str]:
    """The hits in their new order; as they were, and why, when no reranker serves."""
    try:
        reranker = embedding.reranker()
        if reranker is None or not rows or not reranker.accepts(query.text):
            return rows, ""
        some = rows[:_READ]
        read = reranker.score(query.text, [_told(index, row) for row in some])
    except Unavailable as error:
        return rows, f"the hits were not read again: {error}"
    found = rescore(some, [weights.read * score for score in read], weights)
    again = sort_by_odds(row._replace(read=score) for row, score in zip(found, read, strict=True))
    return put_first(again, rows[_READ:]), ""


def _told(index: Index, row: ScoredHit) -> str:
    """A passage as the reranker reads it: a turn of a session with its date, and after the turn before."""
    if row.hit.source != "session":
        return row.hit.text
    before = index.preceding_text(row.number)[-_BEFORE:]
    return "\n".join(filter(None, (row.hit.at, before, row.hit.text)))
