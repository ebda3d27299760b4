"""The one write path: secrets are warned of, redacted or refused; every write has an author and is indexed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import HoldsSecret, StaleVersion
from commonplace.home import Home
from commonplace.storage.base import ABSENT
from commonplace.storage.history import Change
from commonplace.testing import FrozenClock
from commonplace.writing import MAX_INDEXED_BYTES, Writer

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"content": f"use {TOKEN} for it"}),
    ("reflect", {"content": f"use {TOKEN} for it"}),
    ("update_world", {"topic": "hosts", "content": f"use {TOKEN} for it"}),
    ("memory_write", {"key": "host", "content": f"use {TOKEN} for it", "tags": ["a"]}),
    ("write_memory", {"key": "host", "content": f"use {TOKEN} for it"}),
    ("write_session_handoff", {"content": f"use {TOKEN} for it"}),
    ("scratch_note", {"mode": "replace", "content": f"use {TOKEN} for it"}),
    ("MemoryTool", {"op": "setGlobal", "key": "host", "value": {"deep": [f"use {TOKEN} for it"]}}),
    ("MemoryTool", {"op": "setChannel", "channelName": "dev", "key": "host", "value": TOKEN}),
    ("MemoryTool", {"op": "createSkill", "name": "host", "description": "d", "instructions": f"use {TOKEN}"}),
]


def open_memory(home: Path, clock: FrozenClock, setting: str) -> Memory:
    home.mkdir()
    (home / "commonplace.yaml").write_text(f"secrets: {setting}\n")
    return Memory(home, clock=clock)


def find_holders(home: Path) -> list[str]:
    return [str(path) for path in home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


@pytest.mark.parametrize(("tool", "arguments"), WRITES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_secret_is_warned_of_by_default_and_written(
    home: Path, clock: FrozenClock, tool: str, arguments: dict[str, Any]
) -> None:
    reply = Memory(home, clock=clock).call(tool, arguments)
    assert "GitHub" in reply["warning"]
    assert TOKEN not in str(reply.get("warning"))
    assert find_holders(home)


@pytest.mark.parametrize(("tool", "arguments"), WRITES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_secret_is_left_out_where_the_settings_say_so(
    home: Path, clock: FrozenClock, tool: str, arguments: dict[str, Any]
) -> None:
    memory = open_memory(home, clock, "redact")
    reply = memory.call(tool, arguments)
    assert "left out" in reply["warning"]
    assert find_holders(home) == []
    assert any("[secret: GitHub" in path.read_text() for path in home.rglob("*") if path.suffix in (".md", ".json"))


@pytest.mark.parametrize(("tool", "arguments"), WRITES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_secret_is_refused_where_the_settings_say_so(
    home: Path, clock: FrozenClock, tool: str, arguments: dict[str, Any]
) -> None:
    memory = open_memory(home, clock, "refuse")
    before = sorted(home.rglob("*.md"))
    outcome = memory.attempt(tool, arguments)
    assert outcome.error
    assert outcome.error.code == "HOLDS_SECRET"
    assert "nothing was written" in str(outcome.reply)
    assert sorted(home.rglob("*.md")) == before


def test_a_password_in_structured_data_is_known_by_its_name(home: Path, clock: FrozenClock) -> None:
    memory = open_memory(home, clock, "redact")
    value = {"user": "ann", "password": "kJ8#mQ2$vR5!xZ9w"}
    assert "left out" in memory.call("MemoryTool", {"op": "setGlobal", "key": "db", "value": value})["warning"]
    remaining = memory.call("MemoryTool", {"op": "getGlobal", "key": "db"})["value"]
    assert remaining["user"] == "ann"
    assert remaining["password"].startswith("[secret: ")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_write", {"key": "db_password", "content": "kJ8#mQ2$vR5!xZ9w"}),
        ("write_memory", {"key": "db_password", "content": "kJ8#mQ2$vR5!xZ9w"}),
        ("MemoryTool", {"op": "setGlobal", "key": "db_password", "value": "kJ8#mQ2$vR5!xZ9w"}),
    ],
)
def test_a_password_is_known_by_the_key_it_is_kept_under(memory: Memory, tool: str, arguments: dict[str, Any]) -> None:
    assert "password" in memory.call(tool, arguments)["warning"]


def test_the_reason_for_a_change_never_holds_a_secret(memory: Memory, home: Path) -> None:
    action = {"tool": "remember", "arguments": {"content": "x"}, "reasoning": f"they said {TOKEN}"}
    memory.run({"actions": [action]})
    assert "[secret: GitHub" in memory.home.storage.history.changes()[-1].why
    assert find_holders(home) == []


def test_looking_for_a_secret_is_no_writing(memory: Memory) -> None:
    assert "warning" not in memory.call("memory_search", {"query": TOKEN})


@pytest.fixture
def watched_home(home: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home whose index updates are listed in `indexed`."""
    memory = Memory(home, agent="ann", clock=clock)
    memory.home.writer.update_index()  # of the default directive
    update = memory.home.index.update
    indexed.clear()

    def record(paths: Iterable[str]) -> None:
        indexed.append([*paths])
        update(paths)

    monkeypatch.setattr(memory.home.index, "update", record)
    yield memory.home
    memory.close()


