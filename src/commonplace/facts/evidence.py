"""What speaks for and against one statement being the newer version of another, weighed together.

The rules of `versions.py` know certain forms. People put a change in many others, of which no single trait is proof,
but several are. Each trait has a weight, learned from pairs of notes by `training/evidence.py` (`evidence.txt`). Notes
that share no word are never compared, and what the rules tell apart stays apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import fsum
from pathlib import Path
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .changes import count_alike
from .claims import read_claims, split_clauses
from .cues import CHANGE_CUES, has_cue
from .distinctions import IRREGULAR_PAST, have_other_subjects
from .links import Link, LinkKind
from .relations import YOU
from .statements import Statement
from .value_words import EVENT_WORDS, GENERIC
from .words import content_stems, fold, is_amount, is_number, list_capitalised, phrase_pattern, split_words, stem

WEIGHTS = Path(__file__).with_name("evidence.txt")
_NAME_WEIGHT = 2.0
_MAX_COUNTED = 4
_MAX_MISSING = 2
_MIN_SHARE_OF_OLDER = 0.3  # that a single word has
_MAX_OLDER_WORDS = 11  # longer sentences share words by chance
_MAX_NEWER_WORDS = 18
_PHRASES = {
    "plans": phrase_pattern("evidence", "PLANS"),
    "once": phrase_pattern("evidence", "ONCE"),
    "same": phrase_pattern("evidence", "SAME"),
    "relatives": phrase_pattern("evidence", "RELATIVES"),
}
_YEAR = lazy_pattern(r"\b(?:19|20)\d\d\b")
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
    """What a statement says and how, as far as it is compared. Stems are of words that tell what it is about."""

    topics: tuple[str, ...]
    places: dict[str, int]  # of the first of each among its topics
    names: frozenset[str]  # those of its topics that begin with a capital letter
    subject: frozenset[str]  # those of its topics that are before its verb, or before its number
    amounts: frozenset[str]
    phrases: frozenset[str]  # the lists of which it has a phrase
    clauses: tuple[tuple[frozenset[str], bool], ...]  # the stems of each, and whether it says that something changed


def find_by_evidence(older: Statement, newer: Statement) -> Link | None:
    """Return a link where most of what two statements say speaks for a change."""
    sign = _find_sign(older, newer)
    if not sign or not may_weigh(older, newer) or _weigh(read_evidence(older, newer)) <= 0:
        return None
    kind, reason = _SIGNS[sign]
    return Link(kind, reason, " ".join(sorted(_list_shared(older, newer))))


def may_weigh(older: Statement, newer: Statement) -> bool:
    """Return whether two statements name the same thing, and the newer does not say all of the older again. A single
    word is too little, unless the newer gives another number of the same kind."""
    shared = _list_shared(older, newer)
    if not shared or not YOU.isdisjoint(older.words) or set(older.stems) <= set(newer.stems):
        return False
    if len(older.text.split()) > _MAX_OLDER_WORDS or len(newer.text.split()) > _MAX_NEWER_WORDS:
        return False
    if len(shared) > 1:
        return True
    old = _read_traits(older)
    new = _read_traits(newer)
    if "retraction" in newer.cues or _share(old.topics, shared, old.names) < _MIN_SHARE_OF_OLDER:
        return False
    if have_other_subjects(older, newer):
        return False
    return bool(old.amounts - new.amounts) and bool(new.amounts - old.amounts) and count_alike(older, newer)


def _find_sign(older: Statement, newer: Statement) -> str:
    """Return how the newer of two statements tells of a change; empty if it does not."""
    cues = newer.cues
    if "retraction" in cues:
        return "retraction"
    if "open" in older.cues:
        return "open"
    if not CHANGE_CUES.isdisjoint(cues):
        return "change"
    if "resolution" in cues:
        return "settled"
    old = _read_traits(older).amounts
    new = _read_traits(newer).amounts
    return "number" if old - new and new - old else ""


def _list_shared(older: Statement, newer: Statement) -> set[str]:
    """Return the topics of both, in which a number is none."""
    return set(_read_traits(older).topics).intersection(_read_traits(newer).topics)


def _weigh(evidence: Mapping[str, float]) -> float:
    """Return how much of what is known of a pair speaks for a change: above 0, more than against it."""
    weights = load_weights()
    return weights["always"] + fsum(weights[name] * value for name, value in evidence.items() if value)


@cache
def load_weights() -> dict[str, float]:
    """Return the weight of each trait, and of `always`, which every pair has."""
    lines = (line.partition(" ") for line in WEIGHTS.read_text().splitlines() if line[:1] != "#")
    return {name: float(weight) for weight, _, name in lines}


def read_evidence(older: Statement, newer: Statement) -> dict[str, float]:
    """Return the traits of a pair by name."""
    return {
        **_compare_topics(older, newer),
        **_compare_values(older, newer),
        **_read_signs(older, newer),
        **_read_doubts(older, newer),
    }


def _compare_topics(older: Statement, newer: Statement) -> dict[str, float]:
    """Return how much of what the older says is in the newer, and where."""
    old = _read_traits(older)
    new = _read_traits(newer)
    shared = _list_shared(older, newer)
    changes = not CHANGE_CUES.isdisjoint(newer.cues)
    is_open = "open" in older.cues
    share = _share(old.topics, shared, old.names)
    return {
        "one shared topic": len(shared) == 1,
        "one shared topic and change": changes and len(shared) == 1,
        "share of the older": share,
        "share of the older and change": changes * share,
        "share of the older and open": is_open * share,
        "share of the subject and change": changes * _share(old.subject, shared),
        "share of the newer": _share(new.topics, shared),
        "the same first topic": old.topics[0] == new.topics[0],
        "begins with a shared topic": new.topics[0] in shared,
        "names that are missing": min(len(old.names - new.places.keys()), _MAX_MISSING),
        "another word before it": any(_differ_before(old, new, each) for each in shared),
        "in the first clause": bool(new.clauses) and not shared.isdisjoint(new.clauses[0][0]),
        "in a clause of change": any(says and not shared.isdisjoint(stems) for stems, says in new.clauses),
        "another subject": have_other_subjects(older, newer),
    }


def _share(topics: Iterable[str], shared: set[str], names: frozenset[str] = frozenset()) -> float:
    """Return the share of some topics that both statements have; names count twice."""
    weights = {each: _NAME_WEIGHT if each in names else 1.0 for each in topics}
    return sum(weights[each] for each in shared.intersection(weights)) / sum(weights.values()) if weights else 0.5


def _differ_before(old: _Traits, new: _Traits, shared: str) -> bool:
    """Return whether each statement has, before a shared topic, one that the other lacks: `the spring race`, `the
    autumn race`."""
    places = (old.places[shared], new.places[shared])
    return all(places) and not (old.topics[places[0] - 1] in new.places or new.topics[places[1] - 1] in old.places)


def _compare_values(older: Statement, newer: Statement) -> dict[str, float]:
    """Return which of the two give numbers, and a label."""
    old = _read_traits(older).amounts
    new = _read_traits(newer).amounts
    is_other = bool(old - new) and bool(new - old)
    return {
        "no number": not old and not new,
        "another number first": is_other and _begins_with_number(older) and _begins_with_number(newer),
        "the number is gone": bool(old) and not new,
        "the first number": bool(new) and not old,
        "older has a label": bool(older.label),
        "both have a label": bool(older.label and newer.label),
    }


def _read_signs(older: Statement, newer: Statement) -> dict[str, float]:
    """Return what the words of change, doubt and trouble in both say."""
    old = _read_traits(older).phrases
    new = _read_traits(newer).phrases
    cues = newer.cues
    return {
        "change": "change" in cues,
        "weak change": "weak change" in cues,
        "hint": "hint" in new,
        "open": "open" in older.cues,
        "trouble is settled": "trouble" in old and "resolution" in cues,
        "a reason": "reason" in new - old,
        "clauses of the newer": min(len(_read_traits(newer).clauses), _MAX_COUNTED),
    }


def _read_doubts(older: Statement, newer: Statement) -> dict[str, float]:
    """Return what mostly speaks against a change."""
    old = _read_traits(older).phrases
    added = _read_traits(newer).phrases - old
    return {
        "a plan": "plans" in added,
        "one occasion": "once" in added,
        "as before": "same" in added,
        "a relative": "relatives" in added,
        "older names a year": "year" in old,
        "happened once": not EVENT_WORDS.isdisjoint(older.words),
        "older begins with a past form": older.words[0].endswith("ed") or older.words[0] in IRREGULAR_PAST,
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
    return _Traits(
        topics,
        {each: place for place, each in enumerate(topics)},
        frozenset(capitalised.intersection(topics)),
        frozenset(filter(_is_topic, _read_subject(statement))),
        frozenset(filter(is_amount, statement.words)),
        frozenset(_list_phrases(statement)),
        tuple(_read_clause(clause) for clause in split_clauses(statement.text)),
    )


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


def _read_clause(clause: str) -> tuple[frozenset[str], bool]:
    folded = fold(clause)
    return frozenset(content_stems(split_words(folded))), has_cue(folded, "change")


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
