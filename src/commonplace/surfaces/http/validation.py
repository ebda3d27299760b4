"""Whether a value fits a schema: the few words of JSON Schema that the interface publishes, and holds callers to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import InvalidArgument
from ...formats.json_text import is_unicode
from ...formats.timestamps import parse
from ...tools.define import json_type

Schema = Mapping[str, Any]
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SPOKEN = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "object": "an object", "array": "a list", "null": "null",
}  # fmt: skip


def fit(schema: Schema, value: Any, name: str) -> None:
    """InvalidArgument, with what would be right, for a value that does not fit."""
    if "anyOf" in schema:
        _fit_any(schema, value, name)
        return
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if kinds and not any(_is(kind, value) for kind in kinds):
        raise InvalidArgument(f"{name} must be {' or '.join(_SPOKEN[kind] for kind in kinds)}")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidArgument(f"{name} must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, str):
        _fit_text(schema, value, name)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        _fit_number(schema, value, name)
    elif isinstance(value, list):
        _fit_list(schema, value, name)
    elif isinstance(value, dict):
        _fit_object(schema, value, name)


def _is(kind: str, value: Any) -> bool:
    found = json_type(value)
    if kind == "integer" and found == "number":
        return float(value).is_integer()
    return found == kind or (kind == "number" and found == "integer")


def _fit_any(schema: Schema, value: Any, name: str) -> None:
    for each in schema["anyOf"]:
        try:
            fit(each, value, name)
        except InvalidArgument:
            continue
        return
    raise InvalidArgument(f"{name} is not understood: {schema.get('description', 'see the schema')}")


def _fit_text(schema: Schema, value: str, name: str) -> None:
    if not is_unicode(value) or "\0" in value:
        raise InvalidArgument(f"{name} must be Unicode text, of whole characters and without a null")
    if len(value) > schema.get("maxLength", len(value)):
        raise InvalidArgument(f"{name} has at most {schema['maxLength']} characters")
    if len(value) < schema.get("minLength", 0):
        raise InvalidArgument(f"{name} must not be empty")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        said = schema.get("description") or f"it must look like {schema['pattern']}"
        raise InvalidArgument(f"{name} is not understood: {said}")
    if schema.get("format") == "date" and not (_DAY.fullmatch(value) and parse(value)):
        raise InvalidArgument(f"{name} must be a day like 2026-03-14")
    if schema.get("format") == "date-time" and not ("T" in value and parse(value)):
        raise InvalidArgument(f"{name} must be a time like 2026-03-14T09:30:00Z")


def _fit_number(schema: Schema, value: float, name: str) -> None:
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    if not low <= value <= high:
        raise InvalidArgument(f"{name} must be from {low} to {high}")


def _fit_list(schema: Schema, value: list[Any], name: str) -> None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        most = f" and at most {schema['maxItems']}" if "maxItems" in schema else ""
        raise InvalidArgument(f"{name} has at least {schema.get('minItems', 0)}{most} items")
    for number, each in enumerate(value):
        fit(schema.get("items", {}), each, f"{name}[{number}]")


def _fit_object(schema: Schema, value: dict[str, Any], name: str) -> None:
    known = schema.get("properties", {})
    for missing in (each for each in schema.get("required", ()) if each not in value):
        raise InvalidArgument(f"{name} needs {missing}: {known.get(missing, {}).get('description', '')}".rstrip(": "))
    strange = [each for each in value if each not in known]
    if strange and schema.get("additionalProperties") is False:
        raise InvalidArgument(f"{name} does not take {strange[0]!a}: it takes {', '.join(known)}")
    for each, its in known.items():
        if each in value:
            fit(its, value[each], each)
