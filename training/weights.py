"""Writes the weights file that `commonplace.embedding.static` maps: int8 rows, one scale each."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from commonplace.embedding.static import MAGIC


def save(path: Path, name: str, vocabulary: Sequence[str], vectors: np.ndarray) -> None:
    """Write token vectors as int8 rows with one scale each."""
    scales = np.maximum(np.abs(vectors).max(1), 1e-8).astype(np.float32) / 127
    scales = scales.astype(np.float16).astype(np.float32)
    matrix = np.clip(np.rint(vectors / np.maximum(scales, 1e-7)[:, None]), -127, 127).astype(np.int8)
    words = "\n".join(vocabulary).encode()
    head = {"name": name, "rows": len(vocabulary), "dims": int(vectors.shape[1]), "vocabulary_bytes": len(words)}
    with path.open("wb") as file:
        file.write(MAGIC + json.dumps(head).encode() + b"\n" + words)
        file.write(scales.astype(np.float16).tobytes() + matrix.tobytes())
