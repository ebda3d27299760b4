"""Citations: lines of a page as search prints them, `memory/page.md#L3-L5`."""

from __future__ import annotations

import re
from typing import NamedTuple

_CITATION = re.compile(r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?")


class Citation(NamedTuple):
    """Lines of a page, both ends included. Nothing says that the page has them."""

    path: str
    first: int
    last: int


def parse_citation(text: str) -> Citation | None:
    """Return what a citation names; None for any other text, such as the path of a page."""
    match = _CITATION.fullmatch(text)
    if not match:
        return None
    first = int(match["first"])
    return Citation(match["path"], first, int(match["last"] or first))
