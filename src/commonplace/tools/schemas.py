"""Tools as different model APIs want them described. All are read off the same definitions.

A strict description binds the model to the schema. Each API takes only a part of JSON Schema for that: what it does not
take is said in words, and an object of any shape is asked for as JSON text (`unfold` takes it).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InvalidArgument
from ..home import Home
from .catalog import TOOLSETS, Offer, offers
from .define import ANY_JSON, JSON_TEXT, Parameter

Described = dict[str, Any]
_AS_TEXT = 'An object, as JSON text: {"name": "value"}.'
_ANY_AS_TEXT = "A list or an object, as JSON text."
# What Anthropic takes in one request, over all of its strict tools.
_MOST_STRICT, _MOST_OPTIONAL, _MOST_UNIONS = 20, 24, 16


def describe(
    shape: str, toolsets: Sequence[str] = TOOLSETS, home: Home | None = None, *, strict: bool = False
) -> list[Described]:
    """The tools of some toolsets in one of the shapes openai, openai-responses, anthropic, gemini, mcp."""
    if shape not in SHAPES:
        raise InvalidArgument(f"Unknown format: {shape}. There are {', '.join(SHAPES)}")
    if strict and shape not in STRICT:
        raise InvalidArgument(f"{shape} has no strict form: leave strict out, or use {', '.join(STRICT)}")
    found = offers(toolsets, home)
    return STRICT[shape](found) if strict else [SHAPES[shape](offer) for offer in found]


def strict_schema(parameters: Sequence[Parameter]) -> Described:
    """The arguments as OpenAI wants them for `strict`: all are required, and null stands for one that is not given."""
    return {
        "type": "object",
        "properties": {each.name: _or_null(each) for each in parameters},
        "required": [each.name for each in parameters],
        "additionalProperties": False,
    }


def _openai(offer: Offer) -> Described:
    function = {"name": offer.name, "description": offer.description, "parameters": offer.tool.schema()}
    return {"type": "function", "function": function}


def _openai_strict(found: list[Offer]) -> list[Described]:
    described = [(_openai(offer), strict_schema(offer.tool.parameters)) for offer in found]
    return [{**tool, "function": {**tool["function"], "parameters": s, "strict": True}} for tool, s in described]


def _responses(offer: Offer) -> Described:
    # Where nothing is said, that API takes a function for strict.
    return {"type": "function", **_openai(offer)["function"], "strict": False}


def _responses_strict(found: list[Offer]) -> list[Described]:
    return [{"type": "function", **tool["function"]} for tool in _openai_strict(found)]


def _anthropic(offer: Offer) -> Described:
    return {"name": offer.name, "description": offer.description, "input_schema": offer.tool.schema()}


def _anthropic_strict(found: list[Offer]) -> list[Described]:
    """As many as one request may have, in their order; the others as ever."""
    out: list[Described] = []
    tools = optional = unions = 0
    for offer in found:
        parameters = offer.tool.parameters
        more = sum(not each.required for each in parameters), sum(each.kind == "any" for each in parameters)
        fits = tools < _MOST_STRICT and optional + more[0] <= _MOST_OPTIONAL and unions + more[1] <= _MOST_UNIONS
        described = _anthropic(offer)
        if fits:
            tools, optional, unions = tools + 1, optional + more[0], unions + more[1]
            described = {**described, "input_schema": _closed(parameters), "strict": True}
        out.append(described)
    return out


def _closed(parameters: Sequence[Parameter]) -> Described:
    """The arguments as Anthropic wants them for `strict`: what may be left out still may, and nothing else comes in."""
    return {
        "type": "object",
        "properties": {
            each.name: {"description": _said(each, "Left out, it counts as {}."), **_kind(each)} for each in parameters
        },
        "required": [each.name for each in parameters if each.required],
        "additionalProperties": False,
    }


def _or_null(parameter: Parameter) -> Described:
    said, kind = {"description": _said(parameter, "Null counts as {}.")}, _kind(parameter)
    if parameter.required:
        return {**said, **kind}
    return {**said, "anyOf": [*kind.get("anyOf", [kind]), {"type": "null"}]}


def _kind(parameter: Parameter) -> Described:
    """The type of a parameter with nothing but what every strict form takes."""
    if parameter.kind == "any":
        return {"anyOf": [*({"type": kind} for kind in ("string", "number", "boolean")), _wrapped()]}
    if parameter.kind == "object":
        return {"type": "string"}
    if parameter.kind == "array":
        return {"type": "array", "items": {"type": "string"}}
    return {"type": parameter.kind, "enum": list(parameter.choices)} if parameter.choices else {"type": parameter.kind}


def _wrapped() -> Described:
    return {
        "type": "object",
        "properties": {JSON_TEXT: {"description": _ANY_AS_TEXT, "type": "string"}},
        "required": [JSON_TEXT],
        "additionalProperties": False,
    }


def _said(parameter: Parameter, absent: str) -> str:
    """What a strict schema can not say but in words."""
    said = [parameter.description]
    if parameter.kind == "object":
        said.append(_AS_TEXT)
    if parameter.clamp:
        said.append(f"From {parameter.clamp.low} to {parameter.clamp.high}.")
    if not parameter.required and parameter.default is not None:
        said.append(absent.format(json.dumps(parameter.default)))
    return " ".join(said)


def _one_type_each(schema: Described) -> Described:
    """The same arguments, with no property of several types: some clients know only the other way to say it."""
    properties = {
        name: {"description": field["description"], "anyOf": ANY_JSON} if isinstance(field["type"], list) else field
        for name, field in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _mcp(offer: Offer) -> Described:
    tool = offer.tool
    hints = {
        "readOnlyHint": tool.reads_only,
        "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent or tool.reads_only,
        "openWorldHint": False,
    }
    return {
        "name": offer.name,
        "description": offer.description,
        "inputSchema": _one_type_each(tool.schema()),
        "outputSchema": tool.answer.schema(),
        "annotations": hints,
    }


def _gemini(offer: Offer) -> Described:
    described: Described = {"name": offer.name, "description": offer.description}
    parameters = offer.tool.parameters
    if not parameters:  # an object without properties is refused
        return described
    properties = {each.name: _gemini_type(each) for each in parameters}
    required = [each.name for each in parameters if each.required]
    described["parameters"] = {"type": "OBJECT", "properties": properties, "required": required}
    return described


def _gemini_type(parameter: Parameter) -> Described:
    """A parameter in the subset of OpenAPI that Gemini reads: types in capitals, no defaults, no object without
    properties; beside `anyOf` nothing may stand, so each of its branches is described."""
    said = _said(parameter._replace(clamp=None), "Left out, it counts as {}.")
    kind = _kind(parameter)
    if "anyOf" in kind:
        return {"anyOf": [{"description": said, **_capitals(branch)} for branch in kind["anyOf"]]}
    limits = {"minimum": parameter.clamp.low, "maximum": parameter.clamp.high} if parameter.clamp else {}
    return {"description": said, **_capitals(kind), **limits}


def _capitals(schema: Described) -> Described:
    out = {name: value for name, value in schema.items() if name != "additionalProperties"}
    out["type"] = schema["type"].upper()
    if "items" in schema:
        out["items"] = _capitals(schema["items"])
    if "properties" in schema:
        out["properties"] = {name: _capitals(each) for name, each in schema["properties"].items()}
    return out


SHAPES: dict[str, Callable[[Offer], Described]] = {
    "openai": _openai,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}
STRICT: dict[str, Callable[[list[Offer]], list[Described]]] = {
    "openai": _openai_strict,
    "openai-responses": _responses_strict,
    "anthropic": _anthropic_strict,
}
