"""SQLite databases: working notes, and a registry of records and skills."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import StorageError
from commonplace.home import Home
from commonplace.importers import import_source
from commonplace.testing import FrozenClock

from .sources import notes_database, pages, registry_database, run_import, whys


def test_working_notes_keep_their_keys_and_times(home: Path, tmp_path: Path) -> None:
    database = notes_database(
        tmp_path / "agent.db",
        [
            ("editor", "vim", "2025-01-02 03:04:05"),
            ("My Editor!", "vim, too", "2025-01-02T03:04:05+00:00"),
            ("session-handoff", "half done", "2025-01-02 03:04:05"),
            ("scratchpad", "", "2025-01-02 03:04:05"),
            ("activity-log-2025-01-02", "Daily activity log for 2025-01-02\n- [03:04:05 UTC] x", "2025-01-02"),
        ],
    )
    done = run_import(home, database)
    assert (len(done.added), done.skipped) == (4, ())
    memory = Memory(home, clock=FrozenClock())
    matches = memory.call("search_memory", {"query": "editor"})["matches"]
    assert {each["key"]: (each["content"], each["updated_at"]) for each in matches} == {
        "editor": ("vim", "2025-01-02T03:04:05.000000Z"),
        "My Editor!": ("vim, too", "2025-01-02T03:04:05.000000Z"),
    }
    assert str(memory.context()).index("half done") < 300
    assert memory.call("scratch_note", {})["empty"]
    log = memory.call("search_memory", {"query": "activity-log-2025-01-02"})["matches"]
    assert "03:04:05 UTC" in log[0]["content"]


def test_notes_go_to_the_agent_that_is_named(home: Path, tmp_path: Path) -> None:
    database = notes_database(tmp_path / "agent.db", [("editor", "vim", "2025-01-02 03:04:05")])
    run_import(home, database, agent="scout")
    assert [path for path in pages(home) if "working" in path] == ["agents/scout/memory/working/editor.md"]


def test_records_and_skills_come_with_all_that_they_say(home: Path, tmp_path: Path) -> None:
    done = run_import(home, registry_database(tmp_path / "registry.db"))
    memory = Memory(home, clock=FrozenClock())

    def call(**arguments: object) -> dict[str, object]:
        reply = memory.call("MemoryTool", arguments)
        reply.pop("success")
        return reply

    times = {"created_at": "2025-01-02T03:04:05.000000Z", "updated_at": "2025-02-03T04:05:06.000000Z"}
    assert call(op="getGlobal", key="editor") == {
        "key": "editor",
        "value": "vim",
        "category": "preferences",
        "tags": ["tools", "daily"],
        **times,
    }
    assert call(op="getGlobal", key="limits")["value"] == {"max": 3}
    assert call(op="getGlobal", key="plain")["value"] == "not json at all"
    heat = call(op="getChannel", channelName="mega-furnace", key="heat")
    assert (heat["value"], heat["category"], heat["tags"]) == (1200, "project", ["auto_stored", "project_knowledge"])
    skill = call(op="getSkill", name="brew")
    assert "wait for a person's approval" in str(skill.pop("warning"))
    assert "Warm the pot." in memory.home.storage.pages.read("skills/brew/SKILL.md").text
    assert skill == {
        "name": "brew",
        "description": "Brews tea",
        "instructions": "",
        "owner": "ann",
        "skill_data": {"pots": [1, 2]},
        "training_progress": 7,
        **times,
    }
    assert whys(done) == {"table global_memories, row 4": "'gone' has no value"}


def test_a_row_that_is_not_text_costs_only_itself(home: Path, tmp_path: Path) -> None:
    database = notes_database(tmp_path / "agent.db", [("a", "1", ""), ("b", b"\xff\xfe", ""), (None, "x", "")])
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE working_memory SET content = CAST(content AS TEXT)")
        connection.execute("CREATE TABLE secrets (x)")
    connection.close()
    done = run_import(home, database)
    assert len(done.added) == 1
    assert sorted(whys(done).values()) == ["has an unknown structure", "has no key", "is not UTF-8 text"]


def test_a_record_in_another_category_is_left_alone(home: Path, tmp_path: Path) -> None:
    memory = Memory(home, clock=FrozenClock())
    memory.call("MemoryTool", {"op": "setGlobal", "key": "editor", "value": "emacs", "category": "tools"})
    done = run_import(home, registry_database(tmp_path / "registry.db"))
    assert [item.what for item in done.left_unchanged] == ["memory/global/preferences/editor.md"]
    assert "memory/global/tools/editor.md has this key already" in done.left_unchanged[0].why
    assert memory.call("MemoryTool", {"op": "getGlobal", "key": "editor"})["value"] == "emacs"


def test_a_skill_that_exists_gets_nothing_of_another(home: Path, tmp_path: Path) -> None:
    memory = Memory(home, clock=FrozenClock())
    memory.call("MemoryTool", {"op": "createSkill", "name": "brew", "description": "Brews coffee"})
    before = {path: text for path, text in pages(home).items() if path.startswith("skills/")}
    done = run_import(home, registry_database(tmp_path / "registry.db"))
    assert {path: text for path, text in pages(home).items() if path.startswith("skills/")} == before
    assert [item.what for item in done.left_unchanged] == ["skills/brew/SKILL.md"]


def test_nothing_is_left_beside_a_database_that_is_in_use(home: Path, tmp_path: Path) -> None:
    database = notes_database(tmp_path / "agent.db", [("a", "1", "2025-01-02")])
    writer = sqlite3.connect(database)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO working_memory VALUES ('b', '2', '2025-01-02')")
    writer.commit()
    before = {place.name: place.read_bytes() for place in tmp_path.glob("agent.db*")}
    assert len(run_import(home, database).added) == 2
    assert {place.name: place.read_bytes() for place in tmp_path.glob("agent.db*")} == before
    writer.close()


def test_a_damaged_database_is_reported(home: Path, tmp_path: Path) -> None:
    database = notes_database(tmp_path / "agent.db", [("a", "x" * 9000, "")])
    database.write_bytes(database.read_bytes()[:1000])
    with pytest.raises(StorageError, match="get a complete copy"):
        run_import(home, database)


@pytest.mark.parametrize(
    "content",
    [
        "key || hex(zeroblob(10000))",  # 50 KB once became many gigabytes of notes
        "instr(hex(zeroblob(1000000)), hex(zeroblob(500000)) || '1')",  # one row once took minutes
    ],
)
def test_nothing_that_a_database_computes_is_read(home: Path, tmp_path: Path, content: str) -> None:
    database = tmp_path / "bomb.db"
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("CREATE TABLE working_memory(key TEXT, updated_at TEXT, content GENERATED ALWAYS AS (0))")
        db.executemany("INSERT INTO working_memory(key) VALUES(?)", [(f"key {number}",) for number in range(100)])
        # as large as what is computed, so that no limit of size ends it
        db.execute("CREATE TABLE padding(text TEXT)")
        db.execute("INSERT INTO padding VALUES(?)", ("x" * 2_000_000,))
        db.execute("CREATE VIRTUAL TABLE global_memories USING fts5(key, value)")
        db.execute("PRAGMA writable_schema = on")
        db.execute(
            "UPDATE sqlite_master SET sql = replace(sql, '(0)', ?) WHERE name = 'working_memory'", (f"({content})",)
        )
    done = run_import(home, database)
    assert "is computed by the database, and is not read" in whys(done)["table working_memory, content"]
    assert whys(done)["table working_memory, row 1"] == "'key 0' has no content"
    assert pages(home) == {}


def test_a_database_of_chinese_in_utf_16_is_read(home: Path, tmp_path: Path) -> None:
    database = tmp_path / "wide.db"
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("PRAGMA encoding = 'UTF-16'")
        db.execute("CREATE TABLE working_memory(key TEXT PRIMARY KEY, content TEXT, updated_at TEXT)")
        db.execute("INSERT INTO working_memory VALUES('note', ?, '2025-01-02')", ("汉字" * 40_000,))
    assert len(run_import(home, database).added) == 1


def test_what_has_no_time_is_not_written_again_because_time_goes_on(home: Path, tmp_path: Path) -> None:
    source = notes_database(tmp_path / "a.db", [("plan", "Tea", None), ("pot", "Blue", "soon")])
    registry = registry_database(tmp_path / "b.db")
    with sqlite3.connect(registry) as database:
        database.execute("UPDATE skills SET created_at = NULL, updated_at = ''")
        database.execute("UPDATE global_memories SET created_at = NULL, updated_at = NULL")
    database.close()
    for place in (source, registry):
        import_source(Home(str(home), clock=FrozenClock()), str(place))
        later = Home(str(home), clock=FrozenClock(datetime(2031, 5, 6, tzinfo=UTC)))
        done = import_source(later, str(place))[1]
        assert (done.added, done.updated, done.left_unchanged) == ((), (), ())
    with sqlite3.connect(source) as database:
        database.execute("UPDATE working_memory SET content = 'Red' WHERE key = 'pot'")
    database.close()
    for updated in (("agents/main/memory/working/pot.md",), ()):
        assert import_source(later, str(source))[1].updated == updated
    file = pages(home)["agents/main/memory/working/pot.md"]
    assert "updated_at: 2031-05-06" in file
    assert "created_at: 2031" not in file


@pytest.mark.parametrize("existing", ["", "tree-removal"])
def test_an_imported_skill_gets_a_plain_folder_unless_another_skill_has_it(
    home: Path, tmp_path: Path, existing: str
) -> None:
    memory = Memory(home, clock=FrozenClock())
    if existing:
        memory.call("MemoryTool", {"op": "createSkill", "name": existing, "description": "here"})
    database = registry_database(tmp_path / "registry.db")
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE skills SET name = 'tree_removal'")
    connection.close()
    assert not run_import(home, database).left_unchanged
    assert memory.call("MemoryTool", {"op": "getSkill", "name": "tree_removal"})["description"] == "Brews tea"
    assert (home / "skills/tree-removal/SKILL.md").exists()
    if existing:
        assert memory.call("MemoryTool", {"op": "getSkill", "name": existing})["description"] == "here"
    done = run_import(home, database)
    assert not done.added
    assert not done.left_unchanged
