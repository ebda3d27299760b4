"""By words: BM25 over passages, as a number between 0 and 1 that means the same on every home.

The score compares a passage with one that holds every word of the question once at average length: such a passage
gets 0.7, half of the weight 0.45. Words that nearly every passage holds weigh nearly nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from ..index import AROUND, Candidate, Corpus, Index, weighed_length
from ..index.words import FUNCTION_WORDS, query_words
from ..model import Hit, Query

_SATURATION, _LENGTH = 1.2, 0.6  # how fast repeats stop counting; how much long passages are held back
_MOST_WORDS = 200  # of a question; nobody asks with more, and a page pasted as a question says enough by then
_POOL = 60  # candidates weighed for each question
_BACKGROUND = 200  # passages of other text that a home is imagined to stand among
_FAINT = 0.1  # what a function word counts, beside words with a meaning of their own
_LONGEST = 2400  # characters of one hit; more is cut to the stretch around the first word found
_QUIET = {"activity": 0.3}  # logs mention every key that was written: they come after what they mention


def by_words(index: Index, query: Query) -> list[Hit]:
    asked = query_words(query.text)[:_MOST_WORDS]
    if not asked:
        return []
    corpus = index.corpus(asked)
    weights = {word: _weight(corpus, word) for word in asked if word in corpus.frequency}
    if not weights:
        return []
    candidates = index.words(_telling(weights, corpus), query.viewer, max(_POOL, query.limit * 3))
    total = sum(_weight(corpus, word) for word in asked)
    hits = [_scored(candidate, weights, total, corpus) for candidate in candidates]
    return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.start))


def _weight(corpus: Corpus, word: str) -> float:
    """How much a word tells. A small memory is weighed as part of a larger one: it has too few words to judge by."""
    frequency = corpus.frequency.get(word, 0)
    telling = math.log(1 + (corpus.passages + _BACKGROUND - frequency + 0.5) / (frequency + 0.5))
    return telling * (_FAINT if word in FUNCTION_WORDS else 1.0)


def _telling(weights: Mapping[str, float], corpus: Corpus) -> list[str]:
    """The words worth looking up: one that stands in a fifth of all passages only counts where others led."""
    rare = [word for word in weights if corpus.frequency[word] <= max(corpus.passages / 5, 50)]
    return rare or list(weights)


def _scored(candidate: Candidate, weights: Mapping[str, float], total: float, corpus: Corpus) -> Hit:
    length = weighed_length(len(candidate.words), len(candidate.around))
    stretch = 1 - _LENGTH + _LENGTH * length / corpus.average_length
    inside, around = Counter(candidate.words), Counter(candidate.around)
    found = sum(w * _counted(inside[word] + AROUND * around[word], stretch) for word, w in weights.items())
    share = found / total * _QUIET.get(candidate.kind, 1.0)
    score = round(1 - math.exp(-1.2 * share), 4)
    return candidate.hit._replace(score=score, text=_excerpt(candidate.hit.text, weights))


def _counted(occurrences: float, stretch: float) -> float:
    return occurrences * (_SATURATION + 1) / (occurrences + _SATURATION * stretch)


def _excerpt(text: str, words: Iterable[str]) -> str:
    """A hit that is one endless line is shown around the first word that was asked for."""
    if len(text) <= _LONGEST:
        return text
    lower = text.lower()
    first = min((at for word in words if (at := lower.find(word)) >= 0), default=0)
    start = max(0, min(first - _LONGEST // 4, len(text) - _LONGEST))
    return text[start : start + _LONGEST]
