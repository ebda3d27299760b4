"""Archives: which files belong in one, how it is written, and how one that may come from anybody is read.

An archive is a tar that every system opens, or JSON lines; the same memory gives the same bytes. Reading recognises the
format by its bytes, not its name, and checks and spools all of it before any of it is used: one wrong member, and it is
refused as a whole. Python's own tar reader recovers what it can from a damaged file; this one notices the damage.

The file that an export writes gets its name once it is whole, and a writer that is killed leaves nothing.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import re
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import pairwise
from typing import Any, BinaryIO, Literal, NamedTuple

from ... import settings as settings_module
from ...errors import Refused, StorageError
from ...settings import Settings
from ...storage.base import HISTORY_FOLDER, Root
from ...storage.bulk import CHUNK_BYTES, Snapshot, Spool, SpooledFile, path_problem
from ...storage.files import (
    CREATE_FLAGS,
    NO_FOLLOW,
    PRIVATE_FILE_MODE,
    READ_FLAGS,
    page_of_leftover,
    rename_new,
    sync_folder,
    temporary_path,
)
from ...storage.layout import Layout
from ...storage.names import compile_glob, fixed_folder
from ...wording import format_command

Format = Literal["tar", "jsonl"]
HISTORY_ROOT = Root(HISTORY_FOLDER, "")
_FORMAT_NAME = "commonplace"
_FORMAT_VERSION = 1
_BLOCK_BYTES = 512
_RECORD_BYTES = 20 * _BLOCK_BYTES  # the length of a tar is a multiple of this
_FIRST_LINE_BYTES = 200
_GZIP_MAGIC = b"\x1f\x8b"
_TAR_MAGIC_AT = slice(257, 262)
_BUFFER_BYTES = 1 << 16
_REGULAR_FILE = (tarfile.REGTYPE, tarfile.AREGTYPE)
_EXTRA_HEADERS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_USED_PAX_FIELDS = (b"path", b"size", b"mtime")
_SPARSE_PREFIX = b"GNU.sparse"
_MAX_LENGTH_DIGITS = 20
_MAX_HEADER_BYTES = 1 << 20  # a path has a few hundred
_LINE_OVERHEAD_BYTES = 1 << 16  # a JSON line has besides the text: path, mode, time
_MODE_BITS = 0o755  # none but its owner may write what an archive brings
_MODE = re.compile("[0-7]{1,4}")


def backup_scope(layout: Layout, settings: Settings) -> list[Root]:
    """Return the pages and folders that are memory: all files in our folders, only Markdown in extra ones."""
    folders = [
        layout.path(layout.loose),
        layout.skills,
        layout.directives,
        layout.agents,
        layout.shared_memories,
        layout.earlier_memories,
    ]
    pages = [settings_module.FILE, layout.shared_curated]
    for diary in layout.separate_diaries():
        pages.append(diary.curated)
        folders.append(diary.tree)
    roots = [Root(path, "", is_page=True) for path in pages] + [Root(folder, "") for folder in folders]
    if layout.world_folder:
        roots.append(Root(layout.world_folder))
    patterns = [pattern for search in settings.searches for pattern in search.extra_paths]
    roots += [Root(fixed_folder(pattern), pattern=compile_glob(pattern)) for pattern in patterns]
    return [*dict.fromkeys(roots)]


def render_settings(settings: Settings, root: str) -> bytes:
    """Return a settings file for the copy of another system's home, which needs none itself."""
    if settings.agents_folder or settings.agent_roots:
        problem = f"{root} is spread over folders in the way of {settings.layout}, which no copy of it could be"
        raise Refused(problem, advice=f"bring it into a memory of your own: `{format_command('import', root)}`")
    values: dict[str, Any] = {"layout": settings.layout}
    if settings.workspace:
        values["workspace"] = settings.workspace
    if settings.world_path:
        values["world_memory"] = {"path": settings.world_path}
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items()).encode()


def write_archive(snapshot: Snapshot, stream: BinaryIO, format: Format, *, compress: bool) -> None:  # noqa: A002
    """Write all files of a snapshot to a stream."""
    target: Any = nullcontext(stream)
    if compress:
        target = gzip.GzipFile("", "wb", 6, stream, mtime=0)  # no time, no name: same bytes each time
    with target as file:
        FORMATS[format](snapshot, file)


