"""Configuration files on disk: read with suspicion, copied before they are changed, replaced whole or not at all.

A link to a file in another place, as people link their dotfiles, stays a link: the file it leads to is changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ...errors import Conflict, NotText, SettingsError, StorageError
from ...storage.folder.atomic import Overtaken, read_bytes, replace, take_away, write_all
from .edits import CanNotEdit, Unreadable

BACKUP = ".commonplace-backup"
_LARGEST = 50_000_000  # bytes: no file that a person configures has more


def read(path: str) -> bytes | None:
    """The bytes of a file, or None where there is none."""
    with _told(path):
        try:
            if os.stat(path).st_size > _LARGEST:
                raise StorageError(
                    f"{path} is larger than {_LARGEST // 1_000_000} MB and was not read: is it that file?"
                )
            return read_bytes(os.path.realpath(path), path)
        except FileNotFoundError:
            return None


def changed(path: str, before: bytes | None, change: Callable[[str], str | None], by_hand: str) -> bytes | None:
    """The file after a change of its text; None where it goes. SettingsError where it can not be understood.

    `by_hand` is what a person can do instead.
    """
    try:
        text = change((before or b"").decode())
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{path}: not UTF-8 text (byte {error.start}): save it as UTF-8; it was not changed"
        ) from error
    except CanNotEdit as error:
        raise CanNotEdit(f"{path}: {error}; it was not changed") from error
    except Unreadable as error:
        advice = f"mend that line and try again, or {by_hand}"
        raise SettingsError(f"{path}:{error.line}: {error.problem}: {advice}; it was not changed") from error
    return None if text is None else text.encode()


def write(path: str, before: bytes | None, after: bytes | None, with_it: Sequence[str] | None = None) -> str:
    """Put the new bytes in place, with a copy of the old ones beside them; where that copy is, if one was made.

    `with_it`: the file goes, as nobody's but ours, and so do these copies of it.
    """
    real = os.path.realpath(path)
    with _told(path):
        backup = _backed_up(path, before) if before is not None and with_it is None else ""
        if after is None:
            take_away(real, before or b"")
            for copy in with_it or ():
                os.unlink(copy)
            return backup
        os.makedirs(os.path.dirname(real), exist_ok=True)
        replace(real, after, before)
        if before is None:  # as open to others as the folder it is in
            with suppress(OSError):
                os.chmod(real, os.stat(os.path.dirname(real)).st_mode & 0o644)
        return backup


def backups(path: str) -> dict[str, str]:
    """What the copies beside a file say, by their names, the newest first."""
    found: dict[str, str] = {}
    with _told(path):
        for name in [*_names(path)][::-1]:
            with suppress(UnicodeDecodeError, NotText):
                found[name] = read_bytes(name, name).decode()
    return found


def clear_folders(path: str, within: Iterable[str]) -> None:
    """Remove the folders of a file that went, as far as they are empty, below those that are given."""
    above, folder = {os.path.realpath(each) for each in within}, os.path.dirname(os.path.realpath(path))
    with suppress(OSError):  # one that is not empty stays
        while folder not in above and folder.startswith(tuple(f"{each}{os.sep}" for each in above)):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _backed_up(path: str, data: bytes) -> str:
    """A copy beside a file, as private as it is; the one that is there, if it says the same. None is written over."""
    names = [*_names(path)]
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


def _names(path: str) -> Iterator[str]:
    name, number = f"{path}{BACKUP}", 1
    while os.path.lexists(name):
        yield name
        number += 1
        name = f"{path}{BACKUP}-{number}"


@contextmanager
def _told(path: str) -> Iterator[None]:
    """What stands in the way, in words."""
    try:
        yield
    except Overtaken as error:
        raise Conflict(f"{path} was saved by another program just now: run the command again") from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}: check that it can be read and written") from error
