"""A page that was opened with a code gets its key: the only thing here that needs no token."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from .auth import SESSION
from .dispatch import Interface, as_response, body_in
from .endpoints import TEXT, Asked, Endpoint, Given, Reply, closed, of, words
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
        body=closed({"code": words("From the address.", least=1, most=200)}),
        answers={200: Given("Send it as Authorization: Bearer.", of({"key": TEXT}))},
        streams=session,
        is_open=True,
        tag="access",
    ),
]
