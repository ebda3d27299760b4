"""The members of an archive in JSON lines: a first line that says what it is, then one file a line."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from ...errors import StorageError
from .tar_reader import Member, check_size, nanoseconds
from .writer import NAME, VERSION

_ASIDE = 1 << 16  # bytes of a line beside the text: path, mode, time
_MODE = re.compile("[0-7]{1,4}")


def read_jsonl(source: io.BufferedIOBase, largest: int) -> Iterator[Member]:
    """Text takes more room in JSON than in a file; a line may have twice the bytes of the largest file."""
    most = 2 * largest + _ASIDE
    promised = _promised(_object(source.readline(_ASIDE), 1))
    number = 1
    while line := source.readline(most + 1):
        number += 1
        check_size(f"line {number}", len(line), most)
        yield _member(_object(line, number), number, largest)
    if promised is not None and promised != number - 1:
        raise StorageError(f"the archive is cut off: it has {number - 1} of {promised} files; get the whole of it")


def _promised(first: dict[str, Any]) -> int | None:
    """How many files there should be, when the first line says so."""
    version, files = first.get("version"), first.get("files")
    if first.get("format") != NAME or type(version) is not int:
        raise StorageError(f'line 1 does not say "format": "{NAME}": give a file that `commonplace export` made')
    if version > VERSION:
        raise StorageError("a later version of commonplace made this archive: update commonplace, then try again")
    return files if type(files) is int else None


def _object(line: bytes, number: int) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise StorageError(f"the archive is cut off in line {number}: nothing was imported; get the whole of it")
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _wrong(number, f"is not JSON ({error})") from error
    if not isinstance(said, dict):
        raise _wrong(number, "is not a JSON object")
    return said


def _member(said: dict[str, Any], number: int, largest: int) -> Member:
    path, mode, modified = said.get("path"), said.get("mode", "0600"), said.get("modified")
    if not isinstance(path, str):
        raise _wrong(number, "has no path")
    if not isinstance(mode, str) or not _MODE.fullmatch(mode):
        raise _wrong(number, 'has a mode that is not text like "0600"')
    if not isinstance(modified, str) or not modified:
        raise _wrong(number, "does not say when the file was modified, in seconds since 1970, as text")
    data = _data(said, number)
    check_size(path, len(data), largest)
    return Member(path, int(mode, 8), nanoseconds(modified), iter([data]))


def _data(said: dict[str, Any], number: int) -> bytes:
    text, coded = said.get("text"), said.get("base64")
    try:
        if isinstance(text, str) and coded is None:
            return text.encode()
        if isinstance(coded, str) and text is None:
            return base64.b64decode(coded, validate=True)
    except ValueError as error:
        raise _wrong(number, f"has text or base64 that is none ({error})") from error
    raise _wrong(number, "has neither text nor base64, or both")


def _wrong(number: int, what: str) -> StorageError:
    return StorageError(f"line {number} of the archive {what}: nothing was imported")
