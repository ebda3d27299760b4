"""HOW IS SOMETHING GONE FOR GOOD? What a key, a page, a tag, a scope, a session or a source left anywhere: on pages, in
history, in the index, in files that killed processes left behind. It is found first and removed after; afterwards no
file of the home holds it, and no row where it stands in a database."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from ..errors import InvalidArgument
from ..formats import blocks
from ..formats.structure import end_of_line, escape_unprintable
from ..home import INDEX_FOLDER, Home
from ..storage.base import Versions
from ..storage.deltas import Change, version_of
from ..storage.files import page_of_leftover
from ..storage.globs import compile_glob
from ..storage.layout import Place
from ..storage.names import file_name
from ..storage.records import parse

Stretches = list[tuple[int, int]]  # of a text, in order: where each begins and ends
_TELLING = 12  # characters: a line that is shorter may stand elsewhere by chance


class Wanted(NamedTuple):
    """What is to be forgotten. What is named must all be true: a tag within a scope, a key on a page."""

    key: str = ""
    page: str = ""  # a path, a folder, or a pattern
    tag: str = ""
    scope: str = ""
    session: str = ""
    source: str = ""


class Trace(NamedTuple):
    """Where something was found. `kind` is page, history, index or leftover; `mention`: the same words elsewhere."""

    kind: str
    path: str
    what: str


class Found(NamedTuple):
    traces: tuple[Trace, ...]
    mentions: tuple[Trace, ...]  # pages that say the same words, and are not removed


def find(home: Home, wanted: Wanted, *, everyone: bool = False) -> Found:
    """What would be forgotten, and where the same words stand besides."""
    return _found(_Search(home, wanted, everyone=everyone))


def _found(search: _Search) -> Found:
    home = search.home
    pages = {path: data for path, data in search.pages() if search.left(path, data) != data}
    traces = [Trace("page", path, search.told(path, data)) for path, data in pages.items()]
    traces += [Trace("leftover", path, "a file that a killed process left behind") for path in search.leftovers()]
    said = {line for path, data in pages.items() for line in search.lines(path, data)}
    kept: dict[str, int] = {}
    for path, versions in home.storage.history.iterate_pages():
        if count := search.meant(path, versions):
            kept[path] = count
            said.update(line for _, data in versions if data for line in search.lines(path, data))
    for path, count in sorted(kept.items()):
        traces.append(Trace("history", path, f"{count} earlier version{'s' * (count > 1)}"))
    indexed = home.index.query(lambda view: sum(path in pages for path in view.index.stamps())) if pages else 0
    if indexed:
        traces.append(
            Trace("index", INDEX_FOLDER if home.storage.folder else "", f"{indexed} page{'s' * (indexed > 1)}")
        )
    return Found(tuple(traces), tuple(search.mentions(said, pages)))


def forget(home: Home, wanted: Wanted, *, everyone: bool = False) -> Found:
    """Remove it everywhere; what was found. Run again, it finishes what was interrupted."""
    search = _Search(home, wanted, everyone=everyone)
    found = _found(search)
    with home.writer.session("forget", defer_index=True):
        for trace in found.traces:
            if trace.kind == "page":
                search.remove(trace.path)
            elif trace.kind == "leftover":
                os.unlink(os.path.join(home.storage.folder, trace.path))
    home.storage.history.rewrite(search.rest)
    if found.traces:
        home.index.purge()
    return found


class _Parts(NamedTuple):
    """What stays of a version of a page, and what goes."""

    stays: bytes
    goes: bytes


class _Search:
    def __init__(self, home: Home, wanted: Wanted, *, everyone: bool) -> None:
        if not any(wanted):
            raise InvalidArgument("say what to forget: a key, a page, a tag, a scope, a session or a source")
        if wanted.source not in ("", "memory", "session", "extra"):
            raise InvalidArgument(f"source is one of memory, session, extra, not {wanted.source!r}")
        self.home, self.wanted, self.everyone = home, wanted, everyone
        self.parts = bool(wanted.key or wanted.tag)
        self._known: dict[str, Stretches] = {}  # by version: each is asked for several times, and long to read

    def pages(self) -> Iterator[tuple[str, bytes]]:
        """The pages there are, transcripts included whether or not they are searched."""
        home = self.home
        roots = home.layout.roots(home.index.scope.extra, sessions=True)
        for path in sorted(home.storage.pages.changes({}, roots).changed):
            if (place := self._place(path)) and self._is_meant(path, place):
                data = home.storage.read_bytes(path)
                if data is not None:
                    yield path, data

    def left(self, path: str, data: bytes) -> bytes | None:
        """What stays of a version of a page; None when nothing does."""
        parts = self._parts(path, data)
        return parts.stays if parts else None

    def _parts(self, path: str, data: bytes) -> _Parts | None:
        """A version of a page, parted; None when it goes as a whole."""
        place, untouched = self._place(path), _Parts(data, b"")
        if place is None or not self._is_meant(path, place):
            return untouched
        if not self.parts:
            return None
        if place.kind in ("record", "skill", "data"):
            return None if self._is_record(path, place, data) else untouched
        if place.kind == "session":
            return untouched
        text, name = data.decode("utf-8", "surrogateescape"), f"{place.kind} {version_of(data)}"
        if name not in self._known:
            self._known[name] = (self._lines_of_activity if place.kind == "activity" else self._blocks)(text)
        return _parted(text, self._known[name]) if self._known[name] else untouched

    def remove(self, path: str) -> None:
        """The page, or what is meant of it."""
        home = self.home
        data = home.storage.read_bytes(path)
        if data is None:
            return
        left = self.left(path, data)
        if left is None:
            home.writer.remove(path)
        elif left != data:
            home.writer.edit(path, lambda text: (self.left(path, text.encode()) or b"").decode())

    def rest(self, path: str, versions: Versions) -> Versions:
        """What stays of the history of a page."""
        if self._goes_whole(path):
            return []
        out: Versions = []
        for change, data in versions:
            left = None if data is None else self.left(path, data)
            if (data is not None and left is None) or (out and left == out[-1][1]):
                continue
            out.append((self._unmarked(change)._replace(version=version_of(left)), left))
        return out if any(data is not None for _, data in out) else []

    def meant(self, path: str, versions: Versions) -> int:
        """How many versions of a page hold it."""
        if self._goes_whole(path):
            return len(versions)
        return sum(data is not None and self.left(path, data) != data for _, data in versions)

    def leftovers(self) -> Iterator[str]:
        """Files that killed processes left beside pages, with what is meant in them."""
        for folder, folders, files in os.walk(self.home.storage.folder):  # of nothing, where there are no files
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), self.home.root).replace(os.sep, "/")
                page = page_of_leftover(path)
                data = self.home.storage.read_bytes(path) if page else None
                if data is not None and self.left(page, data) != data:
                    yield path

    def lines(self, path: str, data: bytes) -> Iterator[str]:
        """The telling lines of what goes from a page, and is not in what stays."""
        stays, goes = self._parts(path, data) or (b"", data)
        left = stays.decode("utf-8", "replace")
        return (line for line in _lines(goes) if not _has_line(left, line))

    def mentions(self, said: set[str], gone: Iterable[str]) -> Iterator[Trace]:
        if not said:
            return
        roots = self.home.layout.roots(self.home.index.scope.extra, sessions=True)
        for path in sorted(self.home.storage.pages.changes({}, roots).changed):
            place = self._place(path)
            if place is None or path in gone or not (self.everyone or self.home.visibility.may_see(place)):
                continue
            same = said.intersection(_lines(self.home.storage.read_bytes(path) or b""))
            if same:
                yield Trace("mention", path, f"says {len(same)} of the same lines")

    def told(self, path: str, data: bytes) -> str:
        left = self.left(path, data)
        if left is None:
            return "the whole page"
        count = data.count(b"\n") - left.count(b"\n")
        return f"{count} lines of it"

    def _place(self, path: str) -> Place | None:
        return self.home.layout.place(path, self.home.index.scope.extra)

    def _is_meant(self, path: str, place: Place) -> bool:
        wanted = self.wanted
        return (
            (self.everyone or self.home.visibility.may_see(place))
            and (not wanted.page or _below(path, wanted.page))
            and (not wanted.scope or self._in_scope(place))
            and (not wanted.source or place.source == wanted.source)
            and (not wanted.session or _is_session(place, wanted.session))
        )

    def _in_scope(self, place: Place) -> bool:
        kind, _, name = self.wanted.scope.partition(":")
        return place.scope.kind == kind and (not name or place.scope.name in (name, file_name(name)))

    def _is_record(self, path: str, place: Place, data: bytes) -> bool:
        if self.wanted.key and not self._has_name(place):
            return False
        if not self.wanted.tag:
            return True
        if place.kind != "record":
            return False
        record = parse(data.decode("utf-8", "replace"), path, place, lambda: 0.0)
        return self.wanted.tag in record.tags

    def _has_name(self, place: Place) -> bool:
        return place.name in (self.wanted.key, file_name(self.wanted.key))

    def _goes_whole(self, path: str) -> bool:
        """Whether nothing stays of a page, whatever it said: its name alone tells of it."""
        place = self._place(path)
        if place is None or not self._is_meant(path, place):
            return False
        is_kept_by_name = place.kind in ("record", "skill", "data") and self._has_name(place)
        return not self.parts or (is_kept_by_name and not self.wanted.tag)

    def _blocks(self, text: str) -> Stretches:
        key, tag = self.wanted.key, self.wanted.tag
        found = blocks.find(text, key) if key else blocks.parse(text)
        return [(block.start, block.end) for block in found if not tag or tag in block.tags]

    def _lines_of_activity(self, text: str) -> Stretches:
        named = f"key='{escape_unprintable(self.wanted.key)}' mode="
        if not self.wanted.key or self.wanted.tag or named not in text:
            return []
        lines = text.splitlines(keepends=True)
        ends = [*accumulate(map(len, lines))]
        return [(end - len(line), end) for line, end in zip(lines, ends, strict=True) if named in line]

    def _unmarked(self, change: Change) -> Change:
        """A change that stays does not tell of what goes."""
        told = self.wanted.session and change.session == self.wanted.session
        why = "" if self.wanted.key and self.wanted.key in change.why else change.why
        return change._replace(why="" if told else why, session="" if told else change.session)


def _parted(text: str, stretches: Stretches) -> _Parts:
    starts, ends = [start for start, _ in stretches], [end for _, end in stretches]
    stays = (text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True))
    goes = (text[start:end] for start, end in stretches)
    return _Parts(*("".join(part).encode("utf-8", "surrogateescape") for part in (stays, goes)))


def _is_session(place: Place, name: str) -> bool:
    plain = name.removesuffix(".jsonl")
    return place.kind == "session" and place.name.removesuffix(".jsonl") in (plain, file_name(plain))


def _below(path: str, page: str) -> bool:
    page = page.removeprefix("./").rstrip("/")
    if set(page) & set("*?"):
        return compile_glob(page).fullmatch(path) is not None
    return path == page or path.startswith(f"{page}/")


def _lines(data: bytes) -> Iterator[str]:
    every = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
    return (line for line in every if len(line) >= _TELLING)


def _has_line(text: str, line: str) -> bool:
    """Whether a text has a line: found by the words, so that a page with many lines is not taken apart for a few."""
    at = text.find(line)
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, end_of_line(text, at)
        if line in (each.strip() for each in text[start:end].splitlines()):
            return True
        at = text.find(line, end)
    return False
