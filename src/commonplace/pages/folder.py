"""Pages as files in a folder.

Every write is a temporary file in the same folder, fsync, rename, fsync of the folder: a page is the old one or the
new one, never a part of either. An append is written the same way, so it is whole or absent. A version is a hash of
the bytes, so a person's edit is seen even when neither size nor time tells. Nothing outside the home is touched.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress

from ..errors import NotText, OutsideHome, PageNotFound, StaleVersion
from ..markdown.jsontext import is_unicode
from ..model import Page
from . import ABSENT, UNSURE, Changes, Paths, Root, Sentences, Texts
from .files import read_bytes, read_bytes_or_none, replace, storage_errors, sync_folder
from .locks import Kind, lock

Files = list["os.DirEntry[str]"]
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)
_TICK = 50_000_000  # nanoseconds: file times move in steps of up to 10 ms; two writes inside one step look alike


class FolderPages:
    def __init__(self, root: str, wrote: Callable[[str, int], None] = lambda path, size: None) -> None:
        """`wrote` is told of every page written, with its size in bytes (0: removed), once it is safe on disk."""
        self._wrote = wrote
        self.root = os.path.abspath(root)
        self._real = os.path.realpath(root)

    def read(self, path: str) -> Page:
        with storage_errors(path):
            data = read_bytes(self._locate(path), path)
        return Page(path, _decode(data, path), _version(data))

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        place = self._locate(path)
        with storage_errors(path), self._lock("page", path):
            if if_version is not None and self._current(place, path) != if_version:
                raise StaleVersion(path)
            data = text.encode()
            replace(place, data, lambda: True)
        self._wrote(path, len(data))
        return _version(data)

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        place = self._locate(path)
        with storage_errors(path), self._lock("page", path):
            while True:
                old = read_bytes_or_none(place, path)
                text = "" if old is None else _decode(old, path)
                new = change(text).encode()
                if new == (old or b""):
                    return _version(new)
                # An editor takes no lock: what it saved since we read is read again, never overwritten.
                if replace(place, new, lambda old=old: read_bytes_or_none(place, path) == old):  # type: ignore[misc]
                    break
        self._wrote(path, len(new))
        return _version(new)

    def append(self, path: str, text: str) -> str:
        return self.edit(path, lambda old: old + text)

    def remove(self, path: str, if_version: str | None = None) -> None:
        place = self._locate(path)
        with storage_errors(path), self._lock("page", path):
            current = self._current(place, path)
            if current == ABSENT:
                raise PageNotFound(path)
            if if_version is not None and current != if_version:
                raise StaleVersion(path)
            os.unlink(place)
            sync_folder(os.path.dirname(place))
            with suppress(OSError):  # an empty folder says nothing; one that is not empty stays
                os.rmdir(os.path.dirname(place))
        self._wrote(path, 0)

    def list(self, folder: str, suffix: str = ".md", *, deep: bool = False) -> Paths:
        with storage_errors(folder):
            return sorted(self._paths(folder, suffix, deep=deep))

    def _paths(self, folder: str, suffix: str, *, deep: bool, warnings: Sentences | None = None) -> Iterator[str]:
        for prefix, files in self._walk(folder, suffix, deep=deep, warnings=warnings):
            yield from (prefix + file.name for file in files)

    def containing(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        found: Texts = []
        warnings: Sentences = []
        for path in sorted(self._paths(folder, ".md", deep=True, warnings=warnings)):
            try:
                # The walk follows no links, so the path stays inside, and the file is opened without asking again.
                whole = _decode(read_bytes(os.path.join(self._real, path), path), path)
            except NotText as error:
                warnings.append(str(error))
            except OSError as error:
                warnings.append(f"{path} could not be read: {error.strerror}")
            else:
                if text in whole:
                    found.append((path, whole))
        return found, warnings

    def folders(self, folder: str) -> Paths:
        with storage_errors(folder):
            try:
                with os.scandir(self._locate(folder)) as entries:
                    inside = [e.name for e in entries if e.name[0] != "." and e.is_dir(follow_symlinks=False)]
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                return []
        return sorted(name for name in inside if is_unicode(name))

    def modified(self, path: str) -> float:
        with storage_errors(path):
            return os.stat(self._locate(path)).st_mtime

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        seen: dict[str, int] = {}
        warnings: Sentences = []
        # By the system's clock, not the memory's: file times are compared with it.
        settled = time.time_ns() - _TICK
        for root in roots:
            self._sweep(root, seen, warnings, settled)
        changed = {path: stamp for path, stamp in seen.items() if known.get(path) != stamp or stamp == UNSURE}
        return Changes(changed, tuple(path for path in known if path not in seen), tuple(warnings))

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        with storage_errors(name), self._lock("area", name):
            yield

    def _lock(self, kind: Kind, name: str) -> AbstractContextManager[None]:
        return lock(self._locate(".locks"), kind, name)

    def _current(self, place: str, path: str) -> str:
        data = read_bytes_or_none(place, path)
        return ABSENT if data is None else _version(data)

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

    def _sweep(self, root: Root, seen: dict[str, int], warnings: Sentences, settled: int) -> None:
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
            warnings.append(f"{root.path}: {error.strerror or error}")

    def _walk(
        self, folder: str, suffix: str, *, deep: bool, warnings: Sentences | None = None
    ) -> Iterator[tuple[str, Files]]:
        """The regular files below a folder, one folder after the other, each with the path that leads to it.

        Links are not followed, here as elsewhere. A folder is read through a descriptor, which spares the system the
        way to each of its files.
        """
        try:
            waiting = [(f"{folder}/" if folder else "", self._locate(folder) if folder else self._real)]
        except OutsideHome as error:
            _tell(warnings, str(error))
            return
        while waiting:
            prefix, place = waiting.pop()
            with _opened(place) as handle:
                if isinstance(handle, OSError):
                    if not isinstance(handle, (FileNotFoundError, NotADirectoryError)):
                        _tell(warnings, f"{prefix[:-1]} could not be read: {handle.strerror}")
                    continue
                files, folders = self._sorted_out(handle, prefix, suffix, warnings)
                yield prefix, files
            if deep:
                waiting += ((f"{prefix}{name}/", f"{place}/{name}") for name in folders)

    def _sorted_out(
        self, handle: int | str, prefix: str, suffix: str, warnings: Sentences | None
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
                    _tell(warnings, f"{prefix + name!a} has a name that is not UTF-8 and was not read")
                elif name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                    files.append(entry)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif warnings is not None and entry.is_symlink():
                    self._tell_link(prefix + name, warnings)
        return files, folders

    def _tell_link(self, path: str, warnings: Sentences) -> None:
        try:
            self._locate(path)
        except OutsideHome as error:
            warnings.append(str(error))


def _tell(warnings: Sentences | None, sentence: str) -> None:
    if warnings is not None:
        warnings.append(sentence)


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotText(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error


def _version(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


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
