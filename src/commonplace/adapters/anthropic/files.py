"""The files of Claude's memory tool, as pages of a home: safe paths, and every change signed, kept and searched.

Answers and errors are word for word those of the SDK's own tool, which Claude knows. `/memories` is one folder of the
home; nothing here leads out of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...errors import Conflict, HoldsSecret, InvalidArgument, NotFound, NotText, OutsideHome, PageNotFound, StaleVersion
from ...home import Home
from ...storage.base import ABSENT
from ...storage.files import storage_errors
from ...storage.postgres.backend import PostgresStorage
from .folder import Disk
from .replies import LEVELS, climbs, inserted, listing, numbered, replaced, shown_lines, text_of
from .tree import ROOT, Kind, Spot, Tree

_MOST_LINES = 999_999
_LONGEST_NAME = 255  # bytes, as file systems have it
_AROUND = 2  # lines shown before and after a change
_EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"


class MemoryFiles:
    """What a model sends is not to be relied on: arguments are taken as they come, and checked here."""

    def __init__(self, home: Home, folder: str, *, overwrite: bool = False) -> None:
        self.home, self.folder, self.overwrite = home, folder, overwrite
        self._tree = _tree(home, folder)
        self.warnings: tuple[str, ...] = ()  # what is to be said of the last call, and has no place in its answer

    def ensure(self) -> None:
        """The folder is there from the start, as Claude expects it to be."""
        self.home.storage.check()
        self._tree.ensure()

    def view(self, path: object, view_range: object = None) -> str:
        with self._call("view"):
            spot = self.spot("path", path)
            kind = self._require(spot)
            if kind == "folder":
                return listing(spot.given, self._tree.size(spot.place), self._tree.listed(spot.place, LEVELS))
            if kind != "file":
                raise NotText(f"Unsupported file type for {spot.given}")
            with _vanishing(spot):
                page = self.home.storage.pages.read(spot.page)
            self.home.storage.pages.mark_read(page)
            lines = page.text.split("\n")
            if len(lines) > _MOST_LINES:
                raise InvalidArgument(f"File {spot.given} exceeds maximum line limit of {_MOST_LINES:,} lines.")
            first, last = shown_lines(view_range, len(lines))
            return f"Here's the content of {spot.given} with line numbers:\n{numbered(lines, first, last)}"

    def create(self, path: object, file_text: object) -> str:
        with self._writing("create"):
            spot = self.spot("path", path)
            text = self._clean("file_text", file_text)
            self._refuse_name(spot)
            taken = f"File {spot.given} already exists"
            if self._tree.kind(spot.place) == "folder":
                raise Conflict(taken)
            try:
                self.home.writer.write(spot.page, text, None if self.overwrite else ABSENT)
            except StaleVersion as error:
                raise Conflict(taken) from error
            return f"File created successfully at: {spot.given}"

    def str_replace(self, path: object, old_str: object, new_str: object) -> str:
        with self._writing("str_replace"):
            spot = self._file(path)
            old, new = text_of("old_str", old_str), self._clean("new_str", new_str)
            if not old:
                raise InvalidArgument("No replacement was performed, old_str is empty. Please say what to replace.")
            before, after = self._edit(spot, lambda text: replaced(text, old, new, spot.given))
            line = before.count("\n", 0, before.find(old)) + 1
            return _EDITED + numbered(after.split("\n"), max(1, line - _AROUND), line + _AROUND)

    def insert(self, path: object, insert_line: object, insert_text: object) -> str:
        with self._writing("insert"):
            spot = self._file(path)
            text = self._clean("insert_text", insert_text)
            self._edit(spot, lambda old: inserted(old, insert_line, text))
            return f"The file {spot.given} has been edited."

    def delete(self, path: object) -> str:
        with self._writing("delete"):
            spot = self.spot("path", path)
            if spot.page == self.folder:
                raise InvalidArgument("Cannot delete the /memories directory itself")
            place = self._tree.itself(spot)
            with _missing(spot):
                if self._tree.is_folder(place):
                    self._tree.remove_all(place)
                else:
                    self._tree.remove(place)
            return f"Successfully deleted {spot.given}"

    def rename(self, old_path: object, new_path: object) -> str:
        with self._writing("rename"):
            old, new = self.spot("old_path", old_path), self.spot("new_path", new_path)
            if old.page == self.folder:
                raise InvalidArgument("Cannot rename the /memories directory itself")
            taken = f"The destination {new.given} already exists"
            with _missing(old):
                if self._tree.kind(new.place):
                    raise Conflict(taken)
                if new.place.startswith((f"{old.place}/", old.place + os.sep)) and self._tree.is_folder(old.place):
                    raise InvalidArgument(f"Cannot rename {old.given} to {new.given}, which is inside of it")
                self._refuse_name(new)
                try:
                    self._tree.move(self._tree.itself(old), new.place)
                except (StaleVersion, FileExistsError) as error:
                    raise Conflict(taken) from error
            return f"Successfully renamed {old.given} to {new.given}"

    def clear(self) -> str:
        with self._writing("clear"):
            self._tree.remove_all(self.spot("path", ROOT).place)
            self.ensure()
        return "All memory cleared"

    def spot(self, field: str, path: object) -> Spot:
        """Where a path leads; OutsideHome when that is not below the folder."""
        given = text_of(field, path)
        if given != ROOT and not given.startswith(f"{ROOT}/"):
            raise OutsideHome(f"Path must start with /memories, got: {given}")
        if climbs(given):
            raise OutsideHome(f"Path {given} would escape /memories directory")
        if "\0" in given or "\\" in given:
            raise InvalidArgument(f"Path {given!a} has a null character or a backslash in it: use one like {ROOT}/a.md")
        return self._tree.spot(given)

    @contextmanager
    def _call(self, command: str) -> Iterator[None]:
        """One call: history knows it as one, and the index follows it."""
        self.ensure()
        with storage_errors(ROOT), self.home.writer.session(f"memory:{command}") as told:
            yield
        self.warnings = (*told.warnings, *told.conflicts)

    @contextmanager
    def _writing(self, command: str) -> Iterator[None]:
        """A call that writes: one after the other, so that nobody finds a file half on its way to another name."""
        with self._call(command), self.home.storage.pages.lock(self.folder):
            yield

    def _file(self, path: object) -> Spot:
        spot = self.spot("path", path)
        if self._require(spot) != "file":
            raise NotText(f"The path {spot.given} is not a file.")
        return spot

    def _edit(self, spot: Spot, change: Callable[[str], str]) -> tuple[str, str]:
        """Change a file that is there, with nobody in between; what it was, and what it is now."""
        sides = ("", "")

        def changed(text: str) -> str:
            nonlocal sides
            if not text and not self._tree.kind(spot.place):
                raise PageNotFound(spot.page)
            sides = text, change(text)
            return sides[1]

        with _vanishing(spot):
            self.home.writer.edit(spot.page, changed)
        return sides

    def _clean(self, field: str, value: object) -> str:
        """A text as the settings let it be written; HoldsSecret where they do not."""
        return str(self.home.writer.screen({field: text_of(field, value)})[field])

    def _refuse_name(self, spot: Spot) -> None:
        """A new file is where memory finds it, and nowhere else: it is searched, archived and, one day, forgotten."""
        if blocked := self._tree.blocked(spot):  # nothing can be put below a file
            raise Conflict(f"The path {spot.given} leads through {blocked}, which is not a directory.")
        if any(part.startswith(".") for part in spot.page.removeprefix(self.folder).split("/")):
            raise InvalidArgument(f"Path {spot.given} is hidden: use names that do not begin with a dot")
        if any(len(part.encode()) > _LONGEST_NAME for part in spot.page.split("/")):
            raise InvalidArgument(f"Path {spot.given[:60]}… has a name that is too long: {_LONGEST_NAME} bytes at most")
        if self._clean("path", spot.given) != spot.given:  # a name with a part left out would be another name
            raise HoldsSecret("the path holds what looks like a secret", advice="Use another name")

    def _require(self, spot: Spot) -> Kind:
        kind = self._tree.kind(spot.place)
        if not kind:
            raise NotFound(f"The path {spot.given} does not exist. Please provide a valid path.")
        return kind


def _tree(home: Home, folder: str) -> Tree:
    if isinstance(home.storage, PostgresStorage):
        from .postgres import Rows

        return Rows(home, home.storage, folder)
    return Disk(home, folder)


@contextmanager
def _vanishing(spot: Spot) -> Iterator[None]:
    """A file that was there a moment ago, and should be text."""
    try:
        yield
    except PageNotFound as error:
        sentence = f"The file {spot.given} no longer exists (may have been deleted or renamed concurrently)."
        raise NotFound(sentence) from error
    except NotText as error:
        raise NotText(f"The file {spot.given} is not a valid UTF-8 text file.") from error


@contextmanager
def _missing(spot: Spot) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, PageNotFound) as error:
        raise NotFound(f"The path {spot.given} does not exist") from error
