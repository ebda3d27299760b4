"""Forgetting lines: those at a citation, in every version of their page, and nothing around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.errors import InvalidArgument, NotFound
from commonplace.maintenance.forget import Selection, find_traces, forget
from commonplace.maintenance.forget_lines import Words, find_spans
from commonplace.testing import FrozenClock

from .test_forget import holding

DAY = "agents/main/memory/daily/2026-03-14.md"


def forget_page(memory: Memory, page: str) -> None:
    forget(memory.home, Selection(page=page))


def test_an_entry_goes_with_its_heading_and_the_others_stay(memory: Memory, home: Path) -> None:
    for content in ("The kettle is red.", "The gate code is magnolia.", "The roof leaks."):
        memory.call("remember", {"content": content})
    text = (home / DAY).read_text()
    line = text.split("\n").index("The gate code is magnolia.") + 1
    forget_page(memory, f"{DAY}#L{line}")
    assert (home / DAY).read_text() == text.replace("## 09:26\n\nThe gate code is magnolia.\n\n", "")
    memory.close()
    assert holding(home, "magnolia") == []


def test_lines_in_the_middle_of_a_page_go_alone(memory: Memory, home: Path) -> None:
    memory.call(
        "update_world", {"topic": "house", "content": "# House\n\n- roof: red\n- gate code: magnolia\n- door: oak\n"}
    )
    forget_page(memory, "memory/world/house.md#L4")
    assert (home / "memory/world/house.md").read_text() == "# House\n\n- roof: red\n- door: oak\n"
    memory.close()
    assert holding(home, "magnolia") == []


def test_a_paragraph_takes_one_blank_line_with_it(memory: Memory, home: Path) -> None:
    memory.call(
        "update_world",
        {"topic": "house", "content": "One is first here.\n\nThe code: magnolia.\nTwo lines.\n\nLast.\n"},
    )
    forget_page(memory, "memory/world/house.md#L3-L4")
    assert (home / "memory/world/house.md").read_text() == "One is first here.\n\nLast.\n"


def test_an_earlier_wording_of_the_line_is_gone_from_history(memory: Memory, home: Path) -> None:
    memory.call("update_world", {"topic": "house", "content": "- The gate code is magnolia\n- The roof is red\n"})
    memory.call(
        "update_world", {"topic": "house", "content": "- The gate code is magnolia, or ask Bob\n- The roof is red\n"}
    )
    memory.call("update_world", {"topic": "house", "content": "- The gate code is with Bob\n- The roof is red\n"})
    forget_page(memory, "memory/world/house.md#L1")
    memory.close()
    assert holding(home, "magnolia") == []
    assert (home / "memory/world/house.md").read_text() == "- The roof is red\n"


def test_a_short_line_is_known_by_the_line_above_it(memory: Memory, home: Path) -> None:
    memory.call("update_world", {"topic": "list", "content": "- Is the gate open?\n- yes\n- Is it raining?\n- yes\n"})
    forget_page(memory, "memory/world/list.md#L4")
    assert (home / "memory/world/list.md").read_text() == "- Is the gate open?\n- yes\n- Is it raining?\n"


def test_all_lines_of_a_note_are_the_note_and_its_earlier_versions(memory: Memory, home: Path) -> None:
    memory.call("memory_write", {"key": "gate", "content": "Opens with xylophone."})
    memory.call("memory_write", {"key": "tea", "content": "Ann drinks green tea."})
    memory.call("memory_update", {"key": "gate", "content": "A bell does it now, since March."})
    hit = next(hit for hit in memory.search("bell since March") if hit.key == "gate")
    forget_page(memory, hit.citation)
    assert memory.call("memory_read", {"key": "tea"})["success"]
    memory.close()
    assert holding(home, "xylophone", "since March", "gate") == []


def test_all_lines_of_a_record_are_the_whole_page(memory: Memory, home: Path) -> None:
    memory.call("write_memory", {"key": "gate", "content": "xylophone quartz"})
    memory.call("write_memory", {"key": "gate", "content": "a wholly other value"})
    hit = next(hit for hit in memory.search("a wholly other value") if hit.key == "gate")
    forget_page(memory, hit.citation)
    assert not (home / "agents/main/memory/working/gate.md").exists()
    memory.close()
    assert holding(home, "xylophone", "wholly other") == []


def test_a_line_of_a_json_value_takes_the_value_with_it(memory: Memory, home: Path) -> None:
    memory.call("MemoryTool", {"op": "setGlobal", "key": "gate", "value": {"code": "xylophone quartz", "open": True}})
    report = find_traces(memory.home, Selection(text="xylophone quartz"))
    assert ("page", "memory/global/general/gate.md", "the whole page") in report.traces
    forget(memory.home, Selection(text="xylophone quartz"))
    memory.close()
    assert holding(home, "xylophone") == []


def test_a_turn_of_a_session_goes_alone(memory: Memory, home: Path) -> None:
    page = home / "agents/main/sessions/s-1.jsonl"
    page.parent.mkdir(parents=True)
    page.write_text(
        '{"role": "user", "content": "it is magnolia, the gate"}\n{"role": "user", "content": "thank you"}\n'
    )
    forget_page(memory, "agents/main/sessions/s-1.jsonl#L1")
    assert page.read_text() == '{"role": "user", "content": "thank you"}\n'


def test_a_line_that_only_history_has_is_cited_as_of_its_day(memory: Memory, home: Path, clock: FrozenClock) -> None:
    page = home / "memory/world/house.md"
    memory.call("update_world", {"topic": "house", "content": "The gate code is magnolia.\nThe roof is red."})
    clock.advance(hours=1)
    page.write_text("The roof is red.\n")
    memory.search("roof")
    forget_page(memory, "memory/world/house.md#L1@2026-03-14T09:30:00Z")
    memory.close()
    assert holding(home, "magnolia") == []
    assert page.read_text() == "The roof is red.\n"


def test_what_goes_is_shown_by_line(memory: Memory) -> None:
    memory.call("update_world", {"topic": "house", "content": "The gate code is magnolia.\nThe roof is red."})
    report = find_traces(memory.home, Selection(page="memory/world/house.md#L1"))
    assert ("page", "memory/world/house.md", "1 line of it: L1") in report.traces


def test_the_heading_that_goes_with_an_entry_is_counted_apart(memory: Memory) -> None:
    memory.call("remember", {"content": "The gate code is magnolia."})
    memory.call("remember", {"content": "The roof is red."})
    report = find_traces(memory.home, Selection(page=f"{DAY}#L5"))
    assert ("page", DAY, "1 line of it: L5 (4 with headings and blank lines)") in report.traces


def test_lines_that_are_not_there_and_pages_of_others_are_refused(memory: Memory, home: Path) -> None:
    memory.call("update_world", {"topic": "house", "content": "The roof is red."})
    Memory(home, "other").call("remember", {"content": "The gate code is magnolia."})
    with pytest.raises(InvalidArgument, match="no text at these lines"):
        find_traces(memory.home, Selection(page="memory/world/house.md#L9"))
    with pytest.raises(NotFound):
        find_traces(memory.home, Selection(page=DAY.replace("main", "other") + "#L5"))
    with pytest.raises(InvalidArgument, match="not both"):
        find_traces(memory.home, Selection(page="memory/world/house.md#L1", key="roof"))


_LINES = st.one_of(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ["", "# 2026-03-14", "## 09:26", "### gate", "```", "<!-- agentool-memory: at=2026-03-14T09:26:53Z -->"]
    ),
    st.just("the words that go"),
)


@given(st.lists(_LINES, max_size=20))
def test_every_other_line_of_any_page_stays(lines: list[str]) -> None:
    text = "\n".join(lines)
    spans = find_spans(text, "page", Words("the words that go")) or []
    left = "".join(
        text[end:start]
        for end, start in zip([0, *(e for _, e in spans)], [*(s for s, _ in spans), len(text)], strict=True)
    )
    assert "the words that go" not in left

    def is_structure(line: str) -> bool:
        return not line.strip() or line.startswith(("#", "<!-- agentool-memory:"))

    remaining = [line for line in lines if not is_structure(line) and line != "the words that go"]
    assert [line for line in left.split("\n") if not is_structure(line)] == remaining
