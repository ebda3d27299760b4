"""Front matter: the YAML between two `---` lines at the top of a page.

Every scalar is read as text (YAML 1.1 would turn `no` into False and `010` into 8). Fields are edited in place: every
other byte, comment and quote that a person wrote stays. What we write ourselves is so plain that it is read back
without loading a YAML library; it is imported on first use. YAML is read as nodes that know their line, and text that
nests deeper than a person would write is refused before its recursive parser sees it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import BrokenFrontMatter, NotAMapping
from ..patterns import lazy_pattern
from . import ParseProblem

Fields = dict[str, Any]  # text, lists of text, or mappings of text

_HEAD = lazy_pattern(r"\ufeff?---[ \t]*\r?\n(?:.*?\n)??(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_PLAIN = lazy_pattern(r"[^\W\d][\w./+-]*(?: [\w./+-]+)*|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?")
_TOO_COMPLEX = "the front matter is too intricate to be edited (anchors, aliases): fix it by hand"
_NOT_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_LINE = lazy_pattern(r"([A-Za-z_][\w-]*):(?: (.+))?")
_ITEM = lazy_pattern(r'\s*("(?:[^"\\]|\\.)*"|[^\W\d][^\s,\[\]{}"\'#&*!|>%@`:]*)\s*(?:,|$)')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def split(text: str) -> tuple[str, str]:
    """Return the front matter with both fences ("" if there is none), and the rest of the page."""
    match = _HEAD.match(text) if text[:4].lstrip("\ufeff").startswith("---") else None
    return (text[: match.end()], text[match.end() :]) if match else ("", text)


def parse(head: str) -> Fields:
    """Return the fields of a front matter; BrokenFrontMatter, with the line in the page, if it cannot be parsed."""
    inner = _inner(head)
    fields = _parse_plain(inner)
    return fields if fields is not None else _parse_yaml(inner)


def render(fields: Mapping[str, Any]) -> str:
    """Return a new front matter. Fields that are None or empty lists are left out."""
    lines = [line for name, value in fields.items() if value not in (None, []) for line in _render_lines(name, value)]
    return "---\n" + "".join(f"{line}\n" for line in lines) + "---\n"


def edit(head: str, changes: Mapping[str, Any]) -> str:
    """Return the front matter with some fields changed, added, or (None) removed. The rest keeps its bytes."""
    if not head:
        return render(changes)
    start, end = _bounds(head)
    try:
        edited = head[:start] + _edit_yaml(head[start:end], changes) + head[end:]
    except ParseProblem as error:
        raise BrokenFrontMatter(_TOO_COMPLEX) from error
    if not _parses_to(edited, _merge_fields(parse(head), changes)):  # anchors and the like
        raise BrokenFrontMatter(_TOO_COMPLEX)
    return edited


def _edit_yaml(inner: str, changes: Mapping[str, Any]) -> str:
    """Return the YAML with fields changed: by lines if all are of the kind we write, else by its nodes."""
    nested = any(isinstance(value, dict) for value in changes.values())
    if nested or _parse_plain(inner) is None or (inner and not inner.endswith("\n")):
        for name, value in changes.items():
            inner = set_field(inner, [name], value)
        return inner
    lines = {line.partition(":")[0]: line for line in inner.split("\n")[:-1]}
    for name, value in changes.items():
        if value is None:
            lines.pop(name, None)
        elif name not in lines or _parse_plain(lines[name]) != {name: value}:
            lines[name] = f"{render_scalar(name)}: {_render_inline(value)}"
    return "".join(f"{line}\n" for line in lines.values())


def _parses_to(head: str, fields: Fields) -> bool:
    try:
        return parse(head) == fields
    except BrokenFrontMatter:
        return False


def _merge_fields(fields: Fields, changes: Mapping[str, Any]) -> Fields:
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
    """Return where the YAML between the two fences starts and ends."""
    return head.index("\n") + 1, head.rfind("\n", 0, len(head.rstrip())) + 1


def _inner(head: str) -> str:
    if not head:
        return ""
    start, end = _bounds(head)
    return head[start:end]


def _parse_plain(inner: str) -> Fields | None:
    """Return the fields if every line is of the kind we write, or None if it takes a YAML library."""
    fields: Fields = {}
    for line in inner.split("\n")[:-1] if inner.endswith("\n") else inner.split("\n"):
        match = _LINE.fullmatch(line)
        if not match or match[1] in fields:
            return {} if not inner else None
        value = _parse_plain_value(match[2] or "")
        if value is None:
            return None
        fields[match[1]] = value
    return fields


def _parse_plain_value(text: str) -> str | list[str] | None:
    if text.startswith("[") and text.endswith("]"):
        return _parse_plain_list(text[1:-1])
    return _parse_plain_scalar(text) if text else None


def _parse_plain_list(text: str) -> list[str] | None:
    items: list[str] = []
    at = 0
    while at < len(text):
        match = _ITEM.match(text, at)
        item = _parse_plain_scalar(match[1]) if match else None
        if match is None or item is None:
            return None
        items.append(item)
        at = match.end()
    return items


def _parse_plain_scalar(text: str) -> str | None:
    if text.startswith('"'):
        try:
            value = json.loads(text)
        except ValueError:
            return None
        return value if isinstance(value, str) and "\\u" not in text and "\\/" not in text else None
    return text if _PLAIN.fullmatch(text) else None


def _parse_yaml(inner: str) -> Fields:
    node = _compose(inner)
    try:
        fields: Fields = {} if node is None else as_text(node)
    except ParseProblem as error:
        raise _describe(error) from error
    return fields


def _describe(error: ParseProblem) -> BrokenFrontMatter:
    line = error.line + 1 if error.line else 0
    where = f"line {line}: " if line else ""
    return BrokenFrontMatter(f"the front matter is not YAML ({where}{error.problem})", line=line)


def _compose(inner: str) -> Node:
    """Return the root node, which is a mapping, or None if the YAML is empty."""
    try:
        node = compose(inner)
    except ParseProblem as error:
        raise _describe(error) from error
    if node is None or node.id == "mapping":
        return node
    raise NotAMapping("the front matter is not a mapping of names to values (line 2)", line=2)


def set_field(inner: str, path: Sequence[str], value: Any) -> str:
    """Return YAML with the field at a path changed, added or (None) removed; the rest keeps its bytes.

    A mapping as value changes only the fields it names. BrokenFrontMatter or ParseProblem if that cannot be done.
    """
    field = _find_field(inner, path)
    if isinstance(value, dict) and field and field[1].id == "mapping":
        for name, nested in value.items():
            inner = set_field(inner, [*path, name], nested)
        return inner
    if field is None:
        return inner if value is None else _insert_field(inner, path, value)
    if value is None:  # a field written twice by hand is removed twice, or the first would reappear
        return set_field(_cut_field(inner, path, *field), path, None)
    if as_text(field[1]) == value:
        return inner
    return _replace_value(inner, *field, value)


def _find_mapping(inner: str, path: Sequence[str]) -> Node:
    """Return the node that a field is in: the root, or the value of another field; None if there is nothing yet."""
    field = _find_field(inner, path[:-1])
    return field[1] if field else _compose(inner)


def _find_field(inner: str, path: Sequence[str]) -> tuple[Node, Node] | None:
    """Return the nodes of a field's name and value, or None if there is no such field."""
    node: Node = _compose(inner)
    pair: tuple[Node, Node] | None = None
    for name in path:
        if node is None or node.id != "mapping":
            return None
        pair = next(((k, v) for k, v in reversed(node.value) if k.value == name), None)
        if pair and pair[1].start_mark.index < pair[0].end_mark.index:
            raise BrokenFrontMatter(_TOO_COMPLEX)  # an alias: its value is somewhere else
        node = pair[1] if pair else None
    return pair


