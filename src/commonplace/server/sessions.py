"""Sessions: who a request comes from, and which memory it means.

A name given as a command-line flag holds for every request. One from the environment is a default that a request may
replace: in its `_meta` (`commonplace/agent`), or over HTTP in a header (`Commonplace-Agent`). If a request uses both,
they must agree, so that a name which a proxy puts into the header cannot be overridden.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from ..errors import InvalidArgument, Refused
from ..formats.json_text import is_unicode
from ..home import utc_now
from ..memory import Memory
from ..model import Clock
from ..storage.layout import MAIN
from ..storage.names import is_plain
from ..storage.tokens import Grant
from ..tools.catalog import EVERYDAY

Answers = Literal["auto", "structured", "text", "short"]
MAX_NAME_CHARACTERS = 500
UNRESTRICTED = Grant()  # for callers that need no token, such as a client over standard input


class Caller(NamedTuple):
    """Who asks, and of which memory. `fixed`: the names that are the same for every request to this server."""

    home: str
    agent: str = MAIN
    user: str | None = None
    channel: str | None = None
    session: str = ""
    fixed: Mapping[str, str] = {}

    def choose(self, name: Literal["user", "channel"], requested: str | None) -> str | None:
        """Return the requested user or channel, or else the caller's own; Refused if the server fixes another."""
        _require_fixed(name, self.fixed.get(name), requested)
        return requested or (self.user if name == "user" else self.channel)


class ServerOptions(NamedTuple):
    """What a server was started with. `flags` hold for every request, `defaults` for requests that say nothing.

    `homes`: a folder of memories, of which a request may choose one by name. `tenants`: `home` is a database, and the
    token of a request says which tenant is meant. `answers`: a tool's answer is text with the same as structured
    content beside it, which `auto` leaves out for clients of an old protocol and `text` always; with `short`, the text
    is a summary. `is_found`: the user did not name `home`. `requests_per_minute`: of one token; 0 for no limit.
    `writes_per_day` and `bytes_per_day`: the quotas of one token; 0 for none.
    `traces`: spans go to a collector of OpenTelemetry. `worker_state`: the folder that the workers of one server share;
    empty if one process serves alone. `elapsed`: the seconds by which rates and quotas are limited.
    """

    home: str
    flags: Mapping[str, str] = {}
    defaults: Mapping[str, str] = {}
    toolsets: Sequence[str] = EVERYDAY
    homes: str = ""
    answers: Answers = "auto"
    tenants: bool = False
    is_found: bool = False
    requests_per_minute: int = 0
    writes_per_day: int = 0
    bytes_per_day: int = 0
    logs_requests: bool = False
    worker_state: str = ""
    traces: bool = False
    clock: Clock = utc_now
    elapsed: Callable[[], float] = time.monotonic

    def open_memory(self, home: str, agent: str) -> Memory:
        """Open a memory as far as it is trusted: one of many may use only the providers that this server offers."""
        is_own = home == self.home and not self.tenants
        memory = Memory(
            home,
            agent,
            clock=self.clock,
            is_found=self.is_found and is_own,
            is_shared=not is_own,
            toolsets=self.toolsets,
        )
        memory.home.may_check_pins = is_own and not self.homes
        return memory

    def hide_location(self, text: str) -> str:
        """Return a text for callers over a network, with paths as they are in a memory, not on this machine."""
        for folder in (self.home, self.homes):
            text = text.replace(f"{folder}{os.sep}", "") if folder else text
        return text

    def identify(
        self, meta: Mapping[str, Any] | None, headers: Mapping[str, str] | None, grant: Grant = UNRESTRICTED
    ) -> Caller:
        """Return the caller of a request; InvalidArgument or Refused if it names what it may not."""
        meta = meta or {}
        headers = headers or {}
        session = self._choose("session", _read_name("session", meta, headers))
        return Caller(
            home=self._choose_home(grant, meta, headers),
            agent=self._choose_agent(_read_name("agent", meta, headers), grant),
            user=self._choose("user", _read_name("user", meta, headers)),
            channel=self._choose("channel", _read_name("channel", meta, headers)),
            session=session or headers.get("mcp-session-id", ""),
            fixed=self.flags,
        )

    def _choose_agent(self, requested: str | None, grant: Grant) -> str:
        """Return the agent of a request; a token for one agent alone needs no name."""
        only = grant.agents[0] if grant.agents and len(grant.agents) == 1 else None
        if only and not requested and not self.flags.get("agent"):
            return only
        agent = self._choose("agent", requested) or MAIN
        if not grant.may_be(agent):
            raise Refused(f"this token is not for the agent {agent}: it is for {', '.join(grant.agents or ())}")
        return agent

    def _choose(self, name: str, requested: str | None) -> str | None:
        fixed = self.flags.get(name)
        _require_fixed(name, fixed, requested)
        return fixed or requested or self.defaults.get(name)

    def _choose_home(self, grant: Grant, meta: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        if not self.tenants:
            return self.find_home(meta, headers)
        if not grant.home or _read_name("home", meta, headers):
            raise Refused("the token says which memory is meant: send one that `commonplace token create` made, alone")
        return grant.home

    def find_home(self, meta: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """Return the home that a request names, or the server's own."""
        name = _read_name("home", meta, headers)
        if not name:
            return self.home
        if not self.homes:
            raise Refused("this server serves one memory: start it with --homes FOLDER to let requests choose")
        if not is_plain(name):
            raise InvalidArgument(f"the memory {name!r} must be a plain name: small letters, digits, dashes and dots")
        return os.path.join(self.homes, name)


def _require_fixed(name: str, fixed: str | None, requested: str | None) -> None:
    if fixed and requested and requested != fixed:
        raise Refused(f"this server serves the {name} {fixed} alone: start another for {requested}")


def _read_name(name: str, meta: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    header = unquote(headers.get(f"commonplace-{name}", ""))  # headers are ASCII; names need not be
    value = meta.get(f"commonplace/{name}") or header
    if not isinstance(value, str) or len(value) > MAX_NAME_CHARACTERS or not is_unicode(value):
        raise InvalidArgument(
            f"the {name} of a request is a name of at most {MAX_NAME_CHARACTERS} characters, in valid Unicode"
        )
    if header and value != header:
        raise Refused(f"the request comes from the {name} {header}, as its header says: its _meta cannot say {value}")
    return value or None
