"""Readings: what a conversation was last given of a page that it may rewrite as a whole, the base of the merge then.

A reading holds only the lines that were given: a line that was cut off is not one that the writer removed. A server
keeps readings in memory, a command in a log for the agent's next commands, and a handle of a named conversation in the
same log for that conversation's next handles.

Clients of a server that name no conversation are not told apart. Which of the latest readings one of them rewrites
shows in its text: the one of which it leaves out the fewest lines. So what another of them added stays.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from ..formats.json_text import parse_object
from .base import ABSENT
from .files import append_to_log, make_folders, read_own_state
from .history import current_write, version_of
from .merge import find_lost_lines

if TYPE_CHECKING:
    from .layout import Layout

_PREFIX = "given"  # names of reading logs begin with this
_MAX_LOG_BYTES = 1_000_000
_MAX_READINGS_CHARACTERS = 1_000_000  # all readings of an agent in memory; a longer one is kept alone
_MAX_LISTED_PAGES = 2000  # a longer list is not recorded as complete
_MAX_UNNAMED = 64  # readings of clients without a name, each with at most so many characters
_MAX_UNNAMED_CHARACTERS = 20_000
_UNNAMED_SECONDS = 600  # in which such a client rewrites what it was given


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


def _list_paths(paths: Sequence[str]) -> Reading:
    """Return the reading of a list of pages, which shows that any other page was absent."""
    return Reading("", ((1, "\n".join(sorted(paths))),) if paths else ())


class AgentReadings:
    """What the conversations of one agent were given of the pages that tools rewrite as a whole."""

    def __init__(self, layout: Layout, agent: str, session: str, find_folder: Callable[[], str]) -> None:
        """`session`: the conversation, unless a call says which. `find_folder`: finds where this machine keeps logs."""
        self._layout = layout
        self._agent = agent
        self._session = session
        self._find_folder = find_folder
        self.store = Readings()  # a server has one for all handles of an agent

    def note(self, path: str, reading: Reading, session: str = "") -> None:
        """Note what the conversation has seen or written of a page."""
        if self._layout.is_rewritten(path, self._agent):
            self.store.note(self._conversation(session), path, reading)

    def note_listed(self, paths: Sequence[str]) -> None:
        """Note that the conversation has seen the list of topics and curated pages, so any other did not exist."""
        if len(paths) <= _MAX_LISTED_PAGES:
            self.store.note(self._conversation(), "", _list_paths(paths))

    def find_base(self, path: str, text: str) -> Reading | None:
        """Return what the conversation last saw of a page that it rewrites to a text, the base of a merge; None if it
        saw nothing.

        A conversation of commands that has seen nothing continues with what the agent has seen.
        """
        conversation = self._conversation()
        last = self._find_last(conversation, path)
        return last if last is None or conversation else self.store.choose_unnamed(path, last, text)

    def note_written(self, path: str, text: str) -> None:
        """Note what the conversation has written of a page."""
        if self._layout.is_rewritten(path, self._agent):
            self.store.note(self._conversation(), path, read_lines(text), is_given=False)

    def _find_last(self, conversation: str, path: str) -> Reading | None:
        for find in (self.store.find, self.store.find_latest):
            if reading := find(conversation, path):
                return reading
            listed = find(conversation, "")
            if listed and path not in listed.lines.values():
                return Reading(ABSENT)
        return None

    def _conversation(self, session: str = "") -> str:
        return session or current_write().author.session or self._session

    def keep(self, conversation: str, *, is_of_commands: bool = False) -> None:
        """Store the readings of a conversation for its next handles, or for the agent's next commands."""
        self.store.keep_in(ReadingLog(self._find_folder(), self._agent, conversation, is_of_commands=is_of_commands))

    def forget(self) -> None:
        """Remove the stored readings of all agents."""
        _remove_logs(self._find_folder())


class Readings:
    """The readings of one agent, by conversation and page. Safe to use from several threads."""

    def __init__(self, elapsed: Callable[[], float] | None = None) -> None:
        """`elapsed`: the clock of a server, whose clients need not name their conversations."""
        self._elapsed = elapsed
        self._unnamed: deque[_Given] = deque(maxlen=_MAX_UNNAMED)
        self._readings: OrderedDict[tuple[str, str], Reading] = OrderedDict()
        self._characters = 0
        self._lock = Lock()
        self._log: ReadingLog | None = None

    def keep_in(self, log: ReadingLog) -> None:
        """Also use a log that other processes read."""
        self._log = log

    def note(self, conversation: str, path: str, reading: Reading, *, is_given: bool = True) -> None:
        """Note what a conversation was given of a page, or wrote there."""
        if self._elapsed and not conversation and is_given and len(reading.text) <= _MAX_UNNAMED_CHARACTERS:
            with self._lock:
                self._unnamed.append(_Given(self._elapsed(), path, reading, set()))
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

    def choose_unnamed(self, path: str, last: Reading, text: str) -> Reading:
        """Return the reading that a client without a name rewrites to a text: of the last one, and of earlier ones that
        nobody has rewritten yet, the one of which the text leaves out the fewest lines, and then adds the fewest."""
        if not self._elapsed:
            return last
        earliest = self._elapsed() - _UNNAMED_SECONDS
        with self._lock:
            recent = (each for each in reversed(self._unnamed) if each.at >= earliest)
            unused = [(each, reading) for each in recent if (reading := each.find(path))]
            candidates = [reading for _, reading in unused if reading.text.rstrip("\n") != text.rstrip("\n")]
            chosen = min([last, *candidates], key=lambda reading: _count_changes(reading.text, text))
            used = next((each for each, reading in unused if reading.version == chosen.version), None)
            if used:
                used.rewritten.add(path)
        return chosen

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


def _count_changes(base: str, text: str) -> tuple[int, int]:
    """Return how many lines of a base a text lacks, and how many it adds."""
    old = base.split("\n")
    new = text.split("\n")
    lost = find_lost_lines(old, new)
    added = find_lost_lines(new, old)
    return lost.count("\n") + bool(lost), added.count("\n") + bool(added)


class _Given(NamedTuple):
    """A reading of a client without a name, and the pages that were rewritten on its base."""

    at: float
    path: str  # empty for a list of pages
    reading: Reading
    rewritten: set[str]

    def find(self, path: str) -> Reading | None:
        """Return what was given of a page, unless it was rewritten since."""
        if path in self.rewritten:
            return None
        if self.path == path:
            return self.reading
        return None if self.path or path in self.reading.lines.values() else Reading(ABSENT)


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


def _remove_logs(folder: str) -> None:
    """Remove all logs, which hold the text of pages."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(f"{_PREFIX}-"):
                os.unlink(os.path.join(folder, name))
