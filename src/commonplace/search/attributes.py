"""Attributes that a question asks for by name (a password, a port, a birthday, where somebody lives), and opposite
verbs.

The kind of value is not enough: a version is not a port, and `closes at 19:00` is not when the office opens. A text is
said to lack an attribute only if it has neither a word for it nor what may be its value. Patterns are compared with
folded text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..patterns import lazy_pattern
from .answer_kinds import find_asked_kinds, is_time_word
from .date_phrases import fold_phrase


class _Attribute(NamedTuple):
    """An attribute: the words that ask for it, the words that give it, and how its values are written."""

    asked: re.Pattern[str]
    told: re.Pattern[str]
    value: re.Pattern[str]


_SECRET_WORDS = (
    r"pass(?:word|phrase|code)s?|passwort\w*|kennwort\w*|contrasenas?|mots? de passe|senhas?|wachtwoord\w*|парол\w*"
)
_BIRTHDAY_WORDS = (
    r"birthdays?|bday|date of birth|geburtstag\w*|geburtsdatum|cumpleanos|cumple anos|compleanno"
    r"|anniversaire de (?!mariage)|aniversario|verjaardag|д(?:ень|ня|не) рождения"
)
_PLATE_WORDS = r"(?:licen[cs]e|number|registration) plates?|kennzeichen|matriculas?|immatriculation|plaque d'\w+|targa"
_LIVES_WORDS = (
    r"where (?:do|does|did|is) [^?]*\b(?:live|living)\b|wo wohn\w*|donde viv\w*|ou (?:habit\w*|vit|vivent)\b"
    r"|dove (?:abit|viv)\w*|onde (?:mora|vive)\w*|waar woon\w*|где жив\w*"
    r"|(?<!mail )(?<!ip )(?<!web )(?<!mac )\b(?:address|anschrift|wohnadresse) (?:of|von) "
    r"|'s (?:home )?address\b|adresse (?:von|de|du) |direccion de |indirizzo di |endereco d[aeo] "
)
_ATTRIBUTES = (
    _Attribute(
        lazy_pattern(rf"\b(?:{_SECRET_WORDS})\b"),
        lazy_pattern(
            rf"\b(?:{_SECRET_WORDS}|pw|pwd|logins?|credentials?|secrets?|zugangsdaten|clave|pin|code|codigo|key|token"
            r"|vault|safe|tresor)\b"
        ),
        lazy_pattern(r"[`\"“'«][^`\"”'»]+[`\"”'»]|[:=] ?\S"),
    ),
    _Attribute(
        lazy_pattern(
            r"\bports? [^?]*\b(?:listen\w*|runs?|running|uses?|serves?|lauft|laufen|lauscht|hort|nutzt|escucha|usa"
            r"|corre|ecoute|utilise|tourne)\b|\b(?:ports?|puertos?) (?:of|von|de|du|for|fur) \S*\d|\bpuerto escucha"
        ),
        lazy_pattern(r"\b(?:ports?|puertos?)\b"),
        lazy_pattern(r":\d{2,5}\b|(?<![\w.-])\d{3,5}(?![\w-])"),
    ),
    _Attribute(
        lazy_pattern(rf"\b(?:{_BIRTHDAY_WORDS})"),
        lazy_pattern(
            rf"\b(?:{_BIRTHDAY_WORDS}|anniversaire|born|birth|turn(?:s|ed)|geboren|geburt|wird \d+|nacio|nacid[oa]"
            r"|cumple\w*|nee?|ne le|nat[oa]|nasc\w*|fete\w*|party|celebrat\w*|feier\w*|fiesta|родил\w*)\b"
        ),
        lazy_pattern(r"(?<!\w)\*\s?\d"),
    ),
    _Attribute(
        lazy_pattern(rf"\b(?:{_PLATE_WORDS})\b"),
        lazy_pattern(rf"\b(?:{_PLATE_WORDS}|plates?|registered|zugelassen)\b"),
        lazy_pattern(r"\b[A-ZÄÖÜ]{1,3}[- ][A-Z]{0,3}[- ]?\d|\b\d{1,4}[- ]?[A-Z]{2,3}\b|\b[A-Z]+\d+[A-Z]*\b"),
    ),
    _Attribute(
        lazy_pattern(_LIVES_WORDS),
        lazy_pattern(
            r"\b(?:liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|address\w*|flat|apartment|house|home|street|road|lane|avenue"
            r"|neighbou?rs?|next door|based|wohn\w*|zieh\w*|zog\w*|umgezogen|anschrift|adresse\w*|nachbar\w*"
            r"|viv\w*|piso|calle|mud[aoe]\w*|direccion|casa|domicilio|vecin\w*|habit\w*|vit|demenag\w*|rue|appartement"
            r"|maison|log[e]\w*|voisin\w*|abit\w*|via|indirizzo|mora\w*|rua|endereco|woon\w*|adres)\b"
            r"|\w(?:strasse|str\.|weg|gasse|platz|allee|straat)\b"
        ),
        lazy_pattern(
            r"\b(?:in|at|near|from|to|off|nach|aus|bei|en|de|cerca|à|dans|près|em|di|te|uit) (?:[a-z]{2,3} )?"
            r"([A-ZÀ-Þ]\w+)|[–—:] ?([A-ZÀ-Þ]\w+)|\b\d+\w? ([A-ZÀ-Þ][a-zß-ÿ]+)|\b([A-ZÀ-Þ][a-zß-ÿ]+) \d+\b"
        ),
    ),
)


class _Verb(NamedTuple):
    """The forms of a verb that surely say when something does it, those that a question has as well, and other words
    that may tell the same."""

    forms: str
    asked: str
    others: str


_OPEN = _Verb(
    r"opens|opening|offnet|offnen|macht auf|abren?|abrir|ouvrent|ouvre|ouverture|apre|aprono",
    r"open|geoffnet|abiert[oa]s?|ouvert\w*|apert[oaie]",
    r"opened|hours|offnungszeit\w*|offen|horarios?|horaires?|from|ab",
)
_CLOSE = _Verb(
    r"closes|closing|close at|shuts|schliesst|schliessen|macht zu|cierran?|cierre|cerrar|ferment|ferme|fermeture"
    r"|chiude|chiudono|fecham?",
    r"close|shut|geschlossen|cerrad[oa]s?|ferme[es]?|chius[oaie]",
    r"closed|hours|until|till|bis|offnungszeit\w*|horarios?|horaires?|hasta|jusqu\w*|ate",
)
_START = _Verb(
    r"starts|started|begins|beg[au]n|beginnt|beginnen|startet|fangt|empieza[ns]?|empezo|comienzan?|inicia|debute"
    r"|commencent?|inizia|comeca",
    r"start|begin|starting|beginning|starten|empezar|comenzar|iniciar|debuter|commencer|iniziare|comecar|anfang\w*",
    r"kick ?off|launch\w*|from|since|ab|seit|von|vom|desde|inici\w*|debut|depuis|dal|inizio",
)
_END = _Verb(
    r"ends|ended|finish(?:es|ed)|expires|endet|enden|termina[ns]?|termino|acaban?|finalizan?|se termine|finit|finisce"
    r"|finiscono",
    r"end|finish|expire|terminar|acabar|terminer|finir|finire|ende",
    r"until|till|over|through|last\w*|bis|dauer\w*|hasta|fin|jusqu\w*|fino|fine|ate",
)
_ARRIVE = _Verb(
    r"arriv(?:es|ing)|arriv(?:e|ent) a|lands|ankunft|kommt [^.;\n]*\ban|llegan?|llegada|chega",
    r"arrive\w*|land|get in|ankommen|kommen [^.;\n]*\ban|llegar|llegamos|chegar",
    r"arriv\w*|reach\w*|gets? in|there|bis",
)
_LEAVE = _Verb(
    r"leaves|leaving|departs|departure|takes off|abfahrt|abflug|fahrt [^.;\n]*\bab|sale (?:a|de|desde|el|hacia)|salen"
    r"|salida|part (?:a|de|du|le|vers)|partent|parte (?:a|alle)|partenza|sai",
    r"leave|depart|take off|abfahren|fahren [^.;\n]*\bab|sale|salimos|salir|part|partir|parte|partons",
    r"left|from|ab|desde|depuis",
)
_OPPOSITES = tuple(
    (
        lazy_pattern(rf"\b(?:{one.forms}|{one.asked})\b"),
        lazy_pattern(rf"\b(?:{one.forms}|{one.asked}|{one.others})\b"),
        lazy_pattern(rf"\b(?:{other.forms})\b"),
    )
    for pair in ((_OPEN, _CLOSE), (_START, _END), (_ARRIVE, _LEAVE))
    for one, other in (pair, pair[::-1])
)
_RANGE = lazy_pattern(r"\d\w*(?:[:.]\d\d)? ?(?:uhr|h|am|pm)? ?(?:-|–|to|until|till|bis|al?|a las|au|ate) ?(?:las? )?\d")
_TIMES = frozenset(("clock", "date", "day"))


def lacks_attribute(question: str, text: str) -> bool:
    """Return whether a question asks for an attribute by its word, and a text has neither that nor what may be its
    value."""
    asked = fold_phrase(question)
    folded = fold_phrase(text)
    return any(
        each.asked.search(asked)
        and not each.told.search(folded)
        and not any(_may_be_value(match, asked) for match in each.value.finditer(text))
        for each in _ATTRIBUTES
    )


def _may_be_value(match: re.Match[str], asked: str) -> bool:
    """Return whether a value is neither a time nor a word of the question."""
    value = next((group for group in match.groups() if group), "")
    return not value or not (fold_phrase(value) in asked or is_time_word(value))


def says_opposite(question: str, text: str) -> bool:
    """Return whether a question asks when something begins, and a text only says when it ends, or the other way round;
    the same for opening and arriving."""
    if _TIMES.isdisjoint(find_asked_kinds(question)):
        return False
    asked = fold_phrase(question)
    folded = fold_phrase(text)
    return any(
        verb.search(asked) and not opposite.search(asked) and opposite.search(folded) and not told.search(folded)
        for verb, told, opposite in _OPPOSITES
    ) and not _RANGE.search(folded)
