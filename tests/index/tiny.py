"""A small real embedder: words as sides of a few dimensions. It remembers every text it was given."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from commonplace.embedding.late_interaction import pack_tokens, project_tokens

if TYPE_CHECKING:
    from commonplace.embedding.base import Vectors


class TinyEmbedder:
    """Equal words point the same way; all others point anywhere."""

    provider = "tiny"
    is_fast = True

    def __init__(self, space: str = "tiny-1", dims: int = 64, batch: int = 512) -> None:
        self.space = self.model = space
        self.dims = dims
        self.batch_size = batch
        self.given: list[str] = []

    def accepts(self, text: str) -> bool:
        return True

    def embed_passages(self, texts: Sequence[str], **_: object) -> Vectors:
        self.given += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        total = np.zeros(self.dims, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            seed = zlib.crc32(f"{self.space} {word}".encode())
            total += np.random.default_rng(seed).standard_normal(self.dims, np.float32)
        return total / max(float(np.linalg.norm(total)), 1e-9)


class TinyTokens(TinyEmbedder):
    """The same, read token by token: two texts are as like as their words are, one by one."""

    def embed_passages_by_token(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        return self.embed_passages(texts), [pack_tokens(_tokens(text)) if text.strip() else b"" for text in texts]

    def embed_query_by_token(self, text: str) -> tuple[Vectors, Vectors]:
        return self.embed_query(text), project_tokens(_tokens(text))


def _tokens(text: str) -> Vectors:
    seeds = [zlib.crc32(word.encode()) for word in re.findall(r"\w+", text.lower()) or [text]]
    return np.stack([np.random.default_rng(seed).standard_normal(384, np.float32) for seed in seeds])
