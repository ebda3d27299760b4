"""The subjects of pages and headings: `The deadline is Friday` means something else on each page.

A statement that names nothing is about the subject of its page, and is no version of one on another page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise

from ..caching import cache_within
from ..formats.timestamps import parse_day
from ..patterns import lazy_pattern
from .claims import read_first_claim
from .links import Link
from .relations import CONTEXT_LABELS, GENERIC
from .statements import Statement, read_statements
from .words import (
    DETERMINERS,
    FOR,
    OF,
    content_stems,
    fold,
    function_words,
    is_number,
    is_unspaced,
    list_capitalised,
    split_words,
    stem,
    word_set,
)

Judge = Callable[[Statement, Statement], Link | None]
_OBJECT = lazy_pattern(r"[:：]\s*\**\s*(#\d+|[A-Z]{2,}-\d+)(?!\w)")
_NO_LETTERS = lazy_pattern(r"[\W_]+")
# A word with what marks it as the owner of an attribute: `of Osprey`, `Osprey's`.
_NAMED = lazy_pattern(
    r"(?:\s(?:of|for|on|in|at|von|für|bei|de|del|du|da|do|para|pour|di|для)\s)?\b(?P<name>[^\W\d_][\w-]*)(?:['’]s)?\s"
)
_KINDS_OF_PAGES = word_set("pages", "KINDS_OF_PAGES")
_KIND_STEMS = frozenset(map(stem, _KINDS_OF_PAGES))
_WRITER = word_set("pages", "WRITER")
_OWNER_MARKS = FOR | OF
_GERMAN_DETERMINERS = word_set("pages", "GERMAN_DETERMINERS")


@cache_within(2_000_000)
def read_subject(path: str, heading: str) -> frozenset[str]:
    """Return the stems of what a page and the headings above a statement are about; empty if they do not say so."""
    name = path.rpartition("/")[2].removesuffix(".md")
    titles = heading if parse_day(name) else f"{name} {heading}"
    words = split_words(fold(_NO_LETTERS.sub(" ", titles)))
    return frozenset(each for each in content_stems(words) if each not in _KIND_STEMS and not is_number(each))


def judge_below_headings(
    older: Statement, newer: Statement, subjects: tuple[frozenset[str], frozenset[str]], judge: Judge, *, one_page: bool
) -> Link | None:
    """Return how one statement replaces another, given the subjects of the headings above each."""
    link = judge(older, newer)
    if not link:
        plain = _leave_out_subject(newer, older, subjects[0])
        return judge(older, plain) if plain else None
    if link.kind in ("confirmed", "done"):
        return link
    is_of_other = _are_below_other_headings(older, newer, *subjects, one_page=one_page)
    return None if is_of_other or _names_another_subject(older, newer, subjects[0]) else link


def are_of_other_objects(older: str, newer: str) -> bool:
    """Return whether two passages are blocks of lines `label: value`, and each has the number of another thing in one
    of its lines: `PR: #412`, `Ticket: ABC-17`."""
    objects = [_find_objects(text) for text in (older, newer)]
    return all(objects) and objects[0].isdisjoint(objects[1])


@cache_within(250_000)
def _find_objects(text: str) -> frozenset[str]:
    """Return the numbers of things that a block of labelled lines is about; none of any other text."""
    if not _OBJECT.search(text):
        return frozenset()
    statements = read_statements(text)
    is_block = len(statements) > 1 and all(statement.label for statement in statements)
    return frozenset(_OBJECT.findall(text)) if is_block else frozenset()


def _are_below_other_headings(
    older: Statement, newer: Statement, older_subject: frozenset[str], newer_subject: frozenset[str], *, one_page: bool
) -> bool:
    """Return whether each of two statements is about the subject of its own heading, and names nothing else. On one
    page, that counts only for words that mean something else in every place (`deadline`, `owner`)."""
    only_older = older_subject - newer_subject
    only_newer = newer_subject - older_subject
    if not only_older or not only_newer:
        return False
    if not only_older.isdisjoint(newer.stems) or not only_newer.isdisjoint(older.stems):
        return False
    if _is_of_writer(older) and _is_of_writer(newer):
        return False
    if one_page:
        shared = set(older.stems).intersection(newer.stems)
        return all(each in CONTEXT_LABELS or is_number(each) for each in shared)
    return not _share_name(older, newer)


def _names_another_subject(older: Statement, newer: Statement, subject: frozenset[str]) -> bool:
    """Return whether the newer statement says something of what it names itself, and the older one of what its page or
    heading is about: `Kestrel's deadline` is not that of Lumen."""
    if not subject or not subject.isdisjoint(newer.stems) or not _has_case(newer.text) or _is_of_writer(newer):
        return False
    heads = frozenset[str]().union(*(claim.heads[0] for claim in read_first_claim(newer.text)[:1]))
    capitalised = list_capitalised(newer.text)
    names = {word for word in capitalised if stem(word) in heads}
    names |= {word for word, mark in pairwise(newer.words) if mark == "'s"}
    names |= {word for mark, word in pairwise(newer.words) if mark in _OWNER_MARKS and word in capitalised}
    first = newer.words[0]
    if stem(first) in heads and first not in _no_subjects():
        names.add(first)
    return any(_tells_apart(name, older) for name in names)


def _tells_apart(name: str, older: Statement) -> bool:
    """Return whether a name stands for something that another statement does not mention."""
    each = stem(name)
    is_name = not is_number(name) and each not in CONTEXT_LABELS and each not in GENERIC and each not in _KIND_STEMS
    return is_name and each not in older.stems


def _leave_out_subject(newer: Statement, older: Statement, subject: frozenset[str]) -> Statement | None:
    """Return a statement without the name of the subject of an older one's page: there, `the deadline of Osprey` is
    `the deadline`. None if it does not name that subject, or if the older one does."""
    named = subject.intersection(newer.stems)
    if not named or not named.isdisjoint(older.stems):
        return None
    statements = read_statements(_NAMED.sub(partial(_drop_name, named), newer.text).strip())
    return statements[0]._replace(answers=newer.answers) if len(statements) == 1 else None


def _drop_name(named: frozenset[str], match: re.Match[str]) -> str:
    is_name = named.issuperset(content_stems(split_words(fold(match["name"]))))
    return " " if is_name and match["name"][:1].isupper() else match[0]


def _is_of_writer(statement: Statement) -> bool:
    return not _WRITER.isdisjoint(statement.words)


def _share_name(older: Statement, newer: Statement) -> bool:
    """Return whether two statements share a name; True in scripts without capital letters."""
    if not _has_case(older.text) or not _has_case(newer.text):
        return True
    names = _list_names(older) | _list_names(newer)
    return not names.isdisjoint(set(older.words).intersection(newer.words))


def _has_case(text: str) -> bool:
    return any(map(str.islower, text)) and not any(map(is_unspaced, text))


def _list_names(statement: Statement) -> set[str]:
    """Return the words of a statement that are names: also identifiers, and its first word."""
    words = statement.words
    nouns = {after for word, after in pairwise(words) if word in _GERMAN_DETERMINERS}
    names = {word for word in list_capitalised(statement.text) if word not in nouns}
    names.update(word for word in words if not word.isalpha() and any(map(str.isalpha, word)))
    first = words[0]
    is_alone = any(claim.heads[0] == {stem(first)} for claim in read_first_claim(statement.text)[:1])
    if is_alone and first not in _no_subjects() and stem(first) not in CONTEXT_LABELS and not first.endswith("ing"):
        names.add(first)
    return {name for name in names if not is_number(name)}


@cache
def _no_subjects() -> frozenset[str]:
    """Return the words that may begin a sentence without naming anything."""
    return function_words() | DETERMINERS | _GERMAN_DETERMINERS
