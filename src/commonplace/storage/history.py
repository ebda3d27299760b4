"""History: every version of a page with its author and origin, as one line each: whole, or a delta of the line before.

A version is named by the hash of its bytes; what no longer has that hash is not trusted. The backends store the lines;
how lines are made and read, and which are kept, is the same for all of them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from ..caching import cache_within
from ..errors import NotFound

ABSENT = ""  # the version of a page that does not exist
MAX_DELTA_DEPTH = 50  # lines to replay for a version
_MAX_DELTA_RATIO = 0.5  # if more of the page changed, the version is stored whole
_MAX_EDIT_BYTES = 64_000_000  # of edits held in memory at once
_MAX_VERSION_BYTES = 64_000_000  # that one line may store: a few bytes can claim to be gigabytes
_COMPARED_BYTES = 1 << 16  # bytes compared at a time when two versions are compared
_RENAMED_FROM = "renamed from "
_RENAMED_TO = "renamed to "


class Author(NamedTuple):
    """Who writes, with `session` and `why` if they are known. All changes of one call share the id `call`.

    `origin` says how the write came, and is set by the program alone: empty for the owner's own process, or
    `branch:NAME` if that was on a git branch; else one of `ORIGINS`, with a detail after a colon.
    """

    tool: str = "library"
    agent: str = ""
    session: str = ""
    why: str = ""
    call: str = ""
    origin: str = ""


# How a write came: over HTTP with a token (`token:ID`), with one that is for single agents alone
# (`agent-token:ID`), from an import (`import:SOURCE`), or from a person in the web page.
ORIGINS = ("token", "agent-token", "import", "person")
UNAPPROVED_ORIGINS = ("agent-token", "import")
_BRANCH = "branch"
APPROVE = "approve"  # the tool of an approval by a person
EDIT = "edit"  # the tool of a caller that writes a whole page, such as a person in the web page
RETURNING = ("undo", "restore")  # tools that write what was there before, which nobody may have read again
_PLAIN_WORD = re.compile(r"[\w.@:/-]+(?: [\w.@:/-]+)*")
_PLAIN_AGENT = re.compile(r"[\w.@:/~-]+")
OUTSIDE = "outside"  # the author of what an editor, git or another program wrote
_NO_AGENTS = frozenset((OUTSIDE, "person", *ORIGINS))  # names that say how a change came


class PageEdit(NamedTuple):
    """A page before and after a write. For appended text, `before` is empty."""

    path: str
    before: str
    after: str


class WriteContext:
    """A call in progress: its author, what it wrote, and the conflicts and warnings to report when it is done."""

    def __init__(self, author: Author) -> None:
        self.author = author
        self.edits: list[PageEdit] = []
        self.replaced = ""  # the text of the page that was replaced last
        self.conflicts: list[str] = []
        self.warnings: list[str] = []
        self.is_counted = False  # against a quota
        # Called with each edit of a page before it is stored; returns whether it sent a question along with it.
        self.look_ahead: Callable[[PageEdit], bool] | None = None
        self.has_looked_ahead = False

    def note_edit(self, place: int, edit: PageEdit) -> None:
        """Note an edit as the one at a place, in which a change that is retried replaces what it noted before."""
        self.edits[place:] = [edit]
        if self.look_ahead and self.look_ahead(edit):
            self.has_looked_ahead = True

    def stop_looking_ahead(self) -> bool:
        """Send no more questions along with edits; return whether any was sent."""
        self.look_ahead = None
        return self.has_looked_ahead


_current: ContextVar[WriteContext | None] = ContextVar("write_context", default=None)
_origin: ContextVar[str] = ContextVar("write_origin", default="")


@contextmanager
def coming_from(origin: str) -> Iterator[None]:
    """Set the origin of every call inside the block: see `ORIGINS`."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def current_origin() -> str:
    return _origin.get()


@contextmanager
def write_as(author: Author) -> Iterator[WriteContext]:
    """Make `author` the author of every write inside the block."""
    context = WriteContext(author._replace(call=author.call or os.urandom(5).hex()))
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


def current_write() -> WriteContext:
    """Return the context of the call in progress, or an anonymous one."""
    return _current.get() or WriteContext(Author())


