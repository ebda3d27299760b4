"""install: every client's own configuration, merged with what is there, and given back as it was."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click.testing
import jsonschema
import pytest
import yaml

from commonplace.errors import CommonplaceError, Conflict, InvalidArgument, Refused, SettingsError, StorageError
from commonplace.surfaces.cli import cli
from commonplace.surfaces.install import files, jsonc, plan
from commonplace.surfaces.install.clients import CLIENTS, Where, config_file, hooks_file
from commonplace.trust import record_made

PROGRAM = ["/opt/commonplace"]


class Desk:
    """Somebody's home folder, with a project in it, and the command run there."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.user, self.project = folder / "user", folder / "project"
        for each in (self.user, self.project):
            each.mkdir()
        for name in ("COMMONPLACE_HOME", "COMMONPLACE_AGENT", "XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(self.user))
        monkeypatch.chdir(self.project)

    def run(self, *arguments: str) -> str:
        done = click.testing.CliRunner().invoke(cli, ["install", *arguments])
        if isinstance(done.exception, CommonplaceError):
            raise done.exception
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    def file(self, path: str, text: str = "") -> Path:
        """A file of the user's, with its folders; with a text, it is written."""
        place = self.user / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if text:
            place.write_text(text)
        return place

    def every(self) -> dict[str, bytes]:
        """All files there are, but for our copies."""
        result = (each for each in [*self.user.rglob("*"), *self.project.rglob("*")] if each.is_file())
        return {str(each): each.read_bytes() for each in result if files.BACKUP not in each.name}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def server(**fields: Any) -> dict[str, Any]:
    """The schema of an entry that has exactly these fields."""
    names = {"type": "object", "required": [*fields], "additionalProperties": False, "properties": fields}
    return {"type": "object", "required": ["commonplace"], "properties": {"commonplace": names}}


def under(*keys: str, schema: dict[str, Any]) -> dict[str, Any]:
    for key in reversed(keys):
        schema = {"type": "object", "required": [key], "properties": {key: schema}}
    return schema


TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
WORDS: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
PLAIN = server(command=TEXT, args=WORDS)
# What each client's own documentation says of a local server; the page is named where it is not `mcpServers` as such.
SHAPES = {
    # "Claude Code: connect to tools via MCP": .mcp.json and ~/.claude.json have mcpServers with type stdio.
    "claude-code": under("mcpServers", schema=server(type={"const": "stdio"}, command=TEXT, args=WORDS)),
    # modelcontextprotocol.io, "Connect to local MCP servers".
    "claude-desktop": under("mcpServers", schema=PLAIN),
    # "Codex: Model Context Protocol": a table [mcp_servers.NAME] in config.toml.
    "codex": under("mcp_servers", schema=PLAIN),
    "cursor": under("mcpServers", schema=PLAIN),
    # "VS Code: MCP configuration reference": `servers`, and `type` is required.
    "vscode": under("servers", schema=server(type={"const": "stdio"}, command=TEXT, args=WORDS)),
    "vscode-insiders": under("servers", schema=server(type={"const": "stdio"}, command=TEXT, args=WORDS)),
    "windsurf": under("mcpServers", schema=PLAIN),
    # "Zed: Model Context Protocol", as custom servers.
    "zed": under("context_servers", schema=PLAIN),
    "gemini-cli": under("mcpServers", schema=PLAIN),
    # "Extending Copilot coding agent with MCP": type, command, args and tools are required.
    "copilot-cli": under(
        "mcpServers", schema=server(type={"const": "local"}, command=TEXT, args=WORDS, tools={"const": ["*"]})
    ),
    # opencode.ai, "MCP servers": one list of words, and nothing called args.
    "opencode": under("mcp", schema=server(type={"const": "local"}, command=WORDS, enabled={"const": True})),
    "cline": under("mcpServers", schema=PLAIN),
    "roo-code": under("mcpServers", schema=PLAIN),
    "kiro": under("mcpServers", schema=PLAIN),
    "lm-studio": under("mcpServers", schema=PLAIN),
    # goose, "Configuration files": the settings of a stdio extension.
    "goose": under(
        "extensions",
        schema=server(
            name={"const": "commonplace"}, description=TEXT, type={"const": "stdio"}, enabled={"const": True},
            cmd=TEXT, args=WORDS, envs={"type": "object"}, timeout={"type": "integer"},
        ),
    ),
}  # fmt: skip


def group_hooks(*events: str, timeout: dict[str, Any], **more: Any) -> dict[str, Any]:
    hook = {
        "type": "object", "required": ["type", "command", "timeout"], "additionalProperties": False,
        "properties": {"type": {"const": "command"}, "command": TEXT, "timeout": timeout, **more},
    }  # fmt: skip
    groups = {"type": "array", "items": {"type": "object", "required": ["hooks"], "properties": {"hooks": {"type": "array", "items": hook}}}}  # fmt: skip
    return under("hooks", schema={"type": "object", "required": [*events], "properties": dict.fromkeys(events, groups)})


SECONDS, MILLISECONDS = {"type": "integer", "maximum": 60}, {"type": "integer", "minimum": 1000}
FLAT = {"type": "array", "items": {"type": "object", "required": ["command"], "properties": {"command": TEXT, "timeout": SECONDS}}}  # fmt: skip
HOOK_SHAPES = {
    # "Claude Code: hooks reference": events with groups of commands; timeouts in seconds.
    "claude-code": group_hooks("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd", timeout=SECONDS),
    # "Codex: hooks": hooks.json beside config.toml, in the same shape.
    "codex": group_hooks("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", timeout=SECONDS),
    # "Cursor: hooks": a version, and flat entries under names that begin small.
    "cursor": {
        "type": "object", "required": ["version", "hooks"],
        "properties": {
            "version": {"const": 1},
            "hooks": {
                "required": ["sessionStart", "beforeSubmitPrompt", "sessionEnd"],
                "properties": {"sessionStart": FLAT, "beforeSubmitPrompt": FLAT, "sessionEnd": FLAT},
            },
        },
    },
    # "Gemini CLI: hooks reference": timeouts in milliseconds, and a name.
    "gemini-cli": group_hooks(
        "SessionStart", "BeforeAgent", "PreCompress", "SessionEnd", timeout=MILLISECONDS, name=TEXT
    ),
}  # fmt: skip
READERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}


