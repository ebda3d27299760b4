"""WHO ELSE'S INTERFACE DO WE SPEAK? One small file a framework, imported only on use.

What frameworks that take plain functions have in common is here: the tools of a memory, each ready to be called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..memory import Memory
from ..tools import catalog
from ..tools.define import Tool


class Function(NamedTuple):
    """A tool of one memory, under the name it is offered by beside the others."""

    name: str
    description: str
    tool: Tool
    memory: Memory
    toolsets: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        return self.tool.schema()

    def __call__(self, arguments: Mapping[str, Any] | str | None) -> str:
        """The answer as a model reads it: JSON. What a model does wrong is answered, never raised."""
        reply = self.memory.call(self.name, arguments, self.toolsets)
        return json.dumps(reply, ensure_ascii=False)


def functions(memory: Memory, toolsets: str | Sequence[str] = catalog.EVERYDAY) -> list[Function]:
    """The tools of a toolset or some, as an agent of this memory may call them."""
    chosen = tuple(dict.fromkeys([toolsets] if isinstance(toolsets, str) else toolsets))
    offers = catalog.offers(chosen, memory.home)
    return [Function(offer.name, offer.description, offer.tool, memory, chosen) for offer in offers]
