"""Finds hits that are newer and about the same thing as others, by their words and dates alone.

No rule says that they replace each other, but if only one of them is shown, the newer is the better choice.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..formats.timestamps import sort_key
from ..formats.transcripts import ASSISTANT_STARTS, USER_STARTS
from ..index.tokenizer import tokenize_query
from ..model import Hit

_CLOSE_SCORE = 0.25  # the largest difference between two hits that may both be meant
_MIN_SHARED_WORDS = 2
_MIN_SHARED_SHARE = 1 / 3  # of the words of the shorter one
_NEXT_TURNS = 2  # what the user says after an answer, and the answer to that
_MOST_SHARE = 1 / 2  # of these words, if a note has what was said


class Topics:
    """The hits of a query with their dates and topics."""

    def __init__(self, query: str, hits: Sequence[Hit], dates: Sequence[str]) -> None:
        self.hits = hits
        self._moments = [sort_key(at) for at in dates]
        forms = (word.forms for word in tokenize_query(query) if not word.is_function_word)
        self._asked = frozenset(form for word in forms for form in word)
        self._words = [_find_words(hit, self._asked) for hit in hits]

    def rank_newer_first(self) -> list[int]:
        """Return the numbers of the hits in their order, but those that are close to an older one on the same before
        it: where not all have room, the newer must not be the one that has none."""
        ranked: list[int] = []
        for number in range(len(self.hits)):
            close = (place for place, other in enumerate(ranked) if self._is_close(number, other))
            ranked.insert(next(close, len(ranked)), number)
        return ranked

    def _is_close(self, number: int, other: int) -> bool:
        gap = self.hits[other].score - self.hits[number].score
        return gap <= _CLOSE_SCORE and self.is_newer(number, other)

    def is_newest(self, number: int, others: Sequence[int]) -> bool:
        """Return whether a hit is newer than one of others on the same, and none of them is newer than it."""
        is_newer = any(self.is_newer(number, other) for other in others)
        return is_newer and not any(self.is_newer(other, number) for other in others)

    def is_newer(self, number: int, other: int) -> bool:
        """Return whether a hit is newer than another one and about the same: it has all that is asked and that the
        other one has, and more of its words. What is said later in one conversation need not name everything again."""
        if self._moments[number] <= self._moments[other]:
            return False
        words = self._words[number]
        shared = words & self._words[other]
        shorter = min(len(words), len(self._words[other]))
        asked = self._words[other] & self._asked
        if are_of_one_conversation(self.hits[number], self.hits[other]):
            is_next = self.hits[number].end <= self.hits[other].end + _NEXT_TURNS
            return bool(shared & asked) and (is_next or len(shared) >= shorter * _MIN_SHARED_SHARE)
        has_asked = bool(shared & asked) and asked <= words
        return has_asked and len(shared) >= max(_MIN_SHARED_WORDS, shorter * _MIN_SHARED_SHARE)


def are_of_one_conversation(hit: Hit, other: Hit) -> bool:
    return hit.source == other.source == "session" and hit.path == other.path


def is_written_down(said: Hit, note: Hit) -> bool:
    """Return whether a note has what was said on the same day: most words of the shorter one of both."""
    if said.source != "session" or note.source == "session" or not said.at or said.at[:10] != note.at[:10]:
        return False
    words = _find_words(said)
    noted = _find_words(note)
    shared = len(words & noted)
    return shared >= _MIN_SHARED_WORDS and shared >= _MOST_SHARE * min(len(words), len(noted))


def _find_words(hit: Hit, asked: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the words of a hit that say what it is about: no headings, and no numbers, which are what changes; of the
    lines that have a word of the query, where there are any."""
    every_line = [line for line in hit.text.split("\n") if not line.startswith("#")]
    if hit.source == "session":
        every_line = [_strip_role(line) for line in every_line]
    lines = [_split_line(line) for line in every_line]
    relevant = [words for words in lines if not words.isdisjoint(asked)] or lines
    return frozenset(word for words in relevant for word in words)


def _strip_role(line: str) -> str:
    start = next((start for start in (*USER_STARTS, *ASSISTANT_STARTS) if line.startswith(start)), "")
    return line.removeprefix(start)


def _split_line(line: str) -> frozenset[str]:
    words = (word for word in tokenize_query(line) if not word.is_function_word)
    return frozenset(form for word in words for form in word.forms if not form.isdigit())
