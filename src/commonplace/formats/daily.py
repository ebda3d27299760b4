"""The page of a day: a `# YYYY-MM-DD` header, then `## HH:MM` entries, each appended whole."""

from __future__ import annotations

from . import frontmatter
from .scanner import escape, leaves_fence_open, marks


def append(text: str, day: str, time: str, content: str) -> str:
    """The page with one more entry; the header is put on top of a page that has none."""
    text = with_header(text, day)
    if not text.endswith("\n"):
        text += "\n"
    if not text.endswith("\n\n"):
        text += "\n"
    body = escape(content, open_fence_above=leaves_fence_open(text))
    return f"{text}## {time}\n\n{body}\n\n"


def with_header(text: str, day: str) -> str:
    """The page under its header. Front matter, where a person put some, stays on top."""
    if any(mark.level == 1 and mark.title == day and not mark.fenced for mark in marks(text)):
        return text
    head, body = frontmatter.split(text)
    return f"{head}# {day}\n\n{body}"