def test_every_client_is_written_down_here() -> None:
    assert [*SHAPES] == [*CLIENTS]
    assert [*HOOK_SHAPES] == [name for name, client in CLIENTS.items() if client.hooks]


@pytest.mark.parametrize(("name", "scope"), [(n, s) for n, client in CLIENTS.items() for s in client.scopes])
def test_what_is_written_has_the_shape_that_the_client_documents(desk: Desk, name: str, scope: str) -> None:
    client = CLIENTS[name]
    desk.run(name, "--scope", scope)
    where = Where("linux", str(desk.user), {}, str(desk.project))
    written = Path(config_file(client, scope, where)).read_text()
    jsonschema.validate(READERS[client.form](written), SHAPES[name])
    if client.hooks:
        hooks = json.loads(Path(hooks_file(client.hooks, scope, where)).read_text())
        jsonschema.validate(hooks, HOOK_SHAPES[name])


@pytest.mark.parametrize("name", CLIENTS)
def test_twice_changes_nothing_and_removing_gives_everything_back(desk: Desk, name: str) -> None:
    before = desk.every()
    desk.run(name)
    once = desk.every()
    assert once != before
    assert "nothing to change" in desk.run(name)
    assert desk.every() == once
    desk.run(name, "--remove")
    assert desk.every() == before
    assert "nothing to change" in desk.run(name, "--remove")


THEIRS = {
    "json": '{\n    // mine\n    "theme": "dark", /* as ever */\n    "mcpServers": {\n        "other": {"command": "x"}\n    },\n}\n',
    "toml": '# mine\nmodel = "o3"\n\n[mcp_servers.other] # keep\ncommand = "x"\n\n# the end\n[tui]\ntheme = "dark"\n',
    "yaml": '# mine\nGOOSE_MODEL: "x"\n\nextensions: # all of them\n    # first\n    developer:\n        type: builtin\n\nother: 1\n',
}


