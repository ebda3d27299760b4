"""The layout of a home: where everything is stored, and what a path means.

`native` is our own. The others open a home of another system and keep writing in that system's form; what that
system has no place for is stored beside it. Paths are relative to the home and use forward slashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

from ..caching import ByteCache
from ..errors import CommonplaceError, SettingsError
from ..model import Scope, ScopeKind, Source
from ..settings import FILE as SETTINGS_FILE
from ..settings import Settings
from .base import Root
from .names import compile_glob, file_name, fixed_folder, is_encoded, topic_file, topic_name

MAIN = "main"
FIXED_PAGES = {
    "HANDOFF": "session-handoff",
    "SCRATCHPAD": "scratchpad",
}  # the working pages with a name of their own
FIXED_NAMES = frozenset(name.lower() for name in FIXED_PAGES)
_PLACE_CACHE_BYTES = 4_000_000  # shared by all memories open in this process
_DAY = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)")

# Endings of the files of Claude's memory tool, below an agent's `memories`, that are searched.
TEXT_ENDINGS = (".md", ".txt", ".xml", ".json", ".yaml", ".yml", ".csv", ".html", ".rst", ".org", ".toml")

PageKind = Literal["page", "record", "skill", "data", "activity", "session", "directive"]


class Place(NamedTuple):
    """What a page is and who may see it. `name` comes from its file name."""

    kind: PageKind
    scope: Scope
    source: Source = "memory"
    name: str = ""
    category: str = "general"


_NO_PLACE = Place("page", Scope("extra"))
_MAX_KNOWN_RULES = 256  # sets of rules, beyond which places are computed again
_places: ByteCache[tuple[object, str, tuple[str, ...]], Place | None] = ByteCache("places", _PLACE_CACHE_BYTES)


class Diary(NamedTuple):
    """Where an agent's days and curated page are, and the folder in which its keyed blocks are looked for."""

    curated: str
    days: str
    tree: str


_PRIVATE = Diary("{agent}/memory/MEMORY.md", "{agent}/memory/daily", "{agent}/memory")


@lru_cache(_MAX_KNOWN_RULES)
def _name_rules(*rules: Any) -> object:
    """Return the same object for the same rules."""
    return object()


