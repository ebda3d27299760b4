"""Measure search quality: ask questions with known evidence, by hybrid and by keyword search in one run.

A user's own questions are asked of the user's own memory, which is only read. Conversations in LoCoMo's format are
written as session files into a temporary memory.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import CommonplaceError, InvalidArgument, InvalidChoice, NotFound, OutOfRange, StorageError, Unavailable
from ..formats.json_text import parse_json
from ..home import Home
from ..index.base import Index, Progress, ignore_progress
from ..index.embedding_service import EmbeddingService
from ..index.handle import IndexView
from ..model import Citation, Hit, Json, Query, parse_citation
from ..search.pipeline import SearchResult, parse_query, require_search, run_query
from ..settings import FILE, PROVIDERS
from ..storage.base import backend_of
from ..wording import list_some

TurnLine = tuple[str, int]  # a session file, and the line of one turn in it
Figures = dict[str, float]  # the metrics of one question, from 0 to 1
FigurePair = tuple[Figures, Figures]  # the same question by hybrid and by keyword search
RESAMPLES = 1000
_SEED = 1  # the same questions give the same intervals
_CONFIDENCE = 0.95
_LAST_LINE = 2**31  # where a whole page is meant
_RANK_LIMIT = 10  # ranks that count
_MAX_HIT_TURNS = 5  # a hit that spans more turns does not say which one it means
_SESSION_RANK_LIMIT = 5
_HIT_LIMIT = 10
_TURN_HIT_LIMIT = 30  # several hits may be of one session
_MIN_QUESTIONS = 30  # with fewer, the interval itself is a guess
_MAX_LISTED_REASONS = 5

_TURN_ID = re.compile(r"D(\d{1,9}):(\d{1,9})")
_TurnId = tuple[int, int]  # a session of a conversation, and a turn of it
_SESSION_KEY = re.compile(r"session_\d+")
_SESSIONS_FOLDER = "agents/main/sessions"
_QUESTION_ADVICE = (
    'write each question as {"question": "...", "evidence": ["memory/page.md#L3-L5"]}, in a list or one per line'
)
_LOCOMO_ADVICE = "a turn has a speaker, a text and a dia_id, a question of qa has a question and evidence"
_QUESTION_FIELDS = ("question", "query")
_EVIDENCE_FIELDS = ("evidence", "answers", "relevant")
_CONVERSATION_FIELDS = ("conversation", "qa")


class Lines(NamedTuple):
    """Some lines of a page, both ends included; by default the whole page."""

    path: str
    first: int = 1
    last: int = _LAST_LINE

    def __str__(self) -> str:
        return self.path if self.is_whole_page else str(Citation(*self))

    @property
    def is_whole_page(self) -> bool:
        return self.last == _LAST_LINE

    def overlaps(self, other: Lines) -> bool:
        return self.path == other.path and self.first <= other.last and other.first <= self.last


class Question(NamedTuple):
    """A question, and the lines that answer it. `group`: the conversation it is about, if any."""

    text: str
    evidence: tuple[Lines, ...]
    group: str = ""


class Estimate(NamedTuple):
    """A mean over the questions, with its 95 % interval."""

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """One metric of hybrid search (`search`) and of keyword search (`words`), over the same questions.

    The difference is computed question by question, so its interval is narrower than those of the two suggest.
    """

    search: Estimate
    words: Estimate
    difference: Estimate


Comparisons = dict[str, Comparison]  # keyed by metric
Metric = Callable[[Sequence[Lines], Sequence[Hit]], Figures]


class EvaluationReport(NamedTuple):
    """Hybrid search compared with keyword search.

    `fallback`: the chosen provider did not answer all questions of the hybrid run: it failed, or is not used. `groups`:
    by conversation, the number of its questions and its own figures. `missing`: evidence on pages or lines that do not
    exist, or that the agent may not see.
    """

    questions: int
    provider: str
    model: str
    fallback: bool
    figures: Comparisons
    groups: dict[str, tuple[int, Comparisons]]
    missing: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def worse(self) -> list[str]:
        """The metrics in which hybrid search is worse, over all questions."""
        return _worse_metrics(self.figures)

    @property
    def worse_in(self) -> dict[str, list[str]]:
        """The conversations in which hybrid search is worse, with the metrics: a mean over all hides them."""
        by_group = {name: _worse_metrics(figures) for name, (_, figures) in self.groups.items()}
        return {name: metrics for name, metrics in by_group.items() if metrics}

    @property
    def verdict(self) -> str:
        significant = [name for name in self.worse if self.figures[name].difference.high < 0]
        if significant:
            sentence = f"Search is worse than words alone in {', '.join(significant)}, by more than chance explains."
        elif self.worse:
            sentence = f"Search is worse than words alone in {', '.join(self.worse)}; chance may explain it."
        else:
            sentence = "Over all questions, search is in no figure worse than words alone."
        groups = [f"{name} ({', '.join(metrics)})" for name, metrics in self.worse_in.items()]
        return f"{sentence} It is worse in {'; '.join(groups)}." if groups else sentence


def _worse_metrics(figures: Comparisons) -> list[str]:
    return [name for name, comparison in figures.items() if comparison.difference.value < 0]


def measure(
    home: Home, file: str, limit: int | None = None, provider: str | None = None, progress: Progress | None = None
) -> EvaluationReport:
    """Ask the questions of a file, with the search settings of a home.

    `limit`: how many of them, taken evenly from the whole file; `provider` replaces the embedder of the settings.
    """
    if limit is not None and limit < 1:
        raise OutOfRange("limit", 1, None, limit)
    items = read_items(file)
    embedding = _choose_embedding(home, provider)
    progress = progress or ignore_progress
    if not are_conversations(items):
        return _evaluate_memory(home, sample_evenly(parse_questions(items), limit), embedding, progress)
    with tempfile.TemporaryDirectory(prefix="commonplace-eval-") as folder:
        by_item = [write_conversation(item, number, folder) for number, item in enumerate(items)]
        questions = [question for of_item in by_item for question in of_item]
        omitted = sum(len(item["qa"]) for item in items) - len(questions)
        return _evaluate_conversations(folder, sample_evenly(questions, limit), omitted, embedding, progress)


def sample_evenly(questions: list[Question], limit: int | None) -> list[Question]:
    """Return at most `limit` questions, evenly from the first to the last, so that no part of the file is left out."""
    if limit is None or limit >= len(questions):
        return questions
    return [questions[position * len(questions) // limit] for position in range(limit)]


def _choose_embedding(home: Home, provider: str | None) -> EmbeddingService:
    if provider is None:
        return home.embedding
    if provider not in PROVIDERS:
        raise InvalidChoice("provider", tuple(PROVIDERS), provider)
    return home.embedding_of(provider)


def _evaluate_memory(
    home: Home, questions: list[Question], embedding: EmbeddingService, progress: Progress
) -> EvaluationReport:
    if not backend_of(home.address).may_exist(home.address):
        raise NotFound(f"there is no memory at {home.root} yet: run `commonplace init`, or name another --home")
    home.storage.check()
    require_search(home)
    missing = _find_missing_evidence(home, questions)
    report = _run_questions(home, questions, embedding, hit_figures, _HIT_LIMIT, progress)
    warnings = [_warn_of_missing(home, missing)] if missing else []
    return report._replace(missing=tuple(missing), warnings=(*warnings, *report.warnings))


def _find_missing_evidence(home: Home, questions: list[Question]) -> list[str]:
    """Return the evidence on pages that this agent may not search or that do not exist, or beyond their last line."""
    pages = {path for path, _ in home.visibility.list_pages()}
    every = dict.fromkeys(lines for question in questions for lines in question.evidence)
    return [str(lines) for lines in every if lines.path not in pages or not _has_lines(home, lines)]


def _has_lines(home: Home, lines: Lines) -> bool:
    if lines.is_whole_page:
        return True
    try:
        text = home.storage.pages.read(lines.path).text
    except CommonplaceError:  # search cannot read it, either
        return False
    return lines.first <= text.removesuffix("\n").count("\n") + 1


def _warn_of_missing(home: Home, missing: list[str]) -> str:
    return (
        f"evidence that is not in what {home.agent} may search counts as not found: "
        f"{list_some(missing, _MAX_LISTED_REASONS)}. "
        "Write it as search prints it: the page as seen from the home, and lines it has"
    )


def _evaluate_conversations(
    folder: str, questions: list[Question], omitted: int, embedding: EmbeddingService, progress: Progress
) -> EvaluationReport:
    """Measure in a temporary memory that has the conversations as its sessions."""
    if not questions:
        raise InvalidArgument("no question names a turn of its conversation as evidence: there is nothing to measure")
    with open(os.path.join(folder, FILE), "w", encoding="utf-8") as file:
        file.write("memorySearch:\n  indexSessions: true\n")
    home = Home(folder)
    try:
        report = _run_questions(home, questions, embedding, turn_figures, _TURN_HIT_LIMIT, progress)
    finally:
        home.close()
    if not omitted:
        return report
    warning = f"{omitted} questions are left out: their evidence names no turn of their conversation"
    return report._replace(warnings=(warning, *report.warnings))


def _run_questions(
    home: Home,
    questions: list[Question],
    embedding: EmbeddingService,
    metric: Metric,
    hit_limit: int,
    progress: Progress,
) -> EvaluationReport:
    """Ask every question by hybrid and by keyword search, on one state of the index."""
    queries = [
        parse_query(home, question.text, hit_limit, embedding.settings.min_score or 0.0) for question in questions
    ]

    def ask(view: IndexView) -> tuple[list[SearchResult], list[SearchResult], tuple[str, ...]]:
        hybrid = _run_queries(view.index, queries, embedding, "search", progress)
        keyword = _run_queries(view.index, queries, embedding.without_embedder(), "words alone", progress)
        return hybrid, keyword, home.visibility.filter_warnings(view)

    hybrid, keyword, warnings = home.index.query(ask)
    pairs = [
        (metric(question.evidence, by_hybrid.hits), metric(question.evidence, by_keyword.hits))
        for question, by_hybrid, by_keyword in zip(questions, hybrid, keyword, strict=True)
    ]
    return EvaluationReport(
        len(questions),
        hybrid[-1].provider,
        hybrid[-1].model,
        any(result.fallback for result in hybrid),
        _compare_pairs(pairs),
        _compare_groups(questions, pairs),
        (),
        (*_list_reasons(hybrid), *_warn_of_few(questions), *warnings),
    )


def _run_queries(
    index: Index, queries: list[Query], embedding: EmbeddingService, name: str, progress: Progress
) -> list[SearchResult]:
    """Return the results, once all passages are embedded: an incomplete index would lower the figures."""
    try:
        embedding.build(index, progress)
    except Unavailable:
        progress(name, 0, len(queries))  # each result says why
    results = []
    for number, query in enumerate(queries, start=1):
        results.append(run_query(index, query, embedding))
        progress(name, number, len(queries))
    return results


def _list_reasons(results: list[SearchResult]) -> list[str]:
    """Return why the chosen provider or the reranker did not serve."""
    reasons = [*dict.fromkeys(reason for result in results for reason in result.reasons)]
    fallback_count = sum(result.fallback for result in results)
    if fallback_count:
        answered = f"{len(results) - fallback_count} of {len(results)} questions"
        reasons = [f"the chosen provider answered only {answered}", *reasons]
    return reasons[:_MAX_LISTED_REASONS]


def _warn_of_few(questions: list[Question]) -> list[str]:
    if len(questions) >= _MIN_QUESTIONS:
        return []
    return [f"{len(questions)} questions are few: ask {_MIN_QUESTIONS} or more before you trust a difference"]


def _compare_pairs(pairs: Sequence[FigurePair]) -> Comparisons:
    return compare([hybrid for hybrid, _ in pairs], [keyword for _, keyword in pairs])


def _compare_groups(questions: list[Question], pairs: list[FigurePair]) -> dict[str, tuple[int, Comparisons]]:
    groups: dict[str, list[FigurePair]] = {}
    for question, pair in zip(questions, pairs, strict=True):
        if question.group:
            groups.setdefault(question.group, []).append(pair)
    return {name: (len(of_group), _compare_pairs(of_group)) for name, of_group in groups.items()}


def hit_figures(evidence: Sequence[Lines], hits: Iterable[Hit]) -> Figures:
    """Return the figures of one question. A hit has found evidence if they share a line."""
    return _rank_figures(evidence, [Lines(hit.path, hit.start, hit.end) for hit in hits])


def turn_figures(evidence: Sequence[Lines], hits: Iterable[Hit]) -> Figures:
    """Return the figures of one question about a conversation, where every turn of a hit has a rank of its own.

    Session recall: how many of the sessions that have evidence are among the first five.
    """
    places = [Lines(path, line, line) for path, line in turns_of(hits)]
    sessions = {lines.path for lines in evidence}
    first_sessions = list(dict.fromkeys(place.path for place in places))[:_SESSION_RANK_LIMIT]
    session_recall = len(sessions.intersection(first_sessions)) / len(sessions)
    return _rank_figures(evidence, places) | {f"session_recall@{_SESSION_RANK_LIMIT}": session_recall}


def turns_of(hits: Iterable[Hit]) -> Iterator[TurnLine]:
    """Yield the turns of the hits in order; a hit that spans more than five turns has none."""
    for hit in hits:
        if hit.end - hit.start < _MAX_HIT_TURNS:
            yield from ((hit.path, line) for line in range(hit.start, hit.end + 1))


def _rank_figures(evidence: Sequence[Lines], places: Sequence[Lines]) -> Figures:
    ranks = [_find_rank(lines, places) for lines in evidence]
    figures: Figures = {}
    for depth in (5, _RANK_LIMIT):
        count = sum(rank < depth for rank in ranks)
        figures[f"recall_any@{depth}"] = float(count > 0)
        figures[f"recall_all@{depth}"] = float(count == len(ranks))
        figures[f"fraction@{depth}"] = count / len(ranks)
    best = min(ranks)
    figures[f"mrr@{_RANK_LIMIT}"] = 1 / (best + 1) if best < _RANK_LIMIT else 0.0
    figures[f"ndcg@{_RANK_LIMIT}"] = discounted_gain(ranks) / discounted_gain(range(len(ranks)))
    return figures


def _find_rank(lines: Lines, places: Sequence[Lines]) -> int:
    """Return the first rank that shares a line, counted from 0; the limit if none does."""
    matches = (rank for rank, place in enumerate(places[:_RANK_LIMIT]) if place.overlaps(lines))
    return next(matches, _RANK_LIMIT)


def discounted_gain(ranks: Iterable[int]) -> float:
    """Return the discounted cumulative gain.

    Evidence that shares a hit takes the ranks after it; otherwise one hit with all of it would beat the ideal order.
    """
    gain = 0.0
    next_free = 0
    for rank in sorted(ranks):
        place = max(rank, next_free)
        if rank < _RANK_LIMIT and place < _RANK_LIMIT:
            gain += 1 / math.log2(place + 2)
        next_free = place + 1
    return gain


def compare(hybrid: Sequence[Figures], keyword: Sequence[Figures]) -> Comparisons:
    """Return the means of both and of their difference, each with an interval by resampling the questions."""
    columns = {name: _metric_columns(name, hybrid, keyword) for name in hybrid[0]}
    means: dict[str, list[list[float]]] = {name: [[], [], []] for name in columns}
    generator = random.Random(_SEED)
    size = len(hybrid)
    for _ in range(RESAMPLES):
        sample = generator.choices(range(size), k=size)
        for name, three in columns.items():
            for column, column_means in zip(three, means[name], strict=True):
                column_means.append(sum(map(column.__getitem__, sample)) / size)
    return {name: Comparison(*map(_estimate, three, means[name])) for name, three in columns.items()}


def _metric_columns(name: str, hybrid: Sequence[Figures], keyword: Sequence[Figures]) -> list[list[float]]:
    """Return a metric of every question: by hybrid search, by keyword search, and the difference."""
    by_hybrid = [figures[name] for figures in hybrid]
    by_keyword = [figures[name] for figures in keyword]
    return [by_hybrid, by_keyword, [one - other for one, other in zip(by_hybrid, by_keyword, strict=True)]]


def _estimate(column: Sequence[float], means: list[float]) -> Estimate:
    outside = round(len(means) * (1 - _CONFIDENCE) / 2)
    ordered = sorted(means)
    numbers = (math.fsum(column) / len(column), ordered[outside], ordered[-1 - outside])
    return Estimate(*(round(number, 6) + 0.0 for number in numbers))  # adding 0.0 turns -0.0 into 0.0


def read_items(file: str) -> list[dict[str, Json]]:
    """Return the objects of a question file: a JSON list, or one object per line."""
    items = _parse_items(_read_text(file), file)
    if not items:
        raise InvalidArgument(f"{file} has no questions: {_QUESTION_ADVICE}")
    if not _are_questions(items) and not are_conversations(items):
        raise InvalidArgument(f"{file} has neither questions nor conversations in LoCoMo's form: {_QUESTION_ADVICE}")
    return items


def _parse_items(text: str, file: str) -> list[Any]:
    try:
        value = parse_json(text) if text.strip() else []
    except ValueError as error:
        if text.lstrip().startswith("["):
            raise InvalidArgument(f"{file} is not JSON ({error}): {_QUESTION_ADVICE}") from error
        lines = enumerate(text.split("\n"), start=1)
        return [_parse_line(file, number, line) for number, line in lines if line.strip()]
    return value if isinstance(value, list) else [value]


def _parse_line(file: str, number: int, line: str) -> Json:
    try:
        return parse_json(line)
    except ValueError as error:
        raise InvalidArgument(f"line {number} of {file} is not JSON ({error}): {_QUESTION_ADVICE}") from error


def _are_questions(items: list[Any]) -> bool:
    names = (*_QUESTION_FIELDS, *_EVIDENCE_FIELDS)
    return all(isinstance(item, dict) and any(name in item for name in names) for item in items)


def are_conversations(items: list[Any]) -> bool:
    return all(isinstance(item, dict) and all(name in item for name in _CONVERSATION_FIELDS) for item in items)


def _read_text(file: str) -> str:
    try:
        with open(file, encoding="utf-8-sig") as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"{file} does not exist: name a file of questions, and {_QUESTION_ADVICE}") from error
    except IsADirectoryError as error:
        raise InvalidArgument(f"{file} is a folder: name the file of questions in it") from error
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}") from error


def parse_questions(items: list[dict[str, Json]]) -> list[Question]:
    """Return a user's own questions, each with its evidence; InvalidArgument for one that has no text or none."""
    return [_parse_question(item, number) for number, item in enumerate(items, start=1)]


