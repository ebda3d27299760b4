"""Homes as people, other programs and accidents leave them: one odd thing never stops the rest."""

from __future__ import annotations

import copy
import json
import os
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from commonplace import InvalidArgument, Memory
from commonplace.errors import SettingsError
from commonplace.maintenance.backup import export_file
from commonplace.storage import file_locks as locks
from commonplace.storage.folder.pages import FolderPages
from commonplace.testing import FrozenClock

from .test_bad_input import READS, fill, is_success
from .waiting import LONG_SECONDS

SESSIONS = "memorySearch:\n  indexSessions: true\n"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
)


def put(home: Path, path: str, text: str | bytes) -> Path:
    page = home / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(text.encode() if isinstance(text, str) else text)
    return page


def op(memory: Memory, **arguments: Any) -> dict[str, Any]:
    return memory.call("MemoryTool", arguments)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("agents/main/sessions/s.jsonl", '{"role": "assistant", "content": "half an emoji \\ud83d"}\n'),
        ("memory/global/general/half.md", '---\ntype: json\n---\n\n"\\ud83d"\n'),
        ("memory/global/general/nan.md", "---\ntype: json\n---\n\n[NaN, 1e999]\n"),
        ("skills/half/SKILL.md", "---\nname: half\ndescription: d\n---\n\ndo\n"),
        ("memory/global/general/bool.md", "---\na: !!bool maybe\n---\n\nv\n"),
        ("memory/global/general/time.md", "---\na: !!timestamp zz\nb: !!int ''\n---\n\nv\n"),
        ("memory/global/general/deep.md", f"---\na: {'[' * 200_000}\n---\n\nv\n"),
        ("memory/global/general/dash.md", f"---\na:\n  {'- ' * 100_000}x\n---\n\nv\n"),
        ("memory/global/general/bomb.md", f"---\n{BOMB}tags: *i\n---\n\nv\n"),
        ("memory/global/general/loop.md", "---\ntags: &x [*x]\n---\n\nv\n"),
        ("memory/world/new\nline/x.md", "v"),
    ],
)
def test_one_odd_page_stops_nothing(home: Path, clock: FrozenClock, path: str, text: str) -> None:
    put(home, "commonplace.yaml", SESSIONS)
    put(home, path, text)
    put(home, "skills/half/data.json", '{"a": "\\ud83d"}')
    memory = Memory(home, clock=clock)
    fill(memory)
    for tool, arguments in READS:
        assert is_success(memory.call(tool, arguments)), (tool, arguments)
    memory.context(query="v", channel="c")
    key = Path(path).stem
    assert isinstance(op(memory, op="setGlobal", key=key, value="new"), dict)
    assert isinstance(op(memory, op="updateSkill", name="half", newData={"b": 1}), dict)


def test_folders_whose_names_are_not_text_are_passed_over_and_named(memory: Memory, home: Path) -> None:
    fill(memory)
    for folder in (
        b"memory/d\xff",
        b"memory/global/\xff",
        b"memory/channels/\xff",
        b"skills/\xff",
        b"agents/\xff/memory",
    ):
        os.makedirs(os.path.join(os.fsencode(home), folder))
        with open(os.path.join(os.fsencode(home), folder, b"x.md"), "wb") as file:
            file.write(b"v")
    for tool, arguments in READS:
        assert is_success(memory.call(tool, arguments)), tool
    assert "not UTF-8" in memory.call("memory_search", {"query": "v"})["warning"]
    assert op(memory, op="listChannels")["channels"] == ["c"]
    str(memory.context()).encode()


def test_links_out_of_the_home_disable_nothing(memory: Memory, home: Path, tmp_path: Path) -> None:
    fill(memory)
    outside = tmp_path / "outside"
    put(outside, "k.md", "classified")
    put(outside, "SKILL.md", "classified")
    for link in ("memory/global/evil", "memory/channels/evil", "skills/evil", "agents/evil", "memory/evil"):
        (home / link).symlink_to(outside)
    for tool, arguments in READS:
        reply = memory.call(tool, arguments)
        assert is_success(reply), tool
        assert "classified" not in str(reply)
    assert "classified" not in str(memory.context(query="classified"))


