"""Weighs the evidence for and against one statement being the newer version of another.

The rules of `versions.py` know certain forms. They also veto links that a rule made but that look unlikely: a name and
a word of change are in many notes. And people express changes in many other ways, where no single trait is proof, but
several are. Each trait has a weight, learned from pairs of notes by `training/evidence.py` (`evidence.txt`). What the
rules tell apart stays apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from math import fsum
from pathlib import Path
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import read_claims, read_first_claim, read_topics, split_clauses
from .cues import CHANGE_CUES, has_cue
from .links import Link, LinkKind
from .relations import YOU, is_topic
from .statements import Statement
from .vetoes import have_other_subjects
from .words import (
    PREPOSITIONS,
    content_stems,
    is_amount,
    is_month_or_day,
    list_capitalised,
    stem,
)

WEIGHTS = Path(__file__).with_name("evidence.txt")
_MIN_WITHOUT_RULE = 0.5  # evidence up to which nothing is linked without a rule
_MIN_FOR_RULES = -2.25  # evidence below which a link found by a rule is dropped
_MIN_SHARED = 2  # topics that two notes have to share to be weighed without a rule
_MAX_OLDER_WORDS = 11  # longer sentences share words by chance
_MAX_NEWER_WORDS = 18
_IDENTIFIER = lazy_pattern(r"[^\W\d].*[\d._/@-]")
_SIGNS: dict[str, tuple[LinkKind, str]] = {
    "open": ("answer", "answers what was open"),
    "retraction": ("retraction", "takes it back"),
    "change": ("correction", "says that it changed"),
    "settled": ("correction", "says that it is settled"),
    "number": ("correction", "gives it another number"),
}


class _Traits(NamedTuple):
    """The features of a statement that are compared. Stems are those of the words that say what it is about."""

    topics: tuple[str, ...]
    names: frozenset[str]  # its topics that begin with a capital letter
    head: frozenset[str]  # what its first claim is about
    is_closed: bool  # the head is its subject
    amounts: frozenset[str]
    kinds: frozenset[str]  # of values: numbers, times, days, names in programs
    owners: frozenset[str]  # `Ben's`
    hints: bool  # it has words that mean a change beside the same subject


def find_by_evidence(older: Statement, newer: Statement) -> Link | None:
    """Return a link if the evidence in two statements speaks for a change."""
    sign = _find_sign(older, newer)
    if not sign or not may_weigh(older, newer):
        return None
    if weigh(older, newer) <= (
        _MIN_FOR_RULES if sign == "number" else _MIN_WITHOUT_RULE
    ):  # both are about just the same
        return None
    kind, reason = _SIGNS[sign]
    return Link(kind, reason, " ".join(sorted(_list_shared(older, newer))))


def is_likely(older: Statement, newer: Statement) -> bool:
    """Return whether the evidence does not speak too strongly against a link that a rule found."""
    return weigh(older, newer) > _MIN_FOR_RULES


def may_weigh(older: Statement, newer: Statement) -> bool:
    """Return whether two statements name the same thing and the newer one does not just repeat the older."""
    if not YOU.isdisjoint(older.words) or older.reports_event:
        return False
    if len(older.text.split()) > _MAX_OLDER_WORDS or len(newer.text.split()) > _MAX_NEWER_WORDS:
        return False
    return not set(older.stems) <= set(newer.stems) and len(_list_shared(older, newer)) >= _MIN_SHARED


def _find_sign(older: Statement, newer: Statement) -> str:
    """Return how the newer of two statements signals a change; empty if it does not."""
    if sign := _find_words_of_change(older, newer):
        return sign
    old = _read_traits(older)
    is_other = _gives_another_value(old, _read_traits(newer)) and not _begins_with_number(older)
    return "number" if is_other and _has_same_subject(old, newer) and _measure_the_same(older, newer) else ""


def _find_words_of_change(older: Statement, newer: Statement) -> str:
    """Return which kind of words signal a change; empty if there are none."""
    if "retraction" in newer.cues:
        return "retraction"
    if "open" in older.cues:
        return "open"
    if not CHANGE_CUES.isdisjoint(newer.cues):
        return "change"
    return "settled" if "resolution" in newer.cues else ""


def _gives_another_value(old: _Traits, new: _Traits) -> bool:
    """Return whether the newer of two statements gives different numbers, days or times of the same kinds."""
    return (
        bool(old.kinds)
        and old.kinds <= new.kinds
        and bool(old.amounts - new.amounts)
        and bool(new.amounts - old.amounts)
    )


def _measure_the_same(older: Statement, newer: Statement) -> bool:
    """Return whether the numbers of both count the same, in the same place: not `900 tests` and `5 minutes`, nor the
    flights `to Rome` and `from Rome`."""
    old, new = (_read_units(each) for each in (older, newer))
    if old and new and old.isdisjoint(new):
        return False
    places = {name: preposition for preposition, name in pairwise(older.words) if preposition in PREPOSITIONS}
    return all(places.get(name, word) == word for word, name in pairwise(newer.words) if word in PREPOSITIONS)


def _read_units(statement: Statement) -> set[str]:
    """Return the stems of the words that follow a number."""
    return {stem(word) for number, word in pairwise(statement.words) if is_amount(number) and content_stems([word])}


def _has_same_subject(old: _Traits, newer: Statement) -> bool:
    """Return whether a claim of the newer statement is about exactly what the older one is about."""
    return old.is_closed and any(old.head == claim.heads[0] for claim in read_claims(newer.text))


def _list_shared(older: Statement, newer: Statement) -> set[str]:
    """Return the topics that both share, without numbers."""
    return set(_read_traits(older).topics).intersection(_read_traits(newer).topics)


def weigh(older: Statement, newer: Statement) -> float:
    """Return the evidence for a change in a pair; above 0, it speaks more for a change than against it."""
    return add_up(load_weights(), read_evidence(older, newer))


def add_up(weights: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    """Return the sum of the weights of a pair's traits."""
    return weights["always"] + fsum(weights[name] * value for name, value in evidence.items() if value)


