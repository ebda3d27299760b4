"""Homes of OpenClaw, duragent and agentool, and folders of Markdown: days, topics, skills, sessions, any page.

Homes are copied into this home, or opened where they are, which takes a settings file that `open_in_place` writes. Of
a folder of Markdown (Obsidian, basic-memory, or any other), pages keep their bytes, relative paths and times.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import foreign
from ..errors import Conflict, InvalidArgument, StorageError
from ..formats import ParseProblem, frontmatter
from ..formats.frontmatter import as_text, compose
from ..settings import FILE, load
from ..storage.layout import folders_above, join_path
from ..storage.names import encode_name, topic_file, topic_name
from ..storage.records import SKILL_PAGE
from .chat_exports import read_turns
from .source import Folder, SingleFile, Source, is_within, parse_json_lines
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
_INSTRUCTIONS = "is instructions for OpenClaw, not memory: put what should stay into directives/"
_DURAGENT_LOGS = ("events.archive.jsonl", "events.jsonl")  # in the order they were written
_DURAGENT_SNAPSHOT = "state.yaml"


class _HomeReader(NamedTuple):
    """Reads a home. `name` is the name of its system; pages whose name is taken get it as a suffix."""

    name: str
    source: Source
    into: Destination

    def read_file(self, path: str, page: str, fallback_path: str = "") -> Iterator[Item]:
        data = self.source.read_file(path)
        if data is not None:
            yield PageItem(f"{self.source.location}/{path}", page, data, self.source.modified(path), fallback_path)

    def read_page(self, path: str, page: str) -> Iterator[Item]:
        yield from self.read_file(path, page, f"{page.removesuffix('.md')}-{self.name}.md")

    def read_day(self, path: str, match: re.Match[str], agent: str) -> Iterator[Item]:
        year, month, day, rest = match.groups()
        layout = self.into.layout
        folder = self.into.days_folder(agent)
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
            return path.rpartition("/")[0], not path.endswith(f"/{SKILL_PAGE}"), path

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


def _with_rest(items: Iterator[Item], source: Source, folder: str) -> Iterator[Item]:
    """Yield items, then every remaining file below a folder."""
    names: set[str] = set()
    for item in items:
        names.add(item.what if isinstance(item, Skipped) else item.id.removeprefix(f"{source.location}/"))
        yield item
    names |= {skipped.what for skipped in source.skipped}
    for path in source.list_files(folder):
        if names.isdisjoint((path, *folders_above(path))):
            yield Skipped(path, _reason_to_skip(path))


def _reason_to_skip(path: str) -> str:
    name = path.rpartition("/")[2]
    if name == FILE or name in (foreign.DURAGENT_FILE, *foreign.OPENCLAW_FILES):
        return "is configuration, and not copied"
    if name.endswith(".jsonl"):
        return "is a session in which nothing was said"
    return "is not memory: copy it by hand if it is needed"


def _named_layout(source: Source) -> str:
    """Return the layout that settings of ours beside the pages name; empty if there are none."""
    text = source.read_config(FILE)
    return load("", lambda _: text).layout if text is not None else ""


def is_openclaw(source: Source) -> bool:
    if "openclaw" in (_named_layout(source), foreign.recognise(source, source.name)) or _has_workspace(source):
        return True
    names = source.list_names()
    has_days = any(_DAY.fullmatch(name) for name in source.list_names("memory"))
    has_page = "MEMORY.md" in names or "memory.md" in names
    return has_days or (has_page and not foreign.OPENCLAW_PAGES.isdisjoint(names))


def _has_workspace(source: Source) -> bool:
    known = {"MEMORY.md", "memory.md", "memory/", *foreign.OPENCLAW_PAGES}
    return "workspace/" in source.list_names() and not known.isdisjoint(source.list_names("workspace"))


def read_openclaw(source: Source, into: Destination) -> Iterator[Item]:
    yield from _with_rest(_read_openclaw(source, into), source, "")


def _read_openclaw(source: Source, into: Destination) -> Iterator[Item]:
    for part, folder, agent in _list_workspaces(source, into):
        yield from _read_openclaw_workspace(_HomeReader("openclaw", part, into), folder, agent)
    reader = _HomeReader("openclaw", source, into)
    for name in source.list_names("agents"):
        if name.endswith("/"):
            yield from _read_openclaw_agent(reader, f"agents/{name[:-1]}", _agent_of(name[:-1], into))


def _read_openclaw_agent(reader: _HomeReader, folder: str, agent: str) -> Iterator[Item]:
    """Yield what is stored of one agent beside the workspaces."""
    for path in reader.source.list_files(folder):
        rest = path.removeprefix(f"{folder}/")
        if rest in ("MEMORY.md", "memory.md"):
            yield from reader.read_page(path, reader.into.curated_page(agent))
        elif rest.startswith("memory/") and rest.endswith(".md"):
            yield from _read_openclaw_note(reader, path, rest.removeprefix("memory/"), agent, is_shared=False)
        elif re.fullmatch(r"sessions/[^/]+\.jsonl", rest):
            yield from reader.read_session(path, agent)


def _list_workspaces(source: Source, into: Destination) -> list[tuple[Source, str, str]]:
    """Return the workspaces, each with the source it is in and its agent here; the source itself, if it is one."""
    config = foreign.read_config(source, "openclaw", source.location)
    workspaces: dict[tuple[str, str], tuple[Source, str, str]] = {}

    def add(text: str, agent: str) -> None:
        part, folder = source.open_folder(text)
        if part.list_names(folder):
            workspaces.setdefault((part.location, folder), (part, folder, agent))

    if _has_workspace(source):
        add("workspace", into.agent)
    elif config.workspace:
        add(config.workspace, into.agent)
    for agent, text in config.agent_workspaces:
        add(text, _agent_of(agent, into))
    for name in source.list_names():
        agent = name.removeprefix(foreign.WORKSPACE_PREFIX).rstrip("/")
        if name.startswith(foreign.WORKSPACE_PREFIX) and name.endswith("/") and agent:
            add(name.rstrip("/"), _agent_of(agent, into))
    if not workspaces or not {"MEMORY.md", "memory.md", "memory/"}.isdisjoint(source.list_names()):
        workspaces.setdefault((source.location, ""), (source, "", into.agent))
    return list(workspaces.values())


def _agent_of(name: str, into: Destination) -> str:
    return into.agent if name == foreign.MAIN_AGENT else name


def _read_openclaw_workspace(reader: _HomeReader, folder: str, agent: str) -> Iterator[Item]:
    """Yield the pages of one agent. The main agent's topics become shared; those of others stay their own."""
    source = reader.source
    into = reader.into
    prefix = f"{folder}/" if folder else ""
    for name in source.list_names(folder):
        if name in ("MEMORY.md", "memory.md"):
            yield from reader.read_page(prefix + name, into.curated_page(agent))
        elif name in ("USER.md", "DREAMS.md"):
            yield from reader.read_page(prefix + name, into.agent_page(name, agent))
        elif name in foreign.OPENCLAW_PAGES:
            yield Skipped(prefix + name, _INSTRUCTIONS)
        elif name.endswith(".md"):
            yield Skipped(prefix + name, "is not a page of memory: move it into memory/ if it is")
    for path in source.list_files(f"{prefix}memory"):
        rest = path.removeprefix(f"{prefix}memory/")
        if rest.endswith(".md"):
            yield from _read_openclaw_note(reader, path, rest, agent, is_shared=agent == into.agent)
        else:
            yield Skipped(path, "is not Markdown")
    yield from reader.read_skills(f"{prefix}skills")


