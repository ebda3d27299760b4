"""Bring an index up to date: only pages that changed since the last sweep are read. The only writer of an index.

A page that cannot be read stays in the index as a warning that names it, and is tried again by the next sweep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

from ..errors import CommonplaceError, PageNotFound
from ..model import Page, Scope
from ..storage.base import MAX_PAGE_CHARACTERS, UNSURE, Pages, PathWarnings, Root
from ..storage.layout import Layout, Place
from ..storage.records import parse
from ..storage.skills import DATA, PAGE
from ..storage.skills import parse as parse_skill
from .base import Entry, Index, Progress, ignore_progress

# Pages to read, what they are, and the stamp they are read at; None: a look did not see them, they may be there now.
Work = dict[str, tuple[Place, int | None]]
_MANY_PAGES = 500  # to read, from which other processes answer from what is indexed instead of waiting
_BATCH_PAGES = 200  # in one transaction: an interrupted sync keeps what it has done
_LEANING = ("skill", "record")  # say more than their text: what stands beside it, and the time it was written
# What a page can be that nobody can make sense of; a time of writing that no calendar knows is one of the last two.
_SENSELESS = (CommonplaceError, ValueError, RecursionError, OverflowError, OSError)


@dataclass(frozen=True)
class IndexScope:
    """Everything that is indexed: the layout, the patterns of extra paths, and whose sessions.

    `sessions` says it for agents that have a setting of their own, `all_sessions` for the others.
    """

    layout: Layout
    extra: tuple[str, ...] = ()
    all_sessions: bool = False
    sessions: tuple[tuple[str, bool], ...] = ()

    def roots(self) -> list[Root]:
        return self.layout.roots(self.extra, sessions=self._any_sessions)

    def place(self, path: str) -> Place | None:
        place = self.layout.place(path, self.extra)
        if place and place.kind == "session" and not self._has_sessions(place.scope.name):
            return None
        return place

    @property
    def fingerprint(self) -> str:
        """A short name for exactly this scope: settings that differ have an index each, not a fight over one.

        Sessions are read anew where another rule says what a secret is, or what a turn looks like: an index may hold
        what an earlier version did not know.
        """
        roots = [(root.path, root.suffix, root.is_page) for root in self.roots()]
        said = json.dumps(
            [roots, self.extra, self.all_sessions, self.sessions, self.layout.main_is_shared, self._rules()]
        )
        return hashlib.blake2b(said.encode(), digest_size=4).hexdigest()

    def _rules(self) -> list[str]:
        if not self._any_sessions:
            return []
        from ..formats.transcripts import TURN_FORMAT
        from ..secrets.rules import RULES

        return [TURN_FORMAT, *(rule.pattern for rule in RULES)]

    @property
    def _any_sessions(self) -> bool:
        return self.all_sessions or any(on for _, on in self.sessions)

    def _has_sessions(self, agent: str) -> bool:
        return dict(self.sessions).get(agent, self.all_sessions)


def catch_up(
    index: Index,
    pages: Pages,
    scope: IndexScope,
    below: str | None = None,
    alone: Callable[[], AbstractContextManager[None]] = nullcontext,
    progress: Progress = ignore_progress,
    batch: int = 0,
) -> PathWarnings:
    """Bring the index up to date, for the whole home or for one folder; what could not be seen, and where.

    Where there is much to do, only one process does it: `alone` raises LockTimeout for the others.
    """
    roots = scope.roots() if below is None else [Root(below)]
    known = index.stamps(below)
    changes = pages.changes(known, roots)
    work: Work = {path: (place, stamp) for path, stamp in changes.changed.items() if (place := scope.place(path))}
    removed = [path for path in changes.removed if not scope.place(path)]
    work |= {path: (place, None) for path in changes.removed if (place := scope.place(path))}
    _with_their_skills(work, removed, scope)
    ordered = sorted(work.items())
    batch = batch or _BATCH_PAGES
    with alone() if len(ordered) > _MANY_PAGES else nullcontext():
        for start in range(0, max(len(ordered), 1), batch):
            some = dict(ordered[start : start + batch])
            if some or removed:
                pages.record_outside_edits(_apply(index, pages, some, removed))
            removed = []
            progress("pages", start + len(some), len(ordered))
    return list(changes.warnings)


def rebuild(index: Index, pages: Pages, scope: IndexScope, progress: Progress) -> None:
    """Read every page again. Until all of it is done, everybody else sees the index as it was."""
    found = pages.changes({}, scope.roots()).changed
    work = {path: (place, found[path]) for path in sorted(found) if (place := scope.place(path))}
    with index.write_transaction():
        index.apply([], index.stamps())
        entries: list[Entry] = []
        for done, (path, (place, stamp)) in enumerate(work.items(), start=1):
            with suppress(PageNotFound):
                entries.append(_entry(pages, place, path, stamp, ""))
            if len(entries) == _BATCH_PAGES or done == len(work):
                index.apply(entries, [])
                entries.clear()
            progress("pages", done, len(work))


def update_pages(index: Index, pages: Pages, scope: IndexScope, paths: Iterable[str]) -> None:
    """Bring the index up to date for single pages that were just written."""
    work: Work = {path: (place, UNSURE) for path in paths if (place := scope.place(path))}
    _with_their_skills(work, [], scope)
    if work:
        _apply(index, pages, work, [])


def _with_their_skills(work: Work, removed: list[str], scope: IndexScope) -> None:
    """Data that changed beside a skill's page is read with that page."""
    for path in [*work, *removed]:
        beside = path.removesuffix(DATA) + PAGE if path.endswith(f"/{DATA}") else ""
        place = scope.place(beside) if beside else None
        if place:
            work.setdefault(beside, (place, None))


