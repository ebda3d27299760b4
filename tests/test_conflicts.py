"""Two sides change one page: what does not meet stays on both sides, what does is said and kept."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.maintenance.doubts import answer_doubt, list_doubts
from commonplace.storage.folder.history import FolderHistory
from commonplace.storage.folder.pages import FolderPages
from commonplace.testing import FrozenClock

CURATED = "agents/main/memory/MEMORY.md"
PAGE = "# Ann\n\nLikes tea.\n\n# Bob\n\nLikes coffee.\n\n# Cleo\n\nLikes water.\n"


@pytest.fixture
def page(home: Path) -> Path:
    return home / CURATED


def test_a_hand_edit_elsewhere_on_the_page_survives_a_rewrite(memory: Memory, page: Path) -> None:
    memory.call("reflect", {"content": PAGE})
    page.write_text(PAGE.replace("tea", "green tea"))
    reply = memory.call("reflect", {"content": PAGE.replace("water", "still water")})
    assert page.read_text() == PAGE.replace("tea", "green tea").replace("water", "still water")
    assert "both changes" in reply["warning"]
    assert "conflict" not in reply


def test_of_two_rewrites_of_one_place_the_later_wins_and_the_earlier_is_in_history(
    memory: Memory, home: Path, page: Path, clock: FrozenClock
) -> None:
    memory.call("reflect", {"content": PAGE})
    other = Memory(home, clock=clock)
    assert "Likes tea" in other.call("recall")["content"]
    memory.call("reflect", {"content": PAGE.replace("tea", "green tea")})
    reply = other.call("reflect", {"content": PAGE.replace("tea", "black tea")})
    assert page.read_text() == PAGE.replace("tea", "black tea")
    assert reply["conflict"] == "Likes green tea."
    assert "had changed since you read it" in reply["warning"]
    remaining = [data for _, data in memory.home.storage.history.versions(CURATED)]
    assert PAGE.replace("tea", "green tea").encode() in remaining


def test_a_topic_that_a_context_showed_is_the_base_of_a_rewrite(home: Path) -> None:
    topic = home / "memory/world/ferry.md"
    ann, ben = Memory(home, agent="ann"), Memory(home, agent="ben")
    ann.call("update_world", {"topic": "ferry", "content": "Leaves at noon.\n\nTakes cars."})
    assert "Takes cars." in ben.context(query="does the ferry take cars?").text
    ann.call("update_world", {"topic": "ferry", "content": "Leaves at noon.\n\nTakes cars.\n\nCosts 20 francs."})
    reply = ben.call("update_world", {"topic": "ferry", "content": "Has a bar.\n\nLeaves at noon.\n\nTakes cars."})
    text = topic.read_text()
    assert [line for line in text.split("\n") if line] == [
        "Has a bar.",
        "Leaves at noon.",
        "Takes cars.",
        "Costs 20 francs.",
    ]
    assert "conflict" not in reply


def test_a_topic_of_which_a_context_showed_a_part_is_replaced(home: Path) -> None:
    topic = home / "memory/world/ferry.md"
    ann, ben = Memory(home, agent="ann"), Memory(home, agent="ben")
    ann.call("update_world", {"topic": "ferry", "content": "Leaves at noon.\n\n" + "It is very slow.\n" * 500})
    assert "Leaves at noon." in ben.context(budget=400).text
    ben.call("update_world", {"topic": "ferry", "content": "Leaves at one."})
    assert topic.read_text().strip() == "Leaves at one."


def test_a_page_of_another_agent_replaced_unread_is_a_conflict_and_ones_own_is_none(home: Path) -> None:
    ann, bob = Memory(home, "ann"), Memory(home, "bob")
    assert "conflict" not in ann.call("update_world", {"topic": "tea", "content": "Green."})
    assert "conflict" not in ann.call("update_world", {"topic": "tea", "content": "Green or black."})
    assert "conflict" not in Memory(home, "ann").call("update_world", {"topic": "tea", "content": "Green, black."})
    reply = bob.call("update_world", {"topic": "tea", "content": "Rooibos."})
    assert reply["conflict"] == "Green, black."
    assert "had not read" in reply["warning"]
    assert bob.call("recall")["success"]
    assert "conflict" not in bob.call("update_world", {"topic": "tea", "content": "Rooibos and mint."})


def test_a_page_that_did_not_change_since_it_was_read_is_rewritten_as_given(memory: Memory, page: Path) -> None:
    page.parent.mkdir(parents=True)
    page.write_text("By hand.\n")
    memory.call("recall")
    assert memory.call("reflect", {"content": "New.\n"}) == {"success": True, "content": f"Rewrote {CURATED}."}
    assert page.read_text() == "New.\n"


def test_a_note_edited_by_hand_since_it_was_read_is_replaced_and_the_reply_says_so(memory: Memory, page: Path) -> None:
    memory.call("memory_write", {"key": "tea", "content": "Green.", "target": "summary"})
    memory.call("memory_write", {"key": "milk", "content": "Oat.", "target": "summary"})
    memory.call("memory_read", {"key": "tea"})
    page.write_text(page.read_text().replace("Green.", "Green, from the shop in the harbour."))
    reply = memory.call("memory_update", {"key": "tea", "content": "Black."})
    assert reply["success"]
    assert "conflict" in reply
    page.write_text(page.read_text().replace("Oat.", "Oat, unsweetened."))
    reply = memory.call("memory_update", {"key": "tea", "content": "White."})
    assert "conflict" not in reply
    assert "Oat, unsweetened." in page.read_text()


def test_appends_of_two_sides_both_stay(memory: Memory, home: Path, clock: FrozenClock) -> None:
    memory.call("write_memory", {"key": "list", "content": "one"})
    page = home / "agents/main/memory/working/list.md"
    page.write_text(page.read_text().rstrip("\n") + "\nby hand\n")
    reply = memory.call("write_memory", {"key": "list", "content": "two", "mode": "append"})
    assert "conflict" not in reply
    assert page.read_text().endswith("one\nby hand\ntwo\n")


def test_a_stale_save_by_hand_stays_and_what_it_left_out_is_reported(memory: Memory, page: Path) -> None:
    memory.call("memory_write", {"key": "tea", "content": "Green.", "target": "summary"})
    opened = page.read_text()
    memory.call("memory_write", {"key": "milk", "content": "Oat.", "target": "summary"})
    page.write_text(opened.replace("Green.", "Black."))  # the editor had opened the page before
    reply = memory.call("memory_write", {"key": "sugar", "content": "None.", "target": "summary"})
    assert "left out what main (memory_write) wrote" in reply["conflict"]
    assert "Black." in page.read_text()
    assert "Oat." not in page.read_text()
    assert any(b"Oat." in (data or b"") for _, data in memory.home.storage.history.versions(CURATED))
    assert [change.why for change in memory.home.storage.history.changes(CURATED) if not change.tool] == [
        "left out what main (memory_write) wrote"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("26 November.", "27 November."),  # what the answer is about
        (" <!--", " In Graz. <!--"),
        (" <!-- commonplace: supersedes ANSWER -->", ""),
    ],
)
def test_an_edit_by_hand_of_what_a_review_marked_is_no_conflict(
    memory: Memory, home: Path, clock: FrozenClock, old: str, new: str
) -> None:
    memory.call("remember", {"content": "The launch is on 12 November."})
    clock.advance(hours=1)
    memory.call("remember", {"content": "The launch is on 26 November."})
    (doubt,) = list_doubts(memory.home)
    answer_doubt(memory.home, doubt.id, "new")
    page = home / "agents/main/memory/daily/2026-03-14.md"
    text = page.read_text()
    old = old.replace("ANSWER", doubt.id[:8])
    assert old in text
    page.write_text(text.replace(old, new))
    reply = memory.call("remember", {"content": "Carl joined."})
    assert "conflict" not in reply
    assert [change.why for change in memory.home.storage.history.changes() if not change.tool] == [""]


def test_an_entry_that_is_corrected_by_hand_is_no_conflict(memory: Memory, home: Path) -> None:
    memory.call("memory_write", {"key": "tea", "content": "Green.", "target": "summary"})
    memory.call("reflect", {"content": "We moved to Graz in May.\n"})
    page = home / CURATED
    page.write_text(page.read_text().replace("in May", "in early June"))
    assert "conflict" not in memory.call("memory_write", {"key": "milk", "content": "Oat.", "target": "summary"})


def open_pages(root: Path) -> FolderPages:
    return FolderPages(str(root), history=FolderHistory(str(root / ".history"), str(root / ".locks"), FrozenClock()))


def test_an_editor_that_renames_its_save_into_place_in_the_last_instant_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new text is on disk, and about to take its place, when the editor saves."""
    pages = open_pages(tmp_path)
    pages.write("a.md", "one\n")
    real, saved = os.fsync, []

    def fsync(handle: int) -> None:
        real(handle)
        if not saved:
            saved.append(True)
            (tmp_path / "a.md~").write_text("one\nby hand\n")
            os.rename(tmp_path / "a.md~", tmp_path / "a.md")

    monkeypatch.setattr(os, "fsync", fsync)
    pages.append("a.md", "by tool\n")
    assert (tmp_path / "a.md").read_text() == "one\nby hand\nby tool\n"


