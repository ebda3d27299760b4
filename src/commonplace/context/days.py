"""The last days, newest first, each under its date, so that what was remembered yesterday is known today.

Of a day's entries some are shown whole, some are cut, and the rest is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from functools import cached_property
from itertools import dropwhile, islice
from typing import NamedTuple

from ..errors import CommonplaceError
from ..formats import blocks
from ..formats.blocks import is_day_or_time
from ..formats.structure import (
    BLOCK_LEVEL,
    DAY_HEADING_PATTERN,
    ENTRY_HEADING_PATTERN,
    ENTRY_LEVEL,
    FOOTER_START,
    find_marks,
)
from ..formats.timestamps import parse_timestamp
from ..framing import Title, cut_start, estimate_tokens, fence, quote_line
from ..framing import weigh_tokens as weigh
from ..home import Home
from ..patterns import lazy_pattern
from ..search.shown_lines import ShownText
from . import OVER_BUDGET
from .budget import ContextRequest, Section, check_approval
from .items import (
    CHARACTERS_PER_TOKEN,
    MIN_SHOWN_CHARACTERS,
    NOT_APPROVED,
    SEPARATOR_TOKENS,
    Cut,
    IsApproved,
    Part,
    PlainItem,
    Source,
    Span,
    share_out,
)
from .open_tasks import TASKS, put_tasks_first

TITLE: Title = "Recent Days"
_PLAIN_TOKENS = 3000  # for all days, if there is no budget
_PLAIN_DAYS = 7
_MAX_DAYS = 400
_TASK_DAYS = 14  # older days, without room of their own, that are checked for open tasks
_TASK_DAY_TOKENS = 400.0
_DAY_SHARE = 0.6  # of the room at most, for one long day, so that others are read
_DAY_TOKENS = 120.0  # what it takes in any case
_WHOLE_CHARACTERS = 200_000  # of a page that is searched as a whole for entries that a person wrote
_LONG_SHARE = 1 / 4  # of the part that is read: the weight of an entry that is longer than all of it
_TIME_HEADING = lazy_pattern(ENTRY_HEADING_PATTERN)
_DAY_HEADING = lazy_pattern(rf"{DAY_HEADING_PATTERN}\s*")
_ENTRY_LEVELS = (ENTRY_LEVEL, BLOCK_LEVEL)
_ENTRY = f"\n{'#' * ENTRY_LEVEL} "
_ENTRY_START = lazy_pattern(rf"^{'#' * ENTRY_LEVEL} ", re.MULTILINE)
_LINE_END = lazy_pattern(r"\n")
_DIGITS = lazy_pattern(r"\d+")
_MIN_LONG_CHARACTERS = 48  # kept of a long entry that is cut so that others fit
_MIN_LAST_CHARACTERS = 36  # of the last entry shown, heading included; fewer are useless
_SHORT_TOKENS = 30.0  # a shorter entry is cut only after a clause: `The phone number is […]` is useless
_CLAUSES = lazy_pattern(r"(?s).*(?:[,;.!?](?=\s)|[、。，；！？])")
_MIN_LONG_SHARE = 1 / 8
_LONG_ENTRY_SHARE = 1 / 2  # of the room of its day: an entry that needs more is long
_NEWEST_LONG_SHARE = 3 / 4
_MIN_NEWEST_SHARE = 1 / 4
_NEWLINE_TOKENS = weigh("\n")
_MARK = " […]"
_REMARK = lazy_pattern(r"\[no longer\b[^\n]*\(\S+\)\] ")
_OUTDATED = lazy_pattern(r"\[(?:(?:no longer;|done:)[^\n]*|until [\w ]+: over\][^\n.!?]*[.!?]?)\Z")
_BRIEF_REMARK = "[no longer] "  # if the full remark leaves no room for its entry


class Entry(NamedTuple):
    """An entry of a day: its text as it is shown, and its lines on the page."""

    text: str
    first_line: int
    last_line: int
    total_characters: int = 0
    is_repeated: bool = False  # by a later entry, word for word
    line_numbers: tuple[int, ...] = ()  # of the lines on the page, without empty ones

    @property
    def is_whole(self) -> bool:
        return len(self.text) >= self.total_characters

    @property
    def statement(self) -> str:
        """Return the text of the entry without its time."""
        return self._body if _TIME_HEADING.fullmatch(self._heading.strip()) else self.text

    @property
    def gives_way(self) -> bool:
        """Return whether it is said again later, or a remark says that all of it was replaced, is done or is over."""
        return self.is_repeated or bool(_OUTDATED.match(self._body))

    def with_text(self, text: str) -> Entry:
        """Return the entry with another text and the same missing amount."""
        return self._replace(text=text, total_characters=self.total_characters + len(text) - len(self.text))

    def cut(self, fits: Callable[[str], bool], *, by_clause: bool) -> str:
        """Return the start of the entry that fits, with a mark; empty if not even its first words do, or its first
        clause."""

        def fits_with_mark(start: str) -> bool:
            return fits(f"{self._heading}{start}{_MARK}")

        start = cut_start(self._body, fits_with_mark)
        if by_clause:
            clauses = _CLAUSES.match(self._body, 0, len(start) + 2)
            start = start[: clauses.end()] if clauses else ""
        remark = _REMARK.match(self._body)
        if remark and len(start) < remark.end() + MIN_SHOWN_CHARACTERS:
            start = cut_start(f"{_BRIEF_REMARK}{self._body[remark.end() :]}", fits_with_mark)
            is_said = len(start) >= len(_BRIEF_REMARK) + MIN_SHOWN_CHARACTERS
            return f"{self._heading}{start}{_MARK}" if is_said else ""
        return f"{self._heading}{start}{_MARK}" if len(start) >= min(MIN_SHOWN_CHARACTERS, len(self._body)) else ""

    @property
    def _heading(self) -> str:
        """Return the heading with its line break; empty if the entry has none, or is only a heading."""
        heading, line_break, _ = self.text.partition("\n")
        return heading + line_break if line_break and heading.startswith("#") else ""

    @property
    def _body(self) -> str:
        return self.text[len(self._heading) :]


@dataclass(frozen=True)
class DayItem(PlainItem):
    """The entries of a day, oldest first. Where not all fit, the newest stay, whole as far as possible.

    A long entry never takes the place of short ones: it is cut at its end and gets the room that they leave.
    """

    path: str
    title: str
    entries: tuple[Entry, ...]
    earlier_entries: int = 0  # on the page, before these
    rank: tuple[int, str] = (0, "")

    @cached_property
    def cost(self) -> float:
        whole = weigh(self._render(entry.text for entry in self.entries))
        beyond = sum(max(0, entry.total_characters - len(entry.text)) for entry in self.entries)
        return whole + SEPARATOR_TOKENS + beyond / 5 + 50 * self.earlier_entries

    @cached_property
    def _costs(self) -> list[float]:
        """Return the tokens of each entry on lines of its own; of one that is read only in part, more than any room."""
        return [_weigh_lines(entry.text) if entry.is_whole else float("inf") for entry in self.entries]

    def spans(self) -> Iterator[Span]:
        for entry in self.entries:
            yield self.path, entry.first_line, entry.last_line

    def keep_approved(self, is_approved: IsApproved) -> DayItem | None:
        entries = [entry for entry in self.entries if is_approved((self.path, entry.first_line, entry.last_line))]
        return replace(self, entries=tuple(entries), earlier_entries=0) if entries else None

    def texts(self) -> Iterator[ShownText]:
        for entry in self.entries:
            yield ShownText(self.path, entry.first_line, entry.text, last=entry.last_line)

    def with_texts(self, texts: Iterator[str]) -> DayItem:
        entries = tuple(entry.with_text(next(texts)) for entry in self.entries)
        return self if entries == self.entries else replace(self, entries=entries)

    def leave_out(self, reason: str) -> Cut:
        return Cut(self._source, sum(estimate_tokens(entry.text) for entry in self.entries), reason)

    @property
    def _source(self) -> str:
        return f"{self.path}#L{self.entries[0].first_line}-L{self.entries[-1].last_line}"

    def fit(self, room: float) -> Part | None:
        if self.cost <= room and not self.earlier_entries and all(entry.is_whole for entry in self.entries):
            return self._show([entry.text for entry in self.entries])
        longest_note = self._note(len(self.entries) - 1 + self.earlier_entries, len(self.entries), is_earlier=True)
        overhead = weigh(self._render([], longest_note)) + SEPARATOR_TOKENS
        shares = _share_entries(self.entries, self._costs, room - overhead)
        pairs = zip(self.entries, self._costs, shares, strict=True)
        texts = [_fit_entry(entry, cost, share) for entry, cost, share in pairs]
        return self._show(texts) if texts[-1] else None

    def _show(self, texts: Sequence[str]) -> Part:
        """Return the day with these texts of its entries; an empty one is left out."""
        sources: list[Source] = []
        shortened = 0
        for entry, text in zip(self.entries, texts, strict=True):
            if text:
                is_partial = text is not entry.text
                shortened += is_partial
                sources.append(Source(self.path, entry.first_line, entry.last_line, estimate_tokens(text), is_partial))
        missing = len(texts) - len(sources) + self.earlier_entries
        is_earlier = all(texts[len(texts) - len(sources) :])
        note = self._note(missing, shortened, is_earlier=is_earlier) if missing or shortened else ""
        rendered = self._render([text for text in texts if text], note)
        return Part(rendered, "", tuple(sources), self._describe_cut(sources, missing, shortened))

    def _render(self, texts: Iterable[str], note: str = "") -> str:
        frame = fence("\n".join(texts), self.title)
        return f"{frame}\n{note}" if note else frame

    def _note(self, missing: int, shortened: int, *, is_earlier: bool) -> str:
        kind = "earlier" if is_earlier else "other"
        words = [f"{missing} {kind} {'entry' if missing == 1 else 'entries'}"] if missing else []
        if shortened:
            words += ["the end of an entry" if shortened == 1 else f"the ends of {shortened} entries"]
        return f"(Not shown: {' and '.join(words)}, in {quote_line(self.path)}.)"

    def _describe_cut(self, sources: Sequence[Source], missing: int, shortened: int) -> tuple[Cut, ...]:
        if not missing and not shortened:
            return ()
        rest = sum(estimate_tokens(entry.text) for entry in self.entries) - sum(source.tokens for source in sources)
        reason = f"{OVER_BUDGET}: {missing} entries cut, {shortened} shortened"
        return (Cut(self._source, max(1, rest), reason),)


@dataclass(frozen=True)
class DaysSection(Section):
    """The last days. A day and its open tasks, which come first, are shown as one if everything fits that way."""

    def _fit_items(self, room: float) -> tuple[list[Part], list[Cut]]:
        fitted, cut = super()._fit_items(room)
        fitted, cut = self._end_at_gap(fitted, cut)
        parts: list[Part] = []
        for part in fitted:
            tasks = parts[-1] if parts and parts[-1].sources[0].path == part.sources[0].path else None
            whole = self._merge_day(tasks, part) if tasks else None
            if tasks and whole:
                parts[-1] = whole
                cut = [*(each for each in cut if each not in (*tasks.cut, *part.cut)), *whole.cut]
            else:
                parts.append(part)
        return parts, cut

    def _end_at_gap(self, parts: list[Part], cut: list[Cut]) -> tuple[list[Part], list[Cut]]:
        """Return the parts without days before one that did not fit: a short entry of long ago would take the room of
        something newer. Open tasks of earlier days stay."""
        shown = {part.sources[0].path for part in parts}
        items = [item for item in self.items if isinstance(item, DayItem)]
        with_tasks = {item.path for item in items if item.rank == TASKS}
        before_gap = dropwhile(lambda item: item.path in shown, items)
        dropped = {item.path: item for item in before_gap if item.path in shown - with_tasks}
        left = [part for part in parts if part.sources[0].path in dropped]
        cut = [each for each in cut if not any(each in part.cut for part in left)]
        cut += [item.leave_out(OVER_BUDGET) for item in dropped.values()]
        return [part for part in parts if part not in left], cut

    def _merge_day(self, tasks: Part, rest: Part) -> Part | None:
        """Return a day in as many tokens as its two parts take, or None if it would have less of the tasks."""
        path = rest.sources[0].path
        items = [item for item in self.items if isinstance(item, DayItem) and item.path == path]
        entries = sorted((entry for item in items for entry in item.entries), key=_first_line)
        day = replace(items[-1], entries=tuple(entries))
        whole = day.fit(weigh(tasks.text) + weigh(rest.text) + 2 * SEPARATOR_TOKENS)
        return whole if whole and {*tasks.sources} <= {*whole.sources} else None


def _first_line(entry: Entry) -> int:
    return entry.first_line


def _weigh_lines(text: str) -> float:
    """Return the tokens of lines inside a fence: hidden characters are escaped there, and ticks need more ticks."""
    return weigh(fence(text, "")) - weigh(fence("", "")) + _NEWLINE_TOKENS


def _fit_entry(entry: Entry, cost: float, share: float) -> str:
    if cost <= share:
        return entry.text

    def fits(start: str) -> bool:
        return _weigh_lines(start) <= share

    return entry.cut(fits, by_clause=cost < _SHORT_TOKENS) if share > 0 else ""


def _share_entries(entries: Sequence[Entry], costs: Sequence[float], room: float) -> list[float]:
    """Return the tokens for each entry: the newest ones whole, as many as fit; long ones get what these leave.

    Unused tokens go to the next entry, which is cut. Outdated entries come after all others.
    """
    needs = [_find_need(entry, cost, room) for entry, cost in zip(entries, costs, strict=True)]
    is_newest_long = costs[-1] > room * _NEWEST_LONG_SHARE
    needs[-1] = max(min(needs[-1], room), room * _MIN_NEWEST_SHARE) if is_newest_long else costs[-1]
    newest = len(entries) - 1
    order = sorted(range(len(entries)), key=lambda place: (place != newest and entries[place].gives_way, -place))
    left = room
    shares = [0.0] * len(entries)
    count = 0
    while count < len(order) and needs[order[count]] <= left:
        shares[order[count]] = needs[order[count]]
        left -= needs[order[count]]
        count += 1
    chosen = sorted(order[:count])
    more = share_out([costs[place] - needs[place] for place in chosen], left)
    for place, extra in zip(chosen, more, strict=True):
        shares[place] += extra
    rest = left - sum(more)
    if count < len(order) and rest >= _weigh_start(entries[order[count]], _MIN_LAST_CHARACTERS):
        shares[order[count]] = rest
    return shares


def _find_need(entry: Entry, cost: float, room: float) -> float:
    """Return what an entry needs at least: everything or, if it is long, its first words."""
    if cost <= room * _LONG_ENTRY_SHARE:
        return cost
    return min(cost, max(_weigh_start(entry, _MIN_LONG_CHARACTERS), room * _MIN_LONG_SHARE))


def _weigh_start(entry: Entry, characters: int) -> float:
    """Return the tokens of the first characters of an entry, with the mark of a cut."""
    return _weigh_lines(entry.text[:characters] + _MARK)


def recent_days(home: Home, request: ContextRequest) -> Section | None:
    """Return the section of the last days, with at least as many tokens as the limit if there are that many."""
    limit = request.limit
    items: list[DayItem] = []
    warnings: list[str] = []
    left_out: list[Cut] = []
    room = float(_PLAIN_TOKENS if limit is None else limit)
    most = _PLAIN_DAYS if limit is None else _MAX_DAYS
    older: list[DayItem] = []
    for day, path in islice(list_days(home), _MAX_DAYS):
        is_full = room < 1 or len(items) == most
        if is_full and (request.only_approved or len(older) == _TASK_DAYS):
            break
        day_room = _TASK_DAY_TOKENS if is_full else room
        item = _read_day(home, day, path, day_room, warnings, only_approved=request.only_approved)
        if item and request.only_approved:
            item, cut = _keep_approved(home, item)
            left_out += cut
        if item and is_full:
            older.append(item)
        elif item:
            items.append(item)
            room -= min(item.cost, max(room * _DAY_SHARE, _DAY_TOKENS))
    items = _mark_repeated(items)
    if not request.only_approved:
        viewer = home.visibility.reader(request.channel, request.user)
        items = put_tasks_first(home, viewer, items, older, _PLAIN_TOKENS if limit is None else limit)
    if not items and not warnings and not left_out:
        return None
    return DaysSection(
        TITLE,
        78,
        items,
        floor_tokens=80,
        most_tokens=_PLAIN_TOKENS if limit is None else float("inf"),
        weight=5,
        sharing="in order",
        left_out=tuple(left_out),
        warnings=tuple(warnings),
    )


def _mark_repeated(days: Sequence[DayItem]) -> list[DayItem]:
    """Return days, the newest first, with a mark on entries that a later one repeats word for word."""
    seen: set[str] = set()
    marked: list[DayItem] = []
    for day in days:
        entries: list[Entry] = []
        for entry in reversed(day.entries):
            entries.append(entry._replace(is_repeated=entry.is_whole and entry.statement in seen))
            seen.add(entry.statement)
        marked.append(replace(day, entries=tuple(reversed(entries))))
    return marked


def _keep_approved(home: Home, item: DayItem) -> tuple[DayItem | None, list[Cut]]:
    """Return a day with only the entries that a person wrote or approved, so that others use up no room."""
    rest = item.keep_approved(check_approval(home, item.spans()))
    return rest, [] if rest == item else [item.leave_out(NOT_APPROVED)]


def list_days(home: Home) -> Iterator[tuple[str, str]]:
    """Yield the agent's daily pages up to today with their days, newest first, without listing other folders."""
    layout = home.layout
    today = home.today().isoformat()
    for path in _list_newest(home, layout.days_folder(home.agent), layout.day_name.count("/")):
        day = layout.day_of(home.agent, path)
        if day and day <= today:
            yield day, path


