"""JSON that is really JSON: no NaN, no infinity, no half characters, so that what is read can be written again."""

from __future__ import annotations

import json
import re
from typing import Any

from ..model import Json

DEEPEST = 100  # levels: far more than anybody means, far fewer than a recursive reader can follow


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None when it is anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def loads(text: str) -> Json:
    """The value; ValueError when the text is not JSON or holds what JSON and UTF-8 can not."""
    try:
        return checked(json.loads(text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def checked(value: Json) -> Json:
    """The value, as JSON gives it back; ValueError or TypeError when JSON can not hold it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    text.encode()
    if _depth(text) > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} levels deep")
    return json.loads(text)


def _depth(text: str) -> int:
    """How deep JSON text nests, counted from above: brackets in strings are taken out first."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def is_unicode(text: str) -> bool:
    """Whether a text is whole characters: JSON and file systems can hand over halves, which UTF-8 can not hold."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def whole_characters(text: str) -> str:
    """Text with every half of a character replaced, as a truncated emoji leaves one."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
