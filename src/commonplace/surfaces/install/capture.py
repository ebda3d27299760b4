"""Stores the transcript of a client's session in the home, one JSON line per turn; it grows with the session.

Only what the user and the assistant said is stored. Tool calls and their results, pictures and internal notes of the
client are left out, and secrets are redacted before anything is written. A session that was imported before continues
on the imported page, so that a conversation has one page. Search finds the transcripts once
`index_sessions` has turned that on, unless the settings decide already.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ... import settings
from ...errors import InvalidArgument, StorageError
from ...formats import ParseProblem
from ...formats.json_text import parse_object, replace_surrogates
from ...formats.timestamps import format_timestamp, parse_timestamp
from ...formats.transcripts import CLIENT_STARTS, ROLES, SESSION_ID, is_internal, parse_event
from ...home import Home
from ...secrets import redact
from ...storage.files import read_bytes
from ...storage.names import file_name
from . import yaml_edit
from .clients import KeyPath
from .files import CannotEdit, value_at

_OPENING_TURNS = 3  # enough to recognise a conversation
MAX_TRANSCRIPT_BYTES = 200_000_000
_SPEAKERS = {**ROLES, "gemini": "assistant"}
_SETTING: KeyPath = ("memorySearch", "indexSessions")
_BY_HAND = "set memorySearch.indexSessions to true in commonplace.yaml, and search finds the transcripts too"


def store_session(home: Home, event: dict[str, Any], client: str) -> str:
    """Store the transcript as far as it goes, and return its page; empty if nothing was said yet."""
    file = event.get("transcript_path")
    if not isinstance(file, str) or not file:
        raise InvalidArgument("the client named no transcript: nothing was stored")
    file = os.path.expanduser(file)
    name = event.get("session_id") or event.get("conversation_id") or os.path.basename(file).partition(".")[0]
    lines = [*extract_turns(_read_transcript(file))]
    if not lines:
        return ""
    path = _find_page(home, str(name), client, lines)

    def add_turns(stored: str) -> str:
        return "".join(f"{line}\n" for line in merge_turns(stored.split("\n")[:-1], lines))

    with home.writer.call("session", session=str(name), why=client, defer_index=True):
        home.writer.edit(path, add_turns)
    return path


def extract_turns(text: str) -> Iterator[str]:
    """Yield the turns as JSON lines. An incomplete last line waits for the next time; repeated entries count once."""
    seen: set[str] = set()
    for entry in _parse_entries(text):
        name = str(entry.get("uuid") or "")
        if name in seen:
            continue
        seen |= {name} if name else set()
        if turn := _parse_turn(entry):
            yield json.dumps(turn, ensure_ascii=False)


def merge_turns(old: list[str], new: list[str]) -> list[str]:
    """Add new turns to the stored ones. Nothing stored is lost if the client cut or restarted its transcript."""
    if new[: len(old)] == old:
        return new
    stored = Counter(map(_identity, old))
    added = []
    for line in new:
        identity = _identity(line)
        if stored[identity] > 0:
            stored[identity] -= 1
        else:
            added.append(line)
    return old + added


def _identity(line: str) -> tuple[str, ...]:
    """Return what identifies a turn, whether an import wrote it or a hook did."""
    turn = parse_object(line) or {}
    if "content" not in turn:
        return (line,)
    return str(turn.get("role")), redact(str(turn["content"])), _timestamp(turn)


def _timestamp(turn: dict[str, Any]) -> str:
    at = parse_timestamp(str(turn.get("timestamp") or ""))
    return format_timestamp(at) if at else ""


def _find_page(home: Home, name: str, client: str, lines: list[str]) -> str:
    """Return the page of a session: its own, one that an import made of it, or a new one."""
    folder = home.layout.sessions_folder(home.agent)
    own = f"{folder}/{file_name(name)}.jsonl"
    pages = home.storage.pages.list(folder, ".jsonl")
    imported = () if own in pages or not client else (path for path in pages if path.startswith(f"{folder}/{client}-"))
    day = _timestamp(parse_object(lines[0]) or {})[:10]
    for path in imported:
        is_named = path.endswith(f"-{file_name(name)}.jsonl")
        if (is_named or (day and f"-{day}-" in path)) and _is_same_session(
            home.storage.pages.read(path).text, name, client, lines
        ):
            return path
    return own


def _is_same_session(text: str, name: str, client: str, lines: list[str]) -> bool:
    """Return whether an import made a page of this session: by its id, or by its first turns if it had another id."""
    first, *rest = text.split("\n", _OPENING_TURNS + 1)
    about = parse_object(first) or {}
    if about.get("type") != "session" or about.get("source") != client:
        return False
    begins = [_identity(line) for line in rest[:_OPENING_TURNS] if line]
    renamed = not SESSION_ID.fullmatch(str(about.get("id")))
    return about.get("id") == name or (renamed and begins == [_identity(line) for line in lines[: len(begins)]] != [])


def _read_transcript(file: str) -> str:
    try:
        if os.stat(file).st_size > MAX_TRANSCRIPT_BYTES:
            raise StorageError(f"{file} is larger than {MAX_TRANSCRIPT_BYTES // 1_000_000} MB: nothing was stored")
        return read_bytes(file, file).decode("utf-8", "replace")
    except OSError as error:
        raise StorageError(f"{file}: {error.strerror or error}: nothing was stored") from error


def _parse_entries(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a transcript: one per line, or the messages of a single object."""
    whole = parse_object(text) if text.lstrip().startswith("{") and '"messages"' in text else None
    if whole and isinstance(whole.get("messages"), list):
        yield from (each for each in whole["messages"] if isinstance(each, dict))
        return
    for line in text.split("\n"):
        if line and (entry := parse_object(line)):
            yield entry


def _parse_turn(entry: dict[str, Any]) -> dict[str, str] | None:
    """Return who said what and when, in the format of any client; None for anything else."""
    if is_internal(entry):
        return None
    if "payload" in entry:  # Codex wraps every message
        payload = entry["payload"]
        if not isinstance(payload, dict) or payload.get("type") != "message":
            return None
        entry = {**entry, "message": payload}
    chat = parse_event(entry)
    role = _SPEAKERS.get(chat.role)
    text = "\n".join(part.text for part in chat.parts).strip()
    if not role or not text or text.startswith(CLIENT_STARTS):
        return None
    turn = {"role": role, "content": redact(replace_surrogates(text))}
    at = chat.at
    return {**turn, "timestamp": replace_surrogates(at)} if isinstance(at, str) and at else turn


def index_sessions(home: Home, *, only_if_new: bool = False) -> str:
    """Write the setting unless one exists, and return what a person has to do, if anything.

    With `only_if_new`, a memory that has settings stays as it is.
    """
    text = home.storage.read_settings_text(settings.FILE)
    if text is not None and only_if_new:
        return ""
    try:
        if value_at(yaml_edit.parse(text or ""), _SETTING) is not None:
            return ""
        if text is not None and not home.trust.is_own:  # a change would revoke the user's approval of it
            return _BY_HAND
        with home.writer.call("install", defer_index=True):
            home.writer.edit(settings.FILE, _turn_on)
    except (CannotEdit, ParseProblem):
        return _BY_HAND
    return ""


def _turn_on(text: str) -> str:
    return yaml_edit.put(text, _SETTING, True)
