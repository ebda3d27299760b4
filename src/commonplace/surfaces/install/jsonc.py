"""JSON with comments and trailing commas, edited in place: what is not touched keeps every byte.

A text is read into nodes that know where they stand. An edit writes the lines it must, in the indentation and with the
line ends that the file has, and leaves a trailing comma where there was one.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .edits import Unreadable

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}\[{\"/:]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*\r?\n")
_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)
_DEEPEST = 200
Place = tuple[str | int, ...]


class Node(NamedTuple):
    """A value and where it stands. `inside`: the members of an object by their keys, or the elements of a list."""

    start: int
    end: int
    value: Any
    inside: tuple[Member, ...] = ()


class Member(NamedTuple):
    """`start` is where the key stands, or the element where there is no key."""

    key: str | int
    start: int
    node: Node


def parse(text: str) -> Any:
    """What the text says; Unreadable with the line where it makes no sense. Blank text says `{}`."""
    return read(text).value


def read(text: str) -> Node:
    start = _skip(text, 0)
    if start == len(text):
        return Node(start, start, {})
    try:
        node = _value(text, start, 0)
    except RecursionError as error:
        raise Unreadable(1, "it is nested too deep") from error
    rest = _skip(text, node.end)
    if rest != len(text):
        raise _odd(text, rest, "something stands after the end")
    return node


def put(text: str, path: Place, value: Any) -> str:
    """The text with a value at a path of keys; objects on the way to it are made."""
    root = _root(text)
    if root is None:
        return put(_begun(text), path, value)
    node = holder = root
    for depth, key in enumerate(path):
        holder = node
        _require(text, node, list if isinstance(key, int) else dict, path[:depth])
        found = _member(node, key)
        if found is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _inserted(text, node, depth, f"{json.dumps(key, ensure_ascii=False)}: ", value)
        node = found.node
    if node.value == value and type(node.value) is type(value):
        return text
    return text[: node.start] + _written(text, value, len(path), inline=_is_inline(text, holder)) + text[node.end :]


def add(text: str, path: Place, element: Any) -> str:
    """The text with one more element in the list at a path."""
    root = _root(text)
    node = None if root is None else _find(root, path)
    if node is None:
        return put(text, path, [element])
    _require(text, node, list, path)
    return _inserted(text, node, len(path), "", element)


def take(text: str, path: Place) -> str:
    """The text without what stands at a path: a key and its value, or an element."""
    holder = _find(read(text), path[:-1])
    member = None if holder is None else _member(holder, path[-1])
    if holder is None or member is None:
        return text
    start, end = _after_space(text, member.start), member.node.end
    before = [each.node.end for each in holder.inside if each.start < member.start]
    gap = _skip(text, before[-1]) if before else holder.start  # the comma before it, or the bracket
    comma = _skip(text, end)
    if text[comma : comma + 1] == ",":
        kept = text[end:comma].strip()
        left = text[:start] + (text[start : member.start] + kept if kept else "")
        return _joined(left, left[gap + 1 :], text[comma + 1 :])
    left = text[:gap] + text[gap + 1 : start] if before else text[:start]  # that comma has nothing to part any more
    return _joined(left, text[gap + 1 : start], text[end:])


def _joined(left: str, comments: str, right: str) -> str:
    """What stood on both sides of something. A comment that runs to the end of its line must not swallow the rest."""
    last = [*_COMMENT.finditer(comments)][-1:]
    runs_on = bool(last) and last[0][0].startswith("//") and last[0].end() == len(comments)
    return f"{left}\n{right}" if runs_on and not _LINE_END.match(right) else left + right


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _root(text: str) -> Node | None:
    """The whole as an object, or None where there is nothing yet."""
    root = read(text)
    if root.start == root.end:
        return None
    _require(text, root, dict, ())
    return root


def _begun(text: str) -> str:
    """Text that says nothing, perhaps in comments, with an empty object after it."""
    shown = text.rstrip()
    return f"{shown}\n{{}}\n" if shown.strip("\ufeff") else f"{shown}{{}}\n"


def _require(text: str, node: Node, kind: type, path: Place) -> None:
    if not isinstance(node.value, kind):
        what = "a list" if kind is list else "an object"
        name = ".".join(map(str, path)) or "the file"
        raise Unreadable(line_of(text, node.start), f"{name} must be {what} there")


def _find(node: Node, path: Place) -> Node | None:
    for key in path:
        member = _member(node, key)
        if member is None:
            return None
        node = member.node
    return node


def _member(node: Node, key: str | int) -> Member | None:
    """The last one, where a key stands twice: that is the one that readers of JSON see."""
    return next((member for member in reversed(node.inside) if member.key == key), None)


def _inserted(text: str, holder: Node, depth: int, label: str, value: Any) -> str:
    """One more member at the end of an object or a list."""
    inline = _is_inline(text, holder) and bool(holder.inside)
    shown = label + _written(text, value, depth + 1, inline=inline)
    close = holder.end - 1
    tail = _after_space(text, close)
    if not holder.inside:
        # a comment may stand in it, and run to the end of its line
        return text[:tail] + _break(text, depth + 1) + shown + _closing(text, tail, close, depth) + text[close:]
    between = " " if inline else _break(text, depth + 1)
    last = holder.inside[-1].node.end
    comma = _skip(text, last)
    if text[comma] == ",":
        return text[:tail] + between + shown + "," + text[tail:]
    tail = max(tail, last)
    return text[:last] + "," + text[last:tail] + between + shown + text[tail:]


def _closing(text: str, tail: int, close: int, depth: int) -> str:
    """What stands before the closing bracket of something that was empty."""
    return text[tail:close] if "\n" in text[tail:close] else _break(text, depth)


def _break(text: str, depth: int) -> str:
    return ("\r\n" if "\r\n" in text else "\n") + _indent(text) * depth


def _written(text: str, value: Any, depth: int, *, inline: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False)
    whole = json.dumps(value, ensure_ascii=False, indent=_indent(text))
    return whole.replace("\n", _break(text, depth))


def _is_inline(text: str, node: Node) -> bool:
    return "\n" not in text[node.start : node.end]


def _indent(text: str) -> str:
    """The indentation of the file: that of its first line which has one."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _after_space(text: str, position: int) -> int:
    """Where the space before a position begins; a comment, or the end of its line, stays before it."""
    start = position
    while start > 0 and text[start - 1] in " \t\r\n":
        start -= 1
    return start


