"""The page to look at memory with: its files, as they are, under a policy that lets nothing in from elsewhere.

Nothing is built: what stands in `assets` is what a browser loads. It speaks to `/v1` like any other program.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

_ASSETS = os.path.join(os.path.dirname(__file__), "assets")
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # kept, and asked for again: the tag says that it is as it was
}


class _File(NamedTuple):
    data: bytes
    kind: str
    tag: str


def is_page(path: str) -> bool:
    """Whether an address is one of the page's own files, which hold nothing of anybody's memory."""
    return path == "/" or path.startswith("/assets/")


def routes() -> list[BaseRoute]:
    """`/` and `/assets/...`: all files, read once."""
    files = dict(_files())

    def page(request: Request) -> Response:
        return _answer(request, files["index.html"])

    def asset(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        return _answer(request, found) if found else Response(status_code=404, headers=_HEADERS)

    return [Route("/", page), Route("/assets/{name:path}", asset)]


def _files() -> Iterator[tuple[str, _File]]:
    for folder, _, names in os.walk(_ASSETS):
        for name in names:
            kind = _KINDS.get(os.path.splitext(name)[1])
            if kind:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    data = file.read()
                tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
                yield os.path.relpath(path, _ASSETS).replace(os.sep, "/"), _File(data, kind, tag)


def _answer(request: Request, file: _File) -> Response:
    headers = {**_HEADERS, "ETag": file.tag}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.data, media_type=file.kind, headers=headers)
