"""What is searched of a page that is too large: each of its parts from its beginning, the longest ones cut.

The lines keep their numbers, and a part is never dropped for the length of another: what stands after a huge paste is
found as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .structure import find_marks

MAX_TURN_CHARS = 1_000_000  # of one turn that are searched


def shorten_page(text: str, max_chars: int) -> tuple[str, int]:
    """Return a page with its longest parts cut so that at most `max_chars` are left, and how many parts were cut.

    A part begins at a heading. What is cut leaves its line breaks behind.
    """
    if len(text) <= max_chars:
        return text, 0
    starts = [mark.start for mark in find_marks(text) if mark.kind == "heading" and not mark.fenced]
    bounds = sorted({0, *starts, len(text)})
    parts = [text[start:end] for start, end in pairwise(bounds)]
    limit = find_common_limit([len(part) for part in parts], max_chars)
    kept = [part if len(part) <= limit else _cut(part, limit) for part in parts]
    return "".join(kept), sum(len(part) > limit for part in parts)


def shorten_transcript(text: str, max_chars: int) -> str:
    """Return the first lines of a transcript. A line longer than a turn may be counts as one that is as long."""
    if len(text) <= max_chars:
        return text
    left = max_chars
    end = 0
    while end < len(text) and left > 0:
        after = text.find("\n", end) + 1 or len(text)
        left -= min(after - end, MAX_TURN_CHARS)
        if left >= 0:
            end = after
    return text[:end]


def find_common_limit(lengths: Sequence[int], total: int) -> int:
    """Return the largest length to which all can be cut so that they fit into `total`."""
    left = total
    waiting = len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return left // waiting
        left -= length
        waiting -= 1
    return max(lengths, default=0)


def split_line(line: str, max_chars: int) -> list[str]:
    """Return the parts of a long line, cut between two words where there is a space."""
    parts: list[str] = []
    start = 0
    while len(line) - start > max_chars:
        space = line.rfind(" ", start + max_chars // 2, start + max_chars)
        end = space + 1 if space > 0 else start + max_chars
        parts.append(line[start:end])
        start = end
    return [*parts, line[start:]]


def _cut(part: str, length: int) -> str:
    return part[:length] + "\n" * part.count("\n", length)
