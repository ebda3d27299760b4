"""A tool's answer in one line, for beside its structured content: what it is, not all that it says."""

from __future__ import annotations

import json
from typing import Any

from ...tools.define import EXTRAS

_SHORT = 200  # characters that may as well be repeated
_LISTS = ("results", "matches", "skills", "channels", "keys")
_NAMES = ("citation", "key", "name")
_MOST_NAMED = 5


def in_short(reply: dict[str, Any]) -> str:
    data = reply["data"] if isinstance(reply.get("data"), dict) else reply
    told = [_listed(data) or _said(data) or _written(data) or "Done.", *(reply.get(name, "") for name in EXTRAS.fields)]
    return "\n".join(part for part in told if part)


def in_full(reply: dict[str, Any]) -> str:
    """The whole answer as text, for clients that read nothing else."""
    return json.dumps(reply, ensure_ascii=False)


def _listed(data: dict[str, Any]) -> str:
    name = next((name for name in _LISTS if isinstance(data.get(name), list)), "")
    if not name:
        return ""
    rows = data[name]
    named = [row if isinstance(row, str) else _name_of(row) for row in rows[:_MOST_NAMED]]
    more = ", …" if len(rows) > _MOST_NAMED else ""
    return f"{name} ({len(rows)}){': ' if rows else ''}{', '.join(named)}{more}"


def _name_of(row: dict[str, Any]) -> str:
    return next((str(row[name]) for name in _NAMES if row.get(name)), "?")


def _said(data: dict[str, Any]) -> str:
    text = next((data[name] for name in ("message", "content", "text") if isinstance(data.get(name), str)), None)
    if text is None:
        return ""
    where = data.get("path") or data.get("key") or "memory"
    return text if 0 < len(text) <= _SHORT else f"{where}: {len(text):,} characters"


def _written(data: dict[str, Any]) -> str:
    where = [str(data[name]) for name in ("key", "name", "path") if data.get(name)]
    return f"Done: {', '.join(where)}" if where else ""
