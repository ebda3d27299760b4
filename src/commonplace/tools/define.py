"""How a tool is defined: a typed function with a docstring. Everything else about it is read off that.

Parameters are annotated `Annotated[type, "what it is"]`, with `Clamp` where a number is brought into a range. A name
that Python reserves ends in an underscore, which the tool's own parameter name does not have.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from ..errors import CommonplaceError, InvalidChoice, MissingArgument, NotAvailable, WrongType
from ..formats.json_text import checked, is_unicode, loads
from ..home import Home

Reply = dict[str, Any]
Refusal = Callable[[CommonplaceError, str, Mapping[str, Any]], Reply]  # the error, the tool, what it was called with
_REQUIRED = inspect.Parameter.empty
_JSON_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
}
_SPOKEN = {
    "string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "object": "an object", "array": "a list", "null": "null",
}  # fmt: skip


class Clamp(NamedTuple):
    """A number outside the range counts as the nearest one inside."""

    low: int
    high: int


class Parameter(NamedTuple):
    name: str
    argument: str
    kind: str  # a JSON type, or "any"
    description: str
    default: Any = _REQUIRED
    choices: tuple[str, ...] = ()
    clamp: Clamp | None = None
    text_or_list: bool = False

    @property
    def required(self) -> bool:
        return self.default is _REQUIRED

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the parameter, flat."""
        out: dict[str, Any] = {"description": self.description}
        if self.kind == "any":
            out["type"] = ["string", "number", "boolean", "array", "object"]
            out["items"] = {}
        else:
            out["type"] = self.kind
        if self.kind == "array":
            out["items"] = {"type": "string"}
        if self.choices:
            out["enum"] = list(self.choices)
        if self.clamp:
            out["minimum"], out["maximum"] = self.clamp.low, self.clamp.high
        if not self.required and self.default is not None:
            out["default"] = self.default
        return out

    def take(self, value: Any) -> Any:
        """A given value as the function takes it; WrongType or InvalidChoice when it is not one."""
        if self.kind == "any":
            return _json(self.name, value)
        if self.kind == "array" and isinstance(value, str) and self.text_or_list:
            return _text(self.name, value)
        if self.choices and isinstance(value, str) and value not in self.choices:
            raise InvalidChoice(self.name, self.choices, value)
        given = json_type(value)
        if self.kind in ("integer", "number") and given in ("integer", "number"):
            return self._number(value)
        if given != self.kind:
            raise WrongType(self.name, _SPOKEN[self.kind], _SPOKEN[given], value)
        if self.kind == "array":
            return [self._item(item) for item in value]
        return _json(self.name, value) if self.kind == "object" else _text(self.name, value)

    def _number(self, value: float) -> float:
        if value != value or value in (float("inf"), float("-inf")):
            raise WrongType(self.name, _SPOKEN[self.kind], repr(value))
        if self.kind == "integer":
            if int(value) != value:
                raise WrongType(self.name, _SPOKEN["integer"], repr(value))
            value = int(value)
        return max(self.clamp.low, min(self.clamp.high, value)) if self.clamp else value

    def _item(self, item: Any) -> str:
        if not isinstance(item, str):
            raise WrongType(self.name, "a list of strings", f"a list with {_SPOKEN[json_type(item)]} in it")
        return str(_text(self.name, item))


def json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, (list, tuple)):
        return "array"
    return next((name for kind, name in _JSON_TYPES.items() if type(value) is kind), "object")


def _text(name: str, value: Any) -> Any:
    if isinstance(value, str) and not is_unicode(value):
        raise WrongType(name, "Unicode text", "text with half a character (a lone surrogate)")
    return value


def _json(name: str, value: Any) -> Any:
    """The value as JSON keeps it, so that what is read back equals what the tool was given."""
    try:
        return checked(value)
    except (TypeError, ValueError) as error:
        raise WrongType(name, "a JSON value", f"something JSON can not hold ({error})") from error


JSON_TEXT = "json_text"


