"""What every backend does with a page around a write: text to bytes and back, and conflict detection.

Conflict detection compares what a handle has read of a page with what history knows, so that no change by somebody
else is lost silently. A conversation's reading is what it was last given of a page that it may rewrite as a whole: the
base of the merge when it does. It holds only the lines that were given: a line that was cut off is not one that the
writer removed. A server keeps readings in memory, a command in a log for the agent's next commands, and a handle of a
named conversation in the same log for that conversation's next handles.
"""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import groupby
from threading import Lock
from typing import Any, NamedTuple

from ..caching import ByteCache
from ..errors import CommonplaceError, NotFound, NotText, PageNotFound, StaleVersion, StorageError
from ..formats.json_text import parse_object
from ..model import Page
from ..wording import format_command
from .base import HistoryStore, PageElsewhere, Paths
from .files import append_to_log, make_folders, read_own_state
from .history import as_text, current_write, needs_approval, version_of
from .merge import loses_changes

_READ_VERSION_BYTES = 1_000_000  # cache of the versions that one handle has read

ByteChange = Callable[[bytes | None], bytes | None]  # None: the page is absent, or nothing is to be written


def decode_text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start})"
        raise NotText(problem, path=path, advice="save it as UTF-8, or try `commonplace doctor --fix`") from error


def change_text(path: str, change: Callable[[str], str]) -> ByteChange:
    """Return a change of text as one of bytes."""

    def change_bytes(old: bytes | None) -> bytes | None:
        new = change("" if old is None else decode_text(old, path)).encode()
        return new if new or old is not None else None  # an absent page that would be empty is not created

    return change_bytes


def split_unique_path(path: str) -> tuple[str, str, str]:
    """Return the folder of the folders that may hold a page of this name, the page's own folder in it, and the name."""
    siblings, folder, name = path.rsplit("/", 2)
    return siblings, folder, name


class ConflictDetector:
    """Call all but `mark_read` while holding the page's lock. Without a history nothing is recorded."""

    def __init__(self, history: HistoryStore | None) -> None:
        self.history = history
        self._read_versions: ByteCache[str, str] = ByteCache("versions that a handle has read", _READ_VERSION_BYTES)

    def mark_read(self, path: str, version: str) -> None:
        """Note that the next writer has read this version."""
        self._read_versions.put(path, version)

    def forget(self, path: str) -> None:
        self._read_versions.pop(path)

    def record_outside_edit(self, path: str, data: bytes | None, saved: float | None) -> None:
        """Record a page about to be replaced whose content history does not know: another program saved it."""
        if self.history:
            with _history_failure_as_warning():
                change = self.history.record_outside_edit(path, data, saved)
                if change and change.why:
                    sentence = f"{path}: a manual save {change.why}: `commonplace diff {change.id}` shows it"
                    current_write().conflicts.append(sentence)

    def record_change(self, path: str, old: bytes | None, new: bytes | None) -> None:
        """Record in history what a page became."""
        if self.history:
            with _history_failure_as_warning():
                self.history.record_change(path, old, new, current_write().author)

    def record_unapproved(self, path: str, old: bytes | None, new: bytes) -> bool:
        """Record a change before it is written if the author's rules need approval: without that record in history, the
        rule would be in force. Return whether it was recorded; if recording fails, the page is not written.
        """
        author = current_write().author
        if not self.history or not needs_approval(author.origin):
            return False
        self.history.record_change(path, old, new, author)
        return True

    def report_lost_changes(self, path: str, old: bytes | None, new: bytes) -> None:
        """Report a conflict if the new text drops something that others wrote since this handle read the page."""
        base = self._base(path, old)
        if base is not None and old is not None and loses_changes(base, as_text(old), as_text(new)):
            _report_conflict(path, "had changed since you read it, and some of those changes are no longer in it")

    def _base(self, path: str, old: bytes | None) -> str | None:
        """Return the text this handle last read, or None when the page has not changed since."""
        version = self._read_versions.get(path)
        if version is None or self.history is None or version == version_of(old):
            return None
        with suppress(NotFound, StorageError):
            return as_text(self.history.read_version(path, version))
        return None