def _parse_question(item: dict[str, Json], number: int) -> Question:
    text = _first_field(item, _QUESTION_FIELDS)
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgument(f"question {number} has no text: {_QUESTION_ADVICE}")
    value = _first_field(item, _EVIDENCE_FIELDS)
    evidence = [value] if isinstance(value, str) else value
    if (
        not isinstance(evidence, list)
        or not evidence
        or not all(isinstance(each, str) and each.strip() for each in evidence)
    ):
        raise InvalidArgument(f"question {number} ({text}) has no evidence: name the pages or the lines that answer it")
    return Question(text, tuple(dict.fromkeys(_parse_evidence(each.strip(), number) for each in evidence)))


def _first_field(item: dict[str, Json], names: tuple[str, ...]) -> Json:
    return next((item[name] for name in names if name in item), None)


def _parse_evidence(text: str, number: int) -> Lines:
    """Parse evidence as people write it: a page, or lines of one as search cites them."""
    citation = parse_citation(text)
    if not citation:
        return Lines(text.removeprefix("./"))
    if not 1 <= citation.first <= citation.last:
        raise InvalidArgument(f"question {number}: {text} names no lines: count from 1, the first before the last")
    return Lines(citation.path.removeprefix("./"), citation.first, citation.last)


def write_conversation(item: Any, number: int, home: str | os.PathLike[str]) -> list[Question]:
    """Write a conversation in LoCoMo's format as session files; return its questions, with the lines of their evidence.

    Evidence that names no turn is left out, and so is a question that has no other.
    """
    os.makedirs(os.path.join(home, _SESSIONS_FOLDER), exist_ok=True)
    name = f"conversation {number + 1}"
    try:
        places = dict(_write_sessions(item["conversation"], number, home))
        questions = [(each["question"], _parse_turn_ids(each.get("evidence") or "")) for each in item["qa"]]
    except (KeyError, TypeError, AttributeError) as error:
        problem = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InvalidArgument(f"{name} is not in LoCoMo's form ({problem}): {_LOCOMO_ADVICE}") from error
    for position, (text, _) in enumerate(questions, start=1):
        if not isinstance(text, str) or not text.strip():
            raise InvalidArgument(f"question {position} of {name} has no text: write one, or remove it")
    evidence = [tuple(places[turn] for turn in turns if turn in places) for _, turns in questions]
    return [Question(text, lines, name) for (text, _), lines in zip(questions, evidence, strict=True) if lines]


def _write_sessions(
    conversation: Mapping[str, Any], number: int, home: str | os.PathLike[str]
) -> Iterator[tuple[_TurnId, Lines]]:
    """Write every session of a conversation as a file, and yield the line of each turn."""
    for name in filter(_SESSION_KEY.fullmatch, conversation):
        path = f"{_SESSIONS_FOLDER}/{number}-{name}.jsonl"
        at = conversation.get(f"{name}_date_time", "")
        turns = conversation[name]
        events = [{"role": "user", "name": turn["speaker"], "content": turn["text"], "timestamp": at} for turn in turns]
        with open(os.path.join(home, path), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(event) + "\n" for event in events)
        for line, turn in enumerate(turns, start=1):
            yield from ((turn_id, Lines(path, line, line)) for turn_id in _parse_turn_ids(turn["dia_id"]))


def _parse_turn_ids(value: str | list[str]) -> list[_TurnId]:
    """Parse the ids of turns, such as `D4:7`; one string may hold several. They are numbers: 07 is 7."""
    text = value if isinstance(value, str) else " ".join(value)
    return list(dict.fromkeys((int(session), int(turn)) for session, turn in _TURN_ID.findall(text)))
