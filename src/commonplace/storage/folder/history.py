"""Earlier versions of every page: what it said, who changed it, when and why.

One file a slot: the slots of the page locks, so that whoever writes a page already keeps others off its history. A
version is one line (`versions.py`), in the order they came. Nothing is waited for: after a power cut the last seconds
of history may be missing, never a page.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ...errors import NotFound
from ...formats.timestamps import format_timestamp
from ...model import Clock
from ..base import ABSENT, Head, Retention
from ..file_locks import lock_slot, slot_of
from ..files import APPEND_FLAGS, make_folders, read_bytes_or_none, write_all, write_file
from ..history import (
    Author,
    Change,
    ChooseVersions,
    Line,
    Versions,
    as_text,
    find_version,
    format_line,
    id_in_slot,
    keep_since,
    make_line,
    oldest_that_fits,
    parse_line,
    parse_lines,
    rebuild_lines,
    replay,
    replay_sizes,
    version_of,
)
from ..merge import omits_changes

_TAIL = 1 << 16  # bytes: a page that was written lately is found at the end
_SINCE_OPENED = timedelta(minutes=10)
HAND = Author(tool="")
SLOTS = 256  # files


class _Known(NamedTuple):
    """What was read of a slot: good as long as nobody else wrote to it."""

    file: tuple[int, int]
    heads: dict[str, Head]


def slot_bytes(retention: Retention) -> int:
    """Return how large one file may grow; a full one loses its older half."""
    return max(1 << 18, retention.size // SLOTS)


class FolderHistory:
    """The methods that write are called by who holds the lock of the page; the others take it where they must."""

    def __init__(self, folder: str, locks: str, clock: Clock, retention: Retention | None = None) -> None:
        self._folder = folder
        self._locks = locks
        self._clock = clock
        self._retention = retention or Retention()
        self._slot_bytes = slot_bytes(self._retention)
        self._known: dict[str, _Known] = {}

    def record_outside_edit(self, path: str, data: bytes | None, saved: float | None = None) -> Change | None:
        """Keep what stands there, if it is not what was last known: a hand was at it."""
        head = self.head(path)
        if version_of(data) == (head.version if head else ABSENT):
            return None
        now = self._clock()
        at = now if saved is None or not 0 < saved < now.timestamp() else datetime.fromtimestamp(saved, UTC)
        moment = max(format_timestamp(at), head.at) if head else format_timestamp(at)
        why = self._left_out(path, data, now) if head and data is not None and head.by.tool else ""
        return self._add(path, None, data, HAND._replace(why=why), moment, head)

    def record_change(self, path: str, old: bytes | None, new: bytes | None, by: Author) -> Change:
        """Keep what a page became. `old` was noticed before."""
        return self._add(path, old, new, by, format_timestamp(self._clock()), self.head(path))

    def bring(self, path: str, made: Versions) -> None:
        """Keep versions that were made elsewhere, after those that are here, with their times and authors."""
        slot = slot_of(path)
        kept = rebuild_lines((change._replace(id=id_in_slot(slot, change.id)), data) for change, data in made)
        if kept:
            self._current(slot)
            last = kept[-1]
            by = Author(*(getattr(last.change, name) for name in Author._fields))
            head = Head(last.change.version, last.depth, by, last.change.at)
            self._append(slot, b"".join(map(format_line, kept)), path, head)

    def _left_out(self, path: str, data: bytes, now: datetime) -> str:
        """Who saves what they opened some time ago may not know of what was written since: it is said, not guessed."""
        known = self.versions(path)[-2:]
        if len(known) < 2 or known[-1][0].at < format_timestamp(now - _SINCE_OPENED):
            return ""
        (_, base), (last, theirs) = known
        return f"left out what {last.by} wrote" if omits_changes(as_text(base), as_text(theirs), as_text(data)) else ""

    def head(self, path: str) -> Head | None:
        slot = slot_of(path)
        known = self._current(slot)
        if path not in known.heads:
            head = self._look_up(slot, path)
            if head is None:
                return None
            known.heads[path] = head
        return known.heads[path]

    def changes(self, path: str | None = None) -> list[Change]:
        """All changes, of one page or of every page, oldest first."""
        if path is not None:
            return [line.change for line in self._lines(path)]
        every = (line.change for slot in self._slots() for line in parse_lines(self._raw(slot)))
        return sorted(every, key=lambda change: change.at)

    def page_sizes(self) -> list[tuple[Change, int]]:
        every = (each for slot in self._slots() for each in replay_sizes(parse_lines(self._raw(slot))))
        return sorted(every, key=lambda each: each[0].at)

    def change(self, name: str) -> Change:
        """A change by its id, or the beginning of it."""
        found = [each for slot in self._slots() if slot.startswith(name[:2]) for each in self._in_slot(slot, name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFound(f"{name} is the beginning of {len(found)} changes: give more of it")
        raise NotFound(f"there is no change {name}: `commonplace log` lists them")

    def read_version(self, path: str, version: str) -> bytes | None:
        """What a page was; None when it was not there. NotFound when history does not hold it any more."""
        return None if version == ABSENT else find_version(self._lines(path), version, path)

    def versions(self, path: str) -> Versions:
        """Every version of a page that can be made out, oldest first."""
        return list(replay(self._lines(path)))

    def iterate_pages(self) -> Iterator[tuple[str, Versions]]:
        for slot in self._slots():
            for path, some in _by_page(parse_lines(self._raw(slot))).items():
                yield path, list(replay(some))

    def paths(self) -> list[str]:
        return sorted({line.change.path for slot in self._slots() for line in parse_lines(self._raw(slot))})

    def size(self) -> int:
        """Bytes on disk."""
        return sum(os.path.getsize(self._file(slot)) for slot in self._slots())

    def prune(self, retention: Retention) -> int:
        """Let go of what is older, or more, than is to be kept; how many versions went."""
        oldest = format_timestamp(self._clock() - timedelta(days=retention.days))
        sizes = [
            (line.change.at, len(format_line(line))) for slot in self._slots() for line in parse_lines(self._raw(slot))
        ]
        return self.rewrite(keep_since(max(oldest, oldest_that_fits(sizes, retention.size))))

    def rewrite(self, choose: ChooseVersions) -> int:
        """Keep of every page only what `choose` leaves of its versions; how many went."""
        gone = 0
        for slot in self._slots():
            with lock_slot(self._locks, "page", slot, f"the history {slot}"):
                gone += self._rewrite_slot(slot, choose)
        return gone

    def _rewrite_slot(self, slot: str, choose: ChooseVersions) -> int:
        raw = self._raw(slot)
        before = list(parse_lines(raw))
        pages = _by_page(before).items()
        after = [line for path, some in pages for line in rebuild_lines(choose(path, list(replay(some))))]
        order = {line.change.id: number for number, line in enumerate(before)}
        after.sort(key=lambda line: order[line.change.id])
        data = b"".join(map(format_line, after))
        if data != raw:
            self._known.pop(slot, None)
            self._replace(slot, data)
        return len(before) - len(after)

    def _trim(self, slot: str) -> None:
        """A slot that is full loses its older half."""
        sizes = [(line.change.at, len(format_line(line))) for line in parse_lines(self._raw(slot))]
        oldest = format_timestamp(self._clock() - timedelta(days=self._retention.days))
        self._rewrite_slot(slot, keep_since(max(oldest, oldest_that_fits(sizes, self._slot_bytes // 2))))

    def _replace(self, slot: str, data: bytes) -> None:
        if data:
            write_file(self._file(slot), data)
        else:
            os.unlink(self._file(slot))

    def _add(self, path: str, old: bytes | None, new: bytes | None, by: Author, at: str, head: Head | None) -> Change:
        slot = slot_of(path)
        before = head.version if head else ABSENT
        file, _ = self._current(slot)
        said = f"{at} {path} {file[1]}"
        name = slot + hashlib.blake2b(said.encode(), digest_size=4).hexdigest()
        change = Change(name, at, path, version_of(new), before, *by)
        depth = head.depth if head and version_of(old) == before else -1
        line = make_line(change, old, new, depth)
        self._append(slot, format_line(line), path, Head(change.version, line.depth, by, at))
        return change

    def _append(self, slot: str, data: bytes, path: str, head: Head) -> None:
        known = self._known.pop(slot)
        try:
            handle = os.open(self._file(slot), APPEND_FLAGS, 0o600)
        except FileNotFoundError:
            make_folders(self._folder)
            handle = os.open(self._file(slot), APPEND_FLAGS, 0o600)
        try:
            write_all(handle, data)
            info = os.fstat(handle)
        finally:
            os.close(handle)
        known.heads[path] = head
        self._known[slot] = _Known((info.st_ino, info.st_size), known.heads)
        if info.st_size > self._slot_bytes:
            self._trim(slot)

    def _current(self, slot: str) -> _Known:
        """What is known of a slot, without what may not be so any more."""
        try:
            info = os.stat(self._file(slot))
            file = (info.st_ino, info.st_size)
        except FileNotFoundError:
            file = (0, 0)
        known = self._known.get(slot)
        if known is None or known.file != file:
            known = self._known[slot] = _Known(file, {})
        return known

    def _look_up(self, slot: str, path: str) -> Head | None:
        """The last line of a page: near the end, as a rule."""
        raw = self._raw(slot, _TAIL)
        line = _last(raw, path)
        if line is None and len(raw) >= _TAIL:
            line = _last(self._raw(slot), path)
        if line is None:
            return None
        change = line.change
        by = Author(change.tool, change.agent, change.session, change.why, change.call)
        return Head(change.version, line.depth, by, change.at)

    def _lines(self, path: str) -> list[Line]:
        return [line for line in parse_lines(self._raw(slot_of(path))) if line.change.path == path]

    def _in_slot(self, slot: str, name: str) -> Iterator[Change]:
        return (line.change for line in parse_lines(self._raw(slot)) if line.change.id.startswith(name))

    def _raw(self, slot: str, most: int = 0) -> bytes:
        if not most:
            return read_bytes_or_none(self._file(slot), slot) or b""
        try:
            with open(self._file(slot), "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - most))
                return file.read()
        except FileNotFoundError:
            return b""

    def _slots(self) -> list[str]:
        """Those that have history."""
        try:
            names = set(os.listdir(self._folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [slot for number in range(SLOTS) if f"{(slot := f'{number:02x}')}.jsonl" in names]

    def _file(self, slot: str) -> str:
        return os.path.join(self._folder, f"{slot}.jsonl")


def _by_page(some: Iterable[Line]) -> dict[str, list[Line]]:
    pages: dict[str, list[Line]] = {}
    for line in some:
        pages.setdefault(line.change.path, []).append(line)
    return pages


def _last(raw: bytes, path: str) -> Line | None:
    """The last whole line of a page in some bytes of history. Quotes inside of text are escaped: this finds fields."""
    field = f'"path":{json.dumps(path, ensure_ascii=False)},'.encode()
    at = len(raw)
    while (at := raw.rfind(field, 0, at)) >= 0:
        start, end = raw.rfind(b"\n", 0, at) + 1, raw.find(b"\n", at)
        line = parse_line(raw[start:end]) if start and end >= 0 else None
        if line:
            return line
    return None