@pytest.mark.parametrize("name", CLIENTS)
def test_what_people_wrote_stays_and_comes_back_to_the_byte(desk: Desk, name: str) -> None:
    client = CLIENTS[name]
    path = Path(config_file(client, "user", Where("linux", str(desk.user), {})))
    path.parent.mkdir(parents=True, exist_ok=True)
    theirs = THEIRS[client.form].replace("mcpServers", client.servers[0])
    path.write_bytes(theirs.encode())
    desk.run(name)
    written = path.read_text()
    assert all(line.strip(",") in written for line in theirs.split("\n"))
    assert Path(f"{path}{files.BACKUP}").read_bytes() == theirs.encode()
    read = jsonc.parse if client.form == "json" else READERS[client.form]
    assert {"commonplace"} < {*read(written)[client.servers[0]]}
    desk.run(name, "--remove")
    assert path.read_bytes() == theirs.encode()


@pytest.mark.parametrize("name", ["cursor", "codex", "goose"])
@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "{theirs}"])
def test_a_file_that_is_empty_or_has_no_line_end_comes_back_as_well(desk: Desk, name: str, text: str) -> None:
    path = Path(config_file(CLIENTS[name], "user", Where("linux", str(desk.user), {})))
    path.parent.mkdir(parents=True, exist_ok=True)
    before = text.replace("{theirs}", THEIRS[CLIENTS[name].form].rstrip("\n")).encode()
    path.write_bytes(before)
    desk.run(name)
    assert b"commonplace" in path.read_bytes()
    desk.run(name, "--remove")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["claude-code", "codex", "goose"])
def test_removing_leaves_what_was_changed_since(desk: Desk, name: str) -> None:
    client = CLIENTS[name]
    path = Path(config_file(client, "user", Where("linux", str(desk.user), {})))
    path.parent.mkdir(parents=True, exist_ok=True)
    theirs = THEIRS[client.form].replace("mcpServers", client.servers[0])
    path.write_text(theirs)
    desk.run(name)
    path.write_text(path.read_text().replace("# mine", "# yours").replace("// mine", "// yours"))
    desk.run(name, "--remove")
    assert path.read_text() == theirs.replace("# mine", "# yours").replace("// mine", "// yours")


def test_other_options_change_our_entry_and_keep_what_was_added_to_it(desk: Desk) -> None:
    desk.run("claude-code")
    path = desk.user / ".claude.json"
    path.write_text(path.read_text().replace('"type": "stdio",', '"type": "stdio",\n      "env": {"A": "1"}, // mine'))
    desk.run("claude-code", "--tools", "notes, journal", "--agent", "scout")
    entry = jsonc.parse(path.read_text())["mcpServers"]["commonplace"]
    assert entry["env"] == {"A": "1"}
    assert "// mine" in path.read_text()
    assert entry["args"] == [
        "mcp",
        "--home",
        str(desk.user / ".commonplace"),
        "--agent",
        "scout",
        "--tools",
        "notes,journal",
    ]
    toml = desk.file(".codex/config.toml")
    desk.run("codex")
    toml.write_text(toml.read_text() + "startup_timeout_sec = 20 # slow\n\n[mcp_servers.commonplace.env]\nA = '1'\n")
    desk.run("codex", "--tools", "notes")
    commonplace = tomllib.loads(toml.read_text())["mcp_servers"]["commonplace"]
    assert commonplace["args"][-2:] == ["--tools", "notes"]
    assert (commonplace["startup_timeout_sec"], commonplace["env"]) == (20, {"A": "1"})
    assert "# slow" in toml.read_text()
    desk.run("codex", "--remove")
    assert not tomllib.loads(toml.read_text())


def test_hooks_of_others_stay_and_ours_are_changed_where_they_are(desk: Desk) -> None:
    path = desk.file(".claude/settings.json")
    theirs = '{"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "date"}]}]}, "model": "x"}'
    path.write_text(theirs)
    desk.run("claude-code")
    groups = json.loads(path.read_text())["hooks"]["SessionStart"]
    assert groups[0]["hooks"][0]["command"] == "date"
    assert " hook session-start --client claude-code " in groups[1]["hooks"][0]["command"]
    desk.run("claude-code", "--budget", "300")
    groups = json.loads(path.read_text())["hooks"]["SessionStart"]
    assert len(groups) == 2
    assert groups[1]["hooks"][0]["command"].endswith("--budget 300")
    # somebody puts a hook of their own beside ours
    document = json.loads(path.read_text())
    document["hooks"]["SessionEnd"][0]["hooks"].append({"type": "command", "command": "sync"})
    path.write_text(json.dumps(document, indent=2))
    desk.run("claude-code", "--remove")
    left = json.loads(path.read_text())
    assert left == json.loads(theirs) | {
        "hooks": {**json.loads(theirs)["hooks"], "SessionEnd": [{"hooks": [{"type": "command", "command": "sync"}]}]}
    }


