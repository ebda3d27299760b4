"""The store for LangGraph: items are pages, whoever writes them and whatever they are called."""

from __future__ import annotations

import builtins
import io
import os
import re
import subprocess
import sys
import tomllib
from collections import UserDict
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from commonplace import Memory
from commonplace.adapters.langgraph import CommonplaceStore
from commonplace.errors import BrokenFrontMatter, HoldsSecret, StorageError
from commonplace.maintenance import timeline
from commonplace.storage.names import encode_name
from commonplace.testing import FrozenClock

from ..programs import Program

USERS = ("users", "ann")


@pytest.fixture
def store(home: Path, clock: FrozenClock) -> CommonplaceStore:
    return CommonplaceStore(home, clock=clock)


def pages(home: Path) -> list[str]:
    folder = home / "agents/main/store"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))


def test_an_item_is_a_page_that_people_can_read(home: Path, store: CommonplaceStore) -> None:
    store.put(USERS, "drink", {"likes": "rooibos", "cups": 3})
    assert (home / "agents/main/store/users/ann/drink.md").read_text() == (
        "---\ncreated_at: 2026-03-14T09:26:53.000000Z\nupdated_at: 2026-03-14T09:26:53.000000Z\ntype: json\n---\n\n"
        '{\n  "likes": "rooibos",\n  "cups": 3\n}\n'
    )


def test_an_update_keeps_the_time_of_creation(store: CommonplaceStore, clock: FrozenClock) -> None:
    store.put(USERS, "drink", {"likes": "tea"})
    first = clock.now
    clock.advance(minutes=5)
    store.put(USERS, "drink", {"likes": "coffee"})
    item = store.get(USERS, "drink")
    assert item is not None
    assert (item.created_at, item.updated_at, item.value) == (first, clock.now, {"likes": "coffee"})


def test_what_a_person_edits_is_what_is_read(home: Path, store: CommonplaceStore) -> None:
    store.put(USERS, "drink", {"likes": "tea"})
    page = home / "agents/main/store/users/ann/drink.md"
    page.write_text(page.read_text().replace("tea", "cocoa"))
    item = store.get(USERS, "drink")
    assert item is not None
    assert item.value == {"likes": "cocoa"}
    assert [hit.key for hit in store.search(USERS, filter={"likes": "cocoa"})] == ["drink"]


def test_a_page_that_is_renamed_or_moved_is_another_item(home: Path, store: CommonplaceStore) -> None:
    store.put(("Users", "Ann"), "Drink!", {"likes": "tea"})
    folder = home / "agents/main/store"
    (page,) = folder.rglob("*.md")
    page.rename(page.with_name("drink.md"))
    page.parent.rename(page.parent.with_name("ann"))
    assert store.list_namespaces() == [("Users", "ann")]
    assert store.get(("Users", "Ann"), "Drink!") is None
    item = store.get(("Users", "ann"), "drink")
    assert item is not None
    assert [(hit.namespace, hit.key) for hit in store.search(())] == [(("Users", "ann"), "drink")]


def test_pages_that_a_person_made_are_items(home: Path, store: CommonplaceStore) -> None:
    folder = home / "agents/main/store/My Notes"
    folder.mkdir(parents=True)
    (folder / "Shopping List.md").write_text("milk and tea\n")
    (folder / "list.md").write_text("---\ntype: json\n---\n\n[1, 2]\n")
    (folder / "broken.md").write_text("---\ntype: json\ncreated_at: once\n---\n\n{not json\n")
    values = {item.key: item.value for item in store.search(("My Notes",))}
    assert values == {
        "Shopping List": {"text": "milk and tea"},
        "list": {"value": [1, 2]},
        "broken": {"text": "{not json"},
    }
    response = store.get(("My Notes",), "Shopping List")
    assert response is not None
    store.put(("My Notes",), "Shopping List", {"text": "milk"})
    assert (folder / "Shopping List.md").read_text().endswith('"milk"\n}\n')
    assert len(store.search(("My Notes",))) == 3
    store.delete(("My Notes",), "Shopping List")
    assert store.get(("My Notes",), "Shopping List") is None
    assert not (folder / "Shopping List.md").exists()


def test_what_a_person_added_to_the_front_matter_stays(home: Path, store: CommonplaceStore) -> None:
    store.put(USERS, "drink", {"likes": "tea"})
    page = home / "agents/main/store/users/ann/drink.md"
    page.write_text(page.read_text().replace("---\n", "---\n# ask again in May\ntags: [kitchen]\n", 1))
    store.put(USERS, "drink", {"likes": "cocoa"})
    assert "# ask again in May\ntags: [kitchen]\n" in page.read_text()
    assert [hit.tags for hit in store.memory.search("cocoa", tags=["kitchen"])] == [("kitchen",)]


