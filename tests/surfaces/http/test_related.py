"""What belongs to a page: links and names that mention it, what is about the same, and the days around a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

from .api import api

HERON = "memory/world/blue-heron.md"


@pytest.fixture
def related(home: Path) -> Any:
    """A function that returns what belongs to a page of a memory of five days."""
    clock = FrozenClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    memory = Memory(home, clock=clock)
    memory.call("update_world", {"topic": "blue-heron", "content": "# Blue Heron\n\nA service that counts birds.\n"})
    memory.call("update_world", {"topic": "birds", "content": "# Birds\n\nA program counts birds at dawn.\n"})
    for text in (
        "Nothing new.",
        "See [[blue-heron]] first. Then rest.",
        "Grace owns blue heron now.",
        "Heron blue paint.",
    ):
        clock.now += timedelta(days=1)
        memory.call("remember", {"content": text})
    Memory(home, "bob", clock=clock).call("remember", {"content": "Bob sells Blue Heron."})

    def ask(path: str) -> dict[str, Any]:
        with api(home) as asked:
            answer: dict[str, Any] = asked.get(f"related/{path}")
            return answer

    return ask


def test_a_page_is_mentioned_by_links_and_by_its_name(related: Any) -> None:
    mentions = [(row["title"], row["why"], row["text"]) for row in related(HERON)["mentions"]]
    assert mentions == [
        ("2026-03-05", "name", "Grace owns blue heron now."),
        ("2026-03-04", "link", "See [[blue-heron]] first."),
    ]


def test_what_is_about_the_same_is_related_and_another_agents_is_not(related: Any) -> None:
    found = related(HERON)
    assert found["related"][0]["path"] == "memory/world/birds.md"
    assert HERON not in [row["path"] for row in found["related"]]
    assert "bob" not in str(found)


def test_a_day_has_its_neighbours(related: Any) -> None:
    daily = "agents/main/memory/daily"
    middle = related(f"{daily}/2026-03-04.md")
    assert (middle["previous"]["title"], middle["next"]["title"]) == ("2026-03-03", "2026-03-05")
    assert related(f"{daily}/2026-03-03.md")["previous"] is None
    assert related(f"{daily}/2026-03-06.md")["next"] is None
    assert related(HERON)["next"] is None
