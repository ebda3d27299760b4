"""What was said in a client's session, kept as a session of the home: a line a turn, and it grows as the session does.

Only what the user and the assistant said is kept. Tool calls and their results, pictures and notes of the program to
itself are left out, and secrets are taken out before anything is written. A session that an import brought before goes
on where it stands: a conversation has one page.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...errors import InvalidArgument, StorageError
from ...formats.json_text import parse_object, replace_surrogates
from ...formats.timestamps import format_timestamp, parse_timestamp
from ...home import Home
from ...secrets import redact
from ...storage.author import Author, write_as
from ...storage.files import read_bytes
from ...storage.names import file_name

_BEGINNING = 3  # turns by which a conversation is known
_UNIQUE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # an id that no two sessions have
LARGEST = 200_000_000  # bytes of a transcript
_SPEAKERS = {"user": "user", "human": "user", "assistant": "assistant", "model": "assistant", "gemini": "assistant"}
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary")  # Claude Code: notes to itself, talks of helpers, summaries
# What programs say to the model in the user's name.
_NOISE = (
    "<command-name>", "<command-message>", "<local-command-", "<bash-", "Caveat: The messages below were",
    "<environment_context>", "<user_instructions>", "<system-reminder>", "# AGENTS.md instructions",
)  # fmt: skip


def keep_session(home: Home, event: dict[str, Any], client: str) -> str:
    """Keep what a session's transcript says by now; the page it is on, or nothing where nothing was said."""
    place = event.get("transcript_path")
    if not isinstance(place, str) or not place:
        raise InvalidArgument("the client named no transcript: nothing was kept")
    place = os.path.expanduser(place)
    name = event.get("session_id") or event.get("conversation_id") or os.path.basename(place).partition(".")[0]
    lines = [*lines_of(_read(place))]
    if not lines:
        return ""
    path = _page_of(home, str(name), client, lines)
    with write_as(Author("session", home.agent, str(name), client)):
        home.storage.pages.edit(path, lambda old: "".join(f"{line}\n" for line in merged(old.split("\n")[:-1], lines)))
    return path


def lines_of(text: str) -> Iterator[str]:
    """What was said, as JSON lines. One that is not whole yet waits for next time; one that stands twice is one."""
    seen: set[str] = set()
    for entry in _entries(text):
        name = str(entry.get("uuid") or "")
        if name in seen:
            continue
        seen |= {name} if name else set()
        if turn := _turn(entry):
            yield json.dumps(turn, ensure_ascii=False)


def merged(old: list[str], new: list[str]) -> list[str]:
    """A session that grew; one that was cut or begun anew by its client loses nothing that was kept."""
    if new[: len(old)] == old:
        return new
    left = Counter(map(_said, old))
    added = []
    for line in new:
        said = _said(line)
        if left[said] > 0:
            left[said] -= 1
        else:
            added.append(line)
    return old + added


def _said(line: str) -> tuple[str, ...]:
    """What tells a turn from others, whether an import wrote it or a hook did."""
    turn = parse_object(line) or {}
    if "content" not in turn:
        return (line,)
    return str(turn.get("role")), redact(str(turn["content"])), _moment(turn)


def _moment(turn: dict[str, Any]) -> str:
    at = parse_timestamp(str(turn.get("timestamp") or ""))
    return format_timestamp(at) if at else ""


def _page_of(home: Home, name: str, client: str, lines: list[str]) -> str:
    """The page of a session: the one it has, else the one an import made of it, else a new one."""
    folder = f"{home.layout.agent_folder(home.agent)}/sessions"
    own, pages = f"{folder}/{file_name(name)}.jsonl", home.storage.pages.list(folder, ".jsonl")
    imported = () if own in pages or not client else (path for path in pages if path.startswith(f"{folder}/{client}-"))
    day = _moment(parse_object(lines[0]) or {})[:10]
    for path in imported:
        named = path.endswith(f"-{file_name(name)}.jsonl")
        if (named or (day and f"-{day}-" in path)) and _is_of(home.storage.pages.read(path).text, name, client, lines):
            return path
    return own


def _is_of(text: str, name: str, client: str, lines: list[str]) -> bool:
    """Whether an import made a page of a session: by its id, or, where a copy had another name, by how it begins."""
    first, *rest = text.split("\n", _BEGINNING + 1)
    about = parse_object(first) or {}
    if about.get("type") != "session" or about.get("source") != client:
        return False
    begins = [_said(line) for line in rest[:_BEGINNING] if line]
    renamed = not _UNIQUE.fullmatch(str(about.get("id")))
    return about.get("id") == name or (renamed and begins == [_said(line) for line in lines[: len(begins)]] != [])


def _read(place: str) -> str:
    try:
        if os.stat(place).st_size > LARGEST:
            raise StorageError(f"{place} is larger than {LARGEST // 1_000_000} MB: nothing was kept")
        return read_bytes(place, place).decode("utf-8", "replace")
    except OSError as error:
        raise StorageError(f"{place}: {error.strerror or error}: nothing was kept") from error


def _entries(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a transcript: a line each, or the messages of one object."""
    whole = parse_object(text) if text.lstrip().startswith("{") and '"messages"' in text else None
    if whole and isinstance(whole.get("messages"), list):
        yield from (each for each in whole["messages"] if isinstance(each, dict))
        return
    for line in text.split("\n"):
        if line and (entry := parse_object(line)):
            yield entry


def _turn(entry: dict[str, Any]) -> dict[str, str] | None:
    """Who said what and when, whichever of the clients wrote it; None for anything else."""
    wrapped = (entry[key] for key in ("payload", "message") if isinstance(entry.get(key), dict))
    inner: dict[str, Any] = next(wrapped, entry)
    if any(entry.get(key) for key in _ASIDE) or ("payload" in entry and inner.get("type") != "message"):
        return None
    role = _SPEAKERS.get(str(inner.get("role") or entry.get("role") or entry.get("type") or ""))
    text = "\n".join(_parts(inner.get("content", inner.get("text")))).strip()
    if not role or not text or text.startswith(_NOISE):
        return None
    turn = {"role": role, "content": redact(replace_surrogates(text))}
    at = entry.get("timestamp") or inner.get("timestamp")
    return {**turn, "timestamp": replace_surrogates(at)} if isinstance(at, str) and at else turn


def _parts(content: Any) -> Iterator[str]:
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text
