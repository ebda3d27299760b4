"""What tools answer is what they say they answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from commonplace import Memory
from commonplace.testing import FrozenClock
from commonplace.tools import catalog

Call = tuple[str, str, dict[str, Any]]
CALLS: list[Call] = [
    ("journal", "recall", {}),
    ("journal", "remember", {"content": "Ann prefers rooibos."}),
    ("journal", "reflect", {"content": "Ann drinks tea."}),
    ("journal", "update_world", {"topic": "Ann", "content": "She drinks tea."}),
    ("journal", "recall", {"days": 1}),
    ("notes", "memory_write", {"key": "k", "content": "tea", "tags": ["a"]}),
    ("notes", "memory_update", {"key": "k", "content": "rooibos"}),
    ("notes", "memory_read", {"key": "k"}),
    ("notes", "memory_search", {"query": "rooibos"}),
    ("working", "write_memory", {"key": "w", "content": "one"}),
    ("working", "search_memory", {"query": "one"}),
    ("working", "write_session_handoff", {"content": "go on"}),
    *(("working", "scratch_note", {"mode": mode, "content": "x"}) for mode in ("replace", "append", "read", "clear")),
    ("retrieval", "memory_search", {"query": "rooibos"}),
    ("retrieval", "memory_search", {"query": "rooibos", "strange": 1}),
    ("retrieval", "memory_get", {"path": "agents/main/memory/MEMORY.md"}),
    ("registry", "MemoryTool", {"op": "setGlobal", "key": "g", "value": {"a": [1, None]}, "tags": ["t"]}),
    ("registry", "MemoryTool", {"op": "setChannel", "channelName": "c", "key": "g", "value": False}),
    ("registry", "MemoryTool", {"op": "createSkill", "name": "s", "description": "brew tea"}),
    ("registry", "MemoryTool", {"op": "updateSkill", "name": "s", "newData": {"skill_data": 1}}),
    *(("registry", "MemoryTool", {"op": op, "key": "g", "query": "tea g", "channelName": "c", "category": "general",
                                  "name": "s", "username": "u"})
      for op in ("getGlobal", "listGlobal", "searchGlobal", "getChannel", "getChannelByCategory", "listChannelKeys",
                 "listChannels", "getSkill", "listSkills", "listSkillsForUser", "search", "deleteSkill",
                 "deleteChannel", "deleteGlobal")),
    ("registry", "MemoryTool", {"op": "setChannel", "channelName": "c", "key": "g", "value": False}),
    ("registry", "MemoryTool", {"op": "purgeChannel", "channelName": "c"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Call, dict[str, Any]]]:
    memory = Memory(tmp_path_factory.mktemp("home"), clock=FrozenClock())
    return [(each, memory.call(each[1], each[2], each[0])) for each in CALLS]


def test_every_answer_is_as_its_tool_says(replies: list[tuple[Call, dict[str, Any]]]) -> None:
    for (toolset, name, arguments), reply in replies:
        assert reply.get("success", True) is True, (name, arguments, reply)
        Draft202012Validator(catalog.load(toolset).tools[name].answer.schema()).validate(reply)


def test_every_field_of_an_answer_is_announced(replies: list[tuple[Call, dict[str, Any]]]) -> None:
    for (toolset, name, _), reply in replies:
        assert set(reply) <= set(catalog.load(toolset).tools[name].answer.fields), name


def test_every_tool_and_operation_is_among_these_calls() -> None:
    from commonplace.tools.registry import OPERATIONS

    assert {name for _, name, _ in CALLS} == {offer.tool.name or offer.tool.run.__name__ for offer in catalog.offers()}
    assert {each["op"] for _, name, each in CALLS if name == "MemoryTool"} == set(OPERATIONS)


def test_the_shape_of_an_answer_is_a_schema(tmp_path: Path) -> None:
    for tool in Memory(tmp_path).tools("mcp"):
        Draft202012Validator.check_schema(tool["outputSchema"])
        Draft202012Validator.check_schema(tool["inputSchema"])
