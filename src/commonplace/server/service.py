"""One running server: its options, open memories, tokens, audit log, watchers, change feeds, and what it lists."""

from __future__ import annotations

import base64
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from ..errors import CommonplaceError, InvalidArgument, StorageError
from ..formats.timestamps import format_timestamp
from ..home import Home
from ..memory import Memory
from ..storage.layout import MAIN
from ..storage.readings import Readings
from ..storage.tokens import Call, Grant, Outcome
from ..tools import catalog, schemas
from .auth import UNRESTRICTED, Authenticator, Caller, ServerOptions, TokenStores
from .metrics import Metrics, Request, RequestLog
from .notifications import ChangeFeeds, HomeWatchers
from .prompt_socket import PromptSocket
from .rate_limits import Quotas, RateLimiter, ServerBuckets, SignInLimiter

if TYPE_CHECKING:
    from ..index.handle import IndexHandle
    from ..storage.authors import Authors
    from .workers import SharedMetrics

Result = TypeVar("Result")
MAX_WORK_THREADS = 32  # of the forty that anyio has, so that some are left for what never waits for an index
MAX_OPEN_MEMORIES = 64  # one that was closed is opened again when it is needed
MAX_KEPT_READINGS = 256  # pairs of memory and agent whose readings are remembered, open or closed


class _OpenMemory(NamedTuple):
    """An open memory, and until when its settings need not be checked."""

    memory: Memory
    fresh_until: float


class MemoryPool:
    """Open memories by home and agent, with current settings. The least recently used are closed."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._open: OrderedDict[tuple[str, str], _OpenMemory] = OrderedDict()
        self._readings: OrderedDict[tuple[str, str], Readings] = OrderedDict()
        self._indexes: WeakValueDictionary[str, IndexHandle] = WeakValueDictionary()  # the latest of each home
        self._authors: WeakValueDictionary[str, Authors] = WeakValueDictionary()  # likewise
        self._lock = Lock()

    def find_open(self, caller: Caller) -> Memory | None:
        """Return an open memory with current settings; None if that would block, as `open` may."""
        key = (caller.home, caller.agent)
        with self._lock:
            entry = self._open.get(key)
            if entry is None:
                return None
            self._open.move_to_end(key)
        storage = entry.memory.home.storage
        if time.monotonic() < entry.fresh_until:
            return entry.memory
        if storage.settings_check_seconds:  # a check takes time
            return None
        return entry.memory if storage.current_settings_version() == storage.settings_version else None

    def open(self, caller: Caller) -> Memory:
        """Return the caller's memory, and open it if necessary, which may block while others write."""
        key = (caller.home, caller.agent)
        with self._lock:
            before = self._open.get(key)
        memory = before.memory if before and _has_current_settings(before.memory) else self._open_anew(key)
        unused: list[Memory] = []
        with self._lock:
            entry = self._open.pop(key, None)
            if entry and entry is not before and entry.memory is not memory:  # another request was quicker
                unused.append(memory)
                memory = entry.memory
            elif entry and entry.memory is not memory:
                unused.append(entry.memory)
            self._open[key] = _OpenMemory(memory, time.monotonic() + memory.home.storage.settings_check_seconds)
            if len(self._open) > MAX_OPEN_MEMORIES:
                unused.append(self._open.popitem(last=False)[1].memory)
        for each in unused:
            self._close(each)
        return memory

    def _close(self, memory: Memory) -> None:
        """Close a memory, but not the index that it shares with memories of other agents."""
        index = memory.home.index_if_open
        with self._lock:
            others = [entry.memory.home.index_if_open for entry in self._open.values()]
        if index is not None and any(other is index for other in others):
            del memory.home.index
        memory.close()

    def _open_anew(self, key: tuple[str, str]) -> Memory:
        """Open a memory. Conversations continue with what they were given before it was closed."""
        memory = self._options.open_memory(*key)
        with self._lock:
            if memory.home.storage.cache_folder:  # otherwise every agent's index would be a separate connection
                self._share_index(key[0], memory)
                memory.home.authors = self._authors.setdefault(key[0], memory.home.authors)
            readings = memory.home.readings
            readings.store = self._readings.setdefault(key, Readings(self._options.elapsed))
            self._readings.move_to_end(key)
            if len(self._readings) > MAX_KEPT_READINGS:
                self._readings.popitem(last=False)
        return memory

    def _share_index(self, home: str, memory: Memory) -> None:
        """Use the index that another agent of the same memory has open, if it is the same one: both then share a
        connection and its sweeps."""
        index = self._indexes.get(home)
        if index and index.scope.fingerprint == memory.home.index_scope().fingerprint:
            memory.home.index = index
        self._indexes[home] = memory.home.index

    def close(self) -> None:
        with self._lock:
            for entry in self._open.values():
                entry.memory.close()
            self._open.clear()


def _has_current_settings(memory: Memory) -> bool:
    """Return whether the settings are as they were read; True if that cannot be checked, as the next call will fail."""
    storage = memory.home.storage
    try:
        return storage.current_settings_version() == storage.settings_version
    except StorageError:
        return True


MAX_AUDIT_NAME_CHARACTERS = 200


