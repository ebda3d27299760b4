"""Which side of something a statement tells of, and of which day: a change of one leaves the others as they are.

A promotion says nothing of where somebody lives, `is written in React` nothing of whose it is, and the weight of today
nothing of yesterday. `distinctions.py` asks here whether the newer of two statements changes what the older one tells.
Verbs that may change each other are of one group (`owned by`, `maintained by`); any may change a state (`disabled`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..patterns import lazy_pattern
from .claims import split_clauses
from .cues import has_cue
from .relations import Relation
from .statements import Statement
from .states import strip_articles
from .value_words import ARTICLES, PREPOSITIONS, STATES
from .words import (
    content_stems,
    fold,
    is_number,
    join_phrases,
    list_capitalised,
    phrase_pattern,
    read_list,
    split_words,
    stem,
    word_set,
    word_sets,
)

_PROMOTION = phrase_pattern("distinctions", "PROMOTION")
_RESIGNATION = lazy_pattern(
    r"\S+(?: \S+)? (?:has |have |hat |haben |ha |han |a |ont )?(?:just )?(?:resigned|quit|retired|gekündigt"
    r"|renunci(?:ó|ado)|dimitió|dimitido|démissionné|pediu demissão|se demitiu|si è dimess[oa]|уволил(?:ся|ась))"
)
_UPGRADE = lazy_pattern(
    r"\b(?:up|down)grad(?:ed|es|ing) (?:\S+ ){0,4}?to (?P<product>[^\W\d][\w+#-]*) v?\d"
    r"|\bauf (?P<produkt>[^\W\d][\w+#-]*) v?\d\S* (?:aktualisiert|angehoben|umgestellt|gehoben)"
)
_MOVE = lazy_pattern(r"\b(?:moved|moves|relocated|transferred|umgezogen|zieht)\b")
_VERSION = lazy_pattern(r"(?<=[^\W\d_] )v?\d+(?:\.\d+)+\b")
_OWNED = lazy_pattern(r"(?:and |but )?(?:his|her|their|its) (?P<thing>\w+)", re.IGNORECASE)
_LIKES = word_set("distinctions", "LIKES")
_HAVE = word_set("distinctions", "HAVE")
_ROLE_KINDS = ("be", "own")
_ROLE_PREPOSITIONS = word_set("distinctions", "ROLE_PREPOSITIONS")
_BE = word_set("relations", "BE")
_ADVERBS = word_set("relations", "ADVERBS")
_GROUPS = tuple(frozenset(map(stem, group)) for group in word_sets("relations", "VERB_GROUPS"))
_PARTICIPLES = word_set("relations", "PARTICIPLES")
_PARTICIPLE = lazy_pattern(
    r"[a-z]{2,}(?:ed|wn)|[a-záéíóúñç]{2,}[ai]d[oa]s?|[a-zàâçèéêîôû]{2,}ée?s?|[a-z]{2,}at[oaie]|[a-zäöüß]{2,}iert"
    r"|(?:\w{2,})?ge[a-zäöüß]{3,}(?:t|en)|(?:be|ver|er|ent|über|unter)[a-zäöüß]{3,}(?:t|en)"
)
_GERUND = lazy_pattern(r"[a-z]{3,}ing|[a-záéíóúñ]{2,}(?:ando|iendo|endo|indo)")
_BARRIERS = word_set("relations", "BARRIERS")
_GERMAN_BE = word_set("relations", "GERMAN_BE")
# A verb in the present: of English, German, and those that say so by a vowel.
_VERB = lazy_pattern(r"[a-zà-ÿß]{2,}(?:s|t|a|e)")
_MIN_WORDS = 2
# Not `since today`, which goes on.
NOT_SINCE = "".join(f"(?<!{word} )" for word in read_list("days", "SINCE").split())
_PART_OF_DAY = phrase_pattern("days", "PART_OF_DAY")
_MONTH = lazy_pattern(NOT_SINCE + join_phrases("days", "MONTH"))
_FIXED = lazy_pattern(
    r"(?:corrigée?s?|réparée?s?|résolue?s?|corregid[oa]s?|arreglad[oa]s?|resuelt[oa]s?|corrigid[oa]s?|consertad[oa]s?"
    r"|resolvid[oa]s?|behoben|gefixt|fixed|corrett[oa]|risolt[oa]|исправлен[ао]?|исправил[аи]?|починил[аи]?)\b"
)
CLOCK = lazy_pattern(
    r"\b\d{1,2}[:h.]\d\d\b|\b\d{1,2} ?(?:am|pm|h|uhr|बजे)(?!\w)|\d{1,2} ?[点點時时]"
    r"|\b(?:at|um|à|a las?|às|alle|в|to|until|till|bis|до) \d{1,2}\b"
)
_WEEKLY = phrase_pattern("days", "WEEKLY")


def are_of_other_aspects(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement is about a different side of the same thing than the older one."""
    old = older.folded
    new = newer.folded
    first_clause = fold(split_clauses(newer.text)[0]) if newer.words else ""
    if _PROMOTION.search(new) and not _may_tell_role(older):
        return True
    if _RESIGNATION.fullmatch(first_clause.rstrip(".!。")) and not _may_tell_work(older):
        return True
    if _upgrades_another(older, new) or _moves_version(old, new):
        return True
    return _is_liked(older, newer) or _is_of_owned(older, newer) or _have_other_things(older, newer)


