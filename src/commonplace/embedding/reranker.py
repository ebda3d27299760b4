"""The reranker: a cross-encoder that reads query and passage together. It is slower than comparing vectors, and orders
the best hits better.

For English queries of a few words only: it makes the results of Chinese and of very short queries worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import Unavailable
from .local import Transformer, is_mostly_alphabetic, require_packages
from .model_files import RERANKER, find_model

_MAX_PAIR_TOKENS = 192  # of query and passage: more cost time, and the answer is mostly at the start of a passage
_MIN_QUERY_WORDS = 4


class Reranker:
    """A cross-encoder, opened for the first query. Safe for threads."""

    def __init__(self, transformer: Transformer) -> None:
        self._transformer = transformer

    def accepts(self, query: str) -> bool:
        """Return whether reranking improves the results of such a query."""
        return len(query.split()) >= _MIN_QUERY_WORDS and is_mostly_alphabetic(query)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers, from about -11 to 11; the score of one does not depend on the others."""
        return self._transformer.run([(query, text) for text in texts], _first_value)


def _first_value(output: Any) -> float:
    return float(output[0])


def open_reranker(folder: str = "") -> Reranker:
    """Open the reranker from the cache, an installed package, or a folder of models. Raises `Unavailable`."""
    try:
        require_packages()
    except ImportError as error:
        raise Unavailable(f"rerank needs {error.name}: pip install 'commonplace[local]'") from error
    return Reranker(Transformer(find_model(RERANKER, folder), _MAX_PAIR_TOKENS))
