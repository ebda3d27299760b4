"""Caches bounded by bytes, so that a process does not grow with the size of its input.

    @cache_within(1_000_000)
    def read_claims(text: str) -> ...

An entry counts with its key and its value. There are two generations of entries: once the younger one takes half of the
bytes, the older one is dropped, and entries that are used again move to the younger. This needs no lock, and a hit
costs one look into a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import repeat
from sys import getsizeof
from types import FunctionType, MethodType
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast
from weakref import WeakSet

Parameters = ParamSpec("Parameters")
Key = TypeVar("Key")
Value = TypeVar("Value")
_ENTRY_BYTES = 60  # overhead of one dictionary entry
_MAX_PART_OF_LIMIT = 4  # one entry may take at most a quarter of the cache
_LONG_CHARACTERS = 2_000  # the entry of a longer text is always measured
_MEASURED_PART = 8
_MEASURED_ITEMS = 32  # of a long list; the others are assumed to be similar
_ABSENT: Final = object()
_PLAIN_TYPES = frozenset((str, bytes, int, float, bool, type(None)))  # they refer to no other objects
# Python has each of these once, however many values hold it: empty fields of passages would make up a third of them.
_SHARED_BYTES = {id(value): getsizeof(value) for value in ("", b"", (), None, True, False, *range(-5, 257))}
_PROGRAM_TYPES = (type, FunctionType, MethodType)  # exist anyway, so they cost nothing extra
_caches: WeakSet[ByteCache[Any, Any]] = WeakSet()


class ByteCache(Generic[Key, Value]):
    """Values by keys, within a number of bytes. Safe to share between threads."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        self.name = name
        self.limit_bytes = limit_bytes
        self.recent: dict[Key, Value] = {}
        self._earlier: dict[Key, Value] = {}
        self._recent_bytes = 0
        self._earlier_bytes = 0
        self._additions = 0
        self._usual_bytes = 0  # measured size of a typical entry
        _caches.add(self)

    def __len__(self) -> int:
        return len(self.recent) + len(self._earlier)

    @property
    def size_bytes(self) -> int:
        return self._recent_bytes + self._earlier_bytes

    def get(self, key: Key, default: Any = None) -> Value | Any:
        """Return the value of a key, which counts as used."""
        value: Any = self.recent.get(key, _ABSENT)
        if value is _ABSENT:
            value = self._earlier.pop(key, _ABSENT)
            if value is _ABSENT:
                return default
            size = 0 if _is_long(key) else self._usual_bytes
            size = size or _measure_entry(key, value)
            self._earlier_bytes = max(0, self._earlier_bytes - size)
            self._add(key, value, size)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Store a value, which must not change while it is cached; one that is too large is not stored."""
        self.pop(key)
        self._add(key, value, _measure_entry(key, value))

    def add_new(self, key: tuple[Any, ...], value: Value) -> None:
        """Store the value of a new key. Of short texts, every eighth is measured and represents the others."""
        self._additions += 1
        size = self._usual_bytes
        if _is_long(key):
            size = _measure_entry(key, value)
        elif not size or self._additions % _MEASURED_PART == 1:
            size = _measure_entry(key, value)
            self._usual_bytes = (3 * (self._usual_bytes or size) + size) // 4
        self._add(cast(Key, key), value, size)

    def _add(self, key: Key, value: Value, size: int) -> None:
        if size * _MAX_PART_OF_LIMIT > self.limit_bytes:
            return
        if 2 * (self._recent_bytes + size) > self.limit_bytes:
            self._earlier = self.recent
            self._earlier_bytes = self._recent_bytes
            self.recent = {}
            self._recent_bytes = 0
        self.recent[key] = value
        self._recent_bytes += size

    def pop(self, key: Key, default: Any = None) -> Value | Any:
        """Forget a key and return its value."""
        value: Any = self.recent.pop(key, _ABSENT)
        if value is not _ABSENT:
            self._recent_bytes -= _measure_entry(key, value)
            return value
        value = self._earlier.pop(key, _ABSENT)
        if value is _ABSENT:
            return default
        self._earlier_bytes -= _measure_entry(key, value)
        return value

    def clear(self) -> None:
        self.recent = {}
        self._earlier = {}
        self._recent_bytes = 0
        self._earlier_bytes = 0


def cache_within(limit_bytes: int) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]:
    """Cache what a function returns, within a number of bytes. Its arguments must be hashable."""

    def decorate(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
        cache: ByteCache[Any, Value] = ByteCache(f"{function.__module__}.{function.__qualname__}", limit_bytes)

        @wraps(function)
        def call(*arguments: Parameters.args, **options: Parameters.kwargs) -> Value:
            key: Any = (*arguments, *options.items()) if options else arguments
            value: Any = cache.recent.get(key, _ABSENT)
            if value is _ABSENT:
                value = cache.get(key, _ABSENT)
                if value is _ABSENT:
                    value = function(*arguments, **options)
                    cache.add_new(key, value)
            result: Value = value
            return result

        return call

    return decorate


def list_caches() -> list[ByteCache[Any, Any]]:
    """Return all caches of this process, by name."""
    return sorted(_caches, key=_get_name)


def _get_name(cache: ByteCache[Any, Any]) -> str:
    return cache.name


def measure_bytes(*values: Any) -> int:
    """Return roughly how many bytes values take with everything they contain, shared or not."""
    total = 0
    seen: set[int] = set()
    pending: list[tuple[Any, int]] = [(values, 1)]
    while pending:
        inside, times = pending.pop()
        shared = sum(map(_SHARED_BYTES.get, map(id, inside), repeat(0)))
        total += times * (sum(map(getsizeof, inside)) - shared)
        if {*map(type, inside)} <= _PLAIN_TYPES:  # nearly always: words
            continue
        if isinstance(inside, (tuple, list)) and len(inside) >= 2 * _MEASURED_ITEMS:
            step = len(inside) // _MEASURED_ITEMS
            inside = inside[::step]
            times *= step
        for value in inside:
            if type(value) in _PLAIN_TYPES or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, (tuple, list, frozenset, set)):
                pending.append((value, times))
            elif isinstance(value, dict):
                pending += ((value, times), (value.values(), times))
            elif not isinstance(value, _PROGRAM_TYPES) and hasattr(value, "__dict__"):
                pending.append(((vars(value),), times))
    return total


def _is_long(key: Any) -> bool:
    """Return whether a key is for a text that is longer than most."""
    text = key[0] if isinstance(key, tuple) else key
    return isinstance(text, str) and len(text) > _LONG_CHARACTERS


def _measure_entry(key: Any, value: Any) -> int:
    return _ENTRY_BYTES + measure_bytes(key, value)