def _end(inner: str, node: Node) -> int:
    """Return where a value ends, without the white space that YAML counts as part of block values."""
    if node.id != "scalar" and not node.flow_style and node.value:
        last = node.value[-1][1] if isinstance(node.value[-1], tuple) else node.value[-1]
        if last.start_mark.index < node.start_mark.index or last is node:
            raise BrokenFrontMatter(_TOO_COMPLEX)
        return _end(inner, last)
    end: int = node.end_mark.index
    if node.id == "scalar" and getattr(node, "style", None) in ("|", ">"):
        while end > node.start_mark.index and inner[end - 1] in "\r\n":
            end -= 1
    return end


def _replace_value(inner: str, name: Node, node: Node, value: Any) -> str:
    start: int = node.start_mark.index
    end = _end(inner, node)
    if node.id == "sequence" and not node.flow_style and isinstance(value, list) and value:
        column: int = node.start_mark.column
        indent = _detect_newline(inner) + " " * column
        return inner[:start] + indent.join(f"- {render_scalar(item)}" for item in value) + inner[end:]
    if node.id != "scalar" and not node.flow_style:
        start = inner.index(":", name.end_mark.index) + 1
        return inner[:start] + " " + _render_inline(value) + inner[end:]
    gap = "" if start and inner[start - 1] in " \t" else " "
    return inner[:start] + gap + _render_inline(value) + inner[end:]


def _cut_field(inner: str, path: Sequence[str], name: Node, value: Node) -> str:
    """Return the YAML without a field: without its lines, or without its place between two commas."""
    start = name.start_mark.index
    end = _end(inner, value)
    if _find_mapping(inner, path).flow_style:
        before = inner[:start]
        after = inner[end:]
        comma = re.match(r"\s*,\s*", after)
        return before + after[comma.end() :] if comma else re.sub(r"\s*,\s*$", "", before) + after
    line = inner.rfind("\n", 0, start) + 1
    stop = inner.find("\n", end)
    return inner[:line] + (inner[stop + 1 :] if stop >= 0 else "")


