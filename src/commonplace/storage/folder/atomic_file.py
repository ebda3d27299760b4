"""A file that is there once it is whole, and not before: whoever stops half way, or is killed, leaves nothing.

Where the system knows files without a name, one gets its name when it is whole. Only what replaces another file, and
what stands on other systems, has a name of its own until it is in place: who dies then leaves that to the next export.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from .atomic import sync_folder
from .swap import CanNot, put

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_BINARY", 0)
_LOOK = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_DESCRIPTORS = "/proc/self/fd"
_ROOM = 200  # bytes of a name that are kept in that of the temporary file: no file system takes more than 255


@contextmanager
def whole_file(path: str, *, replace: bool) -> Iterator[BinaryIO]:
    """A private file to write to. FileExistsError, when all is written, if one of the name is not to be replaced."""
    place = os.path.abspath(path)
    folder, temporary = os.path.dirname(place), aside(place)
    nameless, in_place = _nameless(folder), False
    try:
        with ExitStack() as held:
            with open(os.open(temporary, CREATE, 0o600) if nameless is None else nameless, "wb") as file:
                _hold(file.fileno(), held)
                yield file
                file.flush()
                os.fsync(file.fileno())
                if nameless is not None:
                    in_place = _named(nameless, temporary, place, replace=replace)
            if not in_place:
                (os.replace if replace else put_new)(temporary, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def _hold(handle: int, held: ExitStack) -> None:
    """Lock a file until it is in place, which is after it was closed. Death ends the lock."""
    if fcntl:
        with suppress(OSError):  # a file system without locks: there nobody clears anything
            fcntl.flock(handle, fcntl.LOCK_EX)
            held.callback(os.close, os.dup(handle))


def clear_left(path: str) -> None:
    """Remove what others left who were killed while they wrote this file. Who still writes holds a lock on theirs."""
    folder, name = os.path.split(os.path.abspath(path))
    left = re.compile(rf"\.{re.escape(_shortened(name))}\.[0-9a-f]{{12}}\.tmp")
    with suppress(OSError):
        for each in os.listdir(folder) if fcntl else ():
            if left.fullmatch(each):
                _clear(os.path.join(folder, each))


def _clear(temporary: str) -> None:
    with suppress(OSError):  # held, or not ours to remove
        handle = os.open(temporary, _LOOK)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(temporary)
        finally:
            os.close(handle)


def aside(place: str) -> str:
    """A name beside a file, for what will take its place."""
    folder, name = os.path.split(place)
    return os.path.join(folder, f".{_shortened(name)}.{os.urandom(6).hex()}.tmp")


def _shortened(name: str) -> str:
    return name.encode()[:_ROOM].decode(errors="ignore")


def put_new(temporary: str, place: str) -> None:
    """Rename, but never over another file."""
    try:
        put(temporary, place)
    except CanNot:  # then with a last look
        if os.path.lexists(place):
            raise FileExistsError(place) from None
        os.rename(temporary, place)


def _nameless(folder: str) -> int | None:
    """A file that has no name yet, where the system knows such: nothing is left of it when its writer dies."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir(_DESCRIPTORS):
        return None
    with suppress(OSError):  # what is really wrong with the folder shows when a name is made in it
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    return None


def _named(handle: int, temporary: str, place: str, *, replace: bool) -> bool:
    """Give a file its name: at once, or, where it replaces another, one to be renamed from. Whether it is in place."""
    above = os.open(os.path.dirname(place), os.O_RDONLY | os.O_CLOEXEC)
    nameless = f"{_DESCRIPTORS}/{handle}"
    try:
        # Only when asked relative to a folder does Python follow the link that stands for a descriptor.
        os.link(nameless, place, src_dir_fd=above)
    except FileExistsError:
        if not replace:
            raise
        os.link(nameless, temporary, src_dir_fd=above)
        return False
    finally:
        os.close(above)
    return True
