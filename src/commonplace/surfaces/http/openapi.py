"""What the interface is, as OpenAPI 3.1: read off the endpoints and the catalog of tools, so that it can not lie."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from ... import __version__
from ...schema import INTEGER, TEXT, Schema, object_of, types_of
from ...tools import catalog
from ...tools.define import Parameter as Argument
from .endpoints import JSON, Asked, Endpoint, Given, Parameter
from .problems import MEDIA
from .tools import CALL

_PROBLEM = object_of(
    {"type": TEXT, "title": TEXT, "status": INTEGER, "detail": TEXT}, code=TEXT, current=TEXT, path=TEXT
)
_WHO = [
    Parameter(f"Commonplace-{name}", {"type": "string", "maxLength": 500}, description, "header")
    for name, description in (
        ("Agent", "Who asks; main, if not said."),
        ("User", "For which user."),
        ("Channel", "In which channel."),
        ("Session", "For history: which conversation."),
    )
]
_ALWAYS = (400, 401, 403, 408, 413, 414, 421, 503)
_SAID = {
    400: "Not understood; the sentence says what would be.", 401: "No token, or none that holds.",
    403: "Not allowed with this token, or from this page.", 404: "Not there.", 408: "The body came too slowly.",
    409: "Not as you believed it to be.", 412: "Somebody was faster.", 413: "Too large.", 414: "Too long an address.",
    415: "Send another media type.", 421: "Not a name of this server.", 422: "Not text, or it holds a secret.",
    428: "If-Match or If-None-Match is missing.", 503: "Not now: busy, or too slow.",
}  # fmt: skip


@cache
def document() -> dict[str, Any]:
    from .app import ENDPOINTS

    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        if endpoint is not CALL:
            paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    for offer in catalog.offers():
        paths[f"/v1/tools/{offer.name}"] = {"post": _tool(CALL, offer)}
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


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    takes = [*endpoint.takes, *([] if endpoint.is_open or endpoint.means_no_memory else _WHO)]
    said: dict[str, Any] = {
        "operationId": _name(endpoint),
        "summary": endpoint.summary,
        "tags": [endpoint.tag],
        "parameters": [_parameter(each) for each in takes],
        "responses": {str(status): _answer(given) for status, given in endpoint.answers.items()} | _problems(endpoint),
    }
    if endpoint.body is not None:
        content = {media: {"schema": endpoint.body} for media in endpoint.takes_media}
        said["requestBody"] = {"required": True, "content": content}
    if endpoint.is_open:
        said["security"] = []
    return said


def _name(endpoint: Endpoint) -> str:
    parts = endpoint.path.removeprefix("/v1/").replace("{", "by_").replace("}", "").replace(".", "_").split("/")
    return "_".join([endpoint.method.lower(), *parts])


def _parameter(each: Parameter) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": each.name, "in": each.where, "required": each.required, "description": each.description,
        "schema": {name: value for name, value in each.value_schema.items() if name != "description"},
    }  # fmt: skip
    return said | ({"style": "form", "explode": True} if each.repeats else {})


def _answer(given: Given) -> dict[str, Any]:
    said: dict[str, Any] = {"description": given.description}
    if given.schema is not None:
        said["content"] = {
            media: {"schema": given.schema if media == given.media else TEXT} for media in given.all_media
        }
    if given.headers:
        said["headers"] = {name: {"schema": TEXT, "required": True} for name in given.headers}
    return said


def _problems(endpoint: Endpoint, also: Iterable[str] = ()) -> dict[str, Any]:
    statuses = [*_ALWAYS, *endpoint.problems, *([415] if endpoint.body is not None else [])]
    problem: Schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    content = {MEDIA: problem, **{media: {"schema": {"type": "object"}} for media in also}}
    return {str(status): {"description": _SAID[status], "content": content} for status in sorted({*statuses})}


def _tool(call: Endpoint, offer: catalog.Offer) -> dict[str, Any]:
    """A tool under its own path; one whose plain name is another's here has that of its toolset before it."""
    schema = offer.tool.schema()
    body = {**schema, "properties": {each.name: _argument(each) for each in offer.tool.parameters}}
    return {
        "operationId": f"call_{offer.name}",
        "summary": offer.tool.description.partition("\n")[0],
        "description": offer.description,
        "tags": ["tools", offer.toolset.name],
        "parameters": [_parameter(each) for each in _WHO],
        "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
        "responses": {
            "200": {"description": "The tool's own answer.", "content": {JSON: {"schema": offer.tool.answer.schema()}}},
            **_problems(call, [JSON]),
        },
    }


def _argument(argument: Argument) -> Schema:
    """An argument as it is taken: null counts as not given, a number out of range as the nearest one in it."""
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


def openapi(_: Asked) -> dict[str, Any]:
    return document()


ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/openapi.json",
        openapi,
        "This description.",
        answers={200: Given("OpenAPI 3.1.", {"type": "object"})},
    ),
]
