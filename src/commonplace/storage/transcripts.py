"""Transcripts as JSON lines, read from the end: the format that every backend's transcripts share.

A line that is not JSON is no item: a process that is killed while it writes leaves half a line, which nobody reads and
the next writer cuts off.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from ..formats.json_text import is_unicode

_BLOCK_BYTES = 1 << 16  # read at once from the end; twice as many each time


class Item(NamedTuple):
    value: Any
    start: int  # where its line begins in the file


class Reader(NamedTuple):
    """Bytes to read: how many there are, and a function that reads some of them from an offset."""

    size: int
    read: Callable[[int, int], bytes]


def format_items(items: Iterable[Any]) -> bytes:
    return b"".join(map(_format_item, items))


def _format_item(item: Any) -> bytes:
    """Format an item so that people can read it; half a surrogate pair, which UTF-8 cannot hold, stays an escape."""
    text = json.dumps(item, ensure_ascii=False)
    return (text if is_unicode(text) else json.dumps(item)).encode() + b"\n"


def _parse_value(line: bytes) -> tuple[bool, Any]:
    """Return whether a line is an item, and its value."""
    try:
        return True, json.loads(line)
    except (ValueError, RecursionError):
        return False, None


def read_last(source: Reader, last: int | None) -> list[Any]:
    """Return all items, or only the `last`, oldest first."""
    return [*islice((item.value for item in iterate_backwards(source)), last)][::-1]


def iterate_backwards(source: Reader) -> Iterator[Item]:
    """Yield the items, the last one first."""
    for start, line in _iterate_lines_backwards(source):
        is_item, value = _parse_value(line) if line.strip() else (False, None)
        if is_item:
            yield Item(value, start)


def _iterate_lines_backwards(source: Reader) -> Iterator[tuple[int, bytes]]:
    """Yield the lines, the last one first, each with the offset where it begins."""
    at = source.size
    block = _BLOCK_BYTES
    rest = b""
    while at > 0:
        step = min(block, at)
        block *= 2
        at -= step
        first, *lines = (source.read(at, step) + rest).split(b"\n")
        end = at + len(first) + sum(len(line) + 1 for line in lines)
        for line in reversed(lines):
            yield end - len(line), line
            end -= len(line) + 1
        rest = first
    yield 0, rest


def find_append_point(source: Reader) -> tuple[int, bytes]:
    """Return where to append, and what to write first: half a line is cut off, a missing line break is added."""
    start, line = next(_iterate_lines_backwards(source))
    if not line or (line.startswith(b"{") and not _parse_value(line)[0]):
        return start, b""
    return start + len(line), b"\n"
