"""The audit log: which token called what, for which agent, and how it ended. Never what was said."""

from __future__ import annotations

from ..formats.timestamps import format_timestamp
from ..home import utc_now
from ..model import Clock
from ..storage.tokens import Call, Grant, Outcome
from .auth import TokenStores
from .sessions import Caller

MAX_NAME_CHARACTERS = 200


class AuditLog:
    def __init__(self, stores: TokenStores, clock: Clock = utc_now) -> None:
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
    return name[:MAX_NAME_CHARACTERS]