def _detect_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _insert_field(inner: str, path: Sequence[str], value: Any) -> str:
    """Return the YAML with a new field at the end of the mapping it belongs to."""
    *above, name = path
    parent = _find_field(inner, above)
    if above and parent is None:
        return _insert_field(inner, above, {name: value})
    node = parent[1] if parent else _compose(inner)
    newline = _detect_newline(inner)
    if inner and not inner.endswith("\n"):
        inner += newline
    if node is None:
        return inner + _render_block(name, value, "", newline)
    if parent and not node.value:  # nothing, or `{}`
        inner = inner[: node.start_mark.index].rstrip(" ") + inner[node.end_mark.index :]
        at = inner.index("\n", parent[0].end_mark.index) + 1
        indent = " " * (parent[0].start_mark.column + 2)
    elif node.id != "mapping":
        raise BrokenFrontMatter(_TOO_COMPLEX)
    elif node.flow_style:
        at = node.end_mark.index - 1
        before = inner[:at].rstrip()
        comma = " " if before.endswith(",") else ", " if node.value else ""
        return f"{before}{comma}{render_scalar(name)}: {_render_inline(value)}{inner[at:]}"
    else:
        at = inner.index("\n", _end(inner, node)) + 1 if parent else len(inner)
        indent = " " * node.start_mark.column if parent else ""
    return inner[:at] + _render_block(name, value, indent, newline) + inner[at:]


def _render_block(name: str, value: Any, indent: str, newline: str) -> str:
    return "".join(indent + line + newline for line in _render_lines(name, value))


def _render_lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield f"{render_scalar(name)}:"
        for nested, inner in value.items():
            yield from (f"  {line}" for line in _render_lines(nested, inner))
    else:
        yield f"{render_scalar(name)}: {_render_inline(value)}"


def _render_inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{render_scalar(name)}: {_render_inline(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_render_inline, value)) + "]"
    return render_scalar(value) if isinstance(value, str) else json.dumps(value)


def render_scalar(text: str) -> str:
    """Return text as YAML: bare if it cannot be read as anything else, otherwise in double quotes."""
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


Node = Any  # a node of the YAML library
MAX_DEPTH = 60
MAX_VALUES = 20_000  # aliases followed
_INDENT = lazy_pattern(r"^[ \t]*(?:[-?][ \t]+)*", re.MULTILINE)


def compose(text: str) -> Node:
    """Return the root node of a text; None if it is empty."""
    _refuse_deep(text)
    import yaml

    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _explain(error, text) from error
    except (ValueError, RecursionError) as error:
        raise ParseProblem(str(error)) from error


def _explain(error: Any, text: str) -> ParseProblem:
    """Return the library's error as ours: the parser's has a mark, the reader's a reason and a position."""
    mark = getattr(error, "problem_mark", None)
    if mark:
        last_line = text.rstrip().count("\n")  # an unclosed bracket is noticed behind it
        return ParseProblem(error.problem or "not understood", min(mark.line, last_line) + 1)
    position = getattr(error, "position", None)
    if position is not None:
        return ParseProblem(error.reason, text.count("\n", 0, position) + 1)
    return ParseProblem(str(error))


def as_text(node: Node) -> Any:
    """Return a node with every scalar as text: YAML 1.1 would turn `no` into False and `010` into 8."""
    return _convert(node, _text, MAX_DEPTH, [MAX_VALUES])


def as_values(node: Node) -> Any:
    """Return a node as values: mappings with text as keys, lists, and scalars as `scalar_value` reads them."""
    return _convert(node, scalar_value, MAX_DEPTH, [MAX_VALUES])


def scalar_value(node: Node) -> Any:
    """Return a scalar as YAML reads it, but only true and false are booleans, and 010 is ten."""
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    try:
        if kind == "bool":
            return {"true": True, "false": False}[node.value.lower()]
        if kind in ("int", "float"):
            return int(node.value) if kind == "int" else float(node.value)
    except (KeyError, ValueError):
        return node.value
    return node.value


def _text(node: Node) -> Any:
    return node.value


def _convert(node: Node, read_scalar: Callable[[Node], Any], depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if depth == 0 or left[0] < 0:
        raise ParseProblem("nested too deeply", node.start_mark.line + 1)
    if node.id == "scalar":
        return read_scalar(node)
    if node.id == "sequence":
        return [_convert(item, read_scalar, depth - 1, left) for item in node.value]
    return {
        str(_convert(name, _text, depth - 1, left)): _convert(item, read_scalar, depth - 1, left)
        for name, item in node.value
    }


def _refuse_deep(text: str) -> None:
    """Brackets opened and not closed, and indentation, bound the depth from above."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    indented = max((len(match[0]) for match in _INDENT.finditer(text)), default=0)
    if deepest > MAX_DEPTH or indented > 4 * MAX_DEPTH:
        raise ParseProblem("nested too deeply")
