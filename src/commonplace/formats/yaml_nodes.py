"""YAML as nodes that know their line; whoever reads the nodes decides what they mean.

The YAML library is imported on first use. Text that nests deeper than a person would write is refused before its
recursive parser sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..patterns import lazy_pattern

Node = Any  # a node of the YAML library
MAX_DEPTH = 60
MAX_VALUES = 20_000  # aliases followed
_INDENT = lazy_pattern(r"^[ \t]*(?:[-?][ \t]+)*", re.MULTILINE)


class YamlProblem(Exception):
    """What is wrong, and the line (from 1) where it was noticed; 0 when it is not known."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def compose(text: str) -> Node:
    """Return the root node of a text; None when it says nothing."""
    _refuse_deep(text)
    import yaml

    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _explain(error, text) from error
    except (ValueError, RecursionError) as error:
        raise YamlProblem(str(error)) from error


def _explain(error: Any, text: str) -> YamlProblem:
    """Return the library's error as ours: one of its parser has a mark, one of its reader a reason and a position."""
    mark = getattr(error, "problem_mark", None)
    if mark:
        return YamlProblem(error.problem or "not understood", mark.line + 1)
    position = getattr(error, "position", None)
    if position is not None:
        return YamlProblem(error.reason, text.count("\n", 0, position) + 1)
    return YamlProblem(str(error))


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
        raise YamlProblem("nested too deeply", node.start_mark.line + 1)
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
        raise YamlProblem("nested too deeply")
