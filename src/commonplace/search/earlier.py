"""What was before something, for a question that names it: `where did Tom live before Bristol?`

Of all versions of a fact, the one before that which the question names is put first. The others stay below it, and all
keep their marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..facts.statements import query_stems
from .replacements import SUPERSEDED_SHARE, FoundStatement, RankedHit, Replacement, identify, inherit, order_by_date


def put_earlier_first(
    ranked: Sequence[RankedHit], replacements: Iterable[Replacement], asked: frozenset[str]
) -> list[RankedHit]:
    """Return the hits by score. What was before takes over the chances of the versions after it."""
    by_number = {row.number: (row, hit) for row, hit in ranked}
    versions: dict[int, dict[object, FoundStatement]] = {}
    for each in replacements:
        group = versions.setdefault(each.newer.number, {identify(each.newer): each.newer})
        group[identify(each.older)] = each.older
    for group in versions.values():
        _raise_earlier(by_number, sorted(group.values(), key=order_by_date), asked)
    return sorted(by_number.values(), key=lambda each: each[1].score, reverse=True)


def _raise_earlier(by_number: dict[int, RankedHit], places: Sequence[FoundStatement], asked: frozenset[str]) -> None:
    """Raise the hit with the version before the one that is named; if none is named, the one before the last."""
    at = _find_named(places, asked)
    if at == 0 or places[at - 1].number not in by_number:
        return
    row, earlier = by_number[places[at - 1].number]
    for place in places[at:]:
        if place.number in by_number and place.number != row.number:
            other_row, other = by_number[place.number]
            earlier = inherit(earlier, other.score)
            by_number[place.number] = other_row, other._replace(score=round(other.score * SUPERSEDED_SHARE, 4))
    by_number[row.number] = row, earlier


def _find_named(places: Sequence[FoundStatement], asked: frozenset[str]) -> int:
    """Return the version that has most words of a question, apart from words that all versions have."""
    stems = [frozenset(place.statement.stems) or query_stems(place.statement.text) for place in places]
    common = frozenset[str].intersection(*stems)
    counts = [len((asked & each) - common) for each in stems]
    best = max(counts)
    return max(at for at, count in enumerate(counts) if count == best)