def test_hooks_of_an_older_installation_are_brought_up_to_date(desk: Desk) -> None:
    def group(hook: str) -> list[dict[str, Any]]:
        return [{"hooks": [{"type": "command", "command": f"/old/commonplace hook {hook}", "timeout": 10}]}]

    old = {
        "SessionStart": group("session-start"),
        "PreCompact": group("session-end"),
        "SessionEnd": group("session-end"),
    }
    path = desk.file(".claude/settings.json", json.dumps({"hooks": old, "model": "x"}))
    desk.run("claude-code")
    hooks = json.loads(path.read_text())["hooks"]
    commands = {
        event: [hook["command"] for each in groups for hook in each["hooks"]] for event, groups in hooks.items()
    }
    assert {event: len(each) for event, each in commands.items()} == dict.fromkeys(commands, 1)
    assert " hook pre-compact " in commands["PreCompact"][0]
    assert " hook prompt " in commands["UserPromptSubmit"][0]
    desk.run("claude-code", "--remove")
    assert json.loads(path.read_text()) == {"model": "x"}


def test_without_hooks_only_the_server_is_written(desk: Desk) -> None:
    desk.run("claude-code", "--no-hooks")
    assert [*desk.every()] == [str(desk.user / ".claude.json")]


def test_print_shows_everything_and_changes_nothing(desk: Desk) -> None:
    output = desk.run("gemini-cli", "--print")
    path = desk.user / ".gemini/settings.json"
    assert output.startswith(f"# {path}\n")
    jsonschema.validate(json.loads(output.partition("\n")[2]), SHAPES["gemini-cli"])
    assert desk.every() == {}
    data = json.loads(desk.run("zed", "--print", "--json", "--file", "elsewhere/settings.json"))
    assert data["files"][0]["path"] == str(desk.project / "elsewhere/settings.json")
    assert desk.every() == {}
    path.parent.mkdir()
    path.write_text("{broken")
    assert '"commonplace"' in desk.run("gemini-cli", "--print")
    assert path.read_text() == "{broken"


def test_a_project_with_a_memory_of_its_own_is_configured_by_itself(desk: Desk) -> None:
    (desk.project / ".commonplace").mkdir()
    record_made(str(desk.project / ".commonplace"))
    assert str(desk.project / ".mcp.json") in desk.run("claude-code")
    entry = json.loads((desk.project / ".mcp.json").read_text())["mcpServers"]["commonplace"]
    assert entry["args"] == ["mcp"]  # found there like git finds its own
    assert "--home" not in (desk.project / ".claude/settings.local.json").read_text()
    desk.run("cursor")
    entry = json.loads((desk.project / ".cursor/mcp.json").read_text())["mcpServers"]["commonplace"]
    assert entry["args"] == ["mcp", "--home", str(desk.project / ".commonplace")]
    desk.run("claude-code", "--scope", "user", "--home", "elsewhere")
    entry = json.loads((desk.user / ".claude.json").read_text())["mcpServers"]["commonplace"]
    assert entry["args"] == ["mcp", "--home", str(desk.project / "elsewhere")]
    with pytest.raises(InvalidArgument, match="no configuration for one project"):
        desk.run("windsurf", "--scope", "project")


def test_in_the_users_own_folder_the_users_own_configuration_is_meant(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.user / ".commonplace").mkdir()
    monkeypatch.chdir(desk.user)
    desk.run("claude-code")
    assert (desk.user / ".claude.json").exists()
    assert not (desk.user / ".mcp.json").exists()


def test_a_link_stays_a_link_and_rights_stay_as_they_are(desk: Desk) -> None:
    dotfiles = desk.file("dotfiles/mcp.json", "{}\n")
    dotfiles.chmod(0o640)
    link = desk.file(".cursor/mcp.json")
    link.symlink_to("../dotfiles/mcp.json")
    desk.run("cursor")
    assert link.is_symlink()
    assert "commonplace" in dotfiles.read_text()
    assert stat.S_IMODE(dotfiles.stat().st_mode) == 0o640
    assert stat.S_IMODE(Path(f"{link}{files.BACKUP}").stat().st_mode) == 0o640
    desk.run("cursor", "--remove")
    assert link.is_symlink()
    assert dotfiles.read_text() == "{}\n"
    (desk.project / "open").mkdir(mode=0o755)
    desk.run("kiro", "--file", "open/mcp.json")
    assert stat.S_IMODE((desk.project / "open/mcp.json").stat().st_mode) == 0o644


