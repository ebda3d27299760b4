"""The pool of memories that a server has open, by home and agent."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from ..errors import StorageError
from ..memory import Memory
from ..storage.readings import Readings
from .sessions import Caller, ServerOptions

if TYPE_CHECKING:
    from ..index.handle import IndexHandle
    from ..storage.authors import Authors

MAX_OPEN_MEMORIES = 64  # one that was closed is opened again when it is needed
MAX_KEPT_READINGS = 256  # of memories and agents, open or closed


class _OpenMemory(NamedTuple):
    """An open memory, and until when its settings need no check."""

    memory: Memory
    fresh_until: float


class MemoryPool:
    """Open memories by home and agent, with current settings. The least recently used are closed."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._open: OrderedDict[tuple[str, str], _OpenMemory] = OrderedDict()
        self._readings: OrderedDict[tuple[str, str], Readings] = OrderedDict()
        self._indexes: WeakValueDictionary[str, IndexHandle] = WeakValueDictionary()  # the latest of each home
        self._authors: WeakValueDictionary[str, Authors] = WeakValueDictionary()  # likewise
        self._lock = Lock()

    def find_open(self, caller: Caller) -> Memory | None:
        """Return an open memory whose settings are current; None if that takes waiting, which `open` does."""
        key = (caller.home, caller.agent)
        with self._lock:
            entry = self._open.get(key)
            if entry is None:
                return None
            self._open.move_to_end(key)
        storage = entry.memory.home.storage
        if time.monotonic() < entry.fresh_until:
            return entry.memory
        if storage.settings_check_seconds:  # a check takes time
            return None
        return entry.memory if storage.current_settings_version() == storage.settings_version else None

    def open(self, caller: Caller) -> Memory:
        """Return the caller's memory, opened if need be: that may wait for others who are writing."""
        key = (caller.home, caller.agent)
        with self._lock:
            before = self._open.get(key)
        memory = before.memory if before and _has_current_settings(before.memory) else self._open_anew(key)
        unused: list[Memory] = []
        with self._lock:
            entry = self._open.pop(key, None)
            if entry and entry is not before and entry.memory is not memory:  # another request was quicker
                unused.append(memory)
                memory = entry.memory
            elif entry and entry.memory is not memory:
                unused.append(entry.memory)
            self._open[key] = _OpenMemory(memory, time.monotonic() + memory.home.storage.settings_check_seconds)
            if len(self._open) > MAX_OPEN_MEMORIES:
                unused.append(self._open.popitem(last=False)[1].memory)
        for each in unused:
            self._close(each)
        return memory

    def _close(self, memory: Memory) -> None:
        """Close a memory, but not the index that it shares with memories of other agents."""
        index = memory.home.index_if_open
        with self._lock:
            others = [entry.memory.home.index_if_open for entry in self._open.values()]
        if index is not None and any(other is index for other in others):
            memory.home.leave_index()
        memory.close()

    def _open_anew(self, key: tuple[str, str]) -> Memory:
        """Open a memory. Conversations go on with what they were given before it was closed."""
        memory = self._options.open_memory(*key)
        with self._lock:
            if memory.home.storage.cache_folder:  # else every index is a connection of its own
                self._share_index(key[0], memory)
                memory.home.share_authors(self._authors.setdefault(key[0], memory.home.authors))
            memory.home.readings = self._readings.setdefault(key, memory.home.readings)
            self._readings.move_to_end(key)
            if len(self._readings) > MAX_KEPT_READINGS:
                self._readings.popitem(last=False)
        return memory

    def _share_index(self, home: str, memory: Memory) -> None:
        if index := self._indexes.get(home):
            memory.home.share_index(index)
        self._indexes[home] = memory.home.index

    def close(self) -> None:
        with self._lock:
            for entry in self._open.values():
                entry.memory.close()
            self._open.clear()


def _has_current_settings(memory: Memory) -> bool:
    """Return whether the settings are as they were read; True if that cannot be told, since the next call will fail."""
    storage = memory.home.storage
    try:
        return storage.current_settings_version() == storage.settings_version
    except StorageError:
        return True
