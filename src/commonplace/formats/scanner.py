"""The structure of a page: headings and block footers, with code fences understood.

Only lines that could be structure are looked at, so a scan costs little more than one regular expression.
A footer is a hard boundary: fences are matched up between two footers and never across one, so that a fence
left open by hand can not swallow the blocks after the next footer. A fence that is never closed is no fence.

`escape` and `unescape` let any text stand inside a block or an entry: a line that would be read as structure
gets a backslash, which is Markdown's own way to say "these characters mean themselves".
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

FOOTER_START = "<!-- agentool-memory:"
_FENCE = r" {0,3}(?:`{3,}|~{3,})"
_HEADING = r"#{1,6}(?=[ \t\r\n]|$)"
_CANDIDATE = re.compile(rf"^(?:{_FENCE}|{_HEADING}|{FOOTER_START})[^\n]*", re.MULTILINE)
_ESCAPABLE = rf"(?:{_FENCE}|#{{1,3}}(?=[ \t\r\n]|$)|{FOOTER_START})"
_ESCAPED = re.compile(rf"^\\(?=\\*{_ESCAPABLE})", re.MULTILINE)
_MAYBE_ESCAPABLE = re.compile(rf"^\\*{_ESCAPABLE}", re.MULTILINE)
_FENCE_LINE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_OURS = re.compile(r"###(?:[ \t\r]|$)|## \d\d:\d\d[ \t]*\r?$|# \d{4}-\d\d-\d\d[ \t]*\r?$")


class Mark(NamedTuple):
    """A line that means something: a heading (level 1 to 6) or a footer (level 0). `fenced`: it stands inside code."""

    start: int
    end: int
    line: str
    level: int
    fenced: bool = False

    @property
    def kind(self) -> Literal["heading", "footer"]:
        return "heading" if self.level else "footer"

    @property
    def title(self) -> str:
        return self.line[self.level :].strip()


class _Fence(NamedTuple):
    """A line of `length` or more fence characters, and what follows them."""

    char: str
    length: int
    info: str

    @property
    def may_open(self) -> bool:
        return not (self.char == "`" and "`" in self.info)

    def closes(self, opener: _Fence) -> bool:
        return self.char == opener.char and self.length >= opener.length and not self.info.strip()


def _fence(line: str) -> _Fence | None:
    found = _FENCE_LINE.match(line)
    return _Fence(found[1][0], len(found[1]), found[2]) if found else None


def _pair(fences: list[_Fence | None]) -> list[bool]:
    """For each line of a segment (None: not a fence line) whether it stands in, opens or closes a closed fence."""
    inside = [False] * len(fences)
    never_closed: dict[str, int] = {}  # per character, the shortest opener known to find no closer from here on
    at = 0
    while at < len(fences):
        opener = fences[at]
        if opener and opener.may_open and opener.length < never_closed.get(opener.char, opener.length + 1):
            closer = next((i for i in range(at + 1, len(fences)) if (f := fences[i]) and f.closes(opener)), None)
            if closer is None:
                never_closed[opener.char] = opener.length
            else:
                inside[at : closer + 1] = [True] * (closer + 1 - at)
                at = closer
        at += 1
    return inside


def marks(text: str) -> list[Mark]:
    """The headings and footers of a page, in order; those inside closed fences are there too, marked `fenced`."""
    found: list[Mark] = []
    segment: list[tuple[int, int, str]] = []
    for match in _CANDIDATE.finditer(_without_bom(text)):
        line = match[0]
        if line.startswith(FOOTER_START) and line.rstrip().endswith("-->"):
            found += _headings(segment)
            found.append(Mark(match.start(), match.end(), line, 0))
            segment = []
        elif not line.startswith(FOOTER_START):
            segment.append((match.start(), match.end(), line))
    return found + _headings(segment)


def _without_bom(text: str) -> str:
    """The same text at the same offsets: the mark some editors put first would hide the first heading."""
    return "\n" + text[1:] if text.startswith("\ufeff") else text


def _headings(segment: list[tuple[int, int, str]]) -> list[Mark]:
    fences = [_fence(line) for _, _, line in segment]
    inside = _pair(fences)
    return [
        Mark(start, end, line, len(line) - len(line.lstrip("#")), fenced)
        for (start, end, line), fence, fenced in zip(segment, fences, inside, strict=True)
        if fence is None
    ]


def segment_around(text: str, offset: int) -> tuple[int, int]:
    """The stretch of the page between the footer above a place and the footer below it, that one included."""
    above = text.rfind(FOOTER_START, 0, offset)
    while above >= 0 and not _is_footer(text, above):
        above = text.rfind(FOOTER_START, 0, above)
    below = text.find(FOOTER_START, offset)
    while below >= 0 and not _is_footer(text, below):
        below = text.find(FOOTER_START, below + 1)
    start = 0 if above < 0 else end_of_line(text, above)
    return start, len(text) if below < 0 else end_of_line(text, below)


def _is_footer(text: str, at: int) -> bool:
    at_line_start = at == 0 or text[at - 1] == "\n"
    return at_line_start and text[at : end_of_line(text, at)].rstrip().endswith("-->")


def end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def leaves_fence_open(text: str) -> bool:
    """Whether text appended to this page could be drawn into a fence that somebody left open above it."""
    start, _ = segment_around(text, len(text))
    fences = [_fence(m[0]) for m in _CANDIDATE.finditer(text, start)]
    inside = _pair(fences)
    return any(fence and not shut for fence, shut in zip(fences, inside, strict=True))


def escape(content: str, *, open_fence_above: bool = False) -> str:
    """The content as it may stand in a block or an entry: `unescape` gives it back exactly."""
    if not _MAYBE_ESCAPABLE.search(content):
        return content
    lines = content.split("\n")
    fences = [_fence(line) for line in lines]
    inside = [False] * len(lines) if open_fence_above else _pair(fences)
    return "\n".join(
        "\\" + line if _needs_escape(line, fence is not None, fenced) else line
        for line, fence, fenced in zip(lines, fences, inside, strict=True)
    )


def _needs_escape(line: str, is_fence: bool, fenced: bool) -> bool:  # noqa: FBT001
    if line.startswith(FOOTER_START) or _ESCAPED.match(line):
        return True
    return not fenced and (is_fence or _OURS.match(line) is not None)


def unescape(text: str) -> str:
    return _ESCAPED.sub("", text)


class LineCounter:
    """Line numbers, from 1, of offsets that mostly grow: each stretch of the page is counted once."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def line(self, offset: int) -> int:
        if offset < self._at:
            self._at, self._line = 0, 1
        self._line += self._text.count("\n", self._at, offset)
        self._at = offset
        return self._line


def one_line(text: str) -> str:
    """Text that fits in a line whatever it holds: what can not be printed is spelt out."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
