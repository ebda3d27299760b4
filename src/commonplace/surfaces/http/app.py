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
    server = MemoryServer(serving)
    app = server.server.streamable_http_app(
        streamable_http_path=MCP,
        max_request_body_size=_LARGEST,
        # The guard has looked at names and origins before, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(_closing(app, server), rules)


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
    config = uvicorn.Config(application(serving, rules), log_level="warning", timeout_graceful_shutdown=2)
    uvicorn.Server(config).run(sockets=[listening])
