"""The bulk verbs of the backend kept in memory: snapshots, and batches written entirely or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import CommonplaceError, StaleVersion
from ..formats.timestamps import format_timestamp
from ..model import Clock
from ..storage.base import HISTORY_FOLDER, Paths, Root, Sentences
from ..storage.bulk import (
    PRIVATE_MODE,
    IncomingPage,
    PageBatch,
    Snapshot,
    Spool,
    SpooledFile,
    WriteProgress,
    any_covers,
    find_untracked,
    ignore_progress,
    is_history_file,
    missing_versions,
)
from ..storage.file_locks import slot_of
from ..storage.history import Line, current_write, format_line, parse_lines, rebuild_lines, replay, version_of
from ..storage.names import require_inside

if TYPE_CHECKING:
    from .memory_storage import MemoryContents, MemoryHistory


class MemoryBulk:
    """Many pages at once: under one lock, so that a batch is written entirely or not at all."""

    def __init__(self, contents: MemoryContents, history: MemoryHistory, clock: Clock) -> None:
        self._contents = contents
        self._history = history
        self._clock = clock

    @contextmanager
    def snapshot(self, roots: Sequence[Root], base: str, *, history: bool) -> Iterator[Snapshot]:
        others: Paths = []
        with Spool() as spool:
            files: dict[str, SpooledFile] = {}
            with self._contents.lock:
                for path, (data, written_at) in self._contents.pages.items():
                    if any_covers(roots, path):
                        files[path] = spool.add(PRIVATE_MODE, int(written_at * 10**9), [data])
                    else:
                        others.append(path)
                for path, data in self._history_files().items() if history else ():
                    files[path] = spool.add(PRIVATE_MODE, 0, [data])
            prefix = f"{base}/" if base else ""
            names = (path.removeprefix(prefix).partition("/")[0] for path in others if path.startswith(prefix))
            yield Snapshot(dict(sorted(files.items())), spool, 0.0, find_untracked(names, roots, base), ())

    def list_versions(self, roots: Sequence[Root]) -> tuple[dict[str, str], Sentences]:
        with self._contents.lock:
            pages = {path: data for path, (data, _) in self._contents.pages.items() if any_covers(roots, path)}
        return {path: version_of(data) for path, data in pages.items()}, []

    def version_lookup(self) -> Callable[[str], str]:
        history = self._history_files()

        def look_up(path: str) -> str:
            if is_history_file(path):
                return version_of(history.get(path))
            require_inside(path)
            return version_of(self.read(path)[0])

        return look_up

    def read(self, path: str) -> tuple[bytes | None, int]:
        data, written_at = self._contents.pages.get(path, (None, 0.0))
        return data, int(written_at * 10**9)

    def put(
        self, batch: PageBatch, *, skip_failed: bool = False, progress: WriteProgress = ignore_progress
    ) -> dict[str, CommonplaceError]:
        pages = [page for page in batch.pages if not is_history_file(page.path)]
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

    def _put_page(self, page: IncomingPage, current: str, spool: Spool) -> None:
        data = None if page.file is None else spool.read(page.file)
        known = [change.version for change in self._history.changes(page.path)]
        if page.history is not None:
            now = format_timestamp(self._clock())
            self._contents.versions += missing_versions(page, known, current, data, now)
        elif current != page.version and known[-1:] != [page.version]:
            self._history.record_change(page.path, None, data, current_write().author)
        if data is None:
            self._contents.pages.pop(page.path, None)
        elif page.file and current != page.version:
            self._contents.pages[page.path] = (data, page.file.modified / 10**9)

    def _add_history(self, batch: PageBatch) -> None:
        """Add the versions in an archive's history files that are not known yet."""
        known = {(change.id, change.path, change.version) for change in self._history.changes()}
        for page in batch.pages:
            if is_history_file(page.path) and page.file:
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
        """An import is written at once, so none is ever continued."""
        yield ""
