"""mem0: a list of memories with their times. An agent's stay with it; a user's become records of a channel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from ..model import Json, Record, Scope
from .jsonparts import objects
from .source import Source, only_file, the_file
from .values import Into, Item, Keyed, Missed, moment, plain

_LISTS = ("results", "memories", "data")
_OWNERS = ("user_id", "agent_id", "run_id", "app_id", "actor_id")


def recognise(source: Source) -> bool:
    name = only_file(source)
    head = source.peek(name) if name.endswith(".json") else b""
    return b'"memory"' in head and any(f'"{name}"'.encode() in head for name in (*_OWNERS, "hash", "categories"))


def read(source: Source, into: Into) -> Iterator[Item]:
    path = the_file(source)
    data = source.take(path)
    if data is None:
        return
    for number, each in objects(data, path, source.missed, "memory", _LISTS):
        text, name = plain(each.get("memory")).strip(), plain(each.get("id")).strip()
        if not text:
            yield Missed(f"{path}, part {number}", "has no memory in it")
            continue
        yield _memory(each, text, name or _name_of(each, text), into)


def _name_of(each: dict[str, Any], text: str) -> str:
    """A name for a memory that has none: by what it says, and of whom."""
    said = "\0".join([text, *(plain(each.get(name)) for name in _OWNERS)])
    return f"mem0-{hashlib.blake2b(said.encode(), digest_size=8).hexdigest()}"


def _memory(each: dict[str, Any], text: str, name: str, into: Into) -> Keyed:
    created = moment(each.get("created_at"))
    record = Record(name, text, _category(each), _tags(each.get("categories")), created)
    record = record._replace(updated_at=moment(each.get("updated_at")) or created)
    scope = _scope(each, into)
    fields: dict[str, Json] = {n: plain(each.get(n)) for n in _OWNERS if plain(each.get(n)) not in ("", scope.name)}
    about = each.get("metadata")
    if isinstance(about, dict) and about:
        fields["metadata"] = {plain(n): _as_text(v) for n, v in about.items() if v not in (None, "") and plain(n)}
    return Keyed(f"memory {name}", scope, record, tuple(fields.items()))


def _scope(each: dict[str, Any], into: Into) -> Scope:
    """An agent's own, then a user's, then a run's; what is nobody's is for all."""
    if agent := plain(each.get("agent_id")):
        return Scope("agent", into.agent if into.said else agent)
    channel = plain(each.get("user_id")) or plain(each.get("run_id"))
    return Scope("channel", channel) if channel else Scope("global")


def _category(each: dict[str, Any]) -> str:
    owned = any(plain(each.get(name)) for name in ("agent_id", "user_id", "run_id"))
    return "general" if owned else "mem0"


def _tags(categories: Any) -> tuple[str, ...]:
    listed = categories if isinstance(categories, list) else [categories] if isinstance(categories, str) else []
    tags = (plain(tag).replace(",", " ").strip() for tag in listed)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _as_text(value: Any) -> str:
    return plain(value) if isinstance(value, str) else plain(json.dumps(value, ensure_ascii=False))
