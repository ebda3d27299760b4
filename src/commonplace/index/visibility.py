"""Visibility and filters as SQL conditions: what a viewer may not see is never a row, so that it cannot be found,
counted or inferred."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..model import Filters, Viewer
from ..storage.names import compile_glob

Sql = tuple[str, list[str | int]]


def matches(path: str, pattern: str) -> bool:
    """The function `matches` of the SQL below."""
    return compile_glob(pattern).fullmatch(path) is not None


def allowed(viewer: Viewer, filters: Filters) -> Sql:
    """A condition on passages."""
    rules, values = _owners(viewer, filters)
    conditions = [f"passages.owner IN (SELECT id FROM owners WHERE {rules})"]
    for tag in filters.tags:
        conditions.append("EXISTS (SELECT 1 FROM json_each(passages.tags) WHERE value = ?)")
        values.append(tag)
    for sign, day in ((">=", filters.since), ("<=", filters.until)):
        if day is not None:
            conditions.append(f"passages.day {sign} ?")
            values.append(day)
    if filters.source:
        conditions.append("passages.source = ?")
        values.append(filters.source)
    if filters.paths:
        conditions.append(_any("matches(passages.path, ?)", len(filters.paths)))
        values += filters.paths
    return " AND ".join(conditions), values


def visible_owners(db: sqlite3.Connection, viewer: Viewer, filters: Filters) -> list[int]:
    rules, values = _owners(viewer, filters)
    return [row[0] for row in db.execute(f"SELECT id FROM owners WHERE {rules}", values)]


def visible_rule(viewer: Viewer) -> Sql:
    """A condition on owners: what the viewer may see."""
    rules: list[str] = ["scope IN ('shared', 'world', 'global')", "(scope = 'agent' AND who = ?)"]
    values: list[str | int] = [viewer.agent]
    for pattern in viewer.extra:  # a page knows every pattern it matches, one a line
        rules.append("(scope = 'extra' AND instr(char(10) || who || char(10), char(10) || ? || char(10)))")
        values.append(pattern)
    for scope, names in (("channel", [viewer.channel]), ("skill", ["global", viewer.user])):
        known = [name for name in names if name is not None]
        some = f"(scope = '{scope}' AND who IN ({placeholders(known)}))"
        rules.append(some if viewer.one_conversation else f"scope = '{scope}'")
        values += known if viewer.one_conversation else []
    return f"({' OR '.join(rules)})", values


def _owners(viewer: Viewer, filters: Filters) -> Sql:
    """What the viewer may see, and of that what is asked for."""
    rule, values = visible_rule(viewer)
    conditions = [rule]
    for asked in _requested_scopes(filters):
        conditions.append(_any("(scope = ? AND (? = '' OR who = ?))", len(asked)))
        values += [value for scope, name in asked for value in (scope, name, name)]
    return " AND ".join(conditions), values


def _requested_scopes(filters: Filters) -> list[list[tuple[str, str]]]:
    """The scopes asked for: each list narrows what the others left."""
    every = [[(kind, name) for kind, _, name in (each.partition(":") for each in filters.scopes)]]
    every += [[(kind, name)] for kind, name in (("channel", filters.channel), ("agent", filters.agent)) if name]
    return [some for some in every if some]


def _any(condition: str, times: int) -> str:
    return f"({' OR '.join([condition] * times)})"


def placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
