"""What people have, in the shapes that its makers document; built here, small."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

from commonplace.home import Home
from commonplace.importers import ImportReport, import_source
from commonplace.testing import FrozenClock


def put(folder: Path, path: str, data: str | bytes) -> Path:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


def run_import(home: Path, source: Path, kind: str = "", agent: str = "main", **options: Any) -> ImportReport:
    """Import with a clock that stands still; nothing else is left out."""
    done = import_source(Home(str(home), agent, FrozenClock()), str(source), kind, **options)
    return done[1]


def pages(home: Path) -> dict[str, str]:
    """Return all pages of a home without our own files and the directive that every new home gets."""
    result = {}
    for place in sorted(home.rglob("*")):
        path = place.relative_to(home).as_posix()
        if place.is_file() and not path.startswith(".") and path != "directives/memory.md":
            result[path] = place.read_bytes().decode()
    return result


def whys(done: ImportReport) -> dict[str, str]:
    return {missed.what: missed.why for missed in done.skipped}


def make_zip(place: Path, members: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return place


def notes_database(place: Path, rows: list[tuple[Any, Any, Any]]) -> Path:
    with sqlite3.connect(place) as database:
        database.execute("CREATE TABLE working_memory (key TEXT PRIMARY KEY, content TEXT, updated_at TEXT)")
        database.executemany("INSERT INTO working_memory VALUES (?, ?, ?)", rows)
    database.close()
    return place


_RECORD = (
    "(id INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT, category TEXT, tags TEXT, created_at TEXT, updated_at TEXT)"
)


def registry_database(place: Path) -> Path:
    times = ("2025-01-02 03:04:05", "2025-02-03 04:05:06")
    with sqlite3.connect(place) as database:
        database.execute(f"CREATE TABLE global_memories {_RECORD}")
        database.execute(f'CREATE TABLE "channel_memories_mega-furnace" {_RECORD}')
        database.execute(
            "CREATE TABLE skills (id INTEGER PRIMARY KEY, name TEXT UNIQUE, description TEXT, skill_data TEXT,"
            " training_progress INTEGER, created_at TEXT, updated_at TEXT, owner TEXT, instructions TEXT)"
        )
        rows = [
            (1, "editor", '"vim"', "preferences", "tools, daily", *times),
            (2, "limits", '{"max": 3}', "general", "", *times),
            (3, "plain", "not json at all", None, None, *times),
            (4, "gone", "null", "general", "", *times),
        ]
        database.executemany("INSERT INTO global_memories VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        database.execute(
            'INSERT INTO "channel_memories_mega-furnace" VALUES (1, ?, ?, ?, ?, ?, ?)',
            ("heat", "1200", "project", "auto_stored,project_knowledge", *times),
        )
        database.execute(
            "INSERT INTO skills VALUES (1, 'brew', 'Brews tea', ?, 7, ?, ?, 'ann', 'Warm the pot.')",
            ('{"pots": [1, 2]}', *times),
        )
    database.close()
    return place


def chatgpt_talk(
    name: str = "c-1", title: str = "Tea", said: tuple[str, ...] = ("Which tea?", "Green.")
) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    above = "root"
    for number, text in enumerate(said):
        node = f"n{number}"
        nodes[node] = {
            "id": node,
            "parent": above,
            "children": [],
            "message": {
                "id": node,
                "author": {"role": "assistant" if number % 2 else "user", "name": None, "metadata": {}},
                "create_time": 1_700_000_000.5 + number,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
                "metadata": {},
            },
        }
        above = node
    return {
        "id": name,
        "conversation_id": name,
        "title": title,
        "create_time": 1_700_000_000.5,
        "update_time": 1_700_000_100.0,
        "mapping": nodes,
        "current_node": above,
    }


def chatgpt_zip(place: Path, talks: list[dict[str, Any]], **others: Any) -> Path:
    members: dict[str, str | bytes] = {
        "conversations.json": json.dumps(talks),
        "chat.html": "<html>",
        "user.json": "{}",
    }
    return make_zip(place, members | {f"{name}.json": json.dumps(value) for name, value in others.items()})


def mem0_file(place: Path, count: int) -> Path:
    memories = [
        {
            "id": f"m-{number}",
            "memory": f"Ann likes tea number {number}",
            "user_id": "ann",
            "created_at": "2025-01-02T03:04:05-08:00",
            "updated_at": "2025-02-03T04:05:06-08:00",
            "categories": ["food"],
        }
        for number in range(count)
    ]
    return put(place.parent, place.name, json.dumps({"results": memories}))
