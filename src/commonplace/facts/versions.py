"""Which of two statements is the newer version of the other, by rule. When in doubt, neither is.

A frame is what two statements have in common: they begin and end alike and differ in one span, the value. Only where
the relation has one value at a time (`relations.py`) is the newer value a version of the older one. Without a frame,
the newer statement has to say that something changed, and to be about the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from ..caching import cache_within
from ..patterns import lazy_pattern
from .changes import count_alike, find_change, repeats_retraction, replaces_other, says_change
from .claims import read_topics
from .collecting_labels import collect_things
from .completions import completes, drops, is_task, leaves_open, tells_done
from .cues import CHANGE_CUES, Cue, find_cue, has_cue
from .distinctions import are_told_apart, have_other_subjects
from .evidence import find_by_evidence, is_likely
from .frames import Frame, align, judge_frame, normalize_words
from .glances import MAX_NEWER_WORDS, MAX_OLDER_WORDS, count_words
from .links import Link, LinkKind, hash_words
from .relations import CONTEXT_LABELS, EVENT_WORDS, FIRST_PERSON, GENERIC, ROLES, YOU
from .retractions import find_given_up, judge_taking_back, read_given_up
from .slots import find_new_value
from .statements import Statement, read_main_clauses
from .states import Verdict, compare_states, find_ended, is_about
from .words import ARTICLES, TITLES, content_stems, is_number, list_capitalised, split_words, stem, word_set

_CASE_PREPOSITIONS = word_set("values", "CASE_PREPOSITIONS")
_FREE_LABELS = frozenset(stem(word) for word in word_set("values", "FREE_LABELS"))
# The share of the older statement's topics that the newer one has to name.
_MIN_SHARES = {"strong": 0.4, "weak": 0.6, "answer": 0.4, "label": 0.2}
_MIN_SHARE_OF_ONE = 0.75  # of what the older is about, if both have one word in common
_MIN_SHARE_OF_NEWER = 0.27  # of its words, since a long sentence shares some with any
_MIN_SHARE_OF_SUBJECT = 0.5  # of the shared topics, if the newer statement changes a date or a number
_MAX_SUBJECT_TOPICS = 3
_MAX_DECISION_STEMS = 6
_MIN_SHARE_OF_DETAILS = 0.3  # that two lines with one name have in common
_MAX_SHORT_STEMS = 2  # of a value
_NAME_WEIGHT = 2.0
_GENERIC_WEIGHT = 0.3
_AFTER_NOT = ARTICLES | word_set("versions", "AFTER_NOT")
_NOT = frozenset(("not", "nicht", "no", "pas", "não", "не", "नहीं", "لا", "ليس"))
_STATE_LINKS: dict[Verdict, tuple[LinkKind, str]] = {
    "changed": ("correction", "says that it changed"),
    "ended": ("retraction", "says that it ended"),
}
_MANY_VALUED_KINDS = ("speak", "play")  # of relations: a second language does not replace the first
_PAST = word_set("versions", "PAST")
_ARROWS = ("→", "->", "=>")
_ARROW = lazy_pattern(rf"(\S+)\s*(?:{'|'.join(_ARROWS)})\s*\S+")


def judge(
    older: Statement, newer: Statement, *, is_same_place: bool = False, may_be_linked: bool = False
) -> Link | None:
    """Return how the newer statement replaces the older one; None if it does not, or if that is not certain.

    `is_same_place`: both are on one page, or under one key, so that a short label means the same in both.
    `may_be_linked`: the caller knows already that `may_be_versions` is true of them.
    """
    if _completes(older, newer):
        return None if _is_rejected(older, newer) else Link("done", "says that it is done")
    if older.words == newer.words:
        return None
    if drops(older.text, older.box, newer.text) and _is_same_speaker(older, newer):
        return None if _is_rejected(older, newer) else Link("retraction", "says that it will not be done")
    if newer.answers.confirmed and hash_words(older.words) in newer.answers.confirmed:
        return Link("confirmed", "marked as its successor on the page")
    if not may_be_linked and not may_be_versions(older, newer):
        return None
    cues = newer.cues
    if _is_rejected(older, newer) or "open" in cues or not _is_same_speaker(older, newer):
        return None
    if not cues.isdisjoint(("tentative", "addition")) and "retraction" not in cues:
        return None
    link = _find_link(older, newer, is_same_place=is_same_place)
    if link and (
        are_told_apart(older, newer, has_one_subject=link.has_one_subject) or _leaves_open(older, newer, link)
    ):
        return None
    if link and not older.speaker and "open" not in older.cues and replaces_other(older, newer):
        return None
    if link and link.kind == "retraction" and repeats_retraction(older, newer):
        return None
    return None if link and _is_about_another_task(older, newer, link) else link


def _is_about_another_task(older: Statement, newer: Statement, link: Link) -> bool:
    """Return whether a note that corrects something says nothing of what a task is to do (`ask Priya` of Priya), or
    that another task is done."""
    if link.kind not in ("correction", "frame") or older.label:
        return False
    if not is_task(older.text, older.box):
        return False
    return tells_done(newer.text, newer.box) or (bool(older.stems) and older.stems[0] not in newer.stems)


def _leaves_open(older: Statement, newer: Statement, link: Link) -> bool:
    """Return whether a statement only says that a task is not done yet; that it need not be done would be a
    retraction."""
    return link.kind != "retraction" and leaves_open(older.text, older.box, newer.text)


def _completes(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement says that the task of the older one is done."""
    is_of_others = older.speaker and newer.speaker and older.speaker != newer.speaker
    return not is_of_others and completes(older.text, older.box, newer.text, newer.box)


