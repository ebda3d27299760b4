"""Homes of other systems, as their documents describe them: they open at once and whole."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from commonplace import Memory, SettingsError
from commonplace.errors import Refused
from commonplace.home import Home
from commonplace.importers import open_in_place
from commonplace.maintenance.backup import copy, export_to, import_from
from commonplace.surfaces.cli import cli
from commonplace.testing import FrozenClock

from .importers.sources import put, run_import, whys

BLOCK = "### editor\n\nvim\n\n<!-- agentool-memory: at=2026-01-02T03:04:05Z tags=tools -->\n\n"
TURN = json.dumps({"role": "user", "content": "I like rye bread"}) + "\n"


def files(folder: Path) -> list[str]:
    result = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in result if not path.startswith((".history/", ".index/", ".locks/")))


# agentool


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    put(tmp_path / "project", ".agent/memory/2026/01/02.md", BLOCK)
    put(tmp_path / "project", ".agent/memory/MEMORY.md", "### name\n\nAnn\n")
    put(tmp_path / "project", "src/main.py", "pass\n")
    return tmp_path / "project"


@pytest.mark.parametrize("part", ["", ".agent", ".agent/memory"])
def test_a_workspace_of_agentool_opens_by_its_folder_or_a_part_of_it(workspace: Path, part: str) -> None:
    memory = Memory(workspace / part)
    assert memory.call("memory_read", {"key": "editor"})["data"]["content"] == "vim"
    assert memory.status()["layout"] == "agentool"
    assert memory.home.root == str(workspace)


def test_the_memory_of_agentool_belongs_to_all_agents_of_its_workspace(workspace: Path) -> None:
    main = Memory(workspace)
    reviewer = Memory(workspace, agent="reviewer")
    assert reviewer.call("memory_read", {"key": "editor"})["data"]["content"] == "vim"
    taken = reviewer.call("memory_write", {"key": "editor", "content": "emacs"})
    assert taken["error"]["code"] == "MEMORY_KEY_EXISTS"
    reviewer.call("memory_write", {"key": "shell", "content": "zsh"})
    assert main.call("memory_read", {"key": "shell"})["data"]["content"] == "zsh"
    assert [hit.path for hit in reviewer.search("vim")] == [".agent/memory/2026/01/02.md"]


def test_the_memory_root_of_agentool_is_exactly_what_the_settings_name(tmp_path: Path, clock: FrozenClock) -> None:
    put(tmp_path, "commonplace.yaml", "layout: agentool\nmemory_dir: custom/mem\n")
    memory = Memory(tmp_path, clock=clock)
    assert memory.call("memory_write", {"key": "k", "content": "v"})["data"]["path"] == "2026/03/14.md"
    memory.call("memory_write", {"key": "s", "content": "v", "target": "summary"})
    assert {"custom/mem/2026/03/14.md", "custom/mem/MEMORY.md"} <= {*files(tmp_path)}
    assert {hit.path for hit in memory.search("v")} == {"custom/mem/2026/03/14.md", "custom/mem/MEMORY.md"}


def test_an_agent_of_agentool_can_have_a_root_of_its_own(tmp_path: Path, clock: FrozenClock) -> None:
    put(tmp_path, "commonplace.yaml", "memory_dir: mem\nagents:\n  scout:\n    memory_dir: mem/scout\n")
    main = Memory(tmp_path, clock=clock)
    scout = Memory(tmp_path, agent="scout", clock=clock)
    main.call("memory_write", {"key": "k", "content": "shared tea"})
    scout.call("memory_write", {"key": "k", "content": "private tea"})
    assert (tmp_path / "mem/scout/2026/03/14.md").exists()
    assert main.call("memory_read", {"key": "k"})["data"]["content"] == "shared tea"
    assert scout.call("memory_read", {"key": "k"})["data"]["content"] == "private tea"
    assert "private" not in str(main.search("tea"))


@pytest.mark.parametrize("text", ["../out", "/abs", "~/x", ".history/x", "."])
def test_a_memory_root_outside_of_the_workspace_is_an_error(tmp_path: Path, text: str) -> None:
    put(tmp_path, "commonplace.yaml", f"layout: agentool\nmemory_dir: {text}\n")
    with pytest.raises(SettingsError, match=r"commonplace\.yaml:2: memory_dir"):
        Memory(tmp_path)


def test_a_memory_root_in_another_layout_does_not_count_and_says_so(tmp_path: Path) -> None:
    put(tmp_path, "commonplace.yaml", "layout: native\nmemory_dir: mem\n")
    status = Memory(tmp_path).status()
    assert (status["layout"], "memory_dir counts only" in status["warnings"][0]) == ("native", True)


# duragent


@pytest.mark.parametrize(
    ("config", "workspace", "world"),
    [
        ("", ".duragent", ".duragent/memory/world"),
        ("workspace: ./state\n", "state", "state/memory/world"),
        ('workspace: "my state"\n', "my state", "my state/memory/world"),
        ("workspace: ../outside ws\n", "../outside ws", "../outside ws/memory/world"),
        ("world_memory:\n  path: custom/memory/world\n", ".duragent", "custom/memory/world"),
        ("workspace: ../ws\nworld_memory:\n  path: '../ws/facts of all'\n", "../ws", "../ws/facts of all"),
    ],
)
def test_duragent_keeps_its_memory_where_its_configuration_says(
    tmp_path: Path, config: str, workspace: str, world: str
) -> None:
    project = tmp_path / "project"
    put(project, "duragent.yaml", f"server:\n  port: 8080\n{config}")
    put(project, f"{world}/people.md", "Ann.")
    put(project, f"{workspace}/agents/scout/memory/MEMORY.md", "Scout's.")
    put(project, f"{workspace}/agents/scout/agent.yaml", "spec:\n  memory:\n    retention: 30\n")
    memory = Memory(project, agent="scout")
    recalled = memory.call("recall", {})["content"]
    assert "Ann." in recalled
    assert "Scout's." in recalled
    memory.call("update_world", {"topic": "tea", "content": "Green."})
    memory.call("remember", {"content": "Met Bob."})
    assert (project / world / "tea.md").read_text() == "Green."
    assert len([*(project / workspace / "agents/scout/memory/daily").iterdir()]) == 1
    done = run_import(tmp_path / "copy", project)
    assert {"memory/world/people.md", "memory/world/tea.md", "agents/scout/memory/MEMORY.md"} <= {*done.added}


@pytest.mark.parametrize("config", ["workspace: .\n", "workspace: ./\n", "server: {port: 1}\n"])
def test_duragent_in_the_folder_itself_keeps_its_layout_once_we_wrote_there(tmp_path: Path, config: str) -> None:
    put(tmp_path, "duragent.yaml", f"{config}world_memory:\n  path: shared\n")
    (tmp_path / "agents/scout").mkdir(parents=True)
    with Memory(tmp_path, agent="scout") as memory:
        memory.call("remember", {"content": "Met Bob."})
        memory.call("update_world", {"topic": "tea", "content": "Green."})
    memory = Memory(tmp_path, agent="scout")
    status = memory.status()
    assert (status["layout"], [each for each in status["warnings"] if "home" in each]) == ("duragent", [])
    assert "Green." in memory.call("recall", {})["content"]


def test_a_world_folder_outside_of_the_home_is_reported_and_imported(tmp_path: Path) -> None:
    put(tmp_path / "project", "duragent.yaml", "world_memory:\n  path: ../world\n")
    put(tmp_path / "project", ".duragent/agents/scout/memory/MEMORY.md", "Scout's.")
    put(tmp_path / "world", "people.md", "Ann.")
    with pytest.raises(SettingsError, match=r"duragent\.yaml: world_memory\.path leads to .*world.*commonplace import"):
        Memory(tmp_path / "project")
    done = run_import(tmp_path / "copy", tmp_path / "project")
    assert sorted(done.added) == ["agents/scout/memory/MEMORY.md", "memory/world/people.md"]


def test_the_workspace_itself_means_the_home_it_belongs_to(tmp_path: Path) -> None:
    put(tmp_path, "duragent.yaml", "workspace: state\nworld_memory: {path: facts}\n")
    put(tmp_path, "state/agents/scout/memory/MEMORY.md", "Scout's.")
    put(tmp_path, "facts/tea.md", "Green.")
    memory = Memory(tmp_path / "state", agent="scout")
    assert memory.home.root == str(tmp_path)
    assert "Green." in memory.call("recall", {})["content"]


def test_a_configuration_that_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    put(tmp_path, "duragent.yaml", "workspace: [\n")
    with pytest.raises(SettingsError, match=r"duragent\.yaml:1: not valid YAML"):
        Memory(tmp_path)


# OpenClaw, Clawdbot, Moltbot


def make_clawdbot(folder: Path) -> Path:
    put(folder, "MEMORY.md", "# Main\n\nThe cat is called Miso.\n")
    put(folder, "memory/notes.md", "The garden needs water.\n")
    put(folder, "memory/preferences.md", "Prefers Rust.\n")
    put(folder, "agents/scout/MEMORY.md", "Scout's own.\n")
    put(folder, "agents/main/sessions/s.jsonl", TURN)
    put(folder, "docs/handbook.md", "Deploys are on Thursdays.\n")
    put(folder, "agent-notes/scout.md", "Trails are muddy in autumn.\n")
    return folder


@pytest.mark.parametrize("name", [".clawdbot", "any-name"])
def test_a_tree_of_clawdbot_opens_without_any_configuration(tmp_path: Path, name: str) -> None:
    home = make_clawdbot(tmp_path / name)
    for _ in range(2):
        memory = Memory(home)
        assert "Miso" in memory.call("recall", {})["content"]
        assert "Scout's own." in Memory(home, agent="scout").call("recall", {})["content"]
        memory.call("reflect", {"content": "The cat is called Miso, the dog Rex.\n"})
    assert (home / "MEMORY.md").read_text() == "The cat is called Miso, the dog Rex.\n"
    kind, folder, created = open_in_place(str(home))
    assert (kind.name, folder, created) == ("openclaw", str(home), False)


MOLTBOT = """\
gateway: {port: 18789}
memorySearch:
  enabled: true
  provider: gemini
  model: text-embedding-3-small
  remote: {baseUrl: "https://evil.example", apiKey: k}
  extraPaths:
    - docs/*.md
    - /etc/*.md
  indexSessions: true
  maxResults: 3
  minScore: 0.01
  sessionKey: agent:main:telegram
agents:
  scout:
    memorySearch:
      extraPaths:
        - agent-notes/*.md
"""
CLAWDBOT = """// written by hand
{
  gateway: { port: 18789, },
  memorySearch: {
    provider: 'gemini', extraPaths: ['docs/*.md', '/etc/*.md'], indexSessions: true,
    maxResults: 3, minScore: 0.01, sessionKey: "agent:main:telegram",
  },
  agents: { list: [{ id: 'scout', memorySearch: { extraPaths: ['agent-notes/*.md'], }, }], },
}
"""


@pytest.mark.parametrize(
    ("file", "text"), [("moltbot.yaml", MOLTBOT), ("clawdbot.json", CLAWDBOT), ("openclaw.json", CLAWDBOT)]
)
def test_the_configuration_beside_the_pages_is_read(tmp_path: Path, file: str, text: str) -> None:
    home = make_clawdbot(tmp_path / "home")
    put(home, file, text)
    memory = Memory(home)
    scout = Memory(home, agent="scout")
    assert memory.search("when are deploys")[0].path == "docs/handbook.md"
    assert memory.search("rye bread")[0].source == "session"
    assert "muddy" not in str(memory.search("muddy trails"))
    assert scout.search("muddy trails")[0].path == "agent-notes/scout.md"
    assert scout.search("when are deploys")[0].path == "docs/handbook.md"
    search = memory.home.settings.search
    assert (search.max_results, search.min_score, search.base_url) == (3, 0.01, "")
    assert memory.home.session == "agent:main:telegram"
    reply = memory.call("memory_search", {"query": "deploys"})
    assert (reply["provider"], reply["fallback"]) == ("static", True)
    assert "gemini" in reply["warning"]
    assert scout.call("memory_search", {"query": "deploys"})["fallback"]
    assert any("/etc/*.md" in warning for warning in memory.status()["warnings"])


@pytest.mark.parametrize("value", ["[]", "{}", "3", "null", '"\\0"', "[[1]]", "[{}, null]"])
def test_values_that_make_no_sense_are_left_out(tmp_path: Path, value: str) -> None:
    keys = ("enabled", "provider", "model", "extraPaths", "indexSessions", "maxResults", "minScore", "sessionKey")
    search = ", ".join(f"{key}: {value}" for key in keys)
    agents = f"{{a: {value}, list: [{value}, {{id: {value}}}], defaults: {value}, ops: {{memorySearch: {{{search}}}}}}}"
    put(tmp_path, "openclaw.json", f"{{workspace: {value}, memorySearch: {{{search}}}, agents: {agents}}}")
    put(tmp_path, "MEMORY.md", "Miso.\n")
    assert "Miso." in Memory(tmp_path, agent="ops").call("memory_get", {"path": "MEMORY.md"})["text"]
    assert [hit.path for hit in Memory(tmp_path).search("Miso", limit=3, min_score=0)] == ["MEMORY.md"]


def test_settings_of_our_own_count_more_than_those_of_another_system(tmp_path: Path) -> None:
    home = make_clawdbot(tmp_path / "home")
    put(home, "moltbot.yaml", MOLTBOT)
    put(home, "commonplace.yaml", "memorySearch:\n  provider: static\n  maxResults: 1\n")
    settings = Memory(home).home.settings
    assert (settings.layout, settings.search.max_results, settings.search.min_score) == ("openclaw", 1, 0.01)


def test_the_state_folder_of_openclaw_opens_with_workspaces_and_sessions(tmp_path: Path) -> None:
    home = tmp_path / ".openclaw"
    config = "{agents: {defaults: {workspace: '~/.openclaw/workspace', memorySearch: {sources: ['sessions']}}}}"
    put(home, "openclaw.json", config)
    put(home, "workspace/MEMORY.md", "Miso is a cat.\n")
    put(home, "workspace/SOUL.md", "Be kind.\n")
    put(home, "workspace-ops/MEMORY.md", "Keep it running.\n")
    put(home, "workspace-ops/memory/2026-01-02.md", "Rebooted the printer.\n")
    put(home, "agents/main/sessions/s.jsonl", TURN)
    memory = Memory(home)
    ops = Memory(home, agent="ops")
    assert "Miso" in memory.call("recall", {})["content"]
    assert memory.search("rye bread")[0].path == "agents/main/sessions/s.jsonl"
    assert "Keep it running." in ops.call("recall", {})["content"]
    assert ops.search("printer")[0].path == "workspace-ops/memory/2026-01-02.md"
    assert not [hit for hit in memory.search("printer") if "ops" in hit.path]
    memory.call("remember", {"content": "Fed the cat."})
    assert any("Fed the cat." in page.read_text() for page in (home / "workspace/memory").glob("*.md"))
    assert open_in_place(str(home))[1:] == (str(home), False)
    assert Memory(home / "workspace").home.root == str(home)


def test_every_file_of_an_openclaw_home_is_brought_or_named(home: Path, tmp_path: Path) -> None:
    source = make_clawdbot(tmp_path / ".clawdbot")
    put(source, "clawdbot.json", "{}")
    put(source, "agents/scout/agent/auth.json", "{}")
    put(source, "agents/scout/sessions/empty.jsonl", "")
    put(source, "media/cat.png", b"\x89PNG")
    done = run_import(home, source)
    assert (home / "agents/scout/memory/MEMORY.md").read_text() == "Scout's own.\n"
    missing = whys(done)
    assert sorted(missing) == [
        "agent-notes/scout.md",
        "agents/scout/agent/auth.json",
        "agents/scout/sessions/empty.jsonl",
        "clawdbot.json",
        "docs/handbook.md",
        "media/cat.png",
    ]
    assert "configuration" in missing["clawdbot.json"]
    assert len(files(source)) == len(done.added) + len(missing)


def test_a_home_from_before_keeps_its_layout_and_says_what_is_beside_it(tmp_path: Path) -> None:
    Memory(tmp_path).call("remember", {"content": "Native."})
    put(tmp_path, ".agent/memory/MEMORY.md", "### k\n\nv\n")
    status = Memory(tmp_path).status()
    assert status["layout"] == "native"
    assert "also holds a home of agentool" in status["warnings"][0]


@pytest.mark.parametrize("place", ["", ".commonplace"])
@pytest.mark.parametrize(("file", "text"), [("moltbot.yaml", MOLTBOT), ("openclaw.json", CLAWDBOT)])
def test_a_memory_of_ours_is_searched_as_a_configuration_beside_it_or_in_it_says(
    tmp_path: Path, place: str, file: str, text: str
) -> None:
    home = tmp_path / ".commonplace"
    put(home, "commonplace.yaml", "timezone: Europe/Berlin\nmemorySearch: {minScore: 0.02}\n")
    put(tmp_path / place, file, text)
    with Memory(home) as memory:
        memory.call("remember", {"content": "Miso is a cat."})
    memory = Memory(home)
    settings = memory.home.settings
    assert (settings.layout, settings.workspace, settings.timezone) == ("native", "", "Europe/Berlin")
    assert (settings.search.max_results, settings.search.min_score) == (3, 0.02)
    assert (home / "agents/main/memory/daily").is_dir()
    extra = [each for each in memory.status()["warnings"] if "docs/*.md" in each]
    assert (settings.search.extra_paths, extra) == (("docs/*.md",), []) if place else extra


def test_a_configuration_beside_a_memory_of_ours_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    home = tmp_path / ".commonplace"
    put(tmp_path, "moltbot.yaml", "memorySearch: [1\n")
    put(home, "memory/cats.md", "Miso is a cat.\n")
    memory = Memory(home)
    assert any("moltbot.yaml" in each for each in memory.status()["warnings"])
    assert memory.search("Miso")


def test_a_configuration_found_beside_a_memory_chooses_no_provider(tmp_path: Path) -> None:
    put(tmp_path, "moltbot.yaml", "memorySearch: {provider: openai, maxResults: 3}\n")
    put(tmp_path, ".commonplace/memory/cats.md", "Miso is a cat.\n")
    home = Home(str(tmp_path / ".commonplace"), is_found=True)
    assert home.search_settings.max_results == 3
    assert home.provider_choice.refusal


def test_ordinary_folders_of_ours_stay_native(tmp_path: Path) -> None:
    put(tmp_path, "agents/main/sessions/s.jsonl", TURN)
    put(tmp_path, "memory/2026-01-02.md", "A loose page.\n")
    put(tmp_path, "agents/main/memory/MEMORY.md", "Mine.\n")
    assert Memory(tmp_path).status()["layout"] == "native"


@pytest.mark.parametrize("name", [".openclaw", ".clawdbot", ".moltbot"])
def test_a_folder_that_holds_a_state_folder_of_openclaw_means_that_folder(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{name}/workspace/MEMORY.md", "Miso is a cat.\n")
    memory = Memory(tmp_path)
    assert "Miso" in memory.call("recall", {})["content"]
    assert memory.home.root == str(tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_memory_of_ours_beside_a_state_folder_of_openclaw_stays_ours(tmp_path: Path) -> None:
    Memory(tmp_path).call("remember", {"content": "Rex is a dog."})
    put(tmp_path, ".openclaw/workspace/MEMORY.md", "Miso is a cat.\n")
    assert "Rex" in Memory(tmp_path).call("recall", {})["content"]


def test_a_tree_of_sessions_alone_is_a_home_beside_which_none_is_made(tmp_path: Path) -> None:
    put(tmp_path, "agents/scout/sessions/s.jsonl", TURN)
    done = CliRunner().invoke(cli, ["init", str(tmp_path)])
    assert "a home of openclaw, which is used in place" in done.output
    assert not (tmp_path / ".commonplace").exists()
    assert Memory(tmp_path, agent="scout").status()["layout"] == "openclaw"


def test_the_home_of_another_system_moves_by_an_archive_and_by_a_copy(workspace: Path, tmp_path: Path) -> None:
    archive = io.BytesIO()
    export_to(Home(str(workspace)), archive)
    archive.seek(0)
    import_from(Home(str(tmp_path / "restored")), archive)
    copy(Home(str(workspace)), Home(str(tmp_path / "copied")))
    assert not (workspace / "commonplace.yaml").exists()
    for name in ("restored", "copied"):
        assert (tmp_path / name / "commonplace.yaml").read_text() == 'layout: "agentool"\n'
        assert Memory(tmp_path / name).call("memory_read", {"key": "editor"})["data"]["content"] == "vim"


def test_a_home_that_no_settings_describe_is_not_exported_but_imported(tmp_path: Path) -> None:
    put(tmp_path / ".openclaw", "workspace/MEMORY.md", "Miso.\n")
    with pytest.raises(Refused, match="commonplace import"):
        export_to(Home(str(tmp_path / ".openclaw")), io.BytesIO())
    assert run_import(tmp_path / "new", tmp_path / ".openclaw").added == ("agents/main/memory/MEMORY.md",)


def test_a_number_in_quotes_is_read_as_a_number_with_a_warning(tmp_path: Path) -> None:
    home = make_clawdbot(tmp_path / "home")
    put(home, "openclaw.json", '{memorySearch: {maxResults: "3", minScore: "0.01"}}')
    settings = Memory(home).home.settings
    assert (settings.search.max_results, settings.search.min_score) == (3, 0.01)
    assert any("maxResults is in quotes" in warning for warning in settings.warnings)


def test_a_workspace_that_is_not_there_is_pointed_out(tmp_path: Path) -> None:
    put(tmp_path, "duragent.yaml", "workspace: ./work\n")
    assert "which does not exist" in str(Memory(tmp_path).home.settings.warnings)
    assert Memory(tmp_path).home.settings.warnings == ()
