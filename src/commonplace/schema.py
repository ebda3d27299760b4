"""The one argument validator: Python types become JSON Schema, and values are checked against JSON Schema.

Tools, the HTTP interface, settings and search filters all declare what they take in this form. Only the part of JSON
Schema that they publish is understood. A value that does not fit raises an InvalidArgument that names the field.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from .errors import (
    InvalidArgument,
    InvalidChoice,
    MalformedArgument,
    MissingArgument,
    NullCharacter,
    OutOfRange,
    UnknownArgument,
    WrongType,
)
from .formats.json_text import is_unicode, round_trip
from .formats.timestamps import parse_timestamp

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 1}  # how many at most
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
ANY: Schema = {}
ANY_JSON: Schema = {"type": ["string", "number", "boolean", "array", "object"], "items": {}}  # null is no value
NO_NULL_CHARACTER = r"^[^\x00]*$"
WORDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Clamp(NamedTuple):
    """A number outside the range counts as the nearest one inside."""

    low: int
    high: int


class AtLeast(NamedTuple):
    """A number below this is refused."""

    low: int


def array(items: Schema) -> Schema:
    """Return the schema of a list of these."""
    return {"type": "array", "items": items}


def object_of(required: Mapping[str, Schema] | None = None, **optional: Schema) -> Schema:
    """Return the schema of an object with these fields; those in `required` are always present."""
    always = dict(required or {})
    return {"type": "object", "properties": {**always, **optional}, "required": [*always]}


def closed_object(required: Mapping[str, Schema] | None = None, **optional: Schema) -> Schema:
    """Return the schema of an object with these fields and no others."""
    return {**object_of(required, **optional), "additionalProperties": False}


def one_of(*choices: str) -> Schema:
    """Return the schema of one of these words."""
    return {"type": "string", "enum": [*choices]}


def integer(low: int, high: int) -> Schema:
    """Return the schema of a whole number from `low` to `high`."""
    return {"type": "integer", "minimum": low, "maximum": high}


def plain_text(description: str, *, min_length: int = 0, max_length: int | None = None) -> Schema:
    """Return the schema of text without a null character, with limits for its length in characters."""
    schema: Schema = {"type": "string", "pattern": NO_NULL_CHARACTER, "description": description}
    if min_length:
        schema["minLength"] = min_length
    if max_length is not None:
        schema["maxLength"] = max_length
    return schema


def from_type(hint: Any) -> Schema:
    """Return the JSON Schema of a Python type: `int | None`, `list[str]`, `Annotated[int, "what it is", Clamp(1, 9)]`.

    None is left out: where it may be given, it means "not given".
    """
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    schema = _from_union([part for part in _alternatives(kind) if part is not types.NoneType])
    for note in notes:
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, (Clamp, AtLeast)):
            schema["minimum"] = note.low
        if isinstance(note, Clamp):
            schema["maximum"] = note.high
    return schema


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _from_union(parts: Sequence[Any]) -> Schema:
    schemas = [_from_plain(part) for part in parts]
    if len(schemas) == 1:
        return schemas[0]
    merged: Schema = {}
    for schema in schemas:
        merged.update(schema)
    return {**merged, "type": [schema["type"] for schema in schemas]}


def _from_plain(kind: Any) -> Schema:
    if get_origin(kind) is Literal:
        return one_of(*get_args(kind))
    name = _TYPES.get(get_origin(kind) or kind)
    if name is None:
        return dict(ANY_JSON)
    if name == "array":
        items = get_args(kind)
        return array(from_type(items[0]) if items else {})
    return {"type": name}


def types_of(schema: Schema) -> tuple[str, ...]:
    """Return the JSON types that a schema allows; none when it allows all."""
    kinds = schema.get("type", ())
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def json_type(value: Any) -> str:
    """Return the JSON type of a Python value."""
    if value is None:
        return "null"
    if isinstance(value, (list, tuple)):
        return "array"
    return next((name for kind, name in _TYPES.items() if type(value) is kind), "object")


def check(schema: Schema, value: Any, name: str) -> Any:
    """Return the value in the schema's form (3.0 is the integer 3); raise InvalidArgument if it does not fit."""
    if "anyOf" in schema:
        return _check_any_of(schema, value, name)
    allowed = types_of(schema)
    actual = json_type(value)
    if actual == "number" and "number" not in allowed and "integer" in allowed:
        value = _check_whole(value, name)
    elif allowed and actual not in allowed and not (actual == "integer" and "number" in allowed):
        expected = " or ".join(WORDS[kind] for kind in allowed)
        raise WrongType(name, expected, WORDS[actual], value)
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidChoice(name, tuple(schema["enum"]), value)
    if actual == "string":
        _check_text(schema, value, name)
    elif actual in ("integer", "number"):
        _check_number(schema, value, name)
    elif actual == "array":
        return _check_list(schema, value, name)
    elif actual == "object":
        return _check_object(schema, value, name)
    return value


