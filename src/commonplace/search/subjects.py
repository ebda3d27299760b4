"""Whether a note answers a question about the subject and the attribute that it names, or only about others.

`Sam's birthday is on 24 November; no nuts (Tom is allergic)` has all words of `when is Tom's birthday?` and does not
answer it. A note is said to be about another only if each clause with all the words asked about has another owner
(`Sam's …`, `the … of Sam`, `Sam has …`, another identifier) and no pronoun that may stand for the one that is meant.

Nor is the right kind of value enough: a version is not a port, and `closes at 19:00` is not when the office opens. A
text is said to lack an attribute only if it has neither a word for it nor what may be its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..facts.words import word_set
from ..index.languages import LATIN, LIGHT_VERBS
from ..index.terms import encode_term
from ..index.tokenizer import fold_accents, function_words, list_forms
from ..patterns import lazy_pattern
from .answer_kinds import find_asked_kinds, is_time_word
from .coverage import AskedWord
from .date_phrases import fold_phrase
from .words import folded_words

_OF = r"(?:of|de|del|du|da|do|di|von|van|d['’])"
_NAME = r"[^\W\d_][\w-]*"
_SENTENCE_END = lazy_pattern(r"(?:(?<=\w\w)|(?<=\d))[.!?]+\s+(?=[^\W\d_])|[.!?]+\n|[;()]\s*|\n+")
# The start of a clause with its own subject: `Ann leads, Bob tests`, but not `Ann, Bob and Carl lead`.
_NEXT_SUBJECT = lazy_pattern(r",\s+(?=(?:[A-ZÀ-Þ]\w*\s+)?[A-ZÀ-Þ]\w+\s+(?!(?:and|or|und|oder|y|o|et|ou|e)\b)[a-zß-ÿ]+)")
_LABEL = lazy_pattern(r"\A[^:]{1,40}:\s+(?=\S+\s)")
_COMPOUND = lazy_pattern(r"[^\W\d_]\w*+(?:[-.]\w++)*+")  # may be an identifier, if it has a digit
_POSSESSIVE = lazy_pattern(rf"(?<![\w-])[\d_-]*+({_NAME}+)['’]s\b")
_FIRST_WORDS = lazy_pattern(rf"\W*({_NAME})(?:['’]s)?(?:\s+([A-ZÀ-Þ][\w-]+))?\s+([a-zß-ÿ]\w*)")
_CAPITALISED = lazy_pattern(r"\s+([A-ZÀ-Þ]\w+)")
_PLACE_BEFORE = lazy_pattern(r"\b(?:in|at|on|to|from|near|nach|aus|en|à|dans|em)\s\Z")  # of a name that is no owner
_PLACE_CHARACTERS = 5  # the longest of these with its space
_GERMAN = "german"
_TWO_NAMES = lazy_pattern(r"(?<=[a-zß-ÿ] )([A-ZÄÖÜ][a-zß-ÿ]+) (?=[A-ZÄÖÜ][a-zß-ÿ]+)")  # a noun and a name: `Opa Karl`
_WORD = lazy_pattern(r"[^\W_]+")
_PRONOUNS = word_set("subjects", "PRONOUNS")


class Subject(NamedTuple):
    """The person or thing that a question names. `is_identifier`: a host, a file, a ticket."""

    words: tuple[str, ...]
    is_identifier: bool


def find_subject(question: str, words: Sequence[AskedWord], language: str) -> Subject | None:
    """Return the one name or identifier of a question in Latin script; None if it has none, or several."""
    identifiers = _find_identifiers(question)
    if identifiers:
        return Subject((fold_accents(min(identifiers)),), is_identifier=True) if len(identifiers) == 1 else None
    exact = {fold_accents(word.text) for word in words if word.is_exact}
    if language == _GERMAN:
        exact |= {fold_accents(first) for first in _TWO_NAMES.findall(question)}
    owners = {fold_accents(owner) for owner in _POSSESSIVE.findall(question)} - function_words(language)
    names = [*_group_names(question, exact | owners)]
    return Subject(names[0], is_identifier=False) if len(names) == 1 and language in LATIN else None


def _find_identifiers(text: str) -> set[str]:
    return {word for word in _COMPOUND.findall(text) if any(map(str.isdecimal, word))}


def _group_names(question: str, names: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield the names of a question, each with the capitalised words that follow it: `Opa Karl`."""
    end = 0
    for match in _WORD.finditer(question):
        if (
            match.start() < end
            or _PLACE_BEFORE.search(question, max(0, match.start() - _PLACE_CHARACTERS), match.start())
            or fold_accents(match[0]) not in names
            or any(map(str.isdigit, match[0]))
        ):
            continue
        found = [fold_accents(match[0])]
        end = match.end()
        while follower := _CAPITALISED.match(question, end):
            if fold_accents(follower[1]) not in names and len(found) > 1:
                break
            found.append(fold_accents(follower[1]))
            end = follower.end()
        yield tuple(found)


class _Clause(NamedTuple):
    """A clause of a note. `owner`: what it is about, if it says so; `has_pronoun`: that may be somebody else."""

    text: str
    words: frozenset[str]
    owner: str
    has_pronoun: bool


def select_clauses(subject: Subject, note: str, language: str) -> str:
    """Return what a note says about a subject: the clauses that name it, with those that follow and name nobody else;
    the whole note if none does."""
    if not _may_name(note, subject):
        return note
    clauses = _split_clauses(note, frozenset(), language)
    chosen: list[str] = []
    is_about = False
    for clause in clauses:
        is_about = _names(clause, subject) or (is_about and (clause.has_pronoun or not clause.owner))
        if is_about:
            chosen.append(clause.text)
    return "\n".join(chosen) or note


