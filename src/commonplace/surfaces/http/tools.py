"""Every tool of the catalog: listed, and called with its arguments as the body. The answer is the tool's own."""

from __future__ import annotations

from typing import Any

from ...schema import ANY, TEXT, array, object_of, one_of
from ...tools import catalog
from ...tools import schemas as shapes
from .endpoints import Asked, Endpoint, Given, Parameter, Reply
from .problems import Problem, status_of

_TOOLSET = Parameter("toolset", one_of(*catalog.TOOLSETS), "Whose tool is meant, of a shared name.")
_TOOL = object_of({"name": TEXT, "description": TEXT, "inputSchema": ANY, "outputSchema": ANY, "annotations": ANY})


def tools(asked: Asked) -> dict[str, Any]:
    """Those that this caller may call."""
    chosen = _chosen(asked)
    described = shapes.describe("mcp", chosen, asked.home)
    return {"tools": [tool for tool in described if _may_call(asked, tool["name"], chosen)]}


def _may_call(asked: Asked, name: str, toolsets: tuple[str, ...]) -> bool:
    return asked.grant.may_write or catalog.only_reads(name, toolsets)


def _chosen(asked: Asked) -> tuple[str, ...]:
    return (asked.given["toolset"],) if "toolset" in asked.given else catalog.TOOLSETS


def call(asked: Asked) -> Reply:
    name, chosen = asked.given["name"], _chosen(asked)
    names = [offer.name for offer in catalog.offers(chosen)]
    if name not in names:
        usable = [each for each in names if _may_call(asked, each, chosen)]
        raise Problem(404, f"there is no tool {name!a}: there are {', '.join(usable)}")
    if not _may_call(asked, name, chosen):
        raise Problem(403, f"this token only reads, and {name} may write: use one that writes")
    outcome = asked.memory.attempt(name, asked.body, chosen, session=asked.caller.session)
    return Reply(outcome.reply, status_of(outcome.error) if outcome.error else 200)


CALL = Endpoint(
    "POST",
    "/v1/tools/{name}",
    call,
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
        tools,
        "The tools you may call, with their schemas.",
        takes=[_TOOLSET],
        tag="tools",
        answers={200: Given("The tools.", object_of({"tools": array(_TOOL)}))},
    ),
    CALL,
]
