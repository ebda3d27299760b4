"""Which memories a caller may use, where a server has several. One that it may not use is not named, by any answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from ...errors import CommonplaceError
from ...schema import BOOLEAN, TEXT, array, object_of
from ...server.sessions import Asker, Serving
from ...storage.backends import in_database
from ...storage.names import is_plain
from ...storage.tokens import Grant
from .auth import HOMES, UNREADABLE, no_token
from .dispatch import Interface, as_response, body_in, in_thread
from .endpoints import Asked, Endpoint, Given, given_to
from .problems import Problem

_MOST = 1000
_HEADER = b"commonplace-home"


class Named(NamedTuple):
    """A memory by the name that requests give it; one that only the server knows has none. `default`: the memory of
    requests that name none."""

    name: str
    default: bool


async def homes(interface: Interface, request: Request, _: Asked | None) -> Response:
    """Whoever may use one of them is answered; it does not have to be the one that the request means."""
    endpoint = ENDPOINTS[0]
    given_to(endpoint, request.query_params.multi_items(), request.path_params)
    await body_in(endpoint, request)
    usable = await _usable(interface, request.headers)
    await _note(interface, request, [*usable.values()])
    return as_response({"homes": [home._asdict() for home in usable]})


async def _usable(interface: Interface, headers: Headers) -> dict[Named, Grant]:
    """What the caller may do in each memory, as the guard says for any request that means it; a problem where that is
    nothing in all of them."""
    found: dict[Named, Grant] = {}
    refusal = no_token()
    for home in await in_thread(lambda: list(_served(interface.server.serving))):
        try:
            grant = await interface.guard.grant(_meaning(home, headers))
        except CommonplaceError:
            refusal = Problem(503, UNREADABLE)
            continue
        if grant:
            found[home] = grant
    if not found:
        raise refusal
    return found


def _meaning(home: Named, headers: Headers) -> Headers:
    """The headers of a request that means this memory."""
    raw = [(name, value) for name, value in headers.raw if name != _HEADER]
    return Headers(raw=[*raw, *([] if home.default else [(_HEADER, quote(home.name).encode())])])


def _served(serving: Serving) -> Iterator[Named]:
    """The server's own memory first, then those of its folder, by name."""
    names = sorted(_folders(serving.homes))[:_MOST] if serving.homes else []
    own = next((name for name in names if _is_own(serving, name)), "")
    yield Named(own, True)
    yield from (Named(name, False) for name in names if name != own)


def _folders(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if is_plain(entry.name) and entry.is_dir())
    except OSError:
        return  # what can not be looked into names nothing


def _is_own(serving: Serving, name: str) -> bool:
    place = os.path.join(serving.homes, name)
    return not in_database(serving.home) and os.path.realpath(place) == os.path.realpath(serving.home)


async def _note(interface: Interface, request: Request, grants: list[Grant]) -> None:
    """In the log of the memory that the token is of."""
    grant = next((each for each in grants if each.token), None)
    if grant:
        asker = Asker(grant.home or interface.server.serving.home, agent="")
        remote = request.client.host if request.client else ""
        await in_thread(lambda: interface.server.doors.note(asker, grant, ENDPOINTS[0].name, "ok", remote))


_HOMES: Any = object_of({"homes": array(object_of({"name": TEXT, "default": BOOLEAN}))})
ENDPOINTS = [
    Endpoint(
        "GET",
        HOMES,
        None,
        "The memories of this server that you may use.",
        answers={200: Given("By the name for the header Commonplace-Home.", _HOMES)},
        streams=homes,
        means_no_memory=True,
        tag="access",
    ),
]
