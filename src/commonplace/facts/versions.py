"""Which of two statements is the newer version of the other, by rule. When in doubt, neither is.

A frame is what two statements have in common: they begin and end alike and differ in one span, the value. Only where
the relation has one value at a time (`relations.py`) is the newer value a version of the older one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from .links import hash_words
from .relations import FIRST_PERSON, find_relation
from .statements import CHANGES, Statement
from .value_words import EVENT_VERBS, MANY_VALUED, OWNING_VERBS, PREPOSITIONS, ROLES, STATES, UNIQUE_ROLES
from .words import content_stems, is_number, stem, word_set

CONFIRMED = "confirmed"  # the kind of a link that a person made
_MAX_VALUE_WORDS = 9
_MAX_NAME_WORDS = 6
_MIN_SHARED_STEMS = 2
_MIN_SHARE_OF_OLDER = 0.5
_MIN_SHARE_IF_WEAK = 0.7
_MIN_SHARE_OF_NEWER = 0.25
_ANSWERS = frozenset(("decision", "change", "weak change"))
_DROPPED = word_set("the a an now currently actually just also already still nowadays officially")
_PAST_LASTING = word_set("based living working employed enrolled located married registered staying allergic")
_PARTICIPLES = word_set("born written made built founded sung led held won drawn done")

_PAST_BE = frozenset(("was", "were"))
_LASTING = word_set("based living working employed enrolled located married registered staying allergic")
_PARTICIPLES = word_set("born written made built founded sung led held won drawn done")


class Link(NamedTuple):
    """Why the newer of two statements replaces the older. `evidence`: what both have in common."""

    kind: str
    reason: str
    evidence: str = ""


class _Frame(NamedTuple):
    """Two statements side by side: what they begin with, what they end with, and the values between."""

    prefix: list[str]
    suffix: list[str]
    older: list[str]
    newer: list[str]


def judge(older: Statement, newer: Statement, *, is_same_place: bool = False) -> Link | None:
    """Return how the newer statement replaces the older one; None if it does not, or if that is not certain.

    `is_same_place`: both are on one page, or under one key, so that a short label means the same in both.
    """
    if older.words == newer.words:
        return None
    if newer.answers.confirmed and hash_words(older.words) in newer.answers.confirmed:
        return Link(CONFIRMED, "marked as its successor on the page")
    if _is_rejected(older, newer) or not _is_same_speaker(older, newer):
        return None
    return (
        _judge_label(older, newer, is_same_place=is_same_place)
        or _judge_frame(older, newer)
        or _judge_change(older, newer, is_same_place=is_same_place)
    )


def _is_rejected(older: Statement, newer: Statement) -> bool:
    """Return whether a person said that neither of two statements replaces the other."""
    pairs = ((older, newer), (newer, older))
    return any(one.answers.rejected and hash_words(two.words) in one.answers.rejected for one, two in pairs)


def _is_same_speaker(older: Statement, newer: Statement) -> bool:
    """Return whether `I` means the same person in both."""
    if older.speaker == newer.speaker:
        return True
    return FIRST_PERSON.isdisjoint(older.words) and FIRST_PERSON.isdisjoint(newer.words)


def _judge_label(older: Statement, newer: Statement, *, is_same_place: bool) -> Link | None:
    if not older.label or older.label != newer.label or older.speaker:
        return None
    is_specific = len(content_stems(older.label.split())) >= 2
    if not (is_same_place or is_specific) or older.speaker != newer.speaker:
        return None
    return Link("frame", f"the same label: {older.label}", older.label)


def _judge_frame(older: Statement, newer: Statement) -> Link | None:
    frame = _align(older.words, newer.words)
    if not frame.older or not frame.newer:
        return None
    frame = _extend_names(frame, older.text, newer.text)
    if max(len(frame.older), len(frame.newer)) > _MAX_VALUE_WORDS:
        return None
    is_version = _has_one_value(frame, older, newer) if frame.prefix else _is_unique_role(frame, older, newer)
    if not is_version:
        return None
    shown = " ".join([*frame.prefix, "…", *frame.suffix])
    return Link("frame", f"says the same with another value: {shown}", shown)


def _align(older: Sequence[str], newer: Sequence[str]) -> _Frame:
    """Return both statements side by side, without the words that change nothing."""
    old = [_normalize(word) for word in older if word not in _DROPPED]
    new = [_normalize(word) for word in newer if word not in _DROPPED]
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return _Frame(old[:start], old[len(old) - end :], old[start : len(old) - end], new[start : len(new) - end])


def _extend_names(frame: _Frame, older: str, newer: str) -> _Frame:
    """Return the frame with names and numbers whole: `United Kingdom` and `United States` share their first word."""
    at = len(frame.prefix)
    while at > 1 and _is_part_of_value(frame.prefix[at - 1], older) and _is_part_of_value(frame.prefix[at - 1], newer):
        at -= 1
    if find_relation(tuple(frame.prefix[:at])) is None:
        return frame
    shared = frame.prefix[at:]
    return _Frame(frame.prefix[:at], frame.suffix, shared + frame.older, shared + frame.newer)


def _is_part_of_value(word: str, text: str) -> bool:
    return is_number(word) or f" {word[:1].upper()}{word[1:]}" in text


def _normalize(word: str) -> str:
    return "is" if word in ("are", "am", "be") else word


def _has_one_value(frame: _Frame, older: Statement, newer: Statement) -> bool:
    """Return whether what both statements begin with has one value at a time."""
    relation = find_relation(tuple(frame.prefix))
    if relation is None:
        return _is_number_changed(frame)
    tail = frame.prefix[relation.at + 1 :]
    verb = frame.prefix[relation.at]
    if not MANY_VALUED.isdisjoint(stem(word) for word in (verb, *tail)):
        return False
    values = (frame.older, frame.newer)
    has_preposition = bool(tail) and tail[-1] in PREPOSITIONS
    if any(value[0] in PREPOSITIONS for value in values) or "not" in (*frame.older, *frame.newer):
        return False
    if relation.kind in ("home", "work", "go", "play", "speak", "mean", "fate"):
        return has_preposition
    if relation.kind == "prefer":
        return True
    if relation.kind == "be":
        return _is_one_predicate(frame, relation.subject, verb, tail, older, newer)
    if relation.kind == "use":
        return bool(content_stems(frame.suffix)) or "now" in newer.words
    return all(any(map(is_number, value)) for value in values) and len(content_stems(frame.prefix)) >= 2


def _is_one_predicate(
    frame: _Frame, subject: tuple[str, ...], verb: str, tail: list[str], older: Statement, newer: Statement
) -> bool:
    """Return whether `subject is …` has one value: a role, a number, a name, or what follows a preposition."""
    if verb in _PAST_BE and not (tail and (tail[0].endswith(("ed", "en")) or tail[0] in _PARTICIPLES)):
        return False
    values = (frame.older, frame.newer)
    if subject[0] in FIRST_PERSON and len(subject) == 1:
        return len(tail) > 1 and tail[-1] in PREPOSITIONS and tail[-2] in _LASTING
    if tail and tail[-1] in PREPOSITIONS:
        return True
    if all(any(map(is_number, value)) for value in values):
        return True
    if all(" ".join(value) in STATES for value in values):
        return True
    if tail and not set(tail) <= _DROPPED:
        return False
    if any(stem(word) in ROLES for word in subject) or any(word in ROLES for word in frame.prefix):
        return all(len(value) <= 5 for value in values)
    return _is_name(frame.older, older.text) and _is_name(frame.newer, newer.text)


def _is_number_changed(frame: _Frame) -> bool:
    shared = content_stems([*frame.prefix, *frame.suffix])
    if len(shared) < 3 or not EVENT_VERBS.isdisjoint([*frame.prefix, *frame.suffix]):
        return False
    return all(all(map(is_number, value)) for value in (frame.older, frame.newer))


def _is_unique_role(frame: _Frame, older: Statement, newer: Statement) -> bool:
    """Return whether the statements say of two persons that each has a role that one has at a time."""
    if len(frame.suffix) < 2 or len(content_stems(frame.suffix)) < 2:
        return False
    if frame.suffix[0] == "is":
        has_role = not UNIQUE_ROLES.isdisjoint(frame.suffix[1:3])
    else:
        has_role = frame.suffix[0] in OWNING_VERBS
    return has_role and _is_name(frame.older, older.text) and _is_name(frame.newer, newer.text)


def _is_name(words: list[str], text: str) -> bool:
    """Return whether words are a name in a text: the first begins with a capital letter there."""
    first = words[0]
    return len(words) <= _MAX_NAME_WORDS and (f"{first[:1].upper()}{first[1:]}" in text or first.upper() in text)


def _judge_change(older: Statement, newer: Statement, *, is_same_place: bool) -> Link | None:
    """Return a link where the newer statement says that something changed and is about the same thing."""
    if CHANGES.isdisjoint(newer.cues):
        return None
    stems = set(older.stems)
    shared = stems.intersection(newer.stems)
    if len(shared) < _MIN_SHARED_STEMS or not _names_subject(older, newer):
        return None
    is_strong = "change" in newer.cues
    if newer.speaker:  # people repeat themselves when they talk
        return None
    min_share = _MIN_SHARE_OF_OLDER if is_strong else _MIN_SHARE_IF_WEAK
    is_answer = "open" in older.cues and "open" not in newer.cues and not _ANSWERS.isdisjoint(newer.cues)
    if is_answer:
        stems -= _open_stems()
    if len(shared) < min_share * len(stems) or len(shared) < _MIN_SHARE_OF_NEWER * len(set(newer.stems)):
        return None
    about = " ".join(sorted(shared))
    if is_answer:
        return Link("answer", "answers what was open", about)
    if "retraction" in newer.cues:
        return Link("retraction", "takes it back", about)
    return Link("correction", "says that it changed", about) if is_strong or "weak change" in newer.cues else None


def _names_subject(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement names what the older one is about."""
    if older.label:
        return set(content_stems(older.label.split())) <= set(newer.stems)
    if older.relation:
        return set(older.relation.subject).difference(FIRST_PERSON) <= set(newer.stems)
    return True


@cache
def _open_stems() -> frozenset[str]:
    """Return the stems of words that say that something is open: an answer does not repeat them."""
    return frozenset(map(stem, word_set("decide decided pending open unclear unknown tbd considering question sure")))
