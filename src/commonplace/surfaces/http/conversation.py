"""A session as a conversation: who said what, with secrets taken out as search does."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import PageNotFound
from ...formats.transcripts import turns
from ...home import Home
from .page_access import page_at, sight

_MOST = 2000  # turns
_USERS = frozenset({"user", "human"})


class Said(NamedTuple):
    """`line` is that of the transcript, counted from 1. `role` is user or assistant."""

    line: int
    role: str
    name: str
    at: str
    text: str


def talk(home: Home, path: str) -> list[Said]:
    """The turns of a session; PageNotFound for what is no session of this agent."""
    if sight(home, path).kind != "session":
        raise PageNotFound(path)
    found, _ = turns(page_at(home, path).text)
    return [_said(turn.line, turn.said, turn.at, turn.role) for turn in found[:_MOST]]


def _said(line: int, said: str, at: str, role: str) -> Said:
    name, _, text = said.partition(": ")
    return Said(line, "user" if role in _USERS else "assistant", name, at, text)
