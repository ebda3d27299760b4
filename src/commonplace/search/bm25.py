"""BM25 over passages and the text around them, as a share of the best score that the query allows.

A passage of average length that contains every word of the query once has a share of 1. Words that nearly every passage
contains have little weight and are not looked up: they only count in candidates that other words found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, NamedTuple

from ..index.base import BM25_B, BM25_K1, CONTEXT_WEIGHT, BatchQuery, Candidate, CorpusStats, Retriever
from ..index.tokenizer import QueryWord, query_language, tokenize_query
from ..model import Query, Viewer

if TYPE_CHECKING:
    from ..embedding.base import Vectors

_MAX_QUERY_WORDS = 200  # of a page that is pasted as a query
_IDF_PRIOR_PASSAGES = 200  # added to the corpus size: in a small home, document frequencies say little
_FUNCTION_WORD_WEIGHT = 0.1  # of a word like `the`, against one with a meaning of its own
_NUMBER_WEIGHT = 1.7  # of a year, an amount or an identifier: it is never meant in a figurative sense
_MAX_LOOKUP_PASSAGES = 1_500  # that the looked-up words occur in, taken together
_MAX_HIT_CHARACTERS = 2400  # a longer hit is cut to the part around the first word found


class Term(NamedTuple):
    """A word of a query: the forms it is indexed under, these as they are counted in `Candidate.words`, its weight."""

    forms: tuple[str, ...]
    spaced: tuple[str, ...]
    weight: float


class WordPair(NamedTuple):
    """Two neighbouring words of a query, and how they are written where they are neighbours in a candidate."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    adjacent: tuple[str, ...]


class QueryTerms(NamedTuple):
    """A query as weighted words. `total` includes the words that no passage contains."""

    weights: dict[str, float]  # by form, of those that a passage contains
    terms: tuple[Term, ...]
    total: float
    average_length: float
    lookup: tuple[str, ...]  # the forms that candidates are looked up by
    content_words: tuple[QueryWord, ...]  # those that are no function words
    pairs: tuple[WordPair, ...]
    language: str


def build_batch_query(query: Query, query_vectors: Iterable[tuple[str, Vectors]], limit: int) -> BatchQuery:
    """Return a query with the parameters of `weigh_terms`, for an index that weighs the words itself."""
    words = tokenize_query(query.text)[:_MAX_QUERY_WORDS]
    forms = list({form: word for word in words for form in word.forms}.items())
    return BatchQuery(
        tuple(form for form, _ in forms),
        frozenset(form for word in words if word.is_function_word for form in word.forms),
        tuple(_factor(word) for _, word in forms),
        _IDF_PRIOR_PASSAGES,
        _MAX_LOOKUP_PASSAGES,
        tuple(query_vectors),
        query.viewer,
        query.filters,
        limit,
    )


def _all_forms(words: Iterable[QueryWord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for word in words for form in word.forms))


def weigh_terms(index: Retriever, text: str, viewer: Viewer) -> QueryTerms:
    """Weigh the words of a query by how rare they are among what the viewer may see."""
    language = query_language(text)
    words = tokenize_query(text, language)[:_MAX_QUERY_WORDS]
    if not words:
        return QueryTerms({}, (), 0.0, 1.0, (), (), (), "")
    corpus = index.corpus_stats(_all_forms(words), viewer)
    weights = {word: _idf(corpus, word) for word in words}
    terms = [_make_term(word, weight, corpus) for word, weight in weights.items()]
    content_words = tuple(word for word in words if not word.is_function_word)
    return QueryTerms(
        {form: term.weight for term in terms for form in term.forms},
        tuple(term for term in terms if term.forms),
        sum(weights.values()),
        corpus.average_length,
        _choose_lookup(words, corpus),
        content_words,
        tuple(starmap(_pair_words, pairwise(content_words))),
        language,
    )


def _make_term(word: QueryWord, weight: float, corpus: CorpusStats) -> Term:
    forms = tuple(form for form in word.forms if form in corpus.frequency)
    return Term(forms, tuple(f" {form} " for form in forms), weight)


def _pair_words(first: QueryWord, second: QueryWord) -> WordPair:
    """Return a pair in the language of the query and in English: a passage is in one of them."""
    both = dict.fromkeys(((first.forms[0], second.forms[0]), (first.forms[-1], second.forms[-1])))
    return WordPair(first.forms, second.forms, tuple(f" {one}  {other} " for one, other in both))


def _frequency(corpus: CorpusStats, word: QueryWord) -> int:
    return max(corpus.frequency.get(form, 0) for form in word.forms)


def _idf(corpus: CorpusStats, word: QueryWord) -> float:
    frequency = _frequency(corpus, word)
    idf = math.log(1 + (corpus.passages + _IDF_PRIOR_PASSAGES - frequency + 0.5) / (frequency + 0.5))
    return idf * _factor(word)


def _factor(word: QueryWord) -> float:
    """Return how much a word weighs compared with others that are as rare."""
    if word.is_function_word:
        return _FUNCTION_WORD_WEIGHT
    return _NUMBER_WEIGHT if any(map(str.isdigit, word.forms[0])) else 1.0


def _choose_lookup(words: Iterable[QueryWord], corpus: CorpusStats) -> tuple[str, ...]:
    """Return the forms to look up, rarest first, until together they occur in too many passages."""
    known = [word for word in words if _frequency(corpus, word)]
    content_words = [word for word in known if not word.is_function_word] or known
    remaining = _MAX_LOOKUP_PASSAGES
    chosen: list[str] = []
    for form in sorted(
        (form for form in _all_forms(content_words) if form in corpus.frequency), key=corpus.frequency.__getitem__
    ):
        remaining -= corpus.frequency[form]
        if chosen and remaining < 0:
            break
        chosen.append(form)
    return tuple(chosen)


def bm25_score(terms: QueryTerms, candidate: Candidate) -> tuple[float, float]:
    """Return the BM25 share of a passage, and the share of the query's word pairs that are adjacent in it, too."""
    if not terms.total:
        return 0.0, 0.0
    norm = BM25_K1 * (1 - BM25_B + BM25_B * candidate.length / terms.average_length)
    words = candidate.words
    around = candidate.around if candidate.around.strip() else ""
    score = 0.0
    present: set[str] = set()
    for forms, spaced_forms, weight in terms.terms:
        times = 0.0
        for form, spaced in zip(forms, spaced_forms, strict=True):
            # `in` is faster than counting, and most words are absent
            of_form: float = words.count(spaced) if form in words else 0
            if form in around:
                of_form += CONTEXT_WEIGHT * around.count(spaced)
            if of_form > times:
                times = of_form
        if times:
            score += weight * times * (BM25_K1 + 1) / (times + norm)
            present.update(forms)
    return score / terms.total, _phrase_share(terms.pairs, present, words) if len(present) > 1 else 0.0


def _phrase_share(pairs: Sequence[WordPair], present: set[str], words: str) -> float:
    found = 0
    for first, second, adjacent in pairs:
        if not (present.isdisjoint(first) or present.isdisjoint(second)):
            found += any(text in words for text in adjacent)
    return found / len(pairs) if found else 0.0


def match_key(terms: QueryTerms, key: str) -> float:
    """Return the share of the query's content words that a key has; 0 unless the query has all words of the key.

    The more words a key has, the less likely a query names it by chance.
    """
    key_words = tokenize_query(key.replace("_", " ").replace("-", " "), terms.language)
    wanted = {word for word in key_words if not word.is_function_word}
    if not wanted or not wanted.issubset(terms.content_words):
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
