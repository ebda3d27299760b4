"""An opened memory for one agent: storage, layout, settings, index and search wired together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import settings as settings_of
from .errors import CommonplaceError, PageNotFound
from .formats.timestamps import format_timestamp
from .model import EVERYTHING, Clock, Filters, Record, Viewer
from .schema import BOOLEAN, TEXT, check
from .settings import AgentMemory, SearchSettings, Settings
from .storage.base import Retention, Storage, open_storage
from .storage.history import current_origin, kind_of_origin, make_branch_origin
from .storage.layout import FIXED_NAMES, MAIN, Layout, layout_of
from .storage.names import encode_name, is_encoded, require_agent, require_valid_name
from .storage.readings import AgentReadings
from .storage.records import Channels, Globals, RecordFolder, Skills
from .storage.seal import Seal
from .toolsets import EVERYDAY
from .trust import Trust, make_index_key, require_owner
from .user_config import ProviderChoice, choose_provider, is_self_contained, refuse_provider, state_folder
from .user_config import load as load_config
from .visibility import Visibility, format_modified
from .writing import Writer

if TYPE_CHECKING:
    from .git_branches import Branches, Where
    from .index.base import Progress
    from .index.embedding_service import EmbeddingService
    from .index.handle import IndexHandle, IndexView
    from .index.recalls import Conversation
    from .index.sync import IndexScope
    from .search.as_of import Overlays
    from .search.pins import Repository
    from .search.pipeline import SearchResult
    from .storage.authors import Authors

_OWNER_ORIGINS = ("", "person", "token")  # a token for single agents, for example, is not among them


def utc_now() -> datetime:
    return datetime.now(UTC)


class Home:
    def __init__(
        self,
        root: str,
        agent: str = MAIN,
        clock: Clock = utc_now,
        session: str = "",
        *,
        is_found: bool = False,
        is_shared: bool = False,
        toolsets: Sequence[str] = EVERYDAY,
    ) -> None:
        """Open a memory. `is_found`: the user did not name it, so it counts only as far as they trust it. `is_shared`:
        it is one of many on a server, and uses only the providers that the server offers. `toolsets`: those that
        its agent is given.
        """
        require_valid_name("home", root)
        if agent:  # doctor opens a memory for no agent
            require_agent(agent)
        require_valid_name("session", session)
        self.agent = agent
        self.clock = clock
        self.session = session
        self.is_found = is_found
        self.toolsets = tuple(toolsets)
        self.writer = Writer(self)
        self.storage: Storage = open_storage(root, clock, self.writer.note_write)
        self.address = root
        self.root = self.storage.name
        require_owner(self.storage.local_folder)
        self.trust = Trust(self.storage.local_folder, is_found=is_found, is_shared=is_shared)
        if not self.trust.is_own and os.path.isdir(self.storage.local_folder):
            key = make_index_key(self.storage.local_folder)
            self.storage.history.seal = Seal(key, vouches_for_all=self.trust.is_reviewed)
        self.may_check_pins = not is_shared  # not on a server of many memories: its callers must not learn of files
        self.settings = self._limit_settings(self.storage.settings)
        self.layout: Layout = replace(layout_of(self.settings), has_folder=self.storage.has_folder)
        own = self.read_agent_memory(self.layout.agent_file(agent))
        self.has_memory = own.exists
        self.context_kind = own.context or self.settings.context_for(agent)
        self.session = session or self.settings.search_for(agent).session_key
        self.readings = AgentReadings(self.layout, agent, self.session, self.local_state_folder)

    def _limit_settings(self, settings: Settings) -> Settings:
        """Return the settings as far as the user trusts them."""
        if self._trusts_settings:
            return settings
        self.storage.history.retention = Retention.of(settings.of_stranger.history)
        return settings.of_stranger

    @cached_property
    def _trusts_settings(self) -> bool:
        """Return whether the user trusts the settings file. Another system's configuration counts only in a memory that
        is trusted completely."""
        if self.trust.is_own:
            return True
        data = self.storage.read_bytes(settings_of.FILE) or b""
        return not self.storage.settings.config and self.trust.allows_file(settings_of.FILE, data)

    @cached_property
    def index(self) -> IndexHandle:
        """Return the index handle. Reading and writing pages by name never opens it nor loads its modules."""
        return self.storage.open_index(self.index_scope())

    def index_scope(self) -> IndexScope:
        """Return what the index of this memory holds."""
        from .index.sync import IndexScope
        from .search.validity import note_days

        extra = tuple(dict.fromkeys(path for search in self.settings.searches for path in search.extra_paths))
        sessions = tuple((self.layout.agent_name(name), search.index_sessions) for name, search in self.settings.agents)
        key = "" if self.trust.is_own else make_index_key(self.storage.local_folder)
        return IndexScope(self.layout, extra, self.settings.search.index_sessions, sessions, note_days, key)

    @property
    def index_if_open(self) -> IndexHandle | None:
        """Return the index if anything has opened it, or None."""
        return self.index if "index" in self.__dict__ else None

    @cached_property
    def embedding(self) -> EmbeddingService:
        """Return the agent's embedders. The first search opens them and loads their libraries."""
        from .index.embedding_service import EmbeddingService

        return EmbeddingService(*self.provider_choice)

    def embedding_of(self, provider: str) -> EmbeddingService:
        """Return the embedders of a provider that the user asks for, at the server and with the model of their own
        configuration."""
        from .index.embedding_service import EmbeddingService

        choice = self.provider_choice
        if provider == choice.search.provider and not choice.refusal:
            return self.embedding
        # The model and the address that are set for one provider mean nothing to another.
        search = choice.search._replace(provider=provider, model="", foreign_provider="")
        return EmbeddingService(*self._restrict_provider(search, is_trusted=True))

    @property
    def search_settings(self) -> SearchSettings:
        return self.provider_choice.search

    @cached_property
    def provider_choice(self) -> ProviderChoice:
        """Return the agent's search settings, restricted by the user's own configuration."""
        search = self.settings.search_for(self.agent)
        if search.foreign_provider:
            refusal = (
                f"{self.settings.config} names the provider {search.foreign_provider}, which commonplace does not have"
            )
            return refuse_provider(search, refusal)
        return self._restrict_provider(search, is_trusted=self._trusts_settings)

    def _restrict_provider(self, search: SearchSettings, *, is_trusted: bool) -> ProviderChoice:
        if is_self_contained(search):
            return ProviderChoice(search._replace(base_url="", api_key_env=""))
        return choose_provider(search, load_config(), is_trusted=is_trusted, is_shared=self.trust.is_shared)

    @cached_property
    def zone(self) -> tzinfo:
        if self.settings.timezone == "UTC":
            return UTC
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.settings.timezone)

    def now(self) -> datetime:
        """Return the current time in the home's time zone."""
        return self.clock().astimezone(self.zone)

    def today(self) -> date:
        return self.now().date()

    @cached_property
    def visibility(self) -> Visibility:
        """Return what this agent may see."""
        extra_paths = self.search_settings.extra_paths
        return Visibility(self.storage, self.layout, self.agent, extra_paths, lambda: self.index.scope)

    @cached_property
    def authors(self) -> Authors:
        """Return who wrote which lines, as history knows it."""
        from .storage.authors import Authors

        return Authors(
            self.storage.pages,
            self.storage.history,
            folder=self.storage.local_folder,
            knows_approval=self.trust.is_own,
            locate_branch=self._locate_branch,
            zone=self.zone,
        )

    @cached_property
    def overlays(self) -> Overlays:
        """Return the cached data of searches as of an earlier day."""
        from .search.as_of import Overlays

        return Overlays(self.storage)

    @property
    def repository(self) -> Repository | None:
        """Return the repository that contains the memory, to whose files notes are pinned; None if there is none, and
        for callers who are not the owner: by writing a pin they would learn of files."""
        return self._repository if self._may_know_repository() else None

    def _may_know_repository(self) -> bool:
        return self.may_check_pins and kind_of_origin(current_origin()) in _OWNER_ORIGINS

    @cached_property
    def _repository(self) -> Repository | None:
        from .search.pins import find_repository

        return find_repository(self.storage.local_folder)

    @cached_property
    def _branches(self) -> Branches | None:
        from .git_branches import find_branches

        return find_branches(self.storage.local_folder)

    @property
    def branch(self) -> str:
        """Return the git branch on which memory is used, for the owner of a memory in a git repository; else empty."""
        return self._branches.find_name() if self._branches and self._may_know_repository() else ""

    def branch_origin(self) -> str:
        """Return the origin of what the owner's own process writes: the git branch that memory is used on."""
        return make_branch_origin(self._branches.find_special()) if self._branches else ""

    def _locate_branch(self, branch: str) -> Where:
        return self._branches.locate(branch) if self._branches and self._may_know_repository() else ""

    @property
    def globals(self) -> Globals:
        return Globals(self.storage.pages, self.writer, self.layout, self.clock)

    @property
    def channels(self) -> Channels:
        return Channels(self.storage.pages, self.writer, self.layout, self.clock)

    @property
    def skills(self) -> Skills:
        return Skills(self.storage.pages, self.writer, self.layout, self.clock)

    @property
    def working(self) -> RecordFolder:
        folder = self.layout.working_folder(self.agent)
        return RecordFolder(
            self.storage.pages, self.writer, self.layout, folder, self.clock, reserved_names=FIXED_NAMES
        )

    @property
    def unavailable_toolsets(self) -> frozenset[str]:
        """Return the toolsets that this agent's settings switch off."""
        is_available = {"retrieval": self.search_settings.enabled, "journal": self.has_memory}
        return frozenset(name for name, is_on in is_available.items() if not is_on)

    def list_records(self, folder: str) -> tuple[list[Record], tuple[str, ...]]:
        """Return the records below a folder, from the index after it caught up there, and warnings about them."""
        self.storage.check()
        records, view = self.index.query(lambda view: (view.index.records(folder), view), folder)
        own = tuple(warning for path, warning in view.page_warnings if path.startswith(f"{folder}/"))
        return records, (*view.warnings, *own) if view.stale else own

    def read_agent_memory(self, file: str) -> AgentMemory:
        """Return what an agent's own file says, as far as the user trusts it."""
        if not self.trust.is_own and not self.trust.allows_file(file, self.storage.read_bytes(file) or b""):
            return AgentMemory()
        path = os.path.join(self.root, file)
        return settings_of.read_agent_memory(path, lambda _: self.storage.read_settings_text(file))

    def search(
        self,
        text: str,
        limit: int | None = None,
        min_score: float | None = None,
        viewer: Viewer | None = None,
        filters: Filters = EVERYTHING,
        mode: str | None = None,
        *,
        only_approved_versions: bool = False,
        min_replaced_score: float = 0.0,
        is_prompt: bool = False,
    ) -> SearchResult:
        """Answer a query from what this agent may see. See `search/pipeline.py`."""
        from .search.pipeline import search

        return search(
            self,
            text,
            limit,
            min_score,
            viewer,
            filters,
            mode,
            only_approved_versions=only_approved_versions,
            min_replaced_score=min_replaced_score,
            is_prompt=is_prompt,
        )

    def record_recall(self, paths: Iterable[str]) -> None:
        """Count these pages as recalled, in a log beside the index; nothing is counted if it has no folder."""
        from .index.recalls import log_recall

        log_recall(self.storage.cache_folder, self.agent, paths, format_timestamp(self.clock()))

    def local_state_folder(self) -> str:
        """Return where this machine keeps readings and recalls: beside the index, or with the user. They are with the
        user if the memory is in a database, or was only found: what came with it says nothing of what was read."""
        if self.storage.cache_folder and self.trust.is_own:
            return self.storage.cache_folder
        return os.path.join(state_folder(), encode_name(self.storage.name))

    def list_agents(self) -> list[str]:
        """Return the agents that have a folder, and this one. An agent whose name history does not know is called
        as its folder."""
        try:
            folders = self.storage.pages.list_folders(self.layout.agents)
        except CommonplaceError:
            folders = []
        own_folder = self.layout.agent_name(self.agent)
        return sorted({self.agent, *(self._name_agent(folder) for folder in folders if folder != own_folder)})

    def _name_agent(self, folder: str) -> str:
        if not is_encoded(folder):
            return folder
        from .storage.authors import find_agent_name

        return find_agent_name(self.storage, f"{self.layout.agents}/{folder}")

    def find_topic_page(self, topic: str) -> str:
        """Return the page of a topic: an existing one, in whatever spelling, or else the one to create."""
        return self.layout.find_topic_page(topic, self.storage.pages.list(self.layout.world))

    def find_page(self, path: str) -> str:
        """Return the stored spelling of a path: a topic's page may be spelled differently."""
        return self.layout.find_page(path, lambda: self.storage.pages.list(self.layout.world))

    def open_conversation(self, session: str = "") -> Conversation:
        """Return the record of what a conversation has been given: the named one, or the home's own."""
        from .index.recalls import open_conversation

        check(TEXT, session, "session")
        return open_conversation(self.local_state_folder(), self.storage.name, self.agent, session or self.session)

    def parse_filters(self, **values: Any) -> Filters:
        """Parse filters as people write them; `yesterday` is that of the home's time zone."""
        if not any(values.values()) and values.get("as_of") is None:
            return EVERYTHING
        from .search.filters import parse_filters

        return parse_filters(values, self.now())

    def status(self) -> dict[str, Any]:
        """Return where the memory is, what it holds for this agent, and whether the index is up to date."""
        self.storage.check()

        (pages, passages), view = self.index.query(lambda view: (self.visibility.count_visible(view.index), view))
        return {
            "home": self.root,
            "agent": self.agent,
            "layout": self.settings.layout,
            "timezone": self.settings.timezone,
            "pages": pages,
            "passages": passages,
            "search": self._search_mode(),
            "index_up_to_date": not view.stale,
            "warnings": [*self.settings.warnings, *self.visibility.filter_warnings(view)],
        }

    def index_status(self) -> dict[str, Any]:
        """Return what the index holds for this agent and for all, and the coverage of each vector space."""
        self.storage.check()

        def ask(view: IndexView) -> dict[str, Any]:
            pages, passages = self.visibility.count_visible(view.index)
            spaces = [(name, view.index.coverage(name)) for name in view.index.spaces()]
            return {
                "provider": self.search_settings.provider,
                "pages": pages,
                "passages": passages,
                "pages_of_all_agents": self.visibility.count_pages(view.index.stamps()),
                "passages_of_all_agents": view.index.size()[1],
                "spaces": [{"space": name, "seen": each.seen, "vectors": each.vectors} for name, each in spaces],
                "up_to_date": not view.stale,
                "warnings": list(self.visibility.filter_warnings(view)),
            }

        return self.index.query(ask)

    def build_index(self, progress: Progress, *, anew: bool = False) -> None:
        """Bring the index and its embeddings up to date, or rebuild them, and wait until that is done."""
        self.storage.check()
        check(BOOLEAN, anew, "rebuild")
        self.embedding.build(self.index.build(progress, anew=anew), progress, anew=anew)

    def _search_mode(self) -> str:
        settings = self.search_settings
        if not settings.enabled:
            return "off"
        return "keyword" if settings.provider == "none" else f"hybrid ({settings.provider})"

    def close_index(self) -> None:
        """Close the index. The next search opens it again."""
        if self.index_if_open:
            self.index_if_open.close()

    def close(self) -> None:
        self.close_index()
        self.__dict__.pop("overlays", None)
        self.__dict__.pop("embedding", None)  # models are large; the next search opens them again
        self.storage.close()


def modified_timestamp(home: Home, path: str) -> str | None:
    """Return when a page was last written; None when it is gone."""
    try:
        return format_modified(home.storage.pages.modified_at(path))
    except PageNotFound:
        return None
