"""Who wrote each line of a page: blame, and for what search returns a cache of it.

Blame compares the versions of a page one after another. A line that was there before the first version that is read has
no known author. Work is bounded: of a long history only the newest versions are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ..errors import CommonplaceError
from .base import HistoryStore, Pages
from .history import ABSENT, APPROVE, Change, Versions, as_text, kind_of_origin
from .merge import matching_blocks

_PERSON = "person"
_MAX_PAGE_CHARACTERS = 200_000  # of a page that is compared with its earlier versions
_MAX_CACHED_PAGES = 2000
_JOIN = "; "
Span = tuple[str, int, int]  # a path, a first line and a last one, counted from 1


class Bounds(NamedTuple):
    """How many of the newest versions are compared, and how many bytes in all."""

    versions: int
    size: int


class LineOrigin(NamedTuple):
    """Which change wrote a line; None where history does not know. A person wrote or approved it, if `is_approved`."""

    change: Change | None
    is_approved: bool = False


UNKNOWN = LineOrigin(None)
_SEARCH_BOUNDS = Bounds(versions=200, size=8_000_000)


def split_lines(text: str) -> list[str]:
    """Return the lines of a page as citations count them."""
    return text.removesuffix("\n").split("\n") if text else []


def blame(versions: Versions, bounds: Bounds) -> list[LineOrigin]:
    """Return the origin of every line of the last version."""
    start = _find_start(versions, bounds)
    lines: list[str] = []
    origins: list[LineOrigin] = []
    before = ABSENT
    for change, data in versions[start:]:
        # After a gap, what is new may be from a change that history no longer holds.
        is_next = change.before == before and (start == 0 or before != ABSENT)
        new_lines = split_lines(as_text(data))
        own = LineOrigin(change, is_by_person(change)) if is_next else UNKNOWN
        origins = _carry_over(lines, new_lines, origins, own)
        if change.tool == APPROVE and kind_of_origin(change.origin) != "import":
            origins = [origin._replace(is_approved=True) for origin in origins]
        lines = new_lines
        before = change.version
    return origins


def is_by_person(change: Change) -> bool:
    """Return whether a person made a change: in the web page, or in a file, by an editor."""
    kind = kind_of_origin(change.origin)
    return kind == _PERSON or (not change.tool and kind != "import")


def _find_start(versions: Versions, bounds: Bounds) -> int:
    """Return the first of the newest versions that are within the bounds; the last one always is."""
    size = 0
    start = len(versions)
    while start and len(versions) - start < bounds.versions:
        size += len(versions[start - 1][1] or b"")
        if size > bounds.size and start < len(versions):
            break
        start -= 1
    return start


def _carry_over(lines: list[str], new_lines: list[str], origins: list[LineOrigin], own: LineOrigin) -> list[LineOrigin]:
    """Return the origins of the new lines: those that were there before keep theirs."""
    head = _count_equal(lines, new_lines)
    tail = _count_equal(lines[head:][::-1], new_lines[head:][::-1])
    old_end = len(lines) - tail
    new_end = len(new_lines) - tail
    middle = [own] * (new_end - head)
    for one, two, size in matching_blocks(lines[head:old_end], new_lines[head:new_end]):
        middle[two : two + size] = origins[head + one : head + one + size]
    return [*origins[:head], *middle, *origins[old_end:]]


def _count_equal(lines: list[str], new_lines: list[str]) -> int:
    """Return how many lines are the same at the start of both."""
    pairs = zip(lines, new_lines, strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(lines), len(new_lines)))


class Provenance(NamedTuple):
    """Who wrote a passage, the latest first, and when that was. Empty where history does not know.

    `names` are for filters: agents, and how a change came (`outside`, `import`, `person`, `token`).
    """

    author: str = ""
    at: str = ""
    is_approved: bool = False  # whether a person wrote or approved all of it
    names: frozenset[str] = frozenset()


class _Page(NamedTuple):
    """The origins of a page's lines. `blanks`: the numbers of lines without text, whose author tells nothing."""

    origins: Sequence[LineOrigin] = ()
    blanks: frozenset[int] = frozenset()


