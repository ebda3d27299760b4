"""A page that was opened with a code gets its key: the only thing here that needs no token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from .endpoints import NO_NULL, TEXT, Asked, Endpoint, Given, Reply, of
from .guard import SESSION
from .problems import Problem

if TYPE_CHECKING:
    from .interface import Interface

_BODY = {
    "type": "object",
    "properties": {
        "code": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "pattern": NO_NULL,
            "description": "From the address.",
        }
    },
    "required": ["code"],
    "additionalProperties": False,
}


async def session(interface: Interface, request: Request, _: Asked | None) -> Response:
    from .interface import as_response, body_in

    code = (await body_in(ENDPOINTS[0], request))["code"]
    key = interface.keys.exchange(code)
    if key is None:
        raise Problem(
            403, "this code was used, or is older than a minute: run `commonplace web` again, or give a token"
        )
    return as_response(Reply({"key": key}))


ENDPOINTS = [
    Endpoint(
        "POST",
        SESSION,
        None,
        "A key for a code that `commonplace web` put into the address; good for as long as the server runs.",
        body=_BODY,
        answers={200: Given("Send it as Authorization: Bearer.", of({"key": TEXT}))},
        streams=session,
        is_open=True,
        tag="access",
    ),
]
