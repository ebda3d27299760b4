"""The words of a statement: split, folded, without contractions, and which of them carry its content.

Stems are crude on purpose: they only find candidates, and a closer comparison follows.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

from ..caching import cache_within
from ..patterns import lazy_pattern
from ..word_lists import WordLists

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_MARKS = "\u0300-\u036f\u064b-\u065f\u0900-\u0963\u0966-\u0dff"  # without the danda, which ends a sentence
_ASCII_TOKEN = lazy_pattern(r"[a-z0-9_]+(?:[-./:@,'][a-z0-9_]+)*")
_ACCENTS = lazy_pattern(r"[\u0300-\u036f]")
_MAY_HAVE_ACCENTS = lazy_pattern("[\u0080-\u2fff]")
_LETTERS = lazy_pattern("[a-z]+")
_DIGIT = lazy_pattern("[0-9]")
_COMPOUND = lazy_pattern("[-./:@,]")
_STEM_CHARACTERS = 5
_MIN_INFLECTED_CHARACTERS = 4
_MIN_BASE_CHARACTERS = 3
_LATER_WORD = lazy_pattern(r"(?<=[\w,;:)'’] )[^\W\d_][\w'’.-]*")
_DECADE = lazy_pattern("(?:19|20)[0-9]0s")  # `1980s`, `80s`
_ARABIC_ARTICLE = lazy_pattern("^(?:و|ب|ك|ف)?ال(?=..)|^لل(?=..)")


def fold(text: str) -> str:
    """Return text without differences of case, width and apostrophes."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()


_LISTS = WordLists(Path(__file__).parent / "lists")
read_table = _LISTS.read_table
read_list = _LISTS.read_text
list_phrases = _LISTS.list_phrases
join_phrases = _LISTS.join_phrases
phrase_pattern = _LISTS.phrase_pattern


def word_sets(file: str, name: str) -> tuple[frozenset[str], ...]:
    """Return the lines of a list as sets of words, folded."""
    return tuple(frozenset(fold(line).split()) for line in read_list(file, name).strip().split("\n"))


def word_set(file: str, name: str) -> frozenset[str]:
    """Return the words of a list, folded."""
    return frozenset(fold(read_list(file, name)).split())


DETERMINERS = word_set("values", "DETERMINERS")
ARTICLES = word_set("values", "ARTICLES")
OURS = word_set("values", "OURS")
TITLES = word_set("values", "TITLES")
VAGUE_STARTS = word_set("values", "VAGUE_STARTS")
PREPOSITIONS = word_set("values", "PREPOSITIONS")
PLACE_PREPOSITIONS = word_set("values", "PLACE_PREPOSITIONS")
OF = word_set("values", "OF")
FOR = word_set("values", "FOR")
NEGATIONS = word_set("values", "NEGATIONS")
_FREQUENCIES = word_set("words", "FREQUENCIES")
IRREGULAR_PAST = word_set("vetoes", "IRREGULAR_PAST")
_BEFORE_MONTH = word_set("words", "BEFORE_MONTH")
_AFTER_IS = frozenset(read_table("values", "PREPOSITIONS")["english"].split()) | {"the", "a", "an", "now", "not"}


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compile when the first text beyond ASCII needs it."""
    letter = rf"(?:[^\W{_UNSPACED}]|[{_MARKS}])"
    return re.compile(rf"[{_UNSPACED}]|{letter}+(?:[-./:@,']{letter}+)*")


def strip_accents(folded: str) -> str:
    """Return a text without accents, so that words match however they are written."""
    if not _MAY_HAVE_ACCENTS.search(folded):  # such as Chinese, where this would be slow
        return folded
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))


def remove_spaces(folded: str) -> str:
    """Return a text without anything between words, so that the characters of scripts without spaces are adjacent."""
    return _space_pattern().sub("", folded)


@cache
def _space_pattern() -> re.Pattern[str]:
    return re.compile(rf"[^\w{_UNSPACED}{_MARKS}]+")


def split_words(folded: str) -> list[str]:
    """Return the words of a folded text, contractions as the words that they stand for."""
    pattern = _ASCII_TOKEN if folded.isascii() else _token_pattern()
    tokens: list[str] = pattern.findall(folded)
    words = tokens if all(map(str.isalnum, tokens)) else _split_tokens(tokens)
    if "'s" in words:
        words = _expand_is(words)
    return _mark_may(words) if "may" in words else words


def _expand_is(words: list[str]) -> list[str]:
    """Return words with `is` for the `'s` that cannot be a possessive: `payroll's with Deel`."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return ["is" if word == "'s" and after in _AFTER_IS else word for word, after in pairs]


def _split_tokens(tokens: list[str]) -> list[str]:
    """Return tokens with contractions and compounds as several words."""
    words: list[str] = []
    for word in tokens:
        if word.isalnum():
            words.append(word)
        elif "'" in word:
            words += filter(None, _expand(word))
        elif is_number(word) or "." in word or "_" in word:
            words.append(word)
        else:
            words += _COMPOUND.split(word)
    return words


