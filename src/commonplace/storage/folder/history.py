"""History as files: one per slot of the page locks, so that whoever writes a page already holds its history's lock.

A version is one line, in the order they were made. Nothing is synced: after a power cut the last seconds of history
may be missing, never a page.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ...formats.timestamps import format_timestamp
from ...model import Clock
from ..base import ABSENT, Head, HistoryStore, Retention
from ..file_locks import lock_slot, slot_of
from ..files import (
    APPEND_FLAGS,
    NO_FOLLOW,
    READ_FLAGS,
    make_folders,
    open_own_entry,
    read_and_close,
    storage_errors,
    write_all,
    write_file,
)
from ..history import (
    Author,
    Change,
    ChooseVersions,
    Line,
    PastPage,
    Versions,
    as_text,
    describe_past_page,
    find_version,
    format_line,
    id_in_slot,
    keep_since,
    make_line,
    needs_approval,
    newest_lines,
    oldest_that_fits,
    parse_line,
    parse_lines,
    rebuild_lines,
    replay,
    replay_sizes,
    require_one,
    version_of,
)
from ..merge import omits_changes

SLOTS = 256  # files
_TAIL_BYTES = 1 << 16  # of a file are read first: recent writes are at its end
_EDITOR_OPEN_TIME = timedelta(minutes=10)  # an editor may have had a page open this long before it saved
_OUTSIDE = Author(tool="")
# A line up to what was stored: its beginning, the time, the page, and the other fields of the change.
_LINE_START = re.compile(rb'\n(\{"id":"[^"]*","at":"([^"]*)","path":("(?:[^"\\]|\\.)*"),.*?)"depth":')
_NOTHING_STORED = b'"depth":0,"span":null,"data":""}'


class _SlotCache(NamedTuple):
    """The heads read from a slot, valid as long as nobody else wrote to its file."""

    file: tuple[int, int]
    heads: dict[str, Head]


def slot_bytes(retention: Retention) -> int:
    """Return the size limit of one slot file; a full one loses its older half."""
    return max(1 << 18, retention.size // SLOTS)


class FolderHistory(HistoryStore):
    """Callers of `record_change`, `record_outside_edit` and `import_versions` hold the lock of the page."""

    def __init__(self, folder: str, locks: str, clock: Clock, retention: Retention | None = None) -> None:
        self._folder = folder
        self._locks = locks
        self._clock = clock
        self.retention: Retention | None = retention or Retention()
        self._slot_caches: dict[str, _SlotCache] = {}
        self._past_pages: tuple[object, dict[str, PastPage]] = (None, {})  # for one moment and state of the files

    def record_outside_edit(self, path: str, data: bytes | None, saved: float | None = None) -> Change | None:
        head = self.head(path)
        if version_of(data) == (head.version if head else ABSENT):
            return None
        now = self._clock()
        at = now if saved is None or not 0 < saved < now.timestamp() else datetime.fromtimestamp(saved, UTC)
        moment = max(format_timestamp(at), head.at) if head else format_timestamp(at)
        author = self._find_kept_author(path, data) if head and needs_approval(head.by.origin) else None
        if author is None:
            why = self._describe_omission(path, data, now) if head and data is not None and head.by.tool else ""
            author = _OUTSIDE._replace(why=why)
        return self._add(path, None, data, author, moment, head)

    def _find_kept_author(self, path: str, data: bytes | None) -> Author | None:
        """Return the author of the version that a page still has, if its latest one was recorded but never written,
        because the process died in between."""
        before = [line.change for line in self._lines(path)][-2:-1]
        return before[0].author if before and data is not None and before[0].version == version_of(data) else None

    def record_change(self, path: str, old: bytes | None, new: bytes | None, by: Author) -> Change:
        """Record what a page became; `old` is recorded already."""
        return self._add(path, old, new, by, format_timestamp(self._clock()), self.head(path))

    def import_versions(self, path: str, versions: Versions) -> None:
        """Append versions that were made elsewhere, with their times and authors."""
        slot = slot_of(path)
        lines = rebuild_lines((change._replace(id=id_in_slot(slot, change.id)), data) for change, data in versions)
        if lines:
            self._open_cache(slot)
            last = lines[-1]
            head = Head(last.change.version, last.depth, last.change.author, last.change.at)
            self._append(slot, b"".join(format_line(self._mark(line)) for line in lines), path, head)

    def _describe_omission(self, path: str, data: bytes, now: datetime) -> str:
        """Describe a save that drops recent writes: its author may have opened the page before them."""
        known = self.versions(path)[-2:]
        if len(known) < 2 or known[-1][0].at < format_timestamp(now - _EDITOR_OPEN_TIME):
            return ""
        (_, base), (last, theirs) = known
        return f"left out what {last.by} wrote" if omits_changes(as_text(base), as_text(theirs), as_text(data)) else ""

    def head(self, path: str) -> Head | None:
        slot = slot_of(path)
        cache = self._open_cache(slot)
        if path not in cache.heads:
            head = self._read_head(slot, path)
            if head is None:
                return None
            cache.heads[path] = head
        return cache.heads[path]

    def changes(self, path: str | None = None) -> list[Change]:
        if path is not None:
            return [line.change for line in self._lines(path)]
        every = (line.change for slot in self._slots() for line in self._read(slot, self._raw(slot)))
        return sorted(every, key=lambda change: change.at)

    def past_pages(self, moment: str) -> dict[str, PastPage]:
        """Return what each page that changed after a moment was then. Only the start of each line is parsed."""
        slots = self._slots()
        source = (moment, *self._stat_slots(slots))
        if self._past_pages[0] != source:
            pages = [page for slot in slots for page in _find_past_pages(self._raw(slot), moment.encode())]
            self._past_pages = (source, dict(pages))
        return self._past_pages[1]

    def _stat_slots(self, slots: Iterable[str]) -> Iterator[tuple[int, int]]:
        for slot in slots:
            info = os.lstat(self._file(slot))
            yield info.st_ino, info.st_size

    def page_sizes(self) -> list[tuple[Change, int]]:
        every = (each for slot in self._slots() for each in replay_sizes(self._read(slot, self._raw(slot))))
        return sorted(every, key=lambda each: each[0].at)

    def change(self, name: str) -> Change:
        matches = [each for slot in self._slots() if slot.startswith(name[:2]) for each in self._find_ids(slot, name)]
        return require_one(name, matches)

    def read_version(self, path: str, version: str) -> bytes | None:
        return None if version == ABSENT else find_version(self._lines(path), version, path)

    def versions(self, path: str, newest: int | None = None) -> Versions:
        lines = self._lines(path)
        return list(replay(lines)) if newest is None else list(replay(newest_lines(lines, newest)))[-newest:]

    def lines(self, path: str, newest: int) -> list[Line]:
        return newest_lines(self._lines(path), newest)

    def stamps(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the size and time of each page's slot as its stamp. The writers' cache of heads is not touched."""
        stamps: dict[str, str] = {}
        for path in paths:
            with suppress(OSError):
                info = os.lstat(self._file(slot_of(path)))
                stamps[path] = f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}"
        return stamps

    def iterate_pages(self) -> Iterator[tuple[str, Versions]]:
        for slot in self._slots():
            for path, lines in _group_by_page(self._read(slot, self._raw(slot))).items():
                yield path, list(replay(lines))

    def paths(self) -> list[str]:
        return sorted({line.change.path for slot in self._slots() for line in parse_lines(self._raw(slot))})

    def size(self) -> int:
        """Return the bytes on disk."""
        return sum(os.lstat(self._file(slot)).st_size for slot in self._slots())

    def prune(self, retention: Retention) -> int:
        oldest = format_timestamp(self._clock() - timedelta(days=retention.days))
        sizes = [
            (line.change.at, len(format_line(line))) for slot in self._slots() for line in parse_lines(self._raw(slot))
        ]
        return self.rewrite(keep_since(max(oldest, oldest_that_fits(sizes, retention.size))))

    def rewrite(self, choose: ChooseVersions) -> int:
        dropped = 0
        for slot in self._slots():
            with lock_slot(self._locks, "page", slot, f"the history {slot}"):
                dropped += self._rewrite_slot(slot, choose)
        return dropped

    def _rewrite_slot(self, slot: str, choose: ChooseVersions) -> int:
        raw = self._raw(slot)
        before = list(parse_lines(raw))
        pages = _group_by_page(before).items()
        after = [line for path, lines in pages for line in rebuild_lines(choose(path, list(replay(lines))))]
        marks = {line.change.id: line.mark for line in before}
        after = [line._replace(mark=marks[line.change.id]) for line in after]
        order = {line.change.id: number for number, line in enumerate(before)}
        after.sort(key=lambda line: order[line.change.id])
        data = b"".join(map(format_line, after))
        if data != raw:
            self._slot_caches.pop(slot, None)
            self._replace(slot, data)
        return len(before) - len(after)

    def _trim(self, slot: str, path: str) -> None:
        """Drop the older half of a full slot. The latest change of `path` can still be undone."""
        retention = self.retention or Retention()
        sizes = [(line.change.at, len(format_line(line))) for line in parse_lines(self._raw(slot))]
        oldest = format_timestamp(self._clock() - timedelta(days=retention.days))
        keep = keep_since(max(oldest, oldest_that_fits(sizes, slot_bytes(retention) // 2)))

        def choose(page: str, versions: Versions) -> Iterable[tuple[Change, bytes | None]]:
            kept_versions = list(keep(page, versions))
            return versions[-2:] if page == path and len(kept_versions) < 2 else kept_versions

        self._rewrite_slot(slot, choose)

    def _replace(self, slot: str, data: bytes) -> None:
        with open_own_entry(self._file(slot)) as (name, dir_fd):
            if data:
                write_file(name, data, dir_fd=dir_fd)
            else:
                os.unlink(name, dir_fd=dir_fd)

    def _add(self, path: str, old: bytes | None, new: bytes | None, by: Author, at: str, head: Head | None) -> Change:
        slot = slot_of(path)
        before = head.version if head else ABSENT
        file, _ = self._open_cache(slot)
        unique = f"{at} {path} {file[1]}"
        name = slot + hashlib.blake2b(unique.encode(), digest_size=4).hexdigest()
        change = Change(name, at, path, version_of(new), before, *by)
        depth = head.depth if head and version_of(old) == before else -1
        line = make_line(change, old, new, depth)
        self._append(slot, format_line(self._mark(line)), path, Head(change.version, line.depth, by, at))
        return change

    def _mark(self, line: Line) -> Line:
        return line._replace(mark=self.seal.mark(line.change)) if self.seal else line

    def _read(self, slot: str, raw: bytes) -> Iterator[Line]:
        """Yield the lines of a slot as far as their word counts. None is from after the file was last written to."""
        if not self.seal or self.seal.vouches_for_all:
            return parse_lines(raw)
        with suppress(OSError):
            moment = min(os.lstat(self._file(slot)).st_mtime, self._clock().timestamp())
            latest = format_timestamp(datetime.fromtimestamp(moment, UTC))
            return (self.seal.read(line, latest) for line in parse_lines(raw))
        return iter(())

    def _append(self, slot: str, data: bytes, path: str, head: Head) -> None:
        cache = self._slot_caches.pop(slot)
        try:
            handle = self._open(slot, APPEND_FLAGS)
        except FileNotFoundError:
            make_folders(self._folder)
            handle = self._open(slot, APPEND_FLAGS)
        try:
            write_all(handle, data)
            info = os.fstat(handle)
        finally:
            os.close(handle)
        cache.heads[path] = head
        self._slot_caches[slot] = _SlotCache((info.st_ino, info.st_size), cache.heads)
        limits = self.retention
        if limits and info.st_size > slot_bytes(limits) and self.size() > limits.size:
            self._trim(slot, path)

    def _open_cache(self, slot: str) -> _SlotCache:
        """Return the cache of a slot, emptied if somebody else wrote to its file."""
        try:
            info = os.lstat(self._file(slot))
            file = (info.st_ino, info.st_size)
        except FileNotFoundError:
            file = (0, 0)
        cache = self._slot_caches.get(slot)
        if cache is None or cache.file != file:
            cache = _SlotCache(file, {})
            self._slot_caches[slot] = cache
        return cache

    def _read_head(self, slot: str, path: str) -> Head | None:
        """Read the last line of a page, which is usually near the end of the file."""
        raw = self._raw(slot, _TAIL_BYTES)
        text = _find_last_line(raw, path)
        if text is None and len(raw) >= _TAIL_BYTES:
            text = _find_last_line(self._raw(slot), path)
        line = next(self._read(slot, text), None) if text else None
        if line is None:
            return None
        return Head(line.change.version, line.depth, line.change.author, line.change.at)

    def _lines(self, path: str) -> list[Line]:
        slot = slot_of(path)
        mine = b"\n".join(_find_lines(self._raw(slot), _path_field(path)))
        return [line for line in self._read(slot, mine) if line.change.path == path]

    def _find_ids(self, slot: str, name: str) -> Iterator[Change]:
        return (line.change for line in self._read(slot, self._raw(slot)) if line.change.id.startswith(name))

    def _raw(self, slot: str, last_bytes: int = 0) -> bytes:
        with storage_errors(f"the history file {slot}.jsonl"):
            try:
                handle = self._open(slot, READ_FLAGS)
            except FileNotFoundError:
                return b""
            if not last_bytes:
                return read_and_close(handle, slot)
            with open(handle, "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - last_bytes))
                return file.read()

    def _open(self, slot: str, flags: int) -> int:
        """Open the file of a slot; OutsideHome if it or the folder is a link."""
        with open_own_entry(self._file(slot)) as entry:
            return entry.open(flags | NO_FOLLOW)

    def _slots(self) -> list[str]:
        """Return the slots that have a file."""
        try:
            names = set(os.listdir(self._folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [slot for number in range(SLOTS) if f"{(slot := f'{number:02x}')}.jsonl" in names]

    def _file(self, slot: str) -> str:
        return os.path.join(self._folder, f"{slot}.jsonl")


def _group_by_page(lines: Iterable[Line]) -> dict[str, list[Line]]:
    pages: dict[str, list[Line]] = {}
    for line in lines:
        pages.setdefault(line.change.path, []).append(line)
    return pages


def _find_past_pages(raw: bytes, moment: bytes) -> Iterator[tuple[str, PastPage]]:
    """Yield what each page of a slot that changed after a moment was then."""
    before: dict[bytes, bytes] = {}
    after: dict[bytes, bytes] = {}
    latest: dict[bytes, bytes] = {}
    for start, at, path in _LINE_START.findall(raw):
        if at <= moment:
            before[path] = start
        else:
            after.setdefault(path, start)
            latest[path] = start
    for path, start in after.items():
        later = _parse_start(start)
        last = later if latest[path] is start else _parse_start(latest[path])
        if later and last:
            yield later.path, describe_past_page(_parse_start(before.get(path, b"")), later, last.version)


def _parse_start(start: bytes) -> Change | None:
    line = parse_line(start + _NOTHING_STORED) if start else None
    return line.change if line else None


def _path_field(path: str) -> bytes:
    """Return a line's path field. Quotes inside text are escaped, so that only the field itself matches."""
    return f'"path":{json.dumps(path, ensure_ascii=False)},'.encode()


def _find_lines(raw: bytes, field: bytes) -> Iterator[bytes]:
    """Yield the lines with a field: a slot may hold the versions of many other pages, which are not split."""
    end = 0
    while (at := raw.find(field, end)) >= 0:
        end = raw.find(b"\n", at)
        end = len(raw) if end < 0 else end
        yield raw[raw.rfind(b"\n", 0, at) + 1 : end]


def _find_last_line(raw: bytes, path: str) -> bytes | None:
    """Find the last whole line of a page."""
    field = _path_field(path)
    at = len(raw)
    while (at := raw.rfind(field, 0, at)) >= 0:
        start = raw.rfind(b"\n", 0, at) + 1
        end = raw.find(b"\n", at)
        if start and end >= 0 and parse_line(raw[start:end]):
            return raw[start:end]
    return None