@dataclass(frozen=True)
class Layout:
    """Folders and pages of a home, below `base`. In a diary, `{agent}` is replaced by the agent's folder."""

    base: str = ""
    loose: str = "memory"  # the folder of shared pages, in which people may put any
    diary: Diary = _PRIVATE
    main_diary: Diary | None = None  # where the main agent's differs
    main_is_shared: bool = False  # whether all agents read the main agent's diary
    day_name: str = "%Y-%m-%d"
    is_diary_shared: bool = False  # whether all agents share one diary, which belongs to the workspace
    # The following are paths from the home, not from `base`.
    world_folder: str | None = None
    agents_folder: str | None = None
    memory_root: str | None = None  # where the diary is, in a layout in which all agents share it
    own_diaries: tuple[tuple[str, Diary], ...] = ()  # agents whose diary is elsewhere
    # Whether a folder has a subfolder of exactly this name: one that a person made is preferred to our own encoding.
    has_folder: Callable[[str, str], bool] = field(default=lambda folder, name: False, compare=False, repr=False)

    def path(self, below: str) -> str:
        return f"{self.base}/{below}" if self.base else below

    def named(self, folder: str, name: str) -> str:
        """Return the name of the subfolder for an agent, a channel or a category."""
        ours = file_name(name)
        if ours == name or is_encoded(name):  # an encoded name belongs to another
            return ours
        return name if self.has_folder(folder, name) and not self.has_folder(folder, ours) else ours

    @property
    def shared_curated(self) -> str:
        return self.path("MEMORY.md" if self.loose == "memory" else f"{self.loose}/MEMORY.md")

    @property
    def agents(self) -> str:
        """Return the folder with one folder for each agent."""
        return self.agents_folder or self.path("agents")

    @property
    def world(self) -> str:
        return self.world_folder or self.path(f"{self.loose}/world")

    @property
    def globals(self) -> str:
        return self.path(f"{self.loose}/global")

    @property
    def channels(self) -> str:
        return self.path(f"{self.loose}/channels")

    @property
    def skills(self) -> str:
        return self.path("skills")

    @property
    def directives(self) -> str:
        return self.path("directives")

    @property
    def shared_memories(self) -> str:
        """Return the folder of Claude's memory tool that all agents share."""
        return self.path("claude/memories")

    @property
    def earlier_memories(self) -> str:
        """Return the folder of the SDK's own memory tool; one that exists already stays in use."""
        return self.path("memories")

    def memories_folder(self, agent: str) -> str:
        """Return the folder of Claude's memory tool for one agent alone."""
        return f"{self.agent_folder(agent)}/claude/memories"

    def store_folder(self, agent: str) -> str:
        """Return the folder of a LangGraph store, which has a record page for each item."""
        return f"{self.agent_folder(agent)}/store"

    def agent_name(self, agent: str) -> str:
        return self.named(self.agents, agent)

    def agent_folder(self, agent: str) -> str:
        return f"{self.agents}/{self.agent_name(agent)}"

    def sessions_folder(self, agent: str) -> str:
        """Return the folder of an agent's transcripts."""
        return f"{self.agent_folder(agent)}/sessions"

    def agent_file(self, agent: str) -> str:
        return f"{self.agent_folder(agent)}/agent.yaml"

    def agent_directives(self, agent: str) -> str:
        return f"{self.agent_folder(agent)}/directives"

    def working_folder(self, agent: str) -> str:
        return f"{self.agent_folder(agent)}/memory/working"

    def handoff_page(self, agent: str) -> str:
        return f"{self.working_folder(agent)}/HANDOFF.md"

    def scratch_page(self, agent: str) -> str:
        return f"{self.working_folder(agent)}/SCRATCHPAD.md"

    def activity_folder(self, agent: str) -> str:
        return f"{self.agent_folder(agent)}/memory/activity"

    def activity_page(self, agent: str, day: date) -> str:
        return f"{self.activity_folder(agent)}/{day.isoformat()}.md"

    def world_page(self, topic: str) -> str:
        return f"{self.world}/{topic_file(topic)}.md"

    def find_page(self, path: str, list_topics: Callable[[], Sequence[str]]) -> str:
        """Return the stored spelling of a path: a topic's page may be spelled differently. `list_topics` lists all."""
        folder, _, name = path.rpartition("/")
        if folder != self.world or not name.strip("-_. "):
            return path
        topics = list_topics()
        return path if path in topics else self.find_topic_page(name.removesuffix(".md"), topics)

    def find_topic_page(self, topic: str, paths: Iterable[str]) -> str:
        """Return the page of a topic among the pages of the world, or else the one to create.

        Another program or a person may spell it in another way: `my_topic.md`, `People.md`. Exact names are compared,
        since a file system that ignores case would take two spellings for one page.
        """
        name = topic_name(topic)
        ours = self.world_page(name)
        same = [path for path in paths if path == ours or _topic_of_stem(self.topic_of(path)) == name]
        return ours if ours in same or not same else min(same)

    def is_rewritten(self, path: str, agent: str) -> bool:
        """Return whether tools of this agent rewrite a page whole: a topic, or its curated page."""
        return path.startswith(f"{self.world}/") or path == self.curated_page(agent)

    def topic_of(self, path: str) -> str:
        """Return the topic of a world page: its name without the hash of an encoded one."""
        name = stem(path)
        plain = name.partition("~")[0]
        return plain if topic_file(plain) == name else name

    def channel_folder(self, channel: str) -> str:
        return f"{self.channels}/{self.named(self.channels, channel)}"

    def _diary(self, agent: str) -> Diary:
        """Return where an agent's diary is, from the home."""
        if own := dict(self.own_diaries).get(agent):
            return own
        if self.memory_root:
            return Diary(f"{self.memory_root}/MEMORY.md", self.memory_root, self.memory_root)
        if self.main_diary and agent == MAIN:
            return Diary(*map(self.path, self.main_diary))
        folder = self.agent_folder(agent)
        parts = (part.replace("{agent}", folder) if "{agent}" in part else self.path(part) for part in self.diary)
        return Diary(*parts)

    def separate_diaries(self) -> list[Diary]:
        """Return the diaries outside of the agents' folders."""
        own = [diary for _, diary in self.own_diaries]
        if self.is_diary_shared:
            return [self._diary(""), *own]
        return [self._diary(MAIN), *own] if self.main_diary else own

    def curated_page(self, agent: str) -> str:
        return self._diary(agent).curated

    def days_folder(self, agent: str) -> str:
        return self._diary(agent).days

    def day_page(self, agent: str, day: date, number: int = 1) -> str:
        """Return the page of a day; one with a number if the page without it cannot be used."""
        beside = f"-{number}" if number > 1 else ""
        return f"{self.days_folder(agent)}/{day.strftime(self.day_name)}{beside}.md"

    def day_of(self, agent: str, path: str) -> str:
        """Return the day (YYYY-MM-DD) of a daily page; empty for any other page."""
        match = _DAY.match(path.removeprefix(self.days_folder(agent) + "/"))
        return "-".join(match.groups()) if match else ""

    def notes_tree(self, agent: str) -> str:
        return self._diary(agent).tree

    def notes_lock(self, agent: str) -> str:
        """Return the name of the lock for looking up and writing keys: one per notes tree."""
        is_shared = self.is_diary_shared and agent not in dict(self.own_diaries)
        return f"notes in {self.notes_tree(agent)}" if is_shared else f"notes of {agent}"

    def notes_path(self, agent: str, path: str) -> str:
        """Return a page's path relative to the agent's memory root, which holds its daily pages and its summary."""
        root = self._diary(agent).curated.rpartition("/")[0]
        return path.removeprefix(f"{root}/") if root else path

    def notes_page(self, agent: str, path: str) -> str:
        """Return the page that `notes_path` shows as this path."""
        root = self._diary(agent).curated.rpartition("/")[0]
        return f"{root}/{path}" if root else path

    def notes_pages(self, agent: str, paths: Iterable[str]) -> list[str]:
        """Return the pages of blocks below the notes tree, without those of other toolsets."""
        elsewhere = [self.world, self.globals, self.channels, self.working_folder(agent), self.activity_folder(agent)]
        elsewhere += (diary.tree for name, diary in self.own_diaries if name != agent)
        others = tuple(f"{folder}/" for folder in elsewhere)
        return [path for path in paths if not path.startswith(others)]

    def roots(self, extra: Iterable[str] = (), *, sessions: bool = False) -> list[Root]:
        """Return where everything that may be searched is."""
        roots = [Root(self.path(folder)) for folder in (self.loose, "skills")]
        roots += [Root(self.agents, TEXT_ENDINGS)]
        roots += [Root(folder, "") for folder in (self.shared_memories, self.earlier_memories)]
        roots += [Root(self.skills, "data.json"), Root(self.shared_curated, is_page=True)]
        if self.world_folder:
            roots.append(Root(self.world_folder))
        for diary in self.separate_diaries():
            is_searched_anyway = diary.tree == self.path(self.loose)
            if not is_searched_anyway:
                roots += [Root(diary.tree), *([] if _is_in_tree(diary) else [Root(diary.curated, is_page=True)])]
        if sessions:
            roots.append(Root(self.agents, ".jsonl"))
        return roots + [Root(fixed_folder(pattern), pattern=compile_glob(pattern)) for pattern in extra]

    def place(self, path: str, extra: Iterable[str] = ()) -> Place | None:
        """Return what a path means; None if search may not return it."""
        key = (self._owner, path, tuple(extra))
        known: Place | None = _places.get(key, _NO_PLACE)
        if known is _NO_PLACE:  # not cached: listing a memory would ask for each of its pages
            known = self._match_rules(path, key[2])
            _places.add_new(key, known)
        return known

    @cached_property
    def _owner(self) -> object:
        """Return what distinguishes the places of this layout from those of others, for the cache: agents with the same
        rules share them."""
        return _name_rules(self._open_folders, self._rules)

    @cached_property
    def _open_folders(self) -> tuple[str, ...]:
        """Return the folders in which a name that begins with a dot is hidden, but not above them."""
        trees = (diary.tree for diary in self.separate_diaries())
        return (self.base, self.world_folder or "", self.agents_folder or "", *trees)

    def _match_rules(self, path: str, extra: tuple[str, ...]) -> Place | None:
        open_to_all = max((root for root in self._open_folders if path.startswith(root)), key=len, default="")
        if any(part.startswith(".") for part in path.removeprefix(open_to_all).split("/")):
            return None
        for rule, place in self._rules:
            if match := rule.fullmatch(path):
                return _fill_in(place, match)
        matching = [pattern for pattern in extra if path.endswith(".md") and compile_glob(pattern).fullmatch(path)]
        return Place("page", Scope("extra", "\n".join(matching)), "extra", stem(path)) if matching else None

    @cached_property
    def _rules(self) -> tuple[tuple[re.Pattern[str], Place], ...]:
        """Path patterns and what they mean; the first match decides. Groups: who, name (globals: category, key)."""
        agent = re.escape(self.agents) + r"/(?P<who>[^/]+)"
        loose = re.escape(self.path(self.loose))
        shared = re.escape(self.shared_memories)
        earlier = re.escape(self.earlier_memories)
        endings = "|".join(map(re.escape, TEXT_ENDINGS))
        rules: list[tuple[str, PageKind, ScopeKind]] = [
            (re.escape(self.globals) + r"/(?P<category>[^/]+)/(?P<name>[^/]+)\.md", "record", "global"),
            (re.escape(self.channels) + r"/(?P<who>[^/]+)/(?P<name>[^/]+)\.md", "record", "channel"),
            (re.escape(self.skills) + r"/(?P<name>[^/]+)/SKILL\.md", "skill", "skill"),
            (re.escape(self.skills) + r"/(?P<name>[^/]+)/data\.json", "data", "skill"),
            (agent + r"/memory/working/(?P<name>[^/]+)\.md", "record", "agent"),
            (agent + r"/memory/activity/(?P<name>[^/]+)\.md", "activity", "agent"),
            (agent + r"/memory/(?:.+/)?(?P<name>[^/]+)\.md", "page", "agent"),
            (agent + r"/store/(?:.+/)?(?P<name>[^/]+)\.md", "record", "agent"),
            (agent + rf"/claude/memories/(?:.+/)?(?P<name>[^/]+(?:{endings}))", "page", "agent"),
            (rf"(?:{shared}|{earlier})/(?:.+/)?(?P<name>[^/]+)", "page", "shared"),
            (agent + r"/(?P<name>MEMORY)\.md", "page", "agent"),
            (agent + r"/sessions/(?P<name>[^/]+\.jsonl)", "session", "agent"),
            (re.escape(self.world) + r"/(?:.+/)?(?P<name>[^/]+)\.md", "page", "world"),
        ]
        places = [(rule, Place(kind, Scope(scope, ""))) for rule, kind, scope in rules]
        places += self._diary_rules()
        everything_else = rf"{re.escape(self.shared_curated)}|{loose}/(?:.+/)?[^/]+\.md"
        places.append((everything_else, Place("page", Scope("shared", ""))))
        return tuple((re.compile(rule, re.DOTALL), place) for rule, place in places)

    def _diary_rules(self) -> Iterator[tuple[str, Place]]:
        """Yield the rules of diaries outside their agents' folders, the deepest first: one may contain another."""
        diaries = [(Scope("agent", self.agent_name(name)), diary) for name, diary in self.own_diaries]
        if self.is_diary_shared:
            diaries.append((Scope("shared", ""), self._diary("")))
        elif self.main_diary and not self.main_is_shared:
            diaries.append((Scope("agent", MAIN), self._diary(MAIN)))
        for scope, diary in sorted(diaries, key=_depth, reverse=True):
            tree = re.escape(diary.tree) + r"/(?:.+/)?[^/]+\.md"
            yield rf"{tree}|{re.escape(diary.curated)}", Place("page", scope)

    def is_activity_log(self, path: str) -> bool:
        """Return whether a page is an activity log, with nothing that a prompt needs."""
        place = self.place(path)
        return place is not None and place.kind == "activity"

    def is_instruction(self, path: str) -> bool:
        """Return whether a page holds rules for a prompt: a directive, or the instructions of a skill."""
        return self._instructions.fullmatch(path) is not None

    def place_directive(self, path: str) -> Place | None:
        """Return what a directive means, which is not searched; None for any other page."""
        if not self.is_instruction(path) or path.startswith(f"{self.skills}/"):
            return None
        agent = path.removeprefix(f"{self.agents}/").partition("/")[0]
        is_shared = path.startswith(f"{self.directives}/")
        return Place("directive", Scope("shared") if is_shared else Scope("agent", agent), name=stem(path))

    @cached_property
    def _instructions(self) -> re.Pattern[str]:
        directive = rf"(?:{re.escape(self.agents)}/[^/]+/)directives/[^/.][^/]*\.md"
        shared = rf"{re.escape(self.directives)}/[^/.][^/]*\.md"
        return re.compile(rf"{shared}|{directive}|{re.escape(self.skills)}/[^/]+/SKILL\.md", re.DOTALL)

    def under(self, folder: str) -> Layout:
        """Return the same layout below a folder of the home."""
        return replace(self, base="/".join(part for part in (folder, self.base) if part))


