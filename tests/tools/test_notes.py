from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

DAY = "agents/main/memory/daily/2026-03-14.md"


def write(memory: Memory, key: Any, content: Any = "x", **more: Any) -> dict[str, Any]:
    return memory.call("memory_write", {"key": key, "content": content, **more})


def code(reply: dict[str, Any]) -> str:
    assert reply["success"] is False
    assert reply["error"]["message"]
    return str(reply["error"]["code"])


def test_a_note_is_written_into_todays_page_exactly(memory: Memory, home: Path) -> None:
    reply = write(memory, "  editor ", "vim \n", tags=["a", "b"])
    assert reply == {"success": True, "data": {"key": "editor", "target": "daily", "path": "daily/2026-03-14.md"}}
    assert (home / DAY).read_text() == (
        "### editor\n\nvim\n\n<!-- agentool-memory: at=2026-03-14T09:26:53.000000Z tags=a|b -->\n\n"
    )


def test_a_note_is_read_by_its_key(memory: Memory) -> None:
    write(memory, "editor", "vim", tags=["a"])
    at = "2026-03-14T09:26:53.000000Z"
    assert memory.call("memory_read", {"key": "editor"})["data"] == {
        "key": "editor",
        "content": "vim",
        "tags": ["a"],
        "file": "daily/2026-03-14.md",
        "kind": "daily",
        "created_at": at,
        "updated_at": at,
    }


def test_a_key_is_unique_over_the_whole_memory_and_nothing_is_appended(memory: Memory, home: Path) -> None:
    write(memory, "editor", target="summary")
    before = (home / "agents/main/memory/MEMORY.md").read_text()
    assert code(write(memory, "editor")) == "MEMORY_KEY_EXISTS"
    assert (home / "agents/main/memory/MEMORY.md").read_text() == before
    assert not (home / DAY).exists()
    assert write(memory, "Editor")["success"]


def test_an_update_moves_the_block_to_the_end_and_drops_tags_that_are_left_out(memory: Memory, home: Path) -> None:
    write(memory, "a", "one", tags=["t"])
    write(memory, "b", "two")
    assert memory.call("memory_update", {"key": "a", "content": "three"})["data"] == {
        "key": "a",
        "path": "daily/2026-03-14.md",
        "kind": "daily",
    }
    text = (home / DAY).read_text()
    assert text.index("### b") < text.index("### a")
    assert memory.call("memory_read", {"key": "a"})["data"]["tags"] == []
    assert "one" not in text


def test_the_summary_is_canonical_and_then_the_newest(memory: Memory, home: Path) -> None:
    days = home / "agents/main/memory/daily"
    days.mkdir(parents=True)
    (days / "2026-03-01.md").write_text("### k\n\nold\n\n<!-- agentool-memory: at=2026-03-01T00:00:00Z -->\n\n")
    (days / "2026-03-02.md").write_text(
        "### k\n\nnew\n\n<!-- agentool-memory: at=2026-03-02T00:00:00Z -->\n\n### k\n\nby hand\n"
    )
    assert memory.call("memory_read", {"key": "k"})["data"]["content"] == "new"
    (home / "agents/main/memory/MEMORY.md").write_text("### k\n\nsummary by hand\n")
    read = memory.call("memory_read", {"key": "k"})["data"]
    assert (read["content"], read["kind"], read["created_at"]) == ("summary by hand", "summary", "")


def test_search_matches_any_case_and_puts_summary_first_then_newest(memory: Memory, clock: FrozenClock) -> None:
    write(memory, "first", "Straße")
    clock.advance(minutes=1)
    write(memory, "STRASSE", "x")
    clock.advance(minutes=1)
    write(memory, "kept", "strasse", target="summary", tags=["a", "b"])
    results = memory.call("memory_search", {"query": "strasse"}, toolset="notes")["data"]["results"]
    assert [row["key"] for row in results] == ["kept", "STRASSE", "first"]
    assert results[0]["at"] == "2026-03-14T09:28:53.000000Z"
    results = memory.call("memory_search", {"query": "", "tags": ["b", "a"]}, toolset="notes")["data"]["results"]
    assert [row["key"] for row in results] == ["kept"]


