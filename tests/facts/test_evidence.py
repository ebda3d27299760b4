"""Notes that say what changed in a way that no rule knows, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .diaries import Diary

CHANGED = [
    ("Pool size for the reports DB: 20", "After the timeouts the reports DB pool was raised, size 35."),
    ("The Hartwig quote for the kitchen is 9,400.", "Hartwig sent a revised quote for the kitchen, 8,900 now."),
    (
        "The reading group meets at Nadia's.",
        "Nadia's flat is too small for the reading group, we moved to the library.",
    ),
]
UNLIKELY = [  # a rule finds a shared word, and a word of change
    ("CI is green on main.", "CI uses Node 20 now."),
    ("Day rate for consultants: 780", "resting heart rate is down to 58 these days"),
    ("The freezer is set to -18.", "Feature freeze pushed back a week, to 17 June."),
    (
        "The heating is set to 20 degrees.",
        "Caretaker changed: heating problems go to the Housecare hotline, 0800 555 019.",
    ),
]
NOT_CHANGED = [
    ("Max is allergic to nuts.", "Max quit football."),
    ("Das Büro ist in Wien.", "Das Büro in Wien hat jetzt eine Küche."),
    ("Rent is 820 euros.", "Paid the rent, 820 euros, as every month."),
    ("Der Zug nach Bonn fährt um 8:12 Uhr.", "Der Zug nach Mainz fährt um 8:42 Uhr."),
    ("- [ ] fix the login bug", "Started to fix the login bug."),
    ("The test suite has 900 tests.", "The test suite takes 5 minutes."),
    ("The flight to Rome leaves at 7.", "The flight from Rome leaves at 21."),
]


@pytest.mark.parametrize(("older", "newer"), CHANGED)
def test_a_change_that_no_rule_knows_is_found_where_enough_speaks_for_it(home: Path, older: str, newer: str) -> None:
    assert Diary(home).replaces(older, newer)


@pytest.mark.parametrize(("older", "newer"), NOT_CHANGED)
def test_notes_that_are_alike_and_tell_of_no_change_replace_nothing(home: Path, older: str, newer: str) -> None:
    assert not Diary(home).replaces(older, newer)


@pytest.mark.parametrize(("older", "newer"), UNLIKELY)
def test_what_a_rule_links_by_a_word_or_two_is_left_alone_where_all_else_speaks_against_it(
    home: Path, older: str, newer: str
) -> None:
    assert not Diary(home).replaces(older, newer)
