"""What a context gave of the curated page, noted as the base of a later `reflect`."""

from __future__ import annotations

import re
from typing import Any

from ..errors import CommonplaceError
from ..formats.citations import parse_citation
from ..home import Home
from ..storage.readings import read_lines

_CUT = re.compile(r"(.*) \(first (\d+) lines\)", re.DOTALL)


def note_context(home: Home, receipt: dict[str, Any], session: str = "") -> None:
    """Note the lines of the agent's curated page that a context shows, by its receipt."""
    path = home.layout.curated_page(home.agent)
    spans = [
        span
        for section in receipt["sections"]
        for part in section["sources"]
        if (span := _parse_source(part["source"])) and span[0] == path
    ]
    if not spans:
        return
    try:
        page = home.storage.pages.read(path)
    except CommonplaceError:
        return
    for _, first, last in spans:
        home.note_given(path, read_lines(page.text, page.version, first, last), session)


def _parse_source(source: str) -> tuple[str, int, int] | None:
    """Return the path and the lines of a source; of one that is cut, the lines that are shown."""
    cut = _CUT.fullmatch(source)
    citation = parse_citation(cut[1] if cut else source)
    if citation is None:
        return None
    last = citation.first + int(cut[2]) - 1 if cut else citation.last
    return citation.path, citation.first, last
