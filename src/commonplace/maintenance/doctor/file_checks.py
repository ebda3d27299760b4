"""The survey that all checks use, and the checks of files: names, kinds, access rights, settings, the index.

A survey is one walk over the folders of a memory that reads each page once. The survey for one agent holds only what
that agent may know, so nothing else affects what the checks find.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from ... import settings as settings_of
from ...errors import CommonplaceError, PageNotFound, SettingsError
from ...formats.json_text import is_unicode
from ...home import Home
from ...index.base import IndexInspection, ignore_progress
from ...index.handle import index_file_stem
from ...index.sync import IndexScope
from ...model import Record
from ...settings import INTERNAL_FOLDERS
from ...storage.base import HISTORY_FOLDER, INDEX_FOLDER
from ...storage.history import Change
from ...storage.layout import MAIN, Place
from ...storage.records import SKILL_PAGE, parse_record
from ...storage.tree import FileEntry, ListFolder
from ...wording import count_words, format_command

_LATEST_FILE_TIME = 250_000_000_000.0  # seconds since the epoch; later years are in no calendar


class Finding(NamedTuple):
    """A problem, what to do about it, and which check found it.

    `fix_data`: what a fix needs beside the path; without it, only a person can fix this.
    """

    path: str
    what: str
    advice: str
    line: int = 0
    fix_data: tuple[str, ...] | None = None
    check: str = ""
    fixed: bool = False

    @property
    def fixable(self) -> bool:
        return self.fix_data is not None

    @property
    def about(self) -> tuple[str, ...]:
        return self.fix_data or ()


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
    digest: str  # hash of the content without its time
    at: str
    by_hand: bool = False


@dataclass
class Survey:
    """A memory as it was found. The first fields are set at once, the others grow while pages are read.

    `is_for_agent`: of the home's agent alone, without what others keep and without internal folders.
    """

    home: Home
    now: float  # the system's clock, which file times are compared with
    folders: list[SurveyedFolder]
    is_for_agent: bool = False
    versions: dict[str, str] = field(default_factory=dict)  # of pages that search may return; "" if unreadable
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
        """All agents with a folder, and the main agent, which may have none; or only the home's own agent."""
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


def survey_home(home: Home, now: float, *, is_for_agent: bool = False) -> Survey:
    survey = Survey(home, now, [], is_for_agent)
    list_folder = home.storage.tree.folder_lister()
    survey.folders += (_drop_unknown(survey, each) for each in _walk(survey, list_folder))
    if is_for_agent:
        return survey
    for name in INTERNAL_FOLDERS:
        entry = home.storage.tree.entry(name)
        listing = list_folder(name) if entry and entry.kind != "link" else None
        if listing:
            survey.folders.append(SurveyedFolder(name, listing.mode, listing.entries, (), True, listing.problem))
    return survey


def _drop_unknown(survey: Survey, folder: SurveyedFolder) -> SurveyedFolder:
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
    queue = [""]
    while queue:
        listing = list_folder(queue.pop())
        if listing is None:
            continue
        own = tuple(entry for entry in listing.entries if _is_ours(entry, ours))
        others = (entry for entry in listing.entries if not _is_ours(entry, ours))
        extras = tuple(entry for entry in others if _is_below(entry.path, extra))
        is_ours = _is_below(listing.path, ours)
        yield SurveyedFolder(listing.path, listing.mode, own, extras, is_ours, listing.problem)
        folders = (entry for entry in listing.entries if entry.kind == "folder")
        queue += (entry.path for entry in folders if _enters(entry, ours | extra) and survey.may_know(entry.path))


def _is_ours(entry: FileEntry, ours: set[str]) -> bool:
    return _is_below(entry.path, ours) or entry.leftover_of in ours


def _is_below(path: str, starts: set[str]) -> bool:
    return "" in starts or any(path == start or path.startswith(f"{start}/") for start in starts)


def _enters(folder: FileEntry, starts: set[str]) -> bool:
    """Skip hidden folders, unless one leads to memory: some systems keep it in one."""
    leads_there = any(f"{start}/".startswith(f"{folder.path}/") for start in starts)
    is_inside = folder.name[0] != "." and _is_below(folder.path, starts)
    return is_unicode(folder.name) and (leads_there or is_inside)


_MIN_LEFTOVER_SECONDS = 60.0  # a younger temporary file may belong to a write in progress
_UNUSED_INDEX_SECONDS = 86400.0  # an index opened since then may still be in use
_PAGE_SUFFIXES = (".md", ".markdown")
_OTHERS_MODE = 0o077
_INDEX_STEM = re.compile(r"words-\d+(?:-[0-9a-f]{8})?(?=[.-])")
_MAX_PAGES_NAMED = 3


