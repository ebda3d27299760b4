"""IS THIS MEMORY WELL? What is wrong with a home, what it means, and what to do about it.

`look` walks the folders and reads each page once; `folders`, `contents` and `drift` say what is wrong; `fixes` mends
what can be mended without guessing. Nothing is changed unless that is asked for, and history has what a page was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from ... import settings as settings_of
from ...errors import NotFound, SettingsError
from ...home import Home, utc_now
from ...model import Clock
from ...storage.backends import in_database
from ...storage.layout import MAIN
from ...storage.postgres.connection import Database
from ...storage.postgres.url import parse_url
from .contents import OF_A_PAGE, duplicates
from .fixes import FIXES, fixed
from .folders import leftovers, links, names, permissions, unread
from .index_drift import index, old_indexes
from .scan import Finding, Leaf, Survey, pages, read, survey

Check = Callable[[Survey], Iterator[Finding]]
__all__ = ["CHECKS", "Finding", "Report", "examine"]

# What each check is about, in the order they are shown.
CHECKS = {
    "tables": "Tables of the database",
    "settings": "Settings that can not be read",
    "unreadable": "Pages and folders that can not be read",
    "front-matter": "Broken front matter",
    "json": "Broken JSON",
    "duplicate-notes": "Notes kept twice",
    "duplicate-records": "Records kept twice",
    "secrets": "Secrets in plain text",
    "future": "Dates in the future",
    "oversize": "Large pages",
    "unread": "Pages that nobody reads",
    "links": "Links",
    "names": "Names that other systems mix up",
    "permissions": "Open to others",
    "leftovers": "Left by killed processes",
    "index": "The search index",
    "old-indexes": "Indexes of other versions",
}


class Report(NamedTuple):
    """What was found, by check and path, and how much was looked at."""

    findings: tuple[Finding, ...]
    checked: dict[str, int]

    @property
    def is_well(self) -> bool:
        return all(finding.fixed for finding in self.findings)


def examine(
    root: str,
    agent: str = MAIN,
    *,
    fix: bool = False,
    clock: Clock = utc_now,
    now: Callable[[], float] = time.time,
) -> Report:
    """Look at a whole home, all agents; with `fix`, mend what can be mended without guessing.

    `now` is the system's time, which file times are compared with; `agent` is who signs what is mended.
    """
    if in_database(root):
        from .postgres import tables

        if wrong := [*tables(Database(parse_url(root)))]:
            return Report(tuple(wrong), {})
    else:
        root = os.path.abspath(os.path.expanduser(root))
        if not os.path.isdir(root):
            raise NotFound(f"there is no memory at {root}: run `commonplace init`, or say which with --home")
    home = _opened(root, agent, clock)
    if isinstance(home, Finding):
        return Report((home,), {})
    try:
        found = survey(home, now())
        findings = sorted(_findings(found), key=_order)
        return Report(tuple(_mended(home, findings) if fix else findings), _counts(found))
    finally:
        home.close()


def _opened(root: str, agent: str, clock: Clock) -> Home | Finding:
    """The home; for nobody, where only the agent's own file is wrong: that is told with the others'."""
    try:
        return Home(root, agent, clock)
    except SettingsError:
        try:
            return Home(root, "", clock)
        except SettingsError as error:
            return _settings(root, error)


def _order(finding: Finding) -> tuple[int, str, int]:
    return [*CHECKS].index(finding.check), finding.path, finding.line


def _mended(home: Home, findings: list[Finding]) -> Iterator[Finding]:
    """The findings, once all that can be mended is: the index last, so that it sees the rest."""
    fixable = sorted((each for each in findings if each.fixable), key=lambda each: [*FIXES].index(each.check))
    done = {each: fixed(home, each) for each in fixable}
    home.writer.update_index()
    return (done.get(each, each) for each in findings)


def _findings(found: Survey) -> Iterator[Finding]:
    """All checks, in an order: what keys and the index are compared with is there once the pages are read."""
    if found.home.storage.folder:
        checks: tuple[Check, ...] = (links, names, unread, permissions, leftovers, _pages, _agents, duplicates)
        checks = (*checks, index, old_indexes)
    else:
        from . import postgres as rows

        checks = names, unread, _pages, _agents, duplicates, rows.index
    for check in checks:
        for finding in check(found):
            found.told.add(finding.path)
            yield finding


def _pages(found: Survey) -> Iterator[Finding]:
    """Every page, read once, and all that is wrong with it."""
    for entry, place in pages(found):
        leaf = read(found, entry, place)
        if leaf and place:
            found.versions[entry.path] = leaf.version if isinstance(leaf, Leaf) else ""
        if isinstance(leaf, Finding):
            yield leaf
        elif leaf:
            yield from _page(found, leaf)


def _page(found: Survey, leaf: Leaf) -> Iterator[Finding]:
    try:
        for check in OF_A_PAGE:
            yield from check(found, leaf)
    except (ValueError, RecursionError) as error:
        what = f"nobody can make sense of it ({error})"
        yield Finding("unreadable", leaf.path, what, "look at it by hand; until then nobody finds what it says")


def _agents(found: Survey) -> Iterator[Finding]:
    """The files of all agents: the home was opened for one of them."""
    home = found.home
    for agent in found.agents:
        file = home.layout.agent_file(agent)
        text = home.storage.read_settings_text(file)
        try:
            settings_of.has_memory(os.path.join(home.root, file), partial(_same, text))
        except SettingsError as error:
            yield _settings(home.root, error)


def _same(text: str | None, _path: str) -> str | None:
    return text


def _settings(root: str, error: SettingsError) -> Finding:
    path = error.path.removeprefix(root + os.sep)
    advice = "mend it by hand; until then no tool works with this memory, and nothing else was looked at"
    if path != settings_of.FILE:
        advice = "mend it by hand; until then no tool works for this agent"
    what = f"{error.problem}: {error.advice}" if error.advice else error.problem
    return Finding("settings", path, what, advice, error.line)


def _counts(found: Survey) -> dict[str, int]:
    return {
        "agents": len(found.agents),
        "folders": len(found.folders),
        "files": sum(entry.kind == "file" for entry in found.entries()),
        "pages": len(found.versions),
        "checks": len(CHECKS),
    }
