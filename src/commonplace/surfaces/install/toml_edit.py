"""Edits TOML line by line: our table is added at the end of a file, changed or removed. `tomllib` checks the result.

A file that cannot be edited this way, such as one with an inline table, is refused with what to write by hand. Our own,
because tomlkit 0.15 loses the comment above the next table when ours is removed, and mixes line ends.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...formats import ParseProblem
from .clients import KeyPath
from .files import CannotEdit, has_values, value_at, with_value

_HEADER = re.compile(r"[ \t]*\[\[?[^\[\]]")
_LINE = re.compile(r"\(at line (\d+),")


def parse(text: str) -> dict[str, Any]:
    """Return the value of the text; ParseProblem with the line of a syntax error."""
    import tomllib

    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        match = _LINE.search(str(error))
        line = int(match[1]) if match else text.count("\n") + 1
        raise ParseProblem(str(error).partition(" (at")[0], line) from error
    except RecursionError as error:
        raise ParseProblem("it is nested too deeply", 1) from error


def put(text: str, path: KeyPath, value: dict[str, Any]) -> str:
    """Return the text with these keys in the table at a path; a missing table is added at the end."""
    document = parse(text)
    current = value_at(document, path)
    if isinstance(current, dict) and all(current.get(key) == each for key, each in value.items()):
        return text
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    ours = [f"{key} = {_serialize(each)}{end}" for key, each in value.items()]
    start = _find_header(lines, path, below="")
    if current is None:
        gap = "" if not text.strip() else end if text.endswith("\n") else end * 2
        edited = text + gap + f"[{'.'.join(path)}]{end}" + "".join(ours)
    elif start is None:
        raise _refusal(path, ours)
    else:
        rest = _drop_keys(lines[start + 1 :], value)
        edited = "".join([*lines[: start + 1], *ours, *rest])
    expected = with_value(document, path, {**(current or {}), **value})
    return _check(edited, expected, path, ours)


def remove(text: str, path: KeyPath) -> str:
    """Return the text without a table and its subtables."""
    document = parse(text)
    if value_at(document, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    start = _find_header(lines, path)
    if start is None:
        raise _refusal(path, [])
    while (start := _find_header(lines, path)) is not None:
        end = start + 1
        while end < len(lines) and not _HEADER.match(lines[end]):
            end += 1
        end = _end_before_comments(lines, start, end)
        if start and not lines[start - 1].strip():  # the blank line before it
            start -= 1
        del lines[start:end]
    return _check("".join(lines), with_value(document, path, None), path, [])


def _end_before_comments(lines: list[str], start: int, end: int) -> int:
    """Leave the comments above the next table, and the blank line before them, to that table."""
    if end == len(lines):
        return end
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _find_header(lines: list[str], path: KeyPath, below: str = r"(?:\.[^\]]*)?") -> int | None:
    """Return the line number of the header of the table at a path, or of a subtable."""
    names = r"[ \t]*\.[ \t]*".join(rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')" for name in path)
    opening = re.compile(rf"[ \t]*\[[ \t]*{names}[ \t]*{below}\][ \t]*(?:#.*)?$")
    return next((number for number, line in enumerate(lines) if opening.match(line.rstrip("\r\n"))), None)


def _drop_keys(lines: list[str], keys: dict[str, Any]) -> list[str]:
    """Return the lines of a table without the assignments of some keys; one may span many lines."""
    import tomllib

    out: list[str] = []
    while lines and not _HEADER.match(lines[0]):
        name = lines[0].partition("=")[0].strip().strip("\"'")
        length = 1
        if name in keys and "=" in lines[0]:
            while length < len(lines):
                try:
                    tomllib.loads("".join(lines[:length]))
                    break
                except tomllib.TOMLDecodeError:
                    length += 1
        else:
            out.append(lines[0])
        lines = lines[length:]
    return [*out, *lines]


def _check(edited: str, expected: dict[str, Any], path: KeyPath, ours: list[str]) -> str:
    """Return the edited text if its value is the expected one."""
    if not has_values(parse, edited, expected):
        raise _refusal(path, ours)
    return edited


def _refusal(path: KeyPath, ours: list[str]) -> CannotEdit:
    name = ".".join(path)
    if not ours:
        return CannotEdit(f"{name} is written in a way that cannot be edited line by line: remove it by hand")
    our_lines = " and ".join(line.strip() for line in ours)
    return CannotEdit(f"{name} is written in a way that cannot be edited line by line: set {our_lines} there by hand")


def _serialize(value: Any) -> str:
    """Return a value as TOML: strings, numbers, booleans and lists of them are written as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
