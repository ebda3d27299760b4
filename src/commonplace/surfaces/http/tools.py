"""Every tool of the catalog: listed, and called with its arguments as the body. The answer is the tool's own."""

from __future__ import annotations

from typing import Any

from ...errors import QuotaExceeded
from ...schema import ANY, TEXT, array, object_of, one_of
from ...server import service
from ...tools import catalog
from .endpoints import ApiRequest, Endpoint, Parameter, Reply, ResponseSpec
from .problems import Problem, status_of

_TOOLSET = Parameter("toolset", one_of(*catalog.TOOLSETS), "Whose tool is meant, of a shared name.")
_TOOL = object_of({"name": TEXT, "description": TEXT, "inputSchema": ANY, "outputSchema": ANY, "annotations": ANY})


def list_tools(request: ApiRequest) -> dict[str, Any]:
    """Return the tools that this caller may call."""
    return {"tools": service.list_tools(request.grant, _chosen_toolsets(request), request.home)}


def _chosen_toolsets(request: ApiRequest) -> tuple[str, ...]:
    return (request.parameters["toolset"],) if "toolset" in request.parameters else catalog.TOOLSETS


def call_tool(request: ApiRequest) -> Reply:
    name = request.parameters["name"]
    toolsets = _chosen_toolsets(request)
    names = [offer.name for offer in catalog.offers(toolsets)]
    if name not in names:
        allowed = [each for each in names if service.may_call(request.grant, each, toolsets, request.home)]
        raise Problem(404, f"there is no tool {name!a}: there are {', '.join(allowed)}")
    if not service.may_call(request.grant, name, toolsets, request.home):
        raise Problem(403, f"this token only reads, and {name} may write: use one that writes")
    outcome = request.memory.attempt(name, request.body, toolsets, session=request.caller.session)
    if isinstance(outcome.error, QuotaExceeded):  # of the server, not of the tool
        raise outcome.error
    return Reply(outcome.reply, status_of(outcome.error) if outcome.error else 200)


CALL = Endpoint(
    "POST",
    "/v1/tools/{name}",
    call_tool,
    "Call a tool.",
    tag="tools",
    body={"type": "object"},
    parameters=[
        Parameter("name", {"type": "string", "maxLength": 200}, "The name of the tool.", "path", required=True),
        _TOOLSET,
    ],
    responses={200: ResponseSpec("The tool's own answer.", {"type": "object"})},
    problems=[404, 409, 422],
    has_no_timeout=True,
)
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/tools",
        list_tools,
        "The tools you may call, with their schemas.",
        parameters=[_TOOLSET],
        tag="tools",
        responses={200: ResponseSpec("The tools.", object_of({"tools": array(_TOOL)}))},
    ),
    CALL,
]