def _write_tar(snapshot: Snapshot, stream: BinaryIO) -> None:
    written = 0
    for path, file in snapshot.files.items():
        header = _tar_header(path, file)
        padding = b"\0" * (-file.size % _BLOCK_BYTES)
        stream.write(header)
        for chunk in snapshot.spool.read_chunks(file):
            stream.write(chunk)
        stream.write(padding)
        written += len(header) + file.size + len(padding)
    end = 2 * _BLOCK_BYTES
    stream.write(b"\0" * (end + -(written + end) % _RECORD_BYTES))


def _tar_header(path: str, file: SpooledFile) -> bytes:
    """Return a header without an owner; nanoseconds are only possible in a pax field."""
    info = tarfile.TarInfo(path)
    info.size = file.size
    info.mode = file.mode
    info.mtime = file.modified // 10**9
    if file.modified % 10**9:
        info.pax_headers = {"mtime": _format_seconds(file.modified)}
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def _write_json_lines(snapshot: Snapshot, stream: BinaryIO) -> None:
    stream.write(_render_line({"format": _FORMAT_NAME, "version": _FORMAT_VERSION, "files": len(snapshot.files)}))
    for path, file in snapshot.files.items():
        data = snapshot.spool.read(file)
        fields: dict[str, Any] = {
            "path": path,
            "mode": f"{file.mode:04o}",
            "modified": _format_seconds(file.modified),
        }
        try:
            fields["text"] = data.decode()
        except UnicodeDecodeError:
            fields["base64"] = base64.b64encode(data).decode()
        stream.write(_render_line(fields))


def _render_line(fields: dict[str, Any]) -> bytes:
    return f"{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def _format_seconds(nanoseconds: int) -> str:
    """Return seconds as text, since a float cannot hold all digits."""
    whole, rest = divmod(abs(nanoseconds), 10**9)
    return f"{'-' if nanoseconds < 0 else ''}{whole}.{rest:09}"


FORMATS: dict[Format, Callable[[Snapshot, BinaryIO], None]] = {"tar": _write_tar, "jsonl": _write_json_lines}


class Limits(NamedTuple):
    """The limits of an archive: bytes of one file, bytes of all files, and the number of files."""

    file_bytes: int = 256 << 20
    total_bytes: int = 8 << 30
    files: int = 1_000_000


class Member(NamedTuple):
    """A file in an archive. Its data must be read before the next member is."""

    path: str
    mode: int
    modified: int
    data: Iterator[bytes]


def read_archive(stream: BinaryIO, spool: Spool, limits: Limits) -> dict[str, SpooledFile]:
    """Return the files of an archive by path, sorted, with their bytes in the spool."""
    files: dict[str, SpooledFile] = {}
    source = _decompress(stream, limits)
    read_members = read_json_lines if _is_json_lines(source) else read_tar
    for member in read_members(source, limits.file_bytes):
        if problem := path_problem(member.path):
            raise Refused(f"{member.path!a} {problem}: nothing was imported")
        if member.path in files:
            raise Refused(f"{member.path!a} is in the archive twice: nothing was imported")
        if len(files) == limits.files:
            raise Refused(f"the archive has more than {limits.files:,} files: nothing was imported")
        files[member.path] = spool.add(member.mode & _MODE_BITS, member.modified, member.data)
    _refuse_file_and_folder(files)
    return dict(sorted(files.items()))


def _refuse_file_and_folder(paths: Iterable[str]) -> None:
    """Refuse a path that is both a file and a folder. With slashes sorted first, a folder's content follows it."""
    for one, other in pairwise(sorted(paths, key=lambda path: path.replace("/", "\0"))):
        if other.startswith(f"{one}/"):
            raise Refused(f"{one!a} is a file and a folder in the archive: nothing was imported")


def is_archive(head: bytes) -> bool:
    """Return whether a file with these first 512 bytes is to be read as an archive. An empty one is, to be refused."""
    first_line = head[:_FIRST_LINE_BYTES]
    is_lines = head[:1] == b"{" and b'"format"' in first_line and f'"{_FORMAT_NAME}"'.encode() in first_line
    return not head or head.startswith(_GZIP_MAGIC) or _is_tar(head) or is_lines


