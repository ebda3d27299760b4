"""The MCP server: one for all revisions of the protocol, over standard input and output or as an HTTP application.

It lists and calls the tools of the catalog. A failed call is an answer, never a stack trace.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any, TypeVar, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.applications import Starlette

from ... import __version__, framing
from ...directive import introduce_server
from ...errors import CommonplaceError, InvalidArgument, NotFound, PageNotFound, Refused
from ...formats.json_text import replace_surrogates
from ...index.base import Progress, ignore_progress, report_progress_to
from ...memory import Memory
from ...server import service
from ...server.auth import CURRENT_GRANT, GRANT, UNRESTRICTED, Caller, ServerOptions
from ...server.metrics import Request
from ...server.service import MemoryService
from ...storage.history import coming_from
from ...storage.tokens import Grant, Outcome
from ...tools import catalog
from ...tools.define import EXTRAS
from ...toolsets import name_tools, spell_out
from ...tracing import span
from . import resources

Context = ServerRequestContext[Any, Any]
Params = TypeVar("Params")
Result = TypeVar("Result")
Handler = Callable[[Context, Params], Awaitable[Result]]
Message = SessionMessage | Exception
MAX_REQUEST_BYTES = 16 * 1024 * 1024  # a megabyte of text, however it is escaped
NO_SUBSCRIPTIONS = (
    "a server with several workers has no sessions to notify: open a stream (subscriptions/listen, since 2026-07-28), "
    "read GET /v1/changes, or start it without --workers"
)
STREAMS_SINCE = "2026-07-28"  # the first revision in which clients open a stream instead of subscribing
STRUCTURED_SINCE = "2025-06-18"  # the first revision of the protocol with structured content
MAX_REPEATED_CHARACTERS = 200  # a text up to this length is repeated whole in the summary
MAX_LISTED_NAMES = 5
_LIST_FIELDS = ("results", "matches", "skills", "channels", "keys")
_ROW_NAMES = ("citation", "key", "name")


class _Server(Server[Any]):
    """Gives clients that initialize a session the instructions, and announces that the list of resources may change."""

    def __init__(
        self, *arguments: Any, introduce: Callable[[Grant], str], has_sessions: bool = True, **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self._introduce = introduce
        self._has_sessions = has_sessions

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *others: Any, **more: Any
    ) -> InitializationOptions:
        changes = notification_options or NotificationOptions(resources_changed=True)
        options = super().create_initialization_options(changes, *others, **more)
        return options.model_copy(update={"instructions": self._introduce(CURRENT_GRANT.get())})

    def get_capabilities(self, *arguments: Any, **more: Any) -> types.ServerCapabilities:
        """Return the capabilities: only resources change, tools and prompts do not."""
        capabilities = super().get_capabilities(*arguments, **more)
        unchanging = {
            name: getattr(capabilities, name).model_copy(update={"list_changed": False})
            for name in ("tools", "prompts")
        }
        if not self._has_sessions and more.get("protocol_version") not in MODERN_PROTOCOL_VERSIONS:
            unchanging["resources"] = types.ResourcesCapability(subscribe=False, list_changed=False)
        return capabilities.model_copy(update=unchanging)


class McpServer:
    """Answers requests of MCP clients from one `MemoryService`; `server` is what the SDK runs."""

    def __init__(self, service: MemoryService) -> None:
        self.service = service
        self.subscriptions = resources.Subscriptions(service.watchers)
        # With several workers there are no sessions: the next request may reach a worker that does not know it.
        self._has_sessions = not service.options.worker_state
        self.server = _Server(
            "commonplace",
            version=__version__,
            title="commonplace",
            description="Memory for agents, in Markdown files",
            introduce=self._introduce,
            has_sessions=self._has_sessions,
            on_list_tools=self._list_tools,
            on_call_tool=self._with_audit(self._call_tool),
            on_list_resources=self._with_audit(self._list_resources, "resources/list"),
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._with_audit(self._read_resource, "resources/read"),
            on_subscribe_resource=self._with_audit(self._subscribe, "resources/subscribe"),
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._with_audit(self._get_prompt, "prompts/get"),
            on_completion=self._with_audit(self._complete, "completion/complete"),
        )
        self.server.add_request_handler("server/discover", types.RequestParams, self._discover)

    def _introduce(self, grant: Grant) -> str:
        """Return the instructions for a client: what each of the tools that it may call is for."""
        tools = name_tools(self.service.options.toolsets, self.service.unavailable_toolsets())
        served = [tool for tool in tools if tool.reads_only or grant.may_write]
        return introduce_server(served, reads_only=not grant.may_write)

    async def _discover(self, context: Context, _: Any) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=[*MODERN_PROTOCOL_VERSIONS],
            capabilities=self.server.get_capabilities(protocol_version=context.protocol_version),
            instructions=self._introduce(_grant_of(context)),
        )

    def _with_audit(self, handler: Handler[Params, Result], operation: str = "") -> Handler[Params, Result]:
        """Return a handler whose calls are recorded in the audit log; without an operation it calls a tool."""

        async def run(context: Context, params: Params) -> Result:
            outcome: Outcome = "abandoned"
            began = time.perf_counter()
            try:
                self._limit_rate(_grant_of(context))
                quota = self.service.quotas.apply(_grant_of(context).bucket)
                with span(operation or self._name_tool(params)), coming_from(_grant_of(context).origin), quota:
                    result = await handler(context, params)
                outcome = "error" if getattr(result, "is_error", False) else "ok"
                return result
            except Exception as error:
                is_refusal = isinstance(error, MCPError) and error.code != types.INTERNAL_ERROR
                outcome = "refused" if is_refusal else "error"
                raise
            finally:
                name = operation or self._name_tool(params)
                grant = _grant_of(context)
                seconds = time.perf_counter() - began
                self.service.count_request(Request(name, outcome, seconds, grant.token, _remote_of(context)))
                if grant.token:
                    await self._record_call(context, name, outcome)

        return run

    def _limit_rate(self, grant: Grant) -> None:
        """Raise MCPError if a token has used up the requests that it may make in a minute."""
        if seconds := self.service.rate_limiter.seconds_to_wait(grant.bucket):
            raise MCPError(types.INVALID_REQUEST, f"too many requests with this token: wait {math.ceil(seconds)} s")

    def _name_tool(self, params: Any) -> str:
        """Return the name of a tool for the audit log. An unknown name may be any text, and is not repeated."""
        known = [offer.name for offer in catalog.offers(spell_out(self.service.options.toolsets))]
        return params.name if params.name in known else "tools/call"

    async def _record_call(self, context: Context, operation: str, outcome: Outcome) -> None:
        headers = context.request.headers if context.request else None
        grant = _grant_of(context)
        await self.service.record_call(context.meta, headers, grant, operation, outcome, _remote_of(context))

    def _identify(self, context: Context) -> Caller:
        headers = context.request.headers if context.request else None
        with _protocol_errors():
            return self.service.options.identify(context.meta, headers, _grant_of(context))

    async def _open_memory(self, context: Context) -> Memory:
        caller = self._identify(context)
        with _protocol_errors(self.service.options.hide_location if context.request else str):
            return await self.service.open_memory(caller, _grant_of(context))

    async def _list_tools(self, context: Context, _: Any) -> types.ListToolsResult:
        memory = await self._open_memory(context)
        options = self.service.options
        return types.ListToolsResult(tools=list_tools(options, memory, context.protocol_version, _grant_of(context)))

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        memory = await self._open_memory(context)
        caller = self._identify(context)
        options = self.service.options
        require_tool(options, memory, _grant_of(context), params.name)
        progress = _progress_reporter(context)
        return await call_tool(self.service, memory, caller, params, context.protocol_version, progress)

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        memory = await self._open_memory(context)
        page = await _run_in_thread(resources.list_resources, memory, params.cursor if params else None)
        if context.protocol_version < STREAMS_SINCE and self._has_sessions:
            self.subscriptions.subscribe_to_list(context, memory)
        return page

    async def _list_templates(self, _context: Context, _: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            memory = await self._open_memory(context)
            contents = await _run_in_thread(
                resources.read_resource, memory, self._identify(context), _grant_of(context), params.uri
            )
        except MCPError as error:
            raise MCPError(error.code, error.message, {"uri": params.uri}) from error
        return types.ReadResourceResult(contents=[contents])

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        if not self._has_sessions:
            raise MCPError(types.METHOD_NOT_FOUND, NO_SUBSCRIPTIONS)
        self.subscriptions.subscribe(context, await self._open_memory(context), params.uri)
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self.subscriptions.unsubscribe(context, await self._open_memory(context), params.uri)
        return types.EmptyResult()

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        memory = await self._open_memory(context)
        await self._record_call(context, "subscriptions/listen", "ok")  # the stream may stay open for days
        return await self.subscriptions.listen(context, memory, params)

    async def _list_prompts(self, _context: Context, _: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=resources.PROMPTS)

    async def _get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        memory = await self._open_memory(context)
        caller = self._identify(context)
        grant = _grant_of(context)
        return await _run_in_thread(resources.get_prompt, memory, caller, grant, params.name, params.arguments or {})

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        memory = await self._open_memory(context)
        argument = params.argument
        completion = await _run_in_thread(resources.complete_argument, memory, argument.name, argument.value)
        return types.CompleteResult(completion=completion)

    def http_application(self, path: str) -> Starlette:
        """Return the streamable HTTP transport as an application. It is served behind middleware that has checked
        host names and origins already."""
        return self.server.streamable_http_app(
            streamable_http_path=path,
            max_request_body_size=MAX_REQUEST_BYTES,
            stateless_http=not self._has_sessions,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    async def run_stdio(self) -> None:
        async with stdio_server() as (incoming, outgoing):
            await self.service.answer_prompts()
            options = self.server.create_initialization_options()
            await self.server.run(RepairingStream(incoming, outgoing), outgoing, options)


def serve_stdio(options: ServerOptions) -> None:
    """Serve one client until it closes its side, then exit, even if a thread is still busy with a dropped request."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a blocking read of standard input ignores Python's own handler
    service = MemoryService(options)
    try:
        anyio.run(McpServer(service).run_stdio)
    except* (BrokenPipeError, ConnectionError):
        pass  # the client is gone
    finally:
        service.close()
    sys.stderr.flush()
    os._exit(0)


