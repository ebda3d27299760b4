"""Configuration files on disk: read with limits, backed up before a change, replaced as a whole or not at all.

A symbolic link, as people use for their dotfiles, stays a link: the file it points to is changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ...errors import Conflict, NotText, Refused, SettingsError, StorageError
from ...formats import ParseProblem
from ...storage.files import ConcurrentWrite, read_bytes, remove_file, replace_file, write_all

BACKUP = ".commonplace-backup"
_MAX_FILE_BYTES = 50_000_000


class CannotEdit(Refused):
    """The file is valid, but written in a way that cannot be edited line by line."""

    code = "CAN_NOT_EDIT"


def value_at(document: Any, path: Iterable[str]) -> Any:
    """Return the value at a path of keys, or None."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def with_value(document: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a document with another value at a path of keys; None removes it, and the mappings that become empty."""
    key, *rest = path
    inner = document.get(key)
    each = with_value(inner if isinstance(inner, dict) else {}, rest, value) if rest else value
    others = {name: other for name, other in document.items() if name != key}
    return others if each is None or (value is None and not each) else {**others, key: each}


def has_values(parse: Callable[[str], Any], text: str, expected: dict[str, Any]) -> bool:
    """Return whether a text parses as these values; null and empty mappings make no difference."""
    try:
        return bool(_prune(parse(text)) == _prune(expected))
    except ParseProblem:
        return False


def _prune(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    pruned = {key: _prune(each) for key, each in value.items()}
    return {key: each for key, each in pruned.items() if each is not None and each != {}}


def read(path: str) -> bytes | None:
    """Return the bytes of a file, or None if there is none."""
    with _storage_errors(path):
        try:
            if os.stat(path).st_size > _MAX_FILE_BYTES:
                raise StorageError(
                    f"{path} is larger than {_MAX_FILE_BYTES // 1_000_000} MB and was not read: is this the right file?"
                )
            return read_bytes(os.path.realpath(path), path)
        except FileNotFoundError:
            return None


def transform(path: str, before: bytes | None, change: Callable[[str], str | None], by_hand: str) -> bytes | None:
    """Return the file after a change of its text, or None to remove it; SettingsError if it cannot be parsed.

    `by_hand` tells a person what to do instead.
    """
    try:
        text = change((before or b"").decode())
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{path}: not UTF-8 text (byte {error.start}): save it as UTF-8; it was not changed"
        ) from error
    except CannotEdit as error:
        raise CannotEdit(f"{path}: {error}; it was not changed") from error
    except ParseProblem as error:
        advice = f"correct that line and try again, or {by_hand}"
        raise SettingsError(f"{path}:{error.line or 1}: {error.problem}: {advice}; it was not changed") from error
    return None if text is None else text.encode()


def write(path: str, before: bytes | None, after: bytes | None, stale_backups: Sequence[str] | None = None) -> str:
    """Write the new bytes, back up the old ones, and return the path of the backup, if one was made.

    `stale_backups`: nothing but our entries was ever in the file, so these backups are removed with it.
    """
    real = os.path.realpath(path)
    with _storage_errors(path):
        backup = _back_up(path, before) if before is not None and stale_backups is None else ""
        if after is None:
            remove_file(real, before or b"")
            for stale in stale_backups or ():
                os.unlink(stale)
            return backup
        os.makedirs(os.path.dirname(real), exist_ok=True)
        replace_file(real, after, before)
        if before is None:  # a new file is as readable for others as its folder
            with suppress(OSError):
                os.chmod(real, os.stat(os.path.dirname(real)).st_mode & 0o644)
        return backup


def backups(path: str) -> dict[str, str]:
    """Return the texts of a file's backups by their names, the newest first."""
    texts: dict[str, str] = {}
    with _storage_errors(path):
        for name in [*_backup_names(path)][::-1]:
            with suppress(UnicodeDecodeError, NotText):
                texts[name] = read_bytes(name, name).decode()
    return texts


def remove_empty_folders(path: str, within: Iterable[str]) -> None:
    """Remove the empty folders above a file that was removed, up to the given folders."""
    above = {os.path.realpath(each) for each in within}
    folder = os.path.dirname(os.path.realpath(path))
    with suppress(OSError):  # a folder that is not empty stays
        while folder not in above and folder.startswith(tuple(f"{each}{os.sep}" for each in above)):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _back_up(path: str, data: bytes) -> str:
    """Write a backup with the same permissions, or reuse one with the same bytes, and return its name."""
    names = [*_backup_names(path)]
    for name in names:
        with suppress(OSError, NotText):
            if read_bytes(name, name) == data:
                return name
    name = f"{path}{BACKUP}" + (f"-{len(names) + 1}" if names else "")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_BINARY", 0)
    handle = os.open(name, flags, os.stat(path).st_mode & 0o777)
    try:
        write_all(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    return name


def _backup_names(path: str) -> Iterator[str]:
    name = f"{path}{BACKUP}"
    number = 1
    while os.path.lexists(name):
        yield name
        number += 1
        name = f"{path}{BACKUP}-{number}"


@contextmanager
def _storage_errors(path: str) -> Iterator[None]:
    """Turn errors of the operating system into errors that say what to do."""
    try:
        yield
    except ConcurrentWrite as error:
        raise Conflict(f"{path} was saved by another program just now: run the command again") from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}: check that it can be read and written") from error
