"""The value types of a memory: pages, blocks, records, skills, passages, queries and hits. Immutable, no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal, NamedTuple

Clock = Callable[[], datetime]
Json = Any  # any JSON value: null, boolean, number, string, list, object

ScopeKind = Literal["shared", "world", "global", "channel", "skill", "agent", "extra"]
Source = Literal["memory", "session", "extra"]
Verdict = Literal["found", "weak", "nothing"]  # whether the best hit is likely to be right

WEAK_SCORE = 0.2  # of a hit; below it, nothing fits, and hits are only the nearest there are


class Scope(NamedTuple):
    """Whom a page belongs to. `name` is the channel, the agent, the owner of a skill, or the globs of an extra path."""

    kind: ScopeKind  # `shared`, `world`, `global`, `channel`, `skill`, `agent` or `extra`
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name and self.kind != "extra" else self.kind

    def shares_facts_with(self, other: Scope) -> bool:
        """Return whether a fact of one may replace a fact of the other: a channel's facts are true only in that
        channel."""
        return self == other or "channel" not in (self.kind, other.kind)


class Page(NamedTuple):
    """A page as it was read. `version` identifies exactly these bytes."""

    path: str
    text: str
    version: str


class Block(NamedTuple):
    """One `### key` section of a page of blocks. `start` and `end` are character offsets in the page."""

    key: str
    content: str
    tags: tuple[str, ...]
    at: str
    start: int
    end: int
    first_line: int
    last_line: int


class Record(NamedTuple):
    """A keyed JSON value, stored as a page of its own."""

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
        """Return the value as people read it: text as it is, anything else as JSON."""
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


NO_DATA: dict[str, Json] = {}  # a shared default: never modify it


class Skill(NamedTuple):
    """A learned behaviour: instructions that are part of the prompt, and data that is fetched on demand."""

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

    def is_visible_to(self, user: str | None) -> bool:
        return self.owner in ("global", user)


class Passage(NamedTuple):
    """A few lines of a page, the unit of search.

    The index holds more than the text: `hint` belongs to the passage (a key, the headings above, a date); `around` is
    its surroundings (what was said before and after) and counts for less. Keyword search covers all of it; only
    `lead` and the text are embedded, because they stay the same wherever the passage moves.
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
    """Who searches. An agent sees what is shared and what is its own, and every channel and skill.

    With `every_agent` it sees what other agents own, too: that is for the owner of the memory alone.
    With `one_conversation` it sees only the channel and the skills of this conversation's `channel` and `user`.
    """

    agent: str
    extra: tuple[str, ...] = ()
    one_conversation: bool = False
    channel: str | None = None
    user: str | None = None
    every_agent: bool = False


class PastPages(NamedTuple):
    """Which of the present passages were there at the end of an earlier day."""

    day: int
    changed: tuple[str, ...] = ()  # pages that were different then: none of their passages
    undetermined: tuple[str, ...] = ()  # pages that history does not know of then: what is dated up to that day


class Filters(NamedTuple):
    """Restrictions of a search; by default there are none. `since` and `until` are days, both included."""

    scopes: tuple[str, ...] = ()  # `world`, or `channel:dev` for one of a kind
    channel: str = ""
    agent: str = ""
    tags: tuple[str, ...] = ()  # all must be there
    since: int | None = None  # ordinals of days; a passage without a date matches no range
    until: int | None = None
    source: str = ""
    paths: tuple[str, ...] = ()  # globs, any of which must match
    author: str = ""  # an agent, `outside`, `import`, `person` or `token`; asked of history after the index
    as_of: int | None = None  # the day at whose end memory is searched as it was
    moment: str = ""  # a moment of that day, if it is searched as it was then
    past: PastPages | None = None  # set by a search as of a day


EVERYTHING = Filters()


class Query(NamedTuple):
    """A search query and its viewer. `today`, the ordinal of a day, is what words like "yesterday" refer to."""

    text: str
    viewer: Viewer
    limit: int = 10
    min_score: float = 0.0
    filters: Filters = EVERYTHING
    today: int = 0
    only_approved_versions: bool = False  # only what a person wrote or approved replaces a fact
    min_replaced_score: float = 0.0  # of a hit whose newer version is looked for
    is_task: bool = False  # it asks an agent to do something, and may name what to work on


