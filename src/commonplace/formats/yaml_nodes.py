"""YAML as nodes that know their line. Nothing is guessed or constructed: who reads the nodes decides what they mean.

The library is loaded on use. Text that nests deeper than a person would write is refused before the parser, which
recurses, sees it.
"""

from __future__ import annotations

import re
from typing import Any

Node = Any  # a node of the YAML library
DEEPEST = 60  # levels of nesting
_MOST = 20_000  # values, aliases followed
_INDENT = re.compile(r"^[ \t]*(?:[-?][ \t]+)*", re.MULTILINE)


class YamlProblem(Exception):
    """What is wrong, and the line (from 1) where it was noticed; 0 when it is not known."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


def compose(text: str) -> Node:
    """The root node of a text; None when it says nothing."""
    _refuse_deep(text)
    import yaml

    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark, position = getattr(error, "problem_mark", None), getattr(error, "position", None)
        problem = getattr(error, "problem", None) or str(error).split("\n", maxsplit=1)[0]
        line = mark.line + 1 if mark else 0 if position is None else text.count("\n", 0, position) + 1
        raise YamlProblem(problem, line) from error
    except (ValueError, RecursionError) as error:
        raise YamlProblem(str(error)) from error


def as_text(node: Node) -> Any:
    """A node with every scalar as text: YAML 1.1 would turn `no` into False and `010` into 8."""
    return _as_text(node, DEEPEST, [_MOST])


def _as_text(node: Node, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if depth == 0 or left[0] < 0:
        raise YamlProblem("nested too deeply", node.start_mark.line + 1)
    if node.id == "scalar":
        return node.value
    if node.id == "sequence":
        return [_as_text(item, depth - 1, left) for item in node.value]
    return {str(_as_text(name, depth - 1, left)): _as_text(item, depth - 1, left) for name, item in node.value}


def _refuse_deep(text: str) -> None:
    """Brackets opened and not closed, and indentation, bound the depth from above."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    indented = max((len(found[0]) for found in _INDENT.finditer(text)), default=0)
    if deepest > DEEPEST or indented > 4 * DEEPEST:
        raise YamlProblem("nested too deeply")
