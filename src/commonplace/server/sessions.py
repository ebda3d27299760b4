"""What is served, and to whom: the home, agent, user, channel and session a request means.

A name given as a flag holds for every request. One from the environment is a default that a request may replace: in its
`_meta` (`commonplace/agent`), or over HTTP in a header (`Commonplace-Agent`). One that says both must mean the same, so
that a name which a proxy puts into the header holds.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from ..errors import InvalidArgument, Refused, StorageError
from ..formats.json_text import is_unicode
from ..memory import Memory
from ..storage.layout import MAIN
from ..storage.names import is_plain
from ..storage.tokens import Grant
from ..tools.catalog import EVERYDAY

Answers = Literal["auto", "structured", "text"]
_MOST_OPEN = 64  # memories; one that is let go opens again by itself
_LOOKED = 1.0  # seconds that a look at the settings of a database holds
_LONGEST_NAME = 500
EVERYTHING = Grant()  # what a caller may do who comes by no door


class Asker(NamedTuple):
    """Who asks, and of which memory. `held`: the names that are the same for every request."""

    home: str
    agent: str = MAIN
    user: str | None = None
    channel: str | None = None
    session: str = ""
    held: Mapping[str, str] = {}

    def chosen(self, name: Literal["user", "channel"], said: str | None) -> str | None:
        """A name that is said where one is asked for; Refused when it is not the one that holds."""
        _refuse_other(name, self.held.get(name), said)
        return said or (self.user if name == "user" else self.channel)


class Serving(NamedTuple):
    """What a server was started with. `flags` hold for every request, `defaults` where a request says nothing.

    `homes`: a folder of memories, of which a request may choose one by name. `tenants`: `home` is a database, and the
    token of a request says of which tenant the memory is meant. `answers`: where the answer stands, in
    structured content with a short text beside it, or in the text alone for clients that read nothing else.
    """

    home: str
    flags: Mapping[str, str] = {}
    defaults: Mapping[str, str] = {}
    toolsets: Sequence[str] = EVERYDAY
    homes: str = ""
    answers: Answers = "auto"
    tenants: bool = False

    def asker(
        self, meta: Mapping[str, Any] | None, headers: Mapping[str, str] | None, grant: Grant = EVERYTHING
    ) -> Asker:
        """Who a request comes from; InvalidArgument or Refused where it says what it may not."""
        said = {name: _said(name, meta or {}, headers or {}) for name in ("agent", "user", "channel", "session")}
        agent = self._agent(said.pop("agent"), grant)
        chosen = {name: self._chosen(name, value) for name, value in said.items()}
        return Asker(
            self._home_for(grant, meta or {}, headers or {}),
            agent,
            chosen["user"],
            chosen["channel"],
            chosen["session"] or (headers or {}).get("mcp-session-id", ""),
            self.flags,
        )

    def _agent(self, said: str | None, grant: Grant) -> str:
        """The agent a request is for. Who says nothing and may speak for one alone speaks for that one."""
        alone = grant.agents[0] if grant.agents and len(grant.agents) == 1 else None
        settled = said or self.flags.get("agent") or not alone
        agent = (self._chosen("agent", said) if settled else alone) or MAIN
        if not grant.may_be(agent):
            raise Refused(f"this token is not for the agent {agent}: it is for {', '.join(grant.agents or ())}")
        return agent

    def _chosen(self, name: str, said: str | None) -> str | None:
        fixed = self.flags.get(name)
        _refuse_other(name, fixed, said)
        return fixed or said or self.defaults.get(name)

    def _home_for(self, grant: Grant, meta: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        if not self.tenants:
            return self.home_of(meta, headers)
        if not grant.home or _said("home", meta, headers):
            raise Refused("the token says which memory is meant: send one that `commonplace token create` made, alone")
        return grant.home

    def home_of(self, meta: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """The memory that a request means."""
        said = _said("home", meta, headers)
        if not said:
            return self.home
        if not self.homes:
            raise Refused("this server serves one memory: start it with --homes FOLDER to let requests choose")
        if not is_plain(said):
            raise InvalidArgument(f"the memory {said!r} must be a plain name: small letters, digits, dashes and dots")
        return os.path.join(self.homes, said)


def _refuse_other(name: str, fixed: str | None, said: str | None) -> None:
    if fixed and said and said != fixed:
        raise Refused(f"this server serves the {name} {fixed} alone: start another for {said}")


def _said(name: str, meta: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    header = unquote(headers.get(f"commonplace-{name}", ""))  # headers are ASCII; names need not be
    value = meta.get(f"commonplace/{name}") or header
    if not isinstance(value, str) or len(value) > _LONGEST_NAME or not is_unicode(value):
        raise InvalidArgument(f"the {name} of a request is a name of at most {_LONGEST_NAME} characters, whole ones")
    if header and value != header:
        raise Refused(f"the request comes from the {name} {header}, says its header: its _meta can not say {value}")
    return value or None


class _Open(NamedTuple):
    """A memory that is open, and until when its settings need not be looked at again."""

    memory: Memory
    until: float


class Handles:
    """Memories that are open, by home and agent, with the settings as they are now. The ones least used are let go."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], _Open] = OrderedDict()
        self._lock = Lock()

    def known(self, asker: Asker) -> Memory | None:
        """A memory that is open already, if its settings are still those. It waits for nobody: a database, where
        looking takes a while, is left to `of` once its last look is a second old."""
        key = (asker.home, asker.agent)
        with self._lock:
            found = self._open.get(key)
            if found is None:
                return None
            self._open.move_to_end(key)
        storage = found.memory.home.storage
        fresh = (
            storage.current_settings_version() == storage.settings_version
            if storage.folder
            else time.monotonic() < found.until
        )
        return found.memory if fresh else None

    def of(self, asker: Asker) -> Memory:
        """The memory of who asks, opened where it is not: that may have to wait for others who write."""
        key = (asker.home, asker.agent)
        with self._lock:
            before = self._open.get(key)
        memory = before.memory if before and _is_current(before.memory) else Memory(*key)
        idle = []
        with self._lock:
            found = self._open.pop(key, None)
            if found and found is not before and found.memory is not memory:  # another request was quicker
                idle, memory = [memory], found.memory
            elif found and found.memory is not memory:
                idle = [found.memory]
            self._open[key] = _Open(memory, time.monotonic() + _LOOKED)
            if len(self._open) > _MOST_OPEN:
                idle.append(self._open.popitem(last=False)[1].memory)
        for each in idle:
            each.close()
        return memory

    def close(self) -> None:
        with self._lock:
            for opened in self._open.values():
                opened.memory.close()
            self._open.clear()


def _is_current(memory: Memory) -> bool:
    """Whether its settings are as they were read. Where nobody can tell, they are: what is asked next will say it."""
    storage = memory.home.storage
    try:
        return storage.current_settings_version() == storage.settings_version
    except StorageError:
        return True
