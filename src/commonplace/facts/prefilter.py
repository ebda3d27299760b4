"""Rejects most pairs of statements before `versions.judge` reads them closely.

It finds a link only between statements that begin or end alike, that both have a label, or of which one is a task, or
says that something changed. In articles and in conversations, hardly any two are. A sketch is a statement as a few
numbers, stored with the index, by which a pair is rejected without its text (`may_be_linked`); `may_be_versions` then
looks at the texts.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import NamedTuple

from .changes import may_say_change, says_change
from .completions import completes, drops, may_be_done
from .frames import normalize_words
from .relations import FIRST_PERSON
from .retractions import read_given_up
from .statements import Statement, read_main_clauses
from .states import compare_states, find_ended, is_about, read_states
from .words import is_unspaced

_MAX_OLDER_WORDS = 12  # of a replaced note: nearly all have half as many
_MAX_NEWER_WORDS = 16
_CHARACTERS_PER_WORD = 2  # of scripts without spaces
_SPEAKER = 1
_LABEL = 2
_LONG_IF_OLDER = 4
_LONG_IF_NEWER = 8
_TASK = 16
_TAKES_BACK = 32
_CHANGES_STATE = 64


class Sketch(NamedTuple):
    """Hashes of the beginning and end of a statement, and its properties as bits."""

    start: int
    end: int
    bits: int


def make_sketch(statement: Statement) -> Sketch:
    """Return the numbers of a statement."""
    words = normalize_words(statement.words)
    text = statement.text
    length = _count_words(statement)
    bits = (
        _SPEAKER * bool(statement.speaker)
        | _LABEL * bool(statement.label)
        | _LONG_IF_OLDER * (length > _MAX_OLDER_WORDS)
        | _LONG_IF_NEWER * (length > _MAX_NEWER_WORDS)
        | _TASK * may_be_done(text, statement.box)
        | _TAKES_BACK * bool(statement.taken_back)
        | _CHANGES_STATE * bool(statement.speaker and (read_states(text) or find_ended(text)))
    )
    return Sketch(hash_stem("\0".join(words[:1])), hash_stem("\0".join(words[-2:])), bits)


def may_be_linked(older: Sketch, newer: Sketch) -> bool:
    """Return whether `versions.judge` may find a link between two statements."""
    old = older.bits
    new = newer.bits
    if older.start == newer.start or older.end == newer.end or old & new & _LABEL or old & _TASK:
        return True
    if (old | new) & _SPEAKER:
        return bool(new & (_TAKES_BACK | _CHANGES_STATE))
    return not (old & _LONG_IF_OLDER or new & _LONG_IF_NEWER)


class OlderSketches:
    """The sketches of several older statements, to reject at once a statement that none of them may be linked with."""

    def __init__(self, sketches: Iterable[Sketch]) -> None:
        every = list(sketches)
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


def _count_words(statement: Statement) -> int:
    """Return the number of content words; for a script without spaces, an estimate."""
    is_spaced = statement.text.isascii() or not any(map(is_unspaced, statement.words))
    return len(statement.stems) if is_spaced else len(statement.words) // _CHARACTERS_PER_WORD


def hash_stems(stems: Iterable[str]) -> list[int]:
    """Return a number for each different stem."""
    return [*map(hash_stem, dict.fromkeys(stems))]


def hash_stem(stem: str) -> int:
    return zlib.crc32(stem.encode(errors="surrogatepass"))


def may_be_versions(older: Statement, newer: Statement) -> bool:
    """Return whether a closer look may find a link: most pairs have nothing that any rule needs."""
    if completes_task(older, newer):
        return True
    is_same = is_same_speaker(older, newer)
    return is_same and (drops(older.text, older.box, newer.text) or may_fit_rule(older, newer))


def is_same_speaker(older: Statement, newer: Statement) -> bool:
    """Return whether `I` means the same person in both."""
    if older.speaker == newer.speaker:
        return True
    return FIRST_PERSON.isdisjoint(older.words) and FIRST_PERSON.isdisjoint(newer.words)


def may_fit_rule(older: Statement, newer: Statement) -> bool:
    """Return whether a closer look may find a link other than that a task is done or dropped."""
    old = normalize_words(older.words)
    new = normalize_words(newer.words)
    if old[:1] == new[:1] or old[-2:] == new[-2:] or newer.taken_back or (older.label and newer.label):
        return True
    if any(old[:1] == normalize_words(clause.words)[:1] for clause in read_main_clauses(newer)):
        return True
    if older.speaker or newer.speaker:  # without a frame, only states can link them
        may_change = may_say_change(newer)
    elif is_prose(older, newer):
        return False
    else:
        may_change = "open" in older.cues or may_say_change(newer)
        may_change = (
            may_change
            or says_change(newer)
            or bool(read_given_up(newer.text))
            or len(set(older.stems).intersection(newer.stems)) > 1
        )
    if may_change or is_about(older.words, find_ended(newer.text)):
        return True
    return compare_states(older.text, newer.text, says_change=False) is not None


def completes_task(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement says that the task of the older one is done."""
    is_of_others = older.speaker and newer.speaker and older.speaker != newer.speaker
    return not is_of_others and completes(older.text, older.box, newer.text, newer.box)


def is_prose(older: Statement, newer: Statement) -> bool:
    """Return whether one of two statements is as long as a sentence of an article, which shares words by chance."""
    return _count_words(older) > _MAX_OLDER_WORDS or _count_words(newer) > _MAX_NEWER_WORDS
