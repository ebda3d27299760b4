"""Authentication and authorization: who sent a request, which memory it is for, and what its token allows.

A name given as a command-line flag applies to every request. One from the environment is a default that a request may
replace: in its `_meta` (`commonplace/agent`), or over HTTP in a header (`Commonplace-Agent`). If a request uses both,
they must agree, so that a request cannot override a name that a proxy puts into the header.

Tokens are read again with every request, so that a revoked one ends at once. A client over standard input is the
user's own process and needs none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from threading import Lock
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from ..errors import CommonplaceError, InvalidArgument, Refused
from ..formats.json_text import is_unicode
from ..home import utc_now
from ..memory import Memory
from ..model import Clock
from ..storage.base import TokenStore, backend_of
from ..storage.layout import MAIN
from ..storage.names import is_plain, require_agent
from ..storage.tokens import Grant, parse_tenant, verify_token
from ..toolsets import EVERYDAY
from ..trust import open_trusted_tokens

Answers = Literal["auto", "structured", "text", "short"]
MAX_NAME_CHARACTERS = 500
UNRESTRICTED = Grant()  # for callers that need no token, such as a client over standard input


class Caller(NamedTuple):
    """The sender of a request, and which memory it is for. `fixed`: names that are the same for every request."""

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
    """What a server was started with. `flags` apply to every request, `defaults` to requests that say nothing.

    `homes`: a folder of memories, of which a request may choose one by name. `tenants`: `home` is a database, and the
    token of a request names the tenant. `answers`: a tool's answer is text with the same as structured
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
        """Open a memory as far as it is trusted. One of many may use only the server's own providers."""
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
        """Return a text for remote callers, with paths relative to the memory instead of this machine's."""
        for folder in (self.home, self.homes):
            text = text.replace(f"{folder}{os.sep}", "") if folder else text
        return text

    def identify(
        self, meta: Mapping[str, Any] | None, headers: Mapping[str, str] | None, grant: Grant = UNRESTRICTED
    ) -> Caller:
        """Return the caller of a request; InvalidArgument or Refused if it names something it may not."""
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
        agent = require_agent(self._choose("agent", requested) or MAIN)
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
            raise Refused("the token names the memory: send one that `commonplace token create` made, and nothing else")
        return grant.home

    def find_home(self, meta: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """Return the home that a request names, or the server's own."""
        name = _read_name("home", meta, headers)
        if not name:
            return self.home
        if not self.homes:
            raise Refused("this server serves one memory: start it with --homes FOLDER to let requests choose")
        if not is_plain(name):
            rule = "lower-case letters, digits, dashes and dots"
            raise InvalidArgument(f"the memory {name!r} must be a plain name: {rule}")
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


MAX_OPEN_STORES = 64
GRANT = "commonplace.grant"  # the key in an ASGI scope under which a request carries its grant
# The same for code that an SDK calls without the request. Without a request, a caller is the user's own process.
CURRENT_GRANT: ContextVar[Grant] = ContextVar("grant", default=UNRESTRICTED)


class TokenStores:
    """The tokens and audit logs of the homes in use, kept open."""

    def __init__(self, found_home: str = "") -> None:
        """`found_home`: a home that the user did not name, whose tokens count only as far as they trust it."""
        self._found_home = found_home
        self._open: dict[str, TokenStore] = {}
        self._lock = Lock()

    def get(self, home: str) -> TokenStore:
        with self._lock:
            if home not in self._open:
                while len(self._open) >= MAX_OPEN_STORES:
                    self._open.pop(next(iter(self._open))).close()
                self._open[home] = open_trusted_tokens(home, is_found=home == self._found_home)
            return self._open[home]

    def is_immediate(self, home: str) -> bool:
        """Return whether the tokens of a home can be read without blocking: they are open, and not in a database."""
        store = self._open.get(home)
        return store is not None and store.is_immediate

    def close(self) -> None:
        with self._lock:
            for store in self._open.values():
                store.close()
            self._open.clear()


class Authenticator:
    def __init__(self, options: ServerOptions, stores: TokenStores, clock: Clock) -> None:
        self._options = options
        self._stores = stores
        self._clock = clock

    def authenticate(self, headers: Mapping[str, str], secret: str, *, is_open: bool) -> Grant | None:
        """Return what the holder of a secret may do, or None. `is_open`: a memory without tokens is for everybody."""
        home = self._find(headers, secret)
        if not home:
            return None
        tokens = self._stores.get(home).list_tokens()
        if not tokens and is_open and not self._options.tenants:
            return Grant(home=home)
        token = verify_token(tokens, secret, self._clock())
        return Grant(token.id, home, token.agents, token.role) if token else None

    def is_immediate(self, headers: Mapping[str, str], secret: str) -> bool:
        """Return whether `authenticate` does not block, so that it needs no thread."""
        return self._stores.is_immediate(self._find(headers, secret))

    def _find(self, headers: Mapping[str, str], secret: str) -> str:
        """Return the home that a request is for, by its token or its headers."""
        return self._find_tenant(secret) if self._options.tenants else self._find_home(headers)

    def _find_tenant(self, secret: str) -> str:
        """Return the home of the tenant that a token names, or an empty string. The name alone opens nothing: the
        whole token must be one of that tenant's."""
        tenant = parse_tenant(secret)
        return backend_of(self._options.home).tenant_address(self._options.home, tenant) if tenant else ""

    def _find_home(self, headers: Mapping[str, str]) -> str:
        """Return the home that the headers name. An invalid name is refused later, when the request is read."""
        try:
            return self._options.find_home({}, headers)
        except CommonplaceError:
            return self._options.home

    def require_home(self, caller: Caller, grant: Grant) -> None:
        """Refuse a request that was authenticated for one home but is for another with its own tokens."""
        if grant.home in (None, caller.home):
            return
        if grant.token or self._stores.get(caller.home).list_tokens():
            raise Refused("this memory has its own tokens: name it in the header Commonplace-Home, with its token")
