"""The published schema is the behaviour: what it allows is taken, what it forbids is refused, in every surface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from commonplace import InvalidArgument, Memory
from commonplace.errors import InvalidChoice, MalformedArgument, OutOfRange, UnknownOperation, WrongType
from commonplace.surfaces.cli import cli
from commonplace.tools.catalog import Offer, offers
from commonplace.tools.schemas import describe
from commonplace.toolsets import TOOLSETS

from ..surfaces.http.api import api

OFFERS = offers(TOOLSETS)
FORBIDDEN = (WrongType, InvalidChoice, OutOfRange, MalformedArgument, UnknownOperation)
VALUES = st.recursive(
    st.booleans()
    | st.integers(-5, 200)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.text("ab 1-", max_size=6),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inside, max_size=2),
    max_leaves=4,
)
EXAMPLES: dict[str, list[Any]] = {
    "string": ["x", "2026-03-01"],
    "integer": [0, 7, 7.0, 7.5, -1],
    "number": [0.5, 1],
    "boolean": [True, False],
    "array": [[], ["a"], ["a", 5]],
    "object": [{}, {"a": [1]}],
    "null": [None],
}


def load_schema(name: str) -> dict[str, Any]:
    (schema,) = [tool["input_schema"] for tool in describe("anthropic") if tool["name"] == name]
    return dict(schema)


def types_of(schema: dict[str, Any]) -> list[str]:
    return [schema["type"]] if isinstance(schema["type"], str) else schema["type"]


def field_values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit more often than not."""
    fitting = schema.get("enum") or [value for kind in types_of(schema) for value in EXAMPLES[kind]]
    return st.sampled_from(fitting) | st.sampled_from(fitting) | st.none() | VALUES


def arguments_of(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: field_values(each) for name, each in schema["properties"].items()}
    # JSON text stands for an object in a strict schema, and is taken everywhere.
    for name, each in schema["properties"].items():
        if each["type"] == "object":
            fields[name] = fields[name].filter(lambda value: not isinstance(value, str))
    return st.fixed_dictionaries({}, optional={**fields, "unknown": VALUES})


def is_allowed(offer: Offer, schema: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """Whether the schema allows arguments, with the two leniencies of the contract: a null counts as left out, and a
    number outside a range that it says is clamped is brought into it."""
    properties = {name: dict(each) for name, each in schema["properties"].items()}
    for parameter in offer.tool.parameters:
        if parameter.clamp:
            del properties[parameter.name]["minimum"]
            del properties[parameter.name]["maximum"]
    given_arguments = {name: value for name, value in arguments.items() if value is not None}
    return bool(Draft202012Validator({**schema, "properties": properties}).is_valid(given_arguments))


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.name)
@given(data=st.data())
def test_a_call_is_refused_exactly_where_the_schema_forbids_it(memory: Memory, offer: Offer, data: Any) -> None:
    schema = load_schema(offer.name)
    arguments = data.draw(arguments_of(schema))
    outcome = memory.attempt(offer.name, arguments)
    if is_allowed(offer, schema, arguments):
        assert not isinstance(outcome.error, FORBIDDEN), outcome
    else:
        assert isinstance(outcome.error, InvalidArgument), outcome
        assert memory.call(offer.name, arguments) == outcome.reply


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.name)
@given(data=st.data())
def test_every_shape_of_a_schema_allows_the_same(offer: Offer, data: Any) -> None:
    schema = load_schema(offer.name)
    arguments = data.draw(arguments_of(schema))
    (mcp,) = [tool["inputSchema"] for tool in describe("mcp") if tool["name"] == offer.name]
    assert Draft202012Validator(mcp).is_valid(arguments) == Draft202012Validator(schema).is_valid(arguments)


def wrong_calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """For every parameter of every tool, a call in which only that one has the wrong type."""
    for offer in OFFERS:
        schema = load_schema(offer.name)
        right = {name: EXAMPLES[types_of(schema["properties"][name])[0]][0] for name in schema["required"]}
        if "op" in right:
            right["op"] = "listChannels"
        for name, field in schema["properties"].items():
            wrong: Any = [{}] if "string" in types_of(field) and "array" in types_of(field) else 5
            wrong = "five" if {"integer", "number"} & {*types_of(field)} else wrong
            if "object" not in types_of(field) or len(types_of(field)) == 1:
                yield offer.name, {**right, name: wrong}


def test_a_wrong_type_is_refused_wherever_it_is(memory: Memory) -> None:
    for tool, arguments in wrong_calls():
        assert isinstance(memory.attempt(tool, arguments).error, InvalidArgument), (tool, arguments)


def test_the_command_refuses_what_the_schema_forbids(memory: Memory, home: Path) -> None:
    for tool, arguments in [*wrong_calls()][::5]:
        done = CliRunner().invoke(cli, ["--home", str(home), "call", tool, json.dumps(arguments)])
        assert done.exit_code == 2, (tool, arguments, done.output)
        assert json.loads(done.stdout) == memory.call(tool, arguments)


def test_http_refuses_what_the_schema_forbids(memory: Memory, home: Path) -> None:
    home.mkdir(exist_ok=True)
    with api(home) as server:
        for tool, arguments in [*wrong_calls()][::5]:
            answer = server.send("POST", f"tools/{tool}", json=arguments)
            assert answer.status_code == 400, (tool, arguments, answer.text)
            assert answer.json() == memory.call(tool, arguments)