def _fill_in(place: Place, match: re.Match[str]) -> Place:
    """Return what a path means, with the names that are in it."""
    groups = match.groupdict()
    scope = place.scope
    who = scope.name or groups.get("who") or (MAIN if scope.kind == "agent" else "")
    source: Source = "session" if place.kind == "session" else "memory"
    name = groups.get("name") or stem(match[0])
    if match[0].endswith(f"/memory/working/{name}.md"):
        name = FIXED_PAGES.get(name, name)
    return Place(place.kind, Scope(scope.kind, who), source, name, groups.get("category") or "general")


def _depth(diary: tuple[Scope, Diary]) -> int:
    return diary[1].tree.count("/")


def _is_in_tree(diary: Diary) -> bool:
    return diary.curated.startswith(f"{diary.tree}/")


def _topic_of_stem(name: str) -> str:
    try:
        return topic_name(name)
    except CommonplaceError:  # no letter or digit in it
        return ""


def folders_above(path: str) -> list[str]:
    """Return the folders that a path is in, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


class PagePaths:
    """Paths of pages. As with files, none may be a page and a folder at once."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._pages: set[str] = set()
        self._folders: dict[str, str] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        self._pages.add(path)
        self._folders |= dict.fromkeys(folders_above(path), path)

    def find_conflict(self, path: str) -> str:
        """Return a page that prevents another from being created at a path; empty if none does."""
        above = (folder for folder in folders_above(path) if folder in self._pages)
        return self._folders.get(path) or next(above, "")


