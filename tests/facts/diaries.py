"""A memory whose notes are a day apart, and what each of them says to replace."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from commonplace import Memory
from commonplace.model import Hit
from commonplace.testing import FrozenClock


class Diary:
    """A memory whose notes are a day apart."""

    def __init__(self, home: Path | str) -> None:
        self.clock = FrozenClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
        self.memory = Memory(home, agent="main", clock=self.clock)

    def note(self, text: str) -> list[str]:
        """Return which earlier statements the reply to a new note names as replaced."""
        reply = self.memory.call("remember", {"content": text})
        self.clock.advance(days=1)
        return [each["text"] for each in reply.get("supersedes", ())]

    def search(self, query: str, **options: object) -> list[Hit]:
        return self.memory.search(query, mode="keyword", **options)  # type: ignore[arg-type]

    def replaces(self, older: str, newer: str) -> bool:
        """Return whether search marks the older of two notes as replaced; without that, no reply may say so."""
        self.note(older)
        is_noticed = bool(self.note(newer))
        is_marked = any(hit.superseded_by for hit in self.search(older) if hit.text.endswith(older))
        assert is_marked or not is_noticed
        return is_marked


def last_lines(hits: list[Hit]) -> list[str]:
    return [hit.text.split("\n")[-1] for hit in hits]
