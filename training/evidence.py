"""Learns the weights by which `facts/evidence.py` tells a change from what only looks like one.

Run: python training/evidence.py [--write] [--by file|language|kind] [FILE...]; needs numpy. FILE: the pairs of notes to
learn from, by default those of `bench/data` that are not named `unseen`. Prints, for each file (or language, or kind)
left out of the learning in turn, what is linked by the rules alone and what with the weights: changes, pairs that only
look alike, and notes that one of another pair replaces, if all are in one memory. With `--write`, stores the weights
learned from all.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from commonplace.facts import evidence
from commonplace.facts.statements import Statement, lookup_keys, split_statements, stored_keys
from commonplace.facts.versions import judge

ROOT = Path(__file__).parent.parent
DATA = ROOT / "bench/data"
SEED = 18
DOCS = -1  # the place of what is from no pair of notes
FRESH = ("pairs-field", "pairs-people", "pairs-stranger")  # files with no pair in view of which a rule was written
FRESH_WEIGHT = 3.0
MIN_SPREAD = 0.1  # of a trait, so that a rare one gets no great weight
STRENGTH = 0.05  # the smaller, the nearer to 0 are the weights
MAX_PAGES = 8  # statements of the docs with one key
DOCS_PAIRS = 6000  # of sentences of different pages of the docs, which are no changes
DOCS_WEIGHT = 0.1
MAX_SHARE = 0.5  # of the topics of two pairs of notes that are about different things
NEWTON_STEPS = 10
Item = dict[str, Any]
Floats = npt.NDArray[np.float64]


class Pair(NamedTuple):
    """Two statements, of which the newer changes the older or not. `item`: the place of the pair of notes that the
    older is from; `is_mixed`: the newer is from another."""

    item: int
    older: Statement
    newer: Statement
    is_change: bool
    is_mixed: bool = False


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--by", choices=("file", "language", "kind"), default="file")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    files = given.files or [path for path in sorted(DATA.glob("*.jsonl")) if is_for_learning(path)]
    items = [{"file": path.stem, **item} for path in files for item in read_items(path)]
    pairs = [*pair_notes(items), *mix_notes(items), *mix_docs()]
    for group in dict.fromkeys(item[given.by] for item in items):
        report(group, [item[given.by] == group for item in items], items, pairs)
    if given.write:
        write(learn(items, pairs), files)


def is_for_learning(path: Path) -> bool:
    return "unseen" not in path.stem and path.stem != "retractions"


def read_items(path: Path) -> list[Item]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def pair_notes(items: Sequence[Item]) -> Iterator[Pair]:
    """Yield the statements of both notes of an item that are compared."""
    for at, item in enumerate(items):
        for older in split_statements(item["older"]):
            for newer in split_statements(item["newer"]):
                if not set(lookup_keys(older)).isdisjoint(stored_keys(newer)):
                    yield Pair(at, older, newer, item["is_change"])


def mix_notes(items: Sequence[Item]) -> Iterator[Pair]:
    """Yield the statements of older notes and of the newer notes of other items that would be compared if all were in
    one memory. They are about different things, but for those that share many words."""
    by_key: dict[tuple[str, int], list[tuple[int, Statement]]] = defaultdict(list)
    for at, item in enumerate(items):
        for newer in split_statements(item["newer"]):
            for key in set(stored_keys(newer)):
                by_key[item["language"], key].append((at, newer))
    for at, item in enumerate(items):
        for older in split_statements(item["older"]):
            others = {each: None for key in lookup_keys(older) for each in by_key[item["language"], key]}
            for other, newer in others:
                if other != at and not are_alike(item, items[other]):
                    yield Pair(at, older, newer, is_change=False, is_mixed=True)


def mix_docs() -> Iterator[Pair]:
    """Yield statements of different pages of the docs: people who write of one program share many words."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    statements = [(page.name, each) for page in pages for each in split_statements(page.read_text())]
    by_key: dict[int, list[tuple[str, Statement]]] = defaultdict(list)
    for page, each in statements:
        for key in stored_keys(each):
            by_key[key].append((page, each))
    mixed = [
        Pair(DOCS, older, newer, is_change=False, is_mixed=True)
        for page, older in statements
        for other, newer in {each: None for key in lookup_keys(older) for each in by_key[key][:MAX_PAGES]}
        if other != page
    ]
    random.Random(SEED).shuffle(mixed)
    return iter(mixed[:DOCS_PAIRS])


