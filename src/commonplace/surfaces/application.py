"""The whole HTTP server: MCP at `/mcp`, the API at `/v1`, the web page at `/`.

This is the one place where the surfaces meet; `commonplace serve` and `commonplace web` start it.
"""

from __future__ import annotations

import ctypes
import logging
import signal
import socket
import sys
from asyncio import CancelledError, TimerHandle, Transport
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import NamedTuple

import h11
import uvicorn
from anyio import create_task_group
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..server.auth import ServerOptions
from ..server.service import MemoryService
from ..server.workers import run_workers
from ..tracing import start_tracing
from . import web
from .http import MCP_PATH, health
from .http.api import ENDPOINTS
from .http.auth import (
    MAX_ADDRESS_BYTES,
    AccessRules,
    AuthMiddleware,
    ForwardedAddresses,
    RequestAuthenticator,
    SignInKeys,
)
from .http.dispatch import Dispatcher, EndpointTable
from .mcp.server import McpServer

MAX_CONNECTIONS = 2000
BACKLOG = 2048  # connections that wait to be accepted
HEADER_TIMEOUT_SECONDS = 20.0
_M_ARENA_MAX = -8  # the name of the setting for `mallopt`
_MALLOC_ARENAS = 2
SHUTDOWN_SECONDS = 2  # grace for open requests


class Certificate(NamedTuple):
    """The files of a TLS certificate, with the chain, and of its private key, in PEM."""

    file: str
    key_file: str


def build_application(options: ServerOptions, rules: AccessRules | None, keys: SignInKeys | None = None) -> ASGIApp:
    return _build(MemoryService(options), rules or AccessRules(), keys or SignInKeys())


def _build(service: MemoryService, rules: AccessRules, keys: SignInKeys, *, answers_prompts: bool = False) -> ASGIApp:
    app = McpServer(service).http_application(MCP_PATH)
    authenticator = RequestAuthenticator(rules, service.authenticator, keys, service.sign_ins)
    dispatcher = Dispatcher(service, authenticator.authenticate, keys.exchange)
    front = EndpointTable(dispatcher, ENDPOINTS, app)
    app.router.routes.extend(health.routes(service))
    app.router.routes.extend(web.routes())
    app.add_exception_handler(HTTPException, dispatcher.answer_unknown)
    _add_lifespan(app, service, answers_prompts=answers_prompts)
    return AuthMiddleware(front, rules, authenticator, web.is_page, service.count_request)


def _add_lifespan(app: Starlette, service: MemoryService, *, answers_prompts: bool) -> None:
    """Close the service when the application ends, after the MCP transport has shut down."""
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(state: Starlette) -> AsyncIterator[None]:
        try:
            async with inner(state), create_task_group() as tasks:
                if answers_prompts:
                    tasks.start_soon(service.answer_prompts)
                yield
                tasks.cancel_scope.cancel()
        finally:
            service.close()

    app.router.lifespan_context = lifespan


def serve_http(
    options: ServerOptions,
    rules: AccessRules,
    listener: socket.socket,
    keys: SignInKeys,
    proxies: Sequence[str],
    certificate: Certificate | None,
    workers: int,
) -> None:
    """Serve until stopped. Open streams do not delay the end.

    `proxies`: the addresses whose X-Forwarded headers are trusted; from all others they are ignored.
    """

    def serve(options: ServerOptions, worker: int = 0) -> None:
        _serve_in_process(options, rules, listener, keys, proxies, certificate, worker)

    if workers == 1:
        serve(options)
        return
    from ..server.workers import claim, open_worker_state

    with open_worker_state() as folder:
        keys.claim = partial(claim, folder)
        shared = options._replace(worker_state=folder)
        number = run_workers(workers, partial(serve, shared), _report_worker)
    signal.raise_signal(number)  # ends like a server without workers


def _report_worker(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _serve_in_process(
    options: ServerOptions,
    rules: AccessRules,
    listener: socket.socket,
    keys: SignInKeys,
    proxies: Sequence[str],
    certificate: Certificate | None,
    worker: int,
) -> None:
    _limit_malloc_arenas()
    service = MemoryService(options)
    app = _build(service, rules, keys, answers_prompts=worker == 0 and not options.tenants)
    is_alone = not options.worker_state
    config = uvicorn.Config(
        ForwardedAddresses(app, proxies) if proxies else app,
        http=HeaderTimeoutProtocol,
        log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        server_header=False,
        proxy_headers=False,  # `ForwardedAddresses` checks them first
        limit_concurrency=MAX_CONNECTIONS,
        backlog=BACKLOG if is_alone else 1,
        h11_max_incomplete_event_size=2 * MAX_ADDRESS_BYTES,
        ssl_certfile=certificate.file if certificate else None,
        ssl_keyfile=certificate.key_file if certificate else None,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    if options.traces:
        service.stop_tracing = start_tracing()
    _Server(config, service).run(sockets=[listener])


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Return False for the traceback of a request that was cut off by the shutdown; one line counts these."""
    return not (record.exc_info and isinstance(record.exc_info[1], CancelledError))


def _limit_malloc_arenas() -> None:
    """Keep the C library from giving each of forty threads its own arena, which it never returns."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library than glibc
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _MALLOC_ARENAS)


class _Server(uvicorn.Server):
    """Ends open streams before it waits for open requests."""

    def __init__(self, config: uvicorn.Config, service: MemoryService) -> None:
        super().__init__(config)
        self._service = service

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve. A worker accepts one connection at a time (`backlog` 1), so that other workers get their
        share; the listen queue stays as long as before.
        """
        await super().startup(sockets)
        for each in sockets or []:
            each.listen(BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.watchers.close()
        await super().shutdown(sockets)


class HeaderTimeoutProtocol(H11Protocol):
    """Closes connections whose request header does not arrive in time, so that idle ones do not use up all slots."""

    _timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._restart_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._restart_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._restart_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _restart_timer(self) -> None:
        """Start the timeout for the next request header; once it is complete, `read_body` times the body."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self._close_idle)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _close_idle(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()
