"""Homes of OpenClaw, duragent and agentool: copied, or opened in place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import Conflict, InvalidArgument
from commonplace.importers import open_in_place
from commonplace.instructions import approve

from .sources import pages, put, run_import, whys

SKILL = "---\nname: brew\ndescription: Brews tea\n---\n\nWarm the pot.\n"


@pytest.fixture
def openclaw(tmp_path: Path) -> Path:
    state = tmp_path / ".openclaw"
    workspace = state / "workspace"
    put(state, "openclaw.json", "{}")
    put(workspace, "MEMORY.md", "# What counts\n")
    put(workspace, "USER.md", "Ann.\n")
    put(workspace, "SOUL.md", "Be kind.\n")
    put(workspace, "memory/2026-01-02.md", "# 2026-01-02\n\nHad tea.\n")
    put(workspace, "memory/2026-01-02-visit.md", "Bob came.\n")
    put(workspace, "memory/Big Projects.md", "The garden.\n")
    put(workspace, "memory/groups/family.md", "All well.\n")
    put(workspace, "skills/brew/SKILL.md", SKILL)
    put(workspace, "skills/brew/scripts/pour.bin", b"\xff\x00")
    line = {"type": "message", "id": "1", "timestamp": "2026-01-02T03:04:05Z"}
    output = {"role": "user", "content": [{"type": "text", "text": "Hello"}, {"type": "toolResult", "text": "no"}]}
    put(state, "agents/main/sessions/abc.jsonl", json.dumps({**line, "message": output}) + "\n")
    put(state, "agents/scout/sessions/def.jsonl", json.dumps({**line, "message": output}) + "\n")
    return state


def test_a_home_of_openclaw_is_copied_to_where_things_belong_here(home: Path, openclaw: Path) -> None:
    done = run_import(home, openclaw)
    assert {path: text for path, text in pages_but_binary(home).items() if not path.endswith(".jsonl")} == {
        "agents/main/memory/MEMORY.md": "# What counts\n",
        "agents/main/memory/USER.md": "Ann.\n",
        "agents/main/memory/daily/2026-01-02.md": "# 2026-01-02\n\nHad tea.\n",
        "agents/main/memory/daily/2026-01-02-visit.md": "Bob came.\n",
        "memory/world/big-projects.md": "The garden.\n",
        "memory/world/groups/family.md": "All well.\n",
        "skills/brew/SKILL.md": SKILL,
    }
    assert (home / "skills/brew/scripts/pour.bin").read_bytes() == b"\xff\x00"
    assert sorted(path for path in done.added if path.endswith(".jsonl")) == [
        "agents/main/sessions/openclaw-2026-01-02-abc.jsonl",
        "agents/scout/sessions/openclaw-2026-01-02-def.jsonl",
    ]
    assert "instructions for OpenClaw" in whys(done)["workspace/SOUL.md"]
    memory = Memory(home)
    assert "Brews tea" not in str(memory.context())
    approve(memory.home, "skills/brew/SKILL.md")
    assert "Brews tea" in str(memory.context())
    assert "The garden." in memory.call("recall", {})["content"]


def pages_but_binary(home: Path) -> dict[str, str]:
    moved = home / "skills/brew/scripts/pour.bin"
    data = moved.read_bytes()
    moved.unlink()
    files = pages(home)
    moved.write_bytes(data)
    return files


def test_a_workspace_alone_is_recognised(home: Path, openclaw: Path) -> None:
    run_import(home, openclaw / "workspace")
    assert "agents/main/memory/MEMORY.md" in [p.relative_to(home).as_posix() for p in home.rglob("*.md")]


def test_a_day_that_exists_stays_and_the_imported_one_goes_beside_it(home: Path, openclaw: Path) -> None:
    put(home, "agents/main/memory/daily/2026-01-02.md", "# 2026-01-02\n\nMine.\n")
    done = run_import(home, openclaw / "workspace")
    beside = "agents/main/memory/daily/2026-01-02-openclaw.md"
    assert done.renamed == ((beside, "agents/main/memory/daily/2026-01-02.md"),)
    assert "Mine." in (home / "agents/main/memory/daily/2026-01-02.md").read_text()


def test_a_home_of_duragent_keeps_its_agents(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "work"
    put(source, "duragent.yaml", "workspace: .duragent\n")
    put(source, ".duragent/memory/world/people.md", "Ann.")
    put(source, ".duragent/agents/scout/memory/MEMORY.md", "Scout's.")
    put(source, ".duragent/agents/scout/memory/daily/2026-01-02.md", "# 2026-01-02\n")
    put(source, ".duragent/agents/scout/agent.yaml", "spec: {}\n")
    put(source, ".duragent/directives/tone.md", "Short.")
    done = run_import(home, source)
    assert sorted(done.added) == [
        "agents/scout/memory/MEMORY.md",
        "agents/scout/memory/daily/2026-01-02.md",
        "directives/tone.md",
        "memory/world/people.md",
    ]
    assert [*whys(done)] == [".duragent/agents/scout/agent.yaml"]
    renamed = run_import(tmp_path / "other", source, agent="ann", agent_was_named=True)
    assert "agents/ann/memory/MEMORY.md" in renamed.added


def test_every_agent_of_openclaw_brings_its_own_workspace(home: Path, openclaw: Path) -> None:
    put(openclaw, "workspace-ops/MEMORY.md", "Keep it running.\n")
    put(openclaw, "workspace-ops/memory/2026-01-02.md", "Rebooted.\n")
    put(openclaw, "workspace-ops/memory/secrets of ops.md", "Only mine.\n")
    texts = {path: text for path, text in pages_but_binary(import_to(home, openclaw)).items() if "/ops/" in path}
    assert texts == {
        "agents/ops/memory/MEMORY.md": "Keep it running.\n",
        "agents/ops/memory/daily/2026-01-02.md": "Rebooted.\n",
        "agents/ops/memory/secrets of ops.md": "Only mine.\n",
    }
    assert not [hit for hit in Memory(home).search("only mine") if "Only mine" in hit.text]
    assert "What counts" in Memory(home).call("recall", {})["content"]


def import_to(home: Path, source: Path) -> Path:
    run_import(home, source)
    return home


def test_a_home_of_agentool_becomes_days_and_a_summary(home: Path, tmp_path: Path) -> None:
    block = "### editor\n\nvim\n\n<!-- agentool-memory: at=2026-01-02T03:04:05Z tags=tools -->\n\n"
    put(tmp_path / "work", ".agent/memory/2026/01/02.md", block)
    put(tmp_path / "work", ".agent/memory/MEMORY.md", "### name\n\nAnn\n")
    done = run_import(home, tmp_path / "work")
    assert sorted(done.added) == ["agents/main/memory/MEMORY.md", "agents/main/memory/daily/2026-01-02.md"]
    memory = Memory(home)
    assert memory.call("memory_read", {"key": "editor"})["data"]["content"] == "vim"
    assert memory.call("memory_read", {"key": "name"})["data"]["content"] == "Ann"


def test_a_home_opens_in_place_and_keeps_its_form(openclaw: Path, tmp_path: Path) -> None:
    kind, folder, result = open_in_place(str(openclaw))
    assert (kind.name, folder, result) == ("openclaw", str((openclaw / "workspace").resolve()), True)
    memory = Memory(folder)
    assert "What counts" in memory.call("recall", {})["content"]
    memory.call("remember", {"content": "Opened in place."})
    assert any("Opened in place." in place.read_text() for place in (openclaw / "workspace/memory").glob("*.md"))
    assert open_in_place(str(openclaw))[2] is False

    put(tmp_path / "d", ".duragent/memory/world/tea.md", "Green.")
    assert "Green." in Memory(open_in_place(str(tmp_path / "d"))[1]).call("recall", {})["content"]
    put(tmp_path / "a", ".agent/memory/MEMORY.md", "### tea\n\nGreen.\n")
    opened = Memory(open_in_place(str(tmp_path / "a"))[1])
    assert opened.call("memory_read", {"key": "tea"})["data"]["content"] == "Green."


def test_a_workspace_of_duragent_of_any_name_opens_in_place(tmp_path: Path) -> None:
    put(tmp_path / "a", "duragent.yaml", "workspace: ./state\n")
    put(tmp_path / "a", "state/memory/world/tea.md", "Green.")
    put(tmp_path / "b/.duragent", "memory/world/tea.md", "Green.")
    put(tmp_path / "b/.duragent", "agents/scout/memory/MEMORY.md", "Scout's.")
    for place in (tmp_path / "a", tmp_path / "b/.duragent"):
        assert open_in_place(str(place), dry_run=True)[2] is True
        assert not (place / "commonplace.yaml").exists()
        assert "Green." in Memory(open_in_place(str(place))[1]).call("recall", {})["content"]


def test_existing_settings_are_not_touched(openclaw: Path) -> None:
    path = put(openclaw, "workspace/commonplace.yaml", "layout: duragent\n")
    with pytest.raises(Conflict, match="says layout: duragent"):
        open_in_place(str(openclaw))
    assert path.read_text() == "layout: duragent\n"


def test_what_is_no_home_does_not_open_in_place(tmp_path: Path) -> None:
    put(tmp_path / "v", ".obsidian/app.json", "{}")
    put(tmp_path / "v", "a.md", "x")
    with pytest.raises(InvalidArgument, match="cannot be opened in place: agentool, duragent, openclaw can"):
        open_in_place(str(tmp_path / "v"))
    with pytest.raises(InvalidArgument, match="--in-place takes one"):
        open_in_place(str(tmp_path / "v/a.md"), "openclaw")


def test_a_topic_that_is_here_under_another_spelling_gets_no_twin(home: Path, openclaw: Path) -> None:
    Memory(home).close()
    put(home, "memory/world/Big_Projects.md", "The garden.\n")
    run_import(home, openclaw)
    assert sorted(path.name for path in (home / "memory/world").glob("*.md")) == ["Big_Projects.md"]
