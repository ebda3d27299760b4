"""What statements say of one thing with other verbs: `is written in React`, `is now owned by the payments squad`.

Both hold, though the second one says `now`. Verbs that may change each other are of one group (`owned by`, `maintained
by`), and a state (`disabled`, `published`) may be changed by any.
"""

from __future__ import annotations

from typing import NamedTuple

from ..patterns import lazy_pattern
from .cues import has_cue
from .statements import Statement
from .states import compare_states, strip_articles
from .value_words import ARTICLES, PREPOSITIONS, STATES
from .words import content_stems, is_number, stem, word_set

_BE = word_set("is are am ist sind wird werden est sont es son está están é são è sono")
_ADVERBS = word_set(
    """
    now currently also already fully finally officially jetzt nun inzwischen mittlerweile ahora ya actualmente
    maintenant désormais agora já adesso ora теперь
    """
)
# Verbs of one group say the same side of something; a stem may be the beginning of several words.
_GROUPS = tuple(
    frozenset(map(stem, word_set(each)))
    for each in (
        """
        owned maintained managed led run handled headed overseen supervised assigned administered looked operated
        chaired taught coached own maintain manage lead handle gepflegt betreut geleitet verwaltet mantenido gestionado
        llevado dirigido gérée géré maintenu dirigé mantido gerenciado liderado
        """,
        """
        hosted deployed running run runs stored located based kept parked served installed lives lived living moved
        housed placed staying residing gehostet gespeichert betrieben alojado guardado hébergé stocké hospedado
        """,
        """
        written rewritten built rebuilt implemented made coded developed ported powered based converted migrated done
        created designed using uses geschrieben gebaut umgesetzt entwickelt escrito hecho desarrollado écrit écrite
        développé développée construit feito desenvolvido
        """,
        """
        scheduled planned set due run runs running moved held executed triggered started postponed starts takes meets
        booked pushed geplant angesetzt programado planificado prévu prévue programmé planejado
        """,
        "married engaged dating divorced single seeing separated verheiratet verlobt casado casada marié mariée",
        """
        works working worked employed studies studying freelancing teaching teaches interning consulting retired
        contracting leading leads arbeitet travaille trabaja trabalha
        """,
        "drives driving rides riding cycles cycling commutes commuting walks walking takes taking",
        "eats eating vegan vegetarian drinks drinking avoids avoiding",
        "rented leased let sold bought vermietet alquilado loué alugado",
        "paid billed charged invoiced priced costs",
        "sent delivered shipped posted mailed published released",
        "painted coloured colored",
        "uses using used prefers preferring switched",
    )
)
_PARTICIPLES = word_set(
    """
    written rewritten built rebuilt made run held led kept set sold bought sung drawn done taught overseen shown sent
    paid given taken driven grown found fed put cut bound hung lent lit split spread
    escrito escrita hecho hecha feito feita écrit écrite construit construite maintenu scritto fatto
    """
)
_PARTICIPLE = lazy_pattern(
    r"[a-z]{2,}(?:ed|wn)|[a-záéíóúñç]{2,}[ai]d[oa]s?|[a-zàâçèéêîôû]{2,}ée?s?|[a-z]{2,}at[oaie]|[a-zäöüß]{2,}iert"
    r"|(?:\w{2,})?ge[a-zäöüß]{3,}(?:t|en)|(?:be|ver|er|ent|über|unter)[a-zäöüß]{3,}(?:t|en)"
)
_GERUND = lazy_pattern(r"[a-z]{3,}ing|[a-záéíóúñ]{2,}(?:ando|iendo|endo|indo)")
_BARRIERS = word_set("behind under within hinter unter detrás bajo derrière sous atrás sob")
_GERMAN_BE = word_set("ist sind wird werden")
# A verb in the present: of English, German, and those that say so by a vowel.
_VERB = lazy_pattern(r"[a-zà-ÿß]{2,}(?:s|t|a|e)")
_MIN_WORDS = 2


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
    if not old or not new or not old.rest.isdisjoint(new.rest) or _changes_state(older, newer):
        return False
    if not new.verb or not old.verb:
        return new.verb != old.verb and old.preposition != new.preposition
    return old.verb != new.verb and not any(old.verb in group and new.verb in group for group in _GROUPS)


def _changes_state(older: Statement, newer: Statement) -> bool:
    """Return whether a verb of the newer statement changes the state that the older one tells of: `wohnt in`, `ist nach
    … gezogen`."""
    verdict = compare_states(older.text, newer.text, says_change=True)
    return verdict is not None and verdict[0] != "other"


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
