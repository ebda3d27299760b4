"""The seam between the memory and its storage: one protocol, `Storage`, that every backend implements.

A storage (a backend's view of one memory) has its pages, their history, access tokens with the audit log, and
transcripts, all as parts of one object. Every backend passes the same contract (`commonplace.testing.StorageContract`).

A home is a path, or a URL whose scheme names a backend. A new backend is one folder here with a module `backend`, and
one line in `BACKENDS`. Backends are imported when they are first needed.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..errors import InvalidArgument
from ..model import Clock, Page
from ..settings import INTERNAL_FOLDERS, HistorySettings, Settings
from .history import ABSENT, Author, Change, ChooseVersions, Line, PastPage, Versions
from .seal import Seal

if TYPE_CHECKING:
    from ..errors import CommonplaceError
    from ..index.handle import IndexHandle
    from ..index.sync import IndexScope
    from .bulk import PageBatch, Snapshot, WriteProgress
    from .tokens import Call, Token
    from .tree import FileTree


__all__ = ["ABSENT"]

INDEX_FOLDER, LOCKS_FOLDER, HISTORY_FOLDER, ACCESS_FOLDER = INTERNAL_FOLDERS

Paths = list[str]
Sentences = list[str]
Suffix = str | tuple[str, ...]
PathWarnings = list[tuple[str, str]]  # a path and what is wrong there; not every agent may see every path
Texts = list[tuple[str, str]]  # paths and the texts of their pages
OnWrite = Callable[[str, int], None]  # called after a write, with the page's path and size in bytes (0: removed)

MAX_PAGE_CHARACTERS = 4_000_000  # searched of a page; more than a person can read
UNSURE = -1  # the stamp of a page that may change again without changing its stamp


def ignore_write(path: str, size: int) -> None:
    """Do nothing after a write: the default `OnWrite`."""


class Changes(NamedTuple):
    """How pages differ from known stamps: new stamps, pages that are gone, and warnings by path."""

    changed: Mapping[str, int]
    removed: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...] = ()


class Root(NamedTuple):
    """Where to look for pages: a folder and everything below it, or a single page."""

    path: str
    suffix: Suffix = ".md"
    pattern: re.Pattern[str] | None = None
    is_page: bool = False


class Head(NamedTuple):
    """The latest recorded version of a page, its author, and how many deltas must be replayed to read it."""

    version: str
    depth: int
    by: Author
    at: str


class Retention(NamedTuple):
    """How much history to keep, in days and in bytes overall. The latest version of a page is always kept."""

    days: int = 365
    size: int = 1 << 30

    @classmethod
    def of(cls, limits: HistorySettings) -> Retention:
        return cls(limits.days, limits.megabytes * 1_000_000)


class PageElsewhere(Exception):
    """A page that should be the only one of its name has another one in a folder beside its own."""


class PageWriter(Protocol):
    """The verbs that write pages: those of `Pages` and, followed by the index, those of `writing.Writer`."""

    @abstractmethod
    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        """Replace the whole page and return its new version; StaleVersion unless `if_version` is the current one."""
        ...

    @abstractmethod
    def edit(self, path: str, change: Callable[[str], str]) -> str:
        """Read, change and write under the page's lock; a missing page is read as empty text."""
        ...

    @abstractmethod
    def edit_unique(self, path: str, change: Callable[[str], str], lock: str) -> str:
        """Edit a page like `edit`, under a named lock. PageElsewhere, and nothing is written, if another folder beside
        the page's own has a page of the same name."""
        ...

    @abstractmethod
    def append(self, path: str, text: str) -> str:
        """Add text to the end, all of it or none."""
        ...

    @abstractmethod
    def rewrite(self, path: str, merge: Callable[[str], str]) -> str:
        """Replace the whole page, under its lock, by what `merge` makes of its text.

        Like `edit`, but no conflict is reported for what `merge` leaves out: that is its decision. Bytes that are not
        UTF-8 are replaced.
        """
        ...

    @abstractmethod
    def remove(self, path: str, if_version: str | None = None) -> None:
        """Remove the page, or raise PageNotFound; StaleVersion unless `if_version` is the current one."""
        ...


