"""Rerank the best hits: by MaxSim over token vectors, then by a cross-encoder where the settings ask for one."""

from __future__ import annotations

from collections.abc import Iterable

from ..embedding.base import Embedder, MaxSimEmbedder
from ..errors import Unavailable
from ..index.base import Index
from ..index.embedding_service import EmbeddingService
from ..model import Query
from .scoring import ScoredHit, Weights, put_first, rescore, sort_by_odds

MAXSIM_HITS = 20
CROSS_ENCODER_HITS = 30
_MAXSIM_CHARACTERS = 1_000  # of a passage: what answers a question mostly comes early, and long texts match by chance
_MEAN_MAXSIM = 0.5  # of a question and what is found for it
_CONTEXT_CHARACTERS = 400  # of the turn before: an answer is understood by its question


def rerank_maxsim(
    question: str, embedders: Iterable[Embedder], rows: list[ScoredHit], weights: Weights
) -> list[ScoredHit]:
    """Reorder the best hits by MaxSim, if one of the embedders has token vectors at hand."""
    embedder = next((each for each in embedders if isinstance(each, MaxSimEmbedder)), None)
    if embedder is None or not rows or not weights.close:
        return rows
    best = rows[:MAXSIM_HITS]
    similarities = embedder.maxsim(question, [row.hit.text[:_MAXSIM_CHARACTERS] for row in best])
    if not similarities:
        return rows
    excess = [similarity - _MEAN_MAXSIM for similarity in similarities]
    rescored = rescore(best, [weights.close * each for each in excess], weights)
    ordered = sort_by_odds(row._replace(close=each) for row, each in zip(rescored, excess, strict=True))
    return put_first(ordered, rows[MAXSIM_HITS:])


def rerank_cross_encoder(
    index: Index, query: Query, embedding: EmbeddingService, rows: list[ScoredHit], weights: Weights
) -> tuple[list[ScoredHit], str]:
    """Reorder the best hits by a model that reads query and passage together.

    The second value says why the order is unchanged when the reranker cannot serve.
    """
    try:
        reranker = embedding.reranker()
        if reranker is None or not rows or not reranker.accepts(query.text):
            return rows, ""
        best = rows[:CROSS_ENCODER_HITS]
        scores = reranker.score(query.text, [_passage_text(index, row) for row in best])
    except Unavailable as error:
        return rows, f"the hits were not read again: {error}"
    rescored = rescore(best, [weights.read * score for score in scores], weights)
    ordered = sort_by_odds(row._replace(read=score) for row, score in zip(rescored, scores, strict=True))
    return put_first(ordered, rows[CROSS_ENCODER_HITS:]), ""


def _passage_text(index: Index, row: ScoredHit) -> str:
    """A passage as the reranker reads it: a turn of a session with its date, after the turn before."""
    if row.hit.source != "session":
        return row.hit.text
    before = index.preceding_text(row.number)[-_CONTEXT_CHARACTERS:]
    return "\n".join(filter(None, (row.hit.at, before, row.hit.text)))
