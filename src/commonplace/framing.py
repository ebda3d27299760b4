"""The only way stored text leaves for a model: code fences, escaping, headings, and how many tokens it takes.

Memory is data: it must not close its own frame or pose as a part of the prompt around it. Short text is quoted inside
a line; longer text goes into a code fence longer than any fence inside it. A line that imitates one of our own
headings gets a backslash even there, for readers that do not understand fences.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from string import ascii_letters, digits

TITLES = (
    "Session Handoff",
    "Directives",
    "Memory Context",
    "Available Skills",
    "Curated Memory",
    "Working Notes",
    "Scratchpad",
    "Recalled Memory",
)
_IMITATION = re.compile(
    rf"^(?=[ \t]*(?:#{{1,6}}[ \t]*(?:{'|'.join(TITLES)})\b|Current channel:))", re.MULTILINE | re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_PLAIN_NAME = re.compile(r"[^\W\d][\w .:/@-]*")
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_OTHER_BREAKS = re.compile(r"\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_MAX_INLINE_CHARS = 300  # a longer value is fenced

# Estimated tokens per character, by the first class that matches. Every model counts differently; against common
# vocabularies this is within a fifth for prose in most languages, and further off for code and rare scripts.
_ASCII_WEIGHTS = ((ascii_letters.encode(), 0.22), (b" \t", 0.03), (digits.encode(), 0.4), (bytes(range(128)), 0.6))
_WEIGHTS = (
    (r"[\u0080-\u052f\u1e00-\u1fff]", 0.5),
    (r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]", 1.0),
)
_OTHER_WEIGHT = 1.3


def quote_line(text: str) -> str:
    """Return text that fits inside one line: its line breaks become escapes."""
    return _BREAKS.sub(_escape_break, text)


def _escape_break(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def fence(text: str, label: str) -> str:
    """Return text in a code fence that nothing inside it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    # Other kinds of line breaks become plain ones, so that no reader sees a line start that was not checked here.
    lines = _OTHER_BREAKS.sub("\n", text)
    return f"{ticks}data {quote_line(label).replace('`', chr(39))}\n{_IMITATION.sub(_escape_line, lines)}\n{ticks}"


def _escape_line(_match: re.Match[str]) -> str:
    return "\\"


def list_item(name: str, text: str, label: str) -> str:
    """Return a named value as a list item: on its line if it is short, otherwise fenced below it."""
    shown_name = quote_line(name if _PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False))
    if len(text) <= _MAX_INLINE_CHARS and not _BREAKS.search(text):
        return f"- {shown_name}: {text}"
    return f"- {shown_name}:\n\n{fence(text, label)}"


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


def add_heading(title: str, text: str, level: int) -> str:
    """Return text under a heading."""
    return f"{'#' * level} {title}\n\n{text}"


def join_pages(pages: Iterable[str]) -> str:
    """Return pages one after the other, with an empty line between them."""
    return "\n".join(_end_line(page) for page in pages)


def join_sections(sections: Iterable[str]) -> str:
    """Return sections one after the other, with a line `---` between them."""
    return "\n---\n\n".join(_end_line(section) for section in sections)


def _end_line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def introduce(sentence: str, text: str) -> str:
    """Return stored text after a sentence that says what it is."""
    return f"{sentence}\n\n{text.strip() or 'Nothing yet.'}"


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is for a model."""
    return math.ceil(weigh_tokens(text))


def weigh_tokens(text: str) -> float:
    """Return the estimate before rounding: for two texts joined it is the sum of both."""
    total = 0.0
    ascii_rest = text.encode("ascii", "ignore")
    other_rest = "" if len(ascii_rest) == len(text) else re.sub("[\x00-\x7f]+", "", text)
    for characters, weight in _ASCII_WEIGHTS:
        rest = ascii_rest.translate(None, characters)
        total += (len(ascii_rest) - len(rest)) * weight
        ascii_rest = rest
    for pattern, weight in _WEIGHTS if other_rest else ():
        unlike = re.sub(pattern, "", other_rest)
        total += (len(other_rest) - len(unlike)) * weight
        other_rest = unlike
    return total + len(other_rest) * _OTHER_WEIGHT
