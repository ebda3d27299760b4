"""Runs the endpoints under `/v1`: each in a thread, for its caller, within limits, and recorded in the audit log."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ...errors import CommonplaceError, InvalidArgument
from ...formats.json_text import round_trip
from ...schema import check
from ...server.auth import GRANT, Caller
from ...server.metrics import Request as CountedRequest
from ...server.service import MemoryService
from ...storage.history import coming_from
from ...storage.tokens import ROLES, Grant, Outcome
from ...tools import catalog
from ...tracing import span
from .endpoints import (
    JSON,
    MARKDOWN,
    ApiRequest,
    Endpoint,
    Problem,
    Reply,
    parse_parameters,
    problem_response,
    to_problem,
)

Result = TypeVar("Result")
MAX_BODY_BYTES = 8 * 1024 * 1024
BODY_TIMEOUT_SECONDS = 20.0
UNKNOWN = "unknown"  # the log's name for a request for an unknown path or method
READ_TIMEOUT_SECONDS = 60.0  # for requests that change nothing


class Dispatcher:
    """Answers requests to endpoints from one `MemoryService`.

    `authenticate` returns what the sender of some headers may do; `exchange_code` the key for a sign-in code.
    """

    def __init__(
        self,
        service: MemoryService,
        authenticate: Callable[[Headers], Awaitable[Grant | None]],
        exchange_code: Callable[[str], str | None],
    ) -> None:
        self.service = service
        self.authenticate = authenticate
        self.exchange_code = exchange_code

    async def is_still_allowed(self, request: Request) -> bool:
        """Return whether the token of a request is still valid: it may end while a stream is open."""
        grant = await self.authenticate(request.headers)
        return grant is not None and grant.token == grant_of(request).token

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """Return the answer of an endpoint; errors become problem details, and every call is recorded."""
        call = _Call(self.service, endpoint, request)
        outcome: Outcome = "abandoned"
        try:
            self._limit_rate(call.grant)
            quota = self.service.quotas.apply(call.grant.bucket)
            with span(call.operation), coming_from(call.grant.origin), quota:
                response = await self._run(endpoint, request, call)
            outcome = "ok" if response.status_code < 400 else "error"
            return response
        except (Problem, CommonplaceError) as error:
            failure = _as_problem(error)
            failure.detail = self.service.options.hide_location(failure.detail)
            outcome = _outcome_of(failure)
            return failure.to_response()
        finally:
            call.count(outcome)
            await call.record(outcome)

    def _limit_rate(self, grant: Grant) -> None:
        """Raise Problem if a token has used up the requests that it may make in a minute."""
        if seconds := self.service.rate_limiter.seconds_to_wait(grant.bucket):
            wait = max(1, math.ceil(seconds))
            raise Problem(429, f"too many requests with this token: wait {wait} s", {"Retry-After": str(wait)})

    async def answer_unknown(self, request: Request, error: Exception) -> Response:
        """Return the answer to a request for an unknown path or method; it is counted, too."""
        remote = request.client.host if request.client else ""
        self.service.count_request(CountedRequest(UNKNOWN, "refused", 0.0, grant_of(request).token, remote))
        return await handle_http_error(request, error)

    async def _run(self, endpoint: Endpoint, request: Request, call: _Call) -> Response:
        if (endpoint.is_public or endpoint.opens_no_memory) and endpoint.respond:
            parse_parameters(endpoint, request.query_params.multi_items(), request.path_params)
            return await endpoint.respond(self, request, await parse_body(endpoint, request))
        api_request = await self._read_request(endpoint, request)
        call.caller = api_request.caller
        if endpoint.respond:
            return await endpoint.respond(self, request, api_request)
        run = endpoint.run
        assert run
        # A read is abandoned when its client goes away; a write is always finished.
        limit = None if endpoint.is_write or endpoint.has_no_timeout else READ_TIMEOUT_SECONDS
        run_it = self.service.run_work if endpoint.waits_for_index(api_request) else run_in_thread
        with anyio.move_on_after(limit) as timeout:
            return await run_it(lambda: call.run(run, api_request), abandon=not endpoint.is_write)
        assert timeout.cancelled_caught
        raise Problem(503, f"this took longer than {READ_TIMEOUT_SECONDS:g} seconds: ask for less, or try again")

    async def _read_request(self, endpoint: Endpoint, request: Request) -> ApiRequest:
        """Return a request validated against its endpoint's declaration, from a caller who may send it."""
        grant = grant_of(request)
        _require_role(grant, endpoint)
        parameters = parse_parameters(endpoint, request.query_params.multi_items(), request.path_params)
        body = await parse_body(endpoint, request)
        headers = _index_headers(request)
        caller = self.service.options.identify({}, headers, grant)
        memory = await self.service.open_memory(caller, grant)
        return ApiRequest(memory, caller, grant, parameters, body, headers)


