"""The best hits read again: better where the model is there, the ordinary order and a sentence where it is not."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.embedding.model_files import RERANKER, model_folder
from commonplace.search.rerank import CROSS_ENCODER_HITS
from commonplace.testing import FrozenClock

from ..embedding.test_local import ENGLISH, models  # noqa: F401  the real weights, where they can be had
from ..providers import offer_server
from .test_dense import FACTS, set_to, write

QUESTION = "where does the cat sleep all day"
MISSING = "the hits were not reranked: ms-marco-minilm-l12-v2 is not on this machine: run `commonplace index fetch`"


@pytest.fixture
def cache(user_config: Path) -> Path:
    return user_config.parent / "cache" / "commonplace" / "models"


def plain(home: Path, clock: FrozenClock, question: str = QUESTION) -> list[Any]:
    """The ordinary answer; from now on the home asks for more."""
    with Memory(home, clock=clock) as memory:
        results: list[Any] = write(memory, FACTS).call("memory_search", {"query": question})["results"]
    set_to(home, rerank="true")
    return results


@pytest.mark.parametrize("question", [QUESTION, "cat", "猫在哪里睡觉", "xqzv blorf wibble wobble"])
def test_without_its_weights_the_order_is_the_ordinary_one_and_the_answer_says_so(
    home: Path, clock: FrozenClock, question: str
) -> None:
    pytest.importorskip("onnxruntime")
    before = plain(home, clock, question)
    memory = Memory(home, clock=clock)
    for _ in range(2):
        reply = memory.call("memory_search", {"query": question})
        assert reply["results"] == before
        assert reply["warning"] == MISSING
        assert (reply["mode"], reply["provider"], reply["fallback"]) == ("hybrid", "static", False)


def test_without_the_extra_the_answer_says_what_to_install(
    home: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plain(home, clock)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    reply = Memory(home, clock=clock).call("memory_search", {"query": QUESTION})
    assert reply["results"] == before
    assert reply["warning"].endswith("rerank needs onnxruntime: pip install 'commonplace[local]'")


def test_weights_that_are_not_what_they_should_be_are_refused_by_name(
    home: Path, clock: FrozenClock, cache: Path
) -> None:
    pytest.importorskip("onnxruntime")
    place = cache / model_folder(RERANKER, RERANKER.wheel)
    place.mkdir(parents=True)
    (place / "model.onnx").write_bytes(b"not it")
    (place / "tokenizer.json").write_bytes(b"{}")
    before = plain(home, clock)
    reply = Memory(home, clock=clock).call("memory_search", {"query": QUESTION})
    assert reply["results"] == before
    assert f"{place / 'model.onnx'} is not what ms-marco-minilm-l12-v2 should be" in reply["warning"]


def test_words_alone_are_not_read_again_either_and_nothing_is_hidden(home: Path, clock: FrozenClock) -> None:
    """Two things are missing: the answer names both."""
    pytest.importorskip("onnxruntime")
    plain(home, clock)
    offer_server("openai", "http://127.0.0.1:9")
    set_to(home, rerank="true", provider="openai", model="m")
    reply = Memory(home, clock=clock).call("memory_search", {"query": "passport"})
    assert reply["results"][0]["path"] == "memory/world/passport.md"
    assert (reply["mode"], reply["fallback"]) == ("hybrid", True)
    assert "http://127.0.0.1:9 cannot be reached" in reply["warning"]
    assert "were not reranked" in reply["warning"]


def test_context_and_every_day_commands_go_on_without_the_weights(home: Path, clock: FrozenClock) -> None:
    plain(home, clock)
    memory = Memory(home, clock=clock)
    assert "windowsill" in str(memory.context(query=QUESTION))
    assert memory.status()["warnings"] == []


def test_without_the_setting_there_is_no_word_about_the_reranker(home: Path, clock: FrozenClock) -> None:
    set_to(home, rerank="false")
    reply = write(Memory(home, clock=clock), FACTS).call("memory_search", {"query": QUESTION})
    assert "warning" not in reply


@pytest.fixture
def weights(models: str, cache: Path) -> None:  # noqa: F811
    name = model_folder(RERANKER, RERANKER.wheel)
    shutil.copytree(Path(models) / name, cache / name)


@pytest.mark.slow
@pytest.mark.usefixtures("weights")
def test_with_its_weights_the_answer_is_read_to_the_top(home: Path, clock: FrozenClock) -> None:
    question = "Who has passed an exam to become a lawyer?"
    set_to(home, rerank="true")
    memory = write(Memory(home, clock=clock), {f"t{number}": text for number, text in enumerate(ENGLISH)})
    hits = memory.home.search(question, 10, 0.0)
    assert hits.warnings == ()
    assert hits.hits[0].text == ENGLISH[2]
    assert hits.ranked[0].cross_encoder == max(row.cross_encoder or 0.0 for row in hits.ranked)
    scores = [hit.score for hit in hits.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert all(row.cross_encoder is not None for row in hits.ranked)
    terse = memory.home.search("bar exam", 10, 0.0)
    assert terse.warnings == ()
    assert all(row.cross_encoder is None for row in terse.ranked)


@pytest.mark.slow
@pytest.mark.usefixtures("weights")
def test_what_is_not_read_again_never_comes_before_what_is(home: Path, clock: FrozenClock) -> None:
    set_to(home, rerank="true", maxResults="100")
    memory = Memory(home, clock=clock)
    write(
        memory,
        {f"t{number}": f"Parcel {number} went to harbour {number % 7}." for number in range(CROSS_ENCODER_HITS + 15)},
    )
    rows = memory.home.search("which parcel went to harbour 3", 100, 0.0).ranked
    assert [row.cross_encoder is not None for row in rows] == [True] * CROSS_ENCODER_HITS + [False] * (
        len(rows) - CROSS_ENCODER_HITS
    )
    assert len(rows) > CROSS_ENCODER_HITS
    assert [row.odds for row in rows] == sorted((row.odds for row in rows), reverse=True)
