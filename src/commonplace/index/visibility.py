"""Visibility and filters as SQL conditions: a row that the viewer may not see is never selected, so that it cannot be
found, counted or inferred.

What is the same in all dialects of SQL is in `Conditions`. SQLite's is here, PostgreSQL's in
`storage/postgres/index_tables.py`.
"""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from ..model import Filters, PastPages, Viewer
from ..storage.names import compile_glob


class Conditions(ABC):
    """Writes conditions as SQL over `owners` and `passages`, and collects their values in the order of the SQL."""

    @abstractmethod
    def add_value(self, value: str | int) -> str:
        """Collect a value and return its placeholder."""

    @abstractmethod
    def has_extra_pattern(self, pattern: str) -> str:
        """The owner is an extra path that this pattern matches. Its name lists its patterns, one in a line."""

    @abstractmethod
    def has_tag(self, tag: str) -> str: ...

    @abstractmethod
    def matches_path(self, pattern: str) -> str: ...

    @abstractmethod
    def is_none_of(self, paths: Sequence[str]) -> str: ...

    def is_visible(self, viewer: Viewer) -> str:
        """The viewer may see the passages of an owner."""
        parts = [self._has_scope(scope) for scope in ("shared", "world", "global")]
        parts.append(self._has_scope("agent", None if viewer.every_agent else [viewer.agent]))
        parts += map(self.has_extra_pattern, viewer.extra)
        for scope, names in (("channel", [viewer.channel]), ("skill", ["global", viewer.user])):
            known = [name for name in names if name is not None]
            if not viewer.one_conversation:
                parts.append(self._has_scope(scope))
            elif known:
                parts.append(self._has_scope(scope, known))
        return _join_any(parts)

    def is_requested(self, viewer: Viewer, filters: Filters) -> str:
        """The viewer may see the passages of an owner, and the filters name it."""
        parts = [self.is_visible(viewer)]
        if filters.scopes:
            parts.append(_join_any(map(self._has_scope_of_filter, filters.scopes)))
        for scope, name in (("channel", filters.channel), ("agent", filters.agent)):
            if name:
                parts.append(self._has_scope(scope, [name]))
        return " AND ".join(parts)

    def passes(self, viewer: Viewer, filters: Filters) -> str:
        """The viewer may see a passage, and it passes the filters."""
        owner = f"passages.owner IN (SELECT id FROM owners WHERE {self.is_requested(viewer, filters)})"
        return " AND ".join(filter(None, (owner, self.passes_filters(filters))))

    def passes_filters(self, filters: Filters) -> str:
        """A passage of an owner that the filters name passes them; empty if they name nothing else."""
        parts = [*map(self.has_tag, filters.tags)]
        parts += [self._is_day(">=", filters.since)] if filters.since is not None else []
        parts += [self._is_day("<=", filters.until)] if filters.until is not None else []
        parts += [f"passages.source = {self.add_value(filters.source)}"] if filters.source else []
        parts += [_join_any(map(self.matches_path, filters.paths))] if filters.paths else []
        parts += [self._was_there(filters.past)] if filters.past else []
        return " AND ".join(parts)

    def _was_there(self, past: PastPages) -> str:
        """A passage existed at the end of a day. Turns of sessions are dated instead."""
        is_unchanged = self.is_none_of(past.changed)
        is_dated = self._is_day("<=", past.day)
        has_history = f"passages.source <> {self.add_value('session')} AND {self.is_none_of(past.undetermined)}"
        return f"{is_unchanged} AND ({is_dated} OR {has_history})"

    def _is_day(self, operator: str, day: int) -> str:
        return f"passages.day {operator} {self.add_value(day)}"

    def _has_scope(self, scope: str, names: Iterable[str] | None = None) -> str:
        """The owner is of this scope and, where names are given, has one of them."""
        has_scope = f"scope = {self.add_value(scope)}"
        return has_scope if names is None else f"({has_scope} AND who IN ({', '.join(map(self.add_value, names))}))"

    def _has_scope_of_filter(self, text: str) -> str:
        """The owner is of the scope of a filter: `channel`, or one with a name such as `channel:dev`."""
        scope, _, name = text.partition(":")
        return self._has_scope(scope, [name] if name else None)


def _join_any(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"


class SqliteConditions(Conditions):
    def __init__(self) -> None:
        self.values: list[str | int] = []

    def add_value(self, value: str | int) -> str:
        self.values.append(value)
        return "?"

    def has_extra_pattern(self, pattern: str) -> str:
        lines = "char(10) || who || char(10)"
        return f"(scope = 'extra' AND instr({lines}, char(10) || {self.add_value(pattern)} || char(10)))"

    def has_tag(self, tag: str) -> str:
        return f"EXISTS (SELECT 1 FROM json_each(passages.tags) WHERE value = {self.add_value(tag)})"

    def matches_path(self, pattern: str) -> str:
        return f"matches(passages.path, {self.add_value(pattern)})"

    def is_none_of(self, paths: Sequence[str]) -> str:
        return f"passages.path NOT IN (SELECT value FROM json_each({self.add_value(json.dumps(paths))}))"


def matches(path: str, pattern: str) -> bool:
    """Return whether a path matches a pattern: the SQL function `matches` that `SqliteConditions` uses."""
    return compile_glob(pattern).fullmatch(path) is not None


def visible_owners(db: sqlite3.Connection, viewer: Viewer, filters: Filters) -> list[int]:
    conditions = SqliteConditions()
    sql = f"SELECT id FROM owners WHERE {conditions.is_requested(viewer, filters)}"
    return [row[0] for row in db.execute(sql, conditions.values)]


GIVEN = "(SELECT value FROM json_each(?))"  # numbers as JSON: SQLite prepares one statement for however many


def placeholders(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
