"""Homes of OpenClaw, duragent and agentool, copied into this one: days, the curated page, topics, skills, sessions.

Each of them also opens in place, without a copy: `in_place` writes the one line of settings that it takes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import Conflict, InvalidArgument, StorageError
from ..settings import FILE, load
from ..storage.names import coded, topic_file, topic_name
from ..storage.skills import PAGE
from .duragent_sessions import sessions
from .source import Folder, Single, Source
from .transcripts import turns
from .values import Into, Item, Missed, Session, Text

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(-[^/]+)?\.md")
_NESTED_DAY = re.compile(r"(\d{4})/(\d\d)/(\d\d)()\.md")
_OPENCLAW_FILES = frozenset({"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"})
_WORKSPACE_OF = "workspace-"  # and the agent's name, where there are several
_INSTRUCTIONS = "is instructions for OpenClaw, not memory: put what should stay into directives/"


class _Home(NamedTuple):
    """A home that is being read: `name` is what its pages are called after, where one stands here already."""

    name: str
    source: Source
    into: Into

    def text(self, path: str, place: str, beside: str = "") -> Iterator[Item]:
        data = self.source.take(path)
        if data is not None:
            yield Text(f"{self.source.place}/{path}", place, data, self.source.modified(path), beside)

    def aside(self, place: str) -> str:
        """The name of a page whose own is taken."""
        return f"{place.removesuffix('.md')}-{self.name}.md"

    def page(self, path: str, place: str) -> Iterator[Item]:
        yield from self.text(path, place, self.aside(place))

    def day(self, path: str, found: re.Match[str], agent: str) -> Iterator[Item]:
        year, month, day, rest = found.groups()
        layout = self.into.layout
        folder = layout.days_folder(agent)
        name = layout.day_name.replace("%Y", year).replace("%m", month).replace("%d", day)
        yield from self.page(path, f"{folder}/{name}{rest or ''}.md")

    def session(self, path: str, agent: str) -> Iterator[Item]:
        data = self.source.take(path)
        if data is None:
            return
        said, title = turns(data, path, self.source.missed)
        at = next((turn.at for turn in said if turn.at), "")
        if said:
            *_, above, file = path.split("/")
            name = above if file == "events.jsonl" else file.removesuffix(".jsonl")
            yield Session(f"{self.source.place}/{path}", agent, self.name, name, said, title, at)

    def skills(self, folder: str) -> Iterator[Item]:
        """Every file of a skill, first what makes it one."""
        paths = self.source.paths(folder)
        for path in sorted(paths, key=lambda path: (path.rpartition("/")[0], not path.endswith(f"/{PAGE}"), path)):
            rest = path.removeprefix(f"{folder}/")
            if "/" in rest:
                yield from self.text(path, f"{self.into.layout.skills}/{rest}")
            else:
                yield Missed(path, "lies in no skill's folder")

    def topic(self, path: str, rest: str) -> Iterator[Item]:
        """A page of the world, by a name that a topic can have."""
        try:
            parts = [topic_file(topic_name(part)) for part in rest.removesuffix(".md").split("/")]
        except InvalidArgument:
            parts = [coded(rest)]
        yield from self.page(path, f"{self.into.layout.world}/{'/'.join(parts)}.md")


def is_openclaw(source: Source) -> bool:
    top = source.top()
    if "openclaw.json" in top or _has_workspace(source):
        return True
    has_days = any(_DAY.fullmatch(name) for name in source.top("memory"))
    has_page = "MEMORY.md" in top or "memory.md" in top
    return has_days or (has_page and not _OPENCLAW_FILES.isdisjoint(top))


def _has_workspace(source: Source) -> bool:
    inside = source.top("workspace")
    return "workspace/" in source.top() and not {"MEMORY.md", "memory.md", "memory/", *_OPENCLAW_FILES}.isdisjoint(
        inside
    )


def openclaw(source: Source, into: Into) -> Iterator[Item]:
    home = _Home("openclaw", source, into)
    for folder, agent in _workspaces(source, into):
        yield from _openclaw_workspace(home, folder, agent)
    yield from _sessions(home)


def _workspaces(source: Source, into: Into) -> list[tuple[str, str]]:
    """The folders of agents, with the agents they become; the source itself, when it is such a folder."""
    found = [("workspace", into.agent)] if _has_workspace(source) else []
    names = [name[:-1] for name in source.top() if name.startswith(_WORKSPACE_OF) and name.endswith("/")]
    found += [(name, _agent_of(name.removeprefix(_WORKSPACE_OF), into)) for name in names if name != _WORKSPACE_OF]
    return found or [("", into.agent)]


def _agent_of(name: str, into: Into) -> str:
    return into.agent if name == "main" else name


def _openclaw_workspace(home: _Home, folder: str, agent: str) -> Iterator[Item]:
    """What one agent has. Its topics are for all, unless it is one of several: then they stay its own."""
    source, into = home.source, home.into
    above = f"{folder}/" if folder else ""
    for name in source.top(folder):
        if name in ("MEMORY.md", "memory.md"):
            yield from home.page(above + name, into.layout.curated_page(agent))
        elif name in ("USER.md", "DREAMS.md"):
            yield from home.page(above + name, into.own(name, agent))
        elif name in _OPENCLAW_FILES:
            yield Missed(above + name, _INSTRUCTIONS)
        elif name.endswith(".md"):
            yield Missed(above + name, "is no page of memory: move it into memory/ if it is")
    for path in source.paths(f"{above}memory"):
        rest = path.removeprefix(f"{above}memory/")
        if found := _DAY.fullmatch(rest):
            yield from home.day(path, found, agent)
        elif rest.endswith(".md"):
            yield from home.topic(path, rest) if agent == into.agent else home.page(path, into.own(rest, agent))
        else:
            yield Missed(path, "is not Markdown")
    yield from home.skills(f"{above}skills")


def _sessions(home: _Home) -> Iterator[Item]:
    for name in home.source.top("agents"):
        folder = f"agents/{name}sessions"
        for file in home.source.top(folder):
            if file.endswith(".jsonl"):
                yield from home.session(f"{folder}/{file}", _agent_of(name[:-1], home.into))


def is_duragent(source: Source) -> bool:
    top = source.top()
    alike = "agents/" in top and source.has("memory/world") and not source.has(".history")
    return source.has(".duragent") or "duragent.yaml" in top or alike


def duragent(source: Source, into: Into) -> Iterator[Item]:
    home = _Home("duragent", source, into)
    base = _workspace(source)
    above = f"{base}/" if base else ""
    for path in source.paths(f"{above}memory"):
        rest = path.removeprefix(f"{above}memory/")
        if rest.endswith(".md"):
            place = f"{into.layout.world}/{rest[6:]}" if rest.startswith("world/") else into.loose(rest)
            yield from home.page(path, place)
        else:
            yield Missed(path, "is not Markdown")
    for path in source.paths(f"{above}directives"):
        if path.endswith(".md"):
            yield from home.text(path, f"{into.layout.directives}/{path.removeprefix(f'{above}directives/')}")
    yield from home.skills(f"{above}skills")
    agents = [name[:-1] for name in source.top(f"{above}agents") if name.endswith("/")]
    all_mine = into.said and len(agents) == 1
    for name in agents:
        yield from _agent(home, f"{above}agents/{name}", into.agent if all_mine else name)
    yield from sessions(source, into, f"{above}sessions", all_mine=all_mine)


def _workspace(source: Source) -> str:
    """The folder that holds everything: what duragent.yaml says, .duragent, or the source itself."""
    said = re.search(rb"^workspace:\s*[\"']?([\w./-]+)", source.peek("duragent.yaml"), re.MULTILINE)
    folder = os.path.normpath(said[1].decode()).replace(os.sep, "/") if said else ".duragent"
    return folder if not folder.startswith(("..", "/")) and folder != "." and source.has(folder) else ""


def _agent(home: _Home, folder: str, agent: str) -> Iterator[Item]:
    layout = home.into.layout
    for path in home.source.paths(folder):
        rest = path.removeprefix(f"{folder}/")
        if rest == "memory/MEMORY.md":
            yield from home.page(path, layout.curated_page(agent))
        elif rest.startswith("memory/daily/") and (found := _DAY.fullmatch(rest.removeprefix("memory/daily/"))):
            yield from home.day(path, found, agent)
        elif rest.startswith("memory/") and rest.endswith(".md"):
            yield from home.page(path, home.into.own(rest.removeprefix("memory/"), agent))
        elif rest.startswith("directives/") and rest.endswith(".md"):
            yield from home.text(path, f"{layout.agent_directives(agent)}/{rest.removeprefix('directives/')}")
        elif rest.startswith("sessions/") and rest.endswith(".jsonl"):
            yield from home.session(path, agent)
        else:
            yield Missed(path, "is not memory: copy it by hand if it is needed")


def is_agentool(source: Source) -> bool:
    return source.has(".agent/memory")


def agentool(source: Source, into: Into) -> Iterator[Item]:
    home = _Home("agentool", source, into)
    for path in source.paths(".agent/memory"):
        rest = path.removeprefix(".agent/memory/")
        if rest == "MEMORY.md":
            yield from home.page(path, into.layout.curated_page(into.agent))
        elif found := _NESTED_DAY.fullmatch(rest):
            yield from home.day(path, found, into.agent)
        elif rest.endswith(".md"):
            yield from home.page(path, into.own(rest))
        else:
            yield Missed(path, "is not Markdown")


def in_place(source: Source, layout: str, *, dry_run: bool) -> tuple[str, bool]:
    """Let a home of another system open where it is: the folder to name as home, and whether its settings are new."""
    if isinstance(source, Single) or not isinstance(source, Folder):
        raise InvalidArgument(f"{source.whole} is not a folder that could be a home: --in-place takes one")
    inside = layout == "openclaw" and _has_workspace(source)
    folder = os.path.join(source.place, "workspace") if inside else source.place
    path = os.path.join(folder, FILE)
    if os.path.lexists(path):
        said = load(folder).layout
        if said != layout:
            raise Conflict(f"{path} stands already, and says layout: {said}: change it there if it should")
        return folder, False
    base = _workspace(source) if layout == "duragent" else ".duragent"
    lines = [f"layout: {layout}\n", *([f"workspace: {base or '.'}\n"] if base != ".duragent" else [])]
    if not dry_run:
        _write_new(path, "".join(lines))
    return folder, True


def _write_new(path: str, text: str) -> None:
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
