"""For whoever operates a server: `/healthz` says that it runs, `/readyz` that it can serve, `/metrics` how it is doing.

The first two need no token and say nothing else. The figures are of all agents together, so they need a token for all
agents with the role admin.
"""

from __future__ import annotations

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ...errors import CommonplaceError
from ...server.metrics import MEDIA_TYPE
from ...server.service import MemoryService
from . import HEALTH_PATH, METRICS_PATH, READY_PATH
from .auth import METRICS_GRANT
from .dispatch import grant_of, run_in_thread
from .problems import problem_response

READY_TIMEOUT_SECONDS = 5.0


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
