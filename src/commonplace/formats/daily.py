"""Daily pages: a `# YYYY-MM-DD` heading, then `## HH:MM` entries, each appended whole.

What the two headings look like is defined in `structure`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from ..patterns import lazy_pattern
from . import frontmatter
from .structure import (
    DAY_FORMAT,
    DAY_LEVEL,
    ENTRY_FORMAT,
    ENTRY_LEVEL,
    ENTRY_PATTERN,
    Mark,
    escape,
    find_marks,
    leaves_fence_open,
)

_DAY = lazy_pattern(r"\d{4}[- ]\d\d[- ]\d\d\b")  # as a heading has it, or a file name with its dashes as spaces
_TIME = lazy_pattern(ENTRY_PATTERN)
_ENTRY = lazy_pattern(rf"^{'#' * ENTRY_LEVEL}\s+\S", re.MULTILINE)  # by hand, an entry may have any title


def add_entry(text: str, moment: datetime, content: str) -> str:
    """Return the page with one more entry at its end, and with the heading of the day if it had none."""
    text = ensure_heading(text, f"{moment:{DAY_FORMAT}}")
    if not text.endswith("\n"):
        text += "\n"
    if not text.endswith("\n\n"):
        text += "\n"
    body = escape(content, open_fence_above=leaves_fence_open(text))
    return f"{text}{'#' * ENTRY_LEVEL} {moment:{ENTRY_FORMAT}}\n\n{body}\n\n"


def ensure_heading(text: str, day: str) -> str:
    """Return the page under the heading of its day. Front matter, where a person put some, stays on top."""
    if any(mark.level == DAY_LEVEL and mark.title == day and not mark.fenced for mark in find_marks(text)):
        return text
    head, body = frontmatter.split(text)
    return f"{head}{'#' * DAY_LEVEL} {day}\n\n{body}"


def add_heading_of(text: str, page: str) -> str:
    """Return a text under the heading of the day that a page has; as it is, if that page has none."""
    day = next((mark.title for mark in find_marks(page) if _is_heading(mark)), "")
    return ensure_heading(text, day) if day else text


def is_empty(text: str) -> bool:
    """Return whether a page has the heading of a day, and nothing else."""
    marks = find_marks(text)
    return len(marks) == 1 and _is_heading(marks[0]) and text.strip() == marks[0].line.strip()


def _is_heading(mark: Mark) -> bool:
    return mark.level == DAY_LEVEL and not mark.fenced and _DAY.fullmatch(mark.title) is not None


def count_entries(text: str) -> int:
    """Return how many entries a daily page has."""
    return len(_ENTRY.findall(text))


def is_day_or_time(title: str) -> bool:
    """Tell whether the title of a heading is only a date or a time."""
    return bool(_DAY.fullmatch(title) or _TIME.fullmatch(title))


def find_moment(page_name: str, titles: Sequence[str]) -> str:
    """Return when an entry was written, or "" if nothing tells.

    The day is the name of the page or the first heading that is a date; the time is the last heading.
    """
    day = next((match[0] for title in (page_name, *titles) if (match := _DAY.match(title))), "")
    day = day.replace(" ", "-")
    return f"{day}T{titles[-1]}" if day and titles and _TIME.fullmatch(titles[-1]) else day