def _check_any_of(schema: Schema, value: Any, name: str) -> Any:
    for branch in schema["anyOf"]:
        try:
            return check(branch, value, name)
        except InvalidArgument:
            continue
    raise MalformedArgument(name, schema.get("description", "see the schema"))


def _check_whole(value: float, name: str) -> int:
    if not value.is_integer():  # infinity and NaN are not
        raise WrongType(name, WORDS["integer"], repr(value), value)
    return int(value)


def _check_text(schema: Schema, value: str, name: str) -> None:
    if not is_unicode(value):
        raise WrongType(name, "Unicode text", "text with half a character (a lone surrogate)", value)
    if "\0" in value:
        raise NullCharacter(name, value)
    if len(value) > schema.get("maxLength", len(value)):
        raise MalformedArgument(name, f"use at most {schema['maxLength']} characters")
    if len(value) < schema.get("minLength", 0):
        raise MalformedArgument(name, "it must not be empty")
    pattern = schema.get("pattern")
    if pattern and not re.search(pattern, value):
        raise MalformedArgument(name, schema.get("description") or f"it must match {pattern}")
    if schema.get("format") == "date" and not (_DAY.fullmatch(value) and parse_timestamp(value)):
        raise MalformedArgument(name, "use a day like 2026-03-14")
    if schema.get("format") == "date-time" and not ("T" in value and parse_timestamp(value)):
        raise MalformedArgument(name, "use a time like 2026-03-14T09:30:00Z")


def _check_number(schema: Schema, value: float, name: str) -> None:
    if value != value or value in (float("inf"), float("-inf")):
        raise WrongType(name, WORDS["number"], repr(value), value)
    low = schema.get("minimum")
    high = schema.get("maximum")
    if (low is not None and value < low) or (high is not None and value > high):
        raise OutOfRange(name, low, high, value)


def _check_list(schema: Schema, value: Sequence[Any], name: str) -> list[Any]:
    low = schema.get("minItems", 0)
    high = schema.get("maxItems")
    if len(value) < low or (high is not None and len(value) > high):
        raise MalformedArgument(name, f"give from {low} to {high} items" if high else f"give at least {low}")
    items = schema.get("items")
    if not items:
        return list(_check_json(value, name))
    return [check(items, item, f"{name}[{number}]") for number, item in enumerate(value)]


def _check_object(schema: Schema, value: Mapping[str, Any], name: str) -> dict[str, Any]:
    if "properties" not in schema or not isinstance(value, Mapping):
        return dict(_check_json(value, name))
    known = schema["properties"]
    for missing in schema.get("required", ()):
        if missing not in value:
            raise MissingArgument(missing)
    unknown = [field for field in value if field not in known]
    if unknown and schema.get("additionalProperties") is False:
        raise UnknownArgument(unknown[0], tuple(known))
    return {field: check(known[field], each, field) if field in known else each for field, each in value.items()}


def _check_json(value: Any, name: str) -> Any:
    """Return the value after a round trip through JSON, so that reading it back gives the same."""
    try:
        return round_trip(value)
    except (TypeError, ValueError) as error:
        raise WrongType(name, "a JSON value", f"something that JSON cannot represent ({error})") from error
