"""What a path is to who looks: which page, of which kind, called what; and whether it may be written from outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from ...errors import CommonplaceError, InTheWay, PageNotFound, Refused
from ...home import Home
from ...model import Page, Scope
from ...storage.layout import FIXED_PAGES, Place, stem

_LONGEST_PART = 255  # bytes of a file's name
_LONGEST = 1500  # bytes of a path


class Sight(NamedTuple):
    """A page as who looks sees it. `kind` is that of its place, or `directive`."""

    path: str
    kind: str
    scope: Scope
    source: str
    title: str


def sight(home: Home, path: str) -> Sight:
    """What a path is; PageNotFound where no page can be, Refused where it is another agent's."""
    place = None if _is_odd(path) else home.layout.place(path, home.search_settings.extra_paths)
    if place is None or place.kind == "data":
        owner = None if _is_odd(path) else _directive_of(home, path)
        if owner is None:
            raise PageNotFound(path)
        return Sight(path, "directive", owner, "memory", stem(path))
    if not home.may_see(place):
        raise Refused(f"{path} belongs to another agent")
    return Sight(path, place.kind, place.scope, place.source, title_of(home, path, place))


def sight_to_write(home: Home, path: str) -> Sight:
    """The same, for who is about to write; Refused for what only others write."""
    found = sight(home, path)
    if found.kind == "session":
        raise Refused(f"{path} is what was said in a session: it is read, not written")
    if found.scope.kind == "extra":
        raise Refused(f"{path} is searched here and kept by others: change it where it is kept")
    return found


def page_at(home: Home, path: str) -> Page:
    """The page at a path; PageNotFound also where none can be, since something else stands in its way."""
    try:
        return home.storage.pages.read(path)
    except InTheWay as error:
        raise PageNotFound(path) from error


def _is_odd(path: str) -> bool:
    """Whether no page of ours can have this path: it leaves the home, or no file system takes it."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > _LONGEST_PART for part in parts):
        return True
    return len(path.encode("utf-8", "replace")) > _LONGEST or not path.isprintable() or "\\" in path


def _directive_of(home: Home, path: str) -> Scope | None:
    """Whose directive a path is, if it is one that this agent follows."""
    folder, _, name = path.rpartition("/")
    if not name.endswith(".md") or name.startswith("."):
        return None
    if folder == home.layout.directives:
        return Scope("shared")
    return (
        Scope("agent", home.layout.agent_name(home.agent))
        if folder == home.layout.agent_directives(home.agent)
        else None
    )


def title_of(home: Home, path: str, place: Place) -> str:
    """What a page is called, by its path alone."""
    if place.kind in ("skill", "record", "session"):
        fixed = {given: name for name, given in FIXED_PAGES.items()}
        return fixed.get(place.name, place.name).removesuffix(".jsonl") if place.kind != "skill" else place.name
    if place.scope.kind == "world":
        return home.layout.topic_of(path)
    if day := home.layout.day_of(home.agent, path):
        return day
    if path == home.layout.shared_curated:
        return "Shared memory"
    if path == home.layout.curated_page(home.agent):
        return "Curated memory"
    return stem(path)


def names_of(paths: Iterable[str]) -> dict[str, str]:
    """Pages by what a wikilink may call them: their path, or their name alone; the one nearest to the home has it."""
    found: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        plain = path.removesuffix(".md").casefold()
        found.setdefault(plain.rpartition("/")[2], path)
        found[plain] = path
    return found


def known_pages(home: Home) -> list[str]:
    """The pages this agent may see, off the index: what was written this moment by others may not be among them."""
    return home.visible(home.index.query(lambda view: view.index.stamps()))


class Names:
    """What the links of a page may mean to this agent. The pages are listed once, when the first one is asked for."""

    def __init__(self, home: Home) -> None:
        self._home = home

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(known_pages(self._home))

    @cached_property
    def _names(self) -> dict[str, str]:
        return names_of(self.paths)

    def find(self, target: str) -> str:
        """The page that a wikilink means; empty when it is none."""
        return meant(self._names, target)


def meant(names: Mapping[str, str], target: str) -> str:
    """The page that a wikilink means; empty when it is none of them."""
    return names.get(target.strip().removeprefix("/").removesuffix(".md").casefold(), "")


def record_folders(home: Home) -> tuple[str, ...]:
    """Where the records stand that this agent may see."""
    layout = home.layout
    return layout.globals, layout.channels, layout.working_folder(home.agent)


def size_of(home: Home, path: str) -> int | None:
    """The bytes of a page, where that costs no reading."""
    return home.storage.page_size(path)


def agents(home: Home) -> list[str]:
    """The agents that have a folder, by its name, and this one."""
    try:
        known = home.storage.pages.list_folders(home.layout.path("agents"))
    except CommonplaceError:
        known = []
    return sorted({*known, home.agent} - ({home.layout.agent_name(home.agent)} - {home.agent}))
