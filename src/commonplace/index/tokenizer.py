"""Tokenizer: text as the words that are indexed and looked up, folded, lightly stemmed, and cut into character pairs
where a script has no spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

# Scripts written without spaces (and Korean, whose particles hide word ends) are found by single characters and pairs.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3130-\u318f"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
MARKS = "\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff\u0f00-\u0fff"
_ASCII = re.compile("[a-z0-9]+")  # the words of folded text that is in ASCII, as most is
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b")


def tokenize(text: str) -> list[str]:
    """The words of a text in order, as they are indexed: single characters and pairs where a script has no spaces."""
    out: list[str] = []
    for run, unspaced in _runs(text):
        out += [*run, *_pairs(run)] if unspaced else [stem(run)]
    return out


def tokenize_query(text: str) -> list[str]:
    """The words of a question, each once. Pairs say more than the single characters in them, which are left out."""
    found: dict[str, None] = {}
    for run, unspaced in _runs(text):
        found.update(dict.fromkeys((_pairs(run) or [run]) if unspaced else [stem(run)]))
    return list(found)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """The stretches of a text that are words, and whether their script has no spaces."""
    folded = fold(_POSSESSIVE.sub("", text))
    if folded.isascii():
        yield from ((word, False) for word in _ASCII.findall(folded))
        return
    for found in _token().finditer(folded):
        yield found[0], found.lastgroup == "unspaced"


@cache
def _token() -> re.Pattern[str]:
    """Made when the first text needs it: it takes longer than many a command."""
    return re.compile(
        rf"(?P<unspaced>[{UNSPACED}]+)|(?P<word>(?:(?![{UNSPACED}])[^\W_]|[{MARKS}])+)|"
        rf"(?P<symbol>[\u2600-\u27bf\U0001f300-\U0001faff])"
    )


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


def is_unspaced(char: str) -> bool:
    """Whether a character is of a script without spaces."""
    return not char.isascii() and _unspaced_pattern().match(char) is not None


def fold(text: str) -> str:
    """Text without case, width and accents, so that what looks alike is alike."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", plain)))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """An English word without its commonest endings; other words stay. Both sides of a search do the same."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and re.search("[aeiouy]", word[: -len(ending)]):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_FUNCTION_WORDS = """
a about am an and any are as at be been but by can could did do does doing for from had has have having he her hers
him his how i if in into is it its just me my of on or our ours she should so some than that the their theirs them then
there these they this those to too us was we were what when where which while who whom whose why will with would you
your yours
"""
FUNCTION_WORDS = frozenset(map(stem, _FUNCTION_WORDS.split()))
