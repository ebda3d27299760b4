"""Marks of `recall` on lines whose fact was replaced: ` [no longer; now: "…" (PAGE#L5-L5)]`, at the end of the line.

A page that is rewritten from what was recalled is stored without them. Text of a page that imitates a mark gets a
backslash before its bracket, which is taken away again.
"""

from __future__ import annotations

import re

_OPENING = r'\[(?:no longer; now|no longer|answered): "'
_MARK = re.compile(rf" {_OPENING}[^\[\]]*#L\d+-L\d+\)\][ \t]*\Z")
_IMITATION = re.compile(rf"(?<!\\)(\\*)(?={_OPENING})", re.IGNORECASE)
_ESCAPED = re.compile(rf"(?<!\\)\\(?=\\*{_OPENING})", re.IGNORECASE)
_PARENTHESES = str.maketrans("[]", "()")


def format_mark(words: str) -> str:
    """Return the mark for the end of a line. Nothing in it can end it early."""
    return f" [{words.translate(_PARENTHESES)}]"


def imitates_mark(text: str) -> bool:
    """Tell whether a text has anything that reads like a mark, or like its escape."""
    return _IMITATION.search(text) is not None


def escape_marks(line: str) -> str:
    """Return a line with a backslash before all in it that reads like a mark."""
    return _IMITATION.sub(r"\1\\", line) if "[" in line else line


def strip_mark(line: str) -> str:
    """Return a line without the mark at its end."""
    return _MARK.sub("", line) if line.rstrip(" \t").endswith(")]") else line


def unescape_marks(line: str) -> str:
    """Return what `escape_marks` was given."""
    return _ESCAPED.sub("", line) if "\\[" in line else line
