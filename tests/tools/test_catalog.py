from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import InvalidArgument, UnknownTool
from commonplace.testing import FrozenClock
from commonplace.tools.catalog import load, offers
from commonplace.toolsets import EVERYDAY, TOOLSETS

EVERY = {
    "notes": ["memory_write", "memory_update", "memory_read", "memory_search"],
    "working": ["search_memory", "write_memory", "write_session_handoff", "scratch_note"],
    "journal": ["recall", "remember", "reflect", "update_world"],
    "retrieval": ["memory_search", "memory_get"],
    "registry": ["MemoryTool"],
}


def test_every_toolset_has_the_tools_of_the_contract() -> None:
    assert {name: list(load(name).tools) for name in TOOLSETS} == EVERY


def test_the_first_listed_toolset_keeps_a_shared_name() -> None:
    def list_names(*toolsets: str) -> list[str]:
        return [offer.name for offer in offers(toolsets) if "memory_search" in offer.name]

    assert list_names("notes", "retrieval") == ["memory_search", "retrieval_memory_search"]
    assert list_names("retrieval", "notes") == ["memory_search", "notes_memory_search"]
    assert list_names("notes") == list_names("retrieval") == ["memory_search"]
    (second,) = [offer for offer in offers(("notes", "retrieval")) if offer.name == "retrieval_memory_search"]
    assert "notes" in second.note


def test_memory_search_alone_is_retrievals_and_both_have_a_long_name(memory: Memory) -> None:
    memory.call("memory_write", {"key": "k", "content": "v"})
    assert "results" in memory.call("memory_search", {"query": "v"})
    assert "results" in memory.call("retrieval_memory_search", {"query": "v"})
    assert "data" in memory.call("notes_memory_search", {"query": "v"})
    assert "data" in memory.call("memory_search", {"query": "v"}, toolset="notes")


@pytest.mark.parametrize("shape", ["openai", "openai-responses", "anthropic", "gemini", "mcp"])
def test_schemas_are_flat_described_and_json(memory: Memory, shape: str) -> None:
    tools = memory.tools(shape)
    assert len(tools) == 15
    json.dumps(tools)
    for tool in tools:
        tool = tool.get("function", tool)
        schema = tool.get("parameters") or tool.get("input_schema") or tool.get("inputSchema")
        assert schema["type"] in ("object", "OBJECT")
        assert tool["description"]
        text = json.dumps(schema)
        assert "$ref" not in text
        assert "oneOf" not in text
        for name, field in schema["properties"].items():
            branches = [field] if "description" in field else field["anyOf"]  # Gemini takes nothing beside `anyOf`
            assert all(branch["description"] for branch in branches), (tool["name"], name)
            assert "type" in field or "anyOf" in field
        assert set(schema["required"]) <= set(schema["properties"])


def test_the_signature_is_the_schema(memory: Memory) -> None:
    by_name = {tool["name"]: tool["input_schema"] for tool in memory.tools("anthropic", toolsets=["notes", "registry"])}
    write = by_name["memory_write"]
    assert write["required"] == ["key", "content"]
    assert write["properties"]["target"]["enum"] == ["daily", "summary"]
    assert write["properties"]["target"]["default"] == "daily"
    assert write["properties"]["tags"]["items"] == {"type": "string"}
    assert (
        by_name["memory_search"]["properties"]["limit"]["minimum"],
        by_name["memory_search"]["properties"]["limit"]["maximum"],
    ) == (1, 100)
    registry = by_name["MemoryTool"]
    assert registry["required"] == ["op"]
    assert len(registry["properties"]["op"]["enum"]) == 19


def test_mcp_annotations_tell_what_a_tool_may_do(memory: Memory) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in memory.tools("mcp")}
    assert hints["recall"]["readOnlyHint"]
    assert not hints["remember"]["destructiveHint"]
    assert hints["reflect"]["destructiveHint"]
    assert not any(hint["openWorldHint"] for hint in hints.values())


@pytest.mark.parametrize("arguments", ["not json", "[1]", 5, ["x"], '"text"'])
def test_arguments_that_are_no_object_are_refused_in_the_toolsets_form(memory: Memory, arguments: Any) -> None:
    assert memory.call("recall", arguments)["success"] is False
    assert memory.call("write_memory", arguments)["status"] == "error"
    assert memory.call("memory_read", arguments)["error"]["code"] == "INVALID_PATH"
    assert memory.call("memory_search", arguments)["results"] == []
    assert memory.call("MemoryTool", arguments)["success"] is False


def test_arguments_may_come_as_json_text(memory: Memory) -> None:
    assert memory.call("remember", '{"content": "x"}')["success"]


