"""Requests as they come. One with half a character in it is read again: unread, it would never be answered.

Clients whose texts are UTF-16 cut some in the middle of a character, and JSON lets them say so.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ...formats.json_text import whole_characters

Message = SessionMessage | Exception


class Incoming:
    """A stream of what a client sends, around that of the transport."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def last_context(self) -> Any:
        return self._stream.last_context

    async def receive(self) -> Message:
        return read_again(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> Message:
        return read_again(await self._stream.__anext__())

    async def __aenter__(self) -> Incoming:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def read_again(message: Message) -> Message:
    if not isinstance(message, ValidationError):
        return message
    line = next((each["input"] for each in message.errors() if each["type"] == "json_invalid"), "")
    if not isinstance(line, str) or "\\ud" not in line.lower():
        return message
    try:
        whole = whole_characters(json.dumps(json.loads(line), ensure_ascii=False))
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except (ValueError, RecursionError):
        return message
