"""BM25 over passages and the text around them, as a share of the best score that the query allows.

A passage of average length that contains every word of the query once has a share of 1. Words that nearly every passage
contains have little weight and are not looked up: they only count in candidates that other words found.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import accumulate, chain, groupby, pairwise, starmap
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..caching import cache_within
from ..facts.tasks import OPEN_TASK
from ..index.base import BM25_B, BM25_K1, CONTEXT_WEIGHT, BatchQuery, Candidate, CorpusStats, Retriever
from ..index.terms import TERM_BYTES, encode_term, unpack_terms
from ..index.tokenizer import QueryWord, query_language, tokenize_query
from ..model import Query, Viewer
from .words import find_identifiers

if TYPE_CHECKING:
    import numpy as np

    from ..embedding.base import Vectors

    Array = np.ndarray[Any, Any]

_MAX_QUERY_WORDS = 200  # of a page that is pasted as a query
_IDF_PRIOR_PASSAGES = 200  # added to the corpus size: in a small home, document frequencies are unreliable
_FUNCTION_WORD_WEIGHT = 0.1  # of a word like `the`, relative to a content word
_NUMBER_WEIGHT = 1.7  # of a year, an amount or an identifier, which is never meant figuratively
_CORRECTED_WEIGHT = 0.5  # of a word that was probably misspelled
_MAX_LOOKUP_PASSAGES = 1_500  # that the looked-up words may occur in, taken together
_MIN_SIMILARITY = 0.15  # of a word that can stand for another one; any two words have some
_SAME_WORD = 0.98  # similarity from which two words are the same
_MAX_HIT_CHARACTERS = 2400  # a longer hit is cut to the part around the first word found
_TABLE_SIZE = 1 << 16  # of a table, by the low half of a number, of the numbers that a query may have
_MAX_SMALL_TABLE = 256  # numbers for which one byte each is enough

NO_CORRECTIONS: Mapping[str, str] = {}

Bigram = tuple[int, int]


class Term(NamedTuple):
    """A word of a query: the forms it is indexed under, and its weight."""

    forms: tuple[str, ...]
    weight: float


WordPair = tuple[tuple[str, str], ...]  # two neighbouring words of a query, in each form they may have in a candidate


class QueryTerms(NamedTuple):
    """A query as weighted words. `total` includes the words that no passage contains."""

    weights: dict[str, float]  # by form, of those that a passage contains
    terms: tuple[Term, ...]
    total: float
    average_length: float
    lookup: tuple[str, ...]  # the forms that candidates are looked up by
    content_words: tuple[QueryWord, ...]  # without function words
    pairs: tuple[WordPair, ...]
    language: str
    unknown: tuple[str, ...] = ()  # content words that no passage has
    passages: int = 0  # that the viewer may see


def build_batch_query(
    query: Query,
    query_vectors: Iterable[tuple[str, Vectors]],
    limit: int,
    corrections: Mapping[str, str] = NO_CORRECTIONS,
) -> BatchQuery:
    """Return a query with the parameters of `weigh_terms`, for an index that weighs the words itself."""
    _, known_words = _split_query(query.text)
    words = _correct(known_words, corrections)
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


@cache_within(250_000)  # an index that weighs the words itself asks for them before `weigh_terms` does
def _split_query(text: str) -> tuple[str, tuple[QueryWord, ...]]:
    """Return the language of a query and its words."""
    language = query_language(text)
    return language, tuple(tokenize_query(text, language)[:_MAX_QUERY_WORDS])


def _all_forms(words: Iterable[QueryWord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for word in words for form in word.forms))


def _correct(words: Sequence[QueryWord], corrections: Mapping[str, str]) -> list[QueryWord]:
    """Return the words with probable corrections of the misspelled ones."""
    if not corrections:
        return list(words)
    fixed = [
        QueryWord((corrections[word.forms[0]],), is_function_word=False, is_corrected=True)
        if word.forms[0] in corrections
        else word
        for word in words
    ]
    return list(dict.fromkeys(fixed))


def weigh_terms(
    index: Retriever,
    text: str,
    viewer: Viewer,
    corrections: Mapping[str, str] = NO_CORRECTIONS,
    *,
    is_stored: bool = False,
    is_task: bool = False,
) -> QueryTerms:
    """Weigh the words of a query by how rare they are among what the viewer may see.

    `is_stored`: the query is the text of a passage, so words that only one passage has find no other. `is_task`: it
    asks to do something, and memory need not know the number of what is worked on.
    """
    language, known_words = _split_query(text)
    words = _correct(known_words, corrections)
    if not words:
        return QueryTerms({}, (), 0.0, 1.0, (), (), (), "")
    corpus = index.corpus_stats(_all_forms(words), viewer)
    if is_task:
        identifiers = find_identifiers(text)
        words = [word for word in words if _frequency(corpus, word) or identifiers.isdisjoint(word.forms)] or words
    weights = {word: _idf(corpus, word) for word in words}
    terms = [
        Term(tuple(form for form in word.forms if form in corpus.frequency), weight) for word, weight in weights.items()
    ]
    content_words = tuple(word for word in words if not word.is_function_word)
    return QueryTerms(
        {form: term.weight for term in terms for form in term.forms},
        tuple(term for term in terms if term.forms),
        sum(weights.values()),
        corpus.average_length,
        _choose_lookup(words, corpus, 2 if is_stored else 1),
        content_words,
        tuple(starmap(_pair_words, pairwise(content_words))),
        language,
        tuple(word.forms[0] for word in content_words if not _frequency(corpus, word)),
        corpus.passages,
    )


def _pair_words(first: QueryWord, second: QueryWord) -> WordPair:
    """Return a pair in the language of the query and in English: a passage is in one of them."""
    return tuple(dict.fromkeys(((first.forms[0], second.forms[0]), (first.forms[-1], second.forms[-1]))))


def _frequency(corpus: CorpusStats, word: QueryWord) -> int:
    return max(corpus.frequency.get(form, 0) for form in word.forms)


def _idf(corpus: CorpusStats, word: QueryWord) -> float:
    return _idf_of(_frequency(corpus, word), corpus.passages) * _factor(word)


def _idf_of(frequency: int, passages: int) -> float:
    return math.log(1 + (passages + _IDF_PRIOR_PASSAGES - frequency + 0.5) / (frequency + 0.5))


def _factor(word: QueryWord) -> float:
    """Return the weight of a word relative to others that are as rare."""
    if word.is_function_word:
        return _FUNCTION_WORD_WEIGHT
    if word.is_corrected:
        return _CORRECTED_WEIGHT
    return _NUMBER_WEIGHT if any(map(str.isdigit, word.forms[0])) else 1.0


def _choose_lookup(words: Iterable[QueryWord], corpus: CorpusStats, min_passages: int) -> tuple[str, ...]:
    """Return the forms to look up, rarest first, until together they occur in too many passages. Those that are in
    fewer than `min_passages` come last."""
    known = [word for word in words if _frequency(corpus, word)]
    content_words = [word for word in known if not word.is_function_word] or known
    remaining = _MAX_LOOKUP_PASSAGES
    chosen: list[str] = []
    forms = [form for form in _all_forms(content_words) if form in corpus.frequency]
    for form in sorted(forms, key=lambda form: (corpus.frequency[form] < min_passages, corpus.frequency[form])):
        remaining -= corpus.frequency[form]
        if chosen and remaining < 0:
            break
        chosen.append(form)
    return tuple(chosen)


def share_of(terms: QueryTerms, score: float) -> float:
    """Turn a BM25 score of the looked-up words into a share; other words and neighbours do not count."""
    return score * (BM25_K1 + 1) / terms.total if terms.total else 0.0


def bm25_scores(terms: QueryTerms, candidates: Sequence[Candidate]) -> list[tuple[float, float]]:
    """Return the BM25 share of each passage, and the share of the query's word pairs that are adjacent in it, too."""
    if not terms.terms or not candidates:
        return [(0.0, 0.0)] * len(candidates)
    forms = [[*map(encode_term, term.forms)] for term in terms.terms]
    known = {number for numbers in forms for number in numbers}
    encoded = ([(encode_term(one), encode_term(other)) for one, other in pair] for pair in terms.pairs)
    pairs = [found for pair in encoded if (found := [bigram for bigram in pair if known.issuperset(bigram)])]
    # If numpy is not loaded, as in a command that searches by words alone, loading it would take much longer.
    score = _score_with_numpy if "numpy" in sys.modules else _score_plainly
    return score(terms, candidates, forms, pairs)


