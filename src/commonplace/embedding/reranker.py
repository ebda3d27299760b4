"""The reranker: a cross-encoder that reads query and passage together. Slower than comparing vectors, and better at
ordering the best few.

English only, and only for questions of some words: it makes Chinese and terse questions worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import Unavailable
from .local import Transformer, mostly_alphabetic, require
from .model_files import RERANKER, find_model

_TOKENS = 192  # of a pair: cost grows with them, and what answers a question mostly stands early
_WORDS = 4


class Reranker:
    """Safe for threads. The model is opened when the first question comes."""

    def __init__(self, transformer: Transformer) -> None:
        self._transformer = transformer

    def accepts(self, question: str) -> bool:
        """Whether this question is of a kind that it makes better."""
        return len(question.split()) >= _WORDS and mostly_alphabetic(question)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, from about -11 to 11; the score of one does not depend on the others."""
        return self._transformer.read([(question, text) for text in texts], _first_value)


def _first_value(output: Any) -> float:
    return float(output[0])


def open_reranker(folder: str = "") -> Reranker:
    """The reranker, from the cache, an installed package, or a folder of models. Raises `Unavailable`."""
    try:
        require()
    except ImportError as error:
        raise Unavailable(f"rerank needs {error.name}: pip install 'commonplace[local]'") from error
    return Reranker(Transformer(find_model(RERANKER, folder), _TOKENS))
