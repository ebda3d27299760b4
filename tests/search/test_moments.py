"""What holds from a later day on, or on one day alone, replaces nothing that is true until then, or on other days."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

WRITTEN, TOLD = date(2026, 6, 1), date(2026, 6, 4)
LATER = [  # with the first day on which it holds
    ("Diego works at Siemens.", "Diego starts at Bosch on 1 August.", date(2026, 8, 1)),
    ("Carmen is the manager of the shop.", "Wei takes over the shop from Carmen on 1 July.", date(2026, 7, 1)),
    ("The office is in Altona.", "The office moves to Barmbek in August.", date(2026, 8, 1)),
    ("The shop opens at 9:30.", "From 1 July the shop opens at 9:00.", date(2026, 7, 1)),
    ("The rate limit is 60.", "The carrier answered: the rate limit rises to 120 from 1 July.", date(2026, 7, 1)),
    ("Die Miete beträgt 900 Euro.", "Ab Oktober beträgt die Miete 950 Euro.", date(2026, 10, 1)),
    ("El precio es de 10 euros.", "El precio sube a 12 euros el mes que viene.", date(2026, 7, 1)),
    ("价格是10元。", "下个月价格涨到12元。", date(2026, 7, 1)),
]
NEVER = [
    ("We deploy on Thursdays.", "No deploy this Thursday."),
    ("Tom has swimming on Fridays.", "Swimming is cancelled on 12 June."),
    ("We have pizza on Fridays.", "This Friday we have soup instead of pizza."),
    ("Emma takes the bus to school.", "Emma took the bike to school today."),
    ("La clase de inglés es los lunes.", "Este lunes no hay clase de inglés."),
    ("Parking is free.", "Parking is not free during the fair."),
    ("Priya leads the payments team.", "Priya will hand over the payments team to Sam in autumn."),
    ("We use Python 3.11.", "We upgrade to Python 3.13 after the release."),
    ("The office is in Cologne.", "The office moves to Bonn once the lease is signed."),
    ("Logs are kept for 14 days.", "Decided: keeping logs changes to 7 days as soon as the backfill has finished."),
]
AT_ONCE = [
    ("The launch is on 12 November.", "The launch was moved to 19 November."),
    ("Diego works at Siemens.", "Diego started at Bosch on 1 June."),
    ("CI logs go to S3.", "CI logs are going to GCS from today."),
    ("Our weekly sync is on Monday.", "Our weekly sync is on Tuesday now."),
    ("The shop opens at 9:30.", "Since 1 May the shop opens at 9:00."),
]


def is_replaced(home: Path, older: str, newer: str, today: date) -> bool:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for day, text in ((WRITTEN, older), (TOLD, newer)):
            clock.now = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
            memory.call("remember", {"content": text})
        clock.now = datetime(today.year, today.month, today.day, 9, tzinfo=UTC)
        hits = memory.search(older, limit=10, mode="keyword")
    return next(hit for hit in hits if older in hit.text).superseded_by is not None


@pytest.mark.parametrize(("older", "newer", "first"), LATER)
def test_what_will_be_so_replaces_what_is_so_on_its_first_day(home: Path, older: str, newer: str, first: date) -> None:
    assert not is_replaced(home / "before", older, newer, date.fromordinal(first.toordinal() - 1))
    assert is_replaced(home / "after", older, newer, first)


@pytest.mark.parametrize(("older", "newer"), NEVER)
def test_what_is_so_on_one_occasion_or_some_day_replaces_nothing(home: Path, older: str, newer: str) -> None:
    assert not is_replaced(home, older, newer, date(2026, 6, 30))


@pytest.mark.parametrize(("older", "newer"), AT_ONCE)
def test_a_day_that_has_come_or_is_what_changed_keeps_nothing_back(home: Path, older: str, newer: str) -> None:
    assert is_replaced(home, older, newer, TOLD)


def test_a_write_does_not_say_that_a_plan_replaces_what_is_so(memory: Memory) -> None:
    memory.call("remember", {"content": "Diego works at Siemens."})
    assert "supersedes" not in memory.call("remember", {"content": "Diego joins Bosch in two weeks, on 28 March 2030."})
    assert "supersedes" in memory.call("remember", {"content": "Diego works at Bosch now."})
