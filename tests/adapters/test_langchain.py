"""LangChain: our tools and our retriever, by LangChain's standard tests and by ours."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from commonplace import InvalidArgument, Memory
from commonplace.adapters.langchain import MemoryRetriever, tools
from commonplace.testing import FrozenClock
from commonplace.toolsets import TOOLSETS

FACTS = ["Ann drinks rooibos tea.", "Bob drinks green tea.", "Cem drinks black tea.", "The dog is called Bruno."]


def make_memory(home: Path) -> Memory:
    memory = Memory(home, clock=FrozenClock())
    for number, fact in enumerate(FACTS):
        memory.call(
            "memory_write", {"key": f"fact-{number}", "content": fact, "tags": ["tea"] if "tea" in fact else []}
        )
    return memory


@pytest.fixture
def tools_by_name(memory: Memory) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in tools(memory, TOOLSETS)}


for standard in (
    ToolsIntegrationTests,
    RetrieversIntegrationTests,
):  # their async tests count on another mode of pytest
    for each in vars(standard).values():
        if inspect.iscoroutinefunction(each):
            pytest.mark.asyncio(each)


class OnAHome:
    """The standard tests ask for parameters without a fixture: the home is made before."""

    home: Path

    @pytest.fixture(autouse=True)
    def made(self, tmp_path: Path) -> None:
        type(self).home = tmp_path


EXAMPLES: dict[str, dict[str, Any]] = {
    "remember": {"content": "Ann drinks rooibos tea."},
    "memory_search": {"query": "tea"},
    "MemoryTool": {"op": "setGlobal", "key": "drink", "value": {"likes": ["tea"]}},
}


class _OneTool(OnAHome):
    name = ""

    @property
    def tool_constructor(self) -> BaseTool:
        return next(tool for tool in tools(make_memory(self.home), TOOLSETS) if tool.name == self.name)

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return EXAMPLES[self.name]


class TestRemember(_OneTool, ToolsUnitTests):
    name = "remember"


class TestSearch(_OneTool, ToolsUnitTests):
    name = "memory_search"


class TestRegistry(_OneTool, ToolsUnitTests):
    name = "MemoryTool"


class TestRememberRuns(_OneTool, ToolsIntegrationTests):
    name = "remember"


class TestSearchRuns(_OneTool, ToolsIntegrationTests):
    name = "memory_search"


class TestRegistryRuns(_OneTool, ToolsIntegrationTests):
    name = "MemoryTool"


class TestRetriever(OnAHome, RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[MemoryRetriever]:
        return MemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": make_memory(self.home)}

    @property
    def retriever_query_example(self) -> str:
        return "who drinks tea?"


def test_every_tool_is_offered_as_the_memory_describes_it(memory: Memory, tools_by_name: dict[str, BaseTool]) -> None:
    described = {each["function"]["name"]: each for each in memory.tools("openai", TOOLSETS)}
    assert {name: convert_to_openai_tool(tool) for name, tool in tools_by_name.items()} == described


def test_a_tool_answers_as_the_memory_does(memory: Memory, tools_by_name: dict[str, BaseTool]) -> None:
    written = json.loads(tools_by_name["memory_write"].invoke({"key": "drink", "content": "tea"}))
    assert written["success"]
    assert memory.call("memory_read", {"key": "drink"})["data"]["content"] == "tea"
    assert json.loads(asyncio.run(tools_by_name["memory_read"].ainvoke({"key": "drink"})))["data"]["content"] == "tea"
    assert json.loads(tools_by_name["memory_read"].invoke('{"key": "drink"}'))["data"]["content"] == "tea"


@pytest.mark.parametrize("arguments", [{}, {"key": 5}, {"key": "nowhere"}, {"key": "\ud800"}, "not json", "[1]"])
def test_what_a_model_does_wrong_is_answered_as_text(tools_by_name: dict[str, BaseTool], arguments: Any) -> None:
    answer = tools_by_name["memory_read"].invoke(arguments)
    assert json.loads(answer)["error"]
    assert json.loads(asyncio.run(tools_by_name["memory_read"].ainvoke(arguments)))["error"]


def test_the_message_of_a_call_that_failed_says_so(tools_by_name: dict[str, BaseTool]) -> None:
    def call(key: str) -> ToolMessage:
        return tools_by_name["memory_read"].invoke(
            {"type": "tool_call", "id": "1", "name": "memory_read", "args": {"key": key}}
        )  # type: ignore[no-any-return]

    tools_by_name["memory_write"].invoke({"key": "drink", "content": "tea"})
    assert (call("drink").status, call("nowhere").status) == ("success", "error")


def test_a_graph_of_langgraph_calls_the_tools(memory: Memory) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools(memory)))
    graph.add_edge(START, "tools")
    calls = [
        {"type": "tool_call", "id": "1", "name": "remember", "args": {"content": "Ann drinks rooibos."}},
        {"type": "tool_call", "id": "2", "name": "remember", "args": {}},
    ]
    result = graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls)]})  # type: ignore[arg-type]
    assert [message.status for message in result["messages"][1:]] == ["success", "error"]
    assert memory.search("rooibos")


def test_only_the_toolsets_that_are_asked_for_are_offered(memory: Memory) -> None:
    assert [tool.name for tool in tools(memory, ["retrieval"])] == [
        each["function"]["name"] for each in memory.tools("openai", ["retrieval"])
    ]


def test_a_document_names_its_page(home: Path) -> None:
    retriever = MemoryRetriever(memory=make_memory(home), k=1, filters={"tags": ["tea"]})
    (result,) = retriever.invoke("rooibos")
    assert result.page_content.endswith("Ann drinks rooibos tea.")
    assert 0 < result.metadata.pop("score") <= 1
    assert result.metadata == {
        "path": "agents/main/memory/daily/2026-03-14.md",
        "lines": [1, 3],
        "scope": "agent:main",
        "source": "memory",
        "key": "fact-0",
        "tags": ["tea"],
        "at": "2026-03-14T09:26:53.000000Z",
        "citation": "agents/main/memory/daily/2026-03-14.md#L1-L3",
        "author": "main (memory_write)",
    }
    assert result.id == result.metadata["citation"]


def test_filters_narrow_what_is_found(home: Path) -> None:
    retriever = MemoryRetriever(memory=make_memory(home), min_score=0.0)
    assert all("tea" in result.page_content for result in retriever.invoke("what is there?", tags=["tea"]))
    assert retriever.invoke("tea", until="2020") == []
    assert len(retriever.batch(["tea", "dog"])) == 2


def test_a_question_or_a_filter_that_makes_no_sense_is_an_error_that_says_so(home: Path) -> None:
    retriever = MemoryRetriever(memory=make_memory(home))
    with pytest.raises(InvalidArgument, match="the query is blank"):
        retriever.invoke(" ")
    with pytest.raises(InvalidArgument, match="unknown filter"):
        retriever.invoke("tea", colour="green")
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        MemoryRetriever(memory=make_memory(home), k=0)


def test_without_langchain_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['langchain_core.tools'] = None\nimport commonplace.adapters.langchain"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'commonplace[langchain]'" in done.stderr


def test_no_name_of_an_argument_gets_in_the_way_of_a_call(tmp_path: Path) -> None:
    remember = {tool.name: tool for tool in tools(Memory(tmp_path), "journal")}["remember"]
    answer = remember.invoke({"content": "tea", "self": 1})
    assert "ignored what this does not take: self" in answer
    assert "ignored" in asyncio.run(remember.ainvoke({"content": "tea", "self": 1, "config": {}}))
