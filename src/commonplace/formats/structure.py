"""The structure of a page: headings and block footers, with code fences understood.

Every line that means something to this program is defined here: the heading of a block, the footer under it, and
the headings of a daily page. `escape` puts a backslash before such a line inside stored text, and `unescape` takes
it away again, so that any text can be stored and comes back exactly.

A footer is a hard boundary: fences are paired between two footers and never across one, so that a fence left open by
hand cannot swallow the blocks after the next footer. A fence that is never closed is no fence.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ..caching import cache_within

BLOCK_LEVEL = 3  # of a `### key` heading
FOOTER_START = "<!-- agentool-memory:"

# A daily page is a `# YYYY-MM-DD` heading over `## HH:MM` entries.
DAY_LEVEL = 1
ENTRY_LEVEL = 2
DAY_FORMAT = "%Y-%m-%d"
ENTRY_FORMAT = "%H:%M"
DAY_PATTERN = r"\d{4}-\d\d-\d\d"  # what DAY_FORMAT writes
ENTRY_PATTERN = r"\d\d:\d\d"  # what ENTRY_FORMAT writes
DAY_HEADING_PATTERN = rf"{'#' * DAY_LEVEL} {DAY_PATTERN}"
ENTRY_HEADING_PATTERN = rf"{'#' * ENTRY_LEVEL} {ENTRY_PATTERN}"

_FENCE = r" {0,3}(?:`{3,}|~{3,})"
_HEADING = r"#{1,6}(?=[ \t\r\n]|$)"
# Only these lines can be structure: looking at nothing else keeps a scan nearly as cheap as one regular expression.
_CANDIDATE = re.compile(rf"^(?:{_FENCE}|{_HEADING}|{FOOTER_START})[^\n]*", re.MULTILINE)
_ESCAPABLE = rf"(?:{_FENCE}|#{{1,3}}(?=[ \t\r\n]|$)|{FOOTER_START})"
_ESCAPED = re.compile(rf"^\\(?=\\*{_ESCAPABLE})", re.MULTILINE)
_MAYBE_ESCAPABLE = re.compile(rf"^\\*{_ESCAPABLE}", re.MULTILINE)
_FENCE_LINE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_OUR_HEADING = re.compile(
    rf"{'#' * BLOCK_LEVEL}(?:[ \t\r]|$)|(?:{ENTRY_HEADING_PATTERN}|{DAY_HEADING_PATTERN})[ \t]*\r?$"
)


class Mark(NamedTuple):
    """A line of structure: a heading (level 1 to 6) or a footer (level 0). `fenced` is true inside a code fence."""

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
    """A line that starts with `length` fence characters; `info` is the rest of it."""

    char: str
    length: int
    info: str

    @property
    def may_open(self) -> bool:
        return not (self.char == "`" and "`" in self.info)

    def closes(self, opener: _Fence) -> bool:
        return self.char == opener.char and self.length >= opener.length and not self.info.strip()


def _parse_fence(line: str) -> _Fence | None:
    match = _FENCE_LINE.match(line)
    return _Fence(match[1][0], len(match[1]), match[2]) if match else None


def _pair_fences(fences: list[_Fence | None]) -> list[bool]:
    """Tell for each line of a segment (None: not a fence line) whether it is inside, opens or closes a closed fence."""
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


def find_fenced_lines(lines: list[str]) -> list[bool]:
    """Tell for each line whether it is inside, opens or closes a code fence that is closed."""
    return _pair_fences([_parse_fence(line) for line in lines])


@cache_within(2_000_000)  # a write asks several times for those of the page before and after it
def find_marks(text: str) -> tuple[Mark, ...]:
    """Return the headings and footers of a page in order, those inside closed fences included."""
    marks: list[Mark] = []
    segment: list[tuple[int, int, str]] = []
    for match in _CANDIDATE.finditer(_hide_bom(text)):
        line = match[0]
        if line.startswith(FOOTER_START) and line.rstrip().endswith("-->"):
            marks += _find_headings(segment)
            marks.append(Mark(match.start(), match.end(), line, 0))
            segment = []
        elif not line.startswith(FOOTER_START):
            segment.append((match.start(), match.end(), line))
    return (*marks, *_find_headings(segment))


def _hide_bom(text: str) -> str:
    """Replace a byte order mark, which would hide a heading on the first line, without moving any offset."""
    return "\n" + text[1:] if text.startswith("\ufeff") else text


def _find_headings(segment: list[tuple[int, int, str]]) -> list[Mark]:
    fences = [_parse_fence(line) for _, _, line in segment]
    inside = _pair_fences(fences)
    return [
        Mark(start, end, line, len(line) - len(line.lstrip("#")), fenced)
        for (start, end, line), fence, fenced in zip(segment, fences, inside, strict=True)
        if fence is None
    ]


def find_segment(text: str, offset: int) -> tuple[int, int]:
    """Return the span between the footer above an offset and the end of the footer below it."""
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
    """Return the offset of the newline that ends the line at an offset, or of the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def leaves_fence_open(text: str) -> bool:
    """Tell whether text appended to this page would fall into a fence that was left open."""
    start, _ = find_segment(text, len(text))
    fences = [_parse_fence(m[0]) for m in _CANDIDATE.finditer(text, start)]
    inside = _pair_fences(fences)
    return any(fence and not closed for fence, closed in zip(fences, inside, strict=True))


def escape(content: str, *, open_fence_above: bool = False) -> str:
    """Return the content in the form it is stored in inside a block or entry. `unescape` reverses it exactly."""
    if not _MAYBE_ESCAPABLE.search(content):
        return content
    lines = content.split("\n")
    fences = [_parse_fence(line) for line in lines]
    inside = [False] * len(lines) if open_fence_above else _pair_fences(fences)
    return "\n".join(
        "\\" + line if _needs_escape(line, is_fence=fence is not None, fenced=fenced) else line
        for line, fence, fenced in zip(lines, fences, inside, strict=True)
    )


def _needs_escape(line: str, *, is_fence: bool, fenced: bool) -> bool:
    if line.startswith(FOOTER_START) or _ESCAPED.match(line):
        return True
    return not fenced and (is_fence or _OUR_HEADING.match(line) is not None)


def unescape(text: str) -> str:
    """Return stored content as it was given."""
    return _ESCAPED.sub("", text)


class LineCounter:
    """Line numbers, from 1, of offsets that mostly grow, so that each part of the page is counted once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1

    def line(self, offset: int) -> int:
        if offset < self._at:
            self._at = 0
            self._line = 1
        self._line += self._text.count("\n", self._at, offset)
        self._at = offset
        return self._line


def escape_unprintable(text: str) -> str:
    """Return text that fits on one line: line breaks and control characters become escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
