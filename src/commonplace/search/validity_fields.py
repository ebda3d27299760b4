"""Fields that say until when and from when on something holds: `valid_until: 2026-05-12`, on a line or in a comment.

In front matter a field is about the page. In a text, one at the end of a line is about that line, and one on a line of
its own about the line of text above it. In code it is about nothing.
"""

from __future__ import annotations

import re

from ..caching import cache_within
from ..formats.timestamps import parse_day
from .validity import ALWAYS, Validity

_FIELD = re.compile(r"(?m)^[ \t]*(?:<!--[ \t]*)?valid_(from|until):[ \t]*[\"']?([^\n\"'>]+)")
_COMMENT = re.compile(r"<!--[ \t]*valid_(from|until):[ \t]*[\"']?([^\n\"'>]+)")
_FENCE = re.compile(r" {0,3}(?:`{3}|~{3})")


def read_fields(head: str) -> Validity:
    """Return what the fields of front matter say."""
    return _read_days(_FIELD, head)


def is_field(line: str) -> bool:
    """Return whether a line is nothing but a field."""
    return "valid_" in line and _FIELD.match(line) is not None


@cache_within(500_000)
def _find_line_fields(text: str) -> tuple[tuple[int, Validity], ...]:
    fields: dict[int, Validity] = {}
    above: int | None = None  # the last line that is text
    is_code = False
    for number, line in enumerate(text.split("\n")):
        is_fence = _FENCE.match(line) is not None
        if is_fence or is_code:
            above = None
        elif is_field(line) and above is not None:
            _add(fields, above, _read_days(_FIELD, line))
        elif line.strip() and not is_field(line):
            above = number
            _add(fields, number, _read_days(_COMMENT, line))
        is_code = is_code != is_fence
    return tuple(fields.items())


def _add(fields: dict[int, Validity], line: int, more: Validity) -> None:
    if more != ALWAYS:
        known = fields.get(line, ALWAYS)
        fields[line] = Validity(known.first or more.first, known.last or more.last)


def find_line_fields(text: str) -> dict[int, Validity]:
    """Return what fields say of the lines of a text, which are counted from 0; of most lines nothing."""
    return dict(_find_line_fields(text)) if "valid_" in text else {}


def _read_days(pattern: re.Pattern[str], text: str) -> Validity:
    if "valid_" not in text:
        return ALWAYS
    days: dict[str, int] = {}
    for name, value in pattern.findall(text):
        day = parse_day(value)
        if day is not None:
            days.setdefault(name, day)
    return Validity(days.get("from"), days.get("until"))
