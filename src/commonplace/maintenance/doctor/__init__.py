"""Doctor: finds what is wrong with a memory and says what to do about it.

`survey` walks the folders and reads each page once; `file_checks` and `page_checks` find problems and fix those that
need no guessing. Nothing is changed without `fix`, and history keeps the old text of a page. A new check is one
function and one row of `CHECKS`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...errors import CommonplaceError, NotText, PageNotFound, SettingsError
from ...home import Home, utc_now
from ...model import Clock
from ...storage.base import backend_of
from ...storage.layout import MAIN
from . import file_checks, page_checks
from .file_checks import Finding, ScannedPage, Survey, survey_home

__all__ = ["CHECKS", "Check", "Finding", "Report", "examine"]


class Check(NamedTuple):
    """A check: its title, how it finds problems in a memory or in each of its pages, and how it fixes one.

    A fix returns what it did and how to undo it.
    """

    title: str
    find: Callable[[Survey], Iterator[Finding]] | None = None
    find_in_page: Callable[[Survey, ScannedPage], Iterator[Finding]] | None = None
    fix: Callable[[Home, Finding], str] | None = None


# In the order in which findings are shown. `tables` is found before a memory can be opened.
CHECKS: dict[str, Check] = {
    "tables": Check("Tables of the database"),
    "settings": Check("Settings that cannot be read", find=file_checks.find_broken_agent_settings),
    "unreadable": Check(
        "Pages and folders that cannot be read",
        find=file_checks.find_unreadable_folders,
        fix=page_checks.save_as_utf8,
    ),
    "front-matter": Check("Broken front matter", find_in_page=page_checks.check_front_matter),
    "merge-conflicts": Check("Merge conflicts", find_in_page=page_checks.check_conflict_markers),
    "pins": Check("Notes pinned to files that changed", find_in_page=page_checks.check_pins),
    "json": Check("Broken JSON", find_in_page=page_checks.check_json),
    "duplicate-notes": Check(
        "Notes stored twice", find=page_checks.find_duplicate_notes, fix=page_checks.remove_duplicate_note
    ),
    "duplicate-records": Check(
        "Records stored twice", find=page_checks.find_duplicate_records, fix=page_checks.remove_duplicate_record
    ),
    "secrets": Check("Secrets in plain text", find_in_page=page_checks.check_secrets),
    "future": Check("Dates in the future", find_in_page=page_checks.check_future_dates),
    "oversize": Check("Large pages", find_in_page=page_checks.check_size),
    "unread": Check("Pages that are never read", find=file_checks.find_unread_pages),
    "links": Check("Links", find=file_checks.find_links),
    "names": Check("Names that other systems mix up", find=file_checks.find_confusable_names),
    "permissions": Check("Open to others", find=file_checks.find_open_permissions, fix=file_checks.close_permissions),
    "leftovers": Check("Left by killed processes", find=file_checks.find_leftovers, fix=file_checks.remove_leftover),
    "index": Check("The search index", find=file_checks.find_index_problems, fix=file_checks.fix_index),
    "old-indexes": Check(
        "Indexes of other versions", find=file_checks.find_old_indexes, fix=file_checks.remove_old_index
    ),
}


class Report(NamedTuple):
    """The findings, by check and path, and how much was examined."""

    findings: tuple[Finding, ...]
    checked: dict[str, int]

    @property
    def is_well(self) -> bool:
        return all(finding.fixed for finding in self.findings)


def examine(
    address: str,
    agent: str = MAIN,
    *,
    fix: bool = False,
    is_for_agent: bool = False,
    may_check_pins: bool = True,
    is_found: bool = False,
    clock: Clock = utc_now,
    now: Callable[[], float] = time.time,
) -> Report:
    """Examine a whole memory, all agents; with `fix`, fix what needs no guessing.

    `now` is the system's time, to compare file times with; `agent` is the author of fixes. With `is_for_agent`, only
    what this agent may know is examined; without `may_check_pins`, pinned files are not checked. `is_found`: the user
    did not name the memory.
    """
    backend = backend_of(address)
    setup_problems = backend.diagnose(address)
    if setup_problems:
        return Report(tuple(Finding(*problem, check="tables") for problem in setup_problems), {})
    try:
        home = _open_home(backend.absolute_address(address), agent, clock, is_found=is_found)
    except SettingsError as error:
        finding = file_checks.settings_problem(backend.absolute_address(address), error)
        return Report((finding._replace(check="settings"),), {})
    home.may_check_pins = may_check_pins and not is_for_agent
    try:
        survey = survey_home(home, now(), is_for_agent=is_for_agent)
        findings = sorted(_find_all(survey), key=_display_order)
        return Report(tuple(_fix_all(home, findings) if fix else findings), _count(survey))
    finally:
        home.close()


def _open_home(address: str, agent: str, clock: Clock, *, is_found: bool) -> Home:
    """Open the home, without an agent if only the agent's own settings are broken: a check reports those."""
    try:
        return Home(address, agent, clock, is_found=is_found)
    except SettingsError:
        return Home(address, "", clock, is_found=is_found)