def decode_json_text(parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, with JSON text read where a parameter takes what it says; WrongType when it is not JSON."""
    texts = {each.name: _json_text(each.kind, arguments.get(each.name)) for each in parameters}
    read = {name: _read_json_text(name, text) for name, text in texts.items() if text is not None}
    return {**arguments, **read} if read else arguments


def _json_text(kind: str, value: Any) -> str | None:
    if kind == "any" and isinstance(value, dict) and [*value] == [JSON_TEXT]:
        value = value[JSON_TEXT]
    elif kind != "object":
        return None
    return value if isinstance(value, str) else None


def _read_json_text(name: str, text: str) -> Any:
    try:
        value = loads(text)
    except ValueError as error:
        raise WrongType(name, "JSON text", f"text that is not JSON ({error})", text) from error
    if value is None:
        raise WrongType(name, "JSON text of a value", "of null", text)
    return value


_PLAIN = [{"type": kind} for kind in ("string", "number", "boolean", "object")]
# Any value but null, one type a branch: what every client of JSON Schema understands.
ANY_JSON = [*_PLAIN, {"type": "array", "items": {"anyOf": [*_PLAIN, {"type": "array"}, {"type": "null"}]}}]


class Maybe(NamedTuple):
    """A field that is there only where there is something to say."""

    kind: Any


class Answer:
    """An object with these fields: types, `Maybe` types, other answers, or a list of one of them."""

    def __init__(self, **fields: Any) -> None:
        self.fields = {name.rstrip("_"): kind for name, kind in fields.items()}

    def __or__(self, other: Answer) -> Answer:
        """The fields of both."""
        return Answer(**(self.fields | other.fields))

    def loosely(self) -> Answer:
        """The same fields, none of which has to be there."""
        return Answer(**{name: Maybe(_bare(kind)) for name, kind in self.fields.items()})

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: _answer_schema(_bare(kind)) for name, kind in self.fields.items()},
            "required": [name for name, kind in self.fields.items() if not isinstance(kind, Maybe)],
        }


# What any answer may say beside what was asked for.
ASIDE = Answer(warning=Maybe(str), conflict=Maybe(str))


def _bare(kind: Any) -> Any:
    return kind.kind if isinstance(kind, Maybe) else kind


def _answer_schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, Answer):
        return kind.schema()
    if isinstance(kind, list):
        return {"type": "array", "items": _answer_schema(kind[0])}
    return {"type": _JSON_TYPES[kind]} if kind in _JSON_TYPES else {"anyOf": ANY_JSON}


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
    def parameters(self) -> tuple[Parameter, ...]:
        return parameters_of(self.run)

    def invoke(self, home: Home, arguments: Mapping[str, Any]) -> Reply:
        return self.run(home, **bind(self.parameters, arguments))

    def takes(self, arguments: Mapping[str, Any]) -> list[str]:
        """The names of what it takes, when it is called like this."""
        return [parameter.name for parameter in self.parameters]

    @cached_property
    def answer(self) -> Answer:
        """What it answers when all goes well."""
        return answer_of(self.run)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: one flat object."""
        return {
            "type": "object",
            "properties": {parameter.name: parameter.schema() for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
        }


def bind(parameters: tuple[Parameter, ...], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The given arguments as the function takes them; null counts as not given."""
    bound: dict[str, Any] = {}
    for parameter in parameters:
        value = arguments.get(parameter.name)
        if value is not None:
            bound[parameter.argument] = parameter.take(value)
        elif parameter.required:
            raise MissingArgument(parameter.name)
    return bound


def parameters_of(run: Callable[..., Any]) -> tuple[Parameter, ...]:
    hints = get_type_hints(run, include_extras=True)
    signature = list(inspect.signature(run).parameters.values())[1:]
    return tuple(_parameter(each, hints[each.name]) for each in signature)


def answer_of(run: Callable[..., Any]) -> Answer:
    notes = get_args(get_type_hints(run, include_extras=True)["return"])
    return next(note for note in notes if isinstance(note, Answer)) | ASIDE


def _parameter(each: inspect.Parameter, hint: Any) -> Parameter:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    options = [part for part in _options(kind) if part is not types.NoneType]
    clamp = next((note for note in notes if isinstance(note, Clamp)), None)
    description = next((note for note in notes if isinstance(note, str)), "")
    choices = get_args(options[0]) if get_origin(options[0]) is Literal else ()
    types_ = ["string" if choices else _json_name(option) for option in options]
    return Parameter(
        each.name.rstrip("_"), each.name, "array" if "array" in types_ else types_[0], description, each.default,
        tuple(choices), clamp, text_or_list=set(types_) == {"array", "string"},
    )  # fmt: skip


def _options(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _json_name(kind: Any) -> str:
    return _JSON_TYPES.get(get_origin(kind) or kind, "any")


def always(_home: Home) -> NotAvailable | None:
    return None


@dataclass(frozen=True)
class Toolset:
    """Tools of one family, with the form in which that family says no."""

    name: str
    tools: dict[str, Tool]
    refuse: Refusal
    unavailable: Callable[[Home], NotAvailable | None] = field(default=always)


def toolset(
    name: str,
    tools: list[Tool],
    refuse: Refusal,
    unavailable: Callable[[Home], NotAvailable | None] = always,
) -> Toolset:
    return Toolset(name, {tool.name or tool.run.__name__: tool for tool in tools}, refuse, unavailable)


def with_warning(reply: Reply, *sentences: str) -> Reply:
    """The reply, saying also what did not go as it should."""
    told = [sentence for sentence in (reply.get("warning", ""), *sentences) if sentence]
    return {**reply, "warning": "; ".join(dict.fromkeys(told))} if told else reply
