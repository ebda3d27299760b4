"""What is rendered for a model API is in the part of JSON Schema which that API documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic.types import ToolParam
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

from commonplace import InvalidArgument, Memory
from commonplace.surfaces.cli import cli
from commonplace.tools.schemas import SHAPES, STRICT, describe
from commonplace.toolsets import EVERYDAY, TOOLSETS

OPENAI_KEYWORDS = {"type", "description", "properties", "required", "additionalProperties", "items", "enum", "anyOf"}
ANTHROPIC_KEYWORDS = OPENAI_KEYWORDS
GEMINI_KEYWORDS = {"type", "description", "properties", "required", "items", "enum", "anyOf", "minimum", "maximum"}
JSON_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}


def schema_of(tool: dict[str, Any]) -> dict[str, Any]:
    tool = tool.get("function", tool)
    result: dict[str, Any] = tool.get("parameters") or tool.get("input_schema") or tool["inputSchema"]
    return result


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all schemas in it."""
    yield schema
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    for each in [*inside, *([schema["items"]] if "items" in schema else [])]:
        yield from nodes(each)


def types_of(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def check_json_schema_subset(schema: dict[str, Any], keywords: set[str]) -> None:
    assert schema["type"] == "object"  # no union at the root
    for node in nodes(schema):
        assert node.keys() <= keywords, node
        assert ("type" in node) != ("anyOf" in node), node
        assert {*types_of(node)} <= JSON_TYPES
        if "object" in types_of(node):
            assert node["additionalProperties"] is False
            assert {*node["required"]} <= node["properties"].keys()
        assert ("array" in types_of(node)) == ("items" in node)
        assert all(isinstance(choice, str) for choice in node.get("enum", []))


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "gemini"])
@pytest.mark.parametrize("strict", [False, True])
def test_every_schema_is_json_schema(memory: Memory, shape: str, strict: bool) -> None:
    for tool in memory.tools(shape, strict=strict and shape in STRICT):
        Draft202012Validator.check_schema(schema_of(tool))


@pytest.mark.parametrize("shape", ["openai", "openai-responses"])
def test_strict_for_openai_is_in_the_subset_it_documents(memory: Memory, shape: str) -> None:
    for tool in memory.tools(shape, strict=True):
        assert tool.get("function", tool)["strict"] is True
        schema = schema_of(tool)
        check_json_schema_subset(schema, OPENAI_KEYWORDS)
        for node in nodes(schema):
            assert node.get("required", []) == [*node.get("properties", {})]  # all of them, each time


def test_strict_for_anthropic_is_in_the_subset_it_documents(memory: Memory) -> None:
    for tool in memory.tools("anthropic", strict=True):
        if tool.get("strict"):
            check_json_schema_subset(schema_of(tool), ANTHROPIC_KEYWORDS)


@pytest.mark.parametrize("strict", [False, True])
def test_tools_are_what_the_sdks_take(memory: Memory, strict: bool) -> None:
    kinds: dict[str, Any] = {
        "openai": ChatCompletionFunctionToolParam,
        "openai-responses": FunctionToolParam,
        "anthropic": ToolParam,
    }
    for shape, kind in kinds.items():
        for tool in memory.tools(shape, strict=strict):
            assert TypeAdapter(kind).validate_python(tool)
            known = {name for part in kind.__mro__ for name in getattr(part, "__annotations__", {})}
            assert tool.keys() <= known


def test_one_request_to_anthropic_never_has_more_strict_tools_than_it_takes(memory: Memory) -> None:
    """20 tools, 24 parameters that may be left out, 16 with a choice of types: over all strict tools together."""
    for toolsets in (TOOLSETS, EVERYDAY, ["registry"], ["registry", *EVERYDAY]):
        strict = [schema_of(tool) for tool in memory.tools("anthropic", toolsets, strict=True) if "strict" in tool]
        assert len(strict) <= 20
        assert sum(len(schema["properties"]) - len(schema["required"]) for schema in strict) <= 24
        assert sum("anyOf" in each for schema in strict for each in schema["properties"].values()) <= 16


