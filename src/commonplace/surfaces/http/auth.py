"""Middleware that authenticates every request: by host name, by origin, and by token.

A page of another site can send requests to this machine, but its Host or Origin header shows it. What a token
allows is attached to the request as a `Grant`. Only the files of the web page, which hold nothing of anybody's memory,
and the exchange of a sign-in code need no token. The list of memories authenticates for each of them itself.

The browser signs in with a one-time code in the address, which it exchanges for a session key. `commonplace web` opens
a private file that leads to that address. A code works once and for a minute. Codes are kept as hashes; keys are
signed, and good for as long as the server runs.
"""

from __future__ import annotations

import hmac
import math
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ...caching import cache_within
from ...errors import CommonplaceError
from ...schema import TEXT, closed_object, object_of, plain_text
from ...server.auth import CURRENT_GRANT, GRANT, Authenticator
from ...server.metrics import Request as CountedRequest
from ...server.rate_limits import SignInLimiter
from ...storage.tokens import Grant, hash_secret
from . import HOMES_PATH, LOOPBACK, MCP_PATH, METRICS_PATH, SESSION_PATH, is_probe
from .dispatch import Dispatcher, make_response
from .endpoints import Endpoint, Problem, Reply, ResponseSpec, problem_response

MAX_ADDRESS_BYTES = 64 * 1024  # path and query together
MAX_OPEN_REQUESTS = 250  # of one token at a time, streams included: half of the streams that a server has
TOKEN_CHECK_SECONDS = 2.0  # between checks of the token while a stream is open
MISSING_TOKEN_STATUS = 401
AUTHENTICATE = "authenticate"  # the log's name for a request that is refused here
FLAG_GRANT = Grant("--token")
METRICS_GRANT = Grant("metrics", role="admin")
ANONYMOUS_GRANT = Grant(role="read")
# The cause is only for the operator: `commonplace token list` shows it.
TOKENS_UNREADABLE = "the tokens of this memory cannot be read: check the server"
_SAME_SITE = ("same-origin", "none")  # values of Sec-Fetch-Site that our own page, or no page, sends
_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_RAW_SECURITY_HEADERS = [(name.lower().encode(), value.encode()) for name, value in _SECURITY_HEADERS.items()]
KEY_PREFIX = "cpk_"
CODE_LIFETIME_SECONDS = 60.0


class AccessRules(NamedTuple):
    """`hosts`: the host names of this server. `token`: one that allows everything. `is_open`: whether a memory without
    tokens is open to everybody who can reach the server, unless `token` is set. `read_only`: nobody may change
    anything, whatever their token allows. `metrics_token`: one that shows the server's figures and nothing else."""

    hosts: Sequence[str] = LOOPBACK
    token: str = ""
    is_open: bool = True
    read_only: bool = False
    metrics_token: str = ""


class RequestAuthenticator:
    """Finds the grant of a request by its headers: the token of the command line, a sign-in key, or a stored token."""

    def __init__(
        self, rules: AccessRules, authenticator: Authenticator, keys: SignInKeys, sign_ins: SignInLimiter
    ) -> None:
        self._rules = rules
        self._authenticator = authenticator
        self._keys = keys
        self._sign_ins = sign_ins

    async def sign_in(self, scope: Scope, headers: Headers) -> Grant | None:
        """Return what the sender of a request may do, or None; Problem if its address has guessed too often."""
        secret = read_bearer_token(headers)
        address = address_of(scope)
        is_costly = not self._authenticator.is_immediate(headers, secret) and not self._is_known_here(secret)
        limit_sign_ins(self._sign_ins, address, secret, is_costly=is_costly)
        grant = METRICS_GRANT if self._may_see_metrics(scope["path"], secret) else await self.authenticate(headers)
        if grant is None:
            count_failed_sign_in(self._sign_ins, address, secret)
        elif grant.token:
            self._sign_ins.count_success(address, secret)
        return grant

    def _may_see_metrics(self, path: str, secret: str) -> bool:
        expected = self._rules.metrics_token
        return path == METRICS_PATH and bool(expected) and hmac.compare_digest(secret.encode(), expected.encode())

    def _is_known_here(self, secret: str) -> bool:
        """Return whether the server can check a secret without the tokens of a memory."""
        configured = [text for text in (self._rules.token, self._rules.metrics_token) if text]
        is_chosen = any(hmac.compare_digest(secret.encode(), text.encode()) for text in configured)
        return is_chosen or self._keys.find_grant(secret) is not None

    async def authenticate(self, headers: Headers) -> Grant | None:
        """Return what the caller may do now, or None."""
        grant = await self._find_grant(headers)
        if grant and self._rules.read_only:
            return grant._replace(role="read", is_read_only_server=True)
        return grant

    async def _find_grant(self, headers: Headers) -> Grant | None:
        secret = read_bearer_token(headers)
        rules = self._rules
        if rules.token and hmac.compare_digest(secret.encode(), rules.token.encode()):
            return FLAG_GRANT
        if grant := self._keys.find_grant(secret):
            return grant
        is_open = rules.is_open and not rules.token

        def authenticate() -> Grant | None:
            return self._authenticator.authenticate(headers, secret, is_open=is_open)

        if self._authenticator.is_immediate(headers, secret):
            return authenticate()
        return await anyio.to_thread.run_sync(authenticate)


