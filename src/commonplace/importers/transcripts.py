"""What chat formats share: turns out of JSON events, and the files of ChatGPT's and Claude's exports."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any

from .source import JsonObjects, Source, parse_json_lines, parse_json_list, single_file_name
from .values import Skipped, Turn, read_text, read_timestamp

ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
_EVENT_ROLES = {**ROLES, "user_message": "user", "assistant_message": "assistant"}
# What a terminal command leaves in a transcript: nobody said it.
_COMMAND_OUTPUT = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "Caveat: The messages below were",
)
_CONVERSATION_FILES = re.compile(r"conversations(?:[-_]\d+)?\.json")


def read_turns(data: bytes, what: str, skipped: list[Skipped]) -> tuple[tuple[Turn, ...], str]:
    """Return the turns of user and assistant, and the title if there is one.

    Sidechains, meta messages, tool calls and thoughts are left out; a line that occurs twice counts once.
    """
    turns: list[Turn] = []
    title = ""
    seen: set[str] = set()
    for _, event in parse_json_lines(data, what, skipped):
        title = read_text(event.get("summary")) if event.get("type") == "summary" else title
        name = read_text(event.get("uuid") or event.get("id"))
        if event.get("isSidechain") or event.get("isMeta") or event.get("isCompactSummary") or (name and name in seen):
            continue
        seen.add(name)
        turns += [turn for turn in turns_of_event(event) if not turn.text.startswith(_COMMAND_OUTPUT)]
    return tuple(turns), title


def turns_of_event(event: dict[str, Any]) -> Iterator[Turn]:
    """Yield the turn an event holds, if it holds one."""
    message = event["message"] if isinstance(event.get("message"), dict) else event
    role = _EVENT_ROLES.get(str(message.get("role") or event.get("role") or event.get("type") or ""))
    text = join_content(message.get("content", message.get("text")))
    if role and text:
        at = read_timestamp(event.get("timestamp")) or read_timestamp(message.get("timestamp"))
        yield Turn(role, text, at, read_text(message.get("name") or event.get("name")))


def join_content(content: Any) -> str:
    """Return the text of a message, given as a string or as a list of parts."""
    if isinstance(content, str):
        return read_text(content).strip()
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else _text_of_part(part) for part in parts)
    return "\n".join(read_text(text) for text in texts if text).strip()


def _text_of_part(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "input_text", "output_text"):
        return ""
    return read_text(part.get("text"))


def has_conversations_with(source: Source, field: bytes) -> bool:
    """Whether the first file of conversations mentions a field near its beginning."""
    return any(field in source.peek(path) for path in _conversation_files(source)[:1])


def read_conversations(source: Source, field: str) -> JsonObjects:
    for path in _conversation_files(source):
        data = source.read_file(path)
        if data is not None:
            yield from parse_json_list(data, path, source.skipped, field, ("conversations",))


def _conversation_files(source: Source) -> list[str]:
    """Large exports have several files; a file that was unpacked and renamed is a source of its own."""
    names = [name for name in source.list_names() if _CONVERSATION_FILES.fullmatch(name)]
    single = single_file_name(source)
    return names or ([single] if single.endswith(".json") else [])


def read_export_part(source: Source, name: str, field: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of another file of an export, or of a folder of such files; nothing if it has neither."""
    names = source.list_names()
    paths: list[str] = []
    if f"{name}.json" in names:
        paths = [f"{name}.json"]
    elif f"{name}/" in names:
        paths = source.list_files(name)
    for path in paths:
        data = source.read_file(path) if path.endswith(".json") else None
        if data is not None:
            data = data.removeprefix(codecs.BOM_UTF8)
            as_list = b"[" + data + b"]" if data.lstrip()[:1] == b"{" else data
            for _, part in parse_json_list(as_list, path, source.skipped, field):
                yield part
