"""One walk over the folders of a memory and one reading of each page: what the checks look at.

A survey for one agent holds only what that agent may know: what the checks find does not depend on anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from ...formats.json_text import is_unicode
from ...home import Home
from ...index.sync import IndexScope
from ...model import Page, Record
from ...settings import INTERNAL_FOLDERS
from ...storage.layout import MAIN, Place
from ...storage.records import parse as parse_record
from ...storage.tree import FileEntry, ListFolder

_LATEST_FILE_TIME = 250_000_000_000.0  # seconds since the epoch; later years are in no calendar


class DoctorProblem(NamedTuple):
    """Something that is not as it should be, and what to do about it. `fix_data`: what a fix needs beside the path.

    A problem without `fix_data` can only be fixed by hand.
    """

    path: str
    what: str
    advice: str
    line: int = 0
    fix_data: tuple[str, ...] | None = None


class Finding(NamedTuple):
    """A problem and the check that found it."""

    check: str
    path: str
    what: str
    advice: str
    line: int = 0
    fixable: bool = False
    fixed: bool = False
    about: tuple[str, ...] = ()


class SurveyedFolder(NamedTuple):
    """A folder with the entries of it that belong to memory, and those that only `extraPaths` names.

    `is_ours`: the folder itself belongs to memory, and does not only lead there.
    """

    path: str
    mode: int
    entries: tuple[FileEntry, ...]
    extra: tuple[FileEntry, ...]
    is_ours: bool
    problem: str


@dataclass(frozen=True)
class ScannedPage:
    """A page that was read. `place` is None for directives, which are not memory."""

    path: str
    place: Place | None
    size: int
    modified_at: float
    text: str
    version: str

    @cached_property
    def record(self) -> Record:
        """The page as a record, parsed once for all checks."""
        assert self.place
        return parse_record(self.text, self.path, self.place, lambda: self.calendar_time)

    @property
    def calendar_time(self) -> float:
        """When the file was written, as far as a calendar can show it."""
        return min(max(self.modified_at, 0.0), _LATEST_FILE_TIME)


class Claim(NamedTuple):
    """A note or a record that claims a key. Of those with the same owner and key the greatest `rank` counts."""

    owner: str
    key: str
    path: str
    line: int
    rank: tuple[Any, ...]
    digest: str  # of the content without its time
    at: str
    by_hand: bool = False


@dataclass
class Survey:
    """A memory as it was found. The first part is there at once, the second grows while pages are read.

    `is_for_agent`: of the home's agent alone, without what others keep and without internal folders.
    """

    home: Home
    now: float  # the system's clock, which file times are compared with
    folders: list[SurveyedFolder]
    is_for_agent: bool = False
    versions: dict[str, str] = field(default_factory=dict)  # of pages that search may return; "": unreadable
    notes: list[Claim] = field(default_factory=list)
    records: list[Claim] = field(default_factory=list)
    paths_with_findings: set[str] = field(default_factory=set)

    @cached_property
    def scope(self) -> IndexScope:
        scope = self.home.index.scope
        return replace(scope, extra=self.home.search_settings.extra_paths) if self.is_for_agent else scope

    def may_know(self, path: str) -> bool:
        """Return whether a finding may name a path."""
        return not self.is_for_agent or self.home.visibility.may_know(path)

    @cached_property
    def agents(self) -> list[str]:
        """All agents that have a folder, and the main one, which need not have one; or the home's own alone."""
        if self.is_for_agent:
            return [self.home.agent]
        names = self.home.storage.pages.list_folders(self.home.layout.agents)
        return [*dict.fromkeys([MAIN, *names])]

    @cached_property
    def note_owners(self) -> dict[str, str]:
        """The agent whose notes are in a folder, or on a page."""
        layout = self.home.layout
        folders = {layout.notes_tree(agent): agent for agent in self.agents}
        return folders | {layout.curated_page(agent): agent for agent in self.agents}

    def entries(self) -> Iterator[FileEntry]:
        return (entry for folder in self.folders for entry in folder.entries)

    def is_directive(self, path: str) -> bool:
        return path.endswith(".md") and path.rpartition("/")[0] in self._directive_folders

    @cached_property
    def _directive_folders(self) -> set[str]:
        layout = self.home.layout
        return {layout.directives, *(layout.agent_directives(agent) for agent in self.agents)}

    def page_entries(self) -> Iterator[tuple[FileEntry, Place | None]]:
        """Yield the files that are read as pages."""
        for folder in self.folders:
            for entry in (*folder.entries, *folder.extra):
                if entry.kind in ("link", "folder") or entry.name[0] == "." or not is_unicode(entry.path):
                    continue
                place = self.scope.place(entry.path)
                if place or self.is_directive(entry.path):
                    yield entry, place

    def page_reader(self) -> Callable[[str], Page]:
        return self.home.storage.page_reader([entry.path for entry, _ in self.page_entries()])


