"""An opened home, for one agent: the rooms wired together. Tools, the prompt context and the handle stand on it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import directive
from . import settings as settings_of
from .errors import CommonplaceError, InvalidArgument, PageNotFound
from .formats.json_text import is_unicode
from .formats.timestamps import format_timestamp
from .model import EVERYTHING, Clock, Filters, Record, Viewer
from .settings import SearchSettings, Settings
from .storage.backends import open_storage
from .storage.base import ABSENT, HISTORY_FOLDER, INDEX_FOLDER, LOCKS_FOLDER, Storage
from .storage.layout import FIXED_NAMES, LAYOUTS, MAIN, Layout, Place
from .storage.records import Channels, Globals, Shelf
from .storage.records import parse as parse_record
from .storage.skills import Skills
from .writing import Writer

if TYPE_CHECKING:
    from .index.base import Progress
    from .index.embedding_service import EmbeddingService
    from .index.handle import IndexHandle, IndexView
    from .search.pipeline import SearchResult

__all__ = ["HISTORY_FOLDER", "INDEX_FOLDER", "LOCKS_FOLDER", "Home", "utc_now"]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Home:
    def __init__(self, root: str, agent: str = MAIN, clock: Clock = utc_now, session: str = "") -> None:
        _refuse_odd("home", root)
        _refuse_odd("agent", agent)
        _refuse_odd("session", session)
        self.agent, self.clock, self.session = agent, clock, session
        self.writer = Writer(self)
        self.storage: Storage = open_storage(root, clock, self.writer.note_write)
        self.address = root
        self.root = self.storage.name
        self.settings = self.storage.settings
        self.layout: Layout = replace(layout_of(self.settings), stands=self.storage.has_folder)
        self.has_memory = self._is_given_memory()

    @cached_property
    def index(self) -> IndexHandle:
        """The index. What only reads or writes pages by name never opens it, nor loads what it is made with."""
        from .index.sync import IndexScope

        every = [self.settings.search, *dict(self.settings.agents).values()]
        extra = tuple(dict.fromkeys(pattern for search in every for pattern in search.extra_paths))
        sessions = tuple((self.layout.agent_name(name), search.index_sessions) for name, search in self.settings.agents)
        scope = IndexScope(self.layout, extra, self.settings.search.index_sessions, sessions)
        return self.storage.open_index(scope)

    @property
    def index_if_open(self) -> IndexHandle | None:
        """Return the index if anything has opened it, or None."""
        return self.index if "index" in self.__dict__ else None

    @cached_property
    def embedding(self) -> EmbeddingService:
        """Who embeds for this agent. Opened, and its libraries loaded, by the first search."""
        from .index.embedding_service import EmbeddingService

        return EmbeddingService(self.search_settings)

    @property
    def search_settings(self) -> SearchSettings:
        return self.settings.search_for(self.agent)

    @cached_property
    def zone(self) -> tzinfo:
        if self.settings.timezone == "UTC":
            return UTC
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.settings.timezone)

    def now(self) -> datetime:
        """The moment, in the home's own time zone."""
        return self.clock().astimezone(self.zone)

    def today(self) -> date:
        return self.now().date()

    @property
    def globals(self) -> Globals:
        return Globals(self.storage.pages, self.layout, self.clock)

    @property
    def channels(self) -> Channels:
        return Channels(self.storage.pages, self.layout, self.clock)

    @property
    def skills(self) -> Skills:
        return Skills(self.storage.pages, self.layout, self.clock)

    @property
    def working(self) -> Shelf:
        return Shelf(
            self.storage.pages, self.layout, self.layout.working_folder(self.agent), self.clock, taken=FIXED_NAMES
        )

    def welcome(self) -> None:
        """Give a home whose agent has memory the default directive, once. One that can not be written goes without."""
        path = f"{self.layout.directives}/memory.md"
        if not self.has_memory or self.storage.exists(path):
            return
        with suppress(CommonplaceError), self.writer.session("init", defer_index=True):
            self.writer.write(path, directive.TEXT, if_version=ABSENT)

    def records(self, folder: str) -> tuple[list[Record], tuple[str, ...]]:
        """The records below a folder, off the index after it caught up there; and what is wrong with any of them."""
        self.check()
        found, view = self.index.query(lambda view: (view.index.records(folder), view), folder)
        own = tuple(warning for path, warning in view.page_warnings if path.startswith(f"{folder}/"))
        return found, (*view.warnings, *own) if view.stale else own

    def record(self, path: str) -> Record | None:
        """The record on one page, or None."""
        self.check()
        place = self.layout.place(path)
        try:
            page = self.storage.pages.read(path) if place else None
        except PageNotFound:
            return None
        if place is None or page is None:
            return None
        self.storage.pages.mark_read(page)
        return parse_record(page.text, path, place, lambda: self.storage.pages.modified_at(path))

    def text(self, path: str) -> tuple[str, list[str]]:
        """What a page says, and what kept it from being read; a page that is not there says nothing."""
        try:
            page = self.storage.pages.read(path)
        except PageNotFound:
            return "", []
        except CommonplaceError as error:
            return "", [f"skipped: {error}"]
        self.storage.pages.mark_read(page)
        return page.text, []

    def check(self) -> None:
        """StorageError when something that is not a folder stands where the home should be."""
        self.storage.check()

    def _is_given_memory(self) -> bool:
        file = self.layout.agent_file(self.agent)
        return settings_of.has_memory(os.path.join(self.root, file), lambda _: self.storage.read_settings_text(file))

    def search(
        self,
        text: str,
        limit: int | None = None,
        min_score: float | None = None,
        viewer: Viewer | None = None,
        filters: Filters = EVERYTHING,
        mode: str | None = None,
    ) -> SearchResult:
        """Answer a query from what this agent may see. See `search/pipeline.py`."""
        from .search.pipeline import search

        return search(self, text, limit, min_score, viewer, filters, mode)

    def note_recalled(self, paths: Iterable[str]) -> None:
        """Pages have answered: kept beside the index, as long as that is. In a database nobody counts."""
        from .index.recalls import note

        note(self.storage.cache_folder, self.agent, paths, format_timestamp(self.clock()))

    def filters(self, **named: Any) -> Filters:
        """Filters as people write them; `yesterday` is the home's own."""
        if not any(named.values()):
            return EVERYTHING
        from .search.filters import parse_filters

        return parse_filters(named, self.today().toordinal())

    def visible_pages(self) -> list[tuple[str, str]]:
        """Every page this agent may see, with the time it was last written, newest first."""
        self.check()
        every = self.storage.pages.changes({}, self.index.scope.roots()).changed
        dated = ((path, _dated(at)) for path, at in self.storage.modified_times(self.visible(every)).items())
        return sorted(dated, key=lambda each: (each[1], each[0]), reverse=True)

    def visible(self, paths: Iterable[str]) -> list[str]:
        """Those of some paths that are pages this agent may see."""
        places = ((path, self.index.scope.place(path)) for path in paths)
        return [path for path, place in places if place and place.kind != "data" and self.may_see(place)]

    def written(self, path: str) -> str | None:
        """When a page was last written; None when it is gone meanwhile, nothing when no calendar knows the time."""
        try:
            return _dated(self.storage.pages.modified_at(path))
        except PageNotFound:
            return None

    def warnings(self, view: IndexView) -> tuple[str, ...]:
        """What is to be said about the index, and about the pages this agent may see."""
        return (*view.warnings, *(text for path, text in view.page_warnings if self.may_know(path)))

    def may_know(self, path: str) -> bool:
        """Whether this agent may be told of something at a path, be it a page or not."""
        place = self.index.scope.place(path)
        if place:
            return self.may_see(place)
        agents = f"{self.layout.path('agents')}/"
        return not path.startswith(agents) or f"{path}/".startswith(f"{self.layout.agent_folder(self.agent)}/")

    def may_see(self, place: Place) -> bool:
        scope = place.scope
        if scope.kind == "extra":
            return not {*scope.name.split("\n")}.isdisjoint(self.search_settings.extra_paths)
        return scope.kind != "agent" or scope.name == self.layout.agent_name(self.agent)

    def status(self) -> dict[str, Any]:
        """Where memory is, what it holds, and whether search is up to date."""
        self.check()
        (pages, passages), view = self.index.query(lambda view: (view.index.size(), view))
        return {
            "home": self.root,
            "agent": self.agent,
            "layout": self.settings.layout,
            "timezone": self.settings.timezone,
            "pages": pages,
            "passages": passages,
            "search": self._search_mode(),
            "index_up_to_date": not view.stale,
            "warnings": list(self.warnings(view)),
        }

    def build_index(self, progress: Progress, *, anew: bool = False) -> None:
        """Bring the index up to date with words and meaning, or make it anew, and wait for it."""
        self.check()
        self.embedding.build(self.index.build(progress, anew=anew), progress, anew=anew)

    def index_status(self) -> dict[str, Any]:
        """What the index knows, and how far each space of vectors is."""
        self.check()

        def ask(view: IndexView) -> dict[str, Any]:
            pages, passages = view.index.size()
            spaces = [(name, view.index.coverage(name)) for name in view.index.spaces()]
            return {
                "provider": self.search_settings.provider,
                "pages": pages,
                "passages": passages,
                "spaces": [{"space": name, "seen": each.seen, "vectors": each.vectors} for name, each in spaces],
                "up_to_date": not view.stale,
                "warnings": list(self.warnings(view)),
            }

        return self.index.query(ask)

    def viewer(self) -> Viewer:
        return Viewer(self.layout.agent_name(self.agent), self.search_settings.extra_paths)

    def close(self) -> None:
        if "index" in self.__dict__:
            self.index.close()
        self.__dict__.pop("embedding", None)  # models are large; the next search opens them again
        self.storage.close()

    def _search_mode(self) -> str:
        settings = self.search_settings
        if not settings.enabled:
            return "off"
        return "keyword" if settings.provider == "none" else f"hybrid ({settings.provider})"


def _dated(seconds: float) -> str:
    try:
        return format_timestamp(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def _refuse_odd(what: str, text: str) -> None:
    """InvalidArgument for a name that no file system and no page could hold."""
    if not is_unicode(text):
        raise InvalidArgument(f"the {what} {text!a} is not Unicode text")
    if "\0" in text:
        raise InvalidArgument(f"the {what} {text!a} has a null character in it")


def layout_of(settings: Settings) -> Layout:
    """Return how a home with these settings is arranged."""
    layout = LAYOUTS[settings.layout]
    if settings.workspace:
        folder = "" if settings.workspace == "." else settings.workspace
        layout = replace(layout, base=folder) if settings.layout in ("native", "duragent") else layout.under(folder)
    return replace(layout, world_folder=settings.world_path or None)
