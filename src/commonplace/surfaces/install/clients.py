"""The known clients: where each keeps its configuration and hooks, and the shape of an MCP server and a hook there.

Paths are pure functions of platform, home folder, environment and project, so that every system's can be tested on any.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

NAME = "commonplace"  # what our server is called in every client
HOOK_TIMEOUT_SECONDS = 10  # a client may then stop a hook; ours take a fraction of a second
# Finds every hook of ours by its command, wherever the program was installed, and no other hook.
OUR_HOOK = r"""(?:^|[\s/\\"'])(?:commonplace|cpl)(?:\.exe)?["']?\s+hook\s+(?:session-|prompt|pre-compact)"""
SESSION_START = "session-start"
PROMPT = "prompt"
PRE_COMPACT = "pre-compact"
SESSION_END = "session-end"

KeyPath = tuple[str, ...]
ServerShape = Callable[[str, list[str]], dict[str, Any]]
HookShape = Callable[[str, int], dict[str, Any]]


class SetKeys(NamedTuple):
    """An edit: the mapping at a path gets these keys, and keeps its others. `if_missing`: existing keys stay too."""

    path: KeyPath
    value: dict[str, Any]
    if_missing: bool = False


class AddHook(NamedTuple):
    """An edit: the list at a path contains this hook once. `pattern` finds ours by their command."""

    path: KeyPath
    element: dict[str, Any]
    pattern: str


Edit = SetKeys | AddHook


class HookEvent(NamedTuple):
    """When a client runs a hook of ours."""

    event: str  # the client's own name for it
    hook: str


class HookFile(NamedTuple):
    """Where a client looks for hooks, and their shape there."""

    user: str
    project: str
    events: tuple[HookEvent, ...]
    shape: HookShape
    required_keys: tuple[tuple[str, Any], ...] = ()

    def event_of(self, hook: str) -> str:
        """Return the client's own name for when a hook runs; empty if it has no such event."""
        return next((each.event for each in self.events if each.hook == hook), "")

    def edits(self, command: Callable[[str], str]) -> list[Edit]:
        """Return what to change in the file; `command` gives the command line of a hook."""
        edits: list[Edit] = []
        if self.required_keys:
            edits.append(SetKeys((), dict(self.required_keys), if_missing=True))
        for event, hook in self.events:
            edits.append(AddHook(("hooks", event), self.shape(command(hook), HOOK_TIMEOUT_SECONDS), OUR_HOOK))
        return edits


def hook_group(command: str, seconds: int) -> dict[str, Any]:
    """Return a group of hooks without a matcher, which runs in every case."""
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def hook_group_in_milliseconds(command: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"name": NAME, "type": "command", "command": command, "timeout": seconds * 1000}]}


def flat_hook(command: str, seconds: int) -> dict[str, Any]:
    return {"command": command, "timeout": seconds}


# The transcript is also stored before it is compacted, and in Codex after every turn: a killed client ends no session.
# After a compaction Claude Code and Codex start the session again; elsewhere the next prompt restores the context.
_CLAUDE_CODE_HOOKS = HookFile(
    "{claude}/settings.json",
    "{project}/.claude/settings.local.json",
    (
        HookEvent("SessionStart", SESSION_START),
        HookEvent("UserPromptSubmit", PROMPT),
        HookEvent("PreCompact", PRE_COMPACT),
        HookEvent("SessionEnd", SESSION_END),
    ),
    hook_group,
)
_CODEX_HOOKS = HookFile(
    "{codex}/hooks.json",
    "{project}/.codex/hooks.json",
    (
        HookEvent("SessionStart", SESSION_START),
        HookEvent("UserPromptSubmit", PROMPT),
        HookEvent("PreCompact", PRE_COMPACT),
        HookEvent("Stop", SESSION_END),
    ),
    hook_group,
)
_CURSOR_HOOKS = HookFile(
    "{home}/.cursor/hooks.json",
    "{project}/.cursor/hooks.json",
    (
        HookEvent("sessionStart", SESSION_START),
        HookEvent("beforeSubmitPrompt", PROMPT),
        HookEvent("sessionEnd", SESSION_END),
    ),
    flat_hook,
    (("version", 1),),
)
_GEMINI_CLI_HOOKS = HookFile(
    "{home}/.gemini/settings.json",
    "{project}/.gemini/settings.json",
    (
        HookEvent("SessionStart", SESSION_START),
        HookEvent("BeforeAgent", PROMPT),
        HookEvent("PreCompress", PRE_COMPACT),
        HookEvent("SessionEnd", SESSION_END),
    ),
    hook_group_in_milliseconds,
)


