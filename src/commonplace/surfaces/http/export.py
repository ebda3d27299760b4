"""All of memory in one file, streamed: as it is at one moment, while others write."""

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
from .endpoints import ApiRequest, Endpoint, Parameter, ResponseSpec
from .problems import Problem

MAX_EXPORTS = 2  # at once
MAX_QUEUED_CHUNKS = 16
CHUNK_BYTES = 64 * 1024
POLL_SECONDS = 0.5
READER_TIMEOUT_SECONDS = 60.0  # for a client to take a chunk
_MEDIA_TYPES = {"tar": "application/x-tar", "jsonl": "application/x-ndjson"}
_slots = threading.BoundedSemaphore(MAX_EXPORTS)


class ChunkPipe(io.RawIOBase):
    """Carries chunks from the exporting thread to the response. The end is None; a failure is an exception. Once
    nobody reads it, writing fails."""

    def __init__(self) -> None:
        self._chunks: queue.Queue[bytes | Exception | None] = queue.Queue(MAX_QUEUED_CHUNKS)
        self.is_abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        chunk = bytes(data)
        self.put(chunk)
        return len(chunk)

    def take(self) -> bytes | Exception | None:
        """Return the next chunk; the end, if the pipe was abandoned."""
        while not self.is_abandoned:
            with suppress(queue.Empty):
                return self._chunks.get(timeout=POLL_SECONDS)
        return None

    def put(self, chunk: bytes | Exception | None) -> None:
        waited = 0.0
        while not self.is_abandoned and waited < READER_TIMEOUT_SECONDS:
            try:
                self._chunks.put(chunk, timeout=POLL_SECONDS)
                return
            except queue.Full:
                waited += POLL_SECONDS
        raise BrokenPipeError("nobody reads this any more")


async def stream_export(dispatcher: Dispatcher, request: Request, api_request: ApiRequest | None) -> Response:
    assert api_request
    if api_request.grant.agents is not None:
        raise Refused(
            "an export contains the memory of all agents, and this token is for some: use one for all of them"
        )
    format_: Format = api_request.parameters.get("format", "tar")
    if not _slots.acquire(blocking=False):
        raise Problem(503, f"{MAX_EXPORTS} exports are under way already: try again later", {"Retry-After": "30"})
    pipe = ChunkPipe()
    threading.Thread(target=run_export, args=(api_request.home, pipe, format_), name="export", daemon=True).start()
    first = await run_in_thread(pipe.take)
    if isinstance(first, Exception):  # nothing was sent yet: it can still be reported
        raise first
    headers = {"Content-Disposition": f'attachment; filename="memory.{format_}"'}
    return StreamingResponse(_stream_chunks(pipe, first), media_type=_MEDIA_TYPES[format_], headers=headers)


def run_export(home: Home, pipe: ChunkPipe, format_: Format) -> None:
    """Export into a pipe, then end it, and free the slot."""
    try:
        with suppress(BrokenPipeError):  # the client is gone
            pipe.put(_write_export(home, pipe, format_))
    finally:
        _slots.release()


def _write_export(home: Home, pipe: ChunkPipe, format_: Format) -> Exception | None:
    """Write the export; return the error that ended it early, or None."""
    try:
        with io.BufferedWriter(pipe, CHUNK_BYTES) as stream:
            export_to(home, stream, format_)
    except BrokenPipeError:
        raise
    except (CommonplaceError, OSError) as error:
        return error
    return None


async def _stream_chunks(pipe: ChunkPipe, chunk: bytes | Exception | None) -> AsyncIterator[bytes]:
    """Yield chunks to the end. An error breaks the connection, so that nobody takes half a file for a whole one."""
    try:
        while chunk is not None:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk
            chunk = await run_in_thread(pipe.take, abandon=True)
    finally:
        pipe.is_abandoned = True


ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/export",
        None,
        "All of memory, of all agents, as it is at one moment.",
        parameters=[Parameter("format", one_of(*_MEDIA_TYPES), "default: tar.")],
        responses={
            200: ResponseSpec("A tar, or JSON lines.", TEXT, _MEDIA_TYPES["tar"], other_media=(_MEDIA_TYPES["jsonl"],))
        },
        needs="admin",
        respond=stream_export,
        problems=[422],
    ),
]
