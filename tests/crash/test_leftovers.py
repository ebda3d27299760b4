"""What a fault leaves behind is passed over, told, or mended by the next who looks."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock


def op(memory: Memory, name: str, /, **arguments: Any) -> dict[str, Any]:
    return memory.call("MemoryTool", {"op": name, **arguments})


def refuse_once(monkeypatch: pytest.MonkeyPatch, refused: Callable[[str], bool]) -> None:
    """The disk fails to open one file, and never again."""
    real, left = os.open, [1]

    def fail(path: Any, *rest: Any, **more: Any) -> int:
        if left and refused(str(path)):
            left.pop()
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", fail)


def test_a_page_the_disk_refused_once_is_read_on_the_next_look(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "memory").mkdir()
    (home / "memory/a.md").write_text("papaya\n")
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10**9)  # long enough ago for its stamp to be believed
    refuse_once(monkeypatch, lambda path: path.endswith("a.md"))
    refused = memory.call("memory_search", {"query": "papaya"})
    assert "memory/a.md" in refused["warning"]
    reply = memory.call("memory_search", {"query": "papaya"})
    assert [hit["path"] for hit in reply["results"]] == ["memory/a.md"]
    assert "warning" not in reply


def test_a_key_left_in_two_categories_is_listed_once_and_as_it_is_read(
    memory: Memory, home: Path, clock: FrozenClock
) -> None:
    op(memory, "setGlobal", key="team", value="dodo")
    left_behind = (home / "memory/global/general/team.md").read_bytes()
    clock.advance(minutes=1)
    op(memory, "setGlobal", key="team", value="capybara", category="work")
    (home / "memory/global/general").mkdir(exist_ok=True)
    (home / "memory/global/general/team.md").write_bytes(left_behind)
    assert op(memory, "getGlobal", key="team")["value"] == "capybara"
    assert [row["value"] for row in op(memory, "listGlobal")["results"]] == ["capybara"]
    assert op(memory, "searchGlobal", query="dodo")["results"] == []
    assert [row["value"] for row in op(memory, "search", query="team")["results"]] == ["capybara"]
    op(memory, "setGlobal", key="team", value="dugong", category="work")
    assert not (home / "memory/global/general/team.md").exists()


def test_a_channel_whose_name_cannot_be_read_is_reported(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    op(memory, "setChannel", channelName="New One", key="k", value="v")
    refuse_once(monkeypatch, lambda path: path.endswith("k.md"))
    assert "memory/channels/new-one~" in op(memory, "listChannels")["warning"]
    assert op(memory, "listChannels") == {"success": True, "channels": ["New One"]}


def test_a_search_of_the_registry_names_a_skill_it_could_not_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    op(memory, "createSkill", name="s", description="papaya")
    refuse_once(monkeypatch, lambda path: path.endswith("SKILL.md"))
    assert "skills/s/SKILL.md" in op(memory, "search", query="papaya")["warning"]
    assert len(op(memory, "search", query="papaya")["results"]) == 1


def test_a_skill_whose_data_the_disk_refused_once_is_found_by_it_on_the_next_look(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "skills/s").mkdir(parents=True)
    (home / "skills/s/SKILL.md").write_text("---\nname: s\ndescription: d\n---\n\ndo\n")
    (home / "skills/s/data.json").write_text('{"fruit": "papaya"}')
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10**9)
    refuse_once(monkeypatch, lambda path: path.endswith("data.json"))
    assert "skills/s/data.json: Input/output error" in memory.call("memory_search", {"query": "papaya"})["warning"]
    reply = memory.call("memory_search", {"query": "papaya"})
    assert [hit["path"] for hit in reply["results"]] == ["skills/s/SKILL.md"]
    assert "warning" not in reply
