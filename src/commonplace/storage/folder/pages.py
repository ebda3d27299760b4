"""Pages and transcripts as files in a folder, with atomic writes.

Every write of a page is a temporary file in the same folder, fsync, swap, fsync of the folder: a page is the old one or
the new one, never a part of either. An append is written the same way. A version is a hash of
the bytes, so that a manual edit is noticed even if neither size nor time changed. Nothing outside the home is read
or written. A page that another program renamed is known by its bytes or, if it was edited as well, by its lines.

Transcripts are files of JSON lines. Items are appended in place under the lock of the page, so that the thousandth
costs what the first did.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple

from ...errors import CommonplaceError, LockTimeout, NotText, OutsideHome, PageNotFound, StaleVersion, StorageError
from ...formats.json_text import is_unicode
from ...formats.transcripts import Reader, find_append_point, format_items, iterate_backwards, read_last
from ...model import Page
from ..base import (
    LOCKS_FOLDER,
    UNSURE,
    Changes,
    HistoryStore,
    OnWrite,
    Paths,
    PathWarnings,
    Root,
    Sentences,
    Suffix,
    Texts,
    ignore_write,
)
from ..conflicts import ByteChange, ConflictDetector, TextPages, decode_text
from ..file_locks import Kind, lock, lock_slot, slot_of
from ..files import (
    NO_FOLLOW,
    ConcurrentWrite,
    OpenEntry,
    read_settled,
    remove_file,
    replace_file,
    stamp_file,
    storage_errors,
    sync_folder,
    write_all,
)
from ..history import ABSENT, Author, describe_rename, version_of
from ..names import require_inside
from .tree import RootFolder

Files = list["os.DirEntry[str]"]
_REPLACE_ATTEMPTS = 100  # if other programs keep saving the page
_UNHURRIED_ATTEMPTS = 4  # the first attempts, which sync before the page is swapped in
MAX_COMPARED_PAGES = 50  # per side of a rename, compared line by line
_MAX_COMPARED_BYTES = 1_000_000
_MIN_COMMON_SHARE = 0.6  # of the lines must be in both pages
_MIN_COMMON_LINES = 2
_MIN_LEAD = 0.2  # over the second most similar page
_FENCE = b"---"
# Why a folder has no pages for this user: it is missing, may not be opened, or has too long a path.
_NOTHING_TO_LIST = {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}


class Rename(NamedTuple):
    """One side of a rename by another program: the page's versions before and after, and the reason for history.

    `data`: what the page had when it was renamed, before it was edited.
    """

    before: str
    after: str
    why: str
    call: str
    data: bytes | None = None


class FolderPages(TextPages):
    def __init__(self, root: str, on_write: OnWrite = ignore_write, history: HistoryStore | None = None) -> None:
        """Open the pages of a folder. `on_write` is called for every page written, once it is safe on disk.

        Without a `history` earlier versions are not kept.
        """
        super().__init__(ConflictDetector(history))
        self._on_write = on_write
        self.root = os.path.abspath(root)
        self._top = RootFolder(root)

    def read(self, path: str) -> Page:
        require_inside(path)
        with storage_errors(path):
            data = self._top.read(path)
        return Page(path, decode_text(data, path), version_of(data))

    def change_bytes(self, path: str, change: ByteChange) -> str:
        require_inside(path)
        with storage_errors(path), self._lock("page", path):
            old = self._read_settled(path)
            new = change(old)
            is_same = new == old
            if new is not None and not is_same:
                old, new = self._replace(path, old, new, change)
            if new is None or is_same:
                self._conflicts.mark_read(path, version_of(old))
                return version_of(new)
            self._conflicts.report_lost_changes(path, old, new)
        self._conflicts.mark_read(path, version_of(new))
        self._on_write(path, len(new))
        return version_of(new)

    def _read_settled(self, path: str) -> bytes | None:
        try:
            with self._top.open_parent(path) as (name, dir_fd):
                return read_settled(name, path, dir_fd=dir_fd)
        except FileNotFoundError:  # even its folder is missing
            return None

    def _replace(
        self, path: str, old: bytes | None, new: bytes, change: ByteChange
    ) -> tuple[bytes | None, bytes | None]:
        """Replace a page, record it, and return the old and the new bytes. An editor takes no lock: what it saved
        meanwhile is changed instead; the new bytes are None if that left nothing to write."""
        is_recorded = False
        for attempt in range(_REPLACE_ATTEMPTS):
            self._record_outside_edit(path, old)
            try:
                with self._top.open_parent(path, create=True) as (name, dir_fd):
                    is_recorded = self._conflicts.record_unapproved(path, old, new)
                    replace_file(name, new, old, in_a_hurry=attempt >= _UNHURRIED_ATTEMPTS, dir_fd=dir_fd)
            except ConcurrentWrite as other:
                self._record_outside_edit(path, other.data)
                old = self._read_settled(path)
                changed = change(old)
                if changed is None or changed == old:
                    return old, changed
                new = changed
            except FileNotFoundError:  # the folder's last page was removed just now, and the folder with it
                continue
            except (OSError, StorageError):
                if self._read_settled(path) == new and not is_recorded:  # in place, but not confirmed by the disk
                    self._conflicts.record_change(path, old, new)
                raise
            else:
                if not is_recorded:
                    self._conflicts.record_change(path, old, new)
                return old, new
        raise StorageError(f"{path} keeps being saved by another program: close it there, then try again")

    def reaffirm(self, path: str, if_version: str | None = None) -> None:
        require_inside(path)
        with storage_errors(path), self._lock("page", path):
            data = self._top.read(path)
            if if_version is not None and version_of(data) != if_version:
                raise StaleVersion(path)
            self._record_outside_edit(path, data)
            self._conflicts.record_change(path, data, data)

    def remove(self, path: str, if_version: str | None = None) -> None:
        require_inside(path)
        with storage_errors(path), self._lock("page", path):
            while True:
                old = self._read_settled(path)
                if old is None:
                    raise PageNotFound(path)
                if if_version is not None and version_of(old) != if_version:
                    raise StaleVersion(path)
                self._record_outside_edit(path, old)
                with suppress(ConcurrentWrite):  # saved since it was read: check again what is there now
                    self._remove_file(path, old)
                    break
            self._conflicts.record_change(path, old, None)
            folder = os.path.dirname(path)
            with suppress(OSError, OutsideHome):  # a folder that is not empty stays
                if folder:
                    self._top.remove_folder(folder)
        self._conflicts.forget(path)
        self._on_write(path, 0)

    def _remove_file(self, path: str, as_read: bytes) -> None:
        with self._top.open_parent(path) as (name, dir_fd):
            remove_file(name, as_read, dir_fd=dir_fd)

    def record_outside_edits(self, paths: Iterable[str]) -> None:
        """Record outside edits; a page that is locked or unreadable is left for the next time."""
        every = [*dict.fromkeys(paths)]
        renames = self._find_renames(every)
        slots: dict[str, Paths] = {}
        for path in every:
            slots.setdefault(slot_of(path), []).append(path)
        for slot, in_slot in slots.items():
            with suppress(LockTimeout, OSError), lock_slot(self._locks, "page", slot, in_slot[0], 0):
                for path in in_slot:
                    with suppress(CommonplaceError, OSError):
                        require_inside(path)
                        data = self._top.read_or_none(path)
                        if not self._record_rename(path, data, renames.get(path)):
                            self._record_outside_edit(path, data)

    def _find_renames(self, paths: Paths) -> dict[str, Rename]:
        """Find pages that another program renamed: one is gone, and a new one has its bytes or its lines."""
        renames: dict[str, Rename] = {}
        history = self._conflicts.history
        if not history or len(paths) < 2:
            return renames
        with suppress(CommonplaceError, OSError):  # then they are recorded as two changes
            heads = {path: history.head(path) for path in paths}
            known = {path: head.version for path, head in heads.items() if head and head.version != ABSENT}
            gone = {path: version for path, version in known.items() if self._top.read_or_none(path) is None}
            new = [path for path, head in heads.items() if head is None] if gone else []
            pages = {path: data for path in new if (data := self._top.read_or_none(path))}
            versions = {version_of(data) for data in pages.values()}
            if len(gone) > MAX_COMPARED_PAGES or not pages:
                gone = {path: version for path, version in gone.items() if version in versions}
            earlier = {path: data for path, version in gone.items() if (data := history.read_version(path, version))}
            for old, path in match_renames(earlier, pages).items():
                call = os.urandom(5).hex()
                renames[old] = Rename(gone[old], ABSENT, describe_rename(new=path), call)
                after = version_of(pages[path])
                renames[path] = Rename(ABSENT, after, describe_rename(old=old), call, earlier[old])
        return renames

    def _record_rename(self, path: str, data: bytes | None, rename: Rename | None) -> bool:
        """Record one side of a rename, and an edit made with it, unless the page has changed since."""
        history = self._conflicts.history
        if not history or not rename or version_of(data) != rename.after:
            return False
        head = history.head(path)
        if (head.version if head else ABSENT) != rename.before:
            return False
        history.record_change(path, None, rename.data, Author(tool="", why=rename.why, call=rename.call))
        if data != rename.data:
            self._record_outside_edit(path, data)
        return True

    def _record_outside_edit(self, path: str, data: bytes | None) -> None:
        with suppress(FileNotFoundError):
            self._conflicts.record_outside_edit(path, data, None if data is None else self._stat(path).st_mtime)

    def _stat(self, path: str) -> os.stat_result:
        """Return the status of a file or folder; OutsideHome if it is a link or is behind one."""
        require_inside(path)
        with self._top.open_parent(path) as place:
            info = place.stat()
            if stat.S_ISLNK(info.st_mode):
                self._top.refuse_links(path)
        return info

    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        with storage_errors(folder):
            return sorted(self._iterate_paths(folder, suffix, deep=deep))

    def _iterate_paths(
        self, folder: str, suffix: Suffix, *, deep: bool, warnings: PathWarnings | None = None
    ) -> Iterator[str]:
        for prefix, files in self._walk(folder, suffix, deep=deep, warnings=warnings):
            yield from (prefix + file.name for file in files)

    def find_text(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        matches: Texts = []
        warnings: PathWarnings = []
        for path in sorted(self._iterate_paths(folder, ".md", deep=True, warnings=warnings)):
            try:
                page_text = decode_text(self._top.read(path), path)
            except (NotText, OutsideHome) as error:
                warnings.append((path, str(error)))
            except OSError as error:
                warnings.append((path, f"{path} could not be read: {error.strerror}"))
            else:
                if text in page_text:
                    matches.append((path, page_text))
        return matches, [sentence for _, sentence in warnings]

    def list_folders(self, folder: str) -> Paths:
        with storage_errors(folder):
            require_inside(folder)
            try:
                with self._top.scan(folder) as entries:
                    inside = [e.name for e in entries if e.name[0] != "." and e.is_dir(follow_symlinks=False)]
            except OSError as error:
                if error.errno not in _NOTHING_TO_LIST:
                    raise
                return []
        return sorted(name for name in inside if is_unicode(name))

    def modified_at(self, path: str) -> float:
        with storage_errors(path):
            return self._stat(path).st_mtime

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        seen: dict[str, int] = {}
        warnings: PathWarnings = []
        now_ns = time.time_ns()
        for root in roots:
            self._sweep(root, seen, warnings, now_ns)
        if seen == known and UNSURE not in seen.values():  # nearly always
            return Changes({}, (), tuple(warnings))
        changed = {path: stamp for path, stamp in seen.items() if known.get(path) != stamp or stamp == UNSURE}
        return Changes(changed, tuple(path for path in known if path not in seen), tuple(warnings))

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        with storage_errors(name), self._lock("area", name):
            yield

    def _lock(self, kind: Kind, name: str) -> AbstractContextManager[None]:
        return lock(self._locks, kind, name)

    @property
    def _locks(self) -> str:
        return os.path.join(self._top.path, LOCKS_FOLDER)

    def _sweep(self, root: Root, seen: dict[str, int], warnings: PathWarnings, now_ns: int) -> None:
        """Add the stamps of every page below a root to `seen`."""
        if root.is_page:
            with suppress(OSError, OutsideHome):
                info = self._stat(root.path)
                if stat.S_ISREG(info.st_mode):
                    seen[root.path] = _stamp(info, now_ns)
            return
        try:
            for prefix, files in self._walk(root.path, root.suffix, deep=True, warnings=warnings):
                stamps = {prefix + file.name: _stamp(file.stat(follow_symlinks=False), now_ns) for file in files}
                if root.pattern:
                    stamps = {path: stamp for path, stamp in stamps.items() if root.pattern.fullmatch(path)}
                seen.update(stamps)
        except OSError as error:
            warnings.append((root.path, f"{root.path}: {error.strerror or error}"))

    def _walk(
        self, folder: str, suffix: Suffix, *, deep: bool, warnings: PathWarnings | None = None
    ) -> Iterator[tuple[str, Files]]:
        """Yield the regular files below a folder, one folder after the other, each with the path that leads to it.

        Links are not followed. A folder is read through a descriptor, so that its path is resolved once and not for
        each of its files.
        """
        prefixes = [f"{folder}/" if folder else ""]
        while prefixes:
            prefix = prefixes.pop()
            try:
                if prefix:
                    require_inside(prefix)
                with self._top.scan(prefix) as entries:
                    files, folders = self._split_entries(entries, prefix, suffix, warnings)
                    yield prefix, files
            except OutsideHome as error:
                _warn(warnings, prefix[:-1], str(error))
            except OSError as error:
                self._warn_unreadable(prefix[:-1], error, warnings)
            else:
                prefixes += (f"{prefix}{name}/" for name in folders if deep)

    def _warn_unreadable(self, folder: str, error: OSError, warnings: PathWarnings | None) -> None:
        """Warn of a folder that cannot be read; a missing one has no pages. Without `warnings`, raise, unless nobody
        can read it."""
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return
        if warnings is None and error.errno not in _NOTHING_TO_LIST:
            raise error
        _warn(warnings, folder, f"{folder} could not be read: {error.strerror}")

    def _split_entries(
        self, entries: Iterable[os.DirEntry[str]], prefix: str, suffix: Suffix, warnings: PathWarnings | None
    ) -> tuple[Files, Paths]:
        """Return the files of a folder that end in the suffix, and the names of its folders."""
        files: Files = []
        folders: Paths = []
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            if not name.isascii() and not is_unicode(name):
                _warn(warnings, prefix, f"{prefix + name!a} has a name that is not UTF-8 and was not read")
            elif name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                files.append(entry)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif warnings is not None and entry.is_symlink():
                self._warn_of_link(prefix + name, warnings)
        return files, folders

    def _warn_of_link(self, path: str, warnings: PathWarnings) -> None:
        try:
            self._top.refuse_links(path)
        except OutsideHome as error:
            warnings.append((path, str(error)))


def _warn(warnings: PathWarnings | None, path: str, sentence: str) -> None:
    if warnings is not None:
        warnings.append((path, sentence))


def _stamp(info: os.stat_result, now_ns: int) -> int:
    """Return the stamp of a page as a number, as an index stores it."""
    stamp = stamp_file(info, now_ns)
    return UNSURE if stamp is None else hash(stamp) & 0x7FFFFFFFFFFFFFFF


def match_renames(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    """Return the new paths of pages that are gone, by their old ones; only those that are certain."""
    by_bytes = {data: path for path, data in gone.items()}
    renames: dict[str, str] = {}
    for path, data in new.items():
        if data in by_bytes:
            renames[by_bytes.pop(data)] = path
    rest = {path: data for path, data in gone.items() if path not in renames}
    others = {path: data for path, data in new.items() if path not in renames.values()}
    return renames | _match_lines(rest, others)


def _match_lines(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    if not gone or not new or max(len(gone), len(new)) > MAX_COMPARED_PAGES:
        return {}
    old_lines = {path: _count_lines(data) for path, data in gone.items() if len(data) <= _MAX_COMPARED_BYTES}
    new_lines = {path: _count_lines(data) for path, data in new.items() if len(data) <= _MAX_COMPARED_BYTES}
    shares = {(old, path): _compare(one, two) for old, one in old_lines.items() for path, two in new_lines.items()}
    return {
        old: path for (old, path), share in shares.items() if share >= _MIN_COMMON_SHARE and _leads(shares, old, path)
    }


def _leads(shares: Mapping[tuple[str, str], float], old: str, new: str) -> bool:
    """Return whether two pages are clearly more alike than either is to any other."""
    rivals = [share for pair, share in shares.items() if (pair[0] == old) != (pair[1] == new)]
    return all(shares[old, new] - share >= _MIN_LEAD for share in rivals)


def _count_lines(data: bytes) -> Counter[bytes]:
    """Count the content lines of a page, without front matter, headings and comments, which many pages share."""
    lines = [line.strip() for line in data.splitlines()]
    if lines[:1] == [_FENCE] and _FENCE in lines[1:]:
        lines = lines[lines.index(_FENCE, 1) + 1 :]
    return Counter(line for line in lines if line and not line.startswith((b"#", b"<!--")))


def _compare(one: Counter[bytes], two: Counter[bytes]) -> float:
    """Return the share of the lines of two pages that are in both; 0 if there are too few."""
    common = (one & two).total()
    return 2 * common / (one.total() + two.total()) if common >= _MIN_COMMON_LINES else 0.0


_APPEND_ATTEMPTS = 100  # if other programs keep replacing the file
_CREATE = os.O_RDWR | os.O_CREAT
_OPEN = os.O_CLOEXEC | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FolderTranscript:
    """The items of one file in a home. Safe for any number of threads and processes."""

    def __init__(self, root: str, locks: str, path: str) -> None:
        self._top = RootFolder(root)
        self._locks = locks
        self.path = path

    def items(self, last: int | None = None) -> list[Any]:
        with (
            storage_errors(self.path),
            suppress(FileNotFoundError),
            self._top.open_parent(self.path) as place,
            self._open(place, os.O_RDONLY) as handle,
        ):
            return read_last(_make_reader(handle), last)
        return []

    def add(self, items: Iterable[Any]) -> None:
        data = format_items(items)
        if not data:
            return
        with storage_errors(self.path), lock(self._locks, "page", self.path):
            if not any(self._append(data) for _ in range(_APPEND_ATTEMPTS)):
                raise StorageError(f"{self.path} keeps being replaced: close it elsewhere, then try again")

    def _append(self, data: bytes) -> bool:
        """Append the data; return False if an editor replaced the file meanwhile."""
        try:
            with self._top.open_parent(self.path, create=True) as place, self._open(place, _CREATE) as handle:
                end, first = find_append_point(_make_reader(handle))
                _write_at(handle, end, first + data)
                is_current = os.path.samestat(os.fstat(handle), place.stat())
                if not end:
                    sync_folder(os.path.dirname(place.name), dir_fd=place.dir_fd)
        except FileNotFoundError:  # removed just now, or the folder with the last session in it
            return False
        return is_current

    def pop(self) -> Any:
        with (
            storage_errors(self.path),
            lock(self._locks, "page", self.path),
            suppress(FileNotFoundError),
            self._top.open_parent(self.path) as place,
            self._open(place, os.O_RDWR) as handle,
        ):
            if item := next(iterate_backwards(_make_reader(handle)), None):
                os.ftruncate(handle, item.start)
                os.fsync(handle)
                return item.value
        return None

    @contextmanager
    def _open(self, place: OpenEntry, flags: int) -> Iterator[int]:
        handle = place.open(flags | _OPEN)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise NotText(f"{self.path} is not a regular file: move it away")
            yield handle
        finally:
            os.close(handle)


def _make_reader(handle: int) -> Reader:
    def read(at: int, size: int) -> bytes:
        os.lseek(handle, at, os.SEEK_SET)
        return os.read(handle, size)

    return Reader(os.fstat(handle).st_size, read)


def _write_at(handle: int, end: int, data: bytes) -> None:
    """Write bytes at an offset and cut off what follows; all of them or none."""
    os.ftruncate(handle, end)
    os.lseek(handle, end, os.SEEK_SET)
    try:
        write_all(handle, data)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, end)
        raise
