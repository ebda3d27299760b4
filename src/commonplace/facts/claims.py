"""Claims: what a note is about, and the kind of value that it gives: a number or date, or a place or name.

`Bumped the max upload size to 100 MB` and `Max upload size is 25 MB` share no frame, but both are about the same
thing. A note is cut at its verbs, at words of change, before its numbers and before what something changed to. The
pieces in front are its heads; what follows is the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .cues import Cue, mark_cues
from .relations import GENERIC_WORDS, list_verbs
from .sentences import split_at_ends
from .words import (
    PLACE_PREPOSITIONS,
    content_stems,
    fold,
    function_words,
    is_amount,
    is_capitalised_within,
    is_month_or_day,
    is_unspaced,
    split_words,
    word_set,
)

GOALS = word_set("values", "GOALS")
PLANS = word_set("values", "PLANS")
_ATTRIBUTES = word_set("values", "ATTRIBUTES")
_NO_TOPICS = frozenset(
    form for word in GENERIC_WORDS - _ATTRIBUTES for form in (word, f"{word}s", f"{word}ed", f"{word}ing")
)
_MAX_HEADS = 3
_CUT = "|"
_COLON = "="
_LABEL = lazy_pattern(r"([^:：.!?,;\n]{2,40})[:：]\s+(\S[^,;]*)")
_CHANGES: tuple[Cue, ...] = ("change", "weak change", "retraction", "decision", "resolution", "hint")
_CLAUSE_END = lazy_pattern(
    r"(?:[,;:]|\s[–—-])\s+|[、，；：。،؛]\s*|,(?=[぀-ヿ一-鿿])|\s*\((?=\w)|\)\s*|(?<=[^\W\d_]{2}\.)\s+(?=\S)"
)
_NAME = lazy_pattern(r"[A-ZÄÖÜÁÉÍÓÚ][\w-]+(?= )")  # that a note begins with
_PRONOUN = lazy_pattern(r"^(?:and |but )?(he|she|they|his|her|their)\b(?!')", re.IGNORECASE)
_POSSESSIVES = ("his", "her", "their")
_TOPIC_MARKS = word_set("claims", "TOPIC_MARKS")
PRONOUNS = word_set("claims", "PRONOUNS")
# Further verbs and auxiliaries: what stands before them is what a clause is about.
_FRENCH_WE = "on"
_VERBS = word_set("claims", "VERBS")
_CLOCK_WORDS = word_set("claims", "CLOCK_WORDS")
_MONEY_WORDS = word_set("claims", "MONEY_WORDS")
_DATE_WORDS = word_set("claims", "DATE_WORDS")
_PER = word_set("claims", "PER")
_DATE = lazy_pattern(r"\d{1,2}(?:st|nd|rd|th)|\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:\d+)?|\d{1,2}/\d{1,2}(?:/\d+)?")
_LASTING_GOALS = word_set("claims", "LASTING_GOALS")
_QUOTES = '"“”«»「」『』`‘'


class Claim(NamedTuple):
    """What a clause says about something. `heads`: what it is about, as sets of topics; `value`: the topics of all that
    follows."""

    heads: tuple[frozenset[str], ...]
    value: frozenset[str]
    numbers: frozenset[str]
    units: frozenset[str]  # what its numbers measure: `date`, `clock`, `money`, or the word after it
    goal: str  # the word after the first head, if it introduces the new value
    is_closed: bool  # the first head is a subject: it begins the clause, and a verb or a number follows
    has_place: bool  # the value is a place, a name, or what is reached by a preposition


@cache_within(1_000_000)
def read_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims that the clauses of a note make; a clause without a head makes none."""
    return tuple(_iterate_claims(text))


def read_first_claim(text: str) -> tuple[Claim, ...]:
    """Return the first of the claims of a note, if it has any."""
    return read_claims(text)[:1]


def _iterate_claims(text: str) -> Iterator[Claim]:
    label = _LABEL.match(text)
    labelled = (f"{label[1]} {_COLON} {label[2]}",) if label else ()
    for clause in (*labelled, *split_clauses(text)):
        claim = _read_claim(clause)
        if claim.heads:
            yield claim


@cache_within(1_000_000)
def split_clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a note as they are written."""
    return tuple(clause for clause in split_at_ends(text, _CLAUSE_END) if clause.strip())


def name_subjects(text: str) -> tuple[str, ...]:
    """Return the clauses of a note with the name in place of the pronoun: `Kate got married, her last name is …` is
    about Kate's last name."""
    clauses = split_clauses(text)
    name = _NAME.match(clauses[0]) if len(clauses) > 1 else None
    if not name:
        return clauses
    return (clauses[0], *(_PRONOUN.sub(partial(_name_pronoun, name[0]), clause, count=1) for clause in clauses[1:]))


def _name_pronoun(name: str, match: re.Match[str]) -> str:
    return f"{name}'s" if match[1].lower() in _POSSESSIVES else name


@cache
def list_all_verbs() -> frozenset[str]:
    """Return all known verbs."""
    return _VERBS | list_verbs().keys()


@cache_within(1_000_000)
def read_topics(text: str) -> frozenset[str]:
    """Return what a note is about, without the words that say that something changed, or how it is."""
    words = split_words(mark_cues(fold(text), (*_CHANGES, "trouble"), " "))
    return find_topics([word for word in words if word not in PLANS])


