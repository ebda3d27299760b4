"""Session transcripts: JSON lines as agents write them, parsed into turns.

Two shapes are read: `{"role", "content"}`, and the same inside `message`; content is text or a list of parts.
Only what the user and the assistant said counts; tool calls and their results are left out. Secrets are redacted
here, so that neither the index nor a reply ever holds what somebody pasted into a conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..secrets import redact
from .json_text import parse_object, replace_surrogates

_SPEAKERS = frozenset({"user", "assistant", "human", "ai", "model"})


class Turn(NamedTuple):
    """What one speaker said, on one line of the transcript."""

    line: int
    text: str  # `speaker: what was said`
    at: str
    role: str = ""


def parse_turns(text: str) -> tuple[list[Turn], list[int]]:
    """Return the turns of a transcript, and the numbers of the lines that are not JSON objects."""
    turns: list[Turn] = []
    broken: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        event = parse_object(line)
        if event is None:
            broken.append(number)
        elif turn := _parse_turn(number, event):
            turns.append(turn)
    return turns, broken


def render_lines(lines: list[str]) -> list[str]:
    """Return the lines of a transcript as people read them: a turn as `speaker: text`, any other line redacted."""
    turns, _ = parse_turns("\n".join(lines))
    texts = {turn.line: turn.text for turn in turns}
    return [texts[number] if number in texts else redact(line) for number, line in enumerate(lines, start=1)]


def _parse_turn(number: int, event: dict[str, Any]) -> Turn | None:
    message = event["message"] if isinstance(event.get("message"), dict) else event
    role = str(message.get("role") or event.get("role") or event.get("type") or "")
    if role not in _SPEAKERS:
        return None
    text = "\n".join(_text_parts(message.get("content", message.get("text")))).strip()
    speaker = str(message.get("name") or event.get("name") or role)
    at = str(message.get("timestamp") or event.get("timestamp") or "")
    return Turn(number, _clean(f"{speaker}: {text}"), _clean(at), role) if text else None


def _clean(text: str) -> str:
    return redact(replace_surrogates(text))


def _text_parts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]
