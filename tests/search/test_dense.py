"""Search by meaning: what shares no word is found, what means nothing is not, and without an embedder words answer."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from commonplace import Memory
from commonplace.embedding.base import open_embedders
from commonplace.embedding.remote import SEARCHING
from commonplace.embedding.static import StaticModel, Table
from commonplace.embedding.static import _load_model as static_model
from commonplace.home import Home
from commonplace.index.embedding_service import EmbeddingService
from commonplace.index.handle import IndexView
from commonplace.index.tokenizer import tokenize_passage, tokenize_query
from commonplace.model import EVERYTHING, Query
from commonplace.search.calibration import scale_for
from commonplace.search.pipeline import run_query
from commonplace.search.scoring import Weights
from commonplace.settings import SearchSettings
from commonplace.testing import FrozenClock

from ..embedding.server import Handler, Server, fail, running, serve
from ..providers import offer_server
from ..waiting import LONG_SECONDS

TODAY = datetime(2026, 3, 14, 9, tzinfo=UTC)


def write(memory: Memory, notes: dict[str, str]) -> Memory:
    for topic, text in notes.items():
        memory.call("update_world", {"topic": topic, "content": text})
    return memory


FACTS = {
    "car": "The car would not start this morning, so I took it to the garage.",
    "cat": "Our cat sleeps on the windowsill all day.",
    "garden": "I planted tomatoes and basil in the garden.",
    "passport": "My passport expires in June and must be renewed.",
    "猫": "我家的小猫每天都在窗台上睡觉。",
    "自行车": "他买了一辆新的自行车上班。",
    "预算": "昨天的会议讨论了明年的预算。",
}


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("feline asleep", "cat"),
        ("vegetables someone grew", "garden"),
        ("travel document renewal", "passport"),
        ("猫咪打盹", "猫"),
        ("骑单车", "自行车"),
        ("bicycle commute", "自行车"),
    ],
)
def test_a_question_finds_what_shares_no_word_with_it(memory: Memory, question: str, answers: str) -> None:
    forms = {form for word in tokenize_query(question) if not word.is_function_word for form in word.forms}
    write(memory, FACTS)
    hits = memory.home.search(question)
    assert hits.mode == "hybrid"
    first = hits.hits[0]
    assert first.text == FACTS[answers]
    assert not forms & {*tokenize_passage(first.text, "").body}


@pytest.mark.parametrize("question", ["xqzv blorf wibble", "zzzz", "qwpoei", "？？？", "🙃🙃", "1234567", "\x00\x01"])
def test_nonsense_finds_nothing(memory: Memory, question: str) -> None:
    write(memory, FACTS)
    assert memory.search(question) == []


@pytest.mark.parametrize("question", ["Why could n't the cat sleep ?", "'s cat", "n't", "the cat ' s"])
def test_the_remains_of_a_contraction_are_a_question_like_any_other(memory: Memory, question: str) -> None:
    write(memory, FACTS)
    hits = memory.search(question)
    assert "cat" not in question or FACTS["cat"] in [hit.text for hit in hits]


def test_a_small_memory_ranks_everything_where_nothing_is_certain(memory: Memory) -> None:
    write(memory, FACTS)
    hits = memory.home.search("Which of them would you recommend?")
    assert len(hits.hits) == len(FACTS)
    assert hits.verdict == "nothing"


@pytest.mark.parametrize("word", ["fox", "deploy", "Yes."])
def test_a_single_word_that_nothing_has_and_nothing_means_finds_nothing(memory: Memory, word: str) -> None:
    write(memory, {"garden": "I planted tomatoes.", "office": "The office is in Basel."})
    assert memory.search(word) == []


def test_an_empty_memory_answers_nothing_by_meaning(memory: Memory) -> None:
    hits = memory.home.search("feline asleep")
    assert (hits.hits, hits.warnings) == ((), ())


def test_half_a_character_in_a_question_is_only_a_character(memory: Memory) -> None:
    write(memory, FACTS)
    assert memory.search("feline \ud83d asleep")[0].text == FACTS["cat"]


def test_a_page_of_text_as_a_question_is_answered(memory: Memory) -> None:
    write(memory, FACTS)
    assert memory.search("a feline asleep " * 3_000)[0].text == FACTS["cat"]


def reply(memory: Memory, query: str = "passport") -> dict[str, Any]:
    return memory.call("memory_search", {"query": query})


def test_a_reply_says_who_answered(memory: Memory) -> None:
    answer = reply(write(memory, FACTS))
    assert (answer["mode"], answer["provider"], answer["fallback"]) == ("hybrid", "static", False)
    assert answer["model"].startswith("commonplace-static")
    assert "warning" not in answer


def test_an_index_of_an_older_packaged_model_is_embedded_again_by_itself(
    home: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(StaticModel, "load", load_older_model)
        static_model.cache_clear()
        assert reply(write(Memory(home, clock=clock), FACTS))["model"] == "older-model"
    static_model.cache_clear()
    answer = reply(Memory(home, clock=clock), "travel document renewal")
    assert (answer["model"], answer["fallback"]) == ("commonplace-static-2", False)
    assert answer["results"][0]["path"] == "memory/world/passport.md"


def load_older_model() -> StaticModel:
    """Return a model of few words and dimensions, as an older version might have had."""
    numbers = np.arange(2 * 16, dtype=np.uint8).reshape(2, 16)
    table = Table(numbers, np.ones(2, np.float32), np.zeros(2, np.int8))
    return StaticModel("older-model", ["passport", "june"], table)


def set_to(home: Path, **settings: str) -> None:
    home.mkdir(exist_ok=True)
    lines = [f"  {name}: {value}\n" for name, value in settings.items()]
    (home / "commonplace.yaml").write_text("memorySearch:\n" + "".join(lines))


def test_without_a_provider_words_answer_and_nothing_failed(home: Path, clock: FrozenClock) -> None:
    set_to(home, provider="none")
    answer = reply(write(Memory(home, clock=clock), FACTS))
    assert (answer["mode"], answer["provider"], answer["fallback"]) == ("keyword", "none", False)
    assert "warning" not in answer
    assert answer["results"][0]["path"] == "memory/world/passport.md"
    assert reply(Memory(home, clock=clock), "feline asleep")["results"] == []
    assert list((home / ".index").glob("*.vectors")) == []


@pytest.fixture
def nobody() -> str:
    """An address where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


