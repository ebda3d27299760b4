"""Who has a role after whom, and what somebody has a new one of: `Ewa is the new designer`, `Ruth has a new address`.

A role with `the` or `our` before it has one holder at a time. Whoever gets it replaces the one before, and who is
promoted is no longer what they were. In the forms (`forms.py`), `H` is the holder, `R` the role, `T` what somebody has,
and `V` its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import split_clauses
from .forms import Form, compile_forms
from .links import Link
from .statements import Statement
from .value_words import CHARGES, KIN, TITLES
from .words import (
    compile_pattern,
    content_stems,
    fold,
    has_kana_or_kanji,
    is_capitalised,
    read_table,
    split_words,
    word_set,
)

Phase = Literal["holds", "is", "gets", "rises", "leaves"]
_UNSPACED: tuple[tuple[Phase, str], ...] = (
    ("gets", "(?P<h>[^，,。的は]{2,6}?)(?:现在)?是(?:我们的)?新(?:的|任)?(?P<r>[^，,。的]{2,8})$"),
    ("gets", "(?:我们的)?新(?:的|任)?(?P<r>[^，,。的是]{2,8})是(?P<h>[^，,。的]{2,6})$"),
    ("holds", "(?P<h>[^，,。的は新]{2,6}?)是(?:我们的)?(?P<r>[^，,。的新]{2,8})$"),
    ("holds", "(?:我们的)?(?P<r>[^，,。的是新]{2,8})是(?P<h>[^，,。的新]{2,6})$"),
    ("gets", "新しい(?P<r>[^、。はが]{2,8})は(?P<h>[^、。はが]{2,8}?)(?:さん|先生)?(?:です|だ|になりました)?$"),
    (
        "gets",
        "(?P<h>[^、。はが]{2,8}?)(?:さん|先生)?[がは]新しい(?P<r>[^、。はが]{2,8}?)(?:です|だ|になりました|になった)$",
    ),
    ("holds", "(?P<r>[^、。はが新]{2,8})は(?P<h>[^、。はが]{2,8}?)(?:さん|先生)?(?:です|だ)?$"),
    ("holds", "(?P<h>[^、。はが]{2,8}?)(?:さん|先生)?[がは](?P<r>[^、。はが新]{2,8}?)(?:です|だ)$"),
)
_SLOTS = {
    "H": r"(?P<h>\S+(?: \S+){0,3}?)",
    "R": r"(?P<r>\S+(?: \S+){0,3}?)",
    "T": r"(?P<t>\S+(?: \S+){0,2}?)",
    "V": r"(?P<v>\S.*)",
    "X": r"\S+(?: \S+){0,2}?",
}
_LAST_SLOTS = {
    "R": _SLOTS["R"] + r"(?: (?P<q>(?:of|for|at|in|on|von|vom|für|der|des|de|del|do|da|du|d|di|della|van|voor) .*))?"
}
_NO_HOLDERS = word_set("successions", "NO_HOLDERS")
_FAMILY = KIN | word_set("successions", "RANKS")
_JOBS = word_set("successions", "JOBS")
_UNIQUE = word_set("successions", "UNIQUE")
_GENDERS = frozenset(
    {("", "in"), ("", "a"), ("o", "a"), ("", "e"), ("er", "ère"), ("eur", "euse"), ("eur", "rice"), ("ore", "rice")}
    | {("en", "enne"), ("", "ка"), ("ь", "ница"), ("ão", "ã"), ("", "esse"), ("or", "ora")}
)
_DASH = lazy_pattern(r"(?<=[а-яё]) [–—-] (?=[а-яё])", re.IGNORECASE)  # for `is`: `Анна — наш дизайнер`
_ORDER: tuple[Phase, ...] = ("leaves", "rises", "gets", "holds", "is")
_MIN_ROOT = 4


class Role(NamedTuple):
    """Who has a role, gets it, or leaves. `scope`: of what it is the role."""

    phase: Phase
    holder: frozenset[str]
    words: tuple[str, ...] = ()
    scope: frozenset[str] = frozenset()


def find_succession(older: Statement, newer: Statement) -> Link | None:
    """Return how the newer statement gives a role of the older one to somebody else, or its holder another role; or how
    it replaces something that somebody has."""
    changes = [role for role in read_roles(newer.text) if role.phase in ("gets", "rises", "leaves")]
    for role in read_roles(older.text) if changes else ():
        for change in changes:
            if link := _compare(role, change):
                return link
    if any(change.phase == "leaves" and _is_in_charge(older, change.holder) for change in changes):
        return Link("retraction", "says that it ended", " ".join(sorted(changes[0].holder)))
    return None


def _compare(role: Role, change: Role) -> Link | None:
    about = " ".join(role.words)
    if role.phase == "leaves":
        return None
    if change.phase == "leaves":
        is_ended = role.phase in ("holds", "gets") and role.holder == change.holder and _is_office(role)
        return Link("retraction", "says that it ended", about) if is_ended else None
    is_same_role = _are_same(role.words, change.words) and (not change.scope or change.scope == role.scope)
    if role.holder.isdisjoint(change.holder):
        is_unique = role.phase != "is" and (change.phase == "gets" or change.words[0] in _UNIQUE)
        return (
            Link("correction", "has another holder", about, has_one_subject=True)
            if is_same_role and is_unique
            else None
        )
    is_job = _is_job(role) and _is_job(change)
    if change.phase == "rises" and role.holder == change.holder and is_job and not is_same_role:
        return Link("correction", "has another role", about)
    return None


def _is_office(role: Role) -> bool:
    return _FAMILY.isdisjoint(role.words)


def _is_job(role: Role) -> bool:
    return not _JOBS.isdisjoint(role.words) and _FAMILY.isdisjoint(role.words)


def _is_in_charge(older: Statement, holder: frozenset[str]) -> bool:
    """Return whether a statement says of somebody what they are in charge of: `Marta leads the backend team`."""
    relation = older.relation
    if not relation or relation.kind != "own" or CHARGES.isdisjoint(older.words):
        return False
    return frozenset(relation.subject) == frozenset(content_stems([*holder]))


def _are_same(first: Sequence[str], second: Sequence[str]) -> bool:
    return len(first) == len(second) and all(map(_is_same_word, first, second))


def _is_same_word(first: str, second: str) -> bool:
    """Return whether two words for a role are the same, but for whether a man or a woman has it."""
    if first == second:
        return True
    shared = next(at for at, pair in enumerate(zip(f"{first} ", f"{second}\n", strict=False)) if pair[0] != pair[1])
    for at in range(shared, _MIN_ROOT - 1, -1):
        endings = (first[at:], second[at:])
        if endings in _GENDERS or endings[::-1] in _GENDERS:
            return True
    return False


@cache_within(500_000)
def read_roles(text: str) -> tuple[Role, ...]:
    """Return what a note says of roles; cached, as a note is compared with many."""
    plain = _DASH.sub(" ", text)
    return tuple(dict.fromkeys(role for clause in split_clauses(plain) for role in _read_clause(clause)))


def _read_clause(clause: str) -> Iterator[Role]:
    folded = fold(clause).rstrip(".!。")
    if has_kana_or_kanji(folded):
        for phase, pattern in _UNSPACED:
            if match := re.match(pattern, folded):
                yield Role(phase, frozenset((match["h"],)), (match["r"],))
                return
        return
    words = split_words(folded)
    joined = " ".join(words)
    for form in _compile_forms():
        match = None if form.triggers.isdisjoint(words) else compile_pattern(form.pattern).match(joined)
        role = _make_role(form.tag, match, clause) if match else None
        if role:
            yield role
            return


def _make_role(phase: Phase, match: re.Match[str], clause: str) -> Role | None:
    slots = match.groupdict()
    holder = [word for word in slots["h"].split(" ") if word not in TITLES]
    if not holder or not _NO_HOLDERS.isdisjoint(holder) or not _are_capitalised(holder, clause):
        return None
    words = tuple(slots.get("r", "").split(" ")) if slots.get("r") else ()
    if phase != "leaves" and (not words or all(word.isdigit() for word in words)):
        return None
    scope = frozenset(content_stems((slots.get("q") or "").split(" ")[1:]))
    return Role(phase, frozenset(holder), words, scope)


def _are_capitalised(words: Sequence[str], text: str) -> bool:
    """Return whether words may be a name in a text: each has a capital letter, or is of a script without them."""
    return all(not word.isalpha() or word.upper() == word or is_capitalised(word, text) for word in words)


@cache
def _compile_forms() -> list[Form[Phase]]:
    forms = read_table("successions", "FORMS")
    table = [(phase, forms[phase]) for phase in _ORDER]
    return compile_forms(table, _SLOTS, _LAST_SLOTS, longest_first=True, is_whole=True)
