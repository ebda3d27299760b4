"""What tells two statements apart that look like versions of one fact: another subject, an exception, a change that
was only proposed.

A true fact that is hidden does more harm than an old one that is shown, so these rules come before all that link.
"""

from __future__ import annotations

import re

from .relations import FIRST_PERSON
from .statements import Statement
from .value_words import PREPOSITIONS
from .words import content_stems, fold, split_words, stem, word_set

# Words of a subject that tell no thing from another: `the new port` is the port.
_GENERIC = word_set(
    """
    new current latest updated official final actual next default own same whole correct real
    neu neue neuer neues aktuell aktuelle nouveau nouvelle actuel actuelle nuevo nueva actual novo nova atual
    nuovo nuova attuale новый новая новое новые текущий текущая
    """
)
_GENERIC_STEMS = frozenset(map(stem, _GENERIC))
_VERSION = re.compile(r"v?\d+(?:\.\d+)+")
_NOT_DONE = re.compile(
    r"\b(?:reject(?:ed|s)|declined|refused|vetoed|turned down|voted down|abgelehnt|verworfen|rechaz\w+|refus[ée]e?s?"
    r"|rejet[ée]e?s?|recus\w+|rejeit\w+|rifiutat\w|respint\w|отклон\w+|отказал\w*)\b|否决|拒绝|却下|अस्वीकार|رفض"
)
_PUT_OFF = re.compile(
    r"\b(?:postponed|deferred|on hold|put off|delayed|verschoben|zurückgestellt|vertagt|aplazad\w|pospuest\w"
    r"|report[ée]e?|adiad\w|rinviat\w|отлож\w+)\b(?! (?:to|until|till|auf|bis|al|para|au|à|на|до)\b)"
    r"|(?:推迟|延期)(?!到)"
)
_EXCEPTION = re.compile(
    r"(?<!since )(?<!from )(?<!seit )(?<!ab )(?<!desde )(?<!depuis )\b(?:this week|this time|this once|just today"
    r"|today only|only today|diese woche|dieses mal|diesmal|nur heute|cette semaine|cette fois|esta semana|esta vez"
    r"|questa settimana|questa volta|desta vez|на этой неделе|в этот раз)\b|本周|这次|今週|今回"
)
_NO_LONGER = re.compile(r"\b(?:no longer|any ?more|nicht mehr|ya no|ne \w+ plus|não \w+ mais|non \w+ più|больше не)\b")
_DETERMINERS = word_set("the our my your der die das den unser unsere mein meine la el los las le les il lo gli o os")
_CLAUSE_MARK = re.compile(r"[,;:–—]\s")


def are_told_apart(older: Statement, newer: Statement) -> bool:
    """Return whether the newer of two statements is about something else, or changes nothing for good."""
    if "open" in older.cues or older.speaker or newer.speaker:
        return False
    if _is_not_done(older, newer):
        return True
    return not older.label and (_have_other_subjects(older, newer) or _denies_another(older, newer))


def _is_not_done(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement tells of a change that was rejected or put off, or of one exception."""
    folded = fold(newer.text)
    for pattern in (_NOT_DONE, _EXCEPTION):
        if pattern.search(folded) and not pattern.search(fold(older.text)):
            return True
    return bool(_PUT_OFF.search(folded)) and any(_VERSION.fullmatch(word) for word in older.words)


def _have_other_subjects(older: Statement, newer: Statement) -> bool:
    """Return whether both name what they are about, and it is not the same thing: `the office rent` and `the warehouse
    rent`, `the backup` and `the backup of the wiki`, `the launch party` and `the launch`."""
    old = _read_subject(older)
    new = _read_subject(newer)
    if not set(old) & set(new):
        return False  # `Ann owns billing`, `billing is owned by Ben`
    added = set(new) - set(old)
    missing = set(old) - set(new)
    if added and missing:
        return True
    if added:
        return not added <= set(older.stems)
    return bool(missing) and old[-1] in missing and not _has_preposition(older)


def _read_subject(statement: Statement) -> tuple[str, ...]:
    """Return the stems of what the clause of a statement's verb is about, without words that tell nothing apart."""
    relation = statement.relation
    if not relation or not FIRST_PERSON.isdisjoint(relation.subject):
        return ()
    words = statement.words[: relation.at]
    start = _find_clause(statement.text, words)
    nouns = (at for at in range(start, len(words)) if words[at] in _DETERMINERS and words[at - 1] not in PREPOSITIONS)
    start = next(nouns, start)
    stems = content_stems(words[start:])
    return tuple(each for each in stems if each not in _GENERIC_STEMS and not _VERSION.fullmatch(each))


def _find_clause(text: str, words: tuple[str, ...]) -> int:
    """Return where the last clause begins in the words before the verb of a text: `turns out, the bug` is the bug."""
    for clause in reversed(_CLAUSE_MARK.split(text)):
        first = tuple(split_words(fold(clause)))
        for at in range(1, len(words)):
            if first[: len(words) - at] == words[at:]:
                return at
    return 0


def _has_preposition(statement: Statement) -> bool:
    relation = statement.relation
    return relation is not None and any(word in PREPOSITIONS for word in statement.words[: relation.at])


def _denies_another(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement takes back something that the older does not say: `no longer likes coffee`."""
    if not older.stems or not newer.stems or not _NO_LONGER.search(fold(newer.text)):
        return False
    return newer.stems[-1] not in older.stems and older.stems[-1] not in newer.stems
