"""Which items a search of a store keeps: conditions on values and namespaces, as LangGraph's own stores read them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...model import Json

_FORBIDDEN_CHARACTERS = frozenset("'\"`\\\0")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_MAX_DEPTH = 50  # levels of nesting
_OPERATORS = ("$eq", "$ne", *_COMPARISONS)


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Raise ValueError for an invalid filter, whatever the items are."""
    if not isinstance(wanted, Mapping):
        raise ValueError(f"filter must be a mapping of fields to what they should be, not {wanted!r}")  # noqa: TRY004
    for key, each in wanted.items():
        if not isinstance(key, str) or _FORBIDDEN_CHARACTERS.intersection(key):
            raise ValueError(f"Invalid filter key: {key!r}. A filter key is text without quotes and backslashes.")
        _check_value(each)


def _check_value(wanted: Any, level: int = 0) -> None:
    if level > _MAX_DEPTH:
        raise ValueError(f"A filter nests at most {_MAX_DEPTH} levels deep.")
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
    """Return whether a value satisfies every condition of a filter."""
    return all(_matches_value(_get_field(value, key), each) for key, each in wanted.items())


def _get_field(value: Any, key: str) -> Json:
    """Return a field by its exact name, or else by its dotted path."""
    if isinstance(value, Mapping) and key in value:
        return value[key]
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _has_operators(wanted: Mapping[Any, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in wanted)


def _matches_value(value: Json, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
            return all(_satisfies(value, name, each) for name, each in wanted.items())
        return isinstance(value, Mapping) and all(_matches_value(value.get(key), each) for key, each in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same_length = isinstance(value, list) and len(value) == len(wanted)
        return same_length and all(_matches_value(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _satisfies(value: Json, name: str, wanted: Any) -> bool:
    if name in ("$eq", "$ne"):
        return bool((value == wanted) is (name == "$eq"))
    one = _parse_number(value)
    other = _parse_number(wanted)
    if one is not None and other is not None:
        return _COMPARISONS[name](one, other)
    # ISO dates are text that sorts by time.
    return isinstance(value, str) and isinstance(wanted, str) and _COMPARISONS[name](value, wanted)


def _parse_number(value: Any) -> int | float | None:
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def is_prefix(pattern: Sequence[str], namespace: Sequence[str]) -> bool:
    """Return whether a namespace starts with a pattern, in which `*` matches any one label."""
    if len(pattern) > len(namespace):
        return False
    return all(asked in ("*", label) for asked, label in zip(pattern, namespace, strict=False))


def is_suffix(pattern: Sequence[str], namespace: Sequence[str]) -> bool:
    return is_prefix([*reversed(pattern)], [*reversed(namespace)])
