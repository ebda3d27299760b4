"""Tool definitions: a typed function with a docstring, from which its schema, description and answer are derived.

Parameters are annotated `Annotated[type, "what it is"]`, with `Clamp` where a number is brought into a range, and the
return type `Annotated[Reply, Answer(path=str, ...)]`. A name that Python reserves gets an underscore, which the
tool's parameter does not have.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from ..errors import CommonplaceError, MissingArgument, NotAvailable, WrongType
from ..formats.json_text import parse_json
from ..framing import quote_line
from ..home import Home
from ..schema import ANY_JSON, Clamp, Schema, array, check, from_type, types_of

Reply = dict[str, Any]
Refusal = Callable[[CommonplaceError, str, Mapping[str, Any]], Reply]  # the error, the tool, and its arguments
JSON_TEXT = "json_text"  # the field that carries a value of any type as JSON text
_REQUIRED = inspect.Parameter.empty
_PLAIN_TYPES = [{"type": kind} for kind in ("string", "number", "boolean", "object")]
# Any value but null, one type per branch, as every client of JSON Schema understands it.
ANY_JSON_BRANCHES = [
    *_PLAIN_TYPES,
    {"type": "array", "items": {"anyOf": [*_PLAIN_TYPES, {"type": "array"}, {"type": "null"}]}},
]


class ToolParameter(NamedTuple):
    """One parameter of a tool. `argument` is its name in Python."""

    name: str
    argument: str
    value_schema: Schema  # schema of a value, without the default
    default: Any = _REQUIRED
    clamp: Clamp | None = None

    @property
    def required(self) -> bool:
        return self.default is _REQUIRED

    @property
    def description(self) -> str:
        return str(self.value_schema.get("description", ""))

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(self.value_schema.get("enum", ()))

    @property
    def kind(self) -> str:
        """Return its JSON type, the first if it has two, or "any"."""
        kinds = types_of(self.value_schema)
        return "any" if kinds == types_of(ANY_JSON) else kinds[0]

    def schema(self) -> Schema:
        """Return the JSON Schema of the parameter, flat."""
        schema = {"description": self.description, **self.value_schema}
        if not self.required and self.default is not None:
            schema["default"] = self.default
        return schema

    def convert(self, value: Any) -> Any:
        """Return a value as the function takes it; raise InvalidArgument if it does not fit the schema."""
        if not self.clamp:
            return check(self.value_schema, value, self.name)
        number = check({"type": self.value_schema["type"]}, value, self.name)
        return max(self.clamp.low, min(self.clamp.high, number))


def parameters_of(run: Callable[..., Any]) -> tuple[ToolParameter, ...]:
    """Return the parameters of a tool's function, without the home, which comes first."""
    hints = get_type_hints(run, include_extras=True)
    signature = list(inspect.signature(run).parameters.values())[1:]
    return tuple(_read_parameter(each, hints[each.name]) for each in signature)


def _read_parameter(each: inspect.Parameter, hint: Any) -> ToolParameter:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    clamp = next((note for note in notes if isinstance(note, Clamp)), None)
    return ToolParameter(each.name.rstrip("_"), each.name, from_type(hint), each.default, clamp)


