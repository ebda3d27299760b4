"""What is where: the protocol at `/mcp`, the interface at `/v1`, the page at `/`."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount
from starlette.types import ASGIApp

from ...server.sessions import Serving
from .. import web
from ..mcp.server import MemoryServer
from . import MCP, browse, changes, export, health, history, homes, openapi, pages, search, session, tools
from .auth import Guard, Rules
from .dispatch import Interface, application_of, refused
from .limits import MAX_ADDRESS_BYTES, HeaderTimeoutProtocol
from .sign_in_codes import Keys

_MOST = 2000  # connections at once
_LARGEST = 16 * 1024 * 1024  # bytes of a request: a megabyte of text, however it is escaped
ENDPOINTS = [
    *openapi.ENDPOINTS,
    *browse.ENDPOINTS,
    *search.ENDPOINTS,
    *pages.ENDPOINTS,
    *history.ENDPOINTS,
    *changes.ENDPOINTS,
    *export.ENDPOINTS,
    *health.ENDPOINTS,
    *tools.ENDPOINTS,
    *session.ENDPOINTS,
    *homes.ENDPOINTS,
]


def application(serving: Serving, rules: Rules, keys: Keys | None = None) -> ASGIApp:
    return _application(MemoryServer(serving), rules, keys or Keys())[0]


def _application(server: MemoryServer, rules: Rules, keys: Keys) -> tuple[ASGIApp, Interface]:
    app = server.server.streamable_http_app(
        streamable_http_path=MCP,
        max_request_body_size=_LARGEST,
        # The guard has looked at names and origins before, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    interface = Interface(server, keys)
    app.router.routes.append(Mount("/v1", application_of(interface, ENDPOINTS)))
    app.router.routes.extend(web.routes())
    app.add_exception_handler(HTTPException, refused)
    guard = Guard(_closing(app, server), rules, server.doors, keys)
    interface.watched_by(guard)
    return guard, interface


def _closing(app: Starlette, server: MemoryServer) -> Starlette:
    """The application, which lets go of memory when it ends."""
    runs = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(inner: Starlette) -> AsyncIterator[None]:
        try:
            async with runs(inner):
                yield
        finally:
            server.close()

    app.router.lifespan_context = lifespan
    return app


def run(serving: Serving, rules: Rules, listening: socket.socket, keys: Keys | None = None) -> None:
    """Serve until told to stop. Open streams do not keep it from ending."""
    server = MemoryServer(serving)
    app, interface = _application(server, rules, keys or Keys())
    config = uvicorn.Config(
        app,
        http=HeaderTimeoutProtocol,
        log_level="warning",
        timeout_graceful_shutdown=2,
        server_header=False,
        limit_concurrency=_MOST,
        h11_max_incomplete_event_size=2 * MAX_ADDRESS_BYTES,
    )

    def ending() -> None:
        server.notices.close()
        interface.feeds.close()

    _Listening(config, ending).run(sockets=[listening])


class _Listening(uvicorn.Server):
    """One that tells those who listen that it ends, before it waits for them."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)
