"""Session transcripts: JSON lines as agents write them, parsed into turns.

Two shapes are read: `{"role", "content"}`, and the same inside `message`; content is text or a list of parts.
Only what the user and the assistant said counts; tool calls and their results are left out. Secrets are redacted
here, so that neither the index nor a reply ever holds what somebody pasted into a conversation. No turn can pose as
another: its role is always shown, and a line in it that reads like the start of a turn gets a backslash.

Every backend appends lines and reads them from the end. A line that is not JSON is skipped: a process that is killed
while it writes leaves half a line, which the next writer cuts off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from ..patterns import lazy_pattern
from ..secrets import redact
from .json_text import is_unicode, parse_object, replace_surrogates
from .structure import escape_unprintable

# The names that programs use for the two speakers, and ours.
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
# How the text of a turn begins, by who speaks.
USER_STARTS = tuple(f"{role}{mark}" for role, who in ROLES.items() if who == "user" for mark in (":", " ("))
ASSISTANT_STARTS = tuple(f"{role}{mark}" for role, who in ROLES.items() if who == "assistant" for mark in (":", " ("))
# How messages begin that no person wrote: what a client adds to a conversation, and what a command prints.
CLIENT_STARTS = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "Caveat: The messages below were",
    "<environment_context>",
    "<user_instructions>",
    "<system-reminder>",
    "# AGENTS.md instructions",
)
# Claude Code marks notes to itself, conversations of subagents and summaries.
_INTERNAL_FLAGS = ("isMeta", "isSidechain", "isCompactSummary")
SESSION_ID = lazy_pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TURN_FORMAT = "role (name): text, \\role, \\<!--"  # form of a turn's text; an index made with another form is rebuilt
LINE_JOINT = " / "  # between lines that are shown as one, also between turns
_SPEAKER_ROLES = "|".join([*sorted(ROLES), "system", "developer", "tool", "function"])
_BREAKS = r"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# After any line break, or what is shown in its place, what reads like the start of a turn: a role, perhaps a name, and
# a colon, perhaps with marks around them, and indented by any depth. Other repetitions are bounded, so that no text
# makes this slow.
_SPEAKER_LINE = lazy_pattern(
    rf"(?:(?<=[{_BREAKS}])|(?<={LINE_JOINT}))"
    rf"(?=[^\S{_BREAKS}]*+\\*[^\w\n\\]{{,20}}(?:{_SPEAKER_ROLES})\b[^\w\n:：]{{,8}}(?:\([^\n]{{,200}}\)[^\w\n:：]{{,8}})?[:：])",
    re.IGNORECASE,
)
# An annotation, which is left out where a turn is shown, with more of its line after it.
_INNER_ANNOTATION = lazy_pattern(
    r"(?=<!--[ \t]*(?:valid_|commonplace:|pinned:)(?![^>\n]{0,400}>[ \t]*$))", re.MULTILINE
)
_PLAIN_NAME = lazy_pattern(r"\w[\w .@-]*")
_SPEAKER = lazy_pattern(rf'(?:{"|".join(ROLES)})(?: \((?:\w[\w .@-]*|"(?:[^"\\]|\\.)*+")\))?: ')
_MAX_NAME_CHARACTERS = 80
_BLOCK_BYTES = 1 << 16  # read at once from the end; twice as many each time


class Turn(NamedTuple):
    """What one speaker said, on one line of the transcript."""

    line: int
    text: str  # `speaker: what was said`, as people and models read it
    at: str
    role: str = ""
    name: str = ""
    content: str = ""  # what was said


class TextPart(NamedTuple):
    """A part of a message that is text. `type`: what the program calls it, `text` if it does not say."""

    type: str
    text: str


class ChatEvent(NamedTuple):
    """A chat message as a program wrote it. The caller decides whether it counts and what its role means."""

    role: str
    parts: tuple[TextPart, ...]
    at: Any
    name: Any


def is_internal(event: Mapping[str, Any]) -> bool:
    """Return whether an event is not part of the conversation between the user and the assistant."""
    return any(event.get(flag) for flag in _INTERNAL_FLAGS)


def parse_event(event: Mapping[str, Any]) -> ChatEvent:
    """Return who said what and when, from an event or from the `message` in it."""
    message = event["message"] if isinstance(event.get("message"), dict) else event
    return ChatEvent(
        str(message.get("role") or event.get("role") or event.get("type") or ""),
        tuple(text_parts(message.get("content", message.get("text")))),
        event.get("timestamp") or message.get("timestamp"),
        message.get("name") or event.get("name"),
    )


def text_parts(content: Any) -> Iterator[TextPart]:
    """Yield the texts of a message, given as text, as one part, or as a list of parts."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield TextPart("text", part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield TextPart(str(part.get("type", "text")), part["text"])


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
    return [
        texts[number] if number in texts else _escape_speakers(f"\n{redact(line)}")[1:]
        for number, line in enumerate(lines, start=1)
    ]


