"""One walk over the folders of a home and one reading of each page: what the checks look at."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from ...errors import CommonplaceError, PageNotFound
from ...formats.json_text import is_unicode
from ...home import Home
from ...index.sync import IndexScope
from ...model import Page
from ...settings import INTERNAL_FOLDERS
from ...storage.files import page_of_leftover
from ...storage.layout import MAIN, Place
from ...storage.postgres.backend import PostgresStorage

Kind = Literal["file", "folder", "link", "other"]


class Finding(NamedTuple):
    """Something that is not as it should be, and what to do. `about`: what a fix needs to know beside the path."""

    check: str
    path: str
    what: str
    advice: str
    line: int = 0
    fixable: bool = False
    fixed: bool = False
    about: tuple[str, ...] = ()


class Entry(NamedTuple):
    """Something in a folder, as it is: a link is a link."""

    path: str
    kind: Kind
    info: os.stat_result

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Folder(NamedTuple):
    """A folder with what is in it of ours, and what `extraPaths` may name of others' files.

    `is_ours`: the folder itself belongs to memory, and does not only lead there.
    """

    path: str
    info: os.stat_result
    entries: tuple[Entry, ...]
    extra: tuple[Entry, ...] = ()
    is_ours: bool = True
    problem: str = ""


class Leaf(NamedTuple):
    """A page that was read. `place` is None for directives, which are no memory."""

    path: str
    place: Place | None
    info: os.stat_result
    text: str
    version: str


class Claim(NamedTuple):
    """A note or a record that says it is what a key stands for. Of those with one key the greatest `rank` counts."""

    whose: str
    key: str
    path: str
    line: int
    rank: tuple[Any, ...]
    digest: str  # of what it says; the time it was written left out
    at: str
    by_hand: bool = False


@dataclass
class Survey:
    """A home as it was found. The first part is there at once, the second grows while pages are read."""

    home: Home
    now: float  # by the system's clock: file times are compared with it
    folders: list[Folder]
    versions: dict[str, str] = field(default_factory=dict)  # of what search may return; "": it can not be read
    notes: list[Claim] = field(default_factory=list)
    records: list[Claim] = field(default_factory=list)
    told: set[str] = field(default_factory=set)  # the paths of what was found
    read: Callable[[str], Page] = field(init=False)

    def __post_init__(self) -> None:
        self.read = self.home.storage.pages.read

    @cached_property
    def scope(self) -> IndexScope:
        return self.home.index.scope

    @cached_property
    def agents(self) -> list[str]:
        """All that have a folder, and the main one, which need not."""
        return [*dict.fromkeys([MAIN, *self.home.storage.pages.list_folders(self.home.layout.path("agents"))])]

    @cached_property
    def diaries(self) -> dict[str, str]:
        """Whose notes are in a folder, or on a page."""
        layout = self.home.layout
        trees = {layout.notes_tree(agent): agent for agent in self.agents}
        return trees | {layout.curated_page(agent): agent for agent in self.agents}

    def entries(self) -> Iterator[Entry]:
        return (entry for folder in self.folders for entry in folder.entries)

    def is_directive(self, path: str) -> bool:
        return path.endswith(".md") and path.rpartition("/")[0] in self._directives

    @cached_property
    def _directives(self) -> set[str]:
        layout = self.home.layout
        return {layout.directives, *(layout.agent_directives(agent) for agent in self.agents)}


def survey(home: Home, now: float) -> Survey:
    found = Survey(home, now, [])
    if isinstance(home.storage, PostgresStorage):
        from .postgres import Rows

        rows = Rows(home.storage)
        found.folders += _walk(home, found.scope, rows.folder)
        found.read = rows.reader([entry.path for entry, _ in pages(found)])
        return found
    found.folders += _walk(home, found.scope, lambda path: _folder(home, path))
    for name in INTERNAL_FOLDERS:
        if not os.path.islink(os.path.join(home.root, name)):
            found.folders += _folder(home, name)
    return found


def pages(found: Survey) -> Iterator[tuple[Entry, Place | None]]:
    """The files that somebody reads as pages."""
    for folder in found.folders:
        for entry in (*folder.entries, *folder.extra):
            if entry.kind in ("link", "folder") or entry.name[0] == "." or not is_unicode(entry.path):
                continue
            place = found.scope.place(entry.path)
            if place or found.is_directive(entry.path):
                yield entry, place


def read(found: Survey, entry: Entry, place: Place | None) -> Leaf | Finding | None:
    """The page, or why it can not be read; None when it is not there any more."""
    try:
        page = found.read(entry.path)
    except PageNotFound:
        return None
    except CommonplaceError as error:
        advice = error.advice or "put a text file in its place"
        return Finding("unreadable", entry.path, error.problem, f"{advice}; until then nobody finds what it says")
    return Leaf(entry.path, place, entry.info, page.text, page.version)


def _walk(home: Home, scope: IndexScope, opened: Callable[[str], Iterator[Folder]]) -> Iterator[Folder]:
    """Every folder that memory is in or could be put into, each before those in it. No link is followed."""
    roots = scope.roots()
    extra = {root.path for root in roots if root.pattern}
    ours = {root.path for root in roots if not root.pattern} | {home.layout.directives}
    if home.layout.base or home.settings.layout == "native":
        ours.add(home.layout.base)  # a home of another system may be a folder of code, with memory in a corner
    waiting = [""]
    while waiting:
        for found in opened(waiting.pop()):
            mine = tuple(each for each in found.entries if _is_ours(each.path, ours))
            rest = (each for each in found.entries if not _is_ours(each.path, ours))
            others = tuple(each for each in rest if _below(each.path, extra))
            yield found._replace(entries=mine, extra=others, is_ours=_below(found.path, ours))
            folders = (each for each in found.entries if each.kind == "folder")
            waiting += (each.path for each in folders if _enters(each, ours | extra))


def _is_ours(path: str, ours: set[str]) -> bool:
    return _below(path, ours) or page_of_leftover(path) in ours


def _below(path: str, starts: set[str]) -> bool:
    return "" in starts or any(path == start or path.startswith(f"{start}/") for start in starts)


def _enters(folder: Entry, starts: set[str]) -> bool:
    """A hidden folder is left alone, unless it leads to memory: some systems keep it in one."""
    leads = any(f"{start}/".startswith(f"{folder.path}/") for start in starts)
    return is_unicode(folder.name) and (leads or (folder.name[0] != "." and _below(folder.path, starts)))


def _folder(home: Home, path: str) -> Iterator[Folder]:
    """The folder, unless it is not there (any more)."""
    place = os.path.join(home.root, path)
    try:
        info = os.stat(place)
        with os.scandir(place) as entries:
            yield Folder(path, info, tuple(sorted(_entries(entries, f"{path}/" if path else ""))))
    except FileNotFoundError:
        return
    except OSError as error:
        yield Folder(path, os.stat(home.root), (), problem=error.strerror or str(error))


def _entries(entries: Iterable[os.DirEntry[str]], prefix: str) -> Iterator[Entry]:
    for entry in entries:
        with suppress(FileNotFoundError):  # a temporary file goes as fast as it came
            info = entry.stat(follow_symlinks=False)
            yield Entry(prefix + entry.name, _kind(info.st_mode), info)


def _kind(mode: int) -> Kind:
    kinds: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(mode), "other")