def _read_openclaw_note(reader: _HomeReader, path: str, rest: str, agent: str, *, is_shared: bool) -> Iterator[Item]:
    if match := _DAY.fullmatch(rest):
        yield from reader.read_day(path, match, agent)
    elif is_shared:
        yield from reader.read_topic(path, rest)
    else:
        yield from reader.read_page(path, reader.into.agent_page(rest, agent))


def is_duragent(source: Source) -> bool:
    if "duragent" in (_named_layout(source), foreign.recognise(source, source.name)):
        return True
    has_parts = "agents/" in source.list_names() and source.has_folder("memory/world")
    return has_parts and not source.has_folder(".history")


def read_duragent(source: Source, into: Destination) -> Iterator[Item]:
    config = foreign.read_config(source, "duragent", source.location)
    part, folder = _find_duragent_workspace(source, config)
    yield from _with_rest(_read_duragent_workspace(part, folder, into), part, folder)
    if config.world:
        world, path = source.open_folder(config.world)
        if world.location != part.location or not _is_below(path, folder):
            yield from _with_rest(_read_world(_HomeReader("duragent", world, into), path), world, path)
        elif path != join_path(folder, "memory/world"):
            yield from _read_world(_HomeReader("duragent", world, into), path)


def _find_duragent_workspace(source: Source, config: foreign.Config) -> tuple[Source, str]:
    """Return the source with the folder that holds everything, and its path there; the source itself by default."""
    part, folder = source.open_folder(config.workspace or foreign.DURAGENT_WORKSPACE)
    return (part, folder) if part.has_folder(folder) else (source, "")


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _read_world(reader: _HomeReader, folder: str) -> Iterator[Item]:
    for path in reader.source.list_files(folder):
        if path.endswith(".md"):
            rest = path.removeprefix(f"{folder}/" if folder else "")
            yield from reader.read_page(path, f"{reader.into.layout.world}/{rest}")


def _read_duragent_workspace(source: Source, workspace: str, into: Destination) -> Iterator[Item]:
    reader = _HomeReader("duragent", source, into)
    prefix = f"{workspace}/" if workspace else ""
    yield from _read_world(reader, f"{prefix}memory/world")
    for path in source.list_files(f"{prefix}memory"):
        rest = path.removeprefix(f"{prefix}memory/")
        if not rest.endswith(".md"):
            yield Skipped(path, "is not Markdown")
        elif not rest.startswith("world/"):
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


