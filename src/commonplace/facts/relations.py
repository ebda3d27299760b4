"""Relations that have one value at a time: `X is …`, `lives in …`, `works at …`.

Relations with many values (`likes`, `visited`, `bought`) are left out: two of these are two facts. The words here show
how many values something has: roles held by one at a time, states, and what one may have several of.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .words import content_stems, fold, is_number, read_table, stem, word_set

_MAX_SUBJECT_WORDS = 16
_AM = "am"
_GERMAN_HAVE = frozenset(("hat", "haben", "habe"))
_WRITERS_VERBS = word_set("relations", "WRITERS_VERBS")
_LEADING = word_set("relations", "LEADING")
_POINTING = word_set("relations", "POINTING")
_NOUN_STARTS = word_set("relations", "NOUN_STARTS")
_CLAUSE_STARTS = frozenset(("that", "which", "who"))
ROLES = frozenset(form for word in word_set("values", "ROLES") for form in (word, stem(word)))
STATES = word_set("values", "STATES")
MANY_VALUED_NOUNS = word_set("values", "MANY_VALUED_NOUNS")
FREE_LABELS = frozenset(stem(word) for word in word_set("values", "FREE_LABELS"))
CONTEXT_LABELS = frozenset(stem(word) for word in word_set("values", "CONTEXT_LABELS"))
EVENT_WORDS = word_set("values", "EVENT_WORDS")
GENERIC_WORDS = word_set("values", "GENERIC_WORDS")
GENERIC = frozenset(map(stem, GENERIC_WORDS))
YOU = word_set("relations", "YOU")
FIRST_PERSON = word_set("relations", "FIRST_PERSON")


class Relation(NamedTuple):
    """The relation in a statement: what its subject is, does or has. `at`: the index of the verb among the words."""

    kind: str
    subject: tuple[str, ...]  # stems, or the pronoun of the first person
    at: int


def is_topic(stem: str) -> bool:
    """Return whether a stem says what a statement is about: it is no number, and not in many statements."""
    return stem not in GENERIC and not is_number(stem)


@cache
def list_verbs() -> dict[str, str]:
    """Return the verbs of relations with their kinds."""
    return {verb: kind for kind, verbs in read_table("relations", "KINDS").items() for verb in fold(verbs).split()}


def find_relation(words: tuple[str, ...]) -> Relation | None:
    """Return the first relation of a statement whose subject it names; None if it has none."""
    verbs = list_verbs()
    is_clause = False  # `the music that she plays is …`
    for at, word in enumerate(words[: _MAX_SUBJECT_WORDS + 1]):
        is_clause = is_clause or word in _CLAUSE_STARTS
        kind = verbs.get(word) if word != _AM or is_form_of_be(word, words[at - 1]) else None
        if kind and not at and word in _WRITERS_VERBS:
            return Relation(kind, ("i",), 0)
        if not kind or not at:
            continue
        is_noun = kind != "be" and words[at + 1 : at + 2] in (("is",), ("are",), ("was",))  # `the play is …`
        is_noun = is_noun or (kind != "be" and words[at - 1] in _NOUN_STARTS)
        if not is_noun and (kind == "be" or not is_clause):
            subject = _read_subject(words[:at])
            return Relation(kind, subject, at) if subject else None
    return None


def is_form_of_be(word: str, before: str) -> bool:
    """Return whether a word is `are` or `am`. In German, `Training am Montag` is said instead of `ist am Montag`; not
    `Max hat am Montag Training`."""
    return word == "are" or (word == _AM and before not in _GERMAN_HAVE)


def _read_subject(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return who or what a statement is about; empty if it is only a pronoun."""
    start = 0
    while start < len(words) - 1 and words[start] in _LEADING:
        start += 1
    named = words[start:]
    if not named or named[-1] in _POINTING or named[0] in _POINTING:
        return ()
    if all(word in FIRST_PERSON for word in named):
        return (named[0],)
    owner = tuple(word for word in named if word in FIRST_PERSON)
    stems = tuple(content_stems(named))
    return (*owner, *stems) if stems else ()
