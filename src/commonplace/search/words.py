"""The words of a query: matched whole and in any inflection, without stop words; corrected if no passage has them.

A text becomes a row of tokens with a space on either side (` the invoice of may `), in which an inflection of a query
word is replaced by that word; a script without spaces becomes single characters. So a term or the whole query is
found by `in`, and never as a piece of another word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from ..facts.statements import QUESTION_MARKS
from ..facts.words import DETERMINERS
from ..index.languages import (
    ARABIC_PREFIXES,
    CHINESE_STOP_WORDS,
    COMING_QUESTION_WORDS,
    DAY_QUESTION_VERBS,
    DAY_QUESTION_WORDS,
    ENDINGS,
    ENGLISH,
    GERMAN_WHAT,
    IRREGULAR_ENGLISH,
    JAPANESE_PARTICLES,
    JAPANESE_STOP_WORDS,
    KOREAN_PARTICLES,
    KOREAN_STOP_WORDS,
    LATIN,
    NOUN_VERBS,
    SPACED_LATIN,
    STOP_WORDS,
    WHAT_WORDS,
)
from ..index.tokenizer import (
    ARABIC_VARIANTS,
    certain_function_words,
    fold_accents,
    function_words,
    language_of_script,
    split_runs,
)
from ..model import Viewer
from ..patterns import lazy_pattern

if TYPE_CHECKING:
    from ..index.base import Retriever

_MIN_BASE_LETTERS = 3
_MIN_BASE_LETTERS_OF_UNKNOWN = 5  # if the language is unknown, endings of all languages are tried
_MIN_BASE_LETTERS_OF_HINDI = 2
_NO_PLURALS = frozenset(["always", "news", "perhaps", "series", "species"])
_MAX_END_CHARACTERS = 16  # of the end of a text, with its closing marks
_CLOSING_MARKS = ')"”'
_QUESTION_ENDS = frozenset((*_CLOSING_MARKS, *QUESTION_MARKS))
_IDENTIFIER = lazy_pattern(r"`[^`]+`|(?:(?<!\S)|(?<=`)(?<!``))(?:\S*[\d_@]\S*|\S*[a-z][A-Z]\S*)")
_WORD_INSIDE = lazy_pattern(r"(?<=\s)[^\W\d_]\w*")
_HANGUL = "[\uac00-\ud7af]+"
_KANA = "[\u3040-\u30ff]"
_WITHOUT_WORD_MARKS = "[\u0e00-\u109f\u1780-\u17ff]"  # Thai and the like: pairs of letters say little


class QueryWords:
    """A query as terms, and texts as rows of tokens in which the terms are found."""

    def __init__(self, query: str) -> None:
        self._tokens: dict[str, str] = {}
        runs = [*split_runs(query)]
        self._is_literal = not runs
        words = [run for run, is_unspaced in runs if not is_unspaced]
        self._languages = guess_languages(words)
        self._bases = {word: _bases(word, self._languages) for word in dict.fromkeys(words)}
        self._beginnings: tuple[str, ...] = ()
        self.whole = self.index(query)
        self.terms = (self.whole,) if self._is_literal else self._find_terms(runs)
        if query.isascii() and not self._is_literal:
            self._beginnings = _beginnings(self._bases[term.strip()] for term in self.terms)

    def index(self, text: str) -> str:
        """Return a text as tokens that the terms are found in."""
        if self._is_literal:
            return fold_accents(text)
        if self._beginnings:
            folded = fold_accents(text)
            if not any(beginning in folded for beginning in self._beginnings):
                return " "  # most texts have none of the words, and splitting texts takes time
        parts: list[str] = []
        known = self._tokens
        for run, is_unspaced in split_runs(text):
            if is_unspaced:
                parts += run
            else:
                parts.append(known.get(run) or self._remember(run))
        return f" {' '.join(parts)} "

    def _remember(self, word: str) -> str:
        """Return the query word that a word is an inflection of, or the word itself."""
        token = word
        if word not in self._bases:
            bases = _bases(word, self._languages)
            token = next((own for own, others in self._bases.items() if not bases.isdisjoint(others)), word)
        self._tokens[word] = token
        return token

    def _find_terms(self, runs: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
        """Return the terms without stop words; if there is nothing else, stop words count."""
        every: list[str] = []
        chosen: list[str] = []
        stop_words = _stop_words(self._languages)
        for run, is_unspaced in runs:
            if is_unspaced:
                every += _ngrams(run)
                chosen += [gram for piece in drop_unspaced_stop_words(run) for gram in _ngrams(piece)]
                continue
            term = f" {self._remember(run)} "
            every.append(term)
            chosen += [] if run in stop_words else [term]
        return tuple(dict.fromkeys(chosen or every))


def _beginnings(bases: Iterable[frozenset[str]]) -> tuple[str, ...]:
    """Return the first letters that every inflection of these words has."""
    words = {word for every in bases for word in every}
    words |= {form for form, base in _irregular_english().items() if base in words}
    return tuple({word[: max(1, min(4, len(word) - 1))] for word in words})


def is_question(text: str) -> bool:
    """Return whether a text ends as a question does."""
    last = text[-1:]
    if last not in _QUESTION_ENDS and not last.isspace():
        return False
    end = text if text[-1:].isspace() else text[-_MAX_END_CHARACTERS:]  # stripping a long text would copy it
    return end.rstrip().rstrip(_CLOSING_MARKS).endswith(QUESTION_MARKS)


def find_identifiers(text: str) -> frozenset[str]:
    """Return the numbers and identifiers of a query (`77`, `PW-3410`, `parser_2`), as its words are split."""
    return split_words(_IDENTIFIER.findall(text)) | {run for run, _ in split_runs(text) if any(map(str.isdigit, run))}


def split_words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(run for word in words for run, _ in split_runs(fold_accents(word)))


def has_content(text: str, *, is_coming: bool = False) -> bool:
    """Return whether a question about a day asks for more than what happened or is planned: it has a word that is
    neither a stop word nor part of every such question."""
    return bool(_list_other_words(text, _list_day_question_words(is_coming=is_coming)))


def has_subject(text: str, *, is_coming: bool = False) -> bool:
    """Return whether a question about a day also names a subject: `what did we decide` has a verb, but no subject."""
    ignored = _list_day_question_words(is_coming=is_coming)
    if asked := list_asked_meanings(text):
        ignored = ignored.union(folded_words(NOUN_VERBS), *asked)
    others = _list_other_words(text, ignored)
    return bool(others) and (bool(asked) or not _asks_by_verb(text, others))


def _asks_by_verb(text: str, words: list[str]) -> bool:
    """Return whether these words of a question are only its verb: that of `what did we work on`, but neither that of
    `who called` nor `the price` or a name."""
    runs = [run for run, _ in split_runs(text)]
    what = folded_words(WHAT_WORDS if ENGLISH in guess_languages(runs) else f"{WHAT_WORDS} {GERMAN_WHAT}")
    others = [word for word in words if word not in what]
    if len(others) != 1 or not has_any_word(text, what):
        return False
    (word,) = others
    if word not in runs:
        return len(word) == 1  # in a script without spaces, most nouns have two characters
    before = runs[runs.index(word) - 1] if runs.index(word) else ""
    return before not in DETERMINERS and not word.isdigit() and word not in _find_capitalised(text)


def _find_capitalised(text: str) -> frozenset[str]:
    """Return the names in a sentence, and German nouns."""
    return split_words(match[0] for match in _WORD_INSIDE.finditer(text) if match[0][0].isupper())


def list_asked_meanings(text: str) -> list[frozenset[str]]:
    """Return the word lists that a question about a day has a word of, such as the one for decisions."""
    return [words for words in map(folded_words, DAY_QUESTION_VERBS) if has_any_word(text, words)]


def has_any_word(text: str, words: frozenset[str]) -> bool:
    """Return whether a text has one of the words, in a script without spaces as a part of a run."""
    return any(
        any(word in run for word in words) if is_unspaced else run in words for run, is_unspaced in split_runs(text)
    )


def _list_other_words(text: str, ignored: frozenset[str]) -> list[str]:
    """Return the words of a text that are neither stop words nor among these."""
    runs = [*split_runs(text)]
    words = [run for run, is_unspaced in runs if not is_unspaced]
    ignored |= _stop_words(guess_languages(words))
    pieces = (piece for run, is_unspaced in runs if is_unspaced for piece in drop_unspaced_stop_words(run))
    return [word for word in (*words, *pieces) if word not in ignored]


@cache
def folded_words(words: str) -> frozenset[str]:
    """Return the words of a list in a source file, folded like those of texts."""
    return frozenset(fold_accents(words).split())


def _list_day_question_words(*, is_coming: bool) -> frozenset[str]:
    words = folded_words(DAY_QUESTION_WORDS)
    return words | folded_words(COMING_QUESTION_WORDS) if is_coming else words


@cache
def _stop_words(languages: tuple[str, ...]) -> frozenset[str]:
    """Return the stop words of the languages, and of those with a script of their own."""
    others = [language for language in STOP_WORDS if language not in LATIN]
    chosen = [language for language in languages if language in STOP_WORDS] or [ENGLISH]
    return frozenset[str]().union(*map(function_words, [*chosen, *others]))


def guess_languages(words: Iterable[str]) -> tuple[str, ...]:
    """Return the Latin-script languages that the stop words of a query belong to; none if that is unclear."""
    words = frozenset(words)
    counts = {language: len(words & function_words(language)) for language in (ENGLISH, *SPACED_LATIN)}
    most = max(counts.values())
    if not most:
        return ()
    if counts[ENGLISH] == most:
        english = words & function_words(ENGLISH)
        is_certain = not any(english <= function_words(language) for language in SPACED_LATIN)
        return (ENGLISH,) if is_certain else ()
    certain = [
        language
        for language in SPACED_LATIN
        if counts[language] == most and not words.isdisjoint(certain_function_words(language))
    ]
    return tuple(certain) or ((ENGLISH,) if counts[ENGLISH] else ())


def _bases(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Return the words that a word may be an inflection of, itself included."""
    if word[0].isascii() or "\u00c0" <= word[0] < "\u0250":
        return _latin_bases(word, languages)
    language = language_of_script(word)
    if language == "russian":
        return _strip_endings(word, language, _MIN_BASE_LETTERS)
    if language == "hindi":
        return _strip_endings(word, language, _MIN_BASE_LETTERS_OF_HINDI)
    return _arabic_bases(word) if language in ("arabic", "persian") else frozenset([word])


