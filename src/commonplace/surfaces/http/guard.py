"""Who may talk to the server: requests for our own names, from our own pages or from programs, with a token.

A page on another site can send requests to this machine; the Host it believes in, or its Origin, gives it away. What a
token allows goes along with the request, as a `Grant`.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ...access import Grant
from ...errors import CommonplaceError
from ..mcp.doors import GRANT, Doors
from . import LOOPBACK

_BY_FLAG = Grant("--token")


class Rules(NamedTuple):
    """`hosts`: the names this server goes by. `token`: one that allows everything. `is_open`: whether a memory that has
    no tokens is for everybody who can reach it, where there is no such one either."""

    hosts: Sequence[str] = LOOPBACK
    token: str = ""
    is_open: bool = True


class Guard:
    def __init__(self, app: ASGIApp, rules: Rules, doors: Doors) -> None:
        self._app, self._rules, self._doors = app, rules, doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._refusal(scope) if scope["type"] == "http" else None
        await (answer or self._app)(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Response | None:
        """Why a request does not come in; None when it does, and then it carries its grant."""
        headers = Headers(scope=scope)
        if not self._is_ours(_host_of(f"//{headers.get('host', '')}")):
            return _problem(421, "Wrong host", "this server does not go by that name: see --allow-host")
        if not all(self._is_ours(_host_of(origin)) for origin in headers.getlist("origin") if origin):
            return _problem(403, "Wrong origin", "requests from pages of other sites are refused")
        try:
            grant = await self._grant(headers)
        except CommonplaceError:  # what it is stands in no answer to a stranger: `commonplace token list` says it
            return _problem(503, "Not now", "the tokens of this memory can not be read: look at the server")
        if grant is None:
            refusal = _problem(401, "No token", "send the header Authorization: Bearer TOKEN, with one that holds")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        scope[GRANT] = grant
        if grant.token:  # so that a session is of use only with the token that began it
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=grant.token, scopes=[]))
        return None

    def _is_ours(self, host: str) -> bool:
        return host.lower() in self._rules.hosts

    async def _grant(self, headers: Headers) -> Grant | None:
        kind, _, given = headers.get("authorization", "").partition(" ")
        secret = given.strip() if kind.lower() == "bearer" else ""
        rules = self._rules
        if rules.token and hmac.compare_digest(secret.encode(), rules.token.encode()):
            return _BY_FLAG
        is_open = rules.is_open and not rules.token
        return await anyio.to_thread.run_sync(lambda: self._doors.grant(headers, secret, is_open=is_open))


def _host_of(address: str) -> str:
    """The name in an address, without its port; empty when there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _problem(status: int, title: str, detail: str) -> Response:
    return JSONResponse(
        {"type": "about:blank", "title": title, "status": status, "detail": detail},
        status_code=status,
        media_type="application/problem+json",
    )
