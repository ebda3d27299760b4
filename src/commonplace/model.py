"""The nouns: what a memory is made of. Frozen values, no I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Clock = Callable[[], datetime]
Json = Any  # any JSON value: null, boolean, number, string, list, object

ScopeKind = Literal["shared", "world", "global", "channel", "skill", "agent", "extra"]
Source = Literal["memory", "session", "extra"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Who a memory belongs to. `name` is the channel, the agent, a skill's owner, or the pattern of an extra path."""

    kind: ScopeKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name and self.kind != "extra" else self.kind


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was when it was read. `version` names exactly these bytes."""

    path: str
    text: str
    version: str


@dataclass(frozen=True, slots=True)
class Block:
    """One `### key` section of a page of blocks. `start:end` is the span of its characters in the page."""

    key: str
    content: str
    tags: tuple[str, ...]
    at: str
    start: int
    end: int
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Record:
    """A keyed value: one small page of its own."""

    key: str
    value: Json
    category: str = "general"
    tags: tuple[str, ...] = ()
    created_at: str = ""
    updated_at: str = ""
    path: str = ""
    scope: Scope = Scope("global")
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Skill:
    """A learned behaviour: instructions that are always shown and data that is fetched on demand."""

    name: str
    description: str
    instructions: str = ""
    owner: str = "global"
    data: dict[str, Json] = field(default_factory=dict)
    training_progress: int = 0
    created_at: str = ""
    updated_at: str = ""
    path: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A few lines of a page that are found together. `hint` is what the index reads and the reader is not shown."""

    start: int
    end: int
    text: str
    hint: str = ""
    key: str = ""
    tags: tuple[str, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks. Agents see what is shared and their own; None for channel or user means any of them."""

    agent: str
    channel: str | None = None
    user: str | None = None
    extra: tuple[str, ...] = ()
    any_channel: bool = True
    any_owner: bool = True


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and who asks it."""

    text: str
    viewer: Viewer
    limit: int = 10
    min_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers: `text` is lines `start` to `end` of `path`, both counted from 1 and included."""

    path: str
    start: int
    end: int
    text: str
    score: float
    scope: Scope
    source: Source = "memory"
    key: str = ""
    tags: tuple[str, ...] = ()
    at: str = ""

    @property
    def citation(self) -> str:
        return f"{self.path}#L{self.start}-L{self.end}"
