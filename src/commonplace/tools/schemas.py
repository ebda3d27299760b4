"""Descriptions of the tools for different model APIs, all derived from the same definitions.

A strict description binds the model to the schema. Each API supports only a part of JSON Schema for that: the rest is
put into words, and an object of any shape is requested as JSON text, which `define.decode_json_text` reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InvalidArgument, range_words
from ..home import Home
from ..schema import BOOLEAN, TEXT, Schema, check, closed_object
from .catalog import Offer, offers
from .define import ANY_JSON_BRANCHES, JSON_TEXT, ToolParameter

Description = dict[str, Any]
_AS_TEXT = 'An object, as JSON text: {"name": "value"}.'
_ANY_AS_TEXT = "A list or an object, as JSON text."
# Anthropic's limits for all strict tools of one request together.
_ANTHROPIC_MAX_STRICT_TOOLS = 20
_ANTHROPIC_MAX_OPTIONAL_PARAMETERS = 24
_ANTHROPIC_MAX_UNIONS = 16


def describe(
    shape: str, toolsets: Sequence[str] | None = None, home: Home | None = None, *, strict: bool = False
) -> list[Description]:
    """Return the tools of some toolsets, or of all, as one of openai, openai-responses, anthropic, gemini, mcp."""
    check(BOOLEAN, strict, "strict")
    if check(TEXT, shape, "shape") not in SHAPES:
        raise InvalidArgument(f"Unknown format: {shape}. There are {', '.join(SHAPES)}")
    if strict and shape not in STRICT:
        raise InvalidArgument(f"{shape} has no strict form: leave strict out, or use {', '.join(STRICT)}")
    offered = offers(toolsets, home)
    return STRICT[shape](offered) if strict else [SHAPES[shape](offer) for offer in offered]


def strict_schema(parameters: Sequence[ToolParameter]) -> Schema:
    """Return the arguments as OpenAI wants them for `strict`: all are required; null means that one is not given."""
    return closed_object({each.name: _nullable(each) for each in parameters})


def _openai(offer: Offer) -> Description:
    function = {"name": offer.name, "description": offer.description, "parameters": offer.tool.schema()}
    return {"type": "function", "function": function}


def _openai_strict(offered: list[Offer]) -> list[Description]:
    described = []
    for offer in offered:
        tool = _openai(offer)
        tool["function"] |= {"parameters": strict_schema(offer.tool.parameters), "strict": True}
        described.append(tool)
    return described


def _responses(offer: Offer) -> Description:
    # A function that says nothing counts as strict in that API.
    return {"type": "function", **_openai(offer)["function"], "strict": False}


def _responses_strict(offered: list[Offer]) -> list[Description]:
    return [{"type": "function", **tool["function"]} for tool in _openai_strict(offered)]


def _anthropic(offer: Offer) -> Description:
    return {"name": offer.name, "description": offer.description, "input_schema": offer.tool.schema()}


def _anthropic_strict(offered: list[Offer]) -> list[Description]:
    """Describe as many tools as strict as one request may have, in order, and the rest as usual."""
    described: list[Description] = []
    tools = 0
    optional = 0
    unions = 0
    for offer in offered:
        parameters = offer.tool.parameters
        more_optional = optional + sum(not each.required for each in parameters)
        more_unions = unions + sum(each.kind == "any" for each in parameters)
        tool = _anthropic(offer)
        if (
            tools < _ANTHROPIC_MAX_STRICT_TOOLS
            and more_optional <= _ANTHROPIC_MAX_OPTIONAL_PARAMETERS
            and more_unions <= _ANTHROPIC_MAX_UNIONS
        ):
            tools += 1
            optional = more_optional
            unions = more_unions
            tool |= {"input_schema": _anthropic_strict_schema(parameters), "strict": True}
        described.append(tool)
    return described


def _anthropic_strict_schema(parameters: Sequence[ToolParameter]) -> Schema:
    """Return the arguments as Anthropic wants them for `strict`: optional ones may be left out."""
    properties = {
        each.name: {"description": _in_words(each, "Left out, it counts as {}."), **_strict_type(each)}
        for each in parameters
    }
    return {**closed_object(properties), "required": [each.name for each in parameters if each.required]}


def _nullable(parameter: ToolParameter) -> Schema:
    description = {"description": _in_words(parameter, "Null counts as {}.")}
    kind = _strict_type(parameter)
    if parameter.required:
        return {**description, **kind}
    return {**description, "anyOf": [*kind.get("anyOf", [kind]), {"type": "null"}]}


def _strict_type(parameter: ToolParameter) -> Schema:
    """Return the type of a parameter in the part of JSON Schema that every strict form supports."""
    if parameter.kind == "any":
        return {"anyOf": [*({"type": kind} for kind in ("string", "number", "boolean")), _wrapped_json_text()]}
    if parameter.kind == "object":
        return {"type": "string"}
    if parameter.kind == "array":
        return {"type": "array", "items": {"type": "string"}}
    return {"type": parameter.kind, "enum": list(parameter.choices)} if parameter.choices else {"type": parameter.kind}


def _wrapped_json_text() -> Schema:
    return closed_object({JSON_TEXT: {"description": _ANY_AS_TEXT, "type": "string"}})


def _in_words(parameter: ToolParameter, absent: str) -> str:
    """Return the description, with what a strict schema cannot say."""
    words = [parameter.description]
    if parameter.kind == "object":
        words.append(_AS_TEXT)
    if "minimum" in parameter.value_schema:
        limits = range_words(parameter.value_schema["minimum"], parameter.value_schema.get("maximum"))
        words.append(f"{limits[0].upper()}{limits[1:]}.")
    if not parameter.required and parameter.default is not None:
        words.append(absent.format(json.dumps(parameter.default)))
    return " ".join(words)


def _one_type_each(schema: Schema) -> Schema:
    """Return the same arguments with `anyOf` instead of a list of types, which some clients do not support."""
    properties = {
        name: _branches(field) if isinstance(field["type"], list) else field
        for name, field in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _branches(field: Schema) -> Schema:
    branches = ANY_JSON_BRANCHES
    if "object" not in field["type"]:
        items = {"items": field["items"]}
        branches = [{"type": kind, **(items if kind == "array" else {})} for kind in field["type"]]
    return {"description": field["description"], "anyOf": branches}


def _mcp(offer: Offer) -> Description:
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


def _gemini(offer: Offer) -> Description:
    described: Description = {"name": offer.name, "description": offer.description}
    parameters = offer.tool.parameters
    if not parameters:  # an object without properties is refused
        return described
    properties = {each.name: _gemini_schema(each) for each in parameters}
    required = [each.name for each in parameters if each.required]
    described["parameters"] = {"type": "OBJECT", "properties": properties, "required": required}
    return described


def _gemini_schema(parameter: ToolParameter) -> Schema:
    """Return a parameter in the subset of OpenAPI that Gemini reads: types in capitals, no defaults, no object without
    properties. Nothing is allowed beside `anyOf`, so each of its branches is described."""
    bare = dict(parameter.value_schema)
    limits: Schema = {name: bare.pop(name) for name in ("minimum", "maximum") if name in bare}
    description = _in_words(parameter._replace(value_schema=bare), "Left out, it counts as {}.")
    kind = _strict_type(parameter)
    if "anyOf" in kind:
        return {"anyOf": [{"description": description, **_capital_types(branch)} for branch in kind["anyOf"]]}
    return {"description": description, **_capital_types(kind), **limits}


def _capital_types(schema: Schema) -> Schema:
    out = {name: value for name, value in schema.items() if name != "additionalProperties"}
    out["type"] = schema["type"].upper()
    if "items" in schema:
        out["items"] = _capital_types(schema["items"])
    if "properties" in schema:
        out["properties"] = {name: _capital_types(each) for name, each in schema["properties"].items()}
    return out


SHAPES: dict[str, Callable[[Offer], Description]] = {
    "openai": _openai,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}
STRICT: dict[str, Callable[[list[Offer]], list[Description]]] = {
    "openai": _openai_strict,
    "openai-responses": _responses_strict,
    "anthropic": _anthropic_strict,
}
