"""Where two notes are about the same, a reader who is given one of them is given the newer."""

from __future__ import annotations

import json
import re
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


def test_what_hardly_fits_the_query_is_not_recalled_and_the_receipt_says_so(memory: Memory) -> None:
    context = memory.context(query="which host is the staging database on?")
    recalled = context.receipt["sections"][-1]
    text = context.text.partition("## Recalled Memory")[2]
    scores = [float(score) for score in re.findall(r"score (\d\.\d+)", text)]
    assert "pg-stage-2" in text
    assert scores
    assert min(scores) >= 0.2
    assert "scores below 0.2" in [cut["reason"] for cut in recalled["cut"]]


def test_a_list_is_recalled_with_the_words_that_introduce_it(memory: Memory) -> None:
    games = (
        "The club owns 61 games, kept behind the bar.\n- Cascadia\n- Spirit Island, missing one token\n- Heat, torn\n"
    )
    memory.call("update_world", {"topic": "games-library", "content": f"# Games library\n\n{games}"})
    text = memory.context(query="Which games does the club own?").text.partition("## Recalled Memory")[2]
    assert "Spirit Island" in text


@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        (
            [
                ("What port does the dev server use?", "It listens on 5183, set in vite.config.ts."),
                ("let's move it to 5190 then", "Done: the dev server now listens on 5190."),
            ],
            "what port is the dev server on?",
        ),
        (
            [
                ("What colour is the header?", "The header is navy blue."),
                ("make it green", "Done, the header is green now."),
                ("what font does the header use?", "The header uses Inter."),
            ],
            "what colour is the header?",
        ),
    ],
)
def test_an_answer_comes_with_what_was_changed_later_in_the_same_conversation(
    home: Path, clock: FrozenClock, said: list[tuple[str, str]], prompt: str
) -> None:
    turns = [
        {"role": role, "content": text, "timestamp": f"2026-03-01T09:{number:02}:0{second}Z"}
        for number, pair in enumerate(said)
        for second, (role, text) in enumerate(zip(("user", "assistant"), pair, strict=True))
    ]
    page = home / "agents/main/sessions/s-1.jsonl"
    page.parent.mkdir(parents=True)
    page.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    (home / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    text = str(Memory(home, clock=clock).recall_for(prompt))
    assert said[0][1] in text
    assert said[1][1] in text
    assert text.count("assistant: ") == 2
