"""The author of a write: set once around a call, and read wherever a page is changed below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Author(NamedTuple):
    """Who writes, with `session` and `why` where they are known. All changes of one call share the id `call`."""

    tool: str = "library"
    agent: str = ""
    session: str = ""
    why: str = ""
    call: str = ""


class WriteContext:
    """A call in progress: its author, and the conflicts and warnings to report when it is done."""

    def __init__(self, author: Author) -> None:
        self.author = author
        self.conflicts: list[str] = []
        self.warnings: list[str] = []


_current: ContextVar[WriteContext | None] = ContextVar("write_context", default=None)


@contextmanager
def write_as(author: Author) -> Iterator[WriteContext]:
    """Make `author` the author of every write inside the block."""
    context = WriteContext(author._replace(call=author.call or os.urandom(5).hex()))
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


def current_write() -> WriteContext:
    """Return the context of the call in progress, or an anonymous one."""
    return _current.get() or WriteContext(Author())
