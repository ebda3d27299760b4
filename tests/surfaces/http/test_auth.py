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
from commonplace.server.auth import ServerOptions
from commonplace.storage.base import TokenStore, open_tokens
from commonplace.storage.tokens import create_token
from commonplace.surfaces.application import build_application
from commonplace.surfaces.http import auth
from commonplace.surfaces.http.auth import AccessRules, ForwardedAddresses

from ...waiting import LONG_SECONDS
from ..web import ERA, Web

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


def earlier_stream(address: str, secret: str) -> Any:
    """A stream of the handshake era, on which a client hears of what it subscribed to."""
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    request = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": request}
    shaken = httpx.post(f"{address}/mcp", json=body, headers=headers, timeout=LONG_SECONDS)
    assert shaken.status_code == 200
    session = {"Mcp-Session-Id": shaken.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    return httpx.stream("GET", f"{address}/mcp", headers=headers | session, timeout=LONG_SECONDS)


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