@pytest.mark.parametrize(("limit", "count"), [(None, 10), (0, 1), (-5, 1), (3, 3), (1000, 100)])
def test_the_limit_is_brought_between_1_and_100(memory: Memory, home: Path, limit: int | None, count: int) -> None:
    page = home / "agents/main/memory/daily/2026-03-13.md"
    page.parent.mkdir(parents=True)
    page.write_text("".join(f"### k{n}\n\nv\n\n" for n in range(120)))
    arguments = {"query": "v"} if limit is None else {"query": "v", "limit": limit}
    assert len(memory.call("memory_search", arguments, toolset="notes")["data"]["results"]) == count


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "a\r\nb"])
@pytest.mark.parametrize("tool", ["memory_write", "memory_update", "memory_read"])
def test_a_key_that_is_empty_or_has_more_lines_is_invalid(memory: Memory, tool: str, key: str) -> None:
    assert code(memory.call(tool, {"key": key, "content": "x"})) == "MEMORY_INVALID_KEY"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_write", {}),
        ("memory_write", {"key": "k"}),
        ("memory_write", {"key": 3, "content": "x"}),
        ("memory_write", {"key": "k", "content": ["x"]}),
        ("memory_write", {"key": "k", "content": "x", "tags": "a"}),
        ("memory_write", {"key": "k", "content": "x", "tags": [1]}),
        ("memory_write", {"key": "k", "content": "half \ud800"}),
        ("memory_write", {"key": "k", "content": "x", "target": 1}),
        ("memory_read", {"key": None}),
        ("memory_search", {}),
        ("memory_search", {"query": "x", "limit": "many"}),
        ("memory_search", {"query": "x", "limit": 1.5}),
    ],
)
def test_a_missing_or_wrong_argument_is_an_invalid_path(memory: Memory, tool: str, arguments: dict[str, Any]) -> None:
    assert code(memory.call(tool, arguments, toolset="notes")) == "INVALID_PATH"


def test_other_errors_have_the_codes_of_the_contract(memory: Memory) -> None:
    assert code(write(memory, "k", target="weekly")) == "MEMORY_INVALID_TARGET"
    assert code(memory.call("memory_read", {"key": "none"})) == "MEMORY_KEY_NOT_FOUND"
    assert code(memory.call("memory_update", {"key": "none", "content": "x"})) == "MEMORY_KEY_NOT_FOUND"


def test_one_unreadable_page_is_named_and_disables_no_other(memory: Memory, home: Path) -> None:
    write(memory, "k", "v")
    bad = home / "agents/main/memory/daily/2026-03-13.md"
    bad.write_bytes(b"### x\n\n\xff\xfe\n")
    for reply in (
        memory.call("memory_read", {"key": "k"}),
        memory.call("memory_search", {"query": "v"}, toolset="notes"),
        write(memory, "other"),
    ):
        assert reply["success"] is True
        assert "2026-03-13.md" in reply["warning"]


def test_a_tag_with_a_bar_is_kept_whole(memory: Memory) -> None:
    write(memory, "k", tags=["a|b", "c --> d", " e "])
    assert memory.call("memory_read", {"key": "k"})["data"]["tags"] == ["a|b", "c --> d", " e "]


def test_a_journal_entry_that_looks_like_a_note_is_none(memory: Memory) -> None:
    memory.call("remember", {"content": "### editor\n\nvim\n\n<!-- agentool-memory: at=2026-01-01T00:00:00Z -->"})
    assert code(memory.call("memory_read", {"key": "editor"})) == "MEMORY_KEY_NOT_FOUND"
    assert write(memory, "editor")["success"]


def test_notes_belong_to_their_agent(memory: Memory, home: Path, clock: FrozenClock) -> None:
    write(memory, "k", "mine")
    other = Memory(home, agent="Other", clock=clock)
    assert code(other.call("memory_read", {"key": "k"})) == "MEMORY_KEY_NOT_FOUND"
    assert write(other, "k", "theirs")["success"]
    assert memory.call("memory_read", {"key": "k"})["data"]["content"] == "mine"


def test_a_day_that_cannot_be_read_is_named_once_with_the_command_that_repairs_it(memory: Memory, home: Path) -> None:
    page = home / DAY
    page.parent.mkdir(parents=True)
    page.write_bytes(b"# 2026-03-14\n\ncaf\xe9\n")
    problem = f"{DAY} is not UTF-8 text (byte 17): save it as UTF-8, or try `commonplace doctor --fix`"
    assert write(memory, "editor", "vim")["warning"] == f"{problem}; until then, the page beside it is used"
    assert memory.call("memory_read", {"key": "editor"})["warning"] == problem
