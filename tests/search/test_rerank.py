"""Reranking by MaxSim over the token vectors of the packaged model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.embedding.base import Comparison
from commonplace.embedding.static import StaticEmbedder
from commonplace.model import Query
from commonplace.search.bm25 import QueryTerms
from commonplace.search.candidates import Candidates
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
    nothing = Candidates(QueryTerms({}, (), 0.0, 1.0, (), (), (), ""), [], None)
    assert rerank_maxsim("meeting", (), rows, WEIGHTS, nothing) == rows
    assert rerank_maxsim("会议", (StaticEmbedder(),), rows, WEIGHTS, nothing) == rows
    assert rerank_maxsim("meeting", (StaticEmbedder(),), [], WEIGHTS, nothing) == []


def compare(query: str, texts: list[str]) -> Comparison:
    compared = StaticEmbedder().compare(query, texts)
    assert compared is not None
    return compared


def test_a_text_is_as_similar_to_a_query_as_its_most_similar_tokens_wherever_they_are() -> None:
    texts = ["a kitten on the couch", "the budget is late", "", "sofa, then cat"]
    near, far, none, same = compare("cat sofa", texts).maxsim
    assert same == pytest.approx(1.0, abs=0.01)
    assert same > near > far > none == 0.0
    assert compare("cat sofa", texts[1:2]).maxsim == pytest.approx([far], abs=1e-6)
    assert StaticEmbedder().compare("猫咪", ["猫"]) is None
    assert StaticEmbedder().compare("", ["tea"]) is None
    assert StaticEmbedder().compare("tea", []) is None


def test_every_word_of_a_query_is_compared_with_the_most_similar_one_of_a_text() -> None:
    words = compare("Katze cat xqzvw", ["a kitten on the couch", "the budget is late"]).words
    assert {"katze", "cat"} <= words.keys()
    assert not any("xqzvw" in word or "#" in word for word in words)
    assert all(near > far for near, far in map(list, (words["katze"], words["cat"])))


@pytest.fixture
def statements(tmp_path: Path) -> Memory:
    sessions = tmp_path / "agents/main/sessions"
    sessions.mkdir(parents=True)
    said = [
        "I repaired my bicycle in May.",
        "I own a red bicycle.",
        "I sold the old car in 2021.",
        "My mother is a nurse.",
    ]
    turns = [{"role": "user", "content": text} for text in said]
    (sessions / "said.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    (tmp_path / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    return Memory(tmp_path)


def test_a_similar_word_stands_for_one_that_a_passage_lacks(statements: Memory) -> None:
    rows = run_search(statements, "what do I know about the physician, my mother")
    best = rows[0]
    assert best.hit.text.endswith("My mother is a nurse.")
    assert best.similar == max(row.similar for row in rows) > 0
    assert explain_hit(best)["similar"] == pytest.approx(WEIGHTS.similar * best.similar, abs=1e-3)


def test_a_word_that_a_passage_has_in_any_inflection_needs_no_similar_one(statements: Memory) -> None:
    bicycles = {row.hit.start: row.similar for row in run_search(statements, "bicycles")}
    assert bicycles[1] == bicycles[2] == 0.0


def test_no_number_stands_for_another(statements: Memory) -> None:
    assert {row.similar for row in run_search(statements, "2019 2020")} <= {0.0}
