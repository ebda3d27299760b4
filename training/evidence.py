"""Learns the weights by which `facts/evidence.py` tells a change from what only looks like one.

Run: python training/evidence.py [--write] [FILE...]; needs numpy and scikit-learn. FILE: the pairs of notes to learn
from, by default those of `bench/data` that are not named `unseen`. Prints, for each file left out of the learning in
turn, what the rules find with and without the weights; with `--write`, stores the weights learned from all files.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from commonplace.facts import evidence
from commonplace.facts.distinctions import are_told_apart
from commonplace.facts.statements import Statement, lookup_keys, split_statements, stored_keys
from commonplace.facts.versions import judge, may_be_versions

ROOT = Path(__file__).parent.parent
DATA = ROOT / "bench/data"
SEED = 18
MIXED_PER_ITEM = 3  # pairs of the notes of two items, which are no changes
MIXED_WEIGHT = 0.3
MAX_PARTNERS = 60
FRESH = ("pairs-stranger",)  # files with no pair in view of which a rule was written
FRESH_WEIGHT = 3.0
STRENGTH = 0.1  # the smaller, the nearer to 0 are the weights
MARGIN = 1.8  # how much has to speak for a change, as the logarithm of the odds
MAX_SHARE = 0.6  # of the topics of two notes that are about different things
Item = dict[str, Any]


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
    pairs = [pair for path in files for pair in read_pairs(path)]
    for path in files:
        report(path, learn([pair for pair in pairs if pair.file != path.stem]))
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
        for pair in pair_statements(item["older"], item["newer"]):
            yield Pair(path.stem, item["id"], *pair, item["is_change"], FRESH_WEIGHT if path.stem in FRESH else 1.0)
    dice = random.Random(SEED)
    for alike in by_language.values():
        for item in alike:
            partners = dice.sample(alike, min(len(alike), MAX_PARTNERS))
            for pair in islice(mix(item, partners), MIXED_PER_ITEM):
                yield Pair(path.stem, item["id"], *pair, False, MIXED_WEIGHT)


def pair_statements(older: str, newer: str) -> list[tuple[Statement, Statement]]:
    """Return the statements of two notes on which the weights decide: those with most in common."""
    pairs = [(one, other) for one in split_statements(older) for other in split_statements(newer)]
    decided = [pair for pair in pairs if may_decide(*pair)]
    decided.sort(key=lambda pair: -evidence.read_evidence(*pair)["shared topics"])
    return decided[:1]


def may_decide(older: Statement, newer: Statement) -> bool:
    """Return whether no rule tells two statements apart, and there is a sign of a change."""
    cues = newer.cues
    if "open" in cues or not cues.isdisjoint(("tentative", "addition")) or not may_be_versions(older, newer):
        return False
    return bool(evidence.find_sign(older, newer)) and not are_told_apart(older, newer)


def mix(item: Item, partners: Sequence[Item]) -> Iterator[tuple[Statement, Statement]]:
    """Yield statements of the older note of an item and of newer notes of others, which share a key and are about
    different things."""
    for other in partners:
        if not are_alike(item["older"], other["older"]):
            for older, newer in pair_statements(item["older"], other["newer"]):
                if not set(lookup_keys(older)).isdisjoint(stored_keys(newer)):
                    yield older, newer


def are_alike(one: str, other: str) -> bool:
    first, second = ({stem for each in split_statements(text) for stem in each.stems} for text in (one, other))
    return len(first & second) >= MAX_SHARE * min(len(first), len(second))


def learn(pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the weight of each trait."""
    rows = [evidence.read_evidence(pair.older, pair.newer) for pair in pairs]
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows], float)
    means = values.mean(axis=0)
    spreads = np.maximum(values.std(axis=0), 1e-3)
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    model.fit((values - means) / spreads, [pair.is_change for pair in pairs], [pair.weight for pair in pairs])
    weights = model.coef_[0] / spreads
    always = float(model.intercept_[0] - weights @ means) - MARGIN
    return {"always": always, **dict(zip(names, map(float, weights), strict=True))}


def report(path: Path, weights: dict[str, float]) -> None:
    """Print what is found in a file with the weights, and without."""
    items = read_items(path)
    shares = []
    for chosen in (dict.fromkeys(weights, 0.0), weights):
        evidence.load_weights = partial(dict, chosen)  # without any, nothing is above 0
        linked = [any(judge(*pair) for pair in keyed_pairs(item)) for item in items]
        for is_change in (True, False):
            some = [each for each, item in zip(linked, items, strict=True) if item["is_change"] is is_change]
            shares.append(f"{sum(some) / len(some):.3f}")
    print(f"{path.stem:16} found {shares[0]} -> {shares[2]}   falsely linked {shares[1]} -> {shares[3]}", flush=True)


def keyed_pairs(item: Item) -> Iterable[tuple[Statement, Statement]]:
    for older in split_statements(item["older"]):
        for newer in split_statements(item["newer"]):
            if not set(lookup_keys(older)).isdisjoint(stored_keys(newer)):
                yield older, newer


def write(weights: dict[str, float], files: Sequence[Path]) -> None:
    lines = [f"{weight:+.2f} {name}" for name, weight in weights.items()]
    learned = ", ".join(path.stem for path in files)
    header = f"# How much each trait of a pair speaks for a change. Learned by training/evidence.py from {learned}."
    evidence.WEIGHTS.write_text("\n".join((header, *lines, "")))


if __name__ == "__main__":
    main()
