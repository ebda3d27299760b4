"""BM25 over passages and the text around them, as a share of the best score that the query allows.

A passage of average length that contains every word of the query once has a share of 1. Words that nearly every passage
contains have little weight and are not looked up: they only count in candidates that other words found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..index.base import BM25_K1, CONTEXT_WEIGHT, BatchQuery, Candidate, CorpusStats, Retriever
from ..index.tokenizer import FUNCTION_WORDS, tokenize_query
from ..model import Query, Viewer

if TYPE_CHECKING:
    from ..embedding.base import Vectors

_BM25_B = 0.3  # how much the length of a passage counts
_MAX_QUERY_WORDS = 200  # of a page that is pasted as a query
_IDF_PRIOR_PASSAGES = 200  # added to the corpus size: in a small home, document frequencies say little
_FUNCTION_WORD_WEIGHT = 0.1  # of a word like `the`, against one with a meaning of its own
_MAX_LOOKUP_PASSAGES = 1_500  # that the looked-up words occur in, taken together
_MAX_HIT_CHARACTERS = 2400  # a longer hit is cut to the part around the first word found


class QueryTerms(NamedTuple):
    """A query as weighted words. `total` includes the words that no passage contains."""

    weights: dict[str, float]
    spaced: tuple[tuple[str, str, float], ...]  # word, the word with spaces as in `Candidate.words`, weight
    total: float
    average_length: float
    lookup: tuple[str, ...]  # the words that candidates are looked up by
    content_words: frozenset[str]  # those that are no function words
    pairs: tuple[tuple[str, str, str], ...]  # neighbouring content words, also as they would occur in a candidate


def build_batch_query(query: Query, query_vectors: Iterable[tuple[str, Vectors]], limit: int) -> BatchQuery:
    """Return a query with the parameters of `weigh_terms`, for an index that weighs the words itself."""
    words = tuple(tokenize_query(query.text)[:_MAX_QUERY_WORDS])
    return BatchQuery(
        words,
        FUNCTION_WORDS.intersection(words),
        _FUNCTION_WORD_WEIGHT,
        _IDF_PRIOR_PASSAGES,
        _MAX_LOOKUP_PASSAGES,
        tuple(query_vectors),
        query.viewer,
        query.filters,
        limit,
    )


def weigh_terms(index: Retriever, text: str, viewer: Viewer) -> QueryTerms:
    """Weigh the words of a query by how rare they are among what the viewer may see."""
    words = tokenize_query(text)[:_MAX_QUERY_WORDS]
    if not words:
        return QueryTerms({}, (), 0.0, 1.0, (), frozenset(), ())
    corpus = index.corpus_stats(words, viewer)
    weights = {word: _idf(corpus, word) for word in words}
    known = {word: weight for word, weight in weights.items() if word in corpus.frequency}
    content_words = [word for word in words if word not in FUNCTION_WORDS]
    pairs = tuple((first, second, f" {first}  {second} ") for first, second in pairwise(content_words))
    spaced = tuple((word, f" {word} ", weight) for word, weight in known.items())
    lookup = _choose_lookup(known, corpus)
    total = sum(weights.values())
    return QueryTerms(known, spaced, total, corpus.average_length, lookup, frozenset(content_words), pairs)


def _idf(corpus: CorpusStats, word: str) -> float:
    frequency = corpus.frequency.get(word, 0)
    idf = math.log(1 + (corpus.passages + _IDF_PRIOR_PASSAGES - frequency + 0.5) / (frequency + 0.5))
    return idf * (_FUNCTION_WORD_WEIGHT if word in FUNCTION_WORDS else 1.0)


def _choose_lookup(words: Iterable[str], corpus: CorpusStats) -> tuple[str, ...]:
    """Return the words to look up, rarest first, until together they occur in too many passages."""
    content_words = [word for word in words if word not in FUNCTION_WORDS] or list(words)
    remaining = _MAX_LOOKUP_PASSAGES
    chosen: list[str] = []
    for word in sorted(content_words, key=corpus.frequency.__getitem__):
        remaining -= corpus.frequency[word]
        if chosen and remaining < 0:
            break
        chosen.append(word)
    return tuple(chosen)


def bm25_score(terms: QueryTerms, candidate: Candidate) -> tuple[float, float]:
    """Return the BM25 share of a passage, and the share of the query's word pairs that are adjacent in it, too."""
    if not terms.total:
        return 0.0, 0.0
    norm = BM25_K1 * (1 - _BM25_B + _BM25_B * candidate.length / terms.average_length)
    words = candidate.words
    everywhere = words + candidate.around
    has_context = bool(candidate.around.strip())
    score = 0.0
    present: list[str] = []
    for word, spaced, weight in terms.spaced:
        if word not in everywhere:  # `in` is faster than counting, and most words are absent
            continue
        times: float = everywhere.count(spaced)
        if not times:
            continue
        if has_context:
            inside = words.count(spaced)
            times = inside + CONTEXT_WEIGHT * (times - inside)
        score += weight * times * (BM25_K1 + 1) / (times + norm)
        present.append(word)
    return score / terms.total, _phrase_share(terms.pairs, present, words) if len(present) > 1 else 0.0


def _phrase_share(pairs: Sequence[tuple[str, str, str]], present: Sequence[str], words: str) -> float:
    possible = [spaced for first, second, spaced in pairs if first in present and second in present]
    return sum([spaced in words for spaced in possible]) / len(pairs) if possible else 0.0


def match_key(terms: QueryTerms, key: str) -> float:
    """Return the share of the query's content words that a key has; 0 unless the query has all words of the key.

    The more words a key has, the less likely a query names it by chance.
    """
    key_words = tokenize_query(key.replace("_", " ").replace("-", " "))
    wanted = {word for word in key_words if word not in FUNCTION_WORDS}
    if not wanted or not wanted <= terms.content_words:
        return 0.0
    return len(wanted) / len(terms.content_words)


def cut_excerpt(text: str, words: Sequence[str]) -> str:
    """Cut a hit that is one very long line to the part around the first word of the query."""
    if len(text) <= _MAX_HIT_CHARACTERS:
        return text
    lower = text.lower()
    first = min((at for word in words if (at := lower.find(word)) >= 0), default=0)
    start = max(0, min(first - _MAX_HIT_CHARACTERS // 4, len(text) - _MAX_HIT_CHARACTERS))
    return text[start : start + _MAX_HIT_CHARACTERS]