class Change(NamedTuple):
    """A page became another: the version before and after, and who did it. An empty version is an absent page."""

    id: str
    at: str
    path: str
    version: str
    before: str
    tool: str = ""  # empty for a change made outside of this program
    agent: str = ""
    session: str = ""
    why: str = ""
    call: str = ""  # the same for all pages that one call changed
    origin: str = ""

    @property
    def author(self) -> Author:
        return Author(*(getattr(self, name) for name in Author._fields))

    @property
    def by(self) -> str:
        """Return the author in words."""
        return describe_author(self.author)


def kind_of_origin(origin: str) -> str:
    """Return which of `ORIGINS` an origin is; empty for the owner's own process."""
    kind = origin.partition(":")[0]
    return "" if kind == _BRANCH else kind


def make_branch_origin(branch: str) -> str:
    """Return the origin of what the owner's own process writes on a git branch; empty for none."""
    return f"{_BRANCH}:{branch}" if branch else ""


def find_branch(change: Change) -> str:
    """Return the git branch on which a change was made; empty for a default branch, and where none is known."""
    kind, _, detail = change.origin.partition(":")
    return detail if kind == _BRANCH else ""


def needs_approval(origin: str) -> bool:
    """Return whether a rule of this origin waits for a person's approval."""
    return kind_of_origin(origin) in UNAPPROVED_ORIGINS


def describe_author(author: Author) -> str:
    """Return an author in words, such as `main (remember)`; `outside` for an editor, git or another program."""
    kind = kind_of_origin(author.origin)
    detail = _quote_word(author.origin.partition(":")[2])
    if not author.tool:
        return OUTSIDE
    if kind == "import":
        return f"import ({detail})" if detail else "import"
    name = "a person" if kind == "person" else _quote_agent(author.agent)
    tool = _quote_word(author.tool)
    words = f"{name} ({tool})" if name else tool
    return f"{words}, token {detail}" if kind in ("token", "agent-token") else words


def describe_rename(*, old: str = "", new: str = "") -> str:
    """Return the reason of the change of a page that another program renamed: where it was, or where it is now."""
    return f"{_RENAMED_FROM}{old}" if old else f"{_RENAMED_TO}{new}"


def find_old_path(change: Change) -> str:
    """Return where a page was before another program renamed it; empty if the change says nothing of it."""
    is_outside = not change.tool and not change.origin and change.before == ABSENT
    return change.why.removeprefix(_RENAMED_FROM) if is_outside and change.why.startswith(_RENAMED_FROM) else ""


def find_new_path(change: Change) -> str:
    """Return where a page is since another program renamed it; empty if the change says nothing of it."""
    is_outside = not change.tool and not change.origin and change.version == ABSENT
    return change.why.removeprefix(_RENAMED_TO) if is_outside and change.why.startswith(_RENAMED_TO) else ""


def _quote_agent(name: str) -> str:
    """Return the name of an agent, in quotes if it could be read as something else, such as `a person`."""
    is_plain = not name or (_PLAIN_AGENT.fullmatch(name) and not names_origin(name))
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _quote_word(word: str) -> str:
    """Return the name of a tool, a token or an import, in quotes if it could be read as more than that."""
    return word if not word or _PLAIN_WORD.fullmatch(word) else json.dumps(word, ensure_ascii=False)


def names_origin(name: str) -> bool:
    """Return whether a name says how a change came, and is not an agent's."""
    return name.casefold() in _NO_AGENTS


Versions = list[tuple[Change, bytes | None]]  # the versions of a page with their bytes; None: the page was removed
ChooseVersions = Callable[[str, Versions], Iterable[tuple[Change, bytes | None]]]


class PastPage(NamedTuple):
    """A page that changed after a moment, as of that moment.

    `version`: the one it had, ABSENT if it did not exist, None if history does not reach back that far. `later` and
    `latest`: the first and the last version after the moment.
    """

    version: str | None
    at: str  # when that version was written; empty if there is none
    later: str
    latest: str