def _list_newest(home: Home, folder: str, depth: int) -> Iterator[str]:
    if not depth:
        yield from reversed(home.storage.pages.list(folder))
        return
    for name in reversed(home.storage.pages.list_folders(folder)):
        if _DIGITS.fullmatch(name):
            yield from _list_newest(home, f"{folder}/{name}", depth - 1)


def _read_day(
    home: Home, day: str, path: str, room: float, warnings: list[str], *, only_approved: bool
) -> DayItem | None:
    try:
        text = home.storage.pages.read(path).text
    except CommonplaceError as error:
        warnings.append(f"skipped: {error}")
        return None
    most = int(room) * CHARACTERS_PER_TOKEN
    if not only_approved:
        spans = _choose_spans(text, most)
    elif len(text) <= _WHOLE_CHARACTERS:
        spans = [_Span(0, len(text))]
    else:
        home.storage.pages.record_outside_edits([path])
        spans = _find_approved_spans(text, home.authors.find_approved_lines(path), most)
    spans = spans or _choose_spans(text, most)  # the receipt still names the day
    earlier = len(_ENTRY_START.findall(text[: spans[0].start])) if spans[0].start else 0

    def find_change(raw: str) -> str:
        return _find_change(raw, day, home.zone)

    entries = [entry for span in spans for entry in _parse_entries(text, span, most, find_change)]
    return DayItem(path, name_day(day, home.today()), tuple(entries), earlier) if entries else None


