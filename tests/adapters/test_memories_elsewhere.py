"""The files of Claude's memory tool, seen by the rest: filters, the doctor, forgetting, archives and watching."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.adapters.anthropic import MemoryTool
from commonplace.index.watcher import PageChanges, watch_in_background
from commonplace.maintenance.backup import export_file, import_from
from commonplace.maintenance.doctor import examine
from commonplace.maintenance.forget import Selection, forget

from ..waiting import LONG_SECONDS


@pytest.fixture
def tool(home: Path) -> MemoryTool:
    return MemoryTool(home)


def write(tool: MemoryTool, name: str, text: str = "Ann drinks rooibos with honey.\n") -> None:
    tool.call({"command": "create", "path": f"/memories/{name}", "file_text": text})


def test_a_search_keeps_to_a_file_of_any_name_or_to_a_folder(tool: MemoryTool, home: Path) -> None:
    for name in ("todo.txt", "plain", "deep/plain", "deep/tea.csv", "todo.txt.md"):
        write(tool, name, f"Ann drinks rooibos with honey, says {name}.\n")
    memory = Memory(home)

    def find_paths(path: str) -> list[str]:
        return sorted(hit.path.removeprefix("claude/memories/") for hit in memory.search("rooibos", path=path))

    assert find_paths("claude/memories/todo.txt") == ["todo.txt"]
    assert find_paths("./claude/memories/plain") == ["plain"]
    assert find_paths("claude/memories/deep") == find_paths("claude/memories/deep/") == ["deep/plain", "deep/tea.csv"]
    assert find_paths("claude/memories/todo.txt/") == []
    assert len(find_paths("claude/memories")) == 5


def test_a_file_of_an_agent_can_be_kept_to(home: Path) -> None:
    write(MemoryTool(home, agent="ann"), "todo.txt")
    hits = Memory(home, "ann").search("rooibos", path="agents/ann/claude/memories/todo.txt")
    assert [hit.path for hit in hits] == ["agents/ann/claude/memories/todo.txt"]


def test_what_is_forgotten_is_in_no_file_of_the_home(tool: MemoryTool, home: Path) -> None:
    write(tool, "p/todo.txt")
    write(tool, "p/plain", "Bob drinks coffee with milk.\n")
    tool.call({"command": "rename", "old_path": "/memories/p", "new_path": "/memories/q"})
    tool.call({"command": "rename", "old_path": "/memories/q", "new_path": "/memories/p"})
    for folder in ("claude/memories/p", "claude/memories/q"):
        forget(tool.home, Selection(page=folder))
    tool.close()
    rest = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"rooibos" not in rest
    assert b"coffee" not in rest


def test_the_doctor_says_when_a_file_of_any_name_is_large(tool: MemoryTool, home: Path) -> None:
    write(tool, "large.txt", "a line of text\n" * 6000)
    Memory(home).search("line")
    assert [(finding.check, finding.path) for finding in examine(str(home)).findings] == [
        ("oversize", "claude/memories/large.txt")
    ]


def test_the_doctor_says_when_a_file_of_any_name_holds_a_key(tool: MemoryTool, home: Path) -> None:
    write(tool, "keys", "sk-ant-api03-" + "aB3dE5fG7hJ9kL2m" * 6)
    assert [(finding.check, finding.path) for finding in examine(str(home)).findings] == [
        ("secrets", "claude/memories/keys")
    ]


def test_an_archive_brings_all_of_it_with_its_history(tool: MemoryTool, home: Path, tmp_path: Path) -> None:
    for name in ("todo.txt", "plain", "deep/tea.csv"):
        write(tool, name)
    export_file(tool.home, str(tmp_path / "a.tar"))
    other = MemoryTool(tmp_path / "other")
    with open(tmp_path / "a.tar", "rb") as file:
        import_from(other.home, file)
    assert other.call({"command": "view", "path": "/memories/plain"}).endswith(
        "1\tAnn drinks rooibos with honey.\n     2\t"
    )
    assert len(Memory(tmp_path / "other").search("rooibos")) == 1  # the same text three times


def test_a_watcher_tells_of_what_the_tool_and_people_write_there(tool: MemoryTool, home: Path) -> None:
    answer: set[str] = set()
    both = threading.Event()

    def tell(seen: PageChanges) -> None:
        answer.update(seen.changed)
        if len(answer) == 2:
            both.set()

    with watch_in_background(tool.home.index, tell):
        write(tool, "watched.csv")
        (home / "claude/memories/by-hand").write_text("an okapi\n")
        assert both.wait(LONG_SECONDS)
    assert answer == {"claude/memories/watched.csv", "claude/memories/by-hand"}
