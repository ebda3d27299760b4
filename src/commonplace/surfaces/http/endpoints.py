"""How an endpoint is declared: method, path, parameters and responses; and problems, if it cannot answer.

Requests are validated against that declaration, and the published schema is derived from it. Errors are problem
details (RFC 9457): a title, a status, and a sentence that says what to do next.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...errors import (
    CommonplaceError,
    Conflict,
    ConnectionLost,
    HoldsSecret,
    InvalidArgument,
    LockTimeout,
    MissingArgument,
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
    UnknownArgument,
    WrongType,
    shorten,
)
from ...formats.json_text import replace_surrogates
from ...home import Home
from ...memory import Memory
from ...schema import NO_NULL_CHARACTER, WORDS, Schema, check, plain_text
from ...server.auth import Caller
from ...storage.names import MAX_PATH_BYTES
from ...storage.tokens import Grant, Role

Where = Literal["query", "path", "header"]
JSON = "application/json"
MARKDOWN = "text/markdown"
_DIGITS = re.compile(r"[-+]?[0-9][0-9.eE+-]*")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
MEDIA_TYPE = "application/problem+json"
# The first class that an error is an instance of decides.
_STATUS_OF: tuple[tuple[type[CommonplaceError], int, str], ...] = (
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


class Status(NamedTuple):
    """How a problem of a status is titled and described. An error with its own title or code keeps that."""

    title: str = "Refused"
    code: str = CommonplaceError.code
    description: str = ""


STATUSES = {
    400: Status("Not understood", InvalidArgument.code, "Invalid request; `detail` says what is expected."),
    401: Status("No valid token", "NO_TOKEN", "No token, or not a valid one."),
    403: Status("Refused", Refused.code, "Not allowed with this token, or from this page."),
    404: Status("Not found", NotFound.code, "Not there."),
    405: Status("Method not allowed", "METHOD_NOT_ALLOWED"),
    408: Status("Too slow", "TOO_SLOW", "The body came too slowly."),
    409: Status(description="The memory is not as the caller expected."),
    412: Status("Somebody was faster", StaleVersion.code, "The page has changed since it was read."),
    413: Status("Too large", "TOO_LARGE", "Too large."),
    414: Status("Too long", "ADDRESS_TOO_LONG", "The URL is too long."),
    415: Status("Unsupported media type", "UNSUPPORTED_MEDIA_TYPE", "Send another media type."),
    421: Status("Wrong host", "WRONG_HOST", "Not a host name of this server."),
    422: Status(description="Not text, or it contains a secret."),
    428: Status("A condition is missing", "CONDITION_MISSING", "If-Match or If-None-Match is missing."),
    429: Status(
        "Too many requests",
        "TOO_MANY_REQUESTS",
        "Too many requests with this token; Retry-After says how long to wait.",
    ),
    500: Status("Something went wrong"),
    503: Status("Not now", Unavailable.code, "Temporarily unavailable, or too slow."),
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
    matches = ((status, title) for kind, status, title in _STATUS_OF if isinstance(error, kind))
    return next(matches, (500, STATUSES[500].title))


def problem_response(
    status: int, detail: str, *, title: str = "", headers: Mapping[str, str] | None = None, **fields: Any
) -> Response:
    usual = STATUSES.get(status, Status())
    body = {
        "type": "about:blank",
        "title": title or usual.title,
        "status": status,
        "detail": replace_surrogates(detail),
        "code": usual.code,
        **fields,
    }
    return JSONResponse(body, status, headers, MEDIA_TYPE)


@dataclass(frozen=True)
class Parameter:
    name: str
    schema: Schema
    description: str
    where: Where = "query"
    required: bool = False

    @property
    def repeats(self) -> bool:
        return self.schema.get("type") == "array"

    @cached_property
    def value_schema(self) -> Schema:
        """Return the schema of a value. Text in an address has no null character, unless a pattern says more."""
        schema = self.schema if self.where == "header" else _without_null_character(self.schema)
        return {"description": self.description, **schema}


def _without_null_character(schema: Schema) -> Schema:
    if schema.get("type") == "array":
        return {**schema, "items": _without_null_character(schema["items"])}
    is_free = schema.get("type") == "string" and not {"pattern", "enum"} & schema.keys()
    return {**schema, "pattern": NO_NULL_CHARACTER} if is_free else schema


class ApiRequest(NamedTuple):
    """A validated request: its caller, memory, parameters and body."""

    memory: Memory
    caller: Caller
    grant: Grant
    parameters: Mapping[str, Any]
    body: Any
    headers: Mapping[str, str]  # keyed by lower-case name

    @property
    def home(self) -> Home:
        return self.memory.home


class Reply(NamedTuple):
    """An answer that is more than JSON with status 200."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = {}
    media: str = JSON


