"""Learns the weights by which `facts/evidence.py` tells a change from what only looks like one.

Run: python training/evidence.py [--write] [FILE...]; needs numpy. FILE: the pairs of notes to learn
from, by default those of `bench/data` that are not named `unseen`. Prints, for each file left out of the learning in
turn, what the rules find with and without the weights; with `--write`, stores the weights learned from all files.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
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
MAX_PAGES = 8  # statements of the docs with one key
MIXED_PER_ITEM = 3  # pairs of the notes of two items, which are no changes
MIXED_WEIGHT = 0.3
MAX_PARTNERS = 60
FRESH = ("pairs-field", "pairs-stranger")  # files with no pair in view of which a rule was written
FRESH_WEIGHT = 3.0
BLOCKS = 6  # of a fresh file, of which each is left out in turn
MIN_SPREAD = 0.1  # of a trait, so that a rare one gets no great weight
STRENGTH = 0.05  # the smaller, the nearer to 0 are the weights
MARGIN = 1.75  # how much has to speak for a change, as the logarithm of the odds
DOCS_PAIRS = 6000  # of sentences of different pages of the docs, which are no changes
DOCS_WEIGHT = 0.1
MAX_SHARE = 0.6  # of the topics of two notes that are about different things
NEWTON_STEPS = 12
Item = dict[str, Any]
Floats = npt.NDArray[np.float64]


class Pair(NamedTuple):
    """Two statements, of which the newer changes the older or not."""

    file: str
    item: str
    older: Statement
    newer: Statement
    is_change: bool
    weight: float = 1.0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    files = given.files or [path for path in sorted(DATA.glob("*.jsonl")) if is_for_learning(path)]
    pairs = [*mix_docs(), *(pair for path in files for pair in read_pairs(path))]
    for path in files:
        report(path, pairs)
    if given.write:
        write(learn(pairs), files)


def is_for_learning(path: Path) -> bool:
    return "unseen" not in path.stem and path.stem != "retractions"


def read_items(path: Path) -> list[Item]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file on which the weights decide, and pairs of the notes of two of its items."""
    items = read_items(path)
    by_language: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_language[item["language"]].append(item)
        pairs = pair_statements(item["older"], item["newer"])
        if item["is_change"]:  # one of them is changed, probably that with most in common
            pairs = sorted(pairs, key=lambda pair: -evidence.read_evidence(*pair)["share of the older"])[:1]
        for pair in pairs:
            yield Pair(path.stem, item["id"], *pair, item["is_change"], FRESH_WEIGHT if path.stem in FRESH else 1.0)
    dice = random.Random(SEED)
    for alike in by_language.values():
        for item in alike:
            partners = dice.sample(alike, min(len(alike), MAX_PARTNERS))
            for pair in islice(mix(item, partners), MIXED_PER_ITEM):
                yield Pair(path.stem, item["id"], *pair, False, MIXED_WEIGHT)


def pair_statements(older: str, newer: str) -> list[tuple[Statement, Statement]]:
    """Return the statements of two notes that are compared and that no rule tells apart."""
    return [pair for pair in keyed_pairs(older, newer) if judge_weighed(*pair)]


def judge_weighed(older: Statement, newer: Statement) -> bool:
    """Return whether the traits of two statements are weighed, and no rule tells them apart."""
    with weighing({"always": 1.0}):
        return judge(older, newer) is not None and evidence.may_weigh(older, newer)


def keyed_pairs(older: str, newer: str) -> Iterable[tuple[Statement, Statement]]:
    for one in split_statements(older):
        for other in split_statements(newer):
            if not set(lookup_keys(one)).isdisjoint(stored_keys(other)):
                yield one, other


def mix(item: Item, partners: Sequence[Item]) -> Iterator[tuple[Statement, Statement]]:
    """Yield statements of the older note of an item and of newer notes of others, which are about different things."""
    for other in partners:
        if not are_alike(item["older"], other["older"]):
            yield from pair_statements(item["older"], other["newer"])


def mix_docs() -> Iterator[Pair]:
    """Yield statements of different pages of the docs: people who write of one program share many words."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    statements = [(page.name, each) for page in pages for each in split_statements(page.read_text())]
    by_key: dict[int, list[tuple[str, Statement]]] = defaultdict(list)
    for page, each in statements:
        for key in stored_keys(each):
            by_key[key].append((page, each))
    mixed = [
        (older, newer)
        for page, older in statements
        for other, newer in {each: None for key in lookup_keys(older) for each in by_key[key][:MAX_PAGES]}
        if other != page
    ]
    random.Random(SEED).shuffle(mixed)
    for older, newer in mixed[:DOCS_PAIRS]:
        if judge_weighed(older, newer):
            yield Pair("docs", "", older, newer, False, DOCS_WEIGHT)


def are_alike(one: str, other: str) -> bool:
    first, second = ({stem for each in split_statements(text) for stem in each.stems} for text in (one, other))
    return len(first & second) >= MAX_SHARE * min(len(first), len(second))


def learn(pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the weight of each trait."""
    rows = [evidence.read_evidence(pair.older, pair.newer) for pair in pairs]
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows], float)
    means = values.mean(axis=0)
    spreads = np.maximum(values.std(axis=0), MIN_SPREAD)
    labels = np.array([pair.is_change for pair in pairs], float)
    *scaled, constant = fit((values - means) / spreads, labels, np.array([pair.weight for pair in pairs]))
    weights = np.array(scaled) / spreads
    always = float(constant - weights @ means) - MARGIN
    return {
        "always": always,
        **dict(zip(names, map(float, weights), strict=True)),
    }


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


def report(path: Path, pairs: Sequence[Pair]) -> None:
    """Print what is found in a file with weights learned without it, and without any. Of a fresh file, blocks of
    consecutive items are left out in turn."""
    items = read_items(path)
    count = BLOCKS if path.stem in FRESH else 1
    linked: dict[str, tuple[bool, bool]] = {}
    for block in range(count):
        some = items[block * len(items) // count : (block + 1) * len(items) // count]
        names = {item["id"] for item in some}
        weights = learn([pair for pair in pairs if pair.file != path.stem or pair.item not in names])
        for item in some:
            linked[item["id"]] = (is_linked(item, {"always": -1.0}), is_linked(item, weights))
    shares = []
    for is_change in (True, False):
        rows = [linked[item["id"]] for item in items if item["is_change"] is is_change]
        shares.append([f"{sum(row[at] for row in rows) / len(rows):.3f}" for at in (0, 1)])
    found, wrong = (" -> ".join(each) for each in shares)
    print(f"{path.stem:16} found {found}   falsely linked {wrong}", flush=True)


def is_linked(item: Item, weights: Mapping[str, float]) -> bool:
    with weighing(weights):
        return any(judge(*pair) for pair in keyed_pairs(item["older"], item["newer"]))


def write(weights: dict[str, float], files: Sequence[Path]) -> None:
    lines = [f"{weight:+.2f} {name}" for name, weight in weights.items()]
    learned = ", ".join(path.stem for path in files)
    header = f"# How much each trait of a pair speaks for a change. Learned by training/evidence.py from {learned}."
    evidence.WEIGHTS.write_text("\n".join((header, *lines, "")))


if __name__ == "__main__":
    main()
