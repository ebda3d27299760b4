"""Bring an index up to date: only pages that changed since the last sweep are read. The only writer of an index.

A page that cannot be read stays in the index as a warning that names it, and is tried again by the next sweep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial

from ..errors import CommonplaceError, PageNotFound, StorageError
from ..formats.passages import (
    MAX_PASSAGES,
    shorten_page,
    shorten_transcript,
    split_page,
    split_record,
    split_skill,
    split_transcript,
)
from ..model import Page, Scope
from ..storage.base import MAX_PAGE_CHARACTERS, UNSURE, Changes, PageReader, Pages, PathWarnings, Root
from ..storage.layout import Layout, Place
from ..storage.records import SKILL_DATA, SKILL_PAGE, parse_record, parse_skill
from .base import Entry, Index, NoteDays, Progress, ignore_progress, note_no_days, seconds_to_catch_up

# Pages to read: the place and the stamp by path. The stamp is None for a page that the last listing did not have.
Work = dict[str, tuple[Place, int | None]]
_MANY_PAGES = 500  # from here on one process reads them; others answer from what is indexed
_BATCH_PAGES = 200  # per transaction: an interrupted sync keeps earlier batches
_CHARACTERS_PER_SECOND = 200_000  # a cautious estimate: where time is limited, a page that needs more is skipped
# The entry of such a page depends on more than its text: on a file beside it, or on the time it was written.
_ALWAYS_REREAD_KINDS = ("skill", "record")
# What parsing a page can raise. The last two also come from a time of writing that no calendar has.
UNREADABLE_PAGE_ERRORS = (CommonplaceError, ValueError, RecursionError, OverflowError, OSError)


class CatchUpStopped(StorageError):
    """The time to catch up ended before everything was read. What was read is indexed."""

    def __init__(self, pages: int) -> None:
        count = "1 page is" if pages == 1 else f"{pages} pages are"
        super().__init__(f"{count} not indexed yet", advice="`commonplace index` waits for everything")


@dataclass(frozen=True)
class IndexScope:
    """What is indexed: the pages of a layout, extra paths, and the sessions of some agents.

    `sessions` has the agents with a setting of their own; `all_sessions` is the setting for the others. `key`: where
    an index may have come with the pages, what nobody else knows, so that theirs is not taken for one of this user.
    """

    layout: Layout
    extra: tuple[str, ...] = ()
    all_sessions: bool = False
    sessions: tuple[tuple[str, bool], ...] = ()
    note_days: NoteDays = note_no_days  # encodes the days that a passage names, for the index
    key: str = ""

    def roots(self) -> list[Root]:
        return self.layout.roots(self.extra, sessions=self._any_sessions)

    def place(self, path: str) -> Place | None:
        place = self.layout.place(path, self.extra)
        if place and place.kind == "session" and not self._has_sessions(place.scope.name):
            return None
        return place

    @property
    def fingerprint(self) -> str:
        """Return a short hash of this scope: different settings have an index each, and do not overwrite each other's.

        Where sessions are indexed, the format of turns and the rules for secrets are part of it: after a change of
        either, sessions are read again.
        """
        roots = [(root.path, root.suffix, root.is_page) for root in self.roots()]
        layout = self.layout
        owners = [layout.is_diary_shared, *layout.own_diaries]
        scope = json.dumps(
            [roots, self.extra, self.all_sessions, self.sessions, layout.main_is_shared, self._session_rules()]
            + (owners if any(owners) else [])
            + ([{"key": self.key}] if self.key else [])
        )
        return hashlib.blake2b(scope.encode(), digest_size=4).hexdigest()

    def _session_rules(self) -> list[str]:
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
    exclusive_lock: Callable[[], AbstractContextManager[None]] = nullcontext,
    progress: Progress = ignore_progress,
    batch: int = 0,
) -> PathWarnings:
    """Bring the index up to date, for the whole home or for one folder, and return what could not be read.

    If there is much to do, only one process does it: `exclusive_lock` raises LockTimeout for the others. For the whole
    home, CatchUpStopped is raised when the time that `limit_catch_up` allows is over.
    """
    roots = scope.roots() if below is None else [Root(below)]
    changes = pages.changes(index.stamps(below), roots)
    _store_changes(index, pages, scope, changes, exclusive_lock, progress, batch, may_stop=below is None)
    return list(changes.warnings)


def catch_up_pages(index: Index, pages: Pages, scope: IndexScope, paths: Iterable[str]) -> bool:
    """Bring the index up to date for single files, which may have changed; return whether any had."""
    places = [path for path in paths if scope.place(path)]
    known = {path: stamp for path in places for path, stamp in index.stamps(path).items()}
    changes = pages.changes(known, [Root(path, is_page=True) for path in places])
    _store_changes(index, pages, scope, changes)
    return bool(changes.changed or changes.removed)


def _store_changes(
    index: Index,
    pages: Pages,
    scope: IndexScope,
    changes: Changes,
    exclusive_lock: Callable[[], AbstractContextManager[None]] = nullcontext,
    progress: Progress = ignore_progress,
    batch: int = 0,
    *,
    may_stop: bool = False,
) -> None:
    """Read the changed pages and store them."""
    work: Work = {path: (place, stamp) for path, stamp in changes.changed.items() if (place := scope.place(path))}
    removed = [path for path in changes.removed if not scope.place(path)]
    work |= {path: (place, None) for path in changes.removed if (place := scope.place(path))}
    _add_skill_pages(work, removed, scope)
    ordered = sorted(work.items())
    batch = batch or _BATCH_PAGES
    left: list[str] | None = [] if may_stop else None
    with exclusive_lock() if len(ordered) > _MANY_PAGES else nullcontext():
        for start in range(0, max(len(ordered), 1), batch):
            part = dict(ordered[start : start + batch])
            if left is not None and part and seconds_to_catch_up() <= 0:
                raise CatchUpStopped(len(ordered) - start + len(left))
            if part or removed:
                pages.record_outside_edits(_apply(index, pages, scope, part, removed, left))
            removed = []
            progress("pages", start + len(part), len(ordered))
    if left:
        raise CatchUpStopped(len(left))


def rebuild(index: Index, pages: Pages, scope: IndexScope, progress: Progress) -> None:
    """Read every page again. Until that is done, everybody else sees the index as it was."""
    stamps = pages.changes({}, scope.roots()).changed
    work = {path: (place, stamps[path]) for path in sorted(stamps) if (place := scope.place(path))}
    with index.write_transaction():
        index.apply([], index.stamps())
        read = pages.page_reader([*work])
        entries: list[Entry] = []
        for done, (path, (place, stamp)) in enumerate(work.items(), start=1):
            with suppress(PageNotFound):
                entries.append(_entry(pages, read, scope, place, path, stamp, ""))
            if len(entries) == _BATCH_PAGES or done == len(work):
                index.apply(entries, [])
                entries.clear()
            progress("pages", done, len(work))


def update_pages(index: Index, pages: Pages, scope: IndexScope, paths: Iterable[str]) -> None:
    """Bring the index up to date for single pages that were just written."""
    work: Work = {path: (place, UNSURE) for path in paths if (place := scope.place(path))}
    _add_skill_pages(work, [], scope)
    if work:
        _apply(index, pages, scope, work, [])


def _add_skill_pages(work: Work, removed: list[str], scope: IndexScope) -> None:
    """Add the page of every skill whose data changed, since a skill is indexed with its data."""
    for path, place in find_skill_pages([*work, *removed], scope).items():
        work.setdefault(path, (place, None))


def find_skill_pages(paths: Iterable[str], scope: IndexScope) -> dict[str, Place]:
    """Return the page of every skill whose data is among these paths."""
    pages = (path.removesuffix(SKILL_DATA) + SKILL_PAGE for path in paths if path.endswith(f"/{SKILL_DATA}"))
    return {page: place for page in pages if (place := scope.place(page))}


def _apply(
    index: Index, pages: Pages, scope: IndexScope, work: Work, removed: list[str], left: list[str] | None = None
) -> list[str]:
    """Read pages and store them, and return the paths of those that changed or are gone. With `left`, those that need
    more time than there is are added to it, and stay as they are in the index.

    Pages are read while the index is locked, so that an older reading never replaces a newer one. Transcripts are not
    returned: they only grow, and nobody edits them.
    """
    with index.write_transaction():
        versions = index.versions(work)
        read = pages.page_reader([*work])
        entries: list[Entry] = []
        for path, (place, stamp) in work.items():
            known = "" if place.kind in _ALWAYS_REREAD_KINDS else versions.get(path, "")
            if stamp is None and not _is_listed(pages, path):
                removed.append(path)
                continue
            most = float("inf") if left is None else seconds_to_catch_up() * _CHARACTERS_PER_SECOND
            try:
                entries.append(_entry(pages, read, scope, place, path, UNSURE if stamp is None else stamp, known, most))
            except PageNotFound:
                removed.append(path)
            except CatchUpStopped:
                if left is None:
                    raise
                left.append(path)
        index.apply(entries, removed)
    changed = [entry.path for entry in entries if not entry.version or entry.version != versions.get(entry.path)]
    return [path for path in (*changed, *removed) if not path.endswith(".jsonl")]


def _is_listed(pages: Pages, path: str) -> bool:
    """Return whether the page is listed now: not as a folder or a link, nor under a name in another case."""
    folder, _, name = path.rpartition("/")
    with suppress(CommonplaceError):  # a folder that cannot be read has no pages in a listing either
        exists = path in pages.changes({}, [Root(path, is_page=True)]).changed
        return exists and (not folder or path in pages.list(folder, name))
    return False


def _entry(
    pages: Pages,
    read: Callable[[str], Page],
    scope: IndexScope,
    place: Place,
    path: str,
    stamp: int,
    version: str,
    most_characters: float = float("inf"),
) -> Entry:
    try:
        page = read(path)
        if page.version == version:
            return Entry(path, stamp, version, place.kind, place.scope, place.source, None)
        _require_time(page, most_characters)
        entry = read_entry(pages, place, page, stamp, partial(_is_listed, pages))
        return entry._replace(note_days=scope.note_days)
    except (PageNotFound, CatchUpStopped):
        raise
    except UNREADABLE_PAGE_ERRORS as error:  # one broken page must not stop the others
        if isinstance(error.__cause__, OSError):  # the stamp will be the same when the page can be read again
            stamp = UNSURE
        return Entry(path, stamp, "", place.kind, place.scope, place.source, [], None, _with_path(path, error))


def _require_time(page: Page, most_characters: float) -> None:
    if len(page.text) > most_characters:
        raise CatchUpStopped(1)


def read_entry(pages: PageReader, place: Place, page: Page, stamp: int, is_listed: Callable[[str], bool]) -> Entry:
    """Parse a page into its entry: passages, a record if it is one, the scope, and a warning."""
    path = page.path
    text, warning = _shorten(path, page.text, place.kind)
    entry = Entry(path, stamp, page.version, place.kind, place.scope, place.source, [], None, warning)
    if place.kind == "record":
        record = parse_record(page.text, path, place, lambda: pages.modified_at(path))
        passages = split_record(text, record)
        return entry._replace(passages=passages, record=record, scope=record.scope, warning=warning or record.warning)
    if place.kind == "session":
        turns, broken = split_transcript(text)
        return entry._replace(passages=turns, warning=warning or _broken_lines(path, broken))
    if place.kind == "skill":
        has_data = is_listed(path.removesuffix(SKILL_PAGE) + SKILL_DATA)  # otherwise its removal would go unnoticed
        skill = parse_skill(text, pages, path, place.name, alone=not has_data)
        # When the data can be read again, the stamp of the page will be the same.
        entry_stamp = UNSURE if skill.warning else stamp
        entry = entry._replace(stamp=entry_stamp, scope=Scope("skill", skill.owner), warning=warning or skill.warning)
        return entry._replace(passages=split_skill(text, skill))
    if place.kind == "data":  # indexed with its skill's page; an entry of its own shows when it changes
        return entry
    passages = split_page(text, place.name.replace("-", " "))
    return _limit_passages(entry._replace(passages=passages), MAX_PASSAGES)


def _limit_passages(entry: Entry, most: int) -> Entry:
    """Return an entry with a limited number of passages: a page may have hundreds of thousands of headings."""
    if not entry.passages or len(entry.passages) <= most:
        return entry
    last = entry.passages[most - 1].end
    warning = f"{entry.path} has too many headings and notes: only its first {last} lines are searched; split it up"
    return entry._replace(passages=entry.passages[:most], warning=warning)


def _broken_lines(path: str, broken: list[int]) -> str:
    if not broken:
        return ""
    numbers = ", ".join(map(str, broken[:5])) + (" and more" if len(broken) > 5 else "")
    return f"{path}: line {numbers} is not JSON and was left out"


def _shorten(path: str, text: str, kind: str) -> tuple[str, str]:
    """Return what is searched of a page, and a sentence about what is not."""
    if len(text) <= MAX_PAGE_CHARACTERS:
        return text, ""
    if kind == "session":
        start = shorten_transcript(text, MAX_PAGE_CHARACTERS)
        lines = start.count("\n") + (not start.endswith("\n"))
        is_whole = len(start) == len(text)
        return start, "" if is_whole else f"{path} is too large: only its first {lines} lines are searched; split it up"
    start, parts = shorten_page(text, MAX_PAGE_CHARACTERS)
    what = "its longest part" if parts == 1 else f"its {parts} longest parts"
    return start, f"{path} is too large: {what} can be found only by the beginning; split it up"


def _with_path(path: str, error: Exception) -> str:
    """Return the sentence of an error, which names the page."""
    has_path = isinstance(error, CommonplaceError) and error.path == path
    return str(error) if has_path else f"{path}: {error}"
