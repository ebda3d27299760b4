"""Frames around stored text: a quoted line, a list item, a code fence.

Short text is quoted inside a line; longer text goes into a code fence longer than any fence inside it. A line that
imitates one of our own headings gets a backslash even there, for readers that do not understand fences.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from .hidden import show_hidden

TITLES = (
    "Session Handoff",
    "Directives",
    "Available Skills",
    "Memory Context",
    "Scratchpad",
    "Curated Memory",
    "Working Notes",
    "Recent Days",
    "Memory Map",
    "Recalled Memory",
)
_IMITATION = re.compile(
    rf"^(?=[ \t]*(?:#{{1,6}}[ \t]*(?:{'|'.join(TITLES)})\b|Current channel:))", re.MULTILINE | re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_SECTION_TITLE = re.compile(rf"\W*(?:{'|'.join(TITLES)})\b", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[^\W\d][\w .:/@-]*")
_PLAIN_TITLE = re.compile(r"\w[\w .,:'’()/@&+-]*")
# A few words on one line, which no reader takes for a part of the prompt.
_PLAIN_VALUE = re.compile(r"[\w(+-]?\w[\w .,:;'’()/@%&+=-]{,60}")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OTHER_BREAKS = re.compile(r"\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_MAX_INLINE_CHARS = 300  # a longer value is fenced


def quote_line(text: str) -> str:
    """Return text that fits inside one line: line breaks, control and hidden characters become escapes."""
    return show_hidden(_BREAKS.sub(_escape_break, text))


def quote_name(name: str) -> str:
    """Return a name as it is if it is plainly a name, otherwise in quotes; on one line in any case."""
    is_plain = _PLAIN_NAME.fullmatch(name) and not _SECTION_TITLE.match(name)
    return quote_line(name if is_plain else json.dumps(name, ensure_ascii=False))


def quote_title(name: str) -> str:
    """Return a name for a heading: as it is if it is plainly a name, otherwise in quotes; on one line in any case."""
    is_plain = _PLAIN_TITLE.fullmatch(name) and not _SECTION_TITLE.match(name)
    return quote_line(name if is_plain else json.dumps(name, ensure_ascii=False))


def quote_value(text: str) -> str:
    """Return a value of one line: a few plain words and JSON as they are, anything else in quotes."""
    is_plain = _PLAIN_VALUE.fullmatch(text) and not _SECTION_TITLE.match(text)
    return quote_line(text if is_plain or _is_json(text) else json.dumps(text, ensure_ascii=False))


def _is_json(text: str) -> bool:
    """Tell whether a text is a list or an object in JSON, whose own quotes mark what is text in it."""
    if text[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _escape_break(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def fence(text: str, label: str, author: str = "", kind: Literal["data", "rules"] = "data") -> str:
    """Return text in a code fence that nothing inside it can close, labelled with its page and who wrote it.

    `rules` are instructions that somebody stands behind, and bind the reader; `data` never does.
    """
    lines = _escape_imitations(show_hidden(text))
    longest = max((len(run) for run in re.findall(r"`+", lines)), default=0)
    ticks = "`" * max(3, longest + 1)
    source = f"{label} by {author}" if author else label
    return f"{ticks}{kind} {quote_line(source).replace('`', chr(39))}\n{lines}\n{ticks}"


def _escape_imitations(text: str) -> str:
    # Other kinds of line breaks become plain ones, so that no reader sees a line start that was not checked here.
    return _IMITATION.sub(_escape_line, _OTHER_BREAKS.sub("\n", text))


def _escape_line(_match: re.Match[str]) -> str:
    return "\\"


def list_item(name: str, text: str, label: str) -> str:
    """Return a named value as a list item: on its line if it is short, otherwise fenced below it."""
    if len(text) <= _MAX_INLINE_CHARS and not _BREAKS.search(text):
        return f"- {quote_name(name)}: {quote_value(text)}"
    return f"- {quote_name(name)}:\n\n{fence(text, label)}"


def show_instructions(text: str) -> str:
    """Return instructions that people keep: as they are, but that nothing in them is hidden or left open."""
    return close_fence(show_hidden(text))


def close_fence(text: str) -> str:
    """Return text with a fence that was left open closed, so that what follows is not drawn into it."""
    opener = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and not opener and not (match[1][0] == "`" and "`" in match[2]):
            opener = match[1]
        elif match and opener and match[1].startswith(opener) and not match[2].strip():
            opener = ""
    return f"{text}\n{opener}" if opener else text


def introduce(sentence: str, text: str) -> str:
    """Return stored text after a sentence that says what it is."""
    return f"{sentence}\n\n{text.strip() or 'Nothing yet.'}"
