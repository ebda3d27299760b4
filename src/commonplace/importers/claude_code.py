"""Claude Code: its notes on each project (`memory/`) and its transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..storage.names import topic_name
from .source import PEEK_BYTES, Source, parse_json_lines, single_file_name
from .values import (
    CLAUDE_CODE,
    Destination,
    ImportedTurn,
    Item,
    PageItem,
    SessionItem,
    Skipped,
    read_text,
    read_turn,
)

_SUBAGENT_PREFIX = "agent-"  # of the transcripts of subagents
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RESERVED_FOLDERS = ("daily/", "working/", "activity/")  # they have a meaning in an agent's memory

# What a terminal command leaves in a transcript: nobody said it.
_COMMAND_OUTPUT = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "Caveat: The messages below were",
)


class _Project(NamedTuple):
    slug: str
    folder: str  # of the transcripts
    memory: str | None  # the folder of notes; "" is the source itself


def recognise(source: Source) -> bool:
    names = source.list_names()
    if single_file_name(source).endswith(".jsonl"):
        return _is_transcript(source, names[0])
    if "projects/" in names and (source.name == ".claude" or _list_projects_in(source, "projects")):
        return True
    if "/.claude/projects" in source.location.replace("\\", "/"):
        return True
    return bool(_list_projects(source)) and any(_is_transcript(source, path) for path in _sample_transcripts(source))


def _sample_transcripts(source: Source) -> Iterator[str]:
    for project in _list_projects(source)[:20]:
        yield from _list_transcripts(source, project)[:3]


def _is_transcript(source: Source, path: str) -> bool:
    head = source.peek(path)
    first = head[: 1 << 14].rpartition(b"\n")[0] or head
    if b"\n" not in first and len(first) == PEEK_BYTES:  # the first line is longer than what was read
        return first.startswith(b"{") and b'"sessionId"' in first
    ignored: list[Skipped] = []
    return any("sessionId" in event or "leafUuid" in event for _, event in parse_json_lines(first, path, ignored))


def read(source: Source, into: Destination) -> Iterator[Item]:
    projects = _list_projects(source)
    for project in projects:
        if project.memory is not None:
            yield from _read_notes(source, into, project, alone=len(projects) == 1)
        for path in _list_transcripts(source, project):
            yield from _read_session(source, into, path)


def _list_projects(source: Source) -> list[_Project]:
    """Return the projects of a source: of ~/.claude, its `projects`, one project, or the memory of one."""
    names = source.list_names()
    if "projects/" in names:
        return _list_projects_in(source, "projects")
    if "MEMORY.md" in names:
        is_memory = source.name == "memory"
        slug = source.location.rstrip("/").split("/")[-2] if is_memory else source.name
        return [_Project(slug, "", "")]
    if any(name.endswith(".jsonl") for name in names) or "MEMORY.md" in source.list_names("memory"):
        return [_Project(source.name, "", "memory" if "memory/" in names else None)]
    return _list_projects_in(source, "")


def _list_projects_in(source: Source, above: str) -> list[_Project]:
    projects = []
    for name in source.list_names(above):
        folder = f"{above}/{name[:-1]}" if above else name[:-1]
        inside = source.list_names(folder) if name.endswith("/") else []
        if "memory/" in inside or any(each.endswith(".jsonl") for each in inside):
            projects.append(_Project(name[:-1], folder, f"{folder}/memory" if "memory/" in inside else None))
    return projects


def _list_transcripts(source: Source, project: _Project) -> list[str]:
    names = [
        name
        for name in source.list_names(project.folder)
        if name.endswith(".jsonl") and not name.startswith(_SUBAGENT_PREFIX)
    ]
    return [f"{project.folder}/{name}" if project.folder else name for name in names]


def _read_notes(source: Source, into: Destination, project: _Project, *, alone: bool) -> Iterator[Item]:
    """Yield the notes of a project. If it is the only one, its MEMORY.md becomes the curated page."""
    slug = topic_name(f"claude-code {project.slug}")
    curated = into.layout.curated_page(into.agent)
    above = f"{project.memory}/" if project.memory else ""
    for path in source.list_files(project.memory or ""):
        name = path.removeprefix(above)
        if not name.endswith(".md"):
            if not name.endswith(".jsonl"):
                yield Skipped(path, "is not Markdown")
            continue
        data = source.read_file(path)
        if data is None:
            continue
        fallback_path = into.agent_page(f"{slug}/{name}")
        page = curated if name == "MEMORY.md" else f"{curated.rpartition('/')[0]}/{name}".lstrip("/")
        if not alone or name.startswith(_RESERVED_FOLDERS):
            page = fallback_path
        at = source.modified(path)
        yield PageItem(f"{source.location}/{path}", page, data, at, fallback_path if page != fallback_path else "")


def _read_session(source: Source, into: Destination, path: str) -> Iterator[Item]:
    data = source.read_file(path)
    if data is None:
        return
    name = path.rpartition("/")[2].removesuffix(".jsonl")
    turns, title = read_turns(data, path, source.skipped)
    if turns:
        at = next((turn.at for turn in turns if turn.at), "")
        if _UUID.fullmatch(name):
            yield SessionItem(f"session {name}", into.agent, CLAUDE_CODE, name, turns, title, at)
        else:
            original_id = _find_session_id(data, path)
            yield SessionItem(f"{source.location}/{path}", into.agent, CLAUDE_CODE, name, turns, title, at, original_id)


def _find_session_id(data: bytes, path: str) -> str:
    """Return the session id that all lines of a transcript agree on, or nothing."""
    ignored: list[Skipped] = []
    ids = {read_text(event.get("sessionId")) for _, event in parse_json_lines(data, path, ignored)} - {""}
    return ids.pop() if len(ids) == 1 else ""


def read_turns(data: bytes, what: str, skipped: list[Skipped]) -> tuple[tuple[ImportedTurn, ...], str]:
    """Return the turns of user and assistant, and the title if there is one.

    Sidechains, meta messages, tool calls and thoughts are left out; a line that occurs twice counts once.
    """
    turns: list[ImportedTurn] = []
    title = ""
    seen: set[str] = set()
    for _, event in parse_json_lines(data, what, skipped):
        title = read_text(event.get("summary")) if event.get("type") == "summary" else title
        name = read_text(event.get("uuid") or event.get("id"))
        if event.get("isSidechain") or event.get("isMeta") or event.get("isCompactSummary") or (name and name in seen):
            continue
        seen.add(name)
        turns += [turn for turn in read_turn(event) if not turn.text.startswith(_COMMAND_OUTPUT)]
    return tuple(turns), title
