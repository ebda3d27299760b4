"""Logs of recalls: the pages that answered searches, and what each conversation was given. Losing them is harmless.

The log of pages has one line for each search, in a file per agent beside the index. It is written without waiting for
the disk, and failing to write it is not an error. A full file is rotated, and one earlier file is kept. Browsing
(`without_recalls`) is not counted.

What a conversation was given is stored as hashes, so that the file reveals nothing of a memory but the user and the
channel that its context was for. A line counts as given if every three consecutive words of it were, wherever: in a
list, after a date, in quotes. A conversation without a name exists in this process only.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from operator import itemgetter
from threading import RLock
from typing import NamedTuple

from ..formats.json_text import parse_object
from ..patterns import lazy_pattern
from ..storage.files import CREATE_FLAGS, append_to_log, make_folders, read_own_state

_KIND = "conversation"  # names of the files of conversations begin with this
_RUN_WORDS = 3
_MAX_HASHES = 20_000  # per conversation; the oldest are dropped
_MAX_PENDING_TEXTS = 16
_MAX_TEXT_CHARACTERS = 400_000
_UNUSED_SECONDS = 7 * 86400  # an idle conversation counts as over after this
_MAX_CONVERSATIONS = 500  # of one agent
# Scripts that put no spaces between words: each character counts as one.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = lazy_pattern(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+")
_LOG_PREFIX = "recalled"  # names of recall logs begin with this
_MAX_LOG_BYTES = 2_000_000
_MAX_PAGES = 100  # logged per answer
_is_off: ContextVar[bool] = ContextVar("recalls_off", default=False)


class Reader(NamedTuple):
    """The user and the channel of a conversation."""

    user: str | None = None
    channel: str | None = None


class Conversation:
    """What one conversation was given. `compacted_at`: when its beginning was last replaced by a summary. `reader`:
    whom its last context was for."""

    def __init__(self, file: str = "") -> None:
        self.reader = Reader()
        self.compacted_at = ""
        self.needs_context = False  # whether the summary dropped the context, which was not given again yet
        self._file = file
        self._hashes: dict[int, None] = {}  # in order of arrival
        self._pending: list[str] = []  # texts not hashed yet: not every conversation needs the hashes
        self._lock = RLock()
        self.reload()

    def add(self, text: str) -> None:
        """Count the lines of a text as given."""
        with self._lock:
            self._pending.append(text[:_MAX_TEXT_CHARACTERS])
            if len(self._pending) > _MAX_PENDING_TEXTS:
                self._hash_pending()

    def give(self, context: str, reader: Reader = Reader()) -> None:  # noqa: B008  it is immutable
        """Count a whole context as given, and save that and its reader for the next process."""
        self.add(context)
        self.reader = reader
        self.needs_context = False
        self.save()

    def has(self, line: str) -> bool:
        """Return whether a line was given; True for one without words."""
        with self._lock:
            self._hash_pending()
            return all(number in self._hashes for number in _hash_runs(_find_words(line)))

    def restart(self, compacted_at: str = "") -> None:
        """Forget what was given: the conversation starts over, or continues from a summary."""
        with self._lock:
            self._pending.clear()
            self._hashes.clear()
        self.compacted_at = compacted_at
        self.needs_context = bool(compacted_at)

    def save(self) -> None:
        """Save this for the next process. Failing to is not an error: something may be given twice."""
        if not self._file:
            return
        with self._lock:
            self._hash_pending()
            newest = [*self._hashes]
        state = {
            **self.reader._asdict(),
            "compacted_at": self.compacted_at,
            "needs_context": self.needs_context,
            "hashes": array("I", newest).tobytes().hex(),
        }
        with suppress(OSError):
            _write(self._file, json.dumps(state).encode())
            _remove_unused(*os.path.split(self._file))

    def reload(self) -> None:
        """Continue from what was saved last, perhaps by another handle of the conversation."""
        if not self._file:
            return
        state = parse_object(read_own_state(self._file)) or {}
        with suppress(ValueError, TypeError, KeyError):
            hashes = array("I", bytes.fromhex(state["hashes"]))
            self.compacted_at = str(state["compacted_at"])
            self.needs_context = bool(state["needs_context"])
            user, channel = (str(name) if (name := state.get(field)) else None for field in Reader._fields)
            self.reader = Reader(user, channel)
            with self._lock:
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
    return Conversation(os.path.join(folder, name_agent_file(_KIND, agent, f"-{key}.json")))


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


def _remove_unused(folder: str, name: str) -> None:
    """Remove conversations that are over and, where the agent of a file has too many, its oldest ones."""
    own = name[: len(name_agent_file(_KIND, "", ""))]
    ages = sorted(((time.time() - entry.stat().st_mtime, entry) for entry in _entries(folder)), key=itemgetter(0))
    count = 0
    for age, entry in ages:
        count += entry.name.startswith(own)
        if age > _UNUSED_SECONDS or (entry.name.startswith(own) and count > _MAX_CONVERSATIONS):
            with suppress(OSError):
                os.unlink(entry.path)


def _entries(folder: str) -> Iterable[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [entry for entry in entries if entry.name.startswith(f"{_KIND}-")]


@contextmanager
def without_recalls() -> Iterator[None]:
    """Do not log the searches within this block."""
    token = _is_off.set(True)
    try:
        yield
    finally:
        _is_off.reset(token)


class Recall(NamedTuple):
    """How often a page answered, and when it did last."""

    times: int
    last: str


class Recalls(NamedTuple):
    """`since`: the time of the oldest line that is kept; empty when there is none."""

    pages: dict[str, Recall]
    since: str


def log_files(agent: str) -> tuple[str, str]:
    """Return the names of an agent's log and of the one before it."""
    return name_agent_file(_LOG_PREFIX, agent, ".jsonl"), name_agent_file(_LOG_PREFIX, agent, ".1.jsonl")