class Line(NamedTuple):
    """A change and how its new version is stored. `depth`: how many lines before it must be replayed first."""

    change: Change
    depth: int
    span: tuple[int, int] | None  # the previous bytes that were replaced; None if the version is stored whole
    data: str
    mark: str = ""  # of who recorded it in a memory that was found: see `seal.py`


class Edit(NamedTuple):
    """A change as the bytes that it replaced. `is_next`: whether history holds the version it applies to."""

    change: Change
    start: int
    end: int
    data: bytes
    is_next: bool


@cache_within(4_000_000)  # one write asks several times for the same two versions
def version_of(data: bytes | None) -> str:
    """Return the version that names these bytes."""
    return ABSENT if data is None else hashlib.blake2b(data, digest_size=16).hexdigest()


def as_text(data: bytes | None) -> str:
    """Return a version as people read it, valid text or not; an absent one is empty."""
    return "" if data is None else data.decode("utf-8", "replace")


def find_past_pages(changes: Iterable[Change], moment: str) -> dict[str, PastPage]:
    """Return what each page that changed after a moment was then; `changes` are in the order they were made."""
    before: dict[str, Change] = {}
    after: dict[str, Change] = {}
    latest: dict[str, str] = {}
    for change in changes:
        if change.at <= moment:
            before[change.path] = change
        else:
            after.setdefault(change.path, change)
            latest[change.path] = change.version
    return {path: describe_past_page(before.get(path), change, latest[path]) for path, change in after.items()}


def describe_past_page(before: Change | None, later: Change, latest: str) -> PastPage:
    """Return what a page was before `later`; `before` is None if history has nothing earlier.

    A page first seen when another program wrote it, or when it was imported, may be older than that.
    """
    if before:
        return PastPage(before.version, before.at, later.version, latest)
    is_new = later.tool and kind_of_origin(later.origin) != "import" and later.before == ABSENT
    return PastPage(ABSENT if is_new else None, "", later.version, latest)


def make_line(change: Change, old: bytes | None, new: bytes | None, depth: int) -> Line:
    """Encode a version. `depth` is that of the line before, which holds `old`; -1 when there is none."""
    if new is None:
        return Line(change, 0, None, "")
    if old is not None and 0 <= depth < MAX_DELTA_DEPTH:
        start, end, middle = _find_difference(old, new)
        if len(middle) <= _MAX_DELTA_RATIO * len(new):
            return Line(change, depth + 1, (start, end), _compress(middle))
    return Line(change, 0, None, _compress(new))


def format_line(line: Line) -> bytes:
    """Return a line as it is stored. It begins with a line break too, so that a truncated one spoils no other."""
    fields: dict[str, Any] = {name: value for name, value in line.change._asdict().items() if value}
    if line.mark:
        fields["mark"] = line.mark
    fields |= {"depth": line.depth, "span": line.span, "data": line.data}
    return f"\n{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def parse_line(text: bytes) -> Line | None:
    """Return a line, or None for one that was truncated or is not ours."""
    try:
        fields = json.loads(text)
        span = fields.pop("span")
        depth = int(fields.pop("depth"))
        data = str(fields.pop("data"))
        mark = str(fields.pop("mark", ""))
        known = {name: value for name, value in fields.items() if name in Change._fields}
        change = Change(**{"version": ABSENT, "before": ABSENT, **known})
        return Line(change, depth, None if span is None else (int(span[0]), int(span[1])), data, mark)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def parse_lines(raw: bytes) -> Iterator[Line]:
    return (line for each in raw.split(b"\n") if each and (line := parse_line(each)))


def replay(lines: Iterable[Line]) -> Iterator[tuple[Change, bytes | None]]:
    """Yield the versions of one page in order, without those that cannot be decoded any more."""
    last: bytes | None = None
    for line in lines:
        data = _decode(line, last)
        if version_of(data) == line.change.version:
            yield line.change, data
            last = data
        else:
            last = None


def read_edits(lines: Sequence[Line]) -> list[Edit]:
    """Return what each change replaced, in order; without those that cannot be decoded any more.

    The first edit is made to an empty text. Of versions that were stored as deltas only the last is compared with its
    hash; if that is wrong, all of them are.
    """
    newest = _decompress_newest(lines)
    edits, text = _decode_edits(newest, is_checked=False)
    if edits and _version_after(edits[-1].change, text) != edits[-1].change.version:
        edits, _ = _decode_edits(newest, is_checked=True)
    return edits