def _find_link(older: Statement, newer: Statement, *, is_same_place: bool) -> Link | None:
    """Return how one statement replaces another, by the first rule that applies."""
    cues = newer.cues
    frame = align(older.words, newer.words)
    if older.speaker or newer.speaker:  # people repeat themselves in conversation: only frames and retractions count
        return judge_frame(frame, older, newer) or _judge_states(older, newer) or judge_taking_back(older, newer)
    says_so = "change" in cues or "retraction" in cues
    if not says_so and frame.prefix and _differ_in_case(frame, older, newer) and "open" not in older.cues:
        return None
    if older.label and newer.label and _label_stems(older) and _label_stems(older) == _label_stems(newer):
        return _judge_label(older, newer, is_same_place=is_same_place)
    link = judge_frame(frame, older, newer)
    if link or _is_prose(older, newer):
        return link
    if link := _judge_clauses(older, newer):
        return link
    if link := _judge_states(older, newer):
        return link
    link = _find_by_rule(older, newer)
    if link:
        return link if is_likely(older, newer) else None
    return find_by_evidence(older, newer)


def _judge_clauses(older: Statement, newer: Statement) -> Link | None:
    """Return a link if one clause of the newer note gives the same thing another value: `More people are coming, we
    need 32 chairs`."""
    for clause in read_main_clauses(newer):
        if link := judge_frame(align(older.words, clause.words), older, clause):
            return link
    return None


def _find_by_rule(older: Statement, newer: Statement) -> Link | None:
    """Return a link by the first rule that needs no frame, without weighing the evidence."""
    has_many = older.relation is not None and older.relation.kind in _MANY_VALUED_KINDS
    if has_many and "retraction" not in newer.cues:
        return None
    link = _judge_move(older, newer) if "change" in newer.cues else None
    link = link or find_given_up(older, newer) or find_change(older, newer) or _judge_change(older, newer)
    return link or (None if have_other_subjects(older, newer) else find_new_value(older, newer))


def _is_prose(older: Statement, newer: Statement) -> bool:
    """Return whether one of two statements is as long as a sentence of an article, which shares words by chance."""
    return count_words(older) > MAX_OLDER_WORDS or count_words(newer) > MAX_NEWER_WORDS