class TextPages(ABC):
    """The verbs of `Pages` that write text, for a backend that can change the bytes of a page."""

    def __init__(self, conflicts: ConflictDetector) -> None:
        self._conflicts = conflicts

    @abstractmethod
    def change_bytes(self, path: str, change: ByteChange) -> str:
        """Read, change and write a page and return its version.

        Nothing is written when `change` returns the same bytes, or None.
        """

    @abstractmethod
    def read(self, path: str) -> Page: ...

    @abstractmethod
    def list_folders(self, folder: str) -> Paths: ...

    @abstractmethod
    def modified_at(self, path: str) -> float: ...

    @abstractmethod
    def lock(self, name: str) -> AbstractContextManager[None]: ...

    def page_reader(self, paths: Sequence[str]) -> Callable[[str], Page]:
        return self.read

    def list_folders_with(self, folder: str, names: Sequence[str]) -> Paths:
        return [
            each for each in self.list_folders(folder) if any(self._has(f"{folder}/{each}/{name}") for name in names)
        ]

    def _has(self, path: str) -> bool:
        try:
            self.modified_at(path)
        except PageNotFound:
            return False
        except CommonplaceError:  # whoever reads it will say what is wrong
            return True
        return True

    def _normalize(self, path: str) -> str:
        """Return the canonical form of a path, under which the backend stores the page."""
        return path

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        def replace_bytes(old: bytes | None) -> bytes:
            if if_version is not None and version_of(old) != if_version:
                raise StaleVersion(path)
            current_write().replaced = as_text(old)  # so that nobody has to read it again
            return text.encode()

        return self.change_bytes(path, replace_bytes)

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        return self.change_bytes(path, change_text(path, change))

    def edit_unique(self, path: str, change: Callable[[str], str], lock: str) -> str:
        with self.lock(lock):
            siblings, folder, name = split_unique_path(path)
            if {*self.list_folders_with(siblings, [name])} - {folder}:
                raise PageElsewhere(path)
            return self.edit(path, change)

    def append(self, path: str, text: str) -> str:
        def add_text(old: str) -> str:
            return old + text

        return self.edit(path, add_text)

    def rewrite(self, path: str, merge: Callable[[str], str]) -> str:
        def merge_bytes(old: bytes | None) -> bytes:
            self._conflicts.mark_read(self._normalize(path), version_of(old))
            return merge(as_text(old)).encode()

        return self.change_bytes(path, merge_bytes)

    def mark_read(self, page: Page) -> None:
        self._conflicts.mark_read(self._normalize(page.path), page.version)


def _report_conflict(path: str, what: str) -> None:
    sentence = f"{path} {what}: `{format_command('diff', path)}` shows both, `commonplace undo` takes yours back"
    if sentence not in current_write().conflicts:
        current_write().conflicts.append(sentence)


@contextmanager
def _history_failure_as_warning() -> Iterator[None]:
    """Turn an error of history into a warning: a page is written even when its history cannot be."""
    try:
        yield
    except (OSError, StorageError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        current_write().warnings.append(f"the earlier version was not kept in .history ({reason})")


_PREFIX = "given"  # names of reading logs begin with this
_MAX_LOG_BYTES = 1_000_000
_MAX_READINGS_CHARACTERS = 1_000_000  # all readings of an agent in memory; a longer one is kept alone


class Reading(NamedTuple):
    """Lines of one version of a page: runs of consecutive lines, each with the number of its first, from 1."""

    version: str
    runs: tuple[tuple[int, str], ...] = ()

    @property
    def lines(self) -> dict[int, str]:
        return {first + step: line for first, text in self.runs for step, line in enumerate(text.split("\n"))}

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.runs)

    def add(self, earlier: Reading | None) -> Reading:
        """Return the reading with what was given of the same version before."""
        if earlier is None or earlier.version != self.version:
            return self
        return Reading(self.version, _join_runs(earlier.lines | self.lines))


def _join_runs(lines: dict[int, str]) -> tuple[tuple[int, str], ...]:
    """Return lines as runs of consecutive ones."""
    runs: list[tuple[int, str]] = []
    for _, run in groupby(enumerate(sorted(lines)), key=lambda pair: pair[1] - pair[0]):
        together = [number for _, number in run]
        runs.append((together[0], "\n".join(lines[number] for number in together)))
    return tuple(runs)


def read_lines(text: str, version: str = "", first: int = 1, last: int | None = None) -> Reading:
    """Return the reading of a page, or of its lines from `first` to `last`."""
    lines = text.rstrip("\n").split("\n") if text.strip("\n") else []
    selected = lines[first - 1 : last]
    runs = ((first, "\n".join(selected)),) if selected else ()
    return Reading(version or version_of(text.encode()), runs)


def list_paths(paths: Sequence[str]) -> Reading:
    """Return the reading of a list of pages, which shows that any other page was absent."""
    return Reading("", ((1, "\n".join(sorted(paths))),) if paths else ())