def find_speaker(text: str) -> str:
    """Return how the text of a turn says who speaks: `assistant: `; empty for text that is no turn."""
    match = _SPEAKER.match(text)
    return match[0] if match else ""


def _parse_turn(number: int, event: dict[str, Any]) -> Turn | None:
    chat = parse_event(event)
    if chat.role not in ROLES:
        return None
    spoken = "\n".join(part.text for part in chat.parts).strip()
    name = _clean(str(chat.name or ""))
    prefix = f"{_format_speaker(chat.role, name)}: "
    content = _clean(prefix + spoken).removeprefix(prefix)  # including the name, which may announce a secret
    text = _escape_speakers(prefix + content)
    return Turn(number, text, _clean(str(chat.at or "")), chat.role, name, content) if content else None


def _format_speaker(role: str, name: str) -> str:
    """Return who speaks: the role, which a name never replaces, and the name after it on the same line."""
    if not name or name == role:
        return role
    short = name[:_MAX_NAME_CHARACTERS]
    is_plain = _PLAIN_NAME.fullmatch(short)
    return f"{role} ({short if is_plain else escape_unprintable(json.dumps(short, ensure_ascii=False))})"


def _escape_speakers(text: str) -> str:
    """Return text with a backslash before all that reads like the start of a turn on other lines than the first, also
    where lines are shown as one, or without their annotations."""
    return _SPEAKER_LINE.sub(r"\\", _INNER_ANNOTATION.sub(r"\\", text) if "<!--" in text else text)


def _clean(text: str) -> str:
    return redact(replace_surrogates(text))


class Item(NamedTuple):
    value: Any
    start: int  # where its line begins in the file


class Reader(NamedTuple):
    """Bytes to read: how many there are, and a function that reads some of them from an offset."""

    size: int
    read: Callable[[int, int], bytes]


def format_items(items: Iterable[Any]) -> bytes:
    return b"".join(map(_format_item, items))


def _format_item(item: Any) -> bytes:
    """Format an item so that people can read it; half a surrogate pair, which UTF-8 cannot hold, stays an escape."""
    text = json.dumps(item, ensure_ascii=False)
    return (text if is_unicode(text) else json.dumps(item)).encode() + b"\n"


def _parse_value(line: bytes) -> tuple[bool, Any]:
    """Return whether a line is an item, and its value."""
    try:
        return True, json.loads(line)
    except (ValueError, RecursionError):
        return False, None


def read_last(source: Reader, last: int | None) -> list[Any]:
    """Return all items, or only the `last`, oldest first."""
    return [*islice((item.value for item in iterate_backwards(source)), last)][::-1]


def iterate_backwards(source: Reader) -> Iterator[Item]:
    """Yield the items, the last one first."""
    for start, line in _iterate_lines_backwards(source):
        is_item, value = _parse_value(line) if line.strip() else (False, None)
        if is_item:
            yield Item(value, start)


def _iterate_lines_backwards(source: Reader) -> Iterator[tuple[int, bytes]]:
    """Yield the lines, the last one first, each with the offset where it begins."""
    at = source.size
    block = _BLOCK_BYTES
    rest = b""
    while at > 0:
        step = min(block, at)
        block *= 2
        at -= step
        first, *lines = (source.read(at, step) + rest).split(b"\n")
        end = at + len(first) + sum(len(line) + 1 for line in lines)
        for line in reversed(lines):
            yield end - len(line), line
            end -= len(line) + 1
        rest = first
    yield 0, rest


def find_append_point(source: Reader) -> tuple[int, bytes]:
    """Return where to append, and what to write first: half a line is cut off, a missing line break is added."""
    start, line = next(_iterate_lines_backwards(source))
    if not line or (line.startswith(b"{") and not _parse_value(line)[0]):
        return start, b""
    return start + len(line), b"\n"