@pytest.fixture
def writer(watched_home: Home) -> Writer:
    return watched_home.writer


indexed: list[list[str]] = []


def last_change(home: Path, path: str) -> Change:
    return Memory(home).home.storage.history.changes(path)[-1]


def test_a_call_updates_the_index_once_for_all_it_wrote(writer: Writer, home: Path) -> None:
    with writer.call("tidy", session="s1", why="spring"):
        writer.write("memory/a.md", "green tea\n")
        writer.append("memory/a.md", "in the morning\n")
        writer.write("memory/b.md", "coffee\n")
        assert indexed == []
    assert indexed == [["memory/a.md", "memory/b.md"]]
    changes = [last_change(home, f"memory/{name}.md") for name in "ab"]
    assert [(each.tool, each.agent, each.session, each.why) for each in changes] == [
        ("tidy", "ann", "s1", "spring"),
        ("tidy", "ann", "s1", "spring"),
    ]
    assert changes[0].call == changes[1].call


def test_what_a_failed_call_wrote_is_indexed(writer: Writer) -> None:
    def write_twice() -> None:
        with writer.call("tidy"):
            writer.write("memory/a.md", "tea")
            writer.write("memory/a.md", "coffee", if_version=ABSENT)

    with pytest.raises(StaleVersion):
        write_twice()
    assert indexed == [["memory/a.md"]]


def test_a_write_outside_of_a_call_has_an_author_and_is_indexed(writer: Writer, home: Path) -> None:
    writer.write("memory/a.md", "tea")
    assert indexed == [["memory/a.md"]]
    change = last_change(home, "memory/a.md")
    assert (change.tool, change.agent) == ("library", "ann")


def test_records_skills_and_files_outside_of_a_call_have_an_author_and_are_indexed(watched_home: Home) -> None:
    watched_home.globals.put("tea", "green", "general", ())
    watched_home.channels.folder("c").put("cup", "blue")
    watched_home.working.put("task", "boil")
    watched_home.skills.create("brew", "How to brew.", {}, "global", "Boil water.")
    watched_home.writer.move("memory/channels/c/cup.md", "memory/cup.md")
    watched_home.writer.remove_folder("memory/global")
    changes = [change for change in watched_home.storage.history.changes() if change.tool != "init"]
    assert len(changes) == 7
    assert {(change.tool, change.agent) for change in changes} == {("library", "ann")}
    assert {change.path for change in changes} <= {path for paths in indexed for path in paths}


def test_a_deferred_call_leaves_the_index_to_the_next(writer: Writer) -> None:
    with writer.call("import", defer_index=True):
        writer.write("memory/a.md", "tea")
    assert indexed == []
    writer.write("memory/b.md", "coffee")
    assert indexed == [["memory/a.md", "memory/b.md"]]


def test_a_large_page_is_left_to_the_next_search(writer: Writer, home: Path) -> None:
    writer.write("memory/a.md", "tea\n" * MAX_INDEXED_BYTES)
    assert indexed == []
    assert Memory(home, agent="ann").search("tea", mode="keyword")


TRANSCRIPT = "agents/main/sessions/chat.jsonl"


def test_a_transcript_is_written_by_the_same_policy(home: Path, clock: FrozenClock) -> None:
    memory = open_memory(home, clock, "redact")
    writer = memory.home.writer
    with writer.call("add_items") as write:
        writer.append_transcript(TRANSCRIPT, [{"role": "user", "content": [{"text": f"use {TOKEN}"}]}])
    assert "left out" in write.warnings[0]
    assert find_holders(home) == []
    assert writer.pop_transcript(TRANSCRIPT) == {"role": "user", "content": [{"text": "use [secret: GitHub token]"}]}
    assert writer.pop_transcript(TRANSCRIPT) is None


def test_a_transcript_takes_nothing_of_what_the_settings_refuse(home: Path, clock: FrozenClock) -> None:
    memory = open_memory(home, clock, "refuse")
    with pytest.raises(HoldsSecret, match="GitHub token"):
        memory.home.writer.append_transcript(TRANSCRIPT, [{"content": "tea"}, {"content": TOKEN}])
    assert memory.home.storage.open_transcript(TRANSCRIPT).items() == []


def test_a_transcript_is_left_to_the_next_search(home: Path, clock: FrozenClock) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    memory = Memory(home, clock=clock)
    assert memory.search("rooibos") == []
    memory.home.writer.append_transcript(TRANSCRIPT, [{"role": "user", "content": "We drink rooibos."}])
    assert memory.search("rooibos")[0].path == TRANSCRIPT
    memory.home.writer.pop_transcript(TRANSCRIPT)
    assert memory.search("rooibos") == []
