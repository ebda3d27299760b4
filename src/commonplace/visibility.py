"""What one agent may see of a memory: the shared pages, its own, and the extra paths its settings name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .formats.timestamps import format_timestamp
from .model import Viewer
from .storage.base import Storage
from .storage.layout import Layout, Place
from .storage.names import is_blank

if TYPE_CHECKING:
    from .index.base import Index
    from .index.handle import IndexView
    from .index.sync import IndexScope


class Visibility:
    def __init__(
        self,
        storage: Storage,
        layout: Layout,
        agent: str,
        extra_paths: tuple[str, ...],
        open_scope: Callable[[], IndexScope],
    ) -> None:
        """`open_scope` returns the scope of the index; it is called when paths are asked about for the first time."""
        self._storage = storage
        self._layout = layout
        self._agent = agent
        self._extra_paths = extra_paths
        self._open_scope = open_scope
        self._page_count: tuple[object, int] = (None, 0)  # with the index state it was counted in

    def viewer(self) -> Viewer:
        """Return the agent as a viewer of the index."""
        return Viewer(self._layout.agent_name(self._agent), self._extra_paths)

    def reader(self, channel: str | None, user: str | None) -> Viewer:
        """Return the viewer of a context: this agent, in one conversation."""
        agent = self._layout.agent_name(self._agent)
        return Viewer(agent, self._extra_paths, True, drop_blank(channel), drop_blank(user))

    def owner(self) -> Viewer:
        """Return the owner of the memory as a viewer, who sees what belongs to any agent."""
        return Viewer(self._layout.agent_name(self._agent), self._open_scope().extra, every_agent=True)

    def may_see(self, place: Place) -> bool:
        """Return whether the agent may see pages of a place."""
        scope = place.scope
        if scope.kind == "extra":
            return not {*scope.name.split("\n")}.isdisjoint(self._extra_paths)
        return scope.kind != "agent" or scope.name == self._layout.agent_name(self._agent)

    def may_know(self, path: str) -> bool:
        """Return whether the agent may learn that something exists at a path, page or not."""
        place = self._open_scope().place(path)
        if place:
            return self.may_see(place)
        agents = f"{self._layout.agents}/"
        return not path.startswith(agents) or f"{path}/".startswith(f"{self._layout.agent_folder(self._agent)}/")

    def may_see_page(self, path: str) -> bool:
        """Return whether the agent may see the page at a path, whether or not it exists."""
        place = self._open_scope().place(path)
        return place is not None and self.may_see(place)

    def filter_paths(self, paths: Iterable[str]) -> list[str]:
        """Return those paths that are pages the agent may see."""
        return [path for path, place in self._find_pages(paths) if self.may_see(place)]

    def count_pages(self, paths: Iterable[str]) -> int:
        """Return how many of the paths are pages, whoever may see them; a skill's data is not a separate page."""
        return sum(1 for _ in self._find_pages(paths))

    def count_visible(self, index: Index) -> tuple[int, int]:
        """Return how many pages and passages of the index the agent may see. The page count is cached until the
        index changes."""
        state = index.state()
        if state is None or state != self._page_count[0]:
            self._page_count = (state, len(self.filter_paths(index.stamps())))
        return self._page_count[1], index.corpus_stats((), self.viewer()).passages

    def _find_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, Place]]:
        scope = self._open_scope()
        places = ((path, scope.place(path)) for path in paths)
        return ((path, place) for path, place in places if place and place.kind != "data")

    def list_pages(self) -> list[tuple[str, str]]:
        """Return every page the agent may see with the time it was last written, newest first."""
        self._storage.check()
        paths = self.filter_paths(self._storage.pages.changes({}, self._open_scope().roots()).changed)
        times = self._storage.modified_times(paths)
        dated = [(path, format_modified(at)) for path, at in times.items()]
        return sorted(dated, key=lambda page: (page[1], page[0]), reverse=True)

    def filter_warnings(self, view: IndexView) -> tuple[str, ...]:
        """Return the warnings of the index, and those about pages the agent may know of."""
        return (*view.warnings, *(text for path, text in view.page_warnings if self.may_know(path)))


def drop_blank(name: str | None) -> str | None:
    """Return the name of a user or a channel; None for a blank one, as from an empty variable or field."""
    return None if name is None or is_blank(name) else name


def format_modified(seconds: float) -> str:
    """Return a file time as a timestamp; empty for one that no calendar has."""
    try:
        return format_timestamp(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return ""
