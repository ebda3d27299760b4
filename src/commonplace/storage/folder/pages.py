"""Pages as files in a folder.

Every write is a temporary file in the same folder, fsync, exchange, fsync of the folder: a page is the old one or the
new one, never a part of either. An append is written the same way, so it is whole or absent. A version is a hash of
the bytes, so a person's edit is seen even when neither size nor time tells. Nothing outside the home is touched.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress

from ...errors import CommonplaceError, LockTimeout, NotText, OutsideHome, PageNotFound, StaleVersion, StorageError
from ...formats.json_text import is_unicode
from ...model import Page
from ..base import UNSURE, Changes, Paths, PathWarnings, Root, Sentences, Suffix, Texts
from ..conflicts import ConflictDetector
from ..deltas import version_of
from ..edits import Change, edited, text_of, whole
from .atomic import TICK, Overtaken, read_bytes, read_bytes_or_none, read_settled, replace, storage_errors, take_away
from .history import History
from .locks import Kind, lock, lock_slot, slot_of

Files = list["os.DirEntry[str]"]
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)
_ATTEMPTS, _PATIENT = 100, 3  # to replace a page that others save meanwhile, and how many of them without hurry


class FolderPages:
    def __init__(
        self, root: str, wrote: Callable[[str, int], None] = lambda path, size: None, history: History | None = None
    ) -> None:
        """`wrote` is told of every page written, with its size in bytes (0: removed), once it is safe on disk.

        Without a `history` earlier versions are not kept.
        """
        self._wrote, self._conflicts = wrote, ConflictDetector(history)
        self.root = os.path.abspath(root)
        self._real = os.path.realpath(root)

    def read(self, path: str) -> Page:
        with storage_errors(path):
            data = read_bytes(self._locate(path), path)
        return Page(path, text_of(data, path), version_of(data))

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        return self._change(path, whole(path, text, if_version))

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        return self._change(path, edited(path, change))

    def append(self, path: str, text: str) -> str:
        return self.edit(path, lambda old: old + text)

    def rewrite(self, path: str, text: str) -> str:
        return self._change(path, lambda old: self._conflicts.merge_with_others(path, old, text).encode())

    def mark_read(self, page: Page) -> None:
        self._conflicts.mark_read(page.path, page.version)

    def _change(self, path: str, change: Change) -> str:
        """Read, change, replace; nothing, when `change` gives what is there or None."""
        place = self._locate(path)
        with storage_errors(path), self._lock("page", path):
            old = read_settled(place, path)
            new = change(old)
            if new is None or new == old:
                self._conflicts.mark_read(path, version_of(old))
                return version_of(new)
            old, new = self._replaced(path, place, old, new, change)
            self._conflicts.report_lost_changes(path, old, new)
            self._conflicts.record_change(path, old, new)
        self._conflicts.mark_read(path, version_of(new))
        self._wrote(path, len(new))
        return version_of(new)

    def _replaced(
        self, path: str, place: str, old: bytes | None, new: bytes, change: Change
    ) -> tuple[bytes | None, bytes]:
        """What was replaced by what. An editor takes no lock: what it saved meanwhile is changed instead."""
        for attempt in range(_ATTEMPTS):
            self._found(path, old, place)
            try:
                replace(place, new, old, in_a_hurry=attempt > _PATIENT)
            except Overtaken as moved:
                self._found(path, moved.found, place)
                old = read_settled(place, path)
                new = change(old) or b""
            except (OSError, StorageError):
                if read_bytes_or_none(place, path) == new:  # it is in place, and the disk did not confirm it
                    self._conflicts.record_change(path, old, new)
                raise
            else:
                return old, new
            if new == old:
                return old, new
        raise StorageError(f"{path} is saved again and again by another program: close it there, then try again")

    def remove(self, path: str, if_version: str | None = None) -> None:
        place = self._locate(path)
        with storage_errors(path), self._lock("page", path):
            while True:
                old = read_settled(place, path)
                if old is None:
                    raise PageNotFound(path)
                if if_version is not None and version_of(old) != if_version:
                    raise StaleVersion(path)
                self._found(path, old, place)
                with suppress(Overtaken):  # saved since it was read: it is that which is removed, if it still is to be
                    take_away(place, old)
                    break
            self._conflicts.record_change(path, old, None)
            with suppress(OSError):  # an empty folder says nothing; one that is not empty stays
                os.rmdir(os.path.dirname(place))
        self._conflicts.forget(path)
        self._wrote(path, 0)

    def record_outside_edits(self, paths: Iterable[str]) -> None:
        """One that is busy, or can not be read, waits for next time."""
        slots: dict[str, Paths] = {}
        for path in paths:
            slots.setdefault(slot_of(path), []).append(path)
        for slot, some in slots.items():
            with suppress(LockTimeout, OSError), lock_slot(self._locate(".locks"), "page", slot, some[0], 0):
                for path in some:
                    with suppress(CommonplaceError, OSError):
                        place = self._locate(path)
                        self._found(path, read_bytes_or_none(place, path), place)

    def _found(self, path: str, data: bytes | None, place: str) -> None:
        with suppress(FileNotFoundError):
            self._conflicts.record_outside_edit(path, data, None if data is None else os.stat(place).st_mtime)

    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        with storage_errors(folder):
            return sorted(self._paths(folder, suffix, deep=deep))

    def _paths(self, folder: str, suffix: Suffix, *, deep: bool, warnings: PathWarnings | None = None) -> Iterator[str]:
        for prefix, files in self._walk(folder, suffix, deep=deep, warnings=warnings):
            yield from (prefix + file.name for file in files)

    def find_text(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        found: Texts = []
        warnings: PathWarnings = []
        for path in sorted(self._paths(folder, ".md", deep=True, warnings=warnings)):
            try:
                # The walk follows no links, so the path stays inside, and the file is opened without asking again.
                there = text_of(read_bytes(os.path.join(self._real, path), path), path)
            except NotText as error:
                warnings.append((path, str(error)))
            except OSError as error:
                warnings.append((path, f"{path} could not be read: {error.strerror}"))
            else:
                if text in there:
                    found.append((path, there))
        return found, [sentence for _, sentence in warnings]

    def list_folders(self, folder: str) -> Paths:
        with storage_errors(folder):
            try:
                with os.scandir(self._locate(folder)) as entries:
                    inside = [e.name for e in entries if e.name[0] != "." and e.is_dir(follow_symlinks=False)]
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                return []
        return sorted(name for name in inside if is_unicode(name))

    def modified_at(self, path: str) -> float:
        with storage_errors(path):
            return os.stat(self._locate(path)).st_mtime

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        seen: dict[str, int] = {}
        warnings: PathWarnings = []
        # By the system's clock, not the memory's: file times are compared with it.
        settled = time.time_ns() - TICK
        for root in roots:
            self._sweep(root, seen, warnings, settled)
        if seen == known and UNSURE not in seen.values():  # as nearly always
            return Changes({}, (), tuple(warnings))
        changed = {path: stamp for path, stamp in seen.items() if known.get(path) != stamp or stamp == UNSURE}
        return Changes(changed, tuple(path for path in known if path not in seen), tuple(warnings))

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        with storage_errors(name), self._lock("area", name):
            yield

    def _lock(self, kind: Kind, name: str) -> AbstractContextManager[None]:
        return lock(self._locate(".locks"), kind, name)

    def _locate(self, path: str) -> str:
        """The file of a path; OutsideHome when that is not below the home, or is reached through a link."""
        parts = path.split("/")
        if not path or path[0] in "/~" or "\0" in path or "\\" in path or ".." in parts or path[1:2] == ":":
            raise OutsideHome(f"{path!r} is not a path inside the home: use one like memory/notes.md")
        place = os.path.normpath(os.path.join(self._real, path))
        real = os.path.realpath(place)
        if real != place:
            out = "" if real.startswith(self._real + os.sep) else " out of the home"
            raise OutsideHome(f"{path} leads{out} through a link: put the page itself in its place")
        return place

    def _sweep(self, root: Root, seen: dict[str, int], warnings: PathWarnings, settled: int) -> None:
        """Stamps of every page below a root."""
        if root.is_page:
            with suppress(OSError, OutsideHome):
                info = os.lstat(self._locate(root.path))
                if stat.S_ISREG(info.st_mode):
                    seen[root.path] = _stamp(info, settled)
            return
        try:
            for prefix, files in self._walk(root.path, root.suffix, deep=True, warnings=warnings):
                found = {prefix + file.name: _stamp(file.stat(follow_symlinks=False), settled) for file in files}
                if root.pattern:
                    found = {path: stamp for path, stamp in found.items() if root.pattern.fullmatch(path)}
                seen.update(found)
        except OSError as error:
            warnings.append((root.path, f"{root.path}: {error.strerror or error}"))

    def _walk(
        self, folder: str, suffix: Suffix, *, deep: bool, warnings: PathWarnings | None = None
    ) -> Iterator[tuple[str, Files]]:
        """The regular files below a folder, one folder after the other, each with the path that leads to it.

        Links are not followed, here as elsewhere. A folder is read through a descriptor, which spares the system the
        way to each of its files.
        """
        try:
            waiting = [(f"{folder}/" if folder else "", self._locate(folder) if folder else self._real)]
        except OutsideHome as error:
            _tell(warnings, folder, str(error))
            return
        while waiting:
            prefix, place = waiting.pop()
            with _opened(place) as handle:
                if isinstance(handle, OSError):
                    self._tell_unread(prefix[:-1], handle, warnings)
                    continue
                files, folders = self._sorted_out(handle, prefix, suffix, warnings)
                yield prefix, files
            if deep:
                waiting += ((f"{prefix}{name}/", f"{place}/{name}") for name in folders)

    def _tell_unread(self, folder: str, error: OSError, warnings: PathWarnings | None) -> None:
        """A folder that is not there has no pages; one the disk refuses may. Who can not be told gets the error."""
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return
        if warnings is None and not isinstance(error, PermissionError):
            raise error
        _tell(warnings, folder, f"{folder} could not be read: {error.strerror}")

    def _sorted_out(
        self, handle: int | str, prefix: str, suffix: Suffix, warnings: PathWarnings | None
    ) -> tuple[Files, Paths]:
        """The files of a folder that end in the suffix, and its folders."""
        files: Files = []
        folders: Paths = []
        with os.scandir(handle) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if not name.isascii() and not is_unicode(name):
                    _tell(warnings, prefix, f"{prefix + name!a} has a name that is not UTF-8 and was not read")
                elif name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                    files.append(entry)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif warnings is not None and entry.is_symlink():
                    self._tell_link(prefix + name, warnings)
        return files, folders

    def _tell_link(self, path: str, warnings: PathWarnings) -> None:
        try:
            self._locate(path)
        except OutsideHome as error:
            warnings.append((path, str(error)))


def _tell(warnings: PathWarnings | None, path: str, sentence: str) -> None:
    if warnings is not None:
        warnings.append((path, sentence))


def _stamp(info: os.stat_result, settled: int) -> int:
    """What tells that a page changed. UNSURE when it was written so lately that a second write could look the same."""
    written, changed = info.st_mtime_ns, info.st_ctime_ns
    if written > settled or changed > settled:
        return UNSURE
    return hash((info.st_ino, info.st_size, written, changed)) & 0x7FFFFFFFFFFFFFFF


@contextmanager
def _opened(place: str) -> Iterator[int | str | OSError]:
    """A folder to be read through: a descriptor, or its path where folders have none; or what is wrong."""
    try:
        handle = os.open(place, _FOLDER) if os.scandir in os.supports_fd else place
    except OSError as error:
        yield error
        return
    try:
        yield handle
    finally:
        if isinstance(handle, int):
            os.close(handle)
