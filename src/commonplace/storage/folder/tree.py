"""The files of a home on disk. Links are never followed; files that are not text are moved byte for byte.

Every path is opened one folder at a time, starting from the home: checking a path and then opening it would be a race,
since a folder may become a link in between. An open folder stays the same.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from ...errors import NotFound, OutsideHome, PageNotFound, StaleVersion
from ...formats.json_text import is_unicode
from ..base import HISTORY_FOLDER, HistoryStore, Pages
from ..file_locks import lock, lock_slot
from ..files import (
    CAN_OPEN_FOLDERS,
    LINK_ERRORS,
    PRIVATE_FILE_MODE,
    PRIVATE_FOLDER_MODE,
    READ_FLAGS,
    OpenEntry,
    Unsupported,
    make_folders,
    open_folder_below,
    page_of_leftover,
    read_and_close,
    rename_noreplace,
    resolve_links,
    storage_errors,
    sync_folder,
)
from ..history import Change, current_write, version_of
from ..tree import FileEntry, FolderListing, Kind, Leftover, ListFolder, SymbolicLink, move_page

MAX_SYSTEM_PATH_BYTES = 4096  # a whole path on Linux
FOLDER_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)


class RootFolder:
    def __init__(self, folder: str) -> None:
        """Open a home, whose own path may contain links."""
        self.path = os.path.realpath(folder)

    def open(self, path: str, flags: int, mode: int = PRIVATE_FILE_MODE) -> int:
        """Return a descriptor of a file or folder, which the caller closes; OutsideHome if a link leads there."""
        with self.open_parent(path) as entry:
            return entry.open(flags, mode)

    def read(self, path: str) -> bytes:
        return read_and_close(self.open(path, READ_FLAGS), path)

    def read_or_none(self, path: str) -> bytes | None:
        try:
            return self.read(path)
        except FileNotFoundError:
            return None

    def unlink(self, path: str) -> None:
        with self.open_parent(path) as (name, dir_fd):
            os.unlink(name, dir_fd=dir_fd)

    def make_folder(self, folder: str) -> None:
        """Create a folder, private, and those it lies in."""
        folders = self._split(folder)
        if not CAN_OPEN_FOLDERS:
            self.refuse_links(folder)
            _make_folders(os.path.join(self.path, *folders))
            return
        try:
            os.close(self._step(folders, create=True))
        except OSError as error:
            self._explain(error, folder)
            raise

    def remove_folder(self, folder: str) -> None:
        """Remove an empty folder."""
        with self.open_parent(folder) as (name, dir_fd):
            os.rmdir(name, dir_fd=dir_fd)

    @contextmanager
    def scan(self, folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        """Open a folder and yield its entries, which can be asked about themselves within the block."""
        if os.scandir not in os.supports_fd:
            self.refuse_links(folder)
            with os.scandir(os.path.join(self.path, *self._split(folder))) as entries:
                yield entries
            return
        handle = self.open(folder, FOLDER_FLAGS)
        try:
            with os.scandir(handle) as entries:
                yield entries
        finally:
            os.close(handle)

    @contextmanager
    def open_parent(self, path: str, *, create: bool = False) -> Iterator[OpenEntry]:
        """Open the folder that a path lies in, and create it if asked; FileNotFoundError if it is not there."""
        *folders, name = self._split(path) or [os.curdir]
        if not CAN_OPEN_FOLDERS:
            self.refuse_links(path)
            if create:
                _make_folders(os.path.join(self.path, *folders))
            yield OpenEntry(os.path.join(self.path, *folders, name), None)
            return
        try:
            dir_fd = self._step(folders, create=create)
            try:
                yield OpenEntry(name, dir_fd)
            finally:
                os.close(dir_fd)
        except OSError as error:
            self._explain(error, path)
            raise

    def _split(self, path: str) -> list[str]:
        parts = [part for part in path.split("/") if part not in ("", os.curdir)]
        # Folder by folder a longer one could be reached, but other programs could not open it.
        if len(os.fsencode(self.path)) + len(os.fsencode(path)) + 1 >= MAX_SYSTEM_PATH_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        if os.pardir in parts:
            raise OutsideHome("is not a path inside the home", path=path, advice="use one like memory/notes.md")
        return parts

    def _step(self, folders: list[str], *, create: bool) -> int:
        """Go down from the root, folder by folder, and return a descriptor of the last."""
        if create:
            _make_folders(self.path)
        return open_folder_below(self.path, folders, create=create)

    def _explain(self, error: OSError, path: str) -> None:
        if error.errno in LINK_ERRORS:
            self.refuse_links(path)

    def refuse_links(self, path: str) -> None:
        """Raise OutsideHome when a path is reached through a link."""
        file_path = os.path.normpath(os.path.join(self.path, path))
        real = resolve_links(file_path)
        if real != file_path:
            out = "" if real.startswith(self.path + os.sep) else " out of the home"
            raise OutsideHome(f"leads{out} through a link", path=path, advice="put the page itself in its place")


def _make_folders(folder: str) -> None:
    for parent in make_folders(folder):
        sync_folder(parent)


_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class FolderTree:
    def __init__(self, root: str, locks: str, pages: Pages, history: HistoryStore) -> None:
        self._top = RootFolder(root)
        self._locks = locks
        self._pages = pages
        self._history = history

    def resolve(self, path: str, *, follow_last: bool = True) -> str:
        root = self._top.path
        file_path = os.path.join(root, path)
        resolved = resolve_links(file_path)
        if not follow_last:
            folder, name = os.path.split(file_path)
            last = os.path.join(resolve_links(folder), name)
            if os.path.islink(last):
                resolved = last
        if resolved != root and not resolved.startswith(root + os.sep):
            raise OutsideHome(f"{path} leads out of the home through a link: put the file itself in its place")
        return os.path.relpath(resolved, root).replace(os.sep, "/")

    def entry(self, path: str) -> FileEntry | None:
        try:
            with self._top.open_parent(path) as place:
                return self._entry(path, place.stat())
        except (OSError, OutsideHome):
            return None

    def folder_lister(self, below: str = "") -> ListFolder:
        return self._list_folder

    def _list_folder(self, path: str) -> FolderListing | None:
        prefix = f"{path}/" if path else ""
        try:
            with self._top.scan(path) as entries:
                listing = tuple(sorted(self._entries(entries, prefix)))
            return FolderListing(path, self._mode(path), listing)
        except FileNotFoundError:
            return None
        except OutsideHome as error:
            return FolderListing(path, PRIVATE_FOLDER_MODE, problem=error.problem)
        except OSError as error:
            return FolderListing(path, PRIVATE_FOLDER_MODE, problem=error.strerror or str(error))

    def _mode(self, path: str) -> int:
        with self._top.open_parent(path) as place:
            return stat.S_IMODE(place.stat().st_mode)

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
        try:
            with self._top.open_parent(path) as place:
                target = os.readlink(place.name, dir_fd=place.dir_fd)
        except (OSError, OutsideHome):
            return None
        file_path = os.path.join(self._top.path, path)
        is_inside = resolve_links(file_path).startswith(self._top.path + os.sep)
        return SymbolicLink(target, is_inside, not os.path.exists(file_path))

    def make_folder(self, path: str) -> None:
        with storage_errors(path):
            if self._kind(path) != "link":  # whoever opens it refuses a link in its place
                self._top.make_folder(path)

    def remove(self, path: str) -> None:
        with storage_errors(path):
            self._remove(path)
            self._top.make_folder(os.path.dirname(path))  # its last page took it along

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
            self._top.unlink(path)

    def move(self, old: str, new: str) -> None:
        with storage_errors(old):
            if self._kind(old) != "folder":
                self._move_file(old, new)
                self._top.make_folder(os.path.dirname(old))
                return
            files, folders = self._walk(old)
            for folder in folders:
                self._top.make_folder(new + folder.removeprefix(old))
            for file in files:
                with suppress(FileNotFoundError, PageNotFound):
                    self._move_file(file, new + file.removeprefix(old))
            self._remove_empty(folders)

    def _move_file(self, old: str, new: str) -> None:
        if not self._can_be_page(old) or not move_page(self._pages, old, new):
            try:
                self._rename(old, new)
            except FileExistsError as error:
                raise StaleVersion(new) from error
            self._pages.record_outside_edits(path for path in (old, new) if is_unicode(path))

    def _rename(self, old: str, new: str) -> None:
        with self._top.open_parent(old) as source, self._top.open_parent(new, create=True) as target:
            try:
                rename_noreplace(source.name, target.name, dir_fd=source.dir_fd, new_dir_fd=target.dir_fd)
            except Unsupported:
                os.rename(source.name, target.name, src_dir_fd=source.dir_fd, dst_dir_fd=target.dir_fd)
            for place in (target, source):
                sync_folder(os.path.dirname(place.name), dir_fd=place.dir_fd)

    def _can_be_page(self, path: str) -> bool:
        """Return whether `Pages` accepts a path: a regular file, not a link, with a name that is text."""
        if "\\" in path or not is_unicode(path):
            return False
        return self._kind(path) in ("file", None)

    def _kind(self, path: str) -> Kind | None:
        entry = self.entry(path)
        return entry.kind if entry else None

    def _walk(self, top: str) -> tuple[list[str], list[str]]:
        """Return the files below a folder, links included, and the folders, each before those in it."""
        files: list[str] = []
        folders = [top]
        for folder in folders:
            with self._top.scan(folder) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    path = f"{folder}/{entry.name}"
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(path)
        return files, folders

    def _remove_empty(self, folders: list[str]) -> None:
        for folder in reversed(folders):
            with suppress(OSError):  # gone with its last page, or not empty because of a concurrent write
                self._top.remove_folder(folder)

    def restrict_to_owner(self, paths: Iterable[str]) -> None:
        for path in paths:
            with suppress(FileNotFoundError):
                handle = self._top.open(path, READ_FLAGS)
                try:
                    os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) & PRIVATE_FOLDER_MODE)
                finally:
                    os.close(handle)

    def remove_derived_files(self, paths: Iterable[str]) -> None:
        for path in paths:
            with suppress(FileNotFoundError):
                self._top.unlink(path)

    def inspect_leftover(self, path: str, page: str) -> Leftover:
        data = self._top.read(path)
        if not data:
            return Leftover("nothing", True)
        if page.startswith(f"{HISTORY_FOLDER}/"):
            return Leftover("a part of history that was being rewritten", self._kind(page) == "file")
        if data == self._top.read_or_none(page):
            return Leftover("the same as that page", True)
        try:
            self._history.read_version(page, version_of(data))
        except NotFound:
            return Leftover(f"{len(data)} bytes that are in no version of that page", False)
        return Leftover("a version of that page that history has", True)

    def remove_leftover(self, path: str, page: str, *, record: bool = True) -> Change | None:
        if page.startswith(f"{HISTORY_FOLDER}/"):
            slot = page.removeprefix(f"{HISTORY_FOLDER}/").partition(".")[0]
            with lock_slot(self._locks, "page", slot, page):
                self._top.unlink(path)
            return None
        with lock(self._locks, "page", page):  # a writer of the page would hold this
            is_safe = not record or self.inspect_leftover(path, page).is_safe
            change = None if is_safe else self._record_leftover(path, page)
            self._top.unlink(path)
        return change

    def _record_leftover(self, path: str, page: str) -> Change:
        """Record the bytes of a leftover in the history of its page, which stays as it is."""
        data = self._top.read(path)
        current = self._top.read_or_none(page)
        saved = self._pages.modified_at(page) if current is not None else None
        author = current_write().author
        self._history.record_outside_edit(page, current, saved)
        change = self._history.record_change(page, current, data, author)
        self._history.record_change(page, data, current, author)
        return change
