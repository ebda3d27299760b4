"""Access tokens: their values, creation and verification, and the entries of the audit log.

A token is random and shown once. Its hash, the agents it may act for, its role and its expiry are stored. A home that
ever had a token admits nobody without one, even if all of them are revoked.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from ..formats.timestamps import format_timestamp
from ..schema import Schema, array, check, closed_object, integer, one_of, plain_text
from .base import TokenStore, is_tenant

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = ("read", "write", "admin")
Outcome = Literal["ok", "error", "refused", "abandoned"]
PREFIX = "cpl_"
SECRET_BYTES = 32
MAX_NOTE_CHARACTERS = 200
MAX_DAYS = 36_500
_AGENT: Schema = {
    "type": "string",
    "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$",
    "description": "give a name that is not blank",
}
_FIELDS = closed_object(
    agents={**array(_AGENT), "minItems": 1},
    role=one_of(*ROLES),
    days=integer(0, MAX_DAYS),
    note=plain_text("What the token is for.", max_length=MAX_NOTE_CHARACTERS),
)
_PLAIN_TENANT = re.compile(r"[A-Za-z0-9_-]{1,200}")  # others are encoded


class Token(NamedTuple):
    """A token as it is stored. `agents`: None for all. `expires_at`, `revoked_at`: empty if it never expires, or was
    not revoked."""

    id: str
    digest: str
    agents: tuple[str, ...] | None
    role: Role
    note: str
    created_at: str
    expires_at: str = ""
    revoked_at: str = ""

    @property
    def fingerprint(self) -> str:
        """A hash of the token with all that it allows, by which a user approves it."""
        allowed = json.dumps([self.digest, self.agents, self.role, self.expires_at])
        return hashlib.sha256(allowed.encode()).hexdigest()

    def state(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= format_timestamp(now) else "valid"


class Grant(NamedTuple):
    """What a caller may do: in which home (None: any that is served), as which agents (None: all), in which role."""

    token: str = ""
    home: str | None = None
    agents: tuple[str, ...] | None = None
    role: Role = "admin"
    is_read_only_server: bool = False  # the server is read-only, whatever the token allows
    is_person: bool = False  # a person who signed in to the web page

    @property
    def may_write(self) -> bool:
        return self.role in ("write", "admin")

    @property
    def origin(self) -> str:
        """Return the origin of the caller's writes, as history records it."""
        if self.is_person or not self.token:
            return "person" if self.is_person else ""
        return f"token:{self.token}" if self.agents is None else f"agent-token:{self.token}"

    @property
    def bucket(self) -> str:
        """Return the name under which requests are counted: tokens of two memories may have the same name."""
        return f"{self.home or ''} {self.token}"

    def may_be(self, agent: str) -> bool:
        return self.agents is None or agent in self.agents


class Call(NamedTuple):
    """An entry of the audit log: who called what, and how it ended. Never what was said."""

    at: str
    token: str
    agent: str
    tool: str
    session: str
    outcome: Outcome
    remote: str


def describe_token(token: Token) -> str:
    """Return what a token lets its holder do, as which agents, and until when."""
    agents = "all agents" if token.agents is None else ", ".join(token.agents)
    until = f"until {token.expires_at[:10]}" if token.expires_at else "until it is revoked"
    return f"{token.role}, for {agents}, {until}"


def create_token(
    store: TokenStore, now: datetime, *, agents: Sequence[str] | None, role: Role, days: int = 0, note: str = ""
) -> tuple[Token, str]:
    """Create a token and return it with its secret, which is stored nowhere. `days`: when it expires; 0 for never."""
    fields = {"role": role, "days": days, "note": note}
    check(_FIELDS, fields if agents is None else {**fields, "agents": agents}, "the token")
    import secrets  # with what it imports, every command would wait for it

    secret = PREFIX + _format_tenant(store.tenant) + secrets.token_urlsafe(SECRET_BYTES)
    token = Token(
        id=secrets.token_hex(4),
        digest=hash_secret(secret),
        agents=None if agents is None else tuple(dict.fromkeys(agents)),
        role=role,
        note=note,
        created_at=format_timestamp(now),
        expires_at=format_timestamp(now + timedelta(days=days)) if days else "",
    )
    store.add(token)
    return token, secret


def _format_tenant(tenant: str) -> str:
    """Return a tenant as its tokens spell it, in characters that a header can carry."""
    if not tenant:
        return ""
    if _PLAIN_TENANT.fullmatch(tenant):
        return f"{tenant}."
    return f"~{urlsafe_b64encode(tenant.encode()).decode().rstrip('=')}."


def parse_tenant(secret: str) -> str:
    """Return the tenant that a token names, or an empty string. Only that tenant's own tokens prove it."""
    encoded, dot, _ = secret.removeprefix(PREFIX).rpartition(".")
    if not secret.startswith(PREFIX) or not dot or not secret.isascii():
        return ""
    if not encoded.startswith("~"):
        return encoded if _PLAIN_TENANT.fullmatch(encoded) else ""
    try:
        tenant = urlsafe_b64decode(encoded[1:] + "=" * (-len(encoded[1:]) % 4)).decode()
    except ValueError:
        return ""
    return tenant if is_tenant(tenant) and _format_tenant(tenant) == f"{encoded}." else ""


def hash_secret(secret: str) -> str:
    """Return what is stored of a secret. Secrets are long and random, so the hash needs no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


def verify_token(tokens: Iterable[Token], secret: str, now: datetime) -> Token | None:
    """Return the valid token with this secret, or None, in constant time."""
    digest = hash_secret(secret)
    match: Token | None = None
    for token in tokens:
        is_valid = token.state(now) == "valid"
        if hmac.compare_digest(token.digest, digest) and is_valid:
            match = token
    return match
