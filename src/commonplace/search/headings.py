"""The headings above a hit that does not begin with one, such as a list item: they say what the item is about."""

from __future__ import annotations

from collections.abc import Sequence

from ..formats.passages import titles_above
from ..model import Hit
from ..storage.base import Storage
from ..storage.records import read_texts

_MAX_PAGE_CHARACTERS = 200_000  # of a page in which headings are looked for
_MAX_HEADING_CHARACTERS = 120


def find_headings(storage: Storage, hits: Sequence[Hit]) -> list[str]:
    """Return the headings above each hit, as `People > Former`; empty if the hit has a heading or a key."""
    wanted = [hit for hit in hits if _lacks_heading(hit)]
    texts = read_texts(storage.pages, (hit.path for hit in wanted))
    return [_describe(texts.get(hit.path, ""), hit) if hit in wanted else "" for hit in hits]


def _lacks_heading(hit: Hit) -> bool:
    return hit.source == "memory" and not hit.key and not hit.as_of and not hit.text.lstrip().startswith("#")


def _describe(text: str, hit: Hit) -> str:
    if len(text) > _MAX_PAGE_CHARACTERS:
        return ""
    return " > ".join(titles_above(text, hit.start))[:_MAX_HEADING_CHARACTERS]
