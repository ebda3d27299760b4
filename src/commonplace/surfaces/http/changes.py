"""Changes as they happen, as server-sent events: of pages that the caller's agent may see, whoever changes them."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...memory import Memory
from ...schema import TEXT
from .dispatch import Interface
from .endpoints import Asked, Endpoint, Given, Parameter
from .feeds import Feed, News
from .problems import Problem

MEDIA = "text/event-stream"
_BEAT = 15.0  # seconds after which a quiet stream says that it is there
_CHECK = 2.0  # seconds after which a token is looked at again
_HELLO = "retry: 2000\n\n"
_RESET = "event: reset\ndata: {}\n\n"


async def changes(interface: Interface, request: Request, asked: Asked | None) -> Response:
    assert asked
    if interface.feeds.is_full:
        raise Problem(503, "too many listen already: try again later", {"Retry-After": "30"})
    feed = await interface.feeds.begun(asked.memory)
    events = _events(interface, request, asked.memory, feed)
    return StreamingResponse(events, media_type=MEDIA, headers={"X-Accel-Buffering": "no"})


async def _events(interface: Interface, request: Request, memory: Memory, feed: Feed) -> AsyncIterator[str]:
    """Who comes back is told what it missed, or, where that is not known any more, to look at everything anew."""
    interface.feeds.listening += 1
    try:
        run, number, missed = _resumed(feed, request.headers.get("last-event-id", ""))
        yield _HELLO + (_RESET if missed else _at(run, number))
        said = time.monotonic()
        while not feed.closed and await interface.still(request):
            told = ""
            if feed.run != run or not feed.reaches(number):
                run, number, told = feed.run, feed.last, _RESET
            for news in feed.since(number):
                number = news.number
                told += _event(run, news) if _may_hear(memory, news.path) else ""
            if not told and time.monotonic() - said >= _BEAT:
                told = ": still here\n\n"
            if told:
                said = time.monotonic()
                yield told
            await feed.wait(_CHECK)
            interface.feeds.of(memory)
    finally:
        interface.feeds.listening -= 1


def _resumed(feed: Feed, last: str) -> tuple[str, int, bool]:
    """Where a stream begins, and whether something may have been missed before."""
    run, _, number = last.partition("-")
    if run == feed.run and number.isdecimal() and len(number) < 19 and int(number) <= feed.last:
        return run, int(number), not feed.reaches(int(number))
    return feed.run, feed.last, bool(last)


def _at(run: str, number: int) -> str:
    """Says where the stream is, so that who is cut off before anything happens can come back to here."""
    return f"event: ready\nid: {run}-{number}\ndata: {{}}\n\n"


def _event(run: str, news: News) -> str:
    data = json.dumps({"path": news.path, "kind": news.kind}, ensure_ascii=False)
    return f"event: change\nid: {run}-{news.number}\ndata: {data}\n\n"


def _may_hear(memory: Memory, path: str) -> bool:
    place = memory.home.index.scope.place(path)
    return place is not None and memory.home.may_see(place)


ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/changes",
        None,
        "Changes as they happen: `change` with {path, kind}; `reset` when some were missed.",
        takes=[Parameter("Last-Event-ID", TEXT, "Where to go on from.", "header")],
        answers={200: Given("Server-sent events, until the token ends.", TEXT, MEDIA)},
        streams=changes,
        tag="history",
    ),
]
