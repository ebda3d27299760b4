"""Every tool of the catalog: listed, and called with its arguments as the body. The answer is the tool's own."""

from __future__ import annotations

from typing import Any

from ...schema import ANY, TEXT, array, object_of, one_of
from ...tools import catalog, schemas
from .endpoints import Asked, Endpoint, Given, Parameter, Reply
from .problems import Problem, status_of

_TOOLSET = Parameter("toolset", one_of(*catalog.TOOLSETS), "Whose tool is meant, of a shared name.")
_TOOL = object_of({"name": TEXT, "description": TEXT, "inputSchema": ANY, "outputSchema": ANY, "annotations": ANY})


def list_tools(asked: Asked) -> dict[str, Any]:
    """Return the tools that this caller may call."""
    toolsets = _chosen_toolsets(asked)
    tools = schemas.describe("mcp", toolsets, asked.home)
    return {"tools": [tool for tool in tools if _may_call(asked, tool["name"], toolsets)]}


def _may_call(asked: Asked, name: str, toolsets: tuple[str, ...]) -> bool:
    return asked.grant.may_write or catalog.only_reads(name, toolsets)


def _chosen_toolsets(asked: Asked) -> tuple[str, ...]:
    return (asked.given["toolset"],) if "toolset" in asked.given else catalog.TOOLSETS


def call_tool(asked: Asked) -> Reply:
    name = asked.given["name"]
    toolsets = _chosen_toolsets(asked)
    names = [offer.name for offer in catalog.offers(toolsets)]
    if name not in names:
        allowed = [each for each in names if _may_call(asked, each, toolsets)]
        raise Problem(404, f"there is no tool {name!a}: there are {', '.join(allowed)}")
    if not _may_call(asked, name, toolsets):
        raise Problem(403, f"this token only reads, and {name} may write: use one that writes")
    outcome = asked.memory.attempt(name, asked.body, toolsets, session=asked.caller.session)
    return Reply(outcome.reply, status_of(outcome.error) if outcome.error else 200)


CALL = Endpoint(
    "POST",
    "/v1/tools/{name}",
    call_tool,
    "Call a tool.",
    tag="tools",
    body={"type": "object"},
    takes=[
        Parameter("name", {"type": "string", "maxLength": 200}, "The name of the tool.", "path", required=True),
        _TOOLSET,
    ],
    answers={200: Given("The tool's own answer.", {"type": "object"})},
    problems=[404, 409, 422],
    waits=True,
)
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/tools",
        list_tools,
        "The tools you may call, with their schemas.",
        takes=[_TOOLSET],
        tag="tools",
        answers={200: Given("The tools.", object_of({"tools": array(_TOOL)}))},
    ),
    CALL,
]
