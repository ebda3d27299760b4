"""The file that an export writes: it gets its name once it is whole, and a writer that is killed leaves nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from ...storage.files import (
    CREATE_FLAGS,
    NO_FOLLOW,
    PRIVATE_FILE_MODE,
    READ_FLAGS,
    page_of_leftover,
    rename_new,
    sync_folder,
    temporary_path,
)

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_DESCRIPTORS = "/proc/self/fd"


@contextmanager
def open_atomic(path: str, *, replace: bool) -> Iterator[BinaryIO]:
    """Open a private file for writing that gets its name once it is whole; who is killed before leaves nothing.

    FileExistsError, after all is written, if the name is taken and `replace` is false. Where the system has no
    nameless files, and where another file is replaced, a temporary name is used until the end.
    """
    file_path = os.path.abspath(path)
    folder = os.path.dirname(file_path)
    temporary = temporary_path(file_path)
    nameless = _open_nameless(folder)
    is_in_place = False
    try:
        with ExitStack() as stack:
            with open(
                os.open(temporary, CREATE_FLAGS, PRIVATE_FILE_MODE) if nameless is None else nameless, "wb"
            ) as file:
                _lock_until_closed(file.fileno(), stack)
                yield file
                file.flush()
                os.fsync(file.fileno())
                if nameless is not None:
                    is_in_place = _link_nameless(nameless, temporary, file_path, replace=replace)
            if not is_in_place:
                (os.replace if replace else rename_new)(temporary, file_path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def _lock_until_closed(handle: int, stack: ExitStack) -> None:
    """Lock a file until the stack closes, which is after the file has its name. The death of the process unlocks."""
    if fcntl:
        with suppress(OSError):  # on a file system without locks nobody removes leftovers
            fcntl.flock(handle, fcntl.LOCK_EX)
            stack.callback(os.close, os.dup(handle))


def _open_nameless(folder: str) -> int | None:
    """Open a file that has no name yet, where the system can: nothing is left of it when its writer dies."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir(_DESCRIPTORS):
        return None
    with suppress(OSError):  # a real problem with the folder shows when the temporary file is created
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE_MODE)
    return None


def _link_nameless(handle: int, temporary: str, file_path: str, *, replace: bool) -> bool:
    """Give a nameless file its name, or the temporary one if the name is taken; return whether it is in place."""
    above = os.open(os.path.dirname(file_path), os.O_RDONLY | os.O_CLOEXEC)
    nameless = f"{_DESCRIPTORS}/{handle}"
    try:
        # Python follows the link of a descriptor only if it is given a folder to be relative to.
        os.link(nameless, file_path, src_dir_fd=above)
    except FileExistsError:
        if not replace:
            raise
        os.link(nameless, temporary, src_dir_fd=above)
        return False
    finally:
        os.close(above)
    return True


def remove_leftovers(path: str) -> None:
    """Remove what killed writers of this file left behind. A live writer holds a lock on its temporary file."""
    folder, temporary = os.path.split(temporary_path(os.path.abspath(path)))
    name = page_of_leftover(temporary)
    with suppress(OSError):
        for each in os.listdir(folder) if fcntl else ():
            if page_of_leftover(each) == name:
                _remove_if_unlocked(os.path.join(folder, each))


def _remove_if_unlocked(temporary: str) -> None:
    with suppress(OSError):  # locked, or not ours to remove
        handle = os.open(temporary, READ_FLAGS | NO_FOLLOW)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(temporary)
        finally:
            os.close(handle)
