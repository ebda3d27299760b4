"""JSON that is really JSON: no NaN, no infinity, no half characters, so that what is read can be written again."""

from __future__ import annotations

import json

from ..model import Json


def loads(text: str) -> Json:
    """The value; ValueError when the text is not JSON or holds what JSON and UTF-8 can not."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def whole_characters(text: str) -> str:
    """Text with every half of a character replaced, as a truncated emoji leaves one."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
