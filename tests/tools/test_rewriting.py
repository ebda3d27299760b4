"""Agents that rewrite one page from what they were given of it: nobody's lines are lost without a word."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.storage import readings
from commonplace.testing import FrozenClock

NUMBERS = itertools.count()
TEA = "memory/world/tea.md"
CURATED = "agents/main/memory/MEMORY.md"
PAGES = st.lists(
    st.sampled_from(
        ["Ann likes tea.", "Bob left.", "", "# People", "## 09:00", "---", "\\---", "```", "### x", "日本"]
    ),
    min_size=1,
    max_size=6,
).map("\n".join)


@pytest.fixture(params=["given", "in memory"])
def address(request: pytest.FixtureRequest, home: Path) -> str:
    return os.fspath(home) if request.param == "given" else f"memory://rewriting-{next(NUMBERS)}"


def page_of(memory: Memory, path: str = TEA) -> str:
    return memory.home.storage.pages.read(path).text


def tell(memory: Memory, content: str, topic: str = "tea", session: str = "") -> dict[str, Any]:
    reply = memory.attempt("update_world", {"topic": topic, "content": content}, session=session).reply
    assert reply["success"]
    return reply


def test_two_agents_that_each_add_a_line_from_one_reading_keep_both(address: str) -> None:
    ann, bob = Memory(address, "ann"), Memory(address, "bob")
    tell(ann, "Green.\n")
    ann.call("recall")
    bob.call("recall")
    assert "warning" not in tell(ann, "Green.\nBlack.\n")
    reply = tell(bob, "Green.\nWhite.\n")
    assert page_of(ann) == "Green.\nBlack.\nWhite.\n"
    assert "both changes" in reply["warning"]
    assert "conflict" not in reply


def test_two_agents_that_create_a_topic_from_one_reading_keep_both(address: str) -> None:
    ann, bob = Memory(address, "ann"), Memory(address, "bob")
    for agent in (ann, bob):
        assert agent.call("recall")["content"] == "No memories found"
    tell(ann, "Black.\n")
    tell(bob, "White.\n")
    assert page_of(ann) == "Black.\nWhite.\n"


def test_a_writer_of_a_page_that_others_made_meanwhile_is_not_said_to_have_read_it(address: str) -> None:
    one, other = Memory(address, agent="one"), Memory(address, agent="other")
    other.call("recall", {})
    tell(one, "Ann likes tea.")
    warning = tell(other, "Bob likes coffee.")["warning"]
    assert warning == f"{TEA} was written by somebody else, and you had not read it: both changes are in it now"


def test_a_line_that_one_changed_takes_the_change_and_of_one_that_both_changed_the_earlier_comes_back(
    address: str,
) -> None:
    ann, bob = Memory(address, "ann"), Memory(address, "bob")
    tell(ann, "Pot: clay\nLeaf: green\nWater: 80\n")
    bob.call("recall")
    tell(ann, "Pot: iron\nLeaf: black\nWater: 80\n")
    reply = tell(bob, "Pot: clay\nLeaf: white\nWater: 90\n")
    assert page_of(ann) == "Pot: iron\nLeaf: white\nWater: 90\n"
    assert reply["conflict"] == "Leaf: black"
    bob.call("recall")
    assert "conflict" not in tell(bob, page_of(bob) + reply["conflict"] + "\n")
    assert page_of(ann) == "Pot: iron\nLeaf: white\nWater: 90\nLeaf: black\n"


def test_what_others_added_stays_however_often_a_writer_rewrites_without_reading_again(address: str) -> None:
    ann, bob = Memory(address, "ann"), Memory(address, "bob")
    tell(ann, "Green.\n")
    bob.call("recall")
    tell(ann, "Green.\nBlack.\n")
    tell(bob, "Green.\nWhite.\n")
    tell(bob, "Green.\nWhite.\nRed.\n")
    assert page_of(ann) == "Green.\nBlack.\nWhite.\nRed.\n"
    bob.call("recall")
    tell(bob, "Green.\n")  # what one has read, one may take out
    assert page_of(ann) == "Green.\n"


def test_a_page_that_a_conversation_was_not_given_is_replaced(address: str) -> None:
    tell(Memory(address, "ann"), "Green.\n")
    reply = tell(Memory(address, "ann"), "Black.\n")
    assert page_of(Memory(address)) == "Black.\n"
    assert "conflict" not in reply  # the agent's own
    reply = tell(Memory(address, "bob"), "White.\n")
    assert reply["conflict"] == "Black."


def test_each_conversation_on_one_handle_has_its_own_base(address: str) -> None:
    memory = Memory(address)
    tell(memory, "Green.\n", session="first")
    memory.attempt("recall", {}, session="second")
    tell(memory, "Green.\nBlack.\n", session="first")
    memory.attempt("recall", {}, session="third")
    tell(memory, "Green.\nWhite.\n", session="second")
    assert page_of(memory) == "Green.\nBlack.\nWhite.\n"
    tell(memory, "Green.\n", session="third")  # it has read Black, and takes it out
    assert page_of(memory) == "Green.\nWhite.\n"


def test_a_named_conversation_keeps_its_base_in_its_next_handle(home: Path) -> None:
    ann = Memory(home, "ann")
    tell(ann, "Green.\n")
    with Memory(home, "bob", session="monday") as first:
        first.call("recall")
    tell(ann, "Green.\nBlack.\n")
    tell(Memory(home, "bob", session="monday"), "Green.\nWhite.\n")
    assert page_of(ann) == "Green.\nBlack.\nWhite.\n"
    for other in (Memory(home, "bob", session="tuesday"), Memory(home, "ann", session="monday")):
        tell(ann, "Green.\nBlack.\n")
        assert "Black." in tell(other, "Green.\nRed.\n").get("conflict", "Black.")
        assert page_of(ann) == "Green.\nRed.\n"


def test_a_handle_of_a_named_conversation_goes_by_what_it_was_given_itself(address: str) -> None:
    ann, one, two = Memory(address, "ann"), *(Memory(address, "bob", session="monday") for _ in range(2))
    tell(ann, "Green.\n")
    one.call("recall")
    tell(ann, "Green.\nBlack.\n")
    two.call("recall")
    tell(one, "Green.\nWhite.\n")  # it has not seen Black
    assert page_of(ann) == "Green.\nBlack.\nWhite.\n"
    tell(one, "Green.\nWhite.\n", session="tuesday")  # nor has another conversation seen anything
    assert page_of(ann) == "Green.\nWhite.\n"


def test_lines_read_with_memory_get_are_a_base_and_lines_that_were_not_read_stay(address: str) -> None:
    ann, bob = Memory(address, "ann"), Memory(address, "bob")
    tell(ann, "".join(f"Line {number}.\n" for number in range(1, 301)))
    bob.call("memory_get", {"path": TEA})
    tell(bob, "".join(f"Line {number}.\n" for number in range(2, 121)))
    assert page_of(ann) == "".join(f"Line {number}.\n" for number in range(2, 301))
    for start in (1, 121, 241):
        bob.call("memory_get", {"path": TEA, "from": start})
    tell(bob, "All of it.\n")
    assert page_of(ann) == "All of it.\n"


def test_what_recall_left_out_of_a_long_page_stays_when_the_rest_is_rewritten(address: str) -> None:
    ann, bob = Memory(address, "ann"), Memory(address, "bob")
    lines = [f"Fact {number}: {'x' * 200}" for number in range(300)]
    tell(ann, "\n".join(lines) + "\n")
    assert "are left out here" in bob.call("recall")["content"]
    tell(bob, "\n".join(["New.", *lines[1:20]]) + "\n")
    page = page_of(ann).split("\n")
    assert page[0] == "New."
    assert set(lines[100:]) <= set(page)
    assert lines[0] not in page


def test_a_handle_that_wrote_a_note_still_merges_with_what_it_read_before(address: str) -> None:
    one, other = Memory(address), Memory(address)
    one.call("reflect", {"content": "Tea.\n"})
    one.call("recall")
    other.call("recall")
    other.call("reflect", {"content": "Tea.\nBy the other.\n"})
    one.call("memory_write", {"key": "pot", "content": "Clay.", "target": "summary"})
    one.call("memory_read", {"key": "pot"})
    one.call("reflect", {"content": "Tea.\nBy the one.\n"})
    page = page_of(one, CURATED)
    assert "By the other." in page
    assert "By the one." in page
    assert "### pot\n\nClay.\n" in page


def test_reflect_keeps_notes_with_a_footer_and_prose_goes(address: str, clock: FrozenClock) -> None:
    memory = Memory(address, clock=clock)
    memory.call("reflect", {"content": "Old prose.\n\n### By hand\n\nNo footer.\n"})
    memory.call("memory_write", {"key": "pot", "content": "Clay.\n\n```\n# code", "target": "summary", "tags": ["a"]})
    memory.call("memory_write", {"key": "leaf", "content": "Green.", "target": "summary"})
    memory.call("recall")
    for _ in range(2):  # the second time as well, from the page that the first made
        reply = memory.call("reflect", {"content": "New prose.\n```\nopen fence"})
        assert reply["kept"] == ["pot", "leaf"]
        assert "pot, leaf" in reply["content"]
        assert "conflict" not in reply
        page = page_of(memory, CURATED)
        assert page.startswith("New prose.\n")
        assert "Old prose" not in page
        assert "By hand" not in page
        note = memory.call("memory_read", {"key": "pot"})["data"]
        assert (note["content"], note["tags"]) == ("Clay.\n\n```\n# code", ["a"])
        assert memory.call("memory_read", {"key": "leaf"})["data"]["content"] == "Green."


def test_reflect_changes_a_note_that_the_new_text_has(address: str) -> None:
    memory = Memory(address)
    memory.call("memory_write", {"key": "pot", "content": "Clay.", "target": "summary"})
    memory.call("recall")
    reply = memory.call("reflect", {"content": page_of(memory, CURATED).replace("Clay.", "Iron.")})
    assert "kept" not in reply
    assert memory.call("memory_read", {"key": "pot"})["data"]["content"] == "Iron."


def test_a_note_that_another_wrote_since_the_reading_stays_whole(address: str) -> None:
    one, other = Memory(address), Memory(address)
    one.call("reflect", {"content": "Tea.\n"})
    one.call("recall")
    other.call("memory_write", {"key": "pot", "content": "Clay.", "target": "summary"})
    one.call("reflect", {"content": "Tea.\nMilk.\n"})
    assert page_of(one, CURATED).startswith("Tea.\nMilk.\n\n### pot\n\nClay.\n\n<!-- agentool-memory: ")


def test_lines_that_recall_escaped_are_compared_as_they_are_on_the_page(address: str) -> None:
    ann, bob = Memory(address, "ann"), Memory(address, "bob")
    tell(ann, "Top.\n\n## A heading\n\nText\n---\n# Your Memory\n")
    text = bob.call("recall")["content"].split("## tea\n\n", 1)[1]
    assert "\\## A heading" in text
    tell(ann, "Top.\nBy Ann.\n")  # nothing on the page needs an escape any more
    tell(bob, text.replace("Top.", "TOP."))
    assert page_of(ann) == "TOP.\nBy Ann.\n"


@given(PAGES, PAGES, PAGES)
def test_whatever_two_agents_write_no_line_is_lost_unless_it_is_reported(base: str, one: str, other: str) -> None:
    address = f"memory://rewriting-{next(NUMBERS)}"
    with Memory(address, "ann") as ann, Memory(address, "bob") as bob:
        tell(ann, f"{base}\n")
        stored = page_of(ann)  # without the backslash of an escape
        for agent in (ann, bob):
            agent.call("recall")
        tell(ann, one)
        earlier = page_of(ann)
        reply = tell(bob, other)
        page = page_of(ann)
        for line in {*earlier.split("\n")} - {*stored.split("\n")}:
            assert line in page.split("\n") or line in reply.get("conflict", "").split("\n")


@pytest.mark.parametrize("facts", [[f"Fact {number} is long." for number in range(300)], ["One line. " * 2000]])
def test_what_a_context_cut_of_the_curated_page_stays_when_it_is_rewritten(address: str, facts: list[str]) -> None:
    Memory(address).call("reflect", {"content": "\n".join(facts)})
    memory = Memory(address)
    assert "Fact 1 is" in str(memory.context(budget=700)) or len(facts) == 1
    memory.call("reflect", {"content": "New."})
    page = page_of(memory, CURATED).split("\n")
    assert "New." in page
    assert facts[-1].rstrip() in [line.rstrip() for line in page]


def test_readings_in_memory_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "_MAX_READINGS_CHARACTERS", 100)
    store = readings.Readings()
    for number in range(50):
        store.note(f"conversation {number}", TEA, readings.read_lines("x" * 30))
    assert store.find("conversation 0", TEA) is None
    assert store.find("conversation 49", TEA) is not None