def _apply(index: Index, pages: Pages, work: Work, removed: list[str]) -> list[str]:
    """Read the pages while nobody else writes to the index: an earlier reading never replaces a later one.

    The pages that are not what they were, transcripts aside: those only grow, and nobody edits them.
    """
    with index.write_transaction():
        versions = index.versions(work)
        entries: list[Entry] = []
        for path, (place, stamp) in work.items():
            known = "" if place.kind in _LEANING else versions.get(path, "")
            if stamp is None and not _stands(pages, path):
                removed.append(path)
                continue
            try:
                entries.append(_entry(pages, place, path, UNSURE if stamp is None else stamp, known))
            except PageNotFound:
                removed.append(path)
        index.apply(entries, removed)
    changed = [entry.path for entry in entries if not entry.version or entry.version != versions.get(entry.path)]
    return [path for path in (*changed, *removed) if not path.endswith(".jsonl")]


def _stands(pages: Pages, path: str) -> bool:
    """Whether a look would see the page now: a folder or a link of its name is none, nor is one in another case."""
    folder, _, name = path.rpartition("/")
    with suppress(CommonplaceError):  # a folder the disk refuses shows nothing to a look either
        stands = path in pages.changes({}, [Root(path, is_page=True)]).changed
        return stands and (not folder or path in pages.list(folder, name))
    return False


def _entry(pages: Pages, place: Place, path: str, stamp: int, version: str) -> Entry:
    try:
        page = pages.read(path)
        if page.version == version:
            return Entry(path, stamp, version, place.kind, place.scope, place.source, None)
        return _read(pages, place, page, stamp)
    except PageNotFound:
        raise
    except _SENSELESS as error:  # a page nobody can make sense of stops no other
        if isinstance(error.__cause__, OSError):  # the disk's fault: the page looks the same when it can be read again
            stamp = UNSURE
        return Entry(path, stamp, "", place.kind, place.scope, place.source, [], None, _naming(path, str(error)))


def _read(pages: Pages, place: Place, page: Page, stamp: int) -> Entry:
    """What a page says: its passages, its record if it is one, whose it is, and what is wrong with it."""
    from ..formats import passages as cut  # nearly always there is no page to read

    path = page.path
    text, warning = _truncate(path, page.text)
    entry = Entry(path, stamp, page.version, place.kind, place.scope, place.source, [], None, warning)
    if place.kind == "record":
        record = parse(page.text, path, place, lambda: pages.modified_at(path))
        passages = cut.split_record(text, record)
        return entry._replace(passages=passages, record=record, scope=record.scope, warning=warning or record.warning)
    if place.kind == "session":
        turns, broken = cut.split_transcript(text)
        return entry._replace(passages=turns, warning=warning or _broken_lines(path, broken))
    if place.kind == "skill":
        has_data = _stands(pages, path.removesuffix(PAGE) + DATA)  # what no look sees: its end would not show
        skill = parse_skill(text, pages, path, place.name, alone=not has_data)
        again = UNSURE if skill.warning else stamp  # when its data can be read again, the page looks as it does now
        entry = entry._replace(stamp=again, scope=Scope("skill", skill.owner), warning=warning or skill.warning)
        return entry._replace(passages=cut.split_skill(text, skill))
    if place.kind == "data":  # found through its skill's page; known here so that a change of it is seen
        return entry
    return entry._replace(passages=cut.split_page(text, place.name.replace("-", " ")))


def _broken_lines(path: str, broken: list[int]) -> str:
    if not broken:
        return ""
    shown = ", ".join(map(str, broken[:5])) + (" and more" if len(broken) > 5 else "")
    return f"{path}: line {shown} is not JSON and was left out"


def _truncate(path: str, text: str) -> tuple[str, str]:
    if len(text) <= MAX_PAGE_CHARACTERS:
        return text, ""
    end = text.rfind("\n", 0, MAX_PAGE_CHARACTERS)
    kept = text[: end if end > 0 else MAX_PAGE_CHARACTERS]
    return (
        kept,
        f"{path} is too large: only its first {kept.count(chr(10)) + 1} lines are searched; split it up",
    )


def _naming(path: str, sentence: str) -> str:
    return sentence if path in sentence else f"{path}: {sentence}"
