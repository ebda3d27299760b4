"""Where the words of a question stand in a text: by the same rules that find them, so that `teas` marks `Tea`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..index.tokenizer import FUNCTION_WORDS, fold, is_unspaced, stem, tokenize_query

_MAX_MARKS = 200  # of one text
Span = tuple[int, int]


def find_marks(text: str, question: str) -> list[Span]:
    """The stretches of a text, by characters from its start, that hold words of a question; none of them touch."""
    asked = tokenize_query(question)
    telling = frozenset(word for word in asked if word not in FUNCTION_WORDS) or frozenset(asked)
    out: list[Span] = []
    for start, end in _find_words(text, telling):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        elif len(out) < _MAX_MARKS:
            out.append((start, end))
    return out


def to_utf16(text: str, spans: list[Span]) -> list[Span]:
    """The same stretches, counted as browsers count: a character beyond the first 65,536 is two."""
    if text.isascii() or not any(char > "\uffff" for char in text):
        return spans
    before = [0]
    for char in text:
        before.append(before[-1] + (2 if char > "\uffff" else 1))
    return [(before[start], before[end]) for start, end in spans]


def _find_words(text: str, wanted: frozenset[str]) -> Iterator[Span]:
    for run in _run().finditer(text):
        start = run.start()
        if not is_unspaced(run[0][0]):
            if stem(fold(run[0])) in wanted:
                yield start, run.end()
            continue
        folded = [fold(char) for char in run[0]]
        for at, char in enumerate(folded):
            if char in wanted:
                yield start + at, start + at + 1
            if at + 1 < len(folded) and char + folded[at + 1] in wanted:
                yield start + at, start + at + 2


@cache
def _run() -> re.Pattern[str]:
    """Stretches of one kind: of a script without spaces, or of a word with its accents."""
    from ..index.tokenizer import MARKS, UNSPACED

    word = rf"(?:(?![{UNSPACED}])[^\W_]|[{MARKS}\u0300-\u036f])+"
    return re.compile(rf"[{UNSPACED}]+|{word}|[\u2600-\u27bf\U0001f300-\U0001faff]")
