"""The values of a backend's bulk verbs: snapshots and batches of whole pages with history, for backup, import, copy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple, TypeVar

from ..formats.json_text import is_unicode
from .base import ABSENT, HISTORY_FOLDER, Root
from .history import Change, Versions, current_write

CHUNK_BYTES = 1 << 20
_SPOOL_MEMORY_BYTES = 32 << 20
_MAX_PATH_BYTES = 4096
_MAX_PATH_DEPTH = 100  # folders; opening a file steps through each of them

Each = TypeVar("Each")
WriteProgress = Callable[[int], None]  # called with the number of pages written so far


def ignore_progress(_done: int) -> None:
    """Report nothing."""


class SpooledFile(NamedTuple):
    """A file whose bytes are in a spool. `mode`: its access rights; `modified`: nanoseconds since 1970."""

    mode: int
    modified: int
    start: int
    size: int


class Spool:
    """A temporary store for the bytes of many files: in memory while they are few, on disk when they are many."""

    def __init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(_SPOOL_MEMORY_BYTES)  # noqa: SIM115
        self._end = 0

    def add(self, mode: int, modified: int, data: Iterable[bytes]) -> SpooledFile:
        start = self._end
        self._file.seek(start)
        for chunk in data:
            self._file.write(chunk)
            self._end += len(chunk)
        return SpooledFile(mode, modified, start, self._end - start)

    def read(self, file: SpooledFile) -> bytes:
        self._file.seek(file.start)
        return self._file.read(file.size)

    def read_chunks(self, file: SpooledFile) -> Iterator[bytes]:
        for offset in range(0, file.size, CHUNK_BYTES):
            self._file.seek(file.start + offset)
            yield self._file.read(min(CHUNK_BYTES, file.size - offset))

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class Snapshot(NamedTuple):
    """All files of a memory as of one moment.

    `untracked`: names beside the memory that are not part of it.
    """

    files: dict[str, SpooledFile]
    spool: Spool
    writers_waited_seconds: float
    untracked: tuple[str, ...]
    warnings: tuple[str, ...]


class IncomingPage(NamedTuple):
    """A page to write byte for byte, with its time.

    `seen`: the version found at its path; another one there is a conflict. `file` is None for a page to remove.
    `history`: all its versions, if they come along; None if this write is a change of its own. `import_key`: a key
    of the import log, which is written together with the page.
    """

    path: str
    version: str
    seen: str = ABSENT
    file: SpooledFile | None = None
    history: Versions | None = None
    import_key: str = ""


class PageBatch(NamedTuple):
    """Pages to write, with their bytes in `spool`. Files of an archive's history may be among them.

    `unchanged`: files that are here already; each gets the earlier one of its two times. `import_log`: keys and
    versions to log besides those of the pages.
    """

    pages: Sequence[IncomingPage]
    spool: Spool
    unchanged: Mapping[str, SpooledFile] = {}
    import_log: Mapping[str, str] = {}


def is_history_file(path: str) -> bool:
    """Return whether a file of an archive holds history."""
    return path.startswith(f"{HISTORY_FOLDER}/")


def path_problem(path: str) -> str:
    """Return why a path cannot be that of a page, whatever the settings; empty if it can."""
    if not is_unicode(path):
        return "has a name that is not UTF-8"
    if "\0" in path or "\\" in path:
        return "has a null character or a backslash in its name"
    if not path or path[0] in "/~" or path[1:2] == ":" or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return "is not a path inside a home"
    is_too_long = len(path.encode()) > _MAX_PATH_BYTES or path.count("/") > _MAX_PATH_DEPTH
    return "is too long for a path" if is_too_long else ""


def covers(root: Root, path: str) -> bool:
    """Return whether a path is within a root. Hidden names below it never are."""
    if root.is_page:
        return path == root.path
    prefix = f"{root.path}/" if root.path else ""
    if not path.startswith(prefix) or not path.endswith(root.suffix):
        return False
    is_hidden = any(part.startswith(".") for part in path.removeprefix(prefix).split("/"))
    return not is_hidden and (root.pattern is None or root.pattern.fullmatch(path) is not None)


def any_covers(roots: Iterable[Root], path: str) -> bool:
    return any(covers(root, path) for root in roots)


def find_untracked(names: Iterable[str], roots: Iterable[Root], base: str) -> tuple[str, ...]:
    """Return the names in the folder `base` that no root covers, hidden ones excepted."""
    prefix = f"{base}/" if base else ""
    tracked = {root.path.removeprefix(prefix).partition("/")[0] for root in roots if root.path.startswith(prefix)}
    if "" in tracked:
        return ()
    return tuple(sorted(name for name in {*names} if name not in tracked and name[0] != "."))


def names_in(folder: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield the names in a folder that paths lead through."""
    prefix = f"{folder}/" if folder else ""
    return (path.removeprefix(prefix).partition("/")[0] for path in paths if path.startswith(prefix))


def missing_versions(page: IncomingPage, known: Sequence[str], current: str, data: bytes | None, now: str) -> Versions:
    """Return what to add to a history with the versions `known`, so that it ends with the page.

    A history that the page's own one continues is completed. Any other is kept, and the page becomes a new change.
    """
    history = page.history or []
    if [*known] == [change.version for change, _ in history[: len(known)]]:
        return history[len(known) :]
    if page.version == current:
        return []
    before = known[-1] if known else ABSENT
    return [(Change(os.urandom(8).hex(), now, page.path, page.version, before, *current_write().author), data)]


def in_batches(items: Iterable[Each], size: int) -> Iterator[list[Each]]:
    rest = iter(items)
    while batch := [*islice(rest, size)]:
        yield batch
