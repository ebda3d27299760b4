"""Which of two statements is the newer version of the other, by rule. When in doubt, neither is.

A frame is what two statements have in common: they begin and end alike and differ in one span, the value. Only where
the relation has one value at a time (`relations.py`) is the newer value a version of the older one. Without a frame,
the newer statement has to say that something changed, and to be about the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from .announcements import find_announcement
from .cues import Cue, find_cue
from .links import hash_words
from .relations import FIRST_PERSON, YOU, find_relation
from .statements import CHANGES, Statement
from .value_words import (
    CASE_PREPOSITIONS,
    CONTEXT_LABELS,
    DONE,
    EVENT_WORDS,
    FAVOURITES,
    FREE_LABELS,
    GENERIC,
    MANY_VALUED,
    MANY_VALUED_NOUNS,
    NEEDS,
    NO_FEELING,
    OWNING_VERBS,
    PREPOSITIONS,
    ROLES,
    SENTIMENT_STEMS,
    SINGLE_VALUED,
    STATES,
    UNIQUE_ROLES,
)
from .words import content_stems, fold, is_number, split_words, stem, word_set

CONFIRMED = "confirmed"  # the kind of a link that a person made
_MAX_VALUE_WORDS = 9
_MAX_NAME_WORDS = 6
# Of what the older statement is about, which the newer one has to name.
_MIN_SHARES = {"strong": 0.4, "weak": 0.6, "subject": 0.7, "number": 0.75, "answer": 0.4}
_MIN_SHARE_OF_ONE = 0.75  # of what the older is about, if both have one word in common
_MIN_SHARE_OF_NEWER = 0.27  # of its words, since a long sentence shares some with any
_MIN_SHARE_OF_NUMBERS = 0.4  # of what the newer is about, if a number changed
_MIN_SHARE_OF_CLAUSE = 0.5  # of what a speaker takes back
_MIN_SHARE_OF_SUBJECT = 0.5  # of what both are about, if the newer says that a date or a number changed
_MAX_SUBJECT_TOPICS = 3
_MAX_OBJECT_DISTANCE = 4  # words from `like` to what is liked
_MAX_NAME_DISTANCE = 9
_MIN_ROLE_WORDS = 2  # of what two statements end with, if they begin with two names
_MIN_STORY_STEMS = 4  # of a text after a label that is more than a value
_NAME_WEIGHT = 2.0
_GENERIC_WEIGHT = 0.3
_DROPPED = word_set("the a an now currently actually just also already still nowadays officially jetzt ahora désormais")
_PAST_BE = frozenset(("was", "were"))
_LASTING = word_set("based living working employed enrolled located married registered staying")
_MODALS = word_set("can could should would may might will must shall")
_VAGUE_STARTS = word_set("it this that these those there they he she wow yeah thanks")
_CLAUSE_STARTS = word_set("and but so because when while which who that if as or")
_PARTICIPLES = word_set("born written made built founded sung led held won drawn done")
_NOT = frozenset(("not", "nicht", "no", "pas", "não", "не", "नहीं", "لا", "ليس"))
_ARROWS = ("→", "->", "=>")
_ARROW = re.compile(rf"(\S+)\s*(?:{'|'.join(_ARROWS)})\s*\S+")
_SAYS_CHANGE: frozenset[str] = frozenset(("change", "weak change", "retraction"))
_LATER_WORD = re.compile(r"(?<=[\w,;:)'’] )[^\W\d_][\w'’.-]*")


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
    cues = newer.cues
    if _is_rejected(older, newer) or "open" in cues or not _is_same_speaker(older, newer):
        return None
    says_so = "change" in cues or "retraction" in cues
    if not says_so and ("tentative" in cues or "addition" in cues):
        return None
    frame = _align(older.words, newer.words)
    if older.speaker or newer.speaker:  # people repeat themselves when they talk: only frames, and what is taken back
        return _judge_frame(frame, older, newer) or _judge_relation(older, newer) or _judge_taking_back(older, newer)
    if not says_so and frame.prefix and _differ_in_case(frame) and "open" not in older.cues:
        return None
    if older.label and newer.label and _label_stems(older) and _label_stems(older) == _label_stems(newer):
        return _judge_label(older, newer, is_same_place=is_same_place)
    link = _judge_frame(frame, older, newer) or _judge_number(older, newer) or _judge_relation(older, newer)
    if not link and "change" in cues:
        link = _judge_announcement(older, newer) or _judge_move(older, newer)
    return link or _judge_change(older, newer)


def _differ_in_case(frame: _Frame) -> bool:
    """Return whether each of two values holds for another case: `30 seconds for reads`, `60 seconds for writes`."""
    cases = [_read_case(value) for value in (frame.older, frame.newer)]
    has_cases = bool(frame.prefix) and all(cases) and cases[0] != cases[1]
    return has_cases and not any(is_number(word) for case in cases for word in case)


def _read_case(value: list[str]) -> list[str]:
    """Return what follows the first preposition within a value: when, where or for whom it holds."""
    at = next((at for at, word in enumerate(value) if at and word in CASE_PREPOSITIONS), len(value))
    return value[at + 1 :]


def _is_rejected(older: Statement, newer: Statement) -> bool:
    """Return whether a person said that neither of two statements replaces the other, or that the older one holds."""
    if older.answers.confirmed and hash_words(newer.words) in older.answers.confirmed:
        return True
    pairs = ((older, newer), (newer, older))
    return any(one.answers.rejected and hash_words(two.words) in one.answers.rejected for one, two in pairs)


def _is_same_speaker(older: Statement, newer: Statement) -> bool:
    """Return whether `I` means the same person in both."""
    if older.speaker == newer.speaker:
        return True
    return FIRST_PERSON.isdisjoint(older.words) and FIRST_PERSON.isdisjoint(newer.words)


def _label_stems(statement: Statement) -> frozenset[str]:
    return frozenset(content_stems(statement.label.split())) if statement.label else frozenset()


def _judge_label(older: Statement, newer: Statement, *, is_same_place: bool) -> Link | None:
    """Return a link for two lines with one label, unless it may mean something else in every place."""
    stems = _label_stems(newer)
    if not FREE_LABELS.isdisjoint(stems) or (stems <= CONTEXT_LABELS and not is_same_place):
        return None
    says_more = set(older.stems) <= set(newer.stems) and "change" not in newer.cues and not _denies(older, newer)
    if says_more or (not is_same_place and _tell_two_stories(older, newer)):
        return None
    return Link("frame", f"the same label: {newer.label}", newer.label)


def _tell_two_stories(older: Statement, newer: Statement) -> bool:
    """Return whether two lines with one label say much, and nothing of the same: `Evening: …` of two days."""
    told = [set(each.stems) - _label_stems(each) for each in (older, newer)]
    return min(map(len, told)) >= _MIN_STORY_STEMS and told[0].isdisjoint(told[1])


def _judge_frame(frame: _Frame, older: Statement, newer: Statement) -> Link | None:
    if not frame.older or not frame.newer or not (frame.prefix or len(frame.suffix) >= _MIN_ROLE_WORDS):
        return None
    if older.speaker and not (_MODALS.isdisjoint(frame.prefix) and _is_value(frame.older) and _is_value(frame.newer)):
        return None
    if _is_required_version(frame):
        return Link("frame", f"another version is {frame.suffix[1]}", " ".join(frame.prefix))
    frame = _extend_names(frame, older.text, newer.text)
    if max(len(frame.older), len(frame.newer)) > _MAX_VALUE_WORDS or _differs_in_subject(frame):
        return None
    is_version = _has_one_value(frame, older, newer) if frame.prefix else _is_unique_role(frame, older, newer)
    if not is_version:
        return None
    shown = " ".join([*frame.prefix, "…", *frame.suffix])
    return Link("frame", f"says the same with another value: {shown}", shown)


def _differs_in_subject(frame: _Frame) -> bool:
    """Return whether two statements are about different things: `bug 12 is fixed` and `bug 13 is fixed`."""
    if not frame.prefix or not frame.suffix:
        return False
    relation = find_relation((*frame.prefix, *frame.older, *frame.suffix))
    return relation is not None and relation.at > len(frame.prefix)


def _is_required_version(frame: _Frame) -> bool:
    """Return whether both say which version is required: `Python 3.11 is required`."""
    is_required = frame.suffix[:1] == ["is"] and frame.suffix[1:2] in (["required"], ["needed"])
    values = (frame.older, frame.newer)
    return is_required and bool(frame.prefix) and all(len(value) == 1 and is_number(value[0]) for value in values)


def _is_value(words: list[str]) -> bool:
    """Return whether words are not another clause: `…, and I live in Berlin`."""
    return words[0] not in _CLAUSE_STARTS and FIRST_PERSON.isdisjoint(words)


def _align(older: Sequence[str], newer: Sequence[str]) -> _Frame:
    """Return both statements side by side, without the words that change nothing."""
    old = _normalize(tuple(older))
    new = _normalize(tuple(newer))
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    prefix = list(old[:start])
    suffix = list(old[len(old) - end :])
    return _Frame(prefix, suffix, list(old[start : len(old) - end]), list(new[start : len(new) - end]))


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


@lru_cache(maxsize=4096)
def _normalize(words: tuple[str, ...]) -> tuple[str, ...]:
    plain = ["is" if word in ("are", "am") else word for word in words if word not in _DROPPED]
    for at in range(len(plain) - 1):
        if plain[at] == "will" and plain[at + 1] == "be":
            return (*plain[:at], "is", *plain[at + 2 :])
    return tuple(plain)


def _has_one_value(frame: _Frame, older: Statement, newer: Statement) -> bool:
    """Return whether what both statements begin with has one value at a time."""
    relation = find_relation(tuple(frame.prefix))
    if relation is None:
        return _is_free_value(frame, older, newer)
    tail = frame.prefix[relation.at + 1 :]
    verb = frame.prefix[relation.at]
    if not MANY_VALUED.isdisjoint((verb, *tail)):
        return False
    values = (frame.older, frame.newer)
    has_preposition = bool(tail) and tail[-1] in PREPOSITIONS
    are_states = _are_states(values)
    if (any(value[0] in PREPOSITIONS for value in values) and not are_states) or "not" in (*frame.older, *frame.newer):
        return False
    if relation.kind in ("home", "work", "go", "play", "speak", "mean", "fate", "belong"):
        return has_preposition and (tail[0] in PREPOSITIONS or not older.speaker or len(tail) == 3)
    if relation.kind == "prefer":
        return True
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


def _is_one_predicate(
    frame: _Frame, subject: tuple[str, ...], verb: str, tail: list[str], older: Statement, newer: Statement
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
    roles = FAVOURITES if older.speaker else ROLES
    return any(word in roles for word in (*subject, *frame.prefix))


def _are_states(values: tuple[list[str], list[str]]) -> bool:
    """Return whether both values begin with a state, and not with the same: `on`, `blocked by the audit`."""
    older, newer = values
    return older[0] in STATES and newer[0] in STATES and older[0] != newer[0]


def _is_single_valued(tail: list[str]) -> bool:
    """Return whether what follows `is` has one value: `located in`, `the capital of`; not `allergic to`."""
    return any(word in SINGLE_VALUED or word in ROLES for word in tail)


def _have_same_type(frame: _Frame, older: Statement, newer: Statement) -> bool:
    """Return whether both values are names, or addresses and files, or both have a number."""
    if _is_name(frame.older, older.text) and _is_name(frame.newer, newer.text):
        return True
    if _is_address(frame.older) and _is_address(frame.newer):
        return True
    numbers = [set(filter(is_number, value)) for value in (frame.older, frame.newer)]
    return all(numbers) and numbers[0] != numbers[1]


def _is_address(value: list[str]) -> bool:
    """Return whether a value is one word such as a host, a file or an address."""
    return len(value) == 1 and any(mark in value[0] for mark in "._@/")


def _has_owner(prefix: list[str], text: str) -> bool:
    """Return whether a subject says whose it is, or has a name."""
    return not FIRST_PERSON.isdisjoint(prefix) or any(
        f"{word[:1].upper()}{word[1:]}" in text or (len(word) > 1 and word.upper() in text) for word in prefix[1:-1]
    )


def _is_free_value(frame: _Frame, older: Statement, newer: Statement) -> bool:
    """Return whether a note without a verb that we know ends with another name or number."""
    words = [*frame.prefix, *frame.suffix]
    if newer.cues.isdisjoint(CHANGES):  # two calls, two tickets, two things that it supports
        return False
    if older.speaker or not EVENT_WORDS.isdisjoint(words) or not SENTIMENT_STEMS.isdisjoint(map(stem, words)):
        return False
    values = (frame.older, frame.newer)
    if len(content_stems(frame.prefix)) < 2 or frame.suffix:
        return all(all(map(is_number, value)) for value in values) and len(content_stems(words)) >= 2
    if any(len(value) > 3 for value in values):
        return False
    return all(_is_name(value[-1:], text) for value, text in zip(values, (older.text, newer.text), strict=True))


def _is_unique_role(frame: _Frame, older: Statement, newer: Statement) -> bool:
    """Return whether the statements say of two persons that each has a role that one has at a time."""
    if len(frame.suffix) < _MIN_ROLE_WORDS or len(content_stems(frame.suffix)) < 2:
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


def _judge_relation(older: Statement, newer: Statement) -> Link | None:
    """Return a link where somebody lives or works somewhere, and moved to somewhere else."""
    first = older.relation
    second = newer.relation
    if not first or not second or first.kind not in ("home", "work"):
        return None
    if (first.kind, first.subject) != (second.kind, second.subject) or newer.cues.isdisjoint(CHANGES):
        return None
    value = set(content_stems(older.words[first.at + 1 :]))
    moved = set(content_stems(newer.words[second.at + 1 :]))
    if not value or not moved or value & moved:
        return None
    if not (_is_place(older, first.at) and _is_place(newer, second.at)):
        return None
    return Link("correction", "says that it changed", " ".join((*first.subject, first.kind)))


def _is_place(statement: Statement, at: int) -> bool:
    """Return whether the verb is followed by a preposition and a name."""
    words = statement.words[at + 1 : at + 4]
    names = set(_names(statement.text))
    return any(word in PREPOSITIONS and after in names for word, after in pairwise(words))


def _judge_number(older: Statement, newer: Statement) -> Link | None:
    """Return a link where a note says the same of the same things with another number, date or time."""
    if not _has_same_subject(older, newer):
        return None
    old_numbers = set(filter(is_number, older.words))
    new_numbers = set(filter(is_number, newer.words))
    if not old_numbers or not new_numbers or old_numbers <= new_numbers or _is_event(older) or _is_event(newer):
        return None
    shared, share = _weigh_shared(older, newer)
    shared = {each for each in shared if not is_number(each)}
    if share < _MIN_SHARES["number"] or len(shared) < 2 or not _names_subject(older, newer):
        return None
    if len(shared) < _MIN_SHARE_OF_NUMBERS * len(set(newer.stems)):
        return None
    return Link("frame", "says the same with another number", " ".join(sorted(shared)))


def _has_same_subject(older: Statement, newer: Statement) -> bool:
    """Return whether two statements say something of exactly the same thing: not of `chapter 3` and `chapter 4`."""
    if older.label or newer.label:
        return older.label == newer.label
    if not older.relation or not newer.relation:
        return False
    return older.relation[:2] == newer.relation[:2]


def _is_event(statement: Statement) -> bool:
    """Return whether a statement tells of something that happened once."""
    return not EVENT_WORDS.isdisjoint(statement.words)


def _weigh_shared(older: Statement, newer: Statement) -> tuple[set[str], float]:
    """Return what both statements are about, and its share of what the older is about. Names weigh more."""
    weights = _weigh_stems(older.text, older.stems)
    shared = weights.keys() & newer.stems
    total = sum(weights.values())
    return shared, sum(weights[each] for each in shared) / total if total else 0.0


@lru_cache(maxsize=4096)
def _weigh_stems(text: str, stems: tuple[str, ...]) -> dict[str, float]:
    """Return how much each stem of a statement says of what it is about; cached, as it is compared with many."""
    names = {stem(word) for word in _names(text)}
    return {each: _weigh(each, names) for each in stems if not each[0].isdigit()}


def _weigh(each: str, names: set[str]) -> float:
    if each in GENERIC or is_number(each):
        return _GENERIC_WEIGHT
    return _NAME_WEIGHT if each in names else 1.0


@lru_cache(maxsize=4096)
def _names(text: str) -> Sequence[str]:
    """Return the words within a text that begin with a capital letter."""
    return [word for name in _LATER_WORD.findall(text) if name[0].isupper() for word in split_words(fold(name))]


def _judge_announcement(older: Statement, newer: Statement) -> Link | None:
    announcement = find_announcement(older, newer)
    return Link(*announcement) if announcement else None


def _judge_move(older: Statement, newer: Statement) -> Link | None:
    """Return a link where the newer note says that a date or a number of the same thing changed."""
    moved = _read_moved(newer)
    if not moved or "open" in older.cues or _is_event(older):
        return None
    subject = _read_subject(older, "")
    if max(len(subject), len(moved)) > _MAX_SUBJECT_TOPICS or moved[0] not in subject:
        return None
    shared = set(subject).intersection(moved)
    if len(shared) < _MIN_SHARE_OF_SUBJECT * max(len(subject), len(moved)):
        return None
    return Link("correction", "says that it changed", " ".join(sorted(shared)))


@lru_cache(maxsize=1024)
def _read_moved(newer: Statement) -> list[str]:
    """Return the topics of a statement that says that something changed; cached, as it is compared with many."""
    return _read_subject(newer, find_cue(fold(newer.text), "change"))


def _read_subject(statement: Statement, cue: str) -> list[str]:
    """Return the topics before the first number of a statement, without those of a cue; empty if it has no number."""
    skipped = set(content_stems(split_words(cue)))
    at = next((at for at, each in enumerate(statement.stems) if is_number(each)), 0)
    return [each for each in _topics(statement.stems[:at]) if each not in skipped]


def _judge_change(older: Statement, newer: Statement) -> Link | None:
    """Return a link where the newer note says that something changed and is about the same thing."""
    if "open" not in older.cues and not _may_say_change(newer):
        return None
    if _is_vague(older) or not YOU.isdisjoint(newer.words):
        return None
    shared, share = _weigh_shared(older, newer)
    about = " ".join(sorted(shared))
    if "open" in older.cues:
        return Link("answer", "answers what was open", about) if _is_answer(shared, share, newer) else None
    if _is_renamed(older, newer):
        return Link("correction", "gives it another name", about)
    topics = _topics(shared)
    is_enough = len(topics) >= 2 or (bool(topics) and share >= _MIN_SHARE_OF_ONE)
    if not is_enough or len(shared) < _MIN_SHARE_OF_NEWER * len(set(newer.stems)):
        return None
    if "retraction" in newer.cues and share >= _MIN_SHARES["strong"]:
        return Link("retraction", "takes it back", about)
    is_strong = _says_change(older, newer, "change") or _denies(older, newer)
    is_weak = _says_change(older, newer, "weak change") and (
        share >= _MIN_SHARES["subject"] or _names_subject(older, newer)
    )
    if (is_strong and share >= _MIN_SHARES["strong"]) or (is_weak and share >= _MIN_SHARES["weak"]):
        return Link("correction", "says that it changed", about)
    return None


def _is_vague(statement: Statement) -> bool:
    """Return whether a statement points at what it is about, or is said to somebody: `That's great for you!`"""
    return statement.words[0] in _VAGUE_STARTS or not YOU.isdisjoint(statement.words)


def _may_say_change(newer: Statement) -> bool:
    """Return whether a closer look may find that something changed: most statements have no such word."""
    if not newer.cues.isdisjoint(_SAYS_CHANGE) or not _NOT.isdisjoint(newer.words):
        return True
    return any(arrow in newer.text for arrow in _ARROWS)


def _is_answer(shared: set[str], share: float, newer: Statement) -> bool:
    """Return whether a note may answer a question: it has a good part of what the question is about."""
    if newer.label and len(shared) == 1:
        return shared == _label_stems(newer) and shared.isdisjoint(FREE_LABELS) and bool(_topics(shared))
    topics = _topics(shared)
    has_date = any(is_number(each) and each.isalpha() for each in shared)
    return len(topics) + has_date >= 2 and bool(topics) and share >= _MIN_SHARES["answer"]


def _topics(stems: Iterable[str]) -> list[str]:
    """Return the stems that say what a statement is about."""
    return [each for each in stems if each not in GENERIC and not is_number(each)]


def _says_change(older: Statement, newer: Statement, cue: Cue) -> bool:
    """Return whether the newer statement says that something changed, in words that the older one does not have."""
    return cue in newer.cues and find_cue(fold(newer.text), cue) not in fold(older.text)


def _denies(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement has `not` before a word of the older one, which does not have it there."""
    return not (_denied_stems(newer) - _denied_stems(older)).isdisjoint(older.stems)


