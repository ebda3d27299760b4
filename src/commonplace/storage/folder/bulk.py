"""Many pages at once in a folder: a snapshot as of one moment, and batches of files that survive a crash.

A batch is written under temporary names, synced once, and then moved into place page by page: waiting for the disk for
each file alone would take many times as long. A page gets its history together with its place, or neither.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from ...errors import CommonplaceError, OutsideHome, PageNotFound, StaleVersion
from ...formats.timestamps import format_timestamp
from ...model import Clock
from .. import bulk
from ..base import HISTORY_FOLDER, LOCKS_FOLDER, Root, Sentences
from ..file_locks import lock, lock_all
from ..files import (
    APPEND_FLAGS,
    CREATE_FLAGS,
    NO_FOLLOW,
    PRIVATE_FILE_MODE,
    READ_FLAGS,
    ConcurrentWrite,
    FileStamp,
    OpenEntry,
    Unsupported,
    read_bytes,
    read_bytes_or_none,
    read_settled,
    remove_file,
    rename_new,
    resolve_links,
    stamp_file,
    storage_errors,
    swap,
    sync_folder,
    temporary_path,
    write_all,
    write_file,
)
from ..history import current_write, version_of
from ..names import require_inside
from .git import IMPORTS_FOLDER
from .history import FolderHistory
from .tree import MAX_SYSTEM_PATH_BYTES, RootFolder

_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_BATCH_FILES = 200  # per batch: files and folders stay open until all are on disk
_MIN_FILES_TO_SYNC = 20  # from here on one sync of everything pays off
_HASH_CHARACTERS = 32
_IMPORT_LOG = f"{IMPORTS_FOLDER}/receipts"


class _Copy(NamedTuple):
    """A file in the spool. `stamp` is None if the file may change again without changing its stamp."""

    stamp: FileStamp | None
    file: bulk.SpooledFile


class FolderBulk:
    def __init__(self, folder: str, clock: Clock, history: FolderHistory) -> None:
        self._root = RootFolder(folder)
        self._locks = os.path.join(self._root.path, LOCKS_FOLDER)
        self._clock = clock
        self._history = history

    @contextmanager
    def snapshot(self, roots: Sequence[Root], base: str, *, history: bool) -> Iterator[bulk.Snapshot]:
        """Copy everything while others write; then pause them only to copy what changed meanwhile."""
        every = [*roots, Root(HISTORY_FOLDER, ".jsonl")] if history else [*roots]
        with bulk.Spool() as spool:
            copies: dict[str, _Copy] = {}
            for _ in range(2):  # the second round copies what changed during the first, which may have taken long
                copies = _copy_files(self._root, every, copies, spool, [])
            names = (entry.name for entry in _scan(os.path.join(self._root.path, base)))
            untracked = bulk.find_untracked(names, every, base)
            warnings: Sentences = []
            started = time.perf_counter()
            with _hold_writers(self._locks, warnings):
                copies = _copy_files(self._root, every, copies, spool, warnings)
            writers_waited_seconds = time.perf_counter() - started
            files = {path: copies[path].file for path in sorted(copies)}
            yield bulk.Snapshot(files, spool, writers_waited_seconds, untracked, tuple(warnings))

    def list_versions(self, roots: Sequence[Root]) -> tuple[dict[str, str], Sentences]:
        warnings: Sentences = []
        versions = {path: self._read_version(path) for path, _ in _walk(self._root.path, roots, warnings)}
        return {path: version for path, version in versions.items() if version}, warnings

    def version_lookup(self) -> Callable[[str], str]:
        return self._read_version

    def _read_version(self, path: str) -> str:
        with storage_errors(path):
            require_inside(path)
            return version_of(self._root.read_or_none(path))

    def read(self, path: str) -> tuple[bytes | None, int]:
        require_inside(path)
        with storage_errors(path):
            try:
                with self._root.open_parent(path) as place:
                    data = read_bytes(place.name, path, dir_fd=place.dir_fd)
                    return data, place.stat().st_mtime_ns
            except FileNotFoundError:  # perhaps removed just now
                return None, 0

    def put(
        self, batch: bulk.PageBatch, *, skip_failed: bool = False, progress: bulk.WriteProgress = bulk.ignore_progress
    ) -> dict[str, CommonplaceError]:
        for path, file in batch.unchanged.items():
            self._restore_earlier_time(path, file, batch.spool)
        self._log_imports(batch.import_log)
        # History that comes along has these pages already; recorded again, they would seem to have been removed before.
        is_recorded = any(
            bulk.is_history_file(path) for path in (*batch.unchanged, *(page.path for page in batch.pages))
        )
        history_first = sorted(batch.pages, key=lambda page: not bulk.is_history_file(page.path))
        failures: dict[str, CommonplaceError] = {}
        count = 0
        for pages in bulk.in_batches(history_first, _BATCH_FILES):
            failed = self._put_batch(pages, batch.spool, is_recorded=is_recorded, skip_failed=skip_failed)
            written = [page for page in pages if page.path not in failed]
            self._log_imports({page.import_key: page.version for page in written if page.import_key})
            failures |= failed
            count += len(pages)
            progress(count)
        return failures

    def _put_batch(
        self, pages: Sequence[bulk.IncomingPage], spool: bulk.Spool, *, is_recorded: bool, skip_failed: bool
    ) -> dict[str, CommonplaceError]:
        """Put pages in one batch; if that fails, one by one, so that one bad page does not stop the others."""
        try:
            self._put_together(pages, spool, is_recorded=is_recorded)
        except CommonplaceError:
            if not skip_failed:
                raise
        else:
            return {}
        failures: dict[str, CommonplaceError] = {}
        for page in pages:
            try:
                self._put_together([page], spool, is_recorded=is_recorded)
            except CommonplaceError as error:
                failures[page.path] = error
        return failures

    def _put_together(self, pages: Sequence[bulk.IncomingPage], spool: bulk.Spool, *, is_recorded: bool) -> None:
        temporaries: dict[str, OpenEntry] = {}
        with ExitStack() as stack:
            folders: dict[str, int] = {}
            places = {page.path: self._open_place(page, folders, stack) for page in pages}
            try:
                self._write_temporaries(pages, spool, places, temporaries)
                for page in pages:
                    place = places[page.path]
                    temporary = temporaries[page.path].name if page.path in temporaries else ""
                    with storage_errors(page.path), lock(self._locks, "page", page.path):
                        self._put_page(page, place, temporary, spool, is_recorded=is_recorded)
            finally:
                for each in temporaries.values():
                    with suppress(OSError):
                        os.unlink(each.name, dir_fd=each.dir_fd)
            for place in filter(None, places.values()):
                sync_folder("" if place.dir_fd is not None else os.path.dirname(place.name), dir_fd=place.dir_fd)

    def _open_place(self, page: bulk.IncomingPage, folders: dict[str, int], stack: ExitStack) -> OpenEntry | None:
        """Open the folder of a page, and keep it open until the batch is done; None if there is none."""
        require_inside(page.path)
        self._root.refuse_links(page.path)  # before anything of the batch is written
        folder, _, name = page.path.rpartition("/")
        if folder in folders:
            return OpenEntry(name, folders[folder])
        with storage_errors(page.path):
            try:
                place = stack.enter_context(self._root.open_parent(page.path, create=_must_write(page)))
            except (FileNotFoundError, NotADirectoryError):
                if _must_write(page):
                    raise
                return None
        if place.dir_fd is not None:
            folders[folder] = place.dir_fd
        return place

    def _write_temporaries(
        self,
        pages: Sequence[bulk.IncomingPage],
        spool: bulk.Spool,
        places: Mapping[str, OpenEntry | None],
        temporaries: dict[str, OpenEntry],
    ) -> None:
        """Write the files under other names, beside their places, and sync them."""
        with ExitStack() as stack:
            handles: dict[str, int] = {}
            for page in pages:
                place = places[page.path]
                if page.file is None or place is None or not _must_write(page):
                    continue
                with storage_errors(page.path):
                    temporary = temporary_path(place.name)
                    handle = os.open(temporary, CREATE_FLAGS, PRIVATE_FILE_MODE, dir_fd=place.dir_fd)
                    stack.callback(os.close, handle)
                    handles[page.path] = handle
                    temporaries[page.path] = OpenEntry(temporary, place.dir_fd)
                    for chunk in spool.read_chunks(page.file):
                        write_all(handle, chunk)
                    _set_mode_and_time(handle, temporaries[page.path], page.file, place)
            if len(handles) >= _MIN_FILES_TO_SYNC and hasattr(os, "sync"):
                os.sync()  # only a hint: each file's own fsync decides
            for path, handle in handles.items():
                with storage_errors(path):
                    os.fsync(handle)

    def _put_page(
        self, page: bulk.IncomingPage, place: OpenEntry | None, temporary: str, spool: bulk.Spool, *, is_recorded: bool
    ) -> None:
        """Put a page and its history in place. The caller holds the page's lock.

        `is_recorded`: the batch has history. A page that is the last version of its history is then not recorded again;
        any other is, since archives are not trusted and nothing else would say where it came from.
        """
        is_recorded = is_recorded and (bulk.is_history_file(page.path) or self._ends_history(page))
        old = read_settled(place.name, page.path, dir_fd=place.dir_fd) if place else None
        current = version_of(old)
        if current not in (page.seen, page.version):
            raise StaleVersion(page.path)
        if current != page.version and not is_recorded and (old is not None or page.history is None):
            modified_at = place.stat().st_mtime if place and old is not None else None
            self._history.record_outside_edit(page.path, old, modified_at)
        data = None if page.file is None else spool.read(page.file)
        if page.history is not None:
            known = [change.version for change in self._history.changes(page.path)]
            versions = bulk.missing_versions(page, known, current, data, format_timestamp(self._clock()))
            self._history.import_versions(page.path, versions)
        if current == page.version or place is None:
            return
        if data is None:
            _remove_file(place, page.path, old or b"")
            return
        if page.history is None and not is_recorded:  # first: a rule without a recorded origin
            self._history.record_change(page.path, old, data, current_write().author)  # would be in force
        _move_into_place(temporary, place, page.path, old)

    def _ends_history(self, page: bulk.IncomingPage) -> bool:
        head = self._history.head(page.path)
        return head is not None and head.version == page.version

    def _restore_earlier_time(self, path: str, file: bulk.SpooledFile, spool: bulk.Spool) -> None:
        """Give a file the mode and time it had elsewhere if that time is earlier: these bytes are that old."""
        require_inside(path)
        with storage_errors(path), self._root.open_parent(path) as place:
            if place.stat().st_mtime_ns <= file.modified:
                return
            with lock(self._locks, "page", path):
                handle = place.open(READ_FLAGS | NO_FOLLOW)
                try:
                    if read_bytes_or_none(place.name, path, dir_fd=place.dir_fd) == spool.read(file):
                        _set_mode_and_time(handle, place, file, place)
                finally:
                    os.close(handle)

    def read_import_log(self) -> dict[str, str]:
        with storage_errors(IMPORTS_FOLDER):
            data = self._root.read_or_none(_IMPORT_LOG) or b""
        lines = (line.partition(" ") for line in data.decode("ascii", "ignore").split("\n"))
        return {key: version for key, _, version in lines if len(key) == len(version) == _HASH_CHARACTERS}

    def _log_imports(self, entries: Mapping[str, str]) -> None:
        """Append to the log, each entry between two line breaks: one that is cut off by a crash spoils no other."""
        if not entries:
            return
        with storage_errors(IMPORTS_FOLDER):
            self._root.make_folder(IMPORTS_FOLDER)
            handle = self._root.open(_IMPORT_LOG, APPEND_FLAGS)
            try:
                write_all(handle, "".join(f"\n{key} {version}\n" for key, version in entries.items()).encode())
            finally:
                os.close(handle)

    @contextmanager
    def import_run(self, name: str) -> Iterator[str]:
        """Run an import. One that is killed leaves a marker with its id, under which the next run continues."""
        marker = f"{IMPORTS_FOLDER}/unfinished-{name}"
        with storage_errors(IMPORTS_FOLDER):
            call = (self._root.read_or_none(marker) or b"").decode("ascii", "ignore")
            if not call.isalnum():
                call = os.urandom(5).hex()
                with self._root.open_parent(marker, create=True) as place:
                    write_file(place.name, call.encode(), dir_fd=place.dir_fd)
        yield call
        with suppress(OSError, OutsideHome):
            self._root.unlink(marker)


def _must_write(page: bulk.IncomingPage) -> bool:
    return page.file is not None and page.version != page.seen


def _set_mode_and_time(handle: int, place: OpenEntry, file: bulk.SpooledFile, existing: OpenEntry) -> None:
    """Set the mode of an open file, that of the existing one if the spool has none; and the time, last, as an import
    checks it."""
    mode = file.mode
    if not mode:
        try:
            mode = stat.S_IMODE(existing.stat().st_mode)
        except FileNotFoundError:
            mode = PRIVATE_FILE_MODE
    target = handle if os.utime in os.supports_fd and os.chmod in os.supports_fd else place.name
    os.chmod(target, mode | 0o400)
    os.utime(target, ns=(file.modified, file.modified))


def _move_into_place(temporary: str, place: OpenEntry, path: str, old: bytes | None) -> None:
    """Move a file to where `old` was; StaleVersion if somebody saved another one in the meantime."""
    if old is None:
        try:
            rename_new(temporary, place.name, dir_fd=place.dir_fd)
        except FileExistsError as error:
            raise StaleVersion(path) from error
        return
    try:
        swap(temporary, place.name, dir_fd=place.dir_fd)
    except Unsupported:
        os.replace(temporary, place.name, src_dir_fd=place.dir_fd, dst_dir_fd=place.dir_fd)
        return
    except FileNotFoundError as error:
        raise StaleVersion(path) from error
    if read_settled(temporary, path, dir_fd=place.dir_fd) != old:
        swap(temporary, place.name, dir_fd=place.dir_fd)
        raise StaleVersion(path)


def _remove_file(place: OpenEntry, path: str, old: bytes) -> None:
    try:
        remove_file(place.name, old, dir_fd=place.dir_fd)
    except ConcurrentWrite as error:
        raise StaleVersion(path) from error


@contextmanager
def _hold_writers(locks: str, warnings: Sentences) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_all(locks))
        except OSError as error:
            if error.errno not in _NOT_WRITABLE:
                with storage_errors(LOCKS_FOLDER):
                    raise
            # Nobody writes to a read-only disk. In a home of another user we can only read.
            if error.errno != errno.EROFS:
                reason = "pages that others are writing may be incomplete"
                warnings.append(f"writers could not be paused ({error.strerror}): {reason}")
        yield


def _copy_files(
    folder: RootFolder, roots: Iterable[Root], known: Mapping[str, _Copy], spool: bulk.Spool, warnings: Sentences
) -> dict[str, _Copy]:
    """Return every file as it is now, copying only those that changed since they were last copied."""
    copies: dict[str, _Copy] = {}
    for path, info in _walk(folder.path, roots, warnings):
        copy = known.get(path)
        if copy is None or copy.stamp is None or copy.stamp != stamp_file(info, time.time_ns()):
            copy = _copy_file(folder, path, spool)
        if copy:
            copies[path] = copy
    return copies


def _copy_file(folder: RootFolder, path: str, spool: bulk.Spool) -> _Copy | None:
    try:
        with storage_errors(path), open(folder.open(path, READ_FLAGS), "rb", buffering=0) as file:
            info = os.fstat(file.fileno())
            now_ns = time.time_ns()
            if not stat.S_ISREG(info.st_mode):
                return None
            chunks = iter(lambda: file.read(bulk.CHUNK_BYTES), b"")
            spooled = spool.add(stat.S_IMODE(info.st_mode) & 0o777, info.st_mtime_ns, chunks)
    except (PageNotFound, OutsideHome):  # removed since it was listed, or a link now
        return None
    return _Copy(stamp_file(info, now_ns), spooled)


def _walk(top: str, roots: Iterable[Root], warnings: Sentences) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every file of memory below a folder once. Anything but a regular file with a usable name gets a warning."""
    seen: set[str] = set()
    for root in roots:
        for path, info in _walk_root(top, root, warnings):
            if path not in seen and bulk.covers(root, path):
                seen.add(path)
                if problem := _file_problem(path, info):
                    warnings.append(f"{path!a} {problem}: left out")
                else:
                    yield path, info


def _file_problem(path: str, info: os.stat_result) -> str:
    if stat.S_ISLNK(info.st_mode):
        return "is a link"
    return bulk.path_problem(path) if stat.S_ISREG(info.st_mode) else "is not a regular file"


def _walk_root(top: str, root: Root, warnings: Sentences) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything that is not a folder, links included, which are not followed."""
    file_path = os.path.join(top, root.path) if root.path else top
    folder = os.path.dirname(file_path) if root.is_page else file_path
    if resolve_links(folder) != folder:
        if os.path.lexists(file_path):
            warnings.append(f"{root.path!a} is a link, or lies behind one: left out")
        return
    if root.is_page:
        with suppress(FileNotFoundError, NotADirectoryError):
            yield root.path, os.lstat(file_path)
        return
    folders = [root.path]
    while folders:
        folder = folders.pop()
        if len(os.fsencode(top)) + len(os.fsencode(folder)) + 1 >= MAX_SYSTEM_PATH_BYTES:
            warnings.append(f"{folder!a} has too long a path to be read: left out")
            continue
        with storage_errors(folder or top):
            for entry in _scan(os.path.join(top, folder)):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith("."):
                        folders.append(path)
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # removed just now
                    continue
                yield path, info


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
