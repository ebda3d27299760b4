"""Who may talk to the server: requests for our own names, from our own pages or from programs, with the token.

A page on another site can send requests to this machine; the Host it believes in, or its Origin, gives it away.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Rules(NamedTuple):
    """`hosts`: the names this server goes by. Without a `token` everybody who can reach it may use it."""

    hosts: Sequence[str] = LOOPBACK
    token: str = ""


class Guard:
    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if not self._is_ours(_host_of(f"//{headers.get('host', '')}")):
            return _problem(421, "Wrong host", "this server does not go by that name: see --allow-host")
        if not all(self._is_ours(_host_of(origin)) for origin in origins if origin):
            return _problem(403, "Wrong origin", "requests from pages of other sites are refused")
        if self._rules.token and not self._has_token(headers.get("authorization", "")):
            refusal = _problem(401, "No token", "send the header Authorization: Bearer TOKEN")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        return None

    def _is_ours(self, host: str) -> bool:
        return host.lower() in self._rules.hosts

    def _has_token(self, given: str) -> bool:
        kind, _, token = given.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._rules.token.encode())


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
