"""The tools of the catalog, as MCP lists and calls them. What a caller does wrong is an answer, never a stack trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from ...index.base import Progress, report_progress_to
from ...memory import Memory
from ...server.sessions import Asker, Serving
from ...storage.tokens import Grant
from ...tools import catalog
from ...tools import schemas as shapes
from .summaries import in_full, in_short

_STRUCTURED_SINCE = "2025-06-18"  # the revision of the protocol that knows structured content


def is_structured(serving: Serving, protocol: str) -> bool:
    return serving.answers == "structured" or (serving.answers == "auto" and protocol >= _STRUCTURED_SINCE)


def listed(serving: Serving, memory: Memory, protocol: str, grant: Grant) -> list[types.Tool]:
    """The tools that are served, as far as the caller may call them."""
    described = shapes.describe("mcp", serving.toolsets, memory.home)
    described = [tool for tool in described if _may_call(serving, grant, tool["name"])]
    if not is_structured(serving, protocol):
        described = [{name: value for name, value in tool.items() if name != "outputSchema"} for tool in described]
    return [types.Tool.model_validate(tool) for tool in described]


def allowed(serving: Serving, memory: Memory, grant: Grant, name: str) -> None:
    """MCPError for a tool that is not served, or that this caller may not call."""
    names = [offer.name for offer in catalog.offers(serving.toolsets, memory.home)]
    if name not in names:
        usable = [each for each in names if _may_call(serving, grant, each)]
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}. There are {', '.join(usable)}")
    if not _may_call(serving, grant, name):
        raise MCPError(types.INVALID_PARAMS, f"this token only reads, and {name} may write: ask for one that writes")


def _may_call(serving: Serving, grant: Grant, name: str) -> bool:
    return grant.may_write or _only_reads(serving, name)


def _only_reads(serving: Serving, name: str) -> bool:
    return catalog.only_reads(name, tuple(serving.toolsets))


async def called(
    serving: Serving, memory: Memory, asker: Asker, params: types.CallToolRequestParams, protocol: str, tell: Progress
) -> types.CallToolResult:
    call = partial(memory.attempt, params.name, params.arguments or {}, tuple(serving.toolsets), session=asker.session)
    # A client that went away does not wait for an answer; what it wrote is written whole all the same.
    reads = _only_reads(serving, params.name)
    outcome = await anyio.to_thread.run_sync(_watched(call, tell), abandon_on_cancel=reads)
    if not is_structured(serving, protocol):
        return types.CallToolResult(content=_text(in_full(outcome.reply)), is_error=outcome.error is not None)
    if outcome.error:
        # The output schema is of answers. There are clients that check a refusal against it too, and lose the sentence.
        return types.CallToolResult(content=_text(sentence(outcome)), is_error=True)
    return types.CallToolResult(content=_text(in_short(outcome.reply)), structured_content=outcome.reply)


def _text(text: str) -> list[types.ContentBlock]:
    return [types.TextContent(type="text", text=text)]


def sentence(outcome: catalog.Outcome) -> str:
    """What went wrong, in the words of the toolset where those say enough."""
    told = outcome.reply.get("error", "")
    if isinstance(told, dict):
        return f"{told['code']}: {told['message']}"
    return str(outcome.error) if str(told).lower() == "not found" else str(told)


def _watched(call: Callable[[], catalog.Outcome], tell: Progress) -> Callable[[], catalog.Outcome]:
    def run() -> catalog.Outcome:
        with report_progress_to(tell):
            return call()

    return run
