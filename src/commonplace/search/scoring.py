"""Score the candidates of both retrievers on one scale: each factor adds to the log-odds that a passage answers.

"Odds" are on a logarithmic scale throughout, so that factors are added.

The weights were chosen on one half of a benchmark and are reported on the other (`docs/benchmarks.md`);
`bench/ablation.py` measures what each factor contributes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..embedding.base import Embedder, MaxSimEmbedder
from ..facts.cues import has_cue
from ..facts.statements import list_sentences
from ..facts.tasks import has_open_task
from ..facts.words import fold
from ..formats.passages import embedding_text
from ..formats.timestamps import parse_day
from ..index.base import UNREAD, Candidate
from ..index.tokenizer import fold_accents
from ..model import Hit, Query
from ..patterns import lazy_pattern
from .answer_kinds import read_question
from .bm25 import QueryTerms, bm25_scores, has_own_share, match_key, weigh_forms
from .calibration import NOTE_BYTES, Evidence
from .coverage import AskedWord, Coverage, has_words, measure_coverage, split_question
from .dates import NO_DATES, QueryDates, asks_about_now, asks_about_past, date_proximity, names_days_within
from .subjects import Subject, answers_of_another, find_subject, lacks_attribute, says_opposite, select_clauses
from .words import QueryWords, has_any_word, is_question, list_asked_meanings


class Weights(NamedTuple):
    """The weight of each factor: what one unit adds to the odds."""

    lexical: float = 9.0  # the share of BM25
    dense: float = 0.9  # the z-score of the cosine
    tokens: float = 1.0  # the part of MaxSim in that z-score, relative to the cosine of whole texts
    support: float = 0.5  # the best passages of the same page
    phrase: float = 0.5
    key: float = 2.0
    date: float = 2.5
    recency: float = 1.0
    question: float = -0.75  # for a passage that only asks: it repeats the words of a query rather than answering
    maxsim: float = 6.0  # MaxSim of the packaged model
    similar: float = 9.0  # the share of the query that a passage lacks but has similar words for
    cross_encoder: float = 0.5  # the score of the cross-encoder
    crowding: float = 0.2  # subtracted for every earlier hit of the same page, so that hits spread over pages
    kind: float = 3.0  # subtracted from a note that has no value of the kind that is asked for


class Factors(NamedTuple):
    """The value of each factor for one hit, before weighting."""

    lexical: float = 0.0
    dense: float | None = None
    phrase: float = 0.0
    key: float = 0.0
    date: float = 0.0
    recency: float = 0.0
    question: float = 0.0  # 1 for a passage that ends with a question mark


class ScoredHit(NamedTuple):
    """A hit with its odds and what they are made of."""

    number: int
    hit: Hit
    odds: float
    factors: Factors
    days: str = UNREAD  # named in its text, as the index stores them
    support: float = 0.0  # of its page
    crowding: int = 0  # earlier hits of the same page
    background: float = 0.0  # subtracted by the pipeline: the odds that a hit has to exceed
    maxsim: float | None = None  # above the mean, if it was computed
    similar: float = 0.0  # the share of the query that it lacks but has similar words for
    cross_encoder: float | None = None  # its score, if it was computed
    is_selected: bool = False  # it is of the days, or one of the open tasks, that the query asks for and little else
    is_likely: bool = True  # it has a word of the query, or is very similar to it
    question: str = ""  # the turn before it, which asks what the query asks
    lacks_kind: bool = False  # it has no value of the kind that is asked for, such as a day
    evidence: Evidence | None = None  # the parts of its score


WEIGHTS = Weights()
# The names of the factors in `--explain` and the HTTP API. Programs read them, so they stay.
_EXPLAIN_NAMES = {
    "lexical": "words",
    "dense": "meaning",
    "recency": "recent",
    "maxsim": "close",
    "cross_encoder": "read",
}
_UNNAMED = ("MEMORY", "SKILL")  # pages that are not called by their names
_RECENCY_HALF_LIFE_DAYS = 90
_KIND_WEIGHTS = {"activity": 0.3}  # activity logs mention every key that was written: the pages themselves come first
_MIN_Z_SCORE = 2.0  # from this z-score on, similarity alone makes a passage likely
_MIN_SHARE_OF_BEST = 0.3  # share of the best hit's odds that a passage needs to be likely by similarity alone
_MIN_SHARE_TO_FILL = 0.2  # share of the best hit's odds that an unlikely passage needs beside a right hit
_MIN_BEST_Z_SCORE = 0.5  # if the most similar passage is below it, the query is nonsense to this memory
_MAX_KIND_HITS = 8  # that are checked for a value of the right kind: no later hit scores more
_ANSWER_LEAD = 0.01  # of the odds of an answer over those of its question
_MIN_ASKED_SHARE = 0.4  # share of the query's words, by weight, in a turn that asks the same
_NAMED_IN_TEXT = 0.95  # the date factor of a passage that names one of several days asked about
_DATE_ALONE = 10.0  # the date factor of a passage of the days asked about, if nothing else is asked
_NAMED_ALONE = 3.5  # of a passage that only names them in its text
_COMING_ALONE = 6.0  # of a passage that names coming days, since nothing is dated by them yet
_SAID_OF_COMING = 1.2  # of a passage that names the weekday whose coming day is asked about
_SAID = 2.0  # the same if passages of the last such day may be meant, too
_FITTING_SHARE = 0.25  # share of BM25 from which a passage fits apart from its weekday
_SAME_VERB_ODDS = 10.0  # added to passages of the day asked about that have the question's verb
_SAME_DAY_ODDS = 8.0  # added to all passages of that day, if none has the verb
_CHANGED_SHARE = 0.5  # of a note that is only dated by its last change
_MINUTE_CHARACTERS = len("2026-03-14T18:00")  # of the time of an entry; that of a change has seconds
_ASCII_WORD = lazy_pattern(r"[A-Za-z0-9]+")
_DATED_PATH = lazy_pattern(r"\d{4}[-/]\d\d[-/]\d\d")
_DAY_NEARNESS = 0.2  # at most, for a note that is not of the day asked about
_SUPPORT_TEMPERATURE = 0.7  # how far behind the best of its page a passage may be and still support the page
_MIN_SENTENCE_BYTES = 12  # of a text without spaces, as in Chinese, that is more than a word
_EDGE_CHARACTERS = 60  # of a text, in which its last word is
UNKNOWN_Z_SCORE = -0.5  # for a passage without a vector: a little less similar than most


def score_candidates(
    query: Query,
    terms: QueryTerms,
    candidates: Sequence[Candidate],
    z_scores: Mapping[int, float] | None,
    weights: Weights = WEIGHTS,
    dates: QueryDates = NO_DATES,
) -> list[ScoredHit]:
    """Score the candidates and sort them, best first. `z_scores` is None if no embedder answers."""
    about_now = asks_about_now(query.text)
    rows: list[_Row] = []
    scores = bm25_scores(terms, candidates)
    for candidate, score in zip(candidates, scores, strict=True):
        factors = _factors(query, terms, candidate, score, z_scores, dates, about_now=about_now)
        rows.append((candidate, factors, _odds(factors, weights)))
    likely = _find_likely(rows, dates)
    if z_scores is None or not _is_asked(query, terms) or not (likely or _is_any_similar(rows)):
        rows = [row for row in rows if row[0].number in likely]
    answers = _find_answers(rows, terms)
    rows = [_raise_answer(row, answers.get(row[0].number)) for row in rows] if answers else rows
    support = page_support((candidate.hit.path, odds) for candidate, _, odds in rows)
    by_odds = sorted(
        (-(odds + weights.support * support[candidate.hit.path]), candidate.hit.path, candidate.hit.start, at)
        for at, (candidate, _, odds) in enumerate(rows)
    )
    hits: list[ScoredHit] = []
    counts: dict[str, int] = {}
    for negative, path, _, at in by_odds:
        candidate, factors, _ = rows[at]
        number = candidate.number
        earlier = counts.get(path, 0)
        counts[path] = earlier + 1
        hits.append(
            ScoredHit(
                number,
                candidate.hit,
                -negative - weights.crowding * earlier,  # so that hits spread over pages
                factors,
                candidate.days,
                support[path],
                earlier,
                is_likely=number in likely,
                question=answers[number][0].hit.text if number in answers else "",
            )
        )
    return sort_by_odds(hits)


def _raise_answer(row: _Row, question: _Row | None) -> _Row:
    """Return a row with odds that put an answer before its question."""
    candidate, factors, odds = row
    return (candidate, factors, max(odds, question[2] + _ANSWER_LEAD)) if question else row


def _find_answers(rows: Sequence[_Row], terms: QueryTerms) -> dict[int, _Row]:
    """Return, for each turn after one that asks the same as the query, that question.

    The question repeats the words of the query, but the user wants its answer.
    """
    if not any(factors.question for _, factors, _ in rows):
        return {}
    starts = {(row[0].hit.path, row[0].hit.start): row for row in rows if row[0].hit.source == "session"}
    answers: dict[int, _Row] = {}
    forms = weigh_forms(terms) if starts else []
    for row in starts.values():
        candidate, factors, _ = row
        answer = starts.get((candidate.hit.path, candidate.hit.end + 1)) if factors.question else None
        if not answer or answer[1].question:
            continue
        if has_own_share(terms, forms, candidate, factors.lexical, _MIN_ASKED_SHARE):
            answers[answer[0].number] = row
    return answers


def _factors(
    query: Query,
    terms: QueryTerms,
    candidate: Candidate,
    bm25: tuple[float, float],
    z_scores: Mapping[int, float] | None,
    dates: QueryDates,
    *,
    about_now: bool,
) -> Factors:
    day = candidate.day
    lexical, phrase = bm25
    recency = 0.0
    if about_now and day is not None and query.today:
        recency = 0.5 ** (max(0, query.today - day) / _RECENCY_HALF_LIFE_DAYS)
    z_score = None if z_scores is None else z_scores.get(candidate.number, UNKNOWN_Z_SCORE)
    date = _date_factor(query, candidate, dates) if dates.spans else 0.0
    if dates.is_coming and dates.has_content:
        date *= _share_of_weekday(lexical, z_score)
    return Factors(
        lexical * _KIND_WEIGHTS.get(candidate.kind, 1.0),
        z_score,
        phrase,
        _match_name(terms, candidate.hit),
        date,
        recency,
        float(is_question(candidate.hit.text)),
    )


def _match_name(terms: QueryTerms, hit: Hit) -> float:
    """Return how far a query names a note by its key; or a page by its file name, if it says nothing else."""
    if hit.key:
        return match_key(terms, hit.key)
    name = hit.path.rpartition("/")[2].removesuffix(".md").partition("~")[0]
    is_named = hit.source != "session" and name not in _UNNAMED and not name[:1].isdigit()
    # Most queries have more words than the name of a page; to see that takes much less time than to split it.
    is_short = name.isascii() and len(_ASCII_WORD.findall(name)) < len(terms.content_words)
    return float(is_named and not is_short and match_key(terms, name) == 1.0)


def _date_factor(query: Query, candidate: Candidate, dates: QueryDates) -> float:
    """Return how well a passage fits the days asked about: at least 1 if it is dated by one of them."""
    day = candidate.day
    if dates.is_said_in(candidate.hit.text):
        return _weigh_said(dates)
    if day is not None and dates.includes(day):
        return 1.0 if dates.has_content else _DATE_ALONE * _share_of_date(candidate)
    # A year that a text names is among its words, and counts as such.
    is_searched = dates.is_relative or dates.are_few
    if is_searched and names_days_within(candidate.hit.text, day, candidate.days, query.today, dates.spans):
        if not dates.has_content:
            return _COMING_ALONE if dates.is_coming else _NAMED_ALONE
        return 1.0 if dates.is_one_day else _NAMED_IN_TEXT
    return max(date_proximity(span, day) for span in dates.spans) if day is not None else 0.0


def _weigh_said(dates: QueryDates) -> float:
    """Return the date factor of a passage that names a weekday asked about; that counts more than being written on
    one."""
    if dates.is_coming:
        return _SAID_OF_COMING if dates.has_content else _COMING_ALONE
    return _SAID if dates.has_content else _DATE_ALONE


def _share_of_weekday(lexical: float, z_score: float | None) -> float:
    """Return how much a weekday counts for a passage: many passages name one, so it also has to fit otherwise."""
    return min(1.0, max(0.0, lexical / _FITTING_SHARE, (z_score or 0.0) / _MIN_Z_SCORE))


def _share_of_date(candidate: Candidate) -> float:
    """Return how much the date of a passage counts: less if it is only the time of the page's last change."""
    hit = candidate.hit
    is_entry = hit.source == "session" or len(hit.at) <= _MINUTE_CHARACTERS or _DATED_PATH.search(hit.path)
    return _KIND_WEIGHTS.get(candidate.kind, 1.0 if is_entry else _CHANGED_SHARE)


