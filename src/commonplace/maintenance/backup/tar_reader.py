"""The members of a tar, one after the other, without trust: plain files and folders, whole, and nothing after the end.

Python's own reader is made to get out of a damaged tar what it can. This one is made to notice.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import NamedTuple

from ...errors import Refused, StorageError
from .spool import CHUNK
from .writer import BLOCK

_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_MATTERS, _SPARSE = (b"path", b"size", b"mtime"), b"GNU.sparse"  # of what a header may say
_DIGITS = 20
_LONGEST_HEADER = 1 << 20  # bytes: a path has a few hundred
_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class Member(NamedTuple):
    """A file in an archive. Its data is to be read before the next one is asked for."""

    path: str
    mode: int
    modified: int
    data: Iterator[bytes]


def read_tar(source: io.BufferedIOBase, largest: int) -> Iterator[Member]:
    said: dict[str, str] = {}  # by extra headers, of the member after them
    while (block := _exactly(source, BLOCK)) != bytes(BLOCK):
        info = _header(block)
        if info.type in (_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK):
            text = _padded(source, info.size)
            if info.type == _PAX:
                said |= _records(text)
            elif info.type == _LONG_NAME:
                said["path"] = text.rstrip(b"\0").decode("utf-8", "surrogateescape")
            continue
        yield from _member(source, info, said, largest)
        said = {}
    _end(source)


def _member(source: io.BufferedIOBase, info: tarfile.TarInfo, said: dict[str, str], largest: int) -> Iterator[Member]:
    path = said.get("path", info.name).removeprefix("./")
    size = int(_number(said["size"])) if "size" in said else info.size
    if info.isdir() and size == 0:
        if ".." in path.split("/") or path.startswith("/"):
            raise Refused(f"{path!a} is not a path inside a home: nothing was imported")
        return
    if info.type not in _PLAIN or _SPARSE.decode() in said:
        raise Refused(f"{path!a} is a link or no plain file, which no memory has: nothing was imported")
    check_size(path, size, largest)
    modified = nanoseconds(said["mtime"]) if "mtime" in said else int(info.mtime) * 10**9
    yield Member(path, info.mode, modified, _pieces(source, size))
    _exactly(source, -size % BLOCK)


def check_size(path: str, size: int, largest: int) -> None:
    if size > largest:
        raise Refused(f"{path!a} has more than {largest:,} bytes: if it should, raise --max-size")


def nanoseconds(text: str) -> int:
    """Of seconds as text; what is no time, or none that a file system holds, is an error."""
    whole, _, rest = text.removeprefix("-").partition(".")
    if not (whole + rest).isascii() or not (whole + rest).isdigit() or len(whole) > 11:
        raise StorageError(f"the archive says {text[:40]!a} where a time should be: nothing was imported")
    return (-1 if text[0] == "-" else 1) * int(whole + rest[:9].ljust(9, "0"))


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise StorageError(f"the archive is damaged ({error}): nothing was imported") from error
    if info.size < 0 or not abs(info.mtime) < 10**11:
        raise StorageError("the archive is damaged (a size or a time that can not be): nothing was imported")
    return info


def _records(text: bytes) -> dict[str, str]:
    """What a pax header says: each record is its own length, a space, name=value, and a line break."""
    found: dict[str, str] = {}
    start = 0
    while start < len(text):
        length = text[start : start + _DIGITS].partition(b" ")[0]
        end = start + int(_number(length.decode("ascii", "replace")))
        name, equals, value = text[start + len(length) + 1 : end - 1].partition(b"=")
        if not equals or text[end - 1 : end] != b"\n" or end > len(text):
            raise StorageError("the archive is damaged (a header that makes no sense): nothing was imported")
        if name in _MATTERS or name.startswith(_SPARSE):
            known = _SPARSE if name.startswith(_SPARSE) else name
            found[known.decode()] = value.decode("utf-8", "surrogateescape")
        start = end
    return found


def _number(text: str) -> str:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise StorageError(f"the archive says {text[:40]!a} where a number should be: nothing was imported")
    return text


def _padded(source: io.BufferedIOBase, size: int) -> bytes:
    if size > _LONGEST_HEADER:
        raise Refused("the archive has a name that no file can have: nothing was imported")
    return _exactly(source, size + -size % BLOCK)[:size]


def _pieces(source: io.BufferedIOBase, size: int) -> Iterator[bytes]:
    while size:
        piece = _exactly(source, min(size, CHUNK))
        size -= len(piece)
        yield piece


def _exactly(source: io.BufferedIOBase, size: int) -> bytes:
    data = source.read(size)
    if len(data) < size:
        raise StorageError("the archive is cut off: nothing was imported; get the whole of it")
    return data


def _end(source: io.BufferedIOBase) -> None:
    """A second empty block, then nothing: a tar behind the tar would go unseen."""
    rest = _exactly(source, BLOCK)
    while rest:
        if rest.strip(b"\0"):
            raise StorageError("the archive is damaged (something stands after its end): nothing was imported")
        rest = source.read(CHUNK)
