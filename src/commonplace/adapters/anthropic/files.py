"""The files of Claude's memory tool, as pages of a home: safe paths, and every change signed, kept and searched.

Answers and errors are word for word those of the SDK's own tool, which Claude knows. `/memories` is one folder of the
home; nothing here leads out of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ...errors import Conflict, HoldsSecret, InvalidArgument, NotFound, NotText, OutsideHome, PageNotFound, StaleVersion
from ...home import Home
from ...markdown.jsontext import is_unicode
from ...pages import ABSENT
from ...pages.exchange import CanNot, put
from ...pages.files import make_folders, storage_errors, sync_folder
from ...pages.sign import Signature, current, signed
from ...tools.guard import guarded
from .answers import climbs, inserted, listing, numbered, replaced, shown_lines, text_of

ROOT = "/memories"
_MOST_LINES = 999_999
_AROUND = 2  # lines shown before and after a change
_EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"


class Spot(NamedTuple):
    """Where a path leads: as it was given, as a page of the home, and as a file, with no link on the way to it.

    `way` is the file as it was given: links and all.
    """

    given: str
    page: str
    place: str
    way: str


class MemoryFiles:
    """What a model sends is not to be relied on: arguments are taken as they come, and checked here."""

    def __init__(self, home: Home, folder: str, *, overwrite: bool = False) -> None:
        self.home, self.folder, self.overwrite = home, folder, overwrite
        self.warnings: tuple[str, ...] = ()  # what is to be said of the last call, and has no place in its answer

    def ensure(self) -> None:
        """The folder is there from the start, as Claude expects it to be."""
        self.home.check()
        with storage_errors(self.folder):
            make_folders(os.path.join(self.home.root, self.folder))

    def view(self, path: object, view_range: object = None) -> str:
        with self._call("view"):
            spot = self.spot("path", path)
            _require(spot)
            if os.path.isdir(spot.place):
                return listing(spot.given, spot.place)
            if not os.path.isfile(spot.place):
                raise NotText(f"Unsupported file type for {spot.given}")
            with _vanishing(spot):
                page = self.home.pages.read(spot.page)
            self.home.pages.saw(page)
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
            if os.path.isdir(spot.place):
                raise Conflict(taken)
            try:
                self.home.pages.write(spot.page, text, None if self.overwrite else ABSENT)
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
            place = _itself(spot)
            with _missing(spot):
                if _is_folder(place):
                    self._remove_all(place)
                else:
                    self._remove(place)
                    make_folders(os.path.dirname(place))  # it goes with its last page, and nobody asked for that
            return f"Successfully deleted {spot.given}"

    def rename(self, old_path: object, new_path: object) -> str:
        with self._writing("rename"):
            old, new = self.spot("old_path", old_path), self.spot("new_path", new_path)
            if old.page == self.folder:
                raise InvalidArgument("Cannot rename the /memories directory itself")
            taken = f"The destination {new.given} already exists"
            with _missing(old):
                if os.path.lexists(new.place):
                    raise Conflict(taken)
                if new.place.startswith(old.place + os.sep) and _is_folder(old.place):
                    raise InvalidArgument(f"Cannot rename {old.given} to {new.given}, which is inside of it")
                self._refuse_name(new)
                try:
                    self._move(_itself(old), new.place)
                except (StaleVersion, FileExistsError) as error:
                    raise Conflict(taken) from error
            return f"Successfully renamed {old.given} to {new.given}"

    def clear(self) -> str:
        with self._writing("clear"):
            self._remove_all(self.spot("path", ROOT).place)
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

    @contextmanager
    def _call(self, command: str) -> Iterator[None]:
        """One call: history knows it as one, and the index follows it."""
        try:
            self.ensure()
            by = Signature(f"memory:{command}", self.home.agent, self.home.session)
            with storage_errors(ROOT), signed(by) as told:
                yield
            self.warnings = (*told.warnings, *told.conflicts)
        finally:
            self.home.follow()

    @contextmanager
    def _writing(self, command: str) -> Iterator[None]:
        """A call that writes: one after the other, so that nobody finds a file half on its way to another name."""
        with self._call(command), self.home.pages.hold(self.folder):
            yield

    def _file(self, path: object) -> Spot:
        spot = self.spot("path", path)
        _require(spot)
        if not os.path.isfile(spot.place):
            raise NotText(f"The path {spot.given} is not a file.")
        return spot

    def _edit(self, spot: Spot, change: Callable[[str], str]) -> tuple[str, str]:
        """Change a file that is there, with nobody in between; what it was, and what it is now."""
        sides = ("", "")

        def changed(text: str) -> str:
            nonlocal sides
            if not text and not os.path.lexists(spot.place):
                raise PageNotFound(spot.page)
            sides = text, change(text)
            return sides[1]

        with _vanishing(spot):
            self.home.pages.edit(spot.page, changed)
        return sides

    def _clean(self, field: str, value: object) -> str:
        """A text as the settings let it be written; HoldsSecret where they do not."""
        given, warning = guarded({field: text_of(field, value)}, self.home.settings.secrets)
        if warning:
            current().warnings.append(warning)
        return str(given[field])

    def _refuse_name(self, spot: Spot) -> None:
        """A new file is where memory finds it, and nowhere else: it is searched, archived and, one day, forgotten."""
        _refuse_clash(spot)
        if any(part.startswith(".") for part in spot.page.removeprefix(self.folder).split("/")):
            raise InvalidArgument(f"Path {spot.given} is hidden: use names that do not begin with a dot")
        if self._clean("path", spot.given) != spot.given:  # a name with a part left out would be another name
            raise HoldsSecret("nothing was written: the path holds what looks like a secret. Use another name")

    def _remove_all(self, folder: str) -> None:
        files, folders = _below(folder)
        for file in files:
            with suppress(FileNotFoundError, PageNotFound):
                self._remove(file)
        _remove_empty(folders)

    def _remove(self, place: str) -> None:
        if self._can_be_page(place):
            self.home.pages.remove(self._page(place))
        else:
            os.unlink(place)

    def _move(self, old: str, new: str) -> None:
        if not _is_folder(old):
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
        """The page is in its new place before it leaves the old one; what others write to it meanwhile comes along."""
        pages, page, target = self.home.pages, self._page(old), self._page(new)
        try:
            was = pages.read(page) if self._can_be_page(old) else None
        except NotText:
            was = None
        if was is None:
            _move_as_it_is(old, new)
            pages.notice(each for each in (page, target) if is_unicode(each))
            return
        version = pages.write(target, was.text, ABSENT)
        while was:
            try:
                pages.remove(page, was.version)
                was = None
            except StaleVersion:
                was = pages.read(page)
                version = pages.write(target, was.text, version)
            except PageNotFound:  # who deleted it meant what is in the new place, too
                pages.remove(target, version)
                raise

    def _can_be_page(self, place: str) -> bool:
        """Whether pages take it, or would if it were there: no link, no device, no name of bytes that are no text."""
        page = self._page(place)
        is_odd = os.path.islink(place) or "\\" in page or not is_unicode(page)
        return not is_odd and (os.path.isfile(place) or not os.path.lexists(place))


def _require(spot: Spot) -> None:
    if not os.path.lexists(spot.place):
        raise NotFound(f"The path {spot.given} does not exist. Please provide a valid path.")


def _itself(spot: Spot) -> str:
    """What is deleted or renamed: of a link the link, not what it leads to."""
    folder, name = os.path.split(spot.way)
    place = os.path.join(os.path.realpath(folder), name)
    return place if os.path.islink(place) else spot.place


def _is_folder(place: str) -> bool:
    return os.path.isdir(place) and not os.path.islink(place)


def _refuse_clash(spot: Spot) -> None:
    """Nothing can be put below a file."""
    above = os.path.dirname(spot.place)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        raise Conflict(f"The path {spot.given} leads through {os.path.basename(above)}, which is not a directory.")


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
        put(old, new)
    except CanNot:
        os.rename(old, new)
    sync_folder(os.path.dirname(new))
    sync_folder(os.path.dirname(old))
