"""Where two notes are about the same, a reader who is given one of them is given the newer."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

FIRST_DATE = "Kickoff for the billing rewrite. Priya leads, Tom does the migration scripts. Target launch: 2 December."
NEXT_DATE = "Launch moved: the billing rewrite now launches on 9 December because of the VAT audit."
FIRST_CONTACT = "Customer Acme Corp asked for invoices in PDF/A. Contact is Luis Ortega, luis@acme.example."
NEXT_CONTACT = "Acme contact changed: Luis left, the new contact is Maren Voss."
OTHERS = (
    "Database is Postgres 15 on the host pg-main-1. The staging host is pg-stage-2.",
    "Priya prefers short pull requests, below 300 lines, and review by two people.",
    "Helena wants the audit report as CSV with semicolons and a BOM, for Excel.",
    "Sam's birthday is on 24 November; team orders a cake, no nuts (Tom is allergic).",
    "Decision: we use Stripe for card payments, not Adyen, because the team knows its webhooks.",
)
ASK_LAUNCH = "what is open for the launch?"


@pytest.fixture
def memory(home: Path, clock: FrozenClock) -> Memory:
    memory = Memory(home, clock=clock)
    for text in (FIRST_DATE, FIRST_CONTACT, *OTHERS, NEXT_DATE, NEXT_CONTACT):
        memory.call("remember", {"content": text})
        clock.advance(days=1)
    clock.advance(days=20)
    for number in range(6):
        memory.call("remember", {"content": f"Walk number {number} in the park, in fine weather, without any news."})
    return memory


def show(memory: Memory, query: str, budget: int) -> str:
    return str(memory.context(budget=budget, query=query))


def test_a_small_budget_leaves_out_the_older_of_two_notes_on_the_same(memory: Memory) -> None:
    shown = [show(memory, ASK_LAUNCH, budget) for budget in range(200, 700, 20)]
    assert any(NEXT_DATE in text and FIRST_DATE not in text for text in shown)
    assert not any("2 December" in text and "9 December" not in text for text in shown)


def test_a_question_about_the_past_prefers_no_newer_note(memory: Memory) -> None:
    shown = [show(memory, "what was the first target for the launch?", budget) for budget in range(200, 700, 20)]
    assert not any("9 December" in text and "2 December" not in text for text in shown)


def test_a_prompt_is_given_the_newer_note_on_the_same_though_it_is_less_likely(memory: Memory) -> None:
    text = str(memory.recall_for("Please draft the email to our contact at Acme"))
    assert FIRST_CONTACT in text
    assert NEXT_CONTACT in text


def test_a_prompt_with_room_for_one_line_is_given_the_newer_note(memory: Memory) -> None:
    text = str(memory.recall_for(ASK_LAUNCH, budget=100))
    assert NEXT_DATE in text
    assert FIRST_DATE not in text


def test_a_newer_note_on_something_else_is_not_given(memory: Memory) -> None:
    memory.call("remember", {"content": "Acme Corp has a new logo, which their designers like."})
    assert "logo" not in str(memory.recall_for("Please draft the email to our contact at Acme"))