def read_bearer_token(headers: Headers) -> str:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def address_of(scope: Scope) -> str:
    """Return the address that a request comes from."""
    client = scope.get("client")
    return client[0] if client else ""


def limit_sign_ins(limiter: SignInLimiter, address: str, secret: str, *, is_costly: bool = False) -> None:
    """Raise Problem if too many secrets from an address were wrong, so that this one is not even checked."""
    _refuse_for(limiter.seconds_to_wait(address, secret, is_costly=is_costly))


def count_failed_sign_in(limiter: SignInLimiter, address: str, secret: str) -> None:
    """Count a wrong secret; Problem if its address was wrong too often before."""
    _refuse_for(limiter.count_failure(address, secret))


def _refuse_for(seconds: float) -> None:
    if seconds:
        wait = max(1, math.ceil(seconds))
        detail = f"too many wrong tokens or codes from this address: wait {wait} s"
        raise Problem(429, detail, {"Retry-After": str(wait)})


class AuthMiddleware:
    """`is_public`: whether a path is open to everybody. `count`: counts and logs a request that is refused here."""

    def __init__(
        self,
        app: ASGIApp,
        rules: AccessRules,
        authenticator: RequestAuthenticator,
        is_public: Callable[[str], bool],
        count: Callable[[CountedRequest], None],
    ) -> None:
        self._app = app
        self._rules = rules
        self._authenticator = authenticator
        self._is_public = is_public
        self._count = count
        self._open_requests: Counter[str] = Counter()  # by token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        refusal = await self._check(scope) or self._check_open_requests(scope)
        if refusal or scope["path"].rstrip("/") != MCP_PATH:  # the MCP transport sets headers of its own
            send = _with_security_headers(send)
        if refusal:
            self._count(CountedRequest(AUTHENTICATE, "refused", time.perf_counter() - began, remote=address_of(scope)))
            await refusal(scope, receive, send)
            return
        bucket = scope[GRANT].bucket
        self._open_requests[bucket] += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            self._open_requests[bucket] -= 1
            if not self._open_requests[bucket]:
                del self._open_requests[bucket]

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith("/v1") or not scope[GRANT].token:
            await self._app(scope, receive, send)
            return

        async def is_valid() -> bool:
            return await self._is_still_valid(scope)

        await run_while_valid(self._app, scope, receive, send, is_valid)

    def _check_open_requests(self, scope: Scope) -> Response | None:
        """Return why a request is refused whose token has so many open that others might get none, or None."""
        grant: Grant = scope[GRANT]
        if not grant.token or self._open_requests[grant.bucket] < MAX_OPEN_REQUESTS:
            return None
        detail = f"this token has {MAX_OPEN_REQUESTS} requests and streams open: end some first"
        return problem_response(429, detail, headers={"Retry-After": "1"})

    async def _is_still_valid(self, scope: Scope) -> bool:
        try:
            return await self._authenticator.authenticate(Headers(scope=scope)) is not None
        except CommonplaceError:
            return False

    async def _check(self, scope: Scope) -> Response | None:
        """Return why a request is refused, or None; then its grant is in the scope."""
        headers = Headers(scope=scope)
        if refusal := self._check_form(scope, headers):
            return refusal
        if self._needs_no_token(scope):
            scope[GRANT] = ANONYMOUS_GRANT
            return None
        try:
            grant = await self._authenticator.sign_in(scope, headers)
        except Problem as problem:
            return problem.to_response()
        except CommonplaceError:
            return problem_response(503, TOKENS_UNREADABLE)
        if grant is None:
            return missing_token().to_response()
        scope[GRANT] = grant
        CURRENT_GRANT.set(grant)
        if grant.token and scope["path"].startswith(
            MCP_PATH
        ):  # an MCP session can be used only with the token that began it
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=grant.bucket, scopes=[]))
        return None

    def _check_form(self, scope: Scope, headers: Headers) -> Response | None:
        """Return why a request is refused before its token is checked."""
        is_own_host = self._is_own_host(_parse_host_header(headers.get("host", "")))
        if not is_own_host and not is_probe(scope["path"]):
            return problem_response(421, "this is not a host name of this server: see --allow-host")
        if not self._is_own_origin(scope, headers):
            return problem_response(403, "requests from pages of other sites are refused", title="Wrong origin")
        if "transfer-encoding" in headers and "content-length" in headers:  # a proxy might read it as two requests
            detail = "give the length of the body once: Content-Length or Transfer-Encoding"
            return problem_response(400, detail, headers={"Connection": "close"})
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_ADDRESS_BYTES:
            return problem_response(414, "the URL is too long: shorten it")
        return None

    def _needs_no_token(self, scope: Scope) -> bool:
        path = scope["path"]
        return (
            self._is_public(path)
            or is_probe(path)
            or path == HOMES_PATH
            or (path == SESSION_PATH and scope["method"] == "POST")
        )

    def _is_own_host(self, host: str) -> bool:
        return host.lower() in self._rules.hosts

    def _is_own_origin(self, scope: Scope, headers: Headers) -> bool:
        """Return whether the request is not from a page of another site. For the API, even the port must be our own."""
        origins = [origin for origin in headers.getlist("origin") if origin]
        if not all(self._is_own_host(_parse_host(origin)) for origin in origins):
            return False
        if not scope["path"].startswith(("/v1", MCP_PATH)):
            return True
        own = headers.get("host", "").lower()
        is_same = all(urlsplit(origin).netloc.lower() == own for origin in origins)
        return is_same and headers.get("sec-fetch-site", "none").lower() in _SAME_SITE


