"""WHAT SHOULD THE MODEL READ FIRST? Sections in a fixed order, one budget, and a receipt for every line of it.

Over budget, the lowest priority is cut first: from its last item upwards, a long item between two of its lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import InvalidArgument
from ..home import Home
from .sections import ORDER, Item, Request, Section
from .tokens import estimate

_TOO_MUCH = "over the budget"


class Context(NamedTuple):
    """The prompt text, and what it is made of."""

    text: str
    receipt: dict[str, Any]

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class _Kept:
    """What is left of a section."""

    section: Section
    parts: list[tuple[Item, str]] = field(default_factory=list)
    cut: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        if not self.parts:
            return ""
        head = [f"## {self.section.title}"] if self.section.title else []
        intro = [self.section.intro] if self.section.intro else []
        return "\n\n".join([*head, *intro, *(text for _, text in self.parts)])


def assemble(
    home: Home, *, user: str | None = None, channel: str | None = None, budget: int | None = None,
    query: str | None = None,
) -> Context:  # fmt: skip
    """The prompt context for an agent, a user and a channel. Same memory, same clock, same bytes."""
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 0):
        raise InvalidArgument(f"budget must be a whole number of tokens, 0 or more, not {budget!r}")
    request = Request(user, channel, query)
    sections = [section for make in ORDER if (section := make(home, request))]
    home.follow()
    kept = _fit(sections, budget)
    text = _join(each.text for each in kept)
    return Context(text, _receipt(kept, text, budget))


def _join(texts: Iterable[str]) -> str:
    whole = "\n\n".join(text for text in texts if text)
    return f"{whole}\n" if whole else ""


def _fit(sections: list[Section], budget: int | None) -> list[_Kept]:
    """Fill the budget from the highest priority down; once something does not fit, nothing of lower priority does."""
    kept = [_Kept(section) for section in sections]
    full = False
    for each in sorted(kept, key=lambda k: -k.section.priority):
        each.cut += [{"source": source, "tokens": 0, "reason": why} for source, why in each.section.left_out]
        for item in each.section.items:
            if full:
                each.cut.append(_cut(item, _TOO_MUCH))
                continue
            each.parts.append((item, item.shown()))
            if budget is not None and _size(kept) > budget:
                each.parts.pop()
                _shorten(each, item, kept, budget)
                full = True
    return kept


def _size(kept: list[_Kept]) -> int:
    return estimate(_join(each.text for each in kept))


def _shorten(each: _Kept, item: Item, kept: list[_Kept], budget: int) -> None:
    """Keep as many lines of a long item as fit; of any other, nothing."""
    total = item.text.count("\n") + 1 if item.long else 1
    fits, fails = 0, total
    while fails - fits > 1:
        middle = (fits + fails) // 2
        each.parts.append((item, item.first_lines(middle)))
        fits, fails = (middle, fails) if _size(kept) <= budget else (fits, middle)
        each.parts.pop()
    if not fits:
        each.cut.append(_cut(item, _TOO_MUCH))
        return
    each.parts.append((item._replace(source=f"{item.source} (first {fits} lines)"), item.first_lines(fits)))
    rest = estimate("\n".join(item.text.split("\n")[fits:]))
    each.cut.append({"source": item.source, "tokens": rest, "reason": f"{_TOO_MUCH}: {total - fits} lines cut"})


def _cut(item: Item, reason: str) -> dict[str, Any]:
    return {"source": item.source, "tokens": estimate(item.text), "reason": reason}


def _receipt(kept: list[_Kept], text: str, budget: int | None) -> dict[str, Any]:
    return {
        "budget": budget,
        "tokens": estimate(text),
        "tokens_are": "an estimate by script, not a model's own count",
        "sections": [_section_receipt(each) for each in kept],
        "warnings": [warning for each in kept for warning in each.section.warnings],
    }


def _section_receipt(each: _Kept) -> dict[str, Any]:
    return {
        "title": each.section.title or "Current channel",
        "priority": each.section.priority,
        "tokens": estimate(each.text),
        "sources": [{"source": item.source, "tokens": estimate(text)} for item, text in each.parts],
        "cut": each.cut,
    }
