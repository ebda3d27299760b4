"""Remarks on lines of a context that may not hold: replaced by a newer one, over, or pinned to a file that changed.

A remark is in brackets before its line, so that a line that is cut still has it. What was recalled for a query has its
remarks already. Of a fact that was replaced, a prompt is given its newer version alone, or both side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from ..caching import cache_within
from ..facts.past_questions import asks_about_past
from ..facts.statements import shorten_statement
from ..formats.annotations import strip_annotations
from ..formats.passages import embedding_text
from ..formats.timestamps import parse_timestamp
from ..framing import quote_line
from ..home import Home
from ..index.base import Index
from ..model import Hit, Viewer
from ..patterns import lazy_pattern
from ..search.dates import QueryDates
from ..search.marks import read_pinned
from ..search.pins import PinCheck, find_pins, find_placed_pins
from ..search.replacements import Replacement, describe_successor
from ..search.shown_lines import ShownText, find_replaced_lines, list_statements
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

_LIST_MARK = lazy_pattern(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+)*(?:\[[ xX]\]\s+)?")
_ANY_DAY = date(2026, 1, 1).toordinal()
Remarks = dict[int, list[str]]  # by the line of a text, counted from 0
_MOST_OF_PASSAGE = 0.6  # a fact of this share of a passage is all that the passage says
_MAX_CHARACTERS = 160  # of a fact that is named beside the one that replaced it


def wants_replaced(query: str, dates: QueryDates) -> bool:
    """Return whether a query is about what was: about the past, or about some days, and so about what was said then."""
    return (bool(dates.spans) and dates.selects_first) or asks_about_past(query)


def leave_out_superseded(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without those that only say what another one replaced."""
    return [hit for hit in hits if not (says_nothing_else(hit) and any(_holds_newer(other, hit) for other in hits))]


def says_nothing_else(hit: Hit) -> bool:
    """Return whether a hit says little more than what was replaced."""
    if not hit.superseded_by or hit.superseded_by.is_partial:
        return False
    text = " ".join(embedding_text("", hit.text).split())
    return len(hit.superseded_by.was) >= _MOST_OF_PASSAGE * len(text)


def _holds_newer(hit: Hit, older: Hit) -> bool:
    newer = older.superseded_by
    return newer is not None and newer.path == hit.path and hit.start <= newer.start <= hit.end


def find_replaced(
    home: Home, viewer: Viewer, texts: Sequence[ShownText], *, only_approved: bool = False, catches_up: bool = True
) -> dict[int, list[Replacement]]:
    """Return what replaced statements of texts, by the number of the text; nothing where search is off. Without
    `catches_up`, the index is asked as it is."""
    if not texts or not home.search_settings.enabled:
        return {}

    today = home.today().toordinal()

    def find_origins(hits: Sequence[Hit]) -> list[Provenance]:
        return home.authors.find([(hit.path, hit.start, hit.end) for hit in hits])

    def find(index: Index) -> dict[int, list[Replacement]]:
        return find_replaced_lines(index, viewer, texts, find_origins, today, only_approved=only_approved)

    return home.index.query(lambda view: find(view.index)) if catches_up else home.index.peek(find) or {}


def leave_out_replaced_lines(
    home: Home, viewer: Viewer, hits: Sequence[Hit], *, only_approved: bool = False
) -> list[Hit]:
    """Return hits without the lines that something replaced, beside those that the query asks for."""
    whole = [hit for hit in hits if hit.source != "session" and hit.text.count("\n") == hit.end - hit.start]
    texts = [ShownText(hit.path, hit.start, hit.text, hit.heading) for hit in whole]
    replaced = find_replaced(home, viewer, texts, only_approved=only_approved)
    shortened = {whole[number]: _drop_lines(whole[number], pairs) for number, pairs in replaced.items()}
    return [shortened.get(hit, hit) for hit in hits]


