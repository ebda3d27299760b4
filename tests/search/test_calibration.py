"""What the score of a hit depends on, and that its curve has no surprises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.calibration import (
    KEYWORD,
    Asked,
    Evidence,
    Match,
    Scale,
    calibrate,
    scale_for,
    weigh_evidence,
)

STATIC = scale_for("commonplace-static")
QUERY = Asked(unknown=0.2, passages=5_000)
odds = st.floats(min_value=-20, max_value=60)
shares = st.floats(min_value=0, max_value=1)


def first(matches: list[Match], query: Asked) -> Evidence:
    return next(weigh_evidence(matches, [match.odds for match in matches], query))


@pytest.mark.parametrize("scale", [KEYWORD, STATIC])
def test_adjacent_words_a_small_memory_and_known_words_make_a_hit_likelier(scale: Scale) -> None:
    matches = [Match(8.0, 0.5, 0.0, 2.0), Match(6.0, 0.4, 0.0, 2.0)]
    plain = calibrate(first(matches, QUERY), scale)
    adjacent = [matches[0]._replace(phrase=0.5), matches[1]]
    assert calibrate(first(adjacent, QUERY), scale) > plain
    assert calibrate(first(matches, QUERY._replace(passages=500)), scale) > plain
    assert calibrate(first(matches, QUERY._replace(unknown=0.8)), scale) < plain


def test_the_same_odds_without_the_part_of_maxsim_make_a_hit_likelier() -> None:
    matches = [Match(8.0, 0.5, 0.0, 2.0), Match(6.0, 0.4, 0.0, 2.0)]
    compared, not_compared = (first(matches, QUERY._replace(has_maxsim=has_maxsim)) for has_maxsim in (True, False))
    assert calibrate(not_compared, STATIC) > calibrate(compared, STATIC)
    assert calibrate(not_compared, KEYWORD) == calibrate(compared, KEYWORD)


def test_where_words_are_unknown_similarity_tells_the_more() -> None:
    foreign = QUERY._replace(unknown=1.0)
    near = [Match(8.0, 0.0, 0.0, 5.0), Match(6.0)]
    far = [Match(8.0, 0.0, 0.0, 1.0), Match(6.0)]
    assert calibrate(first(near, foreign), STATIC) > 2 * calibrate(first(far, foreign), STATIC)
    known = QUERY._replace(unknown=0.0)
    assert calibrate(first(near, known), STATIC) == calibrate(first(far, known), STATIC)


@given(st.lists(st.tuples(odds, shares, shares, odds), min_size=1, max_size=5), shares, st.integers(0, 10**6))
def test_a_score_is_always_a_probability(
    rows: list[tuple[float, float, float, float]], unknown: float, passages: int
) -> None:
    matches = [Match(*row) for row in rows]
    for evidence in weigh_evidence(matches, [match.odds for match in matches], Asked(unknown, passages)):
        assert all(0 <= calibrate(evidence, scale) <= 1 for scale in (KEYWORD, STATIC))
