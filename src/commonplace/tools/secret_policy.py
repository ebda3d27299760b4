"""Keys and passwords in what is about to be written: told, taken out, or refused, as the settings say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import HoldsSecret
from ..secrets import Secret, find, redact, warning

Arguments = Mapping[str, Any]


def guarded(given: Arguments, setting: str) -> tuple[Arguments, str]:
    """The arguments as they may be written, and what is to be said of them."""
    named = _names(given)
    try:
        found = tuple(secret for field, value in given.items() for secret in _secrets(value, named.get(field, "")))
    except RecursionError:  # deeper than anything that can be written: refused further on
        return given, ""
    if not found:
        return given, ""
    names = ", ".join(dict.fromkeys(secret.rule for secret in found))
    if setting == "refuse":
        raise HoldsSecret(f"the text holds what looks like a secret ({names})", advice="Leave it out")
    if setting == "redact":
        clean = {field: _redacted(value, named.get(field, "")) for field, value in given.items()}
        return clean, f"what looks like a secret was left out ({names})"
    return given, warning(found)


def _names(given: Arguments) -> dict[str, str]:
    """What is kept under a key has that name."""
    key = given.get("key")
    return dict.fromkeys(("content", "value"), key) if isinstance(key, str) else {}


def _secrets(value: Any, name: str = "") -> Iterator[Secret]:
    """`name` is that of a field in structured data: a password is one by its name alone."""
    if isinstance(value, str):
        yield from find(value) or (find(f"{name}: {value}") if name else ())
    elif isinstance(value, Mapping):
        for field, each in value.items():
            yield from find(str(field))
            yield from _secrets(each, str(field))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _secrets(each, name)


def _redacted(value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        clean = redact(value)
        named = find(f"{name}: {value}") if name and clean == value else ()
        return f"[secret: {named[0].rule}]" if named else clean
    if isinstance(value, Mapping):
        return {redact(str(field)): _redacted(each, str(field)) for field, each in value.items()}
    return [_redacted(each, name) for each in value] if isinstance(value, (list, tuple)) else value