def _may_tell_role(older: Statement) -> bool:
    """Return whether a statement may say what somebody's role is, rather than where they live."""
    relation: Relation | None = older.relation
    if not relation:
        return True
    after = older.words[relation.at + 1 : relation.at + 2]
    if relation.kind in _ROLE_KINDS:
        return ARTICLES.issuperset(after) or PREPOSITIONS.isdisjoint(after)
    return not _ROLE_PREPOSITIONS.isdisjoint(after)


def _may_tell_work(older: Statement) -> bool:
    """Return whether a statement may say who somebody works for, or as what."""
    relation: Relation | None = older.relation
    return not relation or relation.kind in ("work", "own") or (relation.kind == "be" and _may_tell_role(older))


def _upgrades_another(older: Statement, new: str) -> bool:
    """Return whether the newer statement is about another version of something that the older one does not name."""
    match = _UPGRADE.search(new)
    return match is not None and stem(match["product"] or match["produkt"]) not in older.stems


def _moves_version(old: str, new: str) -> bool:
    """Return whether the older statement gives a version, and the newer one says where something moved."""
    return bool(_VERSION.search(old) and _MOVE.search(new)) and not _VERSION.search(new)


def _is_liked(older: Statement, newer: Statement) -> bool:
    """Return whether the older statement says what somebody likes, and the newer one that a time or number changed."""
    if _LIKES.isdisjoint(older.words) or not _LIKES.isdisjoint(newer.words) or "retraction" in newer.cues:
        return False
    return any(map(is_number, newer.words)) and not any(map(is_number, older.words))


def _have_other_things(older: Statement, newer: Statement) -> bool:
    """Return whether somebody has different things at different times: `Max has judo on Mondays`, `… a test on
    Friday`."""
    things: list[set[str]] = []
    for words in (older.words, newer.words):
        at = next((at for at, word in enumerate(words) if word in _HAVE), len(words))
        things.append({each for each in content_stems(words[at + 1 :]) if not is_number(each)})
    has_number = any(map(is_number, older.words)) and any(map(is_number, newer.words))
    return has_number and all(things) and things[0].isdisjoint(things[1])


