"""Visibility and filters as SQL conditions: a row that the viewer may not see is never selected, so that it cannot be
found, counted or inferred.

`owner_condition` and `passage_condition` return conditions as values. Each dialect of SQL has a renderer: SQLite's is
here, PostgreSQL's in `storage/postgres/index_tables.py`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..model import Filters, PastPages, Viewer
from ..storage.names import compile_glob


class ScopeIs(NamedTuple):
    """The owner is of this scope and, where names are given, has one of them."""

    scope: str
    names: tuple[str, ...] | None = None


class HasExtraPattern(NamedTuple):
    """The owner is an extra path that this pattern matches. Its name lists its patterns, one in a line."""

    pattern: str


class OwnerMeets(NamedTuple):
    """Passages whose owner meets a condition."""

    condition: Condition


class HasTag(NamedTuple):
    tag: str


class DayIs(NamedTuple):
    """The day of the passage compares so with a day. `operator`: `>=` or `<=`."""

    operator: str
    day: int


class SourceIs(NamedTuple):
    source: str


class SourceIsNot(NamedTuple):
    source: str


class PathMatches(NamedTuple):
    pattern: str


class PathIsNoneOf(NamedTuple):
    paths: tuple[str, ...]


class AnyOf(NamedTuple):
    conditions: tuple[Condition, ...]


class AllOf(NamedTuple):
    conditions: tuple[Condition, ...]


Condition = (
    ScopeIs
    | HasExtraPattern
    | OwnerMeets
    | HasTag
    | DayIs
    | SourceIs
    | SourceIsNot
    | PathMatches
    | PathIsNoneOf
    | AnyOf
    | AllOf
)


def owner_condition(viewer: Viewer) -> Condition:
    """Return the condition on owners whose passages the viewer may see."""
    conditions: list[Condition] = [ScopeIs("shared"), ScopeIs("world"), ScopeIs("global")]
    conditions.append(ScopeIs("agent", None if viewer.every_agent else (viewer.agent,)))
    conditions += [HasExtraPattern(pattern) for pattern in viewer.extra]
    for scope, names in (("channel", [viewer.channel]), ("skill", ["global", viewer.user])):
        known = tuple(name for name in names if name is not None)
        if not viewer.one_conversation:
            conditions.append(ScopeIs(scope))
        elif known:
            conditions.append(ScopeIs(scope, known))
    return AnyOf(tuple(conditions))


def passage_condition(viewer: Viewer, filters: Filters) -> Condition:
    """Return the condition on passages that the viewer may see and that pass the filters."""
    return AllOf((OwnerMeets(_requested_owners(viewer, filters)), *_filter_conditions(filters)))


def filter_condition(filters: Filters) -> Condition | None:
    """Return the condition on passages of the owners that the filters name; None if they name none."""
    conditions = tuple(_filter_conditions(filters))
    return AllOf(conditions) if conditions else None


def _filter_conditions(filters: Filters) -> list[Condition]:
    conditions: list[Condition] = []
    conditions += [HasTag(tag) for tag in filters.tags]
    conditions += [DayIs(">=", filters.since)] if filters.since is not None else []
    conditions += [DayIs("<=", filters.until)] if filters.until is not None else []
    conditions += [SourceIs(filters.source)] if filters.source else []
    conditions += [AnyOf(tuple(map(PathMatches, filters.paths)))] if filters.paths else []
    conditions += [_was_there(filters.past)] if filters.past else []
    return conditions


def _was_there(past: PastPages) -> Condition:
    """Return the condition on passages that existed at the end of a day. Turns of sessions are dated instead."""
    has_history = AllOf((SourceIsNot("session"), PathIsNoneOf(past.undetermined)))
    return AllOf((PathIsNoneOf(past.changed), AnyOf((DayIs("<=", past.day), has_history))))


def _requested_owners(viewer: Viewer, filters: Filters) -> Condition:
    """Return the condition on owners that the viewer may see and that the filters name."""
    conditions = [owner_condition(viewer)]
    if filters.scopes:
        conditions.append(AnyOf(tuple(map(_parse_scope, filters.scopes))))
    for scope, name in (("channel", filters.channel), ("agent", filters.agent)):
        if name:
            conditions.append(ScopeIs(scope, (name,)))
    return AllOf(tuple(conditions))


def _parse_scope(text: str) -> Condition:
    """Parse the scope of a filter: `channel`, or one with a name such as `channel:dev`."""
    scope, _, name = text.partition(":")
    return ScopeIs(scope, (name,) if name else None)


class Renderer(Protocol):
    """Renders conditions as SQL over `owners` and `passages`, and collects their values in the order of the SQL."""

    def add_value(self, value: str | int) -> str:
        """Collect a value and return its placeholder."""
        ...

    def render_extra_pattern(self, pattern: str) -> str: ...

    def render_tag(self, tag: str) -> str: ...

    def render_path(self, pattern: str) -> str: ...

    def render_other_paths(self, paths: Sequence[str]) -> str: ...


def render(condition: Condition, renderer: Renderer) -> str:
    """Return a condition as SQL in the dialect of a renderer."""
    match condition:
        case AnyOf(conditions):
            return f"({' OR '.join(render(part, renderer) for part in conditions)})"
        case AllOf(conditions):
            return " AND ".join(render(part, renderer) for part in conditions)
        case OwnerMeets(owner):
            return f"passages.owner IN (SELECT id FROM owners WHERE {render(owner, renderer)})"
        case ScopeIs(scope, names):
            has_scope = f"scope = {renderer.add_value(scope)}"
            if names is None:
                return has_scope
            return f"({has_scope} AND who IN ({', '.join(map(renderer.add_value, names))}))"
        case DayIs(operator, day):
            return f"passages.day {operator} {renderer.add_value(day)}"
        case SourceIs(source):
            return f"passages.source = {renderer.add_value(source)}"
        case SourceIsNot(source):
            return f"passages.source <> {renderer.add_value(source)}"
        case PathIsNoneOf(paths):
            return renderer.render_other_paths(paths)
        case HasExtraPattern(pattern):
            return renderer.render_extra_pattern(pattern)
        case HasTag(tag):
            return renderer.render_tag(tag)
        case PathMatches(pattern):
            return renderer.render_path(pattern)


class SqliteRenderer:
    def __init__(self) -> None:
        self.values: list[str | int] = []

    def add_value(self, value: str | int) -> str:
        self.values.append(value)
        return "?"

    def render_extra_pattern(self, pattern: str) -> str:
        lines = "char(10) || who || char(10)"
        return f"(scope = 'extra' AND instr({lines}, char(10) || {self.add_value(pattern)} || char(10)))"

    def render_tag(self, tag: str) -> str:
        return f"EXISTS (SELECT 1 FROM json_each(passages.tags) WHERE value = {self.add_value(tag)})"

    def render_path(self, pattern: str) -> str:
        return f"matches(passages.path, {self.add_value(pattern)})"

    def render_other_paths(self, paths: Sequence[str]) -> str:
        return f"passages.path NOT IN (SELECT value FROM json_each({self.add_value(json.dumps(paths))}))"


def render_sqlite(condition: Condition) -> tuple[str, list[str | int]]:
    """Return a condition as SQL of SQLite, and the values of its placeholders."""
    renderer = SqliteRenderer()
    return render(condition, renderer), renderer.values


def matches(path: str, pattern: str) -> bool:
    """Return whether a path matches a pattern: the SQL function `matches` that `SqliteRenderer` uses."""
    return compile_glob(pattern).fullmatch(path) is not None


def visible_owners(db: sqlite3.Connection, viewer: Viewer, filters: Filters) -> list[int]:
    sql, values = render_sqlite(_requested_owners(viewer, filters))
    return [row[0] for row in db.execute(f"SELECT id FROM owners WHERE {sql}", values)]


GIVEN = "(SELECT value FROM json_each(?))"  # numbers as JSON: SQLite prepares one statement for however many


def placeholders(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
