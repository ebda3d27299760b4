"""Figures for static models alone over a folder of retrieval sets: cosine of a question with pages and their sentences.

`python measure_sets.py SETS NAME... --weights FILE...` prints R@1, R@10 and nDCG@10 by set, for each weights file. A
page or turn scores the cosine of its whole plus that of its best sentence. Sets are measured on, never trained on.
"""

import argparse
import json
import math
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from weights import open_model

from commonplace.embedding.static import StaticModel

SENTENCES = re.compile(r"(?<=[.!?।。！？؟])\s*(?=\S)|\n+")


def units(folder: Path) -> list[tuple[tuple[str, int], str]]:
    """Return the pages and turns of a set, each with its path and line."""
    found = []
    for file in sorted((folder / "home").rglob("*")):
        name = str(file.relative_to(folder / "home"))
        if file.suffix == ".md":
            found.append(((name, 0), re.sub(r"(?s)\A---\n.*?\n---\n", "", file.read_text())))
        elif file.suffix == ".jsonl":
            turns = (json.loads(line) for line in file.read_text().split("\n") if line)
            found += [((name, n), t["content"]) for n, t in enumerate(turns, 1)]
    return found


def targets(names: list[str]) -> set[tuple[str, int]]:
    out = set()
    for name in names:
        path, _, lines = name.partition("#")
        numbers = [int(n) for n in re.findall(r"\d+", lines)] or [0]
        out |= {(path, 0)} if path.endswith(".md") else {(path, n) for n in range(numbers[0], numbers[-1] + 1)}
    return out


def scores(model: StaticModel, questions: list[str], texts: list[str]) -> np.ndarray:
    """Return the similarity of each question with each text."""
    asked = model.encode(questions)
    whole = asked @ model.encode(texts).T
    parts = [[s for s in SENTENCES.split(text) if len(s) > 8] or [text] for text in texts]
    best = asked @ model.encode([s for part in parts for s in part]).T
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    return whole + np.maximum.reduceat(best, starts, axis=1)


def measure(model: StaticModel, folder: Path, limit: int) -> dict[str, float]:
    questions = [json.loads(line) for line in (folder / "questions.jsonl").open()]
    if len(questions) > limit:
        questions = [questions[i * len(questions) // limit] for i in range(limit)]
    found = units(folder)
    places = {key: i for i, (key, _) in enumerate(found)}
    table = scores(model, [q["question"] for q in questions], [text for _, text in found])
    rows = []
    kinds: dict[str, list[float]] = {}
    for question, line in zip(questions, table, strict=True):
        gold = {places[t] for t in targets(question["evidence"]) if t in places}
        if not gold:
            continue
        top = [int(i) for i in np.argsort(-line, kind="stable")[:10]]
        gain = sum(1 / math.log2(i + 2) for i, unit in enumerate(top) if unit in gold)
        ideal = sum(1 / math.log2(i + 2) for i in range(min(10, len(gold))))
        recall = len(gold & set(top)) / len(gold)
        rows.append((len(gold & set(top[:1])) / len(gold), recall, gain / ideal))
        kinds.setdefault(str(question.get("kind")), []).append(recall)
    out = dict(zip(("R@1", "R@10", "nDCG@10"), (round(float(x), 3) for x in np.mean(rows, axis=0)), strict=True))
    if 1 < len(kinds) < 15:
        out |= {kind: round(float(np.mean(values)), 3) for kind, values in sorted(kinds.items())}
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--weights", type=Path, nargs="+", required=True)
    parser.add_argument("--limit", type=int, default=500)
    given = parser.parse_args()
    models = {path.stem: open_model(path) for path in given.weights}
    for name in given.names:
        for label, model in models.items():
            print(
                f"{name:18} {label:14}",
                *(f"{k} {v}" for k, v in measure(model, given.sets / name, given.limit).items()),
            )


if __name__ == "__main__":
    main()
