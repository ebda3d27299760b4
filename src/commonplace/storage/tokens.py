"""WHO MAY COME IN, AND DO WHAT? Tokens that let a caller into one memory, and a log of who called.

A token is random and shown once; kept is its hash, whose agents it may speak for, what it may do, and until when. A
home that has ever had a token lets nobody in without one, be they all revoked.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from ..errors import InvalidArgument
from ..formats.json_text import is_unicode
from ..formats.timestamps import format_timestamp
from .backends import is_tenant
from .base import TokenStore

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = ("read", "write", "admin")
Outcome = Literal["ok", "error", "refused", "abandoned"]
PREFIX = "cpl_"
_BYTES = 32
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,200}")  # a tenant that a token says as it is
_LONGEST_NOTE = 200
_MOST_DAYS = 36_500


class Token(NamedTuple):
    """What is kept of a token. `agents`: None means all of them. An end that is empty never comes."""

    id: str
    digest: str
    agents: tuple[str, ...] | None
    role: Role
    note: str
    created_at: str
    expires_at: str = ""
    revoked_at: str = ""

    def state(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= format_timestamp(now) else "valid"


class Grant(NamedTuple):
    """What one caller may do: in which home (None: in any that is served), as which agents (None: all), and how."""

    token: str = ""
    home: str | None = None
    agents: tuple[str, ...] | None = None
    role: Role = "admin"
    is_held_to_reading: bool = False  # by the server, whatever the token allows

    @property
    def may_write(self) -> bool:
        return self.role in ("write", "admin")

    def may_be(self, agent: str) -> bool:
        return self.agents is None or agent in self.agents


class Call(NamedTuple):
    """One line of the log: who called what, and how it ended. Never what was said."""

    at: str
    token: str
    agent: str
    tool: str
    session: str
    outcome: Outcome
    remote: str


def create(
    access: TokenStore, now: datetime, *, agents: Sequence[str] | None, role: Role, days: int = 0, note: str = ""
) -> tuple[Token, str]:
    """A new token and the secret itself, which is told this once. `days`: how long it holds; 0, until it is revoked."""
    _check(agents, role, days, note)
    secret = PREFIX + _mark(access.tenant) + secrets.token_urlsafe(_BYTES)
    ends = format_timestamp(now + timedelta(days=days)) if days else ""
    named = None if agents is None else tuple(dict.fromkeys(agents))
    token = Token(secrets.token_hex(4), digest_of(secret), named, role, note, format_timestamp(now), ends)
    access.add(token)
    return token, secret


def _mark(tenant: str) -> str:
    """A tenant as its tokens say it, in signs that a header carries."""
    if not tenant:
        return ""
    if _PLAIN.fullmatch(tenant):
        return f"{tenant}."
    return f"~{urlsafe_b64encode(tenant.encode()).decode().rstrip('=')}."


def tenant_in(secret: str) -> str:
    """The tenant that a token says it is of; empty when it says none. Whether it is one, that tenant's tokens tell."""
    mark, dot, _ = secret.removeprefix(PREFIX).rpartition(".")
    if not secret.startswith(PREFIX) or not dot or not secret.isascii():
        return ""
    if not mark.startswith("~"):
        return mark if _PLAIN.fullmatch(mark) else ""
    try:
        tenant = urlsafe_b64decode(mark[1:] + "=" * (-len(mark[1:]) % 4)).decode()
    except ValueError:
        return ""
    return tenant if is_tenant(tenant) and _mark(tenant) == f"{mark}." else ""


def _check(agents: Sequence[str] | None, role: str, days: int, note: str) -> None:
    if agents is not None and not agents:
        raise InvalidArgument("say for which agents the token is, or that it is for all")
    if any(not name.strip() or not is_unicode(name) or "\0" in name for name in agents or ()):
        raise InvalidArgument("the name of an agent is text that is not blank")
    if role not in ROLES:
        raise InvalidArgument(f"the role {role!r} is not known: use {', '.join(ROLES)}")
    if not 0 <= days <= _MOST_DAYS:
        raise InvalidArgument(f"a token holds for 1 to {_MOST_DAYS} days; 0 means until it is revoked")
    if len(note) > _LONGEST_NOTE or not is_unicode(note) or "\0" in note:
        raise InvalidArgument(f"a note is text of at most {_LONGEST_NOTE} characters")


def digest_of(secret: str) -> str:
    """What is kept of a token. It is random enough that nobody finds one for a hash, so no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def found(tokens: Iterable[Token], secret: str, now: datetime) -> Token | None:
    """The token that somebody shows, if it lets them in. It takes as long whichever it is, or if it is none."""
    digest, match = digest_of(secret), None
    for token in tokens:
        holds = token.state(now) == "valid"
        if hmac.compare_digest(token.digest, digest) and holds:
            match = token
    return match
