"""Which pages answered: one line for every time that memory was asked, beside the index. It can be lost like that one.

Written without waiting for the disk, and never a reason to fail. The file is put away when it is full, and one earlier
one is kept. Who only looks around (`unnoted`) is not counted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple

from ..storage.files import APPEND_FLAGS

FILES = ("recalled.jsonl", "recalled.1.jsonl")
_LARGEST = 2_000_000  # bytes
_MOST = 100  # pages of one answer
_quiet: ContextVar[bool] = ContextVar("unnoted", default=False)


@contextmanager
def unnoted() -> Iterator[None]:
    """Within this block nothing that is found counts as recalled."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


class Recall(NamedTuple):
    """How often a page answered, and when it did last."""

    times: int
    last: str


class Recalls(NamedTuple):
    """`since`: the time of the oldest line that is kept; empty when there is none."""

    pages: dict[str, Recall]
    since: str


def note(folder: str, agent: str, paths: Iterable[str], at: str) -> None:
    """Pages have answered somebody. `folder` is the index's own; one that is not there is not made, nor is a link
    followed."""
    some = list(dict.fromkeys(paths))[:_MOST]
    if not folder or not some or _quiet.get() or os.path.islink(folder):
        return
    line = json.dumps({"at": at, "agent": agent, "paths": some}, ensure_ascii=False, separators=(",", ":"))
    with suppress(OSError, UnicodeError):
        handle = os.open(os.path.join(folder, FILES[0]), APPEND_FLAGS, 0o600)
        try:
            os.write(handle, f"{line}\n".encode())
            full = os.fstat(handle).st_size > _LARGEST
        finally:
            os.close(handle)
        if full:
            os.replace(*(os.path.join(folder, name) for name in FILES))


def recalls(folder: str, agent: str) -> Recalls:
    """What is known of one agent's recalls."""
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
    for name in reversed(FILES):
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            for line in file:
                with suppress(ValueError, KeyError, TypeError):
                    said = json.loads(line)
                    if said["agent"] == agent:
                        yield str(said["at"]), [str(path) for path in said["paths"]]


def forget(folder: str) -> None:
    """Remove what was noted: the names of pages that are gone for good are not kept here."""
    for name in FILES:
        with suppress(OSError):
            os.unlink(os.path.join(folder, name))
