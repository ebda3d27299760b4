"""Who asks behind a proxy: the header X-Forwarded-For of proxies that the operator trusts, as far as it has addresses.

Everything else in it may be any text that a caller made up, and would go into logs and limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

_HEADER = b"x-forwarded-for"


class ForwardedAddresses:
    """Middleware that sets who asks, by the forwarding headers of trusted proxies."""

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        inner: Any = app  # uvicorn has types of its own for the same thing
        self._app: Any = ProxyHeadersMiddleware(inner, [*proxies])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": _check_header(scope["headers"])}
        await self._app(scope, receive, send)


def _check_header(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers, with forwarded addresses only as far as all of them, from the last one backwards, are valid.

    A proxy adds its own at the end: who wrote something before an invalid one is not known.
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
