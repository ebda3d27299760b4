"""Late interaction (ColBERT): MaxSim between the token vectors of a query and of a text.

A token of a text is stored as the signs of its projection on 96 directions, twelve bytes. Each token of the query is
compared with the most similar token of the text; MaxSim is the mean of these similarities. The directions are the
principal components of tokens of ordinary texts (`training/tokens.py`); signs find as well as the numbers do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BYTES = 12  # of a packed token
_BLOCK_SIZE = 60_000  # numbers added up at a time: so many fit the cache of the processor
_NO_NEIGHBOURS: Mapping[int, Sequence[int]] = {}
_CONTEXT_BIAS = 0.03  # by which a turn with its neighbours is more similar to any query than alone


@cache
def _directions() -> tuple[Array, Array]:
    """The mean of all tokens along each direction, and the directions."""
    with files(__name__).joinpath("directions.npy").open("rb") as file:
        found = np.load(file).astype(np.float32)
    return found[0], found[1:]


def project_tokens(tokens: Array) -> Array:
    """Project token vectors on the directions, relative to the mean."""
    middle, directions = _directions()
    length = np.linalg.norm(tokens, axis=1, keepdims=True)
    found: Array = (tokens / np.maximum(length, 1e-12)) @ directions - middle
    return found


def pack_tokens(tokens: Array) -> bytes:
    """Pack the signs of the projected tokens of a text, one bit for each direction."""
    return np.packbits(project_tokens(tokens) > 0, axis=1).tobytes()


def maxsim(
    query: Array, texts: Mapping[int, bytes], neighbours: Mapping[int, Sequence[int]] = _NO_NEIGHBOURS
) -> dict[int, float]:
    """MaxSim of a query (its projected tokens) with each packed text. None of the texts is empty.

    A turn of a conversation is understood by its neighbours: half of its score is that of all of them together.
    """
    if not texts:
        return {}
    best = _best_matches(query, list(texts.values()))
    rows = {number: row for row, number in enumerate(texts)}
    found = dict(zip(texts, best.mean(axis=1).tolist(), strict=True))
    groups: dict[int, list[int]] = {}
    for number, others in neighbours.items():
        group = [rows[each] for each in (number, *others) if each in rows]
        if number in rows and len(group) > 1:
            groups[number] = group
    for number, together in zip(groups, _score_groups(best, list(groups.values())), strict=True):
        found[number] = (found[number] + together - _CONTEXT_BIAS) / 2
    return found


def _score_groups(best: Array, groups: Sequence[list[int]]) -> list[float]:
    """MaxSim of each group of texts, taken as one text."""
    if not groups:
        return []
    widest = max(map(len, groups))
    rows = [[*group, *group[:1] * (widest - len(group))] for group in groups]  # padding with a row changes no maximum
    found: list[float] = best[rows].max(axis=1).mean(axis=1).tolist()
    return found


def _best_matches(query: Array, texts: Sequence[bytes]) -> Array:
    """One row for each text, one column for each query token: its similarity to the most similar token of the text.

    The contribution of every byte to every query token is tabulated: a matrix product would take longer, on all cores.
    """
    tokens = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, BYTES)
    parts = (query / (8 * BYTES) ** 0.5).reshape(-1, BYTES, 8).transpose(1, 2, 0)
    table = _signs_of_bytes() @ parts
    counts = np.array([len(text) // BYTES for text in texts])
    ends = counts.cumsum()
    starts = ends - counts
    block = starts // (_BLOCK_SIZE // len(query) + 1)  # a text belongs to the block that it starts in
    firsts = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
    found = np.empty((len(texts), len(query)), np.float32)
    for first, last in zip(firsts, [*firsts[1:], len(texts)], strict=True):
        similarities = _sum_contributions(table, tokens[starts[first] : ends[last - 1]].T)
        np.maximum.reduceat(similarities, starts[first:last] - starts[first], axis=0, out=found[first:last])
    return found


def _sum_contributions(table: Array, columns: Array) -> Array:
    found: Array = table[0].take(columns[0], axis=0)
    for contributions, column in zip(table[1:], columns[1:], strict=True):
        found += contributions.take(column, axis=0)
    return found


@cache
def _signs_of_bytes() -> Array:
    """The eight signs that each of the 256 bytes stands for."""
    found: Array = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * np.float32(2) - 1
    return found
