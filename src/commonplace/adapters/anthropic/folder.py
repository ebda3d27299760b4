"""The files of Claude's memory tool in a folder: links lead nowhere, and what is no text is moved as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from ...errors import OutsideHome, PageNotFound
from ...formats.json_text import is_unicode
from ...home import Home
from ...storage.files import Unsupported, make_folders, rename_noreplace, storage_errors, sync_folder
from .tree import ROOT, Kind, Listed, Spot


class Disk:
    def __init__(self, home: Home, folder: str) -> None:
        self.home, self.folder = home, folder

    def ensure(self) -> None:
        with storage_errors(self.folder):
            make_folders(os.path.join(self.home.root, self.folder))

    def spot(self, given: str) -> Spot:
        top = os.path.join(os.path.realpath(self.home.root), *self.folder.split("/"))
        if os.path.realpath(top) != top:
            raise OutsideHome("Path would escape /memories directory via symlink")
        way = os.path.join(top, given.removeprefix(ROOT).strip("/"))
        place = os.path.realpath(way)
        if place != top and not place.startswith(top + os.sep):
            raise OutsideHome(f"Path {given} would escape /memories directory")
        return Spot(given, self._page(place), place, way)

    def _page(self, place: str) -> str:
        return os.path.relpath(place, os.path.realpath(self.home.root)).replace(os.sep, "/")

    def kind(self, place: str) -> Kind:
        if os.path.isdir(place):
            return "folder"
        if os.path.isfile(place):
            return "file"
        return "other" if os.path.lexists(place) else ""

    def is_folder(self, place: str) -> bool:
        return os.path.isdir(place) and not os.path.islink(place)

    def itself(self, spot: Spot) -> str:
        folder, name = os.path.split(spot.way)
        place = os.path.join(os.path.realpath(folder), name)
        return place if os.path.islink(place) else spot.place

    def blocked(self, spot: Spot) -> str:
        above = os.path.dirname(spot.place)
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        return "" if os.path.isdir(above) else os.path.basename(above)

    def size(self, place: str) -> int:
        return os.stat(place).st_size

    def listed(self, place: str, levels: int) -> Iterator[Listed]:
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:  # gone, or closed to us: what is there to see is shown
            return
        for entry in entries:
            if entry.name[0] == "." or not is_unicode(entry.name):
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.is_file(follow_symlinks=False):
                continue
            try:
                bytes_ = entry.stat(follow_symlinks=False).st_size
            except FileNotFoundError:
                continue
            yield entry.name, is_folder, bytes_
            if is_folder and levels > 1:
                for name, is_deeper, count in self.listed(entry.path, levels - 1):
                    yield f"{entry.name}/{name}", is_deeper, count

    def remove(self, place: str) -> None:
        """The folder stays: it goes with its last page, and nobody asked for that."""
        self._remove(place)
        make_folders(os.path.dirname(place))

    def remove_all(self, folder: str) -> None:
        files, folders = _below(folder)
        for file in files:
            with suppress(FileNotFoundError, PageNotFound):
                self._remove(file)
        _remove_empty(folders)

    def _remove(self, place: str) -> None:
        if self._can_be_page(place):
            self.home.writer.remove(self._page(place))
        else:
            os.unlink(place)

    def move(self, old: str, new: str) -> None:
        if not self.is_folder(old):
            self._move_file(old, new)
            make_folders(os.path.dirname(old))
            return
        files, folders = _below(old)
        for folder in folders:
            make_folders(new + folder.removeprefix(old))
        for file in files:
            with suppress(FileNotFoundError, PageNotFound):
                self._move_file(file, new + file.removeprefix(old))
        _remove_empty(folders)

    def _move_file(self, old: str, new: str) -> None:
        page = self._page(old)
        target = self._page(new)
        if not self._can_be_page(old) or not self.home.writer.move(page, target):
            _move_as_it_is(old, new)
            self.home.storage.pages.record_outside_edits(each for each in (page, target) if is_unicode(each))

    def _can_be_page(self, place: str) -> bool:
        """Whether pages take it, or would if it were there: no link, no device, no name of bytes that are no text."""
        page = self._page(place)
        is_odd = os.path.islink(place) or "\\" in page or not is_unicode(page)
        return not is_odd and (os.path.isfile(place) or not os.path.lexists(place))


def _below(top: str) -> tuple[list[str], list[str]]:
    """What is below a folder and no folder, and the folders, each before those in it. Links are links."""
    files: list[str] = []
    folders = [top]
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.path)
    return files, folders


def _remove_empty(folders: list[str]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # gone with its last page; or somebody just put something new there, which stays
            os.rmdir(folder)


def _move_as_it_is(old: str, new: str) -> None:
    """For what is no text: nobody has to read it to move it."""
    make_folders(os.path.dirname(new))
    try:
        rename_noreplace(old, new)
    except Unsupported:
        os.rename(old, new)
    sync_folder(os.path.dirname(new))
    sync_folder(os.path.dirname(old))
