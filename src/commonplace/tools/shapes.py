"""Tools as different model APIs want them described. All are read off the same definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InvalidArgument
from ..home import Home
from .catalog import TOOLSETS, Offer, offers

_GEMINI_ANY = [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}, {"type": "OBJECT"}]


def describe(shape: str, toolsets: Sequence[str] = TOOLSETS, home: Home | None = None) -> list[dict[str, Any]]:
    """The tools of some toolsets in one of the shapes openai, anthropic, gemini, mcp."""
    if shape not in SHAPES:
        raise InvalidArgument(f"Unknown format: {shape}. There are {', '.join(SHAPES)}")
    return [SHAPES[shape](offer) for offer in offers(toolsets, home)]


def _openai(offer: Offer) -> dict[str, Any]:
    function = {"name": offer.name, "description": offer.description, "parameters": offer.tool.schema()}
    return {"type": "function", "function": function}


def _anthropic(offer: Offer) -> dict[str, Any]:
    return {"name": offer.name, "description": offer.description, "input_schema": offer.tool.schema()}


def _mcp(offer: Offer) -> dict[str, Any]:
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
        "inputSchema": tool.schema(),
        "annotations": hints,
    }


def _gemini(offer: Offer) -> dict[str, Any]:
    schema = offer.tool.schema()
    properties = {name: _gemini_type(value) for name, value in schema["properties"].items()}
    parameters = {"type": "OBJECT", "properties": properties, "required": schema["required"]}
    return {"name": offer.name, "description": offer.description, "parameters": parameters}


def _gemini_type(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter in the subset of OpenAPI that Gemini reads: types in capitals, no defaults, one type each."""
    out = {name: value for name, value in schema.items() if name in ("description", "enum", "minimum", "maximum")}
    if isinstance(schema["type"], list):
        return {**out, "anyOf": _GEMINI_ANY}
    out["type"] = schema["type"].upper()
    if "items" in schema:
        out["items"] = {"type": "STRING"}
    return out


SHAPES: dict[str, Callable[[Offer], dict[str, Any]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}