def test_an_editor_in_the_middle_of_saving_in_place_is_waited_for(tmp_path: Path) -> None:
    """It has opened the page, and emptied it, when the tool comes; its text is written only after."""
    pages = open_pages(tmp_path)
    pages.write("a.md", "one\n")
    editor = (tmp_path / "a.md").open("w")
    tool = threading.Thread(target=pages.append, args=("a.md", "by tool\n"))
    tool.start()
    editor.write("one\nby hand\n")
    editor.close()
    tool.join()
    assert (tmp_path / "a.md").read_text() == "one\nby hand\nby tool\n"


def test_a_page_made_or_removed_by_hand_in_the_last_instant_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = open_pages(tmp_path)
    real, saved = os.fsync, []

    def fsync(handle: int) -> None:
        real(handle)
        if not saved:
            saved.append(True)
            (tmp_path / "a.md").write_text("by hand\n")

    monkeypatch.setattr(os, "fsync", fsync)
    pages.append("a.md", "by tool\n")
    assert (tmp_path / "a.md").read_text() == "by hand\nby tool\n"
    saved.clear()
    monkeypatch.setattr(os, "fsync", lambda handle: saved or (saved.append(1), (tmp_path / "a.md").unlink()))
    pages.append("a.md", "again\n")
    assert (tmp_path / "a.md").read_text() == "again\n"


def test_a_save_by_hand_that_conflicts_with_a_tool_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = open_pages(tmp_path)
    pages.write("a.md", "one\n")
    version = pages.read("a.md").version
    real, saved = os.fsync, []

    def fsync(handle: int) -> None:
        real(handle)
        if not saved:
            saved.append(True)
            (tmp_path / "b").write_text("by hand\n")
            os.rename(tmp_path / "b", tmp_path / "a.md")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(Exception, match="has changed since"):
        pages.write("a.md", "by tool\n", if_version=version)
    assert (tmp_path / "a.md").read_text() == "by hand\n"
    assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] == []
