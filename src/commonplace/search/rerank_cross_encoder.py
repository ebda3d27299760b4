"""The best few read again, question and passage together, by a small cross-encoder where the settings ask for one."""

from __future__ import annotations

from ..errors import Unavailable
from ..index.base import Index
from ..index.embedding_service import Meaning
from ..model import Query
from .scoring import Ranked, Weights, before_the_rest, best_first, weighed_again

_READ = 30  # hits that are read again
_BEFORE = 400  # characters of what stands before a turn: an answer is understood by its question


def reread(
    index: Index, query: Query, meaning: Meaning, rows: list[Ranked], weights: Weights
) -> tuple[list[Ranked], str]:
    """The hits in their new order; as they were, and why, when no reranker serves."""
    try:
        reranker = meaning.reranker()
        if reranker is None or not rows or not reranker.takes(query.text):
            return rows, ""
        some = rows[:_READ]
        read = reranker.score(query.text, [_told(index, row) for row in some])
    except Unavailable as error:
        return rows, f"the hits were not read again: {error}"
    found = weighed_again(some, [weights.read * score for score in read], weights)
    again = best_first(row._replace(read=score) for row, score in zip(found, read, strict=True))
    return before_the_rest(again, rows[_READ:]), ""


def _told(index: Index, row: Ranked) -> str:
    """A passage as the reranker reads it: a turn of a session with its date, and after the turn before."""
    if row.hit.source != "session":
        return row.hit.text
    before = index.before(row.number)[-_BEFORE:]
    return "\n".join(filter(None, (row.hit.at, before, row.hit.text)))
