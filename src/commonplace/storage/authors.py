"""Provenance: who wrote each line of a page (blame), with a cache for search hits.

Blame follows the changes of a page in order. A line that is older than the first change that is read has no
known author. Only the lines around a change are compared, so a large page costs little more than a small one; of a long
history only the newest changes are followed.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, tzinfo
from typing import NamedTuple, overload

from ..caching import ByteCache
from ..errors import CommonplaceError
from ..formats.blocks import Answer, find_annotated_lines, find_answers, strip_own_annotations
from ..formats.frontmatter import split as split_front_matter
from ..git_branches import Where
from ..model import Hit, Page
from .base import HistoryStore, Pages, Storage
from .history import (
    ABSENT,
    APPROVE,
    OUTSIDE,
    RETURNING,
    Change,
    Edit,
    Line,
    as_text,
    find_branch,
    find_old_path,
    kind_of_origin,
    names_origin,
    read_edits,
)
from .merge import count_equal, matching_blocks
from .names import decode_name

SUPERSEDE = "supersede"  # the tool of an answer about what replaces what
KEEP = "keep"  # the tool of an approval of some lines by a person
_PERSON = "person"
_ANSWERING = frozenset(("", _PERSON, "token"))
_PAGE_CACHE_BYTES = 8_000_000  # shared by all memories open in this process
_FEW_LINES = 1_000
_BLANK = b"\1"
_MAX_BYTE = 255
_MIN_SPELLED_LETTERS = 4  # shorter words are not compared for spelling
_MAX_SPELLED_LETTERS = 60  # nor are longer ones: the cost grows with the square of their length
_MAX_CORRECTED_WORDS = 50  # of a line; one with more corrections says something else
_MIN_SPELLING_LIKENESS = 0.8
_MAX_CORRECTED_LINES = 1_000  # that one change replaced in a row; more are a new text
_JOIN = "; "
_LINES = re.compile(r"lines (\d{1,9}) to (\d{1,9}) of ([0-9a-f]+)")
Span = tuple[str, int, int]  # a path, a first line and a last one, counted from 1


class Bounds(NamedTuple):
    """How many of the newest changes are followed, and how many bytes of their old and new text are compared."""

    versions: int
    size: int


class LineOrigin(NamedTuple):
    """The change that wrote a line; None if history does not know. A person wrote or approved it if `is_approved`.
    `source`: the change that first wrote it, if only its spelling was corrected since, or text was added."""

    change: Change | None
    is_approved: bool = False
    source: Change | None = None


UNKNOWN = LineOrigin(None)
_NO_NAMES: frozenset[str] = frozenset()
_MAX_PAGES_OF_AGENT = 20  # whose history is asked for the name of an agent
_agent_names: ByteCache[tuple[str, str], str] = ByteCache("agent names", 50_000)
_SEARCH_BOUNDS = Bounds(versions=5000, size=16_000_000)


def may_answer(origin: str) -> bool:
    """Return whether answers of this origin count: from the owner, a person, or a token for all agents."""
    return kind_of_origin(origin) in _ANSWERING


def find_agent_name(storage: Storage, folder: str) -> str:
    """Return the name that the name of an agent's folder encodes, if history knows of an agent of this name; else the
    folder's."""
    encoded = folder.rpartition("/")[2]
    key = (storage.name, encoded)
    name = _agent_names.get(key)
    if name is None:
        with suppress(CommonplaceError):
            name = next(_find_claimed_names(storage, folder, encoded), None)
        if name is None:
            return encoded
        _agent_names.put(key, name)
    return str(name)


def _find_claimed_names(storage: Storage, folder: str, encoded: str) -> Iterator[str]:
    for path in storage.pages.list(folder, deep=True)[:_MAX_PAGES_OF_AGENT]:
        claimed = {change.agent for change in storage.history.changes(path)}
        yield from (name for name in claimed if decode_name(encoded, name) != encoded)


def split_lines(text: str) -> list[str]:
    """Return the lines of a page as citations count them."""
    return text.removesuffix("\n").split("\n") if text else []