def _latin_bases(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    if not word.isalpha():
        return frozenset([word])
    bases = frozenset([word])
    if not languages or ENGLISH in languages:
        bases |= _english_bases(word)
    for language in languages or SPACED_LATIN:
        if language != ENGLISH:
            bases |= _strip_endings(word, language, _MIN_BASE_LETTERS if languages else _MIN_BASE_LETTERS_OF_UNKNOWN)
    return bases


def _strip_endings(word: str, language: str, min_letters: int) -> frozenset[str]:
    room = len(word) - min_letters
    endings = [ending for ending in _endings(language) if len(ending) <= room and word.endswith(ending)]
    return frozenset([word, *(word[: -len(ending)] for ending in endings)])


@cache
def _endings(language: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fold_accents(ENDINGS[language]).split()))


def _arabic_bases(word: str) -> frozenset[str]:
    """Return a word without article, prefixed prepositions and endings."""
    plain = word.translate(ARABIC_VARIANTS)
    forms = {plain}
    for prefix in ARABIC_PREFIXES:
        if plain.startswith(prefix) and len(plain) - len(prefix) >= _MIN_BASE_LETTERS:
            forms.add(plain[len(prefix) :])
    return frozenset(base for form in forms for base in _strip_endings(form, "arabic", _MIN_BASE_LETTERS))


