"""What a model may send under a strict schema, the tool takes."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from commonplace import Memory
from commonplace.errors import OutOfRange, WrongType
from commonplace.tools.catalog import offers
from commonplace.tools.define import bind, decode_json_text
from commonplace.tools.registry import OPERATIONS
from commonplace.tools.schemas import describe
from commonplace.toolsets import TOOLSETS

from ..examples import examples
from ..texts import KEPT

JSON_VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(KEPT, max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=4), inside, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=3)
SHAPES = ("openai", "openai-responses", "anthropic")


def tool_of(shape: str, name: str) -> dict[str, Any]:
    (result,) = [t for t in (each.get("function", each) for each in describe(shape, strict=True)) if t["name"] == name]
    return result


def schema_of(shape: str, name: str) -> dict[str, Any]:
    tool = tool_of(shape, name)
    schema: dict[str, Any] = tool.get("parameters") or tool["input_schema"]
    return schema


def values(schema: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    """Anything that is valid under a schema; text that is to be JSON text is."""
    if "anyOf" in schema:
        return st.one_of(*(values(each, name) for each in schema["anyOf"]))
    if isinstance(schema["type"], list):
        return st.one_of(*(values({**schema, "type": kind}, name) for kind in schema["type"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        return objects(schema)
    plain: dict[str, st.SearchStrategy[Any]] = {
        "null": st.none(),
        "string": st.text(KEPT, max_size=20),
        "integer": st.integers(),
        "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
        "boolean": st.booleans(),
        "array": st.lists(st.text(KEPT, max_size=8), max_size=4),
    }
    if name in ("initialStructure", "newData"):
        return plain["null"] if schema["type"] == "null" else OBJECTS.map(json.dumps)
    return JSON_VALUES.map(json.dumps) if name == "json_text" else plain[schema["type"]]


def objects(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: values(each, name) for name, each in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: each for name, each in fields.items() if name in schema["required"]},
        optional={name: each for name, each in fields.items() if name not in schema["required"]},
    )


STRICT = [
    pytest.param(shape, offer, id=f"{offer.name}-{shape}")
    for shape in SHAPES
    for offer in offers(TOOLSETS)
    if tool_of(shape, offer.name).get("strict", False)
]


@pytest.mark.parametrize(("shape", "offer"), STRICT)
@examples(15)
@given(data=st.data())
def test_what_is_valid_under_a_strict_schema_is_never_of_a_wrong_type(shape: str, offer: Any, data: Any) -> None:
    schema = schema_of(shape, offer.name)
    arguments = data.draw(objects(schema))
    assert Draft202012Validator(schema).is_valid(arguments)
    tool = OPERATIONS[arguments["op"]] if offer.name == "MemoryTool" else offer.tool
    read = decode_json_text(offer.tool.parameters, arguments)
    expected = [each for each in tool.parameters if read.get(each.name) is not None]
    with suppress(OutOfRange):  # which a strict schema can only say in words
        assert [*bind(expected, read)] == [each.argument for each in expected]


@examples(15)
@given(data=st.data())
def test_calls_of_a_strict_schema_are_carried_out(memory: Memory, data: Any) -> None:
    for name in ("memory_search", "memory_write", "scratch_note", "recall", "MemoryTool"):
        outcome = memory.attempt(name, data.draw(objects(schema_of("openai", name))))
        assert not isinstance(outcome.error, WrongType), outcome
        assert "ignored" not in outcome.reply.get("warning", "") or name == "MemoryTool"


@examples(15)
@given(value=JSON_VALUES)
@example(value={"json_text": "[1]"})
@example(value=[])
def test_any_value_comes_back_as_it_was_sent_as_text(memory: Memory, value: Any) -> None:
    sent = {"json_text": json.dumps(value)}
    assert memory.call("MemoryTool", {"op": "setGlobal", "key": "k", "value": sent})["success"]
    assert memory.call("MemoryTool", {"op": "getGlobal", "key": "k"})["value"] == value


def test_text_that_looks_like_json_stays_text(memory: Memory) -> None:
    memory.call("MemoryTool", {"op": "setGlobal", "key": "k", "value": "[1, 2]"})
    assert memory.call("MemoryTool", {"op": "getGlobal", "key": "k"})["value"] == "[1, 2]"


def test_a_skills_data_may_come_as_json_text(memory: Memory) -> None:
    call = {"op": "createSkill", "name": "chess", "description": "Plays.", "initialStructure": '{"elo": 900}'}
    assert memory.call("MemoryTool", call)["success"]
    assert memory.call("MemoryTool", {"op": "updateSkill", "name": "chess", "newData": '{"opening": {"w": "e4"}}'})
    skill = memory.call("MemoryTool", {"op": "getSkill", "name": "chess"})
    assert skill["skill_data"] == {"elo": 900, "opening": {"w": "e4"}}


@pytest.mark.parametrize(
    ("field", "given_", "sentence"),
    [
        ("newData", "elo: 900", "newData must be JSON text, not text that is not JSON"),
        ("newData", "[1]", "newData must be an object, not a list"),
        ("newData", "null", "newData must be JSON text of a value, not of null"),
        ("value", {"json_text": "[1"}, "value must be JSON text, not text that is not JSON"),
    ],
)
def test_invalid_json_text_is_reported(memory: Memory, field: str, given_: Any, sentence: str) -> None:
    op = {"newData": {"op": "updateSkill", "name": "n"}, "value": {"op": "setGlobal", "key": "k"}}[field]
    assert sentence in memory.call("MemoryTool", {**op, field: given_})["error"]


def test_a_password_in_json_text_is_seen_as_in_an_object(memory: Memory) -> None:
    call = {"op": "setGlobal", "key": "db", "value": {"json_text": '{"password": "hunter2-Zq9!xL"}'}}
    plain = {"op": "setGlobal", "key": "db", "value": {"password": "hunter2-Zq9!xL"}}
    assert memory.call("MemoryTool", call) == memory.call("MemoryTool", plain)
    assert "warning" in memory.call("MemoryTool", call)


def test_nulls_for_what_an_operation_does_not_take_are_no_mistake(memory: Memory) -> None:
    every = dict.fromkeys(schema_of("openai", "MemoryTool")["properties"])
    assert memory.call("MemoryTool", {**every, "op": "setGlobal", "key": "k", "value": 1}) == {"success": True}
    assert "ignored" in memory.call("MemoryTool", {**every, "op": "getGlobal", "key": "k", "value": 1})["warning"]
