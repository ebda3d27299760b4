"""Pages as files in a folder.

Every write is a temporary file in the same folder, fsync, rename, fsync of the folder: a page is the old one or the
new one, never a part of either. An append is written the same way, so it is whole or absent. A version is a hash of
the bytes, so a person's edit is seen even when neither size nor time tells. Nothing outside the home is touched.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count

from ..errors import NotText, OutsideHome, PageNotFound, StaleVersion, StorageError
from ..model import Page
from . import ABSENT, Changes, Paths, Root, Sentences
from .locks import Kind, lock

_TEMPORARY = count()
_TICK = 50_000_000  # nanoseconds: file times move in steps of up to 10 ms; two writes inside one step look alike
_READ = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
_ADVICE = {
    errno.ENOSPC: "the disk is full: free some space and try again",
    errno.EDQUOT: "the disk quota is used up: free some space and try again",
    errno.EROFS: "the file system is read-only: make it writable or use another home",
    errno.EACCES: "permission denied: check who owns the home and its access rights",
    errno.EPERM: "permission denied: check who owns the home and its access rights",
    errno.ENOTDIR: "a file stands where a folder should be: move it away or use another home",
    errno.EEXIST: "a file stands where a folder should be: move it away or use another home",
    errno.EISDIR: "a folder stands where a page should be: move it away",
    errno.ENAMETOOLONG: "the path is too long for this file system: use a home with a shorter path",
}


class FolderPages:
    def __init__(self, root: str, wrote: Callable[[str, int], None] = lambda path, size: None) -> None:
        """`wrote` is told of every page written, with its size in bytes (0: removed), once it is safe on disk."""
        self._wrote = wrote
        self.root = os.path.abspath(root)
        self._real = os.path.realpath(root)
        self._locks = os.path.join(self.root, ".locks")

    def read(self, path: str) -> Page:
        with _storage_errors(path):
            data = _bytes(self._locate(path), path)
        return Page(path, _decode(data, path), _version(data))

    def check(self, path: str) -> None:
        self._locate(path)

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        place = self._locate(path)
        with _storage_errors(path), self._lock("page", path):
            if if_version is not None and self._current(place, path) != if_version:
                raise StaleVersion(path)
            data = text.encode()
            _replace(place, data, lambda: True)
        self._wrote(path, len(data))
        return _version(data)

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        place = self._locate(path)
        with _storage_errors(path), self._lock("page", path):
            while True:
                old = _bytes_or_none(place, path)
                text = "" if old is None else _decode(old, path)
                new = change(text).encode()
                if new == (old or b""):
                    return _version(new)
                # An editor takes no lock: what it saved since we read is read again, never overwritten.
                if _replace(place, new, lambda old=old: _bytes_or_none(place, path) == old):  # type: ignore[misc]
                    break
        self._wrote(path, len(new))
        return _version(new)

    def append(self, path: str, text: str) -> str:
        return self.edit(path, lambda old: old + text)

    def remove(self, path: str, if_version: str | None = None) -> None:
        place = self._locate(path)
        with _storage_errors(path), self._lock("page", path):
            current = self._current(place, path)
            if current == ABSENT:
                raise PageNotFound(path)
            if if_version is not None and current != if_version:
                raise StaleVersion(path)
            os.unlink(place)
            _sync_folder(os.path.dirname(place))
            with suppress(OSError):  # an empty folder says nothing; one that is not empty stays
                os.rmdir(os.path.dirname(place))
        self._wrote(path, 0)

    def list(self, folder: str, suffix: str = ".md", *, deep: bool = False) -> Paths:
        with _storage_errors(folder):
            return sorted(path for path, _ in self._walk(folder, suffix, deep=deep))

    def containing(self, folder: str, text: str) -> tuple[Paths, Sentences]:
        found: Paths = []
        warnings: Sentences = []
        for path in self.list(folder, deep=True):
            try:
                # The walk has made sure that the path stays inside, so the file is opened without asking again.
                if text in _decode(_bytes(os.path.join(self._real, path), path), path):
                    found.append(path)
            except NotText as error:
                warnings.append(str(error))
            except OSError as error:
                warnings.append(f"{path} could not be read: {error.strerror}")
        return found, warnings

    def folders(self, folder: str) -> Paths:
        with _storage_errors(folder):
            try:
                with os.scandir(self._locate(folder)) as entries:
                    return sorted(e.name for e in entries if not e.name.startswith(".") and e.is_dir())
            except (FileNotFoundError, NotADirectoryError):
                return []

    def modified(self, path: str) -> float:
        with _storage_errors(path):
            return os.stat(self._locate(path)).st_mtime

    def changes(self, known: Mapping[str, str], roots: Iterable[Root]) -> Changes:
        seen: dict[str, str] = {}
        warnings: Sentences = []
        now = time.time_ns()  # the file system's clock, not the memory's: it is compared with file times only
        for root in roots:
            self._sweep(root, seen, warnings, now)
        changed = {path: stamp for path, stamp in seen.items() if known.get(path) != stamp or stamp[-1] == "?"}
        return Changes(changed, tuple(path for path in known if path not in seen), tuple(warnings))

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        with _storage_errors(name), self._lock("area", name):
            yield

    def _lock(self, kind: Kind, name: str) -> AbstractContextManager[None]:
        return lock(self._locks, kind, name)

    def _current(self, place: str, path: str) -> str:
        data = _bytes_or_none(place, path)
        return ABSENT if data is None else _version(data)

    def _locate(self, path: str) -> str:
        """The file of a path, links followed; OutsideHome when that is not below the home."""
        parts = path.split("/")
        if not path or path[0] in "/~" or "\0" in path or "\\" in path or ".." in parts or path[1:2] == ":":
            raise OutsideHome(f"{path!r} is not a path inside the home: use one like memory/notes.md")
        place = os.path.realpath(os.path.join(self._real, path))
        if place != self._real and not place.startswith(self._real + os.sep):
            raise OutsideHome(f"{path} leads out of the home through a link: copy the file into the home instead")
        return place

    def _sweep(self, root: Root, seen: dict[str, str], warnings: Sentences, now: int) -> None:
        """Stamps of every page below a root."""
        if root.is_page:
            with suppress(OSError, OutsideHome):
                info = os.stat(self._locate(root.path))
                if stat.S_ISREG(info.st_mode):
                    seen[root.path] = _stamp(info, now)
            return
        try:
            for path, info in self._walk(root.path, root.suffix, deep=root.deep, warnings=warnings):
                if not root.pattern or root.pattern.fullmatch(path):
                    seen[path] = _stamp(info, now)
        except OSError as error:
            warnings.append(f"{root.path}: {error.strerror or error}")

    def _walk(
        self, folder: str, suffix: str, *, deep: bool, warnings: Sentences | None = None
    ) -> Iterator[tuple[str, os.stat_result]]:
        """The regular files below a folder. A link is followed only to a place inside the home."""
        try:
            entries = list(os.scandir(self._locate(folder) if folder else self._real))
        except (FileNotFoundError, NotADirectoryError, OutsideHome):
            return
        prefix = f"{folder}/" if folder else ""
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            path = prefix + name
            if entry.is_symlink():
                if warnings is not None and not self._inside(path):
                    warnings.append(f"{path} is a link out of the home and was not read")
                    continue
                if entry.is_dir():  # a linked folder would be read twice, or for ever
                    continue
            if name.endswith(suffix) and entry.is_file():
                if _is_text_name(name):
                    yield path, entry.stat()
                elif warnings is not None:
                    warnings.append(f"{path!a} has a name that is not UTF-8 and was not read")
            elif deep and entry.is_dir(follow_symlinks=False):
                yield from self._walk(path, suffix, deep=True, warnings=warnings)

    def _inside(self, path: str) -> bool:
        try:
            self._locate(path)
        except (OutsideHome, OSError):
            return False
        return True


def _is_text_name(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _storage_errors(path: str) -> Iterator[None]:
    """What the system refuses, in words: which page, why, and what to do."""
    try:
        yield
    except FileNotFoundError as error:
        raise PageNotFound(path) from error
    except OSError as error:
        reason = _ADVICE.get(error.errno or 0, error.strerror or str(error))
        raise StorageError(f"{path}: {reason}") from error


def _bytes(place: str, path: str) -> bytes:
    handle = os.open(place, _READ)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise NotText(f"{path} is not a regular file and was not read")
        with os.fdopen(os.dup(handle), "rb") as file:
            return file.read()
    finally:
        os.close(handle)


def _bytes_or_none(place: str, path: str) -> bytes | None:
    try:
        return _bytes(place, path)
    except FileNotFoundError:
        return None


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotText(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error


def _version(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _stamp(info: os.stat_result, now: int) -> str:
    """What tells that a page changed. Written so lately that a second write could look the same: it says so by `?`."""
    recent = now - max(info.st_mtime_ns, info.st_ctime_ns) < _TICK
    return f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}:{info.st_ctime_ns}{'?' if recent else ''}"


def _replace(place: str, data: bytes, still_as_read: Callable[[], bool]) -> bool:
    """Put new bytes in place of a page, all of them or none. False when the page changed while they were written."""
    folder, name = os.path.split(place)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{next(_TEMPORARY)}.tmp")
    handle, made = _create(folder, temporary)
    try:
        try:
            _keep_mode(handle, place)
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        if not still_as_read():
            os.unlink(temporary)
            return False
        os.replace(temporary, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    for parent in (folder, *made):
        _sync_folder(parent)
    return True


def _create(folder: str, temporary: str) -> tuple[int, Paths]:
    """An empty private file, and the folders whose entries changed on the way to it."""
    for _ in range(100):
        made = _make_folders(folder)
        try:
            return os.open(temporary, _CREATE, 0o600), made
        except FileNotFoundError:  # the last page of the folder was removed, and the folder with it, just now
            continue
    return os.open(temporary, _CREATE, 0o600), made


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _keep_mode(handle: int, place: str) -> None:
    """A page that a person opened to others stays open to them."""
    with suppress(OSError, AttributeError):
        os.fchmod(handle, stat.S_IMODE(os.stat(place).st_mode))


def _make_folders(folder: str) -> Paths:
    """Make the missing folders, private; the parents whose entry lists changed."""
    missing: Paths = []
    while not os.path.isdir(folder):
        missing.append(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    for path in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
    return [os.path.dirname(path) for path in missing]


def _sync_folder(folder: str) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except (
        PermissionError,
        FileNotFoundError,
    ):  # Windows has no folders to open; a removed folder has nothing to keep
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
