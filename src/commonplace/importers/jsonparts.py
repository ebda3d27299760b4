"""JSON from other programs, part by part: one that is broken costs itself, not what stands around it."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from .values import Missed

LONGEST_LINE = 64 << 20  # bytes: no message that anybody wrote is longer
_DECODER = json.JSONDecoder(strict=False)
_BETWEEN = re.compile(r"[\s,]*")
_START = re.compile(r'[,\[]\s*(?=\{\s*")')  # in a text such a quote would have a backslash before it
_BYTES = re.compile("[\udc80-\udcff]")
_PATIENCE = 16  # times the length of a text are read in search of the next whole part before the rest is given up
_AT_LEAST = 1 << 28  # characters, which take a second or two
_COUNTED = 16  # how much faster the lines before an error are counted than JSON is read

Objects = Iterator[tuple[int, dict[str, Any]]]


def objects(data: bytes, what: str, missed: list[Missed], has: str, names: tuple[str, ...] = ()) -> Objects:
    """The objects of a JSON list, with their number from 1; of an object, the list under the first of `names`.

    `has` is a field that each of them has, by which the next one is known after one that is broken.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        missed.append(Missed(what, "is UTF-16 text: save it as UTF-8"))
        return
    text = data.decode("utf-8-sig", "surrogateescape")
    start = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    if text[start : start + 1] == "{":
        start = _list_in(text, start, names)
        if start < 0:
            missed.append(Missed(what, f"has no list {' or '.join(names) or 'of objects'}"))
            return
    if text[start : start + 1] != "[":
        missed.append(Missed(what, "is not a JSON list"))
        return
    yield from _parts(text, start + 1, what, missed, has)


def _list_in(text: str, start: int, names: tuple[str, ...]) -> int:
    """Where a list begins that stands in an object under one of some names; -1 when none does."""
    for name in names:
        found = re.compile(rf'"{re.escape(name)}"\s*:\s*(?=\[)').search(text, start)
        if found:
            return found.end()
    return -1


def _parts(text: str, at: int, what: str, missed: list[Missed], has: str) -> Objects:
    number = 0
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "]":
            return
        number += 1
        if at >= len(text):
            missed.append(Missed(f"{what}, after part {number - 1}", "is cut off"))
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            missed.append(Missed(f"{what}, part {number}", f"is not JSON ({_reason(error)})"))
            at = _after(text, at, has)
            if at < 0:
                return
            continue
        if not isinstance(value, dict):
            missed.append(Missed(f"{what}, part {number}", "is not a JSON object"))
        elif _BYTES.search(text, at, end):
            missed.append(Missed(f"{what}, part {number}", "is not UTF-8 text"))
        else:
            yield number, value
        at = end


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def _after(text: str, at: int, has: str) -> int:
    """Where the next part begins after a broken one; -1 when none is found."""
    left = _AT_LEAST + _PATIENCE * len(text)
    for found in _START.finditer(text, at + 1):
        try:
            value, _ = _DECODER.raw_decode(text, found.end())
        except json.JSONDecodeError as error:
            unterminated = error.msg.startswith("Unterminated")
            left -= len(text) - error.pos if unterminated else error.pos - found.end()
            left -= error.pos // _COUNTED
        except (ValueError, RecursionError):
            left -= len(text) // 100
        else:
            if has in value:
                return found.end()
        if left < 0:
            break
    return -1


def lines(data: bytes, what: str, missed: list[Missed]) -> Objects:
    """The objects of JSON lines, with the number of their line."""
    start = number = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        value = _line(data[start:end], end - start)
        start = end + 1
        if isinstance(value, dict):
            yield number, value
        elif value:
            missed.append(Missed(f"{what}, line {number}", value))


def _line(raw: bytes, size: int) -> dict[str, Any] | str:
    """An object, or why there is none; empty for an empty line."""
    if size > LONGEST_LINE:
        return f"is longer than {LONGEST_LINE:,} bytes"
    if not raw.strip():
        return ""
    try:
        value = _DECODER.decode(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    except (ValueError, RecursionError) as error:
        return f"is not JSON ({_reason(error)})"
    return value if isinstance(value, dict) else "is not a JSON object"