def bind(parameters: Sequence[ToolParameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as the function takes them; null counts as not given."""
    bound: dict[str, Any] = {}
    for parameter in parameters:
        value = arguments.get(parameter.name)
        if value is not None:
            bound[parameter.argument] = parameter.convert(value)
        elif parameter.required:
            raise MissingArgument(parameter.name)
    return bound


def decode_json_text(parameters: Sequence[ToolParameter], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments with JSON text decoded, which a model sends if its API cannot ask for arbitrary objects.

    An object comes as its text. A value of any type, for which text is a value as well, comes as
    `{"json_text": "[1, 2]"}`.
    """
    texts = {each.name: _json_text(each.kind, arguments.get(each.name)) for each in parameters}
    decoded = {name: _decode(name, text) for name, text in texts.items() if text is not None}
    return {**arguments, **decoded} if decoded else arguments


def _json_text(kind: str, value: Any) -> str | None:
    if kind == "any" and isinstance(value, dict) and [*value] == [JSON_TEXT]:
        value = value[JSON_TEXT]
    elif kind != "object":
        return None
    return value if isinstance(value, str) else None


def _decode(name: str, text: str) -> Any:
    try:
        value = parse_json(text)
    except ValueError as error:
        raise WrongType(name, "JSON text", f"text that is not JSON ({error})", text) from error
    if value is None:
        raise WrongType(name, "JSON text of a value", "of null", text)
    return value


class Maybe(NamedTuple):
    """A field of an answer that may be left out."""

    kind: Any


class Answer:
    """An object with these fields: types, schemas, `Maybe` one of both, other answers, or a list of one of them."""

    def __init__(self, **fields: Any) -> None:
        self.fields = {name.rstrip("_"): kind for name, kind in fields.items()}

    def __or__(self, other: Answer) -> Answer:
        """Return an answer with the fields of both."""
        return Answer(**(self.fields | other.fields))

    def with_optional_fields(self) -> Answer:
        """Return an answer with the same fields, each of which may be left out."""
        return Answer(**{name: Maybe(_bare(kind)) for name, kind in self.fields.items()})

    def schema(self) -> Schema:
        return {
            "type": "object",
            "properties": {name: _answer_schema(_bare(kind)) for name, kind in self.fields.items()},
            "required": [name for name, kind in self.fields.items() if not isinstance(kind, Maybe)],
        }


# Fields that any answer may have in addition.
_NOTICES = [Answer(citation=str, text=str, kind=str, reason=str, advice=Maybe(str))]
EXTRAS = Answer(warning=Maybe(str), conflict=Maybe(str), supersedes=Maybe(_NOTICES), contradicts=Maybe(_NOTICES))


def answer_of(run: Callable[..., Any]) -> Answer:
    """Return what a tool's function answers, by its return annotation."""
    notes = get_args(get_type_hints(run, include_extras=True)["return"])
    return next(note for note in notes if isinstance(note, Answer)) | EXTRAS


def _bare(kind: Any) -> Any:
    return kind.kind if isinstance(kind, Maybe) else kind


def _answer_schema(kind: Any) -> Schema:
    if isinstance(kind, Answer):
        return kind.schema()
    if isinstance(kind, list):
        return array(_answer_schema(kind[0]))
    if isinstance(kind, dict):
        return kind
    return {"anyOf": ANY_JSON_BRANCHES} if kind is object else from_type(kind)


@dataclass(frozen=True)
class Tool:
    """A function an agent may call."""

    run: Callable[..., Reply]
    name: str = ""
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    @property
    def description(self) -> str:
        return inspect.cleandoc(self.run.__doc__ or "")

    @cached_property
    def parameters(self) -> tuple[ToolParameter, ...]:
        return parameters_of(self.run)

    @cached_property
    def answer(self) -> Answer:
        """Return the shape of its answer if nothing fails."""
        return answer_of(self.run)

    def invoke(self, home: Home, arguments: Mapping[str, Any]) -> Reply:
        return self.run(home, **bind(self.parameters, arguments))

    def parameter_names(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the names of the parameters it takes when called with these arguments."""
        return [parameter.name for parameter in self.parameters]

    def schema(self) -> Schema:
        """Return the JSON Schema of the arguments: one flat object. An unknown argument is ignored, with a warning."""
        return {
            "type": "object",
            "properties": {parameter.name: parameter.schema() for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
            "additionalProperties": True,
        }


def always_available(_home: Home) -> NotAvailable | None:
    return None


@dataclass(frozen=True)
class Toolset:
    """Tools of one family, with their common form of errors."""

    name: str
    tools: dict[str, Tool]
    refuse: Refusal
    unavailable: Callable[[Home], NotAvailable | None] = field(default=always_available)


def refuse(error: CommonplaceError, _tool: str, _arguments: Mapping[str, Any]) -> Reply:
    """Return a refusal as most toolsets answer it: with the sentence alone."""
    return {"success": False, "error": str(error)}


def toolset(
    name: str,
    tools: list[Tool],
    refuse: Refusal,
    unavailable: Callable[[Home], NotAvailable | None] = always_available,
) -> Toolset:
    return Toolset(name, {tool.name or tool.run.__name__: tool for tool in tools}, refuse, unavailable)


def with_warning(reply: Reply, *sentences: str) -> Reply:
    """Return the reply with these warnings added to those it has, on one line whatever names are in them; without those
    that another one begins with."""
    given = dict.fromkeys(quote_line(sentence) for sentence in (reply.get("warning", ""), *sentences) if sentence)
    warnings = [each for each in given if not any(other != each and other.startswith(each) for other in given)]
    return {**reply, "warning": "; ".join(warnings)} if warnings else reply