def find_links(survey: Survey) -> Iterator[Finding]:
    """Links are never followed, whoever made them."""
    for entry in survey.entries():
        if entry.link is None or _is_internal(entry.path):
            continue
        where = "" if entry.link.is_inside else " out of the home"
        missing = ", which is not there" if entry.link.is_broken else ""
        what = f"is a link{where}, to {entry.link.target}{missing}"
        advice = (
            "put the page or folder itself in its place; links are not followed, nothing behind it is read or written"
        )
        yield Finding(entry.path, what, advice)


def find_unreadable_folders(survey: Survey) -> Iterator[Finding]:
    for folder in survey.folders:
        if folder.problem:
            advice = "check that it is a folder, who owns it and its access rights; until then nothing in it is read"
            yield Finding(folder.path or ".", f"cannot be read as a folder ({folder.problem})", advice)


def find_confusable_names(survey: Survey) -> Iterator[Finding]:
    """Find names that are the same name on another system, or not text at all."""
    for folder in survey.folders:
        by_folded_name: dict[str, list[FileEntry]] = {}
        for entry in folder.entries:
            if is_unicode(entry.name):
                by_folded_name.setdefault(_fold(entry.name), []).append(entry)
            else:
                advice = "rename it; until then it is not read"
                yield Finding(entry.path, "has a name that is not UTF-8", advice)
        for first, *others in by_folded_name.values():
            yield from (_same_name_problem(first, other) for other in others)


