"""Attributes: what a note gives of a subject (its deadline, its room), and notes that give the same another value.

`The deadline for the Aurora grant is 14 March` and `Aurora grant: pushed to 4 April` have no frame in common. Both say
something about the Aurora grant: one gives its deadline, the other names no attribute, and both give a date. A subject
is compared without the nouns that only name an attribute (`deadline`, `room`, `provider`), and these only by what kind
of value they have: two kinds that may not stand for each other are two attributes.

That two notes give one attribute does not make the newer a version of the older: it has to say that something changed,
or to mention the older value beside its own (`Retro is in Danube, Elbe is being painted`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from ..caching import cache_within
from .claims import Claim, read_first_claim, split_clauses
from .cues import has_cue
from .links import Link
from .relations import YOU
from .statements import Statement
from .states import read_states
from .words import (
    PLACE_PREPOSITIONS,
    VAGUE_STARTS,
    content_stems,
    fold,
    has_capitals,
    is_amount,
    is_unspaced,
    read_table,
    split_words,
    stem,
    word_set,
)

_ATTRIBUTES = read_table("attributes", "ATTRIBUTES")
_PARTICLES = word_set("attributes", "PARTICLES")
_ATTRIBUTES_OF_STATES = {
    "name": "name",
    "place": "place",
    "spot": "place",
    "work": "place",
    "lead": "person",
    "tool": "tool",
    "diet": "diet",
}
# Kinds that may stand for each other: a host is a place and a tool, and a deadline is a date.
_ALIKE = (
    frozenset(("place", "tool")),
    frozenset(("date", "deadline")),
    frozenset(("date", "start")),
    frozenset(("date", "end")),
    frozenset(("count", "limit")),
)
_MAX_VALUE_STEMS = 5
_MAX_STEMS = 9  # of a note that gives a value


class AttributeValue(NamedTuple):
    """The value of an attribute that a clause gives. `subject`: what it is about, without nouns of attributes."""

    subject: frozenset[str]
    attributes: frozenset[str]  # its attribute, if a noun or a verb names it
    value: frozenset[str]
    numbers: frozenset[str]
    units: frozenset[str]
    clause: int  # the place of the clause, counted from 0
    is_closed: bool = True
    is_named: bool = True  # the value is a place, a name or a number


def find_new_value(older: Statement, newer: Statement) -> Link | None:
    """Return a link if a note that implies a change gives an attribute of the older one another value."""
    says_change = not newer.cues.isdisjoint(("change", "weak change")) or has_cue(newer.folded, "hint")
    clauses = split_clauses(newer.text)
    if _happened_once(older) or "addition" in newer.cues or _is_talk(older) or _is_talk(newer):
        return None
    if not says_change and len(clauses) == 1:
        return None
    for old, new in product(read_values(older.text), read_values(newer.text)):
        if not old.is_closed or not _may_be_same(old, new) or not _have_one_kind(old, new):
            continue
        is_mentioned = _mentions_elsewhere(old, new, clauses)
        is_changed = (
            says_change
            and (_is_same(old, new) or (new.subject < old.subject and _names_rest(old, new, older, newer)))
            and not has_cue(fold(clauses[new.clause]), "retraction")
        )
        if is_mentioned or is_changed:
            return Link("correction", "gives it another value", " ".join(sorted(old.subject)), has_one_subject=True)
    return None


def _names_rest(old: AttributeValue, new: AttributeValue, older: Statement, newer: Statement) -> bool:
    """Return whether the newer note has all that the older value is about, or its attribute without what goes before
    it: `Ruth's phone number`, `Ruth has a new number`."""
    stems = set(newer.stems)
    if old.subject <= stems:
        return True
    return not old.attributes.isdisjoint(new.attributes) and any(map(is_attribute, stems.intersection(older.stems)))


def _is_talk(statement: Statement) -> bool:
    """Return whether a statement addresses somebody, only points at something, or says much besides."""
    is_short = any(map(is_unspaced, statement.words)) or len(statement.stems) <= _MAX_STEMS
    return not is_short or not YOU.isdisjoint(statement.words) or statement.words[0] in VAGUE_STARTS


def _happened_once(older: Statement) -> bool:
    """Return whether a note reports something that happened, or a plan: `booked a table`, `I bought a bike`."""
    return older.reports_event or "tentative" in older.cues


def _may_be_same(old: AttributeValue, new: AttributeValue) -> bool:
    """Return whether two values may be of the same thing: `the meeting room for the retro`, `retro`."""
    is_part = new.subject <= old.subject or old.subject <= new.subject
    return is_part and bool(old.subject and new.subject) and _are_alike(old.attributes, new.attributes)


def _are_alike(old: frozenset[str], new: frozenset[str]) -> bool:
    """Return whether two attributes may be the same: they mean the same, or one of them is not named."""
    if not old or not new or not old.isdisjoint(new):
        return True
    return any(not old.isdisjoint(alike) and not new.isdisjoint(alike) for alike in _ALIKE)


def _is_same(old: AttributeValue, new: AttributeValue) -> bool:
    if old.subject == new.subject:
        return True
    return any(is_unspaced(each[0]) for each in old.subject)  # compared by pairs of characters


def _have_one_kind(old: AttributeValue, new: AttributeValue) -> bool:
    """Return whether two values may stand for each other, and are not the same."""
    if old.numbers or new.numbers:
        is_other = bool(old.numbers and new.numbers) and not new.numbers <= old.numbers
        return is_other and (not old.units.isdisjoint(new.units) or "" in old.units | new.units)
    are_named = old.is_named and new.is_named
    return are_named and bool(old.value - new.value) and bool(new.value - old.value)


def _mentions_elsewhere(old: AttributeValue, new: AttributeValue, clauses: Sequence[str]) -> bool:
    """Return whether a note names the older value in another clause than the new one."""
    if not new.is_named:
        return False
    others = [set(content_stems(split_words(fold(clause)))) for at, clause in enumerate(clauses) if at != new.clause]
    if numbers := old.numbers - new.numbers:
        return any(not numbers.isdisjoint(other) for other in others)
    old_value = old.value - new.value
    return bool(old_value) and any(old_value <= other for other in others)


@cache_within(1_000_000)
def read_values(text: str) -> tuple[AttributeValue, ...]:
    """Return the values that the clauses of a note give; cached, as a note is compared with many."""
    return tuple(dict.fromkeys(_iterate_values(text)))


def _iterate_values(text: str) -> Iterator[AttributeValue]:
    clauses = split_clauses(text)
    first: Claim | None = None
    if ":" in text:
        for claim in read_first_claim(text):  # with its label
            yield from _read_claim(claim, min(1, len(clauses) - 1))
    for at, clause in enumerate(clauses):
        claims = read_first_claim(clause)
        for claim in claims:
            yield from _read_claim(claim, at)
            for topic in first.heads if first else ():
                yield from _inherit(topic, claim, at, clause)
        if first and not claims:
            yield from _read_rest(first, clause, at)
        first = first or (claims[0] if claims else None)
        for state in read_states(clause):
            if state.phase == "end":
                continue
            core, _ = _split_subject(frozenset(state.subject))
            attributes = frozenset((_ATTRIBUTES_OF_STATES[state.relation],))
            yield AttributeValue(core, attributes, state.value, frozenset(), frozenset(), at)


def _read_claim(claim: Claim, at: int) -> Iterator[AttributeValue]:
    for head in claim.heads:
        core, attributes = _split_subject(head)
        value = claim.value - head
        nouns = frozenset(each for each in value if is_attribute(each))  # `Ruth has a new phone number: …`
        attributes |= {_index_attributes()[each] for each in nouns}
        value = value - nouns or value
        if value or claim.numbers:
            is_closed = claim.is_closed or (bool(attributes) and head == claim.heads[0])
            is_named = claim.has_place or bool(claim.numbers)
            yield AttributeValue(core, attributes, value, claim.numbers, claim.units, at, is_closed, is_named)


def _inherit(topic: frozenset[str], claim: Claim, at: int, clause: str) -> Iterator[AttributeValue]:
    """Yield the values of a later clause without a subject, which continues the first clause: `Plumber can't make
    Tuesday, he's coming Thursday`, `les stocks, c'est Inès`."""
    if claim.is_closed and not claim.numbers:
        return
    core, attributes = _split_subject(topic)
    value = claim.value or claim.heads[0]
    if len(value) <= _MAX_VALUE_STEMS:
        words = split_words(fold(clause))
        is_named = claim.has_place or bool(claim.numbers) or not PLACE_PREPOSITIONS.isdisjoint(words)
        is_named = is_named or any(has_capitals(each, clause) for each in value)
        yield AttributeValue(core, attributes, value, claim.numbers, claim.units, at, is_named=is_named)


def _read_rest(first: Claim, clause: str, at: int) -> Iterator[AttributeValue]:
    """Yield what a clause that is only a value says of the subject of the first one: `…, it's 8830`."""
    numbers = frozenset(filter(is_amount, split_words(fold(clause))))
    for topic in first.heads if numbers else ():
        core, attributes = _split_subject(topic)
        attributes |= {_index_attributes()[each] for each in first.value if is_attribute(each)}
        yield AttributeValue(core, attributes, frozenset(), numbers, frozenset(("",)), at)


def _split_subject(head: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a head is about without its nouns of attributes and particles, and these attributes."""
    index = _index_attributes()
    core = frozenset(each for each in head if each not in index and each not in _PARTICLES)
    if not core:
        return head, frozenset()
    return core, frozenset(index[each] for each in head if each in index)


def is_attribute(topic: str) -> bool:
    """Return whether the stem of a noun only names an attribute of something: `the plumber's name`."""
    return topic in _index_attributes()


@cache
def _index_attributes() -> dict[str, str]:
    return {stem(word): kind for kind, words in _ATTRIBUTES.items() for word in fold(words).split()}
