"""The files of a home on disk. Links are never followed into; what is not text is moved byte for byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ...errors import NotFound, OutsideHome, PageNotFound, StaleVersion
from ...formats.json_text import is_unicode
from ..base import HISTORY_FOLDER, HistoryStore, Pages
from ..file_locks import lock, lock_slot
from ..files import (
    PRIVATE_FOLDER_MODE,
    Unsupported,
    make_folders,
    page_of_leftover,
    read_bytes,
    read_bytes_or_none,
    rename_noreplace,
    storage_errors,
    sync_folder,
)
from ..history import Change, current_write, version_of
from ..tree import FileEntry, FolderListing, Kind, Leftover, ListFolder, SymbolicLink, move_page

_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class FolderTree:
    def __init__(self, root: str, locks: str, pages: Pages, history: HistoryStore) -> None:
        self._root = root
        self._locks = locks
        self._pages = pages
        self._history = history

    def resolve(self, path: str, *, follow_last: bool = True) -> str:
        root = os.path.realpath(self._root)
        file_path = os.path.join(root, path)
        resolved = os.path.realpath(file_path)
        if not follow_last:
            folder, name = os.path.split(file_path)
            last = os.path.join(os.path.realpath(folder), name)
            if os.path.islink(last):
                resolved = last
        if resolved != root and not resolved.startswith(root + os.sep):
            raise OutsideHome(f"{path} leads out of the home through a link: put the file itself in its place")
        return os.path.relpath(resolved, root).replace(os.sep, "/")

    def entry(self, path: str) -> FileEntry | None:
        try:
            info = os.lstat(self._file_path(path))
        except OSError:
            return None
        return self._entry(path, info)

    def folder_lister(self, below: str = "") -> ListFolder:
        return self._list_folder

    def _list_folder(self, path: str) -> FolderListing | None:
        file_path = self._file_path(path)
        prefix = f"{path}/" if path else ""
        try:
            mode = stat.S_IMODE(os.stat(file_path).st_mode)
            with os.scandir(file_path) as entries:
                found = tuple(sorted(self._entries(entries, prefix)))
        except FileNotFoundError:
            return None
        except OSError as error:
            return FolderListing(path, PRIVATE_FOLDER_MODE, problem=error.strerror or str(error))
        return FolderListing(path, mode, found)

    def _entries(self, entries: Iterable[os.DirEntry[str]], prefix: str) -> Iterator[FileEntry]:
        for entry in entries:
            with suppress(FileNotFoundError):  # temporary files come and go
                yield self._entry(prefix + entry.name, entry.stat(follow_symlinks=False))

    def _entry(self, path: str, info: os.stat_result) -> FileEntry:
        kind = _KINDS.get(stat.S_IFMT(info.st_mode), "other")
        return FileEntry(
            path,
            kind,
            info.st_size,
            info.st_mtime,
            info.st_ctime,
            stat.S_IMODE(info.st_mode),
            self._link(path) if kind == "link" else None,
            page_of_leftover(path) if kind == "file" and is_unicode(path) else "",
        )

    def _link(self, path: str) -> SymbolicLink | None:
        file_path = self._file_path(path)
        try:
            target = os.readlink(file_path)
        except OSError:
            return None
        root = os.path.realpath(self._root)
        is_inside = os.path.realpath(file_path).startswith(root + os.sep)
        return SymbolicLink(target, is_inside, not os.path.exists(file_path))

    def make_folder(self, path: str) -> None:
        with storage_errors(path):
            make_folders(self._file_path(path))

    def remove(self, path: str) -> None:
        with storage_errors(path):
            self._remove(path)
            make_folders(
                os.path.dirname(self._file_path(path))
            )  # it goes with its last page, and nobody asked for that

    def remove_folder(self, path: str) -> None:
        with storage_errors(path):
            files, folders = self._walk(path)
            for file in files:
                with suppress(FileNotFoundError, PageNotFound):
                    self._remove(file)
            self._remove_empty(folders)

    def _remove(self, path: str) -> None:
        if self._can_be_page(path):
            self._pages.remove(path)
        else:
            os.unlink(self._file_path(path))

    def move(self, old: str, new: str) -> None:
        with storage_errors(old):
            if not self._is_folder(old):
                self._move_file(old, new)
                make_folders(os.path.dirname(self._file_path(old)))
                return
            files, folders = self._walk(old)
            for folder in folders:
                make_folders(self._file_path(new + folder.removeprefix(old)))
            for file in files:
                with suppress(FileNotFoundError, PageNotFound):
                    self._move_file(file, new + file.removeprefix(old))
            self._remove_empty(folders)

    def _move_file(self, old: str, new: str) -> None:
        if not self._can_be_page(old) or not move_page(self._pages, old, new):
            try:
                _rename(self._file_path(old), self._file_path(new))
            except FileExistsError as error:
                raise StaleVersion(new) from error
            self._pages.record_outside_edits(path for path in (old, new) if is_unicode(path))

    def _can_be_page(self, path: str) -> bool:
        """Return whether `Pages` takes a path: no link, no device, and no name that is not text."""
        file_path = self._file_path(path)
        if os.path.islink(file_path) or "\\" in path or not is_unicode(path):
            return False
        return os.path.isfile(file_path) or not os.path.lexists(file_path)

    def _is_folder(self, path: str) -> bool:
        file_path = self._file_path(path)
        return os.path.isdir(file_path) and not os.path.islink(file_path)

    def _walk(self, top: str) -> tuple[list[str], list[str]]:
        """Return the files below a folder, links included, and the folders, each before those in it."""
        files: list[str] = []
        folders = [top]
        for folder in folders:
            with os.scandir(self._file_path(folder)) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    path = f"{folder}/{entry.name}"
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(path)
        return files, folders

    def _remove_empty(self, folders: list[str]) -> None:
        for folder in reversed(folders):
            with suppress(OSError):  # gone with its last page, or not empty because of a concurrent write
                os.rmdir(self._file_path(folder))

    def restrict_to_owner(self, paths: Iterable[str]) -> None:
        for path in paths:
            with suppress(FileNotFoundError):
                handle = os.open(self._file_path(path), _OPEN_FLAGS)
                try:
                    os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) & PRIVATE_FOLDER_MODE)
                finally:
                    os.close(handle)

    def remove_derived_files(self, paths: Iterable[str]) -> None:
        for path in paths:
            with suppress(FileNotFoundError):
                os.unlink(self._file_path(path))

    def inspect_leftover(self, path: str, page: str) -> Leftover:
        data = read_bytes(self._file_path(path), path)
        if not data:
            return Leftover("nothing", True)
        if page.startswith(f"{HISTORY_FOLDER}/"):
            return Leftover("a part of history that was being rewritten", os.path.isfile(self._file_path(page)))
        if data == read_bytes_or_none(self._file_path(page), page):
            return Leftover("the same as that page", True)
        try:
            self._history.read_version(page, version_of(data))
        except NotFound:
            return Leftover(f"{len(data)} bytes that are in no version of that page", False)
        return Leftover("a version of that page that history has", True)

    def remove_leftover(self, path: str, page: str, *, record: bool = True) -> Change | None:
        if os.path.islink(self._locks):
            raise OutsideHome(f"{os.path.basename(self._locks)} is a link: put a folder in its place")
        if page.startswith(f"{HISTORY_FOLDER}/"):
            slot = page.removeprefix(f"{HISTORY_FOLDER}/").partition(".")[0]
            with lock_slot(self._locks, "page", slot, page):
                os.unlink(self._file_path(path))
            return None
        with lock(self._locks, "page", page):  # whoever writes the page would hold this
            is_safe = not record or self.inspect_leftover(path, page).is_safe
            change = None if is_safe else self._record_leftover(path, page)
            os.unlink(self._file_path(path))
        return change

    def _record_leftover(self, path: str, page: str) -> Change:
        """Record the bytes of a leftover in the history of its page, which stays as it is."""
        data = read_bytes(self._file_path(path), path)
        file_path = self._file_path(page)
        current = read_bytes_or_none(file_path, page)
        saved = os.stat(file_path).st_mtime if current is not None else None
        author = current_write().author
        self._history.record_outside_edit(page, current, saved)
        change = self._history.record_change(page, current, data, author)
        self._history.record_change(page, data, current, author)
        return change

    def _file_path(self, path: str) -> str:
        return os.path.join(self._root, path)


def _rename(old: str, new: str) -> None:
    make_folders(os.path.dirname(new))
    try:
        rename_noreplace(old, new)
    except Unsupported:
        os.rename(old, new)
    sync_folder(os.path.dirname(new))
    sync_folder(os.path.dirname(old))
