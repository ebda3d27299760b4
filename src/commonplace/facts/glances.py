"""Glances: a statement as a few numbers, by which most pairs are rejected without reading their texts.

`versions.judge` finds a link only between statements that begin or end alike, that both have a label, or of which one
is a task, or says that something changed. In articles and in conversations, hardly any two are.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import NamedTuple

from .completions import may_be_done
from .frames import normalize_words
from .statements import Statement
from .states import find_ended, read_states
from .words import is_unspaced

MAX_OLDER_WORDS = 12  # of a replaced note: nearly all have half as many
MAX_NEWER_WORDS = 16
_CHARACTERS_PER_WORD = 2  # of scripts without spaces
_SPEAKER = 1
_LABEL = 2
_LONG_IF_OLDER = 4
_LONG_IF_NEWER = 8
_TASK = 16
_TAKES_BACK = 32
_CHANGES_STATE = 64


class Glance(NamedTuple):
    """Hashes of the beginning and end of a statement, and its properties as bits."""

    start: int
    end: int
    bits: int


def take_glance(statement: Statement) -> Glance:
    """Return the numbers of a statement."""
    words = normalize_words(statement.words)
    text = statement.text
    length = count_words(statement)
    bits = (
        _SPEAKER * bool(statement.speaker)
        | _LABEL * bool(statement.label)
        | _LONG_IF_OLDER * (length > MAX_OLDER_WORDS)
        | _LONG_IF_NEWER * (length > MAX_NEWER_WORDS)
        | _TASK * may_be_done(text, statement.box)
        | _TAKES_BACK * bool(statement.taken_back)
        | _CHANGES_STATE * bool(statement.speaker and (read_states(text) or find_ended(text)))
    )
    return Glance(hash_stem("\0".join(words[:1])), hash_stem("\0".join(words[-2:])), bits)


def may_be_linked(older: Glance, newer: Glance) -> bool:
    """Return whether `versions.judge` may find a link between two statements."""
    old = older.bits
    new = newer.bits
    if older.start == newer.start or older.end == newer.end or old & new & _LABEL or old & _TASK:
        return True
    if (old | new) & _SPEAKER:
        return bool(new & (_TAKES_BACK | _CHANGES_STATE))
    return not (old & _LONG_IF_OLDER or new & _LONG_IF_NEWER)


class OlderGlances:
    """The glances of several older statements, to reject at once a statement that none of them may be linked with."""

    def __init__(self, glances: Iterable[Glance]) -> None:
        every = list(glances)
        self._starts = frozenset(each.start for each in every)
        self._ends = frozenset(each.end for each in every)
        self._has_task = any(each.bits & _TASK for each in every)
        self._has_label = any(each.bits & _LABEL for each in every)
        self._has_short = any(not each.bits & (_SPEAKER | _LONG_IF_OLDER) for each in every)

    def may_be_linked(self, start: int, end: int, bits: int) -> bool:
        """Return whether any of them may be linked with a newer statement, given its numbers."""
        return (
            start in self._starts
            or end in self._ends
            or self._has_task
            or (self._has_label and bool(bits & _LABEL))
            or bool(bits & (_TAKES_BACK | _CHANGES_STATE))
            or (self._has_short and not bits & (_SPEAKER | _LONG_IF_NEWER))
        )


def count_words(statement: Statement) -> int:
    """Return the number of content words; for a script without spaces, an estimate."""
    is_spaced = statement.text.isascii() or not any(map(is_unspaced, statement.words))
    return len(statement.stems) if is_spaced else len(statement.words) // _CHARACTERS_PER_WORD


def hash_stems(stems: Iterable[str]) -> list[int]:
    """Return a number for each different stem."""
    return [*map(hash_stem, dict.fromkeys(stems))]


def hash_stem(stem: str) -> int:
    return zlib.crc32(stem.encode(errors="surrogatepass"))
