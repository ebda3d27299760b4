"""Copies between two folders. Copies to and from a database are in tests/postgres/test_copy.py."""

from __future__ import annotations

from pathlib import Path

from commonplace import Memory
from commonplace.maintenance.backup import copy
from commonplace.testing import FrozenClock


def write_topics(memory: Memory, **topics: str) -> None:
    for topic, content in topics.items():
        assert memory.call("update_world", {"topic": topic, "content": content})["success"]


def test_pages_that_a_copy_replaces_say_who_copied_them_and_are_one_call(tmp_path: Path, clock: FrozenClock) -> None:
    source = Memory(tmp_path / "source", clock=clock)
    target = Memory(tmp_path / "target", agent="ann", clock=clock)
    write_topics(source, tea="Green.", coffee="Never.")
    write_topics(target, tea="Black.", coffee="Always.")
    assert copy(source.home, target.home, overwrite=True).different == ("memory/world/coffee.md", "memory/world/tea.md")
    history = target.home.storage.history
    tea = history.changes("memory/world/tea.md")[-1]
    coffee = history.changes("memory/world/coffee.md")[-1]
    assert (tea.tool, tea.agent) == ("copy", "ann")
    assert tea.call == coffee.call != ""


def test_what_was_copied_is_found_at_once_and_keeps_its_own_authors(tmp_path: Path, clock: FrozenClock) -> None:
    source = Memory(tmp_path / "source", agent="bob", clock=clock)
    target = Memory(tmp_path / "target", agent="ann", clock=clock)
    assert target.search("rooibos") == []
    write_topics(source, tea="Ann drinks rooibos.")
    assert "memory/world/tea.md" in copy(source.home, target.home).added
    assert target.search("rooibos")[0].path == "memory/world/tea.md"
    (change,) = target.home.storage.history.changes("memory/world/tea.md")
    assert (change.tool, change.agent) == ("update_world", "bob")
