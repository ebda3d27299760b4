"""Search, step by step: which passages answer a query?

    catch up -> parse query and filters -> lexical and dense candidates within the viewer's scope -> score
    -> rerank (MaxSim, cross-encoder) -> calibrate -> cut and excerpt -> newer versions first -> hits

`search` is the whole pipeline over an opened home, `run_query` the part that needs nothing but an index. Where no
embedder can answer, the lexical candidates are the only ones and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, tzinfo
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

from ..errors import InvalidArgument, InvalidChoice, NotAvailable, WrongType
from ..formats.passages import show_passage
from ..formats.transcripts import ASSISTANT_STARTS
from ..index.base import Index, SearchIndex, VectorStore
from ..index.embedding_service import EmbeddingService
from ..model import EVERYTHING, WEAK_SCORE, Filters, Hit, Query, Successor, Verdict, Viewer
from ..schema import COUNT, NUMBER, WORDS, check, json_type
from ..tracing import trace_calls
from .answer_kinds import asks_question
from .bm25 import QueryTerms, asks_only_for_tasks, cut_excerpt
from .calibration import (
    CROSS_ENCODER,
    CROSS_ENCODER_AFTER_MAXSIM,
    KEYWORD,
    SELECTION,
    Asked,
    Evidence,
    Match,
    Scale,
    are_notes,
    background_odds,
    calibrate,
    scale_for,
    weigh_evidence,
)
from .candidates import Candidates, find_candidates, words_to_find
from .coverage import AskedWord, Coverage, split_question, split_task
from .dates import NO_DATES, QueryDates, read_dates, strip_request
from .dense import QueryVectors, embed_query
from .filters import check_filters, end_of_day
from .marks import mark_hits
from .replacements import RankedHit
from .rerank import rerank_cross_encoder, rerank_maxsim
from .scoring import (
    WEIGHTS,
    ScoredHit,
    Weights,
    answer_open_question,
    cover_words,
    drop_duplicates,
    drop_unlikely,
    explain_hit,
    fits_dates,
    has_dated_hit,
    lower_without_kind,
    put_first,
    put_named_first,
    score_candidates,
    select_open_tasks,
    sort_by_day,
)
from .truth import MAX_MARKED_HITS, mark_versions, widen_query

if TYPE_CHECKING:
    from ..index.handle import IndexHandle, IndexView
    from ..settings import SearchSettings
    from ..storage.authors import Authors, Provenance
    from ..storage.base import Storage
    from .as_of import Overlays
    from .pins import Repository

Mode = Literal["hybrid", "keyword"]
_FOUND_SCORE = 0.5  # from this score on, the best hit is more likely right than wrong
MAX_RESULTS = 100  # of one search, however many are asked for
_MAX_QUERY_CHARACTERS = 10_000  # of a page that is pasted as a query
_AUTHOR_POOL_HITS = 200  # among which hits by one author are looked for
_MAX_SUPPORT_LEAD = 3.0  # of the support of a page over the odds of a passage on it
_MAX_QUESTION_CHARACTERS = 400  # of the question that is shown with an answer
_OTHER_DAYS_SHARE = 0.5  # hits of other days score at most this share of the lowest score of the days asked about
_MAX_OTHER_DAYS_SCORE = 0.3  # for a hit of other days, if the query asks for little besides days


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
    dates: QueryDates = NO_DATES  # the days that the query names
    has_dated: bool = True  # whether any hit is of these days

    @property
    def verdict(self) -> Verdict:
        """Whether the best hit is likely to be right."""
        best = max((hit.score for hit in self.hits), default=0.0)
        return "found" if best >= _FOUND_SCORE else "weak" if best >= WEAK_SCORE else "nothing"


class Visible(Protocol):
    """Who asks, and what may be shown to them."""

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

    @property
    def authors(self) -> Authors: ...

    @property
    def overlays(self) -> Overlays: ...

    @property
    def repository(self) -> Repository | None: ...

    @property
    def zone(self) -> tzinfo: ...

    def today(self) -> date: ...

    def record_recall(self, paths: Iterable[str]) -> None: ...


@trace_calls("search")
def search(
    home: Searchable,
    text: str,
    limit: int | None = None,
    min_score: float | None = None,
    viewer: Viewer | None = None,
    filters: Filters = EVERYTHING,
    mode: str | None = None,
    *,
    only_approved_versions: bool = False,
    min_replaced_score: float = 0.0,
    is_prompt: bool = False,
) -> SearchResult:
    """Answer a query from everything the viewer may see; what the caller leaves out, the settings decide. With
    `only_approved_versions`, nothing replaces a fact but what a person wrote or approved. No newer version is looked
    for of a hit below `min_replaced_score`, which saves time where such hits are not shown. With `is_prompt`, the text
    is what a user says to an agent."""
    home.storage.check()
    require_search(home)
    embedding = _choose_embedding(home, mode)
    query = parse_query(home, text, limit, min_score, viewer, filters)
    query = query._replace(
        only_approved_versions=only_approved_versions,
        min_replaced_score=min_replaced_score,
        is_task=is_prompt and not asks_question(text),
    )
    wide = query._replace(limit=_AUTHOR_POOL_HITS if filters.author else max(query.limit, MAX_MARKED_HITS))

    def answer(view: IndexView) -> SearchResult:
        result = _run_query_then(home, view.index, wide, embedding)
        warnings = (*result.reasons, *_warn_of_dates(result), *home.visibility.filter_warnings(view))
        return result._replace(stale=view.stale, warnings=(*warnings, *result.warnings))

    embedding.prefetch(_text_to_embed(query, read_dates(query.text, query.today)))
    result = _add_authors(home, _cut(home.index.query(answer), query), query)
    if query.filters.as_of is None:
        home.record_recall(hit.path for hit in result.hits)
    return result


def _run_query_then(home: Searchable, index: Index, query: Query, embedding: EmbeddingService) -> SearchResult:
    """Run a query over memory as it is or, where the query says so, as it was at the end of a day."""
    day = query.filters.as_of
    if day is None:
        return _mark_versions(home, index, query, run_query(index, widen_query(query), embedding))
    from .as_of import IndexAsOf, embed_overlay

    overlay = home.overlays.open(home.index.scope, query.viewer, day, _find_moment(home, query))
    embed_overlay(overlay, embedding.acquire(index, query.viewer))
    then = IndexAsOf(index, overlay)
    result = _mark_versions(home, then, query, run_query(index, widen_query(query), embedding, past=then))
    shown = query.filters.moment or str(date.fromordinal(day))
    hits = tuple(_cite_as_of(hit, shown) for hit in result.hits)
    return result._replace(hits=hits, warnings=overlay.warnings)


def _cite_as_of(hit: Hit, day: str) -> Hit:
    newer = hit.superseded_by
    older = tuple(each._replace(as_of=day) for each in hit.supersedes)
    return hit._replace(as_of=day, superseded_by=newer._replace(as_of=day) if newer else None, supersedes=older)


def _mark_versions(home: Searchable, index: SearchIndex, query: Query, result: SearchResult) -> SearchResult:
    """Mark the hits whose fact has a newer version; see `truth`."""

    def find_origins(hits: Sequence[Hit]) -> list[Provenance]:
        return home.authors.find_of_hits(hits, _find_moment(home, query))

    with index.read_transaction():
        ranked = list(zip(result.ranked, result.hits, strict=True))
        marked = mark_versions(index, query, ranked, find_origins, result.dates if result.has_dated else NO_DATES)
    return _with_hits(result, marked)


def _find_moment(home: Searchable, query: Query) -> str:
    """Return the moment of an `as_of` query; empty for now."""
    day = query.filters.as_of
    return "" if day is None else query.filters.moment or end_of_day(day, home.zone)


def _cut(result: SearchResult, query: Query) -> SearchResult:
    """Return the requested hits. More were ranked, so that scores do not depend on the limit."""
    ranked = [pair for pair in zip(result.ranked, result.hits, strict=True) if pair[1].score >= query.min_score]
    return _with_hits(result, ranked if query.filters.author else ranked[: query.limit])


def _with_hits(result: SearchResult, ranked: Sequence[RankedHit]) -> SearchResult:
    return result._replace(hits=tuple(hit for _, hit in ranked), ranked=tuple(row for row, _ in ranked))


def _warn_of_dates(result: SearchResult) -> tuple[str, ...]:
    if result.has_dated:
        return ()
    notice = f"nothing is dated {result.dates.describe_plainly()}"
    return (f"{notice}: the hits are from other days" if result.hits else notice,)


def _add_authors(home: Searchable, result: SearchResult, query: Query) -> SearchResult:
    """Return the hits with their authors; only those by the author that the query asks for, if it does."""
    newer = [hit.superseded_by for hit in result.hits if hit.superseded_by]
    places: list[Hit | Successor] = [*result.hits, *newer]
    moment = _find_moment(home, query)
    origins = home.authors.find([(place.path, place.start, place.end) for place in places], moment)
    authors = {place: origin.author for place, origin in zip(newer, origins[len(result.hits) :], strict=True)}
    origins = origins[: len(result.hits)]
    hits = [_add_author(hit, origin.author, authors) for hit, origin in zip(result.hits, origins, strict=True)]
    wanted = query.filters.author
    chosen = [at for at, origin in enumerate(origins) if not wanted or wanted in origin.names]
    distinct = {row.number for row in drop_duplicates(result.ranked[at] for at in chosen)}
    chosen = [at for at in chosen if result.ranked[at].number in distinct][: query.limit]
    ranked = [(result.ranked[at], hits[at]) for at in chosen]
    marked = mark_hits(home, ranked, [origins[at] for at in chosen], query)
    return _with_hits(result, marked)


def _add_author(hit: Hit, author: str, authors: Mapping[Successor, str]) -> Hit:
    newer = hit.superseded_by
    return hit._replace(author=author, superseded_by=newer._replace(author=authors[newer]) if newer else None)


def require_search(home: Searchable) -> None:
    """Raise NotAvailable if the settings switch search off for this agent."""
    if not home.search_settings.enabled:
        raise NotAvailable(f"search is off for {home.agent}: set memorySearch.enabled to true in commonplace.yaml")


def _choose_embedding(home: Searchable, mode: str | None) -> EmbeddingService:
    """Return the embedding service for a mode: without embedders for `keyword`, with the packaged model for `hybrid`
    if the settings have no provider."""
    if mode not in (None, *get_args(Mode)):
        raise InvalidChoice("mode", get_args(Mode), str(mode))
    is_hybrid = home.search_settings.provider != "none"
    if mode == "keyword" and is_hybrid:
        return home.embedding.without_embedder()
    if mode == "hybrid" and not is_hybrid:
        return home.embedding.packaged_model()
    return home.embedding


def parse_query(
    home: Searchable,
    text: str,
    limit: int | None = None,
    min_score: float | None = None,
    viewer: Viewer | None = None,
    filters: Filters = EVERYTHING,
) -> Query:
    """Return a checked query; what the caller leaves out, the settings decide. InvalidArgument for a blank one."""
    if not isinstance(text, str):
        raise WrongType("query", WORDS["string"], WORDS[json_type(text)], text)
    if not text.strip():
        raise InvalidArgument("the query is blank: say what you are looking for")
    for name, number, schema in (("limit", limit, COUNT), ("min_score", min_score, NUMBER)):
        if number is not None:
            check(schema, number, name)
    check_filters(filters)
    settings = home.search_settings
    max_hits = settings.max_results if limit is None else min(MAX_RESULTS, int(limit))
    threshold = settings.min_score if min_score is None else min_score
    today = home.today().toordinal()
    if filters.as_of is not None:
        is_ahead = filters.as_of > today
        filters = filters._replace(as_of=min(filters.as_of, today), moment="" if is_ahead else filters.moment)
    asked = strip_request(text[:_MAX_QUERY_CHARACTERS])
    return Query(asked, viewer or home.visibility.viewer(), max_hits, threshold or 0.0, filters, today)


def run_query(
    index: Index,
    query: Query,
    embedding: EmbeddingService,
    weights: Weights = WEIGHTS,
    *,
    past: SearchIndex | None = None,
) -> SearchResult:
    """Rank the passages of an index that answer a query, among those its viewer may see; or those of the `past`, with
    the embedders of the index.

    Passages of the days that the query names come first. A query that asks for nothing else, and finds nothing of these
    days, is searched for as words.
    """
    dates = read_dates(query.text, query.today)
    searched = past or index
    result = _run_dated_query(index, searched, query, embedding, weights, dates)
    if result.has_dated or dates.has_content:
        return result
    undated = dates._replace(rest=query.text, is_relative=False, has_content=True)
    result = _run_dated_query(index, searched, query, embedding, weights, undated)
    return result._replace(dates=dates, has_dated=False)


def _run_dated_query(
    store: VectorStore,
    index: SearchIndex,
    query: Query,
    embedding: EmbeddingService,
    weights: Weights,
    dates: QueryDates,
) -> SearchResult:
    by_meaning = query._replace(text=_text_to_embed(query, dates))
    vectors = embed_query(store, by_meaning, embedding)
    with index.read_transaction():
        by_words = query._replace(text=words_to_find(index, query, dates))
        candidates = find_candidates(index, by_words, dates, vectors, weights)
        rows = score_candidates(query, candidates.terms, candidates.passages, candidates.z_scores, weights, dates)
        rows = rerank_maxsim(by_meaning.text, vectors.active.embedders, rows, weights, candidates)
        distinct = drop_duplicates(rows)
        background = background_odds(sorted((_certain_odds(row, weights) for row in distinct), reverse=True))
        if not query.filters.author:  # the best copy of a text may be by another author
            rows = distinct
        rows, reason = rerank_cross_encoder(index, by_meaning, embedding, rows, weights)
        has_dated = not dates.spans or has_dated_hit(query, rows, dates)
        rows = _select_by_date(rows, dates)
        if asks_only_for_tasks(candidates.terms):
            rows = select_open_tasks(rows)
        questions = _find_questions(index, rows[: query.limit])
    is_reranked = bool(rows) and rows[0].cross_encoder is not None
    scale = _choose_scale(vectors, is_reranked=is_reranked)
    terms = candidates.terms
    split = split_task if query.is_task else split_question
    asked = split(dates.rest, terms.language) if are_notes(terms.passages) else []
    covered = _cover_words(query, asked, candidates, rows, vectors, dates)
    if not dates.spans and not is_reranked and not asks_only_for_tasks(terms):
        rows = put_named_first(lower_without_kind(rows, covered))
    matches = (_match_of(row, background, weights, covered.get(row.number)) for row in rows)  # few are looked at
    odds = (_certain_odds(row, weights) - background for row in rows)
    has_maxsim = any(row.maxsim is not None for row in rows)
    every = weigh_evidence(matches, odds, _describe_query(terms, len(asked), has_maxsim=has_maxsim))
    hits = _choose_hits(query, rows, _calibrate(rows, every, scale, dates))
    words = list(terms.weights)
    active = vectors.active
    return SearchResult(
        tuple(_make_hit(row, score, words, questions.get(row.number, row.question)) for row, score, _ in hits),
        "keyword" if candidates.z_scores is None else "hybrid",
        active.provider,
        active.model,
        active.failed,
        tuple(filter(None, (active.reason, reason))),
        tuple(
            row._replace(odds=row.odds - background, background=background, evidence=known) for row, _, known in hits
        ),
        dates=dates,
        has_dated=has_dated,
    )


_CalibratedHit = tuple[ScoredHit, float, Evidence]


def _choose_hits(query: Query, rows: Sequence[ScoredHit], scored: Iterator[_CalibratedHit]) -> list[_CalibratedHit]:
    """Return the first hits with at least the requested score; once one is right, only likely ones."""
    first = next(scored, None)
    if first is None:
        return []
    likely = {row.number for row in drop_unlikely(rows)} if first[1] >= _FOUND_SCORE else None
    every = (hit for hit in chain([first], scored) if likely is None or hit[0].number in likely)
    return [*islice((hit for hit in every if hit[1] >= query.min_score), query.limit)]


def _cover_words(
    query: Query,
    words: Sequence[AskedWord],
    candidates: Candidates,
    rows: Sequence[ScoredHit],
    vectors: QueryVectors,
    dates: QueryDates,
) -> dict[int, Coverage]:
    """Return how each of the best hits covers the words of a query, in a small memory."""
    if not are_notes(candidates.terms.passages, len(words)):
        return {}
    embedders = [*vectors.active.embedders, *filter(None, [vectors.active.secondary])]
    return cover_words(
        rows[: query.limit], words, candidates.passages, embedders, dates, query.text, candidates.terms.language
    )


def _match_of(row: ScoredHit, background: float, weights: Weights, coverage: Coverage | None) -> Match:
    """Return how a hit fits. What the rest of its page says counts little for a passage that says little itself: two
    entries of one day have nothing else in common."""
    factors = row.factors
    odds = _certain_odds(row, weights)
    own_odds = odds - weights.support * row.support
    return Match(
        odds - background,
        factors.lexical,
        factors.phrase,
        factors.dense or 0.0,
        min(row.support, own_odds + _MAX_SUPPORT_LEAD),
        len(row.hit.text),
        min(1.0, factors.date),
        len(row.hit.text.encode()) if coverage else 0,
        coverage,
    )


def _certain_odds(row: ScoredHit, weights: Weights) -> float:
    """Return the odds of a hit without what similar words add: a passage that does not answer has them, too."""
    return row.odds - weights.similar * row.similar


def _describe_query(terms: QueryTerms, words: int, *, has_maxsim: bool) -> Asked:
    known = sum(term.weight for term in terms.terms)
    unknown = 1 - known / terms.total if terms.total else 0.0
    return Asked(unknown, terms.passages, words, has_maxsim)


def _find_questions(index: SearchIndex, rows: Sequence[ScoredHit]) -> dict[int, str]:
    """Return what the user said before each of the assistant's turns, as an answer alone is often hard to understand. A
    turn that answers somebody else's question already has it."""
    answers = [row.number for row in rows if row.hit.source == "session" and row.hit.text.startswith(ASSISTANT_STARTS)]
    return index.find_questions(answers) if answers else {}


