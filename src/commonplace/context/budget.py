"""The request for a context, its sections, and how they share a token budget.

What must always be said comes first. Then each section gets its floor, by priority. What is left is
shared by weight, and what one section does not need goes to the others. So the budget is used up as long as memory has
more to say, and no section, however long, takes the place of another. A context of nothing but what a person wrote or
approved leaves out everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import isclose
from typing import Literal, NamedTuple, TypeVar

from ..framing import Title
from ..framing import weigh_tokens as weigh
from ..home import Home
from . import OVER_BUDGET
from .items import NOT_APPROVED, SEPARATOR_TOKENS, Cut, IsApproved, Item, Part, Source, Span, share_out

_MIN_ITEM_TOKENS = 25.0  # kept of an item that is cut so that others fit
_FIRST_SHARE = 0.6  # of the remaining room, for one item if others follow
_FIRST_TOKENS = 120.0  # what one item may always take
_MIN_GROWTH_TOKENS = 4.0
_GROWTH_ROUNDS = 3
_MAX_UNUSED_SHARE = 0.05  # of a section's room
_NAMES_PRIORITY = 79  # below what fits the query, above everything else that was remembered

Sharing = Literal["fair", "in order"]
Lines = Mapping[str, set[int]]  # of pages, by their paths
_MAX_CHECKED = 1000  # pages of each kind whose authors are looked up
_BATCH = 50
_LAST_LINE = 1_000_000_000
T = TypeVar("T")


class ContextRequest(NamedTuple):
    """Who the context is for, and the question. No section needs more than `limit` tokens."""

    user: str | None = None
    channel: str | None = None
    query: str | None = None
    only_approved: bool = False
    limit: int | None = None
    reads_only: bool = False  # whether the reader may call only tools that write nothing
    session: str = ""  # the current conversation


@dataclass(frozen=True)
class Section:
    """A titled part of the context, in any number of tokens.

    Items share its tokens fairly, or the first ones get most. A section with a lower priority is left out earlier.
    """

    title: Title | Literal[""]
    priority: int
    items: Sequence[Item] = ()
    intro: str = ""
    floor_tokens: int = 40
    name_tokens: int = 0  # of the floor, for naming its items: granted before less important floors
    most_tokens: float = float("inf")
    weight: float = 1.0  # without weight, it gets only what no other section needs
    sharing: Sharing = "fair"
    has_own_words: bool = False  # whether the intro is useful even without items
    has_recalled_items: bool = False  # whether items that another section shows are left out
    grows_last: bool = False  # whether it gets unused room only after all other sections
    is_map: bool = False  # whether it only names things, which other sections may also show
    left_out: tuple[Cut, ...] = ()
    warnings: tuple[str, ...] = ()
    receipt_title: str = ""
    own_sources: tuple[Source, ...] = ()

    @cached_property
    def head(self) -> str:
        title = f"## {self.title}" if self.title else ""
        return "\n\n".join(part for part in (title, self.intro) if part)

    @cached_property
    def head_cost(self) -> float:
        return weigh(self.head) + SEPARATOR_TOKENS if self.head else 0.0

    @cached_property
    def wish(self) -> float:
        """Return the tokens of the whole section."""
        costs = sum(item.cost for item in self.items) + self._group_cost
        return self.head_cost + costs if self.items or self.has_own_words else 0.0

    @property
    def _group_cost(self) -> float:
        groups = dict.fromkeys(item.group for item in self.items)
        return sum(weigh(f"### {group}\n\n") for group in groups if group)

    def fill(self, room: float) -> FittedSection:
        """Return as much of the section as fits when it is measured as a whole: many items take less together than one
        by one."""
        fitted = self.fit(room)
        asked = room
        for _ in range(_GROWTH_ROUNDS if fitted.cut else 0):
            asked += room - fitted.cost
            if room - fitted.cost < max(_MIN_GROWTH_TOKENS, room * _MAX_UNUSED_SHARE):
                break
            larger = self.fit(asked)
            if not fitted.cost < larger.cost <= room:
                break
            fitted = larger
        return fitted

    def fit(self, room: float) -> FittedSection:
        """Return as much of the section as `room` allows, the head included."""
        fitted = FittedSection(self, cut=[*self.left_out])
        if self.head_cost > room or not (self.items or self.has_own_words):
            fitted.cut += [item.leave_out(OVER_BUDGET) for item in self.items]
            return fitted
        parts, cut = self._fit_items(min(room, self.most_tokens) - self.head_cost)
        fitted.parts += parts
        fitted.cut += cut
        fitted.is_head_shown = bool(parts) or self.has_own_words
        return fitted

    def leave_out_shown(self, lines: Lines) -> Section:
        """Return a map without what other sections show; any other section as it is."""
        return self

    def _fit_items(self, room: float) -> tuple[list[Part], list[Cut]]:
        room -= self._group_cost
        if isclose(room, sum(item.cost for item in self.items)):  # rounding must not cut what fits exactly
            return _collect(self.items, [(item, item.fit(item.cost)) for item in self.items])
        fit = _share_fairly if self.sharing == "fair" else _fill_in_order
        return fit(self.items, room)


def _share_fairly(items: Sequence[Item], room: float) -> tuple[list[Part], list[Cut]]:
    """Fit items of equal worth: small ones whole, long ones cut equally; if there are too many, the first by rank."""
    ranked = sorted(items, key=_rank)
    shares = share_out([item.cost for item in ranked], room, _MIN_ITEM_TOKENS)
    return _collect(items, _grow_items(_fit_each(ranked, shares), room))


def _fill_in_order(items: Sequence[Item], room: float) -> tuple[list[Part], list[Cut]]:
    """Fit items in order of rank; no item takes everything if others follow."""
    ranked = sorted(items, key=_rank)
    rest = sum(item.cost for item in ranked)
    left = room
    rooms: list[float] = []
    for item in ranked:
        rest -= item.cost
        rooms.append(min(item.cost, max(left - rest, left * _FIRST_SHARE, min(left, _FIRST_TOKENS))))
        left -= rooms[-1]
    return _collect(items, _fit_each(ranked, rooms))


def _fit_each(items: Sequence[Item], rooms: Sequence[float]) -> list[tuple[Item, Part | None]]:
    """Fit each item into its room and what earlier items left over."""
    fitted: list[tuple[Item, Part | None]] = []
    left = 0.0
    for item, room in zip(items, rooms, strict=True):
        part = item.fit(room + left) if room > 0 else None
        left += room - _cost(part)
        fitted.append((item, part))
    return fitted


def _grow_items(fitted: list[tuple[Item, Part | None]], room: float) -> list[tuple[Item, Part | None]]:
    """Give the rest of the room to items that were cut."""
    left = room - sum(_cost(part) for _, part in fitted)
    grown: list[tuple[Item, Part | None]] = []
    for item, part in fitted:
        is_cut = part is None or bool(part.cut)
        larger = item.fit(_cost(part) + left) if is_cut and left >= _MIN_GROWTH_TOKENS else None
        if larger and _cost(larger) > _cost(part):
            left -= _cost(larger) - _cost(part)
            grown.append((item, larger))
        else:
            grown.append((item, part))
    return grown


def _cost(part: Part | None) -> float:
    return weigh(part.text) + SEPARATOR_TOKENS if part else 0.0


def _collect(items: Sequence[Item], fitted: Iterable[tuple[Item, Part | None]]) -> tuple[list[Part], list[Cut]]:
    """Return the shown parts of items, in order, and what was cut."""
    parts: list[Part] = []
    cut: list[Cut] = []
    places = {id(item): place for place, item in enumerate(items)}
    for item, part in sorted(fitted, key=lambda pair: places[id(pair[0])]):
        if part:
            parts.append(part)
            cut += part.cut
        else:
            cut.append(item.leave_out(OVER_BUDGET))
    return parts, cut


def _rank(item: Item) -> tuple[int, str]:
    return item.rank


@dataclass
class FittedSection:
    """What the budget leaves of a section, and what was cut from it."""

    section: Section
    parts: list[Part] = field(default_factory=list)
    cut: list[Cut] = field(default_factory=list)
    is_head_shown: bool = False

    @cached_property
    def text(self) -> str:
        if not self.is_head_shown:
            return ""
        pieces = [self.section.head] if self.section.head else []
        group = ""
        for part in self.parts:
            if part.group and part.group != group:
                pieces.append(f"### {part.group}")
                group = part.group
            pieces.append(part.text)
        return _join_pieces(pieces)

    @property
    def cost(self) -> float:
        return weigh(self.text) + SEPARATOR_TOKENS if self.text else 0.0

    @property
    def sources(self) -> list[Source]:
        own = self.section.own_sources if self.is_head_shown else ()
        return [*own, *(source for part in self.parts for source in part.sources)]


def _join_pieces(pieces: Sequence[str]) -> str:
    """Join with blank lines, but list entries of one line with the line before them."""
    text = ""
    before = ""
    for piece in pieces:
        is_close = before.startswith(("- ", "### ")) and piece.startswith("- ") and "\n" not in before + piece
        text += f"{chr(10) if is_close else chr(10) * 2}{piece}" if text else piece
        before = piece
    return text


def fit_sections(sections: Sequence[Section], budget: int | None) -> list[FittedSection]:
    """Return the sections, in their order, within a budget of tokens."""
    grants = [float("inf")] * len(sections) if budget is None else _grant(sections, float(budget))
    fitted = [section.fit(grant) for section, grant in zip(sections, grants, strict=True)]
    _drop_repeated(sections, fitted, grants)
    if budget is not None:
        for _ in range(_GROWTH_ROUNDS):
            _grow(sections, fitted, budget)
            _drop_repeated(sections, fitted, [each.cost for each in fitted])
    return fitted


def _by_priority(sections: Sequence[Section]) -> list[int]:
    """Return the numbers of the sections, the highest priority first."""
    return sorted(range(len(sections)), key=lambda number: -sections[number].priority)


def _grant(sections: Sequence[Section], budget: float) -> list[float]:
    """Return how many tokens each section may take."""
    grants = [0.0] * len(sections)
    left = budget
    numbers: list[int] = []
    for number, tokens in _list_floors(sections):
        section = sections[number]
        available = left + grants[number]
        least = section.head_cost + _MIN_ITEM_TOKENS  # a part of it is better than all of something less important
        floor = min(section.wish, section.head_cost + tokens, max(available, least))
        if section.items and grants[number] < floor <= available:
            grants[number] = floor
            numbers.append(number)
        elif section.has_own_words and not grants[number] and section.head_cost <= left:
            grants[number] = section.head_cost
        left = available - grants[number]
    return _share_rest(sections, grants, [*dict.fromkeys(numbers)], left)


def _list_floors(sections: Sequence[Section]) -> list[tuple[int, int]]:
    """Return the numbers of the sections with the tokens of their floors, the most important first. One that has names
    is there twice: for these alone, and for the whole."""
    floors = [(section.priority, number, section.floor_tokens) for number, section in enumerate(sections)]
    named = [(number, section.name_tokens) for number, section in enumerate(sections) if section.name_tokens]
    floors += [(_NAMES_PRIORITY, number, tokens) for number, tokens in named]
    return [(number, tokens) for _, number, tokens in sorted(floors, key=_by_first, reverse=True)]


def _by_first(floor: tuple[int, int, int]) -> tuple[int, int]:
    return floor[0], -floor[1]


def _share_rest(sections: Sequence[Section], grants: list[float], numbers: list[int], left: float) -> list[float]:
    """Share what is left by weight, until it is used up or nobody wishes more."""
    hungry = [number for number in numbers if sections[number].weight and sections[number].wish > grants[number]]
    while hungry and left > 1:
        unit = left / sum(sections[number].weight for number in hungry)
        left = 0.0
        for number in hungry:
            more = unit * sections[number].weight
            used = min(more, sections[number].wish - grants[number])
            grants[number] += used
            left += more - used
        hungry = [number for number in hungry if sections[number].wish > grants[number] + 0.1]
    return grants


def _grow(sections: Sequence[Section], fitted: list[FittedSection], budget: int) -> None:
    """Give what cuts left over to sections that want more: first their floors to those that are not shown at all, so
    that none of these takes everything."""

    def needs_less(number: int) -> tuple[bool, bool]:
        return sections[number].grows_last, fitted[number].is_head_shown

    numbers = sorted(_by_priority(sections), key=needs_less)
    hidden = [number for number in numbers if not fitted[number].is_head_shown]
    floors = [sections[number].head_cost + sections[number].floor_tokens for number in hidden]
    for number, most in [*zip(hidden, floors, strict=True), *((number, float("inf")) for number in numbers)]:
        left = budget - sum(each.cost for each in fitted)
        if left < _MIN_GROWTH_TOKENS:
            return
        if fitted[number].cut or not fitted[number].is_head_shown or sections[number].is_map:
            larger = fitted[number].section.fill(min(most, fitted[number].cost + left))
            if larger.cost > fitted[number].cost:
                fitted[number] = larger


def _drop_repeated(sections: Sequence[Section], fitted: list[FittedSection], grants: Sequence[float]) -> None:
    """Leave out recalled items that another section already shows, and the names of shown things."""
    for number, section in enumerate(sections):
        if not section.has_recalled_items:
            continue
        lines = _collect_shown_lines(
            each for each in fitted if not (each.section.has_recalled_items or each.section.is_map)
        )
        repeated = [item for item in fitted[number].section.items if _is_shown(item, lines)]
        if repeated:
            cut = tuple(item.leave_out("is in another section already") for item in repeated)
            before = fitted[number].section
            rest = [item for item in before.items if item not in repeated]
            fitted[number] = replace(before, items=rest, left_out=(*before.left_out, *cut)).fit(grants[number])
    _drop_names_of_shown(fitted, grants)


def _drop_names_of_shown(fitted: list[FittedSection], grants: Sequence[float]) -> None:
    lines = _collect_shown_lines((each for each in fitted if not each.section.is_map), has_parts=True)
    for number, each in enumerate(fitted):
        rest = each.section.leave_out_shown(lines)
        if rest != each.section:
            fitted[number] = rest.fit(grants[number])


def _collect_shown_lines(fitted: Iterable[FittedSection], *, has_parts: bool = False) -> dict[str, set[int]]:
    """Return the lines in the context; with `has_parts`, also lines that are only partly in it."""
    lines: dict[str, set[int]] = {}
    for source in (source for each in fitted for source in each.sources):
        if source.first and (has_parts or not source.is_partial) and source.is_current:
            lines.setdefault(source.path, set()).update(range(source.first, source.last + 1))
    return lines


def _is_shown(item: Item, lines: dict[str, set[int]]) -> bool:
    spans = [*item.spans()]
    return bool(spans) and all({*range(first, last + 1)} <= lines.get(path, set()) for path, first, last in spans)


def whole_page(path: str) -> Span:
    return path, 1, _LAST_LINE


def check_approval(home: Home, spans: Iterable[Span]) -> IsApproved:
    """Return a function that says whether a person wrote or approved one of these spans."""
    distinct = [*dict.fromkeys(spans)]
    # Pages that are not searched may have changed without history knowing.
    home.storage.pages.record_outside_edits(dict.fromkeys(path for path, _, _ in distinct))
    origins = dict(zip(distinct, home.authors.find(distinct), strict=True))

    def is_approved(span: Span) -> bool:
        return origins[span].is_approved

    return is_approved


def choose_approved(home: Home, things: Iterable[tuple[T, Span]], most: int) -> list[T]:
    """Return the first so many things whose lines a person wrote or approved, among the first thousand."""
    approved: list[T] = []
    candidates = islice(things, _MAX_CHECKED)
    while len(approved) < most and (batch := [*islice(candidates, _BATCH)]):
        is_approved = check_approval(home, (span for _, span in batch))
        approved += [thing for thing, span in batch if is_approved(span)]
    return approved[:most]


def keep_approved(home: Home, sections: Sequence[Section]) -> list[Section]:
    """Return the sections with only what a person wrote or approved."""
    is_approved = check_approval(
        home, (span for section in sections for item in section.items for span in item.spans())
    )
    approved: list[Section] = []
    for section in sections:
        items: list[Item] = []
        left_out = [*section.left_out]
        for item in section.items:
            rest = item.keep_approved(is_approved)
            if rest != item:
                left_out.append(item.leave_out(NOT_APPROVED))
            if rest:
                items.append(rest)
        approved.append(replace(section, items=items, left_out=tuple(left_out)))
    return approved