def test_front_matter_that_makes_no_sense_is_not_overwritten(home: Path, store: CommonplaceStore) -> None:
    store.put(USERS, "drink", {"likes": "tea"})
    page = home / "agents/main/store/users/ann/drink.md"
    page.write_text("---\n[: {\n---\n\nmine\n")
    with pytest.raises(BrokenFrontMatter, match=r"drink\.md: the front matter is not YAML"):
        store.put(USERS, "drink", {"likes": "coffee"})
    item = store.get(USERS, "drink")
    assert item is not None
    assert item.value == {"text": "mine"}


HOSTILE = [
    "", " ", ".", "..", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "~", "con", "NUL", "x" * 5000, "naïve", "日本",
    "a\nb", "a\n", "tab\t", "null\0", "🙂", "key: value", "'quoted'", '"', "[a, b]", "-dash", "a.md", "no", "123", "{}",
    "Foo", "foo", "FOO", "ﬀ", "İ", "ß", "é", "e\u0301",
]  # fmt: skip


def test_keys_of_any_kind_are_kept_apart_and_inside_the_store(home: Path, store: CommonplaceStore) -> None:
    for number, key in enumerate(HOSTILE):
        store.put(("n",), key, {"number": number})
    assert len(pages(home)) == len(HOSTILE)
    assert {item.key: item.value["number"] for item in store.search((), limit=100)} == {
        key: number for number, key in enumerate(HOSTILE)
    }
    for number, key in enumerate(HOSTILE):
        item = store.get(("n",), key)
        assert item is not None
        assert (item.key, item.value) == (key, {"number": number})
        store.delete(("n",), key)
    assert pages(home) == []


def test_labels_of_any_kind_are_kept_apart(home: Path, clock: FrozenClock) -> None:
    labels = [label for label in HOSTILE if label and "." not in label and "\0" not in label]
    store = CommonplaceStore(home, clock=clock)
    for label in labels:
        store.put((label, "below"), "k", {"label": label})
    store = CommonplaceStore(home, clock=clock)  # which has met none of the names
    assert set(store.list_namespaces()) == {(label, "below") for label in labels}
    for label in labels:
        assert [item.value["label"] for item in store.search((label,))] == [label]
        assert store.list_namespaces(prefix=(label,)) == ([(label, "below")] if label != "*" else [])


def test_a_name_that_looks_like_the_code_of_another_is_its_own(store: CommonplaceStore) -> None:
    store.put(("Ann",), "Drink", {"whose": "ann"})
    store.put((encode_name("Ann"),), "Drink", {"whose": "nobody"})
    store.put(("Ann",), encode_name("Drink"), {"whose": "something else"})
    assert store.get((encode_name("Ann"),), encode_name("Drink")) is None
    whose = [
        item and item.value["whose"]
        for item in (store.get(("Ann",), "Drink"), store.get((encode_name("Ann"),), "Drink"))
    ]
    assert whose == ["ann", "nobody"]
    store.delete(("Ann",), encode_name("Drink"))
    assert store.get(("Ann",), "Drink") is not None


def test_half_a_character_is_refused(store: CommonplaceStore) -> None:
    for act in (
        lambda: store.get(("a",), "\ud800"),
        lambda: store.put(("a",), "\ud800", {}),
        lambda: store.get(("\udfff",), "k"),
    ):
        with pytest.raises(ValueError, match="is not Unicode text"):
            act()
    with pytest.raises(ValueError, match="is not Unicode text"):
        store.search(("\ud800",))


def test_a_namespace_too_deep_for_the_disk_is_an_error_that_says_so(store: CommonplaceStore) -> None:
    with pytest.raises(StorageError, match="too long"):
        store.put(("label " * 10,) * 100, "k", {})
    with pytest.raises(StorageError, match="too long"):
        store.get(("label " * 10,) * 100, "k")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"x": float("nan")}, "cannot be stored as JSON"),
        ({"x": {1, 2}}, "cannot be stored as JSON"),
        ({"x": {1: "a"}}, "the name 1 is not text"),
        ({"x": "\ud800"}, "cannot be stored as JSON"),
        (["x"], "the value of an item is a mapping"),
    ],
)
def test_a_value_that_a_page_cannot_hold_is_refused(
    home: Path, store: CommonplaceStore, value: Any, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        store.batch([PutOp(("a",), "fine", {}), PutOp(("a",), "k", value)])
    assert pages(home) == []


def test_mappings_and_tuples_of_any_kind_are_kept(store: CommonplaceStore) -> None:
    store.put(("a",), "k", UserDict({"x": UserDict({"y": (1, 2)})}))
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"x": {"y": [1, 2]}}


