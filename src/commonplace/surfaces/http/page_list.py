"""The pages an agent may see, some at a time."""

from __future__ import annotations

import base64
from typing import Any

from ...errors import NotFound
from ...home import Home
from ...model import Record
from .page_access import record_folders, size_of, title_of

Row = dict[str, Any]


def listed(home: Home, *, prefix: str = "", kind: str = "", limit: int = 200, after: str = "") -> tuple[list[Row], str]:
    """Pages, the newest first, and where to go on; empty when that was all."""
    since = _read(after)
    rows: list[Row] = []
    last = ("", "")
    for path, at in home.visible_pages():
        if (since and (at, path) >= since) or not path.startswith(prefix):
            continue
        place = home.index.territory.place(path)
        if place is None or (kind and place.kind != kind):
            continue
        if len(rows) == limit:
            return _with_records(home, rows), _as_cursor(*last)
        last = (at, path)
        row = {
            "path": path,
            "kind": place.kind,
            "scope": str(place.scope),
            "title": title_of(home, path, place),
            "at": at,
        }
        size = size_of(home, path)
        rows.append(row if size is None else {**row, "size": size})
    return _with_records(home, rows), ""


def _with_records(home: Home, rows: list[Row]) -> list[Row]:
    """What records say of themselves: their key and tags."""
    if not any(row["kind"] == "record" for row in rows):
        return rows
    known = {record.path: record for folder in record_folders(home) for record in home.records(folder)[0]}
    return [{**row, **_said(known[row["path"]])} if row["path"] in known else row for row in rows]


def _said(record: Record) -> Row:
    return {"key": record.key, "title": record.key, "tags": list(record.tags)}


def _as_cursor(at: str, path: str) -> str:
    return base64.urlsafe_b64encode(f"{at} {path}".encode()).decode().rstrip("=")


def _read(after: str) -> tuple[str, str] | None:
    if not after:
        return None
    try:
        at, _, path = base64.b64decode(after + "=" * (-len(after) % 4), b"-_", validate=True).decode().partition(" ")
    except ValueError as error:
        raise NotFound("after is not what a listing gave as next: list from the start") from error
    return at, path
