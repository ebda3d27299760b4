"""One running server: its options, open memories, tokens, audit log, watchers, change feeds, and what it lists."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ..errors import CommonplaceError, InvalidArgument
from ..formats.timestamps import format_timestamp
from ..home import Home
from ..memory import Memory
from ..model import Clock
from ..storage.layout import MAIN
from ..storage.tokens import Call, Grant, Outcome
from ..tools import catalog, schemas
from .auth import Authenticator, TokenStores
from .memory_pool import MemoryPool
from .metrics import Metrics, Request, RequestLog
from .notifications import ChangeFeeds, HomeWatchers
from .prompt_socket import PromptSocket
from .rate_limits import Quotas, RateLimiter, ServerBuckets, SignInLimiter
from .sessions import UNRESTRICTED, Caller, ServerOptions

if TYPE_CHECKING:
    from .worker_state import SharedMetrics

MAX_AUDIT_NAME_CHARACTERS = 200


class AuditLog:
    """Which token called what, for which agent, and how it ended; never what was said."""

    def __init__(self, stores: TokenStores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    def record(self, caller: Caller, grant: Grant, operation: str, outcome: Outcome, remote: str) -> None:
        """Add one line to the log of the caller's home."""
        call = Call(
            at=format_timestamp(self._clock()),
            token=_shorten(grant.token),
            agent=_shorten(caller.agent),
            tool=_shorten(operation),
            session=_shorten(caller.session),
            outcome=outcome,
            remote=remote,
        )
        self._stores.get(caller.home).record_call(call)


def _shorten(name: str) -> str:
    return name[:MAX_AUDIT_NAME_CHARACTERS]


class MemoryService:
    """Shared by all surfaces that one process serves."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.memories = MemoryPool(options)
        self.watchers = HomeWatchers()
        self.feeds = ChangeFeeds(self.watchers)
        self._stores = TokenStores(options.home if options.is_found else "")
        self.authenticator = Authenticator(options, self._stores, options.clock)
        self.audit = AuditLog(self._stores, options.clock)
        self.metrics = Metrics()
        self._shared_metrics = _share_metrics(self.metrics, options.worker_state)
        self.stop_tracing: Callable[[], None] = _do_nothing
        self._prompts: PromptSocket | None = None
        buckets = _open_buckets(options.worker_state)
        self.rate_limiter = RateLimiter(options.requests_per_minute, buckets.requests, options.elapsed)
        self.quotas = Quotas(
            options.writes_per_day, options.bytes_per_day, buckets.writes, buckets.added, options.elapsed
        )
        self.sign_ins = SignInLimiter(buckets.sign_ins, options.elapsed)
        self._request_log = RequestLog(sys.stderr, options.clock) if options.logs_requests else None

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

    async def open_memory(self, caller: Caller, grant: Grant) -> Memory:
        """Return the memory that a caller means; Refused if its grant is for another."""
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
        """Log a call if a token allowed it, even when the caller has gone away."""
        if not grant.token:
            return

        def record() -> None:
            caller = self._identify_for_audit(meta, headers, grant)
            self.audit.record(caller, grant, operation, outcome, remote)

        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(record)

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
        """Answer the hooks of this user before each prompt, too, unless another process does."""
        with suppress(CommonplaceError):  # the first request says what is wrong
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


def _share_metrics(metrics: Metrics, folder: str) -> SharedMetrics | None:
    """Return the metrics of all workers of this server, which share a folder; None if there is none."""
    if not folder:
        return None
    from .worker_state import SharedMetrics

    return SharedMetrics(metrics, folder)


def _open_buckets(folder: str) -> ServerBuckets:
    """Return where the limits are counted: together with the other workers of this server, which share a folder."""
    if not folder:
        return ServerBuckets()
    from .worker_state import open_buckets

    return open_buckets(folder)


def _do_nothing() -> None:
    """Do nothing: for a server that sends no spans."""


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
        raise InvalidArgument("the cursor is not from a listing", advice="list from the start") from error
    return at, path
