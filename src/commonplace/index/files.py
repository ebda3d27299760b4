"""The files of an index: made private, thrown away when damaged or when nobody has used them for long."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress

from ..storage.files import make_folders
from .recalls import forget
from .sqlite import SCHEMA, SqliteIndex

_UNUSED = 30 * 86400  # seconds after which an index that nobody opened is thrown away


def open_index(folder: str, name: str, damaged: str = "") -> tuple[SqliteIndex, str]:
    """An index of a home and, when it had to be thrown away or kept in memory, a sentence that says so."""
    path = os.path.join(folder, f"words-{SCHEMA}-{name}.sqlite")
    if os.path.islink(folder) or os.path.islink(path):
        return SqliteIndex(":memory:"), f"the index {path} is a link and was not used: this process keeps its own"
    try:
        if damaged:
            return _rebuilt(path, damaged)
        if not os.path.isdir(os.path.dirname(folder)):  # a home that is not there yet is not made by looking
            return SqliteIndex(":memory:"), ""
        make_folders(folder)
        return _private(path), ""
    except OSError as error:
        return SqliteIndex(
            ":memory:"
        ), f"no index can be kept in {folder} ({error.strerror}): this process keeps its own"
    except sqlite3.OperationalError as error:
        return SqliteIndex(":memory:"), f"the index {path} can not be used ({error}): this process keeps its own"
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return open_index(folder, name, damaged=str(error)) if not damaged else (SqliteIndex(":memory:"), str(error))


def _rebuilt(path: str, damage: str) -> tuple[SqliteIndex, str]:
    _remove_index(path)
    return _private(path), f"the index {path} was damaged ({damage}) and is rebuilt from the pages"


def _private(path: str) -> SqliteIndex:
    """The index in a file that only its owner can read: SQLite gives the files beside it the same rights."""
    if not os.path.exists(path):
        _remove_unused(os.path.dirname(path))
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    os.utime(path)
    return SqliteIndex(path)


def _remove_unused(folder: str) -> None:
    for entry in os.scandir(folder):
        is_index = entry.name.startswith("words-") and entry.name.endswith(".sqlite")
        if is_index and time.time() - entry.stat(follow_symlinks=False).st_mtime > _UNUSED:
            _remove_index(entry.path)


def remove_others(folder: str, name: str) -> None:
    """Every index but this one, of any schema and any settings: they are made again when somebody asks."""
    kept = f"words-{SCHEMA}-{name}"
    forget(folder)  # it names pages that may be gone for good
    with suppress(FileNotFoundError, NotADirectoryError):
        for file in os.listdir(folder):
            if file.startswith("words-") and not (name and file.startswith(kept)):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, file))


def _remove_index(path: str) -> None:
    """An index with all that stands beside it: its log, and its files of vectors."""
    folder, name = os.path.split(path)
    for beside in os.listdir(folder):
        if beside.startswith((name, f"{name.removesuffix('.sqlite')}-")):
            with suppress(OSError):
                os.unlink(os.path.join(folder, beside))