def may_be_versions(older: Statement, newer: Statement) -> bool:
    """Return whether a closer look may find a link: most pairs have nothing that any rule needs."""
    if _completes(older, newer) or drops(older.text, older.box, newer.text):
        return True
    old = normalize_words(older.words)
    new = normalize_words(newer.words)
    if old[:1] == new[:1] or old[-2:] == new[-2:] or newer.taken_back or (older.label and newer.label):
        return True
    if any(old[:1] == normalize_words(clause.words)[:1] for clause in read_main_clauses(newer)):
        return True
    if older.speaker or newer.speaker:  # without a frame, only states can link them
        may_change = _may_say_change(newer)
    elif _is_prose(older, newer):
        return False
    else:
        may_change = "open" in older.cues or _may_say_change(newer)
        may_change = (
            may_change
            or says_change(newer)
            or bool(read_given_up(newer.text))
            or len(set(older.stems).intersection(newer.stems)) > 1
        )
    if may_change or is_about(older.words, find_ended(newer.text)):
        return True
    return compare_states(older.text, newer.text, says_change=False) is not None


def _differ_in_case(frame: Frame, older: Statement, newer: Statement) -> bool:
    """Return whether two values are for different cases: `30 seconds for reads`, `60 seconds for writes`."""
    cases = [_read_case(value) for value in (frame.older, frame.newer)]
    has_cases = bool(frame.prefix) and all(cases) and cases[0] != cases[1]
    if not (_gives_value(frame.older, cases[0], older.text) and _gives_value(frame.newer, cases[1], newer.text)):
        return False
    return has_cases and not any(is_number(word) for case in cases for word in case)


def _gives_value(value: list[str], case: list[str], text: str) -> bool:
    """Return whether a number or a name stands before the case that it is for."""
    words = value[: len(value) - len(case)]
    return any(is_number(word) or word in list_capitalised(text) for word in words)


def _read_case(value: list[str]) -> list[str]:
    """Return what follows the first preposition within a value: when, where or for whom it is true."""
    at = next((at for at, word in enumerate(value) if at and word in _CASE_PREPOSITIONS), len(value))
    return value[at + 1 :]


def _is_rejected(older: Statement, newer: Statement) -> bool:
    """Return whether a person said that neither of two statements replaces the other, or that the older one is true."""
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
    """Return a link for two lines with one label, unless the label may mean something else on each page."""
    stems = _label_stems(newer)
    if _is_free(newer) or (stems <= CONTEXT_LABELS and not is_same_place):
        return None
    if _list_letters(older.label) != _list_letters(newer.label):  # `size M`, `size L`
        return None
    if collect_things(older, newer):
        return None
    says_more = set(older.stems) <= set(newer.stems) and "change" not in newer.cues and not _denies(older, newer)
    if says_more or _give_other_details(older, newer):
        return None
    return Link("frame", f"has the same label: {newer.label}", newer.label)


def _list_letters(label: str) -> list[str]:
    return [word for word in label.split() if len(word) == 1 and word.isalpha() and word not in ARTICLES]


def _is_free(statement: Statement) -> bool:
    """Return whether a label says nothing about what follows: its last word is a plain noun, as in `Meeting room`."""
    return content_stems(statement.label.split())[-1] in _FREE_LABELS


def _give_other_details(older: Statement, newer: Statement) -> bool:
    """Return whether a label names somebody or something, and each line gives another detail: `Max: size 29`, `Max:
    allergic to penicillin`. If there is one value, the label says of what (`Deadline`, `wifi password`), or the lines
    are short."""
    labels = _label_stems(newer)
    is_value = not labels.isdisjoint(CONTEXT_LABELS | ROLES) or len(labels) > 1
    if is_value or "change" in newer.cues:
        return False
    known = labels | TITLES
    details = [{each for each in one.stems if each not in known and not is_number(each)} for one in (older, newer)]
    smaller = min(map(len, details))
    if smaller <= 1 and max(map(len, details)) <= _MAX_SHORT_STEMS:
        return False
    return len(details[0] & details[1]) < _MIN_SHARE_OF_DETAILS * smaller or not smaller