def test_a_folder_too_deep_to_be_opened_stops_nothing_else(memory: Memory, home: Path, tmp_path: Path) -> None:
    fill(memory)
    (home / "memory/too").mkdir(parents=True)
    folder = os.open(home / "memory/too", os.O_RDONLY)
    for _ in range(40):  # of 120 bytes each, which is more than a path may have
        os.mkdir("deep" * 30, dir_fd=folder)
        inner = os.open("deep" * 30, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    for tool, arguments in READS:
        assert is_success(memory.call(tool, arguments)), tool
    assert "## Directives" in memory.context().text
    assert "too long a path" in str(export_file(memory.home, str(tmp_path / "all.tar.gz")).warnings)


def test_a_link_inside_the_home_shows_nothing_that_search_would_not(
    memory: Memory, home: Path, clock: FrozenClock
) -> None:
    put(home, "secret.env", "TOKEN=papaya")
    Memory(home, agent="other", clock=clock).call("remember", {"content": "papaya of the other"})
    put(home, "memory/a.md", "mine")
    (home / "memory/env.md").symlink_to("../secret.env")
    (home / "memory/other.md").symlink_to("../agents/other/memory/daily/2026-03-14.md")
    assert memory.call("memory_search", {"query": "papaya"})["results"] == []
    for path in ("memory/env.md", "memory/other.md"):
        assert memory.call("memory_get", {"path": path})["text"] == ""


def test_nothing_is_written_or_deleted_through_a_link(memory: Memory, home: Path) -> None:
    put(home, "memory/world/x.md", "kept")
    put(home, "shared.md", "kept")
    (home / "memory/global/general").mkdir(parents=True)
    (home / "memory/global/general/a.md").symlink_to("../../world/x.md")
    (home / "agents/main/memory").mkdir(parents=True)
    (home / "agents/main/memory/MEMORY.md").symlink_to("../../../shared.md")
    assert "link" in op(memory, op="deleteGlobal", key="a")["error"]
    assert "link" in op(memory, op="setGlobal", key="a", value="x")["error"]
    assert "link" in memory.call("memory_write", {"key": "k", "content": "v", "target": "summary"})["error"]["message"]
    assert ((home / "memory/world/x.md").read_text(), (home / "shared.md").read_text()) == ("kept", "kept")


def test_lock_files_and_index_that_are_links_are_not_written_through(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    victim = put(tmp_path, "victim", "precious")
    for number in range(256):
        target = home / f".locks/page-{number:02x}"
        target.unlink(missing_ok=True)
        target.symlink_to(victim)
    assert memory.call("remember", {"content": "x"})["success"] is False
    assert victim.read_text() == "precious"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = tmp_path / "second"
    other.mkdir()
    (other / ".index").symlink_to(elsewhere)
    second = Memory(other, clock=memory.home.clock)
    second.call("remember", {"content": "tea"})
    assert len(second.call("memory_search", {"query": "tea"})["results"]) == 1
    assert list(elsewhere.iterdir()) == []


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_again(tmp_path: Path) -> None:
    folder = tmp_path / "locks"
    name = f"page-{locks.slot_of('a')}"
    handle = locks._acquire(str(folder / name), "a", 1)  # as another process has it
    os.unlink(folder / name)
    with locks.lock(str(folder), "page", "a", timeout=0.05):
        assert os.path.exists(folder / name)
    os.close(handle)
    os.rmdir(folder) if not os.listdir(folder) else None
    with locks.lock(str(folder), "page", "a", timeout=0.05):
        pass


def test_a_leftover_temporary_file_is_no_memory_and_in_nobodys_way(memory: Memory, home: Path) -> None:
    put(home, "memory/.a.md.0123456789ab.tmp", "half written papaya")
    put(home, "memory/a.md", "x")
    assert memory.call("memory_search", {"query": "papaya"})["results"] == []
    assert memory.call("remember", {"content": "fine"})["success"]


DAMAGED_RECORDS = 20


@pytest.mark.parametrize("damage", ["page", "rows", "table", "frequencies"])
def test_an_index_damaged_anywhere_is_replaced_when_it_shows(home: Path, clock: FrozenClock, damage: str) -> None:
    with Memory(home, clock=clock) as memory:
        for number in range(DAMAGED_RECORDS):
            op(memory, op="setGlobal", key=f"k{number}", value=f"papaya number {number} " + "and more words " * 20)
        assert memory.call("memory_search", {"query": "papaya"})["results"]
    path = index_of(home)
    if damage == "page":
        whole = bytearray(path.read_bytes())
        for start in range(4096, len(whole), 4096):
            damaged = whole.copy()
            damaged[start : start + 4096] = b"\xa5" * 4096
            path.write_bytes(damaged)
            with Memory(home, clock=clock) as memory:
                check_all(memory, DAMAGED_RECORDS)
            path.write_bytes(whole)
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(
            {"rows": "DELETE FROM words_data", "table": "DROP TABLE words", "frequencies": "DROP TABLE frequencies"}[
                damage
            ]
        )
    with Memory(home, clock=clock) as memory:
        check_all(memory, DAMAGED_RECORDS)


def index_of(home: Path) -> Path:
    (path,) = (home / ".index").glob("words-*.sqlite")
    return path


def check_all(memory: Memory, count: int) -> None:
    assert len(memory.call("memory_search", {"query": "papaya", "maxResults": 100})["results"]) == count
    assert len(op(memory, op="listGlobal")["results"]) == count
    assert memory.status()["pages"] == count


def test_folders_a_person_named_are_the_ones_that_are_used(home: Path, clock: FrozenClock) -> None:
    put(home, "agents/MyBot/memory/MEMORY.md", "I am MyBot")
    put(home, "agents/MyBot/agent.yaml", "spec:\n  memory: {}\n")
    put(home, "memory/channels/General/x.md", "hello")
    put(home, "skills/My_Skill/SKILL.md", "---\ndescription: d\n---\n\ndo it\n")
    put(home, "memory/global/Work/x.md", "---\nmine: 1 # keep\n---\n\nold\n")
    memory = Memory(home, agent="MyBot", clock=clock)
    assert "I am MyBot" in memory.call("recall")["content"]
    memory.call("remember", {"content": "more"})
    assert [path.name for path in (home / "agents").iterdir()] == ["MyBot"]
    assert memory.call("memory_search", {"query": "MyBot"})["results"]
    assert op(memory, op="getChannel", channelName="General", key="x")["value"] == "hello"
    op(memory, op="setChannel", channelName="General", key="y", value=1)
    assert op(memory, op="listChannels")["channels"] == ["General"]
    assert op(memory, op="listChannelKeys", channelName="General")["keys"] == ["x", "y"]
    op(memory, op="updateSkill", name="My_Skill", newData={"a": 1})
    assert op(memory, op="getSkill", name="My_Skill")["skill_data"] == {"a": 1}
    op(memory, op="setGlobal", key="x", value="new", category="Work")
    assert "mine: 1 # keep" in (home / "memory/global/Work/x.md").read_text()
    op(memory, op="setGlobal", key="x", value="new", category="preferences")
    assert "mine: 1 # keep" in (home / "memory/global/preferences/x.md").read_text()
    assert op(memory, op="deleteSkill", name="My_Skill")["success"]
    assert not (home / "skills/My_Skill").exists()


def test_a_page_that_is_renamed_is_a_record_renamed(memory: Memory, home: Path) -> None:
    op(memory, op="setGlobal", key="My Fact", value="v")
    (page,) = (home / "memory/global/general").iterdir()
    page.rename(page.parent / "renamed.md")
    assert op(memory, op="getGlobal", key="renamed")["value"] == "v"
    assert op(memory, op="getGlobal", key="My Fact")["error"] == "Not found"
    assert [row["key"] for row in op(memory, op="listGlobal")["results"]] == ["renamed"]
    put(home, "memory/global/general/note.md", "---\nkey: Foo\n---\n\nfoo\n")
    op(memory, op="setGlobal", key="Foo", value="other")
    assert op(memory, op="getGlobal", key="note")["value"] == "foo"


def test_windows_pages_and_byte_order_marks_read_as_meant(memory: Memory, home: Path) -> None:
    put(home, "memory/global/general/a.md", "hello\r\n")
    put(home, "memory/global/general/b.md", "---\r\ntags: [x]\r\n---\r\n\r\nhello\r\n")
    put(home, "memory/global/general/c.md", "\ufeffhello\n")
    put(home, "agents/main/memory/daily/2026-03-01.md", "\ufeff### first\n\nblock\n")
    for key in "abc":
        assert op(memory, op="getGlobal", key=key)["value"] == "hello"
    assert memory.call("memory_read", {"key": "first"})["data"]["content"] == "block"
    op(memory, op="setGlobal", key="b", value="one", tags=["y", "z"])
    assert b"\n" not in (home / "memory/global/general/b.md").read_bytes().replace(b"\r\n", b"")


def test_a_handoff_is_written_whatever_is_there(memory: Memory, home: Path) -> None:
    for text in ("---\njust a rule above\n---\nand below\n", "---\na: [\n---\nbroken\n"):
        put(home, "agents/main/memory/working/HANDOFF.md", text)
        assert memory.call("write_session_handoff", {"content": "go on"})["status"] == "ok"
        assert "go on" in str(memory.context())
    put(home, "agents/main/memory/working/HANDOFF.md", "---\nby hand\n---\nand below\n")
    assert "by hand\n---\nand below" in str(memory.context())


def test_pages_that_cannot_be_read_are_warnings_in_the_context(memory: Memory, home: Path) -> None:
    for name in ("HANDOFF", "SCRATCHPAD"):
        put(home, f"agents/main/memory/working/{name}.md", b"caf\xe9")
    warnings = memory.context().receipt["warnings"]
    assert ["HANDOFF" in warnings[0], "SCRATCHPAD" in warnings[1]] == [True, True]


def test_a_skill_that_fails_half_way_is_as_before(memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home, "skills/s/data.json", '{"left": "over"}')
    op(memory, op="createSkill", name="s", description="d")
    assert op(memory, op="getSkill", name="s")["skill_data"] == {}
    op(memory, op="updateSkill", name="s", newData={"a": 1})
    real = FolderPages.edit

    def fail(self: FolderPages, path: str, change: Any) -> str:
        if path.endswith("SKILL.md"):
            real(self, path + "/in/the/way.md", lambda _: "x")
        return real(self, path, change)

    monkeypatch.setattr(FolderPages, "edit", fail)
    assert op(memory, op="updateSkill", name="s", newData={"a": 2})["success"] is False
    monkeypatch.undo()
    assert op(memory, op="getSkill", name="s")["skill_data"] == {"a": 1}


def test_front_matter_errors_name_the_page(memory: Memory, home: Path) -> None:
    put(home, "memory/global/general/k.md", "---\na: [\n---\nv\n")
    assert "memory/global/general/k.md" in op(memory, op="setGlobal", key="k", value=1)["error"]


@pytest.mark.parametrize("arguments", [("remember", "[" * 200_000), (["x"], {}), ("recall", {5: 1}), (None, None), ("recall", {}, 5)])  # fmt: skip
def test_no_call_raises_for_what_it_is_given(memory: Memory, arguments: tuple[Any, ...]) -> None:
    assert "error" in memory.call(*arguments)


@pytest.mark.parametrize("request_", [{"channel": 5}, {"query": 5}, {"user": ["x"]}, {"channel": "\ud800"}])
def test_a_context_for_nobody_is_refused(memory: Memory, request_: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        memory.context(**request_)


@pytest.mark.parametrize("arguments", [("h", "\udcff"), ("h", "a\0b"), ("h\0", "main")])
def test_names_no_file_system_holds_are_refused(arguments: tuple[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        Memory(*arguments)


def test_skill_data_is_found_by_search_and_literally_by_the_registry(memory: Memory) -> None:
    op(memory, op="createSkill", name="s", description="d", instructions="i", initialStructure={"animal": "zebra"})
    assert memory.call("memory_search", {"query": "zebra"})["results"][0]["path"] == "skills/s/SKILL.md"
    op(memory, op="setGlobal", key="k", value={"path": 'C:\\temp "x"'})
    assert op(memory, op="searchGlobal", query="C:\\temp")["results"]
    assert op(memory, op="searchGlobal", query='"x"')["results"]


def test_topics_read_as_they_were_named(memory: Memory) -> None:
    for topic in ("Straße", "λόγος", "CON"):
        memory.call("update_world", {"topic": topic, "content": "x"})
    content = memory.call("recall")["content"]
    assert [f"## {name}\n" in content for name in ("straße", "λόγος", "con")] == [True] * 3


def test_a_value_larger_than_what_is_searched_is_listed_whole(memory: Memory) -> None:
    value = "word " * 1_000_000
    op(memory, op="setChannel", channelName="c", key="k", value=value, category="big")
    assert op(memory, op="getChannelByCategory", channelName="c", category="big")["results"][0]["value"] == value


def test_overlapping_extra_paths_and_plain_ones_are_searched(home: Path, clock: FrozenClock) -> None:
    put(home, "docs/a.md", "quince")
    put(home, "one.md", "quince")
    put(home, "wiki/deep/b.md", "quince")
    put(
        home,
        "commonplace.yaml",
        "memorySearch:\n  extraPaths: ['docs/*.md', one.md, wiki]\nagents:\n  bob:\n    memorySearch:\n      extraPaths: ['docs/**/*.md']\n",
    )
    put(home, "docs/deep/c.md", "quince")

    def find_paths(agent: str) -> list[str]:
        return sorted(hit.path for hit in Memory(home, agent=agent, clock=clock).search("quince"))

    assert find_paths("main") == ["docs/a.md", "one.md", "wiki/deep/b.md"]
    assert find_paths("bob") == ["docs/a.md", "docs/deep/c.md", "one.md", "wiki/deep/b.md"]


def test_a_world_in_a_folder_with_a_dot_is_searched(home: Path, clock: FrozenClock) -> None:
    put(home, "commonplace.yaml", "world_memory:\n  path: .shared/world\n")
    memory = Memory(home, clock=clock)
    memory.call("update_world", {"topic": "sea", "content": "quince"})
    assert [hit.path for hit in memory.search("quince")] == [".shared/world/sea.md"]


def test_a_question_as_long_as_a_book_is_answered(memory: Memory) -> None:
    memory.call("remember", {"content": "zebra " + " ".join(f"word{n}" for n in range(2000))})
    assert memory.search("zebra " + " ".join(f"word{n}" for n in range(40_000)))


def test_a_context_of_many_records_within_a_budget_is_made(memory: Memory, home: Path) -> None:
    for number in range(1500):
        put(home, f"memory/global/preferences/p{number:04}.md", f"value {number}")
    context = memory.context(budget=2000)
    assert context.receipt["tokens"] <= 2000
    assert "p0000: value 0" in context.text


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE pages SET path = CAST(x'ff41' AS TEXT) WHERE path = (SELECT min(path) FROM pages)",
        "UPDATE passages SET tags = 'x'",
        "UPDATE records SET value = '{'",
        "UPDATE passages SET text = x'ff'",
    ],
)
def test_an_index_that_says_nonsense_is_replaced(home: Path, clock: FrozenClock, damage: str) -> None:
    with Memory(home, clock=clock) as memory:
        for number in range(60):
            op(memory, op="setGlobal", key=f"k{number}", value=f"papaya {number}")
        memory.search("papaya")
    with closing(sqlite3.connect(index_of(home), isolation_level=None)) as db:
        db.execute(damage)
    with Memory(home, clock=clock) as memory:
        check_all(memory, 60)
        memory.context(query="papaya")


def test_an_index_that_was_locked_for_a_while_is_used_again(home: Path, clock: FrozenClock) -> None:
    memory = Memory(home, clock=clock)
    memory.call("remember", {"content": "papaya"})
    memory.close()
    with closing(sqlite3.connect(index_of(home), isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        reply = memory.call("memory_search", {"query": "papaya"})
        assert reply["results"]
        assert "warning" in reply
        db.execute("ROLLBACK")
    memory.home.index._retry_at = 0  # as if the pause were over
    reply = memory.call("memory_search", {"query": "papaya"})
    assert reply["results"]
    assert "warning" not in reply


def test_a_folder_that_cannot_be_entered_is_named_and_its_neighbours_found(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory)
    for folder in ("memory/aaa", "memory/mmm/locked", "memory/zzz", "agents/main/memory/locked"):
        put(home, f"{folder}/x.md", "papaya")
    real = os.open

    def close_file(path: Any, *rest: Any, **more: Any) -> int:
        if "locked" in str(path):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", close_file)
    reply = memory.call("memory_search", {"query": "papaya"})
    assert {hit["path"] for hit in reply["results"]} == {"memory/aaa/x.md", "memory/zzz/x.md"}
    assert "memory/mmm/locked" in reply["warning"]
    assert "locked" in memory.call("memory_read", {"key": "k"})["warning"]
    for tool, arguments in READS:
        assert is_success(memory.call(tool, arguments)), tool


def test_a_persons_page_beside_ours_never_brings_back_what_was_deleted(memory: Memory, home: Path) -> None:
    op(memory, op="setChannel", channelName="c", key="My Key", value="one")
    put(home, "memory/channels/c/My Key.md", "two")
    assert op(memory, op="listChannelKeys", channelName="c")["keys"] == ["My Key"]
    assert op(memory, op="getChannel", channelName="c", key="My Key")["value"] == "one"
    assert op(memory, op="deleteChannel", channelName="c", key="My Key")["success"]
    assert op(memory, op="getChannel", channelName="c", key="My Key")["error"] == "Not found"
    op(memory, op="setChannel", channelName="My Chan", key="k", value="old")
    put(home, "memory/channels/My Chan/x.md", "new")
    put(home, f"{memory.home.layout.channel_folder('My Chan')}/a.md", "by hand")
    assert op(memory, op="listChannels")["channels"] == ["My Chan"]
    assert op(memory, op="getChannel", channelName="My Chan", key="k")["value"] == "old"


def test_windows_skills_keep_their_instructions(memory: Memory, home: Path) -> None:
    put(home, "skills/s/SKILL.md", "---\r\nname: s\r\ndescription: d\r\n---\r\n\r\ndo that\r\n")
    assert op(memory, op="getSkill", name="s")["instructions"] == "do that"
    op(memory, op="updateSkill", name="s", newData={"instructions": "do it"})
    assert op(memory, op="getSkill", name="s")["instructions"] == "do it"


def test_front_matter_without_a_last_newline_loses_nothing(memory: Memory, home: Path) -> None:
    put(home, "memory/channels/c/k.md", "---\nx: y\n---")
    op(memory, op="setChannel", channelName="c", key="k", value="\nfoo")
    assert op(memory, op="getChannel", channelName="c", key="k")["value"] == "\nfoo"
    put(home, "memory/channels/c/n.md", "---\ntags: ~\ncreated_at: null\n---\n\nv\n")
    read = op(memory, op="getChannel", channelName="c", key="n")
    assert read["tags"] == []
    assert read["created_at"].startswith("20")


def test_a_value_nested_beyond_reason_is_refused_and_stops_nothing(memory: Memory, home: Path) -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    assert "nested" in op(memory, op="setGlobal", key="k", value=deep)["error"]
    put(home, "memory/global/general/deep.md", f"---\ntype: json\n---\n\n{'[' * 900}{']' * 900}\n")
    assert op(memory, op="search", query="x")["success"]


@pytest.mark.parametrize("path", ["agents", "agents/bob", "agents/bob/memory"])
def test_the_world_cannot_be_put_over_another_agents_pages(home: Path, clock: FrozenClock, path: str) -> None:
    Memory(home, agent="bob", clock=clock).call("reflect", {"content": "papaya"})
    put(home, "commonplace.yaml", f"world_memory:\n  path: {path}\n")
    if path != "agents":
        with pytest.raises(SettingsError, match="belongs to an agent"):
            Memory(home, clock=clock)
        return
    memory = Memory(home, clock=clock)
    assert memory.search("papaya") == []
    assert "papaya" not in memory.call("recall")["content"]
    assert "error" in memory.call("memory_get", {"path": "agents/bob/memory/MEMORY.md"})


@pytest.mark.parametrize("arguments", [("\ud800", {}), ("MemoryTool", {"op": "\ud800"}), ("memory_get", {"path": "\ud800"}), ("recall", {"\ud800": 1}), ("scratch_note", {"mode": "\ud800"})])  # fmt: skip
def test_every_reply_can_be_written_as_text(memory: Memory, arguments: tuple[str, Any]) -> None:
    json.dumps(memory.call(*arguments), ensure_ascii=False).encode()


def test_a_log_that_cannot_be_read_stops_no_search(memory: Memory, home: Path) -> None:
    memory.call("write_memory", {"key": "k", "content": "activity"})
    put(home, "agents/main/memory/activity/2026-01-01.md", b"\xff")
    assert "k" in [match["key"] for match in memory.call("search_memory", {"query": "activity"})["matches"]]


def test_not_a_number_is_no_score(memory: Memory) -> None:
    assert "minScore" in memory.call("memory_search", {"query": "x", "minScore": float("nan")})["error"]


def test_settings_that_differ_keep_an_index_each(home: Path, clock: FrozenClock) -> None:
    put(home, "memory/a.md", "quince")
    put(home, "docs/b.md", "quince")
    before = Memory(home, clock=clock)
    assert len(before.search("quince")) == 1
    put(home, "commonplace.yaml", "memorySearch:\n  extraPaths: [docs]\n")
    after = Memory(home, clock=clock)
    for _ in range(2):
        assert len(after.search("quince")) == 2
        assert len(before.search("quince")) == 1
    assert len(list((home / ".index").glob("words-*.sqlite"))) == 2


def test_an_index_nobody_uses_any_more_is_removed(home: Path, clock: FrozenClock) -> None:
    old = put(home, ".index/words-0-feedbeef.sqlite", "from long ago")
    os.utime(old, (0, 0))
    path = put(home, ".index/words-9-feedbeef.sqlite", "from a newer version")
    Memory(home, clock=clock).search("x")
    assert (old.exists(), path.exists()) == (False, True)


def test_what_is_wrong_with_an_agents_files_is_shown_to_nobody_else(home: Path, clock: FrozenClock) -> None:
    put(home, "agents/ann/memory/a.md", "quince")
    os.symlink("/etc", home / "agents/ann/memory/out")
    (home / os.fsdecode(b"agents/ann/memory/caf\xe9.md")).write_text("quince")
    warning = Memory(home, "ann", clock=clock).call("memory_search", {"query": "quince"})["warning"]
    assert "caf" in warning
    assert "out" in warning
    assert "warning" not in Memory(home, "bob", clock=clock).call("memory_search", {"query": "quince"})
    assert Memory(home, "bob", clock=clock).status()["warnings"] == []


def test_a_page_of_a_time_no_calendar_knows_is_listed_all_the_same(home: Path, clock: FrozenClock) -> None:
    os.utime(put(home, "memory/a.md", "quince"), (2**40, 2**40))
    assert [path for path, _ in Memory(home, clock=clock).home.visibility.list_pages()] == ["memory/a.md"]


def test_a_memory_that_is_copied_or_sent_elsewhere_is_opened_again(home: Path, clock: FrozenClock) -> None:
    memory = Memory(home, "ann", clock=clock, session="s-1")
    memory.call("remember", {"content": "quince"})
    for other in (copy.deepcopy(memory), pickle.loads(pickle.dumps(memory))):
        assert other.search("quince")
        assert (other.home.agent, other.home.session) == ("ann", "s-1")


def test_memories_of_one_process_share_the_model(home: Path, clock: FrozenClock) -> None:
    one, other = Memory(home, clock=clock), Memory(home, "ann", clock=clock)
    models = [memory.home.embedding.embedders()[0]._model for memory in (one, other)]  # type: ignore[attr-defined]
    assert models[0] is models[1]


def test_half_a_character_is_no_session(home: Path) -> None:
    with pytest.raises(InvalidArgument, match="the session"):
        Memory(home, session="\ud800")


@pytest.mark.parametrize("kind", ["pipe", "nested"])
def test_logs_that_are_pipes_or_nested_beyond_reason_hold_up_no_command(tmp_path: Path, kind: str) -> None:
    """A folder that came from somebody else may have anything in the place of what is kept beside the index."""
    home = tmp_path / "home"
    with Memory(home) as memory:
        memory.call("remember", {"content": "The port of the API is 8080."})
    commands = (["recall"], ["context"], ["search", "port of the API"], ["review"])
    for command in commands:
        run_program(home, *command)
    logs = [*home.glob(".index/*.jsonl"), home / ".index/review-main.json"]
    assert len(logs) > 2
    for log in logs:
        log.unlink(missing_ok=True)
        os.mkfifo(log) if kind == "pipe" else log.write_text("[" * 100_000 + "\n")
    assert [run_program(home, *command).returncode for command in commands] == [0] * 4


def run_program(home: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "commonplace", "--home", str(home), *arguments]
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONG_SECONDS)
