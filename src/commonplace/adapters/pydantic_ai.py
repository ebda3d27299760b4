"""pydantic-ai: memory's tools as a toolset for an agent, and its context as instructions, read again in each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import NotInstalled
from ..memory import Memory
from ..tools.schemas import strict_schema
from ..toolsets import EVERYDAY
from . import Function, functions

try:
    from pydantic_ai import FunctionToolset, RunContext, Tool
except ImportError as error:
    raise NotInstalled("pydantic-ai", "pydantic-ai") from error


class CommonplaceToolset(FunctionToolset[Any]):
    """The tools of some toolsets, for `Agent(toolsets=[...])`. Calls run in threads, and side by side.

    `strict` asks the model's API to bind the model to the schema. `id` is for agents with more than one of these.
    """

    def __init__(
        self,
        memory: Memory,
        toolsets: Sequence[str] = EVERYDAY,
        *,
        strict: bool = False,
        id: str | None = "commonplace",  # noqa: A002
    ) -> None:
        super().__init__([_tool(each, strict=strict) for each in functions(memory, toolsets)], id=id)


def instructions(
    memory: Memory,
    *,
    user: str | None = None,
    channel: str | None = None,
    budget: int | None = None,
    recall: bool = True,
) -> Callable[[RunContext[Any]], str]:
    """Return a function for `Agent(instructions=...)`: the context, and with `recall` also what answers the prompt."""

    def context(run: RunContext[Any]) -> str:
        query = run.prompt if recall and isinstance(run.prompt, str) and run.prompt.strip() else None
        return str(memory.context(user=user, channel=channel, budget=budget, query=query))

    return context


def _tool(function: Function, *, strict: bool) -> Tool[Any]:
    def call(**arguments: Any) -> str:
        return function(arguments)

    schema = strict_schema(function.tool.parameters) if strict else function.schema
    tool: Tool[Any] = Tool.from_schema(call, function.name, function.description, schema)
    tool.strict = strict or None
    return tool
