"""The structure of a page: headings and block footers, with code fences understood; lists and tables.

Every line that means something to this program is defined here: the heading of a block, the footer under it, and
the headings of a daily page. `escape` puts a backslash before such a line inside stored text, and `unescape` takes
it away again, so that any text can be stored and comes back exactly.

A footer is a hard boundary: fences are paired between two footers and never across one, so that a fence left open by
hand cannot swallow the blocks after the next footer. A fence that is never closed does not count.

A list of people or facts is cut so that a hit is one item, since each item makes sense alone. Steps, checklists and
lists of a word or two stay whole, since only the whole list makes sense.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern

BLOCK_LEVEL = 3  # heading level of `### key`
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
_CANDIDATE = lazy_pattern(rf"^(?:{_FENCE}|{_HEADING}|{FOOTER_START})[^\n]*", re.MULTILINE)
_ESCAPABLE = rf"(?:{_FENCE}|#{{1,3}}(?=[ \t\r\n]|$)|{FOOTER_START})"
_ESCAPED = lazy_pattern(rf"^\\(?=\\*{_ESCAPABLE})", re.MULTILINE)
_MAYBE_ESCAPABLE = lazy_pattern(rf"^\\*{_ESCAPABLE}", re.MULTILINE)
_FENCE_LINE = lazy_pattern(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_OUR_HEADING = lazy_pattern(
    rf"{'#' * BLOCK_LEVEL}(?:[ \t\r]|$)|(?:{ENTRY_HEADING_PATTERN}|{DAY_HEADING_PATTERN})[ \t]*\r?$"
)
_MIN_ITEMS = 4
_MIN_SHARE = 3 / 4  # of the items must make sense alone
_MIN_WORDS = 3
_MIN_WIDE_CHARACTERS = 6  # for scripts without spaces
_MAX_CONTEXT_CHARACTERS = 200
_TAB_COLUMNS = 4

_RULE = lazy_pattern(r"\s*(?:[-*_]\s*){3,}$")
_BULLET = lazy_pattern(r"([ \t]{0,3})[-*+][ \t]+(?=\S)")
_ORDERED = lazy_pattern(r"([ \t]{0,3})\d{1,3}[.)][ \t]+(?=\S)")
_LABEL = lazy_pattern(r"()(?:\*\*[^*\n]{1,60}\*\*[ \t]*[:–—-]|\*\*[^*\n]{1,60}:\*\*|\*\*[^*\n]{1,60}\*\*[ \t]*$)")
_CHECKBOX = lazy_pattern(r"\[[ xX]\][ \t]")
_ENTRY = lazy_pattern(r"(?:\*\*[^*\n]{1,60}\*\*|[^\s:.!?][^:.!?\n]{0,60}?(?::| [–—-]) )")
_TABLE_ROW = lazy_pattern(r" {0,3}\|.*\|?[ \t]*$")
_TABLE_RULE = lazy_pattern(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$")
_FENCE_START = lazy_pattern(r"[ \t]*(```|~~~)")
_HEADING_LINE = lazy_pattern(r" {0,3}#{1,6}(?:[ \t]|$)")
_WORDS = lazy_pattern(rf"\b(?:\w++\W++){{{_MIN_WORDS - 1}}}\w")
_WIDE = lazy_pattern(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

Kind = Literal["bullets", "steps", "labels", "table"]
_MARKERS: tuple[tuple[Kind, re.Pattern[str]], ...] = (("bullets", _BULLET), ("steps", _ORDERED), ("labels", _LABEL))


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
    """Return for each line of a segment (None: not a fence line) whether it is inside, opens or closes a closed
    fence."""
    inside = [False] * len(fences)
    never_closed: dict[str, int] = {}  # per fence character, the shortest opener known to have no closer from here on
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
    """Return for each line whether it is inside, opens or closes a code fence that is closed."""
    return _pair_fences([_parse_fence(line) for line in lines])


@cache_within(2_000_000)  # a write needs the marks of the old and new page several times
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
    fences = [None if line[0] == "#" else _parse_fence(line) for _, _, line in segment]
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
    """Return whether text appended to this page would fall into a fence that was left open."""
    if "```" not in text and "~~~" not in text:
        return False
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


class Items(NamedTuple):
    """The items of a list, each as its first and last line, counted from 1; `context` is what they have in common."""

    kind: Kind
    first: int
    last: int
    items: list[tuple[int, int]]
    context: str = ""


def find_lists(lines: Sequence[str], first: int, last: int) -> Iterator[Items]:
    """Yield the lists and tables between two lines that are cut by item, in order."""
    number = first
    while number <= last:
        line = lines[number - 1]
        if _FENCE_START.match(line):
            number = _skip_fence(lines, number, last) + 1
            continue
        listing = _read_table(lines, number, last) or _read_list(lines, number, last)
        if listing is None:
            number += 1
            continue
        if _is_cut(lines, listing):
            yield listing._replace(context=listing.context or _find_intro(lines, first, listing.first))
        number = listing.last + 1


def is_heading_or_intro(line: str) -> bool:
    """Return whether a line only announces what follows: it is empty, a heading, or ends with a colon."""
    return not line.strip() or bool(_HEADING_LINE.match(line)) or line.rstrip().endswith((":", "："))


def _skip_fence(lines: Sequence[str], number: int, last: int) -> int:
    """Return the line that closes a code fence; the last line if none does."""
    match = _FENCE_START.match(lines[number - 1])
    mark = match[1] if match else ""
    for after in range(number + 1, last + 1):
        if lines[after - 1].strip().startswith(mark):
            return after
    return last


def _read_table(lines: Sequence[str], number: int, last: int) -> Items | None:
    if number + 2 > last or not _TABLE_ROW.match(lines[number - 1]) or not _TABLE_RULE.match(lines[number]):
        return None
    end = number + 1
    while end < last and _TABLE_ROW.match(lines[end]):
        end += 1
    rows = [(row, row) for row in range(number + 2, end + 1)]
    head = " ".join(cell.strip() for cell in lines[number - 1].split("|") if cell.strip())
    return Items("table", number, end, rows, head[:_MAX_CONTEXT_CHARACTERS])


def _read_list(lines: Sequence[str], number: int, last: int) -> Items | None:
    """Return the list that begins at a line; None if none does."""
    kind, base = _find_marker(lines[number - 1])
    if kind is None:
        return None
    starts: list[int] = []
    end = number
    at = number
    while at <= last:
        line = lines[at - 1]
        if _find_marker(line) == (kind, base):
            starts.append(at)
        elif line.strip() and not _continues(lines, at, base):
            break
        if _FENCE_START.match(line):
            at = _skip_fence(lines, at, last)
        end = at if line.strip() else end
        at += 1
    bounds = [*starts, end + 1]
    items = [(start, _last_filled(lines, start, after)) for start, after in pairwise(bounds)]
    return Items(kind, number, end, items)


def _find_marker(line: str) -> tuple[Kind | None, int]:
    """Return what kind of list a line is an item of, and how far the item is indented."""
    if _RULE.match(line):
        return None, 0
    for kind, pattern in _MARKERS:
        if match := pattern.match(line):
            return kind, _indentation(match[1])
    return None, 0


def _indentation(text: str) -> int:
    blank = text[: len(text) - len(text.lstrip(" \t"))]
    return len(blank.expandtabs(_TAB_COLUMNS))


def _continues(lines: Sequence[str], number: int, base: int) -> bool:
    """Return whether a line belongs to the item above it: it is indented, or goes on with the paragraph."""
    line = lines[number - 1]
    if _indentation(line) > base:
        return True
    is_after_text = bool(lines[number - 2].strip())
    return is_after_text and not (
        _HEADING_LINE.match(line)
        or _RULE.match(line)
        or _TABLE_ROW.match(line)
        or _find_marker(line)[0]
        or _FENCE_START.match(line)
    )


def _last_filled(lines: Sequence[str], start: int, after: int) -> int:
    last = after - 1
    while last > start and not lines[last - 1].strip():
        last -= 1
    return last


def _is_cut(lines: Sequence[str], listing: Items) -> bool:
    if len(listing.items) < _MIN_ITEMS:
        return False
    texts = [_text_of(lines, listing.kind, item) for item in listing.items]
    is_checklist = sum(bool(_CHECKBOX.match(text)) for text in texts) > len(texts) / 2
    says = [_says_something(text) and (listing.kind != "steps" or bool(_ENTRY.match(text))) for text in texts]
    return not is_checklist and sum(says) >= _MIN_SHARE * len(says)


def _text_of(lines: Sequence[str], kind: Kind, item: tuple[int, int]) -> str:
    """Return the text of an item without its marker."""
    first, last = item
    text = "\n".join(lines[first - 1 : last])
    match = _BULLET.match(text) if kind == "bullets" else _ORDERED.match(text) if kind == "steps" else None
    return text[match.end() :] if match else text


def _says_something(text: str) -> bool:
    return bool(_WORDS.search(text)) or len(_WIDE.findall(text)) >= _MIN_WIDE_CHARACTERS


def _find_intro(lines: Sequence[str], first: int, start: int) -> str:
    """Return the line above a list that announces it with a colon; empty if there is none."""
    for number in range(start - 1, max(first, start - 2) - 1, -1):
        line = lines[number - 1].strip()
        if line:
            announces = line.endswith((":", "：")) and not _HEADING_LINE.match(line)
            return line[:_MAX_CONTEXT_CHARACTERS] if announces else ""
    return ""
