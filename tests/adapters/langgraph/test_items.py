"""What the store for LangGraph reads off its pages and may lose: when items end, and vectors of the user's embedder."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp

from commonplace import Memory
from commonplace.adapters.langgraph import CommonplaceStore
from commonplace.maintenance import doctor
from commonplace.maintenance.forget import Selection, forget
from commonplace.testing import FrozenClock

from ...waiting import LONG_SECONDS

DOCS = ("docs",)


class Colours:
    """An embedder that knows three words, and how often it was asked for what."""

    words = ("red", "green", "blue")

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[float(text.count(word)) for word in self.words] for text in texts]

    def asked(self) -> list[str]:
        texts, self.texts = self.texts, []
        return texts


@pytest.fixture
def colours() -> Colours:
    return Colours()


def open_store(home: Path, colours: Callable[..., Any], *fields: str) -> CommonplaceStore:
    index: Any = {"dims": 3, "embed": colours, "fields": [*fields] or ["text"]}
    return CommonplaceStore(home, index=index, clock=FrozenClock())


def scores(store: CommonplaceStore, query: str) -> dict[str, float | None]:
    hits = store.search((), query=query, limit=100)
    return {item.key: None if item.score is None else round(item.score, 3) for item in hits}


def test_the_items_nearest_to_a_question_come_first_by_their_best_text(home: Path, colours: Colours) -> None:
    store = open_store(home, colours, "text", "more[*]")
    store.put(DOCS, "a", {"text": "red", "more": ["green", "red blue"]})
    store.put(DOCS, "b", {"text": "red green"})
    store.put(DOCS, "c", {"text": "nothing of the kind"})
    store.put(DOCS, "d", {"other": "green"})
    assert scores(store, "green") == {"a": 1.0, "b": 0.707, "c": 0.0, "d": None}
    assert [item.key for item in store.search(DOCS, query="green", limit=1, offset=1)] == ["b"]
    assert [item.key for item in store.search(DOCS, query="green", filter={"text": "red green"})] == ["b"]
    assert [item.score for item in store.search(DOCS)] == [None] * 4


def test_a_put_says_what_of_it_is_embedded(home: Path, colours: Colours) -> None:
    store = open_store(home, colours)
    store.put(DOCS, "all", {"text": "red", "title": "green"})
    store.put(DOCS, "title", {"text": "red", "title": "green"}, index=["title"])
    store.put(DOCS, "no", {"text": "red", "title": "green"}, index=False)
    store.put(DOCS, "none", {"text": "red", "title": "green"}, index=[])
    assert scores(store, "green") == {"title": 1.0, "all": 0.0, "none": None, "no": None}
    shutil.rmtree(home / ".index")
    assert scores(open_store(home, colours), "green") == {"title": 1.0, "all": 0.0, "none": None, "no": None}


def test_a_text_is_embedded_once(home: Path, colours: Colours) -> None:
    store = open_store(home, colours)
    store.batch(
        [PutOp(DOCS, "a", {"text": "red"}), PutOp(DOCS, "b", {"text": "red"}), PutOp(DOCS, "c", {"text": "blue"})]
    )
    assert sorted(colours.asked()) == ["blue", "red"]
    store.put(DOCS, "a", {"text": "red", "other": 1})
    assert scores(store, "red")["a"] == 1.0
    store.close()
    assert scores(open_store(home, colours), "red")["a"] == 1.0
    assert colours.asked() == ["red", "red"]  # the two questions


def test_what_a_person_edits_or_adds_is_embedded_by_the_next_search(home: Path, colours: Colours) -> None:
    store = open_store(home, colours)
    store.put(DOCS, "a", {"text": "red"})
    store.put(DOCS, "gone", {"text": "blue"})
    page = home / "agents/main/store/docs/a.md"
    page.write_text(page.read_text().replace("red", "blue"))
    (page.parent / "new.md").write_text("blue green")
    (page.parent / "gone.md").unlink()
    assert scores(store, "blue") == {"a": 1.0, "new": 0.707}


def test_vectors_are_made_again_when_they_are_lost_or_damaged(home: Path, colours: Colours) -> None:
    store = open_store(home, colours)
    store.put(DOCS, "a", {"text": "red"})
    (remaining,) = home.glob(".index/words-items-*.sqlite")
    for lose in (lambda: remaining.unlink(), lambda: shutil.rmtree(home / ".index")):
        lose()
        assert scores(store, "red") == {"a": 1.0}
    store.close()
    remaining.write_bytes(b"no database at all" * 1000)
    assert scores(open_store(home, colours), "red") == {"a": 1.0}


def test_where_nothing_can_be_kept_a_search_still_answers(home: Path, colours: Colours) -> None:
    store = open_store(home, colours)
    store.put(DOCS, "a", {"text": "red"})
    store.close()
    (remaining,) = home.glob(".index/words-items-*.sqlite")
    remaining.unlink()
    remaining.mkdir()
    store = open_store(home, colours)
    assert scores(store, "red") == {"a": 1.0}
    colours.asked()
    assert scores(store, "red") == {"a": 1.0}
    assert colours.asked() == ["red"]


def test_two_embedders_do_not_share_vectors(home: Path, colours: Colours) -> None:
    open_store(home, colours).put(DOCS, "a", {"text": "red"})
    assert scores(open_store(home, lambda texts: [[0.0, 1.0, 0.0] for _ in texts]), "red") == {"a": 1.0}
    assert len(list(home.glob(".index/words-items-*.sqlite"))) == 2


def test_what_is_forgotten_leaves_no_vector(home: Path, colours: Colours) -> None:
    store = open_store(home, colours)
    store.put(DOCS, "a", {"text": "red"})
    store.put(DOCS, "b", {"text": "blue"})
    colours.asked()
    forget(Memory(home).home, Selection(page="agents/main/store/docs/a.md"))
    assert list(home.glob(".index/words-items-*")) == []
    assert scores(store, "red") == {"b": 0.0}
    assert "red" not in colours.asked()[:-1]


def test_a_doctor_finds_nothing_wrong(home: Path, colours: Colours) -> None:
    store = open_store(home, colours)
    store.put(("Users", "Ann"), "Drink!", {"text": "red"}, ttl=5)
    store.sweep_ttl()
    assert list(doctor.examine(str(home)).findings) == []


@pytest.mark.parametrize(
    ("index", "problem"),
    [
        ({"embed": Colours()}, r"index\['dims'\] is missing"),
        ({"dims": 3, "embed": Colours(), "fields": [1]}, r"index\['fields'\] is a list of paths"),
        ({"dims": 3, "embed": None}, "embed must be provided"),
    ],
)
def test_an_index_that_makes_no_sense_is_refused(home: Path, index: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        CommonplaceStore(home, index=index)


def test_an_embedder_that_returns_something_else_than_it_promised_is_reported(home: Path) -> None:
    store = open_store(home, lambda texts: [[1.0]])
    with pytest.raises(ValueError, match=r"gave 1 numbers, and index\['dims'\] says 3"):
        store.put(DOCS, "a", {"text": "red"})
    assert store.get(DOCS, "a") is not None  # the page is safe
    with pytest.raises(ValueError, match="gave 0 vectors for 1 texts"):
        open_store(home, lambda texts: []).search(DOCS, query="red")


def test_an_embedder_that_is_async_is_awaited_where_it_lives(home: Path, colours: Colours) -> None:
    loops = []

    async def embed(texts: list[str]) -> list[list[float]]:
        loops.append(asyncio.get_running_loop())
        return colours(texts)

    async def use(store: CommonplaceStore) -> list[str]:
        await asyncio.gather(*(store.aput(DOCS, word, {"text": word}) for word in Colours.words))
        hits = await store.asearch(DOCS, query="green")
        assert set(loops) == {asyncio.get_running_loop()}
        return [item.key for item in hits if item.score]

    store = open_store(home, embed)
    assert asyncio.run(use(store)) == ["green"]
    with pytest.raises(ValueError, match="use aput, asearch and abatch"):
        store.put(DOCS, "a", {"text": "red"})
    assert store.get(DOCS, "a") is None
    assert store.get(DOCS, "red") is not None


def lasting(home: Path, clock: FrozenClock, **ttl: Any) -> CommonplaceStore:
    return CommonplaceStore(home, ttl=ttl, clock=clock)  # type: ignore[arg-type]


def test_an_item_whose_time_is_over_leaves_the_pages_but_not_history(home: Path, clock: FrozenClock) -> None:
    store = lasting(home, clock, default_ttl=10)
    store.put(DOCS, "short", {"text": "red"})
    store.put(DOCS, "long", {"text": "red"}, ttl=60)
    store.put(DOCS, "for good", {"text": "red"}, ttl=None)
    clock.advance(minutes=11)
    assert store.get(DOCS, "short", refresh_ttl=False) is not None
    assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)
    assert store.get(DOCS, "short") is None
    assert {item.key for item in store.search(())} == {"long", "for good"}
    assert not (home / "agents/main/store/docs/short.md").exists()
    last = store.memory.home.storage.history.changes()[-1]
    assert (last.tool, last.path, last.version) == ("store.expire", "agents/main/store/docs/short.md", "")


def test_reading_an_item_lets_it_live_its_whole_time_again(home: Path, clock: FrozenClock) -> None:
    store = lasting(home, clock, default_ttl=10)
    for key in ("got", "found", "looked at", "left"):
        store.put(DOCS, key, {"key": key})
    clock.advance(minutes=6)
    store.get(DOCS, "got")
    store.search(DOCS, filter={"key": "found"})
    store.get(DOCS, "looked at", refresh_ttl=False)
    clock.advance(minutes=6)
    assert store.sweep_ttl() == 2
    assert {item.key for item in store.search((), refresh_ttl=False)} == {"got", "found"}
    clock.advance(minutes=5)
    assert store.sweep_ttl() == 2


def test_reads_that_prolong_nothing_write_nothing(home: Path, clock: FrozenClock) -> None:
    store = lasting(home, clock, default_ttl=10, refresh_on_read=False)
    often = lasting(home, clock, default_ttl=10)
    store.put(DOCS, "a", {})
    before = len(store.memory.home.storage.history.changes())
    clock.advance(minutes=5)
    store.get(DOCS, "a")
    assert len(store.memory.home.storage.history.changes()) == before
    for _ in range(10):
        often.get(DOCS, "a")
        clock.advance(seconds=1)
    assert (
        len(store.memory.home.storage.history.changes()) == before + 2
    )  # at once, and when a hundredth of its time is gone


def test_expired_items_are_left_out_where_the_store_says_so(home: Path, clock: FrozenClock) -> None:
    store = lasting(home, clock, default_ttl=10, omit_expired=True)
    store.put(("a",), "k", {"text": "red"})
    store.put(("b",), "k", {"text": "red"}, ttl=None)
    clock.advance(minutes=11)
    assert store.get(("a",), "k") is None
    assert [item.namespace for item in store.search(())] == [("b",)]
    assert [item.namespace for item in store.search((), query="red")] == [("b",)]
    assert store.list_namespaces() == [("b",)]
    assert store.sweep_ttl() == 1


def test_a_person_may_change_how_long_an_item_lives(home: Path, clock: FrozenClock) -> None:
    store = lasting(home, clock, default_ttl=10)
    for key in ("a", "b", "c"):
        store.put(DOCS, key, {})
    for key, old, new in (
        ("a", "expires_at: 2026", "expires_at: 2036"),
        ("b", "expires_at:", "ends:"),
        ("c", 'ttl: "10"', "ttl: 1e300"),
    ):
        page = home / f"agents/main/store/docs/{key}.md"
        page.write_text(page.read_text().replace(old, new))
    assert store.get(DOCS, "c") is not None
    clock.advance(minutes=11)
    assert store.sweep_ttl() == 1
    assert {item.key for item in store.search((), refresh_ttl=False)} == {"a", "b"}


def test_putting_an_item_again_without_an_end_makes_it_last(home: Path, clock: FrozenClock) -> None:
    store = CommonplaceStore(home, clock=clock)
    store.put(DOCS, "a", {}, ttl=1)
    store.put(DOCS, "a", {})
    clock.advance(days=1)
    assert store.sweep_ttl() == 0
    assert "expires_at" not in (home / "agents/main/store/docs/a.md").read_text()


class Watched(FrozenClock):
    """Says when another thread looked at it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Event()

    def __call__(self) -> datetime:
        if threading.current_thread() is not threading.main_thread():
            self.seen.set()
        return super().__call__()


def test_a_sweeper_sweeps_until_it_is_stopped(home: Path) -> None:
    clock = Watched()
    store = lasting(home, clock, default_ttl=10)
    store.put(DOCS, "a", {})
    clock.advance(minutes=11)
    done = store.start_ttl_sweeper(0.0001)
    store.start_ttl_sweeper(0.0001)  # one is enough
    assert clock.seen.wait(LONG_SECONDS)
    assert store.stop_ttl_sweeper()
    assert done.result(LONG_SECONDS) is None
    assert store.get(DOCS, "a") is None
    again = store.start_ttl_sweeper()
    again.cancel()
    assert store.stop_ttl_sweeper(LONG_SECONDS)
    assert CommonplaceStore(home).start_ttl_sweeper().done()
    store.close()