def _index_headers(request: Request) -> dict[str, str]:
    """Return the first header of each name as a dictionary, since a dozen are looked up."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(request.headers.raw)}


class _Call:
    """A request on its way through an endpoint: counted, and recorded in the audit log once."""

    def __init__(self, service: MemoryService, endpoint: Endpoint, request: Request) -> None:
        self.grant = grant_of(request)
        self.caller: Caller | None = None  # set once the caller is known and may use the memory
        self._service = service
        self._headers = request.headers
        self.operation = _operation_name(endpoint, request)
        self._remote = request.client.host if request.client else ""
        self._began = time.perf_counter()
        self._is_recorded = False
        self._lock = Lock()

    def run(self, run: Callable[[ApiRequest], Any], request: ApiRequest) -> Response:
        """Return the response of an endpoint. The call is recorded in the same thread: another thread to wait for would
        cost a tenth of a millisecond."""
        try:
            response = make_response(run(request))
        except (Problem, CommonplaceError) as error:
            self._record_now(_outcome_of(_as_problem(error)))
            raise
        self._record_now("ok" if response.status_code < 400 else "error")
        return response

    def count(self, outcome: Outcome) -> None:
        seconds = time.perf_counter() - self._began
        request = CountedRequest(self.operation, outcome, seconds, self.grant.token, self._remote)
        self._service.count_request(request)

    async def record(self, outcome: Outcome) -> None:
        """Record a call that no thread has recorded: it was refused before, or its client went away."""
        if self._claim():
            await self._service.record_call({}, self._headers, self.grant, self.operation, outcome, self._remote)

    def _record_now(self, outcome: Outcome) -> None:
        if self.caller and self.grant.token and self._claim():
            self._service.audit(self.caller, self.grant, self.operation, outcome, self._remote)

    def _claim(self) -> bool:
        """Return True the first time only: the call is recorded once."""
        with self._lock:
            was_recorded = self._is_recorded
            self._is_recorded = True
        return not was_recorded


def _as_problem(error: Problem | CommonplaceError) -> Problem:
    return error if isinstance(error, Problem) else to_problem(error)


def _outcome_of(problem: Problem) -> Outcome:
    return "refused" if problem.status in (400, 403, 429) else "error"


def _operation_name(endpoint: Endpoint, request: Request) -> str:
    """Return the name of a request in the audit log: that of the tool, if it is one. An unknown name may be any text,
    and is not repeated.
    """
    name = request.path_params.get("name", "")
    return name if name and name in _tool_names() else endpoint.name


@cache
def _tool_names() -> frozenset[str]:
    return frozenset(offer.name for offer in catalog.offers())


def grant_of(request: Request) -> Grant:
    grant: Grant = request.scope[GRANT]
    return grant


def _require_role(grant: Grant, endpoint: Endpoint) -> None:
    if ROLES.index(grant.role) < ROLES.index(endpoint.needs):
        raise Problem(
            403, f"{endpoint.name} needs the role {endpoint.needs}, and this token only has {grant.role}: use another"
        )


async def run_in_thread(run: Callable[[], Result], *, abandon: bool = False) -> Result:
    return await anyio.to_thread.run_sync(run, abandon_on_cancel=abandon)


async def read_body(request: Request) -> bytes:
    """Return the body of a request; Problem if it is compressed, too large or too slow."""
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem(415, "send the body uncompressed: its size must be known", {"Accept-Encoding": "identity"})
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared) > MAX_BODY_BYTES:
        raise _body_too_large()
    if declared == "0" and "transfer-encoding" not in request.headers:
        return b""
    chunks: list[bytes] = []
    size = 0
    with anyio.move_on_after(BODY_TIMEOUT_SECONDS) as timeout:
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size > MAX_BODY_BYTES:
                    raise _body_too_large()
                chunks.append(chunk)
        except ClientDisconnect:
            raise Problem(400, "the connection ended before the body did") from None
    if timeout.cancelled_caught:
        detail = f"the body did not arrive within {BODY_TIMEOUT_SECONDS:g} seconds: send it at once"
        raise Problem(408, detail, {"Connection": "close"})
    return b"".join(chunks)


def _body_too_large() -> Problem:
    return Problem(413, f"a request body has at most {MAX_BODY_BYTES:,} bytes: send less", {"Connection": "close"})


async def parse_body(endpoint: Endpoint, request: Request) -> Any:
    """Return the body of a request as its endpoint declares it; Problem or InvalidArgument if it differs."""
    if endpoint.body is None:
        await read_body(request)  # a body that is not expected is read and ignored
        return None
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media not in endpoint.body_media_types:
        accepted = {"Accept": ", ".join(endpoint.body_media_types)}
        raise Problem(415, f"send the body as Content-Type: {endpoint.body_media}", accepted)
    data = await read_body(request)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Problem(400, "the body is not UTF-8 text") from error
    value = text if endpoint.body_media == MARKDOWN else _parse_json(text)
    return check(endpoint.body, value, "the body")


def _parse_json(text: str) -> Any:
    try:
        return round_trip(json.loads(text, object_pairs_hook=_refuse_duplicates))
    except RecursionError as error:
        raise InvalidArgument("the body is not JSON: nested too deeply") from error
    except ValueError as error:
        raise InvalidArgument(f"the body is not JSON: {error}") from error


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; InvalidArgument if it has a name twice, since parsers disagree about which one counts."""
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise InvalidArgument(f"the body has {twice[:100]!a} more than once: give it once")
    return value


