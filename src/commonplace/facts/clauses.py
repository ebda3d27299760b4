"""The clauses of a sentence that makes several statements: `Tom lives in Leeds and works from home on Fridays`.

Replacing one clause leaves the others as they are. A sentence is cut at semicolons, and at commas and words such as
`and`, `but` and `while` if the clause that follows has its own verb: `Leeds and York` is one thing. Of somebody who is
`vegetarian and allergic to nuts`, both are said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import PRONOUNS, list_all_verbs
from .cues import is_english
from .words import content_stems, fold, function_words, is_unspaced, read_list, split_words, word_set

_MAX_CHARACTERS = 300  # of a sentence that is looked at
_MAX_VERB_PLACE = 5  # words before the verb of a clause
_MIN_UNSPACED_CHARACTERS = 4  # of a clause in a script without spaces
_WORDS = "|".join(read_list("clauses", "JOINTS").split())
_CUT = lazy_pattern(
    rf"((?:\s*[,;،؛]\s+|\s+[–—-]\s+|\s+)(?:(?:{_WORDS}|tandis que|alors que)\s+)"
    r"|\s*[,;]\s+|\s+[–—-]\s+|\s*[،؛]\s*|\s+و(?=[يتن]\w{2,})"
    r"|[、，；]\s*(?:但是|而且|并且|同时|不过|但|并|而|一方|そして)?|但是|而且|并且|同时)",
    re.IGNORECASE,
)
_SEMICOLONS = ";；؛"
_ADVERBS = word_set("clauses", "ADVERBS")
_COPULAS = word_set("clauses", "COPULAS")
_NOUNS = word_set("clauses", "NOUNS")
_OWNERS = word_set("clauses", "OWNERS")
_DEVANAGARI = lazy_pattern("[\u0900-\u097f]")
_VERB_ENDINGS = lazy_pattern(
    r"[a-zà-ÿ]{2,}(?:t|en|te|ten|a|e|é|ó|ou|eu|iu|am|em|an|ent|ait|ons|aba|ava|ía|ia)"
    r"|[а-яё]{2,}(?:ет|ёт|ит|ют|ут|ат|ят|л|ла|ли|ется|ится|ются|ятся)"
    r"|و?[يتن][\u0600-\u06ff]{2,}"
)
_ENGLISH_VERB = lazy_pattern(r"[a-z]{3,}(?:[^s\W]s|ed)")
_NO_VERBS = word_set("words", "MONTHS_AND_DAYS")


class Clause(NamedTuple):
    """A clause as it is written, and as a sentence with the subject that it shares with the one before."""

    text: str
    sentence: str
    stems: frozenset[str]  # of its content, without the subject that it shares
    is_quality: bool = False  # whether it shares the verb, too: `allergic to nuts`


class Parts(NamedTuple):
    """The parts of a sentence that a newer statement replaces, and those that it leaves alone."""

    replaced_clause: str  # as it is written
    replaced_stems: frozenset[str]
    held_stems: frozenset[str]

    def is_about_held(self, query_stems: frozenset[str]) -> bool:
        """Return whether a query has more words of the parts that are still true than of the replaced ones."""
        return len(query_stems & self.held_stems) > len(query_stems & self.replaced_stems)


def find_parts(older: str, newer: str, is_replaced: Callable[[str], bool]) -> Parts | None:
    """Return which clauses of a sentence a newer one replaces, and which it leaves as they are; None if it replaces all
    of it, or if that is not certain. `is_replaced`: whether the newer one replaces a clause by itself."""
    clauses = read_clauses(older)
    if len(clauses) < 2:
        return None
    words = frozenset(content_stems(split_words(fold(newer))))
    mentions = [each for each in clauses if not words.isdisjoint(_list_own(each, clauses))]
    targets = [each for each in clauses if is_replaced(each.sentence)]
    if not any(each.is_quality for each in clauses):  # `blue and green`: who says `blue and red` replaces both
        targets = [each for each in targets if each in mentions] or targets  # those that it mentions, if any
    others = [each for each in clauses if each not in targets and each not in mentions]
    if not targets or not others:
        return None
    stems = [frozenset[str]().union(*(_list_own(each, clauses) for each in some)) for some in (targets, others)]
    return Parts(targets[0].text, *stems) if stems[1] else None


def _list_own(clause: Clause, clauses: Sequence[Clause]) -> frozenset[str]:
    """Return the stems that only this clause of the sentence has."""
    return clause.stems.difference(*(other.stems for other in clauses if other is not clause))


@cache_within(1_000_000)
def read_clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a sentence; a simple sentence is one clause."""
    if len(text) > _MAX_CHARACTERS:
        return ()
    pieces = _CUT.split(text)
    spans = [pieces[0]]
    qualities = set[int]()
    is_english_text = is_english(text)
    head = _find_copula(pieces[0])
    for joint, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        if _is_clause(joint, piece, spans[-1], is_english=is_english_text):
            spans.append(piece)
        elif head and len(spans) == 1 and _is_quality(joint, piece):
            qualities.add(len(spans))
            spans.append(piece)
        else:
            spans[-1] += joint + piece
    subject = _find_subject(spans[0])
    shared = frozenset(content_stems(split_words(fold(subject))))
    texts = [span.strip().rstrip(".!。।") for span in spans]
    return tuple(
        _make_quality(each, head, shared) if at in qualities else _make_clause(each, subject if at else "", shared)
        for at, each in enumerate(texts)
    )


