"""Homes of OpenClaw, duragent and agentool: days, the curated page, topics, skills and sessions.

They are copied into this home, or opened where they are: `open_in_place` writes the settings file that this takes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import Conflict, InvalidArgument, StorageError
from ..formats.yaml_nodes import YamlProblem, as_text, compose
from ..settings import FILE, load
from ..storage.names import encode_name, topic_file, topic_name
from ..storage.skills import PAGE
from .claude_code import read_turns
from .source import Folder, SingleFile, Source, parse_json_lines
from .values import (
    Destination,
    ImportedTurn,
    Item,
    PageItem,
    SessionItem,
    Skipped,
    read_text,
    read_timestamp,
    read_turn,
)

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(-[^/]+)?\.md")
_NESTED_DAY = re.compile(r"(\d{4})/(\d\d)/(\d\d)()\.md")
_OPENCLAW_FILES = frozenset({"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"})
_WORKSPACE_PREFIX = "workspace-"  # and the agent's name, where there are several
_INSTRUCTIONS = "is instructions for OpenClaw, not memory: put what should stay into directives/"
_DURAGENT_LOGS = ("events.archive.jsonl", "events.jsonl")  # in the order they were written
_DURAGENT_SNAPSHOT = "state.yaml"


class _HomeReader(NamedTuple):
    """Reads a home. `name` is that of its system, and the suffix of pages whose own name is taken."""

    name: str
    source: Source
    into: Destination

    def read_file(self, path: str, page: str, fallback_path: str = "") -> Iterator[Item]:
        data = self.source.read_file(path)
        if data is not None:
            yield PageItem(f"{self.source.location}/{path}", page, data, self.source.modified(path), fallback_path)

    def read_page(self, path: str, page: str) -> Iterator[Item]:
        yield from self.read_file(path, page, f"{page.removesuffix('.md')}-{self.name}.md")

    def read_day(self, path: str, found: re.Match[str], agent: str) -> Iterator[Item]:
        year, month, day, rest = found.groups()
        layout = self.into.layout
        folder = layout.days_folder(agent)
        name = layout.day_name.replace("%Y", year).replace("%m", month).replace("%d", day)
        yield from self.read_page(path, f"{folder}/{name}{rest or ''}.md")

    def read_session(self, path: str, agent: str) -> Iterator[Item]:
        data = self.source.read_file(path)
        if data is None:
            return
        turns, title = read_turns(data, path, self.source.skipped)
        at = next((turn.at for turn in turns if turn.at), "")
        if turns:
            *_, folder, file = path.split("/")
            name = folder if file == "events.jsonl" else file.removesuffix(".jsonl")
            yield SessionItem(f"{self.source.location}/{path}", agent, self.name, name, turns, title, at)

    def read_skills(self, folder: str) -> Iterator[Item]:
        """Yield the files of every skill, its SKILL.md first."""

        def order(path: str) -> tuple[str, bool, str]:
            return path.rpartition("/")[0], not path.endswith(f"/{PAGE}"), path

        for path in sorted(self.source.list_files(folder), key=order):
            rest = path.removeprefix(f"{folder}/")
            if "/" in rest:
                yield from self.read_file(path, f"{self.into.layout.skills}/{rest}")
            else:
                yield Skipped(path, "is not in the folder of a skill")

    def read_topic(self, path: str, rest: str) -> Iterator[Item]:
        """Yield a page as a topic of the world, under a name that topics may have."""
        try:
            parts = [topic_file(topic_name(part)) for part in rest.removesuffix(".md").split("/")]
        except InvalidArgument:
            parts = [encode_name(rest)]
        yield from self.read_page(path, f"{self.into.layout.world}/{'/'.join(parts)}.md")


def is_openclaw(source: Source) -> bool:
    names = source.list_names()
    if "openclaw.json" in names or _has_workspace(source):
        return True
    has_days = any(_DAY.fullmatch(name) for name in source.list_names("memory"))
    has_page = "MEMORY.md" in names or "memory.md" in names
    return has_days or (has_page and not _OPENCLAW_FILES.isdisjoint(names))


def _has_workspace(source: Source) -> bool:
    known = {"MEMORY.md", "memory.md", "memory/", *_OPENCLAW_FILES}
    return "workspace/" in source.list_names() and not known.isdisjoint(source.list_names("workspace"))


def read_openclaw(source: Source, into: Destination) -> Iterator[Item]:
    reader = _HomeReader("openclaw", source, into)
    for folder, agent in _list_workspaces(source, into):
        yield from _read_openclaw_workspace(reader, folder, agent)
    for name in source.list_names("agents"):
        folder = f"agents/{name}sessions"
        for file in source.list_names(folder):
            if file.endswith(".jsonl"):
                yield from reader.read_session(f"{folder}/{file}", _agent_of(name[:-1], into))


def _list_workspaces(source: Source, into: Destination) -> list[tuple[str, str]]:
    """Return the workspaces and their agents here; the source itself, if it is a workspace."""
    found = [("workspace", into.agent)] if _has_workspace(source) else []
    names = [name[:-1] for name in source.list_names() if name.startswith(_WORKSPACE_PREFIX) and name.endswith("/")]
    for name in names:
        if name != _WORKSPACE_PREFIX:
            found.append((name, _agent_of(name.removeprefix(_WORKSPACE_PREFIX), into)))
    return found or [("", into.agent)]


def _agent_of(name: str, into: Destination) -> str:
    return into.agent if name == "main" else name


def _read_openclaw_workspace(reader: _HomeReader, folder: str, agent: str) -> Iterator[Item]:
    """Yield the pages of one agent. The main agent's topics become shared; those of others stay their own."""
    source = reader.source
    into = reader.into
    prefix = f"{folder}/" if folder else ""
    for name in source.list_names(folder):
        if name in ("MEMORY.md", "memory.md"):
            yield from reader.read_page(prefix + name, into.layout.curated_page(agent))
        elif name in ("USER.md", "DREAMS.md"):
            yield from reader.read_page(prefix + name, into.agent_page(name, agent))
        elif name in _OPENCLAW_FILES:
            yield Skipped(prefix + name, _INSTRUCTIONS)
        elif name.endswith(".md"):
            yield Skipped(prefix + name, "is not a page of memory: move it into memory/ if it is")
    for path in source.list_files(f"{prefix}memory"):
        rest = path.removeprefix(f"{prefix}memory/")
        if found := _DAY.fullmatch(rest):
            yield from reader.read_day(path, found, agent)
        elif not rest.endswith(".md"):
            yield Skipped(path, "is not Markdown")
        elif agent == into.agent:
            yield from reader.read_topic(path, rest)
        else:
            yield from reader.read_page(path, into.agent_page(rest, agent))
    yield from reader.read_skills(f"{prefix}skills")