def similar_shares(terms: QueryTerms, candidates: Sequence[Candidate], nearest: Mapping[str, Vectors]) -> list[float]:
    """Return the share of the query that each passage lacks but has similar words for, given how similar the most
    similar word of each passage is to each word of the query. A word next to a passage is half there."""
    import numpy as np

    words = [(word, form) for word in nearest for form in _forms_to_replace(word, terms.language)]
    if not words or not terms.total:
        return [0.0] * len(candidates)
    forms = list(dict.fromkeys(form for _, form in words))
    counts = _count_with_numpy([each.terms for each in candidates], [*map(encode_term, forms)], [])
    times = dict(zip(forms, counts.times, strict=True))
    shares = np.zeros(len(candidates))
    for word, group in groupby(words, key=itemgetter(0)):
        found = [form for _, form in group]
        similarity = nearest[word]
        lacks = np.where(similarity < _SAME_WORD, 1 - np.minimum(1, np.max([times[form] for form in found], axis=0)), 0)
        shares += _weigh_word(terms, found) * lacks * np.maximum(0, similarity - _MIN_SIMILARITY)
    share: list[float] = (shares / terms.total).tolist()
    return share


def _forms_to_replace(word: str, language: str) -> list[str]:
    """Return the forms of a word for which a similar one may stand: there is none for a number."""
    words = () if word.isdigit() else read_words(word, language)
    return [form for each in words if not each.is_function_word for form in each.forms]


