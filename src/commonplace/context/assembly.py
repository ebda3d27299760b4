"""Assembles the prompt context: makes the sections, adds remarks, fits all into the budget and writes the receipt."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..errors import CommonplaceError
from ..framing import estimate_tokens, show_hidden
from ..home import Home
from ..schema import BOOLEAN, TEXT, Schema, check
from ..storage.authors import Provenance
from ..storage.readings import read_lines
from ..visibility import drop_blank
from . import TOKENS_ARE, Context
from .budget import ContextRequest, FittedSection, fit_sections, keep_approved
from .items import Source, Span
from .remarks import RemarkedSections
from .sections import make_sections

_LEAST_LIMIT_TOKENS = 100  # sections read at least this much, so that the receipt shows what was cut
_NOTHING_APPROVED = (
    "this memory was found and is not yours, so nothing in it counts as written or approved by a person: "
    "if you stand behind all of it, name it with --home"
)
_ARGUMENTS: dict[str, Schema] = {
    "user": TEXT,
    "channel": TEXT,
    "budget": {"type": "integer", "minimum": 0},
    "query": TEXT,
    "only_approved": BOOLEAN,
    "reads_only": BOOLEAN,
    "session": TEXT,
}


def assemble(
    home: Home,
    *,
    user: str | None = None,
    channel: str | None = None,
    budget: int | None = None,
    query: str | None = None,
    only_approved: bool = False,
    reads_only: bool = False,
    session: str = "",
) -> Context:
    """Return the prompt context for a user and a channel. Same memory and clock, same bytes.

    With `only_approved`, it has only what a person wrote or approved. With `reads_only`, it is for a caller who
    may not write, and the default directive names no tool that does. What was said in the conversation `session` itself
    is left out.
    """
    arguments = (user, channel, budget, query, only_approved, reads_only, session)
    for (name, schema), value in zip(_ARGUMENTS.items(), arguments, strict=True):
        if value is not None:
            check(schema, value, name)
    user = drop_blank(user)
    channel = drop_blank(channel)
    home.storage.check()
    limit = None if budget is None else max(budget, _LEAST_LIMIT_TOKENS)
    request = ContextRequest(user, channel, query, only_approved, limit, reads_only, session or home.session)
    sections = [*make_sections(home, request)]
    if only_approved:
        sections = keep_approved(home, sections)
    viewer = home.visibility.reader(channel, user)
    fitted = _fit_remarked(RemarkedSections(home, viewer, sections, only_approved=only_approved), budget)
    sources = [source for each in fitted if not each.section.is_map for source in each.sources]
    home.record_recall(source.path for source in sources if source.first)
    whole = "\n\n".join(each.text for each in fitted if each.text)
    text = f"{whole}\n" if whole else ""
    receipt = _make_receipt(home, fitted, text, budget)
    if only_approved and not home.trust.is_own:
        receipt["warnings"].append(_NOTHING_APPROVED)
    return Context(text, receipt, tuple(source for each in fitted for source in each.sources))


def _fit_remarked(sections: RemarkedSections, budget: int | None) -> list[FittedSection]:
    """Return the sections within a budget, with remarks on everything they show. Remarks take room, too, so what comes
    in or goes out because of them is fitted again."""
    fitted = fit_sections(sections.write(), budget)
    while sections.look_at({source.path for each in fitted for source in each.sources}):
        fitted = fit_sections(sections.write(), budget)
    return fitted


def _make_receipt(home: Home, fitted: list[FittedSection], text: str, budget: int | None) -> dict[str, Any]:
    known = [source for each in fitted for source in each.sources if source.first and source.is_current]
    spans = [(source.path, source.first, source.last) for source in known]
    origins = dict(zip(spans, home.authors.find(spans), strict=True))
    return {
        "budget": budget,
        "tokens": estimate_tokens(text),
        "tokens_are": TOKENS_ARE,
        "sections": [_section_receipt(each, origins) for each in fitted],
        "warnings": [*dict.fromkeys(warning for each in fitted for warning in each.section.warnings)],
    }


def _section_receipt(each: FittedSection, origins: dict[Span, Provenance]) -> dict[str, Any]:
    names = [name for part in each.parts for name in part.names]
    return {
        "title": each.section.title or each.section.receipt_title,
        "priority": each.section.priority,
        "tokens": estimate_tokens(each.text),
        "sources": [_source_receipt(source, origins) for source in each.sources],
        "cut": [cut._asdict() for cut in each.cut],
        **({"names": names} if names else {}),
    }


def _source_receipt(source: Source, origins: dict[Span, Provenance]) -> dict[str, Any]:
    origin = origins.get((source.path, source.first, source.last)) if source.is_current else None
    known = {"author": show_hidden(origin.author), "at": origin.at} if origin else {}
    row: dict[str, Any] = {"source": str(source), "tokens": source.tokens}
    return row | {name: value for name, value in known.items() if value}


def note_context(home: Home, context: Context, session: str = "") -> None:
    """Note which lines of the agent's curated page a context shows in full, and which topics it shows completely.

    A reader who saw only a part of a topic has not read it, so a rewrite replaces it.
    """
    by_path: dict[str, list[Source]] = {}
    for source in context.shown:
        if source.first and source.is_current and home.layout.is_rewritten(source.path, home.agent):
            by_path.setdefault(source.path, []).append(source)
    for path, sources in by_path.items():
        with suppress(CommonplaceError):
            page = home.storage.pages.read(path)
            # A line that was cut is not shown whole.
            spans = [(source.first, source.last - source.is_partial) for source in sources]
            if path == home.layout.curated_page(home.agent) or _cover(spans, page.text):
                for first, last in spans:
                    home.readings.note(path, read_lines(page.text, page.version, first, last), session)


def _cover(spans: list[tuple[int, int]], text: str) -> bool:
    """Return whether every line of a text that is not blank is in one of the spans."""
    shown = {number for first, last in spans for number in range(first, last + 1)}
    return all(number in shown for number, line in enumerate(text.split("\n"), start=1) if line.strip())
