"""Imports and the rest of the memory: layouts, doctor, forget, export; and which format a source is."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import OutsideHome, StorageError
from commonplace.home import Home
from commonplace.importers import KINDS, Limits, recognise
from commonplace.importers.source import open_source
from commonplace.maintenance.backup import export_to
from commonplace.maintenance.doctor import examine
from commonplace.maintenance.forget import Selection, forget
from commonplace.testing import FrozenClock

from .sources import chatgpt_talk, chatgpt_zip, mem0_file, notes_database, pages, put, registry_database, run_import


def one_of_each(folder: Path) -> dict[str, Path]:
    put(folder / "vault", ".obsidian/app.json", "{}")
    put(folder / "vault", "a/Tea.md", "Green")
    put(folder / "basic", "tea.md", "---\ntitle: tea\npermalink: tea\n---\n")
    put(folder / "claw", "MEMORY.md", "Tea")
    put(folder / "claw", "memory/2026-01-02.md", "Tea")
    put(folder / "claw", "memory/tea.md", "Tea")
    put(folder / "dura", ".duragent/agents/scout/memory/MEMORY.md", "Tea")
    put(folder / "tool", ".agent/memory/2026/01/02.md", "### a\n\nTea\n")
    event = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Tea?"}}
    put(folder / "code", "s.jsonl", json.dumps(event))
    put(folder / "code", "memory/MEMORY.md", "Tea")
    claude = [{"uuid": "1", "name": "x", "chat_messages": [{"sender": "human", "text": "Tea?"}]}]
    graph = {"type": "entity", "name": "Tea", "entityType": "x", "observations": ["Green"]}
    return {
        "obsidian": folder / "vault",
        "basic-memory": folder / "basic",
        "openclaw": folder / "claw",
        "duragent": folder / "dura",
        "agentool": folder / "tool",
        "claude-code": folder / "code",
        "claude": put(folder, "claude/conversations.json", json.dumps(claude)).parent,
        "chatgpt": chatgpt_zip(folder / "chatgpt.zip", [chatgpt_talk()]),
        "mcp-memory": put(folder, "memory.jsonl", json.dumps(graph)),
        "mem0": mem0_file(folder / "mem0.json", 2),
        "sqlite": registry_database(folder / "registry.db"),
    }


def test_every_kind_is_distinguished_from_every_other(tmp_path: Path) -> None:
    sources = one_of_each(tmp_path)
    assert {*sources} == {*KINDS} - {"markdown"}
    for name, place in sources.items():
        with open_source(str(place), Limits()) as source:
            assert recognise(source).name == name


@pytest.mark.parametrize("layout", ["native", "openclaw", "duragent", "agentool"])
def test_in_every_layout_what_comes_has_a_place_and_is_found_again(home: Path, tmp_path: Path, layout: str) -> None:
    put(home, "commonplace.yaml", f"layout: {layout}\nmemorySearch:\n  indexSessions: true\n")
    opened = Home(str(home), clock=FrozenClock())
    for name, place in one_of_each(tmp_path).items():
        done = run_import(home, place)
        assert done.added, name
        for path in done.added:
            assert opened.layout.place(path), (name, path)
        assert run_import(home, place).added == ()
    assert Memory(home, clock=FrozenClock()).search("tea")


def test_a_doctor_finds_nothing_wrong_after_an_import(home: Path, tmp_path: Path) -> None:
    Memory(home, clock=FrozenClock())
    for place in one_of_each(tmp_path).values():
        run_import(home, place)
    Memory(home, clock=FrozenClock()).search("tea")
    report = examine(str(home), clock=FrozenClock())
    assert report.findings == ()


def test_what_was_forgotten_does_not_come_back(home: Path, tmp_path: Path) -> None:
    source = notes_database(tmp_path / "a.db", [("editor", "vim", "2025-01-02"), ("tea", "green", "2025-01-02")])
    run_import(home, source)
    opened = Home(str(home), clock=FrozenClock())
    forget(opened, Selection(key="editor"))
    done = run_import(home, source)
    assert [item.what for item in done.left_unchanged] == ["agents/main/memory/working/editor.md"]
    assert not any("vim" in text for text in pages(home).values())


def test_the_import_log_is_no_part_of_a_backup_and_is_not_needed_by_one(home: Path, tmp_path: Path) -> None:
    source = mem0_file(tmp_path / "m.json", 3)
    run_import(home, source)
    out = io.BytesIO()
    export_to(Home(str(home)), out)
    assert b".imports" not in out.getvalue()


def test_the_import_log_is_not_written_through_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    home.mkdir()
    (home / ".imports").symlink_to(tmp_path / "outside")
    with pytest.raises(OutsideHome):
        run_import(home, mem0_file(tmp_path / "m.json", 1))
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_memory_of_our_own_is_exported_not_guessed_at(home: Path, tmp_path: Path) -> None:
    Memory(tmp_path / "mine", clock=FrozenClock()).call("update_world", {"topic": "tea", "content": "Green"})
    with pytest.raises(StorageError, match="export FILE"):
        run_import(home, tmp_path / "mine")


def test_a_skill_whose_files_changed_at_the_source_is_reported(home: Path, tmp_path: Path) -> None:
    claw = tmp_path / "claw"
    put(claw, "MEMORY.md", "x")
    put(claw, "SOUL.md", "x")
    put(claw, "skills/brew/SKILL.md", "---\nname: brew\ndescription: d\n---\n\nOne.\n")
    put(claw, "skills/brew/data.bin", b"\xff1")
    run_import(home, claw)
    put(claw, "skills/brew/SKILL.md", "---\nname: brew\ndescription: d\n---\n\nTwo.\n")
    put(claw, "skills/brew/data.bin", b"\xff2")
    done = run_import(home, claw)
    assert done.updated == ("skills/brew/SKILL.md",)
    assert [item.what for item in done.left_unchanged] == ["skills/brew/data.bin"]
    assert (home / "skills/brew/data.bin").read_bytes() == b"\xff1"


def test_what_is_in_a_source_twice_is_imported_once(home: Path, tmp_path: Path) -> None:
    same = chatgpt_zip(tmp_path / "a.zip", [chatgpt_talk("a"), chatgpt_talk("a")])
    assert len(run_import(home, same).added) == 1
    other = chatgpt_zip(tmp_path / "b.zip", [chatgpt_talk("b"), chatgpt_talk("b", said=("Else?",))])
    done = run_import(home, other)
    assert (len(done.added), len(done.left_unchanged)) == (1, 1)