async def run_while_valid(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, is_valid: Callable[[], Awaitable[bool]]
) -> None:
    """Answer a request, but end a stream once `is_valid` says that its token was revoked or has expired."""
    has_begun = False
    is_complete = False
    failure: Exception | None = None

    async def send_and_track(message: Message) -> None:
        nonlocal has_begun, is_complete
        has_begun = True
        is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        await send(message)

    async with anyio.create_task_group() as group:

        async def check() -> None:
            while True:
                await anyio.sleep(TOKEN_CHECK_SECONDS)
                if has_begun and not await is_valid():
                    group.cancel_scope.cancel()

        group.start_soon(check)
        try:
            await app(scope, receive, send_and_track)
        except Exception as error:  # noqa: BLE001  raised again below: a task group would wrap it
            failure = error
        group.cancel_scope.cancel()
    if failure:
        raise failure
    if has_begun and not is_complete:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def missing_token() -> Problem:
    detail = "send the header Authorization: Bearer TOKEN, with a valid token"
    return Problem(MISSING_TOKEN_STATUS, detail, {"WWW-Authenticate": "Bearer"})


def _with_security_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", [])
            names = {name.lower() for name, _ in headers}
            message["headers"] = [*headers, *(header for header in _RAW_SECURITY_HEADERS if header[0] not in names)]
        await send(message)

    return send_with_headers


@cache_within(100_000)
def _parse_host_header(host: str) -> str:
    """Return the name in the Host header; empty if the header has more than a name and a port."""
    return "" if set(host) & set("@/\\?#") else _parse_host(f"//{host}")


