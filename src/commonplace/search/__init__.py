"""HERE IS A QUESTION: WHICH LINES ANSWER IT? Each leg finds candidates in the index and weighs them; the best stand.

There is one leg, words. Meaning is a second leg beside it: `answer` says which of them served.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..index import Index
from ..model import Hit, Query
from ..settings import SearchSettings
from .words import by_words

Mode = Literal["hybrid", "keyword", "vector"]


class Answer(NamedTuple):
    """The hits, best first. `fallback`: the configured embedder could not serve and words answered alone."""

    hits: tuple[Hit, ...]
    mode: Mode
    provider: str
    model: str
    fallback: bool


def answer(index: Index, query: Query, settings: SearchSettings) -> Answer:
    """The passages that answer a question, among those the asker may see."""
    hits = [hit for hit in by_words(index, query) if hit.score >= query.min_score]
    return Answer(tuple(hits[: query.limit]), "keyword", settings.provider, settings.model, settings.provider != "none")
