"""Homes of OpenClaw, duragent and agentool: copied, or opened in place."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import Conflict, InvalidArgument
from commonplace.importers import open_in_place
from commonplace.instructions import approve

from .sources import make_zip, pages, put, run_import, whys

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


@pytest.mark.parametrize("kind", ["", "openclaw"])
def test_the_folder_around_a_state_folder_of_openclaw_stands_for_it(home: Path, openclaw: Path, kind: str) -> None:
    put(openclaw.parent, "README.md", "Not memory.\n")
    assert run_import(home, openclaw.parent, kind, dry_run=True).added == run_import(home, openclaw, kind).added
    assert open_in_place(str(openclaw.parent), kind)[:2] == open_in_place(str(openclaw), kind)[:2]


def test_a_vault_with_a_state_folder_of_openclaw_in_it_stays_a_vault(home: Path, openclaw: Path) -> None:
    put(openclaw.parent, ".obsidian/app.json", "{}")
    put(openclaw.parent, "tea.md", "Green.\n")
    assert [path for path in run_import(home, openclaw.parent).added if "tea" in path]


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


# Sessions of duragent: the log of events as it is, or what the snapshot and the rest of the log say together.


START = {"type": "session_start", "session_id": "s-1", "agent": "scout"}
ASKED = {"type": "user_message", "content": "Which tea?"}
ANSWERED = {"type": "assistant_message", "agent": "scout", "content": "Green."}
THANKED = {"type": "user_message", "content": "Thanks."}
CALLED = {"type": "tool_call", "call_id": "c", "tool_name": "bash", "arguments": {}}
SNAPSHOT = """\
schema_version: "2"
session_id: s-1
agent: scout
created_at: 2026-01-02T03:04:00Z
last_event_seq: 5
checkpoint_seq: 3
conversation:
  - role: user
    content: Which tea?
  - role: assistant
    content: Green.
  - role: tool
    content: rain
