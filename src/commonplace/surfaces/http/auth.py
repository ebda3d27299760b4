"""Who may talk to the server: requests for our own names, from our own pages or from programs, with a token.

A page on another site can send requests to this machine; the Host it believes in, or its Origin, gives it away. What a
token allows goes along with the request, as a `Grant`. Without one there are only the page's own files, which hold
nothing of anybody's memory, and the exchange of a code for a key. (The list of memories asks here itself, for each.)
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import CommonplaceError
from ...server.auth import GRANT, Doors
from ...server.token_watchdog import while_it_holds
from ...storage.tokens import Grant
from ..web import is_page
from . import LOOPBACK, MCP
from .limits import MAX_ADDRESS_BYTES
from .problems import Problem, problem
from .sign_in_codes import Keys

_BY_FLAG = Grant("--token")
_NOBODY = Grant(role="read")
SESSION, HOMES = "/v1/session", "/v1/homes"
# What it is stands in no answer to a stranger: `commonplace token list` says it.
UNREADABLE = "the tokens of this memory can not be read: look at the server"
_OURS = ("same-origin", "none")  # where a browser may say that a request comes from
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class Rules(NamedTuple):
    """`hosts`: the names this server goes by. `token`: one that allows everything. `is_open`: whether a memory that has
    no tokens is for everybody who can reach it, where there is no such one either. `read_only`: whether nobody may
    change anything, whatever they show."""

    hosts: Sequence[str] = LOOPBACK
    token: str = ""
    is_open: bool = True
    read_only: bool = False


class Guard:
    def __init__(self, app: ASGIApp, rules: Rules, doors: Doors, keys: Keys) -> None:
        self._app, self._rules, self._doors, self._keys = app, rules, doors, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = await self._refusal(scope)
        if answer or scope["path"].rstrip("/") != MCP:  # which has headers of its own
            send = _sealed(send)
        if answer or scope["path"].startswith("/v1") or not scope[GRANT].token:
            await (answer or self._app)(scope, receive, send)
        else:
            await while_it_holds(self._app, scope, receive, send, lambda: self._holds(scope))

    async def _holds(self, scope: Scope) -> bool:
        """Whether who was let in would be let in again."""
        try:
            return await self.grant(Headers(scope=scope)) is not None
        except CommonplaceError:
            return False

    async def _refusal(self, scope: Scope) -> Response | None:
        """Why a request does not come in; None when it does, and then it carries its grant."""
        headers = Headers(scope=scope)
        if not self._is_ours(_named(headers.get("host", ""))):
            return problem(421, "this server does not go by that name: see --allow-host")
        if not self._is_from_us(scope, headers):
            return problem(403, "requests from pages of other sites are refused", title="Wrong origin")
        if "transfer-encoding" in headers and "content-length" in headers:  # what is a request to us is two to a proxy
            said = "say how long the body is once: Content-Length, or Transfer-Encoding"
            return problem(400, said, headers={"Connection": "close"})
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_ADDRESS_BYTES:
            return problem(414, "the address is too long: send less in it")
        path = scope["path"]
        if is_page(path) or path == HOMES or (path == SESSION and scope["method"] == "POST"):
            scope[GRANT] = _NOBODY
            return None
        try:
            grant = await self.grant(headers)
        except CommonplaceError:
            return problem(503, UNREADABLE)
        if grant is None:
            return no_token().response()
        scope[GRANT] = grant
        if grant.token:  # so that a session is of use only with the token that began it
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=grant.token, scopes=[]))
        return None

    def _is_ours(self, host: str) -> bool:
        return host.lower() in self._rules.hosts

    def _is_from_us(self, scope: Scope, headers: Headers) -> bool:
        """Whether no page of another site sends this. The interface is for our own page, down to the port."""
        origins = [origin for origin in headers.getlist("origin") if origin]
        if not all(self._is_ours(_host_of(origin)) for origin in origins):
            return False
        if not scope["path"].startswith("/v1"):
            return True
        own = headers.get("host", "").lower()
        same = all(urlsplit(origin).netloc.lower() == own for origin in origins)
        return same and headers.get("sec-fetch-site", "none").lower() in _OURS

    async def grant(self, headers: Headers) -> Grant | None:
        """What the caller may do now; None when that is nothing."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        secret = given.strip() if kind.lower() == "bearer" else ""
        rules = self._rules
        if rules.token and hmac.compare_digest(secret.encode(), rules.token.encode()):
            found: Grant | None = _BY_FLAG
        elif not (found := self._keys.grant(secret)):
            is_open = rules.is_open and not rules.token
            found = await anyio.to_thread.run_sync(lambda: self._doors.grant(headers, secret, is_open=is_open))
        return found._replace(role="read", is_held_to_reading=True) if found and rules.read_only else found


def no_token() -> Problem:
    said = "send the header Authorization: Bearer TOKEN, with one that holds"
    return Problem(401, said, {"WWW-Authenticate": "Bearer"})


def _sealed(send: Send) -> Send:
    """Answers that nobody keeps, guesses at, or shows in a frame."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sealed


def _named(host: str) -> str:
    """The name in the header Host; empty where more stands in it than a name and a port."""
    return "" if set(host) & set("@/\\?#") else _host_of(f"//{host}")


def _host_of(address: str) -> str:
    """The name in an address, without its port; empty when there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
