"""Misspelled words of a query: a word that no passage has is taken for one that is a single edit away."""

from __future__ import annotations

from collections.abc import Iterable

from ..index.base import Retriever
from ..model import Viewer

_MIN_LETTERS = 5  # of a word that is corrected: shorter ones are all alike
_MAX_WORDS = 4  # of a query that are corrected


def find_corrections(index: Retriever, unknown: Iterable[str], viewer: Viewer) -> dict[str, str]:
    """Return the word that each of these was probably meant to be; those without one are left out."""
    corrections: dict[str, str] = {}
    for word in [word for word in unknown if _is_correctable(word)][:_MAX_WORDS]:
        known = index.words_like(word, viewer)
        near = [other for other in known if is_one_edit_away(word, other)]
        if near:
            corrections[word] = max(near, key=lambda other: (known[other], other))
    return corrections


def _is_correctable(word: str) -> bool:
    return len(word) >= _MIN_LETTERS and word.isalpha()


def is_one_edit_away(word: str, other: str) -> bool:
    """Return whether one letter more, less, changed, or swapped with the next makes one word the other."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    start = _shared_start(word, other)
    end = _shared_start(word[start:][::-1], other[start:][::-1])
    left = word[start : len(word) - end]
    right = other[start : len(other) - end]
    return max(len(left), len(right)) == 1 or (len(left) == 2 == len(right) and left == right[::-1])


def _shared_start(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
