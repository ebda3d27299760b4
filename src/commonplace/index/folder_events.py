"""Which files changed since a sweep, by file system events (inotify): searches need not stat every page.

Only on Linux, and without a thread: the kernel queues events until somebody reads them. On other systems, on file
systems that other machines write to, and where no watches are left, every search sweeps.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from errno import EACCES, ELOOP, ENOENT, ENOTDIR
from functools import lru_cache
from weakref import WeakSet

from ..storage.base import Root

_SAFETY_SECONDS = 60.0  # then a sweep finds what no event reports, such as writes through another hard link
_MAX_CHANGED_FILES = 200  # more are found by a sweep
_MAX_FOLDERS = 5_000  # some systems have few watches, and other programs need some, too
_READ_BYTES = 65_536
_EVENT = struct.Struct("iIII")  # watch, mask, cookie, bytes of the name that follows
# What changes pages: a write, other attributes, a move, a new or a deleted file, and the same of the folder itself.
_CHANGES = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
_IS_OVER = 0x8000  # the folder is gone, and its watch with it
_ONLY_FOLDERS = 0x1000000 | 0x2000000  # IN_ONLYDIR | IN_DONT_FOLLOW: folders, but not links
# A folder came, went or moved, the file system was unmounted, the watch is over, or events were lost.
_OTHER_FOLDERS = 0x40000000 | 0x400 | 0x800 | 0x2000 | 0x4000 | _IS_OVER


class FolderEvents:
    """Events in the folders of one home. `prepare` before a sweep and `confirm` after it; from then on
    `take_changes` says which files to look at instead of another sweep."""

    def __init__(self, home: str, roots: Iterable[Root], inotify: _Inotify) -> None:
        self._home = home
        self._roots = tuple(roots)
        self._inotify = inotify
        self._watches: dict[int, str] = {}  # the folder of each, from the home
        self._has_new_folders = True
        self._has_events = False  # some concern more than single files
        self._changed: set[str] = set()  # the paths of single files
        self._is_usable = True
        self._confirmed: tuple[float, os.stat_result] | None = None

    def take_changes(self) -> set[str] | None:
        """Return the files that may have changed since the confirmed sweep or the last call; None if only a sweep can
        tell. Hidden files are left out, as sweeps leave them out."""
        if self._confirmed is None or not self._is_usable:
            return None
        at, home = self._confirmed
        with suppress(OSError):
            self._inotify.dispatch()
            is_recent = time.monotonic() - at < _SAFETY_SECONDS
            if is_recent and not self._has_events and os.path.samestat(home, os.stat(self._home)):
                changed = self._changed
                self._changed = set()
                return changed
        return None

    def prepare(self) -> None:
        """Watch every folder: what changes from now on is an event."""
        self._confirmed = None
        try:
            self._inotify.dispatch()
            self._has_events = False
            self._changed = set()
            if self._has_new_folders:
                self._has_new_folders = False
                self._watch_folders()
        except OSError:
            self._is_usable = False

    def confirm(self) -> None:
        """Note that a sweep has finished since `prepare`, and is indexed."""
        with suppress(OSError):
            self._confirmed = time.monotonic(), os.stat(self._home)

    def invalidate(self) -> None:
        """Make the next search sweep, whatever the events say."""
        self._confirmed = None

    def receive(self, watch: int, mask: int, name: str) -> None:
        """Note an event on a file in one of the folders or, without a name, on the folder itself."""
        if mask & _OTHER_FOLDERS:
            self._has_new_folders = True
        if mask & _OTHER_FOLDERS or not name or len(self._changed) >= _MAX_CHANGED_FILES:
            self._has_events = True
        elif not name.startswith("."):
            folder = self._watches.get(watch, "")
            self._changed.add(f"{folder}/{name}" if folder else name)

    def close(self) -> None:
        self._is_usable = False
        self._inotify.forget(self, self._watches)

    def _watch_folders(self) -> None:
        device = os.stat(self._home).st_dev
        seen: set[str] = set()
        queue = [(folder, is_deep) for root in self._roots for folder, is_deep in self._path_to(root)]
        for folder, is_deep in queue:  # grows while it is read
            if (folder in seen and not is_deep) or f"{folder}/**" in seen:
                continue
            seen.add(f"{folder}/**" if is_deep else folder)
            if not self._watch(folder):
                continue
            if len(self._watches) > _MAX_FOLDERS or os.stat(folder).st_dev != device:
                raise OSError("events of these folders are incomplete")
            if is_deep:  # listed after it is watched: what is created meanwhile is an event
                queue += [(path, True) for path in _list_folders(folder)]

    def _path_to(self, root: Root) -> Iterator[tuple[str, bool]]:
        """Yield the folders that lead to a root, and the root with everything below it."""
        parts = [part for part in root.path.split("/") if part]
        for count in range(len(parts)):
            yield os.path.join(self._home, *parts[:count]), False
        if not root.is_page:
            yield os.path.join(self._home, *parts), True

    def _watch(self, folder: str) -> bool:
        """Watch a folder; return False if it does not exist. A sweep finds no pages in one that cannot be read."""
        try:
            place = os.path.relpath(folder, self._home).replace(os.sep, "/")
            self._watches[self._inotify.add(self, folder)] = "" if place == "." else place
        except OSError as error:
            if error.errno in (ENOENT, ENOTDIR, ELOOP, EACCES):
                return False
            raise
        return True


def open_folder_events(home: str, roots: Iterable[Root]) -> FolderEvents | None:
    """Return the events of a home; None if the system cannot report every change."""
    from .watcher import read_mounts, remote_file_system

    if sys.platform != "linux" or remote_file_system(home, read_mounts()):
        return None
    try:
        return FolderEvents(home, roots, _open_inotify(os.getpid()))
    except (OSError, AttributeError):
        return None


def _list_folders(folder: str) -> list[str]:
    """Return the folders in a folder that a sweep would enter."""
    with suppress(OSError), os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.name[0] != "." and entry.is_dir(follow_symlinks=False)]
    return []


class _Inotify:
    """The inotify descriptor that all memories of a process share: a user has only a hundred or so."""

    def __init__(self) -> None:
        import ctypes  # loading it takes a millisecond or two, which a single search does not pay

        library = ctypes.CDLL(None, use_errno=True)
        self._add_watch = library.inotify_add_watch
        self._add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
        self._remove_watch = library.inotify_rm_watch
        self._get_errno = ctypes.get_errno
        self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "no inotify")
        self._listeners: dict[int, WeakSet[FolderEvents]] = {}
        self._lock = threading.Lock()

    def add(self, listener: FolderEvents, folder: str) -> int:
        """Report changes in a folder to a listener, and return the watch descriptor."""
        with self._lock:
            watch: int = self._add_watch(self._descriptor, os.fsencode(folder), _CHANGES | _ONLY_FOLDERS)
            if watch < 0:
                raise OSError(self._get_errno(), "no watch", folder)
            self._listeners.setdefault(watch, WeakSet()).add(listener)
            return watch

    def forget(self, listener: FolderEvents, watches: Iterable[int]) -> None:
        with self._lock:
            for watch in watches:
                listeners = self._listeners.get(watch)
                if listeners is not None:
                    listeners.discard(listener)
                    if not listeners:
                        del self._listeners[watch]
                        self._remove_watch(self._descriptor, watch)

    def dispatch(self) -> None:
        """Deliver the queued events to their listeners."""
        with self._lock:
            while True:
                try:
                    data = os.read(self._descriptor, _READ_BYTES)
                except BlockingIOError:
                    return
                for watch, mask, name in _parse_events(data):
                    every = [listener for some in self._listeners.values() for listener in some] if watch < 0 else []
                    for listener in every or list(self._listeners.get(watch, ())):
                        listener.receive(watch, mask, name)
                    if mask & _IS_OVER:
                        self._listeners.pop(watch, None)


def _parse_events(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the watch and the mask of each event, and the name of the file, which is empty for the folder itself."""
    place = 0
    while place < len(data):
        watch, mask, _, name_bytes = _EVENT.unpack_from(data, place)
        start = place + _EVENT.size
        place = start + name_bytes
        yield watch, mask, os.fsdecode(data[start:place].rstrip(b"\0"))


@lru_cache(maxsize=1)
def _open_inotify(_process: int) -> _Inotify:
    """Return the descriptor of this process; a fork has one of its own."""
    return _Inotify()
