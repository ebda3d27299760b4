"""All of memory in one file, streamed: as it was at one moment, while others write."""

from __future__ import annotations

import io
import queue
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...errors import CommonplaceError, Refused
from ...home import Home
from ...maintenance.backup import Format, export_to
from ...schema import TEXT, one_of
from .dispatch import Dispatcher, run_in_thread
from .endpoints import Asked, Endpoint, Given, Parameter
from .problems import Problem

_WAITING = 16  # pieces that nobody has taken yet
_PIECE = 64 * 1024
_MOST = 2  # exports at once
_PATIENCE = 60.0  # seconds for a reader to take a piece
_MEDIA = {"tar": "application/x-tar", "jsonl": "application/x-ndjson"}
_running = threading.BoundedSemaphore(_MOST)


class _Pipe(io.RawIOBase):
    """Written by the thread that exports, read by who answers. One that nobody reads any more is broken."""

    def __init__(self) -> None:
        self.pieces: queue.Queue[bytes | Exception | None] = queue.Queue(_WAITING)
        self.is_left = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        whole = bytes(data)
        self.put(whole)
        return len(whole)

    def take(self) -> bytes | Exception | None:
        """The next piece; the end, where nobody wants it any more."""
        while not self.is_left:
            with suppress(queue.Empty):
                return self.pieces.get(timeout=0.5)
        return None

    def put(self, piece: bytes | Exception | None) -> None:
        waited = 0.0
        while not self.is_left and waited < _PATIENCE:
            try:
                self.pieces.put(piece, timeout=0.5)
                return
            except queue.Full:
                waited += 0.5
        raise BrokenPipeError("nobody reads this any more")


async def export(dispatcher: Dispatcher, request: Request, asked: Asked | None) -> Response:
    assert asked
    if asked.grant.agents is not None:
        raise Refused("an export holds the memory of all agents, and this token is for some: use one for all of them")
    form: Format = asked.given.get("format", "tar")
    if not _running.acquire(blocking=False):
        raise Problem(503, f"{_MOST} exports are under way already: try again later", {"Retry-After": "30"})
    pipe = _Pipe()
    threading.Thread(target=_export, args=(asked.home, pipe, form), name="export", daemon=True).start()
    first = await run_in_thread(pipe.take)
    if isinstance(first, Exception):  # nothing was sent yet: it can still be told
        raise first
    name = f'attachment; filename="memory.{form}"'
    return StreamingResponse(_pieces(pipe, first), media_type=_MEDIA[form], headers={"Content-Disposition": name})


def _export(home: Home, pipe: _Pipe, form: Format) -> None:
    try:
        with suppress(BrokenPipeError):  # the caller is gone
            pipe.put(_written(home, pipe, form))
    finally:
        _running.release()


def _written(home: Home, pipe: _Pipe, form: Format) -> Exception | None:
    """What kept the export from being whole, for who reads it."""
    try:
        with io.BufferedWriter(pipe, _PIECE) as stream:
            export_to(home, stream, form)
    except BrokenPipeError:
        raise
    except (CommonplaceError, OSError) as error:
        return error
    return None


async def _pieces(pipe: _Pipe, piece: bytes | Exception | None) -> AsyncIterator[bytes]:
    """What was exported, to the end. An error in the middle breaks the connection off: half a file is no export."""
    try:
        while piece is not None:
            if isinstance(piece, Exception):
                raise piece
            yield piece
            piece = await run_in_thread(pipe.take, abandon=True)
    finally:
        pipe.is_left = True


ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/export",
        None,
        "All of memory, of all agents, as it is at one moment.",
        takes=[Parameter("format", one_of(*_MEDIA), "tar, if not said.")],
        answers={200: Given("A tar, or JSON lines.", TEXT, _MEDIA["tar"], also=(_MEDIA["jsonl"],))},
        needs="admin",
        streams=export,
        problems=[422],
    ),
]
