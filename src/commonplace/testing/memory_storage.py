"""A third backend, kept in memory: for tests, and to prove that the storage protocol is complete."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import settings as settings_of
from ..errors import CommonplaceError, NotFound, OutsideHome, PageNotFound, SettingsError, StaleVersion
from ..formats.timestamps import format_timestamp
from ..model import Clock, Page
from ..storage import bulk
from ..storage.base import (
    ABSENT,
    BACKENDS,
    HISTORY_FOLDER,
    Backend,
    BulkStore,
    Changes,
    Head,
    HistoryStore,
    OnWrite,
    Paths,
    Retention,
    Root,
    Sentences,
    Storage,
    Suffix,
    Texts,
    TokenStore,
    ignore_write,
)
from ..storage.conflicts import ByteChange, ConflictDetector, TextPages, decode_text
from ..storage.file_locks import slot_of
from ..storage.files import PRIVATE_FILE_MODE
from ..storage.history import (
    Author,
    Change,
    ChooseVersions,
    Line,
    PastPage,
    Versions,
    current_write,
    find_past_pages,
    find_version,
    format_line,
    keep_since,
    make_line,
    oldest_that_fits,
    parse_lines,
    rebuild_lines,
    replay,
    require_one,
    version_of,
)
from ..storage.names import require_inside
from ..storage.tokens import Call, Token
from ..storage.tree import PageSize, PageTree

if TYPE_CHECKING:
    from ..index.handle import IndexHandle, OnChange, OnStart
    from ..index.sync import IndexScope


class MemoryContents:
    """What one memory holds, shared by every storage that is open on it."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[bytes, float]] = {}  # bytes and time of writing
        self.versions: Versions = []  # of all pages, oldest first
        self.tokens: dict[str, Token] = {}
        self.calls: list[Call] = []
        self.import_log: dict[str, str] = {}
        self.lock = threading.RLock()
        self.named_locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self.changed = threading.Condition(self.lock)


