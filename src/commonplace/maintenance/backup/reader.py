"""An archive from anywhere, read with suspicion: all of it is looked at and put aside before any of it is believed.

What it is, its bytes tell, not its name. An archive with one wrong member is refused as a whole.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from ...errors import Refused, StorageError
from .json_lines import read_jsonl
from .scope import oddity
from .spool import Item, Spool
from .tar_reader import read_tar
from .writer import BLOCK

_GZIP = b"\x1f\x8b"
_TAR = slice(257, 262)
_BUFFER = 1 << 16


class Limits(NamedTuple):
    """What an archive may unpack to, in bytes and files; one that says more is taken for a trap."""

    one: int = 256 << 20
    all: int = 8 << 30
    files: int = 1_000_000


def receive(stream: BinaryIO, spool: Spool, limits: Limits) -> dict[str, Item]:
    """The files of an archive by path, in order, with their bytes in the spool."""
    found: dict[str, Item] = {}
    source = _unpacked(stream, limits)
    read = read_jsonl if _is_jsonl(source) else read_tar
    for member in read(source, limits.one):
        if reason := oddity(member.path):
            raise Refused(f"{member.path!a} {reason}: nothing was imported")
        if member.path in found:
            raise Refused(f"{member.path!a} stands in the archive twice: nothing was imported")
        if len(found) == limits.files:
            raise Refused(f"the archive has more than {limits.files:,} files: nothing was imported")
        found[member.path] = spool.add(member.mode & 0o777, member.modified, member.data)
    _refuse_both(found)
    return dict(sorted(found.items()))


def _refuse_both(paths: Iterable[str]) -> None:
    """A path that is a file and a folder. Sorted in this way, what is in a folder follows it at once."""
    for one, other in pairwise(sorted(paths, key=lambda path: path.replace("/", "\0"))):
        if other.startswith(f"{one}/"):
            raise Refused(f"{one!a} is a file and a folder in the archive: nothing was imported")


def _is_jsonl(source: io.BufferedReader[_Stream]) -> bool:
    head = source.peek(BLOCK)[:BLOCK]
    if head[:1] == b"{":
        return True
    if head[_TAR] == b"ustar" or head == bytes(BLOCK):
        return False
    what = "is empty" if not head else "is neither a tar nor JSON lines"
    raise StorageError(f"the archive {what}: give a file that `commonplace export` made")


def _unpacked(stream: BinaryIO, limits: Limits) -> io.BufferedReader[_Stream]:
    outer = io.BufferedReader(_Stream(stream, limits.all), _BUFFER)
    if outer.peek(2)[:2] != _GZIP:
        return outer
    return io.BufferedReader(_Stream(gzip.GzipFile(fileobj=outer), limits.all), _BUFFER)


class _Stream(io.RawIOBase):
    """Bytes that are counted as they come: a small file may unpack to more than any disk holds."""

    def __init__(self, stream: BinaryIO | gzip.GzipFile, most: int) -> None:
        self._stream, self._most, self._count = stream, most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """As many as are wanted, but at the end: a pipe may give fewer."""
        got = 0
        while got < len(buffer) and (data := self._read(len(buffer) - got)):
            buffer[got : got + len(data)] = data
            got += len(data)
        self._count += got
        if self._count > self._most:
            raise Refused(f"the archive unpacks to more than {_size(self._most)}: if it should, raise --max-size")
        return got

    def _read(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise StorageError(f"the archive is damaged or cut off ({error}): nothing was imported") from error


def _size(count: int) -> str:
    return f"{count / (1 << 30):g} GB" if count >= 1 << 30 else f"{count:,} bytes"
