"""Frames: two statements that begin and end alike and differ in one span, the value.

Only where the relation has one value at a time (`relations.py`) is the newer value a version of the older one: two
things that somebody likes are two facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..caching import cache_within
from .links import Link
from .relations import FIRST_PERSON, MANY_VALUED_NOUNS, ROLES, STATES, find_relation, is_form_of_be
from .statements import Statement
from .words import PREPOSITIONS, content_stems, has_capitals, is_amount, is_capitalised_within, is_number, word_set

_FAVOURITES = word_set("values", "FAVOURITES")
_MANY_VALUED = word_set("values", "MANY_VALUED")
_OWNING_VERBS = word_set("values", "OWNING_VERBS")
_SINGLE_VALUED = word_set("values", "SINGLE_VALUED")
_UNIQUE_ROLES = word_set("values", "UNIQUE_ROLES")
_MAX_VALUE_WORDS = 9
_MAX_NAME_WORDS = 6
_MIN_ROLE_WORDS = 2  # of what two statements end with, if they begin with two names
_DROPPED = word_set("frames", "DROPPED")
_PAST_BE = frozenset(("was", "were"))
_LASTING = word_set("frames", "LASTING")
_MODALS = word_set("frames", "MODALS")
_CLAUSE_STARTS = word_set("frames", "CLAUSE_STARTS")
_PARTICIPLES = word_set("frames", "PARTICIPLES")


class Frame(NamedTuple):
    """Two aligned statements: their shared beginning, their shared end, and the values in between."""

    prefix: list[str]
    suffix: list[str]
    older: list[str]
    newer: list[str]


def judge_frame(frame: Frame, older: Statement, newer: Statement) -> Link | None:
    """Return a link if two aligned statements give one thing different values."""
    if not frame.older or not frame.newer or not (frame.prefix or len(frame.suffix) >= _MIN_ROLE_WORDS):
        return None
    if older.speaker and not (_MODALS.isdisjoint(frame.prefix) and _is_value(frame.older) and _is_value(frame.newer)):
        return None
    frame = _extend_names(frame, older.text, newer.text)
    if max(len(frame.older), len(frame.newer)) > _MAX_VALUE_WORDS or differs_in_subject(frame):
        return None
    is_version = _has_one_value(frame, older, newer) if frame.prefix else _is_unique_role(frame, older, newer)
    if not is_version:
        return None
    shown = " ".join([*frame.prefix, "…", *frame.suffix])
    return Link("frame", f"says the same with another value: {shown}", shown)


def differs_in_subject(frame: Frame) -> bool:
    """Return whether two statements are about different things: `bug 12 is fixed` and `bug 13 is fixed`."""
    if not frame.prefix or not frame.suffix:
        return False
    relation = find_relation((*frame.prefix, *frame.older, *frame.suffix))
    return relation is not None and relation.at > len(frame.prefix)


def _is_value(words: list[str]) -> bool:
    """Return whether words may be a value: they do not begin another clause, as in `…, and I live in Berlin`."""
    return words[0] not in _CLAUSE_STARTS and FIRST_PERSON.isdisjoint(words)


def align(older: Sequence[str], newer: Sequence[str]) -> Frame:
    """Return both statements aligned, without words that do not affect the meaning."""
    old = normalize_words(tuple(older))
    new = normalize_words(tuple(newer))
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    prefix = list(old[:start])
    suffix = list(old[len(old) - end :])
    return Frame(prefix, suffix, list(old[start : len(old) - end]), list(new[start : len(new) - end]))


def _extend_names(frame: Frame, older: str, newer: str) -> Frame:
    """Extend the values of a frame to whole names and numbers: `United Kingdom` and `United States` share their first
    word."""
    at = len(frame.prefix)
    while at > 1 and _is_part_of_value(frame.prefix[at - 1], older) and _is_part_of_value(frame.prefix[at - 1], newer):
        at -= 1
    if find_relation(tuple(frame.prefix[:at])) is None:
        return frame
    shared = frame.prefix[at:]
    return Frame(frame.prefix[:at], frame.suffix, shared + frame.older, shared + frame.newer)


def _is_part_of_value(word: str, text: str) -> bool:
    return is_number(word) or is_capitalised_within(word, text)


@cache_within(4_000_000)
def normalize_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a statement as they are aligned."""
    pairs = zip(("", *words), words, strict=False)
    plain = ["is" if is_form_of_be(word, before) else word for before, word in pairs if word not in _DROPPED]
    for at in range(len(plain) - 1):
        if plain[at] == "will" and plain[at + 1] == "be":
            return (*plain[:at], "is", *plain[at + 2 :])
    return tuple(plain)


