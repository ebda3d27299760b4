"""mem0: a JSON list of memories. An agent's become its working notes; a user's become records of a channel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from ..model import Json, Record, Scope
from .source import Source, parse_json_list, require_single_file, single_file_name
from .values import Destination, Item, RecordItem, Skipped, read_text, read_timestamp

_LISTS = ("results", "memories", "data")
_OWNERS = ("user_id", "agent_id", "run_id", "app_id", "actor_id")


def recognise(source: Source) -> bool:
    name = single_file_name(source)
    head = source.peek(name) if name.endswith(".json") else b""
    return b'"memory"' in head and any(f'"{name}"'.encode() in head for name in (*_OWNERS, "hash", "categories"))


def read(source: Source, into: Destination) -> Iterator[Item]:
    path = require_single_file(source)
    data = source.read_file(path)
    if data is None:
        return
    for number, each in parse_json_list(data, path, source.skipped, "memory", _LISTS):
        text = read_text(each.get("memory")).strip()
        name = read_text(each.get("id")).strip()
        if not text:
            yield Skipped(f"{path}, part {number}", "has no memory in it")
            continue
        yield _read_memory(each, text, name or _derive_name(each, text), into)


def _derive_name(each: dict[str, Any], text: str) -> str:
    """Return a name for a memory without an id, made from its text and owners."""
    content = "\0".join([text, *(read_text(each.get(name)) for name in _OWNERS)])
    return f"mem0-{hashlib.blake2b(content.encode(), digest_size=8).hexdigest()}"


def _read_memory(each: dict[str, Any], text: str, name: str, into: Destination) -> RecordItem:
    created = read_timestamp(each.get("created_at"))
    updated = read_timestamp(each.get("updated_at")) or created
    record = Record(name, text, _category(each), _tags(each.get("categories")), created, updated)
    scope = _scope(each, into)
    owners = ((name, read_text(each.get(name))) for name in _OWNERS)
    fields: dict[str, Json] = {name: owner for name, owner in owners if owner not in ("", scope.name)}
    metadata = each.get("metadata")
    if isinstance(metadata, dict) and metadata:
        pairs = ((read_text(name), value) for name, value in metadata.items())
        fields["metadata"] = {name: _as_text(value) for name, value in pairs if name and value not in (None, "")}
    return RecordItem(f"memory {name}", scope, record, tuple(fields.items()))


def _scope(each: dict[str, Any], into: Destination) -> Scope:
    """Choose the scope by the agent, else the user, else the run; a memory without any of them is global."""
    if agent := read_text(each.get("agent_id")):
        return Scope("agent", into.agent if into.agent_was_named else agent)
    channel = read_text(each.get("user_id")) or read_text(each.get("run_id"))
    return Scope("channel", channel) if channel else Scope("global")


def _category(each: dict[str, Any]) -> str:
    owned = any(read_text(each.get(name)) for name in ("agent_id", "user_id", "run_id"))
    return "general" if owned else "mem0"


def _tags(categories: Any) -> tuple[str, ...]:
    values = categories if isinstance(categories, list) else [categories]
    tags = (read_text(tag).replace(",", " ").strip() for tag in values)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _as_text(value: Any) -> str:
    return read_text(value) if isinstance(value, str) else read_text(json.dumps(value, ensure_ascii=False))
