"""The health of a memory: doctor's findings, the index, sizes and growth, what is recalled often and what never.

For operators, `/healthz` says that the server runs, `/readyz` that it can serve, and `/metrics` has its figures.
The first two need no token and say nothing else. The figures cover all agents, so they need a token for all agents with
the role admin.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ...errors import CommonplaceError, Refused
from ...home import Home
from ...index.recalls import read_recalls
from ...maintenance import timeline
from ...maintenance.doctor import CHECKS, examine
from ...schema import ANY, BOOLEAN, INTEGER, TEXT, array, object_of
from ...server.metrics import MEDIA_TYPE
from ...server.service import MemoryService
from . import HEALTH_PATH, METRICS_PATH, READY_PATH
from .auth import METRICS_GRANT
from .browse import limit_counts
from .dispatch import grant_of, run_in_thread
from .endpoints import INTEGER_OR_NULL, ApiRequest, Endpoint, Parameter, ResponseSpec, problem_response
from .pages import page_title

MAX_DAYS = 366
READY_TIMEOUT_SECONDS = 5.0
MAX_RECALLED = 50


class Day(NamedTuple):
    """The size of memory at the end of a day. `changes`: how many were made on that day."""

    day: str
    pages: int
    bytes: int
    changes: int


def get_health(request: ApiRequest) -> dict[str, Any]:
    home = request.home
    growth = measure_growth(home)
    figures = {
        "index": limit_counts(request, home.index_status()),
        "sizes": _measure_sizes(request, growth),
        "growth": [day._asdict() for day in growth],
        "recalled": count_recalls(home),
    }
    return figures | get_findings(request) if request.parameters.get("findings", True) else figures


def get_findings(request: ApiRequest) -> dict[str, Any]:
    """Return doctor's findings that this agent may know. A caller for single agents learns nothing of files that also
    hold other agents' pages.
    """
    home = request.home
    try:
        report = examine(
            home.address,
            home.agent,
            is_for_agent=request.grant.agents is not None,
            may_check_pins=home.may_check_pins,
            is_found=home.is_found,
            clock=home.clock,
        )
    except Refused as error:
        return {"findings": [], "notes": [str(error)]}
    names = ("check", "path", "line", "what", "advice", "fixable")
    findings = [
        {name: getattr(each, name) for name in names} | {"about": CHECKS[each.check].title}
        for each in report.findings
        if home.visibility.may_know(each.path)
    ]
    return {"findings": findings, "notes": []}


def measure_growth(home: Home) -> list[Day]:
    """Return the days on which pages changed that this agent may see, oldest first; at most the last year of them."""
    timeline.record_outside_edits(home)
    days: dict[str, Day] = {}
    sizes: dict[str, int] = {}
    pages = 0
    total = 0
    recorded = home.storage.history.page_sizes()
    visible = {*home.visibility.filter_paths({change.path for change, _ in recorded})}
    for change, size in recorded:
        if change.path not in visible:
            continue
        before = sizes.get(change.path, -1)
        sizes[change.path] = size
        pages += (size >= 0) - (before >= 0)
        total += max(size, 0) - max(before, 0)
        day = change.at[:10]
        days[day] = Day(day, pages, total, days[day].changes + 1 if day in days else 1)
    return [days[day] for day in sorted(days)][-MAX_DAYS:]


def _measure_sizes(request: ApiRequest, growth: list[Day]) -> dict[str, int | None]:
    """Return the size of what this agent may see, and of history and index as a whole. These also hold other agents'
    pages: they are None for a caller who may act only for some agents."""
    home = request.home
    last = growth[-1] if growth else Day("", 0, 0, 0)
    is_for_all = request.grant.agents is None
    return {
        "pages": last.pages,
        "bytes": last.bytes,
        "history_bytes": home.storage.history.size() if is_for_all else None,
        "index_bytes": _measure_index(home) if is_for_all else None,
    }


def _measure_index(home: Home) -> int | None:
    if not home.storage.cache_folder:
        return None
    try:
        with os.scandir(home.storage.cache_folder) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except OSError:
        return 0


def count_recalls(home: Home) -> dict[str, Any]:
    """Return the pages that answered most often, and those that never did. Nothing was counted if `since` is empty."""
    counts = read_recalls(home.storage.cache_folder, home.agent)
    if not counts.since:
        return {"most": [], "never": [], "since": ""}
    visible = dict(home.visibility.list_pages())

    def by_times(path: str) -> tuple[int, str]:
        return -counts.pages[path].times, path

    often = sorted((path for path in counts.pages if path in visible), key=by_times)
    never = [path for path, at in visible.items() if path not in counts.pages and at]
    return {
        "most": [{**_name_page(home, path), **counts.pages[path]._asdict()} for path in often[:MAX_RECALLED]],
        "never": [_name_page(home, path) for path in never[::-1][:MAX_RECALLED]],
        "since": counts.since,
    }


def _name_page(home: Home, path: str) -> dict[str, Any]:
    place = home.index.scope.place(path)
    return {"path": path, "title": page_title(home, path, place) if place else path}


_FINDING = object_of(
    {"check": TEXT, "about": TEXT, "path": TEXT, "line": INTEGER, "what": TEXT, "advice": TEXT, "fixable": BOOLEAN}
)
_COUNTED = object_of({"path": TEXT, "title": TEXT}, times=INTEGER, last=TEXT)
_FINDINGS = {"findings": array(_FINDING), "notes": array(TEXT)}
_HEALTH = object_of(
    {
        "index": ANY,
        "sizes": object_of(
            {"pages": INTEGER, "bytes": INTEGER, "history_bytes": INTEGER_OR_NULL, "index_bytes": INTEGER_OR_NULL}
        ),
        "growth": array(object_of({"day": TEXT, "pages": INTEGER, "bytes": INTEGER, "changes": INTEGER})),
        "recalled": object_of({"most": array(_COUNTED), "never": array(_COUNTED), "since": TEXT}),
    },
    **_FINDINGS,
)
ENDPOINTS = [
    Endpoint(
        "GET /v1/health",
        get_health,
        "What is wrong, how much there is, and what is recalled.",
        parameters=[Parameter("findings", BOOLEAN, "Whether to look for what is wrong, on every page; default: true.")],
        responses={200: ResponseSpec("How memory is doing.", _HEALTH)},
    ),
    Endpoint(
        "GET /v1/findings",
        get_findings,
        "What is wrong, and what to do about it.",
        responses={200: ResponseSpec("What doctor finds.", object_of(_FINDINGS))},
    ),
]


def routes(service: MemoryService) -> list[BaseRoute]:
    async def get_health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def get_readiness(_: Request) -> Response:
        with anyio.move_on_after(READY_TIMEOUT_SECONDS):
            try:
                await run_in_thread(service.check_ready, abandon=True)
            except (CommonplaceError, OSError):
                return _not_ready()
            return PlainTextResponse("ready\n")
        return _not_ready()

    async def get_metrics(request: Request) -> Response:
        grant = grant_of(request)
        is_tenant = service.options.tenants and grant != METRICS_GRANT
        if grant.role != "admin" or grant.agents is not None or is_tenant:
            detail = "the figures of a server need COMMONPLACE_METRICS_TOKEN, or a token for all agents with role admin"
            return problem_response(403, detail)
        return Response(await run_in_thread(service.render_metrics), media_type=MEDIA_TYPE)

    return [Route(HEALTH_PATH, get_health), Route(READY_PATH, get_readiness), Route(METRICS_PATH, get_metrics)]


def _not_ready() -> Response:
    return PlainTextResponse("the memory cannot be reached: the server's standard error says more\n", 503)
