"""Streams end when their token does; forwarding headers count only as far as they hold addresses."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from commonplace import Memory
from commonplace.formats.timestamps import format_timestamp
from commonplace.home import utc_now
from commonplace.server.auth import ServerOptions
from commonplace.server.rate_limits import FAILURES_PER_MINUTE
from commonplace.storage.base import TokenStore, open_tokens
from commonplace.storage.tokens import create_token
from commonplace.surfaces.application import build_application
from commonplace.surfaces.http import auth
from commonplace.surfaces.http.auth import AccessRules, ForwardedAddresses, SignInKeys
from commonplace.surfaces.mcp import resources

from ...waiting import LONG_SECONDS
from ..web import ERA, Web
from .api import Api, api

NOW = datetime.now(UTC)


@pytest.fixture
def access(home: Path) -> TokenStore:
    Memory(home).call("remember", {"content": "Ann prefers rooibos."})
    return open_tokens(str(home))


@pytest.fixture
def address(home: Path, access: TokenStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that looks at its tokens often."""
    monkeypatch.setattr(auth, "TOKEN_CHECK_SECONDS", 0.05)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        build_application(ServerOptions(str(home)), AccessRules()), log_level="error", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(LONG_SECONDS)


def listening_at(address: str, secret: str) -> Any:
    """A stream of the newer era: what is asked for comes on it until somebody ends it."""
    meta = {"io.modelcontextprotocol/protocolVersion": ERA, "io.modelcontextprotocol/clientCapabilities": {}}
    request = {"notifications": {"resourcesListChanged": True}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": request}
    headers = Web(None, secret).headers("subscriptions/listen")  # type: ignore[arg-type]
    return httpx.stream("POST", f"{address}/mcp", content=json.dumps(body), headers=headers, timeout=LONG_SECONDS)


def start_session(address: str, secret: str) -> dict[str, str]:
    """The headers of a session of the handshake era."""
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    request = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": request}
    shaken = httpx.post(f"{address}/mcp", json=body, headers=headers, timeout=LONG_SECONDS)
    assert shaken.status_code == 200
    return headers | {"Mcp-Session-Id": shaken.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}


def earlier_stream(address: str, secret: str) -> Any:
    """A stream of the handshake era, on which a client hears of what it subscribed to."""
    return httpx.stream("GET", f"{address}/mcp", headers=start_session(address, secret), timeout=LONG_SECONDS)


def subscribe(address: str, headers: dict[str, str], uri: str) -> None:
    body = {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": uri}}
    assert httpx.post(f"{address}/mcp", json=body, headers=headers, timeout=LONG_SECONDS).status_code == 200


@pytest.mark.parametrize("opened", [listening_at, earlier_stream])
def test_a_stream_ends_when_its_token_is_revoked(address: str, access: TokenStore, opened: Any) -> None:
    token, secret = create_token(access, NOW, agents=None, role="read")
    _, other = create_token(access, NOW, agents=None, role="read")
    with opened(address, secret) as stream, opened(address, other) as beside:
        assert stream.status_code == beside.status_code == 200
        access.revoke(token.id, format_timestamp(NOW))
        for _ in stream.iter_raw():
            pass  # it comes to its end, and not by a failure
        assert not beside.is_closed
        assert not beside.is_stream_consumed


def test_one_token_does_not_end_the_subscriptions_of_another(
    address: str, access: TokenStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "MAX_CLIENTS", 3)
    uri = "commonplace://page/memory/world/tea.md"
    _, secret = create_token(access, NOW, agents=["ann"], role="read")
    _, others = create_token(access, NOW, agents=["bob"], role="read")
    session = start_session(address, secret)
    subscribe(address, session, uri)
    for _ in range(5):
        subscribe(address, start_session(address, others), uri)
    with httpx.stream("GET", f"{address}/mcp", headers=session, timeout=LONG_SECONDS) as stream:
        assert stream.status_code == 200
        with Memory(home) as memory:
            memory.call("update_world", {"topic": "tea", "content": "Ann prefers rooibos.\n"})
        assert any(uri in line for line in stream.iter_lines())


def test_one_token_takes_no_more_than_its_share_of_streams(
    address: str, access: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "MAX_OPEN_REQUESTS", 2)
    _, secret = create_token(access, NOW, agents=None, role="read")
    _, other = create_token(access, NOW, agents=None, role="read")
    with earlier_stream(address, secret) as first, listening_at(address, secret) as second:
        assert first.status_code == second.status_code == 200
        refused = httpx.get(f"{address}/v1/status", headers={"Authorization": f"Bearer {secret}"})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert "has 2 requests and streams open: end some first" in refused.json()["detail"]
        with listening_at(address, other) as beside:
            assert beside.status_code == 200


def test_a_stream_ends_when_the_time_of_its_token_is_over(
    address: str, access: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from commonplace.server import auth

    _, secret = create_token(access, NOW, agents=None, role="read", days=1)
    with listening_at(address, secret) as stream:
        assert stream.status_code == 200
        real = auth.verify_token
        later = NOW + timedelta(days=2)
        monkeypatch.setattr(auth, "verify_token", lambda tokens, secret, now: real(tokens, secret, later))
        for _ in stream.iter_raw():
            pass


def test_a_stream_whose_token_holds_goes_on(address: str, access: TokenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from commonplace.server import auth

    token, secret = create_token(access, NOW, agents=None, role="read")
    looks, many, real = list[bool](), threading.Event(), auth.verify_token

    def look(*arguments: Any) -> Any:
        result = real(*arguments)
        looks.append(result is not None)
        if len(looks) == 10:
            many.set()
        return result

    monkeypatch.setattr(auth, "verify_token", look)
    with listening_at(address, secret) as stream:
        assert many.wait(LONG_SECONDS), "it is looked at again and again"
        assert all(looks)
        access.revoke(token.id, format_timestamp(NOW))
        for _ in stream.iter_raw():
            pass
    assert not looks[-1]


PROXIES = ("127.0.0.1", "10.0.0.0/8")


def find_client(peer: str, *values: bytes) -> str:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"])

    headers = [(b"host", b"localhost"), *((b"x-forwarded-for", value) for value in values)]
    scope = {"type": "http", "client": (peer, 1234), "headers": headers, "scheme": "http"}
    asyncio.run(ForwardedAddresses(app, PROXIES)(scope, None, None))  # type: ignore[arg-type]
    host: str = seen[0][0]
    return host


@pytest.mark.parametrize(
    ("values", "client"),
    [
        ([b"203.0.113.7"], "203.0.113.7"),
        ([b"198.51.100.1, 203.0.113.7, 10.1.1.1"], "203.0.113.7"),
        ([b"203.0.113.7:4711"], "203.0.113.7"),
        ([b"[2001:DB8::1]:443"], "2001:db8::1"),
        ([b"2001:db8::1"], "2001:db8::1"),
        ([b"198.51.100.1", b"203.0.113.7"], "203.0.113.7"),
    ],
)
def test_the_last_address_that_is_no_proxy_asks(values: list[bytes], client: str) -> None:
    assert find_client("127.0.0.1", *values) == client


@pytest.mark.parametrize(
    "text",
    [
        b'x", "token": "admin',
        b"$(touch /tmp/x)",
        b"unknown",
        b"_hidden",
        b"",
        b",",
        b"::1%<script>",
        b"[::1%eth0]:80",
        b"[nonsense",
        b"256.1.1.1",
        b"localhost",
        b"1.2.3.4 5.6.7.8",
        "１.2.3.4".encode(),
        b"9" * 5000,
    ],
)
def test_what_is_no_address_is_never_who_asks(text: bytes) -> None:
    assert find_client("127.0.0.1", text) == "127.0.0.1"
    assert find_client("127.0.0.1", text + b", 10.2.2.2") == "10.2.2.2"
    assert find_client("127.0.0.1", text + b", 203.0.113.7, 10.2.2.2") == "203.0.113.7"


def test_from_everybody_else_the_header_is_ignored() -> None:
    assert find_client("203.0.113.9", b"198.51.100.1") == "203.0.113.9"


# Whoever guesses at tokens or codes is answered with 429, at every place that takes one.


RULES = AccessRules(token="right", metrics_token="scraper")


@pytest.fixture
def memory(home: Path) -> Path:
    Memory(home).call("remember", {"content": "The sea is blue."})
    return home


def stand_still() -> float:
    """The time of a server that refills nothing, however long its requests take."""
    return 100.0


def guess(caller: Api, path: str, secret: str) -> httpx.Response:
    if path == "/v1/session":
        return caller.client.post(path, json={"code": secret})
    return caller.client.get(path, headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.parametrize("path", ["/v1/status", "/v1/homes", "/v1/session", "/metrics", "/mcp", "/v1/unknown"])
def test_whoever_guesses_waits_whatever_is_guessed_at(memory: Path, path: str) -> None:
    with api(memory, RULES, elapsed=stand_still) as caller:
        statuses = {guess(caller, path, f"guess-{number}").status_code for number in range(FAILURES_PER_MINUTE)}
        assert statuses == {403 if path == "/v1/session" else 401}
        refused = guess(caller, path, "another")
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        for right, place in (("right", "/v1/status"), ("right", "/v1/homes"), ("scraper", "/metrics")):
            assert guess(caller, place, right).status_code == 429  # or guessing would go on


def test_whoever_is_in_stays_in_while_others_at_the_address_guess(memory: Path) -> None:
    store = open_tokens(str(memory))
    secret = create_token(store, utc_now(), agents=None, role="read")[1]
    store.close()
    keys = SignInKeys()
    code = keys.create_code()
    with api(memory, RULES, keys, elapsed=stand_still) as caller:
        key = caller.client.post("/v1/session", json={"code": code}).json()["key"]
        valid = [(secret, "/v1/status"), (key, "/v1/status"), ("right", "/v1/homes"), ("scraper", "/metrics")]
        assert [guess(caller, path, each).status_code for each, path in valid] == [200] * 4
        for number in range(FAILURES_PER_MINUTE):
            guess(caller, "/v1/status", f"guess-{number}")
        assert guess(caller, "/v1/status", "another").status_code == 429
        assert [guess(caller, path, each).status_code for each, path in valid] == [200] * 4
        assert caller.client.get("/healthz").status_code == 200


def test_a_valid_token_lets_its_holder_in_for_the_first_time_while_others_at_the_address_guess(memory: Path) -> None:
    store = open_tokens(str(memory))
    secret = create_token(store, utc_now(), agents=None, role="read")[1]
    store.close()
    keys = SignInKeys()
    code = keys.create_code()
    long_tokens = AccessRules(token="right" * 8, metrics_token="scraper" * 8)
    with api(memory, long_tokens, keys, elapsed=stand_still) as caller:
        for number in range(2 * FAILURES_PER_MINUTE):
            last = guess(caller, "/v1/status", f"cpl_{number:043}")
        assert last.status_code == 429  # a wrong one is checked, and its sender waits
        assert int(last.headers["retry-after"]) >= 1
        assert guess(caller, "/v1/session", "c" * 43).status_code == 429
        key = guess(caller, "/v1/session", code).json()["key"]
        valid = [(secret, "/v1/status"), (key, "/v1/status"), (secret, "/v1/homes"), ("right" * 8, "/v1/status")]
        assert [guess(caller, path, each).status_code for each, path in valid] == [200] * 4
        assert guess(caller, "/metrics", "scraper" * 8).status_code == 200


def test_requests_without_a_token_and_any_to_an_open_memory_are_never_limited(memory: Path) -> None:
    with api(memory) as caller:
        statuses = {guess(caller, "/v1/status", f"x{number}").status_code for number in range(FAILURES_PER_MINUTE + 5)}
        assert statuses == {200}
    with api(memory, RULES) as caller:
        statuses = {caller.client.get("/v1/status").status_code for _ in range(FAILURES_PER_MINUTE + 5)}
        assert statuses == {401}
        assert guess(caller, "/v1/status", "right").status_code == 200
