"""Search, with highlights and the reasons for each hit; the context, with its receipt; and every tool of the catalog,
listed, and called with its arguments as the body. The answer is the tool's own."""

from __future__ import annotations

import time
from typing import Any

from ...context.prompt_recall import DEFAULT_BUDGET_TOKENS, recall_for
from ...errors import QuotaExceeded
from ...index.recalls import Conversation, without_recalls
from ...index.tokenizer import find_highlights, to_utf16
from ...model import Hit, Viewer
from ...schema import ANY, BOOLEAN, COUNT, INTEGER, NUMBER, TEXT, array, integer, object_of, one_of
from ...search.filters import FILTERS
from ...search.pipeline import SearchResult
from ...search.scoring import explain_hit
from ...server import service
from ...tools import catalog
from ...tools.define import Answer, Maybe
from ...tools.retrieval import HIT, SEARCH_ANSWER, SEARCH_FIELDS, hit_row
from ...toolsets import TOOLSETS
from .endpoints import DAY, INTEGER_OR_NULL, ApiRequest, Endpoint, Parameter, Problem, Reply, ResponseSpec, status_of
from .pages import page_title

_HIT = HIT | Answer(
    title=str,
    marks=[[int]],
    validity=Maybe(one_of("over", "ahead")),
    why=Maybe({"type": "object", "additionalProperties": NUMBER}),
)
_FOUND = SEARCH_ANSWER | Answer(
    results=[_HIT], verdict=one_of("found", "weak", "nothing"), stale=bool, warnings=[str], took_ms=Maybe(float)
)
_RECEIPT = object_of(
    {"tokens": INTEGER, "tokens_are": TEXT, "sections": array(ANY), "warnings": array(TEXT)},
    budget=INTEGER_OR_NULL,
)
_CONTEXT = ResponseSpec("The text, and its receipt.", object_of({"text": TEXT, "receipt": _RECEIPT}))
_DAYS = {
    "description": "A day like 2026-03-14, a month like 2026-03, a year, today or yesterday.",
    "anyOf": [
        DAY,
        {"type": "string", "pattern": r"^[12]\d{3}(-(0[1-9]|1[0-2]))?$"},
        one_of("today", "yesterday", "last week", "last month", "this week", "this month"),
    ],
}
_SCOPE = {
    "type": "string",
    "maxLength": 200,
    "pattern": r"^(shared|world|global|channel|skill|agent|extra)(:[^\x00-\x1f]+)?$",
}
_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_QUESTION = {"type": "string", "minLength": 1, "maxLength": 2000, "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}
_PROMPT = {"type": "string", "maxLength": 20_000, "pattern": r"^[^\x00]*$"}
_PARAMETERS = [
    Parameter("q", _QUESTION, "What you want to know, as a question or as key words.", required=True),
    Parameter("limit", COUNT, "How many hits at most; more than 100 count as 100."),
    Parameter("min_score", {"type": "number", "minimum": 0, "maximum": 1}, "Leave out what is less likely."),
    Parameter("keyword", BOOLEAN, "Search by words alone, without embeddings."),
    Parameter("scope", _SCOPE, "Only shared, world, global, channel, skill, agent or extra; or channel:NAME."),
    Parameter("agent_filter", _NAME, "Only what belongs to this agent."),
    Parameter("channel", _NAME, "Only the records of this channel."),
    Parameter("tag", {**array(_NAME), "maxItems": 10}, "Only what has this tag; all of them, if repeated."),
    Parameter("since", _DAYS, "Only from this day on."),
    Parameter("until", _DAYS, "Only up to this day."),
    Parameter("source", one_of("memory", "session", "extra"), "Only from this source."),
    Parameter(
        "path",
        {"type": "string", "minLength": 1, "maxLength": 500, "pattern": r"^[^*\x00]*(\*\*?[^*\x00]+){0,5}\*?\*?$"},
        "Only pages in this folder, or that match this pattern.",
    ),
    Parameter("author", _NAME, "Only what this agent wrote; or outside, import, person, token."),
    Parameter("as_of", _DAYS, "Search memory as it was at the end of this day."),
    Parameter("explain", BOOLEAN, "Include the factors of each score; default: true."),
]
_FILTER_PARAMETERS = {"agent": "agent_filter", "tags": "tag"}  # if it is not named like the filter
_TOOLSET = Parameter("toolset", one_of(*TOOLSETS), "The toolset, if several have a tool of this name.")
_TOOL = object_of({"name": TEXT, "description": TEXT, "inputSchema": ANY, "outputSchema": ANY, "annotations": ANY})


def search_pages(request: ApiRequest) -> dict[str, Any]:
    started = time.perf_counter()
    parameters = request.parameters
    filters = request.home.parse_filters(
        **{name: parameters.get(_FILTER_PARAMETERS.get(name, name)) for name in FILTERS}
    )
    viewer = _view_as(request, parameters.get("agent_filter"))
    with without_recalls():  # browsing does not count as recalling
        result = request.home.search(
            parameters["q"],
            parameters.get("limit"),
            parameters.get("min_score"),
            viewer,
            filters=filters,
            mode="keyword" if parameters.get("keyword") else None,
        )
    reply: dict[str, Any] = {
        "results": _describe_hits(request, result),
        **{name: getattr(result, name) for name in SEARCH_FIELDS},
        "stale": result.stale,
        "warnings": [*result.warnings, *_warn_of_filter(parameters.get("agent_filter"), request, viewer)],
    }
    if request.grant.agents is None:  # the time would reveal how much other agents store
        reply["took_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return reply


def _view_as(request: ApiRequest, agent: str | None) -> Viewer | None:
    """Return the agent that a search is restricted to, as its viewer, if the caller may act for it."""
    fixed = request.caller.fixed.get("agent")
    if not agent or not request.grant.may_be(agent) or fixed not in (None, "", agent):
        return None
    return Viewer(request.home.layout.agent_name(agent))


def _warn_of_filter(agent: str | None, request: ApiRequest, viewer: Viewer | None) -> list[str]:
    if not agent or viewer or agent == request.home.agent:
        return []
    return [f"you may not act for the agent {agent} here, so nothing of it is shown"]


def _describe_hits(request: ApiRequest, result: SearchResult) -> list[dict[str, Any]]:
    rows = [_describe_hit(request, hit) for hit in result.hits]
    if request.parameters.get("explain", True):
        rows = [{**row, "why": explain_hit(each)} for row, each in zip(rows, result.ranked, strict=True)]
    return rows


def _describe_hit(request: ApiRequest, hit: Hit) -> dict[str, Any]:
    place = request.home.index.scope.place(hit.path)
    title = hit.key or (page_title(request.home, hit.path, place) if place else hit.path)
    spans = to_utf16(hit.text, find_highlights(hit.text, request.parameters["q"]))
    return {**hit_row(hit), "title": title, "marks": [list(span) for span in spans]}


def get_context(request: ApiRequest) -> dict[str, Any]:
    parameters = request.parameters
    with without_recalls():
        context = request.memory.context(
            user=request.caller.choose("user", parameters.get("user")),
            channel=request.caller.choose("channel", parameters.get("channel")),
            budget=parameters.get("budget"),
            query=parameters.get("query") or None,
            only_approved=parameters.get("only_approved", False),
            reads_only=not request.grant.may_write,
            session=request.caller.session,
        )
    return {"text": context.text, "receipt": context.receipt}


def recall_for_prompt(request: ApiRequest) -> dict[str, Any]:
    """Return what to add before a prompt. Without a session, what the conversation was given is unknown."""
    session = request.caller.session
    recall = recall_for(
        request.home,
        request.parameters["prompt"],
        request.parameters.get("budget", DEFAULT_BUDGET_TOKENS),
        request.home.open_conversation(session) if session else Conversation(),
        session=session,
        user=request.caller.choose("user", request.parameters.get("user")),
        channel=request.caller.choose("channel", request.parameters.get("channel")),
    )
    return {"text": recall.text, "receipt": recall.receipt}


def list_tools(request: ApiRequest) -> dict[str, Any]:
    """Return the tools that this caller may call."""
    return {"tools": service.list_tools(request.grant, _chosen_toolsets(request), request.home)}


def _chosen_toolsets(request: ApiRequest) -> tuple[str, ...]:
    return (request.parameters["toolset"],) if "toolset" in request.parameters else TOOLSETS


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
    if isinstance(outcome.error, QuotaExceeded):  # an error of the server, not of the tool
        raise outcome.error
    return Reply(outcome.reply, status_of(outcome.error) if outcome.error else 200)


CALL = Endpoint(
    "POST /v1/tools/{name}",
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
        "GET /v1/search",
        search_pages,
        "The passages that answer a question, best first.",
        parameters=_PARAMETERS,
        responses={200: ResponseSpec("What was found.", _FOUND.schema())},
    ),
    Endpoint(
        "GET /v1/context",
        get_context,
        "What a model should read first, and what it is made of.",
        parameters=[
            Parameter("user", _NAME, "The user."),
            Parameter("channel", _NAME, "The channel."),
            Parameter("budget", integer(0, 10**9), "How many tokens at most."),
            Parameter("query", {"type": "string", "maxLength": 2000}, "The question to recall memory for."),
            Parameter("only_approved", BOOLEAN, "Only what a person wrote or approved."),
        ],
        responses={200: _CONTEXT},
    ),
    Endpoint(
        "GET /v1/recall",
        recall_for_prompt,
        "What to add before one prompt; empty when nothing is likely enough. The header Commonplace-Session names the "
        "conversation, in which nothing is given twice.",
        parameters=[
            Parameter("prompt", _PROMPT, "The prompt.", required=True),
            Parameter("budget", integer(0, 10**9), f"How many tokens at most; default: {DEFAULT_BUDGET_TOKENS}."),
            Parameter("user", _NAME, "The user."),
            Parameter("channel", _NAME, "The channel."),
        ],
        responses={200: _CONTEXT},
    ),
    Endpoint(
        "GET /v1/tools",
        list_tools,
        "The tools you may call, with their schemas.",
        parameters=[_TOOLSET],
        tag="tools",
        responses={200: ResponseSpec("The tools.", object_of({"tools": array(_TOOL)}))},
    ),
    CALL,
]
