"""A source to import from: a folder, a zip or one file, as names and bytes; and JSON read part by part.

Sources are not trusted and never written to. What cannot be read, or is not what it seems to be (links, names that lead
out, members that unpack to more than they say), is skipped with a reason; the rest is read. Nothing is unpacked.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any

from ..errors import InvalidArgument, NotFound, NotText, Refused, StorageError
from ..maintenance.backup.archive import Limits
from ..storage.bulk import path_problem
from ..storage.files import NO_FOLLOW, READ_FLAGS, read_bytes
from .values import Skipped

PEEK_BYTES = 1 << 16
MAX_LINE_BYTES = 64 << 20  # no message that anybody wrote is longer
DEFAULT_LIMITS = Limits(file_bytes=1 << 30)
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED_FLAG = 0x1
_UTF8_FLAG = 0x800
_CHUNK_BYTES = 1 << 20
_MAX_ZIP_RATIO = 100  # text is packed to a tenth of its size or so, a page of nothing else than zeros to a thousandth
_SMALL_FILE_BYTES = 1 << 24  # a file up to this size may be packed however well
# What zipfile raises for a zip that is damaged, needs a password, or uses an unknown compression.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "__MACOSX"})
_LINK = "is a link, and links are not followed"

JsonObjects = Iterator[tuple[int, dict[str, Any]]]
_DECODER = json.JSONDecoder(strict=False)
_SEPARATORS = re.compile(r"[\s,]*")
_PART_START = re.compile(r'[,\[]\s*(?=\{\s*")')  # inside a string the quote would be escaped
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_MAX_SCAN_FACTOR = 16  # the search for the next whole part reads at most this many times the text
_MIN_SCAN_CHARACTERS = 1 << 28  # scanning this much takes a second or two
_LINE_COUNT_SPEED = 16  # how much faster the decoder counts the lines before an error than it reads JSON


class Source:
    """Paths use forward slashes. Names that begin with a dot are ignored, unless they are asked for."""

    def __init__(self, location: str, limits: Limits) -> None:
        self.location = location
        self.limits = limits
        self.name = os.path.basename(location)
        self.skipped: list[Skipped] = []
        self.home_folder = ""  # the folder of the target home; empty for a database
        self.excluded_folder = ""  # the same folder within this source; it is not read
        self._bytes_read = 0

    @property
    def full_path(self) -> str:
        """The path that identifies this source."""
        return self.location

    def list_names(self, folder: str = "") -> list[str]:
        """Return the names in a folder, sorted; names of folders end in a slash."""
        raise NotImplementedError

    def list_files(self, folder: str = "") -> list[str]:
        """Return the paths of the files below a folder, sorted."""
        raise NotImplementedError

    def has_folder(self, folder: str) -> bool:
        """Return whether there is a folder of this name, hidden or not."""
        raise NotImplementedError

    def peek(self, path: str) -> bytes:
        """Return the beginning of a file; empty if it cannot be read."""
        raise NotImplementedError

    def modified(self, path: str) -> int:
        """Return when a file was written, in nanoseconds since 1970; 0 if unknown."""
        raise NotImplementedError

    def _read_bytes(self, path: str) -> bytes:
        raise NotImplementedError

    def read_file(self, path: str) -> bytes | None:
        """Return a whole file; None, with a reason in `skipped`, if it cannot be read or is too large."""
        try:
            data = self._read_bytes(path)
        except (OSError, NotText, *_ZIP_ERRORS) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            self.skipped.append(Skipped(path, f"could not be read ({reason})"))
            return None
        except _TooLarge as error:
            self.skipped.append(Skipped(path, str(error)))
            return None
        self._bytes_read += len(data)
        if self._bytes_read > self.limits.total_bytes:
            limit = f"{self.limits.total_bytes:,} bytes"
            raise Refused(f"{self.location} holds more than {limit}: if that is intended, raise --max-size")
        return data

    def read_config(self, path: str) -> str | None:
        """Return the text of a configuration file; None if there is none that can be read."""
        try:
            return self._read_bytes(path).decode("utf-8-sig")
        except (OSError, KeyError, UnicodeDecodeError, NotText, _TooLarge, *_ZIP_ERRORS):
            return None

    def open_folder(self, path: str) -> tuple[Source, str]:
        """Return the source that contains a folder named by a configuration, and the folder's path in it."""
        folder = os.path.normpath(path).replace(os.sep, "/")
        return self, "" if folder == "." else folder

    def close(self) -> None:
        """Close open files."""

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _TooLarge(Exception):
    """A file exceeds a limit; the text says which."""


