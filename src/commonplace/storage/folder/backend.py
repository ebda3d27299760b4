"""The embedded backend: a memory as a folder of files on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from ... import settings as settings_of
from ...errors import CommonplaceError, InvalidArgument, NotFound, StorageError
from ...foreign import locate
from ...model import Clock
from ..base import (
    HISTORY_FOLDER,
    INDEX_FOLDER,
    LOCKS_FOLDER,
    BulkStore,
    HistoryStore,
    OnWrite,
    Pages,
    Retention,
    TokenStore,
)
from ..files import make_folders, read_bytes_or_none, storage_errors
from .git import ignore_derived_folders, write_git_files
from .history import FolderHistory
from .pages import FolderPages, FolderTranscript
from .tokens import FolderTokens
from .tree import FolderTree, RootFolder

if TYPE_CHECKING:
    from ...index.handle import IndexHandle
    from ...index.sync import IndexScope
    from ..base import SetupProblem
    from ..tree import FileTree


class FolderStorage:
    settings_check_seconds = 0.0

    def __init__(self, address: str, clock: Clock, on_write: OnWrite) -> None:
        located = locate(os.path.abspath(os.path.expanduser(address)))
        self.local_folder = located.folder
        self.name = self.local_folder
        self.cache_folder = os.path.join(self.local_folder, INDEX_FOLDER)
        self.settings = located.settings
        self._is_layout_guess = located.is_guess
        self.settings_version = self.current_settings_version()
        retention = Retention.of(self.settings.history)
        self._locks = os.path.join(self.local_folder, LOCKS_FOLDER)
        self._clock = clock
        self._top = RootFolder(self.local_folder)
        self._history = FolderHistory(os.path.join(self.local_folder, HISTORY_FOLDER), self._locks, clock, retention)
        self.history: HistoryStore = self._history
        self._on_write = on_write
        self._is_first_write = True
        self.pages: Pages = FolderPages(self.local_folder, self._note_write, self._history)
        self.tokens: TokenStore = FolderTokens(self.local_folder)
        self.tree: FileTree = FolderTree(self.local_folder, self._locks, self.pages, self.history)
        self._ignore_derived_folders()

    def _ignore_derived_folders(self) -> None:
        # A home of another system is usually in a project, and gets no .gitignore of its own from `init`.
        ignore_derived_folders(self.local_folder, always=self.settings.layout != "native")

    def _note_write(self, path: str, size: int) -> None:
        self._on_write(path, size)
        if self._is_first_write:  # it made the derived folders
            self._is_first_write = False
            self._ignore_derived_folders()
            self._write_down_layout()

    def _write_down_layout(self) -> None:
        """Write the layout into the settings, since the pages just written hide what it was guessed from."""
        path = os.path.join(self.local_folder, settings_of.FILE)
        if self._is_layout_guess:
            with suppress(OSError), open(path, "x", encoding="utf-8") as file:
                file.write(f"layout: {self.settings.layout}\n")

    def read_settings_text(self, path: str) -> str | None:
        return settings_of.read_file(os.path.join(self.local_folder, path))

    def current_settings_version(self) -> object:
        return tuple(self._file_version(name) for name in (settings_of.FILE, self.settings.config) if name)

    def _file_version(self, name: str) -> object:
        try:
            info = os.stat(os.path.join(self.local_folder, name))
        except OSError:
            return None
        return info.st_ino, info.st_size, info.st_mtime_ns

    def read_bytes(self, path: str) -> bytes | None:
        with storage_errors(path):
            if path == settings_of.FILE:  # a person may keep it elsewhere and link it here
                return read_bytes_or_none(os.path.join(self.local_folder, path), path)
            return self._top.read_or_none(path)

    def modified_times(self, paths: Iterable[str]) -> dict[str, float]:
        # Listing follows no links, so these paths lie inside and need no second check.
        times: dict[str, float] = {}
        for path in paths:
            with suppress(OSError):
                times[path] = os.lstat(os.path.join(self.local_folder, path)).st_mtime
        return times

    def page_size(self, path: str) -> int | None:
        try:
            return os.lstat(os.path.join(self.local_folder, path)).st_size
        except OSError:
            return None

    def display_path(self, path: str) -> str:
        return os.path.join(self.local_folder, path)

    def has_folder(self, folder: str, name: str) -> bool:
        # A file system that ignores case finds other spellings too: the folder's own listing decides.
        try:
            self.pages.modified_at(f"{folder}/{name}")
            return name in self.pages.list_folders(folder)
        except CommonplaceError:
            return False

    def exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.local_folder, path))

    def open_transcript(self, path: str) -> FolderTranscript:
        return FolderTranscript(self.local_folder, self._locks, path)

    def open_index(self, scope: IndexScope) -> IndexHandle:
        from ...index.handle import SqliteIndexHandle

        if os.path.isdir(self.local_folder):
            with suppress(OSError):  # then the index is kept elsewhere, and says so
                make_folders(self.cache_folder)
            self._ignore_derived_folders()
        return SqliteIndexHandle(self.cache_folder, self.pages, scope, self.local_folder)

    @cached_property
    def bulk(self) -> BulkStore:
        from .bulk import FolderBulk

        return FolderBulk(self.local_folder, self._clock, self._history)

    def check(self) -> None:
        if os.path.lexists(self.local_folder) and not os.path.isdir(self.local_folder):
            raise StorageError(f"{self.local_folder} is a file, not a folder: move it away or use another home")

    def close(self) -> None:
        """Do nothing: nothing is open between calls."""


class FolderBackend:
    has_tenants = False

    def open_storage(self, address: str, clock: Clock, on_write: OnWrite) -> FolderStorage:
        return FolderStorage(address, clock, on_write)

    def open_tokens(self, address: str) -> FolderTokens:
        return FolderTokens(locate(self.absolute_address(address)).folder)

    def display_name(self, address: str) -> str:
        return address

    def absolute_address(self, address: str) -> str:
        return os.path.abspath(os.path.expanduser(address))

    def check_address(self, address: str) -> None:
        scheme, is_url, _ = address.partition("://")
        if is_url and scheme.isalnum():
            raise InvalidArgument(
                f"{scheme}:// is not a memory: name a folder, or a database as postgresql://user@host/name"
            )
        if os.path.lexists(address) and not os.path.isdir(address):
            raise StorageError(f"{address} is a file, not a folder: choose another --home")

    def require_ready(self, address: str) -> None:
        """Do nothing: a folder needs no setup."""

    def tenant_address(self, address: str, tenant: str) -> str:
        raise InvalidArgument("a folder holds one memory and has no tenants")

    def diagnose(self, address: str) -> list[SetupProblem]:
        folder = self.absolute_address(address)
        if not os.path.isdir(folder):
            raise NotFound(f"there is no memory at {folder}: run `commonplace init`, or say which with --home")
        return []

    def may_exist(self, address: str) -> bool:
        return os.path.isdir(self.absolute_address(address))

    def create(self, address: str) -> None:
        if locate(self.absolute_address(address)).settings.layout == "native":
            write_git_files(address)  # in the home of another system, these files are a person's own


BACKEND = FolderBackend()
