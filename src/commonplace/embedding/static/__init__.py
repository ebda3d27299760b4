"""The model in the package: token vectors, numpy and nothing else. Every script in one space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from ...settings import SearchSettings

if TYPE_CHECKING:
    from ..base import Vectors
    from .model import StaticModel


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

    def maxsim(self, question: str, texts: Sequence[str]) -> list[float]:
        return self._model.maxsim(question, texts)


@cache
def _load_model() -> StaticModel:
    """One for all memories of a process: it only ever reads its file."""
    from .model import StaticModel

    return StaticModel.load()


def open_embedders(settings: SearchSettings) -> tuple[StaticEmbedder, ...]:
    return (StaticEmbedder(),)