def _is_tar(head: bytes) -> bool:
    return head[_TAR_MAGIC_AT] == b"ustar" or head == bytes(_BLOCK_BYTES)


def _is_json_lines(source: io.BufferedReader[_LimitedStream]) -> bool:
    head = source.peek(_BLOCK_BYTES)[:_BLOCK_BYTES]
    if head[:1] == b"{":
        return True
    if _is_tar(head):
        return False
    problem = "is empty" if not head else "is neither a tar nor JSON lines"
    raise StorageError(f"the archive {problem}: give a file that `commonplace export` made")


def _decompress(stream: BinaryIO, limits: Limits) -> io.BufferedReader[_LimitedStream]:
    outer = io.BufferedReader(_LimitedStream(stream, limits.total_bytes), _BUFFER_BYTES)
    if outer.peek(2)[:2] != _GZIP_MAGIC:
        return outer
    return io.BufferedReader(_LimitedStream(gzip.GzipFile(fileobj=outer), limits.total_bytes), _BUFFER_BYTES)


class _LimitedStream(io.RawIOBase):
    """Counts the bytes read: a small file may unpack to more than any disk holds."""

    def __init__(self, stream: BinaryIO | gzip.GzipFile, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer unless the stream ends: a pipe may return fewer bytes at a time."""
        got = 0
        while got < len(buffer) and (data := self._read(len(buffer) - got)):
            buffer[got : got + len(data)] = data
            got += len(data)
        self._count += got
        if self._count > self._max_bytes:
            limit = _format_size(self._max_bytes)
            raise Refused(f"the archive unpacks to more than {limit}: if that is intended, raise --max-size")
        return got

    def _read(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise StorageError(f"the archive is damaged or cut off ({error}): nothing was imported") from error


def _format_size(count: int) -> str:
    return f"{count / (1 << 30):g} GB" if count >= 1 << 30 else f"{count:,} bytes"


def _check_size(path: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise Refused(f"{path!a} has more than {max_bytes:,} bytes: if that is intended, raise --max-size")


def _parse_seconds(text: str) -> int:
    """Return seconds given as text in nanoseconds; StorageError if no file can have this time."""
    whole, _, fraction = text.removeprefix("-").partition(".")
    digits = whole + fraction
    if not digits.isascii() or not digits.isdigit() or len(whole) > 11:
        raise StorageError(f"the archive says {text[:40]!a} where a time should be: nothing was imported")
    sign = -1 if text[0] == "-" else 1
    return sign * int(whole + fraction[:9].ljust(9, "0"))


def read_tar(source: io.BufferedIOBase, max_file_bytes: int) -> Iterator[Member]:
    """Yield plain files, complete; refuse everything else, and anything after the end."""
    fields: dict[str, str] = {}  # from pax headers, for the next member
    while (block := _read_exactly(source, _BLOCK_BYTES)) != bytes(_BLOCK_BYTES):
        info = _parse_header(block)
        if info.type in _EXTRA_HEADERS:
            text = _read_padded(source, info.size)
            if info.type == tarfile.XHDTYPE:
                fields |= _parse_pax_records(text)
            elif info.type == tarfile.GNUTYPE_LONGNAME:
                fields["path"] = text.rstrip(b"\0").decode("utf-8", "surrogateescape")
            continue
        yield from _read_member(source, info, fields, max_file_bytes)
        fields = {}
    _check_end(source)


def _read_member(
    source: io.BufferedIOBase, info: tarfile.TarInfo, fields: dict[str, str], max_file_bytes: int
) -> Iterator[Member]:
    path = fields.get("path", info.name).removeprefix("./")
    size = _parse_number(fields["size"]) if "size" in fields else info.size
    if info.isdir() and size == 0:
        if ".." in path.split("/") or path.startswith("/"):
            raise Refused(f"{path!a} is not a path inside a home: nothing was imported")
        return
    if info.type not in _REGULAR_FILE or _SPARSE_PREFIX.decode() in fields:
        raise Refused(f"{path!a} is a link or a special file, which no memory has: nothing was imported")
    _check_size(path, size, max_file_bytes)
    modified = _parse_seconds(fields["mtime"]) if "mtime" in fields else int(info.mtime) * 10**9
    yield Member(path, info.mode, modified, _read_chunks(source, size))
    _read_exactly(source, -size % _BLOCK_BYTES)


def _parse_header(block: bytes) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise StorageError(f"the archive is damaged ({error}): nothing was imported") from error
    if info.size < 0 or not abs(info.mtime) < 10**11:
        raise StorageError("the archive is damaged (an impossible size or time): nothing was imported")
    return info


def _parse_pax_records(text: bytes) -> dict[str, str]:
    """Parse a pax header: each record is its own length, a space, name=value, and a line break."""
    fields: dict[str, str] = {}
    start = 0
    while start < len(text):
        length = text[start : start + _MAX_LENGTH_DIGITS].partition(b" ")[0]
        end = start + _parse_number(length.decode("ascii", "replace"))
        name, equals, value = text[start + len(length) + 1 : end - 1].partition(b"=")
        if not equals or text[end - 1 : end] != b"\n" or end > len(text):
            raise StorageError("the archive is damaged (invalid header): nothing was imported")
        if name.startswith(_SPARSE_PREFIX):
            name = _SPARSE_PREFIX
        if name in (*_USED_PAX_FIELDS, _SPARSE_PREFIX):
            fields[name.decode()] = value.decode("utf-8", "surrogateescape")
        start = end
    return fields


def _parse_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise StorageError(f"the archive says {text[:40]!a} where a number should be: nothing was imported")
    return int(text)


def _read_padded(source: io.BufferedIOBase, size: int) -> bytes:
    if size > _MAX_HEADER_BYTES:
        raise Refused("the archive has a name that no file can have: nothing was imported")
    return _read_exactly(source, size + -size % _BLOCK_BYTES)[:size]


def _read_chunks(source: io.BufferedIOBase, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = _read_exactly(source, min(left, CHUNK_BYTES))
        left -= len(chunk)
        yield chunk


def _read_exactly(source: io.BufferedIOBase, size: int) -> bytes:
    data = source.read(size)
    if len(data) < size:
        raise StorageError("the archive is cut off: nothing was imported; get a complete copy")
    return data


def _check_end(source: io.BufferedIOBase) -> None:
    """Require a second empty block and then nothing: a tar behind the tar would go unseen."""
    rest = _read_exactly(source, _BLOCK_BYTES)
    while rest:
        if rest.strip(b"\0"):
            raise StorageError("the archive is damaged (there is more after its end): nothing was imported")
        rest = source.read(CHUNK_BYTES)


def read_json_lines(source: io.BufferedIOBase, max_file_bytes: int) -> Iterator[Member]:
    """Yield the files of an archive in JSON lines: the first line says what it is, each of the others is a file."""
    max_line_bytes = 2 * max_file_bytes + _LINE_OVERHEAD_BYTES  # text takes more room in JSON than in a file
    promised = _parse_first_line(_parse_object(source.readline(_LINE_OVERHEAD_BYTES), 1))
    number = 1
    while line := source.readline(max_line_bytes + 1):
        number += 1
        _check_size(f"line {number}", len(line), max_line_bytes)
        yield _parse_member(_parse_object(line, number), number, max_file_bytes)
    if promised is not None and promised != number - 1:
        raise StorageError(f"the archive is cut off: it has {number - 1} of {promised} files; get a complete copy")


def _parse_first_line(first: dict[str, Any]) -> int | None:
    """Check the format; return how many files there should be, if the line says so."""
    version = first.get("version")
    files = first.get("files")
    if first.get("format") != _FORMAT_NAME or type(version) is not int:
        raise StorageError(
            f'line 1 does not say "format": "{_FORMAT_NAME}": give a file that `commonplace export` made'
        )
    if version > _FORMAT_VERSION:
        raise StorageError("a later version of commonplace made this archive: update commonplace, then try again")
    return files if type(files) is int else None


def _parse_object(line: bytes, number: int) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise StorageError(f"the archive is cut off in line {number}: nothing was imported; get a complete copy")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _line_error(number, f"is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise _line_error(number, "is not a JSON object")
    return value


def _parse_member(fields: dict[str, Any], number: int, max_file_bytes: int) -> Member:
    path = fields.get("path")
    mode = fields.get("mode", "0600")
    modified = fields.get("modified")
    if not isinstance(path, str):
        raise _line_error(number, "has no path")
    if not isinstance(mode, str) or not _MODE.fullmatch(mode):
        raise _line_error(number, 'has a mode that is not text like "0600"')
    if not isinstance(modified, str) or not modified:
        raise _line_error(number, "does not say when the file was modified, in seconds since 1970, as text")
    data = _parse_data(fields, number)
    _check_size(path, len(data), max_file_bytes)
    return Member(path, int(mode, 8), _parse_seconds(modified), iter([data]))


def _parse_data(fields: dict[str, Any], number: int) -> bytes:
    text = fields.get("text")
    encoded = fields.get("base64")
    try:
        if isinstance(text, str) and encoded is None:
            return text.encode()
        if isinstance(encoded, str) and text is None:
            return base64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise _line_error(number, f"has invalid text or base64 ({error})") from error
    raise _line_error(number, "has neither text nor base64, or both")


def _line_error(number: int, problem: str) -> StorageError:
    return StorageError(f"line {number} of the archive {problem}: nothing was imported")


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_DESCRIPTORS = "/proc/self/fd"


@contextmanager
def open_atomic(path: str, *, replace: bool) -> Iterator[BinaryIO]:
    """Open a private file for writing that gets its name once it is complete; a killed writer leaves nothing.

    FileExistsError, after all is written, if the name is taken and `replace` is false. Where the system has no
    nameless files, and where another file is replaced, a temporary name is used until the end.
    """
    file_path = os.path.abspath(path)
    folder = os.path.dirname(file_path)
    temporary = temporary_path(file_path)
    nameless = _open_nameless(folder)
    is_in_place = False
    try:
        with ExitStack() as stack:
            with open(
                os.open(temporary, CREATE_FLAGS, PRIVATE_FILE_MODE) if nameless is None else nameless, "wb"
            ) as file:
                _lock_until_closed(file.fileno(), stack)
                yield file
                file.flush()
                os.fsync(file.fileno())
                if nameless is not None:
                    is_in_place = _link_nameless(nameless, temporary, file_path, replace=replace)
            if not is_in_place:
                (os.replace if replace else rename_new)(temporary, file_path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def _lock_until_closed(handle: int, stack: ExitStack) -> None:
    """Lock a file until the stack closes, which is after the file has its name. The death of the process unlocks."""
    if fcntl:
        with suppress(OSError):  # without file locks nobody removes leftovers
            fcntl.flock(handle, fcntl.LOCK_EX)
            stack.callback(os.close, os.dup(handle))


def _open_nameless(folder: str) -> int | None:
    """Open a file that has no name yet, where the system can: nothing is left of it when its writer dies."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir(_DESCRIPTORS):
        return None
    with suppress(OSError):  # a real problem with the folder shows when the temporary file is created
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE_MODE)
    return None


