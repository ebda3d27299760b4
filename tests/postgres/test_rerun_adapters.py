"""The tests of Claude's memory tool and of the sessions of OpenAI Agents, run again on a memory in PostgreSQL."""

from __future__ import annotations

import pytest

from commonplace.adapters.anthropic import MemoryTool
from commonplace.maintenance import timeline
from commonplace.testing import FrozenClock

from .database_path import DatabasePath
from .rerun import NEEDS_FILES, all_names, collect_tests

pytestmark = pytest.mark.slow
MODULES = ("adapters.test_openai_agents", "adapters.test_anthropic")
EMPTY = "a folder is there as long as a page is in it"
HAND = "what is written by hand has the time of this machine, not that of the clock that stands still"
LEFT_OUT = {
    "test_a_folder_stays_when_its_last_file_goes": EMPTY,
    "test_a_new_home_has_an_empty_folder_to_view": EMPTY,
    "test_all_memory_is_cleared_and_can_be_brought_back": HAND,
    "test_what_is_in_the_way_is_reported_in_the_sdks_words": NEEDS_FILES,
    "test_no_link_leads_out": NEEDS_FILES,
    "test_a_link_inside_is_read_through_and_deleted_itself": NEEDS_FILES,
    "test_a_link_in_place_of_the_folder_is_refused": NEEDS_FILES,
    "test_a_folder_of_ten_thousand_files_is_shown_at_about_the_cost_of_listing_it": NEEDS_FILES,
    "test_odd_things_in_a_folder_go_with_it": NEEDS_FILES,
    "test_a_file_that_vanishes_between_two_looks_is_reported_as_gone": NEEDS_FILES,
    "test_adding_writes_no_more_than_the_item_and_no_history": NEEDS_FILES,
    "test_a_link_or_something_else_in_its_place_is_refused": NEEDS_FILES,
    "test_a_tool_that_is_dropped_leaves_no_file_open": NEEDS_FILES,
}
globals().update(collect_tests(MODULES, {"home", "memory", "tool", "tmp_path_factory"}, LEFT_OUT))


def test_an_empty_home_has_a_folder_to_view_and_a_clear_is_taken_back(home: DatabasePath, clock: FrozenClock) -> None:
    tool = MemoryTool(str(home), clock=clock)
    assert tool.call({"command": "view", "path": "/memories"}).endswith("\n4K\t/memories")
    for path in ("a.txt", "b/c.md"):
        tool.call({"command": "create", "path": f"/memories/{path}", "file_text": path})
    assert tool.clear_all_memory() == "All memory cleared"
    assert tool.call({"command": "view", "path": "/memories"}).endswith("\n4K\t/memories")
    last = timeline.list_changes(tool.home)[-1:]
    assert [done.problem for done in timeline.undo(tool.home, timeline.include_same_calls(tool.home, last))] == ["", ""]
    assert (home / "claude/memories/b/c.md").read_text() == "b/c.md"
    tool.close()


def test_what_is_no_text_is_moved_as_it_is(home: DatabasePath, clock: FrozenClock) -> None:
    tool = MemoryTool(str(home), clock=clock)
    (home / "claude/memories/in/odd.bin").write_bytes(b"\xff\0")
    tool.call({"command": "rename", "old_path": "/memories/in", "new_path": "/memories/out"})
    assert (home / "claude/memories/out/odd.bin").read_bytes() == b"\xff\0"
    assert [place.path for place in home.rglob("*.bin")] == ["claude/memories/out/odd.bin"]
    tool.close()


def test_what_is_left_out_is_a_test_of_a_folder() -> None:
    """A reason does not outlive its test."""
    assert LEFT_OUT.keys() <= all_names(MODULES)
