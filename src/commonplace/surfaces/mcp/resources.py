"""Resources and prompts: what a person attaches to a conversation, or a client reads by itself; and subscriptions.

commonplace://page/{+path}                                         one page, as it is
commonplace://context{?user,channel,budget,query,only_approved}    what a model should read first
commonplace://receipt{?user,channel,budget,query,only_approved}    what went into that, and what was cut

Clients that subscribe are notified of changed pages, each of those that its agent may see.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from ... import context as prompt_context
from ...errors import InvalidArgument, PageNotFound
from ...framing import introduce, quote_line
from ...framing.limits import fit_page
from ...framing.recall import name_read_call
from ...index.watcher import PageChanges
from ...memory import Memory
from ...schema import TEXT, Schema, check, closed_object
from ...server.auth import GRANT, Caller
from ...server.notifications import HomeWatchers
from ...server.service import format_cursor, parse_cursor
from ...storage.tokens import Grant
from ...tools.retrieval import whole_page

SCHEME = "commonplace"
PAGE = f"{SCHEME}://page"
CONTEXT = f"{SCHEME}://context"
RECEIPT = f"{SCHEME}://receipt"
RESOURCES_PER_PAGE = 500
MAX_CLIENTS = 1000
MAX_SUBSCRIPTIONS = 1000  # per client
SEND_TIMEOUT_SECONDS = 5.0  # a client that does not read must not hold up the others
MAX_COMPLETIONS = 100  # set by the protocol
RequestContext = ServerRequestContext[Any, Any]
ClientKey = tuple[str, str, str]  # session, home and agent
_MARKDOWN = "text/markdown"
_JSON = "application/json"
_JSON_LINES = "application/x-ndjson"
_BUDGET: Schema = {"type": "string", "pattern": "^[0-9]{0,12}$", "description": "use a whole number of tokens"}
_FLAG: Schema = {"type": "string", "enum": ["true", "false", ""]}
_CONTEXT_SCHEMA = closed_object(user=TEXT, channel=TEXT, budget=_BUDGET, query=TEXT, only_approved=_FLAG)
_CONTEXT_PARAMETERS = f"{{?{','.join(_CONTEXT_SCHEMA['properties'])}}}"
TEMPLATES = [
    types.ResourceTemplate(
        name="page",
        title="A page of memory",
        uri_template=f"{PAGE}/{{+path}}",
        description="A page by its path, as search results name it.",
    ),
    types.ResourceTemplate(
        name="context",
        title="Memory for a prompt",
        uri_template=f"{CONTEXT}{_CONTEXT_PARAMETERS}",
        description="What a model should read first: for a user, in a channel, within some tokens, on a question. "
        "With only_approved=true, nothing but what a person wrote or approved.",
        mime_type=_MARKDOWN,
    ),
    types.ResourceTemplate(
        name="receipt",
        title="Receipt of the prompt memory",
        uri_template=f"{RECEIPT}{_CONTEXT_PARAMETERS}",
        description="What went into the context for the same request, what was cut, and why.",
        mime_type=_JSON,
    ),
]


RECALL = types.Prompt(
    name="recall",
    title="Recall from memory",
    description="Add to the conversation what memory knows, about a topic or in general.",
    arguments=[
        types.PromptArgument(name="topic", description="What to recall; without it, what always matters."),
        types.PromptArgument(name="channel", description="The channel the conversation is in."),
        types.PromptArgument(name="budget", description="How many tokens it may take."),
        types.PromptArgument(name="only_approved", description="true: only what a person wrote or approved."),
    ],
)
PROMPTS = [RECALL]


def page_uri(path: str) -> str:
    return f"{PAGE}/{quote(path, safe='/')}"


def parse_page_uri(uri: str) -> str | None:
    """Return the path in the address of a page, or None if it is not one."""
    return unquote(uri.removeprefix(f"{PAGE}/")) if uri.startswith(f"{PAGE}/") else None


def list_resources(memory: Memory, cursor: str | None) -> types.ListResourcesResult:
    """Return the context first, then the pages this agent may see, newest first."""
    after = parse_cursor(cursor)
    pages = [page for page in memory.home.visibility.list_pages() if after is None or (page[1], page[0]) < after]
    batch = pages[:RESOURCES_PER_PAGE]
    resources = [_describe_context()] if after is None else []
    resources += [_describe_page(path, at) for path, at in batch]
    if len(pages) == len(batch):
        return types.ListResourcesResult(resources=resources)
    path, at = batch[-1]
    return types.ListResourcesResult(resources=resources, next_cursor=format_cursor(at, path))


def _describe_context() -> types.Resource:
    return types.Resource(
        name="context",
        title="Memory for a prompt",
        uri=CONTEXT,
        mime_type=_MARKDOWN,
        description="What a model should read first.",
        annotations=types.Annotations(priority=1.0),
    )


def _describe_page(path: str, at: str) -> types.Resource:
    return types.Resource(
        name=path, uri=page_uri(path), mime_type=_media_type(path), annotations=types.Annotations(last_modified=at)
    )


def _media_type(path: str) -> str:
    if path.endswith(".md"):
        return _MARKDOWN
    return _JSON_LINES if path.endswith(".jsonl") else "text/plain"


def read_resource(memory: Memory, caller: Caller, grant: Grant, uri: str) -> types.TextResourceContents:
    path = parse_page_uri(uri)
    if path is not None:
        text = _read_page(memory, caller, path)
        return types.TextResourceContents(uri=uri, mime_type=_media_type(path), text=text)
    try:
        address = urlsplit(uri)
    except ValueError as error:
        raise PageNotFound(uri) from error
    if f"{address.scheme}://{address.netloc}" not in (CONTEXT, RECEIPT) or address.path not in ("", "/"):
        raise PageNotFound(uri)
    context = build_context(memory, caller, grant, dict(parse_qsl(address.query)))
    if address.netloc == "context":
        return types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=context.text)
    text = json.dumps(context.receipt, ensure_ascii=False, indent=2)
    return types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)


def _read_page(memory: Memory, caller: Caller, path: str) -> str:
    """Return the text of a page, as much of it as a reply may have."""
    name_call = partial(name_read_call, path, has_search=memory.home.search_settings.enabled)
    return fit_page(whole_page(memory.home, path, caller.session), name_call)


def build_context(memory: Memory, caller: Caller, grant: Grant, arguments: dict[str, Any]) -> prompt_context.Context:
    """Return the context for some arguments; user and channel are the caller's own unless they are given."""
    check(_CONTEXT_SCHEMA, arguments, "the context")
    budget = arguments.get("budget")
    return memory.context(
        user=caller.choose("user", arguments.get("user")),
        channel=caller.choose("channel", arguments.get("channel")),
        budget=int(budget) if budget else None,
        query=arguments.get("query") or None,
        only_approved=arguments.get("only_approved") == "true",
        reads_only=not grant.may_write,
        session=caller.session,
    )


