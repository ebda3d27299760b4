"""Strict JSON: no NaN, no infinity, no lone surrogates, so that every value that is read can be written again."""

from __future__ import annotations

import json
import re
from typing import Any

from ..model import Json

MAX_DEPTH_LEVELS = 100  # far more than anybody needs, far fewer than a recursive parser can follow


def parse_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a text, or None if it is anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_json(text: str) -> Json:
    """Return the value in a text; ValueError if it is not strict JSON."""
    try:
        return round_trip(json.loads(text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def round_trip(value: Json) -> Json:
    """Return the value as JSON gives it back; ValueError or TypeError if JSON cannot hold it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    text.encode()  # raises for lone surrogates
    if _depth(text) > MAX_DEPTH_LEVELS:
        raise ValueError(f"nested more than {MAX_DEPTH_LEVELS} levels deep")
    return json.loads(text)


def _depth(text: str) -> int:
    """Return how many levels deep JSON text nests. Brackets inside strings do not count."""
    depth = 0
    deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def is_unicode(text: str) -> bool:
    """Return whether a text can be written as UTF-8. JSON and file systems can hand over lone surrogates."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def replace_surrogates(text: str) -> str:
    """Return the text with every lone surrogate (half an emoji, for instance) replaced."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