class Where(NamedTuple):
    """What paths depend on."""

    platform: str  # as in sys.platform
    home: str
    environment: Mapping[str, str]
    project: str = "."

    @property
    def paths(self) -> Any:
        return ntpath if self.platform == "win32" else posixpath


class Client(NamedTuple):
    """One program. Paths are templates for `expand_path`; `project` is empty if it has no such scope."""

    name: str
    title: str
    user: str
    servers: KeyPath  # where the servers are in the file
    shape: ServerShape
    project: str = ""
    form: str = "json"  # json (comments allowed), toml or yaml
    macos: str = ""  # if it differs from `user`
    windows: str = ""
    hooks: HookFile | None = None
    starts_in_project: bool = False  # servers run in the project's folder, so its memory is found without --home
    after: str = "restart it"  # what a person does next
    # Whether its model gets structured answers. Most clients pass on only the text, so that is all they are sent.
    structured: bool = False

    @property
    def scopes(self) -> tuple[str, ...]:
        return ("user", "project") if self.project else ("user",)


def stdio(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"command": command, "args": arguments}


def typed_stdio(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": command, "args": arguments}


def copilot(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "args": arguments, "tools": ["*"]}


def opencode(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": [command, *arguments], "enabled": True}


def goose(command: str, arguments: list[str]) -> dict[str, Any]:
    return {
        "name": NAME,
        "description": "Memory, kept in Markdown files",
        "type": "stdio",
        "enabled": True,
        "cmd": command,
        "args": arguments,
        "envs": {},
        "timeout": 300,
    }


_SERVERS = ("mcpServers",)
_ROO_CODE = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            "{claude_json}",
            _SERVERS,
            typed_stdio,
            "{project}/.mcp.json",
            hooks=_CLAUDE_CODE_HOOKS,
            starts_in_project=True,
            structured=True,
            after="start a new session; /mcp shows the server",
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            "{config}/Claude/claude_desktop_config.json",
            _SERVERS,
            stdio,
            macos="{support}/Claude/claude_desktop_config.json",
            windows="{appdata}/Claude/claude_desktop_config.json",
            after="quit it and start it again",
        ),
        Client(
            "codex",
            "Codex",
            "{codex}/config.toml",
            ("mcp_servers",),
            stdio,
            "{project}/.codex/config.toml",
            form="toml",
            hooks=_CODEX_HOOKS,
            starts_in_project=True,
            structured=True,
            after="start a new session; /hooks there asks you to trust the hooks",
        ),
        Client(
            "cursor",
            "Cursor",
            "{home}/.cursor/mcp.json",
            _SERVERS,
            stdio,
            "{project}/.cursor/mcp.json",
            hooks=_CURSOR_HOOKS,
            structured=True,
        ),
        Client(
            "vscode",
            "VS Code",
            "{config}/Code/User/mcp.json",
            ("servers",),
            typed_stdio,
            "{project}/.vscode/mcp.json",
            macos="{support}/Code/User/mcp.json",
            windows="{appdata}/Code/User/mcp.json",
            starts_in_project=True,
            structured=True,
            after="run `MCP: List Servers` in it and start the server",
        ),
        Client(
            "vscode-insiders",
            "VS Code Insiders",
            "{config}/Code - Insiders/User/mcp.json",
            ("servers",),
            typed_stdio,
            "{project}/.vscode/mcp.json",
            macos="{support}/Code - Insiders/User/mcp.json",
            windows="{appdata}/Code - Insiders/User/mcp.json",
            starts_in_project=True,
            structured=True,
            after="run `MCP: List Servers` in it and start the server",
        ),
        Client("windsurf", "Windsurf", "{home}/.codeium/windsurf/mcp_config.json", _SERVERS, stdio),
        Client(
            "zed",
            "Zed",
            "{config}/zed/settings.json",
            ("context_servers",),
            stdio,
            "{project}/.zed/settings.json",
            macos="{home}/.config/zed/settings.json",
            windows="{appdata}/Zed/settings.json",
            after="nothing more: it sees the change",
        ),
        Client(
            "gemini-cli",
            "Gemini CLI",
            "{home}/.gemini/settings.json",
            _SERVERS,
            stdio,
            "{project}/.gemini/settings.json",
            hooks=_GEMINI_CLI_HOOKS,
            starts_in_project=True,
            after="start a new session; /mcp shows the server",
        ),
        Client(
            "copilot-cli",
            "GitHub Copilot CLI",
            "{copilot}/mcp-config.json",
            _SERVERS,
            copilot,
            after="start a new session; /mcp shows the server",
        ),
        Client(
            "opencode",
            "opencode",
            "{config}/opencode/opencode.json",
            ("mcp",),
            opencode,
            "{project}/opencode.json",
            starts_in_project=True,
            after="start it again",
        ),
        Client("cline", "Cline", "{cline}", _SERVERS, stdio, after="nothing more: it sees the change"),
        Client(
            "roo-code",
            "Roo Code",
            f"{{config}}/{_ROO_CODE}",
            _SERVERS,
            stdio,
            "{project}/.roo/mcp.json",
            macos=f"{{support}}/{_ROO_CODE}",
            windows=f"{{appdata}}/{_ROO_CODE}",
            after="nothing more: it sees the change",
        ),
        Client(
            "kiro",
            "Kiro",
            "{home}/.kiro/settings/mcp.json",
            _SERVERS,
            stdio,
            "{project}/.kiro/settings/mcp.json",
            after="nothing more: it sees the change",
        ),
        Client("lm-studio", "LM Studio", "{home}/.lmstudio/mcp.json", _SERVERS, stdio),
        Client(
            "goose",
            "goose",
            "{config}/goose/config.yaml",
            ("extensions",),
            goose,
            form="yaml",
            windows="{appdata}/Block/goose/config/config.yaml",
            after="start a new session",
        ),
    )
}