class _Span(NamedTuple):
    """A part of a page that is read, and how many characters of its last entry lie beyond it."""

    start: int
    end: int
    beyond: int = 0


def _choose_spans(text: str, most: int) -> list[_Span]:
    """Return which parts of a page to read: the newest entries of an overlong page, and the start of a long entry.

    So short entries before and after a long one are read, too.
    """
    if len(text) <= 2 * most:
        return [_Span(0, len(text))]
    spans: list[_Span] = []
    end = len(text)
    left = most
    while end > 0 and left > 0:
        start = text.rfind(_ENTRY, 0, end) + 1
        if end - start > most:
            spans.append(_Span(start, start + most, end - start - most))
            left -= max(1, int(most * _LONG_SHARE))
        elif spans and spans[-1].start == end and not spans[-1].beyond:
            spans[-1] = _Span(start, spans[-1].end)
            left -= end - start
        else:
            spans.append(_Span(start, end))
            left -= end - start
        end = start
    return spans[::-1]


def _find_approved_spans(text: str, ranges: Sequence[tuple[int, int]], most: int) -> list[_Span]:
    """Return the newest entries of a long page in which there are lines of these ranges."""
    offsets = [0, *(match.end() for match in _LINE_END.finditer(text))]
    spans: list[_Span] = []
    left = most
    for first, last in reversed(ranges):
        if left <= 0 or (spans and offsets[first - 1] >= spans[-1].start):
            continue
        start = text.rfind(_ENTRY, 0, offsets[first - 1] + len(_ENTRY) - 1) + 1
        next_start = text.find(_ENTRY, offsets[last - 1]) + 1 or len(text)
        end = min(next_start, spans[-1].start) if spans else next_start
        beyond = max(0, end - start - most)
        spans.append(_Span(start, end - beyond, beyond))
        left -= end - start - beyond
    return spans[::-1]


