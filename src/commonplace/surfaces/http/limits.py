"""Size and time limits of a request: its head, its body, and the answer to it."""

from __future__ import annotations

from asyncio import TimerHandle, Transport

import anyio
import h11
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from .problems import Problem

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_ADDRESS_BYTES = 64 * 1024  # path and query together
HEADER_TIMEOUT_SECONDS = 20.0
BODY_TIMEOUT_SECONDS = 20.0
READ_TIMEOUT_SECONDS = 60.0  # for an answer that changes nothing


async def read_body(request: Request) -> bytes:
    """Return the body of a request; Problem if it is compressed, too large or too slow."""
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem(415, "send the body uncompressed: its size must be known", {"Accept-Encoding": "identity"})
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared) > MAX_BODY_BYTES:
        raise _body_too_large()
    chunks: list[bytes] = []
    size = 0
    with anyio.move_on_after(BODY_TIMEOUT_SECONDS) as timeout:
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size > MAX_BODY_BYTES:
                    raise _body_too_large()
                chunks.append(chunk)
        except ClientDisconnect:
            raise Problem(400, "the connection ended before the body did") from None
    if timeout.cancelled_caught:
        detail = f"the body did not arrive within {BODY_TIMEOUT_SECONDS:g} seconds: send it at once"
        raise Problem(408, detail, {"Connection": "close"})
    return b"".join(chunks)


def _body_too_large() -> Problem:
    return Problem(413, f"a request body has at most {MAX_BODY_BYTES:,} bytes: send less", {"Connection": "close"})


class HeaderTimeoutProtocol(H11Protocol):
    """Closes connections whose request head does not arrive in time, so that idle ones do not use up all slots."""

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
        """Time the head of the next request; once a head is complete, `read_body` times the body."""
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
