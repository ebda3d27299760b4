"""Which items a search of a store keeps: conditions on values and namespaces, as LangGraph's own stores read them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...model import Json

_QUOTES = frozenset("'\"`\\\0")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_DEEPEST = 50  # levels of a filter: nobody means more
_OPERATORS = ("$eq", "$ne", *_ORDER)


def check(wanted: Mapping[str, Any]) -> None:
    """ValueError for a filter that could never be meant, whatever the items are."""
    if not isinstance(wanted, Mapping):
        raise ValueError(f"filter must be a mapping of fields to what they should be, not {wanted!r}")  # noqa: TRY004
    for key, each in wanted.items():
        if not isinstance(key, str) or _QUOTES.intersection(key):
            raise ValueError(f"Invalid filter key: {key!r}. A filter key is text without quotes and backslashes.")
        _check_value(each)


def _check_value(wanted: Any, level: int = 0) -> None:
    if level > _DEEPEST:
        raise ValueError(f"A filter nests at most {_DEEPEST} levels deep.")
    if isinstance(wanted, Mapping):
        unknown = [key for key in wanted if key not in _OPERATORS] if _has_operators(wanted) else []
        if unknown:
            raise ValueError(f"Unsupported operator: {unknown[0]}. There are {', '.join(_OPERATORS)}.")
        for each in wanted.values():
            _check_value(each, level + 1)
    elif isinstance(wanted, (list, tuple)):
        for each in wanted:
            _check_value(each, level + 1)


def matches(value: Mapping[str, Json], wanted: Mapping[str, Any]) -> bool:
    """Whether a value has all that is wanted of it."""
    return all(_fits(_at(value, key), each) for key, each in wanted.items())


def _at(value: Any, key: str) -> Json:
    """A field by its name, or, where none has it, by the dots in it."""
    if isinstance(value, Mapping) and key in value:
        return value[key]
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _has_operators(wanted: Mapping[Any, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in wanted)


def _fits(value: Json, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
            return all(_compares(value, name, each) for name, each in wanted.items())
        return isinstance(value, Mapping) and all(_fits(value.get(key), each) for key, each in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same_length = isinstance(value, list) and len(value) == len(wanted)
        return same_length and all(_fits(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compares(value: Json, name: str, wanted: Any) -> bool:
    if name in ("$eq", "$ne"):
        return bool((value == wanted) is (name == "$eq"))
    one, other = _number(value), _number(wanted)
    if one is not None and other is not None:
        return _ORDER[name](one, other)
    # Dates are text: their order is that of time.
    return isinstance(value, str) and isinstance(wanted, str) and _ORDER[name](value, wanted)


def _number(value: Any) -> int | float | None:
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def leads(pattern: Sequence[str], namespace: Sequence[str]) -> bool:
    """Whether a namespace starts with a pattern, in which `*` is any one label."""
    if len(pattern) > len(namespace):
        return False
    return all(asked in ("*", label) for asked, label in zip(pattern, namespace, strict=False))


def ends(pattern: Sequence[str], namespace: Sequence[str]) -> bool:
    return leads([*reversed(pattern)], [*reversed(namespace)])
