"""What is where: the protocol at `/mcp`."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.types import ASGIApp

from ..mcp.server import MemoryServer
from ..mcp.serving import Serving
from .guard import Guard, Rules

MCP = "/mcp"
_LARGEST = 16 * 1024 * 1024  # bytes of a request: a megabyte of text, however it is escaped


def application(serving: Serving, rules: Rules) -> ASGIApp:
    return _application(MemoryServer(serving), rules)


def _application(server: MemoryServer, rules: Rules) -> ASGIApp:
    app = server.server.streamable_http_app(
        streamable_http_path=MCP,
        max_request_body_size=_LARGEST,
        # The guard has looked at names and origins before, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(_closing(app, server), rules, server.doors)


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


def run(serving: Serving, rules: Rules, listening: socket.socket) -> None:
    """Serve until told to stop. Open streams do not keep it from ending."""
    server = MemoryServer(serving)
    config = uvicorn.Config(_application(server, rules), log_level="warning", timeout_graceful_shutdown=2)
    _Listening(config, server).run(sockets=[listening])


class _Listening(uvicorn.Server):
    """One that tells those who listen that it ends, before it waits for them."""

    def __init__(self, config: uvicorn.Config, server: MemoryServer) -> None:
        super().__init__(config)
        self._server = server

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._server.notices.close()
        await super().shutdown(sockets)