def get_prompt(
    memory: Memory, caller: Caller, grant: Grant, name: str, arguments: dict[str, str]
) -> types.GetPromptResult:
    if name != RECALL.name:
        raise InvalidArgument(f"there is no prompt {name!r}: there is {RECALL.name}")
    topic = arguments.get("topic", "").strip()
    context_arguments = {"query": topic, **{key: value for key, value in arguments.items() if key != "topic"}}
    context = build_context(memory, caller, grant, context_arguments).text
    about = f"about {quote_line(topic)}" if topic else "so far"
    text = introduce(f"This is what your memory holds {about}.", context)
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=f"What memory holds {about}", messages=[message])


def complete_argument(memory: Memory, argument: str, prefix: str) -> types.Completion:
    """Return the possible values of an argument, if they can be listed: those with the prefix first, then others that
    contain it."""
    if argument == "path":
        values = [path for path, _ in memory.home.visibility.list_pages()]
    elif argument == "channel":
        values = memory.home.channels.names()[0]
    else:
        values = []
    folded = prefix.casefold()
    starting = [value for value in values if value.casefold().startswith(folded)]
    containing = [value for value in values if folded in value.casefold() and not value.casefold().startswith(folded)]
    matches = starting + containing
    return types.Completion(
        values=matches[:MAX_COMPLETIONS], total=len(matches), has_more=len(matches) > MAX_COMPLETIONS
    )


@dataclass
class _Client:
    """A client that subscribes in its session."""

    session: ServerSession
    memory: Memory
    token: str
    uris: set[str] = field(default_factory=set)
    wants_list: bool = False


@dataclass
class _AgentStreams:
    """The open streams of one agent."""

    memory: Memory
    bus: InMemorySubscriptionBus
    handler: ListenHandler
    count: int = 0


