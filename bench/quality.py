"""How well search finds: LoCoMo (English dialogue) and CMRC 2018 (Chinese passages), through `Memory.search`.

Run: ./dev quality [--data FOLDER]. The data is not part of the project: the folder holds `locomo/locomo10.json` and
`cmrc2018/cmrc2018_dev.json`, and what is absent is said and left out. Nothing is tuned per question; the two halves of
LoCoMo are reported apart, and choices are made on the first.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from commonplace import Hit, Memory

Turn = tuple[str, int]  # a session file, and a line of it


class Question(NamedTuple):
    text: str
    evidence: frozenset[Turn]
    group: str


class Found(NamedTuple):
    """How much of the evidence of a question stands in the first hits."""

    at_5: float
    at_10: float
    ndcg: float
    session_at_5: float
    seconds: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the benchmark data is")
    data = options.parse_args().data
    for name, run in (("locomo/locomo10.json", locomo), ("cmrc2018/cmrc2018_dev.json", cmrc)):
        if (data / name).exists():
            with tempfile.TemporaryDirectory() as folder:
                run(json.loads((data / name).read_text()), Path(folder))
        else:
            print(f"\n{data / name} is not there: left out")


def locomo(conversations: list[dict[str, Any]], home: Path) -> None:
    """Every turn of ten conversations in one memory; which turns answer a question?"""
    (home / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    questions = [question for number, each in enumerate(conversations) for question in sessions(each, number, home)]
    memory = Memory(home)
    memory.search("warm up")
    print(f"\nLoCoMo, {len(questions)} questions, fraction of the evidence turns found\n")
    print(f"{'conversations':16}{'R@5':>8}{'R@10':>8}{'nDCG@10':>9}{'session R@5':>13}{'CPU ms':>8}")
    results = [(question.group, ask(memory, question)) for question in questions]
    for group in ("1 to 5", "6 to 10", ""):
        chosen = [found for name, found in results if name == group or not group]
        at_5, at_10, ndcg, session, seconds = (sum(column) / len(chosen) for column in zip(*chosen, strict=True))
        print(f"{group or 'all':16}{at_5:8.3f}{at_10:8.3f}{ndcg:9.3f}{session:13.3f}{seconds * 1000:8.1f}")


def sessions(conversation: dict[str, Any], number: int, home: Path) -> Iterator[Question]:
    """Write a conversation as session files; its questions, with the lines of their evidence."""
    folder = home / "agents/main/sessions"
    folder.mkdir(parents=True, exist_ok=True)
    talk, lines = conversation["conversation"], {}
    for name in (key for key in talk if re.fullmatch(r"session_\d+", key)):
        path = f"agents/main/sessions/{number}-{name}.jsonl"
        events = [
            {"role": "user", "name": turn["speaker"], "content": turn["text"], "timestamp": talk[f"{name}_date_time"]}
            for turn in talk[name]
        ]
        (home / path).write_text("".join(json.dumps(event) + "\n" for event in events))
        lines.update({turn["dia_id"]: (path, line) for line, turn in enumerate(talk[name], start=1)})
    for asked in conversation["qa"]:
        named = re.findall(r"D\d+:\d+", " ".join(asked.get("evidence", [])))
        evidence = frozenset(lines[name] for name in named if name in lines)
        if evidence:
            yield Question(asked["question"], evidence, "1 to 5" if number < 5 else "6 to 10")


def ask(memory: Memory, question: Question) -> Found:
    started = time.process_time()
    hits = memory.search(question.text, limit=10)
    seconds = time.process_time() - started
    turns = list(turns_of(hits))
    wanted = question.evidence
    gain = sum(1 / math.log2(rank + 2) for rank, turn in enumerate(turns[:10]) if turn in wanted)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(wanted))))
    files = {path for path, _ in wanted}
    return Found(
        len(wanted & {*turns[:5]}) / len(wanted),
        len(wanted & {*turns[:10]}) / len(wanted),
        gain / ideal,
        len(files & {path for path, _ in turns[:5]}) / len(files),
        seconds,
    )


def turns_of(hits: Iterable[Hit]) -> Iterator[Turn]:
    """The turns of the hits in order; a hit that spans more than five says nothing."""
    for hit in hits:
        if hit.end - hit.start < 5:
            yield from ((hit.path, line) for line in range(hit.start, hit.end + 1))


def cmrc(articles: Any, home: Path) -> None:
    """Every passage a page; which page answers a question?"""
    (home / "memory").mkdir()
    questions: list[tuple[str, str]] = []
    for number, (text, asked) in enumerate(passages(articles)):
        path = f"memory/{number}.md"
        (home / path).write_text(text)
        questions += ((question, path) for question in asked)
    memory = Memory(home)
    memory.search("热身")
    started = time.process_time()
    ranks = [[*dict.fromkeys(hit.path for hit in memory.search(question, limit=30))] for question, _ in questions]
    seconds = (time.process_time() - started) / len(questions)
    shares = [
        sum(path in rank[:n] for rank, (_, path) in zip(ranks, questions, strict=True)) / len(questions)
        for n in (1, 10)
    ]
    print(f"\nCMRC 2018, {len(questions)} questions, recall of the passage\n")
    print(f"{'R@1':>8}{'R@10':>8}{'CPU ms':>8}\n{shares[0]:8.3f}{shares[1]:8.3f}{seconds * 1000:8.1f}")


def passages(articles: Any) -> Iterator[tuple[str, list[str]]]:
    """The passages and their questions, in the two forms the set is given in."""
    for article in articles["data"] if isinstance(articles, dict) else articles:
        for paragraph in article.get("paragraphs", [article]):
            text = paragraph.get("context") or paragraph["context_text"]
            yield text, [each.get("question") or each["query_text"] for each in paragraph["qas"]]


if __name__ == "__main__":
    main()
