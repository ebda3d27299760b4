"""The API under `/v1`: all endpoints as one application, and their description as an OpenAPI 3.1 document."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from ... import __version__
from ...schema import INTEGER, TEXT, Schema, object_of, types_of
from ...tools import catalog
from ...tools.define import ToolParameter
from . import auth, browse, health, history, homes, pages, related, review, search
from .endpoints import JSON, MEDIA_TYPE, STATUSES, ApiRequest, Endpoint, Parameter, ResponseSpec

_PROBLEM = object_of(
    {"type": TEXT, "title": TEXT, "status": INTEGER, "detail": TEXT, "code": TEXT}, current=TEXT, path=TEXT
)
_CALLER_HEADERS = [
    Parameter(f"Commonplace-{name}", {"type": "string", "maxLength": 500}, description, "header")
    for name, description in (
        ("Agent", "The agent to act for; default: main."),
        ("User", "For which user."),
        ("Channel", "In which channel."),
        ("Session", "The conversation, for history."),
    )
]
_ALWAYS = (400, 401, 403, 408, 413, 414, 421, 429, 503)


@cache
def build_document() -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        if endpoint is not search.CALL:
            paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _describe_operation(endpoint)
    for offer in catalog.offers():
        paths[f"/v1/tools/{offer.name}"] = {"post": _describe_tool(offer)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "commonplace",
            "version": __version__,
            "description": "Memory for agents, kept in Markdown pages. Names in headers are percent-encoded UTF-8.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _describe_operation(endpoint: Endpoint) -> dict[str, Any]:
    parameters = [*endpoint.parameters]
    if not (endpoint.is_public or endpoint.opens_no_memory):
        parameters += _CALLER_HEADERS
    responses = {str(status): _describe_response(spec) for status, spec in endpoint.responses.items()}
    operation: dict[str, Any] = {
        "operationId": _operation_id(endpoint),
        "summary": endpoint.summary,
        "tags": [endpoint.tag],
        "parameters": [_describe_parameter(each) for each in parameters],
        "responses": responses | _describe_problems(endpoint),
    }
    if endpoint.body is not None:
        content = {media: {"schema": endpoint.body} for media in endpoint.body_media_types}
        operation["requestBody"] = {"required": True, "content": content}
    if endpoint.is_public:
        operation["security"] = []
    return operation


def _operation_id(endpoint: Endpoint) -> str:
    parts = endpoint.path.removeprefix("/v1/").replace("{", "by_").replace("}", "").replace(".", "_").split("/")
    return "_".join([endpoint.method.lower(), *parts])


def _describe_parameter(parameter: Parameter) -> dict[str, Any]:
    description: dict[str, Any] = {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.required,
        "description": parameter.description,
        "schema": {name: value for name, value in parameter.value_schema.items() if name != "description"},
    }
    if parameter.repeats:
        description |= {"style": "form", "explode": True}
    return description


def _describe_response(spec: ResponseSpec) -> dict[str, Any]:
    description: dict[str, Any] = {"description": spec.description}
    if spec.schema is not None:
        description["content"] = {
            media: {"schema": spec.schema if media == spec.media else TEXT} for media in spec.all_media
        }
    if spec.headers:
        description["headers"] = {name: {"schema": TEXT, "required": True} for name in spec.headers}
    return description


def _describe_problems(endpoint: Endpoint, other_media: Iterable[str] = ()) -> dict[str, Any]:
    statuses = {*_ALWAYS, *endpoint.problems}
    if endpoint.body is not None:
        statuses.add(415)
    problem: Schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    content = {MEDIA_TYPE: problem, **{media: {"schema": {"type": "object"}} for media in other_media}}
    return {
        str(status): {"description": STATUSES[status].description, "content": content} for status in sorted(statuses)
    }


def _describe_tool(offer: catalog.Offer) -> dict[str, Any]:
    """Return a tool under its own path; a name that several toolsets share has the toolset's name before it."""
    schema = offer.tool.schema()
    body = {**schema, "properties": {each.name: _describe_argument(each) for each in offer.tool.parameters}}
    answer = {"description": "The tool's own answer.", "content": {JSON: {"schema": offer.tool.answer.schema()}}}
    return {
        "operationId": f"call_{offer.name}",
        "summary": offer.tool.description.partition("\n")[0],
        "description": offer.description,
        "tags": ["tools", offer.toolset.name],
        "parameters": [_describe_parameter(each) for each in _CALLER_HEADERS],
        "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
        "responses": {"200": answer, **_describe_problems(search.CALL, [JSON])},
    }


def _describe_argument(argument: ToolParameter) -> Schema:
    """Return an argument as it is accepted: null counts as left out, and numbers are clamped."""
    schema = argument.schema()
    if argument.clamp:
        del schema["minimum"]
        del schema["maximum"]
        schema["description"] += f" From {argument.clamp.low} to {argument.clamp.high}."
    if not argument.required:
        schema["type"] = [*types_of(schema), "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return schema


def get_document(_: ApiRequest) -> dict[str, Any]:
    return build_document()


ENDPOINTS = [
    Endpoint(
        "GET /v1/openapi.json",
        get_document,
        "This description.",
        responses={200: ResponseSpec("OpenAPI 3.1.", {"type": "object"})},
    ),
    *browse.ENDPOINTS,
    *search.ENDPOINTS,
    *pages.ENDPOINTS,
    *related.ENDPOINTS,
    *history.ENDPOINTS,
    *health.ENDPOINTS,
    *auth.ENDPOINTS,
    *homes.ENDPOINTS,
    *review.ENDPOINTS,
]
