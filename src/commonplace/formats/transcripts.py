"""Session transcripts: JSON lines as agents write them, read as turns.

Shapes understood: `{"role", "content"}`, the same inside `message`, content as text or as a list of parts.
Only what the user and the assistant said counts; tool calls and their results are left out. Secrets are taken out
here, so that neither the index nor an answer ever holds what somebody pasted into a conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..secrets import redact
from .json_text import object_of, whole_characters

_SPEAKERS = frozenset({"user", "assistant", "human", "ai", "model"})


class Turn(NamedTuple):
    line: int
    said: str  # who, and what
    at: str
    role: str = ""


def turns(text: str) -> tuple[list[Turn], list[int]]:
    """The turns of a transcript, and the numbers of the lines that are not JSON objects."""
    found: list[Turn] = []
    broken: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        event = object_of(line)
        if event is None:
            broken.append(number)
        elif turn := _turn(number, event):
            found.append(turn)
    return found, broken


def as_said(lines: list[str]) -> list[str]:
    """The lines of a transcript as they are shown: what was said where a line is a turn, the line itself elsewhere."""
    found, _ = turns("\n".join(lines))
    said = {turn.line: turn.said for turn in found}
    return [said[number] if number in said else redact(line) for number, line in enumerate(lines, start=1)]


def _turn(number: int, event: dict[str, Any]) -> Turn | None:
    message = event["message"] if isinstance(event.get("message"), dict) else event
    role = str(message.get("role") or event.get("role") or event.get("type") or "")
    if role not in _SPEAKERS:
        return None
    text = "\n".join(_parts(message.get("content", message.get("text")))).strip()
    speaker = str(message.get("name") or event.get("name") or role)
    at = str(message.get("timestamp") or event.get("timestamp") or "")
    return Turn(number, _fit_to_keep(f"{speaker}: {text}"), _fit_to_keep(at), role) if text else None


def _fit_to_keep(text: str) -> str:
    return redact(whole_characters(text))


def _parts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]