@pytest.mark.parametrize("link", [".mcp.json", ".claude"])
def test_a_link_in_a_project_changes_and_copies_no_file_outside_of_it(desk: Desk, link: str) -> None:
    (desk.user / ".claude").mkdir()
    (desk.user / ".claude" / "settings.local.json").write_text('{"precious": 1}\n')
    (desk.project / link).symlink_to(desk.user / (".claude" if link == ".claude" else ".claude/settings.local.json"))
    with pytest.raises(Refused, match="outside of this project: put a file of the project in its place"):
        desk.run("claude-code", "--scope", "project")
    assert (desk.user / ".claude" / "settings.local.json").read_text() == '{"precious": 1}\n'
    assert not list(desk.project.glob("*backup*"))


def test_an_older_copy_is_never_written_over(desk: Desk) -> None:
    path = desk.file(".cursor/mcp.json", '{"a": 1}')
    desk.run("cursor")
    desk.run("cursor", "--remove")
    path.write_text('{"a": 2}')
    desk.run("cursor")
    desk.run("cursor", "--remove")
    copies = sorted(each.name for each in path.parent.iterdir() if files.BACKUP in each.name)
    assert Path(f"{path}{files.BACKUP}").read_text() == '{"a": 1}'
    assert path.read_text() == '{"a": 2}'
    assert len(copies) == len({(path.parent / name).read_bytes() for name in copies})


@pytest.mark.parametrize("name", CLIENTS)
def test_removing_what_was_made_only_for_us_gives_the_folder_back_as_it_was(desk: Desk, name: str) -> None:
    def there() -> list[Path]:
        return [*desk.user.rglob("*"), *desk.project.rglob("*")]

    before = there()
    desk.run(name)
    desk.run(name, "--tools", "notes")  # with a copy of what was only ours
    assert there() != before
    desk.run(name, "--remove")
    assert there() == before


def test_what_people_added_to_our_entry_is_kept_in_a_copy_when_it_goes(desk: Desk) -> None:
    desk.run("cursor")
    path = desk.user / ".cursor/mcp.json"
    theirs = path.read_text().replace('"command"', '"env": {"KEY": "mine"},\n      "command"')
    path.write_text(theirs)
    assert files.BACKUP in desk.run("cursor", "--remove")
    assert not path.exists() or "commonplace" not in path.read_text()
    assert Path(f"{path}{files.BACKUP}").read_text() == theirs


BROKEN = [
    ("cursor", '{\n  "mcpServers": {\n    "x": 1\n    "y": 2\n  }\n}', "mcp.json:4: a comma or } is missing"),
    ("cursor", '{"mcpServers": [1]}', "mcp.json:1: mcpServers must be an object there"),
    ("cursor", '{"mcpServers": {"commonplace": "mine"}}', "mcp.json:1: mcpServers.commonplace must be an object there"),
    ("cursor", "[1, 2]", "mcp.json:1: the file must be an object there"),
    ("cursor", '{"a": "\udcff"}', "mcp.json: not UTF-8 text"),
    ("codex", "model = 'x'\nmodel = 'y'\n", "config.toml:2: Cannot overwrite a value"),
    ("codex", "[mcp_servers\n", "config.toml:1: "),
    ("goose", "a: 1\nb: [1\nc: 2\n", "config.yaml:"),
    ("goose", "- a\n- b\n", "config.yaml:1: the file must be a mapping"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "output"), BROKEN)
