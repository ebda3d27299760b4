"""Tokens of the packaged model: whole words where they are known, else their longest known pieces.

Chinese, Japanese and Korean give characters and known pairs of them, Thai its longest known words. Training uses this
very code.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache

CJK = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
# Marks are no letters for `\w`: Hindi, Arabic and Hebrew words would fall apart at their vowels.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
)
_LETTER = rf"[^\W\d_{CJK}{THAI}\u0640]"
_RUNS = re.compile(rf"([{CJK}]+)|([{THAI}]+)|({_LETTER}(?:{_LETTER}|[{_MARKS}])*|\d+)")
_ASCII_RUNS = re.compile(r"[a-z]+|\d+")  # for lower-case text in ASCII
# What each byte becomes where a text is split at spaces: much faster than a pattern.
_ASCII_WORDS = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else ord(" ") for byte in range(128)) + bytes(128)
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_SEMITIC = re.compile("[\u05d0-\u05ea\u0621-\u064a]")
_ARABIC_MARKS = re.compile("[\u0640\u064b-\u065f\u0670\u05b0-\u05c7]")
# One letter for those that writers of Arabic and Persian exchange, and no dot of its own above a Turkish i.
_SAME_LETTERS = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "\u0307": None})
_EXCHANGED = re.compile(f"[{''.join(map(chr, _SAME_LETTERS))}]")
_ARTICLE = "ال"
_PREFIXES = "ובכלמשהوفلبك"  # "and", "in", "to" and the like, written as part of the word
_THAI_WORD = re.compile(f"[{THAI}]+")
_ONE_CHARACTER = (1,)
_MAX_PIECE_CHARACTERS = 18
_MAX_CACHED_WORDS = 16_384
_MIN_STEM_CHARACTERS = 3

AsciiWords = tuple[list[str], list[int | None]]  # words, and the id of each that is known


def has_cjk(text: str) -> bool:
    return _CJK_CHARACTER.search(text) is not None


class Tokenizer:
    """Splits text into ids of a vocabulary."""

    def __init__(self, vocabulary: Sequence[str], english_rows: int = 0) -> None:
        """`english_rows`: how many of the first tokens may be pieces of an English word; all if it is 0."""
        self._ids = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._english_rows = english_rows or len(vocabulary)
        self._pieces = lru_cache(_MAX_CACHED_WORDS)(self._split_word)  # a rare word seldom occurs only once
        self._english_pieces = lru_cache(_MAX_CACHED_WORDS)(self._split_english_word)

    def id(self, token: str) -> int:
        return self._ids[token]

    def ids(self, text: str, *, is_english: bool = False) -> list[int]:
        """Return the ids of the tokens of a text, in no particular order; unknown ones are left out.

        `is_english`: no piece of an unknown word is of another language.
        """
        ids: list[int] = []
        get_id = self._ids.get
        if text.isascii():  # as most text is: this takes half the time
            words = self.split_ascii(text)
            return self.join_pieces(words, is_english=is_english)
        before = ""
        for cjk, thai, word in _RUNS.findall(normalize(text)):
            if cjk:
                ids += [token for token in map(get_id, cjk) if token is not None]
                ids += [token for token in map(get_id, map(str.__add__, cjk, cjk[1:])) if token is not None]
            elif thai:
                ids += self._split_thai(thai)
            else:
                token = get_id(word)
                if token is not None:
                    ids.append(token)
                elif is_english and (folded := fold(word)).isascii() and folded not in self._ids:
                    ids += self._english_pieces(folded)
                else:
                    ids += self._pieces(word)
                if before in self._first_syllables:  # Vietnamese writes its syllables apart
                    pair = get_id(f"{before} {word}")
                    ids += () if pair is None else (pair,)
                before = word
        return ids

    def split_ascii(self, text: str) -> AsciiWords:
        """Return the words of a text in ASCII, with the ids of those that are known. A word of letters and digits is
        one here, and not known: no token has both."""
        words = text.encode().translate(_ASCII_WORDS).decode().split()
        return words, [*map(self._ids.get, words)]

    def join_pieces(self, split: AsciiWords, *, is_english: bool = False) -> list[int]:
        """Return the ids of words, and of the pieces of those that are not known."""
        ids: list[int] = []
        pieces = self._english_pieces if is_english else self._pieces
        for word, token in zip(*split, strict=True):
            if token is not None:
                ids.append(token)
            elif word.isalpha() or word.isdigit():
                ids += pieces(word)
            else:
                for run in _ASCII_RUNS.findall(word):
                    known = self._ids.get(run)
                    ids += pieces(run) if known is None else (known,)
        return ids

    def measure_coverage(self, text: str) -> float:
        """Return the share of a text's letters and digits in words of which anything is known; 1 for a text without."""
        covered_chars = 0
        total = 0
        for run in _RUNS.finditer(normalize(text)):
            total += len(run[0])
            covered_chars += len(run[0]) if self._knows(run) else 0
        return covered_chars / total if total else 1.0

    def _knows(self, run: re.Match[str]) -> bool:
        """Return whether any part of a run is known: nothing is of a script that the model lacks."""
        if run[1]:
            return any(character in self._ids for character in run[0])
        return run[0] in self._ids or bool(self._pieces(run[0]))

    def _split_english_word(self, word: str) -> list[int]:
        """Return the tokens of an unknown word, none of them of another language."""
        return self._split(word, "##", self._english_rows)

    def _split_word(self, word: str) -> list[int]:
        """Return the tokens of an unknown word."""
        if word.isascii():
            return self._split(word, "##")
        if _SEMITIC.match(word):
            word = fold_semitic(word)
            stem = self._without_prefixes(word)
            return [self._ids[stem]] if stem else self._split(word, "##")
        folded = fold(word)
        if folded in self._ids:
            return [self._ids[folded]]
        return self._split(folded if folded.isascii() else word, "##")

    def _without_prefixes(self, word: str) -> str | None:
        """Return the known word that is left without up to two letters of prefix."""
        for start in range(3):
            stem = fold_semitic(word[start:])
            if len(stem) < _MIN_STEM_CHARACTERS:
                return None
            if stem in self._ids:
                return stem
            if word[start] not in _PREFIXES:
                return None
        return None

    def _split_thai(self, run: str) -> list[int]:
        """Return the longest known words from the left: as `_split` does, but only of lengths that occur."""
        ids: list[int] = []
        start = 0
        while start < len(run):
            for length in self._thai_lengths.get(run[start : start + 2], _ONE_CHARACTER):
                token = self._ids.get(run[start : start + length])
                if token is not None:
                    ids.append(token)
                    start += min(length, len(run) - start)
                    break
            else:
                start += 1
        return ids

    @cached_property
    def _first_syllables(self) -> frozenset[str]:
        """Return the first words of tokens of two words."""
        return frozenset(token.partition(" ")[0] for token in self._ids if " " in token)

    @cached_property
    def _thai_lengths(self) -> dict[str, tuple[int, ...]]:
        """Return the lengths of Thai words, longest first, by their first two characters."""
        lengths: dict[str, set[int]] = {}
        for word in filter(_THAI_WORD.fullmatch, self._ids):
            lengths.setdefault(word[:2], {1}).add(len(word))
        return {start: tuple(sorted(word_lengths, reverse=True)) for start, word_lengths in lengths.items()}

    def _split(self, word: str, prefix: str, rows: int | None = None) -> list[int]:
        """Return the longest known pieces from the left, of the first rows if a number is given; all but the first
        are looked up with a prefix."""
        ids: list[int] = []
        rows = rows or len(self._ids)
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + _MAX_PIECE_CHARACTERS), start, -1):
                token = self._ids.get(prefix + word[start:end] if start else word[start:end])
                if token is not None and token < rows:
                    ids.append(token)
                    break
            else:
                end = start + 1
            start = end
        return ids


def normalize(text: str) -> str:
    """Return a text in the form in which words are looked up."""
    lower = unicodedata.normalize("NFKC", text).lower()
    return lower.translate(_SAME_LETTERS) if _EXCHANGED.search(lower) else lower


def fold(word: str) -> str:
    """Return a word without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def fold_semitic(word: str) -> str:
    """Return an Arabic, Persian or Hebrew word without vowel signs and without the Arabic article."""
    word = _ARABIC_MARKS.sub("", word)
    if word.startswith(_ARTICLE) and len(word) - len(_ARTICLE) >= _MIN_STEM_CHARACTERS:
        return word[len(_ARTICLE) :]
    return word
