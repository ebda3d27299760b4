"""What speaks for and against one statement being the newer version of another, weighed together.

The rules of `versions.py` know certain forms. People put a change in many others, of which no single trait is proof,
but several are. Each trait has a weight, learned from pairs of notes by `training/evidence.py` (`evidence.txt`). To be
alike is never enough: both have to name the same thing, and the newer has to say that something changed, to answer what
was open, or to give another number. Long sentences share words by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import fsum
from pathlib import Path
from typing import NamedTuple

from ..caching import cache_within
from .changes import count_alike
from .claims import read_claims, split_clauses
from .completions import is_task, tells_done
from .cues import CHANGE_CUES, has_cue
from .distinctions import IRREGULAR_PAST, have_other_subjects
from .links import Link, LinkKind
from .relations import FIRST_PERSON, YOU
from .statements import Statement
from .value_words import EVENT_WORDS, GENERIC, NEGATIONS, VAGUE_STARTS
from .words import content_stems, fold, is_amount, is_month_or_day, is_number, list_capitalised, split_words, stem

WEIGHTS = Path(__file__).with_name("evidence.txt")
_NAME_WEIGHT = 2.0
_MAX_COUNTED = 4
_MAX_OLDER_WORDS = 11
_MAX_NEWER_WORDS = 18
_MIN_SHARE_OF_OLDER = 0.3
_MIN_SHARE_OF_NEWER = 0.15
_MIN_SHARE_OF_TAKEN_BACK = 0.5
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
    names: frozenset[str]  # those of its topics that begin with a capital letter
    subject: tuple[str, ...]  # those of its topics that are before its verb, or before its number
    amounts: frozenset[str]
    is_denied: bool


def find_by_evidence(older: Statement, newer: Statement) -> Link | None:
    """Return a link where most of what two statements say speaks for a change."""
    sign = find_sign(older, newer)
    if not sign or _weigh(read_evidence(older, newer)) <= 0:
        return None
    kind, reason = _SIGNS[sign]
    return Link(kind, reason, " ".join(sorted(_list_shared(older, newer))))


def find_sign(older: Statement, newer: Statement) -> str:
    """Return how the newer of two statements about the same thing tells of a change; empty if it does not."""
    if not _are_short(older, newer) or not _share_enough(older, newer) or is_task(older.text, older.box):
        return ""
    if older.words[0] in VAGUE_STARTS or not YOU.isdisjoint(older.words):
        return ""
    old = _read_traits(older)
    new = _read_traits(newer)
    if "retraction" in newer.cues:
        shared = _list_shared(older, newer)
        is_same = len(shared) > 1 and _share(old.topics, shared) >= _MIN_SHARE_OF_TAKEN_BACK
        return "retraction" if is_same else ""
    is_repeated = bool(old.amounts) and old.amounts == new.amounts
    if not count_alike(older, newer) or _is_date_beside_count(old, new):
        return ""
    if is_repeated or set(older.stems) <= set(newer.stems):  # the same again, or more of it
        return ""
    if "open" not in older.cues and _says_change(newer):
        return "change"
    if have_other_subjects(older, newer):
        return ""
    if "open" in older.cues:
        return "open"
    if "resolution" in newer.cues:
        return "settled"
    return "number" if _gives_other_number(older, newer) else ""


def _are_short(older: Statement, newer: Statement) -> bool:
    return len(older.text.split()) <= _MAX_OLDER_WORDS and len(newer.text.split()) <= _MAX_NEWER_WORDS


def _share_enough(older: Statement, newer: Statement) -> bool:
    """Return whether two statements name the same thing, and it is not one of many that each names. A single word
    that is no name is too little."""
    shared = _list_shared(older, newer)
    old = _read_traits(older)
    new = _read_traits(newer)
    if len(shared) < 2 and not shared & old.names & new.names:
        return False
    is_enough = _share(old.topics, shared, old.names) >= _MIN_SHARE_OF_OLDER
    return is_enough and _share(new.topics, shared, new.names) >= _MIN_SHARE_OF_NEWER


def _is_date_beside_count(old: _Traits, new: _Traits) -> bool:
    """Return whether the older gives a day, and the newer only counts something: `on 13 March`, `60 testers`."""
    return any(map(is_month_or_day, old.amounts)) and bool(new.amounts) and all(map(str.isdecimal, new.amounts))


def _says_change(newer: Statement) -> bool:
    return not CHANGE_CUES.isdisjoint(newer.cues) or has_cue(fold(newer.text), "hint")


def _gives_other_number(older: Statement, newer: Statement) -> bool:
    """Return whether each gives another number, which does not tell what they are about."""
    old = _read_traits(older).amounts
    new = _read_traits(newer).amounts
    if _begins_with_number(older) and _begins_with_number(newer):
        return False
    if tells_done(older.text, older.box) and tells_done(newer.text, newer.box):  # two tasks: `Done: chapter 3`
        return False
    return bool(old - new) and bool(new - old)


def _list_shared(older: Statement, newer: Statement) -> set[str]:
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
    }


def _compare_topics(older: Statement, newer: Statement) -> dict[str, float]:
    """Return how much of what each says is in the other."""
    old = _read_traits(older)
    new = _read_traits(newer)
    shared = _list_shared(older, newer)
    changed = not CHANGE_CUES.isdisjoint(newer.cues)
    in_subject = _share(old.subject, shared)
    in_value = _share([each for each in old.topics if each not in old.subject], shared)
    return {
        "shared topics": min(len(shared), _MAX_COUNTED),
        "one shared topic": len(shared) == 1,
        "share of the older": _share(old.topics, shared, old.names),
        "share of the newer": _share(new.topics, shared, new.names),
        "share of the subject of the newer": _share(new.subject, shared),
        "the subject alone": in_subject >= 0.5 > in_value,
        "all of the older": len(shared) == len(old.topics),
        "all of the newer": len(shared) == len(new.topics),
        "subject and change": in_subject * changed,
        "newer begins with a shared topic": new.topics[0] in shared,
        "another subject": have_other_subjects(older, newer),
        "a name is missing": not old.names <= shared,
        "another name": not old.names <= shared and not new.names <= shared,
    }


def _share(topics: tuple[str, ...] | list[str], shared: set[str], names: frozenset[str] = frozenset()) -> float:
    """Return the share of some topics that both statements have; names count twice."""
    weights = {each: _NAME_WEIGHT if each in names else 1.0 for each in topics}
    return sum(weights[each] for each in shared.intersection(weights)) / sum(weights.values()) if weights else 0.5


def _compare_values(older: Statement, newer: Statement) -> dict[str, float]:
    """Return what each gives as numbers and after a label, and how long they are."""
    old = _read_traits(older).amounts
    new = _read_traits(newer).amounts
    is_other = bool(old - new) and bool(new - old)
    return {
        "another number": is_other,
        "another number and change": is_other and not CHANGE_CUES.isdisjoint(newer.cues),
        "another number first": is_other and _begins_with_number(older) and _begins_with_number(newer),
        "the number is gone": bool(old) and not new,
        "the first number": bool(new) and not old,
        "the same number": bool(new) and new <= old,
        "older has a label": bool(older.label),
        "both have a label": bool(older.label and newer.label),
        "clauses of the newer": min(len(split_clauses(newer.text)), _MAX_COUNTED),
    }


def _read_signs(older: Statement, newer: Statement) -> dict[str, float]:
    """Return what the words of change, doubt and trouble in both say."""
    old = _read_traits(older)
    new = _read_traits(newer)
    cues = newer.cues
    shared = _list_shared(older, newer)
    return {
        "change": "change" in cues,
        "weak change": "weak change" in cues,
        "any change": not CHANGE_CUES.isdisjoint(cues),
        "share of what is open": ("open" in older.cues) * _share(old.topics, shared, old.names),
        "trouble is settled": has_cue(fold(older.text), "trouble") and "resolution" in cues,
        "newer denies": new.is_denied and not old.is_denied,
        "older denies": old.is_denied and not new.is_denied,
        "happened once": not EVENT_WORDS.isdisjoint(older.words),
        "older begins with a past form": older.words[0].endswith("ed") or older.words[0] in IRREGULAR_PAST,
        "both of the writer": not FIRST_PERSON.isdisjoint(older.words) and not FIRST_PERSON.isdisjoint(newer.words),
    }


def _begins_with_number(statement: Statement) -> bool:
    """Return whether a number is before the middle of a statement: it names what the statement is about."""
    at = next((at for at, word in enumerate(statement.words) if is_amount(word)), len(statement.words))
    return 2 * at < len(statement.words) - 1


@cache_within(2_000_000)
def _read_traits(statement: Statement) -> _Traits:
    """Return the traits of a statement; cached, as it is compared with many."""
    names = {stem(word) for word in list_capitalised(statement.text)}
    topics = tuple(each for each in dict.fromkeys(statement.stems) if _is_topic(each))
    return _Traits(
        topics,
        frozenset(names.intersection(topics)),
        tuple(filter(_is_topic, _read_subject(statement))),
        frozenset(filter(is_amount, statement.words)),
        not NEGATIONS.isdisjoint(statement.words),
    )


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
