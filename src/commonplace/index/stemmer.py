"""Stemming: one form for the inflections of a word, by the rules of its language.

A script of its own names the language: Cyrillic is stemmed as Russian, Devanagari as Hindi. In Latin script the
language of the whole text decides, which `detect_language` tells by its function words; English where none tells.
The Snowball algorithms are loaded when the first word of their language is met; English has fewer rules of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from .languages import ALSO_ENGLISH_WORDS, ENGLISH, LATIN, STOP_WORDS

_MIN_LETTERS = 4
_MAX_LETTERS = 100  # what is longer is no word, and the rules take seconds for a million letters
_MIN_FUNCTION_WORDS = 2  # that tell that a text is not in English
_MANY_FUNCTION_WORDS = 3  # that tell, even if each of them is an English word as well
_SCRIPTS = (  # first and last letter, language
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
_PERSIAN_LETTERS = frozenset("پچژگکی")
ARABIC_VARIANTS = str.maketrans("أإآىة", "ااايه")
_VOWEL = re.compile("[aeiouy]")


def stem(word: str, language: str = ENGLISH) -> str:
    """Return the stem of a folded word. The language matters for words in Latin script only."""
    if len(word) > _MAX_LETTERS:
        return word
    if word.isascii():
        return _stem_english(word) if language == ENGLISH else _stem_latin(word, language)
    script = language_of_script(word)
    if script:
        return _stem_snowball(word, script)
    return word if language == ENGLISH else _stem_latin(word, language)


def detect_language(words: Iterable[str], min_function_words: int = _MIN_FUNCTION_WORDS) -> str:
    """Return the language of a text in Latin script, by how many of its folded words are function words of each."""
    found = [word for word in words if word in _all_function_words()]
    if len(found) < min_function_words:
        return ENGLISH
    counts = {language: sum([word in function_words(language) for word in found]) for language in LATIN}
    best = max(LATIN, key=counts.__getitem__)  # English comes first, and wins where counts are equal
    is_certain = counts[best] >= _MANY_FUNCTION_WORDS or not certain_function_words(best).isdisjoint(found)
    return best if counts[best] >= min_function_words and is_certain else ENGLISH


@cache
def certain_function_words(language: str) -> frozenset[str]:
    """Return the function words of a language that are no ordinary English words: `der`, but not `die`."""
    return function_words(language).difference(ALSO_ENGLISH_WORDS.split())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the words of a language that say little by themselves, folded."""
    from .tokenizer import fold

    return frozenset(fold(STOP_WORDS.get(language, "")).split())


def is_function_word(word: str, language: str) -> bool:
    """Return whether a folded word says little by itself, in the language of the text or of its script."""
    if word.isascii():
        return word in function_words(language)
    script = language_of_script(word)
    return word in function_words(script or language)


@cache
def _all_function_words() -> frozenset[str]:
    return frozenset[str]().union(*map(function_words, LATIN))


def language_of_script(word: str) -> str:
    """Return the language whose rules fit the script of a word; empty for Latin and scripts without rules."""
    first = word[0]
    for low, high, language in _SCRIPTS:
        if low <= first <= high:
            return "persian" if language == "arabic" and not _PERSIAN_LETTERS.isdisjoint(word) else language
    return ""


@lru_cache(maxsize=16_384)
def _stem_english(word: str) -> str:
    """Remove the most common English endings of a word."""
    if len(word) < _MIN_LETTERS or not word.isalpha():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and _VOWEL.search(word[: -len(ending)]):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


@lru_cache(maxsize=16_384)
def _stem_latin(word: str, language: str) -> str:
    return word if len(word) < _MIN_LETTERS or not word.isalpha() else _snowball(language)(word) or word


@lru_cache(maxsize=16_384)
def _stem_snowball(word: str, language: str) -> str:
    if language == "arabic":
        return _snowball(language)(word.translate(ARABIC_VARIANTS)) or word
    return _snowball(language)(word) or word


@cache
def _snowball(language: str) -> Callable[[str], str]:
    import snowballstemmer  # type: ignore[import-untyped]

    stem_word: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem_word
