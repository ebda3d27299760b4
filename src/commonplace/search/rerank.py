"""Rerank the best hits: by MaxSim over token vectors, then by a cross-encoder where the settings ask for one."""

from __future__ import annotations

from collections.abc import Iterable

from ..embedding.base import Embedder, MaxSimEmbedder
from ..errors import Unavailable
from ..index.base import SearchIndex
from ..index.embedding_service import EmbeddingService
from ..model import Query
from .bm25 import similar_shares
from .candidates import Candidates
from .scoring import ScoredHit, Weights, put_first, rescore, sort_by_odds

MAXSIM_HITS = 40
CROSS_ENCODER_HITS = 30
_MAXSIM_CHARACTERS = 1_000  # of a passage: the answer is usually at its start, and long texts match by chance
_MEAN_MAXSIM = 0.5  # between a query and the passages found for it
_CONTEXT_CHARACTERS = 400  # of the turn before: an answer is understood by the question before it


def rerank_maxsim(
    query: str, embedders: Iterable[Embedder], rows: list[ScoredHit], weights: Weights, candidates: Candidates
) -> list[ScoredHit]:
    """Reorder the best hits by MaxSim, and by words that are similar to those of the query that they lack, if one of
    the embedders can compare words."""
    maxsim_embedder = next((embedder for embedder in embedders if isinstance(embedder, MaxSimEmbedder)), None)
    if maxsim_embedder is None or not rows or not weights.maxsim:
        return rows
    best = rows[:MAXSIM_HITS]
    compared = maxsim_embedder.compare(query, [_answer_text(row)[:_MAXSIM_CHARACTERS] for row in best])
    if not compared:
        return rows
    by_number = {candidate.number: candidate for candidate in candidates.passages}
    shares = similar_shares(candidates.terms, [by_number[row.number] for row in best], compared.words)
    excess = [similarity - _MEAN_MAXSIM for similarity in compared.maxsim]
    rescored = rescore(best, [weights.maxsim * value for value in excess], weights)
    ordered = sort_by_odds(
        row._replace(odds=row.odds + weights.similar * share, maxsim=value, similar=share)
        for row, value, share in zip(rescored, excess, shares, strict=True)
    )
    return put_first(ordered, rows[MAXSIM_HITS:])


def _answer_text(row: ScoredHit) -> str:
    """Return a passage with the question that it answers, if there is one."""
    return f"{row.question}\n{row.hit.text}" if row.question else row.hit.text


def rerank_cross_encoder(
    index: SearchIndex, query: Query, embedding: EmbeddingService, rows: list[ScoredHit], weights: Weights
) -> tuple[list[ScoredHit], str]:
    """Reorder the best hits by a cross-encoder, which reads query and passage together.

    Returns the hits, and why they are unchanged if the cross-encoder cannot run.
    """
    try:
        reranker = embedding.reranker()
        if reranker is None or not rows or not reranker.accepts(query.text):
            return rows, ""
        best = rows[:CROSS_ENCODER_HITS]
        scores = reranker.score(query.text, [_passage_text(index, row) for row in best])
    except Unavailable as error:
        return rows, f"the hits were not reranked: {error}"
    rescored = rescore(best, [weights.cross_encoder * score for score in scores], weights)
    ordered = sort_by_odds(row._replace(cross_encoder=score) for row, score in zip(rescored, scores, strict=True))
    return put_first(ordered, rows[CROSS_ENCODER_HITS:]), ""


def _passage_text(index: SearchIndex, row: ScoredHit) -> str:
    """Return a passage as the cross-encoder reads it: a turn of a session has its date and the turn before it."""
    if row.hit.source != "session":
        return row.hit.text
    before = index.preceding_text(row.number)[-_CONTEXT_CHARACTERS:]
    return "\n".join(filter(None, (row.hit.at, before, row.hit.text)))
