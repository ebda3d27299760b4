"""Which side of something a statement tells of: a change of one leaves the others as they are.

A promotion says nothing of where somebody lives, an upgrade nothing of where a program runs, parental leave nothing of
who leads a team. `distinctions.py` asks here whether the newer of two statements changes what the older one tells.
"""

from __future__ import annotations

import re

from ..patterns import lazy_pattern
from .claims import split_clauses
from .cues import has_cue
from .relations import Relation
from .statements import Statement
from .states import is_about
from .value_words import ARTICLES, NAMING, PREPOSITIONS
from .words import content_stems, fold, is_number, is_unspaced, list_capitalised, split_words, stem, word_set

# Somebody is away for a while, and stays what they are.
_ABSENCE = lazy_pattern(
    r"\b(?:on (?:\w+ )?(?:leave|vacation|holidays?|sabbatical|a break)|(?:off|home|out) sick|is (?:sick|ill|unwell)"
    r"|out of (?:the )?office|in elternzeit|im (?:mutterschutz|urlaub|sabbatical)|ist (?:\w+ )?krank\w*"
    r"|de (?:baja|vacaciones|permiso|excedencia|férias|licença)|está (?:enferm[oa]|doente)|en congé|en vacances"
    r"|est malade|en arrêt maladie|in ferie|in maternità|in congedo|è malat[oa]|met (?:verlof|vakantie)|is ziek"
    r"|в отпуске|в декрете|на больничном|болеет|छुट्टी पर|बीमार है)\b|في إجازة|休假|产假|请假|病假|休暇|休職|育休|産休"
)
_PROMOTION = lazy_pattern(
    r"\b(?:promoted|demoted|befördert|ascendid[oa]|ascendieron|promue?|promovid[oa]|promoss[oa]|повысили|повышена?)\b"
    r"|तरक्की|ترقية|升职|升为|晋升|昇進"
)
_RESIGNATION = lazy_pattern(
    r"\S+(?: \S+)? (?:has |have |hat |haben |ha |han |a |ont )?(?:just )?(?:resigned|quit|retired|gekündigt"
    r"|renunci(?:ó|ado)|dimitió|dimitido|démissionné|pediu demissão|se demitiu|si è dimess[oa]|уволил(?:ся|ась))"
)
_UPGRADE = lazy_pattern(
    r"\b(?:up|down)grad(?:ed|es|ing) (?:\S+ ){0,4}?to (?P<product>[^\W\d][\w+#-]*) v?\d"
    r"|\bauf (?P<produkt>[^\W\d][\w+#-]*) v?\d\S* (?:aktualisiert|angehoben|umgestellt|gehoben)"
)
_RENAMING = lazy_pattern(
    r"\b(?:renamed|rebranded|umbenannt|renombrad\w|renommée?s?|renomead\w|rinominat\w|переименова\w+)\b"
)
_MOVE = lazy_pattern(r"\b(?:moved|moves|relocated|transferred|umgezogen|zieht)\b")
_VERSION = lazy_pattern(r"(?<=[^\W\d_] )v?\d+(?:\.\d+)+\b")
_OWNED = lazy_pattern(r"(?:and |but )?(?:his|her|their|its) (?P<thing>\w+)", re.IGNORECASE)
_LIKES = word_set(
    """
    like likes liked love loves enjoy enjoys hate hates dislikes mag liebt hasst gusta gustan encanta odia aime adore
    déteste gosta adora odeia ama piace люблю любит нравится
    """
)
_BORN = word_set("born geboren nació nacido nacida né née naquit nasceu nascido nascida nato nata родился родилась")
_HAVE = word_set("has have hat habe haben tiene tienen tengo tem têm tenho")
_ROLE_KINDS = ("be", "own")
_ROLE_PREPOSITIONS = word_set("as als como comme come")


def are_of_other_aspects(older: Statement, newer: Statement, *, has_one_subject: bool) -> bool:
    """Return whether the newer statement is about a different side of the same thing than the older one."""
    old = fold(older.text)
    new = fold(newer.text)
    first_clause = fold(split_clauses(newer.text)[0]) if newer.words else ""
    if not has_one_subject and _ABSENCE.search(first_clause) and not _ABSENCE.search(old):
        return True
    if _PROMOTION.search(new) and not _may_tell_role(older):
        return True
    if _RESIGNATION.fullmatch(first_clause.rstrip(".!。")) and not _may_tell_work(older):
        return True
    if _upgrades_another(older, new) or _moves_version(old, new) or _is_renamed_as_subject(older, newer):
        return True
    if not _BORN.isdisjoint(older.words) and _BORN.isdisjoint(newer.words):
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


def _is_renamed_as_subject(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement gives something a new name, and the older one is not about its name."""
    is_renaming = _RENAMING.search(fold(newer.text)) is not None and not is_unspaced(older.words[0])
    if not is_renaming or not NAMING.isdisjoint(older.words):
        return False
    return any(is_about(older.words, (word,)) for word in newer.words)


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
