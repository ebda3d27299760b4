"""Citations as people write them: `memory/page.md#L3`, `memory/page.md#L3-L5`, or `…#L3-L5@2026-03-01` as of a day."""

from __future__ import annotations

import re

from ..model import Citation

_CITATION = re.compile(
    r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?(?:@(?P<day>\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?))?"
)


def parse_citation(text: str) -> Citation | None:
    """Return what a citation names; None for any other text, such as the path of a page."""
    match = _CITATION.fullmatch(text)
    if not match:
        return None
    first = int(match["first"])
    return Citation(match["path"], first, int(match["last"] or first), match["day"] or "")
