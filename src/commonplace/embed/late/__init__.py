"""HOW LIKE ARE A QUESTION AND A TEXT, TOKEN BY TOKEN? What one vector for a whole text blurs, its tokens still tell.

Each token of a text is kept as the signs of 96 directions, twelve bytes: each token of a question looks for the one
most like it, and a text is as like the question as these are on average. The directions are those in which tokens of
ordinary texts differ the most (`training/tokens.py`); signs alone find as well as the numbers themselves do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BYTES = 12  # of a token
_BY_CHANCE = 0.03  # by which a turn and those beside it are more like any question than the turn alone


@cache
def _directions() -> tuple[Array, Array]:
    """The middle of all tokens along each direction, and the directions."""
    with files(__name__).joinpath("directions.npy").open("rb") as file:
        found = np.load(file).astype(np.float32)
    return found[0], found[1:]


def placed(tokens: Array) -> Array:
    """Where tokens lie along each direction."""
    middle, directions = _directions()
    length = np.linalg.norm(tokens, axis=1, keepdims=True)
    found: Array = (tokens / np.maximum(length, 1e-12)) @ directions - middle
    return found


def kept(tokens: Array) -> bytes:
    """A text as it is kept: the side of the middle on which each token lies, along each direction."""
    return np.packbits(placed(tokens) > 0, axis=1).tobytes()


def closeness(
    question: Array, kept: Mapping[int, bytes], beside: Mapping[int, Sequence[int]] | None = None
) -> dict[int, float]:
    """How like a question (its tokens, `placed`) each text is, as it was kept. None of the texts is empty.

    A turn of a conversation is understood by those beside it: half of the likeness is that of all of them together.
    """
    if not kept:
        return {}
    likest = _likest(question, list(kept.values()))
    alone = likest.mean(axis=1)
    rows = {number: row for row, number in enumerate(kept)}
    found = dict(zip(kept, alone.tolist(), strict=True))
    for number, others in (beside or {}).items():
        around = [rows[other] for other in others if other in rows]
        if around and number in rows:
            together = likest[[rows[number], *around]].max(axis=0).mean()
            found[number] = (found[number] + float(together) - _BY_CHANCE) / 2
    return found


def _likest(question: Array, texts: Sequence[bytes]) -> Array:
    """A row a text, a column a token of the question: how like it the likest token of the text is."""
    sides = np.unpackbits(np.frombuffer(b"".join(texts), np.uint8).reshape(-1, BYTES), axis=1)
    likeness = (2 * (sides.astype(np.float32) @ question.T) - question.sum(axis=1)) / (8 * BYTES) ** 0.5
    starts = np.cumsum([0, *(len(text) // BYTES for text in texts[:-1])])
    found: Array = np.maximum.reduceat(likeness, starts, axis=0)
    return found
