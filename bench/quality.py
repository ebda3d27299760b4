"""How well search finds: LoCoMo (English dialogue) and CMRC 2018 (Chinese passages), through `Memory.search`.

Run: ./dev quality [--data FOLDER]. The data is not part of the project: the folder holds `locomo/locomo10.json` and
`cmrc2018/cmrc2018_dev.json`, and what is absent is said and left out. Nothing is tuned per question; the two halves of
LoCoMo are reported apart, and choices are made on the first.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from commonplace import Memory
from commonplace.maintenance.evaluate import Lines, TurnLine, turn_figures, turns_of, write_conversation

__all__ = [
    "Found",
    "Question",
    "TurnLine",
    "ask",
    "passages",
    "sessions",
    "turns_of",
]  # what bench/peers.py measures with


class Question(NamedTuple):
    text: str
    evidence: frozenset[TurnLine]
    group: str


class Found(NamedTuple):
    """How much of the evidence of a question is in the first hits: turns, and the sessions they are in."""

    at_5: float
    at_10: float
    ndcg: float
    session_at_5: float
    seconds: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the benchmark data is")
    options.add_argument("--provider", default="static", help="who embeds: static, local, none, …")
    options.add_argument("--rerank", action="store_true", help="read the best hits again with a cross-encoder")
    options.add_argument("--only", default="", help="locomo or cmrc")
    given = options.parse_args()
    data = given.data
    settings = settings_of(given.provider, rerank=given.rerank)
    print(settings)
    for name, run in (("locomo/locomo10.json", locomo), ("cmrc2018/cmrc2018_dev.json", cmrc)):
        if not name.startswith(given.only):
            continue
        if (data / name).exists():
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "commonplace.yaml").write_text(settings)
                run(json.loads((data / name).read_text()), Path(folder))
        else:
            print(f"\n{data / name} is not there: left out")


def settings_of(provider: str, *, rerank: bool) -> str:
    said = {"indexSessions": True, "provider": provider, "rerank": rerank}
    return "memorySearch:\n" + "".join(f"  {name}: {json.dumps(value)}\n" for name, value in said.items())


def locomo(conversations: list[dict[str, Any]], home: Path) -> None:
    """Every turn of ten conversations in one memory; which turns answer a question?"""
    questions = [question for number, each in enumerate(conversations) for question in sessions(each, number, home)]
    memory = ready(home)
    print(f"\nLoCoMo, {len(questions)} questions, fraction of the evidence turns found\n")
    print(f"{'conversations':16}{'R@5':>8}{'R@10':>8}{'nDCG@10':>9}{'session R@5':>13}{'CPU ms':>8}")
    results = [(question.group, ask(memory, question)) for question in questions]
    for group in ("1 to 5", "6 to 10", ""):
        chosen = [found for name, found in results if name == group or not group]
        at_5, at_10, ndcg, session, seconds = (sum(column) / len(chosen) for column in zip(*chosen, strict=True))
        print(f"{group or 'all':16}{at_5:8.3f}{at_10:8.3f}{ndcg:9.3f}{session:13.3f}{seconds * 1000:8.1f}")


def ready(home: Path) -> Memory:
    """A memory whose index is whole: a slow embedder would else catch up while it is measured."""
    memory = Memory(home)
    memory.home.index.query(lambda view: memory.home.embedding.build(view.index, lambda *_: None))
    memory.search("warm up")
    return memory


def sessions(conversation: dict[str, Any], number: int, home: Path) -> Iterator[Question]:
    """Write a conversation as session files; its questions, with the lines of their evidence."""
    for asked in write_conversation(conversation, number, home):
        turns = frozenset((place.path, place.first) for place in asked.evidence)
        yield Question(asked.text, turns, "1 to 5" if number < 5 else "6 to 10")


def ask(memory: Memory, question: Question) -> Found:
    started = time.process_time()
    hits = memory.search(question.text, limit=30)
    seconds = time.process_time() - started
    found = turn_figures([Lines(path, line, line) for path, line in question.evidence], hits)
    return Found(found["fraction@5"], found["fraction@10"], found["ndcg@10"], found["session_recall@5"], seconds)


def cmrc(articles: Any, home: Path) -> None:
    """Every passage a page; which page answers a question?"""
    questions = cmrc_questions(articles, home)
    memory = ready(home)
    started = time.process_time()
    ranks = [[*dict.fromkeys(hit.path for hit in memory.search(question, limit=30))] for question, _ in questions]
    seconds = (time.process_time() - started) / len(questions)
    shares = [
        sum(path in rank[:n] for rank, (_, path) in zip(ranks, questions, strict=True)) / len(questions)
        for n in (1, 10)
    ]
    print(f"\nCMRC 2018, {len(questions)} questions, recall of the passage\n")
    print(f"{'R@1':>8}{'R@10':>8}{'CPU ms':>8}\n{shares[0]:8.3f}{shares[1]:8.3f}{seconds * 1000:8.1f}")


def cmrc_questions(articles: Any, home: Path) -> list[tuple[str, str]]:
    """Write the passages as pages; the questions, each with its page."""
    (home / "memory").mkdir()
    questions: list[tuple[str, str]] = []
    for number, (text, asked) in enumerate(passages(articles)):
        path = f"memory/{number}.md"
        (home / path).write_text(text)
        questions += ((question, path) for question in asked)
    return questions


def passages(articles: Any) -> Iterator[tuple[str, list[str]]]:
    """The passages and their questions, in the two forms the set is given in."""
    for article in articles["data"] if isinstance(articles, dict) else articles:
        for paragraph in article.get("paragraphs", [article]):
            text = paragraph.get("context") or paragraph["context_text"]
            yield text, [each.get("question") or each["query_text"] for each in paragraph["qas"]]


if __name__ == "__main__":
    main()
