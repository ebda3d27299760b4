"""What is where: the protocol at `/mcp`, the interface at `/v1`, the page at `/`."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount
from starlette.types import ASGIApp

from .. import web
from ..mcp.server import MemoryServer
from ..mcp.serving import Serving
from . import browse, health, history, pages, search, tools
from .guard import Guard, Rules
from .interface import Interface, refused
from .interface import application as interface_application
from .keys import Keys

MCP = "/mcp"
_LARGEST = 16 * 1024 * 1024  # bytes of a request: a megabyte of text, however it is escaped
ENDPOINTS = [
    *browse.ENDPOINTS,
    *search.ENDPOINTS,
    *pages.ENDPOINTS,
    *history.ENDPOINTS,
    *health.ENDPOINTS,
    *tools.ENDPOINTS,
    tools.CALL,
]


def application(serving: Serving, rules: Rules, keys: Keys | None = None) -> ASGIApp:
    return _application(MemoryServer(serving), rules, keys or Keys())


def _application(server: MemoryServer, rules: Rules, keys: Keys) -> ASGIApp:
    app = server.server.streamable_http_app(
        streamable_http_path=MCP,
        max_request_body_size=_LARGEST,
        # The guard has looked at names and origins before, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    interface = Interface(server)
    app.router.routes.append(Mount("/v1", interface_application(interface, ENDPOINTS)))
    app.router.routes.extend(web.routes())
    app.add_exception_handler(HTTPException, refused)
    return Guard(_closing(app, server), rules, server.doors, keys)


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
    config = uvicorn.Config(
        _application(server, rules, keys or Keys()),
        log_level="warning",
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    _Listening(config, server).run(sockets=[listening])


class _Listening(uvicorn.Server):
    """One that tells those who listen that it ends, before it waits for them."""

    def __init__(self, config: uvicorn.Config, server: MemoryServer) -> None:
        super().__init__(config)
        self._server = server

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._server.notices.close()
        await super().shutdown(sockets)
