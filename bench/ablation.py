"""What each part of the ranking earns: LoCoMo with one factor switched off at a time, and each leg alone.

Run: ./dev ablation [--provider static] [--data FOLDER]. Choices are made on conversations 1 to 5; 6 to 10 are shown
beside. `around` is the text beside a passage; `pruning` the words that are looked up; the rest are the factors of
`search/scoring.py` (`tokens`, and the turns beside, count with `local` alone).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quality import Question, ready, sessions, settings_of

from commonplace import Memory
from commonplace.embedding import late_interaction as late
from commonplace.embedding.base import TokenLevelEmbedder
from commonplace.index.embedding_service import EmbeddingService
from commonplace.maintenance.evaluate import Lines, turn_figures
from commonplace.model import Query
from commonplace.search import bm25 as words_leg
from commonplace.search.pipeline import SearchResult, run_query
from commonplace.search.scoring import WEIGHTS, Weights
from commonplace.settings import SearchSettings

SHOWN = ("fraction@5", "fraction@10", "ndcg@10", "session_recall@5")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--provider", default="static")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "commonplace.yaml").write_text(settings_of(given.provider, rerank=False))
        talks: list[dict[str, Any]] = json.loads((given.data / "locomo/locomo10.json").read_text())
        questions = [each for number, talk in enumerate(talks) for each in sessions(talk, number, home)]
        run(ready(home), questions)


def run(memory: Memory, questions: list[Question]) -> None:
    print(f"{'':26}{'conversations 1 to 5':^36}{'conversations 6 to 10':^36}")
    print(f"{'':26}" + f"{'R@5':>9}{'R@10':>9}{'nDCG@10':>9}{'sess R@5':>9}" * 2)
    show("everything", memory, questions, WEIGHTS)
    for factor in Weights._fields:
        if factor not in ("cross_encoder", "lexical", "dense"):
            show(f"without {factor}", memory, questions, WEIGHTS._replace(**{factor: 0.0}))
    show("words alone", memory, questions, WEIGHTS, EmbeddingService(SearchSettings(provider="none")))
    nothing = Weights(*[0.0] * len(Weights._fields))
    show("meaning alone", memory, questions, nothing._replace(dense=1.0, tokens=1.0))
    with without_around():
        show("without around", memory, questions, WEIGHTS)
    if any(isinstance(each, TokenLevelEmbedder) for each in memory.home.embedding.embedders()):
        with each_turn_alone():
            show("without turns beside", memory, questions, WEIGHTS)
    with everything_looked_up():
        show("without pruning", memory, questions, WEIGHTS)


def show(
    name: str, memory: Memory, questions: list[Question], weights: Weights, meaning: EmbeddingService | None = None
) -> None:
    halves: dict[str, list[dict[str, float]]] = {"1 to 5": [], "6 to 10": []}
    for question in questions:
        found = ask(memory, question.text, weights, meaning or memory.home.embedding)
        evidence = [Lines(path, line, line) for path, line in question.evidence]
        halves[question.group].append(turn_figures(evidence, found.hits))
    means = [sum(each[figure] for each in half) / len(half) for half in halves.values() for figure in SHOWN]
    print(f"{name:26}" + "".join(f"{mean:9.3f}" for mean in means), flush=True)


def ask(memory: Memory, text: str, weights: Weights, meaning: EmbeddingService) -> SearchResult:
    home = memory.home
    query = Query(text, home.visibility.viewer(), 30, today=home.today().toordinal())
    return home.index.query(lambda view: run_query(view.index, query, meaning, weights))


@contextmanager
def without_around() -> Iterator[None]:
    """Count only the words of the passage itself; candidates are still found by those around it."""
    kept = words_leg.CONTEXT_WEIGHT
    words_leg.CONTEXT_WEIGHT = 0.0
    yield
    words_leg.CONTEXT_WEIGHT = kept


@contextmanager
def each_turn_alone() -> Iterator[None]:
    """Compare the tokens of a turn without those of the turns beside it."""
    kept = late.maxsim
    late.maxsim = lambda question, tokens, _: kept(question, tokens)
    yield
    late.maxsim = kept


@contextmanager
def everything_looked_up() -> Iterator[None]:
    kept = words_leg._MAX_LOOKUP_PASSAGES
    words_leg._MAX_LOOKUP_PASSAGES = 10**9
    yield
    words_leg._MAX_LOOKUP_PASSAGES = kept


if __name__ == "__main__":
    main()
