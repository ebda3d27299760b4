"""A source from anywhere: a folder, a zip, or one file, as names and bytes. Read with suspicion, and never written to.

What can not be read, or is not what it seems to be (links, names that lead out, members that unpack to more than they
say), is left out and told; the rest is read. Nothing is unpacked to disk.
"""

from __future__ import annotations

import os
import stat
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from ..errors import InvalidArgument, NotFound, NotText, Refused, StorageError
from ..maintenance.backup.scope import oddity
from ..storage.files import read_bytes
from .values import Missed

PEEK = 1 << 16
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED, _UTF8 = 0x1, 0x800
_CHUNK = 1 << 20
# Neither through a link, nor waiting for whoever is at the other end of a pipe.
_LOOK = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
# What reading a zip raises that is damaged, needs a password, or is packed in a way that is not known.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_UNNEEDED = frozenset({"node_modules", "__pycache__", "__MACOSX"})


class Limits(NamedTuple):
    """Bytes of one file and of all that is read, and how many files are looked at."""

    one: int = 1 << 30
    all: int = 8 << 30
    files: int = 1_000_000


class Source:
    """Paths have forward slashes; names that begin with a dot are not looked at, unless they are asked for."""

    def __init__(self, place: str, limits: Limits) -> None:
        self.place, self.limits = place, limits
        self.name = os.path.basename(place)
        self.missed: list[Missed] = []
        self.apart = ""  # a folder that is not looked at: the home that all this is brought into
        self._read = 0

    @property
    def whole(self) -> str:
        """What tells this source from all others: its path."""
        return self.place

    def top(self, folder: str = "") -> list[str]:
        """The names in a folder, sorted; those of folders end in a slash."""
        raise NotImplementedError

    def paths(self, folder: str = "") -> list[str]:
        """The files below a folder, sorted."""
        raise NotImplementedError

    def has(self, folder: str) -> bool:
        """Whether there is a folder of this name, be it one that is not looked at."""
        raise NotImplementedError

    def peek(self, path: str) -> bytes:
        """The beginning of a file; nothing when it can not be read."""
        raise NotImplementedError

    def modified(self, path: str) -> int:
        """When a file was written, in nanoseconds since 1970."""
        raise NotImplementedError

    def _bytes(self, path: str) -> bytes:
        raise NotImplementedError

    def take(self, path: str) -> bytes | None:
        """A whole file; None, and told, when it can not be read or is too large."""
        try:
            data = self._bytes(path)
        except (OSError, NotText, *_DAMAGED) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            self.missed.append(Missed(path, f"could not be read ({reason})"))
            return None
        except _TooLarge:
            why = f"is larger than {self.limits.one:,} bytes: if it should be, raise --max-size"
            self.missed.append(Missed(path, why))
            return None
        self._read += len(data)
        if self._read > self.limits.all:
            raise Refused(f"{self.place} holds more than {self.limits.all:,} bytes: if it should, raise --max-size")
        return data

    def close(self) -> None:
        """Let go of what is open."""

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _TooLarge(Exception):
    pass


