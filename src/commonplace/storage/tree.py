"""A storage as a tree of files and folders, whatever they hold: for doctor, and for tools that work on files.

Pages go through `Pages`, which keeps history; the tree adds what pages do not know: folders, links, bytes that are not
text, access rights, and files that an interrupted write left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, Protocol

from ..errors import NotText, PageNotFound, StaleVersion
from .base import ABSENT, Pages
from .deltas import Change

Kind = Literal["file", "folder", "link", "other"]
DEFAULT_FOLDER_BYTES = 4096  # the size of a folder where the backend has none, as most file systems say
PRIVATE_FILE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700


class Link(NamedTuple):
    """Where a symbolic link leads."""

    target: str
    is_inside: bool
    is_broken: bool


class FileEntry(NamedTuple):
    """A file or folder as it is; links are not followed. Times are in seconds since the epoch.

    `changed_at` also moves when a file is renamed. `leftover_of`: the page whose interrupted write left this file.
    """

    path: str
    kind: Kind
    size: int
    modified_at: float
    changed_at: float
    mode: int
    link: Link | None = None
    leftover_of: str = ""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class FolderListing(NamedTuple):
    """What is in a folder, by name; `problem` says why it could not be listed."""

    path: str
    mode: int
    entries: tuple[FileEntry, ...] = ()
    problem: str = ""


class Leftover(NamedTuple):
    """What a file of an interrupted write holds, in words, and whether that is stored elsewhere as well."""

    content: str
    is_safe: bool


ListFolder = Callable[[str], FolderListing | None]


class FileTree(Protocol):
    """Paths are relative to the home, with slashes."""

    def resolve(self, path: str, *, follow_last: bool = True) -> str:
        """Return the path with links followed; OutsideHome when it leads out of the home.

        With `follow_last` False a link as the last part stays itself.
        """
        ...

    def entry(self, path: str) -> FileEntry | None:
        """Return what is at a path, or None."""
        ...

    def folder_lister(self, below: str = "") -> ListFolder:
        """Return a function that lists folders below a path; it returns None for a folder that is not there."""
        ...

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it, where the backend has folders of their own."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file or a link, or raise PageNotFound. Its folder stays."""
        ...

    def remove_folder(self, path: str) -> None:
        """Remove a folder with everything in it."""
        ...

    def move(self, old: str, new: str) -> None:
        """Move a file or a folder; PageNotFound when it is gone, StaleVersion when something is at the new path."""
        ...

    def restrict_to_owner(self, paths: Iterable[str]) -> None:
        """Take away the access rights of everybody but the owner."""
        ...

    def inspect_leftover(self, path: str, page: str) -> Leftover: ...

    def remove_leftover(self, path: str, page: str) -> Change | None:
        """Remove a leftover; what is stored nowhere else is recorded in the page's history first, as this change."""
        ...


def move_page(pages: Pages, old: str, new: str) -> bool:
    """Move a page; it is at the new path before it leaves the old one, and concurrent writes to it come along.

    Return False, with nothing done, when it is not text.
    """
    try:
        page = pages.read(old)
    except NotText:
        return False
    version = pages.write(new, page.text, ABSENT)
    while True:
        try:
            pages.remove(old, page.version)
        except StaleVersion:
            page = pages.read(old)
            version = pages.write(new, page.text, version)
        except PageNotFound:  # whoever deleted it meant the moved page as well
            pages.remove(new, version)
            raise
        else:
            return True