def _judge_states(older: Statement, newer: Statement) -> Link | None:
    """Return a link if something has another value now, or no longer exists: `lives in`, then `moved to`."""
    verdict = compare_states(older.text, newer.text, says_change=not CHANGE_CUES.isdisjoint(newer.cues))
    if verdict and verdict[0] != "other":
        kind, reason = _STATE_LINKS[verdict[0]]
        return Link(kind, reason, " ".join((*verdict[1].subject, verdict[1].relation)))
    ended = find_ended(newer.text)
    if ended and is_about(older.words, ended) and not _is_past(older):
        return Link("retraction", "says that it is no more", " ".join(ended))
    return None


def _is_past(statement: Statement) -> bool:
    """Return whether a statement is about the past: it stays true even if its subject no longer exists."""
    return _is_event(statement) or not _PAST.isdisjoint(statement.words) or bool(find_ended(statement.text))


def _is_event(statement: Statement) -> bool:
    """Return whether a statement reports a single event."""
    return not EVENT_WORDS.isdisjoint(statement.words)


def _weigh_shared(older: Statement, newer: Statement) -> tuple[set[str], float]:
    """Return the topics that both statements share, and their share of the older one's topics. Names weigh more."""
    weights = _weigh_stems(older.text, older.stems)
    shared = weights.keys() & newer.stems
    total = sum(weights.values())
    return shared, sum(weights[each] for each in shared) / total if total else 0.0


@cache_within(2_000_000)
def _weigh_stems(text: str, stems: tuple[str, ...]) -> dict[str, float]:
    """Return how much each stem of a statement says about its topic; cached, as it is compared with many."""
    names = {stem(word) for word in list_capitalised(text)}
    return {each: _weigh(each, names) for each in stems if not each[0].isdigit()}


def _weigh(each: str, names: set[str]) -> float:
    if each in GENERIC or is_number(each):
        return _GENERIC_WEIGHT
    return _NAME_WEIGHT if each in names else 1.0


def _judge_move(older: Statement, newer: Statement) -> Link | None:
    """Return a link if the newer note changes a date or a number of the same thing."""
    moved = _read_moved(newer)
    if not moved or "open" in older.cues or _is_event(older):
        return None
    subject = _read_subject(older, "")
    if max(len(subject), len(moved)) > _MAX_SUBJECT_TOPICS or moved[0] not in subject:
        return None
    shared = set(subject).intersection(moved)
    if len(shared) < _MIN_SHARE_OF_SUBJECT * max(len(subject), len(moved)):
        return None
    if not count_alike(older, newer) or have_other_subjects(older, newer):
        return None
    return Link("correction", "says that it changed", " ".join(sorted(shared)))


@cache_within(2_000_000)
def _read_moved(newer: Statement) -> list[str]:
    """Return the topics of a statement that says that something changed; cached, as it is compared with many."""
    return _read_subject(newer, find_cue(newer.folded, "change"))


def _read_subject(statement: Statement, cue: str) -> list[str]:
    """Return the topics before the first number of a statement, without those of a cue; empty if it has no number."""
    skipped = set(content_stems(split_words(cue)))
    at = next((at for at, each in enumerate(statement.stems) if is_number(each)), 0)
    return [each for each in _topics(statement.stems[:at]) if each not in skipped]