def _display_order(finding: Finding) -> tuple[int, str, int]:
    return [*CHECKS].index(finding.check), finding.path, finding.line


def _find_all(survey: Survey) -> Iterator[Finding]:
    """Run all checks. Pages come first: duplicates and the index are compared with what was read."""
    for finding in _find_in_pages(survey):
        survey.paths_with_findings.add(finding.path)
        yield finding
    for name, check in CHECKS.items():
        for finding in check.find(survey) if check.find else ():
            survey.paths_with_findings.add(finding.path)
            yield finding._replace(check=name)


def _find_in_pages(survey: Survey) -> Iterator[Finding]:
    pages = [*survey.page_entries()]
    read = survey.home.storage.pages.page_reader([entry.path for entry, _ in pages])
    for entry, place in pages:
        try:
            page = read(entry.path)
        except PageNotFound:
            continue
        except CommonplaceError as error:
            if place:
                survey.versions[entry.path] = ""
            yield _describe_unreadable(survey.home, entry.path, error)
            continue
        if place:
            survey.versions[entry.path] = page.version
        yield from _check_page(
            survey, ScannedPage(entry.path, place, entry.size, entry.modified_at, page.text, page.version)
        )


def _describe_unreadable(home: Home, path: str, error: CommonplaceError) -> Finding:
    """Rules are left to a person: nobody else may put their words into a prompt."""
    is_text = isinstance(error, NotText) and bool(error.advice)
    advice = "save it as UTF-8" if is_text else error.advice or "replace it with a text file"
    fix_data: tuple[str, ...] | None = None
    may_fix = is_text and not home.layout.is_instruction(path)
    if may_fix and page_checks.read_as_windows_1252(home.storage.read_bytes(path) or b""):
        advice += ", or let --fix do it, which reads such bytes as Windows-1252"
        fix_data = ()
    return _unreadable(path, error.problem, advice, fix_data)


def _unreadable(path: str, what: str, advice: str, fix_data: tuple[str, ...] | None = None) -> Finding:
    return Finding(path, what, f"{advice}; until then it cannot be found", fix_data=fix_data, check="unreadable")


def _check_page(survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    try:
        page_checks.collect_claims(survey, page)
        for name, check in CHECKS.items():
            if check.find_in_page:
                yield from (finding._replace(check=name) for finding in check.find_in_page(survey, page))
    except (ValueError, RecursionError) as error:
        yield _unreadable(page.path, f"it cannot be parsed ({error})", "look at it by hand")


def _fix_all(home: Home, findings: list[Finding]) -> Iterator[Finding]:
    """Fix what can be fixed and yield all findings; the index comes last, so that it sees the other fixes."""
    fixable = [finding for finding in findings if finding.fixable]
    fixable.sort(key=lambda finding: finding.check == "index")
    results = {finding: _fix(home, finding) for finding in fixable}
    home.writer.update_index()
    return (results.get(finding, finding) for finding in findings)


def _fix(home: Home, finding: Finding) -> Finding:
    fix = CHECKS[finding.check].fix
    assert fix
    try:
        with home.writer.call("doctor", why=finding.what, defer_index=True):
            advice = fix(home, finding)
    except CommonplaceError as error:
        return finding._replace(advice=f"not fixed: {error}")
    except OSError as error:
        return finding._replace(advice=f"not fixed: {error.strerror or error}")
    return finding._replace(fixed=True, advice=advice)


def _count(survey: Survey) -> dict[str, int]:
    return {
        "agents": len(survey.agents),
        "folders": len(survey.folders),
        "files": sum(entry.kind == "file" for entry in survey.entries()),
        "pages": survey.home.visibility.count_pages(survey.versions),
        "checks": len(CHECKS),
    }
