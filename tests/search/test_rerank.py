"""Reranking by MaxSim over the token vectors of the packaged model."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.embedding.static import StaticEmbedder
from commonplace.model import Query
from commonplace.search.pipeline import run_query
from commonplace.search.rerank import MAXSIM_HITS, rerank_maxsim
from commonplace.search.scoring import WEIGHTS, ScoredHit, Weights, explain_hit


def run_search(memory: Memory, text: str, weights: Weights = WEIGHTS) -> tuple[ScoredHit, ...]:
    home = memory.home
    return home.index.query(
        lambda view: run_query(view.index, Query(text, home.visibility.viewer(), 60), home.embedding, weights)
    ).ranked


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    world = tmp_path / "memory/world"
    world.mkdir(parents=True)
    for number in range(MAXSIM_HITS + 10):
        (world / f"meeting-{number}.md").write_text(f"The meeting number {number} was about money.\n")
    (world / "cat.md").write_text("The meeting was held up by a kitten that slept on the sofa.\n")
    return Memory(tmp_path)


def test_the_best_are_looked_at_and_no_others(memory: Memory) -> None:
    rows = run_search(memory, "the meeting with a cat asleep on the couch")
    assert [row.maxsim is not None for row in rows] == [True] * MAXSIM_HITS + [False] * (len(rows) - MAXSIM_HITS)
    assert [row.odds for row in rows] == sorted((row.odds for row in rows), reverse=True)
    assert rows[0].hit.path == "memory/world/cat.md"
    assert explain_hit(rows[0])["close"] > explain_hit(rows[1])["close"]


def test_a_look_costs_no_hit_and_makes_none(memory: Memory) -> None:
    with_it, without = (
        {row.hit.path for row in run_search(memory, "meeting about a kitten", weights)}
        for weights in (WEIGHTS, WEIGHTS._replace(maxsim=0.0))
    )
    assert with_it == without


def test_where_nobody_can_tell_the_order_stays(memory: Memory) -> None:
    rows = list(run_search(memory, "meeting about a kitten"))
    assert rerank_maxsim("meeting", (), rows, WEIGHTS) == rows
    assert rerank_maxsim("会议", (StaticEmbedder(),), rows, WEIGHTS) == rows
    assert rerank_maxsim("meeting", (StaticEmbedder(),), [], WEIGHTS) == []


def test_a_text_is_as_similar_to_a_query_as_its_most_similar_tokens_wherever_they_are() -> None:
    maxsim = StaticEmbedder().maxsim
    near, far, none, same = maxsim("cat sofa", ["a kitten on the couch", "the budget is late", "", "sofa, then cat"])
    assert same == pytest.approx(1.0, abs=0.01)
    assert same > near > far > none == 0.0
    assert maxsim("cat sofa", ["the budget is late"]) == pytest.approx([far], abs=1e-6)
    assert maxsim("猫咪", ["猫"]) == []
    assert maxsim("", ["tea"]) == []
    assert maxsim("tea", []) == []