class MemoryService:
    """Shared by all surfaces that one process serves."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.memories = MemoryPool(options)
        self.watchers = HomeWatchers()
        self.feeds = ChangeFeeds(self.watchers)
        self._stores = TokenStores(options.home if options.is_found else "")
        self.authenticator = Authenticator(options, self._stores, options.clock)
        self.metrics = Metrics()
        self._shared_metrics, buckets = _share_among_workers(self.metrics, options.worker_state)
        self.stop_tracing: Callable[[], None] = _do_nothing
        self._prompts: PromptSocket | None = None
        self.rate_limiter = RateLimiter(options.requests_per_minute, buckets.requests, options.elapsed)
        self.quotas = Quotas(
            options.writes_per_day, options.bytes_per_day, buckets.writes, buckets.added, options.elapsed
        )
        self.sign_ins = SignInLimiter(buckets.sign_ins, options.elapsed)
        self._request_log = RequestLog(sys.stderr, options.clock) if options.logs_requests else None
        self._work_threads = anyio.CapacityLimiter(MAX_WORK_THREADS)

    def render_metrics(self) -> str:
        """Return the figures of this server, of all its workers, in Prometheus' text format."""
        return self._shared_metrics.render() if self._shared_metrics else self.metrics.render()

    def count_request(self, request: Request) -> None:
        """Count a request that is done, and log it if the server was started so."""
        self.metrics.add(request)
        if self._request_log:
            self._request_log.add(request)

    def check_ready(self) -> None:
        """Raise CommonplaceError or OSError unless the memory, or the database, can be reached."""
        self._stores.get(self.options.home).list_tokens()

    async def run_work(self, work: Callable[[], Result], *, abandon: bool = False) -> Result:
        """Run work that may wait long, for example for an index, in a thread. Pages, probes and tokens never wait for
        it."""
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=abandon, limiter=self._work_threads)

    async def open_memory(self, caller: Caller, grant: Grant) -> Memory:
        """Return the memory a caller is for; Refused if its grant is for another."""
        if grant.home not in (None, caller.home):
            await anyio.to_thread.run_sync(self.authenticator.require_home, caller, grant)
        memory = self.memories.find_open(caller)
        if memory is None:
            memory = await anyio.to_thread.run_sync(self.memories.open, caller, abandon_on_cancel=True)
        return memory

    def unavailable_toolsets(self) -> frozenset[str]:
        """Return the toolsets that the settings of this server's own memory switch off, as far as it is open."""
        options = self.options
        caller = Caller(options.home, options.flags.get("agent") or options.defaults.get("agent") or MAIN)
        memory = self.memories.find_open(caller)
        return memory.home.unavailable_toolsets if memory else frozenset()

    async def record_call(
        self,
        meta: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
        grant: Grant,
        operation: str,
        outcome: Outcome,
        remote: str,
    ) -> None:
        """Log a call that a token allowed, even if the caller has disconnected."""
        if not grant.token:
            return

        def record() -> None:
            caller = self._identify_for_audit(meta, headers, grant)
            self.audit(caller, grant, operation, outcome, remote)

        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(record)

    def audit(self, caller: Caller, grant: Grant, operation: str, outcome: Outcome, remote: str) -> None:
        """Log in the caller's home which token called what, for which agent, and how it ended; never what was said."""
        names = (grant.token, caller.agent, operation, caller.session)
        token, agent, tool, session = (name[:MAX_AUDIT_NAME_CHARACTERS] for name in names)
        call = Call(format_timestamp(self.options.clock()), token, agent, tool, session, outcome, remote)
        self._stores.get(caller.home).record_call(call)

    def _identify_for_audit(
        self, meta: Mapping[str, Any] | None, headers: Mapping[str, str] | None, grant: Grant
    ) -> Caller:
        """Return the caller; one that could not be identified or was refused is logged under its token's home."""
        try:
            caller = self.options.identify(meta, headers, grant)
            self.authenticator.require_home(caller, grant)
        except CommonplaceError:
            return Caller(grant.home or self.options.home, agent="")
        return caller

    async def answer_prompts(self) -> None:
        """Also answer this user's prompt hooks, unless another process does."""
        with suppress(CommonplaceError):  # the first request will report what is wrong
            caller = self.options.identify({}, {})
            memory = await self.open_memory(caller, UNRESTRICTED)
            self._prompts = PromptSocket(memory.home, lambda: self.memories.open(caller).home)
            self._prompts.start()

    def close(self) -> None:
        if self._prompts:
            self._prompts.close()
        if self._shared_metrics:
            self._shared_metrics.close()
        self.watchers.close()
        self.memories.close()
        self._stores.close()
        self.stop_tracing()


def _share_among_workers(metrics: Metrics, folder: str) -> tuple[SharedMetrics | None, ServerBuckets]:
    """Return the metrics and the rate limits that the workers of this server share in a folder; without one, neither
    is shared."""
    if not folder:
        return None, ServerBuckets()
    from .workers import SharedMetrics, open_buckets

    return SharedMetrics(metrics, folder), open_buckets(folder)


def _do_nothing() -> None:
    """Do nothing, for a server that sends no spans."""


def may_call(grant: Grant, tool: str, toolsets: Sequence[str], home: Home) -> bool:
    """Return whether a tool may be called: one that may write only by those who may."""
    return grant.may_write or catalog.only_reads(tool, tuple(toolsets), home)


def list_tools(grant: Grant, toolsets: Sequence[str], home: Home) -> list[dict[str, Any]]:
    """Return the tools of some toolsets that a grant allows, described as for MCP."""
    tools = schemas.describe("mcp", toolsets, home)
    return [tool for tool in tools if may_call(grant, tool["name"], toolsets, home)]


def format_cursor(at: str, path: str) -> str:
    """Return a cursor that continues a listing, newest first, after a page."""
    return base64.urlsafe_b64encode(f"{at} {path}".encode()).decode().rstrip("=")


def parse_cursor(cursor: str | None) -> tuple[str, str] | None:
    """Return the time and path of the last page listed; None at the start, InvalidArgument if it is no cursor."""
    if not cursor:
        return None
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        at, _, path = base64.b64decode(padded, altchars=b"-_", validate=True).decode().partition(" ")
    except ValueError as error:
        raise InvalidArgument("the cursor is not from a listing", advice="start from the beginning") from error
    return at, path