def _skip(text: str, position: int) -> int:
    """The next position that is neither space nor comment."""
    found = _SPACE.match(text, position)
    end = found.end() if found else position
    if text.startswith("/*", end):
        raise _odd(text, end, "a comment is not closed")
    return end


def _value(text: str, start: int, depth: int) -> Node:
    opening = text[start : start + 1]
    if depth > _DEEPEST:
        raise _odd(text, start, "it is nested too deep")
    if opening in ("{", "["):
        return _container(text, start, depth, "}" if opening == "{" else "]")
    if opening == '"':
        return _string(text, start)
    found = _SCALAR.match(text, start)
    word = found[0] if found else ""
    try:
        return Node(start, start + len(word), json.loads(word, parse_constant=_no_number))
    except ValueError as error:
        raise _odd(text, start, f"{word or opening or 'the end'!r} is no value") from error


def _no_number(word: str) -> None:
    raise ValueError(word)


def _string(text: str, start: int) -> Node:
    found = _STRING.match(text, start)
    if not found:
        raise _odd(text, start, "a text is not closed")
    try:
        return Node(start, found.end(), json.loads(found[0]))
    except ValueError as error:
        raise _odd(text, start, f"{found[0][:40]} is no text") from error


def _container(text: str, start: int, depth: int, closing: str) -> Node:
    inside: list[Member] = []
    position = _skip(text, start + 1)
    while text[position : position + 1] != closing:
        key: str | int = len(inside)
        first = position
        if closing == "}":
            key, position = _key(text, position)
        node = _value(text, position, depth + 1)
        inside.append(Member(key, first, node))
        position = _skip(text, node.end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != closing:
            shown = repr(text[position : position + 1]) if position < len(text) else "the end"
            raise _odd(text, position, f"a comma or {closing} is missing before {shown}")
    values = {each.key: each.node.value for each in inside} if closing == "}" else [each.node.value for each in inside]
    return Node(start, position + 1, values, tuple(inside))


def _key(text: str, position: int) -> tuple[str, int]:
    """A key, and where its value begins."""
    if text[position : position + 1] != '"':
        shown = repr(text[position : position + 1]) if position < len(text) else "the end"
        raise _odd(text, position, f"a key in quotes is missing before {shown}")
    key = _string(text, position)
    colon = _skip(text, key.end)
    if text[colon : colon + 1] != ":":
        raise _odd(text, colon, f"a colon is missing after {key.value!r}")
    return key.value, _skip(text, colon + 1)


def _odd(text: str, position: int, problem: str) -> Unreadable:
    return Unreadable(line_of(text, position), problem)
