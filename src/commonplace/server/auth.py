"""The doors of what is served: which caller a token lets into which memory, and the log of what they called.

Tokens are asked for anew with every request, so that one that is revoked ends at once. A process that talks over
standard input is its user's own: it comes by no door.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock

from ..errors import CommonplaceError, Refused
from ..formats.timestamps import stamp
from ..home import utc_now
from ..model import Clock
from ..storage.backends import open_tokens
from ..storage.base import TokenStore
from ..storage.postgres.url import with_tenant
from ..storage.tokens import Call, Grant, Outcome, found, tenant_in
from .sessions import Asker, Serving

GRANT = "commonplace.grant"  # where a request's scope carries it
_MOST_OPEN = 64
_LONGEST = 200  # characters of a name in the log


class Doors:
    def __init__(self, serving: Serving, clock: Clock = utc_now) -> None:
        self._serving, self._clock = serving, clock
        self._open: dict[str, TokenStore] = {}
        self._lock = Lock()

    def grant(self, headers: Mapping[str, str], secret: str, *, is_open: bool) -> Grant | None:
        """What a caller may do who shows a secret, or none; None when that is nothing.

        `is_open`: a memory without tokens is for everybody.
        """
        home = self._of_tenant(secret) if self._serving.tenants else self._home(headers)
        if not home:
            return None
        tokens = self._access(home).list_tokens()
        if not tokens and is_open and not self._serving.tenants:
            return Grant(home=home)
        token = found(tokens, secret, self._clock())
        return Grant(token.id, home, token.agents, token.role) if token else None

    def _of_tenant(self, secret: str) -> str:
        """The memory of the tenant that a token names; empty when it names none. What it names opens nothing: the
        token must be one of that tenant, whole."""
        tenant = tenant_in(secret)
        return with_tenant(self._serving.home, tenant) if tenant else ""

    def _home(self, headers: Mapping[str, str]) -> str:
        """The memory that the headers name. One that can not be is refused when the request itself is read."""
        try:
            return self._serving.home_of({}, headers)
        except CommonplaceError:
            return self._serving.home

    def pass_on(self, asker: Asker, grant: Grant) -> None:
        """Refused when a request that came in by one door means a memory behind another."""
        if grant.home in (None, asker.home):
            return
        if grant.token or self._access(asker.home).list_tokens():
            raise Refused("this memory has tokens of its own: name it in the header Commonplace-Home, with its token")

    def note(self, asker: Asker, grant: Grant, tool: str, outcome: Outcome, remote: str) -> None:
        names = (grant.token, asker.agent, tool, asker.session)
        token, agent, tool, session = (name[:_LONGEST] for name in names)
        self._access(asker.home).record_call(Call(stamp(self._clock()), token, agent, tool, session, outcome, remote))

    def _access(self, home: str) -> TokenStore:
        with self._lock:
            if home not in self._open:
                while len(self._open) >= _MOST_OPEN:
                    self._open.pop(next(iter(self._open))).close()
                self._open[home] = open_tokens(home)
            return self._open[home]

    def close(self) -> None:
        with self._lock:
            for access in self._open.values():
                access.close()
            self._open.clear()
