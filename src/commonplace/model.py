"""The nouns: what a memory is made of. Frozen values, no I/O."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, NamedTuple

Clock = Callable[[], datetime]
Json = Any  # any JSON value: null, boolean, number, string, list, object

ScopeKind = Literal["shared", "world", "global", "channel", "skill", "agent", "extra"]
Source = Literal["memory", "session", "extra"]


class Scope(NamedTuple):
    """Who a memory belongs to. `name` is the channel, the agent, a skill's owner, or the patterns of an extra path."""

    kind: ScopeKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name and self.kind != "extra" else self.kind


class Page(NamedTuple):
    """A page as it was when it was read. `version` names exactly these bytes."""

    path: str
    text: str
    version: str


class Block(NamedTuple):
    """One `### key` section of a page of blocks. `start:end` is the span of its characters in the page."""

    key: str
    content: str
    tags: tuple[str, ...]
    at: str
    start: int
    end: int
    first_line: int
    last_line: int


class Record(NamedTuple):
    """A keyed value: one small page of its own."""

    key: str
    value: Json
    category: str = "general"
    tags: tuple[str, ...] = ()
    created_at: str = ""
    updated_at: str = ""
    path: str = ""
    scope: Scope = Scope("global")
    problem: str = ""  # what is wrong with the page

    @property
    def warning(self) -> str:
        return f"{self.path}: {self.problem}" if self.problem else ""

    @property
    def text(self) -> str:
        """The value as people read it: text as it is, anything else as JSON."""
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


NO_DATA: dict[str, Json] = {}  # never changed: skills are replaced, not edited


class Skill(NamedTuple):
    """A learned behaviour: instructions that are always shown and data that is fetched on demand."""

    name: str
    description: str
    instructions: str = ""
    owner: str = "global"
    data: dict[str, Json] = NO_DATA
    training_progress: int = 0
    created_at: str = ""
    updated_at: str = ""
    path: str = ""
    warning: str = ""


class Passage(NamedTuple):
    """A few lines of a page that are found together.

    The index reads more than the reader is shown: `hint` belongs to the passage (a key, the headings above, a date),
    `around` stands beside it (what was said before and after) and counts for less. Words are looked up in all of it;
    meaning is read off `lead` and the text, which stay the same wherever the passage is moved to.
    """

    start: int
    end: int
    text: str
    hint: str = ""
    around: str = ""
    lead: str = ""
    key: str = ""
    tags: tuple[str, ...] = ()
    at: str = ""


class Viewer(NamedTuple):
    """Who looks. An agent sees what is shared and its own, and every channel and skill, unless it is asked to keep
    to one conversation: then it sees those of this channel and this user, and none where there is none."""

    agent: str
    extra: tuple[str, ...] = ()
    one_conversation: bool = False
    channel: str | None = None
    user: str | None = None


class Filters(NamedTuple):
    """What a search keeps to. Nothing named: everything the viewer may see. Dates are days, both included."""

    scopes: tuple[str, ...] = ()  # `world`, or `channel:dev` for one of a kind
    channel: str = ""
    agent: str = ""
    tags: tuple[str, ...] = ()  # all must be there
    since: int | None = None  # ordinals of days; a passage without a date is in no range
    until: int | None = None
    source: str = ""
    paths: tuple[str, ...] = ()  # patterns, any of which must match


EVERYTHING = Filters()


class Query(NamedTuple):
    """A question, and who asks it. `today` is what "yesterday" is counted from, as the ordinal of a day."""

    text: str
    viewer: Viewer
    limit: int = 10
    min_score: float = 0.0
    filters: Filters = EVERYTHING
    today: int = 0


class Hit(NamedTuple):
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
