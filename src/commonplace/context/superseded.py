"""What a prompt is given of facts that were replaced: nothing but their newer version, or both side by side."""

from __future__ import annotations

from collections.abc import Sequence

from ..formats.passages import embedding_text
from ..model import Hit

_MOST_OF_PASSAGE = 0.6  # a fact of this share of a passage is all that the passage says
_MAX_CHARACTERS = 160  # of a fact that is named beside the one that replaced it


def leave_out_superseded(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without those that only say what another one replaced."""
    return [hit for hit in hits if not (says_nothing_else(hit) and any(_holds_newer(other, hit) for other in hits))]


def says_nothing_else(hit: Hit) -> bool:
    """Return whether a hit says little more than what was replaced."""
    if not hit.superseded_by or hit.superseded_by.is_partial:
        return False
    text = " ".join(embedding_text("", hit.text).split())
    return len(hit.superseded_by.was) >= _MOST_OF_PASSAGE * len(text)


def _holds_newer(hit: Hit, older: Hit) -> bool:
    newer = older.superseded_by
    return newer is not None and newer.path == hit.path and hit.start <= newer.start <= hit.end


def describe_version(hit: Hit) -> str:
    """Return what replaced a part of a hit, in words: `no longer: …; now: …`. Empty where all of it holds."""
    newer = hit.superseded_by
    if not newer:
        return ""
    return f'no longer: "{_shorten(newer.was)}"; now: "{_shorten(newer.text)}" ({newer.citation})'


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS].rstrip()} …"
