"""What a tool answers, written where its function says what it returns: `-> Annotated[Reply, Answer(path=str, ...)]`.

From it comes the JSON Schema that programs check answers against. A name that Python reserves ends in an underscore.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_PLAIN = [{"type": kind} for kind in ("string", "number", "boolean", "object")]
# Any value but null, one type a branch: what every client of JSON Schema understands.
ANY_JSON = [*_PLAIN, {"type": "array", "items": {"anyOf": [*_PLAIN, {"type": "array"}, {"type": "null"}]}}]
_TYPES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}


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
            "properties": {name: _schema(_bare(kind)) for name, kind in self.fields.items()},
            "required": [name for name, kind in self.fields.items() if not isinstance(kind, Maybe)],
        }


# What any answer may say beside what was asked for.
ASIDE = Answer(warning=Maybe(str), conflict=Maybe(str))


def _bare(kind: Any) -> Any:
    return kind.kind if isinstance(kind, Maybe) else kind


def _schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, Answer):
        return kind.schema()
    if isinstance(kind, list):
        return {"type": "array", "items": _schema(kind[0])}
    return {"type": _TYPES[kind]} if kind in _TYPES else {"anyOf": ANY_JSON}