def test_a_batch_reads_before_it_writes_and_the_last_write_counts(store: CommonplaceStore) -> None:
    store.put(("a",), "k", {"n": 0})
    got, first, second, result, listed, gone = store.batch(
        [
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 1}),
            PutOp(("a",), "k", {"n": 2}),
            SearchOp(("a",)),
            ListNamespacesOp(),
            PutOp(("b",), "never there", None),
        ]
    )
    assert (first, second, gone) == (None, None, None)
    assert got.value == result[0].value == {"n": 0}  # type: ignore[union-attr, index]
    assert listed == [("a",)]
    assert store.get(("a",), "k").value == {"n": 2}  # type: ignore[union-attr]


def deep(levels: int) -> dict[str, Any]:
    return {"x": deep(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    ("op", "problem"),
    [
        ("nothing", "Unknown operation type"),
        (SearchOp((), filter=deep(900)), "nests at most 50 levels"),
        (SearchOp((), filter={"x": {"$near": 1}}), r"Unsupported operator: \$near"),
        (SearchOp((), filter={"x": {"deep": {"$near": 1}}}), r"Unsupported operator: \$near"),
        (SearchOp((), filter={"x' OR '1": 1}), "Invalid filter key"),
        (SearchOp((), filter=["x"]), "filter must be a mapping"),  # type: ignore[arg-type]
        (ListNamespacesOp((MatchCondition("middle", ("a",)),)), "Unsupported match type: middle"),  # type: ignore[arg-type]
        (GetOp(("a.b",), "k"), "cannot contain periods"),
        (PutOp(("a",), 5, {}), "is not Unicode text"),  # type: ignore[arg-type]
        (PutOp(("a",), "k", {}, ttl=float("inf")), "ttl must be a number of minutes"),
        (PutOp(("a",), "k", {}, ttl=1e300), "is too long: use None"),
    ],
)
def test_a_batch_with_a_mistake_does_nothing(home: Path, store: CommonplaceStore, op: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        store.batch([PutOp(("a",), "fine", {}), op])
    assert pages(home) == []


def test_the_namespaces_that_langgraph_refuses_are_refused(store: CommonplaceStore) -> None:
    for namespace in ((), ("langgraph",), ("a.b",), ("",), ("a\0",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})


VALUE = {
    "n": 5,
    "text": "10",
    "day": "2026-03-14",
    "deep": {"x": [1, {"y": 2}], "z": None},
    "dotted.name": 1,
    "flag": True,
}


@pytest.mark.parametrize(
    ("expected", "fits"),
    [
        ({"n": 5}, True),
        ({"n": 5.0}, True),
        ({"n": "5"}, False),
        ({"n": {"$gt": 4, "$lte": 5}}, True),
        ({"n": {"$lt": 10**400}}, True),
        ({"n": {"$ne": 5}}, False),
        ({"missing": {"$ne": 5}}, True),
        ({"missing": {"$gt": 5}}, False),
        ({"missing": None}, True),
        ({"text": {"$gt": 9}}, True),
        ({"text": {"$gt": "9"}}, True),
        ({"day": {"$gte": "2026-03-01", "$lt": "2026-04-01"}}, True),
        ({"day": {"$gt": 5}}, False),
        ({"deep": {"z": None}}, True),
        ({"deep": {"x": [1, {"y": {"$gte": 2}}]}}, True),
        ({"deep": {"x": [1]}}, False),
        ({"deep.x": [1, {"y": 2}]}, True),
        ({"deep.z.further": None}, True),
        ({"dotted.name": 1}, True),
        ({"flag": True, "n": {"$eq": 5}}, True),
        ({"n": {"$eq": float("nan")}}, False),
    ],
)
def test_filters(store: CommonplaceStore, expected: dict[str, Any], fits: bool) -> None:
    store.put(("a",), "k", VALUE)
    assert bool(store.search(("a",), filter=expected)) is fits


def test_the_newest_items_come_first_and_pages_of_them_do_not_overlap(
    store: CommonplaceStore, clock: FrozenClock
) -> None:
    for number in range(7):
        store.put(("a", str(number % 2)), str(number), {})
        clock.advance(seconds=1)
    keys = [item.key for start in (0, 3, 6) for item in store.search(("a",), limit=3, offset=start)]
    assert keys == ["6", "5", "4", "3", "2", "1", "0"]


def test_a_question_is_answered_by_the_memorys_own_search(store: CommonplaceStore) -> None:
    store.put(("ann", "facts"), "drink", {"text": "She takes rooibos in the evening."})
    store.put(("ann", "facts"), "pet", {"text": "Her dog is called Bruno."})
    store.put(("bob", "facts"), "drink", {"text": "He takes rooibos, too."})
    hits = store.search(("ann",), query="what is the dog's name?")
    assert hits[0].key == "pet"
    assert hits[0].score is not None
    assert 0 < hits[0].score <= 1
    assert {item.namespace for item in hits} == {("ann", "facts")}
    assert [item.key for item in store.search((), query="rooibos", filter={"text": {"$gt": "S"}})] == ["drink"]
    assert len(store.search((), query="  ")) == 3


def test_an_item_put_without_an_index_is_listed_but_answers_no_question(store: CommonplaceStore) -> None:
    store.put(USERS, "drink", {"text": "Ann drinks green tea"})
    for key, index in (("draft", False), ("none", [])):
        store.put(USERS, key, {"text": "Ann drinks green tea or coffee"}, index=index)
    found = store.search(USERS, query="what does Ann drink?")
    assert found[0].key == "drink"
    assert {item.key: item.score is not None for item in found} == {"drink": True, "draft": False, "none": False}
    assert store.search(USERS, query="what does Ann drink?", filter={"text": "Ann drinks green tea or coffee"})


def test_items_are_found_kept_and_taken_back_like_any_memory(home: Path, clock: FrozenClock) -> None:
    store = CommonplaceStore(home, clock=clock, session="s1")
    store.put(USERS, "drink", {"likes": "rooibos"})
    store.batch([PutOp(USERS, "drink", {"likes": "coffee"}), PutOp(USERS, "pet", {"name": "Bruno"})])
    memory = Memory(home, clock=clock)
    (hit,) = memory.search("Bruno", limit=1)
    assert hit.path == "agents/main/store/users/ann/pet.md"
    assert Memory(home, "other", clock=clock).search("Bruno") == []
    changes = timeline.list_changes(memory.home, "agents/main/store/users/ann/drink.md")
    assert [(change.tool, change.session) for change in changes] == [("store.put", "s1")] * 2
    timeline.undo(memory.home, timeline.include_same_calls(memory.home, changes[-1:]))
    assert {item.key: item.value for item in store.search(())} == {"drink": {"likes": "rooibos"}}


def test_agents_have_a_store_each(home: Path) -> None:
    CommonplaceStore(home, "scout").put(("a",), "k", {"n": 1})
    assert CommonplaceStore(home).search(()) == []
    assert len(CommonplaceStore(home, "scout").search(())) == 1


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_keys_and_passwords_are_kept_out_as_the_settings_say(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    CommonplaceStore(home).put(("a",), "first", {"use": TOKEN})
    assert "looks like" in caplog.text
    (home / "commonplace.yaml").write_text("secrets: refuse\n")
    with pytest.raises(HoldsSecret):
        CommonplaceStore(home).put(("a",), "second", {"use": TOKEN})
    (home / "commonplace.yaml").write_text("secrets: redact\n")
    store = CommonplaceStore(home)
    store.put(("a",), "third", {"deep": [{"password": "hunter2hunter2"}, f"use {TOKEN}"]})
    for namespace, key in ((("a",), TOKEN), ((TOKEN,), "k")):
        with pytest.raises(HoldsSecret, match="Use another name"):
            store.put(namespace, key, {})
    assert [item.key for item in store.search(()) if TOKEN in str(item.value)] == ["first"]


def test_an_empty_store_keeps_nothing_beside_the_index(home: Path) -> None:
    store = CommonplaceStore(home, ttl={"omit_expired": True})
    assert (store.search((), query="x"), store.list_namespaces(), store.get(("a",), "k"), store.sweep_ttl()) == (
        [],
        [],
        None,
        0,
    )
    assert list(home.glob(".index/*items*")) == []


def test_listing_opens_no_page_that_has_not_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = CommonplaceStore(home)
    store.batch([PutOp(("Users", f"U{number % 5}"), str(number), {"n": number}) for number in range(50)])
    opened: list[str] = []

    def watch(module: Any) -> None:
        """An audit hook could not be removed, and would slow down all later tests."""
        plain = module.open

        def note(path: Any, *rest: Any, **arguments: Any) -> Any:
            if str(path).endswith(".md"):
                opened.append(str(path))
            return plain(path, *rest, **arguments)

        monkeypatch.setattr(module, "open", note)

    settled = CommonplaceStore(home)
    while settled.memory.home.storage.pages.changes(
        settled.memory.home.index.query(lambda view: view.index.stamps()), settled.memory.home.index.scope.roots()
    ).changed:
        settled.search(())
    settled.search((), limit=100)
    for module in (os, io, builtins):
        watch(module)
    assert len(settled.search((), limit=100)) == 50
    assert len(settled.list_namespaces()) == 5
    assert opened == []
    assert settled.get(("Users", "U1"), "1") is not None
    assert len(opened) == 1


class State(TypedDict):
    name: str
    answer: str


def remember(state: State, *, store: BaseStore) -> dict[str, str]:
    store.put(("people",), state["name"], {"met": True})
    return {}


async def recall(state: State, *, store: BaseStore) -> dict[str, str]:
    hits = await store.asearch(("people",), query=state["name"])
    return {"answer": hits[0].key}


def recall_in_a_thread(state: State, *, store: BaseStore) -> dict[str, str]:
    return {"answer": store.search(("people",), query=state["name"])[0].key}


def graph(store: BaseStore, answer: Any) -> Any:
    built = StateGraph(State)
    built.add_node("remember", remember)
    built.add_node("recall", answer)
    built.add_edge(START, "remember")
    built.add_edge("remember", "recall")
    built.add_edge("recall", END)
    return built.compile(store=store)


def test_a_graph_remembers_in_pages(home: Path) -> None:
    store = CommonplaceStore(home)
    assert graph(store, recall_in_a_thread).invoke({"name": "Ann", "answer": ""})["answer"] == "Ann"
    assert [hit.key for hit in Memory(home).search("Ann")] == ["Ann"]


async def _ask(home: Path) -> str:
    answer = await graph(CommonplaceStore(home), recall).ainvoke({"name": "Ann", "answer": ""})
    return str(answer["answer"])


def test_a_graph_that_is_awaited_remembers_in_pages(home: Path) -> None:
    import asyncio

    assert asyncio.run(_ask(home)) == "Ann"


WRITER = """
import sys
from commonplace.adapters.langgraph import CommonplaceStore
home, name, upto = sys.argv[1:]
store = CommonplaceStore(home)
for number in range(int(upto)):
    store.put(("all", name), f"Key {number}", {"number": number})
    store.put(("all",), "both", {"name": name, "number": number})
    print(number, flush=True)
"""


def writer(home: Path, name: str, upto: int) -> Program:
    return Program(WRITER, str(home), name, str(upto))


@pytest.mark.slow
def test_two_processes_lose_nothing(home: Path) -> None:
    writers = [writer(home, name, 15) for name in ("one", "two")]
    assert [process.communicate()[0].count("\n") for process in writers] == [15, 15]
    assert [process.returncode for process in writers] == [0, 0]
    store = CommonplaceStore(home)
    assert len(store.search(("all",), limit=100)) == 31
    assert store.get(("all",), "both").value["number"] == 14  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_process_that_is_killed_keeps_what_was_acknowledged(home: Path) -> None:
    process = writer(home, "one", 100_000)
    lines = [process.stdout.readline() for _ in range(10)]
    process.kill()
    process.communicate()
    assert lines[-1] == "9\n"
    store = CommonplaceStore(home)
    result = {item.key: item.value for item in store.search(("all", "one"), limit=100_000)}
    assert all(result[f"Key {number}"] == {"number": number} for number in range(10))
    store.put(("all", "one"), "Key 0", {"number": "again"})
    assert store.get(("all", "one"), "Key 0").value == {"number": "again"}  # type: ignore[union-attr]


def test_without_langgraph_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['langgraph.store.base'] = None\nimport commonplace.adapters.langgraph"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'commonplace[langgraph]'" in done.stderr


def test_a_text_is_never_taken_for_its_letters(store: CommonplaceStore) -> None:
    for ask in (
        lambda: store.put("users", "k", {"text": "x"}),  # type: ignore[arg-type]
        lambda: store.get("users", "k"),  # type: ignore[arg-type]
        lambda: store.search("users"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=r"a namespace is a tuple of labels, not text: write \('users',\)"):
            ask()
    for index in ("text", True):
        with pytest.raises(ValueError, match="index is a list of paths"):
            store.put(("users",), "k", {"text": "x"}, index=index)  # type: ignore[arg-type]
    assert store.list_namespaces() == []


def test_the_extra_brings_what_the_example_in_the_docs_imports() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extra = project["project"]["optional-dependencies"]["langgraph"]
    assert {re.split("[<>=]", requirement)[0] for requirement in extra} == {"langgraph", "langgraph-checkpoint"}
