"""Counts the words of a query in candidates and finds adjacent pairs, with numpy or without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ..index.base import CONTEXT_WEIGHT
from ..index.terms import TERM_BYTES, unpack_terms

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Bigram = tuple[int, int]
_TABLE_SIZE = 1 << 16  # of a table, by the low half of a number, of the numbers that a query may have


class TermCounts(NamedTuple):
    """How often each term occurs in each candidate, words around it counting less, and which bigrams each has."""

    times: Array  # by term and candidate
    bigrams: Array  # whether they are there, by bigram and candidate


def count_plainly(packed: bytes, terms: Set[int]) -> tuple[dict[int, float], set[Bigram]]:
    """Count terms in one candidate, as `index/terms.py` packs it, and return its pairs of adjacent words, if it has
    more than one of the terms."""
    numbers = unpack_terms(packed)
    inside = 1 + numbers[0]
    body = numbers[1:inside]
    times: dict[int, float] = dict(Counter(filter(terms.__contains__, body)))
    for number in filter(terms.__contains__, numbers[inside:]):
        times[number] = times.get(number, 0.0) + CONTEXT_WEIGHT
    return times, set(pairwise(body)) if len(times) > 1 else set()


def count_with_numpy(packed: Sequence[bytes], terms: Sequence[int], bigrams: Sequence[Bigram]) -> TermCounts:
    """Count different terms in many candidates at once, and find bigrams of these terms."""
    import numpy as np

    numbers = np.frombuffer(b"".join(packed), "<u4")
    ends = np.cumsum([len(each) // TERM_BYTES for each in packed])
    starts = np.concatenate([[0], ends[:-1]])
    order = np.argsort(np.array(terms, np.uint32))
    places, ranks = _find_terms(numbers, np.array(terms, np.uint32)[order])
    candidates = np.searchsorted(ends, places, side="right")
    offsets = places - starts[candidates]
    is_word = offsets > 0  # the first number is a count
    places, ranks, candidates, offsets = (each[is_word] for each in (places, ranks, candidates, offsets))
    is_inside = offsets <= numbers[starts][candidates]
    rows = order[ranks]
    counts = np.bincount(
        rows * len(packed) + candidates,
        np.where(is_inside, 1.0, CONTEXT_WEIGHT),
        minlength=len(terms) * len(packed),
    )
    is_pair = is_inside[1:] & (places[1:] == places[:-1] + 1) & (candidates[1:] == candidates[:-1])
    pairs = rows[:-1][is_pair] * len(terms) + rows[1:][is_pair]
    adjacent = _find_bigrams(pairs, candidates[1:][is_pair], _bigram_codes(terms, bigrams), len(packed))
    return TermCounts(counts.reshape(len(terms), len(packed)), adjacent)


def _find_terms(numbers: Array, terms: Array) -> tuple[Array, Array]:
    """Return where sorted terms are among many numbers, and which term each of them is."""
    import numpy as np

    may_be_term = np.zeros(_TABLE_SIZE, bool)
    may_be_term[terms % _TABLE_SIZE] = True
    places = np.flatnonzero(may_be_term.take(numbers.view("<u2")[::2]))
    found = numbers[places]
    ranks = np.minimum(np.searchsorted(terms, found), len(terms) - 1)
    is_term = terms[ranks] == found
    return places[is_term], ranks[is_term]


def _bigram_codes(terms: Sequence[int], bigrams: Sequence[Bigram]) -> list[int]:
    rows = {term: row for row, term in enumerate(terms)}
    return [rows[first] * len(terms) + rows[second] for first, second in bigrams]


def _find_bigrams(pairs: Array, candidates: Array, codes: Sequence[int], count: int) -> Array:
    """Return which candidates have each bigram, given all pairs of adjacent terms by their codes."""
    import numpy as np

    found = np.zeros((len(codes), count), bool)
    wanted, rows = np.unique(np.array(codes, np.int64), return_inverse=True)
    if len(wanted) and len(pairs):
        ranks = np.minimum(np.searchsorted(wanted, pairs), len(wanted) - 1)
        is_wanted = wanted[ranks] == pairs
        has_bigram = np.zeros((len(wanted), count), bool)
        has_bigram[ranks[is_wanted], candidates[is_wanted]] = True
        found = has_bigram[rows]
    return found
