"""A context of nothing but what a person wrote or approved: which lines, pages and items that leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from ..home import Home
from .budget import Section
from .items import NOT_APPROVED, IsApproved, Item, Span

_MAX_CHECKED = 1000  # of each kind: pages whose authors are asked for
_BATCH = 50
_LAST_LINE = 1_000_000_000
T = TypeVar("T")


def whole_page(path: str) -> Span:
    return path, 1, _LAST_LINE


def check_approval(home: Home, spans: Iterable[Span]) -> IsApproved:
    """Return a function that says whether a person wrote or approved one of these spans."""
    distinct = [*dict.fromkeys(spans)]
    # Pages that are not searched may have changed unnoticed.
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
    """Return sections without what no person wrote or approved."""
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