def stem(path: str) -> str:
    """Return a page's file name without the ending."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")


LAYOUTS = {
    "native": Layout(),
    "duragent": Layout(base=".duragent"),
    "agentool": Layout(
        base=".agent",
        loose="shared",
        diary=Diary("memory/MEMORY.md", "memory", "memory"),
        is_diary_shared=True,
        day_name="%Y/%m/%d",
    ),
    "openclaw": Layout(
        diary=Diary("{agent}/MEMORY.md", "{agent}/memory", "{agent}/memory"),
        main_diary=Diary("MEMORY.md", "memory", "memory"),
        main_is_shared=True,
    ),
}


def layout_of(settings: Settings) -> Layout:
    """Return the layout of a home with these settings."""
    layout = LAYOUTS[settings.layout]
    folder = "" if settings.workspace == "." else settings.workspace
    if settings.workspace:
        layout = replace(layout, base=folder) if settings.layout in ("native", "duragent") else layout.under(folder)
    layout = replace(
        layout,
        world_folder=settings.world_path or None,
        agents_folder=settings.agents_folder or None,
        memory_root=join_path(folder, settings.memory_dir) if settings.memory_dir else None,
        own_diaries=tuple((name, _own_diary(settings.layout, folder, root)) for name, root in settings.agent_roots),
    )
    _require_data_folders(layout)
    return layout


def _require_data_folders(layout: Layout) -> None:
    """Raise SettingsError if a folder that settings name for memory holds rules, or shared topics what is private."""
    if layout.world.startswith(f"{layout.agents}/"):
        _refuse_folder(layout.world, "what belongs to an agent")
    diaries = layout.separate_diaries()
    pages = [layout.world_page("x"), *(diary.curated for diary in diaries), *(f"{each.days}/x.md" for each in diaries)]
    for path in filter(layout.is_instruction, pages):
        _refuse_folder(path.rpartition("/")[0], "rules")


def _refuse_folder(folder: str, content: str) -> None:
    problem = f"{folder} holds {content}, and cannot hold memory"
    raise SettingsError(problem, path=SETTINGS_FILE, advice="name another folder")


def _own_diary(layout: str, workspace: str, root: str) -> Diary:
    """Return the diary of an agent with its own memory root or, in OpenClaw, its own workspace."""
    if layout == "openclaw":
        return Diary(f"{root}/MEMORY.md", f"{root}/memory", f"{root}/memory")
    folder = join_path(workspace, root)
    return Diary(f"{folder}/MEMORY.md", folder, folder)


def join_path(folder: str, below: str) -> str:
    """Return a path below a folder, which may be the root, ""."""
    return f"{folder}/{below}" if folder else below