def _judge_change(older: Statement, newer: Statement) -> Link | None:
    """Return a link if the newer note says that something changed and is about the same thing."""
    if "open" not in older.cues and not _may_say_change(newer):
        return None
    if not YOU.isdisjoint(newer.words):
        return None
    shared, share = _weigh_shared(older, newer)
    about = " ".join(sorted(shared))
    if "open" in older.cues:
        if not older.is_question and have_other_subjects(older, newer):
            return None
        is_answer = _is_answer(shared, share, newer) or _is_decision(older, newer, shared)
        return Link("answer", "answers what was open", about) if is_answer else None
    if _is_renamed(older, newer):
        return Link("correction", "gives it another name", about)
    topics = _topics(shared)
    is_enough = len(topics) >= 2 or share >= _MIN_SHARE_OF_ONE
    if not is_enough or len(shared) < _MIN_SHARE_OF_NEWER * len(set(newer.stems)) or _is_event(older):
        return None
    if have_other_subjects(older, newer) or replaces_other(older, newer):
        return None
    if _says_change(older, newer, "retraction") and share >= _MIN_SHARES["strong"]:
        return Link("retraction", "takes it back", about)
    is_strong = _says_change(older, newer, "change") or _denies(older, newer)
    is_weak = _says_change(older, newer, "weak change") and _gives_new_value(older, newer)
    if (is_strong and share >= _MIN_SHARES["strong"]) or (is_weak and share >= _MIN_SHARES["weak"]):
        return Link("correction", "says that it changed", about)
    return None


def _gives_new_value(older: Statement, newer: Statement) -> bool:
    """Return whether the newer note has a number or a name that the older one lacks, and does not repeat all of the
    older."""
    if set(older.stems) <= set(newer.stems):
        return False
    is_cased = any(letter.islower() for letter in newer.text)
    return not is_cased or any(
        is_number(word) or word in list_capitalised(newer.text) for word in set(newer.words) - set(older.words)
    )


def _may_say_change(newer: Statement) -> bool:
    """Return whether a closer look may find that something changed: most statements have no such word."""
    if not newer.cues.isdisjoint(CHANGE_CUES) or not _NOT.isdisjoint(newer.words):
        return True
    return any(arrow in newer.text for arrow in _ARROWS)


def _is_answer(shared: set[str], share: float, newer: Statement) -> bool:
    """Return whether a note may answer a question: it has a good part of what the question is about."""
    if newer.label and len(shared) == 1:
        is_label = shared == _label_stems(newer) and shared.isdisjoint(_FREE_LABELS) and bool(_topics(shared))
        return is_label and share >= _MIN_SHARES["label"]  # a long sentence is not about every name in it
    topics = _topics(shared)
    has_date = any(is_number(each) and each.isalpha() for each in shared)
    return len(topics) + has_date >= 2 and bool(topics) and share >= _MIN_SHARES["answer"]


def _is_decision(older: Statement, newer: Statement, shared: set[str]) -> bool:
    """Return whether a note says what was decided about something that an older one calls open; one common word is
    enough."""
    is_open = has_cue(older.folded, "open")
    about = shared & read_topics(newer.text) & read_topics(older.text)
    return is_open and "decision" in newer.cues and bool(_topics(about)) and len(newer.stems) <= _MAX_DECISION_STEMS


def _topics(stems: Iterable[str]) -> list[str]:
    """Return the stems that say what a statement is about."""
    return [each for each in stems if each not in GENERIC and not is_number(each)]


def _says_change(older: Statement, newer: Statement, cue: Cue) -> bool:
    """Return whether the newer statement says that something changed, in words that the older one does not have."""
    return cue in newer.cues and find_cue(newer.folded, cue) not in older.folded


def _denies(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement has `not` before a word of the older one, which does not have it there."""
    return not (_denied_stems(newer) - _denied_stems(older)).isdisjoint(older.stems)


def _denied_stems(statement: Statement) -> set[str]:
    words = [word for word in statement.words if word not in _AFTER_NOT]
    return {stem(after) for word, after in pairwise(words) if word in _NOT}


def _is_renamed(older: Statement, newer: Statement) -> bool:
    match = _ARROW.search(newer.folded) if any(arrow in newer.text for arrow in _ARROWS) else None
    return match is not None and match[1] in older.words and bool(_topics([stem(match[1])]))
