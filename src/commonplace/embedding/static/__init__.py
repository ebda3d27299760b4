"""The packaged model (`static`) and its tokenizer: the vector of a text is the normalised sum of its tokens' vectors.

One file holds it: a line of JSON, the vocabulary, and for each row a scale, a lean and numbers of four bits. It is
memory-mapped, and numpy is all it needs. One vector space serves every language.

Tokens are whole words if they are known, else their longest known pieces. Chinese, Japanese and Korean give
characters and known pairs of them, Thai its longest known words. Training uses this very code.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ...caching import cache_within
from ...patterns import lazy_pattern
from ...settings import SearchSettings
from ..base import Comparison

if TYPE_CHECKING:
    from ..base import Vectors


CJK = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
# `\w` does not match marks, so Hindi, Arabic and Hebrew words would fall apart at their vowels.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
)
_LETTER = rf"[^\W\d_{CJK}{THAI}\u0640]"
_RUNS = lazy_pattern(rf"([{CJK}]+)|([{THAI}]+)|({_LETTER}(?:{_LETTER}|[{_MARKS}])*|\d+)")
_ASCII_RUNS = lazy_pattern(r"[a-z]+|\d+")  # for lower-case text in ASCII
# What each byte becomes where a text is split at spaces: much faster than a pattern.
_ASCII_WORDS = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else ord(" ") for byte in range(128)) + bytes(128)
_NOT_ASCII_MARKS = lazy_pattern(r"[^\x00-/:-@\[-`{-\x7f]+")  # what is between spaces and marks
_AFTER_EUROPE = "\u0590"  # beyond it, scripts may have marks, or no spaces
_CJK_CHARACTER = lazy_pattern(f"[{CJK}]")
_SEMITIC = lazy_pattern("[\u05d0-\u05ea\u0621-\u064a]")
_ARABIC_MARKS = lazy_pattern("[\u0640\u064b-\u065f\u0670\u05b0-\u05c7]")
# One letter for those that writers of Arabic and Persian exchange, and no dot of its own above a Turkish i.
_SAME_LETTERS = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "\u0307": None})
_EXCHANGED = lazy_pattern(f"[{''.join(map(chr, _SAME_LETTERS))}]")
_ARTICLE = "ال"
_PREFIXES = "ובכלמשהوفلبك"  # "and", "in", "to" and the like, written as part of the word
_THAI_WORD = lazy_pattern(f"[{THAI}]+")
_THAI_KEY_CHARACTERS = 3
_SHORT_LENGTHS = (2, 1)  # of Thai words that are shorter than a key
_MAX_PIECE_CHARACTERS = 18
_MAX_CACHED_WORDS = 16_384
_MIN_STEM_CHARACTERS = 3
ALTERNATE_MARK = "~"  # prefix of a word's second entry, for its meaning in other languages
PIECE_MARK = "##"  # prefix of an entry that continues a word

Run = tuple[str, str, str]  # one of three: characters of Chinese, Japanese or Korean, of Thai, or a word
AsciiWords = tuple[list[str], list[int | None]]  # words, and the ids of known ones


def has_cjk(text: str) -> bool:
    return not text.isascii() and _CJK_CHARACTER.search(text) is not None


class Tokenizer:
    """Splits text into ids of a vocabulary."""

    def __init__(self, vocabulary: Sequence[str], english_rows: int = 0) -> None:
        """`english_rows`: how many of the first tokens may be pieces of an English word; all if it is 0."""
        self._ids = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._vocabulary = vocabulary
        self._english_rows = english_rows or len(vocabulary)
        self._pieces = lru_cache(_MAX_CACHED_WORDS)(self._split_word)  # a rare word seldom occurs only once
        self._english_pieces = lru_cache(_MAX_CACHED_WORDS)(self._split_english_word)

    def id(self, token: str) -> int:
        return self._ids[token]

    def word(self, token: int) -> str:
        """Return the word that a token stands for; an empty string for a piece of a word."""
        text = self._vocabulary[token].removeprefix(ALTERNATE_MARK)
        return "" if text.startswith(PIECE_MARK) else text

    def ids(self, text: str, *, is_english: bool = False) -> list[int]:
        """Return the ids of the tokens of a text, in no particular order; unknown ones are left out.

        `is_english`: no piece of an unknown word is of another language.
        """
        if text.isascii():  # like most text; this takes half the time
            words = self.split_ascii(text)
            return self.join_pieces(words, is_english=is_english)
        return self.join_runs(find_runs(text), is_english=is_english)

    def join_runs(self, runs: Iterable[Run], *, is_english: bool = False) -> list[int]:
        """Return the ids of the tokens of runs."""
        ids: list[int] = []
        get_id = self._ids.get
        first_syllables = self._first_syllables
        before = ""
        for cjk, thai, word in runs:
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
                if before in first_syllables:  # Vietnamese writes its syllables apart
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
        """Return the ids of words, and of the pieces of unknown ones."""
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
        """Return the share of a text's letters and digits in words that are at least partly known; 1 for a text without
        any."""
        covered_chars = 0
        total = 0
        for run in _RUNS.finditer(normalize(text)):
            total += len(run[0])
            covered_chars += len(run[0]) if self._knows(run) else 0
        return covered_chars / total if total else 1.0

    def _knows(self, run: re.Match[str]) -> bool:
        """Return whether any part of a run is known; never in a script that the model lacks."""
        if run[1]:
            return any(character in self._ids for character in run[0])
        return run[0] in self._ids or bool(self._pieces(run[0]))

    def _split_english_word(self, word: str) -> list[int]:
        """Return the tokens of an unknown word, none of them of another language."""
        return self._split(word, PIECE_MARK, self._english_rows)

    def _split_word(self, word: str) -> list[int]:
        """Return the tokens of an unknown word."""
        if word.isascii():
            return self._split(word, PIECE_MARK)
        if _SEMITIC.match(word):
            word = fold_semitic(word)
            stem = self._without_prefixes(word)
            return [self._ids[stem]] if stem else self._split(word, PIECE_MARK)
        folded = fold(word)
        if folded in self._ids:
            return [self._ids[folded]]
        return self._split(folded if folded.isascii() else word, PIECE_MARK)

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
            for length in self._thai_lengths.get(run[start : start + _THAI_KEY_CHARACTERS], _SHORT_LENGTHS):
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
        """Return the lengths of Thai words, longest first, by their first three characters; a word of fewer may begin
        any text."""
        lengths: dict[str, set[int]] = {}
        for word in filter(_THAI_WORD.fullmatch, self._ids):
            lengths.setdefault(word[:_THAI_KEY_CHARACTERS], {*_SHORT_LENGTHS}).add(len(word))
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


def find_runs(text: str) -> Iterator[Run]:
    """Yield the runs of a text. Words in European letters, which most texts have many of, need no pattern."""
    for piece in _NOT_ASCII_MARKS.findall(normalize(text)):
        is_ascii = piece.isascii()
        if (piece.isalpha() and (is_ascii or max(piece) < _AFTER_EUROPE)) or (is_ascii and piece.isdigit()):
            yield "", "", piece
        else:
            yield from _RUNS.findall(piece)


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


WEIGHTS = Path(__file__).with_name("static-2.bin")
MAGIC = b"commonplace-static-4-bit\n"

_LENGTH_EXPONENT = 1.5  # token weight = vector length to this power; rare tokens have long vectors
_MIN_KNOWN_SHARE = 0.5
_TOKEN_CACHE_BYTES = 12_000_000  # cached texts with their tokens
_SAMPLE_CHARACTERS = 400  # enough to judge a text by
_FOREIGN_LEAN = -6  # sum over at least two words; a single word is taken as English
_UPPER_LEVELS = (0.1284, 0.3881, 0.6568, 0.9424, 1.256, 1.618, 2.069, 2.733)
# What the sixteen values of four bits stand for: they lose least for numbers of a normal distribution (Lloyd and Max).
LEVELS = np.array([-level for level in reversed(_UPPER_LEVELS)] + list(_UPPER_LEVELS), np.float32)
# Two numbers for each byte, as one complex one: looking up half as many takes half the time.
_PAIRS = np.stack((np.tile(LEVELS, 16), np.repeat(LEVELS, 16)), axis=1).view(np.complex64)[:, 0]


class Table(NamedTuple):
    """The token vectors as they are stored."""

    numbers: npt.NDArray[np.uint8]  # two in a byte
    scales: npt.NDArray[np.float32]
    leans: npt.NDArray[np.int8]  # above 0 for English words, below for those of other languages in Latin script

    @property
    def dims(self) -> int:
        return 2 * int(self.numbers.shape[1])

    def rows(self, ids: npt.NDArray[np.int64] | npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """Return the vectors of tokens before scaling."""
        return _PAIRS.take(self.numbers.take(ids, axis=0)).view(np.float32)

    def sum(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the sum of the vectors of tokens."""
        total: npt.NDArray[np.float32] = self.scales[ids] @ self.rows(ids)
        return total


