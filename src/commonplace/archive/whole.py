"""A file that is there once it is whole, and not before: whoever stops half way, or is killed, leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from ..pages.files import sync_folder

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_BINARY", 0)
_DESCRIPTORS = "/proc/self/fd"


@contextmanager
def whole_file(path: str, *, replace: bool) -> Iterator[BinaryIO]:
    """A private file to write to. FileExistsError, when all is written, if one of the name is not to be replaced."""
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(6).hex()}.tmp")
    nameless = _nameless(folder)
    try:
        with open(os.open(temporary, _CREATE, 0o600) if nameless is None else nameless, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if nameless is not None:
                _name(nameless, folder, temporary)
        if replace:
            os.replace(temporary, path)
        else:
            _put(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


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


def _put(temporary: str, path: str) -> None:
    """Rename, but never over another file."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links, as on many a stick
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(temporary, path)
        return
    os.unlink(temporary)