def test_unknown_tools_and_toolsets_are_reported_with_what_there_is(memory: Memory) -> None:
    assert "memory_write" in memory.call("nothing")["error"]
    assert "journal" in memory.call("recall", {}, toolset="nothing")["error"]
    assert "recall" in memory.call("memory_get", {}, toolset="journal")["error"]
    assert memory.call("recall", {}, toolset="notes")["error"]["code"] == "INVALID_PATH"


def test_an_argument_that_nothing_takes_is_reported_and_the_rest_is_done(memory: Memory) -> None:
    reply = memory.call("memory_write", {"key": "k", "content": "v", "tag": ["x"]})
    assert reply["success"]
    assert "tag" in reply["warning"]


def test_null_counts_as_not_given(memory: Memory) -> None:
    assert memory.call("recall", {"days": None})["success"]
    assert memory.call("memory_write", {"key": "k", "content": "v", "tags": None, "target": None})["success"]


def test_the_action_protocol_runs_every_action_in_order(memory: Memory) -> None:
    reply = {
        "reasoning": "keep a fact",
        "actions": [
            {
                "type": "tool_call",
                "tool": "MemoryTool",
                "arguments": {"op": "setGlobal", "key": "k", "value": 1},
                "reasoning": "x",
            },
            {"type": "tool_call", "tool": "MemoryTool", "arguments": {"op": "getGlobal", "key": "none"}},
            {"type": "tool_call", "tool": "nothing", "arguments": {}},
            {"type": "dance"},
            "no object",
            {"type": "tool_call", "tool": "MemoryTool", "arguments": '{"op": "getGlobal", "key": "k"}'},
            {"type": "tool_call", "tool": "remember", "arguments": {"content": "did it"}},
        ],
        "final_answer": "done",
        "continue": True,
    }
    for arguments in (reply, json.dumps(reply), f"```json\n{json.dumps(reply)}\n```"):
        result = memory.run(arguments)
        assert [each["success"] for each in result["results"]] == [True, False, False, False, False, True, True]
        assert result["results"][5]["value"] == 1
        assert (result["final_answer"], result["continue"]) == ("done", True)


@pytest.mark.parametrize("reply", ["no json", [], 5, {"actions": 5}, None])
def test_a_reply_that_is_no_action_is_reported(memory: Memory, reply: Any) -> None:
    assert memory.run(reply)["success"] is False


def test_a_reply_without_actions_does_nothing(memory: Memory) -> None:
    assert memory.run({"final_answer": "hi", "continue": False})["results"] == []


def form_of(reply: dict[str, Any]) -> str:
    """Which toolset answered an empty call, told by its form."""
    if reply.get("status") == "error":
        return "working"
    if isinstance(reply.get("error"), dict):
        return "notes"
    if "results" in reply or "path" in reply:
        return "retrieval"
    return "registry" if str(reply.get("error")).endswith(": op") else "journal"


@pytest.mark.parametrize(
    "toolsets", [selection for size in (1, 2, 5) for selection in permutations(TOOLSETS, size)][::7], ids="-".join
)
def test_every_name_that_is_offered_calls_the_tool_it_describes(memory: Memory, toolsets: tuple[str, ...]) -> None:
    for offer in offers(toolsets):
        if offer.name not in ("recall", "scratch_note"):  # these two do something when called with nothing
            assert form_of(memory.call(offer.name, {}, toolset=toolsets)) == offer.toolset.name, offer.name


@pytest.mark.parametrize("has_search", [True, False])
@pytest.mark.parametrize("has_memory", [True, False])
def test_what_is_offered_under_a_name_is_what_a_call_of_it_runs(
    home: Path, clock: FrozenClock, has_search: bool, has_memory: bool
) -> None:
    (home / "agents/scout").mkdir(parents=True)
    (home / "commonplace.yaml").write_text(f"memorySearch:\n  enabled: {str(has_search).lower()}\n")
    (home / "agents/scout/agent.yaml").write_text("spec:\n  memory: {}\n" if has_memory else "spec: {}\n")
    memory = Memory(home, "scout", clock=clock)
    for toolsets in [*(selection for size in range(1, 6) for selection in permutations(TOOLSETS, size)), EVERYDAY]:
        offered = offers(toolsets, memory.home)
        assert [tool["name"] for tool in memory.tools("anthropic", toolsets)] == [offer.name for offer in offered]
        for offer in offered:
            if offer.name not in ("recall", "scratch_note"):  # these two do something when called with nothing
                reply = memory.call(offer.name, {}, toolset=toolsets)
                assert form_of(reply) == offer.toolset.name, (toolsets, offer.name)
                assert "switched off" not in str(reply)


def test_without_search_a_plain_memory_search_is_retrievals_refusal(home: Path) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text("memorySearch:\n  enabled: false\n")
    memory = Memory(home)
    assert "switched off" in memory.call("memory_search", {"query": "x"})["error"]
    assert "switched off" in memory.call("memory_search", {"query": "x"}, "retrieval")["error"]
    assert memory.call("memory_search", {"query": "x"}, ["retrieval", "notes"])["success"]


