"""The tokenizer: splits text into the words that are indexed and looked up, and finds words of a query in a text.

Words are case-folded and lightly stemmed; scripts without spaces are split into single characters and pairs of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

# Scripts written without spaces, and Korean, whose particles are attached to words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3130-\u318f"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_COMBINING_MARKS = "\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff\u0f00-\u0fff"
_ASCII_WORD = re.compile("[a-z0-9]+")  # for folded text in ASCII, as most is
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b")
_MAX_MARKS = 200  # of one text

Span = tuple[int, int]


def tokenize(text: str) -> list[str]:
    """Return the words of a text as they are indexed: single characters and pairs where a script has no spaces."""
    words: list[str] = []
    for run, unspaced in split_runs(text):
        words += [*run, *_pairs(run)] if unspaced else [stem(run)]
    return words


def tokenize_query(text: str) -> list[str]:
    """Return the words of a query, each once: of a script without spaces only the pairs, which are more specific."""
    words: dict[str, None] = {}
    for run, unspaced in split_runs(text):
        words.update(dict.fromkeys((_pairs(run) or [run]) if unspaced else [stem(run)]))
    return list(words)


def split_runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the runs of characters that are words, and whether each is of a script without spaces."""
    folded = fold(_POSSESSIVE.sub("", text))
    if folded.isascii():
        yield from ((word, False) for word in _ASCII_WORD.findall(folded))
        return
    for match in _token_pattern().finditer(folded):
        yield match[0], match.lastgroup == "unspaced"


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compile the pattern when the first text needs it: that takes longer than many a command."""
    return re.compile(
        rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])[^\W_]|[{_COMBINING_MARKS}])+)|"
        rf"(?P<symbol>[\u2600-\u27bf\U0001f300-\U0001faff])"
    )


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def _is_unspaced(char: str) -> bool:
    """Return whether a character is of a script without spaces."""
    return not char.isascii() and _unspaced_pattern().match(char) is not None


def fold(text: str) -> str:
    """Remove differences of case, width and accents, so that words match however they are written."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", plain)))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Remove the most common English endings of a word, in passages and in queries; other words stay as they are."""
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


def find_highlights(text: str, query: str) -> list[Span]:
    """Return where words of a query are in a text, as character offsets. Adjacent and overlapping spans are merged."""
    words = tokenize_query(query)
    content_words = frozenset(word for word in words if word not in FUNCTION_WORDS) or frozenset(words)
    marks: list[Span] = []
    for start, end in _find_words(text, content_words):
        if marks and start <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        elif len(marks) < _MAX_MARKS:
            marks.append((start, end))
    return marks


def to_utf16(text: str, spans: list[Span]) -> list[Span]:
    """Return spans in UTF-16 code units, as browsers count: a character beyond U+FFFF is two."""
    if text.isascii() or not any(char > "\uffff" for char in text):
        return spans
    offsets = [0]
    for char in text:
        offsets.append(offsets[-1] + (2 if char > "\uffff" else 1))
    return [(offsets[start], offsets[end]) for start, end in spans]


def _find_words(text: str, words: frozenset[str]) -> Iterator[Span]:
    for run in _highlight_pattern().finditer(text):
        start = run.start()
        if not _is_unspaced(run[0][0]):
            if stem(fold(run[0])) in words:
                yield start, run.end()
            continue
        folded = [fold(char) for char in run[0]]
        for offset, char in enumerate(folded):
            if char in words:
                yield start + offset, start + offset + 1
            if offset + 1 < len(folded) and char + folded[offset + 1] in words:
                yield start + offset, start + offset + 2


@cache
def _highlight_pattern() -> re.Pattern[str]:
    """Compile the pattern of what is marked: a run of a script without spaces, a word with its accents, or a symbol."""
    word = rf"(?:(?![{_UNSPACED}])[^\W_]|[{_COMBINING_MARKS}\u0300-\u036f])+"
    return re.compile(rf"[{_UNSPACED}]+|{word}|[\u2600-\u27bf\U0001f300-\U0001faff]")
