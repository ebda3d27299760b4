from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.storage.layout import LAYOUTS, Layout
from commonplace.testing import FrozenClock


def test_every_page_a_layout_makes_is_understood_by_it(clock: FrozenClock) -> None:
    for layout in LAYOUTS.values():
        for agent in ("main", "Other One"):
            day = clock().date()
            for path, kind in (
                (layout.curated_page(agent), "page"),
                (layout.day_page(agent, day), "page"),
                (f"{layout.working_folder(agent)}/key.md", "record"),
                (layout.handoff_page(agent), "record"),
                (layout.activity_page(agent, day), "activity"),
                (layout.world_page("people"), "page"),
                (f"{layout.globals}/general/key.md", "record"),
                (f"{layout.channel_folder('x')}/key.md", "record"),
                (f"{layout.skills}/x/SKILL.md", "skill"),
                (f"{layout.agent_folder(agent)}/sessions/s.jsonl", "session"),
            ):
                place = layout.place(path)
                assert place is not None, path
                assert place.kind == kind, path
            assert layout.day_of(agent, layout.day_page(agent, day)) == "2026-03-14"


def test_directives_settings_and_hidden_files_are_no_memory() -> None:
    layout = LAYOUTS["native"]
    for path in ("directives/memory.md", "commonplace.yaml", ".index/x.md", "memory/.hidden.md", "agents/a/agent.yaml"):
        assert layout.place(path) is None


def open_memory(home: Path, layout: str, clock: FrozenClock) -> Memory:
    home.mkdir(exist_ok=True)
    (home / "commonplace.yaml").write_text(f"layout: {layout}\n")
    return Memory(home, clock=clock)


def test_a_home_of_agentool_opens_and_stays_in_its_form(home: Path, clock: FrozenClock) -> None:
    day = home / ".agent/memory/2026/03/13.md"
    day.parent.mkdir(parents=True)
    day.write_text(
        "### old\n\nkept\n\n<!-- agentool-memory: at=2026-03-13T10:00:00+00:00 tags=a -->\n\n### hand\n\nby hand\n"
    )
    (home / ".agent/memory/MEMORY.md").write_text(
        "### sum\n\nsummary\n\n<!-- agentool-memory: at=2026-03-01T00:00:00Z -->\n\n"
    )
    memory = open_memory(home, "agentool", clock)
    read = memory.call("memory_read", {"key": "old"})["data"]
    assert (read["content"], read["file"], read["kind"], read["tags"]) == ("kept", "2026/03/13.md", "daily", ["a"])
    assert memory.call("memory_read", {"key": "hand"})["data"]["content"] == "by hand"
    assert memory.call("memory_read", {"key": "sum"})["data"]["kind"] == "summary"
    assert memory.call("memory_write", {"key": "old", "content": "x"})["error"]["code"] == "MEMORY_KEY_EXISTS"
    assert memory.call("memory_write", {"key": "new", "content": "x"})["data"]["path"] == "2026/03/14.md"
    assert (home / ".agent/memory/2026/03/14.md").read_text().startswith("### new\n\nx\n\n<!-- agentool-memory: at=")
    hits = memory.call("memory_search", {"query": "kept"})["results"]
    assert hits[0]["path"] == ".agent/memory/2026/03/13.md"
    memory.call("remember", {"content": "an entry"})
    assert "an entry" in memory.call("recall")["content"]
    assert memory.call("write_memory", {"key": "k", "content": "### not a note"})["status"] == "ok"
    assert memory.call("memory_read", {"key": "not a note"})["error"]["code"] == "MEMORY_KEY_NOT_FOUND"


