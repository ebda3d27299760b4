"""Dense retrieval: a query in the vector space of every embedder that can answer it, and how similar passages are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..embedding.base import Embedder
from ..errors import Unavailable
from ..index.base import Retriever, VectorStore
from ..index.embedding_service import ActiveEmbedders, EmbeddingService
from ..model import Query, Viewer
from .calibration import MAXSIM, scale_for

if TYPE_CHECKING:
    from ..embedding.base import Vectors

_SECONDARY_WEIGHT = 0.33  # what the packaged model adds to a larger one
_COSINE_DIGITS = 5  # of a similarity; the last ones of a float depend on how it was computed


class QueryVector(NamedTuple):
    """A query in one vector space. `is_secondary`: its similarity only adds to that of a larger model."""

    space: str
    vector: Vectors
    tokens: Vectors | None
    is_secondary: bool


class QueryVectors(NamedTuple):
    active: ActiveEmbedders
    vectors: tuple[QueryVector, ...]


def embed_query(store: VectorStore, query: Query, embedding: EmbeddingService) -> QueryVectors:
    """Embed the query in the space of every embedder that can answer it."""
    active = embedding.acquire(store, query.viewer)
    embedders = [embedder for embedder in active.embedders if embedder.accepts(query.text)]
    if not active.secondary:
        embedders = embedders or list(active.embedders)
    try:
        vectors = [_embed_in_space(store, embedding, embedder, query.text) for embedder in embedders]
    except Unavailable as error:
        embedding.mark_failed(error)
        return QueryVectors(active._replace(embedders=(), failed=True, reason=str(error)), ())
    if active.secondary:
        is_alone = not embedders  # the query is in a script that the larger models do not read
        vector = active.secondary.embed_query(query.text)
        vectors.append(QueryVector(active.secondary.space, vector, None, is_secondary=not is_alone))
    return QueryVectors(active, tuple(vectors))


def _embed_in_space(store: VectorStore, embedding: EmbeddingService, embedder: Embedder, text: str) -> QueryVector:
    vector, tokens = embedding.embed_query(embedder, text)
    if not store.accepts_dimensions(embedder.space, len(vector)):
        store.drop_space(embedder.space)
        raise Unavailable(f"{embedder.model} now gives other vectors: the next search embeds everything again")
    return QueryVector(embedder.space, vector, tokens, is_secondary=False)


def find_by_similarity(
    index: Retriever,
    query: Query,
    vectors: Sequence[QueryVector],
    pool: int,
    lexical: list[int],
    maxsim_share: float,
) -> Mapping[int, float] | None:
    """Return the z-scores of the nearest passages of every space, and of the lexical candidates."""
    if not vectors:
        return None
    nearest = [
        dict(index.nearest(vector.space, vector.vector, query.viewer, query.filters, pool)) for vector in vectors
    ]
    passages = list(dict.fromkeys([*lexical, *(number for near in nearest for number in near)]))
    z_scores: dict[int, float] = {}
    for vector, near in zip(vectors, nearest, strict=True):
        others = [number for number in passages if number not in near]
        scores = _z_scores(index, vector, query.viewer, near | index.cosines(vector.space, vector.vector, others))
        scores |= _blend_maxsim(index, vector, scores, maxsim_share)
        if vector.is_secondary:
            scores = {number: z_scores.get(number, z) + _SECONDARY_WEIGHT * z for number, z in scores.items()}
        z_scores |= scores
    return z_scores


def _z_scores(index: Retriever, vector: QueryVector, viewer: Viewer, cosines: Mapping[int, float]) -> dict[int, float]:
    """Return cosines as z-scores; rounded, so that copies of a text have the same, however each was computed."""

    def measure() -> tuple[float, float] | None:
        return index.similarity_stats(vector.space, viewer)

    scale = scale_for(vector.space, measure)
    return {
        number: (round(cosine, _COSINE_DIGITS) - scale.mean) / scale.deviation for number, cosine in cosines.items()
    }


def _blend_maxsim(
    index: Retriever, vector: QueryVector, z_scores: Mapping[int, float], share: float
) -> dict[int, float]:
    """Return z-scores with MaxSim blended in, for passages with token vectors: it ranks better than a cosine."""
    if vector.tokens is None or not len(vector.tokens) or not share:
        return {}
    from ..embedding.late_interaction import maxsim

    similarities = maxsim(vector.tokens, *index.token_vectors(vector.space, list(z_scores)))
    return {
        number: share * (similarities[number] - MAXSIM.mean) / MAXSIM.deviation + (1 - share) * z_score
        for number, z_score in z_scores.items()
        if number in similarities
    }