def blame(lines: Sequence[Line], bounds: Bounds) -> list[LineOrigin]:
    """Return the origin of every line of the last version; empty if it cannot be decoded."""
    edits = read_edits(lines)
    if not edits or edits[-1].change != lines[-1].change:
        return []
    start = _find_start(edits, bounds)
    text = bytearray()
    origins: list[LineOrigin] = []
    for number, edit in enumerate(edits):
        if number < start:
            text[edit.start : edit.end] = edit.data
            continue
        if number == start:
            origins = [UNKNOWN] * _count_lines(text)
        _follow(edit, text, origins)
        if edit.change.tool == APPROVE and kind_of_origin(edit.change.origin) != "import":
            origins = [origin._replace(is_approved=True) for origin in origins]
        if edit.change.tool == KEEP and kind_of_origin(edit.change.origin) in ("", _PERSON):
            _approve_lines(edit.change, origins)
    return origins


def list_lines(history: HistoryStore, path: str, newest: int) -> list[Line]:
    """Return the newest changes of a page for its blame; if it was renamed, preceded by those of its old path."""
    return _precede_with_old_path(history, path, history.lines(path, newest), newest)


def _precede_with_old_path(history: HistoryStore, path: str, lines: list[Line], newest: int) -> list[Line]:
    paths = {path}
    while lines and (old := find_old_path(lines[0].change)) and old not in paths:
        paths.add(old)
        lines = [*_find_lines_to(history.lines(old, newest), lines[0].change), *lines]
    return lines


def _find_lines_to(lines: list[Line], rename: Change) -> list[Line]:
    """Return the lines up to the version that was renamed."""
    ends = [at for at, line in enumerate(lines, start=1) if line.change.version == rename.version]
    return lines[: max((end for end in ends if lines[end - 1].change.at <= rename.at), default=0)]


def describe_lines(first: int, last: int, version: str) -> str:
    """Return the lines of a version that a person approves, as the reason of a change."""
    return f"lines {first} to {last} of {version}"


def _approve_lines(change: Change, origins: list[LineOrigin]) -> None:
    """Approve the lines that a change names, if they belong to the version it applies to."""
    lines = _LINES.fullmatch(change.why)
    if not lines or lines[3] != change.version:
        return
    for number in range(int(lines[1]) - 1, min(int(lines[2]), len(origins))):
        origins[number] = origins[number]._replace(is_approved=True)


def is_by_person(change: Change) -> bool:
    """Return whether a person wrote what a change added: in the web page, or in a file, by an editor. Whoever undoes
    a change brings back what others wrote."""
    kind = kind_of_origin(change.origin)
    return (kind == _PERSON and change.tool not in RETURNING) or (not change.tool and kind != "import")


def _find_start(edits: Sequence[Edit], bounds: Bounds) -> int:
    """Return the index of the first edit within the bounds; the last one always is."""
    size = 0
    start = len(edits)
    while start and len(edits) - start < bounds.versions:
        edit = edits[start - 1]
        size += edit.end - edit.start + len(edit.data)
        if size > bounds.size and start < len(edits):
            break
        start -= 1
    return start


def _follow(edit: Edit, text: bytearray, origins: list[LineOrigin]) -> None:
    """Apply an edit to the text and to the origins of its lines. Unchanged lines keep theirs."""
    # After a gap, new lines may be from a change that history no longer holds.
    own = LineOrigin(edit.change, is_by_person(edit.change)) if edit.is_next else UNKNOWN
    start = text.rfind(b"\n", 0, edit.start) + 1
    end = text.find(b"\n", edit.end) + 1 or len(text)
    old = bytes(text[start:end])
    new = old[: edit.start - start] + edit.data + old[edit.end - start :]
    first = len(origins) - _count_lines(text, start)
    old_lines = split_lines(strip_own_annotations(as_text(old)))  # pinning a line is not writing it
    new_lines = split_lines(strip_own_annotations(as_text(new)))
    last = first + len(old_lines)
    origins[first:last] = _carry_over(old_lines, new_lines, origins[first:last], own)
    text[edit.start : edit.end] = edit.data