class Folder(Source):
    def list_names(self, folder: str = "") -> list[str]:
        return sorted(f"{e.name}/" if e.is_dir(follow_symlinks=False) else e.name for e in self._entries(folder))

    def list_files(self, folder: str = "") -> list[str]:
        paths: list[str] = []
        folders = [folder]
        while folders:
            above = folders.pop()
            for entry in self._entries(above, report=True):
                path = f"{above}/{entry.name}" if above else entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders += [path] if entry.name not in _IGNORED_FOLDERS else []
                elif self._is_readable(path, entry):
                    paths.append(path)
            if len(paths) > self.limits.files:
                raise Refused(f"{self.location} has more than {self.limits.files:,} files: name a smaller folder")
        return sorted(paths)

    def _is_readable(self, path: str, entry: os.DirEntry[str]) -> bool:
        # The folder is prepended, so that no name on disk leads elsewhere, whatever it begins with.
        reason = _LINK if entry.is_symlink() else path_problem(f"folder/{path}")
        if not reason and not entry.is_file(follow_symlinks=False):
            reason = "is not a regular file"
        if reason:
            self.skipped.append(Skipped(printable_name(path), reason))
        return not reason

    def _entries(self, folder: str, *, report: bool = False) -> list[os.DirEntry[str]]:
        location = os.path.join(self.location, folder) if folder else self.location
        try:
            if self._is_excluded(location):
                return []
            with os.scandir(location) as entries:
                return [each for each in entries if not each.name.startswith(".") and not self._is_excluded(each.path)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            if report:
                self.skipped.append(Skipped(printable_name(folder), f"could not be read ({error.strerror})"))
            return []

    def _is_excluded(self, location: str) -> bool:
        return bool(self.excluded_folder) and is_within(location, self.excluded_folder)

    def has_folder(self, folder: str) -> bool:
        return os.path.isdir(os.path.join(self.location, folder))

    def open_folder(self, path: str) -> tuple[Source, str]:
        full_path = os.path.realpath(os.path.join(self.location, os.path.expanduser(path)))
        if is_within(full_path, self.location):
            inside = os.path.relpath(full_path, self.location).replace(os.sep, "/")
            return self, "" if inside == "." else inside
        other = Folder(full_path, self.limits)
        other.skipped = self.skipped
        other.home_folder = self.home_folder
        if self.home_folder and is_within(full_path, self.home_folder):
            self.skipped.append(Skipped(full_path, "is part of the target memory, and is left out"))
            other.excluded_folder = full_path
        elif self.home_folder and is_within(self.home_folder, full_path):
            other.excluded_folder = self.home_folder
        return other, ""

    def peek(self, path: str) -> bytes:
        try:
            # follow no link, and do not block on a pipe
            handle = os.open(os.path.join(self.location, path), READ_FLAGS | NO_FOLLOW)
        except OSError:
            return b""
        try:
            return os.read(handle, PEEK_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
        finally:
            os.close(handle)

    def modified(self, path: str) -> int:
        try:
            return os.stat(os.path.join(self.location, path)).st_mtime_ns
        except OSError:
            return 0

    def _read_bytes(self, path: str) -> bytes:
        location = os.path.join(self.location, path)
        if os.stat(location).st_size > self.limits.file_bytes:
            raise _TooLarge(_describe_limit(self.limits.file_bytes))
        return read_bytes(location, path)


class SingleFile(Folder):
    """One file, presented as a folder that holds nothing else."""

    def __init__(self, location: str, limits: Limits) -> None:
        super().__init__(os.path.dirname(location), limits)
        self._file = os.path.basename(location)
        self.name = os.path.splitext(self._file)[0]

    @property
    def full_path(self) -> str:
        return os.path.join(self.location, self._file)

    def list_names(self, folder: str = "") -> list[str]:
        return [] if folder else [self._file]

    def list_files(self, folder: str = "") -> list[str]:
        return [] if folder else [self._file]

    def has_folder(self, folder: str) -> bool:
        return False


class Zip(Source):
    """A zip. If all its files are in one folder, it is read as that folder."""

    def __init__(self, location: str, limits: Limits) -> None:
        super().__init__(location, limits)
        self.name = os.path.splitext(self.name)[0]
        try:
            self._zip = zipfile.ZipFile(location)
        except (zipfile.BadZipFile, UnicodeDecodeError, OSError, ValueError, NotImplementedError) as error:
            raise StorageError(f"{location} is a damaged zip ({error}): get a complete copy") from error
        infos = self._zip.infolist()
        if len(infos) > limits.files:
            raise Refused(f"{location} has more than {limits.files:,} files: it is taken for a zip bomb")
        members = dict(self._members(infos))
        above = {path.partition("/")[0] for path in members} if all("/" in path for path in members) else set()
        cut = len(above.pop()) + 1 if len(above) == 1 else 0
        self._members_by_path = {path[cut:]: info for path, info in members.items()}

    def _members(self, infos: Iterable[zipfile.ZipInfo]) -> Iterator[tuple[str, zipfile.ZipInfo]]:
        seen: set[str] = set()
        for info in infos:
            path = _decode_name(info)
            if info.is_dir() or not _IGNORED_FOLDERS.isdisjoint((path or "").split("/")):
                continue
            reason = "has a name that is not UTF-8" if path is None else path_problem(path)
            if stat.S_ISLNK(info.external_attr >> 16):
                reason = _LINK
            elif info.flag_bits & _ENCRYPTED_FLAG:
                reason = "is encrypted"
            elif path in seen:
                reason = "is in the zip twice"
            if reason or path is None:
                self.skipped.append(Skipped(printable_name(path or info.filename), reason))
                continue
            seen.add(path)
            yield path, info

    def list_names(self, folder: str = "") -> list[str]:
        rest = (path[len(folder) :].lstrip("/") for path in self.list_files(folder))
        return sorted({part + slash for part, slash, _ in (path.partition("/") for path in rest)})

    def list_files(self, folder: str = "") -> list[str]:
        above = f"{folder}/" if folder else ""
        below = (path for path in self._members_by_path if path.startswith(above))
        return sorted(path for path in below if not any(p.startswith(".") for p in path[len(above) :].split("/")))

    def has_folder(self, folder: str) -> bool:
        return any(path.startswith(f"{folder}/") for path in self._members_by_path)

    def peek(self, path: str) -> bytes:
        try:
            with self._zip.open(self._members_by_path[path]) as file:
                return file.read(PEEK_BYTES)
        except (KeyError, OSError, *_ZIP_ERRORS):
            return b""

    def modified(self, path: str) -> int:
        """Return when a file was changed. A zip has local times without a zone: that of this machine is assumed."""
        try:
            return int(time.mktime((*self._members_by_path[path].date_time, 0, 0, -1))) * 10**9
        except (OverflowError, ValueError):
            return 0

    def _read_bytes(self, path: str) -> bytes:
        info = self._members_by_path[path]
        likely_bytes = _SMALL_FILE_BYTES + _MAX_ZIP_RATIO * info.compress_size
        with self._zip.open(info) as file:
            return b"".join(_read_chunks(file, self.limits.file_bytes, likely_bytes))

    def close(self) -> None:
        self._zip.close()


def _read_chunks(file: IO[bytes], max_bytes: int, likely_bytes: int) -> Iterator[bytes]:
    """Yield a file in chunks, counting its bytes: the size it claims is not trusted."""
    count = 0
    while chunk := file.read(_CHUNK_BYTES):
        count += len(chunk)
        if count > max_bytes:
            raise _TooLarge(_describe_limit(max_bytes))
        if count > likely_bytes:
            raise _TooLarge(f"unpacks to more than {_MAX_ZIP_RATIO} times its size: it is taken for a zip bomb")
        yield chunk


def _describe_limit(max_bytes: int) -> str:
    return f"is larger than {max_bytes:,} bytes: if that is intended, raise --max-size"


def _decode_name(info: zipfile.ZipInfo) -> str | None:
    """Return the name of a member, or None if its encoding is unknown. Many zips are UTF-8 without saying so."""
    name = info.filename
    if info.flag_bits & _UTF8_FLAG or name.isascii():
        return name
    try:
        return name.encode("cp437").decode()
    except UnicodeError:
        return None


def is_within(path: str, folder: str) -> bool:
    """Return whether an absolute path is a folder, or is below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def single_file_name(source: Source) -> str:
    """Return the name of the only file of a source; empty if it has several."""
    names = source.list_names()
    return names[0] if len(names) == 1 and not names[0].endswith("/") else ""


def require_single_file(source: Source) -> str:
    """Return the name of the only file of a source; InvalidArgument if it has several."""
    name = single_file_name(source)
    if not name:
        raise InvalidArgument(f"{source.location} is not one file: name one file")
    return name


def printable_name(name: str) -> str:
    """Return a name as it can be printed, escaped if it has to be."""
    return name if name.isprintable() else ascii(name)[1:-1]


def open_source(path: str, limits: Limits) -> Source:
    """Open a source by its path. A link that the user names is followed."""
    location = os.path.realpath(os.path.expanduser(path))
    try:
        if os.path.isdir(location):
            return Folder(location, limits)
        if os.path.lexists(location) and not os.path.isfile(location):
            raise StorageError(f"{location} is neither a file nor a folder: name one")
        with open(location, "rb") as file:
            is_zip = file.read(4) in _ZIP_MAGIC
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {location}") from error
    except OSError as error:
        raise StorageError(f"{location}: {error.strerror}") from error
    return Zip(location, limits) if is_zip else SingleFile(location, limits)


def parse_json_list(
    data: bytes, what: str, skipped: list[Skipped], field: str, names: tuple[str, ...] = ()
) -> JsonObjects:
    """Yield the objects of a JSON list, numbered from 1; of an object, those of the list under the first of `names`.

    A broken part does not affect the others. `field` is one that every object has, by which the next object is found.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        skipped.append(Skipped(what, "is UTF-16 text: save it as UTF-8"))
        return
    text = data.decode("utf-8-sig", "surrogateescape")
    start = _skip_separators(text, 0)
    if text[start : start + 1] == "{":
        start = _find_list(text, start, names)
        if start < 0:
            skipped.append(Skipped(what, f"has no list {' or '.join(names) or 'of objects'}"))
            return
    if text[start : start + 1] != "[":
        skipped.append(Skipped(what, "is not a JSON list"))
        return
    yield from _parse_parts(text, start + 1, what, skipped, field)


def _skip_separators(text: str, at: int) -> int:
    match = _SEPARATORS.match(text, at)
    return match.end() if match else at


def _find_list(text: str, start: int, names: tuple[str, ...]) -> int:
    """Return where the list under the first of some names begins; -1 if there is none."""
    for name in names:
        match = re.compile(rf'"{re.escape(name)}"\s*:\s*(?=\[)').search(text, start)
        if match:
            return match.end()
    return -1


def _parse_parts(text: str, at: int, what: str, skipped: list[Skipped], field: str) -> JsonObjects:
    number = 0
    while True:
        at = _skip_separators(text, at)
        if text[at : at + 1] == "]":
            return
        number += 1
        if at >= len(text):
            skipped.append(Skipped(f"{what}, after part {number - 1}", "is cut off"))
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            skipped.append(Skipped(f"{what}, part {number}", f"is not JSON ({_json_reason(error)})"))
            at = _find_next_part(text, at, field)
            if at < 0:
                return
            continue
        if not isinstance(value, dict):
            skipped.append(Skipped(f"{what}, part {number}", "is not a JSON object"))
        elif _NOT_UTF8.search(text, at, end):
            skipped.append(Skipped(f"{what}, part {number}", "is not UTF-8 text"))
        else:
            yield number, value
        at = end


def _json_reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def _find_next_part(text: str, at: int, field: str) -> int:
    """Return where the next whole part begins after a broken one; -1 if none is found in reasonable time."""
    budget = _MIN_SCAN_CHARACTERS + _MAX_SCAN_FACTOR * len(text)
    for match in _PART_START.finditer(text, at + 1):
        try:
            value, _ = _DECODER.raw_decode(text, match.end())
        except json.JSONDecodeError as error:
            unterminated = error.msg.startswith("Unterminated")
            budget -= len(text) - error.pos if unterminated else error.pos - match.end()
            budget -= error.pos // _LINE_COUNT_SPEED
        except (ValueError, RecursionError):
            budget -= len(text) // 100
        else:
            if field in value:
                return match.end()
        if budget < 0:
            break
    return -1


def parse_json_lines(data: bytes, what: str, skipped: list[Skipped]) -> JsonObjects:
    """Yield the objects of JSON lines, each with its line number. A broken line does not affect the others."""
    start = 0
    number = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        value = _parse_line(data[start:end])
        start = end + 1
        if isinstance(value, dict):
            yield number, value
        elif value:
            skipped.append(Skipped(f"{what}, line {number}", value))


def _parse_line(raw: bytes) -> dict[str, Any] | str:
    """Return an object, or the reason why there is none; empty for an empty line."""
    if len(raw) > MAX_LINE_BYTES:
        return f"is longer than {MAX_LINE_BYTES:,} bytes"
    if not raw.strip():
        return ""
    try:
        value = _DECODER.decode(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    except (ValueError, RecursionError) as error:
        return f"is not JSON ({_json_reason(error)})"
    return value if isinstance(value, dict) else "is not a JSON object"
