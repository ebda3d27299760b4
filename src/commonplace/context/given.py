"""What a context gave of the curated page, noted as the base of a later `reflect`."""

from __future__ import annotations

from typing import Any

from ..errors import CommonplaceError
from ..home import Home
from ..model import Citation, parse_citation
from ..storage.readings import read_lines

_IN_PART = " (in part)"


def note_context(home: Home, receipt: dict[str, Any], session: str = "") -> None:
    """Note the lines of the agent's curated page that a context shows, by its receipt."""
    path = home.layout.curated_page(home.agent)
    spans = [span for section in receipt["sections"] for span in _find_spans(section, path)]
    if not spans:
        return
    try:
        page = home.storage.pages.read(path)
    except CommonplaceError:
        return
    for span in spans:
        home.note_given(path, read_lines(page.text, page.version, span.first, span.last), session)


def _find_spans(section: dict[str, Any], path: str) -> list[Citation]:
    """Return the lines of a page that a section shows whole: of one that was cut inside a line, that line is not."""
    spans: list[Citation] = []
    for part in section["sources"]:
        source = part["source"].removesuffix(_IN_PART)
        citation = parse_citation(source)
        if citation and citation.path == path:
            spans.append(citation._replace(last=citation.last - (source != part["source"])))
    return spans