class Folder(Source):
    def top(self, folder: str = "") -> list[str]:
        return sorted(f"{e.name}/" if e.is_dir(follow_symlinks=False) else e.name for e in self._entries(folder))

    def paths(self, folder: str = "") -> list[str]:
        found: list[str] = []
        waiting = [folder]
        while waiting:
            above = waiting.pop()
            for entry in self._entries(above, tell=True):
                path = f"{above}/{entry.name}" if above else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting += [path] if entry.name not in _UNNEEDED else []
                elif self._is_fit(path, entry):
                    found.append(path)
            if len(found) > self.limits.files:
                raise Refused(f"{self.place} has more than {self.limits.files:,} files: name the folder that is meant")
        return sorted(found)

    def _is_fit(self, path: str, entry: os.DirEntry[str]) -> bool:
        # On disk a name leads nowhere else, whatever it begins with: only what a page can not be called is odd.
        reason = "is a link, and links are not followed" if entry.is_symlink() else oddity(f"folder/{path}")
        if not reason and not entry.is_file(follow_symlinks=False):
            reason = "is not a regular file"
        if reason:
            self.missed.append(Missed(shown(path), reason))
        return not reason

    def _entries(self, folder: str, *, tell: bool = False) -> list[os.DirEntry[str]]:
        place = os.path.join(self.place, folder) if folder else self.place
        try:
            if self._is_apart(place):
                return []
            with os.scandir(place) as entries:
                return [each for each in entries if not each.name.startswith(".") and not self._is_apart(each.path)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            if tell:
                self.missed.append(Missed(shown(folder), f"could not be read ({error.strerror})"))
            return []

    def _is_apart(self, place: str) -> bool:
        return bool(self.apart) and is_within(place, self.apart)

    def has(self, folder: str) -> bool:
        return os.path.isdir(os.path.join(self.place, folder))

    def peek(self, path: str) -> bytes:
        try:
            handle = os.open(os.path.join(self.place, path), _LOOK)
        except OSError:
            return b""
        try:
            return os.read(handle, PEEK) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
        finally:
            os.close(handle)

    def modified(self, path: str) -> int:
        try:
            return os.stat(os.path.join(self.place, path)).st_mtime_ns
        except OSError:
            return 0

    def _bytes(self, path: str) -> bytes:
        place = os.path.join(self.place, path)
        if os.stat(place).st_size > self.limits.one:
            raise _TooLarge
        return read_bytes(place, path)


class Single(Folder):
    """One file, as if it lay alone in a folder."""

    def __init__(self, place: str, limits: Limits) -> None:
        super().__init__(os.path.dirname(place), limits)
        self.name, self._file = os.path.splitext(os.path.basename(place))[0], os.path.basename(place)

    @property
    def whole(self) -> str:
        return os.path.join(self.place, self._file)

    def top(self, folder: str = "") -> list[str]:
        return [] if folder else [self._file]

    def paths(self, folder: str = "") -> list[str]:
        return [] if folder else [self._file]

    def has(self, folder: str) -> bool:
        return False


class Zip(Source):
    """A zip. One whose files all lie in one folder, as zips of a folder do, is read as that folder."""

    def __init__(self, place: str, limits: Limits) -> None:
        super().__init__(place, limits)
        self.name = os.path.splitext(self.name)[0]
        try:
            self._zip = zipfile.ZipFile(place)
        except (zipfile.BadZipFile, UnicodeDecodeError, OSError, ValueError, NotImplementedError) as error:
            raise StorageError(f"{place} is a damaged zip ({error}): get the whole of it") from error
        listed = self._zip.infolist()
        if len(listed) > limits.files:
            raise Refused(f"{place} has more than {limits.files:,} files: it is taken for a trap")
        members = dict(self._members(listed))
        above = {path.partition("/")[0] for path in members} if all("/" in path for path in members) else set()
        cut = len(above.pop()) + 1 if len(above) == 1 else 0
        self._of = {path[cut:]: info for path, info in members.items()}

    def _members(self, listed: Iterable[zipfile.ZipInfo]) -> Iterator[tuple[str, zipfile.ZipInfo]]:
        seen: set[str] = set()
        for info in listed:
            path = _name(info)
            if info.is_dir() or not _UNNEEDED.isdisjoint((path or "").split("/")):
                continue
            reason = "has a name that is not UTF-8" if path is None else oddity(path)
            if stat.S_ISLNK(info.external_attr >> 16):
                reason = "is a link, and links are not followed"
            elif info.flag_bits & _ENCRYPTED:
                reason = "is encrypted"
            elif path in seen:
                reason = "stands in the zip twice"
            if reason or path is None:
                self.missed.append(Missed(shown(path or info.filename), reason))
                continue
            seen.add(path)
            yield path, info

    def top(self, folder: str = "") -> list[str]:
        rest = (path[len(folder) :].lstrip("/") for path in self.paths(folder))
        return sorted({part + slash for part, slash, _ in (path.partition("/") for path in rest)})

    def paths(self, folder: str = "") -> list[str]:
        above = f"{folder}/" if folder else ""
        below = (path for path in self._of if path.startswith(above))
        return sorted(path for path in below if not any(p.startswith(".") for p in path[len(above) :].split("/")))

    def has(self, folder: str) -> bool:
        return any(path.startswith(f"{folder}/") for path in self._of)

    def peek(self, path: str) -> bytes:
        try:
            with self._zip.open(self._of[path]) as file:
                return file.read(PEEK)
        except (KeyError, OSError, *_DAMAGED):
            return b""

    def modified(self, path: str) -> int:
        """As if the zip was made where it is read: it does not tell where that was."""
        try:
            return int(time.mktime((*self._of[path].date_time, 0, 0, -1))) * 10**9
        except (OverflowError, ValueError):
            return 0

    def _bytes(self, path: str) -> bytes:
        with self._zip.open(self._of[path]) as file:
            return b"".join(_counted(file, self.limits.one))

    def close(self) -> None:
        self._zip.close()


def _counted(file: IO[bytes], most: int) -> Iterator[bytes]:
    """The bytes of a file, counted as they come: what it says of its size is not believed."""
    while chunk := file.read(_CHUNK):
        most -= len(chunk)
        if most < 0:
            raise _TooLarge
        yield chunk


def _name(info: zipfile.ZipInfo) -> str | None:
    """The name of a member; None when it is in an encoding that nobody names. Many zips are UTF-8 and do not say so."""
    name = info.filename
    if info.flag_bits & _UTF8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode()
    except UnicodeError:
        return None


def is_within(place: str, folder: str) -> bool:
    """Whether a whole path is that of a folder, or of something below it."""
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)


def only_file(source: Source) -> str:
    """The name of the one file that a source is; empty when it is not one file."""
    top = source.top()
    return top[0] if len(top) == 1 and not top[0].endswith("/") else ""


def the_file(source: Source) -> str:
    """The same, for who has to have one."""
    name = only_file(source)
    if not name:
        raise InvalidArgument(f"{source.place} is not one file: name the file that is meant")
    return name


def shown(name: str) -> str:
    """A name that can be told, whatever it is."""
    return name if name.isprintable() else ascii(name)[1:-1]


def open_source(place: str, limits: Limits) -> Source:
    """A source by its path. Who names a link means what it leads to."""
    place = os.path.realpath(os.path.expanduser(place))
    try:
        if os.path.isdir(place):
            return Folder(place, limits)
        if os.path.lexists(place) and not os.path.isfile(place):
            raise StorageError(f"{place} is neither a file nor a folder: name one")
        with open(place, "rb") as file:
            return Zip(place, limits) if file.read(4) in _ZIP else Single(place, limits)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {place}") from error
    except OSError as error:
        raise StorageError(f"{place}: {error.strerror}") from error
