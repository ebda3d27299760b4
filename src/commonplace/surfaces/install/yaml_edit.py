"""Edits YAML in place, by the nodes that the parser finds: every byte that is not part of an edit stays."""

from __future__ import annotations

from typing import Any

from ...errors import BrokenFrontMatter
from ...formats import ParseProblem
from ...formats.frontmatter import compose, set_field
from .clients import KeyPath
from .files import CannotEdit, has_values, value_at, with_value


def parse(text: str) -> dict[str, Any]:
    """Return the value of the text; ParseProblem with the line of a syntax error."""
    import yaml

    try:
        compose(text)  # reports the line, and refuses what safe_load should not see
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise ParseProblem(str(getattr(error, "problem", error)), mark.line + 1 if mark else 1) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ParseProblem("the file must be a mapping of names to values", 1)
    return document


def put(text: str, path: KeyPath, value: Any) -> str:
    """Return the text with a value at a path of keys. A mapping there keeps its other keys."""
    document = parse(text)
    current = value_at(document, path)
    whole = {**current, **value} if isinstance(current, dict) and isinstance(value, dict) else value
    return text if current == whole else _edit(text, path, value, with_value(document, path, whole))


def remove(text: str, path: KeyPath) -> str:
    """Return the text without the value at a path of keys."""
    document = parse(text)
    return text if value_at(document, path) is None else _edit(text, path, None, with_value(document, path, None))


def _edit(text: str, path: KeyPath, value: Any, expected: dict[str, Any]) -> str:
    """Return the text with a field set; CannotEdit if its value then is not the expected one."""
    try:
        edited = set_field(text, path, value)
    except (BrokenFrontMatter, ParseProblem):
        edited = ""
    if not has_values(parse, edited, expected):
        raise CannotEdit(f"{'.'.join(path)} is written in a way that cannot be edited: change it by hand")
    return edited
