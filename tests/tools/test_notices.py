"""A write says what it replaces, so that the agent can act in the same turn."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.tools.notices import Comparison

from ..costs import count_calls, empty_caches


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


def test_a_line_of_the_activity_log_replaces_no_other(memory: Memory) -> None:
    for key in ("is it raining?", "todo: deploy", "deployed"):
        assert "supersedes" not in memory.call("write_memory", {"key": key, "content": "blue"})


def test_what_is_always_overwritten_names_nothing(memory: Memory) -> None:
    for content in ("Continue with the parser.", "Continue with the printer."):
        assert "supersedes" not in memory.call("write_session_handoff", {"content": content})
        assert "supersedes" not in memory.call("scratch_note", {"mode": "replace", "content": content})


def test_a_line_of_a_topic_that_takes_the_place_of_another_names_it(memory: Memory) -> None:
    memory.call("update_world", {"topic": "release", "content": "Deadline: 12 November\nOwner: Anna\n"})
    reply = memory.call("update_world", {"topic": "release", "content": "Deadline: 26 November\nOwner: Anna\n"})
    (notice,) = reply["supersedes"]
    assert notice["text"] == "Deadline: 12 November"
    assert notice["citation"] == "memory/world/release.md#L1"
    assert notice["kind"] == "replaced-line"


@pytest.mark.parametrize("tool", ["update_world", "reflect"])
@pytest.mark.parametrize(
    ("old", "new"),
    [("staging: elbe", "staging: oder"), ("- port: 8443", "- port: 9443"), ("**Lead:** Ann", "Lead: Bob")],
)
def test_one_word_under_a_label_that_takes_the_place_of_another_is_named(
    memory: Memory, tool: str, old: str, new: str
) -> None:
    topic = {"topic": "hosts"} if tool == "update_world" else {}
    memory.call(tool, {**topic, "content": f"{old}\nprod: rhein"})
    (notice,) = memory.call(tool, {**topic, "content": f"{new}\nprod: rhein"})["supersedes"]
    assert (notice["text"], notice["kind"]) == (old, "replaced-line")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- host: elbe\n- host: rhein", "- host: oder\n- host: main"),
        ("allergy: latex", "allergy: nuts"),
        ("10:30 lunch", "10:45 dinner"),
    ],
)
def test_items_under_one_label_replace_nothing(memory: Memory, old: str, new: str) -> None:
    memory.call("update_world", {"topic": "things", "content": old})
    assert "supersedes" not in memory.call("update_world", {"topic": "things", "content": new})


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


def _say(memory: Memory, text: str) -> list[str]:
    """Remember a text and return what the reply says it replaces."""
    return [notice["text"] for notice in memory.call("remember", {"content": text}).get("supersedes", ())]


def test_a_newer_value_of_a_fact_names_the_older_one_on_another_page(memory: Memory) -> None:
    memory.call("update_world", {"topic": "release", "content": "The launch is on 12 November.\n"})
    assert _say(memory, "The launch is on 26 November.") == ["The launch is on 12 November."]


def test_a_retraction_names_what_it_takes_back(memory: Memory) -> None:
    _say(memory, "We use Redis for sessions.")
    assert _say(memory, "We no longer use Redis for sessions.") == ["We use Redis for sessions."]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("タイムアウトは30秒。", "タイムアウトを60秒に変更した。"),
        ("リリースは11月20日。", "リリースは11月27日に延期になった。"),
    ],
)
def test_a_change_without_spaces_between_words_names_the_older_note(memory: Memory, older: str, newer: str) -> None:
    memory.call("update_world", {"topic": "notes", "content": older})
    reply = memory.call("remember", {"content": newer})
    assert [notice["text"] for notice in reply["supersedes"]] == [older]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I like tea.", "I like coffee."),
        ("Ran 5 km today.", "Ran 7 km today."),
        ("Anna lives in Berlin.", "Ben lives in Berlin."),
        ("The launch is on 12 November.", "The launch is on 12 November."),
    ],
)
def test_what_is_true_beside_the_other_replaces_nothing(memory: Memory, first: str, second: str) -> None:
    _say(memory, first)
    assert _say(memory, second) == []


def test_another_value_under_the_same_key_elsewhere_contradicts(memory: Memory) -> None:
    memory.call("MemoryTool", {"op": "setGlobal", "key": "editor", "value": "vim"})
    reply = memory.call("memory_write", {"key": "editor", "content": "emacs"})
    assert [notice["text"] for notice in reply["contradicts"]] == ["vim"]
    assert "supersedes" not in reply


def test_a_channel_neither_replaces_nor_contradicts_what_another_keeps(memory: Memory) -> None:
    def keep(channel: str, path: str) -> dict[str, Any]:
        value = f"The prompt file is {path}."
        record = {"op": "setChannel", "channelName": channel, "key": "project_file_paths", "value": value}
        return memory.call("MemoryTool", record)

    keep("skippy", "src/core/prompt.js")
    memory.call(
        "MemoryTool", {"op": "setGlobal", "key": "project_file_paths", "value": "The prompt file is prompt.md."}
    )
    assert keep("megafurnace", "lib/prompt.py") == {"success": True}
    assert keep("megafurnace", "lib/prompts.py")["supersedes"][0]["text"] == "The prompt file is lib/prompt.py."


def test_what_other_agents_keep_to_themselves_is_in_no_reply(tmp_path: Path) -> None:
    home = tmp_path / "home"
    Memory(home, agent="other").call("remember", {"content": "The launch is on 12 November."})
    assert _say(Memory(home, agent="main"), "The launch is on 26 November.") == []


def test_lines_of_one_text_do_not_replace_each_other(memory: Memory) -> None:
    lines = "- The port is 8080.\n- The port is 9090.\n"
    assert "supersedes" not in memory.call("update_world", {"topic": "limits", "content": lines})


def test_a_value_that_is_set_back_names_the_one_between(memory: Memory) -> None:
    for port in (8080, 9090):
        memory.call("remember", {"content": f"The port is {port}."})
    reply = memory.call("remember", {"content": "The port is 8080."})
    assert [notice["text"] for notice in reply["supersedes"]] == ["The port is 9090."]


def test_of_a_fact_with_many_versions_the_newest_is_named(memory: Memory) -> None:
    for number in range(60):
        memory.call("remember", {"content": f"The gateway listens on port {7000 + number}."})
        memory.call("remember", {"content": f"The gateway of site {number} was cleaned."})
    reply = memory.call("remember", {"content": "The gateway listens on port 8443."})
    assert reply["supersedes"][0]["text"] == "The gateway listens on port 7059."


def test_a_line_that_is_only_removed_is_not_replaced_by_one_about_something_else(tmp_path: Path) -> None:
    hosts = "The staging host is stg1.example.com.\nThe prod host is prod1.example.com.\n"
    Memory(tmp_path / "home", agent="one").call("update_world", {"topic": "infra", "content": hosts})
    other = Memory(tmp_path / "home", agent="two")
    reply = other.call("update_world", {"topic": "infra", "content": "The staging host is stg3.example.com.\n"})
    assert [notice["text"] for notice in reply["supersedes"]] == ["The staging host is stg1.example.com."]
    assert reply["conflict"] == hosts.rstrip("\n")


def test_a_value_elsewhere_is_shown_as_one_line_with_a_plain_reason(memory: Memory) -> None:
    memory.call("memory_write", {"key": "editor", "content": "vim,\nwith plugins", "tags": ["tools"]})
    (notice,) = memory.call("write_memory", {"key": "editor", "content": "helix"})["contradicts"]
    assert (notice["text"], notice["reason"]) == ("vim, with plugins", "a note has another value for editor")
    memory.call("write_memory", {"key": "shell", "content": "fish"})
    (notice,) = memory.call("memory_write", {"key": "shell", "content": "zsh"})["contradicts"]
    assert (notice["text"], notice["reason"]) == ("fish", "working memory has another value for shell")


def test_a_reply_says_how_to_answer_that_both_are_true(memory: Memory) -> None:
    memory.call("remember", {"content": "The launch is on 12 November."})
    (notice,) = memory.call("remember", {"content": "The launch is on 26 November."})["supersedes"]
    command, _, citations = notice["advice"].partition("--not ")
    assert command == "if both are true: commonplace supersede "
    old, new = shlex.split(citations)
    memory.supersede(old, new, reject=True)
    assert all(hit.superseded_by is None for hit in memory.search("when is the launch?"))


def test_what_a_note_replaces_costs_the_same_on_a_long_page(memory: Memory) -> None:
    def write(number: int) -> Any:
        return memory.call("memory_write", {"key": f"key {number}", "content": f"fruit {number}"})

    def write_many(first: int) -> int:
        return sum(count_calls(write, number) for number in range(first, first + 5))

    empty_caches()
    write(0)
    short = write_many(1)
    for number in range(10, 200):
        write(number)
    assert write_many(300) < 2 * short


def test_a_heading_that_goes_on_with_a_line_of_the_page_is_no_note(memory: Memory) -> None:
    memory.call("write_memory", {"key": "editor", "content": "helix"})
    path = "memory/world/tools.md"
    memory.home.writer.edit(path, lambda _: "### shell\n\nfish\n\nsee issue")
    footer = "<!-- agentool-memory: at=2026-03-14T09:26:53Z -->"
    with memory.home.writer.call("edit") as context:
        memory.home.writer.edit(path, lambda old: f"{old}### editor\n\nvim\n\n{footer}\n")
    assert Comparison(memory.home, context.edits).describe() == {}
