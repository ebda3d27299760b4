"""HERE IS A QUESTION: WHICH LINES ANSWER IT? Words and meaning each find candidates in the index; one ranking weighs
them. Where no embedder serves, words answer alone and the answer says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ..embed import Embedder
from ..errors import Unavailable
from ..index import Index
from ..index.meaning import Meaning, Served
from ..model import Hit, Query
from .calibration import READ, WORDS, Scale, background, chance, scale_of
from .rank import WEIGHTS, Ranked, Weights, ranked
from .reread import reread
from .words import excerpt, weighed

Mode = Literal["hybrid", "keyword", "vector"]
_POOL = 60  # candidates of each leg
_BESIDE = 0.33  # what the model in the package adds to a larger one


class Answer(NamedTuple):
    """The hits, best first. `fallback`: the configured embedder could not serve and words answered alone."""

    hits: tuple[Hit, ...]
    mode: Mode
    provider: str
    model: str
    fallback: bool
    reasons: tuple[str, ...] = ()  # why something did not serve
    why: tuple[Ranked, ...] = ()


def answer(index: Index, query: Query, meaning: Meaning, weights: Weights = WEIGHTS) -> Answer:
    """The passages that answer a question, among those the asker may see."""
    asked = weighed(index, query.text, query.viewer)
    pool = max(_POOL, query.limit * 3)
    found = dict.fromkeys(index.words(asked.lookup, query.viewer, query.filters, pool) if asked.lookup else ())
    likeness, served, scale = _by_meaning(index, query, meaning, pool, list(found))
    numbers = list(found | dict.fromkeys(likeness or ()))
    rows = ranked(query, asked, index.candidates(numbers), likeness, weights)
    usual = background([row.odds for row in rows])
    rows, reason = reread(index, query, meaning, rows, weights)
    scale = READ if rows and rows[0].read is not None else scale
    mode: Mode = "keyword" if likeness is None else "hybrid"
    rows = [row._replace(odds=row.odds - usual) for row in rows[: query.limit]]
    kept = tuple(row for row in rows if chance(row.odds, scale) >= query.min_score)
    words = list(asked.weights)
    hits = tuple(row.hit._replace(score=chance(row.odds, scale), text=excerpt(row.hit.text, words)) for row in kept)
    reasons = tuple(filter(None, (served.reason, reason)))
    return Answer(hits, mode, served.provider, served.model, served.failed, reasons, kept)


def _by_meaning(
    index: Index, query: Query, meaning: Meaning, pool: int, also: list[int]
) -> tuple[Mapping[int, float] | None, Served, Scale]:
    """How like the question passages are: the nearest, and those that words have found."""
    served = meaning.serve(index)
    takers = [each for each in served.embedders if each.takes(query.text)]
    if not served.beside:
        takers = takers or list(served.embedders)
    leading = next(iter([*takers, *filter(None, [served.beside])]), None)
    if leading is None:
        return None, served, WORDS
    found: dict[int, float] = {}
    try:
        for embedder in takers:
            found |= _standing_out(index, query, embedder, pool, also)
    except Unavailable as error:
        meaning.fail(error)
        return None, served._replace(embedders=(), failed=True, reason=str(error)), WORDS
    if served.beside:
        more = _standing_out(index, query, served.beside, pool, [*also, *found])
        found = {number: found.get(number, likely) + _BESIDE * likely for number, likely in more.items()}
    return found, served, scale_of(leading.space)


def _standing_out(index: Index, query: Query, embedder: Embedder, pool: int, also: Sequence[int]) -> dict[int, float]:
    """How far the likeness of passages stands out in a space, in standard deviations."""
    question = embedder.question(query.text)
    if not index.fits(embedder.space, len(question)):
        index.drop_space(embedder.space)
        raise Unavailable(f"{embedder.model} gives other vectors than before: the next search embeds everything anew")
    scale = scale_of(embedder.space, index.spread(embedder.space))
    near = dict(index.nearest(embedder.space, question, query.viewer, query.filters, pool))
    near |= index.likeness(embedder.space, question, [number for number in also if number not in near])
    return {number: (cosine - scale.mean) / scale.deviation for number, cosine in near.items()}
