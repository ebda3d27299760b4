"""The files of Claude's memory tool as pages of a database. A folder is there as long as a page is in it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ...errors import OutsideHome, PageNotFound
from ...home import Home
from ...storage.bulk import PRIVATE_MODE, IncomingPage, PageBatch, Spool
from ...storage.deltas import version_of
from ...storage.postgres.backend import PostgresStorage
from .tree import ROOT, Kind, Listed, Spot

_FOLDER = 4096  # bytes that a folder is said to have: as most file systems say
_BELOW = """SELECT path, size FROM commonplace.pages WHERE tenant = %(tenant)s AND data IS NOT NULL
  AND path >= %(start)s AND path < %(end)s ORDER BY path"""


class Rows:
    def __init__(self, home: Home, storage: PostgresStorage, folder: str) -> None:
        self.home, self._storage, self.folder = home, storage, folder

    def ensure(self) -> None:
        """It is there without a page, too."""

    def spot(self, given: str) -> Spot:
        below = given.removeprefix(ROOT).strip("/")
        place = posixpath.normpath(posixpath.join(self.folder, below))
        if place != self.folder and not place.startswith(f"{self.folder}/"):
            raise OutsideHome(f"Path {given} would escape /memories directory")
        return Spot(given, place, place, place)

    def kind(self, place: str) -> Kind:
        if place == self.folder:
            return "folder"
        try:
            self.home.storage.pages.modified_at(place)
        except PageNotFound:
            return "folder" if self._below(place, "LIMIT 1") else ""
        return "file"

    def is_folder(self, place: str) -> bool:
        return self.kind(place) == "folder"

    def itself(self, spot: Spot) -> str:
        return spot.place

    def blocked(self, spot: Spot) -> str:
        above = posixpath.dirname(spot.place)
        while above.startswith(self.folder):
            if self.kind(above) == "file":
                return posixpath.basename(above)
            above = posixpath.dirname(above)
        return ""

    def size(self, place: str) -> int:
        return _FOLDER

    def listed(self, place: str, levels: int) -> Iterator[Listed]:
        found: dict[str, tuple[bool, int]] = {}
        for path, size in self._below(place):
            parts = path.removeprefix(f"{place}/").split("/")
            if any(part.startswith(".") for part in parts):
                continue
            for count in range(1, min(len(parts), levels + 1)):
                found["/".join(parts[:count])] = True, _FOLDER
            if len(parts) <= levels:
                found["/".join(parts)] = False, size
        for name in sorted(found, key=lambda name: name.split("/")):
            yield name, *found[name]

    def remove(self, place: str) -> None:
        self.home.writer.remove(place)

    def remove_all(self, folder: str) -> None:
        for path, _ in self._below(folder):
            with suppress(PageNotFound):
                self.home.writer.remove(path)

    def move(self, old: str, new: str) -> None:
        if self.kind(old) != "folder":
            self._move_page(old, new)
            return
        for path, _ in self._below(old):
            with suppress(PageNotFound):
                self._move_page(path, new + path.removeprefix(old))

    def _move_page(self, old: str, new: str) -> None:
        if self.home.writer.move(old, new):
            return
        bulk = self.home.storage.bulk
        data, modified = bulk.read(old)
        if data is None:
            raise PageNotFound(old)
        with Spool() as spool:
            file = spool.add(PRIVATE_MODE, modified, [data])
            bulk.put(PageBatch([IncomingPage(new, version_of(data), file=file)], spool))
        self.home.writer.remove(old)

    def _below(self, folder: str, most: str = "") -> list[tuple[Any, ...]]:
        database = self._storage.database
        given = {"tenant": database.tenant, "start": f"{folder}/", "end": f"{folder}0"}
        return database.query(f"{_BELOW} {most}", given)
