"""How a part of the interface is declared: method, path, what it takes and gives. Requests are held to that, and the
published schema is read off it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from ...errors import InvalidArgument
from ...home import Home
from ...memory import Memory
from ...server.sessions import Asker
from ...storage.tokens import Grant, Role
from .validation import fit

Schema = dict[str, Any]
Where = Literal["query", "path", "header"]
JSON, MARKDOWN = "application/json", "text/markdown"
_DIGITS = re.compile(r"[-+]?[0-9][0-9.eE+-]*")
_TRUE, _FALSE = ("true", "1"), ("false", "0")


class Parameter(NamedTuple):
    name: str
    schema: Schema
    description: str
    where: Where = "query"
    required: bool = False

    @property
    def repeats(self) -> bool:
        return self.schema.get("type") == "array"


class Asked(NamedTuple):
    """A request as an endpoint sees it: who asks of which memory, and what, as it was declared."""

    memory: Memory
    asker: Asker
    grant: Grant
    given: Mapping[str, Any]
    body: Any
    headers: Headers

    @property
    def home(self) -> Home:
        return self.memory.home


class Reply(NamedTuple):
    """An answer that is more than JSON with status 200."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = {}
    media: str = JSON


class Given(NamedTuple):
    """What an endpoint answers with a status: of which kind, and what it looks like."""

    description: str
    schema: Schema | None = None
    media: str = JSON
    headers: Sequence[str] = ()
    also: Sequence[str] = ()  # other media it may come as: text

    @property
    def all_media(self) -> tuple[str, ...]:
        return (self.media, *self.also)


@dataclass(frozen=True)
class Endpoint:
    """`run` is called in a thread and may take its time. `needs`: the least role that may call it.

    `streams` is called with the interface, the request and what it asks, where an answer is no single value.
    """

    method: str
    path: str
    run: Callable[[Asked], Any] | None
    summary: str
    takes: Sequence[Parameter] = ()
    body: Schema | None = None
    body_media: str = JSON
    answers: Mapping[int, Given] = field(default_factory=dict)
    needs: Role = "read"
    tag: str = "memory"
    problems: Sequence[int] = ()
    streams: Callable[[Any, Request, Asked | None], Awaitable[Response]] | None = None  # instead of `run`
    is_open: bool = False  # to who has no token, and means no memory
    means_no_memory: bool = False  # it looks at the token itself: no memory is opened for it
    waits: bool = False  # for what may write after all: it is not given up

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return f"{self.method} {self.path}"

    @property
    def changes(self) -> bool:
        return self.needs != "read"

    @property
    def takes_media(self) -> tuple[str, ...]:
        """The kinds of body that it takes."""
        return (MARKDOWN, "text/plain") if self.body_media == MARKDOWN else (self.body_media,)


def given_to(endpoint: Endpoint, query: Sequence[tuple[str, str]], path: Mapping[str, str]) -> dict[str, Any]:
    """What was given in the address, as it was declared; InvalidArgument for what was not."""
    known = {each.name: each for each in endpoint.takes if each.where == "query"}
    strange = [name for name, _ in query if name not in known]
    if strange:
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise InvalidArgument(f"the parameter {strange[0]!a} is not known here: {takes}")
    out: dict[str, Any] = {}
    for name, parameter in known.items():
        values = [value for key, value in query if key == name]
        if parameter.required and not values:
            raise InvalidArgument(f"the parameter {name} is missing: {parameter.description}")
        if len(values) > 1 and not parameter.repeats:
            raise InvalidArgument(f"the parameter {name} is given more than once")
        if values:
            out[name] = _read(parameter, values)
    out |= {each.name: _read(each, [path[each.name]]) for each in endpoint.takes if each.where == "path"}
    return out


def _read(parameter: Parameter, values: list[str]) -> Any:
    value = values if parameter.repeats else _as(parameter.schema.get("type"), values[0], parameter.name)
    fit({"description": parameter.description, **parameter.schema}, value, parameter.name)
    return value


def _as(kind: Any, text: str, name: str) -> Any:
    if kind == "boolean":
        if text not in (*_TRUE, *_FALSE):
            raise InvalidArgument(f"{name} must be true or false")
        return text in _TRUE
    if kind in ("integer", "number"):
        try:
            return int(_digits(text)) if kind == "integer" else _number(_digits(text))
        except ValueError as error:
            raise InvalidArgument(f"{name} must be a {'whole ' * (kind == 'integer')}number") from error
    return text


def _digits(text: str) -> str:
    """As it is; ValueError for what only Python takes for a number: 1_000, and digits of other scripts."""
    if not _DIGITS.fullmatch(text):
        raise ValueError(text)
    return text


def _number(text: str) -> float:
    value = float(text)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def of(required: Mapping[str, Schema] | None = None, **optional: Schema) -> Schema:
    """An object with these fields; those in `required` are always there."""
    always = dict(required or {})
    return {"type": "object", "properties": {**always, **optional}, "required": [*always]}


def closed(required: Mapping[str, Schema], **optional: Schema) -> Schema:
    """The same, with nothing else in it: what a body has to look like."""
    return {**of(required, **optional), "additionalProperties": False}


def one_of(*choices: str) -> Schema:
    return {"type": "string", "enum": [*choices]}


def whole(least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def words(description: str, *, least: int = 0, most: int | None = None) -> Schema:
    """Text in a body, of so many characters."""
    bounds = ({"minLength": least} if least else {}) | ({"maxLength": most} if most is not None else {})
    return {"type": "string", **bounds, "pattern": NO_NULL, "description": description}


NO_NULL = r"^[^\x00]*$"
LONGEST_PATH = 1500  # characters
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
WHOLE_OR_NULL: Schema = {"type": ["integer", "null"]}
NUMBER: Schema = {"type": "number"}
YES: Schema = {"type": "boolean"}
ANY: Schema = {}
PAGE = words("The page.", least=1, most=LONGEST_PATH)
DAY: Schema = {"type": "string", "format": "date", "pattern": r"^[12]\d{3}-\d\d-\d\d$"}
MOMENT: Schema = {
    "description": "A day like 2026-03-14, or a time like 2026-03-14T09:30:00Z.",
    "anyOf": [DAY, {"type": "string", "format": "date-time", "pattern": r"^[12]\d{3}-"}],
}
