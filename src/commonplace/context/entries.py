"""The entries of a day in the context: which of them are shown whole, which are cut, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ..framing import cut_start, estimate_tokens, fence, quote_line
from ..framing import weigh_tokens as weigh
from .items import OVER_BUDGET, Cut, IsApproved, Part, Source, Span, share_out

_MIN_SHOWN_CHARACTERS = 12  # less of an entry says nothing
_MIN_LONG_CHARACTERS = 48  # of a long entry that is cut so that others fit
_MIN_LAST_CHARACTERS = 36  # of the last entry that is shown, heading included; fewer say nothing
_MIN_LONG_SHARE = 1 / 8
_LONG_SHARE = 1 / 2  # of the room of its day: an entry that needs more is long
_NEWEST_LONG_SHARE = 3 / 4
_MIN_NEWEST_SHARE = 1 / 4
_SEPARATOR_TOKENS = weigh("\n\n")
_NEWLINE_TOKENS = weigh("\n")
_MARK = " […]"


class Entry(NamedTuple):
    """An entry of a day: its text as it is shown, and its lines on the page."""

    text: str
    first_line: int
    last_line: int
    total_characters: int = 0

    @property
    def is_whole(self) -> bool:
        return len(self.text) >= self.total_characters

    def with_text(self, text: str) -> Entry:
        """Return the entry with another text, of which as much is missing as of this one."""
        return self._replace(text=text, total_characters=self.total_characters + len(text) - len(self.text))

    def cut(self, fits: Callable[[str], bool]) -> str:
        """Return the start of the entry that fits, with a mark; empty where not even its first words do."""

        def fits_with_mark(start: str) -> bool:
            return fits(f"{self._heading}{start}{_MARK}")

        start = cut_start(self._body, fits_with_mark)
        return f"{self._heading}{start}{_MARK}" if len(start) >= min(_MIN_SHOWN_CHARACTERS, len(self._body)) else ""

    @property
    def _heading(self) -> str:
        """Return the heading with its line break, which alone says nothing; empty where the entry has none."""
        heading, line_break, _ = self.text.partition("\n")
        return heading + line_break if line_break and heading.startswith("#") else ""

    @property
    def _body(self) -> str:
        return self.text[len(self._heading) :]


@dataclass(frozen=True)
class DayItem:
    """The entries of a day, oldest first. Where not all fit, the newest stay, whole as far as possible.

    A long entry never takes the place of short ones: it is cut at its end, and gets what these leave.
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
        return whole + _SEPARATOR_TOKENS + beyond / 5 + 50 * self.earlier_entries

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

    def leave_out(self, reason: str) -> Cut:
        return Cut(self._source, sum(estimate_tokens(entry.text) for entry in self.entries), reason)

    @property
    def _source(self) -> str:
        return f"{self.path}#L{self.entries[0].first_line}-L{self.entries[-1].last_line}"

    def fit(self, room: float) -> Part | None:
        if self.cost <= room and not self.earlier_entries and all(entry.is_whole for entry in self.entries):
            return self._show([entry.text for entry in self.entries])
        longest_note = self._note(len(self.entries) - 1 + self.earlier_entries, len(self.entries), is_earlier=True)
        overhead = weigh(self._render([], longest_note)) + _SEPARATOR_TOKENS
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
        words += [f"the rest of {shortened} long {'one' if shortened == 1 else 'ones'}"] if shortened else []
        return f"({' and '.join(words).capitalize()}: in {quote_line(self.path)}.)"

    def _describe_cut(self, sources: Sequence[Source], missing: int, shortened: int) -> tuple[Cut, ...]:
        if not missing and not shortened:
            return ()
        rest = sum(estimate_tokens(entry.text) for entry in self.entries) - sum(source.tokens for source in sources)
        reason = f"{OVER_BUDGET}: {missing} entries cut, {shortened} shortened"
        return (Cut(self._source, max(1, rest), reason),)


def _weigh_lines(text: str) -> float:
    """Return the tokens of lines inside a fence: hidden characters are escaped there, and ticks need more ticks."""
    return weigh(fence(text, "")) - weigh(fence("", "")) + _NEWLINE_TOKENS


def _fit_entry(entry: Entry, cost: float, share: float) -> str:
    if cost <= share:
        return entry.text

    def fits(start: str) -> bool:
        return _weigh_lines(start) <= share

    return entry.cut(fits) if share > 0 else ""


def _share_entries(entries: Sequence[Entry], costs: Sequence[float], room: float) -> list[float]:
    """Return the tokens of each entry: the newest whole, as many as fit, and long ones what these leave.

    What nobody needs goes to the entry before them, which is cut.
    """
    needs = [_find_need(entry, cost, room) for entry, cost in zip(entries, costs, strict=True)]
    is_newest_long = costs[-1] > room * _NEWEST_LONG_SHARE
    needs[-1] = max(min(needs[-1], room), room * _MIN_NEWEST_SHARE) if is_newest_long else costs[-1]
    left = room
    first = len(needs)
    while first and needs[first - 1] <= left:
        first -= 1
        left -= needs[first]
    wishes = [cost - need for cost, need in zip(costs[first:], needs[first:], strict=True)]
    more = share_out(wishes, left)
    shares = [need + extra for need, extra in zip(needs[first:], more, strict=True)]
    rest = left - sum(more)
    before = [rest] if first and rest >= _weigh_start(entries[first - 1], _MIN_LAST_CHARACTERS) else []
    return [0.0] * (first - len(before)) + before + shares


def _find_need(entry: Entry, cost: float, room: float) -> float:
    """Return what an entry needs at least: everything or, where it is long, its first words."""
    if cost <= room * _LONG_SHARE:
        return cost
    return min(cost, max(_weigh_start(entry, _MIN_LONG_CHARACTERS), room * _MIN_LONG_SHARE))


def _weigh_start(entry: Entry, characters: int) -> float:
    """Return the tokens of the first characters of an entry, with the mark of a cut."""
    return _weigh_lines(entry.text[:characters] + _MARK)
