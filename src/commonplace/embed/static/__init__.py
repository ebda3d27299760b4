"""The model in the package: token vectors, numpy and nothing else. Every script in one space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...settings import SearchSettings

if TYPE_CHECKING:
    from .. import Vectors


class StaticEmbedder:
    provider = "static"
    quick = True
    batch = 512

    def __init__(self) -> None:
        from .model import StaticModel

        self._model = StaticModel.load()
        self.model = self._model.name
        self.space = self._model.name

    def takes(self, text: str) -> bool:
        return True

    def passages(self, texts: Sequence[str], *, waiting: bool = False) -> Vectors:
        return self._model.encode(texts)

    def question(self, text: str) -> Vectors:
        vector: Vectors = self._model.encode([text])[0]
        return vector


def open_embedders(settings: SearchSettings) -> tuple[StaticEmbedder, ...]:
    return (StaticEmbedder(),)