@cache_within(1_000_000)
def read_plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a note without those that say that something changed."""
    return tuple(split_words(mark_cues(fold(text), _CHANGES, " ")))


def _read_claim(clause: str) -> Claim:
    heads: list[frozenset[str]] = []
    value: list[str] = []
    closer = ""
    is_value = False
    is_subject = False
    for opener, words in _cut(mark_cues(fold(clause), _CHANGES, f" {_CUT} ")):
        if heads:
            closer = closer or opener
            value += words if opener in (_CUT, _COLON) else [opener, *words]
        is_value = is_value or (bool(heads) and opener != _CUT) or opener in GOALS
        named = words if heads else _strip_pronouns(words)
        topics = find_topics(named)
        if topics and not is_value and len(heads) < _MAX_HEADS:
            is_subject = is_subject or (not heads and opener in ("", _CUT))
            heads.append(topics)
            if opener == _CUT and (short := _read_object(words)):
                heads.append(find_topics(words[:short]))
                value += words[short:]
    numbers = frozenset(filter(is_amount, value))
    is_lasting = closer in _LASTING_GOALS and bool(value[1:2]) and is_amount(value[1])  # `the train is at 7:45`
    is_closed = is_subject and bool(closer) and (closer not in GOALS or is_lasting)
    goal = closer if closer in GOALS else ""
    said = find_topics([word for word in value if word not in list_all_verbs()])
    return Claim(tuple(heads), said, numbers, _find_units(value), goal, is_closed, _has_place(clause, value))


def _strip_pronouns(words: list[str]) -> list[str]:
    """Return the words that name a subject: none if it is `I` or `they`; of `我们的房东`, what follows the pronoun."""
    if PRONOUNS.isdisjoint(words) or (words[0] != _FRENCH_WE and PRONOUNS.intersection(words) == {_FRENCH_WE}):
        return words  # `Dentist for Max on 10 March`
    return [word for word in words if is_unspaced(word) and word not in PRONOUNS]


def _read_object(words: list[str]) -> int:
    """Return where what follows an object begins (`put the passports in the safe`); 0 if nothing does."""
    return next((at for at, word in enumerate(words) if word in PLACE_PREPOSITIONS and at), 0)


def _cut(marked: str) -> list[tuple[str, list[str]]]:
    """Return the pieces of a folded clause, each with the word that opens it."""
    verbs = list_all_verbs()
    pieces: list[tuple[str, list[str]]] = [("", [])]
    for number, part in enumerate(marked.split(_CUT)):
        if number:
            pieces.append((_CUT, []))
        words = _split_with_colon(part)
        # `the flight to Rome leaves at 7`: what is before the verb is what it is about
        subject = next((at for at, word in enumerate(words) if word in verbs), 0) if not number else 0
        for at, word in enumerate(words):
            after = words[at + 1] if at + 1 < len(words) else ""
            is_named = after in verbs and after.isascii()  # `PR 812 is …`
            if (
                word in verbs
                or (word in GOALS and not 0 < at < subject)
                or word in _TOPIC_MARKS
                or word == _COLON
                or (is_amount(word) and not is_named)
            ):
                pieces.append((word, []))
            else:
                pieces[-1][1].append(word)
    return pieces


def _split_with_colon(part: str) -> list[str]:
    label, colon, value = part.partition(f" {_COLON} ")
    return [*split_words(label), _COLON, *split_words(value)] if colon else split_words(part)


def _find_units(value: list[str]) -> frozenset[str]:
    """Return what the numbers of a value measure."""
    units = set()
    for at, word in enumerate(value):
        after = value[at + 1] if at + 1 < len(value) else ""
        if not is_amount(word):
            continue
        if ":" in word or after in _CLOCK_WORDS or word in _CLOCK_WORDS:
            units.add("clock")
        elif is_month_or_day(word) or _DATE.fullmatch(word) or is_month_or_day(after) or after in _DATE_WORDS:
            units.add("date")
        else:
            before = value[at - 1] if at else ""
            per = value[at + 2] if after in _PER and at + 2 < len(value) else after
            units.add(_name_unit(before, per))
    return frozenset(units)


def _name_unit(before: str, after: str) -> str:
    """Return what a number counts: the word after it, or the one before (`port 80`); empty if neither says so."""
    if after in _MONEY_WORDS:
        return "money"
    named = content_stems([word for word in (after, before) if word.isalpha() and word not in list_all_verbs()])
    return named[0] if named else ""


def find_topics(words: list[str]) -> frozenset[str]:
    """Return the stems of words that say what a note is about; a single character counts only if there is nothing
    else."""
    plain = [word for word in words if word not in _NO_TOPICS]
    stems = content_stems(plain)
    if not stems or not all(map(str.isascii, plain)):
        stems += _find_single_characters(plain, is_only=not stems)
    return frozenset(stems)


def _find_single_characters(words: list[str], *, is_only: bool) -> list[str]:
    """Return the characters of Chinese or Japanese that are words by themselves: after a word of another script, or if
    there are no others."""
    skipped = function_words()
    pairs = zip(("", *words), words, strict=False)
    return [
        word
        for before, word in pairs
        if is_unspaced(word) and word not in skipped and (is_only or (before.isalpha() and not is_unspaced(before)))
    ]


def _is_identifier(word: str) -> bool:
    """Return whether a word is a host, a file, an address or a name in a program."""
    return len(word) > 2 and not word[0].isdigit() and any(mark in word[1:-1] for mark in "._@/")


def _has_place(clause: str, value: list[str]) -> bool:
    """Return whether a value is in or at something, or has a name."""
    if any(word in PLACE_PREPOSITIONS or word in GOALS or word in _TOPIC_MARKS for word in value):
        return True
    if any(quote in clause for quote in _QUOTES) or any(map(_is_identifier, value)):
        return True
    return any(is_capitalised_within(word, clause) for word in value if word[:1].isalpha() and len(word) > 1)