def survey_home(home: Home, now: float, *, is_for_agent: bool = False) -> Survey:
    survey = Survey(home, now, [], is_for_agent)
    list_folder = home.storage.tree.folder_lister()
    survey.folders += (_only_known(survey, each) for each in _walk(survey, list_folder))
    if is_for_agent:
        return survey
    for name in INTERNAL_FOLDERS:
        entry = home.storage.tree.entry(name)
        listing = list_folder(name) if entry and entry.kind != "link" else None
        if listing:
            survey.folders.append(SurveyedFolder(name, listing.mode, listing.entries, (), True, listing.problem))
    return survey


def _only_known(survey: Survey, folder: SurveyedFolder) -> SurveyedFolder:
    """Return a folder without the entries that the survey may not name."""
    entries = tuple(entry for entry in folder.entries if survey.may_know(entry.path))
    extra = tuple(entry for entry in folder.extra if survey.may_know(entry.path))
    return folder._replace(entries=entries, extra=extra)


def _walk(survey: Survey, list_folder: ListFolder) -> Iterator[SurveyedFolder]:
    """Yield every folder that memory is in or could be put into, each before those in it. No link is followed."""
    home = survey.home
    roots = survey.scope.roots()
    extra = {root.path for root in roots if root.pattern}
    ours = {root.path for root in roots if not root.pattern} | {home.layout.directives}
    # The home of another system may be a folder of code, or of that system's instructions, with memory in a corner.
    if home.settings.layout == "native" or (home.layout.base and home.settings.layout != "openclaw"):
        ours.add(home.layout.base)
    waiting = [""]
    while waiting:
        listing = list_folder(waiting.pop())
        if listing is None:
            continue
        own = tuple(entry for entry in listing.entries if _is_ours(entry, ours))
        others = (entry for entry in listing.entries if not _is_ours(entry, ours))
        named = tuple(entry for entry in others if _is_below(entry.path, extra))
        is_ours = _is_below(listing.path, ours)
        yield SurveyedFolder(listing.path, listing.mode, own, named, is_ours, listing.problem)
        folders = (entry for entry in listing.entries if entry.kind == "folder")
        waiting += (entry.path for entry in folders if _enters(entry, ours | extra) and survey.may_know(entry.path))


def _is_ours(entry: FileEntry, ours: set[str]) -> bool:
    return _is_below(entry.path, ours) or entry.leftover_of in ours


def _is_below(path: str, starts: set[str]) -> bool:
    return "" in starts or any(path == start or path.startswith(f"{start}/") for start in starts)


def _enters(folder: FileEntry, starts: set[str]) -> bool:
    """Skip hidden folders, unless one leads to memory: some systems keep it in one."""
    leads_there = any(f"{start}/".startswith(f"{folder.path}/") for start in starts)
    is_inside = folder.name[0] != "." and _is_below(folder.path, starts)
    return is_unicode(folder.name) and (leads_there or is_inside)