class Readings:
    """The readings of one agent, by conversation and page. Safe to use from several threads."""

    def __init__(self) -> None:
        self._readings: OrderedDict[tuple[str, str], Reading] = OrderedDict()
        self._characters = 0
        self._lock = Lock()
        self._log: ReadingLog | None = None

    def keep_in(self, log: ReadingLog) -> None:
        """Also use a log that other processes read."""
        self._log = log

    def note(self, conversation: str, path: str, reading: Reading) -> None:
        """Note what a conversation was given of a page, or wrote there."""
        if self._is_known(conversation, path, reading):
            return
        reading = reading.add(self.find_latest(conversation, path))
        with self._lock:
            self._drop((conversation, path))
            self._readings[conversation, path] = reading
            self._characters += len(reading.text)
            while self._characters > _MAX_READINGS_CHARACTERS and len(self._readings) > 1:
                self._drop(next(iter(self._readings)))
        if log := self._log_of(conversation):
            log.add(path, reading)

    def _is_known(self, conversation: str, path: str, reading: Reading) -> bool:
        """Return whether the last reading is the same, as is usual: pages are read more often than they change."""
        with self._lock:
            if self._readings.get((conversation, path)) != reading:
                return False
            self._readings.move_to_end((conversation, path))
        return True

    def find(self, conversation: str, path: str) -> Reading | None:
        """Return what a conversation was last given of a page; None if it was given nothing."""
        with self._lock:
            reading = self._readings.get((conversation, path))
        log = None if reading else self._log_of(conversation)
        return log.find(path) if log else reading

    def find_latest(self, conversation: str, path: str) -> Reading | None:
        """Like `find`; if a conversation of commands was given nothing, return the agent's last reading in the log."""
        reading = self.find(conversation, path)
        log = None if reading else self._log_of(conversation)
        return log.find_latest(path) if log and log.is_of_commands else reading

    def _log_of(self, conversation: str) -> ReadingLog | None:
        """Return the log that has the readings of a conversation: a command is one, whatever its name."""
        is_its_log = self._log and (self._log.is_of_commands or self._log.conversation == conversation)
        return self._log if is_its_log else None

    def _drop(self, key: tuple[str, str]) -> None:
        if dropped := self._readings.pop(key, None):
            self._characters -= len(dropped.text)


class _LogLine(NamedTuple):
    """A line of the log."""

    reading: Reading
    is_current: bool  # in the current file, not in the one before it


class ReadingLog:
    """The readings of one agent in a file, for what outlasts a handle: commands, each of which is a process of its own,
    and named conversations.

    Commands run by the same program share a conversation. One that has read nothing continues with what the agent read
    last. Lines are appended whole, so that no process removes what another wrote. A full file is rotated, and one
    earlier file is kept.
    """

    def __init__(self, folder: str, agent: str, conversation: str, *, is_of_commands: bool) -> None:
        self._folder = folder
        self._agent = agent
        self.conversation = conversation
        self.is_of_commands = is_of_commands
        name = f"{_PREFIX}-{hashlib.blake2b(agent.encode(), digest_size=6).hexdigest()}"
        self._current = os.path.join(folder, f"{name}.jsonl")
        self._earlier = os.path.join(folder, f"{name}.1.jsonl")
        self._lines: dict[tuple[str, str], _LogLine] | None = None  # keyed by conversation ("": any) and page

    def add(self, path: str, reading: Reading) -> None:
        """Append a reading; if it cannot be written, it is dropped. A folder that is a link is not followed."""
        if os.path.islink(self._folder) or self._has(path, reading):
            return
        fields = {"conversation": self.conversation, "path": path, "version": reading.version}
        line = json.dumps(fields | {"lines": reading.runs}, ensure_ascii=False, separators=(",", ":"))
        with suppress(OSError, UnicodeError):
            make_folders(self._folder)
            append_to_log(self._current, self._earlier, line, _MAX_LOG_BYTES)

    def _has(self, path: str, reading: Reading) -> bool:
        """Return whether a command before this one had the same reading. A handle knows its own readings."""
        return self.is_of_commands and self._load().get((self.conversation, path)) == (reading, True)

    def find(self, path: str) -> Reading | None:
        """Return the last reading of a page in this conversation."""
        if not self.is_of_commands:
            self._lines = None  # another handle may have added to it
        line = self._load().get((self.conversation, path))
        return line.reading if line else None

    def find_latest(self, path: str) -> Reading | None:
        """Return the last reading of a page in any conversation of this agent."""
        line = self._load().get(("", path))
        return line.reading if line else None

    def _load(self) -> dict[tuple[str, str], _LogLine]:
        """Return what the log has, read once: a command makes one call."""
        if self._lines is None:
            self._lines = {}
            for fields, is_current in self._iterate_lines():
                with suppress(ValueError, KeyError, TypeError, AttributeError):
                    runs = tuple((int(first), str(text)) for first, text in fields["lines"])
                    reading = Reading(str(fields["version"]), runs)
                    for conversation in (str(fields["conversation"]), ""):
                        self._lines[conversation, str(fields["path"])] = _LogLine(reading, is_current)
        return self._lines

    def _iterate_lines(self) -> Iterator[tuple[Any, bool]]:
        for name in (self._earlier, self._current):
            for line in read_own_state(name).split("\n"):
                if (fields := parse_object(line)) is not None:
                    yield fields, name == self._current


def forget_readings(folder: str) -> None:
    """Remove all logs, which hold the text of pages."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(f"{_PREFIX}-"):
                os.unlink(os.path.join(folder, name))
