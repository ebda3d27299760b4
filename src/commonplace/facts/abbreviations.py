"""Full stops that do not end a sentence: after `Dr.`, `Hauptstr.`, `z. B.`, `Avda.`, `ул.` and other abbreviations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..patterns import lazy_pattern
from .words import fold, word_set

_TITLES = word_set("sentences", "TITLES")
_ABBREVIATIONS = word_set("sentences", "ABBREVIATIONS")
_BEFORE_NUMBER = word_set("sentences", "BEFORE_NUMBER")
_MAX_ENDING_CHARACTERS = 60  # of each part, so that a text of many abbreviations stays cheap
_STREET = "str"  # at the end of a word: `Hauptstr. 5`
_LAST_WORD = lazy_pattern(r"([^\s(\"]+)\.$")
_ORDINAL = lazy_pattern(
    r"(?:^|\s)(?:die|der|das|dem|den|im|zum|zur|vom|ins|beim|ab|bis|seit) \d{1,2}\.$", re.IGNORECASE
)
_SPACED_LETTERS = lazy_pattern(r"(?:^|\s)(?:z|d|u|i|s|p|o|т)\.$")  # `z. B.`, `d. h.`, `p. ej.`


def split_at_ends(text: str, ends: re.Pattern[str]) -> Iterator[str]:
    """Split a text at the ends of sentences, but not after an abbreviation."""
    start = 0
    for end in ends.finditer(text):
        before = text[max(start, end.start() - _MAX_ENDING_CHARACTERS) : end.start()]
        if not _is_abbreviation(before, text[end.end() : end.end() + 1]):
            yield text[start : end.start()]
            start = end.end()
    yield text[start:]


def _is_abbreviation(before: str, after: str) -> bool:
    """Return whether the full stop at the end of a text belongs to its last word, by that and by what comes after."""
    match = _LAST_WORD.search(before)
    if not match:
        return False
    word = fold(match[1])
    if (word in _TITLES and match[1][0].isupper()) or word in _ABBREVIATIONS or _SPACED_LETTERS.search(before):
        return True
    if after.isdigit():
        return word in _BEFORE_NUMBER or word.endswith(_STREET)
    return after.isupper() and _ORDINAL.search(before) is not None
