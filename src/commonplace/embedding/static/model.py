"""The static model: a text's vector is the normalised sum of its tokens' vectors.

One file holds all: a line of JSON, the vocabulary, one scale a row and the int8 matrix. It is mapped, not read, and
needs numpy alone. The same tokeniser serves training, so what is learned for a token is what is looked up here.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

WEIGHTS = Path(__file__).with_name("static-1.bin")
MAGIC = b"commonplace-static\n"

CJK = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_RUNS = re.compile(rf"([{CJK}]+)|[^\W\d_{CJK}]+|\d+")
_ASCII_RUNS = re.compile(r"[a-z]+|\d+")  # the same of a text in ASCII, in lower case
_ONE_BY_ONE = re.compile(f"[{CJK}]")
_LONGEST_PIECE = 18
_REMEMBERED = 50_000
_TELLING = 1.5  # the longer the vector of a token, the rarer it is


class Tokeniser:
    """Whole words where known, else the longest known pieces; CJK as single characters and known pairs."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._unknown: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """The rows of the tokens of a text, in no particular order; what is not known is left out."""
        found: list[int] = []
        known = self._ids.get
        if text.isascii():  # as most is: in half the time
            for word in _ASCII_RUNS.findall(text.lower()):
                row = known(word)
                if row is None:
                    found += self._pieces(word)
                else:
                    found.append(row)
            return found
        for run in _RUNS.finditer(unicodedata.normalize("NFKC", text).lower()):
            word = run[0]
            row = None if run[1] else known(word)
            if row is not None:
                found.append(row)
            elif run[1]:
                found += [row for row in map(known, word) if row is not None]
                found += [row for row in map(known, map(str.__add__, word, word[1:])) if row is not None]
            else:
                found += self._pieces(word)
        return found

    def _pieces(self, word: str) -> list[int]:
        """Pieces of an unknown word, remembered because a rare word seldom comes once."""
        rows = self._unknown.get(word)
        if rows is None:
            if len(self._unknown) >= _REMEMBERED:
                self._unknown.clear()
            rows = self._unknown[word] = self._cut(word)
        return rows

    def _cut(self, word: str) -> list[int]:
        if not word.isascii():
            word = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
            if word in self._ids:
                return [self._ids[word]]
        rows: list[int] = []
        start = 0
        mark = ""
        while start < len(word):
            for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
                row = self._ids.get(mark + word[start:end])
                if row is not None:
                    rows.append(row)
                    break
            else:
                end = start + 1
            start = end
            mark = "##"
        return rows


class StaticModel:
    """Token vectors read from one mapped file."""

    def __init__(
        self, name: str, vocabulary: Sequence[str], scales: npt.NDArray[np.float32], matrix: npt.NDArray[np.int8]
    ) -> None:
        self.name = name
        self.dims = int(matrix.shape[1])
        self.tokeniser = Tokeniser(vocabulary)
        self._scales = scales
        self._matrix = matrix

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> "StaticModel":
        """The model in a file; its hash is checked by a test, not at every start."""
        with path.open("rb") as file:
            if file.readline() != MAGIC:
                raise ValueError(f"{path} is not a static model")
            head = json.loads(file.readline())
            vocabulary = file.read(head["vocabulary_bytes"]).decode().split("\n")
            scales = np.frombuffer(file.read(2 * head["rows"]), np.float16).astype(np.float32)
            at = file.tell()
        # as a plain array: what is looked up in a memmap takes twice the time
        matrix = np.asarray(np.memmap(path, np.int8, "r", at, (head["rows"], head["dims"])))
        return cls(head["name"], vocabulary, scales, matrix)

    def vectors(self) -> npt.NDArray[np.float32]:
        """Every token's vector, in the order of the vocabulary."""
        return self._matrix.astype(np.float32) * self._scales[:, None]

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, of length one; zeros for a text with no known token."""
        vectors = np.zeros((len(texts), self.dims), np.float32)
        for row, text in enumerate(texts):
            ids = self.tokeniser.ids(text)
            if ids:
                vectors[row] = self._scales[ids] @ self._matrix[ids].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        vectors /= np.maximum(lengths, 1e-12)[:, None]
        return vectors

    def maxsim(self, question: str, texts: Sequence[str]) -> list[float]:
        """How like a question each text is token by token, from 0 to 1: as each token of the question is to the one
        most like it, the more of it the more it tells. Nothing where single characters are tokens: they tell little.
        """
        asked, lengths = self._directions(np.unique(self.tokeniser.ids(question)))
        if not len(asked) or _ONE_BY_ONE.search(question):
            return []
        found = [self.tokeniser.ids(text) for text in texts]
        some = [row for row, ids in enumerate(found) if ids]
        closeness = np.zeros(len(texts), np.float32)
        if some:
            every, places = np.unique(np.concatenate([found[row] for row in some]), return_inverse=True)
            told, _ = self._directions(every)
            like = np.vecdot(
                told[:, None, :], asked[None, :, :]
            )  # not @: threads for so little cost more than they save
            starts = np.cumsum([0, *(len(found[row]) for row in some[:-1])])
            telling = lengths**_TELLING
            closeness[some] = np.maximum.reduceat(like[places], starts, axis=0) @ (telling / telling.sum())
        told_apart: list[float] = np.clip(closeness, 0.0, 1.0).tolist()
        return told_apart

    def _directions(self, ids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The vectors of tokens at length one, and their lengths."""
        ids = ids.astype(np.int64)  # of no tokens, numpy makes floats
        vectors = self._matrix[ids].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        return vectors / np.maximum(lengths, 1e-12)[:, None], lengths * self._scales[ids]
