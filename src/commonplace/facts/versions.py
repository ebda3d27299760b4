"""Which of two statements is the newer version of the other, by rule. When in doubt, neither is.

`judge` asks for what a person answered and for tasks that are done, then the rules in order, then the vetoes. The steps
are in the docstring of this folder.
"""

from __future__ import annotations

from .attributes import find_new_value
from .changes import (
    find_change,
    find_change_by_share,
    find_moved,
    repeats_retraction,
    replaces_other,
)
from .completions import drops, is_task, leaves_open, tells_done
from .cues import CHANGE_CUES
from .evidence import find_by_evidence, is_likely
from .frames import Frame, align, judge_frame
from .labels import judge_label
from .links import Link, LinkKind, hash_words
from .prefilter import completes_task, is_prose, is_same_speaker, may_fit_rule
from .retractions import find_given_up, judge_taking_back
from .statements import Statement, read_main_clauses
from .states import Verdict, compare_states, find_ended, is_about
from .vetoes import have_other_subjects, is_vetoed
from .words import is_amount, is_number, list_capitalised, word_set

_CASE_PREPOSITIONS = word_set("values", "CASE_PREPOSITIONS")
_STATE_LINKS: dict[Verdict, tuple[LinkKind, str]] = {
    "changed": ("correction", "says that it changed"),
    "ended": ("retraction", "says that it ended"),
}
_MANY_VALUED_KINDS = ("speak", "play")  # of relations: a second language does not replace the first
_PAST = word_set("versions", "PAST")


def judge(
    older: Statement, newer: Statement, *, is_same_place: bool = False, may_be_linked: bool = False
) -> Link | None:
    """Return how the newer statement replaces the older one; None if it does not, or if that is not certain.

    `is_same_place`: both are on one page, or under one key, so that a short label means the same in both.
    `may_be_linked`: the caller knows already that `may_be_versions` is true of them.
    """
    if completes_task(older, newer):
        return None if _is_rejected(older, newer) else Link("done", "says that it is done")
    if older.words == newer.words:
        return None
    is_same = is_same_speaker(older, newer)
    if is_same and drops(older.text, older.box, newer.text):
        return None if _is_rejected(older, newer) else Link("retraction", "says that it will not be done")
    if newer.answers.confirmed and hash_words(older.words) in newer.answers.confirmed:
        return Link("confirmed", "marked as its successor on the page")
    if not is_same or not (may_be_linked or may_fit_rule(older, newer)):
        return None
    cues = newer.cues
    if _is_rejected(older, newer) or "open" in cues:
        return None
    if not cues.isdisjoint(("tentative", "addition")) and "retraction" not in cues:
        return None
    link = _find_link(older, newer, is_same_place=is_same_place)
    return None if link is None or _is_contradicted(older, newer, link) else link


def is_later_report(older: Statement, newer: Statement) -> bool:
    """Return whether two statements report the same with other numbers: `Deployed build 412`, `Deployed build 421`."""
    if older.speaker or newer.speaker or len(older.words) != len(newer.words) or older.words == newer.words:
        return False
    pairs = zip(older.words, newer.words, strict=True)
    return all(old == new or (is_amount(old) and is_amount(new)) for old, new in pairs)


def _is_contradicted(older: Statement, newer: Statement, link: Link) -> bool:
    """Return whether something in two statements speaks against a link that was found between them."""
    if is_vetoed(older, newer, has_one_subject=link.has_one_subject) or _leaves_open(older, newer, link):
        return True
    if not older.speaker and "open" not in older.cues and replaces_other(older, newer):
        return True
    if link.kind == "retraction" and repeats_retraction(older, newer):
        return True
    return _is_about_another_task(older, newer, link)


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


def _find_link(older: Statement, newer: Statement, *, is_same_place: bool) -> Link | None:
    """Return how one statement replaces another, by the first rule that applies."""
    cues = newer.cues
    frame = align(older.words, newer.words)
    if older.speaker or newer.speaker:  # people repeat themselves in conversation: only frames and retractions count
        return judge_frame(frame, older, newer) or _judge_states(older, newer) or judge_taking_back(older, newer)
    says_so = "change" in cues or "retraction" in cues
    if not says_so and frame.prefix and _differ_in_case(frame, older, newer) and "open" not in older.cues:
        return None
    if older.label_stems and older.label_stems == newer.label_stems:
        return judge_label(older, newer, is_same_place=is_same_place)
    link = judge_frame(frame, older, newer)
    if link or is_prose(older, newer):
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
    link = find_moved(older, newer) if "change" in newer.cues else None
    link = link or find_given_up(older, newer) or find_change(older, newer) or find_change_by_share(older, newer)
    return link or (None if have_other_subjects(older, newer) else find_new_value(older, newer))


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
    return statement.is_event or not _PAST.isdisjoint(statement.words) or bool(find_ended(statement.text))
