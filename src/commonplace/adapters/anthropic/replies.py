"""What Claude's memory tool shows and how it edits: the words and the arithmetic of the SDK's own, on plain text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from ...errors import InvalidArgument, MissingArgument, NotFound, WrongType
from ...formats.json_text import is_unicode

LEVELS = 2  # levels of folders that a view shows
_WIDTH = 6  # of line numbers
_MOST_DECODED = 5  # times: nobody who means a name hides it deeper


def text_of(field: str, value: object) -> str:
    """An argument that must be text; models leave some out, and send others as what they are not."""
    if value is None:
        raise MissingArgument(field)
    if not isinstance(value, str):
        raise WrongType(field, "text", type(value).__name__)
    if not is_unicode(value):
        raise InvalidArgument(f"Invalid parameter: {field} has characters that are not Unicode text")
    return value


def climbs(path: str) -> bool:
    """Whether a path would lead upwards once somebody decodes it or takes a backslash for a slash."""
    plain = path
    for _ in range(_MOST_DECODED):
        plain = unquote(plain)
    return (plain != path or "\\" in path) and ".." in re.split(r"[/\\]", plain)


def numbered(lines: Sequence[str], first: int, last: int) -> str:
    some = enumerate(lines[first - 1 : last], start=first)
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in some)


def shown_lines(wanted: Any, count: int) -> tuple[int, int]:
    """The first and the last line to show; InvalidArgument when that would be none."""
    if not wanted:
        return 1, count
    if not isinstance(wanted, list) or len(wanted) != 2 or not all(_is_number(each) for each in wanted):
        raise InvalidArgument(f"Invalid `view_range` parameter: {wanted!a:.50}. It should be two line numbers.")
    first, last = max(1, wanted[0]), count if wanted[1] == -1 else min(wanted[1], count)
    if first > last:
        sentence = f"It should be within the range of lines of the file: [1, {count}], and not end before it starts."
        raise InvalidArgument(f"Invalid `view_range` parameter: {wanted}. {sentence}")
    return first, last


def replaced(text: str, old: str, new: str, path: str) -> str:
    """A text with the one place that says `old` saying `new`."""
    count = text.count(old)
    if not count:
        raise NotFound(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in _all_places(text, old))
        sentence = f"Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
        raise InvalidArgument(f"No replacement was performed. {sentence}")
    return text.replace(old, new)


def _all_places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def inserted(text: str, line: Any, new: str) -> str:
    """A text with another after a line, and a line break at its end. Other lines keep theirs."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if not _is_number(line) or not 0 <= line <= len(lines):
        sentence = f"It should be within the range [0, {len(lines)}]."
        raise InvalidArgument(f"Invalid `insert_line` parameter: {line}. {sentence}")
    lines.insert(line, new.rstrip("\n"))
    whole = "\n".join(lines)
    return whole if whole.endswith("\n") else f"{whole}\n"


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def listing(path: str, own: int, entries: Iterable[tuple[str, bool, int]]) -> str:
    """A folder as a model sees it: two levels, by name."""
    shown = os.path.normpath(path).replace(os.sep, "/")
    head = f"Here're the files and directories up to {LEVELS} levels deep in {shown}, excluding hidden items:"
    lines = (f"{size(count)}\t{shown}/{name}{'/' * is_folder}" for name, is_folder, count in entries)
    return "\n".join([head, f"{size(own)}\t{shown}", *lines])


def size(count: int) -> str:
    """Bytes as a model reads them: 0B, 12B, 5.5K, 3M."""
    power = min((max(count, 1).bit_length() - 1) // 10, 3)
    value = count / 1024**power
    return f"{value:.0f}{'BKMG'[power]}" if value == int(value) else f"{value:.1f}{'BKMG'[power]}"
