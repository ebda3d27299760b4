"""TOML, edited by the line: a table of ours at the end of the file, and nothing else. `tomllib` has the last word.

What can not be edited that way, such as a table written inside a line, is refused with what to write by hand.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .edits import CanNotEdit, Path, Unreadable, at

_HEADER = re.compile(r"[ \t]*\[\[?[^\[\]]")
_LINE = re.compile(r"\(at line (\d+),")


def parse(text: str) -> dict[str, Any]:
    """What the text says; Unreadable with the line where it makes no sense."""
    import tomllib

    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise Unreadable(line, str(error).partition(" (at")[0]) from error
    except RecursionError as error:
        raise Unreadable(1, "it is nested too deep") from error


def put(text: str, path: Path, value: dict[str, Any]) -> str:
    """The text with these keys in the table at a path; a table that is not there is added at the end."""
    document = parse(text)
    known = at(document, path)
    if isinstance(known, dict) and all(known.get(key) == each for key, each in value.items()):
        return text
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    ours = [f"{key} = {_written(each)}{end}" for key, each in value.items()]
    start = _header(lines, path, below="")
    if known is None:
        gap = "" if not text.strip() else end if text.endswith("\n") else end * 2
        made = text + gap + f"[{'.'.join(path)}]{end}" + "".join(ours)
    elif start is None:
        raise _by_hand(path, ours)
    else:
        rest = _without(lines[start + 1 :], value)
        made = "".join([*lines[: start + 1], *ours, *rest])
    expected = _with(document, path, {**(known or {}), **value})
    return _checked(made, expected, path, ours)


def take(text: str, path: Path) -> str:
    """The text without a table and the tables below it."""
    document = parse(text)
    if at(document, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    start = _header(lines, path)
    if start is None:
        raise _by_hand(path, [])
    while (start := _header(lines, path)) is not None:
        end = start + 1
        while end < len(lines) and not _HEADER.match(lines[end]):
            end += 1
        end = _before_comments(lines, start, end)
        if start and not lines[start - 1].strip():  # the blank line that parts it from what stands before
            start -= 1
        del lines[start:end]
    return _checked("".join(lines), _with(document, path, None), path, [])


def _before_comments(lines: list[str], start: int, end: int) -> int:
    """Comments right before the next table, with the blank line before them, are of that one."""
    if end == len(lines):
        return end
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _header(lines: list[str], path: Path, below: str = r"(?:\.[^\]]*)?") -> int | None:
    """The line that opens the table at a path, or one below it."""
    names = r"[ \t]*\.[ \t]*".join(rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')" for name in path)
    opening = re.compile(rf"[ \t]*\[[ \t]*{names}[ \t]*{below}\][ \t]*(?:#.*)?$")
    return next((number for number, line in enumerate(lines) if opening.match(line.rstrip("\r\n"))), None)


def _without(lines: list[str], keys: dict[str, Any]) -> list[str]:
    """The lines of a table without the assignments of some keys; one may run over many lines."""
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


def _with(document: dict[str, Any], path: Path, value: dict[str, Any] | None) -> dict[str, Any]:
    """The document with a table at a path, or without it."""
    key, *rest = path
    inner = document.get(key)
    made = _with(inner if isinstance(inner, dict) else {}, tuple(rest), value) if rest else value
    others = {name: each for name, each in document.items() if name != key}
    return others if made is None or (value is None and not made) else {**others, key: made}


def _checked(made: str, expected: dict[str, Any], path: Path, ours: list[str]) -> str:
    """The text that was made, if it says what it should."""
    try:
        if _pruned(parse(made)) == _pruned(expected):
            return made
    except Unreadable:
        pass
    raise _by_hand(path, ours)


def _pruned(value: Any) -> Any:
    """Without empty tables: one that holds nothing says nothing here."""
    if not isinstance(value, dict):
        return value
    kept = {key: _pruned(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each != {}}


def _by_hand(path: Path, ours: list[str]) -> CanNotEdit:
    name = ".".join(path)
    if not ours:
        return CanNotEdit(f"{name} is written in a way that can not be edited by the line: remove it by hand")
    said = " and ".join(line.strip() for line in ours)
    return CanNotEdit(f"{name} is written in a way that can not be edited by the line: set {said} there by hand")


def _written(value: Any) -> str:
    """A value of ours as TOML: texts, numbers, booleans and lists of them read the same as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