def _find_change(raw: str, day: str, zone: tzinfo) -> str:
    """Return the day on which a keyed note was written, if that is after the day of its page; else nothing."""
    notes = blocks.parse(raw) if FOOTER_START in raw else []
    moment = parse_timestamp(notes[0].at) if notes else None
    changed = moment.astimezone(zone).date().isoformat() if moment else ""
    return changed if changed > day else ""


def _parse_entries(text: str, span: _Span, most: int, find_change: Callable[[str], str]) -> Iterator[Entry]:
    """Yield the entries of a part of a daily page, without the heading of the day, empty lines and footers.

    What a person wrote before the first heading is an entry too. A keyed note that was changed since says when.
    """
    part = text[span.start : span.end]
    starts = _find_starts(part)
    line = text.count("\n", 0, span.start) + 1
    for start, end in zip([0, *starts], [*starts, len(part)], strict=True):
        raw = part[start:end]
        beyond = span.beyond if end == len(part) else 0
        last = text.count("\n", 0, span.end + beyond) if beyond else line + raw.rstrip().count("\n")
        entry = _make_entry(raw, line, last, beyond, most, find_change(raw))
        if entry:
            yield entry
        line += raw.count("\n")


def _find_starts(part: str) -> list[int]:
    """Return where entries start: a title directly below another heading belongs to the same entry."""
    starts: list[int] = []
    above = 0
    for mark in find_marks(part):
        if mark.level in _ENTRY_LEVELS and not mark.fenced:
            is_below_heading = bool(starts) and "\n" not in part[above : mark.start].strip()
            if not is_below_heading or is_day_or_time(mark.title):
                starts.append(mark.start)
            above = mark.start
    return starts


def _make_entry(raw: str, first_line: int, last_line: int, beyond: int, most: int, changed: str) -> Entry | None:
    lines = enumerate(raw.split("\n"), start=first_line)
    numbered_lines = [(number, line.rstrip()) for number, line in lines if _is_shown(line)]
    if all(_TIME_HEADING.fullmatch(line) for _, line in numbered_lines):
        return None
    if changed:
        numbered_lines[0] = (numbered_lines[0][0], f"{numbered_lines[0][1]} ({changed})")
    text = "\n".join(line for _, line in numbered_lines)
    numbers = tuple(number for number, _ in numbered_lines)
    return Entry(text[:most], numbers[0], last_line, len(text) + beyond, line_numbers=numbers)


def _is_shown(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(FOOTER_START) and not _DAY_HEADING.fullmatch(line)


def name_day(day: str, today: date) -> str:
    age = today.toordinal() - date.fromisoformat(day).toordinal() if _is_date(day) else -1
    words = {0: "today", 1: "yesterday"}.get(age, f"{age} days ago" if age > 0 else "")
    return f"{day} ({words})" if words else day


def _is_date(day: str) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True