"""


def log(*events: dict[str, Any], first: int = 1) -> str:
    numbered = (
        {"seq": seq, "timestamp": f"2026-01-02T03:04:{seq:02}Z", **event} for seq, event in enumerate(events, first)
    )
    return "".join(f"{json.dumps(event)}\n" for event in numbered)


@pytest.fixture
def dura(tmp_path: Path) -> Path:
    put(tmp_path / "d", "duragent.yaml", "workspace: .duragent\n")
    return tmp_path / "d"


def read_turns(home: Path, path: str) -> list[str]:
    events = [json.loads(line) for line in (home / path).read_text().splitlines()]
    return [f"{event['role']}: {event['content']}" for event in events if "role" in event]


ALL = ["user: Which tea?", "assistant: Green.", "user: Thanks."]
PAGE = "agents/scout/sessions/duragent-2026-01-02-s-1.jsonl"


def test_sessions_go_to_the_agent_whose_they_are(home: Path, dura: Path, tmp_path: Path) -> None:
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(START, ASKED, CALLED, ANSWERED, THANKED))
    put(dura, ".duragent/sessions/s-2/events.jsonl", log({**START, "agent": "cook"}, ASKED))
    put(dura, ".duragent/agents/scout/agent.yaml", "x: 1")
    done = run_import(home, dura)
    assert sorted(done.added) == ["agents/cook/sessions/duragent-2026-01-02-s-2.jsonl", PAGE]
    assert read_turns(home, PAGE) == ALL
    mine = run_import(tmp_path / "other", dura, agent="ann", agent_was_named=True)
    assert {path.partition("/sessions")[0] for path in mine.added} == {"agents/ann"}


def test_a_log_that_was_cut_begins_with_its_snapshot(home: Path, dura: Path) -> None:
    put(dura, ".duragent/sessions/s-1/state.yaml", SNAPSHOT)
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(ANSWERED, CALLED, THANKED, first=3))
    assert run_import(home, dura).added == (PAGE,)
    assert read_turns(home, PAGE) == ALL


def test_a_log_that_was_put_aside_comes_before_the_rest(home: Path, dura: Path) -> None:
    put(dura, ".duragent/sessions/s-1/state.yaml", SNAPSHOT)
    put(dura, ".duragent/sessions/s-1/events.archive.jsonl", log(START, ASKED, ANSWERED))
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(THANKED, first=4))
    run_import(home, dura)
    assert read_turns(home, PAGE) == ALL


@pytest.mark.parametrize("broken", ["a: [", "", "- 1", "conversation: 7"])
def test_a_snapshot_that_is_broken_costs_itself(home: Path, dura: Path, broken: str) -> None:
    put(dura, ".duragent/sessions/s-1/state.yaml", broken)
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(ANSWERED, THANKED, first=3))
    put(dura, ".duragent/sessions/s-2/events.jsonl", log(START))
    done = run_import(home, dura)
    assert read_turns(home, PAGE) == ALL[1:]
    assert whys(done)[".duragent/sessions/s-2"] == "is a session in which nothing was said"
    assert (".duragent/sessions/s-1/state.yaml" in whys(done)) == (broken == "a: [")


def test_logs_of_one_name_in_two_folders_are_two_sessions(home: Path, dura: Path) -> None:
    for name in ("a", "b"):
        put(dura, f".duragent/agents/scout/sessions/{name}/events.jsonl", log(START, {**ASKED, "content": name}))
    done = run_import(home, dura)
    assert [path.rpartition("-")[2] for path in done.added] == ["a.jsonl", "b.jsonl"]


# Folders of Markdown: Obsidian, basic-memory, and any other.


NOTE = "---\ntags: [tea]\naliases:\n  - Green\n---\r\n\r\n# Tea\r\n\r\nSee [[Pots|the pots]] and ![[pot.png]].  \n\n\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "My Vault"
    put(folder, ".obsidian/app.json", "{}")
    put(folder, ".trash/old.md", "gone")
    put(folder, "Tea.md", NOTE)
    put(folder, "Things/Deep Down/Pots.md", "A pot.")
    put(folder, "pot.png", b"\x89PNG")
    put(folder, "Board.canvas", "{}")
    put(folder, "latin.md", "Caf\xe9".encode("latin-1"))
    os.utime(folder / "Tea.md", ns=(1_600_000_000_123_456_789, 1_600_000_000_123_456_789))
    return folder


def test_a_vault_keeps_its_bytes_its_places_and_its_times(home: Path, vault: Path) -> None:
    done = run_import(home, vault)
    assert pages(home) == {
        "memory/my-vault/Tea.md": NOTE,
        "memory/my-vault/Things/Deep Down/Pots.md": "A pot.",
    }
    assert (home / "memory/my-vault/Tea.md").read_bytes() == NOTE.encode()
    assert (home / "memory/my-vault/Tea.md").stat().st_mtime_ns == 1_600_000_000_123_456_789
    assert sorted(done.added) == sorted(pages(home))
    hits = Memory(home).search("pots")
    assert "memory/my-vault/Tea.md" in {hit.path for hit in hits}


def test_what_is_no_note_is_named(home: Path, vault: Path) -> None:
    assert whys(run_import(home, vault)) == {
        "Board.canvas": "is an Obsidian canvas: a drawing, not text",
        "pot.png": "is an attachment: only Markdown is imported",
        "latin.md": "is not UTF-8 text",
    }


def test_the_source_stays_as_it_is(home: Path, vault: Path) -> None:
    before = {place: place.read_bytes() for place in vault.rglob("*") if place.is_file()}
    run_import(home, vault)
    assert {place: place.read_bytes() for place in vault.rglob("*") if place.is_file()} == before


def test_links_are_not_followed(home: Path, vault: Path, tmp_path: Path) -> None:
    put(tmp_path, "outside/secret.md", "secret")
    (vault / "way-out").symlink_to(tmp_path / "outside")
    (vault / "secret.md").symlink_to(tmp_path / "outside/secret.md")
    done = run_import(home, vault)
    assert not any("secret" in path for path in pages(home))
    assert whys(done)["secret.md"] == whys(done)["way-out"] == "is a link, and links are not followed"


def test_a_vault_that_is_called_like_a_folder_of_ours_is_not_taken_for_it(home: Path, tmp_path: Path) -> None:
    for name in ("global", "World", "channels"):
        put(tmp_path / name, "x/y.md", "text")
        run_import(home, tmp_path / name, "markdown")
    assert sorted(pages(home)) == [f"memory/{name}-notes/x/y.md" for name in ("channels", "global", "world")]


def test_two_vaults_of_one_name_are_both_kept_whole(home: Path, tmp_path: Path) -> None:
    for above in ("one", "two"):
        put(tmp_path / above / "Notes", "a.md", above)
        put(tmp_path / above / "Notes", f"{above}.md", above)
    run_import(home, tmp_path / "one/Notes", "markdown")
    done = run_import(home, tmp_path / "two/Notes", "markdown")
    assert sorted(pages(home).values()) == ["one", "one", "two", "two"]
    assert [other for _, other in done.renamed] == ["memory/notes/a.md"]
    again = run_import(home, tmp_path / "two/Notes", "markdown")
    assert (again.added, again.left_unchanged, len(again.same)) == ((), (), 2)


def test_a_zip_of_a_vault_is_the_vault(home: Path, tmp_path: Path) -> None:
    place = make_zip(
        tmp_path / "Vault.zip", {"Vault/.obsidian/app.json": "{}", "Vault/a/Tea.md": NOTE, "Vault/x.md": "x"}
    )
    run_import(home, place)
    assert pages(home) == {"memory/vault/a/Tea.md": NOTE, "memory/vault/x.md": "x"}


def test_basic_memory_is_known_by_its_permalinks(home: Path, tmp_path: Path) -> None:
    note = "---\ntitle: Tea\ntype: note\npermalink: drinks/tea\n---\n\n- [fact] Green #tea\n- relates_to [[Pot]]\n"
    put(tmp_path / "main", "drinks/Tea.md", note)
    run_import(home, tmp_path / "main")
    assert pages(home) == {"memory/main/drinks/Tea.md": note}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no files of such names")
def test_a_page_may_begin_with_a_tilde_or_a_drive(home: Path, tmp_path: Path) -> None:
    names = ("~about home.md", "C: a language.md", "What is tea?.md")
    for name in names:
        put(tmp_path / "v", name, name)
    done = run_import(home, tmp_path / "v", "markdown")
    assert done.skipped == ()
    assert sorted(pages(home)) == sorted(f"memory/v/{name}" for name in names)
    assert {hit.path for hit in Memory(home).search("language")} == {"memory/v/C: a language.md"}


def test_of_a_page_and_a_folder_of_one_name_one_is_kept_and_the_other_reported(home: Path, tmp_path: Path) -> None:
    place = make_zip(tmp_path / "Vault.zip", {"Vault/a.md": "first", "Vault/a.md/b.md": "below", "Vault/x.md": "x"})
    done = run_import(home, place, "markdown")
    [(path, why)] = done.left_unchanged
    assert {*pages(home)} == {"memory/vault/a.md", "memory/vault/a.md/b.md", "memory/vault/x.md"} - {path}
    assert "a folder is where a page should be" in why or "beside the page memory/vault/a.md: use another" in why
