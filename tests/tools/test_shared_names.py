from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from commonplace import Memory
from commonplace.tools.catalog import TOOLSETS, offers


def form_of(reply: dict[str, Any]) -> str:
    """Which toolset answered an empty call, told by its form."""
    if reply.get("status") == "error":
        return "working"
    if isinstance(reply.get("error"), dict):
        return "notes"
    if "results" in reply or "path" in reply:
        return "retrieval"
    return "registry" if str(reply.get("error")).endswith(": op") else "journal"


@pytest.mark.parametrize(
    "toolsets", [chosen for size in (1, 2, 5) for chosen in permutations(TOOLSETS, size)][::7], ids="-".join
)
def test_every_name_that_is_offered_calls_the_tool_it_describes(memory: Memory, toolsets: tuple[str, ...]) -> None:
    for offer in offers(toolsets):
        if offer.name not in ("recall", "scratch_note"):  # these two do something when called with nothing
            assert form_of(memory.call(offer.name, {}, toolset=toolsets)) == offer.toolset.name, offer.name


@pytest.mark.parametrize("toolset", [[], ["none"], 5, [5], {"notes"}])
def test_a_toolset_that_is_none_is_told(memory: Memory, toolset: Any) -> None:
    assert "journal" in memory.call("recall", {}, toolset)["error"]


def test_arguments_of_another_operation_are_told(memory: Memory) -> None:
    reply = memory.call("MemoryTool", {"op": "listGlobal", "username": "ann"})
    assert "username" in reply["warning"]
    assert "warning" not in memory.call("MemoryTool", {"op": "listGlobal", "category": "x"})