def is_similar(row: ScoredHit) -> bool:
    """Return whether a hit is similar enough to count without any word of the query."""
    return (row.factors.dense or 0.0) >= _MIN_Z_SCORE


def fits_dates(row: ScoredHit, dates: QueryDates) -> bool:
    """Return whether a hit is dated by the days asked about.

    Days like `last week` are rarely named twice, so there a hit that names one of them counts, too.
    """
    return row.factors.date >= (_NAMED_IN_TEXT if dates.is_relative else 1.0)


def cover_words(
    rows: Sequence[ScoredHit],
    words: Sequence[AskedWord],
    candidates: Iterable[Candidate],
    embedders: Iterable[Embedder],
    dates: QueryDates,
    text: str,
    language: str,
) -> dict[int, Coverage]:
    """Return how each hit that is a note covers the words of a query."""
    names_day = bool(dates.spans) and not dates.is_relative and dates.rest != text  # a year counts as a word
    day = split_question(" ".join(dates.phrases), language) if names_day else []
    model = next((each for each in embedders if isinstance(each, MaxSimEmbedder)), None)
    by_number = {candidate.number: candidate for candidate in candidates}
    notes = [row for row in rows if len(row.hit.text.encode()) < NOTE_BYTES[1]]
    coverage = {row.number: measure_coverage(text, words, by_number[row.number], model, language) for row in notes}
    if not asks_about_past(text):
        subject = find_subject(text, words, language)
        for row in notes[:_MAX_KIND_HITS]:
            note = f"# {row.hit.key}\n{embedding_text('', row.hit.text)}"
            is_another = _answers_another(text, words, subject, note, language)
            coverage[row.number] = coverage[row.number]._replace(answers_another=is_another)
    if question := read_question(text):
        for row in notes[:_MAX_KIND_HITS]:
            has_kind = question.is_in(f"{row.hit.key} {embedding_text('', row.hit.text)}", is_dated=bool(row.hit.at))
            coverage[row.number] = coverage[row.number]._replace(has_kind=has_kind)
    return {row.number: _cover_day(coverage[row.number], row, day, by_number[row.number]) for row in notes}