def _has_one_value(frame: Frame, older: Statement, newer: Statement) -> bool:
    """Return whether the shared beginning can have only one value at a time."""
    relation = find_relation(tuple(frame.prefix))
    if relation is None:
        return False
    tail = frame.prefix[relation.at + 1 :]
    verb = frame.prefix[relation.at]
    if not _MANY_VALUED.isdisjoint((verb, *tail)):
        return False
    values = (frame.older, frame.newer)
    if relation.kind == "be" and _is_amount(frame.older, older) != _is_amount(frame.newer, newer):
        return False  # `in May`, `in Porto`
    has_preposition = bool(tail) and tail[-1] in PREPOSITIONS
    are_states = _are_states(values)
    if (any(value[0] in PREPOSITIONS for value in values) and not are_states) or "not" in (*frame.older, *frame.newer):
        return False
    if relation.kind in ("home", "work", "go", "play", "speak", "mean", "fate", "belong"):
        return has_preposition and (tail[0] in PREPOSITIONS or not older.speaker or len(tail) == 3)
    if relation.kind == "prefer":  # `dark mode`, `light mode`; but one may prefer tabs, and mornings for meetings
        return "now" in newer.words or bool(content_stems(frame.suffix))
    if relation.kind == "reach":
        return bool(tail) and tail[0] in PREPOSITIONS and not older.speaker
    if relation.kind == "be":
        return _is_one_predicate(frame, relation.subject, verb, tail, older, newer)
    if relation.kind == "use":
        return bool(content_stems(frame.suffix)) or "now" in newer.words
    if older.speaker and (relation.kind == "have" or not _has_owner(frame.prefix, older.text)):
        return False
    if older.speaker and frame.prefix[relation.at - 1] in FIRST_PERSON:
        return False
    return all(any(map(is_number, value)) for value in values) and len(content_stems(frame.prefix)) >= 2


def _is_amount(value: list[str], statement: Statement) -> bool:
    """Return whether a value is a number or a date: not a name with a number, like `Francis, 4th Earl`."""
    return any(map(is_amount, value)) and (is_amount(value[0]) or not _starts_with_capital(value, statement.text))


def _is_one_predicate(
    frame: Frame, subject: tuple[str, ...], verb: str, tail: list[str], older: Statement, newer: Statement
) -> bool:
    """Return whether `subject is …` has one value: a role, a number, a name, or what follows a preposition."""
    if verb in _PAST_BE and not (tail and (tail[0].endswith(("ed", "en")) or tail[0] in _PARTICIPLES)):
        return False
    values = (frame.older, frame.newer)
    head = frame.prefix[len(frame.prefix) - len(tail) - 2]
    if head in FIRST_PERSON:  # `I am …`
        return len(tail) > 1 and tail[-1] in PREPOSITIONS and tail[-2] in _LASTING
    is_typed = _have_same_type(frame, older, newer)
    if head in MANY_VALUED_NOUNS and "of" not in frame.prefix:  # not `the author of Our Mutual Friend`
        return False
    if len(tail) > 1 and tail[-1] in PREPOSITIONS and not _is_single_valued(tail):
        return False
    if tail and tail[-1] in PREPOSITIONS:
        return not older.speaker or (len(tail) > 1 and tail[-1] != "to" and verb != "will") or is_typed
    if older.speaker and not _has_owner(frame.prefix, older.text):
        return False
    if is_typed or (_are_states(values) and not older.speaker):
        return True
    if tail and not set(tail) <= _DROPPED:
        return False
    roles = _FAVOURITES if older.speaker else ROLES
    return any(word in roles for word in (*subject, *frame.prefix))


def _are_states(values: tuple[list[str], list[str]]) -> bool:
    """Return whether the values begin with two different states: `on`, `blocked by the audit`."""
    older, newer = values
    are_states = older[0] in STATES and newer[0] in STATES and older[0] != newer[0]
    return are_states and not any(value[0] in PREPOSITIONS and len(value) > 1 for value in values)


def _is_single_valued(tail: list[str]) -> bool:
    """Return whether what follows `is` has one value: `located in`, `the capital of`; not `allergic to`."""
    return any(word in _SINGLE_VALUED or word in ROLES for word in tail)


def _have_same_type(frame: Frame, older: Statement, newer: Statement) -> bool:
    """Return whether both values are names, or addresses and files, or both have a number."""
    if _starts_with_capital(frame.older, older.text) and _starts_with_capital(frame.newer, newer.text):
        return True
    if _is_address(frame.older) and _is_address(frame.newer):
        return True
    numbers = [set(filter(is_number, value)) for value in (frame.older, frame.newer)]
    return all(numbers) and numbers[0] != numbers[1]


def _has_owner(prefix: list[str], text: str) -> bool:
    """Return whether a subject says whose it is, or has a name."""
    return not FIRST_PERSON.isdisjoint(prefix) or any(has_capitals(word, text) for word in prefix[1:-1])


def _is_unique_role(frame: Frame, older: Statement, newer: Statement) -> bool:
    """Return whether the statements give one role to two people, and only one can have it at a time."""
    if len(frame.suffix) < _MIN_ROLE_WORDS or len(content_stems(frame.suffix)) < 2:
        return False
    if frame.suffix[0] == "is":
        has_role = not _UNIQUE_ROLES.isdisjoint(frame.suffix[1:3])
    else:
        has_role = frame.suffix[0] in _OWNING_VERBS
    return has_role and _starts_with_capital(frame.older, older.text) and _starts_with_capital(frame.newer, newer.text)


def _is_address(value: list[str]) -> bool:
    """Return whether a value is one word such as a host, a file or an address."""
    return len(value) == 1 and any(mark in value[0] for mark in "._@/")


def _starts_with_capital(words: list[str], text: str) -> bool:
    """Return whether words may be a name in a text: they are few, and the first has a capital letter there."""
    return len(words) <= _MAX_NAME_WORDS and has_capitals(words[0], text)
