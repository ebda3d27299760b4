"""The tools of the catalog, as MCP lists and calls them. A failed call is an answer, never a stack trace."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from ... import framing
from ...errors import PageNotFound
from ...index.base import Progress, report_progress_to
from ...memory import Memory
from ...server import service
from ...server.sessions import Caller, ServerOptions
from ...storage.tokens import Grant
from ...tools import catalog
from ...tools.define import EXTRAS
from ...toolsets import spell_out

STRUCTURED_SINCE = "2025-06-18"  # the first revision of the protocol with structured content
MAX_REPEATED_CHARACTERS = 200  # a text up to this length is repeated whole in the summary
MAX_LISTED_NAMES = 5
_LIST_FIELDS = ("results", "matches", "skills", "channels", "keys")
_ROW_NAMES = ("citation", "key", "name")


def is_structured(options: ServerOptions, protocol: str) -> bool:
    """Return whether answers have structured content: not if the client's protocol is too old, unless asked for."""
    return options.answers == "structured" or (options.answers != "text" and protocol >= STRUCTURED_SINCE)


def list_tools(options: ServerOptions, memory: Memory, protocol: str, grant: Grant) -> list[types.Tool]:
    """Return the tools that the caller may call."""
    tools = service.list_tools(grant, options.toolsets, memory.home)
    if not is_structured(options, protocol):
        tools = [{name: value for name, value in tool.items() if name != "outputSchema"} for tool in tools]
    return [types.Tool.model_validate(tool) for tool in tools]


def require_tool(options: ServerOptions, memory: Memory, grant: Grant, name: str) -> None:
    """Raise MCPError for a tool that is not served, or that this caller may not call.

    What the everyday selection leaves out of the list can be called: a client may know it from before.
    """
    names = [offer.name for offer in catalog.offers(options.toolsets, memory.home)]
    if name not in names and name not in {
        offer.name for offer in catalog.offers(spell_out(options.toolsets), memory.home)
    }:
        allowed = [each for each in names if service.may_call(grant, each, options.toolsets, memory.home)]
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}. There are {', '.join(allowed)}")
    if not service.may_call(grant, name, options.toolsets, memory.home):
        raise MCPError(types.INVALID_PARAMS, f"this token only reads, and {name} may write: ask for one that writes")


async def call_tool(
    options: ServerOptions,
    memory: Memory,
    caller: Caller,
    params: types.CallToolRequestParams,
    protocol: str,
    progress: Progress,
) -> types.CallToolResult:
    toolsets = tuple(options.toolsets)
    call = partial(memory.attempt, params.name, params.arguments or {}, toolsets, session=caller.session)

    def run() -> catalog.Outcome:
        with report_progress_to(progress):
            return call()

    # A read is abandoned when its client goes away; a write is always finished.
    outcome = await anyio.to_thread.run_sync(
        run, abandon_on_cancel=catalog.only_reads(params.name, toolsets, memory.home)
    )
    if not is_structured(options, protocol):
        text = framing.to_json(outcome.reply)
        return types.CallToolResult(content=_text_content(text), is_error=outcome.error is not None)
    if outcome.error:
        # No structured content: some clients check errors against the output schema too, and drop the message.
        return types.CallToolResult(content=_text_content(describe_error(outcome)), is_error=True)
    # Many clients pass only the text to their model: it has the whole answer.
    text = summarize(outcome.reply) if options.answers == "short" else framing.to_json(outcome.reply)
    return types.CallToolResult(content=_text_content(text), structured_content=outcome.reply)


def _text_content(text: str) -> list[types.ContentBlock]:
    return [types.TextContent(type="text", text=text)]


def describe_error(outcome: catalog.Outcome) -> str:
    """Return what went wrong, in the toolset's own words; of a missing page they do not say which one it is."""
    if isinstance(outcome.error, PageNotFound):
        return framing.quote_line(str(outcome.error))
    error = outcome.reply.get("error", "")
    return framing.quote_line(f"{error['code']}: {error['message']}" if isinstance(error, dict) else str(error))


def summarize(reply: dict[str, Any]) -> str:
    """Return an answer in a line, and one for each note, beside its structured content: what it is, not all of it."""
    data = reply["data"] if isinstance(reply.get("data"), dict) else reply
    summary = _summarize_list(data) or _summarize_text(data) or _summarize_write(data) or "Done."
    notes = [reply.get(name, "") for name in EXTRAS.fields]
    return "\n".join(framing.quote_line(part) for part in (summary, *notes) if part)


def _summarize_list(data: dict[str, Any]) -> str:
    field = next((name for name in _LIST_FIELDS if isinstance(data.get(name), list)), "")
    if not field:
        return ""
    rows = data[field]
    names = [row if isinstance(row, str) else _row_name(row) for row in rows[:MAX_LISTED_NAMES]]
    more = ", …" if len(rows) > MAX_LISTED_NAMES else ""
    return f"{field} ({len(rows)}){': ' if rows else ''}{', '.join(names)}{more}"


def _row_name(row: dict[str, Any]) -> str:
    return next((str(row[name]) for name in _ROW_NAMES if row.get(name)), "?")


def _summarize_text(data: dict[str, Any]) -> str:
    text = next((data[name] for name in ("message", "content", "text") if isinstance(data.get(name), str)), None)
    if text is None:
        return ""
    where = data.get("path") or data.get("key") or "memory"
    return text if 0 < len(text) <= MAX_REPEATED_CHARACTERS else f"{where}: {len(text):,} characters"


def _summarize_write(data: dict[str, Any]) -> str:
    where = [str(data[name]) for name in ("key", "name", "path") if data.get(name)]
    return f"Done: {', '.join(where)}" if where else ""
