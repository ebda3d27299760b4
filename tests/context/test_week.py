"""A week of sessions, each a handle of its own: what was remembered on one day is in the context of the next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

MONDAY = datetime(2026, 3, 9, 9, tzinfo=UTC)
WEEK = [
    [
        "Branches: ticket id first.",
        "Decided to use Postgres 17 for the ledger.",
        "TODO: renew the certificate of staging.",
    ],
    ["Ann reviews every migration.", "Deploys happen on Tuesdays."],
    ["The staging database moved to Frankfurt.", "Ben is away until Monday."],
    ["Decided to postpone the beta to 2 April.", "We use Postgres 18 for the ledger now."],
    ["The certificate of staging is renewed.", "Deploys happen on Thursdays now."],
    ["Ann prefers short pull requests."],
]


@pytest.mark.parametrize("budget", [500, 700, 1500])
def test_what_was_told_on_one_day_reaches_the_next(tmp_path: Path, budget: int) -> None:
    before: list[str] = []
    for number, facts in enumerate(WEEK):
        clock = FrozenClock(MONDAY + timedelta(days=number))
        with Memory(tmp_path / "home", clock=clock, session=f"day-{number}") as memory:
            text = memory.context(budget=budget).text
            assert all(fact in text for fact in before)
            for fact in facts:
                assert memory.call("remember", {"content": fact})["success"]
                clock.advance(minutes=20)
        before = facts


def test_at_the_end_of_the_week_what_changed_is_marked(tmp_path: Path) -> None:
    for number, facts in enumerate(WEEK):
        with Memory(tmp_path / "home", clock=FrozenClock(MONDAY + timedelta(days=number))) as memory:
            for fact in facts:
                memory.call("remember", {"content": fact})
    with Memory(tmp_path / "home", clock=FrozenClock(MONDAY + timedelta(days=6))) as memory:
        text = memory.context(budget=1500).text
        assert '[no longer; now: "We use Postgres 18 for the ledger now."' in text
        assert '[no longer; now: "Deploys happen on Thursdays now."' in text
        assert "[done: " in text
        assert "postpone the beta" in memory.search("what did we decide since Wednesday?")[0].text
        assert "Thursdays" in memory.search("when do we deploy?")[0].text
