"""Figures: how much of the evidence stands among the first places, and how sure a mean over questions is."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...model import Hit

Turn = tuple[str, int]  # a session file, and a line of it
Figures = dict[str, float]  # of one question, each from 0 to 1
RESAMPLES = 1000
_SEED = 1  # the same questions give the same intervals
_SURE = 0.95
_END = 2**31  # the last line of a page, when all of it is meant
_DEPTH = 10  # places that count
_WIDEST = 5  # turns: a hit that spans more does not say which one it means
_SESSIONS = 5


class Lines(NamedTuple):
    """Some lines of a page, both ends included; all of it, when none are named."""

    path: str
    first: int = 1
    last: int = _END

    def __str__(self) -> str:
        return self.path if self.last == _END else f"{self.path}#L{self.first}-L{self.last}"

    @property
    def are_all(self) -> bool:
        return self.last == _END

    def touch(self, other: Lines) -> bool:
        return self.path == other.path and self.first <= other.last and other.first <= self.last


class Estimate(NamedTuple):
    """A mean over the questions, and where it lies in 95 of 100 samples of questions like these."""

    value: float
    low: float
    high: float


class Compared(NamedTuple):
    search: Estimate
    words: Estimate
    difference: Estimate  # question by question: narrower than the two intervals make believe


Comparison = dict[str, Compared]  # by the name of the figure


def hit_figures(evidence: Sequence[Lines], hits: Iterable[Hit]) -> Figures:
    """A hit has found evidence when they share a line."""
    return _figures(evidence, [Lines(hit.path, hit.start, hit.end) for hit in hits])


def turn_figures(evidence: Sequence[Lines], hits: Iterable[Hit]) -> Figures:
    """Every turn of a hit is a place of its own. And: of the sessions with evidence, how many are the first five?"""
    places = [Lines(path, line, line) for path, line in turns_of(hits)]
    wanted = {each.path for each in evidence}
    first = list(dict.fromkeys(place.path for place in places))[:_SESSIONS]
    return _figures(evidence, places) | {f"session_recall@{_SESSIONS}": len(wanted.intersection(first)) / len(wanted)}


def turns_of(hits: Iterable[Hit]) -> Iterator[Turn]:
    """The turns of the hits in order; a hit that spans more than five says nothing."""
    for hit in hits:
        if hit.end - hit.start < _WIDEST:
            yield from ((hit.path, line) for line in range(hit.start, hit.end + 1))


def _figures(evidence: Sequence[Lines], places: Sequence[Lines]) -> Figures:
    ranks = [
        next((rank for rank, place in enumerate(places[:_DEPTH]) if place.touch(each)), _DEPTH) for each in evidence
    ]
    found: Figures = {}
    for depth in (5, _DEPTH):
        count = sum(rank < depth for rank in ranks)
        found[f"recall_any@{depth}"] = float(count > 0)
        found[f"recall_all@{depth}"] = float(count == len(ranks))
        found[f"fraction@{depth}"] = count / len(ranks)
    best = min(ranks)
    found[f"mrr@{_DEPTH}"] = 1 / (best + 1) if best < _DEPTH else 0.0
    found[f"ndcg@{_DEPTH}"] = _gain(ranks) / _gain(range(len(ranks)))
    return found


def _gain(ranks: Iterable[int]) -> float:
    """Discounted gain. Evidence that shares a hit takes the places after it, or one hit could beat the ideal order."""
    gain = 0.0
    next_free = 0
    for rank in sorted(ranks):
        place = max(rank, next_free)
        if rank < _DEPTH and place < _DEPTH:
            gain += 1 / math.log2(place + 2)
        next_free = place + 1
    return gain


def compare(search: Sequence[Figures], words: Sequence[Figures]) -> Comparison:
    """The means of both and of their difference, each with its interval by resampling the questions."""
    columns: dict[str, list[list[float]]] = {}
    for name in search[0]:
        ours = [each[name] for each in search]
        theirs = [each[name] for each in words]
        columns[name] = [ours, theirs, [a - b for a, b in zip(ours, theirs, strict=True)]]
    draw = random.Random(_SEED)
    size = len(search)
    means: dict[str, list[list[float]]] = {name: [[], [], []] for name in columns}
    for _ in range(RESAMPLES):
        picked = draw.choices(range(size), k=size)
        for name, three in columns.items():
            for column, sampled in zip(three, means[name], strict=True):
                sampled.append(sum(map(column.__getitem__, picked)) / size)
    return {
        name: Compared(*(_estimate(column, sampled) for column, sampled in zip(three, means[name], strict=True)))
        for name, three in columns.items()
    }


def _estimate(column: Sequence[float], means: list[float]) -> Estimate:
    outside = round(len(means) * (1 - _SURE) / 2)
    ordered = sorted(means)
    chosen = (math.fsum(column) / len(column), ordered[outside], ordered[-1 - outside])
    return Estimate(*(round(number, 6) + 0.0 for number in chosen))  # what is left of zero by rounding is zero
