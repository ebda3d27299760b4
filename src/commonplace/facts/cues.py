"""Which kinds of phrases a text has: that something changed, was taken back, is open or was decided (`phrases.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache, partial
from typing import NamedTuple

from .phrases import PHRASES, Cue
from .word_lists import FUNCTION_WORDS
from .words import fold, function_words, word_set

# `I used to like it`, not `I got used to it` nor `it is used to cut bread`
_BEFORE_OTHER_USES = ("get", "gets", "got", "getting", "being", "is", "are", "be", "was", "were", "am", "never")
_USED_TO = "".join(f"(?<!{word} )" for word in (*_BEFORE_OTHER_USES, "'re", "'m", "'s"))
_WORD = re.compile(r"[\w'ऀ-ॣ०-෿]+")
_LITERAL = re.compile(r"[\w'ऀ-ॣ०-෿]+:?")
_FIRST_GROUP = re.compile(r"\(\?:([^()]*)\)")
_GROUP = re.compile(r"\(\?[:<!][^()]*(?:\([^()]*\)[^()]*)*\)(?:\{[^}]*\}|[?*+])?|.\?")
_ENGLISH_WORDS = word_set("the is are of and my our we i it's i'm with for it at from by this that be to their his")
_PREFIX = 3  # letters of a word that phrases with inflections are asked for first
_SEPARATOR = re.compile(r"\s*\| |\s*\|\n\s*")


def has_cue(folded: str, cue: Cue) -> bool:
    """Return whether a folded text has a phrase of a kind."""
    return find_cue(folded, cue) != ""


def find_cue(folded: str, cue: Cue) -> str:
    """Return the phrase of a kind that a folded text has; empty if it has none."""
    for pattern in _choose_patterns(folded, cue):
        if match := pattern.search(folded):
            return match[0]
    return ""


def mark_cues(folded: str, cues: Iterable[Cue], mark: str) -> str:
    """Return a folded text with a mark for the first and the last word of each phrase: what is between them stays."""
    for cue in cues:
        for pattern in _choose_patterns(folded, cue):
            folded = pattern.sub(partial(_mark_phrase, mark), folded)
    return folded


def _mark_phrase(mark: str, match: re.Match[str]) -> str:
    inner = " ".join(match[0].split(" ")[1:-1])
    return f"{mark}{inner}{mark}" if inner else mark


def find_cues(folded: str, cues: Iterable[Cue]) -> frozenset[Cue]:
    """Return which kinds of phrases a folded text has."""
    found = [cue for cue in cues if any(pattern.search(folded) for pattern in _choose_patterns(folded, cue))]
    return frozenset(found)


def _choose_patterns(folded: str, cue: Cue) -> list[re.Pattern[str]]:
    """Return the patterns that may match: a word of one language may say something else in another."""
    words = _find_words(folded)
    script = "spaced" if words.isdisjoint(_ENGLISH_WORDS) else "english"
    chosen = [_pattern(cue, script)] if _may_have_cue(words, cue, script) else []
    return chosen if folded.isascii() else [*chosen, _pattern(cue, "unspaced")]


def have_one_language(first: str, second: str) -> bool:
    """Return whether two texts may be of one language, as far as their short words tell English from others."""
    languages = {_guess_language(fold(text)) for text in (first, second)}
    return languages != {"english", "other"}


def is_english(text: str) -> bool:
    """Return whether a text has words that hardly any other language has."""
    return _guess_language(fold(text)) == "english"


def _guess_language(folded: str) -> str:
    words = _find_words(folded)
    if not words.isdisjoint(_ENGLISH_WORDS):
        return "english"
    others = function_words() - frozenset(FUNCTION_WORDS["english"].split())
    return "" if folded.isascii() and words.isdisjoint(others) else "other"


@lru_cache(maxsize=1024)
def _find_words(folded: str) -> frozenset[str]:
    return frozenset(_WORD.findall(folded))


def _may_have_cue(words: frozenset[str], cue: Cue, script: str) -> bool:
    """Return whether a text with these words may have a phrase of a kind: faster than to look for the phrases."""
    required = _collect_required_words(cue, script)
    return not required.words.isdisjoint(words) or not required.prefixes.isdisjoint([word[:_PREFIX] for word in words])


class _RequiredWords(NamedTuple):
    """Of each phrase of a kind, a word that every text with that phrase has, or the first three letters of one."""

    words: frozenset[str]
    prefixes: frozenset[str]


@cache
def _collect_required_words(cue: Cue, script: str) -> _RequiredWords:
    words: set[str] = set()
    prefixes: set[str] = set()
    for phrase in _list_phrases(cue, script):
        tokens = _GROUP.sub("*", phrase).split(" ")
        literals = [token for token in tokens if _LITERAL.fullmatch(token)]
        runs = [match[0] for token in tokens if (match := _LITERAL.match(token))]
        starts = [run[:_PREFIX] for run in runs if len(run) > _PREFIX]
        if literals and (not starts or len(max(literals, key=len)) > _PREFIX):
            words.add(max(literals, key=len).rstrip(":"))
        elif starts or (runs and phrase.startswith(runs[0])):
            prefixes.add((starts or runs)[0][:_PREFIX])
        else:
            words.update(_list_first_words(phrase))
    return _RequiredWords(frozenset(words), frozenset(prefixes))


def _list_first_words(phrase: str) -> list[str]:
    """Return the words that a phrase may begin with: `(?:don't|do not) know`."""
    match = _FIRST_GROUP.match(phrase)
    alternatives = match[1].split("|") if match else [phrase]
    return [word[0] for each in alternatives if (word := _WORD.match(each))]


@cache
def _pattern(cue: Cue, script: str) -> re.Pattern[str]:
    phrases = _list_phrases(cue, script)
    if script == "unspaced":
        return re.compile("|".join(phrases))
    guarded = "|".join(f"{_USED_TO}{phrase}" if phrase == "used to" else phrase for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{guarded})(?!\w)")


def _list_phrases(cue: Cue, script: str) -> list[str]:
    """Return the phrases of English, of all languages with spaces between words, or of those without."""
    tables = PHRASES[cue]
    names = [name for name in tables if name != "unspaced"] if script == "spaced" else [script]
    return [phrase for name in names for phrase in _split(tables[name])]


def _split(table: str) -> list[str]:
    """Return the phrases of a table: a bar between two phrases has spaces around it."""
    return [phrase.strip() for phrase in _SEPARATOR.split(f"{table} ") if phrase.strip()]
