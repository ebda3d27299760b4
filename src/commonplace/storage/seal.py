"""What history says in a memory that was found: which changes this user's program recorded there."""

from __future__ import annotations

import hmac
import json
from typing import NamedTuple

from .history import ABSENT, Change, Line, kind_of_origin, needs_approval


class Seal(NamedTuple):
    """Tells what this user's program recorded in a found memory from what came with it, which anybody can write.

    `key`: known to nobody else. `vouches_for_all`: the user trusts the memory, so all of its history counts.
    """

    key: str
    vouches_for_all: bool

    def mark(self, change: Change) -> str:
        """Return the mark of a change. It does not cover what it applies to: that differs once older ones are gone."""
        text = json.dumps(change._replace(before=ABSENT))
        return hmac.new(self.key.encode(), f"history {text}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()

    def read(self, line: Line, latest: str) -> Line:
        """Return a line as far as its word counts. What came with the memory was written `outside`, by nobody of whom
        this user knows; a claim that a rule waits for approval stays. It is not newer than `latest`."""
        change = line.change
        mark = line.mark.encode("utf-8", "surrogatepass")
        if self.vouches_for_all or hmac.compare_digest(mark, self.mark(change).encode()):
            return line
        origin = kind_of_origin(change.origin) if needs_approval(change.origin) else ""
        plain = Change(change.id, min(change.at, latest), change.path, change.version, change.before, origin=origin)
        return line._replace(change=plain)