def test_one_toolset_is_named_without_a_list(memory: Memory) -> None:
    (tool,) = memory.tools("anthropic", "registry")
    assert tool["name"] == "MemoryTool"
    assert memory.tools("anthropic", "notes") == memory.tools("anthropic", ["notes"])


@pytest.mark.parametrize("toolsets", [[], ["none"], "none", 5, [5]])
def test_toolsets_to_describe_that_do_not_exist_are_refused(memory: Memory, toolsets: Any) -> None:
    with pytest.raises(UnknownTool, match="journal"):
        memory.tools("anthropic", toolsets)


def test_without_search_no_tool_is_offered_by_a_name_that_a_call_refuses(home: Path) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text("memorySearch:\n  enabled: false\n")
    memory = Memory(home)
    names = [tool["name"] for tool in memory.tools("anthropic")]
    assert "notes_memory_search" in names
    assert not {"memory_search", "memory_get"} & {*names}
    assert not [name for name in names if "switched off" in str(memory.call(name, {}))]


@pytest.mark.parametrize("toolset", [[], ["none"], 5, [5], {"notes"}])
def test_an_unknown_toolset_is_reported(memory: Memory, toolset: Any) -> None:
    assert "journal" in memory.call("recall", {}, toolset)["error"]


def test_arguments_of_another_operation_are_reported(memory: Memory) -> None:
    reply = memory.call("MemoryTool", {"op": "listGlobal", "username": "ann"})
    assert "username" in reply["warning"]
    assert "warning" not in memory.call("MemoryTool", {"op": "listGlobal", "category": "x"})


BREAKS = ["\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]


INVISIBLE = [
    "\u200b",
    "\u3164",
    "\u2800",
    "\u00ad",
    "\u115f \u200d",
    "\ufe0f",
    "\u061c",
    "\U000e0041",
    "\u034f",
    "\U0001d173",
]


@pytest.mark.parametrize("key", ["", "  ", *INVISIBLE, *(f"a{each}b" for each in BREAKS)])
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


@pytest.mark.parametrize("name", INVISIBLE)
def test_a_channel_a_user_or_an_agent_with_an_invisible_name_counts_as_none(
    memory: Memory, home: Path, name: str
) -> None:
    channel = {"op": "setChannel", "channelName": name, "key": "k", "value": 1}
    assert memory.call("MemoryTool", channel)["error"] == "Missing required parameter: channelName"
    assert str(memory.context(user=name, channel=name)) == str(memory.context())
    with pytest.raises(InvalidArgument):
        Memory(home, agent=name)


@pytest.mark.parametrize("key", [*(f"a{each}" for each in BREAKS), *(f"{each}a" for each in BREAKS)])
def test_a_line_break_around_a_name_is_refused_unless_the_tool_trims_its_keys(memory: Memory, key: str) -> None:
    for arguments in (
        {"op": "setGlobal", "key": key, "value": 1},
        {"op": "setChannel", "channelName": "c", "key": key, "value": 1},
        {"op": "createSkill", "name": key, "description": "d"},
    ):
        assert "more than one line" in memory.call("MemoryTool", arguments)["error"]
    assert "more than one line" in memory.call("update_world", {"topic": key, "content": "x"})["error"]
    assert memory.call("memory_write", {"key": key, "content": "x"})["data"]["key"] == "a"
    assert memory.call("write_memory", {"key": key, "content": "x"})["key"] == "a"


@pytest.mark.parametrize(
    ("tool", "arguments", "toolset"),
    [
        ("memory_write", {"key": "k" * 3000, "content": "x"}, "notes"),
        ("write_memory", {"key": "k" * 3000, "content": "x"}, "working"),
        ("update_world", {"topic": "k" * 3000, "content": "x"}, "journal"),
        ("MemoryTool", {"op": "setGlobal", "key": "k" * 3000, "value": "x"}, "registry"),
        ("MemoryTool", {"op": "setChannel", "channelName": "ops", "key": "k" * 3000, "value": "x"}, "registry"),
        ("MemoryTool", {"op": "createSkill", "name": "k" * 3000, "description": "x"}, "registry"),
    ],
)
def test_a_key_that_is_a_text_is_refused_with_the_limit(
    memory: Memory, tool: str, arguments: dict[str, Any], toolset: str
) -> None:
    reply = memory.call(tool, arguments, toolset)
    assert " has 3,000 characters; the limit is 2,000" in str(reply)
    assert reply.get("success") is not True
    short = {name: value[:2000] if isinstance(value, str) else value for name, value in arguments.items()}
    assert "may have" not in str(memory.call(tool, short, toolset))