def _fold(name: str) -> str:
    """Return a name as seen by a file system that ignores case and the encoding of accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _same_name_problem(first: FileEntry, other: FileEntry) -> Finding:
    by = "case" if first.name.casefold() == other.name.casefold() else "the way accents are written"
    what = f"differs from {first.path} only by {by}"
    return Finding(other.path, what, "on many systems both are one file, and one is lost: rename one of them")


def find_unread_pages(survey: Survey) -> Iterator[Finding]:
    """Find pages where neither a tool nor search looks."""
    skills = f"{survey.home.layout.skills}/"
    skill_folders = {
        entry.path.removesuffix(f"/{SKILL_PAGE}") for entry in survey.entries() if entry.name == SKILL_PAGE
    }
    for entry in survey.entries():
        if entry.kind != "file" or entry.name[0] == "." or not entry.name.lower().endswith(_PAGE_SUFFIXES):
            continue
        if not is_unicode(entry.path) or survey.scope.place(entry.path) or survey.is_directive(entry.path):
            continue
        if entry.path.startswith(skills) and _skill_folder(entry.path, skills) in skill_folders:
            continue  # a skill's instructions may refer to files beside it
        loose = survey.home.layout.path(survey.home.layout.loose)
        yield Finding(entry.path, "is in a place where no tool and no search looks", _advise_place(entry, loose))


def _skill_folder(path: str, skills: str) -> str:
    return skills + path.removeprefix(skills).split("/")[0]


def _advise_place(entry: FileEntry, loose: str) -> str:
    if not entry.name.endswith(".md"):
        return "give it a name that ends in `.md`, in lower-case letters"
    return f"move it into {loose}/, or name its folder under `extraPaths` in commonplace.yaml"


def find_open_permissions(survey: Survey) -> Iterator[Finding]:
    """Find what people other than the owner can read or write. Nothing below a closed folder is exposed."""
    if os.name == "nt":  # access rights work differently there
        return
    searchable = {"": _OTHERS_MODE}  # folder to the permission bits of those who can enter it
    for folder in survey.folders:
        above = searchable[folder.path.rpartition("/")[0]] if folder.path else _OTHERS_MODE
        searchable[folder.path] = above & _find_searchers(folder.mode)
        if folder.problem:
            continue
        is_exposed = folder.is_ours and bool(folder.mode & above & 0o066)
        pages = [entry for entry in folder.entries if _is_exposed(survey, entry, searchable[folder.path])]
        if is_exposed or pages:
            yield _open_problem(folder, pages, is_exposed=is_exposed)


def _find_searchers(mode: int) -> int:
    return (0o070 if mode & 0o010 else 0) | (0o007 if mode & 0o001 else 0)


def _is_exposed(survey: Survey, entry: FileEntry, who: int) -> bool:
    if entry.kind != "file" or not entry.mode & who & 0o066 or not is_unicode(entry.path):
        return False
    return _is_internal(entry.path) or survey.scope.place(entry.path) is not None or survey.is_directive(entry.path)


def _open_problem(folder: SurveyedFolder, pages: list[FileEntry], *, is_exposed: bool) -> Finding:
    """Return one problem for a folder and the pages in it: if one is open, the others usually are, too."""
    paths = [*([folder.path or "."] if is_exposed else []), *(page.path for page in pages)]
    mode = folder.mode if is_exposed else pages[0].mode
    expected = "0700" if is_exposed else "0600"
    what = f"users other than its owner have access to it (mode {mode:04o}; commonplace makes {expected})"
    more = len(paths) - 1
    if more:
        what += f", and at {count_words(more, 'page')} {'in' if is_exposed else 'beside'} it"
    advice = "if you did not open it on purpose, --fix closes it; `chmod` opens it again"
    return Finding(paths[0], what, advice, fix_data=tuple(paths))


def close_permissions(home: Home, finding: Finding) -> str:
    home.storage.tree.restrict_to_owner(finding.about)
    return "closed to others; `chmod` opens it again"


def find_leftovers(survey: Survey) -> Iterator[Finding]:
    """Find temporary files of processes that were killed while they wrote."""
    for entry in survey.entries():
        page = entry.leftover_of
        age = survey.now - max(entry.modified_at, entry.changed_at)  # a file that was swapped in has an old mtime
        if not page or age <= _MIN_LEFTOVER_SECONDS:
            continue
        if survey.scope.place(page) or survey.is_directive(page) or page.startswith(f"{HISTORY_FOLDER}/"):
            yield _leftover_problem(survey.home, entry.path, page)
        else:
            what = f"was left by a killed process for {page}, which is not a page of memory"
            yield Finding(entry.path, what, "look at it by hand, then remove it")


def _leftover_problem(home: Home, path: str, page: str) -> Finding:
    try:
        leftover = home.storage.tree.inspect_leftover(path, page)
    except (OSError, CommonplaceError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        what = f"was left by a killed process, and cannot be compared with {page} and its history ({reason})"
        return Finding(path, what, "look at it by hand, then remove it")
    what = f"was left by a process that was killed while it wrote {page}; it holds {leftover.content}"
    if page.startswith(f"{HISTORY_FOLDER}/") and not leftover.is_safe:
        return Finding(path, what, f"{page} is missing: rename this file to it, then look at the log")
    precaution = "" if leftover.is_safe else f", after putting what it holds into the history of {page}"
    return Finding(path, what, f"--fix removes it{precaution}", fix_data=(page,))


def remove_leftover(home: Home, finding: Finding) -> str:
    (page,) = finding.about
    change = home.storage.tree.remove_leftover(finding.path, page)
    if change is None:
        return "removed"
    return f"removed; {restore_command(home, page, change)} restores that page from what it held"


def restore_command(home: Home, path: str, change: Change) -> str:
    command = format_command("restore", path, "--as-of", change.id)
    return f"`{command}{format_everyone_option(home, path)}`"


def format_everyone_option(home: Home, path: str) -> str:
    """Return the option that history commands need to show a page; empty for one the agent may see."""
    place = home.layout.place(path)
    return "" if place is None or home.visibility.may_see(place) else " --everyone"


def find_broken_agent_settings(survey: Survey) -> Iterator[Finding]:
    """Check the settings files of all agents: the home was opened for only one of them."""
    home = survey.home
    for agent in survey.agents:
        try:
            settings_of.read_agent_memory(home.layout.agent_file(agent), home.storage.read_settings_text)
        except SettingsError as error:
            yield settings_problem(home.root, error)


def settings_problem(root: str, error: SettingsError) -> Finding:
    path = error.path.removeprefix(root + os.sep)
    advice = "fix it by hand; until then no tool works with this memory, and nothing else was checked"
    if path != settings_of.FILE:
        advice = "fix it by hand; until then no tool works for this agent"
    what = f"{error.problem}: {error.advice}" if error.advice else error.problem
    return Finding(path, what, advice, error.line)


def find_index_problems(survey: Survey) -> Iterator[Finding]:
    """Compare the index, without letting it catch up, with the pages as they were just read."""
    inspection = survey.home.index.inspect()
    location = inspection.location
    if inspection.state == "missing" and survey.versions:
        yield Finding(
            location, "there is no index", "the next search makes it; --fix does it now", fix_data=("behind",)
        )
    elif inspection.state == "busy":
        yield Finding(location, "the index is in use and could not be checked", "try again in a moment")
    elif inspection.state == "damaged":
        advice = "the next search that notices rebuilds it; --fix does it now. Nothing is lost by it"
        yield Finding(location, f"the index is damaged ({inspection.problem})", advice, fix_data=("damaged",))
    elif inspection.state == "ok":
        yield from _compare_index(survey, _only_known(survey, inspection))


def _only_known(survey: Survey, inspection: IndexInspection) -> IndexInspection:
    """Return what the index has, without the pages that the survey may not name."""
    return inspection._replace(
        stamps={page: stamp for page, stamp in inspection.stamps.items() if survey.may_know(page)},
        versions={page: version for page, version in inspection.versions.items() if survey.may_know(page)},
        warnings={page: warning for page, warning in inspection.warnings.items() if survey.may_know(page)},
    )


def _compare_index(survey: Survey, inspection: IndexInspection) -> Iterator[Finding]:
    handle = survey.home.index
    warnings = {
        page: sentence for page, sentence in inspection.warnings.items() if page not in survey.paths_with_findings
    }
    reported = inspection.warnings.keys() - warnings.keys()
    different = {page for page, version in survey.versions.items() if inspection.versions.get(page) != version}
    suspects = (different - reported) | (inspection.stamps.keys() - survey.versions.keys())
    changed = handle.find_changes(inspection) if suspects or warnings else set()
    behind = suspects if changed is None else suspects & changed
    wrong = _find_wrong(survey, suspects - behind - warnings.keys(), inspection)
    if behind and not inspection.lag_is_normal:
        what = f"the index has not seen the last change of {_name_some(behind)}"
        advice = "the next search catches up by itself; --fix does it now"
        yield Finding(inspection.location, what, advice, fix_data=("behind",))
    if wrong:
        what = f"the index differs from {_name_some(wrong)}, and would not notice"
        yield Finding(inspection.location, what, "--fix rebuilds it from the pages", fix_data=("wrong",))
    for page in sorted(warnings.keys() - behind):
        what = warnings[page].removeprefix(page).lstrip(": ")
        yield Finding(page, what, "look at the page, and fix it by hand")


def _find_wrong(survey: Survey, suspects: set[str], inspection: IndexInspection) -> set[str]:
    """Return the pages that differ from the index without it noticing.

    Others may write meanwhile: a page counts only if it did not change during the comparison.
    """
    versions = {page: _current_version(survey, page) for page in suspects}
    wrong = {page for page, version in versions.items() if version not in (None, inspection.versions.get(page))}
    if wrong:
        wrong -= survey.home.index.find_changes(inspection) or set()
    return {page for page in wrong if _current_version(survey, page) == versions[page]}


def _current_version(survey: Survey, page: str) -> str | None:
    """Return the current version of a page: empty if it cannot be read, None if it does not exist."""
    try:
        return survey.home.storage.pages.read(page).version
    except PageNotFound:
        return None
    except CommonplaceError:
        return ""


def _name_some(pages: set[str]) -> str:
    names = ", ".join(sorted(pages)[:_MAX_PAGES_NAMED]) + (", …" if len(pages) > _MAX_PAGES_NAMED else "")
    return f"{count_words(len(pages), 'page')} ({names})"


def fix_index(home: Home, finding: Finding) -> str:
    """Bring the lexical index up to date; vectors follow with the next search."""
    (state,) = finding.about
    if state == "damaged":
        home.index.discard()
    home.index.build(ignore_progress, anew=state == "wrong")
    return "brought up to date" if state == "behind" else "rebuilt from the pages"


def find_old_indexes(survey: Survey) -> Iterator[Finding]:
    """Find index files of other versions and settings that nobody has opened lately."""
    own = index_file_stem(survey.scope.fingerprint)
    others: dict[str, list[FileEntry]] = {}
    for entry in survey.entries():
        stem = _INDEX_STEM.match(entry.name) if entry.path.startswith(f"{INDEX_FOLDER}/") else None
        if stem and entry.kind == "file" and stem[0] != own:
            others.setdefault(stem[0], []).append(entry)
    for name, entries in sorted(others.items()):
        if survey.now - max(entry.modified_at for entry in entries) > _UNUSED_INDEX_SECONDS:
            megabytes = sum(entry.size for entry in entries) / 1e6
            what = f"an index of another version or of other settings ({megabytes:.1f} MB), not used for a day or more"
            advice = "--fix removes it; it can be made again from the pages"
            fix_data = tuple(entry.path for entry in entries)
            yield Finding(f"{INDEX_FOLDER}/{name}", what, advice, fix_data=fix_data)


def remove_old_index(home: Home, finding: Finding) -> str:
    home.storage.tree.remove_derived_files(finding.about)
    return "removed"


def _is_internal(path: str) -> bool:
    return path.startswith(tuple(f"{name}/" for name in INTERNAL_FOLDERS))
