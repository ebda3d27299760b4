"""The statements of a passage as the index stores them, so that a search reads them without parsing text.

Packed keys are unsigned 32-bit numbers, little-endian: how many statements there are; for each, how many keys it is
stored under and by how many it is looked up; then these keys, statement by statement. The statements are JSON.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from ..caching import cache_within
from ..facts.relations import Relation
from ..facts.statements import (
    LookupKeys,
    Statement,
    choose_places,
    lookup_keys,
    split_statements,
    stored_keys,
)
from ..formats.annotations import ANSWER_START

_COUNTS_OF_STATEMENT = 2


class StoredStatements(NamedTuple):
    """The statements of a passage, and their keys. `starts`: where among the numbers each group of keys begins."""

    numbers: array[int]
    starts: list[int]
    parsed: str


class PassageFacts(NamedTuple):
    """What an index stores of the facts of a passage: the keys by which it is found, and its statements. `stored` is
    None where statements have to be read in the text: a person answered there."""

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
        groups += (stored, list(lookup_keys(statement)))
    numbers = array("I", [len(statements), *map(len, groups), *(key for group in groups for key in group)])
    parsed = json.dumps([_pack(each) for each in statements], ensure_ascii=False, separators=(",", ":"))
    return PassageFacts(keys, (_swap_if_needed(numbers).tobytes(), parsed))


def choose_stored(stored: StoredStatements, asked: frozenset[str]) -> Iterator[tuple[Statement, LookupKeys]]:
    """Yield the statements that have most stems of a query, with the keys under which newer versions are stored."""
    numbers, starts, parsed = stored
    statements = _unpack(parsed, len(starts) // _COUNTS_OF_STATEMENT)
    for place in choose_places(statements, asked):
        first, last = starts[_COUNTS_OF_STATEMENT * place + 1 :][:2]
        yield statements[place], dict.fromkeys(numbers[first:last], ())


def find_stored(stored: StoredStatements, keys: frozenset[int]) -> Iterator[tuple[Statement, frozenset[int]]]:
    """Yield the statements that are stored under any of these keys, with those under which each is."""
    numbers, starts, parsed = stored
    if keys.isdisjoint(numbers):
        return
    statements: tuple[Statement, ...] = ()
    for place, first in enumerate(starts[:-1:_COUNTS_OF_STATEMENT]):
        shared = keys.intersection(numbers[first : starts[_COUNTS_OF_STATEMENT * place + 1]])
        if shared:
            statements = statements or _unpack(parsed, len(starts) // _COUNTS_OF_STATEMENT)
            yield statements[place], shared


def list_keys(stored: StoredStatements) -> list[int]:
    """Return the keys under which a passage is stored, each once."""
    numbers, starts, _ = stored
    ranges = zip(starts[:-1:_COUNTS_OF_STATEMENT], starts[1::_COUNTS_OF_STATEMENT], strict=True)
    return list(dict.fromkeys(key for first, last in ranges for key in numbers[first:last]))


def unpack_statements(keys: object, parsed: object) -> StoredStatements:
    """Return stored statements. Raises ValueError or TypeError for anything else: the index is damaged."""
    if not isinstance(keys, bytes) or not isinstance(parsed, str):
        raise TypeError("the statements of a passage are not there")
    numbers = array("I")
    numbers.frombytes(keys)
    counts = 1 + _COUNTS_OF_STATEMENT * _swap_if_needed(numbers)[0] if numbers else 0
    starts = list(accumulate(numbers[1:counts], initial=counts))
    if not numbers or starts[-1] != len(numbers) or len(starts) != counts:
        raise ValueError("the keys of the statements of a passage are not there")
    return StoredStatements(numbers, starts, parsed)


def _can_be_packed(statement: Statement) -> bool:
    """Return whether words and stems are still the same after they were joined and split."""
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


def _unpack(parsed: str, count: int) -> tuple[Statement, ...]:
    """Return statements as `split_statements` does. A row that cannot be read is damage like any other."""
    try:
        statements = _parse(parsed)
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise _damage(str(error)) from error
    if len(statements) != count:
        raise _damage("there are other keys than statements")
    return statements


def _damage(why: str) -> Exception:
    import sqlite3

    return sqlite3.DatabaseError(f"the statements of a passage make no sense ({why})")


@cache_within(4_000_000)
def _parse(parsed: str) -> tuple[Statement, ...]:
    """Return statements; cached, as many queries meet them."""
    statements: list[Statement] = []
    for text, first, last, words, stems, about, label, speaker, taken_back, is_question, box in json.loads(parsed):
        relation = Relation(about[0], tuple(about[1]), about[2]) if about else None
        statements.append(
            Statement(
                text,
                first,
                last,
                tuple(words.split(" ")),
                tuple(stems.split(" ")) if stems else (),
                relation,
                label,
                speaker,
                tuple(taken_back.split(" ")) if taken_back else (),
                is_question,
                box=box,
            )
        )
    return tuple(statements)


def _swap_if_needed(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
