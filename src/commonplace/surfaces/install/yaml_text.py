"""YAML, edited by the line: an entry of ours, first below its key. The reader of YAML has the last word."""

from __future__ import annotations

import json
import re
from typing import Any

from ...formats.yaml_nodes import YamlProblem, compose
from .edits import CanNotEdit, Path, Unreadable, at


def parse(text: str) -> dict[str, Any]:
    """What the text says; Unreadable with the line where it makes no sense."""
    import yaml

    try:
        compose(text)  # says the line, and refuses what only makes trouble
        found = yaml.safe_load(text)
    except YamlProblem as error:
        raise Unreadable(error.line or 1, str(error.problem)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise Unreadable(mark.line + 1 if mark else 1, str(getattr(error, "problem", error))) from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unreadable(1, "the file must be a mapping of names to values")
    return found


def put(text: str, path: Path, value: dict[str, Any]) -> str:
    """The text with an entry below a key: `path` is the key and the entry's name."""
    document = parse(text)
    key, name = path
    known = at(document, path)
    if isinstance(known, dict) and all(known.get(each) == wanted for each, wanted in value.items()):
        return text
    whole = {**known, **value} if isinstance(known, dict) else value
    made = take(text, path) if known is not None else text
    lines = made.splitlines(keepends=True)
    start = _line_of(lines, key)
    end = "\r\n" if "\r\n" in text else "\n"
    ended = [line if line.endswith("\n") else line + end for line in lines]
    if start is None:
        made = "".join([*ended, f"{key}:{end}", *_entry(name, whole, "  ", end)])
    elif (inline := lines[start].partition(":")[2].partition("#")[0].strip()) not in ("", "{}"):
        raise CanNotEdit(f"{key} is written as {inline[:40]}: put each entry of it on lines of its own, and try again")
    else:
        ended[start] = re.sub(r":\s*\{\}", ":", ended[start], count=1)
        made = "".join([*ended[: start + 1], *_entry(name, whole, _indent(ended, start), end), *ended[start + 1 :]])
    holder = document.get(key)
    expected = {**document, key: {**(holder if isinstance(holder, dict) else {}), name: whole}}
    return _checked(made, expected, path)


def take(text: str, path: Path) -> str:
    """The text without an entry."""
    document = parse(text)
    key, name = path
    if at(document, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    top = _line_of(lines, key)
    start = None if top is None else _line_of(lines, name, _indent(lines, top), top + 1)
    if start is None:
        raise CanNotEdit(f"{key}.{name} is written in a way that can not be edited by the line: remove it by hand")
    column = len(lines[start]) - len(lines[start].lstrip(" "))
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _column(lines[end]) > column):
        end += 1
    while not lines[end - 1].strip():  # blank lines part it from what comes next
        end -= 1
    rest = {each: value for each, value in document[key].items() if each != name}
    return _checked("".join([*lines[:start], *lines[end:]]), {**document, key: rest or None}, path)


def _entry(name: str, value: dict[str, Any], indent: str, end: str) -> list[str]:
    """An entry in lines; every value in a line, in JSON, which YAML is too."""
    shown = [f"{indent * 2}{key}: {json.dumps(each, ensure_ascii=False)}{end}" for key, each in value.items()]
    return [f"{indent}{name}:{end}", *shown]


def _line_of(lines: list[str], key: str, indent: str = "", after: int = 0) -> int | None:
    """The line of a key: at the margin, or indented and looked for after another one."""
    name = re.escape(key)
    opening = re.compile(rf"{indent}(?:{name}|\"{name}\"|'{name}')[ ]*:(?:\s|$)")
    for number, line in enumerate(lines[after:], start=after):
        if opening.match(line):
            return number
        if indent and line.strip() and _column(line) == 0 and not line.startswith("#"):
            return None
    return None


def _indent(lines: list[str], start: int) -> str:
    """The indentation of what stands below a key."""
    below = next((line for line in lines[start + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
    return " " * (_column(below) or 2)


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _checked(made: str, expected: dict[str, Any], path: Path) -> str:
    try:
        if _pruned(parse(made)) == _pruned(expected):
            return made
    except Unreadable:
        pass
    raise CanNotEdit(f"{'.'.join(path)} is written in a way that can not be edited by the line: change it by hand")


def _pruned(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in (None, {})}