def _count_lines(text: bytearray, start: int = 0) -> int:
    """Return how many lines begin at or after `start`, itself the beginning of a line."""
    is_open = len(text) > start and not text.endswith(b"\n")
    return text.count(b"\n", start) + is_open


def _carry_over(lines: list[str], new_lines: list[str], origins: list[LineOrigin], own: LineOrigin) -> list[LineOrigin]:
    """Return the origins of the new lines: unchanged ones keep theirs."""
    head = count_equal(lines, new_lines)
    tail = count_equal(lines[head:][::-1], new_lines[head:][::-1])
    old_end = len(lines) - tail
    new_end = len(new_lines) - tail
    middle = [own] * (new_end - head)
    before = lines[head:old_end]
    after = new_lines[head:new_end]
    known = origins[head:old_end]
    old = new = 0
    for one, two, size in (*matching_blocks(before, after), (len(before), len(after), 0)):
        if one - old == two - new <= _MAX_CORRECTED_LINES:  # the same number of lines: each replaced one
            for at in range(one - old):
                if is_correction(before[old + at], after[new + at]):
                    origin = known[old + at]
                    middle[new + at] = own._replace(source=origin.source or origin.change)
        middle[two : two + size] = known[one : one + size]
        old = one + size
        new = two + size
    return [*origins[:head], *middle, *origins[old_end:]]


def is_correction(old: str, new: str) -> bool:
    """Return whether a line still says the same: with corrected spelling, and perhaps more text at its end. A changed
    number or name says something else."""
    words = old.split()
    others = new.split()
    if not words or len(others) < len(words):
        return False
    changed = [(one, two) for one, two in zip(words, others, strict=False) if one != two]
    if len(changed) > _MAX_CORRECTED_WORDS or changed == [(old, new)]:
        return False
    return all(_is_spelling(one, two) for one, two in changed)


def _is_spelling(one: str, two: str) -> bool:
    """Return whether two words differ by no more than a letter or two, or by marks."""
    bare, other = (word.strip(",.;:!?()*_\"'").casefold() for word in (one, two))
    if bare == other:
        return True
    if not bare.isalpha() or not other.isalpha():
        return False
    if min(len(bare), len(other)) < _MIN_SPELLED_LETTERS or max(len(bare), len(other)) > _MAX_SPELLED_LETTERS:
        return False
    from difflib import SequenceMatcher  # loaded only if two words differ

    return SequenceMatcher(None, bare, other, autojunk=False).ratio() >= _MIN_SPELLING_LIKENESS


class Provenance(NamedTuple):
    """Who wrote a passage, the latest first, and when. Empty if history does not know.

    `names` are for filters: agents, and how a change came (`outside`, `import`, `person`, `token`).
    """

    author: str = ""
    at: str = ""
    is_approved: bool = False  # whether a person wrote or approved all of it
    is_edited: bool = False  # whether several changes wrote it
    names: frozenset[str] = frozenset()
    head: str = ""  # the front matter of its page
    comments: str = ""  # the annotations of the whole page
    answers: frozenset[Answer] = frozenset()  # answers that somebody gave, on its page
    said_at: str = ""  # when its newest part was written, spelling corrections aside
    first_said_at: str = ""  # when its oldest part was written
    branch: str = ""  # the git branch on which its newest part was written
    where: Where = ""  # `here` on the current branch, `elsewhere` on another, so that it may not be true
    zone: tzinfo = UTC  # of times written in a page


class _PackedOrigins(Sequence[LineOrigin]):
    """The origins of many lines by few changes, as numbers, so that those of a huge page fit the cache."""

    def __init__(self, origins: Sequence[LineOrigin]) -> None:
        different = {id(origin): origin for origin in origins}
        places = {each: place for place, each in enumerate(different)}
        self._different = tuple(different.values())
        size = "B" if len(different) <= _MAX_BYTE + 1 else "I"
        self._places = array(size, (places[id(origin)] for origin in origins))

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> LineOrigin: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[LineOrigin]: ...
    def __getitem__(self, at: int | slice) -> LineOrigin | Sequence[LineOrigin]:
        if isinstance(at, slice):
            return [self._different[place] for place in self._places[at]]
        return self._different[self._places[at]]


