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
_AT_ONCE = 60_000  # numbers that are added up at a time: so many stay near the processor
_NOTHING: Mapping[int, Sequence[int]] = {}
_BY_CHANCE = 0.03  # by which a turn and those beside it are more like any question than the turn alone


@cache
def _directions() -> tuple[Array, Array]:
    """The middle of all tokens along each direction, and the directions."""
    with files(__name__).joinpath("directions.npy").open("rb") as file:
        found = np.load(file).astype(np.float32)
    return found[0], found[1:]


def project_tokens(tokens: Array) -> Array:
    """Where tokens lie along each direction."""
    middle, directions = _directions()
    length = np.linalg.norm(tokens, axis=1, keepdims=True)
    found: Array = (tokens / np.maximum(length, 1e-12)) @ directions - middle
    return found


def pack_tokens(tokens: Array) -> bytes:
    """A text as it is kept: the side of the middle on which each token lies, along each direction."""
    return np.packbits(project_tokens(tokens) > 0, axis=1).tobytes()


def maxsim(
    question: Array, kept: Mapping[int, bytes], beside: Mapping[int, Sequence[int]] = _NOTHING
) -> dict[int, float]:
    """How like a question (its tokens, `placed`) each text is, as it was kept. None of the texts is empty.

    A turn of a conversation is understood by those beside it: half of the likeness is that of all of them together.
    """
    if not kept:
        return {}
    likest = _likest(question, list(kept.values()))
    rows = {number: row for row, number in enumerate(kept)}
    found = dict(zip(kept, likest.mean(axis=1).tolist(), strict=True))
    around = {number: [rows[each] for each in (number, *others) if each in rows] for number, others in beside.items()}
    turns = {number: some for number, some in around.items() if number in rows and len(some) > 1}
    for number, together in zip(turns, _together(likest, list(turns.values())), strict=True):
        found[number] = (found[number] + together - _BY_CHANCE) / 2
    return found


def _together(likest: Array, groups: Sequence[list[int]]) -> list[float]:
    """How like a question several texts are, taken for one."""
    if not groups:
        return []
    widest = max(map(len, groups))
    rows = [[*some, *some[:1] * (widest - len(some))] for some in groups]  # a row counts once, however often it stands
    found: list[float] = likest[rows].max(axis=1).mean(axis=1).tolist()
    return found


def _likest(question: Array, texts: Sequence[bytes]) -> Array:
    """A row a text, a column a token of the question: how like it the likest token of the text is.

    What a byte is worth to a token of the question is looked up: a product of matrices would take longer, on all cores.
    """
    tokens = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, BYTES)
    parts = (question / (8 * BYTES) ** 0.5).reshape(-1, BYTES, 8).transpose(1, 2, 0)
    worth = _sides() @ parts
    counts = np.array([len(text) // BYTES for text in texts])
    ends = counts.cumsum()
    starts = ends - counts
    portion = starts // (_AT_ONCE // len(question) + 1)  # a text is whole in the one that it starts in
    firsts = np.flatnonzero(np.diff(portion, prepend=-1)).tolist()
    found = np.empty((len(texts), len(question)), np.float32)
    for first, last in zip(firsts, [*firsts[1:], len(texts)], strict=True):
        likeness = _like(worth, tokens[starts[first] : ends[last - 1]].T)
        np.maximum.reduceat(likeness, starts[first:last] - starts[first], axis=0, out=found[first:last])
    return found


def _like(worth: Array, columns: Array) -> Array:
    found: Array = worth[0].take(columns[0], axis=0)
    for each, column in zip(worth[1:], columns[1:], strict=True):
        found += each.take(column, axis=0)
    return found


@cache
def _sides() -> Array:
    """The eight sides that each of the 256 bytes stands for."""
    found: Array = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * np.float32(2) - 1
    return found