def _denied_stems(statement: Statement) -> set[str]:
    return {stem(after) for word, after in pairwise(statement.words) if word in _NOT}


def _is_renamed(older: Statement, newer: Statement) -> bool:
    match = _ARROW.search(fold(newer.text)) if any(arrow in newer.text for arrow in _ARROWS) else None
    return match is not None and match[1] in older.words and bool(_topics([stem(match[1])]))


def _names_subject(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement names what the older one is about."""
    if older.label:
        subject = set(_label_stems(older))
    elif older.relation:
        subject = set(older.relation.subject).difference(FIRST_PERSON)
    else:
        return True
    return len(subject.intersection(newer.stems)) * 2 >= len(subject)


def _judge_taking_back(older: Statement, newer: Statement) -> Link | None:
    """Return a link where a speaker takes back what they said: `I used to like it, but not any more`."""
    if not newer.taken_back or older.speaker != newer.speaker or FIRST_PERSON.isdisjoint(older.words):
        return None
    clause = set(newer.taken_back)
    shared = clause.intersection(older.stems)
    names = {stem(word) for word in _names(older.text)} & shared
    if names & _liked_stems(older.words, _MAX_NAME_DISTANCE):
        return Link("retraction", "takes it back", " ".join(sorted(shared)))
    if not shared or len(shared) < _MIN_SHARE_OF_CLAUSE * len(clause):
        return None
    is_done = not NEEDS.isdisjoint(older.words) and not DONE.isdisjoint(newer.words)
    is_clear = len(shared) >= 2 and (is_done or len(names) >= 2)
    if not is_clear and not _liked_stems(older.words, _MAX_OBJECT_DISTANCE) & shared:
        return None
    return Link("retraction", "takes it back", " ".join(sorted(shared)))


def _liked_stems(words: Sequence[str], distance: int) -> set[str]:
    """Return the stems shortly after a word that says what somebody likes or dislikes."""
    pairs = enumerate(zip(("", *words), words, strict=False))
    places = [at for at, (before, word) in pairs if stem(word) in SENTIMENT_STEMS and before not in NO_FEELING]
    return {stem(word) for at in places for word in words[at + 1 : at + 1 + distance]}
