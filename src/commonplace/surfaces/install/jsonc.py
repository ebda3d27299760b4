"""Edits JSON with comments and trailing commas in place: every byte that is not part of an edit stays.

An edit uses the indentation and line ends of the file, and leaves a trailing comma where there was one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...formats import ParseProblem
from ...formats.json5 import JSONC, JsonMember, JsonNode, line_of, read_nodes, skip_space

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*\r?\n")
_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)
Path = tuple[str | int, ...]


def parse(text: str) -> Any:
    """Return the value of the text, `{}` if it is blank; ParseProblem with the line of a syntax error."""
    return read(text).value


def read(text: str) -> JsonNode:
    node = read_nodes(text, JSONC)
    return node if node.end > node.start else node._replace(value={})


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


def remove(text: str, path: Path) -> str:
    """Return the text without the member or element at a path."""
    holder = _find(read(text), path[:-1])
    member = None if holder is None else _member(holder, path[-1])
    if holder is None or member is None:
        return text
    start = _trim_space(text, member.start)
    end = member.node.end
    before = [each.node.end for each in holder.inside if each.start < member.start]
    gap = skip_space(text, before[-1], JSONC) if before else holder.start  # the comma before it, or the bracket
    comma = skip_space(text, end, JSONC)
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
        raise ParseProblem(f"{name} must be {what} there", line_of(text, node.start))


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
    comma = skip_space(text, last, JSONC)
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