class Citation(NamedTuple):
    """Lines of a page, both ends included; as text, `memory/page.md#L3-L5`. Nothing says that the page has them.

    `as_of`: the day at whose end, or the moment when, the page is cited; empty for the page as it is.
    """

    path: str
    first: int
    last: int
    as_of: str = ""

    def __str__(self) -> str:
        lines = f"{self.path}#L{self.first}-L{self.last}"
        return f"{lines}@{self.as_of}" if self.as_of else lines


class Successor(NamedTuple):
    """The newer version of a fact in a hit: `text` replaces `was`.

    `kind` is how it was found: `same-key`, `frame`, `correction`, `retraction`, `answer` or `confirmed`; `reason` says
    so in words. `is_partial`: the hit also says something else that is still true.
    """

    text: str  # the newer statement
    path: str  # where it is
    start: int  # the first line
    end: int  # the last line
    at: str = ""  # its day
    author: str = ""  # who wrote it
    kind: str = ""
    reason: str = ""
    was: str = ""  # the statement of the hit that it replaces
    is_partial: bool = False
    as_of: str = ""

    @property
    def citation(self) -> str:
        return str(Citation(self.path, self.start, self.end, self.as_of))


class Predecessor(NamedTuple):
    """An older version of the fact in a hit: what the hit replaces."""

    text: str  # the older statement
    path: str  # where it is
    start: int  # the first line
    end: int  # the last line
    at: str = ""  # its day
    as_of: str = ""

    @property
    def citation(self) -> str:
        return str(Citation(self.path, self.start, self.end, self.as_of))


class Hit(NamedTuple):
    """A passage found by a search: `text` is lines `start` to `end` of `path`, counted from 1 and inclusive.

    For an assistant's turn in a session, `question` is the user's turn before it, and `text` begins with that.
    """

    path: str  # of the page, below the home
    start: int  # the first line
    end: int  # the last line
    text: str
    score: float  # how likely the hit is right, from 0 to 1
    scope: Scope  # whom the page belongs to
    source: Source = "memory"  # `memory`, `session` or `extra`
    key: str = ""  # of a note or a record
    tags: tuple[str, ...] = ()  # of a note or a record
    at: str = ""  # the day or the time of the text, if it has one
    author: str = ""  # who wrote the lines, in words; empty if history does not know
    question: str = ""  # in a session: what the user asked before it
    superseded_by: Successor | None = None  # what replaced the fact that the hit is about
    supersedes: tuple[Predecessor, ...] = ()  # what the hit replaced, newest first
    valid_from: str = ""  # the first day on which it is true, if stated
    valid_until: str = ""  # the last day
    validity: str = ""  # `over` after the last day, `ahead` before the first one
    stale: str = ""  # why it may be outdated: `src/auth.py changed since`, `learned on the branch feature/login`
    as_of: str = ""  # the day or moment of a search as of an earlier time
    heading: str = ""  # the headings above it, without days

    @property
    def citation(self) -> str:
        return str(Citation(self.path, self.start, self.end, self.as_of))


class Hits(list[Hit]):
    """The hits of a search, best first. `verdict`: `found`, `weak` or `nothing`, by the score of the best.

    `warnings`: that nothing is of the days asked about, that the index is behind, that the embedder did not answer.
    """

    def __init__(self, hits: Iterable[Hit] = (), verdict: Verdict = "nothing", warnings: tuple[str, ...] = ()) -> None:
        super().__init__(hits)
        self.verdict = verdict
        self.warnings = warnings


_CITATION = re.compile(
    r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?(?:@(?P<day>\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?))?"
)


def parse_citation(text: str) -> Citation | None:
    """Return what a citation names; None for any other text, such as the path of a page."""
    match = _CITATION.fullmatch(text)
    if not match:
        return None
    first = int(match["first"])
    return Citation(match["path"], first, int(match["last"] or first), match["day"] or "")
