"""The web page: static files, with a content security policy that loads nothing from elsewhere.

There is no build step: a browser loads the files in `assets` as they are. They use `/v1` like any other client.
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
_MEDIA_TYPES = {
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
    "Cache-Control": "no-cache",  # cached, but revalidated by its ETag
}


class _File(NamedTuple):
    data: bytes
    media_type: str
    etag: str


def is_page(path: str) -> bool:
    """Return whether a path is one of the page's own files, which hold nothing of anybody's memory."""
    return path == "/" or path.startswith("/assets/")


def routes() -> list[BaseRoute]:
    """Return the routes of the page and its assets; all files are read once."""
    files = dict(_read_files())

    def serve_page(request: Request) -> Response:
        return _respond(request, files["index.html"])

    def serve_asset(request: Request) -> Response:
        file = files.get(request.path_params["name"])
        return _respond(request, file) if file else Response(status_code=404, headers=_HEADERS)

    return [Route("/", serve_page), Route("/assets/{name:path}", serve_asset)]


def _read_files() -> Iterator[tuple[str, _File]]:
    for folder, _, names in os.walk(_ASSETS):
        for name in names:
            media_type = _MEDIA_TYPES.get(os.path.splitext(name)[1])
            if media_type:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    data = file.read()
                etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
                yield os.path.relpath(path, _ASSETS).replace(os.sep, "/"), _File(data, media_type, etag)


def _respond(request: Request, file: _File) -> Response:
    headers = {**_HEADERS, "ETag": file.etag}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.data, media_type=file.media_type, headers=headers)
