"""Which memories a caller may use, where a server has several. No answer names one that the caller may not use."""

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
from ...server.sessions import Caller, ServerOptions
from ...storage.names import is_plain
from ...storage.tokens import Grant
from . import HOMES_PATH
from .auth import (
    MISSING_TOKEN_STATUS,
    TOKENS_UNREADABLE,
    address_of,
    limit_sign_ins,
    missing_token,
    read_bearer_token,
)
from .dispatch import Dispatcher, make_response, parse_body, run_in_thread
from .endpoints import ApiRequest, Endpoint, ResponseSpec, parse_parameters
from .problems import Problem

MAX_HOMES = 1000
_HEADER = b"commonplace-home"


class NamedHome(NamedTuple):
    """A memory by the name that requests give it; empty if it is outside the folder of memories. `default`:
    whether requests that name none mean this one."""

    name: str
    default: bool


async def list_homes(dispatcher: Dispatcher, request: Request, _: ApiRequest | None) -> Response:
    """Answer everybody who may use one of the memories, even if it is not the one that the request means."""
    endpoint = ENDPOINTS[0]
    parse_parameters(endpoint, request.query_params.multi_items(), request.path_params)
    await parse_body(endpoint, request)
    grants = await _sign_in(dispatcher, request)
    await _record_call(dispatcher, request, [*grants.values()])
    return make_response({"homes": [home._asdict() for home in grants]})


async def _sign_in(dispatcher: Dispatcher, request: Request) -> dict[NamedHome, Grant]:
    """Return what the caller may do in each memory; Problem if that is nothing, or if its address guessed too often."""
    sign_ins = dispatcher.service.sign_ins
    secret = read_bearer_token(request.headers)
    address = address_of(request.scope)
    limit_sign_ins(sign_ins, address, secret)
    try:
        grants = await _find_grants(dispatcher, request.headers)
    except Problem as problem:
        if problem.status == MISSING_TOKEN_STATUS:
            sign_ins.count_failure(address, secret)
        raise
    if any(grant.token for grant in grants.values()):
        sign_ins.count_success(secret)
    return grants


async def _find_grants(dispatcher: Dispatcher, headers: Headers) -> dict[NamedHome, Grant]:
    """Return what the caller may do in each memory, as for any request that means it; Problem if that is nothing."""
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
    """Return the headers of a request that means this memory."""
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
    await run_in_thread(lambda: service.audit.record(caller, grant, ENDPOINTS[0].name, "ok", remote))


_HOMES: Any = object_of({"homes": array(object_of({"name": TEXT, "default": BOOLEAN}))})
ENDPOINTS = [
    Endpoint(
        "GET",
        HOMES_PATH,
        None,
        "The memories of this server that you may use.",
        responses={200: ResponseSpec("By the name for the header Commonplace-Home.", _HOMES)},
        respond=list_homes,
        opens_no_memory=True,
        tag="access",
    ),
]
