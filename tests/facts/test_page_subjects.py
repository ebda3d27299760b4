"""A statement that names nothing is about what its page is about, and no version of one on another page."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

from .diaries import Diary

PAIRS = [
    ("The deadline is Friday 6 March.", "The deadline moved to Monday 9 March.", "when is the deadline?"),
    ("The budget is 40,000 euros.", "The budget is now 60,000 euros.", "how large is the budget?"),
    ("We use Postgres.", "We use MySQL now.", "which database do we use?"),
    ("The population was 1,176 in 2020.", "The population was 355 in 2020.", "what is the population?"),
    ("Die Frist ist am 6. März.", "Die Frist ist jetzt am 9. März.", "wann ist die Frist?"),
]
NAMED = [
    ("Ute lives in Kiel.", "Ute moved to Lübeck.", "where does Ute live?"),
    ("The Petrel deadline is 6 March.", "The Petrel deadline is now 9 March.", "when is the Petrel deadline?"),
    ("`retry_limit` is 3.", "`retry_limit` is now 5.", "what is retry_limit?"),
    ("I live in Kiel.", "I moved to Lübeck.", "where do I live?"),
    ("The deadline is 6 March.", "The deadline of Osprey is now 9 March.", "when is the deadline of Osprey?"),
]


def write_page(home: Path, name: str, text: str, month: int) -> None:
    page = home / "memory" / name
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    at = datetime(2026, month, 1, tzinfo=UTC).timestamp()
    os.utime(page, (at, at))


def is_replaced(home: Path, question: str, older: str) -> bool:
    memory = Memory(home, clock=lambda: datetime(2026, 6, 1, tzinfo=UTC))
    (hit,) = (hit for hit in memory.search(question, mode="keyword") if older in hit.text)
    return hit.superseded_by is not None


@pytest.mark.parametrize(("older", "newer", "question"), PAIRS)
def test_pages_about_two_things_do_not_replace_what_the_other_says(
    home: Path, older: str, newer: str, question: str
) -> None:
    write_page(home, "osprey.md", f"# Osprey\n\n{older}\n", 2)
    write_page(home, "heron.md", f"# Heron\n\n{newer}\n", 3)
    assert not is_replaced(home, question, older)


@pytest.mark.parametrize(("older", "newer", "question"), [*PAIRS[:3], *NAMED[:-1]])
def test_pages_that_say_only_what_kind_of_notes_they_have_replace_each_other(
    home: Path, older: str, newer: str, question: str
) -> None:
    write_page(home, "decisions.md", f"# Decisions\n\n{older}\n", 2)
    write_page(home, "status.md", f"# Status\n\n{newer}\n", 3)
    assert is_replaced(home, question, older)


LUMEN = "# Lumen\n\n- Lead: Sam\n- Deadline: 30 June\n- Port: 8080\n"
KIDS = "# Kids\n\n## Tom\n\nShoe size 29. Swimming on Fridays.\n\n## Lena\n\nShoe size 34. Swimming on Mondays.\n"
NOTES = [
    (LUMEN, "Kestrel's deadline was moved to 19 June.", []),
    (LUMEN, "Kestrel deadline moved to 19 June.", []),
    (LUMEN, "The deadline of Kestrel is 19 June now.", []),
    (LUMEN, "Kestrel: deadline moved to 19 June.", []),
    (LUMEN, "Kestrel's port changed to 9090.", []),
    (LUMEN, "Lumen's deadline was moved to 19 June.", ["Deadline: 30 June"]),
    (LUMEN, "The Lumen deadline is 19 June now.", ["Deadline: 30 June"]),
    (LUMEN, "Lumen's port changed to 9090.", ["Port: 8080"]),
    (KIDS, "Tom's shoe size is 30 now.", ["Shoe size 29."]),
    (KIDS, "Tom: swimming moved to Wednesdays.", ["Swimming on Fridays."]),
]


@pytest.mark.parametrize(("page", "note", "replaced"), NOTES)
def test_a_note_replaces_what_is_said_on_the_page_of_what_it_names_alone(
    memory: Memory, clock: FrozenClock, page: str, note: str, replaced: list[str]
) -> None:
    memory.call("update_world", {"topic": page.split()[1], "content": page})
    clock.advance(days=2)
    reply = memory.call("remember", {"content": note})
    assert [each["text"] for each in reply.get("supersedes", [])] == replaced


@pytest.mark.parametrize(("older", "newer", "question"), NAMED)
def test_who_or_what_is_named_is_the_same_on_every_page(home: Path, older: str, newer: str, question: str) -> None:
    write_page(home, "osprey.md", f"# Osprey\n\n{older}\n", 2)
    write_page(home, "heron.md", f"# Heron\n\n{newer}\n", 3)
    assert is_replaced(home, question, older)


def test_sections_of_one_page_have_deadlines_of_their_own(home: Path) -> None:
    write_page(home, "projects.md", "# Projects\n\n## Osprey\n\nThe deadline is 6 March.\n", 2)
    memory = Memory(home, clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    memory.search("deadline")
    both = "# Projects\n\n## Osprey\n\nThe deadline is 6 March.\n\n## Heron\n\nThe deadline is now 9 March.\n"
    write_page(home, "projects.md", both, 3)
    assert not is_replaced(home, "deadline", "The deadline is 6 March.")


def test_a_write_does_not_say_that_it_replaces_what_is_below_another_heading(home: Path) -> None:
    write_page(home, "osprey.md", "# Osprey\n\nThe deadline is 6 March.\n", 2)
    memory = Memory(home, clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    memory.search("deadline")
    reply = memory.call("update_world", {"topic": "heron", "content": "# Heron\n\nThe deadline is now 9 March.\n"})
    assert "supersedes" not in reply
    reply = memory.call("remember", {"content": "The Osprey deadline is now 9 March."})
    assert [each["text"] for each in reply["supersedes"]] == ["The deadline is 6 March."]


def test_a_block_of_lines_that_names_another_object_replaces_no_line(home: Path) -> None:
    diary = Diary(home)
    diary.note("- reviewer: Kim\n- author: Lou\n- PR: #412")
    assert diary.note("- reviewer: Pat\n- author: Lou\n- PR: #431") == []
    assert not any(hit.superseded_by for hit in diary.search("reviewer"))
    assert "no longer" not in str(diary.memory.context(budget=2000))


def test_a_block_of_lines_that_names_the_same_object_replaces_a_line(home: Path) -> None:
    diary = Diary(home)
    diary.note("Ticket: ABC-17\nAssignee: Kim")
    assert diary.note("Ticket: ABC-17\nAssignee: Lou") == ["Assignee: Kim"]
    assert "no longer" in str(diary.memory.context(budget=2000))