def expand_path(template: str, where: Where) -> str:
    """Return the path for a template of the table on a machine."""
    return str(where.paths.normpath(template.format_map(_folders(where))))


def config_file(client: Client, scope: str, where: Where) -> str:
    """Return the file in which a client looks for servers."""
    if scope == "project":
        return expand_path(client.project, where)
    own = {"darwin": client.macos, "win32": client.windows}.get(where.platform, "")
    return expand_path(own or client.user, where)


def hooks_file(hooks: HookFile, scope: str, where: Where) -> str:
    return expand_path(hooks.project if scope == "project" else hooks.user, where)


def _folders(where: Where) -> dict[str, str]:
    home = where.home
    environment = where.environment
    claude = environment.get("CLAUDE_CONFIG_DIR")
    return {
        "home": home,
        "project": where.project,
        "config": environment.get("XDG_CONFIG_HOME") or f"{home}/.config",
        "support": f"{home}/Library/Application Support",
        "appdata": environment.get("APPDATA") or f"{home}/AppData/Roaming",
        "claude": claude or f"{home}/.claude",
        "claude_json": f"{claude or home}/.claude.json",
        "codex": environment.get("CODEX_HOME") or f"{home}/.codex",
        "copilot": environment.get("COPILOT_HOME") or f"{home}/.copilot",
        "cline": environment.get("CLINE_MCP_SETTINGS_PATH") or f"{home}/.cline/data/settings/cline_mcp_settings.json",
    }
