"""A stream ends with what let it in: when a token is revoked, or its time is over, though nobody closes the stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CHECK = 2.0  # seconds from one look at a token to the next


async def while_it_holds(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, holds: Callable[[], Awaitable[bool]]
) -> None:
    """Answer a request. One whose answer has begun is ended as soon as it would not be let in any more."""
    has_begun = is_whole = False
    failure: Exception | None = None

    async def sent(message: Message) -> None:
        nonlocal has_begun, is_whole
        has_begun = True
        is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        await send(message)

    async with anyio.create_task_group() as group:

        async def look() -> None:
            while True:
                await anyio.sleep(_CHECK)
                if has_begun and not await holds():
                    group.cancel_scope.cancel()

        group.start_soon(look)
        try:
            await app(scope, receive, sent)
        except Exception as error:  # noqa: BLE001  raised again below: a group would wrap it
            failure = error
        group.cancel_scope.cancel()
    if failure:
        raise failure
    if has_begun and not is_whole:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
