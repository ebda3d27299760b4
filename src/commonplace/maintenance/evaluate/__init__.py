"""HOW WELL DOES SEARCH FIND? Questions whose evidence is known are asked, and by words alone beside, in the same run.

One's own questions are asked of one's own memory, which is only read. Conversations in LoCoMo's form are written as
session files into a memory made for the occasion.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...errors import CommonplaceError, InvalidArgument, InvalidChoice, NotFound, Unavailable
from ...home import Home
from ...index.base import Index, Progress, ignore_progress
from ...index.embedding_service import EmbeddingService
from ...index.handle import IndexView
from ...model import EVERYTHING, Hit, Query
from ...search.pipeline import SearchResult, require_search, run_query
from ...settings import PROVIDERS, SearchSettings
from ...storage.backends import backend_of
from .metrics import Comparison, Figures, Lines, compare, hit_figures, turn_figures
from .questions import Question, are_conversations, items_of, own_questions, sessions

Reading = Callable[[Sequence[Lines], Sequence[Hit]], Figures]
_NAMED = 5  # of what is missing, how many a warning names
_FEW = 30  # questions: below this an interval itself is a guess
# hits asked for: what the figures look at; sessions take more to tell apart
_HITS = 10
_TURN_HITS = 30


class Report(NamedTuple):
    """Search beside words alone. `fallback`: the embedder did not serve, and some or all of search was words, too."""

    questions: int
    provider: str
    model: str
    fallback: bool
    figures: Comparison
    groups: dict[str, tuple[int, Comparison]]  # for each conversation, how many questions, and its own figures
    missing: tuple[str, ...]  # evidence that nobody could find: no such page, or no such lines
    warnings: tuple[str, ...]

    @property
    def worse(self) -> list[str]:
        """The figures in which search is worse than words alone, over all questions."""
        return _worse(self.figures)

    @property
    def worse_in(self) -> dict[str, list[str]]:
        """The conversations in which it is worse, and in which figures: a mean over all hides them."""
        found = {name: _worse(figures) for name, (_, figures) in self.groups.items()}
        return {name: figures for name, figures in found.items() if figures}

    @property
    def verdict(self) -> str:
        surely = [name for name in self.worse if self.figures[name].difference.high < 0]
        if surely:
            said = f"Search is worse than words alone in {', '.join(surely)}, by more than chance explains."
        elif self.worse:
            said = f"Search is worse than words alone in {', '.join(self.worse)}; chance may explain it."
        else:
            said = "Over all questions, search is in no figure worse than words alone."
        parts = [f"{name} ({', '.join(figures)})" for name, figures in self.worse_in.items()]
        return f"{said} It is worse in {'; '.join(parts)}." if parts else said


def _worse(figures: Comparison) -> list[str]:
    return [name for name, each in figures.items() if each.difference.value < 0]


def measure(
    home: Home, file: str, limit: int | None = None, provider: str | None = None, progress: Progress | None = None
) -> Report:
    """Ask what a file asks, with the search settings of a home.

    `limit` asks only so many questions, spread over all; `provider` replaces the embedder of the settings this once.
    """
    if limit is not None and limit < 1:
        raise InvalidArgument(f"the limit must be 1 or more, not {limit}: it says how many questions are asked")
    items = items_of(file)
    settings = _settings(home, provider)
    tell = progress or ignore_progress
    if not are_conversations(items):
        return _of_memory(home, spread(own_questions(items), limit), settings, tell)
    with tempfile.TemporaryDirectory(prefix="commonplace-eval-") as folder:
        questions = [question for number, item in enumerate(items) for question in sessions(item, number, folder)]
        left_out = sum(len(item["qa"]) for item in items) - len(questions)
        return _of_sessions(folder, spread(questions, limit), left_out, settings, tell)


def spread(questions: list[Question], limit: int | None) -> list[Question]:
    """So many questions, evenly from the first to the last, so that no part of the file is left out."""
    if limit is None or limit >= len(questions):
        return questions
    return [questions[at * len(questions) // limit] for at in range(limit)]


def _settings(home: Home, provider: str | None) -> SearchSettings:
    settings = home.search_settings
    if provider is None or provider == settings.provider:
        return settings
    if provider not in PROVIDERS:
        raise InvalidChoice("provider", tuple(PROVIDERS), provider)
    # the model and the address that are set for one provider mean nothing to another
    return settings._replace(provider=provider, model="", base_url="", api_key_env="")


def _of_memory(home: Home, questions: list[Question], settings: SearchSettings, tell: Progress) -> Report:
    if not backend_of(home.address).may_exist(home.address):
        raise NotFound(f"there is no memory at {home.root} yet: run `commonplace init`, or name another --home")
    home.storage.check()
    require_search(home)
    missing = _missing(home, questions)
    warnings = []
    if missing:
        named = ", ".join(missing[:_NAMED]) + (f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else "")
        warnings.append(
            f"evidence that is not in what {home.agent} may search counts as not found: {named}. "
            "Write it as search prints it: the page as seen from the home, and lines it has"
        )
    report = _measure(home, questions, settings, hit_figures, _HITS, tell)
    return report._replace(missing=tuple(missing), warnings=(*warnings, *report.warnings))


def _missing(home: Home, questions: list[Question]) -> list[str]:
    """Evidence on pages that this agent may not search, or beyond their last line. Of other pages nothing is told."""
    pages = {path for path, _ in home.visibility.list_pages()}
    every = dict.fromkeys(each for question in questions for each in question.evidence)
    return [str(each) for each in every if each.path not in pages or not _has(home, each)]


def _has(home: Home, lines: Lines) -> bool:
    try:
        return (
            lines.are_all or lines.first <= home.storage.pages.read(lines.path).text.removesuffix("\n").count("\n") + 1
        )
    except CommonplaceError:  # a page that cannot be read cannot be found
        return False


def _of_sessions(
    folder: str, questions: list[Question], left_out: int, settings: SearchSettings, tell: Progress
) -> Report:
    if not questions:
        raise InvalidArgument("no question names a turn of its conversation as evidence: there is nothing to measure")
    with open(os.path.join(folder, "commonplace.yaml"), "w", encoding="utf-8") as file:
        file.write("memorySearch:\n  indexSessions: true\n")
    home = Home(folder)
    try:
        report = _measure(home, questions, settings, turn_figures, _TURN_HITS, tell)
    finally:
        home.close()
    said = f"{left_out} questions are left out: their evidence names no turn of their conversation"
    return report._replace(warnings=(*([said] if left_out else []), *report.warnings))


def _measure(
    home: Home, questions: list[Question], settings: SearchSettings, reading: Reading, hits: int, tell: Progress
) -> Report:
    """Both runs see one state of the index."""

    def ask(view: IndexView) -> tuple[list[SearchResult], list[SearchResult], tuple[str, ...]]:
        queries = [_query(home, question, settings, hits) for question in questions]
        ours = _answers(view.index, queries, EmbeddingService(settings), "search", tell)
        theirs = _answers(view.index, queries, EmbeddingService(SearchSettings(provider="none")), "words alone", tell)
        return ours, theirs, home.visibility.filter_warnings(view)

    ours, theirs, warnings = home.index.query(ask)
    pairs = [
        (reading(question.evidence, mine.hits), reading(question.evidence, other.hits))
        for question, mine, other in zip(questions, ours, theirs, strict=True)
    ]
    if len(questions) < _FEW:
        warnings = (f"{len(questions)} questions are few: ask {_FEW} or more before you trust a difference", *warnings)
    reasons = tuple(dict.fromkeys(reason for each in ours for reason in each.reasons))
    fallen = sum(each.fallback for each in ours)
    if fallen:
        reasons = (
            f"words answered {fallen} of {len(ours)} questions alone, because {settings.provider} failed",
            *reasons,
        )
    return Report(
        len(questions),
        settings.provider,
        ours[-1].model,
        fallen > 0,
        _compare(pairs),
        _by_group(questions, pairs),
        (),
        (*reasons[:_NAMED], *warnings),
    )


def _query(home: Home, question: Question, settings: SearchSettings, hits: int) -> Query:
    cut = settings.min_score or 0.0
    return Query(question.text, home.visibility.viewer(), hits, cut, EVERYTHING, home.today().toordinal())


def _answers(
    index: Index, queries: list[Query], embedding: EmbeddingService, name: str, tell: Progress
) -> list[SearchResult]:
    """The answers, once everything is embedded: half an index would be measured as half a search."""
    try:
        embedding.build(index, tell)
    except Unavailable:
        tell(name, 0, len(queries))  # the answers say why, each for itself
    found = []
    for number, query in enumerate(queries, start=1):
        found.append(run_query(index, query, embedding))
        tell(name, number, len(queries))
    return found


def _compare(pairs: Sequence[tuple[Figures, Figures]]) -> Comparison:
    return compare([ours for ours, _ in pairs], [words for _, words in pairs])


def _by_group(questions: list[Question], pairs: list[tuple[Figures, Figures]]) -> dict[str, tuple[int, Comparison]]:
    groups: dict[str, list[tuple[Figures, Figures]]] = {}
    for question, pair in zip(questions, pairs, strict=True):
        if question.group:
            groups.setdefault(question.group, []).append(pair)
    return {name: (len(some), _compare(some)) for name, some in groups.items()}
