"""A storage as a tree of files and folders, of any content: for doctor, and for tools that work on files.

Pages go through `Pages`, which keeps history; the tree adds what pages do not know: folders, links, bytes that are not
text, access rights, and files that an interrupted write left behind.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple, Protocol

from ..errors import NotText, OutsideHome, PageNotFound, StaleVersion
from ..settings import INTERNAL_FOLDERS
from .base import ABSENT, Pages
from .files import PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE, page_of_editor_copy
from .history import Change

Kind = Literal["file", "folder", "link", "other"]
DEFAULT_FOLDER_BYTES = 4096  # the size of a folder where the backend has none, as most file systems say


class SymbolicLink(NamedTuple):
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
    link: SymbolicLink | None = None
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
    """A description of what an interrupted write's file holds, and whether that is stored elsewhere as well."""

    content: str
    is_safe: bool


ListFolder = Callable[[str], FolderListing | None]


class FileTree(Protocol):
    """Paths are relative to the home, with slashes. What has a body here holds for a backend whose writes leave no
    files."""

    def resolve(self, path: str, *, follow_last: bool = True) -> str:
        """Return the path with links followed; OutsideHome when it leads out of the home.

        With `follow_last` False a link as the last part stays itself.
        """
        ...

    def entry(self, path: str) -> FileEntry | None:
        """Return what is at a path, or None."""
        ...

    def folder_lister(self, below: str = "") -> ListFolder:
        """Return a function that lists folders below a path; it returns None for a missing folder."""
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
        """Take away the access rights of everybody but the owner, where files have any."""
        return

    def remove_derived_files(self, paths: Iterable[str]) -> None:
        """Remove files that can be made again, such as those of an index; they have no history."""
        return

    def inspect_leftover(self, path: str, page: str) -> Leftover:
        """Return what a leftover holds, compared with the page it was made for."""
        return Leftover("nothing", True)

    def remove_leftover(self, path: str, page: str, *, record: bool = True) -> Change | None:
        """Remove a leftover; what is stored nowhere else is recorded in the page's history first, as this change.

        With `record` False it is recorded nowhere.
        """
        return None


def list_leftovers(tree: FileTree) -> Iterator[FileEntry]:
    """Yield the files that interrupted writes left beside pages."""
    return (entry for entry in _walk(tree) if entry.leftover_of)


def list_editor_copies(tree: FileTree) -> Iterator[tuple[FileEntry, str]]:
    """Yield the backup and swap files of editors, each with the path of the page it is a copy of."""
    for entry in _walk(tree):
        page = page_of_editor_copy(entry.path) if entry.kind == "file" and not entry.leftover_of else ""
        if page:
            yield entry, page


def list_files(tree: FileTree) -> Iterator[FileEntry]:
    """Yield every regular file below the home, in hidden folders too, except git's and our own."""
    return (entry for entry in _walk(tree, (*INTERNAL_FOLDERS, ".git")) if entry.kind == "file")


def _walk(tree: FileTree, hidden: Sequence[str] = ()) -> Iterator[FileEntry]:
    """Yield every file below the home, except in these hidden folders, or in all hidden ones."""
    list_folder = tree.folder_lister()
    folders = [""]
    while folders:
        listing = list_folder(folders.pop())
        for entry in listing.entries if listing else ():
            if entry.kind == "folder" and not entry.leftover_of:
                is_hidden = entry.name in hidden if hidden else entry.name.startswith(".")
                folders += [] if is_hidden else [entry.path]
            else:
                yield entry


def move_page(pages: Pages, old: str, new: str) -> bool:
    """Move a page; it exists at the new path before it leaves the old one, and concurrent writes come along.

    Return False, with nothing done, if it is not text.
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
        except PageNotFound:  # its deletion also applies to the moved page
            pages.remove(new, version)
            raise
        else:
            return True


class PageSize(NamedTuple):
    """A page as it is listed: its size in bytes, and when it was written in seconds since the epoch."""

    path: str
    size: int
    modified_at: float


class ListedPages(Pages, Protocol):
    """Pages that a `PageTree` can be made of."""

    def read_bytes(self, path: str) -> bytes | None: ...

    def change_bytes(self, path: str, change: Callable[[bytes | None], bytes | None]) -> str:
        """Read, change and write the bytes of a page, and return its version."""
        ...

    def find_page(self, path: str) -> PageSize | None: ...

    def list_sizes(self, folder: str = "") -> Sequence[PageSize]:
        """Return every page below a folder, hidden ones included, by path."""
        ...

    def has_pages_below(self, folder: str) -> bool: ...


class PageTree(FileTree):
    """The tree of a backend that stores pages and no folders: a folder exists while a page is in it, or once this
    handle made it."""

    def __init__(self, pages: ListedPages) -> None:
        self._pages = pages
        self._made_folders: set[str] = set()

    def resolve(self, path: str, *, follow_last: bool = True) -> str:
        normal = posixpath.normpath(path)
        if normal.startswith(("/", "..")):
            raise OutsideHome(f"{path} leads out of the home: use a path inside it")
        return normal

    def entry(self, path: str) -> FileEntry | None:
        page = self._pages.find_page(path)
        if page:
            return _file_entry(page)
        if path in self._made_folders or self._pages.has_pages_below(path):
            return _folder_entry(path)
        return None

    def folder_lister(self, below: str = "") -> ListFolder:
        """Return a lister from a single query for everything below a path."""
        folders: dict[str, dict[str, FileEntry]] = {"": {}, below: {}}
        for page in self._pages.list_sizes(below):
            _add_entry(folders, _file_entry(page))

        def list_folder(path: str) -> FolderListing | None:
            if path not in folders:
                return None
            entries = sorted(folders[path].values(), key=lambda entry: entry.path)
            return FolderListing(path, PRIVATE_FOLDER_MODE, tuple(entries))

        return list_folder

    def make_folder(self, path: str) -> None:
        self._made_folders.add(path)

    def remove(self, path: str) -> None:
        self._pages.remove(path)

    def remove_folder(self, path: str) -> None:
        for page in self._pages.list_sizes(path):
            with suppress(PageNotFound):
                self._pages.remove(page.path)

    def move(self, old: str, new: str) -> None:
        entry = self.entry(old)
        if not entry:
            raise PageNotFound(old)
        if entry.kind == "file":
            self._move_page(old, new)
            return
        for page in self._pages.list_sizes(old):
            with suppress(PageNotFound):
                self._move_page(page.path, new + page.path.removeprefix(old))

    def _move_page(self, old: str, new: str) -> None:
        if move_page(self._pages, old, new):
            return
        data = self._pages.read_bytes(old)
        if data is None:
            raise PageNotFound(old)

        def create(existing: bytes | None) -> bytes:
            if existing is not None:
                raise StaleVersion(new)
            return data

        self._pages.change_bytes(new, create)
        self._pages.remove(old)


def _file_entry(page: PageSize) -> FileEntry:
    return FileEntry(page.path, "file", page.size, page.modified_at, page.modified_at, PRIVATE_FILE_MODE)


def _folder_entry(path: str) -> FileEntry:
    return FileEntry(path, "folder", DEFAULT_FOLDER_BYTES, 0.0, 0.0, PRIVATE_FOLDER_MODE)


def _add_entry(folders: dict[str, dict[str, FileEntry]], entry: FileEntry) -> None:
    above = entry.path.rpartition("/")[0]
    if above not in folders:
        folders[above] = {}
        _add_entry(folders, _folder_entry(above))
    folders[above].setdefault(entry.path, entry)
