"""Coverage: which words of a query a hit has, and how near it comes to the missing ones.

In short notes, the words that a hit lacks matter more than those it has: a note with somebody else's phone number has
all words of a question except the name. A name or a number has to match exactly; for other words, a similar one will
do, unless something else has its place: `the mobile app` is not `the web app`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, takewhile
from operator import itemgetter
from typing import NamedTuple

from ..caching import cache_within
from ..embedding.base import MaxSimEmbedder
from ..facts.words import DETERMINERS, OF, PREPOSITIONS, is_unspaced
from ..formats.passages import embedding_text
from ..index.base import Candidate
from ..index.languages import INDEFINITE_WORDS, KIND_QUESTION_WORDS, LIGHT_VERBS, REQUEST_WORDS
from ..index.terms import encode_term, unpack_terms
from ..index.tokenizer import fold_accents, split_runs
from ..patterns import lazy_pattern
from .bm25 import read_words
from .words import drop_unspaced_stop_words, find_identifiers, folded_words, split_words

_MAX_MISSING = 2  # words of a short query that a note replaces with another
_SHORT_QUERY_WORDS = 5  # of a longer one, some are always missing
_NEAR_CHARACTERS = 1_000  # of a hit that are compared word by word
_GERMAN = "german"  # where every noun has a capital letter
_GENITIVE_SCRIPTS = lazy_pattern("[\u0400-\u04ff\u0600-\u06ff]")
_UNSPACED_KIND = lazy_pattern("[几哪何幾]|多少|什么|什麼|どの|どこ|いつ|誰")
_CLAUSE_END = lazy_pattern(r"[.:;,!?]\s|\n")
_WORD = lazy_pattern(r"[^\W_]+")
# A German noun without an article: after a preposition or a verb, mostly a name.
_GERMAN_NAME = lazy_pattern(r"\b(?:von|mit|bei|für|hat|ist|war|mir|isst|mag|wohnt|arbeitet) ([^\W\d_]\w*)")
_CAPITALISED = lazy_pattern(r"(?<=[^\s.?!:¿¡\"“«(]\s)[^\W\d_]\w*")


class AskedWord(NamedTuple):
    """A content word of a query, or a run of a script without spaces. `pieces`: the forms of the word, or those of each
    pair of characters. `is_exact`: it is a name, a number or an identifier, for which no other word stands.
    `is_identifier`: it is not a name. `is_kind`: it says what is asked for, and an answer need not have it:
    `which city`, `anything`."""

    text: str
    pieces: tuple[frozenset[int], ...]
    is_exact: bool
    is_kind: bool = False
    is_identifier: bool = False


class Coverage(NamedTuple):
    """How a hit covers the words of a query."""

    has_exact: bool = False  # it has a name, a number or an identifier of the query
    lacks_exact: bool = False
    has_another: bool = False  # it has another word in the place of the missing one
    nearness: float = 1.0  # how similar its words are to the missing ones; measured if there are any
    has_kind: bool | None = None  # whether it may have a value of the kind that is asked for; None if none is
    answers_another: bool = False  # it is about somebody else, the opposite, or another attribute

    @property
    def is_doubtful(self) -> bool:
        return self.lacks_exact or self.has_another


COVERED = Coverage()


def split_question(text: str, language: str) -> list[AskedWord]:
    """Return the content words of a query; of a script without spaces, what is left between stop words."""
    identifiers = find_identifiers(text)
    exact = identifiers | _find_names(text, language)
    requests = folded_words(REQUEST_WORDS)
    spelled = {run: word for word in _WORD.findall(text) for run, _ in split_runs(word)}
    words: dict[str, AskedWord] = {}
    before = ""
    for run, has_no_spaces in split_runs(text):
        for part in drop_unspaced_stop_words(run) if has_no_spaces else [run]:
            found = read_words(part, language)
            if found and part not in requests and not all(word.is_function_word for word in found):
                pieces = tuple(frozenset(map(encode_term, word.forms)) for word in found)
                is_identifier = part in identifiers
                is_exact = is_identifier or part in exact
                kinds = folded_words(KIND_QUESTION_WORDS)
                is_kind = before in kinds or part in kinds or part in folded_words(INDEFINITE_WORDS)
                is_kind = is_kind or (has_no_spaces and bool(_UNSPACED_KIND.search(part)))
                words[part] = AskedWord(spelled.get(part, part), pieces, is_exact, is_kind, is_identifier)
        before = run
    return [*words.values()]


def split_task(text: str, language: str) -> list[AskedWord]:
    """Return the content words of a task. The number or identifier of what to work on says nothing of what to know for
    it: `create a branch for ticket 77`, `describe PR 481`."""
    return [
        word
        for word, after in pairwise([*split_question(text, language), None])
        if word and not word.is_identifier and not (word.is_exact and after and after.is_identifier)
    ]


def _find_names(text: str, language: str) -> frozenset[str]:
    """Return the names in a query as its words are split."""
    capitalised = _GERMAN_NAME if language == _GERMAN else _CAPITALISED
    return split_words(word for word in capitalised.findall(text) if word[0].isupper())


def measure_coverage(
    question: str, words: Sequence[AskedWord], candidate: Candidate, model: MaxSimEmbedder | None, language: str
) -> Coverage:
    """Return how a candidate covers the words of a query; without the packaged model, nearness is unknown."""
    terms = frozenset(unpack_terms(candidate.terms)[1:])
    parts = [part for word in words for part in _split_by_hit(word, terms)]
    has_exact = any(part.is_exact and part.is_there for part in parts)
    lacks_exact = any(part.is_exact and not part.is_there for part in parts)
    text = embedding_text("", candidate.hit.text)[:_NEAR_CHARACTERS]
    has_another = not lacks_exact and _has_another_instead(parts, question, text, language)
    if not lacks_exact and not has_another:
        return Coverage(has_exact)
    missing = " ".join(part.text for part in parts if not part.is_there)
    nearness = model.nearness(missing, text) if model else 1.0
    return Coverage(has_exact, lacks_exact, has_another, nearness)


def has_words(candidate: Candidate, words: Sequence[AskedWord]) -> bool:
    """Return whether a candidate has all of the words."""
    terms = frozenset(unpack_terms(candidate.terms)[1:])
    return all(part.is_there for word in words for part in _split_by_hit(word, terms))


class _Part(NamedTuple):
    """A word of a query, or a part of a run without spaces, that a hit has or lacks."""

    text: str
    forms: frozenset[int]
    is_exact: bool
    is_kind: bool
    is_there: bool


def _split_by_hit(word: AskedWord, terms: frozenset[int]) -> Iterator[_Part]:
    """Yield a word; of a run without spaces, the parts that a hit has and those between them."""
    has = [not piece.isdisjoint(terms) for piece in word.pieces]
    forms = frozenset[int]().union(*word.pieces)
    if len(has) == 1 or all(has) or not any(has):
        yield _Part(word.text, forms, word.is_exact, word.is_kind, all(has))
        return
    covered = [any(has[max(0, place - 1) : place + 1]) for place in range(len(word.text))]
    for is_there, run in groupby(zip(covered, word.text, strict=True), key=itemgetter(0)):
        text = "".join(character for _, character in run)
        yield _Part(text, forms, word.is_exact, word.is_kind, is_there)


class _Word(NamedTuple):
    """A word of a text, in sequence. A function word has no forms."""

    text: str
    forms: frozenset[int]


_END = _Word("\n", frozenset())


def _has_another_instead(parts: Sequence[_Part], question: str, note: str, language: str) -> bool:
    """Return whether a note has all words of a query but one or two next to each other, and another word in their
    place: between the same words, before the same noun (`web app`, `mobile app`), or after the same one (`project of
    the museum`, `… of the library`)."""
    asked = [part for part in parts if part.is_there or not part.is_kind]
    missing = [place for place, part in enumerate(asked) if not part.is_there]
    most = _MAX_MISSING if len(asked) <= _SHORT_QUERY_WORDS else 1
    are_adjacent = bool(missing) and missing[-1] - missing[0] < min(len(missing), most)
    if not are_adjacent or len(asked) == len(missing):
        return False
    if any(fold_accents(asked[place].text) in folded_words(LIGHT_VERBS) for place in missing):
        return False
    lacking = asked[missing[-1]]
    after = asked[missing[-1] + 1] if missing[-1] + 1 < len(asked) else None
    if after and is_unspaced(lacking.text[:1]):
        return _is_preceded_by_another(lacking.text, after.text, fold_accents(question), fold_accents(note))
    known = frozenset[int]().union(*(part.forms for part in asked))
    words = _split_in_order(question, language)
    places = [at for place in missing if (at := _find_word(asked[place], words)) is not None]
    others = _split_in_order(note, language)
    return len(places) == len(missing) and any(
        word.forms
        and word.forms.isdisjoint(known)
        and _have_one_place(words, places, others, at, asked[missing[0]].text, language)
        for at, word in enumerate(others)
    )


def _find_word(part: _Part, words: Sequence[_Word]) -> int | None:
    return next((at for at, word in enumerate(words) if not word.forms.isdisjoint(part.forms)), None)


def _is_preceded_by_another(word: str, noun: str, question: str, note: str) -> bool:
    """Return whether a noun has something else before it, in a script without spaces: 王芳的电话 and 李明的电话.
    A single character is mostly a verb, not a name: 想预约."""
    if len(word) == 1:
        return False
    start = question.find(word) + len(word)
    particle = question[start : question.find(noun, start)]
    at = note.find(particle + noun) if len(particle) <= 1 else 0
    return at > 0 and note[at - 1].isalnum()


@cache_within(1_000_000)
def _split_in_order(text: str, language: str) -> tuple[_Word, ...]:
    """Return the words of a text, with the ends of its clauses; cached, as a question is compared with many notes."""
    words: list[_Word] = []
    for clause in _CLAUSE_END.split(text):
        for run, has_no_spaces in split_runs(clause):
            for part in drop_unspaced_stop_words(run) if has_no_spaces else [run]:
                found = read_words(part, language)
                forms = [encode_term(form) for word in found if not word.is_function_word for form in word.forms]
                words.append(_Word(part, frozenset(forms)))
        words.append(_END)
    return tuple(words)


def _have_one_place(
    question: Sequence[_Word], asked: Sequence[int], note: Sequence[_Word], other: int, word: str, language: str
) -> bool:
    """Return whether a word of a note is where those that were asked for are in the query."""
    before = _find_next(question[: asked[0]][::-1])
    note_before = _find_next(note[:other][::-1])
    is_after_same = not before.forms.isdisjoint(note_before.forms)
    if is_after_same and _is_of(before.gap, note_before.gap, word, language):
        return True
    after = _find_next(question[asked[-1] + 1 :])
    note_after = _find_next(note[other + 1 :])
    is_before_same = not after.forms.isdisjoint(note_after.forms)
    is_noun = before.gap[:1] and before.gap[0] in DETERMINERS and not (after.gap or note_after.gap)
    is_between = is_after_same and len(asked) == 1
    return is_before_same and bool(is_between or is_noun)  # not `does Ann drink coffee?`


class _Next(NamedTuple):
    """The forms of the next content word, and the function words before it, nearest first."""

    forms: frozenset[int]
    gap: tuple[str, ...]


def _find_next(words: Sequence[_Word]) -> _Next:
    gap = tuple(word.text for word in takewhile(lambda word: not word.forms, words))
    return _Next(words[len(gap)].forms if len(gap) < len(words) else frozenset(), gap)


def _is_of(gap: Sequence[str], other_gap: Sequence[str], word: str, language: str) -> bool:
    """Return whether in both texts, the words between two nouns say that the first is of the second, or for it, or with
    it. A genitive needs no such word, nor does a German noun after another noun (`die Abteilung Einkauf`)."""
    if not gap and not other_gap:
        return bool(_GENITIVE_SCRIPTS.match(word)) or (language == _GERMAN and word[:1].isupper())
    if not gap or not other_gap:
        return False
    return {gap[-1], other_gap[-1]} <= PREPOSITIONS or {gap[-1], other_gap[-1]} <= OF
