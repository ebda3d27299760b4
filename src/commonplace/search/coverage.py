"""Which words of a query a hit has, and how near it comes to those that it lacks.

Where notes are short, the words that a hit lacks tell more than those it has: a note with somebody else's phone number
has all words of a question but the name. A name or a number is there or not; for another word, a similar one will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ..embedding.base import MaxSimEmbedder
from ..index.base import Candidate
from ..index.languages import REQUEST_WORDS
from ..index.terms import encode_term, unpack_terms
from ..index.tokenizer import fold, split_runs, tokenize_query
from .words import drop_unspaced_stop_words

_NEAR_CHARACTERS = 1_000  # of a hit that are compared word by word
_GERMAN = "german"  # where every noun has a capital letter
_IDENTIFIER = re.compile(r"`[^`]+`|\S*[\d_@]\S*|\S*[a-z][A-Z]\S*")
_WORD = re.compile(r"[^\W_]+")
_CAPITALISED = re.compile(r"(?<=[^\s.?!:¿¡\"“«(]\s)[^\W\d_]\w*")


class AskedWord(NamedTuple):
    """A content word of a query, or a run of a script without spaces. `pieces`: the forms of the word, or those of each
    pair of characters. `is_exact`: it is a name, a number or an identifier, for which no other word stands."""

    text: str
    pieces: tuple[frozenset[int], ...]
    is_exact: bool


class Coverage(NamedTuple):
    """How a hit covers the words of a query."""

    has_exact: bool = False  # it has a name, a number or an identifier of the query
    lacks_exact: bool = False
    nearness: float = 1.0  # how similar its words are to those that it lacks; measured if it lacks an exact one


COVERED = Coverage()


def split_question(text: str, language: str) -> list[AskedWord]:
    """Return the content words of a query; of a script without spaces, what is left between stop words."""
    exact = _find_exact_words(text, language)
    requests = _request_words()
    spelled = {run: word for word in _WORD.findall(text) for run, _ in split_runs(word)}
    words: dict[str, AskedWord] = {}
    for run, is_unspaced in split_runs(text):
        for part in drop_unspaced_stop_words(run) if is_unspaced else [run]:
            found = tokenize_query(part, language)
            if found and part not in requests and not all(word.is_function_word for word in found):
                pieces = tuple(frozenset(map(encode_term, word.forms)) for word in found)
                words[part] = AskedWord(spelled.get(part, part), pieces, part in exact or any(map(str.isdigit, part)))
    return [*words.values()]


@cache
def _request_words() -> frozenset[str]:
    return frozenset(fold(REQUEST_WORDS).split())


def _find_exact_words(text: str, language: str) -> frozenset[str]:
    """Return the names and identifiers of a query as its words are split."""
    names = [] if language == _GERMAN else [word for word in _CAPITALISED.findall(text) if word[0].isupper()]
    return frozenset(run for word in [*names, *_IDENTIFIER.findall(text)] for run, _ in split_runs(fold(word)))


def measure_coverage(words: Sequence[AskedWord], candidate: Candidate, model: MaxSimEmbedder | None) -> Coverage:
    """Return how a candidate covers the words of a query; without the packaged model, nearness tells nothing."""
    terms = frozenset(unpack_terms(candidate.terms)[1:])
    parts = [part for word in words for part in _split_by_hit(word, terms)]
    has_exact = any(part.is_exact and part.is_there for part in parts)
    if not any(part.is_exact and not part.is_there for part in parts):
        return Coverage(has_exact)
    missing = " ".join(part.text for part in parts if not part.is_there)
    nearness = model.nearness(missing, candidate.hit.text[:_NEAR_CHARACTERS]) if model else 1.0
    return Coverage(has_exact, lacks_exact=True, nearness=nearness)


class _Part(NamedTuple):
    """A word of a query, or a part of a run without spaces, that a hit has or lacks."""

    text: str
    is_exact: bool
    is_there: bool


def _split_by_hit(word: AskedWord, terms: frozenset[int]) -> Iterator[_Part]:
    """Yield a word; of a run without spaces, the parts that a hit has and those between them."""
    has = [not piece.isdisjoint(terms) for piece in word.pieces]
    if len(has) == 1 or all(has) or not any(has):
        yield _Part(word.text, word.is_exact, all(has))
        return
    covered = [any(has[max(0, place - 1) : place + 1]) for place in range(len(word.text))]
    for is_there, run in groupby(zip(covered, word.text, strict=True), key=itemgetter(0)):
        yield _Part("".join(character for _, character in run), word.is_exact, is_there)