def make_response(answer: Any) -> Response:
    if isinstance(answer, Response):
        return answer
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    body = reply.body
    if reply.media == JSON:
        body = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(body, reply.status, dict(reply.headers), reply.media)


class EndpointTable:
    """Routes requests under `/v1` to their endpoints; everything else goes to the application behind it.

    A table, since Starlette's router would try one pattern after another, below two layers of error handling.
    """

    def __init__(self, dispatcher: Dispatcher, endpoints: Sequence[Endpoint], app: ASGIApp) -> None:
        self._dispatcher = dispatcher
        self._app = app
        self._table: dict[tuple[str, bool], tuple[str, dict[str, Endpoint]]] = {}  # by noun, and whether a name follows
        for endpoint in endpoints:
            noun, _, parameter = endpoint.path.removeprefix("/v1/").partition("/")
            _, methods = self._table.setdefault((noun, bool(parameter)), (parameter.strip("{}"), {}))
            methods[endpoint.method] = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        if scope["type"] != "http" or not path.startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        methods, scope["path_params"] = self._find(path.removeprefix("/v1/"))
        request = Request(scope, receive)
        try:
            response = await self._answer(methods, request)
        except Exception as error:
            await (await _handle_server_error(request, error))(scope, receive, send)
            raise  # the server logs it
        await response(scope, receive, send)

    def _find(self, path: str) -> tuple[dict[str, Endpoint], dict[str, str]]:
        """Return the endpoints at a path, by method, and the parameter in it; only the path of a page has slashes."""
        noun, _, name = path.partition("/")
        parameter, methods = self._table.get((noun, bool(name)), ("", {}))
        if parameter != "path" and "/" in name:
            return {}, {}
        return methods, {parameter: name} if name else {}

    async def _answer(self, methods: dict[str, Endpoint], request: Request) -> Response:
        endpoint = methods.get("GET" if request.method == "HEAD" else request.method)
        if not methods:
            return await self._dispatcher.answer_unknown(request, HTTPException(404))
        if not endpoint:
            allowed = [*methods, "HEAD"] if "GET" in methods else [*methods]
            return await self._dispatcher.answer_unknown(
                request, HTTPException(405, headers={"Allow": ", ".join(allowed)})
            )
        if request.method == "HEAD" and endpoint.is_stream:  # nobody would read the stream
            return problem_response(
                405, "ask with GET: this is a stream", headers={"Allow": ", ".join(sorted(methods))}
            )
        return await self._dispatcher.answer(endpoint, request)


async def handle_http_error(request: Request, error: Any) -> Response:
    details = {
        404: f"there is nothing at {request.url.path}: GET /v1/openapi.json lists what there is",
        405: f"{request.method} is not possible here: see the header Allow",
    }
    headers = dict(error.headers or {})
    if "Allow" in headers:
        headers["Allow"] = ", ".join(sorted(each.strip() for each in headers["Allow"].split(",")))
    return problem_response(error.status_code, details.get(error.status_code, str(error.detail)), headers=headers)


async def _handle_server_error(request: Request, error: Exception) -> Response:
    return problem_response(500, "the server failed: its standard error says more")
