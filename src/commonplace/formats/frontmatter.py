"""Front matter: the YAML between two `---` lines at the top of a page.

Read with every scalar as text (YAML 1.1 would turn `no` into False and `010` into 8). Edited in place: a changed
field replaces its own characters and every other byte, comment and quote that a person wrote stays as it is.
What we write ourselves is so plain that it is read back without loading a YAML library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import BrokenFrontMatter, NotAMapping
from .yaml_nodes import Node, YamlProblem, as_text, compose

Fields = dict[str, Any]  # text, lists of text, or mappings of text

_HEAD = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*?\n)??(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_PLAIN = re.compile(r"[^\W\d][\w./+-]*(?: [\w./+-]+)*|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?")
_INTRICATE = "the front matter is too intricate to be edited (anchors, aliases): mend it by hand"
_NOT_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_LINE = re.compile(r"([A-Za-z_][\w-]*):(?: (.+))?")
_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^\W\d][^\s,\[\]{}"\'#&*!|>%@`:]*)\s*(?:,|$)')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def split(text: str) -> tuple[str, str]:
    """The front matter with both fences (empty when there is none), and the rest of the page."""
    found = _HEAD.match(text) if text[:4].lstrip("\ufeff").startswith("---") else None
    return (text[: found.end()], text[found.end() :]) if found else ("", text)


def parse(head: str) -> Fields:
    """The fields of a front matter. Raises BrokenFrontMatter with the line in the page where it stops making sense."""
    inner = _inner(head)
    fields = _parse_plain(inner)
    return fields if fields is not None else _parse_yaml(inner)


def render(fields: Mapping[str, Any]) -> str:
    """A new front matter; fields that are None or empty lists are left out."""
    lines = [line for name, value in fields.items() if value not in (None, []) for line in _lines(name, value)]
    return "---\n" + "".join(f"{line}\n" for line in lines) + "---\n"


def edit(head: str, changes: Mapping[str, Any]) -> str:
    """The same front matter with some fields changed, added, or (None) removed; the rest keeps its bytes."""
    if not head:
        return render(changes)
    start, end = _bounds(head)
    try:
        edited = head[:start] + _edited(head[start:end], changes) + head[end:]
    except YamlProblem as error:
        raise BrokenFrontMatter(_INTRICATE) from error
    if not _says(edited, _merged(parse(head), changes)):  # anchors and the like
        raise BrokenFrontMatter(_INTRICATE)
    return edited


def _edited(inner: str, changes: Mapping[str, Any]) -> str:
    """The YAML with fields changed: line by line where every line is of the kind we write, else by its nodes."""
    nested = any(isinstance(value, dict) for value in changes.values())
    if nested or _parse_plain(inner) is None or (inner and not inner.endswith("\n")):
        for name, value in changes.items():
            inner = _set(inner, [name], value)
        return inner
    lines = {line.partition(":")[0]: line for line in inner.split("\n")[:-1]}
    for name, value in changes.items():
        if value is None:
            lines.pop(name, None)
        elif name not in lines or _parse_plain(lines[name]) != {name: value}:
            lines[name] = f"{scalar(name)}: {_inline(value)}"
    return "".join(f"{line}\n" for line in lines.values())


def _says(head: str, fields: Fields) -> bool:
    try:
        return parse(head) == fields
    except BrokenFrontMatter:
        return False


def _merged(fields: Fields, changes: Mapping[str, Any]) -> Fields:
    out = dict(fields)
    for name, value in changes.items():
        if value is None:
            out.pop(name, None)
        elif isinstance(value, dict) and isinstance(out.get(name), dict):
            out[name] = {**out[name], **value}
        else:
            out[name] = value
    return out


def _bounds(head: str) -> tuple[int, int]:
    """Where the YAML between the two fences starts and ends."""
    return head.index("\n") + 1, head.rfind("\n", 0, len(head.rstrip())) + 1


def _inner(head: str) -> str:
    if not head:
        return ""
    start, end = _bounds(head)
    return head[start:end]


def _parse_plain(inner: str) -> Fields | None:
    """The fields when every line is of the kind we write; None when a YAML library has to look."""
    fields: Fields = {}
    for line in inner.split("\n")[:-1] if inner.endswith("\n") else inner.split("\n"):
        found = _LINE.fullmatch(line)
        if not found or found[1] in fields:
            return {} if not inner else None
        value = _plain_value(found[2] or "")
        if value is None:
            return None
        fields[found[1]] = value
    return fields


def _plain_value(text: str) -> str | list[str] | None:
    if text.startswith("[") and text.endswith("]"):
        return _plain_list(text[1:-1])
    return _plain_scalar(text) if text else None


def _plain_list(text: str) -> list[str] | None:
    items: list[str] = []
    at = 0
    while at < len(text):
        found = _ITEM.match(text, at)
        item = _plain_scalar(found[1]) if found else None
        if found is None or item is None:
            return None
        items.append(item)
        at = found.end()
    return items


def _plain_scalar(text: str) -> str | None:
    if text.startswith('"'):
        try:
            value = json.loads(text)
        except ValueError:
            return None
        return value if isinstance(value, str) and "\\u" not in text and "\\/" not in text else None
    return text if _PLAIN.fullmatch(text) else None


def _parse_yaml(inner: str) -> Fields:
    try:
        node = compose(inner)
        fields = {} if node is None else as_text(node)
    except YamlProblem as error:
        raise _broken(error) from error
    if isinstance(fields, dict):
        return fields
    if fields == "":
        return {}
    raise NotAMapping("the front matter is not a mapping of names to values (line 2)")


def _broken(error: YamlProblem) -> BrokenFrontMatter:
    where = f"line {error.line + 1}: " if error.line else ""
    return BrokenFrontMatter(f"the front matter is not YAML ({where}{error.problem})")


def _compose(inner: str) -> Node:
    try:
        node = compose(inner)
    except YamlProblem as error:
        raise _broken(error) from error
    if node is None or node.id == "mapping":
        return node
    raise NotAMapping("the front matter is not a mapping of names to values (line 2)")


def _set(inner: str, path: list[str], value: Any) -> str:
    """One field changed; a mapping as value changes the fields of that mapping and leaves its others."""
    found = _field(inner, path)
    if isinstance(value, dict) and found and found[1].id == "mapping":
        for name, nested in value.items():
            inner = _set(inner, [*path, name], nested)
        return inner
    if found is None:
        return inner if value is None else _insert(inner, path, value)
    if value is None:  # written twice by hand: the second one hides the first, so both go
        return _set(_without(inner, found[0].start_mark.index, _end(inner, found[1])), path, None)
    if as_text(found[1]) == value:
        return inner
    return _replace(inner, *found, value)


def _field(inner: str, path: Sequence[str]) -> tuple[Node, Node] | None:
    """The name and the value of a field, as places in the text."""
    node: Node = _compose(inner)
    pair: tuple[Node, Node] | None = None
    for name in path:
        if node is None or node.id != "mapping":
            return None
        pair = next(((k, v) for k, v in reversed(node.value) if k.value == name), None)
        if pair and pair[1].start_mark.index < pair[0].end_mark.index:
            raise BrokenFrontMatter(_INTRICATE)  # an alias: what it stands for is somewhere else
        node = pair[1] if pair else None
    return pair


def _end(inner: str, node: Node) -> int:
    """Where a value really ends: block collections and block scalars claim the white space behind them."""
    if node.id != "scalar" and not node.flow_style and node.value:
        last = node.value[-1][1] if isinstance(node.value[-1], tuple) else node.value[-1]
        if last.start_mark.index < node.start_mark.index or last is node:
            raise BrokenFrontMatter(_INTRICATE)
        return _end(inner, last)
    end: int = node.end_mark.index
    if node.id == "scalar" and getattr(node, "style", None) in ("|", ">"):
        while end > node.start_mark.index and inner[end - 1] in "\r\n":
            end -= 1
    return end


def _replace(inner: str, name: Node, node: Node, value: Any) -> str:
    start: int = node.start_mark.index
    end = _end(inner, node)
    if node.id == "sequence" and not node.flow_style and isinstance(value, list) and value:
        column: int = node.start_mark.column
        indent = _newline(inner) + " " * column
        return inner[:start] + indent.join(f"- {scalar(item)}" for item in value) + inner[end:]
    if node.id != "scalar" and not node.flow_style:
        start = inner.index(":", name.end_mark.index) + 1
        return inner[:start] + " " + _inline(value) + inner[end:]
    gap = "" if start and inner[start - 1] in " \t" else " "
    return inner[:start] + gap + _inline(value) + inner[end:]


def _without(inner: str, start: int, end: int) -> str:
    """The text without a field: its lines, or its place between two commas."""
    if inner.lstrip().startswith("{"):
        before, after = inner[:start], inner[end:]
        comma = re.match(r"\s*,\s*", after)
        return before + after[comma.end() :] if comma else re.sub(r"\s*,\s*$", "", before) + after
    line = inner.rfind("\n", 0, start) + 1
    stop = inner.find("\n", end)
    return inner[:line] + (inner[stop + 1 :] if stop >= 0 else "")


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _insert(inner: str, path: Sequence[str], value: Any) -> str:
    """A new field at the end of the mapping it belongs to."""
    parent = _field(inner, path[:-1])[1] if path[:-1] else _compose(inner)  # type: ignore[index]
    if parent is not None and parent.flow_style:
        at = parent.end_mark.index - 1
        before = inner[:at].rstrip()
        comma = " " if before.endswith(",") else ", " if parent.value else ""
        return f"{before}{comma}{scalar(path[-1])}: {_inline(value)}{inner[at:]}"
    newline = _newline(inner)
    if len(path) == 1 or parent is None:
        if inner and not inner.endswith("\n"):
            inner += newline
        return inner + "".join(line + newline for line in _lines(path[-1], value))
    at = inner.find("\n", _end(inner, parent))
    at = len(inner) if at < 0 else at + 1
    indent = " " * parent.start_mark.column
    return inner[:at] + "".join(indent + line + newline for line in _lines(path[-1], value)) + inner[at:]


def _lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield f"{scalar(name)}:"
        for nested, inner in value.items():
            yield from (f"  {line}" for line in _lines(nested, inner))
    else:
        yield f"{scalar(name)}: {_inline(value)}"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(name)}: {_inline(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(scalar(item) for item in value) + "]"
    return scalar(value)


def scalar(text: str) -> str:
    """Text as YAML: bare where nobody could read it as anything else, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.isascii() and text.lower() not in _NOT_TEXT:
        return text
    return '"' + "".join(_escape(char) for char in text) + '"'


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0x20 <= code < 0x7F or (0xA0 <= code < 0xD800 and code not in (0x2028, 0x2029)):
        return char
    if 0xE000 <= code < 0xFFFE and code != 0xFEFF:
        return char
    if 0x10000 <= code <= 0x10FFFF:
        return char
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