def _make_hit(row: ScoredHit, score: float, words: Sequence[str], question: str) -> Hit:
    """Return a hit with the part of its text that answers, after the question that it answers."""
    text = cut_excerpt(show_passage(row.hit.text), words)
    if not question:
        return row.hit._replace(score=score, text=text)
    if len(question) > _MAX_QUESTION_CHARACTERS:
        question = f"{question[:_MAX_QUESTION_CHARACTERS].rstrip()} …"
    return row.hit._replace(score=score, text=f"{question}\n{text}", question=question)


def _text_to_embed(query: Query, dates: QueryDates) -> str:
    """Return what is embedded: words like `yesterday` are left out, as they mean another day in every text."""
    return dates.rest if dates.is_relative and dates.has_content else query.text


def _select_by_date(rows: list[ScoredHit], dates: QueryDates) -> list[ScoredHit]:
    """Put the hits of the days asked about before the others; where nothing else is asked, leave out the others."""
    dated = [row for row in rows if fits_dates(row, dates)]
    if not dates.spans or not dated:
        return rows
    if not dates.has_content:
        return sort_by_day(dated)
    if dates.selects_first:
        best = dated if dates.has_subject else answer_open_question(dated, dates.rest)
        return put_first(best, [row for row in rows if not fits_dates(row, dates)])
    return rows