def test_a_server_that_is_not_there_leaves_it_to_words_and_says_so(home: Path, clock: FrozenClock, nobody: str) -> None:
    offer_server("openai", nobody)
    set_to(home, provider="openai", model="m")
    memory = write(Memory(home, clock=clock), FACTS)
    answer = reply(memory)
    assert (answer["mode"], answer["provider"], answer["model"], answer["fallback"]) == (
        "hybrid",
        "static",
        "commonplace-static-2",
        True,
    )
    assert nobody in answer["warning"]
    assert answer["results"][0]["path"] == "memory/world/passport.md"


def test_a_failure_is_remembered_and_not_waited_for_again(home: Path, clock: FrozenClock) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        offer_server("openai", address)
        set_to(home, provider="openai", model="m")
        memory = write(Memory(home, clock=clock), FACTS)
        assert reply(memory)["fallback"] is True
        listener.listen()
        listener.setblocking(False)
        answer = reply(memory)
        with pytest.raises(BlockingIOError):
            listener.accept()  # nobody came
    assert answer["fallback"] is True
    assert address in answer["warning"]


def test_a_search_does_not_wait_for_a_failing_server_as_long_as_indexing_would(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    server.otherwise = fail(503)
    offer_server("openai", server.url)
    set_to(home, provider="openai", model="m")
    answer = reply(write(Memory(home, clock=clock), FACTS))
    assert (answer["mode"], answer["provider"], answer["fallback"]) == ("hybrid", "static", True)
    assert len(server.seen) <= SEARCHING.tries


def test_others_write_while_a_question_waits_for_a_slow_server(home: Path, clock: FrozenClock, server: Server) -> None:
    offer_server("openai", server.url)
    set_to(home, provider="openai", model="m")
    memory = write(Memory(home, clock=clock), FACTS)
    assert reply(memory)["mode"] == "hybrid"
    signal, go_on = threading.Event(), threading.Event()

    def think(handler: Handler) -> None:
        signal.set()
        go_on.wait(LONG_SECONDS)
        serve(handler)

    server.otherwise = think
    result: list[dict[str, Any]] = []
    asker = threading.Thread(target=lambda: result.append(reply(memory)))
    asker.start()
    assert signal.wait(LONG_SECONDS)
    write(memory, {"tea": "Ann drinks rooibos."})
    assert asker.is_alive()
    go_on.set()
    asker.join()
    assert result[0]["mode"] == "hybrid"


def test_a_server_that_fails_at_the_question_leaves_it_to_words(home: Path, clock: FrozenClock, server: Server) -> None:
    offer_server("openai", server.url)
    set_to(home, provider="openai", model="m")
    memory = write(Memory(home, clock=clock), FACTS)
    assert reply(memory)["mode"] == "hybrid"
    server.otherwise = fail(400, "no more questions")
    answer = reply(memory)
    assert (answer["mode"], answer["provider"], answer["fallback"]) == ("hybrid", "static", True)
    assert "no more questions" in answer["warning"]
    assert answer["results"][0]["path"] == "memory/world/passport.md"
    count = len(server.seen)
    assert reply(memory)["fallback"] is True
    assert len(server.seen) == count


def test_a_provider_without_what_it_needs_says_what_to_do(
    home: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    set_to(home, provider="openai")
    answer = reply(write(Memory(home, clock=clock), FACTS))
    assert (answer["mode"], answer["provider"], answer["fallback"]) == ("hybrid", "static", True)
    assert "OPENAI_API_KEY" in answer["warning"]


def test_agents_of_one_home_may_have_a_provider_each(home: Path, clock: FrozenClock) -> None:
    set_to(home, provider="none")
    with (home / "commonplace.yaml").open("a") as file:
        file.write("agents:\n  reader:\n    memorySearch:\n      provider: static\n")
    write(Memory(home, clock=clock), FACTS)
    assert Memory(home, clock=clock).search("feline asleep") == []
    assert Memory(home, agent="reader", clock=clock).search("feline asleep")[0].text == FACTS["cat"]


class Sample(NamedTuple):
    home: Home
    questions: list[dict[str, str]]
    paths: dict[str, str]
    texts: list[str]

    def right(self) -> list[tuple[int, int]]:
        """Which note answers which question, by their numbers."""
        order = list(self.paths)
        return [(number, order.index(question["answer"])) for number, question in enumerate(self.questions)]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    clock = FrozenClock()
    data = json.loads(Path(__file__).with_name("sample.json").read_text("utf-8"))
    with Memory(tmp_path_factory.mktemp("sample") / "home", clock=clock) as memory:
        paths = {note["name"]: keep(memory, clock, **note) for note in data["notes"]}
        clock.now = TODAY
        texts = [note["text"] for note in data["notes"]]
        yield Sample(memory.home, data["questions"], paths, texts)


def keep(memory: Memory, clock: FrozenClock, name: str, place: str, text: str) -> str:
    """Write a note where it belongs; the page it stands on."""
    clock.now = datetime(2026, 3, 1, 9, tzinfo=UTC)
    if place == "global":
        memory.call("MemoryTool", {"op": "setGlobal", "key": name, "value": text})
        return f"memory/global/general/{name}.md"
    if place == "day":
        clock.now = datetime.combine(date.fromisoformat(name), clock.now.timetz())
        memory.call("remember", {"content": text})
        return f"agents/main/memory/daily/{name}.md"
    memory.call("update_world", {"topic": name, "content": text})
    return f"memory/world/{name}.md"


Leg = Callable[[Home, str], list[str]]  # a question to pages, best first


def together(home: Home, text: str) -> list[str]:
    return [hit.path for hit in home.search(text, 10, 0.0).hits]


def by_words(home: Home, text: str) -> list[str]:
    """As without a provider, and without what else the ranking knows: the keys, the dates, the pages."""
    query = Query(text, home.visibility.viewer(), 10, 0.0, today=home.today().toordinal())
    weights = Weights(support=0.0, phrase=0.0, key=0.0, date=0.0, recency=0.0)
    nobody = EmbeddingService(SearchSettings(provider="none"))
    result = home.index.query(lambda view: run_query(view.index, query, nobody, weights))
    assert result.mode == "keyword"
    return [hit.path for hit in result.hits]


def by_meaning(home: Home, text: str) -> list[str]:
    """The nearest vectors, however far."""
    (embedder,) = home.embedding.embedders()

    def ask(view: IndexView) -> list[str]:
        near = view.index.nearest(embedder.space, embedder.embed_query(text), home.visibility.viewer(), EVERYTHING, 10)
        hits = {each.number: each.hit for each in view.index.load_candidates([number for number, _ in near])}
        return [hits[number].path for number, _ in near]

    return home.index.query(ask)


def ranks(sample: Sample, leg: Leg, kinds: tuple[str, ...] = ()) -> dict[str, float]:
    """For each question one over the place of its answer; nothing where it was not found."""
    out = {}
    for question in sample.questions:
        if not kinds or question["kind"] in kinds:
            pages = list(dict.fromkeys(leg(sample.home, question["text"])))
            paths = sample.paths[question["answer"]]
            out[question["text"]] = 1 / (pages.index(paths) + 1) if paths in pages else 0.0
    return out


def figures(result: dict[str, float]) -> tuple[float, float]:
    """How many come first, and the mean of one over the place."""
    return sum(rank == 1 for rank in result.values()) / len(result), sum(result.values()) / len(result)


def test_words_and_meaning_together_are_never_worse_than_either_alone(sample: Sample) -> None:
    both, words_alone, meaning_alone = (figures(ranks(sample, leg)) for leg in (together, by_words, by_meaning))
    assert both[0] >= max(words_alone[0], meaning_alone[0]), (both, words_alone, meaning_alone)
    assert both[1] >= max(words_alone[1], meaning_alone[1]), (both, words_alone, meaning_alone)


@pytest.mark.parametrize("kind", ["words", "paraphrase", "key", "date"])
def test_together_they_are_not_worse_on_any_kind_of_question(sample: Sample, kind: str) -> None:
    both, words_alone, meaning_alone = (ranks(sample, leg, (kind,)) for leg in (together, by_words, by_meaning))
    assert figures(both)[1] >= max(figures(words_alone)[1], figures(meaning_alone)[1]), both


@pytest.mark.parametrize("kind", ["words", "key", "date"])
def test_what_is_asked_for_by_name_comes_first(sample: Sample, kind: str) -> None:
    assert figures(ranks(sample, together, (kind,)))[0] >= 0.95


def test_the_scale_of_the_model_in_the_package_is_measured_on_that_model(sample: Sample) -> None:
    """A model that is replaced and not measured again would find nothing, or everything."""
    (embedder,) = open_embedders(SearchSettings())
    scale = scale_for(embedder.space)
    request = np.stack([embedder.embed_query(question["text"]) for question in sample.questions])
    alike = request @ embedder.embed_passages(sample.texts).T
    likely = (alike - scale.mean) / scale.deviation
    assert abs(float(np.median(likely))) < 2
    assert 0.5 < float(likely.std()) < 2
    assert (likely > 2).mean() < 0.1
    right = [likely[row, column] for row, column in sample.right()]
    assert float(np.median(right)) > 2


def test_a_score_is_a_chance_and_falls_with_the_place(sample: Sample) -> None:
    for question in sample.questions:
        scores = [hit.score for hit in sample.home.search(question["text"], 20, 0.0).hits]
        assert all(0 <= score <= 1 for score in scores)
        assert scores == sorted(scores, reverse=True)
