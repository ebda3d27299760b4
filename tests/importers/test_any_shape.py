"""Whatever a source says: no error but our own, nothing outside of the home, and a second import that adds nothing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import StorageError

from ..examples import examples
from .sources import put, run_import

_NAMES = [
    "type",
    "role",
    "content",
    "message",
    "text",
    "uuid",
    "id",
    "name",
    "timestamp",
    "isMeta",
    "summary",
    "parts",
    "author",
    "create_time",
    "mapping",
    "current_node",
    "parent",
    "title",
    "conversation_id",
    "chat_messages",
    "sender",
    "created_at",
    "memory",
    "user_id",
    "agent_id",
    "run_id",
    "metadata",
    "categories",
    "observations",
    "entityType",
    "from",
    "to",
    "relationType",
    "docs",
    "filename",
    "project_memories",
    "conversations_memory",
    "description",
    "prompt_template",
    "content_type",
    "model_set_context",
    "recipient",
]
_WORDS = ["user", "assistant", "entity", "relation", "text", "a/b", "..", "\ud800", "\0", "2025-01-01T00:00:00Z", "CON"]
_LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(_WORDS)
_VALUE = st.recursive(
    _LEAF,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=25,
)
_OBJECTS = st.lists(st.dictionaries(st.sampled_from(_NAMES), _VALUE, max_size=8), max_size=4)
_USUAL: dict[str, dict[str, Any]] = {
    "chatgpt": {"id": "x", "mapping": {"a": {}}},
    "claude": {"uuid": "u", "chat_messages": []},
    "mem0": {"memory": "t"},
    "mcp-memory": {"type": "entity", "name": "n"},
    "claude-code": {"sessionId": "s", "type": "user"},
}


def check(folder: Path, source: Path, kind: str) -> None:
    try:
        done = run_import(folder / "home", source, kind)
    except StorageError:  # nothing was found in it
        return
    again = run_import(folder / "home", source, kind)
    assert (again.added, again.updated) == ((), ())
    assert {place.name for place in folder.iterdir()} <= {"home", "source"}
    assert len(done.added) == len({*done.added})


@examples(20)
@given(_OBJECTS, st.sampled_from([*_USUAL]), st.booleans())
def test_json_of_any_shape(objects: list[dict[str, Any]], kind: str, usual: bool) -> None:
    listed = [{**_USUAL[kind], **each} for each in objects] if usual else objects
    with TemporaryDirectory() as name:
        folder = Path(name)
        if kind in ("mcp-memory", "claude-code"):
            source = put(folder, "source/m.jsonl", "\n".join(json.dumps(each) for each in listed))
        elif kind == "mem0":
            source = put(folder, "source/m.json", json.dumps(listed))
        else:
            source = folder / "source"
            for file in ("conversations", "projects", "memories"):
                put(source, f"{file}.json", json.dumps(listed))
        check(folder, source, kind)


_CELL = st.none() | st.integers(-(2**62), 2**62) | st.floats() | st.text(max_size=10) | st.binary(max_size=6)
_TABLES = {
    "working_memory": "key, content, updated_at",
    "global_memories": "key, value, category, tags, created_at, updated_at",
    "channel_memories_a b": "key, value, category, tags, created_at, updated_at",
    "skills": "name, description, skill_data, training_progress, created_at, updated_at, owner, instructions",
}


@examples(20)
@given(st.lists(st.tuples(*[_CELL] * 8), max_size=4))
def test_rows_of_any_shape(rows: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source").mkdir()
        database = sqlite3.connect(folder / "source/x.db")
        for table, columns in _TABLES.items():
            width = columns.count(",") + 1
            database.execute(f'CREATE TABLE "{table}" ({columns})')
            database.executemany(
                f'INSERT INTO "{table}" VALUES ({", ".join("?" * width)})', [row[:width] for row in rows]
            )
        database.commit()
        database.close()
        check(folder, folder / "source/x.db", "sqlite")
