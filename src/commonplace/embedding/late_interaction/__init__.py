"""Late interaction (ColBERT): MaxSim between the token vectors of a query and of a text.

A token of a text is stored as the signs of its projection on 96 directions, twelve bytes. Each token of the query is
compared with the most similar token of the text; MaxSim is the mean of these similarities. The directions are the
principal components of the tokens of ordinary texts (`training/tokens.py`). Signs alone retrieve as well as floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
TOKEN_BYTES = 12  # size of a packed token
_BLOCK_VALUES = 60_000  # added up at a time: they fit the processor's cache
_NO_NEIGHBOURS: Mapping[int, Sequence[int]] = {}
_CONTEXT_BIAS = 0.03  # a turn with its neighbours is this much more similar to any query


@cache
def _directions() -> tuple[Array, Array]:
    """Return the mean of all tokens along each direction, and the directions."""
    with files(__name__).joinpath("directions.npy").open("rb") as file:
        rows = np.load(file).astype(np.float32)
    return rows[0], rows[1:]


def project_tokens(tokens: Array) -> Array:
    """Project token vectors on the directions, relative to the mean."""
    mean, directions = _directions()
    lengths = np.linalg.norm(tokens, axis=1, keepdims=True)
    projected: Array = (tokens / np.maximum(lengths, 1e-12)) @ directions - mean
    return projected


def pack_tokens(tokens: Array) -> bytes:
    """Pack the signs of the projected tokens of a text, one bit for each direction."""
    return np.packbits(project_tokens(tokens) > 0, axis=1).tobytes()


def maxsim(
    query: Array, texts: Mapping[int, bytes], neighbours: Mapping[int, Sequence[int]] = _NO_NEIGHBOURS
) -> dict[int, float]:
    """Return the MaxSim of a query (its projected tokens) with each packed text, none of which may be empty.

    A turn of a conversation is often unclear without its neighbours: half of its score is that of all of them as one
    text.
    """
    if not texts:
        return {}
    best = _best_matches(query, list(texts.values()))
    rows = {number: row for row, number in enumerate(texts)}
    scores = dict(zip(texts, best.mean(axis=1).tolist(), strict=True))
    groups: dict[int, list[int]] = {}
    for number, others in neighbours.items():
        group = [rows[turn] for turn in (number, *others) if turn in rows]
        if number in rows and len(group) > 1:
            groups[number] = group
    for number, together in zip(groups, _score_groups(best, list(groups.values())), strict=True):
        scores[number] = (scores[number] + together - _CONTEXT_BIAS) / 2
    return scores


def _score_groups(best: Array, groups: Sequence[list[int]]) -> list[float]:
    """Return the MaxSim of each group of texts, taken as one text."""
    if not groups:
        return []
    widest = max(map(len, groups))
    # Groups are padded with their first row, which does not change the maximum.
    rows = [[*group, *group[:1] * (widest - len(group))] for group in groups]
    scores: list[float] = best[rows].max(axis=1).mean(axis=1).tolist()
    return scores


def _best_matches(query: Array, texts: Sequence[bytes]) -> Array:
    """Return the similarity of each query token (a column) to the most similar token of each text (a row).

    The contribution of every possible byte to every query token is computed once and looked up: a matrix product would
    take longer, even on all cores.
    """
    tokens = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, TOKEN_BYTES)
    parts = (query / (8 * TOKEN_BYTES) ** 0.5).reshape(-1, TOKEN_BYTES, 8).transpose(1, 2, 0)
    table = _signs_of_bytes() @ parts
    counts = np.array([len(text) // TOKEN_BYTES for text in texts])
    ends = counts.cumsum()
    starts = ends - counts
    blocks = starts // (_BLOCK_VALUES // len(query) + 1)  # a text belongs to the block that it starts in
    firsts = np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
    best = np.empty((len(texts), len(query)), np.float32)
    for first, last in zip(firsts, [*firsts[1:], len(texts)], strict=True):
        similarities = _sum_contributions(table, tokens[starts[first] : ends[last - 1]].T)
        np.maximum.reduceat(similarities, starts[first:last] - starts[first], axis=0, out=best[first:last])
    return best


def _sum_contributions(table: Array, columns: Array) -> Array:
    similarities: Array = table[0].take(columns[0], axis=0)
    for contributions, column in zip(table[1:], columns[1:], strict=True):
        similarities += contributions.take(column, axis=0)
    return similarities


@cache
def _signs_of_bytes() -> Array:
    """Return the eight signs, 1 or -1, that each of the 256 bytes encodes."""
    signs: Array = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * np.float32(2) - 1
    return signs