def _drop_lines(hit: Hit, pairs: Sequence[Replacement]) -> Hit:
    """Return a hit without the lines that say nothing but what was replaced; as it is, if no other is left. What the
    query asks for stays, and is marked, unless it is a task that is done; so does a line of which a part holds."""
    partial = next((pair for pair in pairs if pair.is_partial), None)
    if partial and not hit.superseded_by:
        hit = hit._replace(superseded_by=describe_successor(partial))
    newer = hit.superseded_by
    pairs = [pair for pair in pairs if not (pair.is_partial and newer and newer.was == pair.clause)]
    is_done = newer is not None and newer.kind == "done"
    was = newer.was if newer and not is_done else ""
    replaced = {(pair.older.statement.first_line, pair.older.statement.text) for pair in pairs}
    statements = list_statements(hit.text)
    current = [each for each in statements if (each.first, each.statement.text) not in replaced]
    shown = {line for each in current for line in range(each.first, each.last + 1)}
    old = [each for each in statements if each not in current and each.statement.text != was]
    dropped = {line for each in old for line in range(each.first, each.last + 1)} - shown
    if not current or not dropped:
        return hit
    lines = [line for number, line in enumerate(hit.text.split("\n")) if number not in dropped]
    return hit._replace(text="\n".join(lines), superseded_by=None if is_done else newer)


def describe_replacements(text: ShownText, replacements: Sequence[Replacement]) -> Iterator[tuple[Replacement, str]]:
    """Yield what replaced statements of a text, in words: `no longer; now: …`; with which one, where its line has
    several, or which part."""
    counts = Counter(each.first for each in list_statements(text.text))
    for each in replacements:
        newer = describe_successor(each)
        is_whole = counts[each.older.statement.first_line] == 1 and not each.is_partial
        was = "" if is_whole else f': "{shorten(newer.was)}"'
        now = f'"{shorten(newer.text)}" ({newer.citation})'
        yield each, f"answered{was}: {now}" if newer.kind == "answer" else f"no longer{was}; now: {now}"


def describe_version(hit: Hit) -> str:
    """Return what replaced a part of a hit, in words: `no longer: …; now: …`. Empty where all of it holds."""
    newer = hit.superseded_by
    if not newer:
        return ""
    return f'no longer: "{shorten(newer.was)}"; now: "{shorten(newer.text)}" ({newer.citation})'


def shorten(text: str) -> str:
    """Return a fact as it is named beside the one that replaced it: in one line, cut where it is long."""
    return shorten_statement(text, _MAX_CHARACTERS)


def add_remarks(home: Home, viewer: Viewer, sections: Sequence[Section], *, only_approved: bool) -> list[Section]:
    """Return sections with remarks on what may not hold, and without annotations."""
    texts = [text for section in sections for text in _list_texts(section)]
    remarks = [Remarks() for _ in texts]
    if texts:
        _add_versions(home, viewer, texts, remarks, only_approved=only_approved)
        _add_marks(home, texts, remarks)
    marked = iter([_write(text.text, lines) for text, lines in zip(texts, remarks, strict=True)])
    return [_with_texts(section, marked) for section in sections]


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
    """Return a text with its remarks, each before its line and after the mark of a list."""
    if not remarks:
        return strip_annotations(text)
    lines = strip_annotations(text).split("\n")
    for number, words in remarks.items():
        mark = _LIST_MARK.match(lines[number])
        start = mark.end() if mark else 0
        lines[number] = f"{lines[number][:start]}[{quote_line('; '.join(words))}] {lines[number][start:]}"
    return "\n".join(lines)


# What replaced a line.


def _add_versions(
    home: Home, viewer: Viewer, texts: Sequence[ShownText], remarks: Sequence[Remarks], *, only_approved: bool
) -> None:
    for number, replacements in find_replaced(home, viewer, texts, only_approved=only_approved).items():
        for each, words in describe_replacements(texts[number], replacements):
            is_done = each.link.kind == "done"
            remark = f"done: {describe_successor(each).citation}" if is_done else words
            remarks[number].setdefault(each.older.statement.first_line, []).append(remark)


# What is over, and what changed since.


class _DatedPages:
    """Who wrote the lines of shown texts, and when; asked once, and only if a text needs it."""

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
            remarks[number].setdefault(line, []).append(words)
        for line, words in _find_stale(check, text, pages, number) if check else ():
            remarks[number].setdefault(line, []).append(words)


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
