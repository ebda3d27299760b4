"""Which lines are forgotten: those at a citation, with their earlier wordings, or all that contain some words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from ..errors import InvalidArgument
from ..formats import blocks, frontmatter
from ..formats.blocks import is_day_or_time
from ..formats.records import find_value_line, parse_fields
from ..formats.structure import BLOCK_LEVEL, ENTRY_LEVEL, FOOTER_START, find_marks
from ..home import Home
from ..model import Citation
from ..storage.history import Versions, as_text
from ..storage.merge import diff_lines
from .timeline import read_cited_page

WHOLE_RECORD_KINDS = ("record", "skill", "data")
Spans = list[tuple[int, int]]  # start and end offsets in a text, in order
MIN_LINE_CHARACTERS = 12  # a shorter line may occur elsewhere by chance
_MIN_LIKENESS = 0.6  # between a line and its earlier wording


class CitedLines(NamedTuple):
    """The lines to remove from a page, and whether they make up the whole page or the note of a key."""

    path: str
    sequence: tuple[str, ...]  # the cited lines that are not blank
    wordings: frozenset[str]  # those long enough to be recognised anywhere on the page, and their earlier wordings
    above: str = ""  # the line before the first, by which short lines are recognised
    is_whole_page: bool = False
    key: str = ""

    def find(self, lines: list[str]) -> set[int]:
        """Return the numbers of the lines that go, from 0."""
        stripped = [line.strip() for line in lines]
        numbers = {number for number, line in enumerate(stripped) if line in self.wordings}
        present = [number for number, line in enumerate(stripped) if line]
        size = len(self.sequence)
        for at in range(len(present) - size + 1):
            run = present[at : at + size]
            above = stripped[present[at - 1]] if at else ""
            if tuple(stripped[number] for number in run) == self.sequence and (self.wordings or above == self.above):
                numbers.update(run)
        return numbers

    def is_in(self, text: str) -> bool:
        return any(line in text for line in self.wordings)


class Words(NamedTuple):
    """Words whose lines are removed from any page."""

    text: str

    def find(self, lines: list[str]) -> set[int]:
        """Return the numbers of the lines that go, from 0."""
        return {number for number, line in enumerate(lines) if self.is_in(line)}

    def is_in(self, text: str) -> bool:
        return self.text in text or json.dumps(self.text)[1:-1] in text


def make_words(text: str) -> Words:
    """Return the words to look for; InvalidArgument if they are so short that lines contain them by chance."""
    words = text.strip()
    if len(words) < MIN_LINE_CHARACTERS or "\n" in words:
        raise InvalidArgument(
            f"{text!r} is not a page, and too short to identify a statement",
            advice="cite its lines as `commonplace search` prints them, PAGE#L5, or give the whole line; "
            "a note or a record goes by --key",
        )
    return Words(words)


def read_cited_lines(home: Home, citation: Citation) -> CitedLines:
    """Return the lines at a citation with their earlier wordings; an error if there are none."""
    path = citation.path.removeprefix("./")
    path = path if citation.as_of else home.find_page(path)
    text = read_cited_page(home, path, citation.as_of).text
    lines = text.split("\n")
    stripped = [line.strip() for line in lines[max(citation.first - 1, 0) : citation.last]]
    sequence = tuple(line for line in stripped if line)
    if not sequence:
        count = len(text.splitlines())
        raise InvalidArgument(f"{path} has no text at these lines, of {count}", advice="search again, and cite those")
    wordings = _add_earlier_wordings(home.storage.history.versions(path), _choose_long_lines(sequence))
    above = next((line.strip() for line in reversed(lines[: max(citation.first - 1, 0)]) if line.strip()), "")
    cited = CitedLines(path, sequence, wordings, above)
    place = home.layout.place(path, home.index.scope.extra)
    if place and place.kind in WHOLE_RECORD_KINDS:
        return cited._replace(is_whole_page=_is_removed_whole(text, {*range(citation.first - 1, citation.last)}))
    return cited._replace(key=_find_whole_note(text, citation))


def _choose_long_lines(lines: Iterable[str]) -> frozenset[str]:
    """Return the lines that can be recognised by themselves: long enough, and not headings."""
    return frozenset(line for line in lines if len(line) >= MIN_LINE_CHARACTERS and not line.startswith("#"))


def _add_earlier_wordings(versions: Versions, wordings: frozenset[str]) -> frozenset[str]:
    """Return the wordings with the earlier ones that they replaced, back to the first version of the page."""
    texts = [as_text(data).split("\n") for _, data in versions if data is not None]
    for older, newer in zip(texts[-2::-1], texts[:0:-1], strict=True):
        if wordings.intersection(map(str.strip, newer)).difference(map(str.strip, older)):
            wordings |= _choose_long_lines(_list_earlier_wordings(older, newer, wordings))
    return wordings


def _list_earlier_wordings(older: list[str], newer: list[str], wordings: frozenset[str]) -> Iterator[str]:
    for operation, first, last, start, stop in diff_lines(older, newer):
        if operation != "replace":
            continue
        later = [line.strip() for line in newer[start:stop] if line.strip() in wordings]
        for line in older[first:last]:
            if any(SequenceMatcher(None, line.strip(), each).ratio() >= _MIN_LIKENESS for each in later):
                yield line.strip()


def _find_whole_note(text: str, citation: Citation) -> str:
    """Return the key of the note that the cited lines make up entirely; empty if there is none."""
    lines = text.split("\n")
    cited = {*range(citation.first, citation.last + 1)}
    for note in blocks.parse(text):
        own = {*range(note.first_line, note.last_line + 1)}
        if not note.at or not own & cited:
            continue
        content = {number for number in own if lines[number - 1].strip() and number != note.first_line}
        content -= {number for number in content if lines[number - 1].startswith(FOOTER_START)}
        outside = [number for number in cited - own if number <= len(lines) and lines[number - 1].strip()]
        return note.key if content and content <= cited and not outside else ""
    return ""


def find_spans(text: str, kind: str, selection: CitedLines | Words) -> Spans | None:
    """Return the spans to remove from a version of a page; None for all of it."""
    lines = text.split("\n")
    numbers = selection.find(lines)
    if not numbers:
        return []
    if kind == "data" or (kind in WHOLE_RECORD_KINDS and _is_removed_whole(text, numbers)):
        return None
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    _add_whole_entries(text, lines, starts, numbers)
    _add_blank_lines(lines, numbers)
    return [(starts[number], min(starts[number + 1], len(text))) for number in sorted(numbers)]


def _is_removed_whole(text: str, numbers: set[int]) -> bool:
    """Return whether nothing readable of a record would be left: JSON without one of its lines is not JSON."""
    first = find_value_line(text) - 1
    body = {number for number, line in enumerate(text.split("\n")) if number >= first and line.strip()}
    head = frontmatter.split(text)[0]
    is_json = "type: json" in head and parse_fields(text).get("type") == "json"
    is_in_head = bool(head) and any(number < first for number in numbers)
    return body <= numbers or is_json or is_in_head


def _add_whole_entries(text: str, lines: list[str], starts: list[int], numbers: set[int]) -> None:
    """Add the headings and footers of entries and keyed notes that would be empty."""
    line_at = {start: number for number, start in enumerate(starts)}
    marks = [mark for mark in find_marks(text) if not mark.fenced and mark.level <= BLOCK_LEVEL]
    heads = [(mark, line_at.get(mark.start, 0)) for mark in marks]
    ends = [*(number for _, number in heads[1:]), len(lines)]
    for (mark, first), after in zip(heads, ends, strict=False):  # the end of the page counts as a heading
        is_entry = mark.level == ENTRY_LEVEL and is_day_or_time(mark.title)
        if not is_entry and mark.level != BLOCK_LEVEL:
            continue
        last = after + 1 if after < len(lines) and lines[after].startswith(FOOTER_START) else after
        content = {number for number in range(first + 1, after) if lines[number].strip()}
        if content and content <= numbers:
            numbers.update(range(first, last))


def _add_blank_lines(lines: list[str], numbers: set[int]) -> None:
    """Add the blank lines below removed lines that also have one above."""
    for number in sorted(numbers):
        above = number - 1
        while above in numbers:
            above -= 1
        below = number + 1
        while (above < 0 or not lines[above].strip()) and below < len(lines) - 1 and not lines[below].strip():
            numbers.add(below)
            below += 1
