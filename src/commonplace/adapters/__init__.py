"""Adapters for agent frameworks, one file or folder each, imported only on use.

What adapters for plain-function frameworks share: the tools of a memory as callables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..framing import to_json
from ..memory import Memory
from ..tools import catalog
from ..tools.define import Tool
from ..toolsets import EVERYDAY


class Function(NamedTuple):
    """A tool of one memory, under the name by which it is offered."""

    name: str
    description: str
    tool: Tool
    memory: Memory
    toolsets: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        return self.tool.schema()

    def __call__(self, arguments: Mapping[str, Any] | str | None) -> str:
        """Return the answer as JSON. A mistake by the model is reported in the answer, never raised."""
        reply = self.memory.call(self.name, arguments, self.toolsets)
        return to_json(reply)


def functions(memory: Memory, toolsets: str | Sequence[str] = EVERYDAY) -> list[Function]:
    """Return the tools of one or more toolsets that an agent of this memory may call."""
    names = tuple(dict.fromkeys([toolsets] if isinstance(toolsets, str) else toolsets))
    offers = catalog.offers(names, memory.home)
    return [Function(offer.name, offer.description, offer.tool, memory, names) for offer in offers]
