"""How much a request may bring, how long it may take to bring it, and how long an answer may take."""

from __future__ import annotations

import anyio
from starlette.requests import ClientDisconnect, Request

from .problems import Problem

LARGEST = 8 * 1024 * 1024  # bytes of a body
LONGEST_ADDRESS = 64 * 1024  # bytes of a path with its query
PATIENCE = 20.0  # seconds for a body to arrive
DEADLINE = 60.0  # seconds for an answer that only reads


async def body_of(request: Request) -> bytes:
    """The body; Problem for one that is too large, by what it says or by what comes, and for one that is too slow."""
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem(415, "send the body as it is: a packed one may be of any size", {"Accept-Encoding": "identity"})
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > LARGEST:
        raise _too_large()
    parts: list[bytes] = []
    size = 0
    with anyio.move_on_after(PATIENCE) as waited:
        try:
            async for part in request.stream():
                size += len(part)
                if size > LARGEST:
                    raise _too_large()
                parts.append(part)
        except ClientDisconnect:
            raise Problem(400, "the connection ended before the body did") from None
    if waited.cancelled_caught:
        raise Problem(
            408, f"the body did not arrive within {PATIENCE:g} seconds: send it at once", {"Connection": "close"}
        )
    return b"".join(parts)


def _too_large() -> Problem:
    return Problem(413, f"a request brings at most {LARGEST:,} bytes: send less", {"Connection": "close"})