def _grant_of(context: Context) -> Grant:
    """Return what the caller may do: over HTTP what its token allows, over standard input everything."""
    return cast(Grant, context.request.scope[GRANT]) if context.request else UNRESTRICTED


def _remote_of(context: Context) -> str:
    """Return the address that a request comes from; empty over standard input."""
    return context.request.client.host if context.request and context.request.client else ""


def _progress_reporter(context: Context) -> Progress:
    """Return a function that reports the progress of long work from its thread, if the client asked for that."""
    if (context.meta or {}).get("progress_token") is None:
        return ignore_progress

    finished = 0  # steps of the tasks before this one: a client expects one number that only grows
    current: tuple[str, int] = ("", 0)

    def report(task: str, done: int, total: int) -> None:
        nonlocal finished, current
        if task != current[0]:
            finished += current[1]
        current = (task, total)
        message = f"{task}: {done} of {total}"
        anyio.from_thread.run(context.session.report_progress, finished + done, finished + total, message)

    return report


async def _run_in_thread(run: Callable[..., Result], *arguments: Any) -> Result:
    with _protocol_errors():
        return await anyio.to_thread.run_sync(partial(run, *arguments), abandon_on_cancel=True)


@contextmanager
def _protocol_errors(hide: Callable[[str], str] = str) -> Iterator[None]:
    """Turn errors into those of the protocol: what the client can correct, and what is the server's fault. `hide`
    removes from their sentences what is not for callers.
    """
    try:
        yield
    except (InvalidArgument, NotFound, Refused) as error:
        raise MCPError(types.INVALID_PARAMS, hide(str(error))) from error
    except CommonplaceError as error:
        raise MCPError(types.INTERNAL_ERROR, hide(str(error))) from error


