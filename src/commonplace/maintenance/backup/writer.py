"""An archive as bytes: a tar that every system opens, or JSON lines. The same memory gives the same bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import nullcontext
from tarfile import PAX_FORMAT, TarInfo
from typing import Any, BinaryIO, Literal

from ...storage.bulk import Snapshot, SpooledFile

Format = Literal["tar", "jsonl"]
FORMAT_NAME = "commonplace"
FORMAT_VERSION = 1
BLOCK_BYTES = 512
_RECORD_BYTES = 20 * BLOCK_BYTES  # the length of a tar is a multiple of this


def write_archive(snapshot: Snapshot, stream: BinaryIO, format: Format, *, compress: bool) -> None:  # noqa: A002
    target: Any = nullcontext(stream)
    if compress:
        from gzip import GzipFile

        target = GzipFile("", "wb", 6, stream, mtime=0)  # without time and name, which would differ each time
    with target as file:
        FORMATS[format](snapshot, file)


def _write_tar(snapshot: Snapshot, stream: BinaryIO) -> None:
    written = 0
    for path, file in snapshot.files.items():
        header = _tar_header(path, file)
        padding = b"\0" * (-file.size % BLOCK_BYTES)
        stream.write(header)
        for chunk in snapshot.spool.read_chunks(file):
            stream.write(chunk)
        stream.write(padding)
        written += len(header) + file.size + len(padding)
    end = 2 * BLOCK_BYTES
    stream.write(b"\0" * (end + -(written + end) % _RECORD_BYTES))


def _tar_header(path: str, file: SpooledFile) -> bytes:
    """Return a header without an owner; nanoseconds are only possible in a pax field."""
    info = TarInfo(path)
    info.size = file.size
    info.mode = file.mode
    info.mtime = file.modified // 10**9
    if file.modified % 10**9:
        info.pax_headers = {"mtime": _format_seconds(file.modified)}
    return info.tobuf(PAX_FORMAT, "utf-8", "strict")


def _write_json_lines(snapshot: Snapshot, stream: BinaryIO) -> None:
    stream.write(_line({"format": FORMAT_NAME, "version": FORMAT_VERSION, "files": len(snapshot.files)}))
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
        stream.write(_line(fields))


def _line(fields: dict[str, Any]) -> bytes:
    return f"{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def _format_seconds(nanoseconds: int) -> str:
    """Return seconds as text, since a float cannot hold all digits."""
    whole, rest = divmod(abs(nanoseconds), 10**9)
    return f"{'-' if nanoseconds < 0 else ''}{whole}.{rest:09}"


FORMATS: dict[Format, Callable[[Snapshot, BinaryIO], None]] = {"tar": _write_tar, "jsonl": _write_json_lines}
