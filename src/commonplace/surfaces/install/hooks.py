"""The hooks of the clients that have them: what each calls the moments, and how it wants a hook to be written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .edits import Add, Edit, Put

# Finds every hook of ours by its command, wherever the program was then, and nobody else's.
MARK = r"""(?:^|[\s/\\"'])(?:commonplace|cpl)(?:\.exe)?["']?\s+hook\s+session-"""
START, END = "session-start", "session-end"
SECONDS = 10  # after which a client may give up on a hook; ours take a fraction of one


class Moment(NamedTuple):
    """When a client runs a hook of ours."""

    event: str  # the client's own name for it
    hook: str
    seconds: int = SECONDS


class HookTable(NamedTuple):
    """Where a client looks for hooks, and their shape there."""

    client: str
    user: str
    project: str
    moments: tuple[Moment, ...]
    shape: Callable[[str, int], dict[str, Any]]
    needs: tuple[tuple[str, Any], ...] = ()  # keys that the file must have besides

    def edits(self, command: Callable[[str], str]) -> list[Edit]:
        """What is changed in the file, where `command` gives the command line of a hook."""
        out: list[Edit] = [Put((), dict(self.needs), gently=True)] if self.needs else []
        for event, hook, seconds in self.moments:
            out.append(Add(("hooks", event), self.shape(command(hook), seconds), MARK))
        return out


def group(command: str, seconds: int) -> dict[str, Any]:
    """A group of hooks without a matcher: it runs whatever the reason."""
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def group_in_milliseconds(command: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"name": "commonplace", "type": "command", "command": command, "timeout": seconds * 1000}]}


def flat(command: str, seconds: int) -> dict[str, Any]:
    return {"command": command, "timeout": seconds}


# The transcript is also kept before it is compacted, and in Codex after every turn: who is killed ends no session.
CLAUDE_CODE = HookTable(
    "claude-code", "{claude}/settings.json", "{project}/.claude/settings.local.json",
    (Moment("SessionStart", START), Moment("PreCompact", END), Moment("SessionEnd", END)), group,
)  # fmt: skip
CODEX = HookTable(
    "codex", "{codex}/hooks.json", "{project}/.codex/hooks.json",
    (Moment("SessionStart", START), Moment("Stop", END)), group,
)  # fmt: skip
CURSOR = HookTable(
    "cursor", "{home}/.cursor/hooks.json", "{project}/.cursor/hooks.json",
    (Moment("sessionStart", START), Moment("sessionEnd", END)), flat, (("version", 1),),
)  # fmt: skip
GEMINI_CLI = HookTable(
    "gemini-cli", "{home}/.gemini/settings.json", "{project}/.gemini/settings.json",
    (Moment("SessionStart", START), Moment("SessionEnd", END)), group_in_milliseconds,
)  # fmt: skip
