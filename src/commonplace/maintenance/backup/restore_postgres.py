"""An archive that was read, put into a database: in one transaction, so that all of it is there or nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from functools import partial

from ...errors import StorageError
from ...home import HISTORY_FOLDER, Home
from ...storage.author import current_write
from ...storage.base import ABSENT
from ...storage.deltas import Line, lines
from ...storage.layout import folders_above
from ...storage.postgres.backend import PostgresStorage
from ...storage.postgres.pages import MAX_PATH_BYTES
from .bulk_postgres import Coming, Load, put_all
from .restore import Plan
from .scope import oddity
from .spool import Item, Spool

_LARGEST = 1 << 31  # of what says where a line of history fits
_MOST_TEXT = 10_000  # characters of what a change says of itself


def put_rows(home: Home, storage: PostgresStorage, steps: Plan, items: dict[str, Item], spool: Spool) -> None:
    def coming(path: str) -> Coming:
        item = items[path]
        return Coming(path, steps.there.get(path, ABSENT), item.modified, partial(spool.read, item))

    pages = [path for path in (*steps.new, *steps.different) if not _is_history(path)]
    past = [*_past(spool.read(items[path]) for path in steps.new if _is_history(path))]
    earlier = {path: items[path].modified for path in steps.same if not _is_history(path)}
    put_all(storage, home.clock, Load([coming(path) for path in pages], past, earlier))


def refuse_rows(paths: Iterable[str], there: Iterable[str]) -> None:
    """A database takes what no file system does: such pages could never be copied into a folder."""
    new, old = {*paths}, {*there}
    for path in sorted(new):
        if len(path.encode()) > MAX_PATH_BYTES:
            raise StorageError(
                f"{path[:60]}… is longer than a path may be ({MAX_PATH_BYTES} bytes): nothing was imported"
            )
        if above := next((folder for folder in folders_above(path) if folder in old), ""):
            raise StorageError(f"{path!a} can not be put below {above!a}, which is a page: nothing was imported")
    for path in sorted(old - new):
        if below := next((folder for folder in folders_above(path) if folder in new), ""):
            raise StorageError(f"{below!a} can not be a page: {path!a} stands below it; nothing was imported")


def _is_history(path: str) -> bool:
    return path.startswith(f"{HISTORY_FOLDER}/")


def _past(files: Iterable[bytes]) -> Iterator[Line]:
    """The lines of history that a database can hold: they come from anywhere."""
    left = 0
    for raw in files:
        for line in lines(raw):
            if _fits(line):
                yield line
            else:
                left += 1
    if left:
        current_write().warnings.append(
            f"{left} line{'s' * (left > 1)} of the archive's history can be no history: left out"
        )


def _fits(line: Line) -> bool:
    if not all(isinstance(value, str) and len(value) <= _MOST_TEXT for value in tuple(line.change)):
        return False
    path, numbers = line.change.path, (line.depth, *(line.span or ()))
    if oddity(path) or len(path.encode()) > MAX_PATH_BYTES or not line.change.id:
        return False
    try:
        base64.b64decode(line.data, validate=True)
    except ValueError:
        return False
    return all(0 <= number < _LARGEST for number in numbers)
