"""An agent of pydantic-ai with memory's tools. No network: its own models for tests."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from commonplace import Memory
from commonplace.adapters.pydantic_ai import CommonplaceToolset, instructions
from commonplace.toolsets import EVERYDAY, TOOLSETS


def answers(messages: list[ModelMessage]) -> list[Any]:
    """What the tools answered."""
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    return [json.loads(part.content) for part in parts if isinstance(part, ToolReturnPart)]


def calling(*calls: tuple[str, dict[str, Any] | str]) -> FunctionModel:
    """A model that calls all of these at once, then says done."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in calls])

    return FunctionModel(reply)


def run(agent: Agent[None, str], prompt: str = "go") -> list[ModelMessage]:
    """Return all messages of a run."""
    return asyncio.run(agent.run(prompt)).all_messages()


def test_an_agent_remembers_and_finds_again(memory: Memory) -> None:
    toolset = CommonplaceToolset(memory)
    agent = Agent(calling(("remember", {"content": "The deploy day is Thursday."})), toolsets=[toolset])
    assert answers(run(agent, "We deploy on Thursdays."))[0]["success"]
    request = Agent(calling(("memory_search", {"query": "deploy day"})), toolsets=[toolset])
    (result,) = answers(run(request, "When?"))
    assert "The deploy day is Thursday." in result["results"][0]["text"]


@pytest.mark.parametrize("strict", [False, True])
def test_every_tool_can_be_called_with_what_its_schema_asks_for(memory: Memory, strict: bool) -> None:
    """pydantic-ai's test model calls every tool once, with arguments made from the schema."""
    agent = Agent(TestModel(seed=1), toolsets=[CommonplaceToolset(memory, TOOLSETS, strict=strict)])
    result = answers(run(agent))
    assert len(result) == 15
    assert not [each for each in result if "must be" in str(each)]


def test_the_model_sees_the_tools_under_the_names_of_memory(memory: Memory) -> None:
    model = TestModel(call_tools=[])
    run(Agent(model, toolsets=[CommonplaceToolset(memory)]))
    assert model.last_model_request_parameters
    function_tools = model.last_model_request_parameters.function_tools
    expected = memory.tools("anthropic", EVERYDAY)
    assert [(t.name, t.description, t.parameters_json_schema) for t in function_tools] == [
        (t["name"], t["description"], t["input_schema"]) for t in expected
    ]
    assert {tool.strict for tool in function_tools} == {None}


def test_strict_tools_have_the_strict_schema(memory: Memory) -> None:
    tools = CommonplaceToolset(memory, strict=True).tools
    expected = {
        t["function"]["name"]: t["function"]["parameters"] for t in memory.tools("openai", EVERYDAY, strict=True)
    }
    assert {name: tool.tool_def.parameters_json_schema for name, tool in tools.items()} == expected
    assert all(tool.strict for tool in tools.values())


def test_what_a_model_does_wrong_is_answered_and_not_raised(memory: Memory) -> None:
    calls = [("remember", {}), ("remember", {"content": 5}), ("recall", {"days": "many"})]
    done = run(Agent(calling(*calls), toolsets=[CommonplaceToolset(memory)]))
    assert [answer["success"] for answer in answers(done)] == [False, False, False]


def test_a_parameter_named_as_python_reserves_it_is_passed(memory: Memory) -> None:
    memory.call("update_world", {"topic": "people", "content": "one\ntwo\nthree"})
    call = ("memory_get", {"path": "memory/world/people.md", "from": 2, "lines": 1})
    done = run(Agent(calling(call), toolsets=[CommonplaceToolset(memory)]))
    assert answers(done)[0]["text"] == memory.call(*call)["text"]


def test_many_calls_at_once_lose_nothing(memory: Memory) -> None:
    calls = [("remember", {"content": f"Fact number {number}."}) for number in range(12)]
    done = run(Agent(calling(*calls), toolsets=[CommonplaceToolset(memory)]))
    assert all(answer["success"] for answer in answers(done))
    assert all(f"Fact number {number}." in memory.call("recall")["content"] for number in range(12))


def test_instructions_are_the_context_as_it_is_at_each_run(memory: Memory) -> None:
    seen: list[str | None] = []

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info.instructions)
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(FunctionModel(reply), instructions=instructions(memory, recall=False))
    run(agent)
    memory.call("reflect", {"content": "Ada prefers short answers."})
    run(agent)
    assert "Ada prefers short answers." not in str(seen[0])
    assert str(seen[1]).strip() == str(memory.context()).strip()
    assert "Ada prefers short answers." in str(seen[1])


def test_instructions_recall_what_answers_the_prompt(memory: Memory) -> None:
    parcels = "\n\n".join(f"Parcel {number} went to harbour {number % 7}." for number in range(40))
    memory.call("update_world", {"topic": "week", "content": f"{parcels}\n\nThe deploy day is Thursday."})
    seen: list[str | None] = []

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info.instructions)
        return ModelResponse(parts=[TextPart("done")])

    run(Agent(FunctionModel(reply), instructions=instructions(memory)), "When is the deploy day?")
    run(Agent(FunctionModel(reply), instructions=instructions(memory, recall=False)), "When is the deploy day?")
    run(Agent(FunctionModel(reply), instructions=instructions(memory)), " ")
    assert ["Thursday" in str(each) for each in seen] == [True, False, False]


def test_two_memories_serve_one_agent_under_names_of_their_own(memory: Memory, home: Any) -> None:
    other = CommonplaceToolset(Memory(home, agent="other"), id="other")
    agent = Agent(
        calling(("other_remember", {"content": "Mine."})),
        toolsets=[CommonplaceToolset(memory), other.prefixed("other")],
    )
    assert answers(run(agent))[0]["success"]
    assert "Mine." in Memory(home, agent="other").call("recall")["content"]
