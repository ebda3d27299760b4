"""JSON as people write it, read into nodes with their positions.

In two dialects: `JSON5`, in which other systems are configured, has comments, trailing commas, bare keys and single
quotes; `JSONC`, which clients read, has the first two. `surfaces/install/jsonc.py` edits files of the second. Our own,
because json-five 1.1 accepts what clients refuse (bare keys, NaN, hex) and takes 17 seconds for 220 kB; Claude Code's
file has megabytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..patterns import lazy_pattern
from . import ParseProblem
from .json_text import is_unicode

_MAX_DEPTH = 200
_SCALAR = lazy_pattern(r"[^\s,\]}\[{\"'/:]+")
_NAME = lazy_pattern(r"[^\W\d][\w$]*|\$[\w$]*")
_NUMBER = lazy_pattern(r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)")
_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_PLAIN_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_LINE_BREAKS = ("\r\n", "\n", "\r", "\u2028", "\u2029")
_WORDS = {"true": True, "false": False, "null": None}


class JsonNode(NamedTuple):
    """A value and its position; `inside` are the members of an object or the elements of a list."""

    start: int
    end: int
    value: Any
    inside: tuple[JsonMember, ...] = ()


class JsonMember(NamedTuple):
    """`start` is the position of the key, or of the element of a list."""

    key: str | int
    start: int
    node: JsonNode


class Dialect(NamedTuple):
    """What may be between values, and how strings and other scalars are written. `read_string` and `read_scalar` raise
    ValueError for an invalid one."""

    space: re.Pattern[str]
    quotes: tuple[str, ...]
    string: re.Pattern[str]
    read_string: Callable[[str], str]
    read_scalar: Callable[[str], Any]
    has_bare_keys: bool


def parse_json5(text: str) -> Any:
    """Return the value of a text; None if it is blank."""
    return read_nodes(text, JSON5).value


def read_nodes(text: str, dialect: Dialect) -> JsonNode:
    """Return the value of a text as a node; one of None if it is blank. ParseProblem if it cannot be parsed."""
    start = skip_space(text, 0, dialect)
    if start == len(text):
        return JsonNode(start, start, None)
    try:
        node = _read_value(text, start, dialect, 0)
    except RecursionError as error:
        raise ParseProblem("it is nested too deeply", 1) from error
    rest = skip_space(text, node.end, dialect)
    if rest != len(text):
        raise _problem(text, rest, "there is more text after the end")
    return node


def skip_space(text: str, position: int, dialect: Dialect) -> int:
    """Return the next position that is neither white space nor comment."""
    match = dialect.space.match(text, position)
    end = match.end() if match else position
    if text.startswith("/*", end):
        raise _problem(text, end, "a comment is not closed")
    return end


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _problem(text: str, position: int, problem: str) -> ParseProblem:
    return ParseProblem(problem, line_of(text, position))


def _read_value(text: str, start: int, dialect: Dialect, depth: int) -> JsonNode:
    opening = text[start : start + 1]
    if depth > _MAX_DEPTH:
        raise _problem(text, start, "it is nested too deeply")
    if opening in ("{", "["):
        return _read_container(text, start, dialect, depth, "}" if opening == "{" else "]")
    if opening in dialect.quotes:
        return _read_string(text, start, dialect)
    match = _SCALAR.match(text, start)
    word = match[0] if match else ""
    try:
        return JsonNode(start, start + len(word), dialect.read_scalar(word))
    except ValueError as error:
        raise _problem(text, start, f"{word[:40] or opening or 'the end'!r} is not a value") from error


def _read_string(text: str, start: int, dialect: Dialect) -> JsonNode:
    match = dialect.string.match(text, start)
    if not match:
        raise _problem(text, start, "a string is not closed")
    try:
        return JsonNode(start, match.end(), dialect.read_string(match[0]))
    except ValueError as error:
        raise _problem(text, start, f"{match[0][:40]} is not a valid string") from error


def _read_container(text: str, start: int, dialect: Dialect, depth: int, closing: str) -> JsonNode:
    inside: list[JsonMember] = []
    position = skip_space(text, start + 1, dialect)
    while text[position : position + 1] != closing:
        key: str | int = len(inside)
        first = position
        if closing == "}":
            key, position = _read_key(text, position, dialect)
        node = _read_value(text, position, dialect, depth + 1)
        inside.append(JsonMember(key, first, node))
        position = skip_space(text, node.end, dialect)
        if text[position : position + 1] == ",":
            position = skip_space(text, position + 1, dialect)
        elif text[position : position + 1] != closing:
            raise _problem(text, position, f"a comma or {closing} is missing before {_name_next(text, position)}")
    values = {each.key: each.node.value for each in inside} if closing == "}" else [each.node.value for each in inside]
    return JsonNode(start, position + 1, values, tuple(inside))


def _read_key(text: str, position: int, dialect: Dialect) -> tuple[str, int]:
    """Return a key and the position of its value."""
    name = _NAME.match(text, position) if dialect.has_bare_keys else None
    if name:
        key = JsonNode(position, name.end(), name[0])
    elif text.startswith(dialect.quotes, position):
        key = _read_string(text, position, dialect)
    else:
        quotes = "" if dialect.has_bare_keys else " in quotes"
        raise _problem(text, position, f"a key{quotes} is missing before {_name_next(text, position)}")
    colon = skip_space(text, key.end, dialect)
    if text[colon : colon + 1] != ":":
        raise _problem(text, colon, f"a colon is missing after {key.value!r}")
    return key.value, skip_space(text, colon + 1, dialect)


def _name_next(text: str, position: int) -> str:
    return repr(text[position]) if position < len(text) else "the end"


def _read_json_scalar(word: str) -> Any:
    return json.loads(word, parse_constant=_refuse_constant)


def _refuse_constant(word: str) -> None:
    raise ValueError(word)


def _read_json5_scalar(word: str) -> Any:
    if not _NUMBER.fullmatch(word):
        if word not in _WORDS:
            raise ValueError(word)
        return _WORDS[word]
    digits = word.lstrip("+-")
    if digits[:2].lower() == "0x":
        return -int(digits, 16) if word.startswith("-") else int(digits, 16)
    return int(word) if digits.isdecimal() else float(word)


def _read_json5_string(quoted: str) -> str:
    """Return a string in which two escapes may be one character, as JSON writes those beyond 16 bits."""
    text = _ESCAPE.sub(_unescape, quoted[1:-1])
    return text if is_unicode(text) else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unescape(match: re.Match[str]) -> str:
    four, two, other = match.groups()
    if four or two:
        return chr(int(four or two, 16))
    return "" if other in _LINE_BREAKS else _PLAIN_ESCAPES.get(other, other)


JSON5 = Dialect(
    lazy_pattern(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL),
    ('"', "'"),
    lazy_pattern(r'"(?:[^"\\\n\r]|\\(?:\r\n|.))*"|\'(?:[^\'\\\n\r]|\\(?:\r\n|.))*\'', re.DOTALL),
    _read_json5_string,
    _read_json5_scalar,
    has_bare_keys=True,
)
JSONC = Dialect(
    lazy_pattern(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL),
    ('"',),
    lazy_pattern(r'"(?:[^"\\\x00-\x1f]|\\.)*"'),
    json.loads,
    _read_json_scalar,
    has_bare_keys=False,
)
