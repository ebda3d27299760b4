"""Reads and writes weights files: int8 rows with one scale each (first model, runs), and four bits (the package)."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from commonplace.embedding.static import LEVELS, MAGIC, StaticModel, Table

INT8_MAGIC = b"commonplace-static\n"
ROTATION_SEED = 2


def save(path: Path, name: str, vocabulary: Sequence[str], vectors: np.ndarray) -> None:
    """Write token vectors as int8 rows with one scale each."""
    scales = np.maximum(np.abs(vectors).max(1), 1e-8).astype(np.float32) / 127
    scales = scales.astype(np.float16).astype(np.float32)
    matrix = np.clip(np.rint(vectors / np.maximum(scales, 1e-7)[:, None]), -127, 127).astype(np.int8)
    words = "\n".join(vocabulary).encode()
    head = {"name": name, "rows": len(vocabulary), "dims": int(vectors.shape[1]), "vocabulary_bytes": len(words)}
    with path.open("wb") as file:
        file.write(INT8_MAGIC + json.dumps(head).encode() + b"\n" + words)
        file.write(scales.astype(np.float16).tobytes() + matrix.tobytes())


def load(path: Path) -> tuple[list[str], np.ndarray]:
    """Return the vocabulary and the vectors of a file that `save` wrote."""
    with path.open("rb") as file:
        if file.readline() != INT8_MAGIC:
            raise ValueError(f"{path} is no int8 weights file")
        head = json.loads(file.readline())
        vocabulary = file.read(head["vocabulary_bytes"]).decode().split("\n")
        scales = np.frombuffer(file.read(2 * head["rows"]), np.float16).astype(np.float32)
        matrix = np.frombuffer(file.read(), np.int8).reshape(head["rows"], head["dims"])
    return vocabulary, matrix.astype(np.float32) * scales[:, None]


def pack(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors in four bits a number, two in a byte, and the scale of each row.

    They are rotated first, which spreads them evenly over the dimensions and changes no similarity.
    """
    dims = vectors.shape[1]
    rotation, _ = np.linalg.qr(np.random.default_rng(ROTATION_SEED).normal(size=(dims, dims)))
    turned = vectors @ rotation.astype(np.float32)
    edges = (LEVELS[1:] + LEVELS[:-1]) / 2
    scales = np.maximum(np.sqrt(np.square(turned).mean(1)), 1e-6)
    for _ in range(3):  # the scale that fits the levels best, and the levels that fit the scale best
        rows = LEVELS[np.digitize(turned / scales[:, None], edges)]
        scales = np.maximum((turned * rows).sum(1) / np.square(rows).sum(1), 1e-6)
    scales = scales.astype(np.float16).astype(np.float32)
    levels = np.digitize(turned / np.maximum(scales, 1e-7)[:, None], edges).astype(np.uint8)
    return levels[:, : dims // 2] | (levels[:, dims // 2 :] << 4), scales


def save_packed(
    path: Path, name: str, vocabulary: Sequence[str], vectors: np.ndarray, leans: np.ndarray, english_rows: int
) -> None:
    """Write the file that the package maps."""
    numbers, scales = pack(vectors)
    words = "\n".join(vocabulary).encode()
    head = {"name": name, "rows": len(vocabulary), "dims": vectors.shape[1], "vocabulary_bytes": len(words)}
    head["english_rows"] = english_rows
    with path.open("wb") as file:
        file.write(MAGIC + json.dumps(head).encode() + b"\n" + words)
        file.write(scales.astype(np.float16).tobytes() + leans.astype(np.int8).tobytes() + numbers.tobytes())


def open_model(path: Path) -> StaticModel:
    """Open a weights file of either kind."""
    with path.open("rb") as file:
        is_packed = file.readline() == MAGIC
    if is_packed:
        return StaticModel.load(path)
    vocabulary, vectors = load(path)
    numbers, scales = pack(vectors)
    return StaticModel(path.stem, vocabulary, Table(numbers, scales, np.zeros(len(vocabulary), np.int8)))
