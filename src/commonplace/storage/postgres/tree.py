"""The pages of a database as files in folders. A folder exists while a page is in it, or once this handle made it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from contextlib import suppress

from ...errors import OutsideHome, PageNotFound, StaleVersion
from ..deltas import Change
from ..tree import (
    DEFAULT_FOLDER_BYTES,
    PRIVATE_FILE_MODE,
    PRIVATE_FOLDER_MODE,
    FileEntry,
    FolderListing,
    Leftover,
    ListFolder,
    move_page,
)
from .pages import PageSize, PostgresPages


class PostgresTree:
    def __init__(self, pages: PostgresPages) -> None:
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
        """List from one query: everything below a path as of now."""
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
        if self._pages.find_page(old):
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

    def restrict_to_owner(self, paths: Iterable[str]) -> None:
        """Do nothing: row-level security decides who sees a page."""

    def inspect_leftover(self, path: str, page: str) -> Leftover:
        """A transaction leaves nothing behind."""
        return Leftover("nothing", True)

    def remove_leftover(self, path: str, page: str) -> Change | None:
        """Do nothing: a transaction leaves nothing behind."""


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
