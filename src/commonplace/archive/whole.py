"""A file that is there once it is whole, and not before: whoever stops half way, or is killed, leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from ..pages.exchange import CanNot, put
from ..pages.files import sync_folder

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_BINARY", 0)
_DESCRIPTORS = "/proc/self/fd"
_ROOM = 200  # bytes of a name that are kept in that of the temporary file: no file system takes more than 255


@contextmanager
def whole_file(path: str, *, replace: bool) -> Iterator[BinaryIO]:
    """A private file to write to. FileExistsError, when all is written, if one of the name is not to be replaced."""
    place = os.path.abspath(path)
    folder, temporary = os.path.dirname(place), aside(place)
    nameless = _nameless(folder)
    try:
        with open(os.open(temporary, CREATE, 0o600) if nameless is None else nameless, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if nameless is not None:
                _name(nameless, folder, temporary)
        if replace:
            os.replace(temporary, place)
        else:
            put_new(temporary, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def aside(place: str) -> str:
    """A name beside a file, for what will take its place."""
    folder, name = os.path.split(place)
    short = name.encode()[:_ROOM].decode(errors="ignore")
    return os.path.join(folder, f".{short}.{os.urandom(6).hex()}.tmp")


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


def _name(handle: int, folder: str, name: str) -> None:
    above = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Only when asked relative to a folder does Python follow the link that stands for a descriptor.
        os.link(f"{_DESCRIPTORS}/{handle}", name, src_dir_fd=above)
    finally:
        os.close(above)