def _is_of_owned(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement is about something that belongs to whom the older one is about, or about
    another of their things: `Tom got married, his wife lives in Rome` does not say where Tom lives."""
    first, *others = split_clauses(newer.text) or ("",)
    clauses = [(clause, match) for clause in others if (match := _OWNED.match(clause))]
    if not clauses or has_cue(fold(first), "retraction"):
        return False
    common = set(older.stems).intersection(content_stems(split_words(fold(first))))
    names = {stem(word) for word in (*split_words(fold(first))[:1], *list_capitalised(newer.text))}
    if not common <= names:
        return False
    return all(stem(match["thing"]) not in older.stems for _, match in clauses) and any(
        not set(older.stems).isdisjoint(content_stems(split_words(fold(clause)))) for clause, _ in clauses
    )


class Predicate(NamedTuple):
    """What a statement says of its subject: the stem of a participle or verb, and the stems after it."""

    verb: str
    rest: frozenset[str]
    preposition: str = ""  # after a participle, or instead of one


def have_other_predicates(older: Statement, newer: Statement) -> bool:
    """Return whether two statements say something of one thing with verbs of which neither changes the other."""
    if older.label or newer.label or older.is_question or "retraction" in newer.cues:
        return False
    said = _leave_out_adverbs(newer)
    at = next((at for at, word in enumerate(said) if at and word in _BE), 0)
    before = _leave_out_adverbs(older)
    if not at or said[:at] != before[:at]:
        return False
    new = _read_predicate(said[at:])
    old = _read_predicate(before[at:])
    if not old or not new or not old.rest.isdisjoint(new.rest):
        return False
    if not new.verb or not old.verb:
        return new.verb != old.verb and old.preposition != new.preposition
    return old.verb != new.verb and not any(old.verb in group and new.verb in group for group in _GROUPS)


def _leave_out_adverbs(statement: Statement) -> list[str]:
    return [word for word in strip_articles(statement.words) if word not in _ADVERBS]


def _read_predicate(words: list[str]) -> Predicate | None:
    """Return the predicate that words begin with; None if they have none, or only say what something is."""
    if len(words) < _MIN_WORDS:
        return None
    verb, first, *rest = words
    if verb not in _BE:
        is_verb = _VERB.fullmatch(verb) is not None and verb not in PREPOSITIONS
        return Predicate(stem(verb), frozenset(content_stems(words[1:]))) if is_verb else None
    if first in ARTICLES or first in STATES or is_number(first):
        return None
    if verb in _GERMAN_BE:
        end = words[-1]
        is_participle = bool(rest) and _is_participle(end)
        return Predicate(stem(end), frozenset(content_stems(words[1:-1]))) if is_participle else None
    if first in _BARRIERS:
        return Predicate("", frozenset(content_stems(rest)), first)
    if not _is_participle(first) and rest and first not in PREPOSITIONS:  # `rate limited`
        first, *rest = rest
    return Predicate(stem(first), frozenset(content_stems(rest)), "".join(rest[:1])) if _is_participle(first) else None


def _is_participle(word: str) -> bool:
    """Return whether a word is a participle of a verb that does not itself tell of a change, as `moved` does."""
    if word in STATES or has_cue(word, "change"):
        return False
    return word in _PARTICIPLES or any(pattern.fullmatch(word) for pattern in (_PARTICIPLE, _GERUND))


def are_of_other_days(older: Statement, newer: Statement) -> bool:
    """Return whether each of two statements holds on another day, and the newer one does not say that this changed."""
    old = older.folded
    new = newer.folded
    if _PART_OF_DAY.search(old) and _PART_OF_DAY.search(new):
        return True
    if _FIXED.match(old) and _FIXED.match(new):
        return True
    if "change" in newer.cues:
        return False
    if _MONTH.search(new) and not _MONTH.search(old):
        return True
    return not newer.label and "weak change" not in newer.cues and _give_other_times(old, new)


def _give_other_times(old: str, new: str) -> bool:
    """Return whether each gives the time of another day of the week."""
    times = [set(CLOCK.findall(text)) for text in (old, new)]
    days = [set(_WEEKLY.findall(text)) for text in (old, new)]
    return all(times) and all(days) and times[0].isdisjoint(times[1]) and days[0].isdisjoint(days[1])
