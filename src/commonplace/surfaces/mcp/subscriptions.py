"""MCP clients that want to hear of changed pages.

Up to revision 2025-11-25 a client subscribes to addresses and is notified in its session; since 2026-07-28 it opens a
stream on which the notifications it asked for arrive. No client hears of a page that its agent may not see.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from ...index.watcher import PageChanges
from ...memory import Memory
from ...server.notifications import HomeWatchers
from .resources import CONTEXT, RECEIPT, page_uri, parse_page_uri

MAX_CLIENTS = 1000
MAX_SUBSCRIPTIONS = 1000  # of one client
SEND_TIMEOUT_SECONDS = 5.0  # a client that does not read must not hold up the others
Context = ServerRequestContext[Any, Any]
ClientKey = tuple[str, str, str]  # session, home and agent


@dataclass
class _Client:
    """A client that subscribes in its session."""

    session: ServerSession
    memory: Memory
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
    def __init__(self, watchers: HomeWatchers) -> None:
        self._watchers = watchers
        self._clients: OrderedDict[ClientKey, _Client] = OrderedDict()
        self._streams: dict[tuple[str, str], _AgentStreams] = {}
        watchers.add_listener(self)

    def subscribe(self, context: Context, memory: Memory, uri: str) -> None:
        if not can_see(memory, uri):
            raise MCPError(types.INVALID_PARAMS, f"{uri} is nothing that changes here: subscribe to what is listed")
        uris = self._add_client(context, memory).uris
        if len(uris) >= MAX_SUBSCRIPTIONS:
            raise MCPError(types.INVALID_PARAMS, f"{MAX_SUBSCRIPTIONS} subscriptions are the most: end some first")
        uris.add(uri)

    def unsubscribe(self, context: Context, memory: Memory, uri: str) -> None:
        if client := self._clients.get(_client_key(context, memory)):
            client.uris.discard(uri)

    def subscribe_to_list(self, context: Context, memory: Memory) -> None:
        """Notify a client that has read the list of resources when the list changes."""
        self._add_client(context, memory).wants_list = True

    def _add_client(self, context: Context, memory: Memory) -> _Client:
        client = self._clients.setdefault(_client_key(context, memory), _Client(context.session, memory))
        if len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)
            self._watchers.stop_unused()
        self._watchers.watch(memory)
        return client

    async def listen(
        self, context: Context, memory: Memory, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Send the notifications that were asked for, until the client closes the stream."""
        key = (memory.home.root, memory.home.agent)
        if key not in self._streams:
            bus = InMemorySubscriptionBus()
            self._streams[key] = _AgentStreams(memory, bus, ListenHandler(bus))
        streams = self._streams[key]
        self._watchers.watch(memory)
        wanted = params.notifications
        uris = [uri for uri in wanted.resource_subscriptions or [] if can_see(memory, uri)]
        allowed = wanted.model_copy(update={"resource_subscriptions": uris or None})
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


def _client_key(context: Context, memory: Memory) -> ClientKey:
    """Return the key of a client: over HTTP it has a session; over standard input there is only one."""
    session = context.request.headers.get("mcp-session-id", "") if context.request else ""
    return session, memory.home.root, memory.home.agent


def can_see(memory: Memory, uri: str) -> bool:
    """Return whether an agent may know that a resource changed, even if it does not exist yet."""
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
