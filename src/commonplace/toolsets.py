"""The toolsets and their tools, and the names of tools when several toolsets are served together.

No tool is loaded for this: assembling a prompt only names tools, and must be quick.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

# The first toolset with a tool of a name keeps the plain name: `memory_search` is retrieval's.
TOOLS = {
    "retrieval": ("memory_search", "memory_get"),
    "notes": ("memory_write", "memory_update", "memory_read", "memory_search"),
    "working": ("search_memory", "write_memory", "write_session_handoff", "scratch_note"),
    "journal": ("recall", "remember", "reflect", "update_world"),
    "registry": ("MemoryTool",),
}
TOOLSETS = tuple(TOOLS)
# Tools that write nothing, for callers who may only read.
READERS = {
    "retrieval": ("memory_search", "memory_get"),
    "notes": ("memory_read", "memory_search"),
    "working": ("search_memory",),
    "journal": ("recall",),
}
# A selection of tools, not a toolset: enough for everything, with one tool for each purpose.
EVERYDAY_NAME = "everyday"
EVERYDAY = (EVERYDAY_NAME,)  # what an agent is given by default
_EVERYDAY_TOOLSETS = ("journal", "retrieval", "working")


class ToolName(NamedTuple):
    """A tool of a toolset, the name under which it is offered, and the toolset that keeps its plain name."""

    toolset: str
    plain: str
    name: str
    keeper: str

    @property
    def reads_only(self) -> bool:
        return self.plain in READERS.get(self.toolset, ())


def name_tools(toolsets: Iterable[str], unavailable: Collection[str] = ()) -> list[ToolName]:
    """Return the tools of some toolsets as they are served together, without the toolsets that are unavailable."""
    keepers: dict[str, str] = {}
    tools: list[ToolName] = []
    for toolset, plain in dict.fromkeys(_list_tools(toolsets, unavailable)):
        keeper = keepers.setdefault(plain, toolset)
        name = plain if keeper == toolset else f"{toolset}_{plain}"
        tools.append(ToolName(toolset, plain, name, keeper))
    return tools


def _list_tools(toolsets: Iterable[str], unavailable: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in toolsets:
        for toolset in spell_out([name]):
            if toolset in unavailable:
                continue
            for plain in TOOLS[toolset]:
                if not (name == EVERYDAY_NAME and _is_second_search(plain, unavailable)):
                    yield toolset, plain


def _is_second_search(plain: str, unavailable: Collection[str]) -> bool:
    """Return whether the everyday `memory_search` already covers what a tool searches."""
    return plain == "search_memory" and "retrieval" not in unavailable


def spell_out(toolsets: Iterable[str]) -> list[str]:
    """Return toolsets with the everyday selection replaced by the toolsets it is made from."""
    listed = [_EVERYDAY_TOOLSETS if name == EVERYDAY_NAME else (name,) for name in toolsets]
    return [toolset for group in listed for toolset in group]