class PageReader(Protocol):
    """Pages as they are, or as they were."""

    @abstractmethod
    def read(self, path: str) -> Page:
        """Return the page, or raise PageNotFound, NotText, OutsideHome or StorageError."""
        ...

    @abstractmethod
    def modified_at(self, path: str) -> float:
        """Return when the page was last written, in seconds since the epoch."""
        ...


class Pages(PageReader, PageWriter, Protocol):
    """Text under a path, read and written whole, with a version that names its bytes."""

    @abstractmethod
    def page_reader(self, paths: Sequence[str]) -> Callable[[str], Page]:
        """Return a function that reads these pages in this order, several at once if that is faster."""
        ...

    @abstractmethod
    def mark_read(self, page: Page) -> None:
        """Note that the next writer has read this version, so that later changes by others are merged or reported."""
        ...

    def record_outside_edits(self, paths: Iterable[str]) -> None:
        """Record in history the current state of pages that other programs changed, if any can."""
        return

    @abstractmethod
    def reaffirm(self, path: str, if_version: str | None = None) -> None:
        """Record the page in history once more, unchanged: the current author approves it. StaleVersion unless
        `if_version` is the current one."""
        ...

    @abstractmethod
    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        """Return the sorted paths of the pages in a folder; empty when there is no such folder."""
        ...

    @abstractmethod
    def find_text(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        """Return the pages below a folder that contain a text, by path, and a warning for each unreadable page."""
        ...

    @abstractmethod
    def list_folders(self, folder: str) -> Paths:
        """Return the sorted names of the folders in a folder."""
        ...

    @abstractmethod
    def list_folders_with(self, folder: str, names: Sequence[str]) -> Paths:
        """Return the sorted names of the folders in a folder that have a page of one of these names, or something
        unreadable in its place."""
        ...

    @abstractmethod
    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        """Compare the pages under some roots with the stamps known of them."""
        ...

    @abstractmethod
    def lock(self, name: str) -> AbstractContextManager[None]:
        """Hold a named lock on something larger than a page, such as a key or a folder of pages."""
        ...


class HistoryStore(Protocol):
    """Earlier versions of every page: what it said, who changed it, when and why.

    `retention`: within which it prunes itself; None: it grows until `prune` is called. `seal`: for a memory that was
    found, tells what this user's program recorded.
    """

    retention: Retention | None
    seal: Seal | None = None

    def record_outside_edit(self, path: str, data: bytes | None, saved: float | None = None) -> Change | None:
        """Record what the page holds if it differs from the latest version: another program changed it, if any can."""
        return None

    @abstractmethod
    def record_change(self, path: str, old: bytes | None, new: bytes | None, by: Author) -> Change:
        """Record what a page became."""
        ...

    @abstractmethod
    def head(self, path: str) -> Head | None:
        """Return the latest recorded version of a page, or None."""
        ...

    @abstractmethod
    def changes(self, path: str | None = None) -> list[Change]:
        """Return all changes of one page or of every page, oldest first."""
        ...

    @abstractmethod
    def past_pages(self, moment: str) -> dict[str, PastPage]:
        """Return what each page that changed after a moment was at that moment, by path."""
        ...

    @abstractmethod
    def page_sizes(self) -> list[tuple[Change, int]]:
        """Return all changes with the page's size in bytes after each; -1 when it was removed or cannot be read."""
        ...

    @abstractmethod
    def change(self, name: str) -> Change:
        """Return a change by its id or a unique prefix of it; NotFound otherwise."""
        ...

    @abstractmethod
    def read_version(self, path: str, version: str) -> bytes | None:
        """Return a version of a page, None for an absent page; NotFound when history no longer holds it."""
        ...

    @abstractmethod
    def versions(self, path: str, newest: int | None = None) -> Versions:
        """Return every readable version of a page, or only the `newest`, oldest first."""
        ...

    @abstractmethod
    def lines(self, path: str, newest: int) -> list[Line]:
        """Return the `newest` changes of a page as they are stored, and those before that they are deltas of."""
        ...

    def line_reader(self, paths: Sequence[str], newest: int) -> Callable[[str], list[Line]]:
        """Return what reads the lines of these pages as `lines` does; behind a network, of all at once."""
        return partial(self.lines, newest=newest)

    @abstractmethod
    def stamps(self, paths: Sequence[str]) -> dict[str, str]:
        """Return a stamp for each page with a history, which changes when the history grows."""
        ...

    @abstractmethod
    def iterate_pages(self) -> Iterator[tuple[str, Versions]]:
        """Yield every page that has a history with its versions, in any order."""
        ...

    @abstractmethod
    def paths(self) -> list[str]:
        """Return the sorted paths of pages that have a history."""
        ...

    @abstractmethod
    def size(self) -> int:
        """Return the size of the history in bytes."""
        ...

    @abstractmethod
    def prune(self, retention: Retention) -> int:
        """Drop versions beyond the retention limits and return how many were dropped."""
        ...

    @abstractmethod
    def rewrite(self, choose: ChooseVersions) -> int:
        """Keep only the versions that `choose` returns for each page, and return how many were dropped."""
        ...


class Transcript(Protocol):
    """A file of JSON lines that grows at its end: the turns of a session."""

    def items(self, last: int | None = None) -> list[Any]:
        """Return all items, or only the `last`, oldest first."""
        ...

    def add(self, items: Iterable[Any]) -> None:
        """Append items durably; TypeError, and nothing appended, when one is not JSON."""
        ...

    def pop(self) -> Any:
        """Remove the last item and return it; None when there is none."""
        ...


class TokenStore(Protocol):
    """The access tokens of one memory, and the audit log of its callers."""

    tenant: str  # whose memory it is, where a backend holds several; else empty
    is_immediate: bool  # tokens are read without waiting for a server

    @abstractmethod
    def list_tokens(self) -> list[Token]:
        """Return all tokens, oldest first, expired and revoked ones included; StorageError when unreadable."""
        ...

    @abstractmethod
    def add(self, token: Token) -> None: ...

    @abstractmethod
    def revoke(self, name: str, at: str) -> Token:
        """Revoke a token by its id; NotFound when there is none."""
        ...

    @abstractmethod
    def record_call(self, call: Call) -> None:
        """Append to the audit log. A failure to write is not reported to the caller."""
        ...

    @abstractmethod
    def recent_calls(self, last: int) -> list[Call]:
        """Return the last entries of the audit log, oldest first."""
        ...

    def close(self) -> None:
        """Close what is open between calls, if anything is."""
        return


class BulkStore(Protocol):
    """Many whole pages at once, byte for byte, with their times and history: for export, import and copy."""

    def snapshot(self, roots: Sequence[Root], base: str, *, history: bool) -> AbstractContextManager[Snapshot]:
        """Copy all files under some roots as of one moment; `base` is where to look for files outside of them."""
        ...

    def list_versions(self, roots: Sequence[Root]) -> tuple[dict[str, str], Sentences]:
        """Return the versions of all pages under some roots, by path, and warnings about what is left out."""
        ...

    def version_lookup(self) -> Callable[[str], str]:
        """Return a function for the current version at a path; it raises StorageError if the path cannot hold a
        page."""
        ...

    def read(self, path: str) -> tuple[bytes | None, int]:
        """Return the bytes of a page, None when it is not there, and when it was written in nanoseconds since 1970."""
        ...

    def put(
        self, batch: PageBatch, *, skip_failed: bool = False, progress: WriteProgress = ...
    ) -> dict[str, CommonplaceError]:
        """Write many pages, each with its history: all or none if the backend can, else so that a crash is safe.

        With `skip_failed`, pages that cannot be written are left out and returned with the reason; else it is raised.
        """
        ...

    def read_import_log(self) -> dict[str, str]:
        """Return what earlier imports wrote: the version of each by its import key."""
        ...

    def import_run(self, name: str) -> AbstractContextManager[str]:
        """Run an import; yields the id for all its changes, the same again if an earlier run was interrupted."""
        ...


class Storage(Protocol):
    """One memory in one backend. What has a body here holds for a backend without files of its own."""

    name: str  # as shown to people, without a password
    local_folder: str  # the folder of this machine that holds its files; empty: they are elsewhere
    cache_folder: str  # where this machine keeps data derived from the pages, such as the index; empty: nowhere
    settings_check_seconds: float  # how long settings count as current after a check; 0 if checking is cheap
    settings: Settings
    settings_version: object  # identifies the loaded state of the settings file
    pages: Pages
    history: HistoryStore
    tokens: TokenStore
    tree: FileTree

    @abstractmethod
    def read_settings_text(self, path: str) -> str | None:
        """Return the text of a settings file of the memory, or None."""
        ...

    @abstractmethod
    def current_settings_version(self) -> object:
        """Return the version of the settings file as it is now, to compare with `settings_version`."""
        ...

    @abstractmethod
    def read_bytes(self, path: str) -> bytes | None:
        """Return the bytes of a page, text or not; None when it is not there."""
        ...

    @abstractmethod
    def modified_times(self, paths: Iterable[str]) -> dict[str, float]:
        """Return when listed pages were last written, in seconds since the epoch, without those gone since."""
        ...

    def page_size(self, path: str) -> int | None:
        """Return the size of a page in bytes; None if it is not there, or if finding out would mean reading it."""
        return None

    def display_path(self, path: str) -> str:
        """Return where people find a page: its file, or its path in the memory."""
        return path

    def has_folder(self, folder: str, name: str) -> bool:
        """Return whether a folder has a subfolder of exactly this name."""
        return name in self.pages.list_folders(folder)

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Return whether there is anything at a path, page or not."""
        ...

    @abstractmethod
    def open_transcript(self, path: str) -> Transcript: ...

    @abstractmethod
    def open_index(self, scope: IndexScope) -> IndexHandle:
        """Return a handle on the search index of these pages, which also watches them for changes."""
        ...

    @property
    @abstractmethod
    def bulk(self) -> BulkStore: ...

    def check(self) -> None:
        """Raise StorageError if the storage cannot be used, for example if the home is a file."""
        return

    def close(self) -> None:
        """Close what is open between calls, if anything is."""
        return


_FOLDER = "commonplace.storage.folder.backend"
BACKENDS = {
    "postgresql": "commonplace.storage.postgres.backend",
    "postgres": "commonplace.storage.postgres.backend",
}

MAX_TENANT_CHARACTERS = 200


class SetupProblem(NamedTuple):
    """Something that must be fixed before a memory can be opened, and how."""

    location: str
    problem: str
    advice: str


class Backend(Protocol):
    """What a backend offers before a storage of it is open. A module `backend` has one as `BACKEND`. What has a body
    here holds for a backend that needs no setup."""

    has_tenants: bool = False  # whether one server of it holds many memories, each with its own tokens

    def open_storage(self, address: str, clock: Clock, on_write: OnWrite) -> Storage: ...

    def open_tokens(self, address: str) -> TokenStore:
        """Open the access tokens alone, without the pages."""
        ...

    def display_name(self, address: str) -> str:
        """Return the address as it may be shown, without a password."""
        return address

    def absolute_address(self, address: str) -> str:
        """Return an address that means the same in any working directory."""
        return address

    def check_address(self, address: str) -> None:
        """Raise an error if the address cannot name a memory. Nothing is opened."""
        return

    def require_ready(self, address: str) -> None:
        """Raise an error that names the next step if something must be set up before a memory can be opened."""
        return

    def tenant_address(self, address: str, tenant: str) -> str:
        """Return the address of another tenant's memory on the same server; only where `has_tenants`."""
        raise InvalidArgument(f"{self.display_name(address)} holds one memory and has no tenants")

    def diagnose(self, address: str) -> list[SetupProblem]:
        """Return what prevents a memory from being opened; NotFound if there is none."""
        return []

    def may_exist(self, address: str) -> bool:
        """Return False if there is certainly no memory at the address."""
        return True

    def create(self, address: str) -> None:
        """Create a new memory. One that exists stays as it is; where none needs it, one begins with its first page."""
        return


def backend_of(address: str) -> Backend:
    backend: Backend = import_module(BACKENDS.get(_scheme(address), _FOLDER)).BACKEND
    return backend


def open_storage(address: str, clock: Clock, on_write: OnWrite) -> Storage:
    return backend_of(address).open_storage(address, clock, on_write)


def open_tokens(address: str) -> TokenStore:
    return backend_of(address).open_tokens(address)


def display_name(address: str) -> str:
    return backend_of(address).display_name(address)


def is_tenant(name: str) -> bool:
    """Return whether a text can name a tenant."""
    return 0 < len(name) <= MAX_TENANT_CHARACTERS and "\0" not in name


def _scheme(address: str) -> str:
    scheme, separator, _ = address.partition("://")
    return scheme if separator else ""