@cache
def load_weights() -> dict[str, float]:
    """Return the weight of each trait, and of the constant `always`."""
    lines = (line.partition(" ") for line in WEIGHTS.read_text().splitlines() if line[:1] != "#")
    return {name: float(weight) for weight, _, name in lines}


def read_evidence(older: Statement, newer: Statement) -> dict[str, float]:
    """Return the traits of a pair by name."""
    changes = not CHANGE_CUES.isdisjoint(newer.cues) or _read_traits(newer).hints
    return {
        **_compare_topics(older, newer),
        **_compare_subjects(older, newer, changes=changes),
        **_compare_values(older, newer, changes=changes),
        **_compare_forms(older, newer),
    }


def _compare_topics(older: Statement, newer: Statement) -> dict[str, float]:
    """Return how much of the older statement the newer one contains."""
    old = _read_traits(older)
    new = _read_traits(newer)
    shared = _list_shared(older, newer)
    topics = (read_topics(older.text), read_topics(newer.text))
    missing = old.names.difference(newer.stems)
    added = new.names.difference(older.stems)
    says_so = bool(_find_words_of_change(older, newer))
    return {
        "one shared topic and words of change": len(shared) == 1 and says_so,
        "share of all and words of change": says_so * len(topics[0] & topics[1]) / max(1, len(topics[0] | topics[1])),
        "a shared name": not shared.isdisjoint(old.names),
        "a name is gone": bool(missing) and not added,
        "a name is new": bool(added) and not missing,
    }


def _compare_subjects(older: Statement, newer: Statement, *, changes: bool) -> dict[str, float]:
    """Return whether both are about the same thing, of the same owner."""
    old = _read_traits(older)
    new = _read_traits(newer)
    is_other = have_other_subjects(older, newer)
    return {
        "another subject": is_other,
        "another subject and change": is_other and changes,
        "share of the newer subject": len(new.head.intersection(older.stems)) / len(new.head) if new.head else 0.5,
        "an owner is gone": not old.owners.issubset(newer.words),
        "an owner is new": not new.owners.issubset(older.words),
    }


def _compare_values(older: Statement, newer: Statement, *, changes: bool) -> dict[str, float]:
    """Compare the numbers, days and times of both."""
    old = _read_traits(older)
    new = _read_traits(newer)
    return {
        "no number": not old.amounts and not new.amounts,
        "another value of one kind and change": changes and _gives_another_value(old, new),
        "another kind of value": bool(new.kinds - old.kinds),
    }


def _compare_forms(older: Statement, newer: Statement) -> dict[str, float]:
    """Compare the form of both."""
    return {
        "weak change": "weak change" in newer.cues,
        "clauses": len(split_clauses(newer.text)) > 1,
        "the newer is long": len(newer.text.split()) > _MAX_NEWER_WORDS,
        "older has a label": bool(older.label),
        "happened once": older.is_event,
    }


def _begins_with_number(statement: Statement) -> bool:
    """Return whether a number is before the middle of a statement: it names what the statement is about."""
    at = next((at for at, word in enumerate(statement.words) if is_amount(word)), len(statement.words))
    return 2 * at < len(statement.words) - 1


@cache_within(2_000_000)
def _read_traits(statement: Statement) -> _Traits:
    """Return the traits of a statement; cached, as it is compared with many."""
    topics = tuple(filter(is_topic, dict.fromkeys(statement.stems)))
    capitalised = {stem(word) for word in list_capitalised(statement.text)}
    claim = next(iter(read_first_claim(statement.text)), None)
    return _Traits(
        topics,
        frozenset(capitalised.intersection(topics)),
        claim.heads[0] if claim else frozenset(),
        claim is not None and claim.is_closed,
        frozenset(filter(is_amount, statement.words)),
        frozenset(filter(None, map(_name_kind, statement.words))),
        frozenset(owner for owner, mark in pairwise(statement.words) if mark == "'s"),
        has_cue(statement.folded, "hint"),
    )


def _name_kind(word: str) -> str:
    """Return the kind of value that a word is; empty for an ordinary word."""
    if is_month_or_day(word):
        return "day"
    if is_amount(word):
        return "time" if ":" in word else "number"
    return "identifier" if _IDENTIFIER.match(word) else ""
