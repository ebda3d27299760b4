"""Many new files at once: all of them on disk under other names, with their times and rights, and then in their places.

One by one each of them would wait for the disk twice, which takes many times as long. A page comes with its history, or
not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import islice
from typing import TypeVar

from ...errors import PageNotFound, StaleVersion, StorageError
from ...home import Home
from ...storage.author import current_write
from ...storage.file_locks import lock
from ...storage.files import (
    CREATE_FLAGS,
    ConcurrentWrite,
    Unsupported,
    make_folders,
    read_bytes_or_none,
    remove_file,
    rename_new,
    storage_errors,
    swap,
    sync_folder,
    temporary_path,
    write_all,
)
from .scope import locks_of
from .spool import Item, Spool

Each = TypeVar("Each")
_BATCH = 200  # files; each is open until all are on disk
_MANY = 20  # files, from which on it is worth to ask for all that waits to be written at once


def add_all(home: Home, items: Mapping[str, Item], spool: Spool, *, instead: Mapping[str, bytes], told: bool) -> None:
    """Put files into a home that has none of their names, or has there what they may stand `instead` of.

    `told`: their history is there already.
    """
    locks = locks_of(home)
    for some in map(dict, batches(items.items(), _BATCH)):
        waiting: dict[str, tuple[str, str]] = {}
        try:
            folders = {*_written(home, some, spool, waiting)}
            for path, (temporary, place) in waiting.items():
                with storage_errors(path), lock(locks, "page", path):
                    _put(temporary, place, path, instead.get(path))
                    if not told:
                        _tell(home, path, spool.read(some[path]), waiting[path])
        finally:
            for temporary, _ in waiting.values():
                with suppress(OSError):
                    os.unlink(temporary)
        for folder in folders:
            sync_folder(folder)


def batches(every: Iterable[Each], size: int) -> Iterator[list[Each]]:
    rest = iter(every)
    while some := [*islice(rest, size)]:
        yield some


def place_of(home: Home, path: str) -> str:
    """The file of a path; OutsideHome when a link leads there."""
    with suppress(PageNotFound):
        home.storage.pages.modified_at(path)
    return os.path.join(os.path.realpath(home.root), path)


def stamp(place: str, item: Item) -> None:
    """The time last: an import that was interrupted sees by it what is left to do."""
    os.chmod(place, item.mode | 0o400)
    os.utime(place, ns=(item.modified, item.modified))


def _written(home: Home, items: Mapping[str, Item], spool: Spool, waiting: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Write files under other names, and see that they are on disk; the folders that changed."""
    with ExitStack() as stack:
        files: dict[str, int] = {}
        for path, item in items.items():
            place = place_of(home, path)
            with storage_errors(path):
                yield from make_folders(os.path.dirname(place))
                yield os.path.dirname(place)
                temporary = temporary_path(place)
                files[path] = os.open(temporary, CREATE_FLAGS, 0o600)
                waiting[path] = temporary, place
                stack.callback(os.close, files[path])
                for chunk in spool.chunks(item):
                    write_all(files[path], chunk)
                stamp(temporary, item)
        if len(files) >= _MANY and hasattr(os, "sync"):
            os.sync()  # only a hint: whether a file is on disk, its own fsync tells
        for path, handle in files.items():
            with storage_errors(path):
                os.fsync(handle)


def _put(temporary: str, place: str, path: str, instead_of: bytes | None) -> None:
    if instead_of is not None and read_bytes_or_none(place, path) == instead_of:
        try:
            swap(temporary, place)
        except Unsupported:
            os.replace(temporary, place)
        return
    try:
        rename_new(temporary, place)
    except FileExistsError as error:
        raise StaleVersion(path) from error


def _tell(home: Home, path: str, data: bytes, where: tuple[str, str]) -> None:
    """Keep it in history, by who holds the lock; or take it back, which needs no space on the disk."""
    try:
        home.storage.history.record_outside_edit(path, None)
        home.storage.history.record_change(path, None, data, current_write().author)
    except (OSError, StorageError):
        with suppress(OSError, ConcurrentWrite):  # what somebody saved since is theirs, and stays
            _take_back(*where, data)
        raise


def _take_back(temporary: str, place: str, data: bytes) -> None:
    if os.path.lexists(temporary):  # it is what stood there before
        swap(temporary, place)
    else:
        remove_file(place, data)
