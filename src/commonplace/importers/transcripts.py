"""Transcripts of agents: JSON lines with `message` wrappers and content in parts, read as what was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .jsonparts import lines
from .values import Missed, Said, moment, plain

ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
_EVENTS = {**ROLES, "user_message": "user", "assistant_message": "assistant"}
# What a command of the terminal leaves in a transcript: nobody said it.
_NOISE = ("<command-name>", "<command-message>", "<local-command-", "<bash-", "Caveat: The messages below were")


def turns(data: bytes, what: str, missed: list[Missed]) -> tuple[tuple[Said, ...], str]:
    """What the user and the assistant said, and the title, if one was given. Side talks of helpers, notes of the
    program to itself, tool calls and thoughts are left out; a line that stands twice counts once."""
    found: list[Said] = []
    title = ""
    seen: set[str] = set()
    for _, event in lines(data, what, missed):
        title = plain(event.get("summary")) if event.get("type") == "summary" else title
        name = plain(event.get("uuid") or event.get("id"))
        if event.get("isSidechain") or event.get("isMeta") or event.get("isCompactSummary") or (name and name in seen):
            continue
        seen.add(name)
        found += [said for said in said_in(event) if not said.text.startswith(_NOISE)]
    return tuple(found), title


def said_in(event: dict[str, Any]) -> Iterator[Said]:
    message = event["message"] if isinstance(event.get("message"), dict) else event
    role = _EVENTS.get(str(message.get("role") or event.get("role") or event.get("type") or ""))
    text = text_of(message.get("content", message.get("text")))
    if role and text:
        at = moment(event.get("timestamp")) or moment(message.get("timestamp"))
        yield Said(role, text, at, plain(message.get("name") or event.get("name")))


def text_of(content: Any) -> str:
    """The text of a message: as it is, or its parts that are text."""
    if isinstance(content, str):
        return plain(content).strip()
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else _text_part(part) for part in parts)
    return "\n".join(plain(text) for text in texts if text).strip()


def _text_part(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "input_text", "output_text"):
        return ""
    return plain(part.get("text"))