def _is_clause(joint: str, piece: str, before: str, *, is_english: bool) -> bool:
    """Return whether a part of a sentence says something of its own, as the part before does."""
    if joint.strip() in _SEMICOLONS:
        return min(len(split_words(each)) for each in (piece, before)) > 1
    return _has_verb(piece, is_english=is_english) and _has_verb(before, is_english=is_english)


def _make_clause(text: str, subject: str, shared: frozenset[str]) -> Clause:
    stems = frozenset(content_stems(split_words(fold(text)))) - shared
    shares_subject = bool(subject) and not (_find_subject(text) or text[:1].isupper())
    return Clause(text, f"{subject} {text}" if shares_subject else text, stems)


def _make_quality(text: str, head: str, shared: frozenset[str]) -> Clause:
    return Clause(text, f"{head} {text}", frozenset(content_stems(split_words(fold(text)))) - shared, is_quality=True)


def _find_copula(text: str) -> str:
    """Return how a sentence begins that says what something is, up to the verb: `I'm`; empty for any other."""
    words = text.split()
    at = next((at for at, word in enumerate(words[:_MAX_VERB_PLACE]) if _is_copula(word)), None)
    return "" if at is None else " ".join(words[: at + 1])


def _is_copula(word: str) -> bool:
    return fold(word).replace("’", "'").rpartition("'")[2] in _COPULAS


def _is_quality(joint: str, piece: str) -> bool:
    """Return whether a part of a sentence may be something else that its subject is; not a name, a day or a number."""
    if joint.strip(" ,") == "":
        return False
    first = piece.split(maxsplit=1)[0].rstrip(".!") if piece.strip() else ""
    return first.isalpha() and first.islower() and fold(first) not in _NO_VERBS


def _find_subject(text: str) -> str:
    """Return what is before the verb of a clause, as it is written; empty if it begins with the verb."""
    words = text.split()
    if _DEVANAGARI.search(text):  # the verb is at the end
        return words[0]
    for at, word in enumerate(words):
        if _is_verb(fold(word).strip(".,;!?"), at):
            return " ".join(words[:at])
    return ""


def _has_verb(piece: str, *, is_english: bool) -> bool:
    """Return whether a part of a sentence is a clause."""
    words = split_words(fold(piece))
    if any(map(is_unspaced, words)):
        return len(words) >= _MIN_UNSPACED_CHARACTERS
    start = next((at for at, word in enumerate(words) if word not in _ADVERBS), 0)
    words = words[start:]
    if len(words) < 2:
        return False
    if any(_is_verb(word, at) for at, word in enumerate(words) if at < _MAX_VERB_PLACE or at == len(words) - 1):
        return True
    if is_english and len(words) > 2 and words[1] in _OWNERS and words[0] not in function_words():
        return True  # `drive an old car`
    is_name = piece.split()[start : start + 1] != [words[0]]
    at = 2 if words[0] in _OWNERS else int(is_name or words[0] in PRONOUNS)
    return len(words) > at and _looks_like_verb(words[at], is_english=is_english)


def _is_verb(word: str, at: int) -> bool:
    return word in list_all_verbs() and (at == 0 or word not in _NOUNS)


def _looks_like_verb(word: str, *, is_english: bool) -> bool:
    """Return whether a word where a verb is expected has the ending of one."""
    if word in _NO_VERBS or word in function_words():
        return False
    return (_ENGLISH_VERB if is_english else _VERB_ENDINGS).fullmatch(word) is not None