class StaticModel:
    """The token vectors of one memory-mapped file."""

    def __init__(self, name: str, vocabulary: Sequence[str], table: Table, english_rows: int = 0) -> None:
        self.name = name
        self.dims = table.dims
        self.tokenizer = Tokenizer(vocabulary, english_rows)
        self._english_rows = english_rows or len(vocabulary)
        self._table = table
        self._leans = array("b", table.leans.tobytes())  # where looking up single numbers takes less time
        self._alternates = _alternates(vocabulary, self.tokenizer)
        self._cached_ids = cache_within(_TOKEN_CACHE_BYTES)(self._different_ids)

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> StaticModel:
        """Map the model in a file; a test checks its hash, so that opening it does not."""
        with path.open("rb") as file:
            if file.readline() != MAGIC:
                raise ValueError(f"{path} is not a static model")
            header = json.loads(file.readline())
            rows = header["rows"]
            vocabulary = file.read(header["vocabulary_bytes"]).decode().split("\n")
            scales = np.frombuffer(file.read(2 * rows), np.float16).astype(np.float32)
            leans = np.frombuffer(file.read(rows), np.int8)
            offset = file.tell()
        # As a plain array: a lookup in a memmap takes twice the time.
        numbers = np.asarray(np.memmap(path, np.uint8, "r", offset, (rows, header["dims"] // 2)))
        return cls(header["name"], vocabulary, Table(numbers, scales, leans), header["english_rows"])

    def vectors(self) -> npt.NDArray[np.float32]:
        """Return the vector of every token, in the order of the vocabulary."""
        return self._table.rows(np.arange(len(self._table.scales))) * self._table.scales[:, None]

    def ids(self, text: str) -> npt.NDArray[np.int64]:
        """Return the ids of the tokens of a text. A word that English shares with another language has two vectors,
        and the words around it decide."""
        ids, are_foreign = self._list_ids(text)
        numbers = np.array(ids, np.int64)
        return self._alternates[numbers] if are_foreign else numbers

    def _list_ids(self, text: str) -> tuple[list[int], bool]:
        """Return the ids of the tokens of a text, and whether the text is not in English."""
        split = self.tokenizer.split_ascii(text) if text.isascii() else None  # its words are the same both times
        if split and None not in split[1]:  # no word is in pieces, so none depends on the language
            ids = cast(list[int], split[1])
            return ids, sum(map(self._leans.__getitem__, ids)) < _FOREIGN_LEAN
        runs = [] if split else [*find_runs(text)]
        ids = self.tokenizer.join_pieces(split) if split else self.tokenizer.join_runs(runs)
        lean = sum(map(self._leans.__getitem__, ids))
        if lean > 0 and max(ids) >= self._english_rows:
            join = self.tokenizer.join_pieces
            ids = join(split, is_english=True) if split else self.tokenizer.join_runs(runs, is_english=True)
        return ids, lean < _FOREIGN_LEAN

    def _different_ids(self, text: str) -> npt.NDArray[np.int32]:
        """Return the ids of the different tokens of a text."""
        ids, are_foreign = self._list_ids(text)
        different = np.array([*{*ids}], np.int32)
        return self._alternates[different].astype(np.int32) if are_foreign else different

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row of length 1 for each text; zeros for a text without known tokens."""
        vectors = np.zeros((len(texts), self.dims), np.float32)
        for row, text in enumerate(texts):
            ids = self.ids(text)
            if len(ids):
                vectors[row] = self._table.sum(ids)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        vectors /= np.maximum(lengths, 1e-12)[:, None]
        return vectors

    def compare(self, query: str, texts: Sequence[str]) -> Comparison | None:
        """Compare the words of a query with each text.

        Each token of the query is compared with the most similar token of the text. MaxSim is the mean of these
        cosines, weighted by how rare the query's tokens are. A query with CJK characters returns None: single
        characters are too ambiguous to compare.
        """
        ids = np.array(sorted({*self.ids(query).tolist()}), np.int64)
        if has_cjk(query) or not len(ids) or not texts:
            return None
        query_vectors, lengths = self._directions(ids)
        ids_by_text = [self._cached_ids(text) for text in texts]  # good passages are compared with many queries
        non_empty = [row for row, ids in enumerate(ids_by_text) if len(ids)]
        best = np.zeros((len(texts), len(ids)), np.float32)
        if non_empty:
            all_ids = np.concatenate([ids_by_text[row] for row in non_empty])
            unique_ids, places = np.unique(all_ids, return_inverse=True)
            text_rows = self._table.rows(unique_ids)
            # Not `@`: for so few vectors, starting BLAS threads takes longer than they save.
            similarities = np.vecdot(text_rows[:, None, :], query_vectors[None, :, :])
            similarities /= np.sqrt(np.vecdot(text_rows, text_rows))[:, None]
            starts = np.cumsum([0, *(len(ids_by_text[row]) for row in non_empty[:-1])])
            best[non_empty] = np.maximum.reduceat(similarities[places], starts, axis=0)
        weights = lengths**_LENGTH_EXPONENT
        with np.errstate(invalid="ignore"):  # BLAS computes padding lanes that are not part of the result
            maxsim: list[float] = np.clip(best @ (weights / weights.sum()), 0.0, 1.0).tolist()
        words = [self.tokenizer.word(token) for token in ids.tolist()]
        return Comparison(maxsim, {word: best[:, place] for place, word in enumerate(words) if word})

    def nearness(self, words: str, text: str) -> float:
        """Return the MaxSim of some words, in whatever script, with a text, from 0 to 1."""
        word_ids = self._cached_ids(words)
        text_ids = self._cached_ids(text)
        if not len(word_ids) or not len(text_ids):
            return 0.0
        word_vectors, lengths = self._directions(word_ids)
        similarities = np.vecdot(word_vectors[:, None, :], self._directions(text_ids)[0][None, :, :])
        weights = lengths**_LENGTH_EXPONENT
        return float(np.clip(similarities.max(axis=1) @ weights / weights.sum(), 0.0, 1.0))

    def _directions(
        self, ids: npt.NDArray[np.int64] | npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the vectors of tokens scaled to length 1, and their original lengths."""
        vectors = self._table.rows(ids)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        return vectors / np.maximum(lengths, 1e-12)[:, None], lengths * self._table.scales[ids]


def _alternates(vocabulary: Sequence[str], tokenizer: Tokenizer) -> npt.NDArray[np.int64]:
    """Return for each token the one that replaces it in a text that is not English: mostly itself."""
    alternates = np.arange(len(vocabulary))
    for place in range(len(vocabulary) - 1, -1, -1):  # they are the last ones
        if not vocabulary[place].startswith(ALTERNATE_MARK):
            break
        alternates[tokenizer.id(vocabulary[place][1:])] = place
    return alternates


class StaticEmbedder:
    provider = "static"
    is_fast = True
    batch_size = 2048

    def __init__(self) -> None:
        self._model = _load_model()
        self.model = self._model.name
        self.space = self._model.name

    def accepts(self, text: str) -> bool:
        """Return whether at least half of a text is in words the model knows; always for a text in ASCII."""
        return text.isascii() or self._model.tokenizer.measure_coverage(text[:_SAMPLE_CHARACTERS]) >= _MIN_KNOWN_SHARE

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        return self._model.encode(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query; zeros for one that is not accepted, so that words alone decide."""
        vector: Vectors = self._model.encode([text if self.accepts(text) else ""])[0]
        return vector

    def compare(self, query: str, texts: Sequence[str]) -> Comparison | None:
        return self._model.compare(query, texts)

    def nearness(self, words: str, text: str) -> float:
        return self._model.nearness(words, text)


@cache
def _load_model() -> StaticModel:
    """Load the model once for all memories of a process: it is never written to."""
    return StaticModel.load()


def open_embedders(settings: SearchSettings) -> tuple[StaticEmbedder, ...]:
    return (StaticEmbedder(),)
