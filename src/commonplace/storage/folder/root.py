"""The folder of a home and what lies below it, reached one folder at a time, so that no link is followed at any step.

Whoever checks a path and then opens it can be raced: a folder may become a link in between. A folder that is open stays
the one it was.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...errors import OutsideHome
from ..files import (
    CAN_OPEN_FOLDERS,
    LINK_ERRORS,
    NO_FOLLOW,
    PRIVATE_FILE_MODE,
    READ_FLAGS,
    make_folders,
    open_folder_below,
    read_and_close,
    sync_folder,
)

MAX_SYSTEM_PATH_BYTES = 4096  # of a whole path, on Linux
FOLDER_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)


class OpenEntry(NamedTuple):
    """A file, or what may become one: its name in an open folder. Where folders cannot be opened, its whole path, and
    None."""

    name: str
    dir_fd: int | None

    def stat(self) -> os.stat_result:
        return os.stat(self.name, dir_fd=self.dir_fd, follow_symlinks=False)


class RootFolder:
    def __init__(self, folder: str) -> None:
        """Open a home, which itself may be a link or lie behind one."""
        self.path = os.path.realpath(folder)

    def open(self, path: str, flags: int, mode: int = PRIVATE_FILE_MODE) -> int:
        """Return a descriptor of a file or folder, which the caller closes; OutsideHome if a link leads there."""
        *folders, name = self._split(path) or [os.curdir]
        if not CAN_OPEN_FOLDERS:
            self.refuse_links(path)
            return os.open(os.path.join(self.path, *folders, name), flags, mode)
        try:
            dir_fd = self._step(folders)
            try:
                return os.open(name, flags | NO_FOLLOW, mode, dir_fd=dir_fd)
            finally:
                os.close(dir_fd)
        except OSError as error:
            self._explain(error, path)
            raise

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
        *folders, name = self._split(path)
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

    def _step(self, folders: list[str], *, create: bool = False) -> int:
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
        real = os.path.realpath(file_path)
        if real != file_path:
            out = "" if real.startswith(self.path + os.sep) else " out of the home"
            raise OutsideHome(f"leads{out} through a link", path=path, advice="put the page itself in its place")


def _make_folders(folder: str) -> None:
    for parent in make_folders(folder):
        sync_folder(parent)
