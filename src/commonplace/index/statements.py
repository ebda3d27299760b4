"""The statements of a passage as the index stores them, so that a search reads them without parsing text.

Packed numbers are unsigned, of 32 bits, little-endian: how many statements there are; for each, how many keys it is
stored under, by how many it is looked up, and how many stems it has; then these keys and hashes of the stems, statement
by statement; then the sketch of each (`facts/sketches.py`). The statements are lines of JSON, so that one can be read
without the others.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Set
from itertools import accumulate, chain
from typing import Any, NamedTuple

from ..caching import cache_within
from ..facts.prefilter import Sketch, hash_stems, make_sketch
from ..facts.relations import Relation
from ..facts.statements import Statement, lookup_keys, split_statements, stored_keys
from ..formats.blocks import ANSWER_START
from .terms import swap_if_needed

_NUMBERS_OF_SKETCH = len(Sketch._fields)
_GROUPS = 3  # per statement: the keys it is stored under, the keys it is looked up by, and its stems


class StoredStatements(NamedTuple):
    """The statements of a passage, and their numbers. `starts`: where among the numbers each group begins. `lines`: the
    statements as JSON."""

    numbers: array[int]
    starts: array[int]
    lines: list[str]

    @property
    def places(self) -> range:
        return range(len(self.starts) // _GROUPS)

    def list_stored_keys(self, place: int) -> array[int]:
        """Return the keys under which a statement is stored."""
        return self._group(_GROUPS * place)

    def find_places(self, keys: Set[int]) -> list[tuple[int, list[int]]]:
        """Return the statements that are stored under any of these keys, each with those of the keys that it has."""
        numbers = self.numbers
        found: list[tuple[int, list[int]]] = []
        for place, (start, end) in enumerate(zip(self.starts[::_GROUPS], self.starts[1::_GROUPS], strict=False)):
            stored = numbers[start:end]
            if not keys.isdisjoint(stored):
                found.append((place, [key for key in stored if key in keys]))
        return found

    def list_lookup_keys(self, place: int) -> array[int]:
        """Return the keys under which newer versions of a statement are stored."""
        return self._group(_GROUPS * place + 1)

    def list_stems(self, place: int) -> array[int]:
        return self._group(_GROUPS * place + 2)

    def _group(self, group: int) -> array[int]:
        return self.numbers[self.starts[group] : self.starts[group + 1]]

    def read_sketch(self, place: int) -> Sketch:
        first = self.starts[-1] + _NUMBERS_OF_SKETCH * place
        return Sketch._make(self.numbers[first : first + _NUMBERS_OF_SKETCH])


class StoredStatement(NamedTuple):
    """One of the stored statements of a passage, which is not read yet."""

    passage: StoredStatements
    place: int

    def read(self) -> Statement:
        return read_stored(self.passage, self.place)

    def read_sketch(self) -> Sketch:
        return self.passage.read_sketch(self.place)

    def list_stems(self) -> array[int]:
        """Return the hashes of its stems."""
        return self.passage.list_stems(self.place)


class PassageFacts(NamedTuple):
    """What an index stores of the facts of a passage: the keys by which it is found, and its statements. `stored` is
    None if statements have to be read in the text: a person answered there."""

    keys: list[int]
    stored: tuple[bytes, str] | None


def read_facts(text: str, *, is_turn: bool = False) -> PassageFacts:
    """Return what is stored of a passage."""
    statements = split_statements(text, is_turn=is_turn)
    by_statement = [list(dict.fromkeys(stored_keys(each))) for each in statements]
    keys = list(dict.fromkeys(key for some in by_statement for key in some))
    if ANSWER_START in text or not all(map(_can_be_packed, statements)):
        return PassageFacts(keys, None)
    groups: list[list[int]] = []
    for statement, stored in zip(statements, by_statement, strict=True):
        groups += (stored, list(lookup_keys(statement)), hash_stems(statement.stems))
    sketches = chain.from_iterable(map(make_sketch, statements))
    numbers = array("I", [len(statements), *map(len, groups), *chain.from_iterable(groups), *sketches])
    parsed = "\n".join(json.dumps(_pack(each), ensure_ascii=False, separators=(",", ":")) for each in statements)
    return PassageFacts(keys, (swap_if_needed(numbers).tobytes(), parsed))


def choose_stored(stored: StoredStatements, stems: frozenset[int]) -> list[int]:
    """Return the indexes of the statements with the most stems of a query, given as hashes."""
    counts = [len(stems.intersection(stored.list_stems(place))) for place in stored.places]
    best = max(counts, default=0)
    return [place for place, count in enumerate(counts) if count == best]


def read_stored(stored: StoredStatements, place: int) -> Statement:
    """Return one of the statements as `split_statements` does. A row that cannot be read is damage like any other."""
    if len(stored.lines) != len(stored.places):
        raise _damage("the numbers of keys and statements differ")
    try:
        return _parse(stored.lines[place])
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise _damage(str(error)) from error


def list_keys(stored: StoredStatements) -> list[int]:
    """Return the keys under which a passage is stored, each once."""
    return list(dict.fromkeys(key for place in stored.places for key in stored.list_stored_keys(place)))


def unpack_statements(keys: object, parsed: object) -> StoredStatements:
    """Return stored statements. Raises ValueError or TypeError for anything else: the index is damaged."""
    if not isinstance(keys, bytes) or not isinstance(parsed, str):
        raise TypeError("the statements of a passage are missing")
    numbers = array("I")
    numbers.frombytes(keys)
    statements = swap_if_needed(numbers)[0] if numbers else 0
    counts = 1 + _GROUPS * statements
    starts = array("I", accumulate(numbers[1:counts], initial=counts))
    if not numbers or starts[-1] + _NUMBERS_OF_SKETCH * statements != len(numbers) or len(starts) != counts:
        raise ValueError("the keys of the statements of a passage are missing")
    return StoredStatements(numbers, starts, parsed.split("\n"))


def _can_be_packed(statement: Statement) -> bool:
    """Return whether joining and splitting words and stems gives them back."""
    return "" not in statement.words and "" not in statement.stems and "" not in statement.taken_back


def _pack(statement: Statement) -> list[Any]:
    relation = statement.relation
    return [
        statement.text,
        statement.first_line,
        statement.last_line,
        " ".join(statement.words),
        " ".join(statement.stems),
        relation and [relation.kind, relation.subject, relation.at],
        statement.label,
        statement.speaker,
        " ".join(statement.taken_back),
        statement.is_question,
        statement.box,
    ]


def _damage(why: str) -> Exception:
    import sqlite3

    return sqlite3.DatabaseError(f"the statements of a passage are malformed ({why})")


@cache_within(2_000_000)
def _parse(line: str) -> Statement:
    """Return a statement; cached, as many queries meet it."""
    text, first, last, words, stems, about, label, speaker, taken_back, is_question, box = json.loads(line)
    return Statement(
        text,
        first,
        last,
        tuple(words.split(" ")),
        tuple(stems.split(" ")) if stems else (),
        Relation(about[0], tuple(about[1]), about[2]) if about else None,
        label,
        speaker,
        tuple(taken_back.split(" ")) if taken_back else (),
        is_question,
        box=box,
    )
