"""Changes as they happen, as server-sent events: of pages that the caller's agent may see, whoever changes them.

An event's id counts the events of this agent alone: it does not tell how much others write.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...memory import Memory
from ...schema import TEXT
from ...server.notifications import ChangeFeed, NumberedChange
from .dispatch import Dispatcher
from .endpoints import ApiRequest, Endpoint, Parameter, ResponseSpec
from .problems import Problem

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0  # after which a quiet stream sends a comment
TOKEN_CHECK_SECONDS = 2.0
MAX_NUMBER_DIGITS = 18
_RETRY = "retry: 2000\n\n"
_RESET = "event: reset\ndata: {}\n\n"
_HEARTBEAT = ": still here\n\n"


class Position(NamedTuple):
    """How far a client has read a feed. `has_gap`: changes before it may have been missed."""

    run: str
    number: int
    has_gap: bool = False


async def stream_changes(dispatcher: Dispatcher, request: Request, api_request: ApiRequest | None) -> Response:
    assert api_request
    feeds = dispatcher.service.feeds
    if feeds.is_full:
        raise Problem(503, "too many clients are listening: try again later", {"Retry-After": "30"})
    feed = await feeds.start(api_request.memory)
    events = _stream_events(dispatcher, request, api_request.memory, feed)
    return StreamingResponse(events, media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


async def _stream_events(
    dispatcher: Dispatcher, request: Request, memory: Memory, feed: ChangeFeed
) -> AsyncIterator[str]:
    """Send what a returning client missed, or a reset if that is not known any more; then every change."""
    feeds = dispatcher.service.feeds
    feeds.readers += 1
    try:
        position = _find_position(feed, request.headers.get("last-event-id", ""))
        yield _RETRY + (_RESET if position.has_gap else _format_ready(position))
        sent_at = time.monotonic()
        while not feed.is_closed and await dispatcher.is_still_allowed(request):
            position, events = _read_events(feed, position)
            if not events and time.monotonic() - sent_at >= HEARTBEAT_SECONDS:
                events = _HEARTBEAT
            if events:
                sent_at = time.monotonic()
                yield events
            await feed.wait(TOKEN_CHECK_SECONDS)
            feed = feeds.get(memory)  # starts another watcher if the last one ended
    finally:
        feeds.readers -= 1


def _find_position(feed: ChangeFeed, last_event: str) -> Position:
    """Return where a stream begins, by the id of the last event that the client has."""
    run, _, number = last_event.partition("-")
    is_number = number.isdecimal() and len(number) <= MAX_NUMBER_DIGITS
    if run == feed.run and is_number and int(number) <= feed.last:
        return Position(run, int(number), has_gap=not feed.reaches(int(number)))
    return Position(feed.run, feed.last, has_gap=bool(last_event))


def _read_events(feed: ChangeFeed, position: Position) -> tuple[Position, str]:
    """Return the events after a position, and the position after them."""
    events = ""
    if feed.run != position.run or not feed.reaches(position.number):
        position = Position(feed.run, feed.last)
        events = _RESET
    for change in feed.read_after(position.number):
        position = position._replace(number=change.number)
        events += _format_change(position.run, change)
    return position, events


def _format_ready(position: Position) -> str:
    """Return an event with the current position, so that a client can resume from it before anything changes."""
    return f"event: ready\nid: {position.run}-{position.number}\ndata: {{}}\n\n"


def _format_change(run: str, change: NumberedChange) -> str:
    data = json.dumps({"path": change.path, "kind": change.kind}, ensure_ascii=False)
    return f"event: change\nid: {run}-{change.number}\ndata: {data}\n\n"


ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/changes",
        None,
        "Changes as they happen: `change` with {path, kind}; `reset` when some were missed.",
        parameters=[Parameter("Last-Event-ID", TEXT, "The last event that was received.", "header")],
        responses={200: ResponseSpec("Server-sent events, until the token ends.", TEXT, MEDIA_TYPE)},
        respond=stream_changes,
        tag="history",
    ),
]
