"""What is changed in a configuration file, whatever its form, and what is said when that can not be done."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import Refused

Path = tuple[str, ...]


class Put(NamedTuple):
    """Keys that the mapping at a path should have; other keys of it stay. `gently`: so do those that are there."""

    path: Path
    value: dict[str, Any]
    gently: bool = False


class Add(NamedTuple):
    """A hook that the list at a path should have once; `mark` is a pattern that finds ours by their command."""

    path: Path
    element: dict[str, Any]
    mark: str


Edit = Put | Add


class Unreadable(Exception):
    """A file that is not what its name says: the line, and what is wrong there."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = line, problem


class CanNotEdit(Refused):
    """The file is sound, but written in a way that can not be edited by the line."""

    code = "CAN_NOT_EDIT"


def at(document: Any, path: Path) -> Any:
    """What stands at a path, or None."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document