def test_a_file_that_cannot_be_understood_is_refused_and_untouched(
    desk: Desk, name: str, text: str, output: str
) -> None:
    path = Path(config_file(CLIENTS[name], "user", Where("linux", str(desk.user), {})))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(SettingsError) as refused:
        desk.run(name)
    assert output in str(refused.value)
    assert "it was not changed" in str(refused.value)
    assert path.read_bytes() == text.encode(errors="surrogateescape")
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("codex", 'mcp_servers = {other = {command = "x"}}\n'),
        ("codex", 'mcp_servers.commonplace.command = "mine"\n'),
        ("codex", 'note = """\n[mcp_servers.commonplace]\n"""\n[mcp_servers.commonplace.env]\nA = "1"\n'),
        ("goose", "base: &x\n  a: 1\nextensions: *x\n"),
    ],
)
def test_a_form_that_cannot_be_edited_is_left_to_people(desk: Desk, name: str, text: str) -> None:
    path = Path(config_file(CLIENTS[name], "user", Where("linux", str(desk.user), {})))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    with pytest.raises(Refused, match="by hand") as caught:
        desk.run(name)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith("; it was not changed")
    assert path.read_text() == text


def test_an_entry_of_ours_that_occurs_twice_is_removed_twice(desk: Desk) -> None:
    path = desk.file(
        ".cursor/mcp.json", '{"mcpServers": {"commonplace": {}, "a": {}, "commonplace": {"command": "x"}}}'
    )
    desk.run("cursor", "--no-hooks", "--remove")
    assert json.loads(path.read_text()) == {"mcpServers": {"a": {}}}


def test_hooks_of_others_that_are_called_alike_stay(desk: Desk) -> None:
    alike = [
        "/opt/other hook session-start --client x",
        "echo hook session-start",
        "not-commonplace hook session-start",
    ]
    theirs = [{"hooks": [{"type": "command", "command": each} for each in alike]}]
    path = desk.file(".claude/settings.json", json.dumps({"hooks": {"SessionStart": theirs}}))
    desk.run("claude-code")
    assert json.loads(path.read_text())["hooks"]["SessionStart"][0] == theirs[0]
    desk.run("claude-code", "--remove")
    assert json.loads(path.read_text()) == {"hooks": {"SessionStart": theirs}}


@pytest.mark.parametrize(
    "command",
    [
        "commonplace hook session-start",
        "'/opt/my tools/bin/commonplace' hook session-start --client claude-code",
        '"C:/Program Files/x/commonplace.exe" hook session-start --client claude-code',
        "/usr/bin/python3 -m commonplace hook session-start --client claude-code --home /old",
        "cd /x && cpl hook session-start",
    ],
)
def test_a_hook_of_ours_is_known_wherever_the_program_was(desk: Desk, command: str) -> None:
    ours = [{"hooks": [{"type": "command", "command": command}]}]
    path = desk.file(".claude/settings.json", json.dumps({"hooks": {"SessionStart": ours}}))
    desk.run("claude-code")
    assert len(json.loads(path.read_text())["hooks"]["SessionStart"]) == 1
    desk.run("claude-code", "--remove")
    assert command not in path.read_text()


def test_a_budget_below_nothing_is_refused(desk: Desk) -> None:
    with pytest.raises(AssertionError, match="-3 is not in the range x>=0"):
        desk.run("claude-code", "--budget", "-3")
    assert not (desk.user / ".claude/settings.json").exists()


def test_a_folder_or_a_pipe_in_the_way_is_reported(desk: Desk) -> None:
    desk.file(".cursor/mcp.json").mkdir()
    with pytest.raises(StorageError, match=r"mcp\.json"):
        desk.run("cursor")
    os.mkfifo(desk.file(".kiro/settings/mcp.json"))
    with pytest.raises(StorageError, match="not a regular file"):
        desk.run("kiro")
    blocked = desk.file(".lmstudio", "a file")
    with pytest.raises(StorageError, match="lmstudio"):
        desk.run("lm-studio")
    assert blocked.read_text() == "a file"


def test_what_another_program_saved_meanwhile_is_not_written_over(desk: Desk) -> None:
    path = desk.file(".claude.json", '{"a": 1}')
    edits = plan.plan_edits(
        CLIENTS["claude-code"], "user", Where("linux", str(desk.user), {}), plan.InstallRequest(PROGRAM, hooks=False)
    )
    (change,) = plan.plan_installation(edits)
    path.write_text('{"a": 2}')
    with pytest.raises(Conflict, match="run the command again"):
        files.write(change.path, change.before, change.after)
    assert path.read_text() == '{"a": 2}'


