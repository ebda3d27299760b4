"""Spelling: a word of a query that no passage has is replaced by one that is a single edit away."""

from __future__ import annotations

from collections.abc import Iterable

from ..index.base import Retriever
from ..model import Viewer

_MIN_LETTERS = 5  # of a word that is corrected: shorter words are too similar to each other
_MAX_WORDS = 4  # of a query that are corrected


def find_corrections(index: Retriever, unknown: Iterable[str], viewer: Viewer) -> dict[str, str]:
    """Return the probable correction of each word; words without one are left out."""
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
    shorter, longer = sorted((word, other), key=len)
    start = _shared_start(shorter, longer)
    left = shorter[start:]
    right = longer[start:]
    if len(left) < len(right):
        return left == right[1:]
    return left[1:] == right[1:] or (left[2:] == right[2:] and left[:2] == right[1::-1])


def _shared_start(shorter: str, longer: str) -> int:
    """Return how many letters two words begin with alike; a loop, as thousands are compared for one query."""
    for place, letter in enumerate(shorter):
        if longer[place] != letter:
            return place
    return len(shorter)
