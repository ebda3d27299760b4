"""The index follows the pages: what changed since it last looked is read again, and nothing else.

The only writer of the index. A page that can not be read stays in the index as a warning that names it, and is tried
again on the next look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import CommonplaceError, PageNotFound
from ..markdown import passages as cut
from ..markdown import skills as skill_page
from ..model import Passage, Record, Scope, Skill
from ..pages import Pages, Root
from ..pages.layout import Layout, Place
from ..pages.records import parse
from . import Entry, Index

LARGEST = 4_000_000  # characters of one page that are searched; more than any page a person can read
_BATCH = 200  # pages in one transaction: an interrupted sync keeps what it has done


@dataclass(frozen=True)
class Territory:
    """Everything that is indexed: the layout, the patterns of extra paths, and whose sessions.

    `sessions` says it for agents that have a setting of their own, `all_sessions` for the others.
    """

    layout: Layout
    extra: tuple[str, ...] = ()
    all_sessions: bool = False
    sessions: tuple[tuple[str, bool], ...] = ()

    def roots(self) -> list[Root]:
        with_sessions = self.all_sessions or any(on for _, on in self.sessions)
        return self.layout.roots(self.extra, sessions=with_sessions)

    def place(self, path: str) -> Place | None:
        place = self.layout.place(path, self.extra)
        if place and place.kind == "session" and not self._has_sessions(place.scope.name):
            return None
        return place

    def _has_sessions(self, agent: str) -> bool:
        return dict(self.sessions).get(agent, self.all_sessions)


def catch_up(index: Index, pages: Pages, territory: Territory, below: str | None = None) -> list[str]:
    """Bring the index up to date, for the whole home or for one folder; what could not be seen, as sentences."""
    index.settle(repr(territory))
    roots = territory.roots() if below is None else [Root(below)]
    known = index.stamps([] if below is None else [below])
    changes = pages.changes(known, roots)
    paths = sorted(path for path in changes.changed if territory.place(path))
    removed = list(changes.removed)
    for start in range(0, max(len(paths), 1), _BATCH):
        some = paths[start : start + _BATCH]
        if some or removed:
            _apply(index, pages, territory, {path: changes.changed[path] for path in some}, removed)
        removed = []
    return list(changes.warnings)


def refresh(index: Index, pages: Pages, territory: Territory, paths: Iterable[str]) -> None:
    """Bring the index up to date for single pages that were just written."""
    stamps = {path: "?" for path in paths if territory.place(path)}
    _apply(index, pages, territory, stamps, [])


def _apply(index: Index, pages: Pages, territory: Territory, stamps: dict[str, str], removed: list[str]) -> None:
    versions = index.versions(stamps)
    entries: list[Entry] = []
    for path, stamp in stamps.items():
        try:
            entry = _entry(pages, territory, path, stamp, versions.get(path, ""))
        except PageNotFound:
            removed.append(path)
            continue
        if entry:
            entries.append(entry)
    index.apply(entries, removed)


def _entry(pages: Pages, territory: Territory, path: str, stamp: str, version: str) -> Entry | None:
    place = territory.place(path)
    if place is None:
        return None
    try:
        page = pages.read(path)
    except PageNotFound:
        raise
    except CommonplaceError as error:
        return Entry(path, stamp, "", place.kind, place.scope, place.source, [], None, _naming(path, str(error)))
    if page.version == version:
        return Entry(path, stamp, version, place.kind, place.scope, place.source, None)
    text, warning = _bounded(path, page.text)
    passages, record, scope, problem = _read(pages, path, place, text)
    return Entry(path, stamp, page.version, place.kind, scope, place.source, passages, record, warning or problem)


def _read(pages: Pages, path: str, place: Place, text: str) -> tuple[Sequence[Passage], Record | None, Scope, str]:
    """What a page says: its passages, its record if it is one, whose it is, and what is wrong with it."""
    if place.kind == "record":
        record = parse(text, path, place, lambda: pages.modified(path))
        return cut.of_record(text, record), record, record.scope, record.warning
    if place.kind == "session":
        turns, broken = cut.of_session(text)
        return turns, None, place.scope, _broken_lines(path, broken)
    if place.kind == "skill":
        skill = skill_page.read(text, Skill(place.name, "", path=path))
        return (
            cut.of_page(text, f"{skill.name} {skill.description}"),
            None,
            Scope("skill", skill.owner),
            skill.warning,
        )
    return cut.of_page(text, place.name.replace("-", " ")), None, place.scope, ""


def _broken_lines(path: str, broken: list[int]) -> str:
    if not broken:
        return ""
    shown = ", ".join(map(str, broken[:5])) + (" and more" if len(broken) > 5 else "")
    return f"{path}: line {shown} is not JSON and was left out"


def _bounded(path: str, text: str) -> tuple[str, str]:
    if len(text) <= LARGEST:
        return text, ""
    end = text.rfind("\n", 0, LARGEST)
    kept = text[: end if end > 0 else LARGEST]
    return (
        kept,
        f"{path} is too large: only its first {kept.count(chr(10)) + 1} lines are searched; split it up",
    )


def _naming(path: str, sentence: str) -> str:
    return sentence if path in sentence else f"{path}: {sentence}"
