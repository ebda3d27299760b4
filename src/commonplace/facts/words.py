"""The words of a statement: split, folded, without contractions, and which of them carry its content.

Stems are crude on purpose: they only have to bring two statements together, and a closer comparison follows.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from .word_lists import CONTRACTIONS, FUNCTION_WORDS, MONTHS_AND_DAYS, NUMBER_WORDS

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_MARKS = "\u0300-\u036f\u064b-\u065f\u0900-\u0dff"
_ASCII_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*[a-z%]*|[a-z][a-z0-9_]*(?:'[a-z]+)*")
_STEM_CHARACTERS = 5


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list in a source file."""
    return frozenset(fold(text).split())


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compile when the first text beyond ASCII needs it."""
    letter = rf"(?:[^\W\d_{_UNSPACED}]|[{_MARKS}])"
    return re.compile(
        rf"\d+(?:[.,:/-]\d+)*(?:%|[a-z]+)?|[{_UNSPACED}]|{letter}(?:{letter}|\d|_)*(?:'{letter}+)*",
        re.IGNORECASE,
    )


def fold(text: str) -> str:
    """Return text without differences of case, width and apostrophes."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()


def split_words(folded: str) -> list[str]:
    """Return the words of a folded text, contractions as the words that they stand for."""
    pattern = _ASCII_TOKEN if folded.isascii() else _token_pattern()
    words: list[str] = []
    for word in pattern.findall(folded):
        if "'" in word:
            words += _expand(word)
        else:
            words.append(word)
    return words


@cache
def _expand(word: str) -> tuple[str, ...]:
    if word in CONTRACTIONS:
        return tuple(CONTRACTIONS[word].split())
    if word.endswith("n't"):
        return word[:-3], "not"
    return (word[:-2], "'s") if word.endswith("'s") else tuple(word.split("'"))


def is_unspaced(word: str) -> bool:
    """Return whether a word is one character of a script without spaces."""
    return len(word) == 1 and not word.isascii() and _unspaced_pattern().match(word) is not None


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def function_words() -> frozenset[str]:
    """Return the words of all languages that say little by themselves."""
    return frozenset(fold(" ".join(FUNCTION_WORDS.values())).split())


@cache
def _date_words() -> frozenset[str]:
    return frozenset(fold(f"{MONTHS_AND_DAYS} {NUMBER_WORDS}").split())


def is_number(word: str) -> bool:
    """Return whether a word is a number, a date, a time, a month, or a day of the week."""
    return word[0].isdigit() or word in _date_words()


def stem(word: str) -> str:
    """Return the beginning of a word: its inflections mostly share it."""
    if word[0].isdigit() or len(word) <= _STEM_CHARACTERS:
        return word[:-1] if len(word) == _STEM_CHARACTERS and word[-1] == "s" else word
    return word[:_STEM_CHARACTERS]


def content_stems(words: list[str] | tuple[str, ...]) -> list[str]:
    """Return the stems of the words that carry content, in order; of scripts without spaces, pairs of characters."""
    skipped = function_words()
    stems: list[str] = []
    before = ""
    for word in words:
        if is_unspaced(word):
            if before and before not in skipped and word not in skipped:
                stems.append(before + word)
            before = word
            continue
        before = ""
        if word not in skipped:
            stems.append(stem(word))
    return stems
