"""What each part of the ranking earns, with one factor switched off at a time, and each leg alone.

Run: ./dev ablation [--provider static] [--data FOLDER] for LoCoMo: choices are made on conversations 1 to 5; 6 to 10
are shown beside. ./dev ablation --sets FOLDER [NAME...] [--sample 50] for the sets of `./dev ruler`: how much R@10 and
nDCG change on average, and on how many sets nDCG falls and rises by more than chance explains. `around` is the text
beside a passage; `pruning` the words that are looked up; the rest are the factors of `search/scoring.py` (`tokens`, and
the turns beside, count with `local` alone).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ruler
from quality import Question, ready, sessions, settings_of

from commonplace import Memory
from commonplace.embedding import late_interaction as late
from commonplace.embedding.base import TokenLevelEmbedder
from commonplace.index.embedding_service import EmbeddingService
from commonplace.maintenance.evaluate import Lines, turn_figures
from commonplace.model import Query
from commonplace.search import bm25 as words_leg
from commonplace.search import scoring
from commonplace.search.pipeline import SearchResult, run_query
from commonplace.search.scoring import WEIGHTS, Weights
from commonplace.settings import SearchSettings

SHOWN = ("fraction@5", "fraction@10", "ndcg@10", "session_recall@5")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--provider", default="static")
    options.add_argument("names", nargs="*", help="which sets; all in the folder by default")
    options.add_argument("--sets", type=Path, help="a folder of sets instead of LoCoMo")
    options.add_argument("--sample", type=int, default=50, help="questions of each set; 0 for all")
    given = options.parse_args()
    given.rerank = False
    if given.sets:
        compare_sets(given)
        return
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


Variant = tuple[Weights, EmbeddingService | None, Callable[[], AbstractContextManager[None]]]
FACTORS = ("maxsim", "similar", "support", "crowding", "phrase", "date", "question")


def variants() -> dict[str, Variant]:
    without = {f"without {name}": WEIGHTS._replace(**{name: 0.0}) for name in FACTORS}
    chosen: dict[str, Variant] = {"everything": (WEIGHTS, None, nullcontext)}
    chosen |= {name: (weights, None, nullcontext) for name, weights in without.items()}
    chosen["without around"] = (WEIGHTS, None, without_around)
    chosen["without answers"] = (WEIGHTS, None, without_answers)
    chosen["words alone"] = (WEIGHTS, EmbeddingService(SearchSettings(provider="none")), nullcontext)
    nothing = Weights(*[0.0] * len(Weights._fields))
    chosen["meaning alone"] = (nothing._replace(dense=1.0, tokens=1.0), None, nullcontext)
    return chosen


def compare_sets(given: argparse.Namespace) -> None:
    """Print what every variant changes, over all sets."""
    names = given.names or sorted(
        {path.name.removesuffix(".tar.xz") for path in given.sets.iterdir() if ruler.is_set(path)}
    )
    chosen = variants()
    by_set = {name: measure_set(name, chosen, given) for name in names}
    print(f"{'':20}{'R@10':>8}{'nDCG@10':>9}{'falls':>7}{'rises':>7}  where nDCG falls most")
    for variant in chosen:
        print(render(variant, {name: (rows["everything"], rows[variant]) for name, rows in by_set.items()}), flush=True)


def measure_set(
    name: str, chosen: dict[str, Variant], given: argparse.Namespace
) -> dict[str, list[tuple[float, float]]]:
    """Return R@10 and nDCG@10 of every question of a set, for every variant."""
    rows: dict[str, list[tuple[float, float]]] = {variant: [] for variant in chosen}
    questions = [question for question in ruler.read_questions(given.sets, name) if question["evidence"]]
    with tempfile.TemporaryDirectory() as folder:
        source = ruler.unpack(given.sets, name, Path(folder))
        home = Path(folder) / "memory"
        ruler.make_home(source, home, given)
        for question, memory, _ in ruler.open_memories(source / "home", home, ruler.draw(questions, given.sample)):
            for variant, (weights, meaning, context) in chosen.items():
                with context():
                    outcome = ruler.ask(ranking_of(memory, weights, meaning), question)
                rows[variant].append((outcome.recall, outcome.ndcg))
    print(f"{name} asked", flush=True)
    return rows


def ranking_of(memory: Memory, weights: Weights, meaning: EmbeddingService | None) -> Callable[[str], ruler.Ranking]:
    def find(text: str) -> ruler.Ranking:
        found = ask(memory, text, weights, meaning or memory.home.embedding)
        return [(hit.path, hit.start, hit.end, hit.score) for hit in found.hits]

    return find


def render(variant: str, pairs: dict[str, tuple[list[tuple[float, float]], list[tuple[float, float]]]]) -> str:
    changes = {name: [b[1] - a[1] for a, b in zip(*pair, strict=True)] for name, pair in pairs.items()}
    recall = ruler.mean([ruler.mean([b[0] - a[0] for a, b in zip(*pair, strict=True)]) for pair in pairs.values()])
    intervals = [ruler.interval(change) for change in changes.values()]
    falls = sum(high < 0 for _, high in intervals)
    rises = sum(low > 0 for low, _ in intervals)
    means = {name: ruler.mean(change) for name, change in changes.items()}
    worst = sorted(means, key=means.__getitem__)[:2]
    where = ", ".join(f"{name} {means[name]:+.3f}" for name in worst if means[name] < 0)
    return f"{variant:20}{recall:+8.3f}{ruler.mean(list(means.values())):+9.3f}{falls:7}{rises:7}  {where}"


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


def without_around() -> AbstractContextManager[object]:
    """Count only the words of the passage itself; candidates are still found by those around it."""
    return patch.object(words_leg, "CONTEXT_WEIGHT", 0.0)


def without_answers() -> AbstractContextManager[object]:
    """Let a question stand before its answer."""
    return patch.object(scoring, "_MIN_ASKED_SHARE", 2.0)


def each_turn_alone() -> AbstractContextManager[object]:
    """Compare the tokens of a turn without those of the turns beside it."""
    maxsim = late.maxsim
    return patch.object(late, "maxsim", lambda question, tokens, _: maxsim(question, tokens))


def everything_looked_up() -> AbstractContextManager[object]:
    return patch.object(words_leg, "_MAX_LOOKUP_PASSAGES", 10**9)


if __name__ == "__main__":
    main()
