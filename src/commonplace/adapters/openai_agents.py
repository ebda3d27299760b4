"""The OpenAI Agents SDK: memory's tools for an agent, and a session that keeps the conversation in the home.

A session is a transcript, one JSON line per item, at `agents/AGENT/sessions/SESSION.jsonl`: what was said there can be
searched like the rest of memory, if `memorySearch.indexSessions` is on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ..errors import InvalidArgument, NotInstalled, PageNotFound
from ..formats.json_text import is_unicode
from ..memory import Memory
from ..storage.names import file_name
from ..tools.schemas import strict_schema
from ..toolsets import EVERYDAY
from ..writing import Writer
from . import Function, functions

try:
    from agents import FunctionTool, TResponseInputItem
    from agents.memory import SessionSettings
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
    from agents.tool_context import ToolContext
except ImportError as error:
    raise NotInstalled("the OpenAI Agents SDK", "openai-agents") from error

logger = logging.getLogger(__name__)
_Result = TypeVar("_Result")


def function_tools(memory: Memory, toolsets: Sequence[str] = EVERYDAY) -> list[FunctionTool]:
    """Return the tools of some toolsets, for `Agent(tools=...)`. All are strict; a call runs in a thread of its own."""
    return [_function_tool(each) for each in functions(memory, toolsets)]


def _function_tool(function: Function) -> FunctionTool:
    async def invoke(_context: ToolContext[Any], arguments: str) -> str:
        def call() -> str:
            return function(arguments)

        return await _run_to_end(call)

    return FunctionTool(
        name=function.name,
        description=function.description,
        params_json_schema=strict_schema(function.tool.parameters),
        on_invoke_tool=invoke,
        strict_json_schema=True,
    )


class CommonplaceSession:
    """A conversation of a memory's agent, as `Runner.run(..., session=...)` takes it. Items come back as they went in.

    Any number of sessions may be open on one conversation, in any number of processes: none loses what another adds.
    """

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(session_id, str) or not session_id or not is_unicode(session_id):
            raise InvalidArgument(f"a session is named by text, not {session_id!a}: give one like 'chat-1'")
        self.session_id = session_id
        self.session_settings: SessionSettings | None = coerce_session_settings(session_settings or SessionSettings())
        self._home = memory.home
        self.path = f"{self._home.layout.sessions_folder(self._home.agent)}/{file_name(session_id)}.jsonl"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the conversation, or its last items; `session_settings` give the limit if `limit` does not."""
        limit = resolve_session_limit(limit, self.session_settings)
        transcript = self._home.storage.open_transcript(self.path)
        return await asyncio.to_thread(transcript.items, limit if limit is None or limit >= 0 else None)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items durably. HoldsSecret, and nothing appended, where the settings refuse secrets."""

        def append() -> None:
            with self._call("add_items") as writer:
                writer.append_transcript(self.path, items)

        await _run_to_end(append)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it; None when there is none."""

        def pop() -> TResponseInputItem | None:
            with self._call("pop_item") as writer:
                item: TResponseInputItem | None = writer.pop_transcript(self.path)
            return item

        return await _run_to_end(pop)

    async def clear_session(self) -> None:
        """Remove the conversation. History keeps it as it was, so that `commonplace undo` brings it back."""

        def clear() -> None:
            with suppress(PageNotFound), self._call("clear_session") as writer:
                writer.remove(self.path)

        await _run_to_end(clear)

    @contextmanager
    def _call(self, tool: str) -> Iterator[Writer]:
        """Write as one call of a tool, and log the warnings: the SDK has no place for them."""
        writer = self._home.writer
        with writer.call(tool, session=self.session_id) as write:
            yield writer
        for sentence in write.warnings:
            logger.warning(sentence)


async def _run_to_end(work: Callable[[], _Result]) -> _Result:
    """Run work in a thread, to its end even if the caller is cancelled: a write is never left half awaited."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        task.exception()  # retrieved, so that asyncio does not warn about it
        raise