class _Page(NamedTuple):
    """The origins of a page's lines. `blanks`: a mark of each line without text, whose author does not matter.
    `whole`: the provenance of every line, if all have one origin, as on most pages."""

    origins: Sequence[LineOrigin] = ()
    blanks: bytes = b""
    head: str = ""
    comments: str = ""
    answers: frozenset[Answer] = frozenset()
    whole: Provenance | None = None
    lines: int = 0  # how many, if all lines of the page have one origin

    def list_origins(self) -> Sequence[LineOrigin]:
        return [*self.origins] * self.lines if self.whole else self.origins

    def is_blank(self, number: int) -> bool:
        return self.blanks[number - 1 : number] == _BLANK


class _Reader(NamedTuple):
    """Reads the newest changes of a page, and the page."""

    lines: Callable[[str], list[Line]]
    page: Callable[[str], Page]


_pages: ByteCache[tuple[Hashable, str], tuple[str, _Page]] = ByteCache("authors of pages", _PAGE_CACHE_BYTES)


class Authors:
    """Finds authors. Caches the blame of a page while the stamp of its history stays the same."""

    def __init__(
        self,
        pages: Pages,
        history: HistoryStore,
        *,
        folder: str = "",
        knows_approval: bool = True,
        locate_branch: Callable[[str], Where] | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        """`folder`: where the memory is on this machine, whose agents share what was read; empty if it is elsewhere.
        `knows_approval`: whether history is trusted about approvals. It is not in a memory that was only found: its
        history came with it. `locate_branch`: finds where a branch is. `zone`: that of the memory."""
        self._pages = pages
        self._history = history
        # Distinguishes its pages from those of other memories, and of this one while less of its history counted.
        self._owner: Hashable = (folder, history.seal) if folder else object()
        self._knows_approval = knows_approval
        self._locate_branch = locate_branch
        self._zone = zone

    def find(self, spans: Sequence[Span], moment: str = "") -> list[Provenance]:
        """Return the provenance of each span of the present pages, or of the pages as they were at a moment; an empty
        one if history cannot be read."""
        if moment:
            pages = {path: self._blame_as_of(path, moment) for path in {path for path, _, _ in spans}}
            return self._locate_branches([self._find_in(pages[span[0]], span) for span in spans])
        try:
            stamps = self._history.stamps(sorted({path for path, _, _ in spans}))
        except (CommonplaceError, OSError):
            return [Provenance() for _ in spans]
        paths = [path for path in dict.fromkeys(span[0] for span in spans) if stamps.get(path)]
        read = self._reader([path for path in paths if self._is_to_be_read(path, stamps)])
        opened = {path: self._open(path, stamps[path], read) for path in paths}  # a huge page may not stay in the cache
        return self._locate_branches([self._find_in(opened.get(span[0], _Page()), span) for span in spans])

    def _is_to_be_read(self, path: str, stamps: Mapping[str, str]) -> bool:
        known = _pages.get((self._owner, path))
        return not (known and known[0] == stamps[path])

    def _reader(self, paths: Sequence[str]) -> _Reader:
        """Return what reads these pages with their history; it reads them when it is asked for the first."""
        lines = self._history.line_reader(paths, _SEARCH_BOUNDS.versions)
        return _Reader(lines, self._pages.page_reader(paths))

    def _locate_branches(self, found: list[Provenance]) -> list[Provenance]:
        branches = {each.branch for each in found if each.branch}
        if not branches or not self._locate_branch:
            return found
        where = {branch: self._locate_branch(branch) for branch in branches}
        return [each._replace(where=where[each.branch]) if each.branch else each for each in found]

    def find_of_hits(self, hits: Sequence[Hit], moment: str = "") -> list[Provenance]:
        """Return the provenance of each hit, as `find` does."""
        return self.find([(hit.path, hit.start, hit.end) for hit in hits], moment)

    def find_approved_lines(self, path: str) -> list[tuple[int, int]]:
        """Return the first and last line of every stretch of a page that a person wrote or approved."""
        try:
            stamp = self._history.stamps([path]).get(path, "")
        except (CommonplaceError, OSError):
            stamp = ""
        ranges: list[tuple[int, int]] = []
        page = self._open(path, stamp, self._reader([path])) if stamp and self._knows_approval else _Page()
        for number, origin in enumerate(page.list_origins(), start=1):
            if not origin.is_approved or page.is_blank(number):
                continue
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        return ranges

    def _find_in(self, page: _Page, span: Span) -> Provenance:
        provenance = _find_in(page, span)
        if self._zone is not UTC:
            provenance = provenance._replace(zone=self._zone)
        return provenance if self._knows_approval else provenance._replace(is_approved=False)

    def _open(self, path: str, stamp: str, read: _Reader) -> _Page:
        known = _pages.get((self._owner, path))
        if known and known[0] == stamp:
            return known[1]
        page = _Page()
        with suppress(CommonplaceError, OSError):
            page = self._blame(path, read)
        page = _join_origins(page)
        if known or not page.whole or len(page.blanks) > _FEW_LINES or page.head or page.comments:
            _pages.put((self._owner, path), (stamp, page))
        else:
            _pages.add_new((self._owner, path), (stamp, page))  # all take about the same space, so few are measured
        return page

    def _blame_as_of(self, path: str, moment: str) -> _Page:
        page = _Page()
        with suppress(CommonplaceError, OSError):
            every = self._history.lines(path, _SEARCH_BOUNDS.versions)
            lines = [line for line in every if line.change.at <= moment] or every[:1]
            if lines:
                page = _blame_last(lines, as_text(self._history.read_version(path, lines[-1].change.version)))
        return page

    def _blame(self, path: str, read: _Reader) -> _Page:
        lines = _precede_with_old_path(self._history, path, read.lines(path), _SEARCH_BOUNDS.versions)
        if not lines:  # true of most sessions, whose pages are long
            return _Page()
        page = read.page(path)
        if lines[-1].change.version != page.version:  # it changed since, which is not recorded yet
            return _Page()
        known = _blame_last(lines, page.text)
        if UNKNOWN not in known.origins:
            return known
        origins = _fill(known.origins, self._history.changes(path))
        return known._replace(origins=_without_programs(origins) if path.endswith(".jsonl") else origins)


def _blame_last(lines: Sequence[Line], text: str) -> _Page:
    """Return the origins of the lines of the last version, which is `text`."""
    origins = _blame_first(lines, text) if _is_first(lines) else blame(lines, _SEARCH_BOUNDS)
    if lines[-1].change.path.endswith(".jsonl"):
        origins = _without_programs(origins)
    blanks = bytes(not line or line.isspace() for line in split_lines(text))
    comments = "\n".join(line for about, line in find_annotated_lines(text) if about is None) if "<!--" in text else ""
    return _Page(origins, blanks, split_front_matter(text)[0], comments, _read_answers(lines, text))


def _is_first(lines: Sequence[Line]) -> bool:
    """Return whether a page was written only once, like most pages, so that nothing has to be compared."""
    change = lines[0].change
    return len(lines) == 1 and change.before == ABSENT and change.tool not in (APPROVE, KEEP)


def _blame_first(lines: Sequence[Line], text: str) -> list[LineOrigin]:
    change = lines[0].change
    return [LineOrigin(change, is_by_person(change))] * len(split_lines(strip_own_annotations(text)))


def _read_answers(lines: Sequence[Line], text: str) -> frozenset[Answer]:
    """Return the answers on a page that the owner, a person or a token for all agents gave: added by hand, or by the
    call for answers. Any others are part of a stored text."""
    if not any(find_answers(text)):
        return frozenset()
    answers: set[Answer] = set()
    data = bytearray()
    for edit in read_edits(lines):
        before = _count_answers(data) if _may_answer(edit) else Counter()
        data[edit.start : edit.end] = edit.data
        if _may_answer(edit):
            added = _count_answers(data) - before
            names = edit.change.why.split() if edit.change.tool == SUPERSEDE else [name for _, name in added]
            answers.update(answer for answer in added if answer[1] in names)
    return frozenset(answers)


def _count_answers(data: bytearray) -> Counter[Answer]:
    return Counter(find_answers(as_text(bytes(data))))


def _may_answer(edit: Edit) -> bool:
    """Return whether the answers that an edit adds count. After a gap in history, it is unknown who added what, unless
    the change says so itself."""
    change = edit.change
    is_answer = change.tool == SUPERSEDE and may_answer(change.origin)
    return is_answer or (edit.is_next and is_by_person(change))


def _join_origins(page: _Page) -> _Page:
    """Return a page with the provenance of its lines, if they are of one origin."""
    first = page.origins[0] if page.origins else UNKNOWN
    origins, blanks, head, comments, answers, _, _ = page
    if any(origin is not first for origin in origins):
        return page._replace(origins=_PackedOrigins(origins)) if len(origins) > _FEW_LINES else page
    if not origins:
        return page
    change = first.change
    author, at, names = (change.by, change.at, frozenset(_names(change))) if change else ("", "", _NO_NAMES)
    said_at = first.source.at if first.source else at
    branch = find_branch(change) if change else ""
    whole = Provenance(author, at, first.is_approved, False, names, head, comments, answers, said_at, said_at, branch)
    return _Page((first,), blanks, head, comments, answers, whole, len(origins))


def _find_in(page: _Page, span: Span) -> Provenance:
    _, start, end = span
    if page.whole and start <= page.lines and start <= end and not page.is_blank(start):
        return page.whole
    origins = page.list_origins()
    numbers = range(start, min(end, len(origins)) + 1)
    written = [origins[number - 1] for number in numbers if not page.is_blank(number)]
    origin = _summarize(written) if written else Provenance()
    return origin._replace(head=page.head, comments=page.comments, answers=page.answers)


def _fill(origins: Sequence[LineOrigin], changes: list[Change]) -> Sequence[LineOrigin]:
    """Attribute lines older than the compared changes to the page's only author, if there is one."""
    is_whole = bool(changes) and changes[0].before == ABSENT
    if not is_whole or len({change.by for change in changes}) > 1:
        return origins
    first = LineOrigin(changes[0])
    return [first if origin == UNKNOWN else origin for origin in origins]


def _without_programs(origins: Sequence[LineOrigin]) -> list[LineOrigin]:
    """Drop `outside` as the author of a session's lines: sessions grow by what agents say, without history."""
    return [UNKNOWN if origin.change and not origin.change.tool else origin for origin in origins]


def _summarize(origins: list[LineOrigin]) -> Provenance:
    changes = {origin.change.id: origin.change for origin in origins if origin.change}
    latest_first = sorted(changes.values(), key=_at, reverse=True)
    words = dict.fromkeys(change.by for change in latest_first)
    names = frozenset(name for change in latest_first for name in _names(change))
    is_approved = all(origin.is_approved for origin in origins)
    at = latest_first[0].at if latest_first else ""
    times = {(origin.source or origin.change).at for origin in origins if origin.change}
    last = max(times, default="")
    first = min(times, default="")
    branch = find_branch(latest_first[0]) if latest_first else ""
    return Provenance(
        _JOIN.join(words), at, is_approved, len(times) > 1, names, said_at=last, first_said_at=first, branch=branch
    )


def _at(change: Change) -> str:
    return change.at


def _names(change: Change) -> list[str]:
    """Return the names by which a filter may refer to the author of a change."""
    kind = kind_of_origin(change.origin)
    if not change.tool:
        return [OUTSIDE]
    if kind in ("import", "person"):
        return [kind]
    agent = "" if names_origin(change.agent) else change.agent
    return [name for name in (agent, "token" if kind in ("token", "agent-token") else "") if name]
