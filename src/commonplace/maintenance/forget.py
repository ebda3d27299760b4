"""Remove something for good, wherever it left traces: a key, a page, some lines, a tag, a scope, a session or a source.

Traces are found first, then removed: on pages, in history, in the index, and in temporary files of killed processes.
Afterwards nothing in the storage holds them. Lines are those at a citation, in every version of their page, or all
that contain some words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from ..errors import InvalidArgument, NotFound
from ..formats import blocks
from ..formats.structure import end_of_line, escape_unprintable
from ..home import Home
from ..model import parse_citation
from ..storage.base import Root
from ..storage.files import page_of_editor_copy
from ..storage.history import Change, Versions, as_text, version_of
from ..storage.layout import Place
from ..storage.names import compile_glob, file_name
from ..storage.records import SKILL_DATA, SKILL_PAGE, parse_record
from ..storage.tree import list_editor_copies, list_files, list_leftovers
from ..wording import count_words
from .forget_lines import (
    MIN_LINE_CHARACTERS,
    WHOLE_RECORD_KINDS,
    CitedLines,
    Spans,
    Words,
    find_spans,
    make_words,
    read_cited_lines,
)

_MAX_FILE_BYTES = 1 << 26  # larger files that are not pages are not searched
_MIN_NAME_CHARACTERS = 8  # a file name that contains a shorter text may do so by chance
_ANY_PAGE = "page.md"
_NAME_WORD = re.compile(r"[^\W_]+")


class Selection(NamedTuple):
    """What to forget. All conditions that are given must hold: a tag within a scope, a key on a page."""

    key: str = ""
    page: str = ""  # a path, a folder, a pattern, or lines as search cites them
    tag: str = ""
    scope: str = ""
    session: str = ""
    source: str = ""
    text: str = ""  # words; the lines that contain them are removed


class Trace(NamedTuple):
    """A place where something was found. `kind` is page, history, index, leftover, or copy (an editor's); or mention:
    the same words."""

    kind: str
    path: str
    what: str


class ForgetReport(NamedTuple):
    """`mentions` are pages with the same words, which are not removed."""

    traces: tuple[Trace, ...]
    mentions: tuple[Trace, ...]


def find_traces(home: Home, selection: Selection, *, everyone: bool = False) -> ForgetReport:
    """Return what would be forgotten, and where else the same words occur."""
    return _report(_Finder(home, selection, everyone=everyone))


def forget(home: Home, selection: Selection, *, everyone: bool = False) -> ForgetReport:
    """Remove all traces and return what was found. If it was interrupted, run it again to finish."""
    finder = _Finder(home, selection, everyone=everyone)
    report = _report(finder)
    with home.writer.call("forget", defer_index=True):
        for trace in report.traces:
            if trace.kind == "page":
                finder.remove_from_page(trace.path)
            elif trace.kind in ("leftover", "copy"):
                _remove_leftover(home, trace.path)
    home.storage.history.rewrite(finder.choose_versions)
    home.readings.forget()
    if report.traces:
        home.index.purge()
    return report


def _remove_leftover(home: Home, path: str) -> None:
    leftover = home.storage.tree.entry(path)
    if leftover:
        page = leftover.leftover_of or page_of_editor_copy(path)
        home.storage.tree.remove_leftover(path, page, record=False)


def _report(finder: _Finder) -> ForgetReport:
    home = finder.home
    pages = {path: data for path, data in finder.list_pages() if finder.cut_page(path, data) != data}
    traces = [Trace("page", path, finder.describe(path, data)) for path, data in pages.items()]
    traces += (Trace("leftover", path, "a file that a killed process left behind") for path in finder.list_leftovers())
    lines = {line for path, data in pages.items() for line in finder.list_removed_lines(path, data)}
    version_counts: dict[str, int] = {}
    for path, versions in home.storage.history.iterate_pages():
        if count := finder.count_versions(path, versions):
            version_counts[path] = count
            lines.update(line for _, data in versions if data for line in finder.list_removed_lines(path, data))
    traces += (Trace("copy", path, "a backup or swap file of an editor") for path in finder.list_editor_copies(lines))
    counts = sorted(version_counts.items())
    traces += (Trace("history", path, count_words(count, "earlier version")) for path, count in counts)
    indexed = home.index.query(lambda view: sum(path in pages for path in view.index.stamps())) if pages else 0
    if indexed:
        index_folder = os.path.basename(home.storage.cache_folder)
        traces.append(Trace("index", index_folder, count_words(indexed, "page")))
    gone = {trace.path for trace in traces if trace.kind in ("page", "leftover", "copy")}
    mentions = [*finder.find_mentions(lines, pages), *finder.find_files(lines, gone), *finder.find_names(lines, pages)]
    return ForgetReport(tuple(traces), tuple(mentions))


class _Split(NamedTuple):
    """A version of a page, split into what is removed and the rest."""

    rest: bytes
    removed: bytes


class _Finder:
    def __init__(self, home: Home, selection: Selection, *, everyone: bool) -> None:
        if not any(selection):
            raise InvalidArgument(
                "say what to forget: a key, a page, lines of it (PAGE#L5), a tag, a scope, a session or a source"
            )
        if selection.source not in ("", "memory", "session", "extra"):
            raise InvalidArgument(f"source is one of memory, session, extra, not {selection.source!r}")
        self.home = home
        self._everyone = everyone
        self._lines: CitedLines | Words | None = None
        self._selection = self._resolve_lines(selection)
        self._within_pages = bool(self._selection.key or self._selection.tag or self._lines)
        self._spans: dict[str, Spans | None] = {}  # by version: parsed once

    def _resolve_lines(self, selection: Selection) -> Selection:
        """Find the lines to remove. If they are a whole page or note, its earlier versions are removed, too."""
        citation = parse_citation(selection.page)
        if (citation or selection.text) and (selection.key or selection.tag):
            raise InvalidArgument("choose lines, or choose by key and tag: not both at once")
        if selection.text:
            self._lines = make_words(selection.text)
        if not citation:
            return selection
        place = self._place(citation.path.removeprefix("./"))
        if place is None or not (self._everyone or self.home.visibility.may_see(place)):
            raise NotFound(f"there is no page {citation.path}", advice="cite a line as `commonplace search` prints it")
        cited = read_cited_lines(self.home, citation)
        if not cited.is_whole_page and not cited.key:
            self._lines = cited
        return selection._replace(page=cited.path, key=cited.key)

    def list_pages(self) -> Iterator[tuple[str, bytes]]:
        """Yield the selected pages, transcripts included whether or not they are searched."""
        for path in self._list_paths():
            if (place := self._place(path)) and self._is_selected(path, place):
                data = self.home.storage.read_bytes(path)
                if data is not None:
                    yield path, data

    def _list_paths(self) -> list[str]:
        layout = self.home.layout
        roots = [*layout.roots(self.home.index.scope.extra, sessions=True), Root(layout.directives)]
        return sorted(self.home.storage.pages.changes({}, roots).changed)

    def cut_page(self, path: str, data: bytes) -> bytes | None:
        """Return the rest of a version of a page; None if nothing is left."""
        split = self._split(path, data)
        return split.rest if split else None

    def _split(self, path: str, data: bytes) -> _Split | None:
        """Split a version of a page; None if all of it is removed."""
        place = self._place(path)
        untouched = _Split(data, b"")
        if place is None or not self._is_selected(path, place):
            return untouched
        if not self._within_pages:
            return None
        if place.kind in WHOLE_RECORD_KINDS and not self._lines:
            return None if self._is_selected_record(path, place, data) else untouched
        if place.kind == "session" and not self._lines:
            return untouched
        text = data.decode("utf-8", "surrogateescape")
        name = f"{place.kind} {version_of(data)}"
        if name not in self._spans:
            self._spans[name] = self._find_spans(text, place.kind)
        spans = self._spans[name]
        if spans is None:
            return None
        return _split_text(text, spans) if spans else untouched

    def _find_spans(self, text: str, kind: str) -> Spans | None:
        """Return the spans to remove from a page of text; None for all of it."""
        if self._lines:
            return find_spans(text, kind, self._lines)
        return self._find_activity(text) if kind == "activity" else self._find_blocks(text)

    def remove_from_page(self, path: str) -> None:
        """Remove the page, or the selected parts of it."""
        data = self.home.storage.read_bytes(path)
        if data is None:
            return
        rest = self.cut_page(path, data)
        if rest is None:
            self.home.writer.remove(path)
        elif rest != data:

            def remove_selected(text: str) -> str:
                return (self.cut_page(path, text.encode()) or b"").decode()

            self.home.writer.edit(path, remove_selected)

    def choose_versions(self, path: str, versions: Versions) -> Versions:
        """Return the rest of the history of a page."""
        if self._is_removed_entirely(path):
            return []
        versions_left: Versions = []
        for change, data in versions:
            rest = None if data is None else self.cut_page(path, data)
            is_approval = change.version == change.before
            is_same = bool(versions_left) and rest == versions_left[-1][1]
            if (data is not None and rest is None) or (is_same and not is_approval):
                continue
            versions_left.append((self._clear_mentions(change)._replace(version=version_of(rest)), rest))
        return versions_left if any(data is not None for _, data in versions_left) else []

    def count_versions(self, path: str, versions: Versions) -> int:
        """Return how many versions of a page hold something selected."""
        if self._is_removed_entirely(path):
            return len(versions)
        return sum(data is not None and self.cut_page(path, data) != data for _, data in versions)

    def list_leftovers(self) -> Iterator[str]:
        """Yield files that killed processes left beside pages, with something selected in them."""
        for leftover in list_leftovers(self.home.storage.tree):
            data = self.home.storage.read_bytes(leftover.path)
            if data is not None and self.cut_page(leftover.leftover_of, data) != data:
                yield leftover.path

    def list_editor_copies(self, lines: set[str]) -> Iterator[str]:
        """Yield editors' files beside selected pages that contain removed text; swap files are binary."""
        needles = [line.encode() for line in lines]
        for entry, page in list_editor_copies(self.home.storage.tree):
            place = self._place(page)
            if place is None or not self._is_selected(page, place):
                continue
            data = self.home.storage.read_bytes(entry.path) or b""
            if self.cut_page(page, data) != data or any(needle in data for needle in needles):
                yield entry.path

    def list_removed_lines(self, path: str, data: bytes) -> Iterator[str]:
        """Yield the distinctive lines that are removed from a page and do not occur in the rest of it."""
        rest, removed = self._split(path, data) or (b"", data)
        remaining = rest.decode("utf-8", "replace")
        return (line for line in _distinctive_lines(removed) if not _has_line(remaining, line))

    def find_mentions(self, lines: set[str], gone: Iterable[str]) -> Iterator[Trace]:
        """Yield other pages this agent may see that have some of the same lines."""
        if not lines:
            return
        for path in self._list_paths():
            place = self._place(path)
            if place is None or path in gone or not (self._everyone or self.home.visibility.may_see(place)):
                continue
            same = lines.intersection(_distinctive_lines(self.home.storage.read_bytes(path) or b""))
            if same:
                yield Trace("mention", path, f"says {len(same)} of the same lines")

    def find_files(self, lines: set[str], gone: Iterable[str]) -> Iterator[Trace]:
        """Yield files that are not pages, such as editors' files, and contain removed text: they stay."""
        words = [self._selection.text.strip()] if self._selection.text else []
        needles = [needle.encode() for needle in (*words, *lines)]
        for entry in list_files(self.home.storage.tree) if needles else ():
            if entry.path in gone or not self._may_see_file(entry.path) or self._place(entry.path):
                continue
            if entry.size > _MAX_FILE_BYTES:
                yield Trace("mention", entry.path, "is not a page, and too large to search")
                continue
            data = self.home.storage.read_bytes(entry.path) or b""
            if any(needle in data for needle in needles):
                yield Trace("mention", entry.path, "is not a page, and contains some of it: remove it yourself")

    def find_names(self, lines: set[str], gone: Iterable[str]) -> Iterator[Trace]:
        """Yield the remaining pages and files whose names contain removed text."""
        texts = (self._selection.text, self._selection.key, *lines)
        names = {name for text in texts if len(name := _spell(text)) >= _MIN_NAME_CHARACTERS}
        for entry in list_files(self.home.storage.tree) if names else ():
            page = page_of_editor_copy(entry.path) or entry.path
            is_gone = page in gone and self.cut_page(page, self.home.storage.read_bytes(page) or b"") is None
            if not is_gone and self._may_see_file(entry.path) and any(name in _spell(entry.path) for name in names):
                yield Trace("mention", entry.path, "has it in its name")

    def _may_see_file(self, path: str) -> bool:
        """Return whether this agent may see a file, by the page that it is or is a copy of."""
        layout = self.home.layout
        own = f"{layout.agents}/{layout.agent_name(self.home.agent)}/"
        place = self._place(path) or self._place(f"{path.rpartition('/')[0]}/{_ANY_PAGE}".lstrip("/"))
        if self._everyone or (place and self.home.visibility.may_see(place)):
            return True
        return place is None and (path.startswith(own) or not path.startswith(f"{layout.agents}/"))

    def describe(self, path: str, data: bytes) -> str:
        rest = self.cut_page(path, data)
        if rest is None:
            return "the whole page"
        total = data.count(b"\n") - rest.count(b"\n")
        numbers = sorted(self._lines.find(as_text(data).split("\n"))) if self._lines else []
        count = len(numbers) or total
        where = f": {', '.join(f'L{number + 1}' for number in numbers)}" if numbers else ""
        also = f" ({total} with headings and blank lines)" if total > count else ""
        return f"{count_words(count, 'line')} of it{where}{also}"

    def _place(self, path: str) -> Place | None:
        layout = self.home.layout
        return layout.place(path, self.home.index.scope.extra) or layout.place_directive(path)

    def _is_selected(self, path: str, place: Place) -> bool:
        selection = self._selection
        if place.kind == "directive" and not (selection.page or selection.text):
            return False  # it belongs to no key, tag, scope or source
        # The data of a skill goes with the whole skill: a new one of its name would inherit it.
        page = path if self._within_pages or place.kind != "data" else path.removesuffix(SKILL_DATA) + SKILL_PAGE
        return (
            (self._everyone or self.home.visibility.may_see(place))
            and (not selection.page or any(_matches_page(each, selection.page) for each in (path, page)))
            and (not selection.scope or self._is_in_scope(place))
            and (not selection.source or place.source == selection.source)
            and (not selection.session or _is_session(place, selection.session))
        )

    def _is_in_scope(self, place: Place) -> bool:
        kind, _, name = self._selection.scope.partition(":")
        return place.scope.kind == kind and (not name or place.scope.name in (name, file_name(name)))

    def _is_selected_record(self, path: str, place: Place, data: bytes) -> bool:
        if self._selection.key and not self._has_selected_key(place):
            return False
        if not self._selection.tag or place.kind != "record":
            return not self._selection.tag
        record = parse_record(data.decode("utf-8", "replace"), path, place, lambda: 0.0)
        return self._selection.tag in record.tags

    def _has_selected_key(self, place: Place) -> bool:
        return place.name in (self._selection.key, file_name(self._selection.key))

    def _is_removed_entirely(self, path: str) -> bool:
        """Return whether all of a page's history goes, whatever it says, since its name alone would reveal it."""
        place = self._place(path)
        if place is None or not self._is_selected(path, place):
            return False
        is_named_by_key = place.kind in WHOLE_RECORD_KINDS and self._has_selected_key(place)
        return not self._within_pages or (is_named_by_key and not self._selection.tag and not self._lines)

    def _find_blocks(self, text: str) -> Spans:
        key = self._selection.key
        tag = self._selection.tag
        candidates = blocks.find(text, key) if key else blocks.parse(text)
        return [(block.start, block.end) for block in candidates if not tag or tag in block.tags]

    def _find_activity(self, text: str) -> Spans:
        """Return the lines of an activity log about the key."""
        field = f"key='{escape_unprintable(self._selection.key)}' mode="
        if not self._selection.key or self._selection.tag or field not in text:
            return []
        lines = text.splitlines(keepends=True)
        ends = [*accumulate(map(len, lines))]
        return [(end - len(line), end) for line, end in zip(lines, ends, strict=True) if field in line]

    def _clear_mentions(self, change: Change) -> Change:
        """Clear the parts of a remaining change that mention removed text."""
        selection = self._selection
        if selection.session and change.session == selection.session:
            return change._replace(why="", session="")
        if (selection.key and selection.key in change.why) or (self._lines and self._lines.is_in(change.why)):
            return change._replace(why="")
        return change


def _split_text(text: str, spans: Spans) -> _Split:
    starts = [start for start, _ in spans]
    ends = [end for _, end in spans]
    rest = (text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True))
    removed = (text[start:end] for start, end in spans)
    return _Split(*("".join(part).encode("utf-8", "surrogateescape") for part in (rest, removed)))


def _is_session(place: Place, name: str) -> bool:
    plain = name.removesuffix(".jsonl")
    return place.kind == "session" and place.name.removesuffix(".jsonl") in (plain, file_name(plain))


def _matches_page(path: str, page: str) -> bool:
    """Return whether a path is a page, is below a folder, or fits a pattern."""
    page = page.removeprefix("./").rstrip("/")
    if set(page) & set("*?"):
        return compile_glob(page).fullmatch(path) is not None
    return path == page or path.startswith(f"{page}/")


def _distinctive_lines(data: bytes) -> Iterator[str]:
    lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
    return (line for line in lines if len(line) >= MIN_LINE_CHARACTERS)


def _spell(text: str) -> str:
    """Return a text in the form of file names: words and hyphens."""
    return "-".join(_NAME_WORD.findall(text.casefold()))


def _has_line(text: str, line: str) -> bool:
    """Return whether a text has a line, without splitting a long page."""
    at = text.find(line)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        end = end_of_line(text, at)
        if line in (part.strip() for part in text[start:end].splitlines()):
            return True
        at = text.find(line, end)
    return False