def is_duragent(source: Source) -> bool:
    names = source.list_names()
    looks_like_it = "agents/" in names and source.has_folder("memory/world") and not source.has_folder(".history")
    return source.has_folder(".duragent") or "duragent.yaml" in names or looks_like_it


def read_duragent(source: Source, into: Destination) -> Iterator[Item]:
    reader = _HomeReader("duragent", source, into)
    workspace = _find_duragent_workspace(source)
    prefix = f"{workspace}/" if workspace else ""
    for path in source.list_files(f"{prefix}memory"):
        rest = path.removeprefix(f"{prefix}memory/")
        if not rest.endswith(".md"):
            yield Skipped(path, "is not Markdown")
        elif rest.startswith("world/"):
            yield from reader.read_page(path, f"{into.layout.world}/{rest.removeprefix('world/')}")
        else:
            yield from reader.read_page(path, into.shared_page(rest))
    for path in source.list_files(f"{prefix}directives"):
        if path.endswith(".md"):
            rest = path.removeprefix(f"{prefix}directives/")
            yield from reader.read_file(path, f"{into.layout.directives}/{rest}")
    yield from reader.read_skills(f"{prefix}skills")
    agents = [name[:-1] for name in source.list_names(f"{prefix}agents") if name.endswith("/")]
    to_named_agent = into.agent_was_named and len(agents) == 1
    for name in agents:
        yield from _read_duragent_agent(reader, f"{prefix}agents/{name}", into.agent if to_named_agent else name)
    yield from _read_duragent_sessions(source, into, f"{prefix}sessions", to_named_agent=to_named_agent)


def _find_duragent_workspace(source: Source) -> str:
    """Return the folder that holds everything: the one duragent.yaml names, .duragent, or "" for the source itself."""
    setting = re.search(rb"^workspace:\s*[\"']?([\w./-]+)", source.peek("duragent.yaml"), re.MULTILINE)
    folder = os.path.normpath(setting[1].decode()).replace(os.sep, "/") if setting else ".duragent"
    return folder if not folder.startswith(("..", "/")) and folder != "." and source.has_folder(folder) else ""


def _read_duragent_agent(reader: _HomeReader, folder: str, agent: str) -> Iterator[Item]:
    layout = reader.into.layout
    for path in reader.source.list_files(folder):
        rest = path.removeprefix(f"{folder}/")
        if rest == "memory/MEMORY.md":
            yield from reader.read_page(path, layout.curated_page(agent))
        elif rest.startswith("memory/daily/") and (found := _DAY.fullmatch(rest.removeprefix("memory/daily/"))):
            yield from reader.read_day(path, found, agent)
        elif rest.startswith("memory/") and rest.endswith(".md"):
            yield from reader.read_page(path, reader.into.agent_page(rest.removeprefix("memory/"), agent))
        elif rest.startswith("directives/") and rest.endswith(".md"):
            yield from reader.read_file(path, f"{layout.agent_directives(agent)}/{rest.removeprefix('directives/')}")
        elif rest.startswith("sessions/") and rest.endswith(".jsonl"):
            yield from reader.read_session(path, agent)
        else:
            yield Skipped(path, "is not memory: copy it by hand if it is needed")


