"""The clients that are known: where each keeps its configuration, and the shape an MCP server has in it.

Paths are pure functions of platform, home folder, environment and project, so that every system's can be tested on any.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .hooks import CLAUDE_CODE, CODEX, CURSOR, GEMINI_CLI, HookTable

NAME = "commonplace"  # what our server is called everywhere
Shape = Callable[[str, list[str]], dict[str, Any]]


class Where(NamedTuple):
    """The machine as far as paths depend on it."""

    platform: str  # as in sys.platform
    home: str
    environment: Mapping[str, str]
    project: str = "."

    @property
    def paths(self) -> Any:
        return ntpath if self.platform == "win32" else posixpath


class Client(NamedTuple):
    """One program. Paths have `{folders}` in them, see `place`; `project` is empty where it knows no such scope."""

    name: str
    title: str
    user: str
    servers: tuple[str, ...]  # the keys that lead to the servers
    shape: Shape
    project: str = ""
    form: str = "json"  # json (comments allowed), toml or yaml
    macos: str = ""  # where it differs from `user`
    windows: str = ""
    hooks: HookTable | None = None
    starts_in_project: bool = False  # whether servers run in the project's folder, so that its memory is found there
    after: str = "restart it"  # what a person does next
    # Whether its model reads structured answers. Most clients hand on the text alone, and would lose the answer.
    structured: bool = False

    @property
    def scopes(self) -> tuple[str, ...]:
        return ("user", "project") if self.project else ("user",)


def stdio(command: str, arguments: list[str]) -> dict[str, Any]:
    """`{"command": …, "args": […]}`, as most have it."""
    return {"command": command, "args": arguments}


def typed(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": command, "args": arguments}


def copilot(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "args": arguments, "tools": ["*"]}


def opencode(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": [command, *arguments], "enabled": True}


def goose(command: str, arguments: list[str]) -> dict[str, Any]:
    said = {"name": NAME, "description": "Memory, kept in Markdown files", "type": "stdio", "enabled": True}
    return {**said, "cmd": command, "args": arguments, "envs": {}, "timeout": 300}


_SERVERS = ("mcpServers",)
_CODE = "Code/User/globalStorage"
CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code", "Claude Code", "{claude_json}", _SERVERS, typed, "{project}/.mcp.json",
            hooks=CLAUDE_CODE, starts_in_project=True, structured=True,
            after="start a new session; /mcp shows the server",
        ),
        Client(
            "claude-desktop", "Claude Desktop", "{config}/Claude/claude_desktop_config.json", _SERVERS, stdio,
            macos="{support}/Claude/claude_desktop_config.json", windows="{appdata}/Claude/claude_desktop_config.json",
            after="quit it and start it again",
        ),
        Client(
            "codex", "Codex", "{codex}/config.toml", ("mcp_servers",), stdio, "{project}/.codex/config.toml",
            form="toml", hooks=CODEX, starts_in_project=True, structured=True,
            after="start a new session; /hooks there asks you to trust the hooks",
        ),
        Client(
            "cursor", "Cursor", "{home}/.cursor/mcp.json", _SERVERS, stdio, "{project}/.cursor/mcp.json",
            hooks=CURSOR, structured=True,
        ),
        Client(
            "vscode", "VS Code", "{config}/Code/User/mcp.json", ("servers",), typed, "{project}/.vscode/mcp.json",
            macos="{support}/Code/User/mcp.json", windows="{appdata}/Code/User/mcp.json",
            starts_in_project=True, structured=True, after="run `MCP: List Servers` in it and start the server",
        ),
        Client(
            "vscode-insiders", "VS Code Insiders", "{config}/Code - Insiders/User/mcp.json", ("servers",), typed,
            "{project}/.vscode/mcp.json", macos="{support}/Code - Insiders/User/mcp.json",
            windows="{appdata}/Code - Insiders/User/mcp.json", starts_in_project=True, structured=True,
            after="run `MCP: List Servers` in it and start the server",
        ),
        Client("windsurf", "Windsurf", "{home}/.codeium/windsurf/mcp_config.json", _SERVERS, stdio),
        Client(
            "zed", "Zed", "{config}/zed/settings.json", ("context_servers",), stdio, "{project}/.zed/settings.json",
            macos="{home}/.config/zed/settings.json", windows="{appdata}/Zed/settings.json",
            after="nothing more: it sees the change",
        ),
        Client(
            "gemini-cli", "Gemini CLI", "{home}/.gemini/settings.json", _SERVERS, stdio,
            "{project}/.gemini/settings.json", hooks=GEMINI_CLI, starts_in_project=True,
            after="start a new session; /mcp shows the server",
        ),
        Client(
            "copilot-cli", "GitHub Copilot CLI", "{copilot}/mcp-config.json", _SERVERS, copilot,
            after="start a new session; /mcp shows the server",
        ),
        Client(
            "opencode", "opencode", "{config}/opencode/opencode.json", ("mcp",), opencode, "{project}/opencode.json",
            starts_in_project=True, after="start it again",
        ),
        Client("cline", "Cline", "{cline}", _SERVERS, stdio, after="nothing more: it sees the change"),
        Client(
            "roo-code", "Roo Code", f"{{config}}/{_CODE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            _SERVERS, stdio, "{project}/.roo/mcp.json",
            macos=f"{{support}}/{_CODE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            windows=f"{{appdata}}/{_CODE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            after="nothing more: it sees the change",
        ),
        Client(
            "kiro", "Kiro", "{home}/.kiro/settings/mcp.json", _SERVERS, stdio, "{project}/.kiro/settings/mcp.json",
            after="nothing more: it sees the change",
        ),
        Client("lm-studio", "LM Studio", "{home}/.lmstudio/mcp.json", _SERVERS, stdio),
        Client(
            "goose", "goose", "{config}/goose/config.yaml", ("extensions",), goose, form="yaml",
            windows="{appdata}/Block/goose/config/config.yaml", after="start a new session",
        ),
    )
}  # fmt: skip


def place(template: str, where: Where) -> str:
    """A path of the table on a machine."""
    return str(where.paths.normpath(template.format_map(_folders(where))))


def config_file(client: Client, scope: str, where: Where) -> str:
    """The file in which a client looks for servers."""
    if scope == "project":
        return place(client.project, where)
    own = {"darwin": client.macos, "win32": client.windows}.get(where.platform, "")
    return place(own or client.user, where)


def hooks_file(hooks: HookTable, scope: str, where: Where) -> str:
    return place(hooks.project if scope == "project" else hooks.user, where)


def _folders(where: Where) -> dict[str, str]:
    home, given = where.home, where.environment
    claude = given.get("CLAUDE_CONFIG_DIR")
    return {
        "home": home,
        "project": where.project,
        "config": given.get("XDG_CONFIG_HOME") or f"{home}/.config",
        "support": f"{home}/Library/Application Support",
        "appdata": given.get("APPDATA") or f"{home}/AppData/Roaming",
        "claude": claude or f"{home}/.claude",
        "claude_json": f"{claude or home}/.claude.json",
        "codex": given.get("CODEX_HOME") or f"{home}/.codex",
        "copilot": given.get("COPILOT_HOME") or f"{home}/.copilot",
        "cline": given.get("CLINE_MCP_SETTINGS_PATH") or f"{home}/.cline/data/settings/cline_mcp_settings.json",
    }