def _decompress_newest(lines: Sequence[Line]) -> list[tuple[Line, bytes | None]]:
    """Return the newest lines with what they store, as many as fit into memory; the first of them is stored whole."""
    lines_with_data: list[tuple[Line, bytes | None]] = []
    size = 0
    for line in reversed(lines):
        if size > _MAX_EDIT_BYTES and lines_with_data[-1][0].span is None:
            break
        data = _decompress(line.data)
        size += len(data or b"")
        lines_with_data.append((line, data))
    return lines_with_data[::-1]


def _decode_edits(lines: Iterable[tuple[Line, bytes | None]], *, is_checked: bool) -> tuple[list[Edit], bytearray]:
    """Return the edits, and the text after them."""
    edits: list[Edit] = []
    text = bytearray()
    before = ABSENT
    is_readable = True  # whether the text is the base of the next delta
    for line, data in lines:
        edit = _decode_edit(line, data, text, before) if is_readable or line.span is None else None
        is_readable = edit is not None
        if edit is None:
            continue
        replaced = text[edit.start : edit.end]
        text[edit.start : edit.end] = edit.data
        if is_checked and _version_after(line.change, text) != line.change.version:
            text[edit.start : edit.start + len(edit.data)] = replaced
            is_readable = False
            continue
        edits.append(edit)
        before = line.change.version
    return edits, text


def _version_after(change: Change, text: bytearray) -> str:
    return version_of(None if change.version == ABSENT else bytes(text))


def _decode_edit(line: Line, data: bytes | None, text: bytearray, before: str) -> Edit | None:
    """Return what a line replaced in the text before it; None if it cannot be decoded."""
    is_next = line.change.before == before
    if line.change.version == ABSENT:
        return Edit(line.change, 0, len(text), b"", is_next)
    if data is None:
        return None
    if line.span is None:
        return Edit(line.change, *_find_difference(bytes(text), data), is_next)
    start, end = line.span
    return Edit(line.change, start, end, data, is_next) if 0 <= start <= end <= len(text) else None


def replay_sizes(lines: Iterable[Line]) -> Iterator[tuple[Change, int]]:
    """Yield changes of any pages with the page's size in bytes; -1 when it was absent or cannot be decoded."""
    sizes: dict[str, int] = {}
    for line in lines:
        size = _decode_size(line, sizes.get(line.change.path, -1))
        sizes[line.change.path] = size
        yield line.change, size


def require_one(name: str, matches: Sequence[Change]) -> Change:
    """Return the only change whose id begins with `name`; NotFound when there is none, or more than one."""
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise NotFound(f"{name} is the beginning of {len(matches)} changes: give more of it")
    raise NotFound(f"there is no change {name}: `commonplace log` lists them")


def newest_lines(lines: list[Line], count: int) -> list[Line]:
    """Return the lines to replay for the newest versions."""
    first = max(0, len(lines) - count)
    return lines[max(0, first - lines[first].depth) :] if first < len(lines) else []


def find_version(lines: list[Line], version: str, path: str) -> bytes | None:
    """Return one version of a page; NotFound when the lines no longer hold it."""
    for change, data in replay(_needed_lines(lines, version)):
        if change.version == version:
            return data
    raise NotFound(f"history no longer has this version of {path}")


def rebuild_lines(versions: Iterable[tuple[Change, bytes | None]]) -> list[Line]:
    """Encode versions as lines again, since lines they were deltas of may be gone."""
    lines: list[Line] = []
    last: bytes | None = None
    for change, data in versions:
        before = lines[-1].change.version if lines else change.before
        lines.append(make_line(change._replace(before=before), last, data, lines[-1].depth if lines else -1))
        last = data
    return lines


def id_in_slot(slot: str, name: str) -> str:
    """Return the id that a change from elsewhere has in a slot of the folder's history: it begins with the slot."""
    return name if len(name) == 10 and name.startswith(slot) else slot + name[-8:].rjust(8, "0")


