"""The log of recalls: which pages answered a search, one line for each search, beside the index. It may be lost.

Each agent has a file of its own, so that what others recall removes nothing from it. Written without waiting for the
disk, and never a reason to fail. A full file is rotated, and one earlier file is kept.
Browsing (`without_recalls`) is not counted.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple

from ..storage.files import append_to_log

_PREFIX = "recalled"  # of the names of all logs
_MAX_LOG_BYTES = 2_000_000
_MAX_PAGES = 100  # of one answer
_is_off: ContextVar[bool] = ContextVar("recalls_off", default=False)


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
    return name_agent_file(_PREFIX, agent, ".jsonl"), name_agent_file(_PREFIX, agent, ".1.jsonl")


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
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            for line in file:
                with suppress(ValueError, KeyError, TypeError):
                    recall = json.loads(line)
                    if recall["agent"] == agent:
                        yield str(recall["at"]), [str(path) for path in recall["paths"]]


def forget(folder: str) -> None:
    """Remove all logs, and what is to be asked later, so that nothing tells of pages that were removed for good."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith((_PREFIX, "review-")):
                os.unlink(os.path.join(folder, name))
