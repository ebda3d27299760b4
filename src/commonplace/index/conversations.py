"""What a conversation has been given already: hashes of its lines, in a small file beside the index. It may be lost.

A line counts as given if every three words in a row of it were, wherever: in a list, after a date, in quotes.
Only hashes are kept, so that nothing of a memory can be read from the file. A conversation without a name is known to
this process alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import RLock
from typing import Any

from ..storage.files import CREATE_FLAGS, make_folders

_PREFIX = "conversation-"
_RUN_WORDS = 3
_MAX_HASHES = 20_000  # of one conversation: the oldest are dropped
_MAX_PENDING_TEXTS = 16
_MAX_TEXT_CHARACTERS = 400_000
_UNUSED_SECONDS = 7 * 86400  # a conversation that nobody went on with for so long is over
_MAX_CONVERSATIONS = 500
# Scripts that put no spaces between words: each character counts as one.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+")


class Conversation:
    """What one conversation was given. `compacted_at`: when its beginning was last replaced by a summary."""

    def __init__(self, file: str = "") -> None:
        self.compacted_at = ""
        self.needs_context = False  # whether the summary dropped the context, and nobody has given it again
        self._file = file
        self._hashes: dict[int, None] = {}  # in the order in which they came
        self._pending: list[str] = []  # texts that are not hashed yet: not every conversation asks
        self._lock = RLock()
        self._load()

    def add(self, text: str) -> None:
        """Count the lines of a text as given."""
        with self._lock:
            self._pending.append(text[:_MAX_TEXT_CHARACTERS])
            if len(self._pending) > _MAX_PENDING_TEXTS:
                self._hash_pending()

    def give(self, context: str) -> None:
        """Count a whole context as given, and keep that for the next process."""
        self.add(context)
        self.needs_context = False
        self.save()

    def has(self, line: str) -> bool:
        """Return whether a line was given; True for one without words."""
        with self._lock:
            self._hash_pending()
            return all(number in self._hashes for number in _hash_runs(_find_words(line)))

    def restart(self, compacted_at: str = "") -> None:
        """Forget what was given: the conversation starts anew, or goes on from a summary of what was said."""
        with self._lock:
            self._pending.clear()
            self._hashes.clear()
        self.compacted_at = compacted_at
        self.needs_context = bool(compacted_at)

    def save(self) -> None:
        """Keep this for the next process. Failing to is not an error: something may be given twice."""
        if not self._file:
            return
        with self._lock:
            self._hash_pending()
            newest = [*self._hashes]
        state = {
            "compacted_at": self.compacted_at,
            "needs_context": self.needs_context,
            "hashes": array("I", newest).tobytes().hex(),
        }
        with suppress(OSError):
            _write(self._file, json.dumps(state).encode())
            _remove_unused(os.path.dirname(self._file))

    def _load(self) -> None:
        if not self._file:
            return
        with suppress(OSError, ValueError, TypeError, KeyError):
            with open(self._file, "rb") as file:
                state: dict[str, Any] = json.load(file)
            hashes = array("I", bytes.fromhex(state["hashes"]))
            self.compacted_at = str(state["compacted_at"])
            self.needs_context = bool(state["needs_context"])
            self._hashes = dict.fromkeys(hashes)

    def _hash_pending(self) -> None:
        for text in self._pending:
            for line in text.splitlines():
                self._hashes.update(dict.fromkeys(_hash_runs(_find_words(line))))
        self._pending.clear()
        for number in [*self._hashes][:-_MAX_HASHES]:
            del self._hashes[number]


def open_conversation(folder: str, home: str, agent: str, name: str) -> Conversation:
    """Return a conversation by its name; without a name or a folder, a new one that ends with this process."""
    if not name or not folder or os.path.islink(folder):
        return Conversation()
    key = hashlib.blake2b("\0".join((home, agent, name)).encode(errors="surrogatepass"), digest_size=12).hexdigest()
    return Conversation(os.path.join(folder, f"{_PREFIX}{key}.json"))


def _find_words(line: str) -> list[str]:
    return _WORD.findall(line.casefold())


def _hash_runs(words: list[str]) -> Iterator[int]:
    """Yield a hash of every three words in a row; of all of them if there are fewer."""
    for start in range(max(1, len(words) - _RUN_WORDS + 1) if words else 0):
        yield zlib.crc32(" ".join(words[start : start + _RUN_WORDS]).encode(errors="surrogatepass"))


def _write(file: str, data: bytes) -> None:
    make_folders(os.path.dirname(file))
    temporary = f"{file}.{os.getpid()}"
    handle = os.open(temporary, CREATE_FLAGS, 0o600)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)
    os.replace(temporary, file)


def _remove_unused(folder: str) -> None:
    """Remove conversations that are over, and the oldest if there are too many."""
    ages = sorted((time.time() - entry.stat().st_mtime, entry.path) for entry in _entries(folder))
    for number, (age, path) in enumerate(ages):
        if age > _UNUSED_SECONDS or number >= _MAX_CONVERSATIONS:
            with suppress(OSError):
                os.unlink(path)


def _entries(folder: str) -> Iterable[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [entry for entry in entries if entry.name.startswith(_PREFIX)]
