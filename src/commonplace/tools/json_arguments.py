"""What a model sends as JSON text, where its API can not ask for an object of any shape.

An object comes as its text. A value of any type, for which text is a value as well, comes as `{"json_text": "[1, 2]"}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import WrongType
from ..formats.json_text import loads
from .define import Parameter

JSON_TEXT = "json_text"


def unfolded(parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, with JSON text read where a parameter takes what it says; WrongType when it is not JSON."""
    texts = {each.name: _text(each.kind, arguments.get(each.name)) for each in parameters}
    read = {name: _read(name, text) for name, text in texts.items() if text is not None}
    return {**arguments, **read} if read else arguments


def _text(kind: str, value: Any) -> str | None:
    if kind == "any" and isinstance(value, dict) and [*value] == [JSON_TEXT]:
        value = value[JSON_TEXT]
    elif kind != "object":
        return None
    return value if isinstance(value, str) else None


def _read(name: str, text: str) -> Any:
    try:
        value = loads(text)
    except ValueError as error:
        raise WrongType(name, "JSON text", f"text that is not JSON ({error})", text) from error
    if value is None:
        raise WrongType(name, "JSON text of a value", "of null", text)
    return value
