"""The prompt context, what a model should read first: sections in a fixed order, a token budget, and a receipt.

Over budget, the section of lowest priority is cut first, from its last item upwards; a long item is cut between two
lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..formats.citations import Citation, parse_citation
from ..framing import estimate_tokens, show_hidden, weigh_tokens
from ..home import Home
from ..schema import BOOLEAN, TEXT, Schema, check
from ..storage.authors import Provenance
from .sections import NOT_APPROVED, ORDER, ContextItem, ContextRequest, Section

_OVER_BUDGET = "over the budget"


class Context(NamedTuple):
    """The prompt text, and a receipt of what went in and what was cut."""

    text: str
    receipt: dict[str, Any]

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class _FittedSection:
    """What the budget leaves of a section, and what was cut from it."""

    section: Section
    parts: list[tuple[ContextItem, str]] = field(default_factory=list)
    cut: list[dict[str, Any]] = field(default_factory=list)
    is_heading_paid: bool = False

    @property
    def text(self) -> str:
        if not self.parts and not self.is_heading_paid:
            return ""
        return "\n\n".join([*self._heading(), *(text for _, text in self.parts)])

    def _heading(self) -> list[str]:
        title = f"## {self.section.title}" if self.section.title else ""
        return [part for part in (title, self.section.intro) if part]

    def cost_of(self, text: str) -> float:
        """Return the tokens that one more part adds, with the heading if it is the first."""
        parts = [text] if self.parts or self.is_heading_paid else [*self._heading(), text]
        return sum(weigh_tokens(part + "\n\n") for part in parts)

    def pay_heading(self, left: float) -> float:
        """Take the cost of a heading that is shown by itself out of the budget, and return what is left."""
        cost = sum(weigh_tokens(part + "\n\n") for part in self._heading())
        self.is_heading_paid = self.section.has_own_words and cost <= left
        return left - cost if self.is_heading_paid else left


ARGUMENTS: dict[str, Schema] = {
    "user": TEXT,
    "channel": TEXT,
    "budget": {"type": "integer", "minimum": 0},
    "query": TEXT,
    "only_approved": BOOLEAN,
}


def assemble(
    home: Home,
    *,
    user: str | None = None,
    channel: str | None = None,
    budget: int | None = None,
    query: str | None = None,
    only_approved: bool = False,
) -> Context:
    """Return the prompt context for a user and a channel. Same memory and clock, same bytes.

    With `only_approved` it has nothing but what a person wrote or approved.
    """
    given = {"user": user, "channel": channel, "budget": budget, "query": query, "only_approved": only_approved}
    for name, value in given.items():
        if value is not None:
            check(ARGUMENTS[name], value, name)
    home.storage.check()
    request = ContextRequest(user, channel, query, only_approved)
    sections = [section for make in ORDER if (section := make(home, request))]
    sections = _add_authors(home, sections, only_approved=only_approved)
    fitted = _fit(sections, budget)
    _drop_repeated_hits(fitted)
    home.record_recall(_page_path(item) for section in fitted for item, _ in section.parts)
    text = _join(section.text for section in fitted)
    return Context(text, _make_receipt(fitted, text, budget))


def _add_authors(home: Home, sections: list[Section], *, only_approved: bool) -> list[Section]:
    """Return sections whose items name their authors; with `only_approved`, without those that nobody approved."""
    items = [item for section in sections for item in section.items if item.is_current]
    spans = [citation for item in items if (citation := parse_citation(item.source))]
    if only_approved:  # pages that are not searched may have changed unnoticed
        home.storage.pages.record_outside_edits(dict.fromkeys(citation.path for citation in spans))
    origins = dict(zip(spans, home.authors.find(spans), strict=True))
    return [_add_authors_to(section, origins, only_approved=only_approved) for section in sections]


def _add_authors_to(section: Section, origins: dict[Citation, Provenance], *, only_approved: bool) -> Section:
    items: list[ContextItem] = []
    left_out = [*section.left_out]
    for item in section.items:
        citation = parse_citation(item.source) if item.is_current else None
        origin = origins[citation] if citation else Provenance()
        if only_approved and not (origin.is_approved or item.is_own):
            left_out.append((item.source, NOT_APPROVED))
        else:
            items.append(item._replace(author=show_hidden(origin.author), at=origin.at))
    return section._replace(items=tuple(items), left_out=tuple(left_out))


def _join(texts: Iterable[str]) -> str:
    whole = "\n\n".join(text for text in texts if text)
    return f"{whole}\n" if whole else ""


def _fit(sections: list[Section], budget: int | None) -> list[_FittedSection]:
    """Fill the budget from the highest priority down. After something that does not fit, nothing lower goes in."""
    fitted = [_FittedSection(section) for section in sections]
    left = float("inf") if budget is None else float(budget)
    for each in sorted(fitted, key=_priority, reverse=True):
        left = each.pay_heading(left)
        each.cut += [{"source": source, "tokens": 0, "reason": why} for source, why in each.section.left_out]
        for item in each.section.items:
            shown = item.render()
            cost = each.cost_of(shown)
            if cost <= left:
                each.parts.append((item, shown))
                left -= cost
            else:
                _shorten(each, item, left)
                left = 0
    return fitted


def _priority(fitted: _FittedSection) -> int:
    return fitted.section.priority


def _drop_repeated_hits(fitted: list[_FittedSection]) -> None:
    """Cut hits from the recalled section that another section shows anyway."""
    for each in fitted:
        if each.section.title != "Recalled Memory":
            continue
        shown = [(_page_path(item), text) for other in fitted if other is not each for item, text in other.parts]
        for part in [*each.parts]:
            if any(page == _page_path(part[0]) and part[0].text in text for page, text in shown):
                each.parts.remove(part)
                each.cut.append(_cut_entry(part[0], "is in another section already"))


def _page_path(item: ContextItem) -> str:
    return item.source.partition("#")[0]


def _shorten(each: _FittedSection, item: ContextItem, left: float) -> None:
    """Keep as many lines of a long item as fit, found by bisection; of any other item, nothing."""
    total = item.text.count("\n") + 1 if item.long and left else 1
    fits = 0
    fails = total
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if each.cost_of(item.render_start(middle)) <= left:
            fits = middle
        else:
            fails = middle
    if not fits:
        each.cut.append(_cut_entry(item, _OVER_BUDGET))
        return
    each.parts.append((item._replace(source=f"{item.source} (first {fits} lines)"), item.render_start(fits)))
    rest = estimate_tokens("\n".join(item.text.split("\n")[fits:]))
    each.cut.append({"source": item.source, "tokens": rest, "reason": f"{_OVER_BUDGET}: {total - fits} lines cut"})


def _cut_entry(item: ContextItem, reason: str) -> dict[str, Any]:
    return {"source": item.source, "tokens": estimate_tokens(item.text), "reason": reason}


def _make_receipt(fitted: list[_FittedSection], text: str, budget: int | None) -> dict[str, Any]:
    return {
        "budget": budget,
        "tokens": estimate_tokens(text),
        "tokens_are": "an estimate by script, not a model's own count",
        "sections": [_section_receipt(each) for each in fitted],
        "warnings": [*dict.fromkeys(warning for each in fitted for warning in each.section.warnings)],
    }


def _source_receipt(item: ContextItem, text: str) -> dict[str, Any]:
    known = {"author": item.author, "at": item.at}
    row: dict[str, Any] = {"source": item.source, "tokens": estimate_tokens(text)}
    return row | {name: value for name, value in known.items() if value}


def _section_receipt(each: _FittedSection) -> dict[str, Any]:
    return {
        "title": each.section.title or "Current channel",
        "priority": each.section.priority,
        "tokens": estimate_tokens(each.text),
        "sources": [_source_receipt(item, text) for item, text in each.parts],
        "cut": each.cut,
    }
