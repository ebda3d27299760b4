"""What a reader understood of a source, as values. Where each of them goes on disk, `placing` knows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..formats.json_text import replace_surrogates
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..model import Json, Record, Scope, Skill
from ..storage.layout import Layout

CLAUDE_CODE = "claude-code"  # whose sessions a hook may have kept already
_MILLISECONDS = 10**11  # a number of seconds this large would be in the year 5138


class Into(NamedTuple):
    """Where an import goes: how the home is arranged, whose memory it is, and whether somebody said whose."""

    layout: Layout
    agent: str
    said: bool = False

    def own(self, path: str, agent: str = "") -> str:
        """A page of the agent's, below its memory."""
        return f"{self.layout.agent_folder(agent or self.agent)}/memory/{path}"

    def loose(self, path: str) -> str:
        """A page that all agents share."""
        return self.layout.path(f"{self.layout.loose}/{path}")


class Text(NamedTuple):
    """A file as it is. `id` tells it from all others of its kind; `beside`: where it goes if another stands there."""

    id: str
    path: str
    data: bytes
    modified: int = 0  # nanoseconds since 1970; 0 when it is not known
    beside: str = ""


class Keyed(NamedTuple):
    """A record for all (`global`), for a channel, or a working note of an agent."""

    id: str
    scope: Scope
    record: Record
    fields: tuple[tuple[str, Json], ...] = ()  # what else its front matter shall say


class Taught(NamedTuple):
    id: str
    skill: Skill


class Said(NamedTuple):
    role: str  # user or assistant
    text: str
    at: str = ""
    name: str = ""


class Session(NamedTuple):
    """A conversation. `source` and `name` make its file name, which stays the same however it goes on.

    `known_as`: what its program calls it, where a copy has another name.
    """

    id: str
    agent: str
    source: str
    name: str
    turns: tuple[Said, ...]
    title: str = ""
    at: str = ""
    known_as: str = ""


class Missed(NamedTuple):
    """What was not understood or not taken, and why."""

    what: str
    why: str


Item = Text | Keyed | Taught | Session | Missed


def moment(value: Any) -> str:
    """A time as other programs write it (text, or seconds since 1970), as a stamp; empty when it is none."""
    if isinstance(value, str):
        found = parse_timestamp(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            found = datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
        except (OverflowError, ValueError, OSError):
            return ""
    else:
        return ""
    try:
        return format_timestamp(found) if found else ""
    except (OverflowError, ValueError):
        return ""


def plain(value: Any) -> str:
    """Text out of JSON, of whole characters; empty for anything that is no text."""
    return replace_surrogates(value) if isinstance(value, str) else ""
