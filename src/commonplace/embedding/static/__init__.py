"""The model in the package (`static`): the vector of a text is the normalised sum of its tokens' vectors.

One file holds it: a line of JSON, the vocabulary, one scale for each row, and the int8 matrix. The file is
memory-mapped, and numpy is all it needs. One vector space serves every script. Training uses the same tokenizer.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...settings import SearchSettings

if TYPE_CHECKING:
    from ..base import Vectors

WEIGHTS = Path(__file__).with_name("static-1.bin")
MAGIC = b"commonplace-static\n"

CJK = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_RUNS = re.compile(rf"([{CJK}]+)|[^\W\d_{CJK}]+|\d+")
_ASCII_RUNS = re.compile(r"[a-z]+|\d+")  # for lower-case text in ASCII
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_MAX_PIECE_CHARACTERS = 18
_MAX_CACHED_WORDS = 50_000
_LENGTH_EXPONENT = 1.5  # of the weight of a token: the rarer it is, the longer its vector


class Tokenizer:
    """Splits text into words of the vocabulary, unknown words into their longest known pieces, and CJK text into single
    characters and known pairs."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._unknown: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of the tokens of a text, in no particular order; unknown ones are left out."""
        ids: list[int] = []
        known = self._ids.get
        if text.isascii():  # as most text is: this takes half the time
            for word in _ASCII_RUNS.findall(text.lower()):
                token = known(word)
                if token is None:
                    ids += self._pieces(word)
                else:
                    ids.append(token)
            return ids
        for run in _RUNS.finditer(unicodedata.normalize("NFKC", text).lower()):
            word = run[0]
            token = None if run[1] else known(word)
            if token is not None:
                ids.append(token)
            elif run[1]:
                ids += [token for token in map(known, word) if token is not None]
                ids += [token for token in map(known, map(str.__add__, word, word[1:])) if token is not None]
            else:
                ids += self._pieces(word)
        return ids

    def _pieces(self, word: str) -> list[int]:
        """Return the pieces of an unknown word, cached because a rare word seldom occurs only once."""
        ids = self._unknown.get(word)
        if ids is None:
            if len(self._unknown) >= _MAX_CACHED_WORDS:
                self._unknown.clear()
            ids = self._split_word(word)
            self._unknown[word] = ids
        return ids

    def _split_word(self, word: str) -> list[int]:
        if not word.isascii():
            word = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
            if word in self._ids:
                return [self._ids[word]]
        ids: list[int] = []
        start = 0
        prefix = ""
        while start < len(word):
            for end in range(min(len(word), start + _MAX_PIECE_CHARACTERS), start, -1):
                token = self._ids.get(prefix + word[start:end])
                if token is not None:
                    ids.append(token)
                    break
            else:
                end = start + 1
            start = end
            prefix = "##"
        return ids


class StaticModel:
    """The token vectors of one memory-mapped file."""

    def __init__(
        self, name: str, vocabulary: Sequence[str], scales: npt.NDArray[np.float32], matrix: npt.NDArray[np.int8]
    ) -> None:
        self.name = name
        self.dims = int(matrix.shape[1])
        self.tokenizer = Tokenizer(vocabulary)
        self._scales = scales
        self._matrix = matrix

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> StaticModel:
        """Map the model in a file; a test checks its hash, so that opening it does not."""
        with path.open("rb") as file:
            if file.readline() != MAGIC:
                raise ValueError(f"{path} is not a static model")
            header = json.loads(file.readline())
            vocabulary = file.read(header["vocabulary_bytes"]).decode().split("\n")
            scales = np.frombuffer(file.read(2 * header["rows"]), np.float16).astype(np.float32)
            offset = file.tell()
        # As a plain array: a lookup in a memmap takes twice the time.
        matrix = np.asarray(np.memmap(path, np.int8, "r", offset, (header["rows"], header["dims"])))
        return cls(header["name"], vocabulary, scales, matrix)

    def vectors(self) -> npt.NDArray[np.float32]:
        """Return the vector of every token, in the order of the vocabulary."""
        return self._matrix.astype(np.float32) * self._scales[:, None]

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row of length 1 for each text; zeros for a text without known tokens."""
        vectors = np.zeros((len(texts), self.dims), np.float32)
        for row, text in enumerate(texts):
            ids = self.tokenizer.ids(text)
            if ids:
                vectors[row] = self._scales[ids] @ self._matrix[ids].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        vectors /= np.maximum(lengths, 1e-12)[:, None]
        return vectors

    def maxsim(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the weighted MaxSim of a query with each text, from 0 to 1.

        Each token of the query is compared with the most similar token of the text, and the mean of these cosines is
        weighted by how rare the query's tokens are. A query with CJK characters returns an empty list: single
        characters are too ambiguous to compare.
        """
        query_vectors, lengths = self._directions(np.unique(self.tokenizer.ids(query)))
        if not len(query_vectors) or _CJK_CHARACTER.search(query):
            return []
        ids_by_text = [self.tokenizer.ids(text) for text in texts]
        non_empty = [row for row, ids in enumerate(ids_by_text) if ids]
        scores = np.zeros(len(texts), np.float32)
        if non_empty:
            all_ids = np.concatenate([ids_by_text[row] for row in non_empty])
            unique_ids, places = np.unique(all_ids, return_inverse=True)
            text_vectors, _ = self._directions(unique_ids)
            # Not `@`: for so few vectors, starting BLAS threads takes longer than they save.
            similarities = np.vecdot(text_vectors[:, None, :], query_vectors[None, :, :])
            starts = np.cumsum([0, *(len(ids_by_text[row]) for row in non_empty[:-1])])
            weights = lengths**_LENGTH_EXPONENT
            scores[non_empty] = np.maximum.reduceat(similarities[places], starts, axis=0) @ (weights / weights.sum())
        clipped: list[float] = np.clip(scores, 0.0, 1.0).tolist()
        return clipped

    def _directions(self, ids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the vectors of tokens scaled to length 1, and their original lengths."""
        ids = ids.astype(np.int64)  # numpy makes an empty array one of floats
        vectors = self._matrix[ids].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        return vectors / np.maximum(lengths, 1e-12)[:, None], lengths * self._scales[ids]


class StaticEmbedder:
    provider = "static"
    is_fast = True
    batch_size = 2048

    def __init__(self) -> None:
        self._model = _load_model()
        self.model = self._model.name
        self.space = self._model.name

    def accepts(self, text: str) -> bool:
        return True

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        return self._model.encode(texts)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._model.encode([text])[0]
        return vector

    def maxsim(self, query: str, texts: Sequence[str]) -> list[float]:
        return self._model.maxsim(query, texts)


@cache
def _load_model() -> StaticModel:
    """Load the model once for all memories of a process: it is never written to."""
    return StaticModel.load()


def open_embedders(settings: SearchSettings) -> tuple[StaticEmbedder, ...]:
    return (StaticEmbedder(),)
