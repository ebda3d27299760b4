"""Claude Code: what it noted of each project (`memory/`), and its transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..storage.names import topic_name
from .jsonparts import lines
from .source import PEEK, Source, only_file
from .transcripts import turns
from .values import CLAUDE_CODE, Into, Item, Missed, Session, Text, plain

_HELPERS = "agent-"  # how the transcripts of its helpers begin
_UNIQUE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # names that no two sessions have
_OURS = ("daily/", "working/", "activity/")  # folders of an agent's memory that mean something here


class _Project(NamedTuple):
    slug: str
    folder: str  # of the transcripts
    memory: str | None  # of what was noted; "" is the source itself


def recognise(source: Source) -> bool:
    top = source.top()
    if only_file(source).endswith(".jsonl"):
        return _is_transcript(source, top[0])
    if "projects/" in top and (source.name == ".claude" or _projects_in(source, "projects")):
        return True
    if "/.claude/projects" in source.place.replace("\\", "/"):
        return True
    return bool(_projects(source)) and any(_is_transcript(source, path) for path in _some_transcripts(source))


def _some_transcripts(source: Source) -> Iterator[str]:
    for project in _projects(source)[:20]:
        yield from _transcripts(source, project)[:3]


def _is_transcript(source: Source, path: str) -> bool:
    head = source.peek(path)
    first = head[: 1 << 14].rpartition(b"\n")[0] or head
    if b"\n" not in first and len(first) == PEEK:  # a first line that goes on beyond what is looked at
        return first.startswith(b"{") and b'"sessionId"' in first
    ignored: list[Missed] = []
    return any("sessionId" in event or "leafUuid" in event for _, event in lines(first, path, ignored))


def read(source: Source, into: Into) -> Iterator[Item]:
    projects = _projects(source)
    for project in projects:
        if project.memory is not None:
            yield from _memory(source, into, project, alone=len(projects) == 1)
        for path in _transcripts(source, project):
            yield from _session(source, into, path)


def _projects(source: Source) -> list[_Project]:
    """The source may be ~/.claude, its projects, one of them, the memory of one, or a transcript."""
    top = source.top()
    if "projects/" in top:
        return _projects_in(source, "projects")
    if "MEMORY.md" in top:
        slug = source.place.rstrip("/").split("/")[-2] if source.name == "memory" else source.name
        return [_Project(slug, "", "")]
    if any(name.endswith(".jsonl") for name in top) or "MEMORY.md" in source.top("memory"):
        return [_Project(source.name, "", "memory" if "memory/" in top else None)]
    return _projects_in(source, "")


def _projects_in(source: Source, above: str) -> list[_Project]:
    found = []
    for name in source.top(above):
        folder = f"{above}/{name[:-1]}" if above else name[:-1]
        inside = source.top(folder) if name.endswith("/") else []
        if "memory/" in inside or any(each.endswith(".jsonl") for each in inside):
            found.append(_Project(name[:-1], folder, f"{folder}/memory" if "memory/" in inside else None))
    return found


def _transcripts(source: Source, project: _Project) -> list[str]:
    names = [name for name in source.top(project.folder) if name.endswith(".jsonl") and not name.startswith(_HELPERS)]
    return [f"{project.folder}/{name}" if project.folder else name for name in names]


def _memory(source: Source, into: Into, project: _Project, *, alone: bool) -> Iterator[Item]:
    """Of one project alone, MEMORY.md is the curated page, with its topics beside it, where its links find them."""
    slug = topic_name(f"claude-code {project.slug}")
    curated = into.layout.curated_page(into.agent)
    above = f"{project.memory}/" if project.memory else ""
    for path in source.paths(project.memory or ""):
        name = path.removeprefix(above)
        if not name.endswith(".md"):
            if not name.endswith(".jsonl"):
                yield Missed(path, "is not Markdown")
            continue
        data = source.take(path)
        if data is None:
            continue
        beside = into.own(f"{slug}/{name}")
        place = curated if name == "MEMORY.md" else f"{curated.rpartition('/')[0]}/{name}".lstrip("/")
        place = place if alone and not name.startswith(_OURS) else beside
        at = source.modified(path)
        yield Text(f"{source.place}/{path}", place, data, at, beside if place != beside else "")


def _session(source: Source, into: Into, path: str) -> Iterator[Item]:
    data = source.take(path)
    if data is None:
        return
    name = path.rpartition("/")[2].removesuffix(".jsonl")
    said, title = turns(data, path, source.missed)
    if said:
        at = next((turn.at for turn in said if turn.at), "")
        if _UNIQUE.fullmatch(name):
            yield Session(f"session {name}", into.agent, CLAUDE_CODE, name, said, title, at)
        else:
            known_as = _known_as(data, path)
            yield Session(f"{source.place}/{path}", into.agent, CLAUDE_CODE, name, said, title, at, known_as)


def _known_as(data: bytes, path: str) -> str:
    """The id of a session whose file has another name, where all of its lines say the same."""
    ignored: list[Missed] = []
    ids = {plain(event.get("sessionId")) for _, event in lines(data, path, ignored)} - {""}
    return ids.pop() if len(ids) == 1 else ""
