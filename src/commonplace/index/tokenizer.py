"""The tokenizer and the stemmer: which words a text is indexed by, and where the words of a query occur in it.

Words are case-folded and stemmed; scripts without spaces are split into single characters and pairs of them.

How a word in Latin script is stemmed depends on the language of the text, which cannot be told from a query of two
words. So a passage in another language than English is indexed under English stems as well, and a query in another
language is looked up under both.

Some scripts imply the language: Cyrillic is stemmed as Russian, Devanagari as Hindi. In Latin script `detect_language`
decides by the function words of the whole text; English is the default.
The Snowball algorithms are loaded when the first word of their language is met; English has fewer rules of ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ..caching import cache_within
from ..facts.tasks import OPEN_TASK, find_task_question, has_open_task, may_have_open_task
from ..facts.words import strip_accents
from .languages import ALSO_ENGLISH_WORDS, ENGLISH, LATIN, STOP_WORDS

# Scripts written without spaces, and Korean, whose particles are attached to words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3130-\u318f"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_COMBINING_MARKS = "\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff\u0f00-\u0fff"
_ASCII_WORD = re.compile("[a-z0-9]+")  # for folded text in ASCII, as most is
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b")
_MAX_MARKS = 200  # highlights in one text

Span = tuple[int, int]
_MIN_LETTERS = 4
_MAX_LETTERS = 100  # anything longer is not a word, and stemming a million letters takes seconds
_MIN_FUNCTION_WORDS = 2  # enough to say that a text is not in English
_MANY_FUNCTION_WORDS = 3  # enough even if each of them is also an English word
_SCRIPTS = (  # first and last letter, language
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
_PERSIAN_LETTERS = frozenset("پچژگکی")
ARABIC_VARIANTS = str.maketrans("أإآىة", "ااايه")
_VOWEL = re.compile("[aeiouy]")


class PassageWords(NamedTuple):
    """The words of a passage and of the text around it, as they are indexed, and how many words each text has."""

    body: list[str]
    around: list[str]
    body_length: int
    around_length: int


class QueryWord(NamedTuple):
    """A word of a query: the forms under which passages may be indexed, and whether it is too common to count alone."""

    forms: tuple[str, ...]
    is_function_word: bool
    is_corrected: bool = False  # not the query's own word, but a similar one that the memory has


def tokenize_passage(text: str, around: str) -> PassageWords:
    """Return the words of a passage and its surroundings as they are indexed."""
    inside = list(split_runs(text))
    outside = list(split_runs(around))
    language = detect_language(run for runs in (inside, outside) for run, unspaced in runs if not unspaced)
    body, body_length = _index_words(inside, language)
    context, around_length = _index_words(outside, language)
    if may_have_open_task(text, (run for run, _ in inside)) and has_open_task(fold_accents(text)):
        body.append(OPEN_TASK)
    return PassageWords(body, context, body_length, around_length)


def _index_words(runs: list[tuple[str, bool]], language: str) -> tuple[list[str], int]:
    words: list[str] = []
    for run, unspaced in runs:
        words += [*run, *_pairs(run)] if unspaced else [stem(run, language)]
    length = len(words)
    if language != ENGLISH:
        words += [english for run, unspaced in runs if not unspaced and (english := stem(run)) != stem(run, language)]
    return words, length


def tokenize_query(text: str, language: str = "") -> list[QueryWord]:
    """Return the words of a query, each once: of a script without spaces only the pairs, which are more specific.

    Words that ask for open tasks say little by themselves: open tasks are indexed under a special word.
    """
    runs = list(split_runs(text))
    language = language or _detect_query_language(runs)
    task_question = find_task_question(fold_accents(text))
    asking = {
        part for run, unspaced in split_runs(task_question) for part in (_split_pairs(run) if unspaced else [run])
    }
    words: dict[QueryWord, None] = {}
    for run, unspaced in runs:
        if unspaced:
            words.update(dict.fromkeys(QueryWord((pair,), pair in asking) for pair in _split_pairs(run)))
            continue
        forms = tuple(dict.fromkeys((stem(run, language), stem(run))))
        words[QueryWord(forms, run in asking or is_function_word(run, language))] = None
    if task_question:
        words[QueryWord((OPEN_TASK,), is_function_word=False)] = None
    return list(words)


def list_forms(text: str, language: str) -> frozenset[str]:
    """Return the forms of all words of a text as `tokenize_query` gives those of a query."""
    forms: set[str] = set()
    for run, unspaced in split_runs(text):
        forms.update(_split_pairs(run) if unspaced else (stem(run, language), stem(run)))
    return frozenset(forms)


def query_language(text: str) -> str:
    """Return the language of a query."""
    return _detect_query_language(list(split_runs(text)))


def _detect_query_language(runs: list[tuple[str, bool]]) -> str:
    """A query is short, so one function word must suffice."""
    return detect_language((run for run, unspaced in runs if not unspaced), 1)


def split_runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the runs of characters that are words, and whether each is of a script without spaces."""
    folded = fold_accents(_POSSESSIVE.sub("", text))
    if folded.isascii():
        yield from ((word, False) for word in _ASCII_WORD.findall(folded))
        return
    for match in _token_pattern().finditer(folded):
        yield match[0], match.lastgroup == "unspaced"


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compile the pattern when the first text needs it: that takes longer than many a command."""
    return re.compile(
        rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])[^\W_]|[{_COMBINING_MARKS}])+)|"
        rf"(?P<symbol>[\u2600-\u27bf\U0001f300-\U0001faff])"
    )


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def _is_unspaced(char: str) -> bool:
    """Return whether a character is of a script without spaces."""
    return not char.isascii() and _unspaced_pattern().match(char) is not None


def fold_accents(text: str) -> str:
    """Remove differences of case, width and accents, so that words match however they are written."""
    if text.isascii():
        return text.lower()
    return strip_accents(unicodedata.normalize("NFKC", text).casefold())


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _split_pairs(run: str) -> list[str]:
    """Return the pairs of a run of a script without spaces, or the run if it is a single character."""
    return _pairs(run) or [run]


def find_highlights(text: str, query: str) -> list[Span]:
    """Return where words of a query are in a text, as character offsets. Adjacent and overlapping spans are merged."""
    forms, languages = _list_forms(query)
    marks: list[Span] = []
    for start, end in _find_words(text, forms, languages):
        if marks and start <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        elif len(marks) < _MAX_MARKS:
            marks.append((start, end))
    return marks


@cache_within(250_000)  # every hit of a query asks for them
def _list_forms(query: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the forms of the words of a query, and the languages they may be of."""
    language = query_language(query)
    words = tokenize_query(query, language)
    content_words = [word for word in words if not word.is_function_word] or words
    forms = frozenset(form for word in content_words for form in word.forms)
    return forms, tuple(dict.fromkeys((ENGLISH, language)))