class Subscriptions:
    """MCP clients that subscribe to changed pages.

    Up to revision 2025-11-25 a client subscribes to addresses and is notified in its session; since 2026-07-28 it
    opens a stream on which the notifications it asked for arrive.
    """

    def __init__(self, watchers: HomeWatchers) -> None:
        self._watchers = watchers
        self._clients: dict[ClientKey, _Client] = {}
        self._streams: dict[tuple[str, str], _AgentStreams] = {}
        watchers.add_listener(self)

    def subscribe(self, context: RequestContext, memory: Memory, uri: str) -> None:
        if not can_see(memory, uri):
            raise MCPError(types.INVALID_PARAMS, f"{uri} cannot be subscribed to: subscribe to what is listed")
        uris = self._add_client(context, memory).uris
        if len(uris) >= MAX_SUBSCRIPTIONS:
            raise MCPError(types.INVALID_PARAMS, f"{MAX_SUBSCRIPTIONS} subscriptions are the limit: end some first")
        uris.add(uri)

    def unsubscribe(self, context: RequestContext, memory: Memory, uri: str) -> None:
        if client := self._clients.get(_client_key(context, memory)):
            client.uris.discard(uri)

    def subscribe_to_list(self, context: RequestContext, memory: Memory) -> None:
        """Notify a client that has read the list of resources when the list changes."""
        self._add_client(context, memory).wants_list = True

    def _add_client(self, context: RequestContext, memory: Memory) -> _Client:
        key = _client_key(context, memory)
        client = self._clients.setdefault(key, _Client(context.session, memory, _token_of(context)))
        if len(self._clients) > MAX_CLIENTS:
            self._drop_client()
            self._watchers.stop_unused()
        self._watchers.watch(memory)
        return client

    def _drop_client(self) -> None:
        """Drop the oldest client of the token that has the most, so that no token drops those of another."""
        ((most, _),) = Counter(client.token for client in self._clients.values()).most_common(1)
        del self._clients[next(key for key, client in self._clients.items() if client.token == most)]

    async def listen(
        self, context: RequestContext, memory: Memory, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Send the notifications that were asked for, until the client closes the stream."""
        key = (memory.home.root, memory.home.agent)
        if key not in self._streams:
            bus = InMemorySubscriptionBus()
            self._streams[key] = _AgentStreams(memory, bus, ListenHandler(bus))
        streams = self._streams[key]
        self._watchers.watch(memory)
        requested = params.notifications
        uris = [uri for uri in requested.resource_subscriptions or [] if can_see(memory, uri)]
        allowed = requested.model_copy(update={"resource_subscriptions": uris or None})
        streams.count += 1
        try:
            return await streams.handler(context, params.model_copy(update={"notifications": allowed}))
        finally:
            streams.count -= 1
            if not streams.count:
                del self._streams[key]
                self._watchers.stop_unused()

    def list_homes(self) -> set[str]:
        return {root for root, _ in self._streams} | {root for _, root, _ in self._clients}

    async def notify(self, home: str, changes: PageChanges, added: frozenset[str]) -> None:
        for streams in [each for (root, _), each in self._streams.items() if root == home]:
            for event in _events_for(streams.memory, changes, added):
                await streams.bus.publish(event)
        for key, client in [*self._clients.items()]:
            if client.memory.home.root == home:
                await self._send(key, client, _events_for(client.memory, changes, added))

    async def _send(self, key: ClientKey, client: _Client, events: list[ServerEvent]) -> None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                for event in events:
                    if isinstance(event, ResourceUpdated) and event.uri in client.uris:
                        await client.session.send_resource_updated(event.uri)
                    elif isinstance(event, ResourcesListChanged) and client.wants_list:
                        await client.session.send_resource_list_changed()
        except Exception:  # noqa: BLE001  whatever the transport raises, the client is gone
            self._clients.pop(key, None)
            self._watchers.stop_unused()

    def close(self) -> None:
        for streams in self._streams.values():
            streams.handler.close()


def _client_key(context: RequestContext, memory: Memory) -> ClientKey:
    """Return the key of a client: over HTTP it has a session; over standard input there is only one."""
    session = context.request.headers.get("mcp-session-id", "") if context.request else ""
    return session, memory.home.root, memory.home.agent


def _token_of(context: RequestContext) -> str:
    """Return the name of the token that a request came with; over standard input there is none."""
    return context.request.scope[GRANT].bucket if context.request else ""


def can_see(memory: Memory, uri: str) -> bool:
    """Return whether an agent may learn that a resource changed, even one that does not exist yet."""
    path = parse_page_uri(uri)
    if path is None:
        return uri.partition("?")[0] in (CONTEXT, RECEIPT)
    return memory.home.visibility.may_see_page(path)


def _events_for(memory: Memory, changes: PageChanges, added: frozenset[str]) -> list[ServerEvent]:
    """Return the events of one agent: its pages, the context made from them, and the list if that changed."""
    may_see = memory.home.visibility.may_see_page
    paths = sorted(path for path in {*changes.changed, *changes.removed} if may_see(path))
    if not paths:
        return []
    events: list[ServerEvent] = [ResourceUpdated(page_uri(path)) for path in paths]
    events += [ResourceUpdated(CONTEXT), ResourceUpdated(RECEIPT)]
    if added.union(changes.removed).intersection(paths):
        events.append(ResourcesListChanged())
    return events
