"""Telling clients that pages changed, whoever changed them: an agent, another process, a person with an editor.

A watcher a home, started when somebody first wants to know. In the handshake era a client subscribes to addresses and
is told on its own channel; since 2026-07-28 it listens, and what it asked for comes on that stream. Nobody is told of
a page that its agent may not see.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from ...errors import CommonplaceError
from ...index.watch import Seen, watch
from ...memory import Memory
from .resources import CONTEXT, RECEIPT, path_of, uri_of

_MOST_CLIENTS = 1000
Context = ServerRequestContext[Any, Any]


@dataclass
class _Client:
    """One of the handshake era: what it wants to hear of."""

    session: ServerSession
    memory: Memory
    uris: set[str] = field(default_factory=set)
    lists: bool = False


@dataclass
class _Agent:
    """Those who listen for one agent."""

    memory: Memory
    bus: InMemorySubscriptionBus
    listen: ListenHandler


class Notices:
    def __init__(self) -> None:
        self._clients: OrderedDict[str, _Client] = OrderedDict()
        self._agents: dict[tuple[str, str], _Agent] = {}
        self._watched: dict[str, set[str]] = {}  # homes, and the pages known there
        self._stop = threading.Event()

    def subscribe(self, context: Context, memory: Memory, uri: str) -> None:
        if not may_hear(memory, uri):
            raise MCPError(types.INVALID_PARAMS, f"{uri} is nothing that changes here: subscribe to what is listed")
        self._client(context, memory).uris.add(uri)

    def unsubscribe(self, context: Context, memory: Memory, uri: str) -> None:
        self._client(context, memory).uris.discard(uri)

    def has_listed(self, context: Context, memory: Memory) -> None:
        """Who asked for the list wants to know when it is another one."""
        self._client(context, memory).lists = True

    def _client(self, context: Context, memory: Memory) -> _Client:
        """The client of a request: over HTTP known by its session, else the only one there is."""
        name = context.request.headers.get("mcp-session-id", "") if context.request else ""
        client = self._clients.setdefault(name, _Client(context.session, memory))
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        self.follow(memory)
        return client

    async def listen(
        self, context: Context, memory: Memory, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        key = (memory.home.root, memory.home.agent)
        if key not in self._agents:
            bus = InMemorySubscriptionBus()
            self._agents[key] = _Agent(memory, bus, ListenHandler(bus))
        self.follow(memory)
        wanted = params.notifications
        heard = [uri for uri in wanted.resource_subscriptions or [] if may_hear(memory, uri)]
        allowed = wanted.model_copy(update={"resource_subscriptions": heard or None})
        return await self._agents[key].listen(context, params.model_copy(update={"notifications": allowed}))

    def follow(self, memory: Memory) -> None:
        """Watch the pages of a home from now on, if nobody does yet."""
        home = memory.home
        if home.root in self._watched:
            return
        self._watched[home.root] = set()
        loop = asyncio.get_running_loop()

        def told(seen: Seen) -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                asyncio.run_coroutine_threadsafe(self._tell(home.root, seen), loop)

        def run() -> None:
            with suppress(CommonplaceError, OSError):  # searches look for themselves then
                self._watched[home.root] |= set(home.index.ask(lambda view: view.index.stamps()))
                watch(home.index, self._stop, told, home.meaning if home.search_settings.enabled else None)

        threading.Thread(target=run, name=f"watch {home.root}", daemon=True).start()

    async def _tell(self, root: str, seen: Seen) -> None:
        known = self._watched[root]
        fresh = {path for path in seen.changed if path not in known} | set(seen.removed)
        known |= set(seen.changed)
        known -= set(seen.removed)
        paths = {*seen.changed, *seen.removed}
        for agent in [each for key, each in self._agents.items() if key[0] == root]:
            for event in _events(agent.memory, paths, fresh):
                await agent.bus.publish(event)
        for name, client in [*self._clients.items()]:
            if client.memory.home.root == root:
                await self._send(name, client, _events(client.memory, paths, fresh))

    async def _send(self, name: str, client: _Client, events: list[ServerEvent]) -> None:
        try:
            for event in events:
                if isinstance(event, ResourceUpdated) and event.uri in client.uris:
                    await client.session.send_resource_updated(event.uri)
                elif isinstance(event, ResourcesListChanged) and client.lists:
                    await client.session.send_resource_list_changed()
        except Exception:  # noqa: BLE001  whatever the transport raises, the client is gone
            self._clients.pop(name, None)

    def close(self) -> None:
        self._stop.set()
        for agent in self._agents.values():
            agent.listen.close()


def may_hear(memory: Memory, uri: str) -> bool:
    """Whether an agent may know that something changed; what is not there yet may come to be."""
    path = path_of(uri)
    if path is None:
        return uri.partition("?")[0] in (CONTEXT, RECEIPT)
    place = memory.home.index.territory.place(path)
    return place is not None and memory.home.may_see(place)


def _events(memory: Memory, paths: set[str], fresh: set[str]) -> list[ServerEvent]:
    """What one agent is told: of its pages, of the context they are part of, and of a list that is another one."""
    mine = sorted(path for path in paths if may_hear(memory, uri_of(path)))
    if not mine:
        return []
    events: list[ServerEvent] = [ResourceUpdated(uri_of(path)) for path in mine]
    events += [ResourceUpdated(CONTEXT), ResourceUpdated(RECEIPT)]
    return [*events, ResourcesListChanged()] if fresh & {*mine} else events
