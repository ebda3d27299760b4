"""Citations: lines of a page as search prints them, `memory/page.md#L3-L5`, or `…#L3-L5@2026-03-01` as of a day."""

from __future__ import annotations

import re
from typing import NamedTuple

_CITATION = re.compile(
    r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?(?:@(?P<day>\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?))?"
)


class Citation(NamedTuple):
    """Lines of a page, both ends included. Nothing says that the page has them.

    `as_of`: the day at whose end, or the moment when, the page is cited; empty for the page as it is.
    """

    path: str
    first: int
    last: int
    as_of: str = ""


def parse_citation(text: str) -> Citation | None:
    """Return what a citation names; None for any other text, such as the path of a page."""
    match = _CITATION.fullmatch(text)
    if not match:
        return None
    first = int(match["first"])
    return Citation(match["path"], first, int(match["last"] or first), match["day"] or "")
