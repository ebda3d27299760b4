"""Whatever stands in the way, an answer comes, it names the trouble, and the rest goes on working."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import InvalidArgument, WrongType
from commonplace.testing import FrozenClock

WRITES: list[tuple[str, dict[str, Any]]] = [
    ("memory_write", {"key": "k", "content": "v"}),
    ("write_memory", {"key": "k", "content": "v"}),
    ("write_session_handoff", {"content": "v"}),
    ("scratch_note", {"mode": "replace", "content": "v"}),
    ("remember", {"content": "v"}),
    ("reflect", {"content": "v"}),
    ("update_world", {"topic": "t", "content": "v"}),
    ("MemoryTool", {"op": "setGlobal", "key": "k", "value": "v"}),
    ("MemoryTool", {"op": "setChannel", "channelName": "c", "key": "k", "value": "v"}),
    ("MemoryTool", {"op": "createSkill", "name": "s", "description": "d", "initialStructure": {"a": 1}}),
]
READS: list[tuple[str, dict[str, Any]]] = [
    ("memory_read", {"key": "k"}),
    ("notes_memory_search", {"query": ""}),
    ("search_memory", {"query": "v"}),
    ("scratch_note", {}),
    ("recall", {}),
    ("memory_search", {"query": "v"}),
    ("MemoryTool", {"op": "getGlobal", "key": "k"}),
    ("MemoryTool", {"op": "listGlobal"}),
    ("MemoryTool", {"op": "search", "query": "v"}),
]

ODD = "a\0b"
NAMED: list[tuple[str, dict[str, Any]]] = [
    ("memory_write", {"key": ODD, "content": "v"}),
    ("memory_write", {"key": "k", "content": "v", "tags": [ODD]}),
    ("memory_read", {"key": ODD}),
    ("write_memory", {"key": ODD, "content": "v"}),
    ("MemoryTool", {"op": "setGlobal", "key": ODD, "value": "v"}),
    ("MemoryTool", {"op": "setGlobal", "key": "k", "value": "v", "category": ODD}),
    ("MemoryTool", {"op": "setGlobal", "key": "k", "value": "v", "tags": [ODD]}),
    ("MemoryTool", {"op": "setChannel", "channelName": ODD, "key": "k", "value": "v"}),
    ("MemoryTool", {"op": "setChannel", "channelName": "c", "key": ODD, "value": "v"}),
    ("MemoryTool", {"op": "createSkill", "name": ODD, "description": "d"}),
    ("MemoryTool", {"op": "createSkill", "name": "s", "description": "d", "owner": ODD}),
    ("remember", {"content": ODD}),
    ("reflect", {"content": ODD}),
    ("update_world", {"topic": "t", "content": ODD}),
    ("memory_write", {"key": "k", "content": ODD}),
    ("write_memory", {"key": "k", "content": ODD}),
    ("scratch_note", {"content": ODD}),
    ("MemoryTool", {"op": "setGlobal", "key": "k", "value": ODD}),
    ("search_memory", {"query": ODD}),
    ("memory_search", {"query": ODD}),
]


def read_error(reply: dict[str, Any]) -> str:
    assert reply.get("success") is False or reply.get("status") == "error" or "error" in reply, reply
    error = reply["error"]
    return str(error["message"] if isinstance(error, dict) else error)


def is_success(reply: dict[str, Any]) -> bool:
    return reply.get("success") is True or reply.get("status") == "ok" or ("results" in reply and "error" not in reply)


def fill(memory: Memory) -> None:
    for tool, arguments in WRITES:
        assert is_success(memory.call(tool, arguments))


def snapshot(home: Path) -> dict[str, bytes]:
    pages = (path for path in home.rglob("*") if path.is_file() and not {".index", ".locks"} & set(path.parts))
    return {str(path): path.read_bytes() for path in pages}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_disk_that_refuses_writes_gives_errors_and_loses_nothing(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fill(memory)
    before = snapshot(home)
    real = os.open

    def refuse(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT and str(path).endswith(".tmp"):
            raise OSError(number, os.strerror(number))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    for tool, arguments in WRITES:
        changed = {
            name: f"{value}2" if name in ("content", "value", "description") else value
            for name, value in arguments.items()
        }
        if tool == "memory_write":
            changed["key"] = "another"
        reply = memory.call(tool, changed)
        assert read_error(reply)
        if tool == "memory_write":
            assert reply["error"]["code"] == "MEMORY_STORAGE_ERROR"
    for tool, arguments in READS:
        assert is_success(memory.call(tool, arguments))
    monkeypatch.undo()
    assert snapshot(home) == before


def test_a_home_that_is_a_file_gives_the_toolsets_own_error(tmp_path: Path, clock: FrozenClock) -> None:
    (tmp_path / "home").write_text("I am a file")
    memory = Memory(tmp_path / "home", clock=clock)
    for tool, arguments in WRITES:
        assert "home" in read_error(memory.call(tool, arguments)) or "file stands" in read_error(
            memory.call(tool, arguments)
        )
    assert memory.call("memory_write", {"key": "k", "content": "v"})["error"]["code"] == "MEMORY_STORAGE_ERROR"
    assert (tmp_path / "home").read_text() == "I am a file"


def test_pages_that_are_not_utf8_are_named_and_the_others_found(memory: Memory, home: Path) -> None:
    fill(memory)
    for path in (
        "memory/bad1.md",
        "memory/world/bad2.md",
        "memory/global/general/bad3.md",
        "memory/channels/c/bad4.md",
        "agents/main/memory/working/bad5.md",
        "agents/main/memory/daily/2026-03-01.md",
        "skills/bad6/SKILL.md",
        "directives/bad7.md",
    ):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(b"v \xff\xfe")
    for tool, arguments in READS:
        assert is_success(memory.call(tool, arguments)), tool
    warning = memory.call("memory_search", {"query": "v"})["warning"]
    assert all(f"bad{n}" in warning for n in range(1, 7))
    assert "bad7" in memory.context().receipt["warnings"][0]
    assert "bad3" in memory.call("MemoryTool", {"op": "listGlobal"})["warning"]
    assert "bad6" in memory.call("MemoryTool", {"op": "listSkills"})["warning"]
    assert "bad3" in read_error(memory.call("MemoryTool", {"op": "getGlobal", "key": "bad3"}))


@pytest.mark.parametrize("paragraphs", [9_000, pytest.param(46_000, marks=pytest.mark.thorough)])
def test_a_page_of_many_megabytes_is_searched_in_part_with_a_warning(
    memory: Memory, home: Path, paragraphs: int
) -> None:
    """Of 10 here, which is more than twice what is searched; of 50 in `./dev thorough`."""
    fill(memory)
    (home / "memory/huge.md").write_text(
        "first needle\n" + (f"{'filler words on a line of their own ' * 6}\n" * 5 + "\n") * paragraphs
    )
    reply = memory.call("memory_search", {"query": "needle"})
    assert reply["results"][0]["path"] == "memory/huge.md"
    assert "huge.md is too large" in reply["warning"]
    assert memory.call("memory_get", {"path": "memory/huge.md", "from": 50_000, "lines": 1})["text"]
    assert memory.call("memory_search", {"query": "v"})["results"]


def test_broken_front_matter_is_named_and_the_value_still_found(memory: Memory, home: Path) -> None:
    page = home / "memory/global/general/odd.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\nkey: [unclosed\n---\n\npapaya\n")
    reply = memory.call("memory_search", {"query": "papaya"})
    assert reply["results"][0]["path"] == "memory/global/general/odd.md"
    assert "odd.md" in reply["warning"]


@pytest.mark.parametrize("text", ["---\n- a list\n---\nmango\n", "---\nx\n---\nmango\n", "---\nmango\n", "\ufeff---\na: b\n---\nmango\n", "mango", "\n\n\nmango\r\n"])  # fmt: skip
def test_hand_written_pages_of_any_form_are_found_and_not_rewritten(memory: Memory, home: Path, text: str) -> None:
    (home / "memory").mkdir()
    page = home / "memory/by-hand.md"
    page.write_bytes(text.encode())
    assert memory.call("memory_search", {"query": "mango"})["results"][0]["path"] == "memory/by-hand.md"
    memory.context(query="mango")
    assert page.read_bytes() == text.encode()


def test_a_megabyte_of_text_comes_back(memory: Memory) -> None:
    text = "### heading\nline of text\n```\n" * 35_000
    memory.call("memory_write", {"key": "big", "content": text})
    assert memory.call("memory_read", {"key": "big"})["data"]["content"] == text.rstrip()
    memory.call("MemoryTool", {"op": "setGlobal", "key": "big", "value": text})
    assert memory.call("MemoryTool", {"op": "getGlobal", "key": "big"})["value"] == text
    memory.call("write_memory", {"key": "big", "content": text})
    assert memory.call("search_memory", {"query": "big"})["matches"][0]["content"] == text.strip()


def test_json_too_deep_to_hold_is_refused(memory: Memory) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "Invalid parameter" in read_error(memory.call("MemoryTool", {"op": "setGlobal", "key": "k", "value": deep}))


def test_opening_and_reading_a_home_writes_nothing_but_the_directive(home: Path, clock: FrozenClock) -> None:
    memory = Memory(home, clock=clock)
    for tool, arguments in READS:
        memory.call(tool, arguments)
    assert [
        str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and not path.parts[-2].startswith(".")
    ] == ["directives/memory.md"]


def test_strange_files_in_the_memory_are_passed_over(memory: Memory, home: Path) -> None:
    fill(memory)
    odd = os.fsencode(home / "memory") + b"/caf\xe9.md"
    with open(odd, "wb") as file:
        file.write(b"v")
    (home / "memory/new\nline.md").write_text("v")
    (home / "memory/folder.md").mkdir()
    (home / "memory/.draft.md.tmp").write_text("v")
    os.mkfifo(home / "memory/pipe.md")
    (home / "memory/dangling.md").symlink_to("nowhere.md")
    for tool, arguments in READS:
        assert is_success(memory.call(tool, arguments)), tool
    assert "tmp" not in str(memory.call("memory_search", {"query": "v"})["results"])


@pytest.mark.parametrize(("tool", "arguments"), NAMED)
def test_a_text_with_a_null_character_in_it_is_refused_and_nothing_is_written(
    memory: Memory, home: Path, tool: str, arguments: dict[str, Any]
) -> None:
    before = snapshot(home)
    assert "'a\\x00b' has a null character in it: take it out" in read_error(memory.call(tool, arguments))
    assert snapshot(home) == before


@pytest.mark.parametrize("query", [5, None, ["tea"]])
def test_a_query_that_is_no_text_is_refused_as_such(memory: Memory, query: Any) -> None:
    with pytest.raises(WrongType, match="query must be a string, not"):
        memory.search(query)


@pytest.mark.parametrize(("limit", "problem"), [(0, "1 or more, not 0"), (-3, "1 or more"), (2.5, "a whole number")])
def test_a_search_for_less_than_one_hit_is_refused(memory: Memory, limit: Any, problem: str) -> None:
    with pytest.raises(InvalidArgument, match=f"limit must be {problem}"):
        memory.search("tea", limit=limit)


def test_arguments_that_are_not_json_are_refused_with_an_example(memory: Memory) -> None:
    error = read_error(memory.call("remember", "tea"))
    assert error.startswith("the arguments are not valid JSON (")
    assert error.endswith('): give an object such as {"content": "…"}')


@pytest.mark.parametrize("arguments", [["tea"], 5, '"tea"'])
def test_arguments_that_are_no_object_are_refused_with_an_example(memory: Memory, arguments: Any) -> None:
    assert 'must be an object, such as {"content": "…"}' in read_error(memory.call("remember", arguments))


@pytest.mark.parametrize(
    ("tool", "arguments", "meant"),
    [
        ("remember", {"contnt": "v"}, "content"),
        ("remember", {"content": "v", "Content ": "w"}, "content"),
        ("write_memory", {"key": "k", "contents": "v"}, "content"),
        ("memory_search", {"query": "v", "max_results": 3}, "maxResults"),
        ("MemoryTool", {"op": "getGlobal", "kye": "k"}, "key"),
    ],
)
def test_an_unknown_parameter_is_named_with_the_one_that_was_probably_meant(
    memory: Memory, tool: str, arguments: dict[str, Any], meant: str
) -> None:
    assert f"did you mean {meant}? it takes" in memory.call(tool, arguments)["warning"]


def test_an_unknown_filter_or_tool_is_named_with_the_one_that_was_probably_meant(memory: Memory) -> None:
    with pytest.raises(InvalidArgument, match=r"unknown filter: limt: did you mean limit\? use"):
        memory.search("tea", limt=3)
    assert "Did you mean remember? There are" in read_error(memory.call("rember", {"content": "v"}))
    assert "did you mean" not in read_error(memory.call("zzz")).lower()


def test_a_byte_that_is_no_utf8_in_todays_page_stops_neither_remember_nor_notes(memory: Memory, home: Path) -> None:
    memory.call("remember", {"content": "The ferry leaves at noon."})
    page = next(home.glob("agents/main/memory/daily/*.md"))
    page.write_bytes(spoilt := page.read_bytes() + b"\ncaf\xe9\n")
    said = memory.call("remember", {"content": "The ferry was late."})
    assert said["success"]
    assert page.name in said["warning"]
    assert memory.call("memory_write", {"key": "ferry", "content": "pier 4"})["success"]
    assert page.read_bytes() == spoilt
    assert memory.call("memory_read", {"key": "ferry"})["data"]["content"] == "pier 4"
    assert "The ferry was late." in memory.call("recall", {})["content"]
    assert "The ferry was late." in str(memory.context())
    assert "2 days" not in str(memory.context())
    page.write_bytes(spoilt.decode("latin-1").encode())
    assert memory.call("recall", {})["content"].count("The ferry") == 2
