"""Edits YAML line by line: our entry goes first below its key. The YAML parser checks the result."""

from __future__ import annotations

import json
import re
from typing import Any

from ...formats.frontmatter import YamlProblem, compose
from .clients import KeyPath
from .files import CannotEdit, Unreadable, has_values, value_at


def parse(text: str) -> dict[str, Any]:
    """Return the value of the text; Unreadable with the line of a syntax error."""
    import yaml

    try:
        compose(text)  # reports the line, and refuses what safe_load should not see
        document = yaml.safe_load(text)
    except YamlProblem as error:
        raise Unreadable(error.line or 1, str(error.problem)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise Unreadable(mark.line + 1 if mark else 1, str(getattr(error, "problem", error))) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise Unreadable(1, "the file must be a mapping of names to values")
    return document


def put(text: str, path: KeyPath, value: Any) -> str:
    """Return the text with an entry below a key; `path` is the key and the entry's name."""
    document = parse(text)
    key, name = path
    current = value_at(document, path)
    whole = {**current, **value} if isinstance(current, dict) and isinstance(value, dict) else value
    if current == whole:
        return text
    edited = take(text, path) if current is not None else text
    lines = edited.splitlines(keepends=True)
    start = _find_line(lines, key)
    end = "\r\n" if "\r\n" in text else "\n"
    ended = [line if line.endswith("\n") else line + end for line in lines]
    if start is None:
        edited = "".join([*ended, f"{key}:{end}", *_entry_lines(name, whole, "  ", end)])
    elif (inline := lines[start].partition(":")[2].partition("#")[0].strip()) not in ("", "{}"):
        raise CannotEdit(f"{key} is written as {inline[:40]}: put each of its entries on its own line, and try again")
    else:
        ended[start] = re.sub(r":\s*\{\}", ":", ended[start], count=1)
        edited = "".join(
            [*ended[: start + 1], *_entry_lines(name, whole, _indent_below(ended, start), end), *ended[start + 1 :]]
        )
    holder = document.get(key)
    expected = {**document, key: {**(holder if isinstance(holder, dict) else {}), name: whole}}
    return _check(edited, expected, path)


def take(text: str, path: KeyPath) -> str:
    """Return the text without an entry."""
    document = parse(text)
    key, name = path
    if value_at(document, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    top = _find_line(lines, key)
    start = None if top is None else _find_line(lines, name, _indent_below(lines, top), top + 1)
    if start is None:
        raise CannotEdit(f"{key}.{name} is written in a way that cannot be edited line by line: remove it by hand")
    column = len(lines[start]) - len(lines[start].lstrip(" "))
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _column(lines[end]) > column):
        end += 1
    while not lines[end - 1].strip():  # blank lines belong to what follows
        end -= 1
    rest = {each: value for each, value in document[key].items() if each != name}
    return _check("".join([*lines[:start], *lines[end:]]), {**document, key: rest or None}, path)


def _entry_lines(name: str, value: Any, indent: str, end: str) -> list[str]:
    """Return the lines of an entry; each value is one line of JSON, which is also YAML."""
    if not isinstance(value, dict):
        return [f"{indent}{name}: {json.dumps(value)}{end}"]
    fields = [f"{indent * 2}{key}: {json.dumps(each, ensure_ascii=False)}{end}" for key, each in value.items()]
    return [f"{indent}{name}:{end}", *fields]


def _find_line(lines: list[str], key: str, indent: str = "", after: int = 0) -> int | None:
    """Return the line number of a key: at the margin, or indented and after another line."""
    name = re.escape(key)
    opening = re.compile(rf"{indent}(?:{name}|\"{name}\"|'{name}')[ ]*:(?:\s|$)")
    for number, line in enumerate(lines[after:], start=after):
        if opening.match(line):
            return number
        if indent and line.strip() and _column(line) == 0 and not line.startswith("#"):
            return None
    return None


def _indent_below(lines: list[str], start: int) -> str:
    """Return the indentation of the entries below a key."""
    below = next((line for line in lines[start + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
    return " " * (_column(below) or 2)


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _check(edited: str, expected: dict[str, Any], path: KeyPath) -> str:
    if not has_values(parse, edited, expected):
        raise CannotEdit(f"{'.'.join(path)} is written in a way that cannot be edited line by line: change it by hand")
    return edited
