"""Claude's memory tool: the SDK's words, on pages that are locked, kept, searched and safe from what a model sends."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from commonplace import Memory
from commonplace.adapters.anthropic import AsyncMemoryTool, MemoryTool
from commonplace.maintenance import timeline
from commonplace.maintenance.doctor import examine
from commonplace.testing import FrozenClock

from ..costs import count_calls
from ..programs import Program
from ..surfaces.cli.shell import run_here
from ..test_memory import open_files_below

KEY = "sk-ant-api03-" + "aB3dE5fG7hJ9kL2m" * 6


@pytest.fixture
def tool(home: Path, clock: FrozenClock) -> MemoryTool:
    return MemoryTool(home, clock=clock)


def call(tool: MemoryTool, command: str, **arguments: Any) -> str:
    answer = tool.call({"command": command, **arguments})
    assert isinstance(answer, str)
    return answer


def get_refusal(tool: MemoryTool, command: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(tool, command, **arguments)
    assert isinstance(caught.value.content, str)
    return caught.value.content


def create(tool: MemoryTool, path: str, text: str = "Ann drinks rooibos.\n") -> None:
    assert call(tool, "create", path=path, file_text=text) == f"File created successfully at: {path}"


def files(home: Path) -> dict[str, str]:
    paths = (path for path in (home / "claude/memories").rglob("*") if path.is_file())
    return {str(path.relative_to(home / "claude/memories")): path.read_bytes().decode() for path in paths}


# What the model is told


def test_it_is_the_memory_tool_that_the_api_knows(tool: MemoryTool, home: Path) -> None:
    assert isinstance(tool, BetaAbstractMemoryTool)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    cached = MemoryTool(home, cache_control={"type": "ephemeral"})
    assert cached.to_dict()["cache_control"] == {"type": "ephemeral"}


def test_a_new_home_has_an_empty_folder_to_view(tool: MemoryTool, home: Path) -> None:
    size = (home / "claude/memories").stat().st_size
    text = f"{size / 1024:g}K" if size >= 1024 else f"{size}B"
    head = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    assert call(tool, "view", path="/memories") == f"{head}\n{text}\t/memories"


def test_a_folder_is_shown_two_levels_deep_by_name_without_what_is_hidden(tool: MemoryTool, home: Path) -> None:
    for path in ("b.txt", "a/z.md", "a/deep/hidden-below.md", "B.txt"):
        create(tool, f"/memories/{path}", "x" * 5632)
    (home / "claude/memories/a/.secret").write_text("x")
    (home / "claude/memories/.hidden").mkdir()
    head, *lines = call(tool, "view", path="/memories/").split("\n")
    assert head == "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    names = [line.split("\t")[1] for line in lines]
    assert names == [
        "/memories",
        "/memories/B.txt",
        "/memories/a/",
        "/memories/a/deep/",
        "/memories/a/z.md",
        "/memories/b.txt",
    ]
    assert lines[1] == "5.5K\t/memories/B.txt"
    assert call(tool, "view", path="/memories/a/deep").endswith("\n5.5K\t/memories/a/deep/hidden-below.md")


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0B"), (1023, "1023B"), (1024, "1K"), (1536, "1.5K"), (1048576, "1M"), (1100000, "1.0M")]
)
def test_sizes_are_shown_as_the_sdk_shows_them(tool: MemoryTool, count: int, text: str) -> None:
    create(tool, "/memories/a", "x" * count)
    assert call(tool, "view", path="/memories").endswith(f"\n{text}\t/memories/a")


def test_a_file_is_shown_with_line_numbers(tool: MemoryTool) -> None:
    create(tool, "/memories/a.txt", "one\r\ntwo\nthree\n")
    head = "Here's the content of /memories/a.txt with line numbers:"
    whole = f"{head}\n     1\tone\r\n     2\ttwo\n     3\tthree\n     4\t"
    assert call(tool, "view", path="/memories/a.txt") == whole
    assert call(tool, "view", path="/memories/a.txt", view_range=[2, 3]) == f"{head}\n     2\ttwo\n     3\tthree"
    assert call(tool, "view", path="/memories/a.txt", view_range=[3, -1]) == f"{head}\n     3\tthree\n     4\t"
    assert call(tool, "view", path="/memories/a.txt", view_range=[0, 99]) == whole


@pytest.mark.parametrize("expected", [[9, 12], [3, 2], [2, -3], [2, 0]])
def test_a_range_that_shows_nothing_is_refused(tool: MemoryTool, expected: list[int]) -> None:
    create(tool, "/memories/a.txt", "one\ntwo")
    output = get_refusal(tool, "view", path="/memories/a.txt", view_range=expected)
    lines = "[1, 2], and not end before it starts."
    assert (
        output
        == f"Invalid `view_range` parameter: {expected}. It should be within the range of lines of the file: {lines}"
    )


@pytest.mark.parametrize("expected", [[1], [1, 2, 3], "1-2", ["a", "b"], {"a": 1}, 7])
def test_an_invalid_range_is_refused(tool: MemoryTool, expected: Any) -> None:
    create(tool, "/memories/a.txt", "one\ntwo")
    output = get_refusal(tool, "view", path="/memories/a.txt", view_range=expected)
    assert output == f"Invalid `view_range` parameter: {expected!r}. It should be two line numbers."


def test_a_file_of_too_many_lines_is_not_shown(tool: MemoryTool) -> None:
    create(tool, "/memories/a.txt", "\n" * 999_999)
    assert (
        get_refusal(tool, "view", path="/memories/a.txt")
        == "File /memories/a.txt exceeds maximum line limit of 999,999 lines."
    )


def test_replacing_text_shows_the_lines_around_it(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/a.txt", "1\n2\n3\n4\r\n5\n6\n7\n")
    head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    reply = call(tool, "str_replace", path="/memories/a.txt", old_str="4", new_str="four\nand more")
    assert reply == f"{head}\n     2\t2\n     3\t3\n     4\tfour\n     5\tand more\r\n     6\t5"
    assert call(tool, "str_replace", path="/memories/a.txt", old_str="1\n", new_str="") == (
        f"{head}\n     1\t2\n     2\t3\n     3\tfour"
    )
    assert files(home) == {"a.txt": "2\n3\nfour\nand more\r\n5\n6\n7\n"}


def test_text_that_is_not_there_or_there_twice_is_not_replaced(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/a.txt", "Hello\nMiddle\nHello")
    output = get_refusal(tool, "str_replace", path="/memories/a.txt", old_str="Bye", new_str="")
    assert output == "No replacement was performed, old_str `Bye` did not appear verbatim in /memories/a.txt."
    output = get_refusal(tool, "str_replace", path="/memories/a.txt", old_str="Hello", new_str="Hi")
    where = "Multiple occurrences of old_str `Hello` in lines: 1, 3. Please ensure it is unique"
    assert output == f"No replacement was performed. {where}"
    output = get_refusal(tool, "str_replace", path="/memories/a.txt", old_str="", new_str="Hi")
    assert output == "No replacement was performed, old_str is empty. Please say what to replace."
    assert files(home) == {"a.txt": "Hello\nMiddle\nHello"}


@pytest.mark.parametrize(
    ("before", "line", "text", "after"),
    [
        ("one\ntwo", 0, "new", "new\none\ntwo\n"),
        ("one\ntwo", 1, "new\n\n", "one\nnew\ntwo\n"),
        ("one\ntwo\n", 2, "new", "one\ntwo\nnew\n"),
        ("one\r\ntwo\r\n", 1, "new", "one\r\nnew\ntwo\r\n"),
        ("", 0, "new", "new\n"),
    ],
)
def test_a_line_is_inserted_after_another(
    tool: MemoryTool, home: Path, before: str, line: int, text: str, after: str
) -> None:
    create(tool, "/memories/a.txt", before)
    reply = call(tool, "insert", path="/memories/a.txt", insert_line=line, insert_text=text)
    assert reply == "The file /memories/a.txt has been edited."
    assert files(home) == {"a.txt": after}


@pytest.mark.parametrize("line", [3, -1, "first", None])
def test_nothing_is_inserted_where_there_is_no_line(tool: MemoryTool, home: Path, line: Any) -> None:
    create(tool, "/memories/a.txt", "one\ntwo\n")
    output = get_refusal(tool, "insert", path="/memories/a.txt", insert_line=line, insert_text="new")
    assert output == f"Invalid `insert_line` parameter: {line}. It should be within the range [0, 2]."
    assert files(home) == {"a.txt": "one\ntwo\n"}


def test_deleting_and_renaming_say_what_they_did(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/a/b.txt", "b")
    create(tool, "/memories/c.txt", "c")
    reply = call(tool, "rename", old_path="/memories/a", new_path="/memories/x/y")
    assert reply == "Successfully renamed /memories/a to /memories/x/y"
    assert files(home) == {"x/y/b.txt": "b", "c.txt": "c"}
    assert not (home / "claude/memories/a").exists()
    assert call(tool, "rename", old_path="/memories/c.txt", new_path="/memories/d.txt").startswith("Successfully")
    assert call(tool, "delete", path="/memories/x") == "Successfully deleted /memories/x"
    assert files(home) == {"d.txt": "c"}


def test_a_folder_stays_when_its_last_file_goes(tool: MemoryTool) -> None:
    create(tool, "/memories/a/b.txt")
    call(tool, "delete", path="/memories/a/b.txt")
    create(tool, "/memories/c/d.txt")
    call(tool, "rename", old_path="/memories/c/d.txt", new_path="/memories/e.txt")
    names = [line.split("\t")[1] for line in call(tool, "view", path="/memories").split("\n")[1:]]
    assert names == ["/memories", "/memories/a/", "/memories/c/", "/memories/e.txt"]
    assert call(tool, "delete", path="/memories/a") == "Successfully deleted /memories/a"


def test_a_missing_file_is_reported_in_the_sdks_words(tool: MemoryTool) -> None:
    missing = "The path /memories/no.txt does not exist"
    for command, rest in (
        ("view", {}),
        ("str_replace", {"old_str": "a", "new_str": "b"}),
        ("insert", {"insert_line": 0, "insert_text": ""}),
    ):
        assert get_refusal(tool, command, path="/memories/no.txt", **rest) == f"{missing}. Please provide a valid path."
    assert get_refusal(tool, "delete", path="/memories/no.txt") == missing
    assert get_refusal(tool, "rename", old_path="/memories/no.txt", new_path="/memories/b.txt") == missing


def test_what_is_in_the_way_is_reported_in_the_sdks_words(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/a.txt")
    create(tool, "/memories/folder/b.txt")
    assert get_refusal(tool, "create", path="/memories/a.txt", file_text="") == "File /memories/a.txt already exists"
    assert get_refusal(tool, "create", path="/memories/folder", file_text="") == "File /memories/folder already exists"
    assert get_refusal(tool, "create", path="/memories", file_text="") == "File /memories already exists"
    output = get_refusal(tool, "rename", old_path="/memories/no", new_path="/memories/a.txt")
    assert output == "The destination /memories/a.txt already exists"
    output = get_refusal(tool, "rename", old_path="/memories/a.txt", new_path="/memories/a.txt")
    assert output == "The destination /memories/a.txt already exists"
    for command, rest in (
        ("str_replace", {"old_str": "a", "new_str": "b"}),
        ("insert", {"insert_line": 0, "insert_text": ""}),
    ):
        assert get_refusal(tool, command, path="/memories/folder", **rest) == "The path /memories/folder is not a file."
    below = "leads through a.txt, which is not a directory."
    assert (
        get_refusal(tool, "create", path="/memories/a.txt/b/c", file_text="") == f"The path /memories/a.txt/b/c {below}"
    )
    output = get_refusal(tool, "rename", old_path="/memories/folder", new_path="/memories/a.txt/b")
    assert output == f"The path /memories/a.txt/b {below}"
    output = get_refusal(tool, "rename", old_path="/memories/folder", new_path="/memories/folder/in")
    assert output == "Cannot rename /memories/folder to /memories/folder/in, which is inside of it"
    os.mkfifo(home / "claude/memories/pipe")
    assert get_refusal(tool, "view", path="/memories/pipe") == "Unsupported file type for /memories/pipe"
    assert call(tool, "delete", path="/memories/pipe") == "Successfully deleted /memories/pipe"
    assert sorted(files(home)) == ["a.txt", "folder/b.txt"]


@pytest.mark.parametrize("path", ["/memories", "/memories/", "/memories//", "/memories/.", "/memories/sub/.."])
def test_the_folder_itself_stays(tool: MemoryTool, home: Path, path: str) -> None:
    assert get_refusal(tool, "delete", path=path) == "Cannot delete the /memories directory itself"
    output = get_refusal(tool, "rename", old_path=path, new_path="/memories/x")
    assert output == "Cannot rename the /memories directory itself"
    assert (home / "claude/memories").is_dir()


def test_create_replaces_a_file_where_that_is_asked_for(home: Path) -> None:
    tool = MemoryTool(home, overwrite=True)
    create(tool, "/memories/a.txt", "one")
    create(tool, "/memories/a.txt", "two")
    assert files(home) == {"a.txt": "two"}


def test_all_memory_is_cleared_and_can_be_brought_back(tool: MemoryTool, home: Path) -> None:
    for path in ("a.txt", "b/c.md"):
        create(tool, f"/memories/{path}", path)
    (home / "claude/memories/b/.hidden").write_text("b/.hidden")
    assert tool.clear_all_memory() == "All memory cleared"
    assert files(home) == {}
    assert call(tool, "view", path="/memories").endswith("\t/memories")
    undo_last(tool)
    assert files(home) == {"a.txt": "a.txt", "b/c.md": "b/c.md", "b/.hidden": "b/.hidden"}


# What a model may send


@pytest.mark.parametrize(
    "path",
    ["/memoriesX/a", "claude/memories/a", "/etc/passwd", "", "/", " /memories/a", "/Memories/a", "\\memories\\a"],
)
def test_a_path_elsewhere_is_refused(tool: MemoryTool, path: str) -> None:
    for command, rest in (("view", {}), ("create", {"file_text": "x"}), ("delete", {})):
        assert get_refusal(tool, command, path=path, **rest) == f"Path must start with /memories, got: {path}"


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../x",
        "/memories/../../../etc/passwd",
        "/memories/a/../../commonplace.yaml",
        "/memories/..\\x",
        "/memories/a\\..\\..\\x",
        "/memories/%2e%2e%2fx",
        "/memories/%2E%2E/x",
        "/memories/%252e%252e%252fx",
        "/memories/..%5cx",
        "/memories/../memoriesX/a",
    ],
)
def test_no_path_leads_upwards(tool: MemoryTool, home: Path, path: str) -> None:
    text = f"Path {path} would escape /memories directory"
    for command, rest in (("view", {}), ("create", {"file_text": "x"}), ("delete", {})):
        assert get_refusal(tool, command, path=path, **rest) == text
    assert get_refusal(tool, "rename", old_path=path, new_path="/memories/b") == text
    create(tool, "/memories/b")
    assert get_refusal(tool, "rename", old_path="/memories/b", new_path=path) == text
    assert sorted(each.name for each in home.iterdir() if each.name[0] != ".") == ["claude"]


def test_a_percent_sign_is_a_character_like_any_other(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/100%20..sure.txt", "x")
    assert files(home) == {"100%20..sure.txt": "x"}


@pytest.mark.parametrize("path", ["/memories/a\0b", "/memories/a\\b"])
def test_a_name_that_no_page_has_is_refused(tool: MemoryTool, path: str) -> None:
    output = get_refusal(tool, "create", path=path, file_text="x")
    assert output == f"Path {path!a} has a null character or a backslash in it: use one like /memories/a.md"


@pytest.mark.parametrize("path", ["/memories/.hidden", "/memories/.git/config", "/memories/a/.b/c.md"])
def test_nothing_new_is_hidden(tool: MemoryTool, home: Path, path: str) -> None:
    create(tool, "/memories/plain.md")
    text = f"Path {path} is hidden: use names that do not begin with a dot"
    assert get_refusal(tool, "create", path=path, file_text="x") == text
    assert get_refusal(tool, "rename", old_path="/memories/plain.md", new_path=path) == text
    assert list(files(home)) == ["plain.md"]


def test_a_path_that_leads_through_a_file_does_not_exist(tool: MemoryTool) -> None:
    create(tool, "/memories/a.md")
    assert get_refusal(tool, "delete", path="/memories/a.md/b.md") == "The path /memories/a.md/b.md does not exist"


def test_what_a_person_hid_can_be_read_and_deleted(tool: MemoryTool, home: Path) -> None:
    (home / "claude/memories/.hidden").write_text("x")
    assert call(tool, "view", path="/memories/.hidden").endswith("\n     1\tx")
    assert call(tool, "delete", path="/memories/.hidden") == "Successfully deleted /memories/.hidden"


def test_a_name_that_is_too_long_is_refused_with_a_reason(tool: MemoryTool) -> None:
    output = get_refusal(tool, "create", path="/memories/" + "x" * 300, file_text="x")
    assert "too long" in output
    assert get_refusal(tool, "view", path="/memories/" + "x" * 300).endswith(
        "does not exist. Please provide a valid path."
    )


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ({"command": "view"}, "path"),
        ({"command": "create", "path": "/memories/a"}, "file_text"),
        ({"command": "create", "file_text": "x"}, "path"),
        ({"command": "str_replace", "path": "/memories/there", "new_str": "x"}, "old_str"),
        ({"command": "str_replace", "path": "/memories/there", "old_str": "x"}, "new_str"),
        ({"command": "insert", "path": "/memories/there", "insert_line": 0}, "insert_text"),
        ({"command": "delete"}, "path"),
        ({"command": "rename", "old_path": "/memories/a"}, "new_path"),
        ({"command": "rename", "new_path": "/memories/a"}, "old_path"),
    ],
)
def test_what_is_missing_is_named(tool: MemoryTool, command: dict[str, Any], missing: str) -> None:
    create(tool, "/memories/there")
    with pytest.raises(ToolError) as caught:
        tool.call(command)
    assert caught.value.content == f"Missing required parameter: {missing}"


def test_what_is_no_text_is_refused(tool: MemoryTool, home: Path) -> None:
    assert get_refusal(tool, "view", path=5) == "Invalid parameter: path must be text, not int"
    assert get_refusal(tool, "create", path="/memories/a", file_text=["x"]) == (
        "Invalid parameter: file_text must be text, not list"
    )
    output = get_refusal(tool, "create", path="/memories/a", file_text="half a character: \ud83d")
    assert output == "Invalid parameter: file_text has characters that are not Unicode text"
    output = get_refusal(tool, "view", path="/memories/\ud83d")
    assert output == "Invalid parameter: path has characters that are not Unicode text"
    assert files(home) == {}


@pytest.mark.parametrize("arguments", [None, "view", [], 5])
def test_an_input_that_is_no_object_is_refused(tool: MemoryTool, arguments: Any) -> None:
    with pytest.raises(ToolError, match="must be an object with a command"):
        tool.call(arguments)


def test_an_unknown_command_is_refused_as_the_sdk_does(tool: MemoryTool) -> None:
    with pytest.raises(NotImplementedError, match="Unknown command: forget"):
        tool.call({"command": "forget", "path": "/memories/a"})


def test_no_link_leads_out(tool: MemoryTool, home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (home / "claude/memories/out").symlink_to(tmp_path)
    (home / "claude/memories/file.txt").symlink_to(tmp_path / "secret.txt")
    (home / "claude/memories/upper").symlink_to(home)
    for path in ("out/secret.txt", "out/new/x.txt", "file.txt", "upper/commonplace.yaml", "out"):
        for command, rest in (("view", {}), ("create", {"file_text": "x"}), ("delete", {})):
            output = get_refusal(tool, command, path=f"/memories/{path}", **rest)
            assert output == f"Path /memories/{path} would escape /memories directory"
    assert "secret" not in call(tool, "view", path="/memories")
    assert (tmp_path / "secret.txt").read_text() == "secret"


def test_a_link_inside_is_read_through_and_deleted_itself(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/real/a.txt", "text")
    (home / "claude/memories/link").symlink_to(home / "claude/memories/real")
    assert call(tool, "view", path="/memories/link/a.txt").endswith("\n     1\ttext")
    call(tool, "rename", old_path="/memories/link", new_path="/memories/other")
    assert (home / "claude/memories/other").is_symlink()
    call(tool, "delete", path="/memories/other")
    assert not (home / "claude/memories/other").is_symlink()
    assert files(home) == {"real/a.txt": "text"}


def test_a_link_in_place_of_the_folder_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (home / "claude").mkdir(parents=True)
    (home / "claude/memories").symlink_to(tmp_path / "elsewhere")
    output = get_refusal(MemoryTool(home), "create", path="/memories/a.txt", file_text="x")
    assert output == "Path would escape /memories directory via symlink"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_is_no_text_is_not_shown_but_moved_and_deleted(tool: MemoryTool, home: Path) -> None:
    (home / "claude/memories/a.bin").write_bytes(b"\xff\xfe\x80")
    no_text = "The file /memories/a.bin is not a valid UTF-8 text file."
    assert get_refusal(tool, "view", path="/memories/a.bin") == no_text
    assert get_refusal(tool, "str_replace", path="/memories/a.bin", old_str="a", new_str="b") == no_text
    assert get_refusal(tool, "insert", path="/memories/a.bin", insert_line=0, insert_text="b") == no_text
    call(tool, "rename", old_path="/memories/a.bin", new_path="/memories/b/c.bin")
    assert (home / "claude/memories/b/c.bin").read_bytes() == b"\xff\xfe\x80"
    call(tool, "rename", old_path="/memories/b", new_path="/memories/d")
    assert (home / "claude/memories/d/c.bin").read_bytes() == b"\xff\xfe\x80"
    assert call(tool, "delete", path="/memories/d/c.bin") == "Successfully deleted /memories/d/c.bin"


def test_odd_things_in_a_folder_go_with_it(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/a/plain.txt", "plain")
    folder = home / "claude/memories/a"
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("/etc/hostname")
    (folder / "back\\slash").write_text("x")
    Path(os.fsdecode(os.fsencode(str(folder)) + b"/latin-\xe9")).write_text("x")
    (folder / "empty/below").mkdir(parents=True)
    names = [line.split("\t")[1] for line in call(tool, "view", path="/memories/a").split("\n")[2:]]
    assert names == [f"/memories/a/{name}" for name in ("back\\slash", "empty/", "empty/below/", "plain.txt")]
    call(tool, "rename", old_path="/memories/a", new_path="/memories/b")
    assert len(list((home / "claude/memories/b").iterdir())) == 6
    assert call(tool, "delete", path="/memories/b") == "Successfully deleted /memories/b"
    assert list((home / "claude/memories").iterdir()) == []


def test_a_large_file_is_written_edited_and_found(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/large.txt", "a line of the file\n" * 20_000 + "the zebra sleeps\n")
    call(tool, "str_replace", path="/memories/large.txt", old_str="zebra", new_str="okapi")
    assert [hit.path for hit in Memory(home).search("okapi", limit=1)] == ["claude/memories/large.txt"]


@pytest.mark.skipif(os.name != "posix", reason="rights are another matter elsewhere")
def test_what_is_made_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        tool = MemoryTool(tmp_path / "new/home")
        create(tool, "/memories/a/b.txt", "x")
        call(tool, "str_replace", path="/memories/a/b.txt", old_str="x", new_str="y")
        call(tool, "rename", old_path="/memories/a/b.txt", new_path="/memories/c/d.txt")
    finally:
        os.umask(before)
    for path in (tmp_path / "new").rglob("*"):
        if ".index" not in path.parts:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    from commonplace.errors import StorageError

    with pytest.raises(StorageError, match="is a file, not a folder"):
        MemoryTool(tmp_path / "file")


def test_without_the_sdk_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['anthropic'] = None; import commonplace.adapters.anthropic"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Claude's memory tool needs more than is installed: run pip install 'commonplace[anthropic]'" in done.stderr


# What others do at the same time


def test_a_file_that_vanishes_between_two_looks_is_reported_as_gone(
    tool: MemoryTool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = "The file /memories/a.txt no longer exists (may have been deleted or renamed concurrently)."
    opened = os.open

    def late(path: Any, *rest: Any, **options: Any) -> int:
        if str(path).endswith("a.txt"):
            (home / "claude/memories/a.txt").unlink(missing_ok=True)
        return opened(path, *rest, **options)

    for command, rest in (
        ("view", {}),
        ("str_replace", {"old_str": "x", "new_str": "y"}),
        ("insert", {"insert_line": 0, "insert_text": "y"}),
    ):
        (home / "claude/memories/a.txt").write_text("x")
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", late)
            assert get_refusal(tool, command, path="/memories/a.txt", **rest) == gone
        assert files(home) == {}


RIVALS = """
import os, sys
from anthropic.lib.tools import ToolError
from commonplace.adapters.anthropic import MemoryTool
home, *names = sys.argv[1:]
rivals = []
for name in names:  # processes forked off one: to import the SDK takes a hundred times what they do
    rivals.append(os.fork())
    if not rivals[-1]:
        break
