"""The OpenAI Agents SDK: memory's tools for an agent, and a session that keeps the conversation in the home.

A session is a transcript, one JSON line an item, at `agents/AGENT/sessions/SESSION.jsonl`: what was said there can be
searched like the rest of memory, where the settings have `memorySearch.indexSessions`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from ..errors import InvalidArgument, NotInstalled, PageNotFound
from ..formats.json_text import is_unicode
from ..memory import Memory
from ..storage.names import file_name
from ..tools.catalog import EVERYDAY
from ..tools.schemas import strict_schema
from . import Function, functions

try:
    from agents import FunctionTool, TResponseInputItem
    from agents.memory import SessionSettings
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
    from agents.tool_context import ToolContext
except ImportError as error:
    raise NotInstalled("the OpenAI Agents SDK", "openai-agents") from error

_Result = TypeVar("_Result")


def function_tools(memory: Memory, toolsets: Sequence[str] = EVERYDAY) -> list[FunctionTool]:
    """The tools of some toolsets, for `Agent(tools=...)`. All are strict; a call runs in a thread of its own."""
    return [_function_tool(each) for each in functions(memory, toolsets)]


def _function_tool(function: Function) -> FunctionTool:
    async def invoke(_context: ToolContext[Any], arguments: str) -> str:
        return await _run_to_end(lambda: function(arguments))

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
        self.path = f"{self._home.layout.agent_folder(self._home.agent)}/sessions/{file_name(session_id)}.jsonl"
        self._transcript = self._home.storage.open_transcript(self.path)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the conversation, or its last items; `session_settings` give the limit if `limit` does not."""
        limit = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self._transcript.items, limit if limit is None or limit >= 0 else None)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items durably."""
        await _run_to_end(lambda: self._change(lambda: self._transcript.add(items)))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it; None when there is none."""
        item: TResponseInputItem | None = await _run_to_end(lambda: self._change(self._transcript.pop))
        return item

    async def clear_session(self) -> None:
        """Remove the conversation. History keeps it as it was, so that `commonplace undo` brings it back."""
        await _run_to_end(self._clear)

    def _clear(self) -> None:
        with suppress(PageNotFound), self._home.writer.call("clear_session", session=self.session_id):
            self._home.writer.remove(self.path)

    def _change(self, change: Callable[[], _Result]) -> _Result:
        result = change()
        if index := self._home.index_if_open:  # else the first search looks at the pages anyway
            index.invalidate()
        return result


async def _run_to_end(work: Callable[[], _Result]) -> _Result:
    """Run work in a thread, to its end even if the caller is cancelled: a write is never left half awaited."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        task.exception()  # retrieved, so that asyncio does not warn about it
        raise
