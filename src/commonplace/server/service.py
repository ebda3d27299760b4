"""One running server: its options, open memories, tokens, audit log, watchers and change feeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import anyio.to_thread

from ..errors import CommonplaceError
from ..memory import Memory
from ..storage.tokens import Grant, Outcome
from .audit import AuditLog
from .auth import Authenticator, TokenStores
from .notifications import ChangeFeeds, HomeWatchers
from .sessions import Caller, MemoryPool, ServerOptions


class MemoryService:
    """Shared by all surfaces that one process serves."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.memories = MemoryPool()
        self.watchers = HomeWatchers()
        self.feeds = ChangeFeeds(self.watchers)
        self._stores = TokenStores()
        self.authenticator = Authenticator(options, self._stores)
        self.audit = AuditLog(self._stores)

    async def open_memory(self, caller: Caller, grant: Grant) -> Memory:
        """Return the memory that a caller means; Refused if its grant is for another."""
        if grant.home not in (None, caller.home):
            await anyio.to_thread.run_sync(self.authenticator.require_home, caller, grant)
        memory = self.memories.find_open(caller)
        if memory is None:
            memory = await anyio.to_thread.run_sync(self.memories.open, caller, abandon_on_cancel=True)
        return memory

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

    def close(self) -> None:
        self.watchers.close()
        self.memories.close()
        self._stores.close()