def _weigh_word(terms: QueryTerms, forms: Iterable[str]) -> float:
    """Return the weight of a word of the query, given its forms. One that is not among the terms is in no passage."""
    weights = [terms.weights[form] for form in forms if form in terms.weights]
    return max(weights, default=_idf_of(0, terms.passages))


def _score_plainly(
    terms: QueryTerms, candidates: Sequence[Candidate], forms: Sequence[list[int]], pairs: Sequence[list[Bigram]]
) -> list[tuple[float, float]]:
    places: dict[int, list[int]] = {}  # of the terms that have a form
    for place, numbers in enumerate(forms):
        for number in numbers:
            places.setdefault(number, []).append(place)
    scores: list[tuple[float, float]] = []
    for candidate in candidates:
        counts, bigrams = _count_plainly(candidate.terms, places.keys())
        best: dict[int, float] = {}
        for number, times in counts.items():
            for place in places[number]:
                best[place] = max(times, best.get(place, 0.0))
        norm = _length_norm(candidate.length, terms)
        score = 0.0
        for place, times in sorted(best.items()):
            score += terms.terms[place].weight * times * (BM25_K1 + 1) / (times + norm)
        adjacent = sum(not bigrams.isdisjoint(pair) for pair in pairs)
        scores.append((score / terms.total, adjacent / max(1, len(terms.pairs))))
    return scores


def _score_with_numpy(
    terms: QueryTerms, candidates: Sequence[Candidate], forms: Sequence[list[int]], pairs: Sequence[list[Bigram]]
) -> list[tuple[float, float]]:
    import numpy as np

    rows: dict[int, int] = {}
    places = [rows.setdefault(number, len(rows)) for numbers in forms for number in numbers]
    counts = _count_with_numpy([each.terms for each in candidates], [*rows], [*chain.from_iterable(pairs)])
    norm = _length_norm(np.array([candidate.length for candidate in candidates], np.float64), terms)
    times = np.maximum.reduceat(counts.times[places], _group_starts(forms))
    weights = np.array([[term.weight] for term in terms.terms])
    scores = (weights * times * (BM25_K1 + 1) / (times + norm)).sum(axis=0) / terms.total
    shares = np.zeros(len(candidates))
    if pairs:
        shares = np.logical_or.reduceat(counts.bigrams, _group_starts(pairs)).sum(axis=0) / len(terms.pairs)
    return list(zip(scores.tolist(), shares.tolist(), strict=True))


def _length_norm(length: Any, terms: QueryTerms) -> Any:
    """Return how much repeats of a word count, by the length of a passage or of each of many."""
    return BM25_K1 * (1 - BM25_B + BM25_B * length / terms.average_length)


def _group_starts(groups: Sequence[Sequence[Any]]) -> list[int]:
    """Return where each group begins when all are written one after the other."""
    return [*accumulate(map(len, groups[:-1]), initial=0)]


WeighedForms = tuple[float, list[int]]


def asks_only_for_tasks(terms: QueryTerms) -> bool:
    """Return whether a query asks for open tasks and nothing more specific."""
    return [word.forms for word in terms.content_words] == [(OPEN_TASK,)]


def weigh_forms(terms: QueryTerms) -> list[WeighedForms]:
    """Return the weight of each term with the numbers of its forms."""
    return [(term.weight, [*map(encode_term, term.forms)]) for term in terms.terms]


def has_own_share(
    terms: QueryTerms, forms: Sequence[WeighedForms], candidate: Candidate, share: float, min_share: float
) -> bool:
    """Return whether a passage by itself, without its neighbours, has this share of the query's words, by weight.
    `forms` are those of the terms, `share` is the passage's share of BM25."""
    if share * (1 + _length_norm(candidate.length, terms)) < min_share * (BM25_K1 + 1):  # each word would add as much
        return False
    numbers = unpack_terms(candidate.terms)
    body = frozenset(numbers[1 : 1 + numbers[0]])
    present = sum(weight for weight, encoded in forms if not body.isdisjoint(encoded))
    return terms.total > 0 and present / terms.total >= min_share