class RepairingStream:
    """Wraps the incoming stream of the transport, and repairs messages with a lone surrogate: the SDK cannot parse
    them, and they would never be answered. Clients with UTF-16 text cut some in the middle of a character. What cannot
    be repaired is answered with an error.
    """

    def __init__(self, stream: Any, outgoing: Any) -> None:
        self._stream = stream
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:
        return self._stream.last_context

    async def receive(self) -> Message:
        return await self._repair(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> RepairingStream:
        return self

    async def __anext__(self) -> Message:
        return await self._repair(await self._stream.__anext__())

    async def _repair(self, message: Message) -> Message:
        repaired = repair_message(message)
        if isinstance(repaired, ValidationError) and (error := describe_malformed(repaired)):
            await self._outgoing.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
        return repaired

    async def __aenter__(self) -> RepairingStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def repair_message(message: Message) -> Message:
    if not isinstance(message, ValidationError):
        return message
    line = next((each["input"] for each in message.errors() if each["type"] == "json_invalid"), "")
    if not isinstance(line, str) or "\\ud" not in line.lower():
        return message
    try:
        repaired = replace_surrogates(json.dumps(json.loads(line), ensure_ascii=False))
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(repaired, by_name=False))
    except (ValueError, RecursionError):
        return message


def describe_malformed(problem: ValidationError) -> types.ErrorData | None:
    """Return the error that answers a line which is no message; None for a blank line."""
    invalid = next((each for each in problem.errors() if each["type"] == "json_invalid"), None)
    if invalid is None:
        return types.ErrorData(code=types.INVALID_REQUEST, message="this is not a message of JSON-RPC 2.0")
    if not str(invalid["input"]).strip():
        return None
    return types.ErrorData(code=types.PARSE_ERROR, message=f"this line is not JSON: {invalid['msg']}")


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

    Tools that the everyday selection does not list can be called: a client may know them from before.
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
    server: MemoryService,
    memory: Memory,
    caller: Caller,
    params: types.CallToolRequestParams,
    protocol: str,
    progress: Progress,
) -> types.CallToolResult:
    options = server.options
    toolsets = tuple(options.toolsets)
    call = partial(memory.attempt, params.name, params.arguments or {}, toolsets, session=caller.session)

    def run() -> catalog.Outcome:
        with report_progress_to(progress):
            return call()

    # A read is abandoned when its client goes away; a write is always finished.
    outcome = await server.run_work(run, abandon=catalog.only_reads(params.name, toolsets, memory.home))
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
    """Return what went wrong, in the toolset's own words, which do not name a missing page, and the warning."""
    error = str(outcome.error) if isinstance(outcome.error, PageNotFound) else outcome.reply.get("error", "")
    sentence = f"{error['code']}: {error['message']}" if isinstance(error, dict) else str(error)
    lines = (sentence, outcome.reply.get("warning", ""))
    return "\n".join(framing.quote_line(line) for line in lines if line)


def summarize(reply: dict[str, Any]) -> str:
    """Return a one-line summary of an answer, and a line per note, to go with its structured content."""
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
