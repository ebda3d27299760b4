"""Authentication: what the token of a request allows.

Tokens are read again with every request, so that a revoked one ends at once. A client over standard input is the
user's own process and needs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from threading import Lock

from ..errors import CommonplaceError, Refused
from ..model import Clock
from ..storage.backends import backend_of
from ..storage.base import TokenStore
from ..storage.tokens import Grant, parse_tenant, verify_token
from ..trust import open_trusted_tokens
from .sessions import UNRESTRICTED, Caller, ServerOptions

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
        """Return whether the tokens of a home can be read without waiting: they are open, and no server has them."""
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
        """Return whether `authenticate` waits for nobody, so that it needs no thread."""
        return self._stores.is_immediate(self._find(headers, secret))

    def _find(self, headers: Mapping[str, str], secret: str) -> str:
        """Return the home that a request is for, as far as its token or its headers say."""
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
        """Refuse a request that was authenticated for one home and means another that has tokens of its own."""
        if grant.home in (None, caller.home):
            return
        if grant.token or self._stores.get(caller.home).list_tokens():
            raise Refused("this memory has its own tokens: name it in the header Commonplace-Home, with its token")