def _read_duragent_sessions(
    source: Source, into: Destination, folder: str, *, to_named_agent: bool
) -> Iterator[SessionItem]:
    """Yield every session below a folder: a log of events, and a snapshot of what was said before the log was cut.

    A session belongs to the agent it names, unless all become those of the agent the user named.
    """
    for entry in source.list_names(folder):
        names = source.list_names(f"{folder}/{entry[:-1]}") if entry.endswith("/") else []
        if {*_DURAGENT_LOGS, _DURAGENT_SNAPSHOT}.isdisjoint(names):
            continue
        events: list[dict[str, Any]] = []
        for log in _DURAGENT_LOGS:
            data = source.read_file(f"{folder}/{entry}{log}") if log in names else None
            events += [event for _, event in parse_json_lines(data or b"", f"{folder}/{entry}{log}", source.skipped)]
        snapshot = (
            _read_snapshot(source, f"{folder}/{entry}{_DURAGENT_SNAPSHOT}") if _DURAGENT_SNAPSHOT in names else {}
        )
        turns = _join_turns(events, snapshot)
        if not turns:
            source.skipped.append(Skipped(f"{folder}/{entry[:-1]}", "is a session in which nothing was said"))
            continue
        agents = (read_text(part.get("agent")) for part in (snapshot, *events))
        agent = into.agent if to_named_agent else next(filter(None, agents), into.agent)
        at = read_timestamp(snapshot.get("created_at")) or next((turn.at for turn in turns if turn.at), "")
        yield SessionItem(f"{source.location}/{folder}/{entry[:-1]}", agent, "duragent", entry[:-1], turns, at=at)


def _join_turns(events: list[dict[str, Any]], snapshot: dict[str, Any]) -> tuple[ImportedTurn, ...]:
    """Join the turns of a session. A log that has its beginning is complete; else the snapshot comes first."""
    earlier = snapshot.get("conversation")
    if any(event.get("type") == "session_start" for event in events) or not isinstance(earlier, list):
        return tuple(turn for event in events for turn in read_turn(event))
    last = _read_number(snapshot.get("checkpoint_seq")) or _read_number(snapshot.get("last_event_seq"))
    later = [event for event in events if _read_number(event.get("seq")) > last]
    messages = [message for message in earlier if isinstance(message, dict)]
    return tuple(turn for event in (*messages, *later) for turn in read_turn(event))


def _read_number(value: Any) -> int:
    return int(value) if str(value).isdecimal() else 0


def _read_snapshot(source: Source, path: str) -> dict[str, Any]:
    try:
        node = compose((source.read_file(path) or b"").decode("utf-8-sig"))
        value = None if node is None else as_text(node)
    except (YamlProblem, UnicodeDecodeError) as error:
        source.skipped.append(Skipped(path, f"is not YAML that is understood ({error})"))
        return {}
    return value if isinstance(value, dict) else {}


def is_agentool(source: Source) -> bool:
    return source.has_folder(".agent/memory")


def read_agentool(source: Source, into: Destination) -> Iterator[Item]:
    reader = _HomeReader("agentool", source, into)
    for path in source.list_files(".agent/memory"):
        rest = path.removeprefix(".agent/memory/")
        if rest == "MEMORY.md":
            yield from reader.read_page(path, into.layout.curated_page(into.agent))
        elif found := _NESTED_DAY.fullmatch(rest):
            yield from reader.read_day(path, found, into.agent)
        elif rest.endswith(".md"):
            yield from reader.read_page(path, into.agent_page(rest))
        else:
            yield Skipped(path, "is not Markdown")


def open_in_place(source: Source, layout: str, *, dry_run: bool) -> tuple[str, bool]:
    """Write the settings by which a home of another system opens; return its folder, and whether they are new."""
    if isinstance(source, SingleFile) or not isinstance(source, Folder):
        raise InvalidArgument(f"{source.full_path} is not a folder that could be a home: --in-place takes one")
    inside = layout == "openclaw" and _has_workspace(source)
    folder = os.path.join(source.location, "workspace") if inside else source.location
    path = os.path.join(folder, FILE)
    if os.path.lexists(path):
        existing = load(folder).layout
        if existing != layout:
            raise Conflict(f"{path} exists already and says layout: {existing}: change it there if it should differ")
        return folder, False
    workspace = _find_duragent_workspace(source) if layout == "duragent" else ".duragent"
    lines = [f"layout: {layout}\n"]
    if workspace != ".duragent":
        lines.append(f"workspace: {workspace or '.'}\n")
    if not dry_run:
        _write_new_file(path, "".join(lines))
    return folder, True


def _write_new_file(path: str, text: str) -> None:
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
