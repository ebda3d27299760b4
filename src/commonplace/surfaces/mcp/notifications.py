"""Telling clients that pages changed, whoever changed them: an agent, another process, a person with an editor.

A watcher a home, for as long as somebody wants to know. In the handshake era a client subscribes to addresses and
is told on its own channel; since 2026-07-28 it listens, and what it asked for comes on that stream. Nobody is told of
a page that its agent may not see.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
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
from ...index.watcher import PageChanges
from ...memory import Memory
from .resources import CONTEXT, RECEIPT, path_of, uri_of

_MOST_CLIENTS = 1000
_MOST_SUBSCRIBED = 1000  # addresses, of one client
_MOST_WATCHED = 32  # homes; those asked for longest ago are let go
_PATIENCE = 5.0  # seconds for a client to take news; who does not read keeps nobody else from theirs
Context = ServerRequestContext[Any, Any]
Ear = Callable[[PageChanges], None]
Name = tuple[str, str, str]  # of a client: its session, and the home and agent it asked for


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
    count: int = 0


@dataclass
class _Watch:
    """Who watches a home, and the pages known there."""

    stop: threading.Event = field(default_factory=threading.Event)
    known: set[str] = field(default_factory=set)
    begun: asyncio.Event = field(default_factory=asyncio.Event)  # whatever changes from then on is told


class Notices:
    def __init__(self) -> None:
        self._clients: OrderedDict[Name, _Client] = OrderedDict()
        self._agents: dict[tuple[str, str], _Agent] = {}
        self._watches: OrderedDict[str, _Watch] = OrderedDict()
        self._ears: dict[str, Ear] = {}
        self._telling: set[asyncio.Task[None]] = set()

    def hear(self, root: str, ear: Ear) -> None:
        """Tell of all that changes in a home, for as long as the server runs and somebody has it followed."""
        self._ears[root] = ear

    def subscribe(self, context: Context, memory: Memory, uri: str) -> None:
        if not may_hear(memory, uri):
            raise MCPError(types.INVALID_PARAMS, f"{uri} is nothing that changes here: subscribe to what is listed")
        uris = self._client(context, memory).uris
        if len(uris) >= _MOST_SUBSCRIBED:
            raise MCPError(types.INVALID_PARAMS, f"{_MOST_SUBSCRIBED} subscriptions are the most: end some first")
        uris.add(uri)

    def unsubscribe(self, context: Context, memory: Memory, uri: str) -> None:
        if client := self._clients.get(_name(context, memory)):
            client.uris.discard(uri)

    def has_listed(self, context: Context, memory: Memory) -> None:
        """Who asked for the list wants to know when it is another one."""
        self._client(context, memory).lists = True

    def _client(self, context: Context, memory: Memory) -> _Client:
        client = self._clients.setdefault(_name(context, memory), _Client(context.session, memory))
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
            self._rest()
        self.follow(memory)
        return client

    async def listen(
        self, context: Context, memory: Memory, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        key = (memory.home.root, memory.home.agent)
        if key not in self._agents:
            bus = InMemorySubscriptionBus()
            self._agents[key] = _Agent(memory, bus, ListenHandler(bus))
        agent = self._agents[key]
        self.follow(memory)
        wanted = params.notifications
        heard = [uri for uri in wanted.resource_subscriptions or [] if may_hear(memory, uri)]
        allowed = wanted.model_copy(update={"resource_subscriptions": heard or None})
        agent.count += 1
        try:
            return await agent.listen(context, params.model_copy(update={"notifications": allowed}))
        finally:
            agent.count -= 1
            if not agent.count:
                del self._agents[key]
                self._rest()

    def follow(self, memory: Memory) -> bool:
        """Watch the pages of a home from now on; False when somebody does already."""
        home = memory.home
        if home.root in self._watches:
            self._watches.move_to_end(home.root)
            return False
        watched = self._watches[home.root] = _Watch()
        if len(self._watches) > _MOST_WATCHED:
            self._watches.popitem(last=False)[1].stop.set()
        loop = asyncio.get_running_loop()

        def tell(seen: PageChanges) -> None:
            telling = loop.create_task(self._tell(home.root, watched.known, seen))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

        def told(seen: PageChanges) -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(tell, seen)

        def starts(_: object) -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(watched.begun.set)

        def run() -> None:
            with suppress(CommonplaceError, OSError):  # searches look for themselves then
                watched.known.update(home.index.query(lambda view: view.index.stamps()))
                meaning = home.embedding if home.search_settings.enabled else None
                home.index.watch(watched.stop, told, meaning, starts)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._ended, home.root, watched)

        threading.Thread(target=run, name=f"watch {home.root}", daemon=True).start()
        return True

    async def followed(self, root: str) -> None:
        """Wait until whatever changes in a home is told; not for ever."""
        if watched := self._watches.get(root):
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await watched.begun.wait()

    def _ended(self, root: str, watched: _Watch) -> None:
        """A watcher could not go on: who asks next starts another."""
        watched.begun.set()
        if self._watches.get(root) is watched:
            del self._watches[root]

    def _rest(self) -> None:
        """Watch no more where nobody wants to know."""
        wanted = {root for root, _ in self._agents} | {root for _, root, _ in self._clients} | {*self._ears}
        for root in [root for root in self._watches if root not in wanted]:
            self._watches.pop(root).stop.set()

    async def _tell(self, root: str, known: set[str], seen: PageChanges) -> None:
        fresh = {path for path in seen.changed if path not in known} | set(seen.removed)
        known |= set(seen.changed)
        known -= set(seen.removed)
        paths = {*seen.changed, *seen.removed}
        if ear := self._ears.get(root):
            ear(seen)
        for agent in [each for key, each in self._agents.items() if key[0] == root]:
            for event in _events(agent.memory, paths, fresh):
                await agent.bus.publish(event)
        for name, client in [*self._clients.items()]:
            if client.memory.home.root == root:
                await self._send(name, client, _events(client.memory, paths, fresh))

    async def _send(self, name: Name, client: _Client, events: list[ServerEvent]) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                for event in events:
                    if isinstance(event, ResourceUpdated) and event.uri in client.uris:
                        await client.session.send_resource_updated(event.uri)
                    elif isinstance(event, ResourcesListChanged) and client.lists:
                        await client.session.send_resource_list_changed()
        except Exception:  # noqa: BLE001  whatever the transport raises, the client is gone
            self._clients.pop(name, None)
            self._rest()

    def close(self) -> None:
        for watched in self._watches.values():
            watched.stop.set()
        for agent in self._agents.values():
            agent.listen.close()


def _name(context: Context, memory: Memory) -> Name:
    """Who asks: over HTTP known by its session, else the only one there is."""
    session = context.request.headers.get("mcp-session-id", "") if context.request else ""
    return session, memory.home.root, memory.home.agent


def may_hear(memory: Memory, uri: str) -> bool:
    """Whether an agent may know that something changed; what is not there yet may come to be."""
    path = path_of(uri)
    if path is None:
        return uri.partition("?")[0] in (CONTEXT, RECEIPT)
    place = memory.home.index.scope.place(path)
    return place is not None and memory.home.may_see(place)


def _events(memory: Memory, paths: set[str], fresh: set[str]) -> list[ServerEvent]:
    """What one agent is told: of its pages, of the context they are part of, and of a list that is another one."""
    mine = sorted(path for path in paths if may_hear(memory, uri_of(path)))
    if not mine:
        return []
    events: list[ServerEvent] = [ResourceUpdated(uri_of(path)) for path in mine]
    events += [ResourceUpdated(CONTEXT), ResourceUpdated(RECEIPT)]
    return [*events, ResourcesListChanged()] if fresh & {*mine} else events