def to_utf16(text: str, spans: list[Span]) -> list[Span]:
    """Return spans in UTF-16 code units, as browsers count: a character beyond U+FFFF is two."""
    if text.isascii() or not any(char > "\uffff" for char in text):
        return spans
    offsets = [0]
    for char in text:
        offsets.append(offsets[-1] + (2 if char > "\uffff" else 1))
    return [(offsets[start], offsets[end]) for start, end in spans]


def _find_words(text: str, words: frozenset[str], languages: tuple[str, ...]) -> Iterator[Span]:
    if text.isascii() and languages == (ENGLISH,):
        letters = {word[0] for word in words}  # an English stem begins as its word does
        for run in _ASCII_WORD.finditer(text.lower()):
            if run[0][0] in letters and stem(run[0]) in words:
                yield run.span()
        return
    for run in _highlight_pattern().finditer(text):
        start = run.start()
        if not _is_unspaced(run[0][0]):
            folded_run = fold_accents(run[0])
            if any(stem(folded_run, language) in words for language in languages):
                yield start, run.end()
            continue
        folded = [fold_accents(char) for char in run[0]]
        for offset, char in enumerate(folded):
            if char in words:
                yield start + offset, start + offset + 1
            if offset + 1 < len(folded) and char + folded[offset + 1] in words:
                yield start + offset, start + offset + 2