def are_alike(one: Item, other: Item) -> bool:
    """Return whether two pairs of notes may be about one thing: they have the same older note, or share topics."""
    if one["older"] == other["older"]:
        return True
    first, second = (list_stems(item["older"], item["newer"]) for item in (one, other))
    return len(first & second) >= MAX_SHARE * min(len(first), len(second))


@cache
def list_stems(*texts: str) -> frozenset[str]:
    return frozenset(stem for text in texts for each in split_statements(text) for stem in each.stems)


def learn(items: Sequence[Item], pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the weight of each trait, learned from the pairs that no rule tells apart."""
    pairs = [pair for pair in pairs if is_undecided(pair)]
    rows = [read_row(pair.older, pair.newer) for pair in pairs]
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows], float)
    means = values.mean(axis=0)
    spreads = np.maximum(values.std(axis=0), MIN_SPREAD)
    labels = np.array([pair.is_change for pair in pairs], float)
    importance = np.array([weigh(items, pair) for pair in pairs])
    *scaled, constant = fit((values - means) / spreads, labels, importance)
    weights = np.array(scaled) / spreads
    always = float(constant - weights @ means)
    return {"always": always, **dict(zip(names, map(float, weights), strict=True))}


def weigh(items: Sequence[Item], pair: Pair) -> float:
    """Return how much a pair counts."""
    if pair.item == DOCS:
        return DOCS_WEIGHT
    return FRESH_WEIGHT if not pair.is_mixed and items[pair.item]["file"] in FRESH else 1.0


@cache
def read_row(older: Statement, newer: Statement) -> dict[str, float]:
    return evidence.read_evidence(older, newer)


@cache
def is_undecided(pair: Pair) -> bool:
    """Return whether nothing tells two statements apart, however much else speaks for a change."""
    with weighing({"always": 100.0}):
        return judge(pair.older, pair.newer) is not None


def fit(values: Floats, labels: Floats, importance: Floats) -> Floats:
    """Return the weights of a logistic regression, and its constant, by the method of Newton."""
    rows = np.hstack((values, np.ones((len(values), 1))))
    penalty = np.diag([1 / STRENGTH] * values.shape[1] + [0.0])
    weights = np.zeros(rows.shape[1])
    for _ in range(NEWTON_STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (importance * (chances - labels)) + penalty @ weights
        bend = (rows * (importance * chances * (1 - chances))[:, None]).T @ rows + penalty
        weights -= np.linalg.solve(bend, slope)
    return weights


@contextmanager
def weighing(weights: Mapping[str, float]) -> Iterator[None]:
    """Judge with these weights meanwhile; those that are not named are 0."""
    usual = evidence.load_weights
    evidence.load_weights = lambda: defaultdict(float, weights)
    try:
        yield
    finally:
        evidence.load_weights = usual


def report(group: str, is_left_out: Sequence[bool], items: Sequence[Item], pairs: Sequence[Pair]) -> None:
    """Print what is linked of some items with weights learned from the others, and without any."""
    weights = learn(items, [pair for pair in pairs if pair.item == DOCS or not is_left_out[pair.item]])
    rows = []
    for some in ({"always": 0.0}, weights):
        with weighing(some):
            linked = {pair for pair in pairs if pair.item != DOCS and is_left_out[pair.item] and is_linked(pair)}
        found = {pair.item for pair in linked if pair.is_change}
        wrong = {pair.item for pair in linked if not pair.is_change and not pair.is_mixed}
        rows.append((len(found), len(wrong), len({pair.item for pair in linked if pair.is_mixed})))
    changes = sum(item["is_change"] for item, is_out in zip(items, is_left_out, strict=True) if is_out)
    found, wrong, mixed = (" -> ".join(map(str, each)) for each in zip(*rows, strict=True))
    alike = sum(is_left_out) - changes
    print(f"{group:16} found {found} of {changes}, falsely linked {wrong} of {alike}, with others {mixed}", flush=True)


def is_linked(pair: Pair) -> bool:
    return judge(pair.older, pair.newer) is not None


def write(weights: dict[str, float], files: Sequence[Path]) -> None:
    lines = [f"{weight:+.2f} {name}" for name, weight in weights.items()]
    learned = ", ".join(path.stem for path in files)
    header = f"# How much each trait of a pair speaks for a change. Learned by training/evidence.py from {learned}."
    evidence.WEIGHTS.write_text("\n".join((header, *lines, "")))


if __name__ == "__main__":
    main()