def test_the_tools_that_are_not_strict_are_these(memory: Memory) -> None:
    """MemoryTool has 14 parameters that may be left out: beside all other tools that is more than Anthropic takes."""

    def loose(shape: str, toolsets: Any) -> list[str]:
        tools = [tool.get("function", tool) for tool in memory.tools(shape, toolsets, strict=True)]
        return [tool["name"] for tool in tools if not tool.get("strict")]

    assert loose("openai", TOOLSETS) == loose("openai-responses", TOOLSETS) == []
    assert loose("anthropic", TOOLSETS) == ["MemoryTool"]
    assert loose("anthropic", EVERYDAY) == loose("anthropic", ["registry"]) == []
    assert "MemoryTool" not in loose("anthropic", ["registry", *EVERYDAY])  # it comes first; the others share the rest


def test_a_tool_that_is_not_strict_is_described_as_ever(memory: Memory) -> None:
    plain = {tool["name"]: tool for tool in memory.tools("anthropic")}
    assert {tool["name"]: tool for tool in memory.tools("anthropic", strict=True)}["MemoryTool"] == plain["MemoryTool"]


def test_gemini_gets_only_what_its_schemas_have(memory: Memory) -> None:
    for tool in memory.tools("gemini"):
        assert tool.keys() == {"name", "description", "parameters"}
        for node in nodes(tool["parameters"]):
            assert node.keys() <= GEMINI_KEYWORDS
            if "anyOf" in node:
                assert [*node] == ["anyOf"]  # nothing may stand beside it
                continue
            kind = node["type"]
            assert kind in ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT")
            assert ("items" in node) == (kind == "ARRAY")
            assert bool(node.get("properties")) == (kind == "OBJECT")
            assert {*node.get("required", [])} <= node.get("properties", {}).keys()
            assert "enum" not in node or kind == "STRING"
            assert "minimum" not in node or kind in ("NUMBER", "INTEGER")


def test_googles_own_library_takes_the_declarations(memory: Memory) -> None:
    types = pytest.importorskip("google.genai.types")
    declarations = [types.FunctionDeclaration.model_validate(tool) for tool in memory.tools("gemini")]
    assert types.Tool(function_declarations=declarations)


def test_what_a_strict_schema_cannot_express_is_described_in_words(memory: Memory) -> None:
    for shape, absent in (("openai", "Null counts as 10."), ("anthropic", "Left out, it counts as 10.")):
        described = {t.get("function", t)["name"]: schema_of(t) for t in memory.tools(shape, ["notes"], strict=True)}
        limit = described["memory_search"]["properties"]["limit"]
        assert limit["description"] == f"How many at most. From 1 to 100. {absent}"
        assert "default" not in json.dumps(described)
        assert "minimum" not in json.dumps(described)


def test_the_responses_api_learns_when_a_tool_is_not_strict(memory: Memory) -> None:
    assert {tool["strict"] for tool in memory.tools("openai-responses")} == {False}


@pytest.mark.parametrize("shape", ["gemini", "mcp"])
def test_a_shape_without_a_strict_form_says_which_have_one(memory: Memory, shape: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{shape} has no strict form: .* openai, openai-responses, anthropic"):
        memory.tools(shape, strict=True)


def test_the_command_describes_strict_tools(memory: Memory) -> None:
    def run(*arguments: str) -> Any:
        return CliRunner().invoke(cli, ["--home", memory.home.root, "tools", *arguments])

    for shape in STRICT:
        done = run("--format", shape, "--strict")
        assert done.exit_code == 0
        assert json.loads(done.output) == describe(shape, TOOLSETS, memory.home, strict=True)
    refused = run("--strict")
    assert refused.exit_code != 0