def test_a_client_or_toolset_that_is_not_known_is_reported(desk: Desk) -> None:
    with pytest.raises(InvalidArgument, match=r"did you mean claude-code\?"):
        desk.run("claudecode")
    with pytest.raises(InvalidArgument, match=r"known are claude-code, .*commonplace mcp"):
        desk.run("xyzzy")
    with pytest.raises(InvalidArgument, match="must be one of retrieval"):
        desk.run("cursor", "--tools", "nots")
    assert desk.every() == {}


def test_without_a_client_all_are_listed(desk: Desk) -> None:
    listed = [line.split("\t") for line in desk.run().splitlines()]
    assert [row[0] for row in listed] == [*CLIENTS]
    assert ["codex", str(desk.user / ".codex/config.toml"), "user, project", "yes"] in listed


PLACES = [
    ("claude-code", "win32", r"C:\Users\ann\.claude.json"),
    ("claude-desktop", "win32", r"C:\Users\ann\AppData\Roaming\Claude\claude_desktop_config.json"),
    ("claude-desktop", "darwin", "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json"),
    ("vscode", "darwin", "/Users/ann/Library/Application Support/Code/User/mcp.json"),
    ("vscode", "win32", r"C:\Users\ann\AppData\Roaming\Code\User\mcp.json"),
    ("zed", "darwin", "/Users/ann/.config/zed/settings.json"),
    ("zed", "win32", r"C:\Users\ann\AppData\Roaming\Zed\settings.json"),
    ("goose", "darwin", "/Users/ann/.config/goose/config.yaml"),
    ("goose", "win32", r"C:\Users\ann\AppData\Roaming\Block\goose\config\config.yaml"),
    ("windsurf", "win32", r"C:\Users\ann\.codeium\windsurf\mcp_config.json"),
    ("codex", "linux", "/home/ann/.codex/config.toml"),
    ("opencode", "linux", "/home/ann/.config/opencode/opencode.json"),
]


@pytest.mark.parametrize(("name", "platform", "path"), PLACES)
def test_files_are_where_each_system_has_them(name: str, platform: str, path: str) -> None:
    homes = {"win32": r"C:\Users\ann", "darwin": "/Users/ann", "linux": "/home/ann"}
    assert config_file(CLIENTS[name], "user", Where(platform, homes[platform], {})) == path


def test_the_environment_moves_files_as_the_clients_say() -> None:
    moved = {
        "CODEX_HOME": "/x/codex", "CLAUDE_CONFIG_DIR": "/x/claude", "XDG_CONFIG_HOME": "/x/config", "APPDATA": "/x/app",
        "COPILOT_HOME": "/x/copilot", "CLINE_MCP_SETTINGS_PATH": "/x/cline.json",
    }  # fmt: skip
    where = Where("linux", "/home/ann", moved)
    result = {name: config_file(client, "user", where) for name, client in CLIENTS.items()}
    assert result["codex"] == "/x/codex/config.toml"
    assert result["claude-code"] == "/x/claude/.claude.json"
    assert result["zed"] == "/x/config/zed/settings.json"
    assert (result["copilot-cli"], result["cline"]) == ("/x/copilot/mcp-config.json", "/x/cline.json")
    hooks = CLIENTS["claude-code"].hooks
    assert hooks
    assert hooks_file(hooks, "user", where) == "/x/claude/settings.json"


def test_opencode_is_also_configured_where_it_allows_comments(desk: Desk) -> None:
    path = desk.file(".config/opencode/opencode.jsonc", '{\n  // mine\n  "model": "x",\n}\n')
    desk.run("opencode")
    assert "// mine" in path.read_text()
    assert jsonc.parse(path.read_text())["mcp"]["commonplace"]["type"] == "local"


def test_a_hook_is_written_as_the_shell_of_the_system_reads_it() -> None:
    expected = plan.InstallRequest(["/opt/my tools/commonplace"], "/home/ann/it's here")
    assert plan.hook_command(expected, "session-end", "codex", "linux") == (
        "'/opt/my tools/commonplace' hook session-end --client codex --home '/home/ann/it'\"'\"'s here'"
    )
    expected = plan.InstallRequest([r"C:\my tools\commonplace.exe"], r"C:\Users\ann\.commonplace")
    assert plan.hook_command(expected, "session-start", "cursor", "win32") == (
        '"C:/my tools/commonplace.exe" hook session-start --client cursor --home "C:/Users/ann/.commonplace"'
    )