def _mark_may(words: list[str]) -> list[str]:
    """Return words with `mai` for the month of May, which is also a verb: `in May`, `12 May`, `May 3`."""
    marked: list[str] = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        is_month = word == "may" and (before in _BEFORE_MONTH or before[:1].isdigit() or after[:1].isdigit())
        marked.append("mai" if is_month else word)
    return marked


@cache
def _contractions() -> dict[str, str]:
    return read_table("words", "CONTRACTIONS")


@lru_cache(maxsize=16_384)  # without a limit, words of all texts would stay forever
def _expand(word: str) -> tuple[str, ...]:
    if word in _contractions():
        return tuple(_contractions()[word].split())
    if word.endswith("n't"):
        return word[:-3], "not"
    return (word[:-2], "'s") if word.endswith("'s") else tuple(word.split("'"))


def is_unspaced(word: str) -> bool:
    """Return whether a word is one character of a script without spaces."""
    return len(word) == 1 and not word.isascii() and _unspaced_pattern().match(word) is not None


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern; cached, so that each is compiled when a text first needs it."""
    return re.compile(pattern)


def has_kana_or_kanji(text: str) -> bool:
    """Return whether a text has characters of Chinese or Japanese."""
    return not text.isascii() and compile_pattern("[\u3040-\u30ff\u4e00-\u9fff]").search(text) is not None


@cache
def function_words() -> frozenset[str]:
    """Return the function words of all languages."""
    return word_set("words", "FUNCTION_WORDS")


@cache
def _date_words() -> frozenset[str]:
    return word_set("words", "MONTHS_AND_DAYS") | word_set("words", "NUMBER_WORDS")


def is_number(word: str) -> bool:
    """Return whether a word is a number, a date, a time, a code with digits, a month, or a day of the week."""
    return word in _date_words() or (not word.isalpha() and any(map(str.isdigit, word)))


def may_have_number(text: str) -> bool:
    """Return whether any word of a text may be a number; True for every text that is not in ASCII."""
    if not text.isascii() or _DIGIT.search(text):
        return True
    return not _date_word_starts().isdisjoint(_LETTERS.findall(text.lower()))


@cache
def _date_word_starts() -> frozenset[str]:
    """Return the letters that the words of dates and numbers in ASCII begin with; `may` becomes one of them."""
    return frozenset(("may", *(start[0] for word in _date_words() if (start := _LETTERS.match(word)))))


def is_amount(word: str) -> bool:
    """Return whether a word is a number or a date: not `p95` or `s3`, nor how often (`daily target`)."""
    return is_number(word) and word not in _FREQUENCIES and (word[0].isdigit() or word in _date_words())


def is_past_verb(word: str) -> bool:
    """Return whether an English word may be a verb in the past."""
    return word in IRREGULAR_PAST or (len(word) > 3 and word.endswith("ed"))


@cache
def _months_and_days() -> frozenset[str]:
    return word_set("words", "MONTHS_AND_DAYS")


def is_month_or_day(word: str) -> bool:
    """Return whether a word is a month, or a day of the week."""
    return word in _months_and_days()


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the beginning of a word without an English ending: inflections mostly share it."""
    if not word.isalpha() or len(word) < _MIN_INFLECTED_CHARACTERS:
        return word[2:] if _DECADE.fullmatch(word) else word
    if word in _date_words():
        return singular if (singular := word.removesuffix("s")) in _date_words() else word
    if "\u0600" <= word[0] <= "\u06ff":
        return _ARABIC_ARTICLE.sub("", word)[:_STEM_CHARACTERS]
    if word.isascii():
        for ending in ("ing", "ed", "es", "s"):
            if word.endswith(ending) and len(word) - len(ending) >= _MIN_BASE_CHARACTERS:
                word = word[: -len(ending)]
                break
        if len(word) > _MIN_BASE_CHARACTERS and word[-1] == word[-2]:
            word = word[:-1]
    return word[:_STEM_CHARACTERS].rstrip("e") or word[:_STEM_CHARACTERS]  # `eeee`, as people write a sound


def content_stems(words: list[str] | tuple[str, ...]) -> list[str]:
    """Return the stems of the words that carry content, in order; of scripts without spaces, pairs of characters."""
    skipped = function_words()
    if all(map(str.isascii, words)):
        return [stem(word) for word in words if word not in skipped]
    stems: list[str] = []
    before = ""
    for word in words:
        if is_unspaced(word):
            if before and before not in skipped and word not in skipped:
                stems.append(before + word)
            before = word
            continue
        before = ""
        if word not in skipped:
            stems.append(stem(word))
    return stems


@cache_within(500_000)
def list_capitalised(text: str) -> list[str]:
    """Return the words within a text that begin with a capital letter."""
    return [word for name in _LATER_WORD.findall(text) if name[0].isupper() for word in split_words(fold(name))]


def is_capitalised(word: str, text: str) -> bool:
    """Return whether a folded word begins with a capital letter in a text."""
    return f"{word[:1].upper()}{word[1:]}" in text


def is_capitalised_within(word: str, text: str) -> bool:
    """Return whether a folded word begins with a capital letter after a space in a text."""
    return f" {word[:1].upper()}{word[1:]}" in text


def has_capitals(word: str, text: str) -> bool:
    """Return whether a folded word begins with a capital letter in a text, or is all in capital letters there."""
    return is_capitalised(word, text) or word.upper() in text