def _read_duragent_agent(reader: _HomeReader, folder: str, agent: str) -> Iterator[Item]:
    layout = reader.into.layout
    for path in reader.source.list_files(folder):
        rest = path.removeprefix(f"{folder}/")
        if rest == "memory/MEMORY.md":
            yield from reader.read_page(path, reader.into.curated_page(agent))
        elif rest.startswith("memory/daily/") and (match := _DAY.fullmatch(rest.removeprefix("memory/daily/"))):
            yield from reader.read_day(path, match, agent)
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
    except (ParseProblem, UnicodeDecodeError) as error:
        source.skipped.append(Skipped(path, f"is not YAML that is understood ({error})"))
        return {}
    return value if isinstance(value, dict) else {}


def is_agentool(source: Source) -> bool:
    return "agentool" in (_named_layout(source), foreign.recognise(source, source.name))


def read_agentool(source: Source, into: Destination) -> Iterator[Item]:
    yield from _with_rest(_read_agentool(source, into), source, ".agent")


def _read_agentool(source: Source, into: Destination) -> Iterator[Item]:
    reader = _HomeReader("agentool", source, into)
    for path in source.list_files(".agent/memory"):
        rest = path.removeprefix(".agent/memory/")
        if rest == "MEMORY.md":
            yield from reader.read_page(path, into.curated_page(into.agent))
        elif match := _NESTED_DAY.fullmatch(rest):
            yield from reader.read_day(path, match, into.agent)
        elif rest.endswith(".md"):
            yield from reader.read_page(path, into.agent_page(rest))
        else:
            yield Skipped(path, "is not Markdown")


def open_in_place(source: Source, layout: str, *, dry_run: bool) -> tuple[str, bool]:
    """Write the settings that open a home of another system; return its folder, and whether they are new."""
    if isinstance(source, SingleFile) or not isinstance(source, Folder):
        raise InvalidArgument(f"{source.full_path} is not a folder that could be a home: --in-place takes one")
    is_opened = source.has_folder(".history")
    inside = layout == "openclaw" and _has_workspace(source) and not is_opened
    folder = os.path.join(source.location, "workspace") if inside else source.location
    path = os.path.join(folder, FILE)
    if os.path.lexists(path):
        existing = load(folder).layout
        if existing != layout:
            raise Conflict(f"{path} exists already and says layout: {existing}: change it there if it should differ")
        return folder, False
    located = foreign.locate(source.location)
    is_elsewhere = not is_within(located.folder, source.location) and not is_within(source.location, located.folder)
    if is_elsewhere or (is_opened and located.settings.layout == layout):
        return located.folder, False
    if not dry_run:
        is_workspace = layout == "duragent" and not foreign.is_home(folder)
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(f"layout: {layout}\n" + ("workspace: .\n" if is_workspace else ""))
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error
    return folder, True


_MAX_PAGES_PEEKED = 50  # enough to recognise a format by its front matter
_RESERVED_FOLDERS = frozenset({"world", "global", "channels"})  # they have a meaning in a home
_SKIP_REASONS = {
    ".canvas": "is an Obsidian canvas: a drawing, not text",
    ".base": "is an Obsidian base: a view, not text",
    ".excalidraw": "is a drawing, not text",
}


def is_obsidian(source: Source) -> bool:
    return source.has_folder(".obsidian")


def is_basic_memory(source: Source) -> bool:
    """Return whether any of the first pages has a `permalink` in its front matter."""
    folders = ["", *(name[:-1] for name in source.list_names() if name.endswith("/"))]
    pages = [
        f"{folder}/{name}" if folder else name
        for folder in folders[:_MAX_PAGES_PEEKED]
        for name in source.list_names(folder)
        if name.endswith(".md")
    ]
    return any(b"\npermalink:" in _read_front_matter(source, path) for path in pages[:_MAX_PAGES_PEEKED])


def _read_front_matter(source: Source, path: str) -> bytes:
    text = source.peek(path).decode("utf-8", "replace")
    return frontmatter.split(text)[0].encode()


def read(source: Source, into: Destination) -> Iterator[Item]:
    try:
        name = topic_name(source.name)
    except InvalidArgument:
        name = "notes"
    name = f"{name}-notes" if name in _RESERVED_FOLDERS else name
    fallback_name = f"{name}-{hashlib.blake2b(source.location.encode(), digest_size=3).hexdigest()}"
    for path in source.list_files():
        ending = os.path.splitext(path)[1].lower()
        if ending != ".md":
            yield Skipped(path, _SKIP_REASONS.get(ending, "is an attachment: only Markdown is imported"))
            continue
        data = source.read_file(path)
        if data is None:
            continue
        page = path[:-3] + ".md"  # search does not look at .MD
        yield PageItem(
            f"{source.location}/{path}",
            into.shared_page(f"{name}/{page}"),
            data,
            source.modified(path),
            into.shared_page(f"{fallback_name}/{page}"),
        )