def _answers_another(
    question: str, words: Sequence[AskedWord], subject: Subject | None, note: str, language: str
) -> bool:
    """Return whether a note answers another question: about somebody else, about the opposite, or without what is asked
    for by its word."""
    said = select_clauses(subject, note, language) if subject else note
    return (
        lacks_attribute(question, said)
        or says_opposite(question, note)
        or (subject is not None and answers_of_another(subject, question, words, note, language))
    )


def lower_without_kind(rows: Sequence[ScoredHit], coverage: Mapping[int, Coverage]) -> list[ScoredHit]:
    """Lower the odds of hits that have no value of the kind that is asked for, or answer another question: one that has
    it may come first, unless it merely has similar words."""
    lacking = {number for number, each in coverage.items() if each.has_kind is False or each.answers_another}
    if not lacking:
        return list(rows)
    plain = [row._replace(odds=row.odds - WEIGHTS.similar * row.similar, similar=0.0) for row in rows]
    return sort_by_odds(
        row._replace(odds=row.odds - WEIGHTS.kind, lacks_kind=True) if row.number in lacking else row for row in plain
    )


def _cover_day(coverage: Coverage, row: ScoredHit, day: Sequence[AskedWord], candidate: Candidate) -> Coverage:
    """Return how a hit covers a query: a day that the query names is as exact as a number, and a key as a name."""
    coverage = coverage._replace(has_exact=coverage.has_exact or row.factors.key > 0)
    if not day or row.factors.date >= _NAMED_IN_TEXT or has_words(candidate, day):
        return coverage
    return coverage._replace(lacks_exact=True, nearness=min(coverage.nearness, _DAY_NEARNESS))


