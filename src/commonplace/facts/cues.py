"""The kinds of cue phrases in a text: that something changed, was taken back, is open or was decided."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, partial
from typing import Literal, NamedTuple, get_args

from ..caching import cache_within
from ..patterns import lazy_pattern
from ..word_lists import split_phrases
from .words import compile_pattern, fold, function_words, read_table, word_set

# `I used to like it`, not `I got used to it` nor `it is used to cut bread`
_BEFORE_OTHER_USES = ("get", "gets", "got", "getting", "being", "is", "are", "be", "was", "were", "am", "never")
_USED_TO = "".join(f"(?<!{word} )" for word in (*_BEFORE_OTHER_USES, "'re", "'m", "'s"))
_WORD = lazy_pattern(r"[\w'ऀ-ॣ०-෿]+")
_LITERAL = lazy_pattern(r"[\w'ऀ-ॣ०-෿]+:?")
_FIRST_GROUP = lazy_pattern(r"\(\?:([^()]*)\)")
_GROUP = lazy_pattern(r"\(\?[:<!][^()]*(?:\([^()]*\)[^()]*)*\)(?:\{[^}]*\}|[?*+])?|.\?")
_ENGLISH_WORDS = word_set("cues", "ENGLISH_WORDS")
_SIMPLE = lazy_pattern(r"(?P<plain>[\w' :ऀ-ॣ०-෿]+?)(?P<ending>\\[wS][*+])?")
_VARIABLE = lazy_pattern(r"(?:\[[^\]]*\]|\\\w)(?:\{[^}]*\}|[?*+])?")
_PLAIN = lazy_pattern(r"[\w' :ऀ-ॣ०-෿]+")
ChangeCue = Literal["change", "weak change", "retraction", "decision", "resolution", "hint"]
Cue = Literal[ChangeCue, "trouble", "open", "addition", "tentative", "past"]
CHANGE_CUES: frozenset[str] = frozenset(("change", "weak change", "retraction"))
_UNSPACED_NO = "不没"
_UNSPACED_ENDS = "了"
_PREFIX = 3  # letters of a word by which phrases with inflections are preselected


def has_cue(folded: str, cue: Cue) -> bool:
    """Return whether a folded text has a phrase of a kind."""
    return find_cue(folded, cue) != ""


def has_english_cue(folded: str, cue: Cue) -> bool:
    """Return whether a folded text has an English phrase of a kind: in a short note, nothing else may tell its
    language."""
    return folded.isascii() and _pattern(cue, "english").search(folded) is not None


def find_cue(folded: str, cue: Cue) -> str:
    """Return the phrase of a kind that a folded text has; empty if it has none."""
    for pattern in _choose_patterns(folded, cue):
        if match := pattern.search(folded):
            return match[0]
    return ""


def mark_cues(folded: str, cues: Collection[Cue], mark: str) -> str:
    """Return a folded text with a mark for the first and the last word of each phrase: what is between them stays."""
    possible = {cue for cue, _ in _find_possible(folded, cues)}
    has_unspaced = not folded.isascii() and _any_unspaced_pattern().search(folded) is not None
    for cue in cues if has_unspaced else [cue for cue in cues if cue in possible]:
        for pattern in _choose_patterns(folded, cue):
            folded = pattern.sub(partial(_mark_phrase, mark), folded)
    return folded


def _mark_phrase(mark: str, match: re.Match[str]) -> str:
    phrase = match[0]
    if phrase[0] in _UNSPACED_NO and phrase[-1] in _UNSPACED_ENDS:  # `不吃肉了` is about what is between
        return f"{mark}{phrase[1:-1]}{mark}"
    inner = " ".join(phrase.split(" ")[1:-1])
    return f"{mark}{inner}{mark}" if inner else mark


def find_cues(folded: str, cues: Collection[Cue]) -> frozenset[Cue]:
    """Return the kinds of phrases in a folded text. Only phrases that share a word with the text are tried."""
    found: set[Cue] = set()
    for cue, phrases in _find_possible(folded, cues):
        if cue not in found and compile_pattern(phrases).search(folded):
            found.add(cue)
    if not folded.isascii() and _any_unspaced_pattern().search(folded):
        found.update(cue for cue in cues if cue not in found and _pattern(cue, "unspaced").search(folded))
    return frozenset(found)


def _choose_patterns(folded: str, cue: Cue) -> list[re.Pattern[str]]:
    """Return the patterns that may match: a word of one language may say something else in another."""
    is_possible = next(_find_possible(folded, (cue,)), None) is not None
    chosen = [_pattern(cue, _choose_script(_find_words(folded)))] if is_possible else []
    return chosen if folded.isascii() else [*chosen, _pattern(cue, "unspaced")]


def _choose_script(words: frozenset[str]) -> str:
    return "spaced" if words.isdisjoint(_ENGLISH_WORDS) else "english"


def have_one_language(first: str, second: str) -> bool:
    """Return whether two texts may be in one language, judging by the short words of English."""
    languages = {_guess_language(fold(text)) for text in (first, second)}
    return languages != {"english", "other"}


def is_english(text: str) -> bool:
    """Return whether a text has words that hardly any other language has."""
    return _guess_language(fold(text)) == "english"


@cache_within(500_000)  # a statement is compared with many
def _guess_language(folded: str) -> str:
    words = _find_words(folded)
    if not words.isdisjoint(_ENGLISH_WORDS):
        return "english"
    return "" if folded.isascii() and words.isdisjoint(_other_function_words()) else "other"


@cache
def _other_function_words() -> frozenset[str]:
    """Return the function words of other languages than English."""
    return function_words() - frozenset(read_table("words", "FUNCTION_WORDS")["english"].split())


@cache_within(2_000_000)
def _find_words(folded: str) -> frozenset[str]:
    return frozenset(_WORD.findall(folded))


def _find_possible(folded: str, cues: Collection[Cue]) -> Iterator[tuple[Cue, str]]:
    """Yield the phrases of these kinds that a text may have, those of a kind that share a word as one pattern."""
    return (possible for possible in _list_possible(folded) if possible[0] in cues)


@cache_within(500_000)
def _list_possible(folded: str) -> tuple[tuple[Cue, str], ...]:
    """Return the phrases that a text may have; cached, as each kind is looked for by itself."""
    words = _find_words(folded)
    required = _collect_phrases(_choose_script(words))
    possible: list[tuple[Cue, str]] = []
    for table, starts in ((required.by_word, words), (required.by_prefix, {word[:_PREFIX] for word in words})):
        for start in table.keys() & starts:
            for cue, parts, phrases in table[start]:
                for part in parts:  # mostly there is none, and a search takes longer
                    if part in folded:
                        possible.append((cue, phrases))
                        break
    return tuple(possible)


# Those phrases of each kind that share a word: of each its longest part that is plain text, and all as one pattern.
_Phrases = dict[str, list[tuple[Cue, list[str], str]]]


class _RequiredWords(NamedTuple):
    """Phrases by a word that every text with them has, or by the first three letters of one."""

    by_word: _Phrases
    by_prefix: _Phrases


@cache
def _collect_phrases(script: str) -> _RequiredWords:
    required = _RequiredWords({}, {})
    for cue in get_args(Cue):
        words: dict[str, list[str]] = {}
        prefixes: dict[str, list[str]] = {}
        for phrase in _list_phrases(cue, script):
            starts, is_prefix = _find_required(phrase)
            for start in starts:
                (prefixes if is_prefix else words).setdefault(start, []).append(phrase)
        for groups, table in ((words, required.by_word), (prefixes, required.by_prefix)):
            for start, every in groups.items():
                parts = [*map(_find_longest_part, every)]
                table.setdefault(start, []).append((cue, parts, _guard(every)))
    return required


def _find_required(phrase: str) -> tuple[list[str], bool]:
    """Return a word that every text with a phrase has, or the first letters of one; and whether it is the latter."""
    simple = _SIMPLE.fullmatch(phrase)  # as most are
    if simple and not simple["ending"]:
        return [max(phrase.split(" "), key=len).rstrip(":")], False
    if simple and " " not in phrase:
        return [simple["plain"][:_PREFIX]], True
    tokens = _GROUP.sub("*", phrase).split(" ")
    literals = [token for token in tokens if _LITERAL.fullmatch(token)]
    runs = [match[0] for token in tokens if (match := _LITERAL.match(token))]
    starts = [run[:_PREFIX] for run in runs if len(run) > _PREFIX]
    if literals and (not starts or len(max(literals, key=len)) > _PREFIX):
        return [max(literals, key=len).rstrip(":")], False
    if starts or (runs and phrase.startswith(runs[0])):
        return [(starts or runs)[0][:_PREFIX]], True
    return _list_first_words(phrase), False


def _find_longest_part(phrase: str) -> str:
    """Return the longest part of a phrase that is plain text; empty if there is none."""
    if simple := _SIMPLE.fullmatch(phrase):
        return simple["plain"]
    parts: list[str] = _PLAIN.findall(_VARIABLE.sub("*", _GROUP.sub("*", phrase)))
    return max(parts, key=len, default="")


def _list_first_words(phrase: str) -> list[str]:
    """Return the words that a phrase may begin with: `(?:don't|do not) know`."""
    match = _FIRST_GROUP.match(phrase)
    alternatives = match[1].split("|") if match else [phrase]
    return [word[0] for each in alternatives if (word := _WORD.match(each))]


@cache
def _pattern(cue: Cue, script: str) -> re.Pattern[str]:
    phrases = _list_phrases(cue, script)
    return compile_pattern("|".join(phrases) if script == "unspaced" else _guard(phrases))


@cache
def _any_unspaced_pattern() -> re.Pattern[str]:
    return re.compile("|".join(_pattern(cue, "unspaced").pattern for cue in get_args(Cue)))


def _guard(phrases: Iterable[str]) -> str:
    """Return a pattern for phrases as whole words."""
    guarded = "|".join(f"{_USED_TO}{phrase}" if phrase == "used to" else phrase for phrase in phrases)
    return rf"(?<!\w)(?:{guarded})(?!\w)"


def _list_phrases(cue: Cue, script: str) -> list[str]:
    """Return the phrases of English, of all languages with spaces between words, or of those without."""
    tables = read_table("cues", cue.upper().replace(" ", "_"))
    names = [name for name in tables if name != "unspaced"] if script == "spaced" else [script]
    return [phrase for name in names for phrase in split_phrases(tables[name])]