class MemoryPages(TextPages):
    """Pages in memory, with conflict detection and history."""

    def __init__(self, contents: MemoryContents, history: MemoryHistory, clock: Clock, on_write: OnWrite) -> None:
        super().__init__(ConflictDetector(history))
        self._contents = contents
        self._history = history
        self._clock = clock
        self._on_write = on_write

    def read(self, path: str) -> Page:
        data = self._read_at(path)
        return Page(path, decode_text(data, path), version_of(data))

    def read_bytes(self, path: str) -> bytes | None:
        require_inside(path)
        data, _ = self._contents.pages.get(path, (None, 0.0))
        return data

    def reaffirm(self, path: str, if_version: str | None = None) -> None:
        with self._contents.lock:
            data = self._read_at(path, if_version)
            self._history.record_change(path, data, data, current_write().author)

    def remove(self, path: str, if_version: str | None = None) -> None:
        with self._contents.lock:
            self._conflicts.record_change(path, self._read_at(path, if_version), None)
            del self._contents.pages[path]
            self._contents.changed.notify_all()
        self._conflicts.forget(path)
        self._on_write(path, 0)

    def _read_at(self, path: str, if_version: str | None = None) -> bytes:
        if (data := self.read_bytes(path)) is None:
            raise PageNotFound(path)
        if if_version is not None and version_of(data) != if_version:
            raise StaleVersion(path)
        return data

    def change_bytes(self, path: str, change: ByteChange) -> str:
        require_inside(path)
        with self._contents.lock:
            old = self.read_bytes(path)
            new = change(old)
            if new is None or new == old:
                self._conflicts.mark_read(path, version_of(old))
                return version_of(new)
            self._conflicts.report_lost_changes(path, old, new)
            self._conflicts.record_change(path, old, new)
            self._contents.pages[path] = (new, self._clock().timestamp())
            self._contents.changed.notify_all()
        self._conflicts.mark_read(path, version_of(new))
        self._on_write(path, len(new))
        return version_of(new)

    def find_page(self, path: str) -> PageSize | None:
        require_inside(path)
        if path not in self._contents.pages:
            return None
        data, modified_at = self._contents.pages[path]
        return PageSize(path, len(data), modified_at)

    def list_sizes(self, folder: str = "") -> Sequence[PageSize]:
        with self._contents.lock:
            paths = sorted(path for path in self._contents.pages if path.startswith(_prefix(folder)))
        return [page for path in paths if (page := self.find_page(path))]

    def has_pages_below(self, folder: str) -> bool:
        return bool(self.list_sizes(folder))

    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        start = len(_prefix(folder))
        return sorted(
            path for path in self._below(folder) if path.endswith(suffix) and (deep or "/" not in path[start:])
        )

    def find_text(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        matches: Texts = []
        warnings: Sentences = []
        for path in self.list(folder, deep=True):
            try:
                page = self.read(path)
            except CommonplaceError as error:
                warnings.append(str(error))
            else:
                if text in page.text:
                    matches.append((path, page.text))
        return matches, warnings

    def list_folders(self, folder: str) -> Paths:
        start = len(_prefix(folder))
        return sorted({path[start:].split("/")[0] for path in self._below(folder) if "/" in path[start:]})

    def modified_at(self, path: str) -> float:
        self.read(path)
        return self._contents.pages[path][1]

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        seen: dict[str, int] = {}
        for root in roots:
            paths = [root.path] if root.is_page else self.list(root.path, root.suffix, deep=True)
            matching = (path for path in paths if root.pattern is None or root.pattern.fullmatch(path))
            seen.update((path, self._stamp(path)) for path in matching if path in self._contents.pages)
        changed = {path: stamp for path, stamp in seen.items() if known.get(path) != stamp}
        return Changes(changed, tuple(path for path in known if path not in seen))

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        with self._contents.lock:
            lock = self._contents.named_locks[name]
        with lock:
            yield

    def _stamp(self, path: str) -> int:
        return int(version_of(self._contents.pages[path][0])[:15], 16)

    def _below(self, folder: str) -> Paths:
        prefix = _prefix(folder)
        with self._contents.lock:
            inside = [path for path in self._contents.pages if path.startswith(prefix)]
        return [path for path in inside if "/." not in f"/{path[len(prefix) :]}"]


def _prefix(folder: str) -> str:
    return f"{folder}/" if folder else ""


class MemoryHistory(HistoryStore):
    """Every version of every page, as it was."""

    retention: Retention | None = None

    def __init__(self, contents: MemoryContents, clock: Clock) -> None:
        self._contents = contents
        self._clock = clock

    def record_outside_edit(self, path: str, data: bytes | None, saved: float | None = None) -> Change | None:
        head = self.head(path)
        if version_of(data) == (head.version if head else ABSENT):
            return None
        return self.record_change(path, None, data, Author(tool=""))

    def record_change(self, path: str, old: bytes | None, new: bytes | None, by: Author) -> Change:
        with self._contents.lock:
            head = self.head(path)
            name = f"{len(self._contents.versions):08x}"
            before = head.version if head else ABSENT
            change = Change(name, format_timestamp(self._clock()), path, version_of(new), before, *by)
            self._contents.versions.append((change, new))
        return change

    def head(self, path: str) -> Head | None:
        changes = self.changes(path)
        if not changes:
            return None
        last = changes[-1]
        return Head(last.version, 0, last.author, last.at)

    def changes(self, path: str | None = None) -> list[Change]:
        return [change for change, _ in self._select(path)]

    def past_pages(self, moment: str) -> dict[str, PastPage]:
        return find_past_pages(self.changes(), moment)

    def page_sizes(self) -> list[tuple[Change, int]]:
        return [(change, -1 if data is None else len(data)) for change, data in self._select(None)]

    def change(self, name: str) -> Change:
        return require_one(name, [change for change in self.changes() if change.id.startswith(name)])

    def read_version(self, path: str, version: str) -> bytes | None:
        return None if version == ABSENT else find_version(self.lines(path), version, path)

    def versions(self, path: str, newest: int | None = None) -> Versions:
        return self._select(path)[-newest:] if newest else self._select(path)

    def lines(self, path: str, newest: int | None = None) -> list[Line]:
        return [make_line(change, None, data, -1) for change, data in self.versions(path, newest)]

    def stamps(self, paths: Sequence[str]) -> dict[str, str]:
        return {path: str(len(versions)) for path in paths if (versions := self._select(path))}

    def iterate_pages(self) -> Iterator[tuple[str, Versions]]:
        return ((path, self.versions(path)) for path in self.paths())

    def paths(self) -> list[str]:
        return sorted({change.path for change in self.changes()})

    def size(self) -> int:
        return sum(size for _, size in self._sizes())

    def prune(self, retention: Retention) -> int:
        oldest = format_timestamp(self._clock() - timedelta(days=retention.days))
        return self.rewrite(keep_since(max(oldest, oldest_that_fits(self._sizes(), retention.size))))

    def rewrite(self, choose: ChooseVersions) -> int:
        with self._contents.lock:
            versions_left = {
                each[0].id: each for path, versions in self.iterate_pages() for each in choose(path, versions)
            }
            before = len(self._contents.versions)
            remaining = (versions_left.get(change.id) for change, _ in self._contents.versions)
            self._contents.versions[:] = [each for each in remaining if each]
            return before - len(self._contents.versions)

    def _select(self, path: str | None) -> Versions:
        with self._contents.lock:
            return [each for each in self._contents.versions if path is None or each[0].path == path]

    def _sizes(self) -> list[tuple[str, int]]:
        return [(change.at, len(data or b"")) for change, data in self._select(None)]


class MemoryBulk:
    """Many pages at once: under one lock, so that a batch is written entirely or not at all."""

    def __init__(self, contents: MemoryContents, history: MemoryHistory, clock: Clock) -> None:
        self._contents = contents
        self._history = history
        self._clock = clock

    @contextmanager
    def snapshot(self, roots: Sequence[Root], base: str, *, history: bool) -> Iterator[bulk.Snapshot]:
        others: Paths = []
        with bulk.Spool() as spool:
            files: dict[str, bulk.SpooledFile] = {}
            with self._contents.lock:
                for path, (data, written_at) in self._contents.pages.items():
                    if bulk.any_covers(roots, path):
                        files[path] = spool.add(PRIVATE_FILE_MODE, int(written_at * 10**9), [data])
                    else:
                        others.append(path)
                for path, data in self._history_files().items() if history else ():
                    files[path] = spool.add(PRIVATE_FILE_MODE, 0, [data])
            untracked = bulk.find_untracked(bulk.names_in(base, others), roots, base)
            yield bulk.Snapshot(dict(sorted(files.items())), spool, 0.0, untracked, ())

    def list_versions(self, roots: Sequence[Root]) -> tuple[dict[str, str], Sentences]:
        with self._contents.lock:
            pages = {path: data for path, (data, _) in self._contents.pages.items() if bulk.any_covers(roots, path)}
        return {path: version_of(data) for path, data in pages.items()}, []

    def version_lookup(self) -> Callable[[str], str]:
        history = self._history_files()

        def look_up(path: str) -> str:
            if bulk.is_history_file(path):
                return version_of(history.get(path))
            require_inside(path)
            return version_of(self.read(path)[0])

        return look_up

    def read(self, path: str) -> tuple[bytes | None, int]:
        data, written_at = self._contents.pages.get(path, (None, 0.0))
        return data, int(written_at * 10**9)

    def put(
        self, batch: bulk.PageBatch, *, skip_failed: bool = False, progress: bulk.WriteProgress = bulk.ignore_progress
    ) -> dict[str, CommonplaceError]:
        pages = [page for page in batch.pages if not bulk.is_history_file(page.path)]
        with self._contents.lock:
            current = {page.path: version_of(self.read(page.path)[0]) for page in pages}
            failures: dict[str, CommonplaceError] = {
                page.path: StaleVersion(page.path)
                for page in pages
                if current[page.path] not in (page.seen, page.version)
            }
            if failures and not skip_failed:
                raise next(iter(failures.values()))
            self._add_history(batch)
            accepted = [page for page in pages if page.path not in failures]
            for page in accepted:
                self._put_page(page, current[page.path], batch.spool)
            self._contents.import_log |= batch.import_log
            self._contents.import_log |= {page.import_key: page.version for page in accepted if page.import_key}
            self._contents.changed.notify_all()
        progress(len(pages))
        return failures

    def _put_page(self, page: bulk.IncomingPage, current: str, spool: bulk.Spool) -> None:
        data = None if page.file is None else spool.read(page.file)
        known = [change.version for change in self._history.changes(page.path)]
        if page.history is not None:
            now = format_timestamp(self._clock())
            self._contents.versions += bulk.missing_versions(page, known, current, data, now)
        elif current != page.version and known[-1:] != [page.version]:
            self._history.record_change(page.path, None, data, current_write().author)
        if data is None:
            self._contents.pages.pop(page.path, None)
        elif page.file and current != page.version:
            self._contents.pages[page.path] = (data, page.file.modified / 10**9)

    def _add_history(self, batch: bulk.PageBatch) -> None:
        """Add the versions in an archive's history files that are not known yet."""
        known = {(change.id, change.path, change.version) for change in self._history.changes()}
        for page in batch.pages:
            if bulk.is_history_file(page.path) and page.file:
                by_page: dict[str, list[Line]] = defaultdict(list)
                for line in parse_lines(batch.spool.read(page.file)):
                    by_page[line.change.path].append(line)
                versions = (each for some in by_page.values() for each in replay(some))
                for change, data in versions:
                    if (change.id, change.path, change.version) not in known:
                        self._contents.versions.append((change, data))

    def _history_files(self) -> dict[str, bytes]:
        """Return history as the files in which a folder would keep it."""
        files: dict[str, bytes] = defaultdict(bytes)
        for path, versions in self._history.iterate_pages():
            files[f"{HISTORY_FOLDER}/{slot_of(path)}.jsonl"] += b"".join(map(format_line, rebuild_lines(versions)))
        return dict(files)

    def read_import_log(self) -> dict[str, str]:
        return dict(self._contents.import_log)

    @contextmanager
    def import_run(self, name: str) -> Iterator[str]:
        """Run an import under a new id: it is written at once, so none is ever resumed."""
        yield ""


class MemoryTranscript:
    """A transcript as a page of JSON lines."""

    def __init__(self, pages: MemoryPages, path: str) -> None:
        self._pages = pages
        self._path = path

    def items(self, last: int | None = None) -> list[Any]:
        try:
            lines = self._pages.read(self._path).text.splitlines()
        except PageNotFound:
            return []
        return [json.loads(line) for line in lines][-last if last else None :]

    def add(self, items: Iterable[Any]) -> None:
        lines = "".join(json.dumps(item) + "\n" for item in items)
        if lines:
            self._pages.append(self._path, lines)

    def pop(self) -> Any:
        lines: list[str] = []

        def drop_last(text: str) -> str:
            *rest, last = text.splitlines(keepends=True) or [""]
            lines.append(last)
            return "".join(rest)

        if self._pages.read_bytes(self._path) is None:
            return None
        self._pages.edit(self._path, drop_last)
        return json.loads(lines[-1]) if lines[-1] else None


class MemoryTokens(TokenStore):
    """Access tokens and the audit log, in memory."""

    tenant = ""
    is_immediate = True

    def __init__(self, contents: MemoryContents) -> None:
        self._contents = contents

    def list_tokens(self) -> list[Token]:
        return [*self._contents.tokens.values()]

    def add(self, token: Token) -> None:
        self._contents.tokens[token.id] = token

    def revoke(self, name: str, at: str) -> Token:
        with self._contents.lock:
            token = self._contents.tokens.get(name)
            if token is None:
                raise NotFound(f"there is no token {name}: `commonplace token list` shows them")
            if not token.revoked_at:
                token = self._contents.tokens[name] = token._replace(revoked_at=at)
            return token

    def record_call(self, call: Call) -> None:
        self._contents.calls.append(call)

    def recent_calls(self, last: int) -> list[Call]:
        return self._contents.calls[-max(1, last) :]


_CONTENTS: dict[str, MemoryContents] = defaultdict(MemoryContents)  # by the name of the memory


class MemoryStorage(Storage):
    """A memory that lives as long as the process; storages of the same name share what it holds."""

    local_folder = ""
    settings_check_seconds = 0.0
    pages: MemoryPages

    def __init__(self, name: str, clock: Clock, on_write: OnWrite = ignore_write) -> None:
        self.name = name
        contents = _CONTENTS[name]
        self._contents = contents
        self.cache_folder = tempfile.mkdtemp(prefix="commonplace-memory-")
        weakref.finalize(self, shutil.rmtree, self.cache_folder, ignore_errors=True)
        self.history = MemoryHistory(contents, clock)
        self.pages = MemoryPages(contents, self.history, clock, on_write)
        self.tokens = MemoryTokens(contents)
        self.tree = PageTree(self.pages)
        self._clock = clock
        self.settings_version = self.current_settings_version()
        self.settings = settings_of.load("", self.read_settings_text)

    def read_settings_text(self, path: str) -> str | None:
        try:
            data = self.pages.read_bytes(path)
        except OutsideHome as error:
            raise SettingsError(str(error)) from error
        return None if data is None else data.decode()

    def current_settings_version(self) -> object:
        return version_of(self.pages.read_bytes(settings_of.FILE))

    def read_bytes(self, path: str) -> bytes | None:
        return self.pages.read_bytes(path)

    def modified_times(self, paths: Iterable[str]) -> dict[str, float]:
        return {path: self._contents.pages[path][1] for path in paths if path in self._contents.pages}

    def page_size(self, path: str) -> int | None:
        data = self.pages.read_bytes(path)
        return None if data is None else len(data)

    def exists(self, path: str) -> bool:
        return path in self._contents.pages or bool(self.pages.list(path, "", deep=True))

    def open_transcript(self, path: str) -> MemoryTranscript:
        return MemoryTranscript(self.pages, path)

    @cached_property
    def bulk(self) -> BulkStore:
        return MemoryBulk(self._contents, self.history, self._clock)

    def open_index(self, scope: IndexScope) -> IndexHandle:
        return _open_index(self.cache_folder, self.pages, scope, self._contents)


def _open_index(folder: str, pages: MemoryPages, scope: IndexScope, contents: MemoryContents) -> IndexHandle:
    """Open a SQLite index whose watcher waits for writes instead of looking at files."""
    from ..index.handle import SqliteIndexHandle
    from ..index.watcher import PageChanges, WatchMode

    class MemoryIndexHandle(SqliteIndexHandle):
        def watch(self, stop: threading.Event, on_change: OnChange, embedding: Any, on_start: OnStart) -> None:
            known = pages.changes({}, scope.roots()).changed
            on_start(WatchMode(events=True))
            while not stop.is_set():
                with contents.changed:
                    contents.changed.wait(0.2)
                news = pages.changes(known, scope.roots())
                if not news.changed and not news.removed:
                    continue
                known = pages.changes({}, scope.roots()).changed
                self.query(lambda view: embedding.acquire(view.index) if embedding else None)
                on_change(PageChanges(tuple(sorted(news.changed)), tuple(sorted(news.removed))))

    return MemoryIndexHandle(folder, pages, scope)


class MemoryBackend(Backend):
    def open_storage(self, address: str, clock: Clock, on_write: OnWrite) -> MemoryStorage:
        return MemoryStorage(address, clock, on_write)

    def open_tokens(self, address: str) -> MemoryTokens:
        return MemoryTokens(_CONTENTS[address])


BACKEND = MemoryBackend()
BACKENDS["memory"] = __name__
