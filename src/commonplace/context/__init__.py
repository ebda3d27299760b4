"""WHAT SHOULD THE MODEL READ FIRST? Sections in a fixed order, one budget, and a receipt for every line of it.

Over budget, the lowest priority is cut first: from its last item upwards, a long item between two of its lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import InvalidArgument
from ..formats.json_text import is_unicode
from ..home import Home
from .sections import ORDER, Item, Request, Section
from .tokens import estimate, weigh

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
        return "\n\n".join([*self._head(), *(text for _, text in self.parts)]) if self.parts else ""

    def _head(self) -> list[str]:
        title = f"## {self.section.title}" if self.section.title else ""
        return [part for part in (title, self.section.intro) if part]

    def cost_of(self, text: str) -> float:
        """What one more part adds, the head included when it is the first."""
        parts = [text] if self.parts else [*self._head(), text]
        return sum(weigh(part + "\n\n") for part in parts)


def assemble(
    home: Home, *, user: str | None = None, channel: str | None = None, budget: int | None = None,
    query: str | None = None,
) -> Context:  # fmt: skip
    """The prompt context for an agent, a user and a channel. Same memory, same clock, same bytes."""
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 0):
        raise InvalidArgument(f"budget must be a whole number of tokens, 0 or more, not {budget!r}")
    for name, value in (("user", user), ("channel", channel), ("query", query)):
        if value is not None and not (isinstance(value, str) and is_unicode(value)):
            raise InvalidArgument(f"{name} must be text, not {value!a}")
    home.storage.check()
    request = Request(user, channel, query)
    sections = [section for make in ORDER if (section := make(home, request))]
    kept = _fit(sections, budget)
    _say_once(kept)
    home.record_recall(_page_of(item) for each in kept for item, _ in each.parts)
    text = _join(each.text for each in kept)
    return Context(text, _receipt(kept, text, budget))


def _join(texts: Iterable[str]) -> str:
    whole = "\n\n".join(text for text in texts if text)
    return f"{whole}\n" if whole else ""


def _fit(sections: list[Section], budget: int | None) -> list[_Kept]:
    """Fill the budget from the highest priority down; once something does not fit, nothing of lower priority does."""
    kept = [_Kept(section) for section in sections]
    left = float("inf") if budget is None else float(budget)
    for each in sorted(kept, key=lambda k: -k.section.priority):
        each.cut += [{"source": source, "tokens": 0, "reason": why} for source, why in each.section.left_out]
        for item in each.section.items:
            shown = item.shown()
            cost = each.cost_of(shown)
            if cost <= left:
                each.parts.append((item, shown))
                left -= cost
            else:
                _shorten(each, item, left)
                left = 0
    return kept


def _say_once(kept: list[_Kept]) -> None:
    """What was recalled from a page that is shown anyway need not stand there twice."""
    for each in kept:
        if each.section.title != "Recalled Memory":
            continue
        shown = [(_page_of(item), text) for other in kept if other is not each for item, text in other.parts]
        for part in [*each.parts]:
            if any(page == _page_of(part[0]) and part[0].text in text for page, text in shown):
                each.parts.remove(part)
                each.cut.append(_cut(part[0], "stands in another section already"))


def _page_of(item: Item) -> str:
    return item.source.partition("#")[0]


def _shorten(each: _Kept, item: Item, left: float) -> None:
    """Keep as many lines of a long item as fit; of any other, nothing."""
    total = item.text.count("\n") + 1 if item.long and left else 1
    fits, fails = 0, total
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if each.cost_of(item.first_lines(middle)) <= left else (fits, middle)
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
        "warnings": [*dict.fromkeys(warning for each in kept for warning in each.section.warnings)],
    }


def _section_receipt(each: _Kept) -> dict[str, Any]:
    return {
        "title": each.section.title or "Current channel",
        "priority": each.section.priority,
        "tokens": estimate(each.text),
        "sources": [{"source": item.source, "tokens": estimate(text)} for item, text in each.parts],
        "cut": each.cut,
    }
