"""WHERE DOES A HOME STAND? In a folder of this machine, or in a database that many machines share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from .. import settings as settings_of
from ..errors import CommonplaceError, NotText, OutsideHome, PageNotFound, SettingsError, StorageError
from ..model import DATABASE_SCHEMES, Clock
from ..settings import Settings
from .base import Pages
from .folder.atomic import read_bytes_or_none, storage_errors
from .folder.history import History
from .folder.pages import FolderPages
from .history import Bounds, Past

if TYPE_CHECKING:
    from ..index.handle import Following
    from ..index.sync import Territory
    from .postgres.connection import Database

INDEX_FOLDER, LOCKS_FOLDER, HISTORY_FOLDER, ACCESS_FOLDER = settings_of.OURS
Wrote = Callable[[str, int], None]
_PASSWORD = re.compile(r"(://[^:/?#@]*):(?!\d*(?:[/?,]|$)).*@", re.DOTALL)  # and not a port
_REPLICA = re.compile(r"(?<=[?&])search=([^&]*)")
_NAMED_PASSWORD = re.compile(r"(?<=[?&])(?:ssl)?password=[^&]*&?")


class Ground(Protocol):
    """What differs between a folder and a database, beside pages and history themselves."""

    root: str  # as people read it
    folder: str  # where its files are; empty where it has none
    settings: Settings
    pages: Pages
    history: Past

    def read(self, path: str) -> str | None:
        """The text of a settings file of the home, or None when there is none."""
        ...

    def bytes_of(self, path: str) -> bytes | None:
        """A page as it is, text or not; None when it is not there."""
        ...

    def follower(self, territory: Territory) -> Following: ...

    @property
    def settings_read(self) -> object:
        """What tells the state of the settings file that was read from any other."""
        ...

    def settings_now(self) -> object:
        """The same of the file as it is now; StorageError where nobody can tell."""
        ...

    def times(self, paths: Iterable[str]) -> dict[str, float]:
        """When pages that were just listed were last written, in seconds since the epoch; without those gone."""
        ...

    def stands(self, folder: str, name: str) -> bool:
        """Whether a folder has a subfolder of exactly this name."""
        ...

    def has(self, path: str) -> bool:
        """Whether anything stands there, be it a page or not."""
        ...

    def check(self) -> None:
        """StorageError when something stands in the place of the home."""
        ...

    def close(self) -> None: ...


def ground_of(home: str, clock: Clock, wrote: Wrote) -> Ground:
    return InDatabase(home, clock, wrote) if in_database(home) else InFolder(home, clock, wrote)


def in_database(home: str) -> bool:
    return home.startswith(DATABASE_SCHEMES)


def shown(home: str) -> str:
    """A home as it may be shown: the URL of a database without its password."""
    if not in_database(home):
        return home
    head, question, rest = home.partition("?")
    bare, found = _PASSWORD.subn(r"\1@", head)
    url = f"{bare}{question}{rest}" if found else _PASSWORD.sub(r"\1@", home)
    return _REPLICA.sub(_replica_shown, _NAMED_PASSWORD.sub("", url).rstrip("?&"))


def _replica_shown(found: re.Match[str]) -> str:
    from urllib.parse import quote, unquote

    said = unquote(found[1])
    return f"search={quote(shown(said), safe='')}" if in_database(said) else found[0]


class InFolder:
    def __init__(self, home: str, clock: Clock, wrote: Wrote) -> None:
        self.root = self.folder = os.path.abspath(os.path.expanduser(home))
        self.settings_read = self.settings_now()
        self.settings = settings_of.load(self.root)
        locks = os.path.join(self.root, LOCKS_FOLDER)
        self.history: Past = History(os.path.join(self.root, HISTORY_FOLDER), locks, clock, _bounds(self.settings))
        self.pages: Pages = FolderPages(self.root, wrote, self.history)

    def read(self, path: str) -> str | None:
        return settings_of.of_file(os.path.join(self.root, path))

    def settings_now(self) -> object:
        try:
            info = os.stat(os.path.join(self.root, settings_of.FILE))
        except OSError:
            return None
        return info.st_ino, info.st_size, info.st_mtime_ns

    def bytes_of(self, path: str) -> bytes | None:
        with storage_errors(path):
            return read_bytes_or_none(os.path.join(self.root, path), path)

    def follower(self, territory: Territory) -> Following:
        from ..index.handle import Follower

        return Follower(os.path.join(self.root, INDEX_FOLDER), self.pages, territory)

    def times(self, paths: Iterable[str]) -> dict[str, float]:
        """Who listed them went there without a link, and need not ask again for each."""
        found: dict[str, float] = {}
        for path in paths:
            with suppress(OSError):
                found[path] = os.lstat(os.path.join(self.root, path)).st_mtime
        return found

    def stands(self, folder: str, name: str) -> bool:
        """A file system that ignores case has others, too: the folder's own list decides."""
        try:
            self.pages.modified(f"{folder}/{name}")
            return name in self.pages.folders(folder)
        except CommonplaceError:
            return False

    def has(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.root, path))

    def check(self) -> None:
        if os.path.lexists(self.root) and not os.path.isdir(self.root):
            raise StorageError(f"{self.root} is a file, not a folder: move it away or use another home")

    def close(self) -> None:
        """Nothing is kept open."""


class InDatabase:
    def __init__(self, home: str, clock: Clock, wrote: Wrote) -> None:
        from .postgres.connection import Database
        from .postgres.history import PostgresHistory
        from .postgres.migrate import require_migrated
        from .postgres.pages import PostgresPages
        from .postgres.url import parse_url

        self.root, self.folder = shown(home), ""
        self.database: Database = Database(parse_url(home))
        require_migrated(self.database, self.root)
        history = PostgresHistory(self.database, clock)
        self.history: Past = history
        self._pages = PostgresPages(self.database, wrote, history)
        self.pages: Pages = self._pages
        self.settings_read = self.settings_now()
        self.settings = settings_of.load("", self.read)
        history.bounds = _bounds(self.settings)

    def read(self, path: str) -> str | None:
        try:
            return self.pages.read(path).text
        except PageNotFound:
            return None
        except NotText as error:
            raise SettingsError(str(error).replace(" is not", ": not", 1)) from error

    def settings_now(self) -> object:
        return self._pages.version(settings_of.FILE)

    def bytes_of(self, path: str) -> bytes | None:
        return self._pages.bytes_of(path)

    def follower(self, territory: Territory) -> Following:
        from .postgres.index_handle import PostgresIndexHandle

        follower = PostgresIndexHandle(self.database, self._pages, territory)
        if not self.database.address.search:
            return follower
        from .postgres.connection import Database
        from .postgres.replica import ReplicaIndexHandle
        from .postgres.url import replica_address

        replica = Database(replica_address(self.database.address), is_primary=False)
        return ReplicaIndexHandle(follower, replica, self.database)

    def times(self, paths: Iterable[str]) -> dict[str, float]:
        """It takes about as long for all pages as for some."""
        every = self._pages.times()
        return {path: every[path] for path in paths if path in every}

    def stands(self, folder: str, name: str) -> bool:
        return name in self.pages.folders(folder)

    def has(self, path: str) -> bool:
        try:
            return self.read(path) is not None
        except OutsideHome:
            return False

    def check(self) -> None:
        """Nothing can stand in the place of a database."""

    def close(self) -> None:
        self.database.close()


def _bounds(settings: Settings) -> Bounds:
    return Bounds(settings.history.days, settings.history.megabytes * 1_000_000)
