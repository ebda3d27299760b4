"""A page that was opened with a code gets its key: the only thing here that needs no token."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ...schema import TEXT, closed_object, object_of, plain_text
from .auth import SESSION
from .dispatch import Interface, as_response, body_in
from .endpoints import Asked, Endpoint, Given, Reply
from .problems import Problem


async def session(interface: Interface, request: Request, _: Asked | None) -> Response:
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
        body=closed_object({"code": plain_text("From the address.", min_length=1, max_length=200)}),
        answers={200: Given("Send it as Authorization: Bearer.", object_of({"key": TEXT}))},
        streams=session,
        is_open=True,
        tag="access",
    ),
]
