"""Behind a proxy that is trusted, its header says who asks; but only an address is one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from commonplace.surfaces.http.proxies import ForwardedAddresses

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
