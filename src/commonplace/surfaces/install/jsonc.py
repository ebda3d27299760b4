"""Edits JSON with comments and trailing commas in place: every byte that is not part of an edit stays.

A text is parsed into nodes with their positions. An edit uses the indentation and line ends of the file, and leaves a
trailing comma where there was one. Our own, because json-five 1.1 accepts what clients refuse (bare keys, NaN, hex) and
takes 17 seconds for 220 kB; Claude Code's file has megabytes.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .files import Unreadable

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}\[{\"/:]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*\r?\n")
_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)
_MAX_DEPTH = 200
Path = tuple[str | int, ...]


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


def parse(text: str) -> Any:
    """Return the value of the text, `{}` if it is blank; Unreadable with the line of a syntax error."""
    return read(text).value


def read(text: str) -> JsonNode:
    start = _skip(text, 0)
    if start == len(text):
        return JsonNode(start, start, {})
    try:
        node = _parse_value(text, start, 0)
    except RecursionError as error:
        raise Unreadable(1, "it is nested too deeply") from error
    rest = _skip(text, node.end)
    if rest != len(text):
        raise _syntax_error(text, rest, "there is more text after the end")
    return node


def put(text: str, path: Path, value: Any) -> str:
    """Return the text with a value at a path of keys; missing objects on the way are created."""
    root = _root(text)
    if root is None:
        return put(_with_empty_object(text), path, value)
    node = holder = root
    for depth, key in enumerate(path):
        holder = node
        _require(text, node, list if isinstance(key, int) else dict, path[:depth])
        member = _member(node, key)
        if member is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(text, node, depth, f"{json.dumps(key, ensure_ascii=False)}: ", value)
        node = member.node
    if node.value == value and type(node.value) is type(value):
        return text
    return text[: node.start] + _serialize(text, value, len(path), inline=_is_inline(text, holder)) + text[node.end :]


def add(text: str, path: Path, element: Any) -> str:
    """Return the text with one more element in the list at a path."""
    root = _root(text)
    node = None if root is None else _find(root, path)
    if node is None:
        return put(text, path, [element])
    _require(text, node, list, path)
    return _insert(text, node, len(path), "", element)


def take(text: str, path: Path) -> str:
    """Return the text without the member or element at a path."""
    holder = _find(read(text), path[:-1])
    member = None if holder is None else _member(holder, path[-1])
    if holder is None or member is None:
        return text
    start = _trim_space(text, member.start)
    end = member.node.end
    before = [each.node.end for each in holder.inside if each.start < member.start]
    gap = _skip(text, before[-1]) if before else holder.start  # the comma before it, or the bracket
    comma = _skip(text, end)
    if text[comma : comma + 1] == ",":
        comment = text[end:comma].strip()
        before_member = text[:start] + (text[start : member.start] + comment if comment else "")
        return _join(before_member, before_member[gap + 1 :], text[comma + 1 :])
    before_member = text[:gap] + text[gap + 1 : start] if before else text[:start]  # without the comma before it
    return _join(before_member, text[gap + 1 : start], text[end:])


def _join(left: str, comments: str, right: str) -> str:
    """Join the text on both sides of a removal. A line comment must not swallow what follows."""
    last = [*_COMMENT.finditer(comments)][-1:]
    runs_on = bool(last) and last[0][0].startswith("//") and last[0].end() == len(comments)
    return f"{left}\n{right}" if runs_on and not _LINE_END.match(right) else left + right


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _root(text: str) -> JsonNode | None:
    """Return the top-level object, or None if the text is blank."""
    root = read(text)
    if root.start == root.end:
        return None
    _require(text, root, dict, ())
    return root


def _with_empty_object(text: str) -> str:
    """Append an empty object to a text that is blank or has only comments."""
    text = text.rstrip()
    return f"{text}\n{{}}\n" if text.strip("\ufeff") else f"{text}{{}}\n"


def _require(text: str, node: JsonNode, kind: type, path: Path) -> None:
    if not isinstance(node.value, kind):
        what = "a list" if kind is list else "an object"
        name = ".".join(map(str, path)) or "the file"
        raise Unreadable(line_of(text, node.start), f"{name} must be {what} there")


def _find(node: JsonNode, path: Path) -> JsonNode | None:
    for key in path:
        member = _member(node, key)
        if member is None:
            return None
        node = member.node
    return node


def _member(node: JsonNode, key: str | int) -> JsonMember | None:
    """Return the member with a key; the last, if there are several, as JSON parsers do."""
    return next((member for member in reversed(node.inside) if member.key == key), None)


def _insert(text: str, holder: JsonNode, depth: int, label: str, value: Any) -> str:
    """Insert a member at the end of an object or a list."""
    inline = _is_inline(text, holder) and bool(holder.inside)
    member = label + _serialize(text, value, depth + 1, inline=inline)
    close = holder.end - 1
    tail = _trim_space(text, close)
    if not holder.inside:
        # there may be a line comment in it
        return (
            text[:tail]
            + _line_break(text, depth + 1)
            + member
            + _space_before_bracket(text, tail, close, depth)
            + text[close:]
        )
    between = " " if inline else _line_break(text, depth + 1)
    last = holder.inside[-1].node.end
    comma = _skip(text, last)
    if text[comma] == ",":
        return text[:tail] + between + member + "," + text[tail:]
    tail = max(tail, last)
    return text[:last] + "," + text[last:tail] + between + member + text[tail:]


def _space_before_bracket(text: str, tail: int, close: int, depth: int) -> str:
    """Return the space before the closing bracket of a container that was empty."""
    return text[tail:close] if "\n" in text[tail:close] else _line_break(text, depth)


def _line_break(text: str, depth: int) -> str:
    return ("\r\n" if "\r\n" in text else "\n") + _indent(text) * depth


def _serialize(text: str, value: Any, depth: int, *, inline: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False)
    whole = json.dumps(value, ensure_ascii=False, indent=_indent(text))
    return whole.replace("\n", _line_break(text, depth))


def _is_inline(text: str, node: JsonNode) -> bool:
    return "\n" not in text[node.start : node.end]


def _indent(text: str) -> str:
    """Return the indentation of the file: that of the first indented key."""
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _trim_space(text: str, position: int) -> int:
    """Return where the white space before a position begins."""
    start = position
    while start > 0 and text[start - 1] in " \t\r\n":
        start -= 1
    return start


def _skip(text: str, position: int) -> int:
    """Return the next position that is neither white space nor comment."""
    match = _SPACE.match(text, position)
    end = match.end() if match else position
    if text.startswith("/*", end):
        raise _syntax_error(text, end, "a comment is not closed")
    return end


def _parse_value(text: str, start: int, depth: int) -> JsonNode:
    opening = text[start : start + 1]
    if depth > _MAX_DEPTH:
        raise _syntax_error(text, start, "it is nested too deeply")
    if opening in ("{", "["):
        return _parse_container(text, start, depth, "}" if opening == "{" else "]")
    if opening == '"':
        return _parse_string(text, start)
    match = _SCALAR.match(text, start)
    word = match[0] if match else ""
    try:
        return JsonNode(start, start + len(word), json.loads(word, parse_constant=_refuse_constant))
    except ValueError as error:
        raise _syntax_error(text, start, f"{word or opening or 'the end'!r} is not a value") from error


def _refuse_constant(word: str) -> None:
    raise ValueError(word)


def _parse_string(text: str, start: int) -> JsonNode:
    match = _STRING.match(text, start)
    if not match:
        raise _syntax_error(text, start, "a string is not closed")
    try:
        return JsonNode(start, match.end(), json.loads(match[0]))
    except ValueError as error:
        raise _syntax_error(text, start, f"{match[0][:40]} is not a valid string") from error


def _parse_container(text: str, start: int, depth: int, closing: str) -> JsonNode:
    inside: list[JsonMember] = []
    position = _skip(text, start + 1)
    while text[position : position + 1] != closing:
        key: str | int = len(inside)
        first = position
        if closing == "}":
            key, position = _parse_key(text, position)
        node = _parse_value(text, position, depth + 1)
        inside.append(JsonMember(key, first, node))
        position = _skip(text, node.end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != closing:
            token = repr(text[position : position + 1]) if position < len(text) else "the end"
            raise _syntax_error(text, position, f"a comma or {closing} is missing before {token}")
    values = {each.key: each.node.value for each in inside} if closing == "}" else [each.node.value for each in inside]
    return JsonNode(start, position + 1, values, tuple(inside))


def _parse_key(text: str, position: int) -> tuple[str, int]:
    """Return a key and the position of its value."""
    if text[position : position + 1] != '"':
        token = repr(text[position : position + 1]) if position < len(text) else "the end"
        raise _syntax_error(text, position, f"a key in quotes is missing before {token}")
    key = _parse_string(text, position)
    colon = _skip(text, key.end)
    if text[colon : colon + 1] != ":":
        raise _syntax_error(text, colon, f"a colon is missing after {key.value!r}")
    return key.value, _skip(text, colon + 1)


def _syntax_error(text: str, position: int, problem: str) -> Unreadable:
    return Unreadable(line_of(text, position), problem)
