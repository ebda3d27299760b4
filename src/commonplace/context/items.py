"""The items of a section, and how each is cut to a number of tokens: data anywhere, rules between sentences.

A cut is marked in the text and on the receipt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, Self

from ..framing import cut_rules, cut_start, estimate_tokens, fence, list_item, quote_line, show_instructions
from ..framing import weigh_tokens as weigh
from ..patterns import lazy_pattern
from ..search.shown_lines import ShownText
from . import OVER_BUDGET

NOT_APPROVED = "not all of it was written or approved by a person"
CALLER = "the caller"
MIN_SHOWN_CHARACTERS = 12  # less of a text is useless
CHARACTERS_PER_TOKEN = 12  # more than any text has
SEPARATOR_TOKENS = weigh("\n\n")

_HEADING = lazy_pattern(r"#{1,6}[ \t]")
_OPEN_TASK = lazy_pattern(r"\s*[-*+] \[ \]\s")
_DONE_TASK = lazy_pattern(r"\s*[-*+] \[(?:[xX]\]\s|[ ]\] \[done: )")  # by its box, or by a remark

Span = tuple[str, int, int]  # a path, a first line and a last one, counted from 1
IsApproved = Callable[[Span], bool]


class Source(NamedTuple):
    """Lines of a page that are in the context; `is_partial` where only a part of them is."""

    path: str
    first: int = 0
    last: int = 0
    tokens: int = 0
    is_partial: bool = False
    is_current: bool = True  # whether it is the current text of the lines, not an earlier version

    def __str__(self) -> str:
        if not self.first:
            return self.path
        return f"{self.path}#L{self.first}-L{self.last}{' (in part)' if self.is_partial else ''}"


class Cut(NamedTuple):
    """Something left out of the context, and why."""

    source: str
    tokens: int
    reason: str


class Part(NamedTuple):
    """An item as it is shown, under the heading of its group."""

    text: str
    group: str = ""
    sources: tuple[Source, ...] = ()
    cut: tuple[Cut, ...] = ()
    names: tuple[str, ...] = ()  # paths of pages that are only named


class Item(Protocol):
    """A part of a section. `rank` decides which items stay if not all fit: those with a lower rank.

    Items of one `group` are shown under a heading of that name; those of none have an empty one.
    """

    @property
    def rank(self) -> tuple[int, str]: ...

    @property
    def group(self) -> str: ...

    @property
    def cost(self) -> float:
        """Return the tokens of the whole item, with the blank line after it."""
        ...

    def fit(self, room: float) -> Part | None:
        """Return the item in at most this many tokens; None if nothing useful fits."""
        ...

    def leave_out(self, reason: str) -> Cut: ...

    def spans(self) -> Iterable[Span]:
        """Return the lines whose authors must be known to decide what a person wrote or approved."""
        ...

    def keep_approved(self, is_approved: IsApproved) -> Item | None:
        """Return the approved part of the item."""
        ...

    def texts(self) -> Iterable[ShownText]:
        """Return the texts that may get remarks."""
        ...

    def with_texts(self, texts: Iterator[str]) -> Item:
        """Return the item with its texts replaced by the next of these."""
        ...


class PlainItem:
    """The defaults of an item: no group, and no text that may get remarks."""

    group: str = ""

    def texts(self) -> Iterable[ShownText]:
        return ()

    def with_texts(self, texts: Iterator[str]) -> Self:
        return self


class _PageLines(PlainItem):
    """The common part of items that show lines of a page."""

    text: str
    path: str
    first_line: int
    is_current: bool

    @property
    def last_line(self) -> int:
        raise NotImplementedError

    @property
    def source(self) -> str:
        return f"{self.path}#L{self.first_line}-L{self.last_line}"

    def spans(self) -> Iterator[Span]:
        if self.is_current:
            yield self.path, self.first_line, self.last_line

    def leave_out(self, reason: str) -> Cut:
        return Cut(self.source, estimate_tokens(self.text), reason)


@dataclass(frozen=True)
class TextItem(_PageLines):
    """Stored text: with a `name` an entry of a list, otherwise in a fence that `label` describes."""

    text: str
    path: str
    first_line: int = 1
    label: str = ""
    name: str = ""
    group: str = ""
    rank: tuple[int, str] = (0, "")
    total_characters: int = 0  # of the full text; `text` is only its start
    total_lines: int = 0
    is_current: bool = True
    line_offsets: tuple[int, ...] = ()  # of the lines of `text` on the page, where tasks that are done are left out

    @cached_property
    def cost(self) -> float:
        beyond = max(0, self.total_characters - len(self.text))
        return weigh(self._render(self.text)) + SEPARATOR_TOKENS + beyond / 5

    @property
    def is_whole(self) -> bool:
        return len(self.text) >= self.total_characters

    @property
    def last_line(self) -> int:
        return self.first_line + self._count_lines() - 1

    def keep_approved(self, is_approved: IsApproved) -> TextItem | None:
        return self if self.is_current and is_approved((self.path, self.first_line, self.last_line)) else None

    def texts(self) -> Iterator[ShownText]:
        yield ShownText(self.path, self.first_line, self.text)

    def with_texts(self, texts: Iterator[str]) -> TextItem:
        text = next(texts)
        total = self.total_characters + len(text) - len(self.text) if self.total_characters else 0
        return self if text == self.text else replace(self, text=text, total_characters=total)

    def fit(self, room: float) -> Part | None:
        if self.is_whole and self.cost <= room:
            return Part(self._render(self.text), self.group, (self._source(self.text, self.last_line),))
        return self._leave_out_done()._fit_start(room - SEPARATOR_TOKENS)

    def _leave_out_done(self) -> TextItem:
        """Return a list of tasks without the finished ones: if there is little room, only open tasks matter."""
        lines = self.text.split("\n")
        if not any(_OPEN_TASK.match(line) for line in lines):
            return self
        offsets = [offset for offset, line in enumerate(lines) if not _DONE_TASK.match(line)]
        if len(offsets) == len(lines):
            return self
        text = "\n".join(lines[offset] for offset in offsets)
        total = max(len(self.text), self.total_characters)
        return replace(
            self, text=text, line_offsets=tuple(offsets), total_characters=total, total_lines=self._count_lines()
        )

    def _fit_start(self, room: float) -> Part | None:
        """Return the start of the item, described as such, in at most so many tokens."""

        def fits(start: str) -> bool:
            return weigh(self._render(start, self._describe_cut(start))) <= room

        start = _drop_last_headings(cut_start(self.text[:-1] if self.is_whole else self.text, fits))
        if len(start) < MIN_SHOWN_CHARACTERS:
            return None
        rest = Cut(self.source, self._estimate_rest(start), f"{OVER_BUDGET}: {self._name_rest(start)} cut")
        return Part(self._render(start, self._describe_cut(start)), self.group, self._start_sources(start), (rest,))

    def _render(self, text: str, note: str = "") -> str:
        if not self.name:
            rendered = fence(text, self.label or self.path)
            return f"{rendered}\n({note}.)" if note else rendered
        rendered = list_item(self.name, f"{text} …" if note else text, self.path)
        return f"{rendered}{chr(10) if chr(10) in rendered else ' '}({note})" if note else rendered

    def _ends_at_line(self, start: str) -> bool:
        return self.text[len(start) : len(start) + 1] in ("\n", "")

    def _describe_cut(self, start: str) -> str:
        if self.name:  # its name shows where the rest is
            return self._count_shown(start)
        where = f"; the rest is in {quote_line(self.path)}" if self.label else ""  # without a label, the fence shows it
        return f"{'' if self.line_offsets else 'The first '}{self._count_shown(start)}{where}"

    def _count_shown(self, start: str) -> str:
        lines = self._count_lines()
        done = ", without what is done" if self.line_offsets else ""
        if self._ends_at_line(start) and lines > 1:
            return f"{start.count(chr(10)) + 1} of {lines} lines{done}"
        return f"{len(start):,} of {max(self.total_characters, len(self.text)):,} characters{done}"

    def _count_lines(self) -> int:
        return max(self.total_lines, self.text.count("\n") + 1)

    def _name_rest(self, start: str) -> str:
        lines = self._count_lines()
        if self._ends_at_line(start) and lines > 1:
            return f"{lines - start.count(chr(10)) - 1} lines"
        return f"{max(self.total_characters, len(self.text)) - len(start):,} characters"

    def _estimate_rest(self, start: str) -> int:
        beyond = max(0, self.total_characters - len(self.text))
        return max(1, estimate_tokens(self.text[len(start) :]) + beyond // 5)

    def _source(self, text: str, last: int) -> Source:
        return Source(self.path, self.first_line, last, estimate_tokens(text), is_current=self.is_current)

    def _start_sources(self, start: str) -> tuple[Source, ...]:
        whole = start.count("\n") + (1 if self._ends_at_line(start) else 0)
        if not whole:
            return (self._source(start, self.first_line)._replace(is_partial=True),)
        if not self.line_offsets:
            return (self._source(start, self.first_line + whole - 1),)
        shown = zip(start.split("\n"), self.line_offsets[:whole], strict=False)
        return tuple(
            Source(self.path, number, number, estimate_tokens(line), is_current=self.is_current)
            for line, number in ((line, self.first_line + offset) for line, offset in shown)
        )


def _drop_last_headings(text: str) -> str:
    """Return a text without headings at its end that have nothing below; empty if it is only headings."""
    before, _, last = text.rpartition("\n")
    return _drop_last_headings(before.rstrip()) if _HEADING.match(last) else text


@dataclass(frozen=True)
class RulesItem(_PageLines):
    """Instructions of people, shown as they are."""

    text: str
    path: str
    first_line: int = 1
    is_current: bool = True
    is_own: bool = False  # whether they are the program's own words
    rank: tuple[int, str] = (0, "")
    last_page_line: int = 0  # if the page has other words than these
    brief: str = ""  # a shorter version, for little room

    @cached_property
    def cost(self) -> float:
        return weigh(show_instructions(self.text)) + SEPARATOR_TOKENS

    @property
    def last_line(self) -> int:
        return self.last_page_line or self.first_line + self.text.count("\n")

    def keep_approved(self, is_approved: IsApproved) -> RulesItem | None:
        is_known = self.is_current and is_approved((self.path, self.first_line, self.last_line))
        return self if self.is_own or is_known else None

    def fit(self, room: float) -> Part | None:
        source = Source(self.path, self.first_line, self.last_line, estimate_tokens(self.text), False, self.is_current)
        if self.cost <= room:
            return Part(show_instructions(self.text), "", (source,))
        if self.brief:
            return self._fit_brief(room, source)
        note = f"\n\n(Some of these rules are left out here: read {quote_line(self.path)} first.)"
        available = room - SEPARATOR_TOKENS - weigh(note)
        if available < 0:
            return None
        rules, count = cut_rules(self.text, lambda text: weigh(show_instructions(text)) <= available)
        left = estimate_tokens(self.text) - estimate_tokens(rules)
        rest = Cut(self.source, max(1, left), f"{OVER_BUDGET}: {count} sentences cut")
        rules_source = source._replace(tokens=estimate_tokens(rules))
        return Part((show_instructions(rules) + note).strip(), "", (rules_source,) if rules else (), (rest,))

    def _fit_brief(self, room: float, source: Source) -> Part | None:
        tokens = estimate_tokens(self.brief)
        if weigh(self.brief) + SEPARATOR_TOKENS > room:
            return None
        cut = Cut(self.source, max(1, estimate_tokens(self.text) - tokens), f"{OVER_BUDGET}: said in fewer words")
        return Part(self.brief, "", (source._replace(tokens=tokens),), (cut,))


def share_out(wishes: Sequence[float], room: float, least: float = 0.0) -> list[float]:
    """Share `room` among wishes: small ones are granted in full, large ones get equal shares.

    If not all can have `least`, or their wish if that is less, the last ones get nothing.
    """
    count = 0
    needed = 0.0
    for wish in wishes:
        needed += min(wish, least)
        if needed > room:
            break
        count += 1
    shares = [0.0] * len(wishes)
    left = room
    for place, number in enumerate(sorted(range(count), key=wishes.__getitem__)):
        shares[number] = min(wishes[number], left / (count - place))
        left -= shares[number]
    return shares
