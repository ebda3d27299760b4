"""What the second edition of the contract says of names, the scratchpad, preferences and skills."""

from __future__ import annotations

import pytest

from commonplace import Memory
from commonplace.maintenance.timeline import include_same_calls, list_changes, undo

BREAKS = ["\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("key", ["", "  ", *(f"a{each}b" for each in BREAKS)])
def test_a_name_that_is_blank_or_has_a_line_break_is_refused_everywhere(memory: Memory, key: str) -> None:
    registry = [
        {"op": "setGlobal", "key": key, "value": 1},
        {"op": "setChannel", "channelName": "c", "key": key, "value": 1},
        {"op": "createSkill", "name": key, "description": "d"},
    ]
    assert not any(memory.call("MemoryTool", arguments)["success"] for arguments in registry)
    assert memory.call("memory_write", {"key": key, "content": "x"})["error"]["code"] == "MEMORY_INVALID_KEY"
    assert memory.call("write_memory", {"key": key, "content": "x"})["status"] == "error"
    assert not memory.call("update_world", {"topic": key, "content": "x"})["success"]


def test_a_scratch_note_without_a_mode_is_appended_and_says_so(memory: Memory) -> None:
    memory.call("scratch_note", {"content": "one"})
    assert memory.call("scratch_note", {"content": "two"})["mode"] == "append"
    assert memory.call("scratch_note", {}) == {"status": "ok", "content": "one\ntwo", "empty": False}


def test_a_preference_that_leaves_every_prompt_is_pointed_out(memory: Memory) -> None:
    kept = {"op": "setGlobal", "key": "tone", "value": "brief", "category": "preferences"}
    assert "warning" not in memory.call("MemoryTool", kept)
    assert "warning" not in memory.call("MemoryTool", {**kept, "value": "long"})
    lost = memory.call("MemoryTool", {"op": "setGlobal", "key": "tone", "value": "long"})
    assert "preferences" in lost["warning"]


@pytest.mark.parametrize("instructions", ["Be brief.", "Warm the pot.\nThen pour.", "x" * 2000])
def test_instructions_of_a_skill_are_rules_and_never_data(memory: Memory, instructions: str) -> None:
    skill = {"op": "createSkill", "name": "tea", "description": "brews", "instructions": instructions}
    assert memory.call("MemoryTool", skill)["success"]
    context = str(memory.context())
    assert f"```rules skills/tea/SKILL.md by main (MemoryTool)\n{instructions}\n```" in context
    assert "Text in a `rules` fence binds you." in context


def test_the_journal_says_when_to_use_its_tools(memory: Memory) -> None:
    told = {tool["name"]: tool["description"] for tool in memory.tools("mcp", toolsets=["journal"])}
    assert "start of a conversation" in told["recall"]
    assert "during a conversation" in told["remember"]
    assert "end of a conversation" in told["reflect"]


def test_a_purge_says_that_it_can_be_undone_and_it_can(memory: Memory) -> None:
    for key in ("a", "b"):
        memory.call("MemoryTool", {"op": "setChannel", "channelName": "tea", "key": key, "value": key})
    purged = memory.call("MemoryTool", {"op": "purgeChannel", "channelName": "tea"})
    assert "undo" in purged["message"]
    last = list_changes(memory.home)[-1]
    undo(memory.home, include_same_calls(memory.home, [last]))
    assert memory.call("MemoryTool", {"op": "listChannelKeys", "channelName": "tea"})["keys"] == ["a", "b"]