def name_agent_file(kind: str, agent: str, suffix: str) -> str:
    """Return the name of a file of an agent beside the index."""
    return f"{kind}-{hashlib.blake2b(agent.encode(), digest_size=6).hexdigest()}{suffix}"


def log_recall(folder: str, agent: str, paths: Iterable[str], at: str) -> None:
    """Log that pages answered. The index folder is neither created nor followed if it is a link."""
    pages = list(dict.fromkeys(paths))[:_MAX_PAGES]
    if not folder or not pages or _is_off.get() or os.path.islink(folder):
        return
    line = json.dumps({"at": at, "agent": agent, "paths": pages}, ensure_ascii=False, separators=(",", ":"))
    current, earlier = (os.path.join(folder, name) for name in log_files(agent))
    with suppress(OSError, UnicodeError):
        append_to_log(current, earlier, line, _MAX_LOG_BYTES)


def read_recalls(folder: str, agent: str) -> Recalls:
    """Read the recalls of one agent."""
    times: dict[str, int] = {}
    last: dict[str, str] = {}
    since = ""
    for at, paths in _lines(folder, agent) if folder else ():
        since = since or at
        for path in paths:
            times[path] = times.get(path, 0) + 1
            last[path] = max(at, last.get(path, ""))
    return Recalls({path: Recall(count, last[path]) for path, count in times.items()}, since)


def _lines(folder: str, agent: str) -> Iterator[tuple[str, list[str]]]:
    for name in reversed(log_files(agent)):
        for line in read_own_state(os.path.join(folder, name)).split("\n"):
            recall = parse_object(line) or {}
            with suppress(KeyError, TypeError):
                if recall["agent"] == agent:
                    yield str(recall["at"]), [str(path) for path in recall["paths"]]


def forget(folder: str) -> None:
    """Remove all logs and postponed questions, so that nothing mentions pages that were removed for good."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith((_LOG_PREFIX, "review-")):
                os.unlink(os.path.join(folder, name))
