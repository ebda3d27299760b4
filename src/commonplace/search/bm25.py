"""By words: BM25 over passages and what stands around them, as a share of what the question could find.

A passage of average length that holds every word of the question once has a share of 1. Words that nearly every passage
holds weigh nearly nothing, and are not looked up: they only count where others led.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..index.base import CONTEXT_WEIGHT, BatchQuery, Candidate, CorpusStats, Retriever
from ..index.tokenizer import FUNCTION_WORDS, tokenize_query
from ..model import Query, Viewer

if TYPE_CHECKING:
    from ..embedding.base import Vectors

_SATURATION, _LENGTH = 0.8, 0.3  # how fast repeats stop counting; how much long passages are held back
_MOST_WORDS = 200  # of a question; nobody asks with more, and a page pasted as a question says enough by then
_BACKGROUND = 200  # passages of other text that a home is imagined to stand among
_FAINT = 0.1  # what a function word counts, beside words with a meaning of their own
_LOOKED_UP = 1_500  # passages that the words looked up stand in, taken together, at the most
_LONGEST = 2400  # characters of one hit; more is cut to the stretch around the first word found


class QueryTerms(NamedTuple):
    """A question as weighed words. `total` counts those that no passage holds, too."""

    weights: dict[str, float]
    spaced: tuple[tuple[str, str, float], ...]  # the same, also as they stand in a candidate
    total: float
    average_length: float
    lookup: tuple[str, ...]
    telling: frozenset[str]  # the words that are no function words
    pairs: tuple[tuple[str, str, str], ...]  # those that stand side by side, also as they would in a candidate


def build_batch_query(query: Query, questions: Iterable[tuple[str, Vectors]], limit: int) -> BatchQuery:
    """A question for an index that weighs the words itself, as it is done here."""
    order = tuple(tokenize_query(query.text)[:_MOST_WORDS])
    faint = FUNCTION_WORDS.intersection(order)
    how = (faint, _FAINT, _BACKGROUND, _LOOKED_UP)
    return BatchQuery(order, *how, tuple(questions), query.viewer, query.filters, limit)


def weigh_terms(index: Retriever, text: str, viewer: Viewer) -> QueryTerms:
    order = tokenize_query(text)[:_MOST_WORDS]
    if not order:
        return QueryTerms({}, (), 0.0, 1.0, (), frozenset(), ())
    corpus = index.corpus_stats(order, viewer)
    every = {word: _weight(corpus, word) for word in order}
    known = {word: weight for word, weight in every.items() if word in corpus.frequency}
    telling = [word for word in order if word not in FUNCTION_WORDS]
    pairs = tuple((first, second, f" {first}  {second} ") for first, second in pairwise(telling))
    lookup = _looked_up(known, corpus)
    spaced = tuple((word, f" {word} ", weight) for word, weight in known.items())
    return QueryTerms(known, spaced, sum(every.values()), corpus.average_length, lookup, frozenset(telling), pairs)


def _weight(corpus: CorpusStats, word: str) -> float:
    """How much a word tells. A small memory is weighed as part of a larger one: it has too few words to judge by."""
    frequency = corpus.frequency.get(word, 0)
    telling = math.log(1 + (corpus.passages + _BACKGROUND - frequency + 0.5) / (frequency + 0.5))
    return telling * (_FAINT if word in FUNCTION_WORDS else 1.0)


def _looked_up(weights: Iterable[str], corpus: CorpusStats) -> tuple[str, ...]:
    """The words worth looking up, rarest first, as long as they do not stand in too many passages together."""
    telling = [word for word in weights if word not in FUNCTION_WORDS] or list(weights)
    room = _LOOKED_UP
    chosen: list[str] = []
    for word in sorted(telling, key=lambda word: corpus.frequency[word]):
        room -= corpus.frequency[word]
        if chosen and room < 0:
            break
        chosen.append(word)
    return tuple(chosen)


def bm25_score(asked: QueryTerms, candidate: Candidate) -> tuple[float, float]:
    """How much of what was asked a passage holds; and how many of the words that stand side by side in the question do
    so there, as a share."""
    if not asked.total:
        return 0.0, 0.0
    stretch = _SATURATION * (1 - _LENGTH + _LENGTH * candidate.length / asked.average_length)
    words, around = candidate.words, candidate.around
    everywhere, alone = words + around, not around.strip()
    found, present, times = 0.0, list[str](), 0.0
    for word, spaced, weight in asked.spaced:
        if word in everywhere and (times := everywhere.count(spaced)):  # most are not, which `in` sees soonest
            if not alone:
                inside = words.count(spaced)
                times = inside + CONTEXT_WEIGHT * (times - inside)
            found += weight * times * (_SATURATION + 1) / (times + stretch)
            present.append(word)
    return found / asked.total, _side_by_side(asked.pairs, present, words) if len(present) > 1 else 0.0


def _side_by_side(pairs: Sequence[tuple[str, str, str]], present: Sequence[str], words: str) -> float:
    some = [pair for first, second, pair in pairs if first in present and second in present]
    return sum([pair in words for pair in some]) / len(pairs) if some else 0.0


def names(asked: QueryTerms, key: str) -> float:
    """How much of a key the question names, when it names all of it: the longer the key, the less by chance."""
    wanted = {word for word in tokenize_query(key.replace("_", " ").replace("-", " ")) if word not in FUNCTION_WORDS}
    if not wanted or not wanted <= asked.telling:
        return 0.0
    return len(wanted) / len(asked.telling)


def cut_excerpt(text: str, words: Sequence[str]) -> str:
    """A hit that is one endless line is shown around the first word that was asked for."""
    if len(text) <= _LONGEST:
        return text
    lower = text.lower()
    first = min((at for word in words if (at := lower.find(word)) >= 0), default=0)
    start = max(0, min(first - _LONGEST // 4, len(text) - _LONGEST))
    return text[start : start + _LONGEST]
