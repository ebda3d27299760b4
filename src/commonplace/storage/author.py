"""Who is writing, and why: said once around a call, and found wherever a page is changed below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Signature(NamedTuple):
    """`session` and `why` where they are known. `call` is what all changes of one call have in common."""

    tool: str = "library"
    agent: str = ""
    session: str = ""
    why: str = ""
    call: str = ""


class Signed:
    """A call, and what is to be said about its writes when it is done."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.conflicts: list[str] = []
        self.warnings: list[str] = []


_current: ContextVar[Signed | None] = ContextVar("signed", default=None)


@contextmanager
def signed(signature: Signature) -> Iterator[Signed]:
    call = Signed(signature._replace(call=signature.call or os.urandom(5).hex()))
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def current() -> Signed:
    """The call that is under way; outside of any, one that nobody asks."""
    return _current.get() or Signed(Signature())
