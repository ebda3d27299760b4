"""The public handle: what is not a tool, a search or a context."""

from __future__ import annotations

import gc
import os
import queue
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import commonplace.testing  # noqa: F401  adds the backend `memory://`
from commonplace import Memory
from commonplace.errors import InvalidArgument
from commonplace.index.watcher import PageChanges

from .waiting import LONG_SECONDS

NUMBERS = count()


@pytest.fixture(params=["folder", "memory"])
def address(request: pytest.FixtureRequest, home: Path) -> str:
    return str(home) if request.param == "folder" else f"memory://watched-{next(NUMBERS)}"


def test_a_memory_of_any_backend_can_be_watched(address: str) -> None:
    seen: queue.Queue[PageChanges] = queue.Queue()
    with Memory(address) as memory, memory.watch(seen.put):
        memory.call("update_world", {"topic": "tea", "content": "Ann drinks oolong."})
        assert seen.get(timeout=LONG_SECONDS).changed == ("memory/world/tea.md",)
        assert memory.search("oolong")


def test_a_watch_reports_only_what_its_agent_may_see(address: str) -> None:
    seen: queue.Queue[PageChanges] = queue.Queue()
    with Memory(address, "ann") as ann, Memory(address, "bob") as bob, ann.watch(seen.put):
        bob.call("remember", {"content": "a secret of Bob"})
        ann.call("update_world", {"topic": "tea", "content": "Ann drinks oolong."})
        paths: list[str] = []
        while "memory/world/tea.md" not in paths:
            paths += seen.get(timeout=LONG_SECONDS).changed
    assert not [path for path in paths if path.startswith("agents/bob")]


@pytest.mark.parametrize("agent", [None, 5, "a\0b", "\ud800"])
def test_a_name_of_an_agent_that_is_no_text_is_refused(home: Path, agent: Any) -> None:
    with pytest.raises(InvalidArgument, match="the agent"):
        Memory(home, agent)


NO_TEXT = [5, True, 1.5, ["a"], {"a": 1}]
NO_FLAG = [5, "yes", ["a"], {"a": 1}]


@pytest.mark.parametrize(
    ("name", "call", "wrong"),
    [
        ("session", lambda memory, value: memory.context(session=value), NO_TEXT),
        ("session", lambda memory, value: memory.recall_for("tea?", session=value), NO_TEXT),
        ("channel", lambda memory, value: memory.recall_for("tea?", channel=value), NO_TEXT),
        ("reads_only", lambda memory, value: memory.context(reads_only=value), NO_FLAG),
        ("citation", lambda memory, value: memory.supersede(value, "memory/world/tea.md#L3"), NO_TEXT),
        ("reject", lambda memory, value: memory.supersede("a.md#L1", "a.md#L2", reject=value), NO_FLAG),
        ("shape", lambda memory, value: memory.tools(value), NO_TEXT),
        ("strict", lambda memory, value: memory.tools("openai", strict=value), NO_FLAG),
        ("rebuild", lambda memory, value: memory.build_index(rebuild=value), NO_FLAG),
    ],
)
def test_an_argument_of_the_handle_that_has_another_type_is_refused(
    memory: Memory, name: str, call: Callable[[Memory, Any], object], wrong: list[Any]
) -> None:
    for value in wrong:
        with pytest.raises(InvalidArgument, match=name):
            call(memory, value)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_handle_that_is_dropped_leaves_no_file_open(home: Path) -> None:
    gc.disable()  # objects that refer to each other would be collected sooner or later
    try:
        memory = Memory(home)
        memory.call("remember", {"content": "Ann drinks oolong."})
        assert memory.search("oolong")
        assert open_files_below(home)
        del memory
        assert open_files_below(home) == []
    finally:
        gc.enable()


def open_files_below(folder: Path) -> list[str]:
    links = [os.path.join("/proc/self/fd", number) for number in os.listdir("/proc/self/fd")]
    targets = [os.readlink(link) for link in links if os.path.lexists(link)]
    return [target for target in targets if target.startswith(str(folder))]