def keep_since(moment: str) -> ChooseVersions:
    """Keep what is newer than a moment, and for every existing page its latest version and what shows whether that
    waits for approval."""

    def choose(_path: str, versions: Versions) -> Versions:
        ids = {change.id for change, _ in versions if change.at >= moment}
        if versions and versions[-1][1] is not None:
            changes = [change for change, _ in versions]
            ids |= {each.id for each in (changes[-1], *find_approval(changes)) if each}
        return [each for each in versions if each[0].id in ids]

    return choose


class Approval(NamedTuple):
    """The approval state of a page. `approved`: the change that was approved last; `waiting`: the last one that
    needs approval since."""

    approved: Change | None = None
    waiting: Change | None = None


def find_approval(changes: Iterable[Change]) -> Approval:
    """Return which change of a page is approved, and which waits.

    An agent that edits a proposal does not approve it; a person who writes the whole page does. What an undo brings
    back counts only if it was in force before: it may contain lines of a proposal that nobody approved.
    """
    approved: Change | None = None
    waiting: Change | None = None
    in_force: set[str] = set()
    unapproved: dict[str, Change] = {}  # proposals by their version
    for change in changes:
        if needs_approval(change.origin):
            waiting = unapproved[change.version] = change
        elif unapproved and change.tool in RETURNING and change.version not in in_force:
            waiting = [*unapproved.values()][-1]
        elif not waiting or _approves(change):
            approved = change
            waiting = None
            in_force.add(change.version)
            unapproved.pop(change.version, None)
    return Approval(approved, waiting)


def _approves(change: Change) -> bool:
    """Return whether whoever made a change has read all of the page."""
    is_written_by_person = kind_of_origin(change.origin) == "person" and change.tool == EDIT
    return change.tool in ("", APPROVE) or is_written_by_person


def oldest_that_fits(sizes: Iterable[tuple[str, int]], limit: int) -> str:
    """Return the moment from which everything fits into `limit` bytes; empty if all of it does."""
    moment = ""
    for at, size in sorted(sizes, reverse=True):
        limit -= size
        if limit < 0:
            return moment or at
        moment = at
    return ""


def _needed_lines(lines: list[Line], version: str) -> list[Line]:
    """Return the lines to replay for a version, ending with its own."""
    last = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].change.version == version), None)
    if last is None:
        return []
    return lines[max(0, last - lines[last].depth) : last + 1]


def _decode(line: Line, before: bytes | None) -> bytes | None:
    if line.change.version == ABSENT:
        return None
    data = _decompress(line.data)
    if data is None or line.span is None:
        return data
    return None if before is None else before[: line.span[0]] + data + before[line.span[1] :]


def _decode_size(line: Line, before: int) -> int:
    if line.change.version == ABSENT or (line.span and before < 0):
        return -1
    data = _decompress(line.data)
    if data is None:
        return -1
    return len(data) if line.span is None else before - (line.span[1] - line.span[0]) + len(data)


def _decompress(data: str) -> bytes | None:
    decompressor = zlib.decompressobj()
    try:
        result = decompressor.decompress(base64.b64decode(data), _MAX_VERSION_BYTES)
    except (ValueError, zlib.error):
        return None
    return result if decompressor.eof else None


def _compress(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 1)).decode()


def _find_difference(old: bytes, new: bytes) -> tuple[int, int, bytes]:
    """Return the span of the old bytes that was replaced, and the bytes that replaced it."""
    shorter = min(len(old), len(new))
    start = _common_prefix(old, new, shorter)
    same_end = _common_prefix(old[start:][::-1], new[start:][::-1], shorter - start) if start < shorter else 0
    return start, len(old) - same_end, new[start : len(new) - same_end]


def _common_prefix(one: bytes, other: bytes, limit: int) -> int:
    """Return how many bytes two texts have in common at the start, at most `limit`."""
    at = 0
    while at < limit and one[at : at + _COMPARED_BYTES] == other[at : at + _COMPARED_BYTES]:
        at += _COMPARED_BYTES
    start = min(at, limit)

    def differs(end: int) -> bool:
        return one[start:end] != other[start:end]

    return start + bisect_left(range(start + 1, min(at + _COMPARED_BYTES, limit) + 1), True, key=differs)
