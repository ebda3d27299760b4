"""Ends open streams when the token that opened them is revoked or expires."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHECK_SECONDS = 2.0


async def run_while_valid(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, is_valid: Callable[[], Awaitable[bool]]
) -> None:
    """Answer a request. Once the answer has begun, end it as soon as `is_valid` says no."""
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
                await anyio.sleep(CHECK_SECONDS)
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