def has_dated_hit(query: Query, rows: Sequence[ScoredHit], dates: QueryDates) -> bool:
    """Return whether any hit is dated by the days asked about, or names one of them."""
    if any(row.factors.date >= _NAMED_IN_TEXT for row in rows):
        return True
    return any(
        names_days_within(row.hit.text, parse_day(row.hit.at), row.days, query.today, dates.spans)
        for row in rows[: query.limit]
    )


def _odds(factors: Factors, weights: Weights) -> float:
    return (
        weights.lexical * factors.lexical
        + weights.dense * (factors.dense or 0.0)
        + weights.phrase * factors.phrase
        + weights.key * factors.key
        + weights.date * factors.date
        + weights.recency * factors.recency
        + weights.question * factors.question
    )


_Row = tuple[Candidate, Factors, float]


def _find_likely(rows: Sequence[_Row], dates: QueryDates) -> frozenset[int]:
    """Return the passages that have a word of the query, whose z-score and share of the best odds are high, or that are
    of the days asked about. Some passage is always the nearest, however unrelated it is."""
    min_odds = _MIN_SHARE_OF_BEST * max((odds for _, _, odds in rows), default=0.0)
    min_date = _NAMED_IN_TEXT if dates.selects_all else math.inf
    return frozenset(
        candidate.number
        for candidate, factors, odds in rows
        if factors.lexical > 0
        or ((factors.dense or 0.0) >= _MIN_Z_SCORE and odds >= min_odds)
        or factors.date >= min_date
    )