@cache
def _highlight_pattern() -> re.Pattern[str]:
    """Compile the pattern of what is marked: a run of a script without spaces, a word with its accents, or a symbol."""
    word = rf"(?:(?![{_UNSPACED}])[^\W_]|[{_COMBINING_MARKS}\u0300-\u036f])+"
    return re.compile(rf"[{_UNSPACED}]+|{word}|[\u2600-\u27bf\U0001f300-\U0001faff]")


def stem(word: str, language: str = ENGLISH) -> str:
    """Return the stem of a folded word. The language matters for words in Latin script only."""
    if len(word) > _MAX_LETTERS:
        return word
    if word.isascii():
        return _stem_english(word) if language == ENGLISH else _stem_latin(word, language)
    script = language_of_script(word)
    if script:
        return _stem_snowball(word, script)
    return word if language == ENGLISH else _stem_latin(word, language)


def detect_language(words: Iterable[str], min_function_words: int = _MIN_FUNCTION_WORDS) -> str:
    """Return the language of a text in Latin script, by its number of function words of each language."""
    matches = [word for word in words if word in _all_function_words()]
    if len(matches) < min_function_words:
        return ENGLISH
    counts = {language: sum([word in function_words(language) for word in matches]) for language in LATIN}
    best = max(LATIN, key=counts.__getitem__)  # English comes first, and wins where counts are equal
    is_certain = counts[best] >= _MANY_FUNCTION_WORDS or not certain_function_words(best).isdisjoint(matches)
    return best if counts[best] >= min_function_words and is_certain else ENGLISH


@cache
def certain_function_words(language: str) -> frozenset[str]:
    """Return the function words of a language that are not ordinary English words: `der`, but not `die`."""
    return function_words(language).difference(ALSO_ENGLISH_WORDS.split())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the words of a language that say little by themselves, folded."""
    return frozenset(fold_accents(STOP_WORDS.get(language, "")).split())


def is_function_word(word: str, language: str) -> bool:
    """Return whether a folded word says little by itself, in the language of the text or of its script."""
    if word.isascii():
        return word in function_words(language)
    script = language_of_script(word)
    return word in function_words(script or language)


@cache
def _all_function_words() -> frozenset[str]:
    return frozenset[str]().union(*map(function_words, LATIN))


def language_of_script(word: str) -> str:
    """Return the language whose rules fit the script of a word; empty for Latin and scripts without rules."""
    first = word[0]
    for low, high, language in _SCRIPTS:
        if low <= first <= high:
            return "persian" if language == "arabic" and not _PERSIAN_LETTERS.isdisjoint(word) else language
    return ""


@lru_cache(maxsize=16_384)
def _stem_english(word: str) -> str:
    """Remove the most common English endings of a word."""
    if len(word) < _MIN_LETTERS or not word.isalpha():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and _VOWEL.search(word[: -len(ending)]):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


@lru_cache(maxsize=16_384)
def _stem_latin(word: str, language: str) -> str:
    return word if len(word) < _MIN_LETTERS or not word.isalpha() else _snowball(language)(word) or word


@lru_cache(maxsize=16_384)
def _stem_snowball(word: str, language: str) -> str:
    if language == "arabic":
        return _snowball(language)(word.translate(ARABIC_VARIANTS)) or word
    return _snowball(language)(word) or word


@cache
def _snowball(language: str) -> Callable[[str], str]:
    import snowballstemmer  # type: ignore[import-untyped]

    stem_word: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem_word