def explain_dates(result: SearchResult) -> dict[str, Any] | None:
    """Return how the days of a query were understood; None if it names none."""
    dates = result.dates
    if not dates.spans:
        return None
    spans = [
        {"phrase": phrase, "from": str(date.fromordinal(span.first)), "to": str(date.fromordinal(span.last))}
        for phrase, span in zip(dates.phrases, dates.spans, strict=True)
    ]
    return {"spans": spans, "words": dates.rest, "found": result.has_dated}


def _calibrate(
    rows: Sequence[ScoredHit], every: Iterable[Evidence], scale: Scale, dates: QueryDates
) -> Iterator[_CalibratedHit]:
    """Yield each hit with its score and evidence. No score exceeds that of the hit before it, and hits of other days
    than those asked about score well below hits of these days."""
    is_dated = [bool(dates.spans) and fits_dates(row, dates) for row in rows]
    most = 1.0 if dates.has_subject or any(is_dated) else _MAX_OTHER_DAYS_SCORE
    is_lowered = dates.selects_first or dates.is_coming
    for place, (row, evidence) in enumerate(zip(rows, every, strict=True)):
        if is_lowered and place and is_dated[place - 1] and not is_dated[place]:
            most *= _OTHER_DAYS_SHARE
        most = min(most, calibrate(evidence, SELECTION if row.is_selected else scale))
        yield row, most, evidence


def explain_result(result: SearchResult) -> list[dict[str, Any]]:
    """Return every hit with what each factor added to its score."""
    return [
        {"citation": hit.citation, "score": hit.score, "text": hit.text, "why": explain_hit(row)}
        for hit, row in zip(result.hits, result.ranked, strict=True)
    ]


def _choose_scale(vectors: QueryVectors, *, is_reranked: bool) -> Scale:
    """Return how odds become a probability, which depends on the models that were used."""
    if is_reranked:
        by_token = any(vector.tokens is not None for vector in vectors.vectors)
        return CROSS_ENCODER_AFTER_MAXSIM if by_token else CROSS_ENCODER
    return scale_for(vectors.vectors[0].space) if vectors.vectors else KEYWORD
