"""The interface under `/v1`: every endpoint is run here, in a thread, for who asks, within limits, and noted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import CommonplaceError, InvalidArgument
from ...formats.json_text import checked
from ...memory import Memory
from ...schema import check
from ...server.auth import GRANT
from ...server.sessions import Asker
from ...storage.tokens import ROLES, Grant, Outcome
from ...tools import catalog
from ..mcp.server import MemoryServer
from .auth import Guard
from .endpoints import JSON, MARKDOWN, Asked, Endpoint, Reply, given_to
from .feeds import Feeds
from .limits import READ_TIMEOUT_SECONDS, read_body
from .problems import Problem, as_problem, problem
from .sign_in_codes import Keys

Answer = TypeVar("Answer")


class Interface:
    """What all endpoints share: the memories that are open, who may come in, and the log."""

    def __init__(self, server: MemoryServer, keys: Keys) -> None:
        self.server, self.keys, self.feeds = server, keys, Feeds(server.notices)

    async def still(self, request: Request) -> bool:
        """Whether who asked may still do so: a token may end while an answer goes on."""
        grant = await self.guard.grant(request.headers)
        return grant is not None and grant.token == grant_of(request).token

    def watched_by(self, guard: Guard) -> None:
        self.guard = guard

    def asker(self, request: Request) -> Asker:
        return self.server.serving.asker({}, request.headers, grant_of(request))

    async def memory(self, asker: Asker, grant: Grant) -> Memory:
        if grant.home not in (None, asker.home):
            await in_thread(lambda: self.server.doors.pass_on(asker, grant))
        known = self.server.handles.known(asker)
        return known if known else await in_thread(lambda: self.server.handles.of(asker))

    async def note(self, request: Request, what: str, outcome: Outcome) -> None:
        """One line of the log, where a token let the caller in. Who can not say who asks stands in it by the token."""
        grant = grant_of(request)
        if not grant.token:
            return
        try:
            asker = self.asker(request)
        except CommonplaceError:
            asker = Asker(grant.home or self.server.serving.home, agent="")
        remote = request.client.host if request.client else ""
        with anyio.CancelScope(shield=True):
            await in_thread(lambda: self.server.doors.note(asker, grant, what, outcome, remote))

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """The answer of an endpoint. What a caller did wrong is a problem, and every call is noted."""
        outcome: Outcome = "abandoned"
        try:
            response = await self._answered(endpoint, request)
            outcome = "ok" if response.status_code < 400 else "error"
            return response
        except (Problem, CommonplaceError) as error:
            found = error if isinstance(error, Problem) else as_problem(error)
            outcome = "refused" if found.status in (400, 403) else "error"
            return found.response()
        finally:
            await self.note(request, _named(endpoint, request), outcome)

    async def _answered(self, endpoint: Endpoint, request: Request) -> Response:
        if (endpoint.is_open or endpoint.means_no_memory) and endpoint.streams:
            return await endpoint.streams(self, request, None)
        asked = await self.asked(endpoint, request)
        if endpoint.streams:
            return await endpoint.streams(self, request, asked)
        run = endpoint.run
        assert run
        # Who went away does not wait for an answer; what was to be written is written whole all the same.
        limit = None if endpoint.changes or endpoint.waits else READ_TIMEOUT_SECONDS
        with anyio.move_on_after(limit) as waited:
            found = await in_thread(lambda: run(asked), abandon=not endpoint.changes)
        if waited.cancelled_caught:
            raise Problem(503, f"this took longer than {READ_TIMEOUT_SECONDS:g} seconds: ask for less, or try again")
        return as_response(found)

    async def asked(self, endpoint: Endpoint, request: Request) -> Asked:
        """A request that is as it was declared, from somebody who may ask it."""
        grant = grant_of(request)
        require(grant, endpoint)
        given = given_to(endpoint, request.query_params.multi_items(), request.path_params)
        body = await body_in(endpoint, request)
        asker = self.asker(request)
        return Asked(await self.memory(asker, grant), asker, grant, given, body, request.headers)


def _named(endpoint: Endpoint, request: Request) -> str:
    """What the log calls a request: a tool by its name. One that there is not may be any text, and is not repeated."""
    name = request.path_params.get("name", "")
    return name if name in (offer.name for offer in catalog.offers()) else endpoint.name


def grant_of(request: Request) -> Grant:
    found: Grant = request.scope[GRANT]
    return found


def require(grant: Grant, endpoint: Endpoint) -> None:
    if ROLES.index(grant.role) < ROLES.index(endpoint.needs):
        raise Problem(
            403, f"{endpoint.name} needs the role {endpoint.needs}, and this token only has {grant.role}: use another"
        )


async def in_thread(run: Callable[[], Answer], *, abandon: bool = False) -> Answer:
    return await anyio.to_thread.run_sync(run, abandon_on_cancel=abandon)


async def body_in(endpoint: Endpoint, request: Request) -> Any:
    if endpoint.body is None:
        await read_body(request)  # one that nobody asked for is read and left at that
        return None
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media not in endpoint.takes_media:
        accepted = {"Accept": ", ".join(endpoint.takes_media)}
        raise Problem(415, f"send the body as Content-Type: {endpoint.body_media}", accepted)
    data = await read_body(request)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Problem(400, "the body is not UTF-8 text") from error
    value = text if endpoint.body_media == MARKDOWN else _json(text)
    return check(endpoint.body, value, "the body")


def _json(text: str) -> Any:
    try:
        return checked(json.loads(text, object_pairs_hook=_each_once))
    except RecursionError as error:
        raise InvalidArgument("the body is not JSON: nested too deeply") from error
    except ValueError as error:
        raise InvalidArgument(f"the body is not JSON: {error}") from error


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; InvalidArgument where it says a name twice: readers disagree about which of the two counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise InvalidArgument(f"the body says {twice[:100]!a} more than once: say it once")
    return found


def as_response(found: Any) -> Response:
    if isinstance(found, Response):
        return found
    reply = found if isinstance(found, Reply) else Reply(found)
    body = reply.body
    if reply.media == JSON:
        body = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(body, reply.status, dict(reply.headers), reply.media)


def application_of(interface: Interface, endpoints: Sequence[Endpoint]) -> Starlette:
    """All endpoints, by path and method; what is no path of ours, or no method of a path, is a problem too."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path.removeprefix("/v1"), {})[endpoint.method] = endpoint
    routes = [
        Route(_pattern(path), _route(interface, methods), methods=[*methods]) for path, methods in by_path.items()
    ]
    handlers: Any = {HTTPException: refused, Exception: _broken}
    return Starlette(routes=routes, exception_handlers=handlers)


def _pattern(path: str) -> str:
    """A page has slashes in its path."""
    return path.replace("{path}", "{path:path}")


def _route(interface: Interface, methods: dict[str, Endpoint]) -> Callable[[Request], Any]:
    async def route(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = methods[method]
        if request.method == "HEAD" and endpoint.streams:  # it would go on for nobody
            return problem(405, "ask with GET: this is a stream", headers={"Allow": ", ".join(sorted(methods))})
        return await interface.answer(endpoint, request)

    return route


async def refused(request: Request, error: Any) -> Response:
    what = {
        404: f"there is nothing at {request.url.path}: GET /v1/openapi.json says what there is",
        405: f"{request.method} is not possible here: see the header Allow",
    }.get(error.status_code, str(error.detail))
    headers = dict(error.headers or {})
    if "Allow" in headers:
        headers["Allow"] = ", ".join(sorted(each.strip() for each in headers["Allow"].split(",")))
    return problem(error.status_code, what, headers=headers)


async def _broken(request: Request, error: Exception) -> Response:
    return problem(500, "this is an error of the server: what it wrote to its standard error says more")