def test_the_program_is_named_so_that_it_is_found_from_anywhere(tmp_path: Path) -> None:
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    assert plan.find_program(str(python), "commonplace") == [str(python), "-P", "-m", "commonplace"]
    script = tmp_path / "bin/commonplace"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert plan.find_program(str(python), "-m") == [str(script)]
    assert plan.find_program("/nowhere/python", str(script)) == [str(script)]


def test_the_program_that_is_written_down_runs_nothing_of_the_folder_it_starts_in(tmp_path: Path) -> None:
    program = [sys.executable, *plan.find_program("/nowhere/python", "-m")[1:]]
    for name in ("commonplace/__init__.py", "commonplace/__main__.py", "json.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("print('from the folder')\n")
    done = subprocess.run([*program, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "from the folder" not in done.stdout
    assert "commonplace" in done.stdout


def test_the_server_that_was_written_down_answers(desk: Desk) -> None:
    pytest.importorskip("mcp")
    desk.run("claude-code")
    entry = json.loads((desk.user / ".claude.json").read_text())["mcpServers"]["commonplace"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    output = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(
        [entry["command"], *entry["args"]], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        for message in output:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
    assert answers[0]["result"]["serverInfo"]["name"]
    assert answers[1]["result"]["tools"]


def test_the_hooks_that_were_written_down_run_in_a_shell(desk: Desk) -> None:
    (desk.user / "my memory").mkdir()
    desk.run("claude-code", "--home", str(desk.user / "my memory"))
    settings = json.loads((desk.user / ".claude/settings.json").read_text())
    transcript = desk.file("t.jsonl", json.dumps({"role": "user", "content": "tea, please"}) + "\n")
    event = json.dumps({"session_id": "s", "transcript_path": str(transcript)})
    for groups in settings["hooks"].values():
        command = groups[0]["hooks"][0]["command"]
        done = subprocess.run(command, shell=True, cwd="/", input=event, capture_output=True, text=True, check=True)
        assert done.stderr == ""
    assert "tea, please" in (desk.user / "my memory/agents/main/sessions/s.jsonl").read_text()


@pytest.mark.parametrize("name", list(CLIENTS))
def test_a_client_whose_model_reads_only_text_gets_its_answers_there(name: str, tmp_path: Path) -> None:
    where = Where("linux", str(tmp_path), {}, str(tmp_path))
    edits = plan.plan_edits(CLIENTS[name], "user", where, plan.InstallRequest(("commonplace",), hooks=False))
    text = json.dumps(list(edits.values()))
    assert ('"--answers", "text"' in text) is not CLIENTS[name].structured


def test_the_hooks_that_show_the_context_know_which_tools_the_client_is_given() -> None:
    expected = plan.InstallRequest(("commonplace",), tools="notes,journal")
    for hook in ("session-start", "prompt"):
        assert plan.hook_command(expected, hook, "claude-code", "linux").endswith(" --tools notes,journal")
    assert "--tools" not in plan.hook_command(expected, "session-end", "claude-code", "linux")


def test_a_file_that_people_share_names_the_command_where_the_shell_finds_it(tmp_path: Path) -> None:
    script = tmp_path / "bin/commonplace"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert plan.find_command([str(script)], str(script.parent)) == ["commonplace"]
    assert plan.find_command([str(script)], str(tmp_path)) == []
    assert plan.find_command(["/usr/bin/python3", "-m", "commonplace"]) == []
    where = Where("linux", str(tmp_path), {}, str(tmp_path / "project"))
    request = plan.InstallRequest([str(script)], shared_program=["commonplace"])
    client = CLIENTS["claude-code"]
    commands = {
        scope: str(plan.plan_edits(client, scope, where, request)[config_file(client, scope, where)])
        for scope in ("user", "project")
    }
    assert "'command': 'commonplace'" in commands["project"]
    assert f"'command': '{script}'" in commands["user"]


def test_install_without_what_the_server_needs_fails_and_says_what_to_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.surfaces.cli.setup.find_spec", lambda _: None)
    done = click.testing.CliRunner().invoke(cli, ["install", "cursor", "--no-hooks"])
    assert done.exit_code == 1
    assert "run pip install 'commonplace[mcp]'" in done.stderr
