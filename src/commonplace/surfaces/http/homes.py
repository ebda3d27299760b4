"""Whole memories: the list of those that a caller may use on a server of several, and the export of one.

No answer names a memory that the caller may not use. An export is a consistent snapshot, streamed while others write.
"""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...errors import CommonplaceError, Refused
from ...home import Home
from ...maintenance.backup import export_to
from ...maintenance.backup.archive import Format
from ...schema import BOOLEAN, TEXT, array, object_of, one_of
from ...server.auth import Caller, ServerOptions
from ...storage.names import is_plain
from ...storage.tokens import Grant
from . import HOMES_PATH
from .auth import (
    MISSING_TOKEN_STATUS,
    TOKENS_UNREADABLE,
    address_of,
    count_failed_sign_in,
    limit_sign_ins,
    missing_token,
    read_bearer_token,
)
from .dispatch import Dispatcher, make_response, run_in_thread
from .endpoints import ApiRequest, Endpoint, Parameter, Problem, ResponseSpec

MAX_HOMES = 1000
_LIST = f"GET {HOMES_PATH}"
_HEADER = b"commonplace-home"
MAX_EXPORTS = 2  # concurrent ones
MAX_QUEUED_CHUNKS = 16
CHUNK_BYTES = 64 * 1024
POLL_SECONDS = 0.5
READER_TIMEOUT_SECONDS = 60.0  # time a client has to take a chunk
_MEDIA_TYPES = {"tar": "application/x-tar", "jsonl": "application/x-ndjson"}
_slots = threading.BoundedSemaphore(MAX_EXPORTS)


class NamedHome(NamedTuple):
    """A memory by the name that requests give it; empty if it is outside the folder of memories. `default`:
    whether requests that name none mean this one."""

    name: str
    default: bool


async def list_homes(dispatcher: Dispatcher, request: Request, _: None) -> Response:
    """Answer everybody who may use one of the memories, even if it is not the one the request is for."""
    grants = await _sign_in(dispatcher, request)
    await _record_call(dispatcher, request, [*grants.values()])
    return make_response({"homes": [home._asdict() for home in grants]})


async def _sign_in(dispatcher: Dispatcher, request: Request) -> dict[NamedHome, Grant]:
    """Return what the caller may do in each memory; Problem if that is nothing, or if its address guessed too often."""
    sign_ins = dispatcher.service.sign_ins
    secret = read_bearer_token(request.headers)
    address = address_of(request.scope)
    limit_sign_ins(sign_ins, address, secret, is_costly=True)
    try:
        grants = await _find_grants(dispatcher, request.headers)
    except Problem as problem:
        if problem.status == MISSING_TOKEN_STATUS:
            count_failed_sign_in(sign_ins, address, secret)
        raise
    if any(grant.token for grant in grants.values()):
        sign_ins.count_success(address, secret)
    return grants


async def _find_grants(dispatcher: Dispatcher, headers: Headers) -> dict[NamedHome, Grant]:
    """Return what the caller may do in each memory, as for a request to it; Problem if that is nothing."""
    grants: dict[NamedHome, Grant] = {}
    refusal = missing_token()
    for home in await run_in_thread(lambda: list(_served_homes(dispatcher.service.options))):
        try:
            grant = await dispatcher.authenticate(_headers_for(home, headers))
        except CommonplaceError:
            refusal = Problem(503, TOKENS_UNREADABLE)
            continue
        if grant:
            grants[home] = grant
    if not grants:
        raise refusal
    return grants


def _headers_for(home: NamedHome, headers: Headers) -> Headers:
    """Return the headers of a request for this memory."""
    raw = [(name, value) for name, value in headers.raw if name != _HEADER]
    if not home.default:
        raw.append((_HEADER, quote(home.name).encode()))
    return Headers(raw=raw)


def _served_homes(options: ServerOptions) -> Iterator[NamedHome]:
    """Yield the server's own memory first, then those of its folder, by name."""
    names = sorted(_list_folders(options.homes))[:MAX_HOMES] if options.homes else []
    own = next((name for name in names if _is_own(options, name)), "")
    yield NamedHome(own, True)
    yield from (NamedHome(name, False) for name in names if name != own)


def _list_folders(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if is_plain(entry.name) and entry.is_dir())
    except OSError:
        return  # a folder that cannot be read has no memories


def _is_own(options: ServerOptions, name: str) -> bool:
    place = os.path.join(options.homes, name)
    return os.path.realpath(place) == os.path.realpath(options.home)


async def _record_call(dispatcher: Dispatcher, request: Request, grants: list[Grant]) -> None:
    """Record the call in the audit log of the memory that the token is for."""
    grant = next((each for each in grants if each.token), None)
    if grant is None:
        return
    service = dispatcher.service
    caller = Caller(grant.home or service.options.home, agent="")
    remote = address_of(request.scope)
    await run_in_thread(lambda: service.audit(caller, grant, _LIST, "ok", remote))


_HOMES: Any = object_of({"homes": array(object_of({"name": TEXT, "default": BOOLEAN}))})


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


async def stream_export(dispatcher: Dispatcher, request: Request, api_request: ApiRequest) -> Response:
    if api_request.grant.agents is not None:
        raise Refused(
            "an export contains the memory of all agents, and this token is only for some: use one for all agents"
        )
    format_: Format = api_request.parameters.get("format", "tar")
    if not _slots.acquire(blocking=False):
        raise Problem(503, f"{MAX_EXPORTS} exports are under way already: try again later", {"Retry-After": "30"})
    pipe = ChunkPipe()
    threading.Thread(target=run_export, args=(api_request.home, pipe, format_), name="export", daemon=True).start()
    first = await run_in_thread(pipe.take)
    if isinstance(first, Exception):  # nothing was sent yet, so the error can still be reported
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
        _LIST,
        None,
        "The memories of this server that you may use.",
        responses={200: ResponseSpec("By the name for the header Commonplace-Home.", _HOMES)},
        respond=list_homes,
        opens_no_memory=True,
        tag="access",
    ),
    Endpoint(
        "GET /v1/export",
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