def _english_bases(word: str) -> frozenset[str]:
    """Return the singular of a plural and the infinitive of a verb, by spelling rules."""
    if word in _NO_PLURALS:
        return frozenset([word])
    bases = {word}
    if word.endswith(("ies", "ied")):
        bases |= {word[:-3] + "y", word[:-1]}
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        bases.add(word[:-1])
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            bases.add(word[:-2])
    elif word.endswith("ed"):
        bases |= {word[:-2], word[:-1], _undouble(word[:-2])}
    elif word.endswith("ing"):
        bases |= {word[:-3], word[:-3] + "e", _undouble(word[:-3])}
    known = {word, _irregular_english().get(word, word)}
    return frozenset(known | {base for base in bases if _is_base(base)})


def _is_base(word: str) -> bool:
    return len(word) >= _MIN_BASE_LETTERS and any(vowel in word for vowel in "aeiouy")


def _undouble(word: str) -> str:
    """Return `stop` for `stopp`."""
    return word[:-1] if len(word) > _MIN_BASE_LETTERS and word[-1] == word[-2] else word


@cache
def _irregular_english() -> dict[str, str]:
    entries = (entry.split(":") for entry in " ".join(IRREGULAR_ENGLISH.split()).split(";"))
    return {form: base.strip() for base, forms in entries for form in forms.split()}


def _ngrams(run: str) -> list[str]:
    """Return the terms of a run of a script without spaces: neighbouring characters."""
    size = 3 if re.match(_WITHOUT_WORD_MARKS, run) else 2
    grams = [run[start : start + size] for start in range(len(run) - size + 1)] or [run]
    return [f" {' '.join(gram)} " for gram in grams]


def drop_unspaced_stop_words(run: str) -> list[str]:
    """Return what is left of a run of a script without spaces; single characters only where nothing else is."""
    if re.fullmatch(_HANGUL, run):
        return _drop_korean_particle(run)
    pieces = [piece for piece in _unspaced_stop_words(is_japanese=bool(re.search(_KANA, run))).split(run) if piece]
    return [piece for piece in pieces if len(piece) > 1] or pieces


def _drop_korean_particle(run: str) -> list[str]:
    if run in _korean_stop_words():
        return []
    particle = next((each for each in KOREAN_PARTICLES.split() if run.endswith(each) and len(run) > len(each) + 1), "")
    return [run.removesuffix(particle)]


@cache
def _korean_stop_words() -> frozenset[str]:
    return frozenset(KOREAN_STOP_WORDS.split())


@cache
def _unspaced_stop_words(*, is_japanese: bool) -> re.Pattern[str]:
    words = sorted(map(fold_accents, (JAPANESE_STOP_WORDS if is_japanese else CHINESE_STOP_WORDS).split()), key=len)
    pattern = "|".join(reversed(words))
    if is_japanese:
        pattern += f"|(?<=[\u4e00-\u9fff\u30a0-\u30ff])[{JAPANESE_PARTICLES}]"
    return re.compile(f"(?:{pattern})+")


# Spelling: a word of a query that no passage has is replaced by one that is a single edit away.

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
