"""The values that a reader finds in a source. `engine.py` decides which files of the home they become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..formats.json_text import replace_surrogates
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..formats.transcripts import ROLES, TextPart, parse_event
from ..model import Json, Record, Scope, Skill
from ..storage.layout import Layout

_EVENT_ROLES = {**ROLES, "user_message": "user", "assistant_message": "assistant"}
_SPOKEN_PARTS = ("text", "input_text", "output_text")  # other types are thoughts, tool calls and their results
CLAUDE_CODE = "claude-code"  # a hook may have stored its sessions already
_MIN_MILLISECOND_TIMESTAMP = 10**11  # as seconds, a number this large would be in the year 5138


class Destination(NamedTuple):
    """Where an import goes. `agent_was_named`: the user named the agent."""

    layout: Layout
    agent: str
    agent_was_named: bool = False

    def agent_page(self, path: str, agent: str = "") -> str:
        """Return the path of a page in an agent's own memory."""
        return f"{self.layout.agent_folder(agent or self.agent)}/memory/{path}"

    def curated_page(self, agent: str) -> str:
        """Return the path of an agent's curated page. Another agent's page is not shared with all agents."""
        is_own = not self.layout.is_diary_shared or agent == self.agent
        return self.layout.curated_page(agent) if is_own else self.agent_page("MEMORY.md", agent)

    def days_folder(self, agent: str) -> str:
        """Return the folder of an agent's daily pages. Another agent's are not shared, either."""
        is_own = not self.layout.is_diary_shared or agent == self.agent
        return self.layout.days_folder(agent) if is_own else f"{self.layout.agent_folder(agent)}/memory"

    def shared_page(self, path: str) -> str:
        """Return the path of a page that all agents share."""
        return self.layout.path(f"{self.layout.loose}/{path}")


class PageItem(NamedTuple):
    """A file that keeps its bytes. `id` is unique within its format; `fallback_path` is used if `path` is taken."""

    id: str
    path: str
    data: bytes
    modified: int = 0  # nanoseconds since 1970; 0 when unknown
    fallback_path: str = ""


class RecordItem(NamedTuple):
    """A record: global, of a channel, or a working note of an agent."""

    id: str
    scope: Scope
    record: Record
    fields: tuple[tuple[str, Json], ...] = ()  # further front matter


class SkillItem(NamedTuple):
    id: str
    skill: Skill


class ImportedTurn(NamedTuple):
    """One message of a conversation, by the `user` or the `assistant`."""

    role: str
    text: str
    at: str = ""
    name: str = ""


class SessionItem(NamedTuple):
    """A conversation. `source` and `name` make its file name, which stays the same when the conversation goes on.

    `original_id`: the id its own program uses, where the file has another name.
    """

    id: str
    agent: str
    source: str
    name: str
    turns: tuple[ImportedTurn, ...]
    title: str = ""
    at: str = ""
    original_id: str = ""


class Skipped(NamedTuple):
    """Something that was not imported, and the reason."""

    what: str
    why: str


Item = PageItem | RecordItem | SkillItem | SessionItem | Skipped


def read_timestamp(value: Any) -> str:
    """Convert a time as other programs write it (text, seconds, milliseconds) to a timestamp; "" if it cannot."""
    if isinstance(value, str):
        moment = parse_timestamp(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            moment = datetime.fromtimestamp(value / 1000 if value > _MIN_MILLISECOND_TIMESTAMP else value, UTC)
        except (OverflowError, ValueError, OSError):
            return ""
    else:
        return ""
    try:
        return format_timestamp(moment) if moment else ""
    except (OverflowError, ValueError):
        return ""


def read_text(value: Any) -> str:
    """Return a JSON string with lone surrogates replaced; empty for any other type."""
    return replace_surrogates(value) if isinstance(value, str) else ""


def read_turn(event: dict[str, Any]) -> Iterator[ImportedTurn]:
    """Yield the turn an event holds, if it holds one."""
    chat = parse_event(event)
    role = _EVENT_ROLES.get(chat.role)
    text = join_spoken(chat.parts)
    if role and text:
        yield ImportedTurn(role, text, read_timestamp(chat.at), read_text(chat.name))


def join_spoken(parts: Iterable[TextPart]) -> str:
    """Return what was said in the parts of a message, one below the other."""
    return "\n".join(read_text(part.text) for part in parts if part.text and part.type in _SPOKEN_PARTS).strip()
