"""Search, step by step: which passages answer a query?

    catch up -> parse query and filters -> lexical and dense candidates within the viewer's scope -> score
    -> rerank (MaxSim, cross-encoder) -> calibrate -> cut and excerpt -> hits

`search` is the whole pipeline over an opened home, `run_query` the part that needs nothing but an index. Where no
embedder can answer, the lexical candidates stand alone and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, get_args

from ..embedding.base import Embedder
from ..errors import InvalidArgument, InvalidChoice, NotAvailable, Unavailable
from ..index.base import Candidate, Index, Retriever, SingleQueryIndex
from ..index.embedding_service import ActiveEmbedders, EmbeddingService, Question
from ..model import EVERYTHING, Filters, Hit, Query, Viewer
from .bm25 import QueryTerms, build_batch_query, cut_excerpt, weigh_terms
from .calibration import BY_TOKEN, READ, READ_BY_TOKEN, WORDS, Scale, background_odds, calibrate, scale_for
from .filters import check_filters
from .rerank_cross_encoder import rerank_cross_encoder
from .rerank_maxsim import rerank_maxsim
from .scoring import WEIGHTS, ScoredHit, Weights, score_candidates

if TYPE_CHECKING:
    from ..embedding.base import Vectors
    from ..index.handle import IndexHandle, IndexView
    from ..settings import SearchSettings
    from ..storage.base import Storage

Mode = Literal["hybrid", "keyword"]
MAX_RESULTS = 100
_MAX_QUERY_CHARACTERS = 10_000  # a page pasted as a query says enough by then
_POOL_SIZE = 60  # candidates from each of the two retrievers
_DEEP_POOLS = 32  # pools to read when copies of a few texts filled the first one
_SECONDARY_WEIGHT = 0.33  # what the packaged model adds to a larger one


class SearchResult(NamedTuple):
    """The hits, best first, and how far to trust them.

    `fallback`: the configured embedder could not answer and keywords answered alone. `stale`: the index is behind.
    """

    hits: tuple[Hit, ...]
    mode: Mode
    provider: str
    model: str
    fallback: bool
    reasons: tuple[str, ...] = ()  # why an embedder or a reranker could not serve
    ranked: tuple[ScoredHit, ...] = ()  # one for each hit: what every factor added to its score
    stale: bool = False
    warnings: tuple[str, ...] = ()  # the reasons, and what is wrong with the index or with pages


class Visible(Protocol):
    """Who asks, and what they may be told."""

    def viewer(self) -> Viewer: ...

    def filter_warnings(self, view: IndexView) -> tuple[str, ...]: ...


class Searchable(Protocol):
    """What the pipeline needs of an opened home."""

    agent: str
    storage: Storage

    @property
    def search_settings(self) -> SearchSettings: ...

    @property
    def index(self) -> IndexHandle: ...

    @property
    def embedding(self) -> EmbeddingService: ...

    @property
    def visibility(self) -> Visible: ...

    def today(self) -> date: ...

    def record_recall(self, paths: Iterable[str]) -> None: ...


def search(
    home: Searchable,
    text: str,
    limit: int | None = None,
    min_score: float | None = None,
    viewer: Viewer | None = None,
    filters: Filters = EVERYTHING,
    mode: str | None = None,
) -> SearchResult:
    """Answer a query from everything the viewer may see; what the caller leaves out, the settings decide."""
    home.storage.check()
    require_search(home)
    embedding = _choose_embedding(home, mode)
    query = _parse_query(home, text, limit, min_score, viewer, filters)

    def answer(view: IndexView) -> SearchResult:
        result = run_query(view.index, query, embedding)
        home.record_recall(hit.path for hit in result.hits)
        return result._replace(stale=view.stale, warnings=(*result.reasons, *home.visibility.filter_warnings(view)))

    embedding.prefetch(query.text)
    return home.index.query(answer)


def require_search(home: Searchable) -> None:
    """Raise NotAvailable where the settings switch search off for this agent."""
    if not home.search_settings.enabled:
        raise NotAvailable(f"search is off for {home.agent}: set memorySearch.enabled to true in commonplace.yaml")


def _choose_embedding(home: Searchable, mode: str | None) -> EmbeddingService:
    """The embedding service for a mode: none at all for `keyword`, the packaged model if `hybrid` is asked for but the
    settings name no provider."""
    if mode not in (None, *get_args(Mode)):
        raise InvalidChoice("mode", get_args(Mode), str(mode))
    is_hybrid = home.search_settings.provider != "none"
    if mode == "keyword" and is_hybrid:
        return home.embedding.without_embedder()
    if mode == "hybrid" and not is_hybrid:
        return home.embedding.packaged_model()
    return home.embedding


def _parse_query(
    home: Searchable,
    text: str,
    limit: int | None,
    min_score: float | None,
    viewer: Viewer | None,
    filters: Filters,
) -> Query:
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgument("the query is blank: say what you are looking for")
    for name, number in (("limit", limit), ("min_score", min_score)):
        if number is not None and not (isinstance(number, (int, float)) and isfinite(number)):
            raise InvalidArgument(f"{name} must be a number, not {number!r}")
    check_filters(filters)
    settings = home.search_settings
    most = settings.max_results if limit is None else max(1, min(MAX_RESULTS, int(limit)))
    threshold = settings.min_score if min_score is None else min_score
    today = home.today().toordinal()
    return Query(
        text[:_MAX_QUERY_CHARACTERS], viewer or home.visibility.viewer(), most, threshold or 0.0, filters, today
    )


def run_query(index: Index, query: Query, embedding: EmbeddingService, weights: Weights = WEIGHTS) -> SearchResult:
    """Rank the passages of an index that answer a query, among those its viewer may see."""
    legs = _legs(index, query, embedding)
    with index.read_transaction():
        rows, likeness, asked = _candidates(index, query, legs, weights)
        rows = rerank_maxsim(query.text, legs.served.embedders, rows, weights)
        usual = background_odds([row.odds for row in rows])
        rows, reason = rerank_cross_encoder(index, query, embedding, rows, weights)
    served = legs.served
    scale = _scale(legs, read=bool(rows) and rows[0].read is not None)
    mode: Mode = "keyword" if likeness is None else "hybrid"
    scored = [(row, calibrate(row.odds - usual, scale)) for row in rows[: query.limit]]
    kept = [(row, score) for row, score in scored if score >= query.min_score]
    words = list(asked.weights)
    hits = tuple(row.hit._replace(score=score, text=cut_excerpt(row.hit.text, words)) for row, score in kept)
    ranked_hits = tuple(row._replace(odds=row.odds - usual, background=usual) for row, _ in kept)
    reasons = tuple(filter(None, (served.reason, reason)))
    return SearchResult(hits, mode, served.provider, served.model, served.failed, reasons, ranked_hits)


class _Question(NamedTuple):
    """A question as a vector of one space. `beside`: it only adds to what a larger model says."""

    space: str
    vector: Vectors
    tokens: Vectors | None
    beside: bool


class _Legs(NamedTuple):
    served: ActiveEmbedders
    questions: tuple[_Question, ...]


def _scale(legs: _Legs, *, read: bool) -> Scale:
    """How odds become a calibrate, by who had a say."""
    if read:
        return READ_BY_TOKEN if any(each.tokens is not None for each in legs.questions) else READ
    return scale_for(legs.questions[0].space) if legs.questions else WORDS


def _legs(index: Index, query: Query, embedding: EmbeddingService) -> _Legs:
    """Who answers by embedding, and the question in the space of each. Nothing is read yet that has to fit together."""
    served = embedding.acquire(index)
    takers = [each for each in served.embedders if each.accepts(query.text)]
    if not served.beside:
        takers = takers or list(served.embedders)
    try:
        questions = [
            _Question(each.space, *_asked_in(index, embedding, each, query.text), beside=False) for each in takers
        ]
    except Unavailable as error:
        embedding.mark_failed(error)
        return _Legs(served._replace(embedders=(), failed=True, reason=str(error)), ())
    if served.beside:
        alone = not takers  # in a script that the larger ones do not read
        questions.append(_Question(served.beside.space, served.beside.embed_query(query.text), None, beside=not alone))
    return _Legs(served, tuple(questions))


def _asked_in(index: Index, embedding: EmbeddingService, embedder: Embedder, text: str) -> Question:
    question = embedding.embed_query(embedder, text)
    if not index.accepts_dimensions(embedder.space, len(question.vector)):
        index.drop_space(embedder.space)
        raise Unavailable(f"{embedder.model} gives other vectors than before: the next search embeds everything anew")
    return question


def _candidates(
    index: Index, query: Query, legs: _Legs, weights: Weights
) -> tuple[list[ScoredHit], Mapping[int, float] | None, QueryTerms]:
    """What both legs find, weighed."""
    pool = _POOL_SIZE if query.limit <= _POOL_SIZE // 2 else query.limit * 2
    finder: Retriever = index
    if isinstance(index, SingleQueryIndex):
        questions = ((each.space, each.vector) for each in legs.questions)
        finder = index.fetch(build_batch_query(query, questions, pool))
    asked = weigh_terms(finder, query.text, query.viewer)
    found = _by_words(finder, query, asked, pool)
    likeness = _by_meaning(finder, query, legs.questions, pool, list(found), weights.tokens)
    others = finder.load_candidates([number for number in likeness or () if number not in found])
    return score_candidates(query, asked, [*found.values(), *others], likeness, weights), likeness, asked


def _by_words(index: Retriever, query: Query, asked: QueryTerms, pool: int) -> dict[int, Candidate]:
    """What holds the words. Where copies of a few texts took most of the places, what comes after them is heard too."""
    lookup = {word: asked.weights[word] for word in asked.lookup}
    if not lookup:
        return {}
    numbers = index.match_terms(lookup, query.viewer, query.filters, pool)
    found = {each.number: each for each in index.load_candidates(numbers)}
    if len(numbers) >= pool and len({each.hit.text for each in found.values()}) < pool // 4:
        deeper = index.match_terms(lookup, query.viewer, query.filters, pool * _DEEP_POOLS)
        found |= _one_of_each(index, [number for number in deeper if number not in found], pool)
    return found


def _one_of_each(index: Retriever, numbers: Sequence[int], most: int) -> dict[int, Candidate]:
    """The first of every text, as many as asked for."""
    found = {each.number: each for each in index.load_candidates(numbers)}
    first = {found[number].hit.text: number for number in reversed(numbers)}
    return {number: found[number] for number in sorted(first.values(), key=numbers.index)[:most]}


def _by_meaning(
    index: Retriever, query: Query, questions: Sequence[_Question], pool: int, also: list[int], by_token: float
) -> Mapping[int, float] | None:
    """How like the question passages are: the nearest of every space, and those that words have found."""
    if not questions:
        return None
    nearest = [dict(index.nearest(each.space, each.vector, query.viewer, query.filters, pool)) for each in questions]
    every = list(dict.fromkeys([*also, *(number for near in nearest for number in near)]))
    found: dict[int, float] = {}
    for question, near in zip(questions, nearest, strict=True):
        others = [number for number in every if number not in near]
        like = _standing_out(index, question, near | index.cosines(question.space, question.vector, others))
        like |= _token_by_token(index, question, like, by_token)
        if question.beside:
            like = {number: found.get(number, likely) + _SECONDARY_WEIGHT * likely for number, likely in like.items()}
        found |= like
    return found


def _standing_out(index: Retriever, question: _Question, cosines: Mapping[int, float]) -> dict[int, float]:
    """How far the likeness of passages stands out in a space, in standard deviations."""
    scale = scale_for(question.space, index.similarity_stats(question.space))
    return {number: (cosine - scale.mean) / scale.deviation for number, cosine in cosines.items()}


def _token_by_token(index: Retriever, question: _Question, like: Mapping[int, float], share: float) -> dict[int, float]:
    """The same of passages whose tokens are kept: those tell more than whole texts do."""
    if question.tokens is None or not len(question.tokens) or not share:
        return {}
    from ..embedding.late_interaction import maxsim

    close = maxsim(question.tokens, *index.token_vectors(question.space, list(like)))
    return {
        number: share * (close[number] - BY_TOKEN.mean) / BY_TOKEN.deviation + (1 - share) * whole
        for number, whole in like.items()
        if number in close
    }
