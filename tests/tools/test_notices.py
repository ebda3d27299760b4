"""A write says what it replaces, so that the agent can act in the same turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "home", agent="main")


def test_a_new_value_of_a_record_names_the_old_one(memory: Memory) -> None:
    operation = {"op": "setGlobal", "key": "port", "category": "facts"}
    assert "supersedes" not in memory.call("MemoryTool", {**operation, "value": 8080})
    reply = memory.call("MemoryTool", {**operation, "value": 9090})
    assert reply["supersedes"][0]["text"] == "8080"
    assert reply["supersedes"][0]["kind"] == "same-key"


def test_the_same_value_again_replaces_nothing(memory: Memory) -> None:
    operation = {"op": "setGlobal", "key": "port", "value": 8080}
    assert memory.call("MemoryTool", operation)["success"]
    assert "supersedes" not in memory.call("MemoryTool", operation)


def test_an_updated_note_names_what_it_said_before(memory: Memory) -> None:
    memory.call("memory_write", {"key": "deadline", "content": "12 November"})
    memory.call("memory_write", {"key": "owner", "content": "Anna"})
    reply = memory.call("memory_update", {"key": "deadline", "content": "26 November"})
    assert [notice["text"] for notice in reply["supersedes"]] == ["12 November"]


def test_a_working_note_that_is_written_again_names_its_old_value(memory: Memory) -> None:
    memory.call("write_memory", {"key": "editor", "content": "The user works in vim."})
    reply = memory.call("write_memory", {"key": "editor", "content": "The user works in helix."})
    assert [notice["text"] for notice in reply["supersedes"]] == ["The user works in vim."]


def test_a_line_of_a_topic_that_takes_the_place_of_another_names_it(memory: Memory) -> None:
    memory.call("update_world", {"topic": "release", "content": "Deadline: 12 November\nOwner: Anna\n"})
    reply = memory.call("update_world", {"topic": "release", "content": "Deadline: 26 November\nOwner: Anna\n"})
    (notice,) = reply["supersedes"]
    assert notice["text"] == "Deadline: 12 November"
    assert notice["citation"] == "memory/world/release.md#L1"
    assert notice["kind"] == "replaced-line"


def test_lines_that_are_only_added_replace_nothing(memory: Memory) -> None:
    memory.call("update_world", {"topic": "release", "content": "Owner: Anna\n"})
    reply = memory.call("update_world", {"topic": "release", "content": "Owner: Anna\nDeadline: 26 November\n"})
    assert "supersedes" not in reply


def test_a_reply_has_a_few_words_of_a_long_text_and_at_most_three(memory: Memory) -> None:
    old = "".join(f"Server {number} listens on port {number}\n" for number in range(9))
    memory.call("update_world", {"topic": "ports", "content": old + "Note: " + "long " * 500})
    new = "".join(f"Server {number} listens on port {number + 100}\n" for number in range(9))
    reply = memory.call("update_world", {"topic": "ports", "content": new + "Note: " + "long " * 499 + "short"})
    assert len(reply["supersedes"]) == 3
    assert all(len(notice["text"]) < 250 for notice in reply["supersedes"])