def match_key(terms: QueryTerms, key: str) -> float:
    """Return the share of the query's content words that a key has; 0 unless the query has all words of the key.

    The more words a key has, the less likely a query names it by chance.
    """
    wanted = _read_key(key, terms.language)
    if not wanted or not wanted.issubset(terms.content_words):
        return 0.0
    return len(wanted) / len(terms.content_words)


@cache_within(2_000_000)
def _read_key(key: str, language: str) -> frozenset[QueryWord]:
    """Return the content words of a key; cached, as many queries meet it."""
    words = tokenize_query(key.replace("_", " ").replace("-", " "), language)
    return frozenset(word for word in words if not word.is_function_word)


@cache_within(1_000_000)
def read_words(run: str, language: str) -> tuple[QueryWord, ...]:
    """Return the words of a run of a text; cached, as most texts have the same ones."""
    return tuple(tokenize_query(run, language))


def cut_excerpt(text: str, words: Sequence[str]) -> str:
    """Cut a hit that is one very long line to the part around the first word of the query."""
    if len(text) <= _MAX_HIT_CHARACTERS:
        return text
    lower = text.lower()
    first = -1
    for word in words:
        at = lower.find(word, 0, None if first < 0 else first + len(word) - 1)  # only before the first match so far
        first = at if at >= 0 else first
    start = max(0, min(first - _MAX_HIT_CHARACTERS // 4, len(text) - _MAX_HIT_CHARACTERS))
    return text[start : start + _MAX_HIT_CHARACTERS]


# Counting the words of a query in candidates, with numpy or without it.


class _TermCounts(NamedTuple):
    """How often each term occurs in each candidate, words around it counting less, and which bigrams each has."""

    times: Array  # by term and candidate
    bigrams: Array  # whether they are there, by bigram and candidate


def _count_plainly(packed: bytes, terms: Set[int]) -> tuple[dict[int, float], set[Bigram]]:
    """Count terms in one candidate, as `index/terms.py` packs it, and return its pairs of adjacent words, if it has
    more than one of the terms."""
    numbers = unpack_terms(packed)
    inside = 1 + numbers[0]
    body = numbers[1:inside]
    times: dict[int, float] = dict(Counter(filter(terms.__contains__, body)))
    for number in filter(terms.__contains__, numbers[inside:]):
        times[number] = times.get(number, 0.0) + CONTEXT_WEIGHT
    return times, set(pairwise(body)) if len(times) > 1 else set()


def _count_with_numpy(packed: Sequence[bytes], terms: Sequence[int], bigrams: Sequence[Bigram]) -> _TermCounts:
    """Count different terms in many candidates at once, and find bigrams of these terms."""
    import numpy as np

    numbers = np.frombuffer(b"".join(packed), "<u4")
    edges = np.array([*accumulate(map(len, packed), initial=0)]) // TERM_BYTES
    starts = edges[:-1]
    places, rows = _find_terms(numbers, starts, np.array(terms, np.uint32))
    ends = places.searchsorted(edges)  # of few edges among many places, rather than the reverse
    found = ends[1:] - ends[:-1]
    candidates = np.arange(len(packed)).repeat(found)
    is_inside = places <= (starts + numbers.take(starts)).repeat(found)
    counts = np.bincount(
        rows * len(packed) + candidates,
        np.where(is_inside, 1.0, CONTEXT_WEIGHT),
        minlength=len(terms) * len(packed),
    )
    codes = _bigram_codes(terms, bigrams)
    adjacent = np.zeros((0, len(packed)), bool)
    if codes:
        is_pair = (places[1:] - places[:-1] == 1) & is_inside[1:]  # the start of a candidate, a count, is between two
        second = is_pair.nonzero()[0] + 1
        pairs = rows[second - 1] * len(terms) + rows[second]
        adjacent = _find_bigrams(pairs, candidates[second], codes, len(packed))
    return _TermCounts(counts.reshape(len(terms), len(packed)), adjacent)


def _find_terms(numbers: Array, starts: Array, terms: Array) -> tuple[Array, Array]:
    """Return where terms are among many numbers, and which term each of them is. What is at the starts is no term."""
    import numpy as np

    keys = terms % _TABLE_SIZE
    own_ranks = np.arange(1, len(terms) + 1)
    ranks = np.zeros(_TABLE_SIZE, np.uint8 if len(terms) < _MAX_SMALL_TABLE else np.uint32)
    ranks[keys] = own_ranks  # of terms with the same key, the last
    ranked = ranks.take(numbers.view("<u2")[::2])
    ranked[starts] = 0
    places = (ranked != 0).nonzero()[0]
    found = numbers.take(places)
    rows = ranked.take(places).astype(np.intp) - 1
    for row in (ranks[keys] != own_ranks).nonzero()[0]:
        rows[found == terms[row]] = row
    is_term = terms.take(rows) == found
    return places[is_term], rows[is_term]


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
