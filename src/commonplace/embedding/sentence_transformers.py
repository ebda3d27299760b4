"""Any model that the sentence-transformers package can load: by its name on the model hub, or from a folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy

from ..errors import Unavailable
from ..settings import SearchSettings
from .base import Embedder, running_inference
from .remote import space_name

if TYPE_CHECKING:
    from .base import Vectors


class SentenceTransformersEmbedder:
    provider = "sentence-transformers"
    is_fast = False
    batch_size = 64

    def __init__(self, settings: SearchSettings) -> None:
        package: Any = importlib.import_module("sentence_transformers")
        self.model = settings.model or "all-MiniLM-L6-v2"
        self.space = space_name(self.provider, self.model)
        self._lock = Lock()  # tokenizers are not safe for threads
        try:
            self._encoder = package.SentenceTransformer(self.model)
        except Exception as error:
            todo = "check memorySearch.model, and the network if the model was never loaded before"
            raise Unavailable(f"{self.model} cannot be loaded ({_as_line(error)}): {todo}") from error

    def accepts(self, text: str) -> bool:
        return True

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        return self._encode(texts, getattr(self._encoder, "encode_document", self._encoder.encode))

    def embed_query(self, text: str) -> Vectors:
        row: Vectors = self._encode([text], getattr(self._encoder, "encode_query", self._encoder.encode))[0]
        return row

    def _encode(self, texts: Sequence[str], encode: Callable[..., Any]) -> Vectors:
        try:
            with self._lock, running_inference():  # without any text, the result has no dimensions
                rows = encode(list(texts) or [""], normalize_embeddings=True, show_progress_bar=False)
        except Exception as error:
            todo = "try again, or use a smaller memorySearch.model"
            raise Unavailable(f"{self.model} fails ({_as_line(error)}): {todo}") from error
        vectors = numpy.array(rows[: len(texts)], numpy.float32)
        if not numpy.isfinite(vectors).all():
            raise Unavailable(f"{self.model} gives NaN or infinity: use another memorySearch.model")
        vectors[[not text.strip() for text in texts]] = 0
        return vectors


def _as_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    return (SentenceTransformersEmbedder(settings),)
