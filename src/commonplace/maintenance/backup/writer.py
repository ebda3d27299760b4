"""An archive as bytes: a tar that every system opens, or JSON lines. The same memory gives the same bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import nullcontext
from tarfile import PAX_FORMAT, TarInfo
from typing import Any, BinaryIO, Literal

from .snapshot import Snapshot
from .spool import Item

Format = Literal["tar", "jsonl"]
NAME, VERSION = "commonplace", 1
BLOCK = 512
_RECORD = 20 * BLOCK  # a tar's length is a multiple of this


def write(taken: Snapshot, stream: BinaryIO, format: Format, *, compress: bool) -> None:  # noqa: A002
    out: Any = nullcontext(stream)
    if compress:
        from gzip import GzipFile

        out = GzipFile("", "wb", 6, stream, mtime=0)  # without a time and a name, which would differ
    with out as file:
        FORMATS[format](taken, file)


def _tar(taken: Snapshot, out: BinaryIO) -> None:
    written = 0
    for path, item in taken.items.items():
        head = _header(path, item)
        padding = b"\0" * (-item.size % BLOCK)
        out.write(head)
        for chunk in taken.spool.chunks(item):
            out.write(chunk)
        out.write(padding)
        written += len(head) + item.size + len(padding)
    end = 2 * BLOCK
    out.write(b"\0" * (end + -(written + end) % _RECORD))


def _header(path: str, item: Item) -> bytes:
    """Nobody's name, and the time to the nanosecond, for which tar has a place only beside."""
    info = TarInfo(path)
    info.size, info.mode, info.mtime = item.size, item.mode, item.modified // 10**9
    if item.modified % 10**9:
        info.pax_headers = {"mtime": seconds(item.modified)}
    return info.tobuf(PAX_FORMAT, "utf-8", "strict")


def _jsonl(taken: Snapshot, out: BinaryIO) -> None:
    out.write(_line({"format": NAME, "version": VERSION, "files": len(taken.items)}))
    for path, item in taken.items.items():
        data = taken.spool.read(item)
        said: dict[str, Any] = {"path": path, "mode": f"{item.mode:04o}", "modified": seconds(item.modified)}
        try:
            said["text"] = data.decode()
        except UnicodeDecodeError:
            said["base64"] = base64.b64encode(data).decode()
        out.write(_line(said))


def _line(said: dict[str, Any]) -> bytes:
    return f"{json.dumps(said, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def seconds(nanoseconds: int) -> str:
    """As text: a float can not hold them all."""
    whole, rest = divmod(abs(nanoseconds), 10**9)
    return f"{'-' if nanoseconds < 0 else ''}{whole}.{rest:09}"


FORMATS: dict[Format, Callable[[Snapshot, BinaryIO], None]] = {"tar": _tar, "jsonl": _jsonl}