class Authors:
    """Finds authors. Keeps one blame for a page, as long as the stamp of its history stays the same."""

    def __init__(self, pages: Pages, history: HistoryStore) -> None:
        self._pages = pages
        self._history = history
        self._cache: dict[str, tuple[str, _Page]] = {}

    def find(self, spans: Sequence[Span], moment: str = "") -> list[Provenance]:
        """Return the provenance of each span of the present pages, or of the pages as they were at a moment; an empty
        one where history cannot be read."""
        if moment:
            pages = {path: self._blame_as_of(path, moment) for path in {path for path, _, _ in spans}}
            return [_find_in(pages[span[0]], span) for span in spans]
        try:
            stamps = self._history.stamps(sorted({path for path, _, _ in spans}))
        except (CommonplaceError, OSError):
            return [Provenance() for _ in spans]
        return [self._find(span, stamps.get(span[0], "")) for span in spans]

    def _find(self, span: Span, stamp: str) -> Provenance:
        return _find_in(self._open(span[0], stamp), span) if stamp else Provenance()

    def _open(self, path: str, stamp: str) -> _Page:
        known = self._cache.get(path)
        if known and known[0] == stamp:
            return known[1]
        page = _Page()
        with suppress(CommonplaceError, OSError):
            page = self._blame(path)
        if len(self._cache) >= _MAX_CACHED_PAGES:
            self._cache.clear()
        self._cache[path] = (stamp, page)
        return page

    def _blame_as_of(self, path: str, moment: str) -> _Page:
        page = _Page()
        with suppress(CommonplaceError, OSError):
            every = self._history.versions(path)
            versions = [each for each in every if each[0].at <= moment] or every[:1]
            page = _blame_last(versions)
        return page

    def _blame(self, path: str) -> _Page:
        page = self._pages.read(path)
        lines = split_lines(page.text)
        if len(page.text) > _MAX_PAGE_CHARACTERS:  # all its lines have one origin, blank ones too
            return _Page(_fill([UNKNOWN] * len(lines), self._history.changes(path)))
        blanks = frozenset(number for number, line in enumerate(lines, start=1) if not line.strip())
        versions = self._history.versions(path, _SEARCH_BOUNDS.versions)
        if not versions or versions[-1][0].version != page.version:  # changed since, and not recorded yet
            return _Page()
        origins = blame(versions, _SEARCH_BOUNDS)
        if UNKNOWN in origins:
            origins = _fill(origins, self._history.changes(path))
        return _Page(_without_programs(path, origins, versions), blanks)


def _blame_last(versions: Versions) -> _Page:
    """Return the origins of the lines of the last version."""
    text = as_text(versions[-1][1]) if versions else ""
    if len(text) > _MAX_PAGE_CHARACTERS:
        return _Page()
    blanks = frozenset(number for number, line in enumerate(split_lines(text), start=1) if not line.strip())
    path = versions[-1][0].path if versions else ""
    return _Page(_without_programs(path, blame(versions, _SEARCH_BOUNDS), versions), blanks)


def _find_in(page: _Page, span: Span) -> Provenance:
    _, start, end = span
    numbers = range(start, min(end, len(page.origins)) + 1)
    written = [page.origins[number - 1] for number in numbers if number not in page.blanks]
    return _summarize(written) if written else Provenance()


def _fill(origins: list[LineOrigin], changes: list[Change]) -> list[LineOrigin]:
    """Name the author of all changes for lines that are older than what was compared, if there is only one."""
    is_whole = bool(changes) and changes[0].before == ABSENT
    if not is_whole or len({change.by for change in changes}) > 1:
        return origins
    first = LineOrigin(changes[0])
    return [first if origin == UNKNOWN else origin for origin in origins]


def _without_programs(path: str, origins: list[LineOrigin], versions: Versions) -> list[LineOrigin]:
    """Forget who wrote lines of a session outside of history: sessions grow without it, by what agents say."""
    if not path.endswith(".jsonl") or not versions:
        return origins
    return [UNKNOWN if origin.change and not origin.change.tool else origin for origin in origins]


def _summarize(origins: list[LineOrigin]) -> Provenance:
    changes = {origin.change.id: origin.change for origin in origins if origin.change}
    latest_first = sorted(changes.values(), key=_at, reverse=True)
    words = dict.fromkeys(change.by for change in latest_first)
    names = frozenset(name for change in latest_first for name in _names(change))
    is_approved = all(origin.is_approved for origin in origins)
    return Provenance(_JOIN.join(words), latest_first[0].at if latest_first else "", is_approved, names)


def _at(change: Change) -> str:
    return change.at


def _names(change: Change) -> list[str]:
    """Return what a filter may call the author of a change."""
    kind = kind_of_origin(change.origin)
    if not change.tool:
        return ["outside"]
    if kind in ("import", "person"):
        return [kind]
    return [name for name in (change.agent, "token" if kind in ("token", "agent-token") else "") if name]
