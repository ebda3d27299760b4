"""Sentences that announce a change of one thing: moved to another tool, given up, or renamed.

`We migrated the tests to Vitest.` shares one word with `We use Jest for tests.`, too few for the general rule. Its
form says which word is the subject, so that one is enough, if the older statement says what is used for it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..caching import cache_within
from .statements import Statement
from .words import content_stems, fold, split_words, word_set

_WORD = r"\w[\w-]*(?:\.\w[\w-]*)*"
_NOUN = rf"(?:the |our |my |all |its )?(?P<what>{_WORD}(?: {_WORD})?)"
_TARGET = rf"(?P<target>{_WORD}(?: {_WORD})?)"
_END = r"(?=[.,;:!]|$| (?:because|since|after|as|in|on|for|last|this|and)\b)"
_MIGRATED = re.compile(
    rf"\b(?:migrated|switched|ported|converted|rewrote) {_NOUN}(?: from \S+)? (?:over )?(?:to|in|into|with) {_TARGET}"
)
_GIVEN_UP = re.compile(
    r"\b(?:cancel(?:l?ed)|dropped|retired|uninstalled|discontinued|stopped using|no longer use|got rid of)"
    rf" {_NOUN}{_END}"
)
_RENAMED = re.compile(rf"\brenamed (?:the |our )?(?:\w+ )??(?P<what>{_WORD}) (?:to|into) (?P<target>{_WORD})")
_NEW_JOB = re.compile(r"\bnew (?:job|role|position) (?:at|with|for|in) (?P<target>\w+)")
_USING = word_set("use uses using run runs written built based hosted deployed with in on")
_USED = word_set("use uses using pay pays paying subscribe subscribed run runs")


class Announcement(NamedTuple):
    """What a sentence says of the statement that it replaces."""

    kind: str
    reason: str
    about: str


def find_announcement(older: Statement, newer: Statement) -> Announcement | None:
    """Return how a newer statement announces a change of what the older one says; None if it does not."""
    migrated, given_up, renamed, new_job = _match_announcements(newer.text)
    if migrated and _replaces_tool(older, migrated["what"], migrated["target"]):
        return Announcement("correction", "says that it changed", migrated["what"])
    if given_up and _uses(older, given_up["what"]):
        return Announcement("retraction", "says that it was given up", given_up["what"])
    if renamed and _is_called(older, renamed["what"], renamed["target"]):
        return Announcement("correction", "gives it another name", renamed["what"])
    if new_job and _works_elsewhere(older, newer, new_job["target"]):
        return Announcement("correction", "says that it changed", new_job[0])
    return None


@cache_within(500_000)
def _match_announcements(text: str) -> tuple[re.Match[str] | None, ...]:
    """Return the matches of all forms; cached, as a statement is compared with many."""
    folded = fold(text)
    return tuple(form.search(folded) for form in (_MIGRATED, _GIVEN_UP, _RENAMED, _NEW_JOB))


def _works_elsewhere(older: Statement, newer: Statement, target: str) -> bool:
    """Return whether the older statement says where the same person works, and that is somewhere else."""
    relation = older.relation
    if not relation or relation.kind != "work" or target in older.words:
        return False
    return set(relation.subject) <= {*newer.stems, *newer.words}


def _replaces_tool(older: Statement, what: str, target: str) -> bool:
    """Return whether the older statement says with what a thing is done, and that is something else."""
    subject = set(_stems(what))
    stems = set(older.stems)
    has_tool = bool(stems - subject) and stems.isdisjoint(_stems(target))
    return bool(subject) and subject <= stems and has_tool and not _USING.isdisjoint(older.words)


def _uses(older: Statement, what: str) -> bool:
    """Return whether the older statement says that a thing with a name is used."""
    stems = _stems(what)
    is_name = what[:1].upper() + what[1:] in older.text or what.upper() in older.text
    return bool(stems) and is_name and set(stems) <= set(older.stems) and not _USED.isdisjoint(older.words)


def _is_called(older: Statement, what: str, target: str) -> bool:
    """Return whether the older statement ends with the name that was given up."""
    return older.words[-1:] == (what,) and target not in older.words


def _stems(text: str) -> list[str]:
    return content_stems(split_words(text))
