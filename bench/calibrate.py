"""What scores are worth: fits the numbers in `search/calibration.py`, and shows how often a score comes true.

Run: ./dev calibrate [--provider static] [--rerank] [--data FOLDER]. Fitted on conversations 1 to 5 of LoCoMo, every
other question of CMRC 2018, and the small sample of notes in tests/search; the reliability tables are of the other
halves. Each set counts the same.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from quality import cmrc_questions, ready, sessions, settings_of

from commonplace import Memory

Scored = list[tuple[float, bool]]  # odds of a hit, and whether it was right
BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--provider", default="static")
    options.add_argument("--rerank", action="store_true")
    options.add_argument("--only", default="", help="locomo or cmrc: where English and Chinese have a space each")
    options.add_argument("--step", type=int, default=1, help="only every so many-th question")
    given = options.parse_args()
    fitted: list[Scored] = []
    kept: list[Scored] = []
    for name, read in (("locomo/locomo10.json", locomo), ("cmrc2018/cmrc2018_dev.json", cmrc)):
        if (given.rerank and read is cmrc) or not name.startswith(given.only):  # a reranker does not take Chinese
            continue
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "commonplace.yaml").write_text(settings_of(given.provider, rerank=given.rerank))
            first, second = read(json.loads((given.data / name).read_text()), Path(folder), given.step)
        fitted.append(first)
        kept.append(second)
    if not given.rerank:
        fitted.append(sample(settings_of(given.provider, rerank=False)))
    slope, offset = fit(fitted)
    print(f"{given.provider}{' + rerank' if given.rerank else ''}: slope {slope:.3f}, offset {offset:.3f}")
    names = [name for name in ("LoCoMo 6 to 10", "CMRC, other half") if name.lower().startswith(given.only)]
    for name, some in zip(names, kept, strict=False):
        reliability(name, some, lambda odds: float(1 / (1 + np.exp(-(slope * odds + offset)))))


def locomo(conversations: Any, home: Path, step: int) -> tuple[Scored, Scored]:
    questions = [each for number, talk in enumerate(conversations) for each in sessions(talk, number, home)][::step]
    memory = ready(home)
    halves: tuple[Scored, Scored] = ([], [])
    for question in questions:
        wanted = question.evidence
        rows = hits(memory, question.text)
        halves[question.group != "1 to 5"].extend((odds, (path, line) in wanted) for path, line, odds in rows)
    return halves


def cmrc(articles: Any, home: Path, step: int) -> tuple[Scored, Scored]:
    questions = cmrc_questions(articles, home)[::step]
    memory = ready(home)
    halves: tuple[Scored, Scored] = ([], [])
    for number, (text, page) in enumerate(questions):
        halves[number % 2].extend((odds, path == page) for path, _, odds in hits(memory, text))
    return halves


def sample(settings: str) -> Scored:
    """Forty notes and forty questions of our own: a memory as small as most are at first."""
    told = json.loads((Path(__file__).parent.parent / "tests/search/sample.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder) / "memory/world"
        world.mkdir(parents=True)
        (Path(folder) / "commonplace.yaml").write_text(settings)
        for note in told["notes"]:
            (world / f"{note['name']}.md").write_text(f"{note['text']}\n")
        memory = ready(Path(folder))
        return [
            (odds, path == f"memory/world/{question['answer']}.md")
            for question in told["questions"]
            for path, _, odds in hits(memory, question["text"])
        ]


def hits(memory: Memory, text: str) -> Iterator[tuple[str, int, float]]:
    for row in memory.home.search(text, 10).ranked:
        yield row.hit.path, row.hit.start, row.odds


def fit(sets: list[Scored]) -> tuple[float, float]:
    """The logistic curve nearest to what was right: Newton's method, each set weighing one."""
    odds = np.array([odds for some in sets for odds, _ in some])
    right = np.array([right for some in sets for _, right in some], float)
    weight = np.concatenate([np.full(len(some), 1 / len(some)) for some in sets])
    columns = np.stack([odds, np.ones_like(odds)], 1)
    found = np.zeros(2)
    for _ in range(50):
        likely = 1 / (1 + np.exp(-columns @ found))
        slant = columns.T @ (weight * (right - likely))
        bend = (columns * (weight * likely * (1 - likely))[:, None]).T @ columns
        found += np.linalg.solve(bend + 1e-9 * np.eye(2), slant)
    return float(found[0]), float(found[1])


def reliability(name: str, some: Scored, score: Callable[[float], float]) -> None:
    print(f"\n{name}\n{'score':>12}{'hits':>8}{'said':>8}{'right':>8}")
    scored = [(score(odds), right) for odds, right in some]
    for low, high in pairwise(BINS):
        inside = [(said, right) for said, right in scored if low <= said < high]
        if inside:
            said, right = (sum(column) / len(inside) for column in zip(*inside, strict=True))
            print(f"{low:6.2f}-{min(high, 1):.2f}{len(inside):8}{said:8.3f}{right:8.3f}")


if __name__ == "__main__":
    main()
