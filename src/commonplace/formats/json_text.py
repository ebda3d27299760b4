"""Strict JSON: no NaN, no infinity, no lone surrogates, so that every value that is read can be written again.

And JSON5, in which people write configuration: comments, trailing commas, bare keys, single quotes. It is only read.
`surfaces/install/jsonc.py` edits files of clients, which accept less.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..model import Json
from ..patterns import lazy_pattern

MAX_DEPTH_LEVELS = 100  # far more than anybody needs, far fewer than a recursive parser can follow
MAX_DEPTH = 60
_SPACE = lazy_pattern(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)
_NAME = lazy_pattern(r"[^\W\d][\w$]*|\$[\w$]*")
_STRING = lazy_pattern(r'"(?:[^"\\\n\r]|\\(?:\r\n|.))*"|\'(?:[^\'\\\n\r]|\\(?:\r\n|.))*\'', re.DOTALL)
_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_PLAIN_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_LINE_BREAKS = ("\r\n", "\n", "\r", "\u2028", "\u2029")
_NUMBER = lazy_pattern(r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)")
_WORDS = {"true": True, "false": False, "null": None}


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
    """Tell whether a text can be written as UTF-8. JSON and file systems can hand over lone surrogates."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def replace_surrogates(text: str) -> str:
    """Return the text with every lone surrogate (half an emoji, for instance) replaced."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Json5Problem(Exception):
    """What is wrong, and the line (from 1) where it was noticed."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def parse_json5(text: str) -> Any:
    """Return the value of a text; None if it is blank."""
    parser = _Parser(text)
    if parser.at == len(text):
        return None
    value = parser.read_value(0)
    if parser.at != len(text):
        raise parser.error("there is more text after the end")
    return value


class _Parser:
    """Reads values one after the other; `at` is the position of the next one, past white space and comments."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.skip(0)

    def error(self, problem: str) -> Json5Problem:
        return Json5Problem(problem, self.text.count("\n", 0, self.at) + 1)

    def skip(self, count: int) -> None:
        """Pass some characters, and the white space and comments after them."""
        match = _SPACE.match(self.text, self.at + count)
        self.at = match.end() if match else self.at + count

    def next_is(self, character: str) -> bool:
        return self.text.startswith(character, self.at)

    def read_value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        if self.next_is("{"):
            return dict(self._read_members(depth))
        if self.next_is("["):
            return list(self._read_elements(depth))
        if self.next_is('"') or self.next_is("'"):
            return self._read_string()
        if match := _NUMBER.match(self.text, self.at):
            return self._read_number(match[0])
        match = _NAME.match(self.text, self.at)
        if match is None or match[0] not in _WORDS:
            raise self.error("a value is missing")
        self.skip(len(match[0]))
        return _WORDS[match[0]]

    def _read_number(self, text: str) -> int | float:
        try:
            number = _parse_number(text)
        except ValueError as error:  # more digits than Python converts
            raise self.error("a number is too long") from error
        self.skip(len(text))
        return number

    def _read_members(self, depth: int) -> list[tuple[str, Any]]:
        members: list[tuple[str, Any]] = []
        self.skip(1)
        while not self.next_is("}"):
            key = self._read_key()
            if not self.next_is(":"):
                raise self.error(f"a colon is missing after {key!r}")
            self.skip(1)
            members.append((key, self.read_value(depth + 1)))
            self._skip_comma("}")
        self.skip(1)
        return members

    def _read_elements(self, depth: int) -> list[Any]:
        elements: list[Any] = []
        self.skip(1)
        while not self.next_is("]"):
            elements.append(self.read_value(depth + 1))
            self._skip_comma("]")
        self.skip(1)
        return elements

    def _skip_comma(self, closing: str) -> None:
        if self.next_is(","):
            self.skip(1)
        elif not self.next_is(closing):
            raise self.error(f"a comma or {closing} is missing")

    def _read_key(self) -> str:
        if self.next_is('"') or self.next_is("'"):
            return self._read_string()
        match = _NAME.match(self.text, self.at)
        if match is None:
            raise self.error("a key is missing")
        self.skip(len(match[0]))
        return match[0]

    def _read_string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.error("a string is not closed")
        self.skip(len(match[0]))
        return _join_surrogates(_ESCAPE.sub(_unescape, match[0][1:-1]))


def _unescape(match: re.Match[str]) -> str:
    four, two, other = match.groups()
    if four or two:
        return chr(int(four or two, 16))
    return "" if other in _LINE_BREAKS else _PLAIN_ESCAPES.get(other, other)


def _join_surrogates(text: str) -> str:
    """Return a text in which two escapes are one character, as JSON writes those beyond 16 bits."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _parse_number(text: str) -> int | float:
    digits = text.lstrip("+-")
    if digits[:2].lower() == "0x":
        return -int(digits, 16) if text.startswith("-") else int(digits, 16)
    return int(text) if digits.isdecimal() else float(text)
