"""What went wrong, as problem details (RFC 9457): a title, a status, and a sentence that says what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from ...errors import (
    CommonplaceError,
    Conflict,
    ConnectionLost,
    HoldsSecret,
    InvalidArgument,
    LockTimeout,
    NotFound,
    NotInstalled,
    NotText,
    OutsideHome,
    PathIsFile,
    PathIsFolder,
    QuotaExceeded,
    Refused,
    StaleVersion,
    Unavailable,
)
from ...formats.json_text import replace_surrogates

MEDIA_TYPE = "application/problem+json"
# The first class that an error is an instance of decides.
_STATUSES: tuple[tuple[type[CommonplaceError], int, str], ...] = (
    (InvalidArgument, 400, "Not understood"),
    (OutsideHome, 403, "Outside of memory"),
    (NotFound, 404, "Not found"),
    (StaleVersion, 412, "Somebody was faster"),
    (Conflict, 409, "Conflict"),
    (PathIsFile, 409, "In the way"),
    (PathIsFolder, 409, "In the way"),
    (HoldsSecret, 422, "Holds a secret"),
    (QuotaExceeded, 429, "Quota used up"),
    (Refused, 403, "Refused"),
    (LockTimeout, 503, "Busy"),
    (ConnectionLost, 503, "Not reachable"),
    (Unavailable, 503, "Not available now"),
    (NotInstalled, 503, "Not installed"),
    (NotText, 422, "Not text"),
)
_TITLES = {
    400: "Not understood",
    401: "No token",
    403: "Refused",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    412: "Somebody was faster",
    413: "Too large",
    414: "Too long",
    415: "Unsupported media type",
    421: "Wrong host",
    428: "A condition is missing",
    429: "Too many requests",
    500: "Something went wrong",
    503: "Not now",
}
# For what is refused before an endpoint runs; an error that has a code of its own keeps it.
_CODES = {
    400: InvalidArgument.code,
    401: "NO_TOKEN",
    403: Refused.code,
    404: NotFound.code,
    405: "METHOD_NOT_ALLOWED",
    408: "TOO_SLOW",
    412: StaleVersion.code,
    413: "TOO_LARGE",
    414: "ADDRESS_TOO_LONG",
    415: "UNSUPPORTED_MEDIA_TYPE",
    421: "WRONG_HOST",
    428: "CONDITION_MISSING",
    429: "TOO_MANY_REQUESTS",
    503: Unavailable.code,
}


class Problem(Exception):
    """An error response. `fields` are added to those that every problem has."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **fields: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.fields = fields

    def to_response(self) -> Response:
        return problem_response(self.status, self.detail, headers=self.headers, **self.fields)


def status_of(error: CommonplaceError) -> int:
    return _status_and_title(error)[0]


def to_problem(error: CommonplaceError) -> Problem:
    status, title = _status_and_title(error)
    seconds = error.retry_seconds if isinstance(error, QuotaExceeded) else 0
    headers = {"Retry-After": str(seconds)} if seconds else None
    return Problem(status, str(error), headers, title=title, code=error.code)


def _status_and_title(error: CommonplaceError) -> tuple[int, str]:
    matches = ((status, title) for kind, status, title in _STATUSES if isinstance(error, kind))
    return next(matches, (500, _TITLES[500]))


def problem_response(
    status: int, detail: str, *, title: str = "", headers: Mapping[str, str] | None = None, **fields: Any
) -> Response:
    body = {
        "type": "about:blank",
        "title": title or _TITLES.get(status, "Refused"),
        "status": status,
        "detail": replace_surrogates(detail),
        "code": _CODES.get(status, CommonplaceError.code),
        **fields,
    }
    return JSONResponse(body, status, headers, MEDIA_TYPE)