def test_a_home_of_duragent_opens_and_stays_in_its_form(home: Path, clock: FrozenClock) -> None:
    root = home / ".duragent"
    for path, text in {
        "memory/world/people.md": "Ann lives in Oslo.",
        "agents/scout/memory/MEMORY.md": "# What I know\n\nTea is best.",
        "agents/scout/memory/daily/2026-03-13.md": "# 2026-03-13\n\n## 10:00\nmet Ann\n",
        "agents/scout/agent.yaml": "apiVersion: x\nspec:\n  memory:\n    backend: filesystem\n  tools: [bash]\n",
        "directives/style.md": "Be brief.",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    open_memory(home, "duragent", clock)
    memory = Memory(home, agent="scout", clock=clock)
    content = memory.call("recall")["content"]
    assert "## people\n\nAnn lives in Oslo." in content
    assert "Tea is best." in content
    assert "met Ann" in content
    memory.call("update_world", {"topic": "Systems", "content": "db1"})
    assert (root / "memory/world/systems.md").read_text() == "db1"
    assert (root / "directives/memory.md").exists()
    assert "Be brief." in str(memory.context())
    assert memory.call("memory_search", {"query": "Oslo"})["results"][0]["path"] == ".duragent/memory/world/people.md"


def test_a_home_of_openclaw_opens_and_stays_in_its_form(home: Path, clock: FrozenClock) -> None:
    (home / "memory").mkdir(parents=True)
    (home / "MEMORY.md").write_text("# Long-term\n\nThe cat is called Miso.\n")
    (home / "memory/2026-03-13-walk.md").write_text("Walked along the river.\n")
    (home / "agents/main/sessions").mkdir(parents=True)
    (home / "agents/main/sessions/s.jsonl").write_text(
        json.dumps({"role": "user", "content": "I like rye bread"}) + "\n"
    )
    (home / "commonplace.yaml").write_text("layout: openclaw\nmemorySearch:\n  indexSessions: true\n")
    memory = Memory(home, clock=clock)
    assert "Miso" in memory.call("recall")["content"]
    assert "river" in memory.call("recall")["content"]
    memory.call("remember", {"content": "fed the cat"})
    assert (home / "memory/2026-03-14.md").read_text() == "# 2026-03-14\n\n## 09:26\n\nfed the cat\n\n"
    assert memory.call("memory_write", {"key": "k", "content": "v", "target": "summary"})["data"]["path"] == "MEMORY.md"
    assert memory.call("memory_write", {"key": "d", "content": "v"})["data"]["path"] == "memory/2026-03-14.md"
    assert memory.call("memory_search", {"query": "rye bread"})["results"][0]["source"] == "session"
    assert [hit["path"] for hit in memory.call("memory_search", {"query": "Miso"})["results"]] == ["MEMORY.md"]


def test_workspace_and_world_path_are_relative_to_the_settings_file(home: Path, clock: FrozenClock) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text("workspace: books\nworld_memory:\n  path: shared/facts\n")
    memory = Memory(home, clock=clock)
    memory.call("update_world", {"topic": "sea", "content": "salt water"})
    memory.call("reflect", {"content": "curated"})
    assert (home / "shared/facts/sea.md").read_text() == "salt water"
    assert (home / "books/agents/main/memory/MEMORY.md").read_text() == "curated"
    assert memory.call("memory_search", {"query": "salt"})["results"][0]["path"] == "shared/facts/sea.md"
    assert memory.call("memory_search", {"query": "salt"})["results"][0]["scope"] == "world"


@pytest.mark.parametrize("workspace", ["../elsewhere", "/etc"])
def test_a_workspace_outside_the_home_is_refused(home: Path, workspace: str) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text(f"# first\nworkspace: {workspace}\n")
    with pytest.raises(Exception, match=r"commonplace\.yaml:2: workspace.*outside the home"):
        Memory(home)


def test_what_a_path_means_is_found_once_for_all_agents_with_the_same_rules() -> None:
    path = "memory/world/people.md"
    assert Layout().place(path) is Layout().place(path)
    assert Layout(base=".elsewhere").place(path) != Layout().place(path)


# The folders that other systems' interfaces keep their files in: found, private where they should be, and archived.


def _write(home: Path, path: str, text: str) -> None:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_text(text, encoding="utf-8")


def test_any_file_below_memories_is_found_by_every_agent(tmp_path: Path) -> None:
    for name in ("tea.md", "tea.txt", "deep/tea.xml", "tea"):
        _write(tmp_path, f"memories/{name}", f"Ann drinks rooibos. ({name})\n")
    for agent in ("main", "other"):
        paths = {hit.path for hit in Memory(tmp_path, agent).search("rooibos")}
        assert paths == {"memories/tea.md", "memories/tea.txt", "memories/deep/tea.xml", "memories/tea"}


def test_the_memories_and_the_store_of_an_agent_are_its_own(tmp_path: Path) -> None:
    _write(tmp_path, "agents/main/claude/memories/tea.txt", "Ann drinks rooibos.\n")
    _write(tmp_path, "agents/main/store/users/ann/drink.md", "---\ncreated_at: 2026-01-01T00:00:00Z\n---\n\nrooibos\n")
    paths = {hit.path for hit in Memory(tmp_path).search("rooibos")}
    assert paths == {"agents/main/claude/memories/tea.txt", "agents/main/store/users/ann/drink.md"}
    assert Memory(tmp_path, "other").search("rooibos") == []


def test_hidden_files_below_memories_are_no_pages(tmp_path: Path) -> None:
    _write(tmp_path, "memories/.git/config", "rooibos\n")
    _write(tmp_path, "memories/.hidden.md", "rooibos\n")
    assert Memory(tmp_path).search("rooibos") == []


def test_a_store_key_is_never_mistaken_for_a_fixed_page() -> None:
    place = LAYOUTS["native"].place("agents/main/store/a/HANDOFF.md")
    assert place is not None
    assert (place.kind, place.name) == ("record", "HANDOFF")


def test_memories_travel_in_an_archive(tmp_path: Path, clock: FrozenClock) -> None:
    from commonplace.maintenance.backup import export_file, import_from

    _write(tmp_path / "a", "memories/tea.txt", "Ann drinks rooibos.\n")
    export_file(Memory(tmp_path / "a", clock=clock).home, str(tmp_path / "a.tar"))
    with open(tmp_path / "a.tar", "rb") as file:
        import_from(Memory(tmp_path / "b", clock=clock).home, file)
    assert (tmp_path / "b/memories/tea.txt").read_text() == "Ann drinks rooibos.\n"
