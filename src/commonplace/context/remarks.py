"""Remarks on lines of a context that may be outdated: replaced by a newer one, expired, or pinned to a changed file.

A remark is in brackets before its line, so that a line that is cut still has it. A sentence that its remark quotes is
left out of the line. Lines recalled for a query already have their remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from ..caching import cache_within
from ..formats.blocks import strip_annotations
from ..formats.timestamps import parse_timestamp
from ..framing import escape_remarks, quote_citation, quote_line
from ..framing.recall import format_mark
from ..home import Home
from ..model import Viewer
from ..patterns import lazy_pattern
from ..search.marks import describe_branch
from ..search.pins import PinCheck, find_pins, find_placed_pins, read_pinned
from ..search.replacements import describe_successor
from ..search.shown_lines import ShownText, list_statements
from ..search.validity import (
    ALWAYS,
    Validity,
    describe_validity,
    find_line_fields,
    find_validity,
    is_field,
    may_say_validity,
)
from ..storage.authors import Provenance
from .budget import Section
from .replaced import describe_replacements, find_replaced

_LIST_MARK = lazy_pattern(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+)*(?:\[[ xX]\]\s+)?")
_ANY_DAY = date(2026, 1, 1).toordinal()


class Remark(NamedTuple):
    words: str
    quoted: str = ""  # the sentence of the line that the words quote as a whole


Remarks = dict[int, list[Remark]]  # by the line of a text, counted from 0


class RemarkedSections:
    """Sections with remarks on outdated lines, and without annotations. Only pages that are shown are examined,
    since finding what replaced a line takes longer than fitting it into a budget."""

    def __init__(self, home: Home, viewer: Viewer, sections: Sequence[Section], *, only_approved: bool) -> None:
        self._home = home
        self._viewer = viewer
        self._sections = sections
        self._only_approved = only_approved
        self._texts = [text for section in sections for text in _list_texts(section)]
        self._remarks = [Remarks() for _ in self._texts]
        self._looked_at: set[str] = set()

    def look_at(self, paths: set[str]) -> bool:
        """Look for remarks on the lines of these pages; return whether there are new ones."""
        numbers = [number for number, text in enumerate(self._texts) if text.path in paths - self._looked_at]
        self._looked_at |= paths
        if not numbers:
            return False
        texts = [self._texts[number] for number in numbers]
        remarks = [self._remarks[number] for number in numbers]
        was_searched = any(section.has_recalled_items for section in self._sections)  # so the index is up to date
        _add_versions(
            self._home, self._viewer, texts, remarks, only_approved=self._only_approved, catches_up=not was_searched
        )
        _add_marks(self._home, texts, remarks)
        return any(remarks)

    def write(self) -> list[Section]:
        """Return the sections with all remarks that are known."""
        marked = iter([_write(text.text, lines) for text, lines in zip(self._texts, self._remarks, strict=True)])
        return [_with_texts(section, marked) for section in self._sections]


# From sections to texts and back.


def _list_texts(section: Section) -> Iterator[ShownText]:
    if not section.has_recalled_items:
        for item in section.items:
            yield from item.texts()


def _with_texts(section: Section, texts: Iterator[str]) -> Section:
    """Return a section whose texts are the next ones."""
    if section.has_recalled_items:
        return section
    items = [item.with_texts(texts) for item in section.items]
    return replace(section, items=items) if items != [*section.items] else section


def _write(text: str, remarks: Remarks) -> str:
    """Return a text with its remarks, each before its line and after the mark of a list. No line imitates one."""
    if not remarks:
        return escape_remarks(strip_annotations(text))
    lines = strip_annotations(text).split("\n")
    for number, line in enumerate(lines):
        of_line = remarks.get(number, ())
        mark = _LIST_MARK.match(line) if of_line else None
        start = mark.end() if mark else 0
        words = quote_line("; ".join(remark.words for remark in of_line))
        rest = escape_remarks(_leave_out(line[start:], of_line) if of_line else line)
        lines[number] = f"{line[:start]}{format_mark(words).lstrip()}{rest}" if of_line else rest
    return "\n".join(lines)


def _leave_out(line: str, remarks: Sequence[Remark]) -> str:
    """Return a line, after a space, without the sentences that its remarks quote."""
    for remark in remarks:
        if remark.quoted:
            before, found, after = line.partition(remark.quoted)
            line = " ".join(filter(None, (before.rstrip(), after.lstrip()))) if found else line
    return f" {line}" if line else ""


# What replaced a line.


def _add_versions(
    home: Home,
    viewer: Viewer,
    texts: Sequence[ShownText],
    remarks: Sequence[Remarks],
    *,
    only_approved: bool,
    catches_up: bool,
) -> None:
    replaced = find_replaced(home, viewer, texts, only_approved=only_approved, catches_up=catches_up)
    for number, replacements in replaced.items():
        for each, words in describe_replacements(texts[number], replacements):
            older = each.older.statement
            if each.link.kind == "done":
                remark = Remark(f"done: {quote_citation(describe_successor(each).citation)}")
            else:
                remark = Remark(words, older.text if f'"{older.text}";' in words else "")
            remarks[number].setdefault(older.first_line, []).append(remark)


# What expired, and what changed since.


class _DatedPages:
    """Who wrote the lines of shown texts, and when; looked up once, and only if needed."""

    def __init__(self, home: Home, texts: Sequence[ShownText]) -> None:
        self._home = home
        self._texts = texts
        self._origins: dict[str, Provenance] = {}

    def origin(self, number: int) -> Provenance:
        """Return what history and the page of a text say of it, for a page that is not called after a day."""
        if not self._origins:
            paths = [*dict.fromkeys(text.path for text in self._texts if not text.day)]
            self._origins = dict(zip(paths, self._home.authors.find([(path, 1, 1) for path in paths]), strict=True))
        return self._origins[self._texts[number].path]

    def day(self, number: int, line: int) -> int | None:
        """Return the day of a line: that of its page, or when it was written."""
        text = self._texts[number]
        if text.day:
            return text.day
        (origin,) = self._home.authors.find([(text.path, text.first + line, text.first + line)])
        moment = parse_timestamp(origin.at)
        return moment.astimezone(self._home.zone).toordinal() if moment else None


def _add_marks(home: Home, texts: Sequence[ShownText], remarks: Sequence[Remarks]) -> None:
    pages = _DatedPages(home, texts)
    today = home.today().toordinal()
    check = PinCheck(home.repository) if home.repository else None
    for number, text in enumerate(texts):
        for line, words in _find_over(text, pages, number, today):
            remarks[number].setdefault(line, []).append(Remark(words))
        for line, words in _find_stale(check, text, pages, number) if check else ():
            remarks[number].setdefault(line, []).append(Remark(words))
        for line, words in _find_other_branches(home, text):
            remarks[number].setdefault(line, []).append(Remark(words))


def _find_over(text: ShownText, pages: _DatedPages, number: int, today: int) -> Iterator[tuple[int, str]]:
    for line, words, stated in _list_ends(text.text):
        validity = find_validity(words, pages.day(number, line)) if stated == ALWAYS else stated
        if validity.is_over(today):
            yield line, describe_validity("", validity.valid_until, "over")


@cache_within(500_000)
def _list_ends(text: str) -> tuple[tuple[int, str, Validity], ...]:
    """Return the statements of a text that say until when they hold, with their lines and what fields say of them;
    cached, as most texts are shown again."""
    if "valid_" not in text and not may_say_validity(text):
        return ()
    lines = text.split("\n")
    fields = find_line_fields(text)
    ends: list[tuple[int, str, Validity]] = []
    for first, last, statement, _ in list_statements(text):
        if is_field(lines[first]):
            continue
        stated = next((fields[number] for number in range(first, last + 1) if number in fields), ALWAYS)
        if stated != ALWAYS or (may_say_validity(statement.text) and find_validity(statement.text, _ANY_DAY) != ALWAYS):
            ends.append((first, statement.text, stated))
    return tuple(ends)


def _find_other_branches(home: Home, text: ShownText) -> Iterator[tuple[int, str]]:
    """Yield the statements that were learned on another branch."""
    if not home.branch or not text.text:
        return
    lines = [(first, last) for first, last, _, _ in list_statements(text.text)]
    origins = home.authors.find([text.locate(first, last) for first, last in lines])
    for (first, _), origin in zip(lines, origins, strict=True):
        if origin.where == "elsewhere":
            yield first, describe_branch(origin.branch)


def _find_stale(check: PinCheck, text: ShownText, pages: _DatedPages, number: int) -> Iterator[tuple[int, str]]:
    if not text.text:
        return
    placed = find_placed_pins(text.text, check.folder_of(text.path))
    changes = [(each.line or 0, check.describe_change(each.pin)) for each in placed]
    if not text.day:
        origin = pages.origin(number)
        whole = find_pins(origin.comments, read_pinned(origin.head))
        changes += [(0, check.describe_change(pin)) for pin in whole]
    yield from ((line, words) for line, words in dict.fromkeys(changes) if words)
