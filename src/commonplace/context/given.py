"""What a context gave of the curated page, noted as the base of a later `reflect`."""

from __future__ import annotations

from typing import Any

from ..errors import CommonplaceError
from ..formats.citations import parse_citation
from ..home import Home
from ..storage.readings import read_lines


def note_context(home: Home, receipt: dict[str, Any], session: str = "") -> None:
    """Note the lines of the agent's curated page that a context shows, by its receipt."""
    path = home.layout.curated_page(home.agent)
    sources = [part["source"] for section in receipt["sections"] for part in section["sources"]]
    spans = [span for source in sources if (span := parse_citation(source)) and span.path == path]
    if not spans:
        return
    try:
        page = home.storage.pages.read(path)
    except CommonplaceError:
        return
    for _, first, last in spans:
        home.note_given(path, read_lines(page.text, page.version, first, last), session)