def _parse_host(address: str) -> str:
    """Return the host name in an address without its port, or an empty string."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _do_nothing() -> None:
    """Do nothing, for callers who need not know that a code was used."""


def _is_first(_digest: str) -> bool:
    """Return True: without other workers, nobody else can have used a code."""
    return True


class _Code(NamedTuple):
    number: int
    expires_at: float
    is_used: bool = False


class SignInKeys:
    """Sign-in codes, and the keys they are exchanged for. Keys are signed, so every worker of a server recognises them.

    `on_exchange` is called when a code was used. `claim` tells whether a code was used by no other worker: all of them
    know the codes made before they were forked.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._codes: dict[str, _Code] = {}  # keyed by hash
        self._secret = secrets.token_bytes(32)
        self._lock = Lock()
        self.on_exchange: Callable[[], None] = _do_nothing
        self.claim: Callable[[str], bool] = _is_first

    def create_code(self) -> str:
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[hash_secret(code)] = _Code(len(self._codes) + 1, self._now() + CODE_LIFETIME_SECONDS)
        return code

    def exchange(self, code: str) -> str | None:
        """Return a new key for a code; None if the code was used, has expired or never existed."""
        digest = hash_secret(code)
        with self._lock:
            match = next((each for each in self._codes if hmac.compare_digest(each, digest)), "")
            entry = self._codes.get(match)
            if entry is None or entry.is_used or entry.expires_at < self._now():
                return None
            self._codes[match] = entry._replace(is_used=True)
        if not self.claim(match):
            return None
        self.on_exchange()
        name = f"{entry.number}.{secrets.token_urlsafe(32)}"
        return f"{KEY_PREFIX}{name}.{self._sign(name)}"

    def _sign(self, name: str) -> str:
        return hmac.new(self._secret, name.encode(), "sha256").hexdigest()

    def find_grant(self, secret: str) -> Grant | None:
        """Return the grant of a key: everything, as for the person who started the server."""
        if not secret.startswith(KEY_PREFIX) or not secret.isascii():
            return None
        name, _, signature = secret.removeprefix(KEY_PREFIX).rpartition(".")
        if not hmac.compare_digest(self._sign(name), signature):
            return None
        return Grant(f"page {name.partition('.')[0]}", is_person=True)


async def create_session(dispatcher: Dispatcher, request: Request, body: dict[str, str]) -> Response:
    code = body["code"]
    sign_ins = dispatcher.service.sign_ins
    address = address_of(request.scope)
    limit_sign_ins(sign_ins, address, code)
    key = dispatcher.exchange_code(code)
    if key is None:
        count_failed_sign_in(sign_ins, address, code)
        raise Problem(
            403, "this code was used, or is older than a minute: run `commonplace web` again, or give a token"
        )
    return make_response(Reply({"key": key}))


ENDPOINTS = [
    Endpoint(
        f"POST {SESSION_PATH}",
        None,
        "A key for a code that `commonplace web` put into the address; good for as long as the server runs.",
        body=closed_object({"code": plain_text("From the address.", min_length=1, max_length=200)}),
        responses={200: ResponseSpec("Send it as Authorization: Bearer.", object_of({"key": TEXT}))},
        respond=create_session,
        is_public=True,
        tag="access",
    ),
]
_HEADER = b"x-forwarded-for"


class ForwardedAddresses:
    """Middleware that sets the client address from the forwarding headers of trusted proxies."""

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        inner: Any = app  # uvicorn has types of its own for the same thing
        self._app: Any = ProxyHeadersMiddleware(inner, [*proxies])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": _check_header(scope["headers"])}
        await self._app(scope, receive, send)


def _check_header(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers with the forwarded addresses after the last invalid one.

    A proxy appends its own: who wrote anything before an invalid one is unknown.
    """
    values = [value for name, value in headers if name == _HEADER]
    if not values:
        return [*headers]
    addresses: list[str] = []
    for part in reversed(b",".join(values).decode("latin-1").split(",")):
        address = _parse_address(part.strip())
        if not address:
            break
        addresses.append(address)
    others = [header for header in headers if header[0] != _HEADER]
    return [*others, (_HEADER, ", ".join(reversed(addresses)).encode())] if addresses else others


def _parse_address(text: str) -> str:
    """Return the IP address in a text, which may have a port; empty if there is none."""
    host = text
    if text.startswith("["):
        host = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        host = text.partition(":")[0]
    try:
        return "" if "%" in host else str(ip_address(host))  # a zone may be any text
    except ValueError:
        return ""
