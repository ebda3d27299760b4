"""Notes that say that the value of an older one is gone: they replace it, whatever else they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from .diaries import Diary

GONE = [
    ("The reception is at Villa Rosa.", "Villa Rosa fell through, we are looking at the Boathouse."),
    ("Our second car is a Fiat Panda.", "Sold the Panda."),
    ("Formatting: black plus isort", "black and isort are out, ruff does it all."),
    ("The voucher code is WINTER20.", "WINTER20 expired, use SPRING25."),
    ("editor: vim", "I switched from vim to VS Code."),
    ("Wir haben uns für Ansible entschieden.", "Doch kein Ansible: wir nehmen Salt."),
    ("毎晩ワインを飲んでいる。", "ワインはもうやめた。"),
]
STILL_THERE = [
    ("Tom drives a Fiat Panda.", "Sold the Panda."),  # whose?
    ("The reception is at Villa Rosa.", "Villa Nova fell through."),
    ("We had dinner at Villa Rosa yesterday.", "Villa Rosa fell through as a venue."),
    ("The nightly script removes empty crates from the list.", "The script removed empty crates from the list twice."),
    ("The job purge_raw deletes raw_events.", "Incident: purge_raw on staging deleted all raw_events."),
]


@pytest.mark.parametrize(("older", "newer"), GONE)
def test_a_value_that_is_gone_is_replaced(home: Path, older: str, newer: str) -> None:
    assert Diary(home).replaces(older, newer)


@pytest.mark.parametrize(("older", "newer"), STILL_THERE)
def test_what_is_gone_elsewhere_replaces_nothing(home: Path, older: str, newer: str) -> None:
    assert not Diary(home).replaces(older, newer)