class ResponseSpec(NamedTuple):
    """What an endpoint responds with one status: its media type and schema."""

    description: str
    schema: Schema | None = None
    media: str = JSON
    headers: Sequence[str] = ()
    other_media: Sequence[str] = ()  # further media types of the same text

    @property
    def all_media(self) -> tuple[str, ...]:
        return (self.media, *self.other_media)


def _may_wait(_: ApiRequest) -> bool:
    """Return True: nearly every endpoint may have to wait for the index."""
    return True


@dataclass(frozen=True)
class Endpoint:
    """`name`: its method and path, as the audit log calls it. `run` is called in a thread and may block. `needs`: the
    least role that may call it.

    `respond` makes its own response instead, such as a stream, from the dispatcher, the HTTP request and the validated
    one; where no memory is opened, from the body instead of the latter.
    """

    name: str
    run: Callable[[ApiRequest], Any] | None
    summary: str
    parameters: Sequence[Parameter] = ()
    body: Schema | None = None
    body_media: str = JSON
    responses: Mapping[int, ResponseSpec] = field(default_factory=dict)
    needs: Role = "read"
    tag: str = "memory"
    problems: Sequence[int] = ()
    respond: Callable[[Any, Request, Any], Awaitable[Response]] | None = None
    is_public: bool = False  # needs no token and opens no memory
    opens_no_memory: bool = False  # authenticates by itself
    has_no_timeout: bool = False  # for requests that may turn out to write
    waits_for_index: Callable[[ApiRequest], bool] = _may_wait

    @property
    def method(self) -> str:
        return self.name.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.name.partition(" ")[2]

    @property
    def is_stream(self) -> bool:
        """Return whether the answer is a stream, which a HEAD request must not wait for."""
        return self.respond is not None and not self.is_public and not self.opens_no_memory

    @property
    def is_write(self) -> bool:
        return self.needs != "read"

    @property
    def body_media_types(self) -> tuple[str, ...]:
        """Return the media types that a body may have."""
        return (MARKDOWN, "text/plain") if self.body_media == MARKDOWN else (self.body_media,)


def parse_parameters(endpoint: Endpoint, query: Sequence[tuple[str, str]], path: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters in the URL as the endpoint declares them; raise InvalidArgument for anything else."""
    known = {each.name: each for each in endpoint.parameters if each.where == "query"}
    for name, _ in query:
        if name not in known:
            raise UnknownArgument(name, tuple(known))
    values: dict[str, Any] = {}
    for name, parameter in known.items():
        texts = [text for key, text in query if key == name]
        if parameter.required and not texts:
            raise MissingArgument(name, parameter.description)
        if len(texts) > 1 and not parameter.repeats:
            raise InvalidArgument(f"the parameter {name} is given more than once", advice="give it once")
        if texts:
            values[name] = _read_value(parameter, texts)
    for parameter in endpoint.parameters:
        if parameter.where == "path":
            values[parameter.name] = _read_value(parameter, [path[parameter.name]])
    return values


def _read_value(parameter: Parameter, texts: list[str]) -> Any:
    value = texts if parameter.repeats else _from_text(parameter, texts[0])
    return check(parameter.value_schema, value, parameter.name)


def _from_text(parameter: Parameter, text: str) -> Any:
    """Return a value of the declared type, parsed from text in an address."""
    kind = parameter.schema.get("type", "")
    try:
        if kind == "boolean":
            return _BOOLEANS[text]
        if kind == "integer":
            return int(_require_digits(text))
        if kind == "number":
            return float(_require_digits(text))
    except (KeyError, ValueError) as error:
        raise WrongType(parameter.name, WORDS[kind], shorten(text), text) from error
    return text


def _require_digits(text: str) -> str:
    """Return the text; ValueError for numbers that only Python accepts: 1_000, and digits of other scripts."""
    if not _DIGITS.fullmatch(text):
        raise ValueError(text)
    return text


MAX_PATH_CHARACTERS = MAX_PATH_BYTES  # a longer path has more bytes than any page's
INTEGER_OR_NULL: Schema = {"type": ["integer", "null"]}
PAGE = plain_text("The page.", min_length=1, max_length=MAX_PATH_CHARACTERS)
PAGE_PATH = Parameter("path", PAGE, "The path of a page.", "path", required=True)
DAY: Schema = {"type": "string", "format": "date", "pattern": r"^[12]\d{3}-\d\d-\d\d$"}
MOMENT: Schema = {
    "description": "A day like 2026-03-14, or a time like 2026-03-14T09:30:00Z.",
    "anyOf": [DAY, {"type": "string", "format": "date-time", "pattern": r"^[12]\d{3}-"}],
}
