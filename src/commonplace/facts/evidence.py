"""Weighs the evidence for and against one statement being the newer version of another.

The rules of `versions.py` know certain forms. They also veto links that a rule made but that look unlikely: a name and
a word of change are in many notes. And people express changes in many other ways, where no single trait is proof, but
several are. Each trait has a weight, learned from pairs of notes by `training/evidence.py` (`evidence.txt`). What the
rules tell apart stays apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cache
from itertools import pairwise
from math import fsum
from pathlib import Path
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .changes import replaces_other
from .claims import read_claims, read_first_claim, read_topics, split_clauses
from .cues import CHANGE_CUES, has_cue
from .distinctions import IRREGULAR_PAST, have_other_subjects
from .links import Link, LinkKind
from .relations import YOU
from .statements import Statement
from .value_words import EVENT_WORDS, GENERIC, PREPOSITIONS
from .words import (
    content_stems,
    fold,
    is_amount,
    is_month_or_day,
    is_number,
    list_capitalised,
    phrase_pattern,
    split_words,
    stem,
)

WEIGHTS = Path(__file__).with_name("evidence.txt")
_MIN_FOR_RULES = -2.25  # evidence below which a link found by a rule is dropped
_NAME_WEIGHT = 2.0
_MIN_SHARED = 2  # topics that two notes have to share to be weighed without a rule
_MAX_OLDER_WORDS = 11  # longer sentences share words by chance
_MAX_NEWER_WORDS = 18
_LONG_WORD = 7  # characters
_MAX_COUNTED = 5
_PHRASES = {
    "plans": phrase_pattern("evidence", "PLANS"),
    "once": phrase_pattern("evidence", "ONCE"),
    "same": phrase_pattern("evidence", "SAME"),
    "relatives": phrase_pattern("evidence", "RELATIVES"),
}
_YEAR = lazy_pattern(r"\b(?:19|20)\d\d\b")
_IDENTIFIER = lazy_pattern(r"[^\W\d].*[\d._/@-]")
_REASON = lazy_pattern(
    r"\b(?:because|since|after|due to|weil|wegen|seit|nach|porque|por|tras|car|après|depuis|perché|dopo|omdat|want|na"
    r"|потому что|после)\b|因为|ので|ため"
)
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
    subject: frozenset[str]  # its topics before its verb, or before its number
    head: frozenset[str]  # what its first claim is about
    is_closed: bool  # the head is its subject
    amounts: frozenset[str]
    kinds: frozenset[str]  # of values: numbers, times, days, names in programs
    phrases: frozenset[str]  # the cue lists that it has a phrase of
    clauses: int


def find_by_evidence(older: Statement, newer: Statement) -> Link | None:
    """Return a link if the evidence in two statements speaks for a change."""
    sign = _find_sign(older, newer)
    if not sign or not may_weigh(older, newer):
        return None
    if weigh(older, newer) <= (_MIN_FOR_RULES if sign == "number" else 0.0):  # both are about just the same
        return None
    kind, reason = _SIGNS[sign]
    return Link(kind, reason, " ".join(sorted(_list_shared(older, newer))))


def is_likely(older: Statement, newer: Statement) -> bool:
    """Return whether the evidence does not speak too strongly against a link that a rule found."""
    return weigh(older, newer) > _MIN_FOR_RULES


def may_weigh(older: Statement, newer: Statement) -> bool:
    """Return whether two statements name the same thing and the newer one does not just repeat the older."""
    if not YOU.isdisjoint(older.words) or not EVENT_WORDS.isdisjoint(older.words):
        return False
    if len(older.text.split()) > _MAX_OLDER_WORDS or len(newer.text.split()) > _MAX_NEWER_WORDS:
        return False
    return not set(older.stems) <= set(newer.stems) and len(_list_shared(older, newer)) >= _MIN_SHARED


def _find_sign(older: Statement, newer: Statement) -> str:
    """Return how the newer of two statements signals a change; empty if it does not."""
    cues = newer.cues
    if "retraction" in cues:
        return "retraction"
    if "open" in older.cues:
        return "open"
    if not CHANGE_CUES.isdisjoint(cues):
        return "change"
    if "resolution" in cues:
        return "settled"
    old = _read_traits(older)
    is_other = _gives_another_value(old, _read_traits(newer)) and not _begins_with_number(older)
    return "number" if is_other and _has_same_subject(old, newer) and _measure_the_same(older, newer) else ""


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
    changes = _says_change(newer)
    return {
        **_compare_topics(older, newer, changes=changes),
        **_compare_subjects(older, newer, changes=changes),
        **_compare_values(older, newer, changes=changes),
        **_read_signs(older, newer, changes=changes),
        **_read_doubts(older, newer),
    }


def _says_change(newer: Statement) -> bool:
    return not CHANGE_CUES.isdisjoint(newer.cues) or "hint" in _read_traits(newer).phrases


def _compare_topics(older: Statement, newer: Statement, *, changes: bool) -> dict[str, float]:
    """Return how much of the older statement the newer one contains."""
    old = _read_traits(older)
    new = _read_traits(newer)
    shared = _list_shared(older, newer)
    topics = (read_topics(older.text), read_topics(newer.text))
    share = _share(old.topics, shared, old.names)
    missing = old.names.difference(newer.stems)
    added = new.names.difference(older.stems)
    return {
        "nothing shared": not shared,
        "two shared topics": len(shared) == 2,
        "more shared topics": len(shared) > 2,
        "a shared name": not shared.isdisjoint(old.names),
        "a shared identifier": any(map(_IDENTIFIER.match, shared)),
        "a shared long word": any(len(each) >= _LONG_WORD for each in shared),
        "share of the older": share,
        "share of the older and change": changes * share,
        "share of the older and open": ("open" in older.cues) * share,
        "share of all": len(topics[0] & topics[1]) / max(1, len(topics[0] | topics[1])),
        "other topics": min(len(topics[1] - topics[0]), _MAX_COUNTED),
        "a name is gone": bool(missing) and not added,
        "a name is new": bool(added) and not missing,
        "another name": bool(added) and bool(missing),
    }


def _share(topics: Iterable[str], shared: Set[str], names: frozenset[str] = frozenset()) -> float:
    """Return the share of some topics that both statements have; names count twice."""
    weights = {each: _NAME_WEIGHT if each in names else 1.0 for each in topics}
    return sum(weights[each] for each in weights.keys() & shared) / sum(weights.values()) if weights else 0.5


def _compare_subjects(older: Statement, newer: Statement, *, changes: bool) -> dict[str, float]:
    """Return whether both are about the same property of the same thing."""
    old = _read_traits(older)
    new = _read_traits(newer)
    shared = _list_shared(older, newer)
    is_other = have_other_subjects(older, newer)
    is_bare = bool(shared) and shared <= old.subject
    has_kind = not old.kinds.isdisjoint(new.kinds)
    is_same = _has_same_subject(old, newer)
    return {
        "another subject": is_other,
        "another subject and change": is_other and changes,
        "share of the subject and change": changes * _share(old.subject, shared),
        "share of the newer subject": _share(new.head, new.head.intersection(older.stems)),
        "the same subject": is_same,
        "the same subject and change": is_same and changes,
        "the same subject and another value": is_same and _gives_another_value(old, new),
        "a name of the subject is gone": not (old.head & old.names).issubset(newer.stems),
        "the older has a subject": old.is_closed,
        "only the subject": is_bare,
        "only the subject, no kind of value": is_bare and not has_kind,
        "only the subject, no kind of value and change": is_bare and not has_kind and changes,
    }


def _compare_values(older: Statement, newer: Statement, *, changes: bool) -> dict[str, float]:
    """Return which of the two give numbers, days and times, and a label."""
    old = _read_traits(older)
    new = _read_traits(newer)
    is_other = bool(old.amounts - new.amounts) and bool(new.amounts - old.amounts)
    is_of_one_kind = _gives_another_value(old, new)
    return {
        "no number": not old.amounts and not new.amounts,
        "another number": is_other,
        "another number first": is_other and _begins_with_number(older) and _begins_with_number(newer),
        "another value of one kind": is_of_one_kind,
        "another value of one kind and change": is_of_one_kind and changes,
        "the number is gone": bool(old.amounts) and not new.amounts,
        "another kind of value": bool(new.kinds - old.kinds),
        "older has a label": bool(older.label),
        "both have a label": bool(older.label and newer.label),
    }


def _read_signs(older: Statement, newer: Statement, *, changes: bool) -> dict[str, float]:
    """Return what the words of change, doubt and trouble in both say."""
    old = _read_traits(older).phrases
    new = _read_traits(newer)
    return {
        "change": changes,
        "weak change": "weak change" in newer.cues,
        "trouble is settled": "trouble" in old and "resolution" in newer.cues,
        "a reason": "reason" in new.phrases - old,
        "clauses": new.clauses > 1,
        "clauses and change": new.clauses > 1 and changes,
        "words of the older": min(len(older.words), 20) / 10,
        "words of the newer": min(len(newer.words), 25) / 10,
    }


def _read_doubts(older: Statement, newer: Statement) -> dict[str, float]:
    """Return the traits that mostly speak against a change."""
    old = _read_traits(older).phrases
    added = _read_traits(newer).phrases - old
    return {
        "a plan": "plans" in added,
        "one occasion": "once" in added,
        "as before": "same" in added,
        "a relative": "relatives" in added,
        "older names a year": "year" in old,
        "older is settled": "resolution" in older.cues,
        "happened once": not EVENT_WORDS.isdisjoint(older.words),
        "older begins with a past form": older.words[0].endswith("ed") or older.words[0] in IRREGULAR_PAST,
        "replaces something else": replaces_other(older, newer),
    }


def _begins_with_number(statement: Statement) -> bool:
    """Return whether a number is before the middle of a statement: it names what the statement is about."""
    at = next((at for at, word in enumerate(statement.words) if is_amount(word)), len(statement.words))
    return 2 * at < len(statement.words) - 1


@cache_within(2_000_000)
def _read_traits(statement: Statement) -> _Traits:
    """Return the traits of a statement; cached, as it is compared with many."""
    topics = tuple(filter(_is_topic, dict.fromkeys(statement.stems)))
    capitalised = {stem(word) for word in list_capitalised(statement.text)}
    claim = next(iter(read_first_claim(statement.text)), None)
    return _Traits(
        topics,
        frozenset(capitalised.intersection(topics)),
        frozenset(filter(_is_topic, _read_subject(statement))),
        claim.heads[0] if claim else frozenset(),
        claim is not None and claim.is_closed,
        frozenset(filter(is_amount, statement.words)),
        frozenset(filter(None, map(_name_kind, statement.words))),
        frozenset(_list_phrases(statement)),
        len(split_clauses(statement.text)),
    )


def _name_kind(word: str) -> str:
    """Return the kind of value that a word is; empty for an ordinary word."""
    if is_month_or_day(word):
        return "day"
    if is_amount(word):
        return "time" if ":" in word else "number"
    return "identifier" if _IDENTIFIER.match(word) else ""


def _list_phrases(statement: Statement) -> list[str]:
    folded = fold(statement.text)
    phrases = [name for name, pattern in _PHRASES.items() if pattern.search(folded)]
    more = {
        "hint": has_cue(folded, "hint"),
        "trouble": has_cue(folded, "trouble"),
        "reason": _REASON.search(folded),
        "year": _YEAR.search(folded),
    }
    return [*phrases, *(name for name, is_there in more.items() if is_there)]


def _is_topic(each: str) -> bool:
    return each not in GENERIC and not is_number(each)


def _read_subject(statement: Statement) -> list[str]:
    """Return the stems of what a statement is about: its label, or what is before its verb or its first number; else
    what its first clause begins with."""
    words = statement.words
    if statement.label:
        return content_stems(split_words(statement.label))
    ends = [at for at, word in enumerate(words) if at > 1 and is_amount(word)][:1]
    if statement.relation:
        ends.insert(0, statement.relation.at)
    for end in ends:
        if (subject := content_stems(words[:end])) and len(subject) < len(statement.stems):
            return subject
    for claim in read_claims(statement.text)[:1]:
        if claim.value:
            return [each for each in statement.stems if each in claim.heads[0]]
    return list(statement.stems[: max(1, len(statement.stems) // 2)])
