"""What a conversation was last given of the pages that it may rewrite whole: the base of the merge when it does.

A reading holds the lines that were given, and no others: a line that was cut is not one that the writer took out. A
server keeps readings in memory. A command keeps them for the agent's next commands, in a log that may be lost.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from threading import Lock
from typing import Any, NamedTuple

from .files import append_to_log, make_folders
from .history import version_of

_PREFIX = "given"  # of the names of all logs
_MAX_LOG_BYTES = 1_000_000
_MAX_KEPT_CHARACTERS = 1_000_000  # of all readings of an agent in memory; one that is longer is kept alone


class Reading(NamedTuple):
    """The lines of one version of a page, by their numbers from 1."""

    version: str
    lines: dict[int, str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines[number] for number in sorted(self.lines))

    def add(self, earlier: Reading | None) -> Reading:
        """Return the reading with what was given of the same version before."""
        if earlier is None or earlier.version != self.version:
            return self
        return Reading(self.version, earlier.lines | self.lines)


def read_lines(text: str, version: str = "", first: int = 1, last: int | None = None) -> Reading:
    """Return the reading of a page, or of its lines from `first` to `last`."""
    lines = text.rstrip("\n").split("\n") if text.strip("\n") else []
    selected = lines[first - 1 : last]
    return Reading(version or version_of(text.encode()), dict(enumerate(selected, start=first)))


def list_paths(paths: Sequence[str]) -> Reading:
    """Return the reading of a list of pages, by which a page that was not there is known to have been absent."""
    return Reading("", dict(enumerate(sorted(paths), start=1)))


class _KeptReading(NamedTuple):
    """A reading in little space: its lines joined where they follow each other, each part with its first number."""

    version: str
    runs: list[tuple[int, str]]

    def count_characters(self) -> int:
        return sum(len(text) for _, text in self.runs)


class Readings:
    """The readings of one agent, by conversation and page. Safe to use from several threads."""

    def __init__(self) -> None:
        self._readings: OrderedDict[tuple[str, str], _KeptReading] = OrderedDict()
        self._characters = 0
        self._lock = Lock()
        self._log: ReadingLog | None = None

    def keep_in(self, log: ReadingLog) -> None:
        """Use a log as well, which other processes read."""
        self._log = log

    def note(self, conversation: str, path: str, reading: Reading) -> None:
        """Note what a conversation was given of a page, or wrote there."""
        if not self._log and self._is_known(conversation, path, reading):
            return
        reading = reading.add(self.find_latest(conversation, path))
        with self._lock:
            self._drop((conversation, path))
            self._readings[conversation, path] = kept = _KeptReading(reading.version, _format_runs(reading.lines))
            self._characters += kept.count_characters()
            while self._characters > _MAX_KEPT_CHARACTERS and len(self._readings) > 1:
                self._drop(next(iter(self._readings)))
        if self._log:
            self._log.add(path, reading)

    def _is_known(self, conversation: str, path: str, reading: Reading) -> bool:
        """Return whether the last reading is the same, as it is where pages are read more often than they change."""
        with self._lock:
            kept = self._readings.get((conversation, path))
            if kept is None or kept != _KeptReading(reading.version, _format_runs(reading.lines)):
                return False
            self._readings.move_to_end((conversation, path))
        return True

    def find(self, conversation: str, path: str) -> Reading | None:
        """Return what a conversation was last given of a page; None when it was not."""
        with self._lock:
            kept = self._readings.get((conversation, path))
        if kept:
            return Reading(kept.version, _parse_runs(kept.runs))
        return self._log.find(path) if self._log else None

    def find_latest(self, conversation: str, path: str) -> Reading | None:
        """Return the same or, where it was given nothing, the last of any conversation of the agent in the log."""
        return self.find(conversation, path) or (self._log.find_latest(path) if self._log else None)

    def _drop(self, key: tuple[str, str]) -> None:
        if dropped := self._readings.pop(key, None):
            self._characters -= dropped.count_characters()


class _Noted(NamedTuple):
    """A line of the log."""

    reading: Reading
    is_current: bool  # in the current file, not in the one before it


class ReadingLog:
    """The readings of one agent in a file, for commands: each is a process of its own.

    The conversation of a command is that of the program that runs it. One that has read nothing continues with what
    the agent read last. Lines are appended whole, so that no process removes what another noted. A full file is
    rotated, and one earlier file is kept.
    """

    def __init__(self, folder: str, agent: str, conversation: str) -> None:
        self._folder = folder
        self._agent = agent
        self._conversation = conversation
        name = f"{_PREFIX}-{hashlib.blake2b(agent.encode(), digest_size=6).hexdigest()}"
        self._current = os.path.join(folder, f"{name}.jsonl")
        self._earlier = os.path.join(folder, f"{name}.1.jsonl")
        self._noted: dict[tuple[str, str], _Noted] | None = None  # by conversation and page; "": by anybody

    def add(self, path: str, reading: Reading) -> None:
        """Append a reading; one that cannot be written is not kept. A folder that is a link is not followed."""
        if os.path.islink(self._folder) or self._load().get((self._conversation, path)) == (reading, True):
            return
        fields = {"conversation": self._conversation, "path": path, "version": reading.version}
        line = json.dumps(fields | {"lines": _format_runs(reading.lines)}, ensure_ascii=False, separators=(",", ":"))
        with suppress(OSError, UnicodeError):
            make_folders(self._folder)
            append_to_log(self._current, self._earlier, line, _MAX_LOG_BYTES)

    def find(self, path: str) -> Reading | None:
        """Return the last reading of a page in this conversation."""
        noted = self._load().get((self._conversation, path))
        return noted.reading if noted else None

    def find_latest(self, path: str) -> Reading | None:
        """Return the last reading of a page in any conversation of this agent."""
        noted = self._load().get(("", path))
        return noted.reading if noted else None

    def _load(self) -> dict[tuple[str, str], _Noted]:
        """Return what the log has, read once: a command makes one call."""
        if self._noted is None:
            self._noted = {}
            for fields, is_current in self._iterate_lines():
                with suppress(ValueError, KeyError, TypeError, AttributeError):
                    reading = Reading(str(fields["version"]), _parse_runs(fields["lines"]))
                    for conversation in (str(fields["conversation"]), ""):
                        self._noted[conversation, str(fields["path"])] = _Noted(reading, is_current)
        return self._noted

    def _iterate_lines(self) -> Iterator[tuple[Any, bool]]:
        for name in (self._earlier, self._current):
            with suppress(OSError), open(name, encoding="utf-8", errors="replace") as file:
                for line in file:
                    with suppress(ValueError):
                        yield json.loads(line), name == self._current


def _format_runs(lines: dict[int, str]) -> list[tuple[int, str]]:
    """Return lines as texts, each with the number of its first line."""
    runs: list[tuple[int, str]] = []
    ordered = sorted(lines)
    if ordered and ordered[-1] - ordered[0] == len(ordered) - 1:  # nearly always
        return [(ordered[0], "\n".join(map(lines.__getitem__, ordered)))]
    for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0]):
        together = [number for _, number in run]
        runs.append((together[0], "\n".join(lines[number] for number in together)))
    return runs


def _parse_runs(runs: Any) -> dict[int, str]:
    return {first + step: line for first, text in runs for step, line in enumerate(text.split("\n"))}


def forget_readings(folder: str) -> None:
    """Remove all logs, which hold the text of pages."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(f"{_PREFIX}-"):
                os.unlink(os.path.join(folder, name))
