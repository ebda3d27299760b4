"""Lines with one label: `Deadline: 26 November` replaces `Deadline: 12 November`, as there is one deadline.

`Allergy: latex` does not replace `Allergy: penicillin`: the label collects things. A label collects if it is a plural,
says what is to be done with things (`to read`, `zu lesen`), or is a noun for something that people have several of.
Others say nothing of what follows (`Note`), or mean something else on each page (`Owner`).
"""

from __future__ import annotations

from ..patterns import lazy_pattern
from .changes import denies
from .links import Link
from .relations import CONTEXT_LABELS, FREE_LABELS, MANY_VALUED_NOUNS, ROLES
from .statements import Statement
from .words import (
    ARTICLES,
    FOR,
    OF,
    TITLES,
    content_stems,
    is_amount,
    is_month_or_day,
    is_number,
    phrase_pattern,
    split_words,
    stem,
    word_set,
)

_MIN_SHARE_OF_DETAILS = 0.3  # that two lines with one name have in common
_MAX_SHORT_STEMS = 2  # of a value
_TO_DO = phrase_pattern("labels", "TO_DO")
_SEVERAL = MANY_VALUED_NOUNS | word_set("labels", "SEVERAL")
_EVENTS = word_set("labels", "EVENTS")
# Other plurals than those with an `s`.
_PLURAL = lazy_pattern(
    r"\w*(?:ideen|fragen|(?:ung|heit|keit|schaft|ion|tät)en|[gmt]ien|bücher|filme|fehler|wünsche|aufgaben|medikamente|zutaten"
    r"|книги|фильмы|идеи|вопросы|задачи|аллергии|лекарства|симптомы|ошибки|риски)"
)
_NO_PLURALS = ("ss", "us", "is", "'s", "ics", "preis", "kurs", "haus")
_MIN_PLURAL_CHARACTERS = 4
_OWNERS = OF | FOR | word_set("labels", "WITH")
_ITEM = lazy_pattern(r"[,;、，/]| (?:and|und|et|y|e|и) ")


def judge_label(older: Statement, newer: Statement, *, is_same_place: bool) -> Link | None:
    """Return a link for two lines with one label, unless the label may mean something else on each page."""
    stems = newer.label_stems
    if _is_free(newer) or (stems <= CONTEXT_LABELS and not is_same_place):
        return None
    if _list_letters(older.label) != _list_letters(newer.label):  # `size M`, `size L`
        return None
    if _collect_things(older, newer):
        return None
    says_more = set(older.stems) <= set(newer.stems) and "change" not in newer.cues and not denies(older, newer)
    if says_more or _give_other_details(older, newer):
        return None
    return Link("frame", f"has the same label: {newer.label}", newer.label)


def _list_letters(label: str) -> list[str]:
    return [word for word in label.split() if len(word) == 1 and word.isalpha() and word not in ARTICLES]


def _is_free(statement: Statement) -> bool:
    """Return whether a label says nothing about what follows: its last word is a plain noun, as in `Meeting room`."""
    return content_stems(statement.label.split())[-1] in FREE_LABELS


def _give_other_details(older: Statement, newer: Statement) -> bool:
    """Return whether a label names somebody or something, and each line gives another detail: `Max: size 29`, `Max:
    allergic to penicillin`. If there is one value, the label says of what (`Deadline`, `wifi password`), or the lines
    are short."""
    labels = newer.label_stems
    is_value = not labels.isdisjoint(CONTEXT_LABELS | ROLES) or len(labels) > 1
    if is_value or "change" in newer.cues:
        return False
    known = labels | TITLES
    details = [{each for each in one.stems if each not in known and not is_number(each)} for one in (older, newer)]
    smaller = min(map(len, details))
    if smaller <= 1 and max(map(len, details)) <= _MAX_SHORT_STEMS:
        return False
    return len(details[0] & details[1]) < _MIN_SHARE_OF_DETAILS * smaller or not smaller


def _collect_things(older: Statement, newer: Statement) -> bool:
    """Return whether two lines with one label may both be true: each names another of the things that it collects."""
    values = [_read_value(each) for each in (older, newer)]
    is_change = not newer.cues.isdisjoint(("change", "retraction"))
    if is_change and not set(content_stems(values[0])).isdisjoint(content_stems(values[1])):
        return False
    if _are_on_other_days(*values):
        return True
    words = split_words(newer.label)
    noun = _find_noun(words)
    if noun in _EVENTS:
        return True
    if noun not in _SEVERAL and not _TO_DO.search(newer.label) and not _is_plural(noun):
        return False
    if all(is_amount(value[0]) for value in values if value):  # `Tests: 412`
        return False
    names = [{word for word in value if not is_number(word)} for value in values]
    items = [{item.strip() for item in _ITEM.split(_cut_label(each))} for each in (older, newer)]
    is_same_list = min(map(len, items)) > 1 and not items[0].isdisjoint(items[1])
    return not is_same_list and names[0] != names[1]


def _cut_label(statement: Statement) -> str:
    """Return what follows the label of a line, folded."""
    return statement.folded[len(statement.label) :].strip("*_:=：–—→- .。")


def _read_value(statement: Statement) -> list[str]:
    return split_words(_cut_label(statement))


def _are_on_other_days(older: list[str], newer: list[str]) -> bool:
    """Return whether each value gives another day and something else on it: `legs on Tuesday`, `back on Friday`."""
    days = [{stem(word) for word in value if is_month_or_day(word)} for value in (older, newer)]
    rest = [{word for word in value if len(word) > 2 and not is_number(word)} for value in (older, newer)]
    return all(days) and all(rest) and days[0].isdisjoint(days[1]) and rest[0].isdisjoint(rest[1])


def _find_noun(words: list[str]) -> str:
    """Return the head noun of a label: the last word before an owner (`gift ideas for dad`)."""
    at = next((at for at, word in enumerate(words) if at and word in _OWNERS), len(words))
    return words[at - 1] if words else ""


def _is_plural(noun: str) -> bool:
    """Return whether a noun is a plural, judging by its ending."""
    if not noun.isalpha() or len(noun) < _MIN_PLURAL_CHARACTERS:
        return False
    return (noun.endswith("s") and not noun.endswith(_NO_PLURALS)) or _PLURAL.fullmatch(noun) is not None
