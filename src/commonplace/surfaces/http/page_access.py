"""Which page a path means to an agent, what it is called, and whether it may be written over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from ...errors import PageNotFound, PathIsFile, PathIsFolder, Refused
from ...home import Home
from ...model import Page, Scope
from ...storage.layout import Place, stem
from ...storage.names import MAX_NAME_BYTES, MAX_PATH_BYTES


class ResolvedPage(NamedTuple):
    """A page as one agent sees it. `kind` is that of its place, or `directive`."""

    path: str
    kind: str
    scope: Scope
    source: str
    title: str


def resolve_page(home: Home, path: str) -> ResolvedPage:
    """Return what a path means; PageNotFound if it cannot be a page, Refused if it is another agent's."""
    if _is_impossible(path):
        raise PageNotFound(path)
    place = home.layout.place(path, home.search_settings.extra_paths)
    if place is None or place.kind == "data":
        scope = _directive_scope(home, path)
        if scope is None:
            raise PageNotFound(path)
        return ResolvedPage(path, "directive", scope, "memory", stem(path))
    if not home.visibility.may_see(place):
        raise Refused(f"{path} belongs to another agent")
    return ResolvedPage(path, place.kind, place.scope, place.source, page_title(home, path, place))


def require_writable(home: Home, path: str) -> ResolvedPage:
    """Return what a path means, for a write; Refused for sessions and for pages that belong to other programs."""
    page = resolve_page(home, path)
    refuse_session(home, path)
    if page.scope.kind == "extra":
        raise Refused(f"{path} is managed by another program: change it there")
    return page


def refuse_session(home: Home, path: str) -> None:
    """Raise Refused for the path of a session: over HTTP a transcript is read, whatever would change it."""
    if is_session(home, path):
        raise Refused(f"{path} is what was said in a session: it is read, not written")


def is_session(home: Home, path: str) -> bool:
    place = home.layout.place(path)
    return place is not None and place.kind == "session"


def read_page(home: Home, path: str) -> Page:
    """Return the page at a path; PageNotFound also if something that is not a page is there."""
    try:
        return home.storage.pages.read(path)
    except (PathIsFile, PathIsFolder) as error:
        raise PageNotFound(path) from error


def _is_impossible(path: str) -> bool:
    """Return whether no page can have this path: it leaves the home, or no file system accepts it."""
    for part in path.split("/"):
        if part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > MAX_NAME_BYTES:
            return True
    return len(path.encode("utf-8", "replace")) > MAX_PATH_BYTES or not path.isprintable() or "\\" in path


def _directive_scope(home: Home, path: str) -> Scope | None:
    """Return the scope of a directive that this agent follows; None if the path is no such directive."""
    folder, _, name = path.rpartition("/")
    if not name.endswith(".md") or name.startswith("."):
        return None
    if folder == home.layout.directives:
        return Scope("shared")
    if folder == home.layout.agent_directives(home.agent):
        return Scope("agent", home.layout.agent_name(home.agent))
    return None


def page_title(home: Home, path: str, place: Place) -> str:
    """Return what a page is called, by its path alone."""
    if place.kind == "skill":
        return place.name
    if place.kind in ("record", "session"):
        return place.name.removesuffix(".jsonl")
    if place.scope.kind == "world":
        return home.layout.topic_of(path)
    if day := home.layout.day_of(home.agent, path):
        return day
    if path == home.layout.shared_curated:
        return "Shared memory"
    if path == home.layout.curated_page(home.agent):
        return "Curated memory"
    return stem(path)


def list_known_pages(home: Home) -> list[str]:
    """Return the indexed pages this agent may see. Pages that others write right now may be missing."""
    return home.visibility.filter_paths(home.index.query(lambda view: view.index.stamps()))


def index_link_names(paths: Iterable[str]) -> dict[str, str]:
    """Return pages by the names that a wikilink may use: their path, or their file name if no page nearer to the
    home has the same."""

    def by_depth(path: str) -> tuple[int, str]:
        return path.count("/"), path

    names: dict[str, str] = {}
    for path in sorted(paths, key=by_depth):
        plain = path.removesuffix(".md").casefold()
        names.setdefault(plain.rpartition("/")[2], path)
        names[plain] = path
    return names


def resolve_wikilink(names: Mapping[str, str], target: str) -> str:
    """Return the page that a wikilink means, or an empty string."""
    return names.get(target.strip().removeprefix("/").removesuffix(".md").casefold(), "")


class LinkResolver:
    """Finds the pages that links mean to one agent. The pages are listed once, for the first link."""

    def __init__(self, home: Home) -> None:
        self._home = home

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(list_known_pages(self._home))

    @cached_property
    def _names(self) -> dict[str, str]:
        return index_link_names(self.paths)

    def resolve(self, target: str) -> str:
        """Return the page that a wikilink means, or an empty string."""
        return resolve_wikilink(self._names, target)


def record_folders(home: Home) -> tuple[str, ...]:
    """Return the folders of the records that this agent may see."""
    layout = home.layout
    return layout.globals, layout.channels, layout.working_folder(home.agent)