else:
    sys.exit(any([os.waitpid(rival, 0)[1] for rival in rivals]))
tool = MemoryTool(home)
print("ready", flush=True)
sys.stdin.read()
won = 0
for n in range(8):
    tool.call({"command": "str_replace", "path": "/memories/all.txt", "old_str": f"<{name}-{n}>", "new_str": f"[{name}-{n}]"})
    tool.call({"command": "insert", "path": "/memories/all.txt", "insert_line": 0, "insert_text": f"{name} {n}"})
    try:
        tool.call({"command": "create", "path": f"/memories/won/{n}.txt", "file_text": name})
        won += 1
    except ToolError:
        pass
print(won)
"""


def test_processes_that_edit_one_file_lose_nothing_and_one_creates_each(tool: MemoryTool, home: Path) -> None:
    names = ("a", "b", "c")
    create(tool, "/memories/all.txt", "".join(f"<{name}-{n}>\n" for n in range(8) for name in names))
    rivals = Program(RIVALS, str(home), *names)
    assert [rivals.stdout.readline() for _ in names] == ["ready\n"] * 3
    won = [int(line) for line in rivals.communicate()[0].splitlines()]
    assert (rivals.returncode, len(won)) == (0, 3)
    text = (home / "claude/memories/all.txt").read_text()
    assert sorted(text.splitlines()) == sorted(
        line for n in range(8) for name in names for line in (f"[{name}-{n}]", f"{name} {n}")
    )
    assert sum(won) == 8
    assert len(list((home / "claude/memories/won").iterdir())) == 8


def test_a_file_that_is_edited_while_it_is_renamed_keeps_every_edit(tool: MemoryTool, home: Path) -> None:
    create(tool, "/memories/a.txt", "".join(f"<{n}>" for n in range(40)))
    done: list[int] = []

    def edit() -> None:
        other = MemoryTool(home)
        for n in range(40):
            for _ in range(1000):
                path = "/memories/a.txt" if (home / "claude/memories/a.txt").exists() else "/memories/b.txt"
                try:
                    call(other, "str_replace", path=path, old_str=f"<{n}>", new_str=f"[{n}]")
                except ToolError:
                    continue
                done.append(n)
                break

    thread = threading.Thread(target=edit)
    thread.start()
    here, there = "/memories/a.txt", "/memories/b.txt"
    while thread.is_alive():
        call(tool, "rename", old_path=here, new_path=there)
        here, there = there, here
    thread.join()
    assert done == list(range(40))
    assert list(files(home).values()) == ["".join(f"[{n}]" for n in range(40))]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_tool_that_is_dropped_leaves_no_file_open(home: Path) -> None:
    gc.disable()  # objects that refer to each other would be collected sooner or later
    try:
        tool = MemoryTool(home)
        create(tool, "/memories/a.txt", "oolong\n")
        assert tool.home.search("oolong").hits
        assert open_files_below(home)
        del tool
        assert open_files_below(home) == []
    finally:
        gc.enable()


@pytest.mark.slow
def test_a_folder_of_ten_thousand_files_is_shown_at_about_the_cost_of_listing_it(tool: MemoryTool, home: Path) -> None:
    def view() -> None:
        replies.append(call(tool, "view", path="/memories"))

    replies: list[str] = []
    calls = []
    for numbers in (range(2_500), range(2_500, 10_000)):
        for number in numbers:
            (home / f"claude/memories/{number:05}.txt").write_text("x")
        calls.append(count_calls(view))
    assert [reply.count("\n") for reply in replies] == [2_501, 10_001]
    assert calls[1] < 5 * calls[0]
    assert calls[1] < 100 * 10_000


# What it is to the rest of memory


def undo_last(tool: MemoryTool) -> None:
    last = timeline.list_changes(tool.home)[-1]
    assert not any(done.problem for done in timeline.undo(tool.home, timeline.include_same_calls(tool.home, [last])))


def test_what_is_written_is_found_at_once_and_gone_at_once(tool: MemoryTool, home: Path) -> None:
    memory = Memory(home, "other")
    create(tool, "/memories/team/tea.txt", "Ann drinks rooibos.\n")
    assert [hit.path for hit in memory.search("rooibos")] == ["claude/memories/team/tea.txt"]
    assert [hit.path for hit in memory.search("rooibos", path="claude/memories/team/tea.txt")] == [
        "claude/memories/team/tea.txt"
    ]
    call(tool, "rename", old_path="/memories/team", new_path="/memories/people")
    assert [hit.path for hit in memory.search("rooibos")] == ["claude/memories/people/tea.txt"]
    call(tool, "str_replace", path="/memories/people/tea.txt", old_str="rooibos", new_str="coffee")
    assert memory.search("rooibos") == []
    call(tool, "delete", path="/memories/people")
    assert memory.search("coffee") == []


def test_the_memories_of_an_agent_are_its_own(home: Path) -> None:
    tool = MemoryTool(home, agent="ann")
    create(tool, "/memories/tea.txt")
    assert (home / "agents/ann/claude/memories/tea.txt").read_text() == "Ann drinks rooibos.\n"
    assert [hit.path for hit in Memory(home, "ann").search("rooibos")] == ["agents/ann/claude/memories/tea.txt"]
    assert Memory(home, "bob").search("rooibos") == []
    assert "tea" not in call(MemoryTool(home), "view", path="/memories")


def test_history_says_which_tool_agent_and_session_wrote(home: Path, clock: FrozenClock) -> None:
    tool = MemoryTool(home, agent="ann", session="s-1", clock=clock)
    create(tool, "/memories/a.txt", "one")
    call(tool, "str_replace", path="/memories/a.txt", old_str="one", new_str="two")
    call(tool, "insert", path="/memories/a.txt", insert_line=0, insert_text="zero")
    changes = timeline.list_changes(tool.home, "agents/ann/claude/memories/a.txt")
    assert [change.by for change in changes] == [
        "ann (memory:create)",
        "ann (memory:str_replace)",
        "ann (memory:insert)",
    ]
    assert {change.session for change in changes} == {"s-1"}


def test_a_rename_is_one_change_and_can_be_taken_back(tool: MemoryTool, home: Path, clock: FrozenClock) -> None:
    before = {f"a/{name}.md": f"page {name}" for name in "xyz"}
    for path, text in before.items():
        create(tool, f"/memories/{path}", text)
    clock.advance(minutes=1)
    call(tool, "rename", old_path="/memories/a", new_path="/memories/b")
    renamed = [change for change in timeline.list_changes(tool.home) if change.tool == "memory:rename"]
    assert len(renamed) == 6
    assert len({change.call for change in renamed}) == 1
    undo_last(tool)
    assert files(home) == before


def test_a_recursive_delete_is_one_change_and_can_be_taken_back(
    tool: MemoryTool, home: Path, clock: FrozenClock
) -> None:
    before = {"a/x.md": "x", "a/deep/y.txt": "y", "b.txt": "b"}
    for path, text in before.items():
        create(tool, f"/memories/{path}", text)
    clock.advance(minutes=1)
    call(tool, "delete", path="/memories/a")
    assert files(home) == {"b.txt": "b"}
    assert len({change.call for change in timeline.list_changes(tool.home) if change.tool == "memory:delete"}) == 1
    undo_last(tool)
    assert files(home) == before


def test_the_commands_show_and_take_back_what_it_did(tool: MemoryTool, home: Path, tmp_path: Path) -> None:
    create(tool, "/memories/a.txt", "one\n")
    call(tool, "str_replace", path="/memories/a.txt", old_str="one", new_str="two")

    def commonplace(*arguments: str) -> str:
        done = run_here(("--home", str(home), *arguments), tmp_path, dict(os.environ), None)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "memory:str_replace" in commonplace("log", "claude/memories/a.txt")
    commonplace("undo", timeline.list_changes(tool.home, "claude/memories/a.txt")[-1].id)
    assert files(home) == {"a.txt": "one\n"}
    assert "claude/memories/a.txt" in commonplace("search", "one", "--path", "claude/memories/a.txt")


@pytest.mark.parametrize("setting", ["warn", "redact", "refuse"])
def test_keys_are_kept_out_as_the_settings_say(home: Path, setting: str) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text(f"secrets: {setting}\n")
    tool = MemoryTool(home)
    create(tool, "/memories/a.txt", "the key:\n")
    for command in (
        {"command": "create", "path": "/memories/b.txt", "file_text": f"use {KEY}"},
        {"command": "str_replace", "path": "/memories/a.txt", "old_str": "key", "new_str": KEY},
        {"command": "insert", "path": "/memories/a.txt", "insert_line": 1, "insert_text": KEY},
    ):
        if setting == "refuse":
            with pytest.raises(ToolError, match="nothing was written: the text contains what looks like a secret"):
                tool.call(command)
        else:
            assert isinstance(tool.call(command), str)
            assert "secret" in tool.warnings[0]
    count = sum(text.count(KEY) for text in files(home).values())
    assert count == (3 if setting == "warn" else 0)
    if setting == "warn":
        assert call(tool, "create", path="/memories/c.txt", file_text=KEY) == (
            "File created successfully at: /memories/c.txt"
        )
        call(tool, "view", path="/memories")
        assert tool.warnings == ()


@pytest.mark.parametrize("setting", ["redact", "refuse"])
def test_a_key_is_no_file_name(home: Path, setting: str) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text(f"secrets: {setting}\n")
    tool = MemoryTool(home)
    create(tool, "/memories/a.txt")
    assert get_refusal(tool, "create", path=f"/memories/{KEY}.txt", file_text="").startswith("nothing was written")
    assert get_refusal(tool, "rename", old_path="/memories/a.txt", new_path=f"/memories/{KEY}").startswith(
        "nothing was"
    )
    assert list(files(home)) == ["a.txt"]


def test_the_doctor_finds_nothing_wrong_with_what_it_wrote(tool: MemoryTool) -> None:
    for path in ("a.txt", "b.markdown", "B/c", "2030-01-01.md", "notes.json", "e.MD"):
        create(tool, f"/memories/{path}", "---\nnot: front matter\nbut text { [\n")
    assert [(finding.check, finding.path) for finding in examine(tool.home.root).findings] == []


# The same, for asynchronous clients, and through the SDK's own runner


def test_the_asynchronous_tool_answers_the_same(home: Path) -> None:
    tool = AsyncMemoryTool(home, agent="ann", cache_control={"type": "ephemeral"})
    assert isinstance(tool, BetaAsyncAbstractMemoryTool)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}

    async def work() -> list[Any]:
        result = {"command": "create", "path": "/memories/a.txt", "file_text": "x"}
        tries = await asyncio.gather(*(tool.call(result) for _ in range(8)), return_exceptions=True)
        assert sum(isinstance(each, ToolError) for each in tries) == 7
        steps: list[dict[str, Any]] = [
            {"command": "view", "path": "/memories/a.txt"},
            {"command": "str_replace", "path": "/memories/a.txt", "old_str": "x", "new_str": "y"},
            {"command": "insert", "path": "/memories/a.txt", "insert_line": 1, "insert_text": "z"},
            {"command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/b.txt"},
            {"command": "delete", "path": "/memories/b.txt"},
        ]
        answers = [await tool.call(step) for step in steps]
        answers.append(await tool.clear_all_memory())
        with pytest.raises(ToolError, match="must be an object"):
            await tool.call("view")
        return answers

    assert [answer.split("\n")[-1] for answer in asyncio.run(work())] == [
        "     1\tx",
        "     1\ty",
        "The file /memories/a.txt has been edited.",
        "Successfully renamed /memories/a.txt to /memories/b.txt",
        "Successfully deleted /memories/b.txt",
        "All memory cleared",
    ]
    tool.close()


def test_the_sdks_runner_carries_out_what_claude_asks_for(tool: MemoryTool, home: Path) -> None:
    question: list[dict[str, Any]] = [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": "/memories/a.txt", "file_text": "rooibos"},
        {"command": "create", "path": "/memories/a.txt", "file_text": "coffee"},
    ]
    requests: list[dict[str, Any]] = []

    def claude(request: httpx2.Request) -> httpx2.Response:
        requests.append(json.loads(request.content))
        turn = len(requests) - 1
        uses = (
            {"type": "tool_use", "id": f"toolu_{turn}", "name": "memory", "input": question[turn]} if turn < 3 else None
        )
        content = [uses or {"type": "text", "text": "Noted."}]
        message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m", "content": content}
        message |= {"stop_reason": "tool_use" if uses else "end_turn", "stop_sequence": None}
        return httpx2.Response(200, json=message | {"usage": {"input_tokens": 1, "output_tokens": 1}})

    client = anthropic.Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(claude)))
    output: list[Any] = [{"role": "user", "content": "I drink rooibos."}]
    client.beta.messages.tool_runner(model="m", max_tokens=100, messages=output, tools=[tool]).until_done()
    assert requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [request["messages"][-1]["content"][0] for request in requests[1:]]
    assert results[1]["content"] == "File created successfully at: /memories/a.txt"
    assert (results[2]["content"], results[2]["is_error"]) == ("File /memories/a.txt already exists", True)
    assert files(home) == {"a.txt": "rooibos"}


def test_a_folder_that_the_sdks_own_tool_filled_stays_in_use(home: Path) -> None:
    (home / "memories").mkdir(parents=True)
    (home / "memories/ann.md").write_text("Ann drinks rooibos.\n")
    tool = MemoryTool(home)
    assert "Ann drinks rooibos." in tool.call({"command": "view", "path": "/memories/ann.md"})
    tool.call({"command": "create", "path": "/memories/bob.md", "file_text": "Bob drinks coffee.\n"})
    assert (home / "memories/bob.md").read_text() == "Bob drinks coffee.\n"
    assert [hit.path for hit in Memory(home).search("coffee")] == ["memories/bob.md"]
