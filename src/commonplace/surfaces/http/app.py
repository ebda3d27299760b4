"""All endpoints of the HTTP interface, as one application to mount at `/v1`."""

from __future__ import annotations

from starlette.applications import Starlette

from . import browse, changes, export, health, history, homes, link_graph, openapi, pages, search, sign_in, tools
from .dispatch import Dispatcher, build_router

ENDPOINTS = [
    *openapi.ENDPOINTS,
    *browse.ENDPOINTS,
    *link_graph.ENDPOINTS,
    *search.ENDPOINTS,
    *pages.ENDPOINTS,
    *history.ENDPOINTS,
    *changes.ENDPOINTS,
    *export.ENDPOINTS,
    *health.ENDPOINTS,
    *tools.ENDPOINTS,
    *sign_in.ENDPOINTS,
    *homes.ENDPOINTS,
]


def build_api(dispatcher: Dispatcher) -> Starlette:
    return build_router(dispatcher, ENDPOINTS)