def _link_nameless(handle: int, temporary: str, file_path: str, *, replace: bool) -> bool:
    """Name a nameless file, with the temporary name if its own is taken; return whether it is in place."""
    above = os.open(os.path.dirname(file_path), os.O_RDONLY | os.O_CLOEXEC)
    nameless = f"{_DESCRIPTORS}/{handle}"
    try:
        # Python follows the link of a descriptor only if it is given a folder to be relative to.
        os.link(nameless, file_path, src_dir_fd=above)
    except FileExistsError:
        if not replace:
            raise
        os.link(nameless, temporary, src_dir_fd=above)
        return False
    finally:
        os.close(above)
    return True


def remove_leftovers(path: str) -> None:
    """Remove what killed writers of this file left behind. A live writer holds a lock on its temporary file."""
    folder, temporary = os.path.split(temporary_path(os.path.abspath(path)))
    name = page_of_leftover(temporary)
    with suppress(OSError):
        for each in os.listdir(folder) if fcntl else ():
            if page_of_leftover(each) == name:
                _remove_if_unlocked(os.path.join(folder, each))


def _remove_if_unlocked(temporary: str) -> None:
    with suppress(OSError):  # another process has it open, or the user may not remove it
        handle = os.open(temporary, READ_FLAGS | NO_FOLLOW)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(temporary)
        finally:
            os.close(handle)