def answers_of_another(subject: Subject, question: str, words: Sequence[AskedWord], note: str, language: str) -> bool:
    """Return whether a note answers only about another subject, although it names the one asked about elsewhere. In the
    answer to `who leads Tom's team?`, what a clause begins with is no other owner: `Ann leads the team`."""
    if not _may_name(note, subject):
        return False
    others = [
        word
        for word in words
        if not word.is_exact and fold_accents(word.text) not in {*subject.words, *folded_words(LIGHT_VERBS)}
    ]
    known = frozenset(fold_accents(word.text) for word in words)
    clauses = _split_clauses(note, known, language)
    naming = [clause for clause in clauses if _names(clause, subject)]
    if not naming or any(clause.text.startswith("#") for clause in naming):
        return False
    needed = [word for word in others if not word.is_kind]
    anchors = _find_clauses(clauses, others, language) or _find_clauses(clauses, needed, language)
    asks_for_person = "person" in find_asked_kinds(question)
    return bool(anchors) and all(
        not _names(clause, subject) and _has_other_owner(clause, subject, known, asks_for_person=asks_for_person)
        for clause in anchors
    )


def _find_clauses(clauses: Sequence[_Clause], words: Sequence[AskedWord], language: str) -> list[_Clause]:
    """Return the clauses that have all of the words; none if there are no words."""
    asked = [frozenset[int]().union(*word.pieces) for word in words]
    return [clause for clause in clauses if asked and not any(map(_forms_of(clause.text, language).isdisjoint, asked))]


def _has_other_owner(clause: _Clause, subject: Subject, known: frozenset[str], *, asks_for_person: bool) -> bool:
    if subject.is_identifier:
        return any(fold_accents(each) not in subject.words for each in _find_identifiers(clause.text))
    if clause.has_pronoun:
        return False
    return bool(_find_possessor(clause.text, known) if asks_for_person else clause.owner)


def _may_name(note: str, subject: Subject) -> bool:
    """Return whether any clause of a note may name a subject: this takes less time than to split it."""
    return subject.words[0 if subject.is_identifier else -1] in fold_accents(note)


def _names(clause: _Clause, subject: Subject) -> bool:
    if subject.is_identifier:
        return subject.words[0] in fold_accents(clause.text)
    return any(not clause.words.isdisjoint((word, f"{word}s")) for word in subject.words[-1:])


def _split_clauses(note: str, known: frozenset[str], language: str) -> list[_Clause]:
    texts = [text for sentence in _split_sentences(note) for text in _NEXT_SUBJECT.split(sentence) if text.strip()]
    ordinary = frozenset(word for word in _WORD.findall(note) if word[0].islower())
    clauses = []
    for text in texts:
        words = frozenset(fold_accents(word) for word in _WORD.findall(text))
        owner = _find_possessor(text, known) or _find_first_name(text, known, ordinary, language)
        clauses.append(_Clause(text, words, owner, not words.isdisjoint(_PRONOUNS)))
    return clauses


def _split_sentences(note: str) -> list[str]:
    """Return the sentences of a note; `12. April` is in one."""
    ends = [(0, 0)]
    for match in _SENTENCE_END.finditer(note):
        before = note[: match.start()].rpartition(" ")[2]
        after = _WORD.match(note, match.end())
        if before.isdigit() and match[0][0] == "." and after and is_time_word(after[0]):
            continue
        ends.append(match.span())
    return [note[start:end] for (_, start), (end, _) in pairwise([*ends, (len(note), len(note))])]


def _find_possessor(text: str, known: frozenset[str]) -> str:
    """Return the owner of what is asked about: `Sam's birthday`, `the birthday of Sam`."""
    for name, *words in _OWNER.findall(text):
        if fold_accents(name) not in known and any(fold_accents(word) in known for word in words):
            return str(name)
    for word, name in _OWNED.findall(text):
        if fold_accents(word) in known and fold_accents(name) not in known and not is_time_word(name):
            return str(name)
    return ""


_OWNER = lazy_pattern(r"([A-ZÀ-Þ]\w+)['’]s (\w+)(?: (\w+))?")
_OWNED = lazy_pattern(rf"(?<![^\W\d_])([^\W\d_]++) {_OF} ?([A-ZÀ-Þ]\w+)")


def _find_first_name(text: str, known: frozenset[str], ordinary: frozenset[str], language: str) -> str:
    """Return the name that a clause begins with, before its verb; words of the question do not count."""
    match = _FIRST_WORDS.match(_LABEL.sub("", text))
    if not match or not match[1][0].isupper():
        return ""
    name = match[2] or match[1]
    folded = fold_accents(name)
    is_ordinary = match[1].lower() in ordinary or fold_accents(match[1]) in function_words(language)
    if is_ordinary or folded in known or is_time_word(name) or match[1].isupper():
        return ""
    return name


def _forms_of(text: str, language: str) -> frozenset[int]:
    return frozenset(map(encode_term, list_forms(text, language)))


# Attributes that a question asks for by name, and opposite verbs. Patterns are compared with folded text.


class _Attribute(NamedTuple):
    """An attribute: the words that ask for it, those that name it in a note, and how its values are written."""

    asks: re.Pattern[str]
    names: re.Pattern[str]
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
        each.asks.search(asked)
        and not each.names.search(folded)
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
        verb.search(asked) and not opposite.search(asked) and opposite.search(folded) and not same.search(folded)
        for verb, same, opposite in _OPPOSITES
    ) and not _RANGE.search(folded)