def _is_asked(query: Query, terms: QueryTerms) -> bool:
    """Return whether a query has more than one word: somebody who looks up a single word wants exactly that word."""
    return len(query.text.split()) > 1 or len(terms.content_words) > 1


def _is_any_similar(rows: Sequence[_Row]) -> bool:
    return any((factors.dense or 0.0) >= _MIN_BEST_Z_SCORE for _, factors, _ in rows)


def drop_unlikely(rows: Sequence[ScoredHit]) -> list[ScoredHit]:
    """Return the hits without unlikely ones, for a list whose first hit is right."""
    min_odds = _MIN_SHARE_TO_FILL * max((row.odds for row in rows), default=0.0)
    return [row for row in rows if row.is_likely or ((row.factors.dense or 0.0) > 0 and row.odds >= min_odds)]


def page_support(odds: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the support for each page: a soft maximum of the odds of its passages."""
    by_page: dict[str, list[float]] = {}
    for path, passage_odds in odds:
        by_page.setdefault(path, []).append(passage_odds)
    return {path: _soft_maximum(page_odds) for path, page_odds in by_page.items()}


def _soft_maximum(odds: Sequence[float]) -> float:
    best = max(odds)
    if len(odds) == 1:
        return best
    temperature = _SUPPORT_TEMPERATURE
    return best + temperature * math.log(sum(math.exp((value - best) / temperature) for value in odds))


def rescore(rows: Sequence[ScoredHit], increments: Sequence[float], weights: Weights) -> list[ScoredHit]:
    """Add an increment to the odds of each hit, and compute the support of the pages again."""
    own_odds = [
        row.odds - weights.support * row.support + increment for row, increment in zip(rows, increments, strict=True)
    ]
    support = page_support((row.hit.path, odds) for row, odds in zip(rows, own_odds, strict=True))
    return [
        row._replace(odds=odds + weights.support * support[row.hit.path], support=support[row.hit.path])
        for row, odds in zip(rows, own_odds, strict=True)
    ]


def sort_by_day(rows: Sequence[ScoredHit]) -> list[ScoredHit]:
    """Sort hits of the days asked about: the entries of these days first, the newest first. Hits that fit these days
    alike get the same odds."""
    best: dict[float, float] = {}
    for row in rows:
        best[row.factors.date] = max(row.odds, best.get(row.factors.date, row.odds))
    alike = [row._replace(odds=best[row.factors.date], is_selected=True) for row in rows]
    return sorted(alike, key=_rank_by_day, reverse=True)


def select_open_tasks(rows: Sequence[ScoredHit]) -> list[ScoredHit]:
    """Put open tasks first, the newest first: where a query asks for nothing else, all of them are right."""
    tasks = [row for row in rows if has_open_task(fold_accents(row.hit.text))]
    if not tasks:
        return list(rows)
    best = max(row.odds for row in tasks)
    newest_first = sorted(tasks, key=_rank_by_day, reverse=True)
    right = [_favour(row._replace(odds=best), _SAME_VERB_ODDS) for row in newest_first]
    return put_first(right, [row for row in rows if row not in tasks])


def answer_open_question(rows: Sequence[ScoredHit], question: str) -> list[ScoredHit]:
    """Put those hits of a day first that say what a question like `what did we decide yesterday?` asks for: they are
    right. Where none says it, those with its verb are, or else any of them, in other words or in another language."""
    asked = list_asked_meanings(question)
    verbs = QueryWords(question)
    right = [row for row in rows if any(_says(row.hit.text, words) for words in asked)]
    right = right or [row for row in rows if any(term in verbs.index(row.hit.text) for term in verbs.terms)]
    if not right:
        return [_favour(row, _SAME_DAY_ODDS) for row in rows]
    return put_first([_favour(row, _SAME_VERB_ODDS) for row in right], [row for row in rows if row not in right])


def _says(text: str, words: frozenset[str]) -> bool:
    """Return whether a sentence of a text has one of the words, and leaves nothing open."""
    return has_any_word(text, words) and any(
        has_any_word(sentence, words) and not has_cue(fold(sentence), "open") for sentence in list_sentences(text)
    )


def _favour(row: ScoredHit, odds: float) -> ScoredHit:
    return row._replace(odds=row.odds + odds, is_selected=True)


def _rank_by_day(row: ScoredHit) -> tuple[float, str, str, int]:
    """Return the sort key of hits by day; within a minute, the later line of a page is newer."""
    return row.factors.date, row.hit.at[:_MINUTE_CHARACTERS], row.hit.path, row.hit.start


def put_named_first(rows: Sequence[ScoredHit]) -> list[ScoredHit]:
    """Put what a query names and asks nothing else of before what only mentions it; of a page, its best passage."""
    named: dict[str, ScoredHit] = {}
    for row in rows:
        if row.factors.key == 1.0 and not row.lacks_kind:
            named.setdefault(row.hit.path, row)
    numbers = {row.number for row in named.values()}
    best = max((row.odds for row in rows), default=0.0)
    rest = [row for row in rows if row.number not in numbers]
    return [*(row._replace(odds=best, similar=0.0) for row in named.values()), *rest]


def put_first(best: Sequence[ScoredHit], rest: Iterable[ScoredHit]) -> list[ScoredHit]:
    """Put reranked hits before the others, whose odds are capped at those of the last reranked one."""
    cap = best[-1].odds
    return [*best, *(row._replace(odds=cap) if row.odds > cap else row for row in rest)]


def drop_duplicates(rows: Iterable[ScoredHit]) -> list[ScoredHit]:
    """Return the first of several hits with the same text and key. Single words are kept apart, since they need their
    page."""
    rows = list(rows)
    ends = [(row.hit.key, _find_end(row.hit.text)) for row in rows]
    counts = Counter(ends)
    alike = [
        (end, _count_letters(row.hit.text) if counts[end] > 1 else ()) for row, end in zip(rows, ends, strict=True)
    ]
    alike_counts = Counter(alike)
    first: dict[tuple[str | int, ...], ScoredHit] = {}
    for row, each in zip(rows, alike, strict=True):
        is_alone = alike_counts[each] == 1  # so that no other can say the same
        first.setdefault((row.number,) if is_alone else _identify_text(row.hit), row)
    return list(first.values())


def _find_end(text: str) -> str:
    """Return the ending of the last word of a text, which is cheaper than comparing texts."""
    last = text[-_EDGE_CHARACTERS:].rsplit(None, 1)
    return last[-1][-_MIN_SENTENCE_BYTES:] if last else ""


def _count_letters(text: str) -> tuple[int, ...]:
    """Return how often a text has two frequent letters, a hash that ignores spaces."""
    return text.count("e"), text.count("a")


def _identify_text(hit: Hit) -> tuple[str, ...]:
    text = " ".join(hit.text.split())
    is_word = " " not in text and len(text.encode()) < _MIN_SENTENCE_BYTES
    return hit.key, text, hit.citation if is_word else ""


def sort_by_odds(rows: Iterable[ScoredHit]) -> list[ScoredHit]:
    return sorted(rows, key=_rank)


def _rank(row: ScoredHit) -> tuple[float, str, int]:
    return -row.odds, row.hit.path, row.hit.start


def explain_hit(row: ScoredHit) -> dict[str, float]:
    """Return the weighted contribution of each factor to the odds; `all` is their sum above the background."""
    names = ("support", "maxsim", "similar", "cross_encoder")
    reranked = {name: getattr(row, name) for name in names}
    parts: dict[str, float] = {}
    for name, value in (row.factors._asdict() | reranked).items():
        if value:
            parts[_EXPLAIN_NAMES.get(name, name)] = round(getattr(WEIGHTS, name) * value, 3)
    if row.crowding:
        parts["crowding"] = round(-WEIGHTS.crowding * row.crowding, 3)
    if row.lacks_kind:
        parts["kind"] = -WEIGHTS.kind
    if row.background:
        parts["background"] = round(-row.background, 3)
    return parts | {"all": round(row.odds, 3)}
