"""Removes the words of a query that only ask: `tell me about Priya` is a query for `Priya`."""

from __future__ import annotations

import re

from ..patterns import lazy_pattern
from .date_phrases import LISTS

_REQUESTS = LISTS.join_phrases("questions", "REQUESTS")
_REQUESTS_AFTER = LISTS.join_phrases("questions", "REQUESTS_AFTER")
_BEFORE = lazy_pattern(rf"[\W_]*(?:{_REQUESTS})[\s:,]*", re.IGNORECASE)
_AFTER = lazy_pattern(rf"\s*(?:{_REQUESTS_AFTER})[\W_]*\Z", re.IGNORECASE)
_WORD = lazy_pattern(r"[^\W_]")
_MAX_END_CHARACTERS = 60  # in which a request after its subject is looked for


def strip_request(text: str) -> str:
    """Return a query without a request at its beginning or end; the whole query if nothing else is left."""
    before = _BEFORE.match(text)
    rest = text[before.end() :] if before else text
    end = max(0, len(rest) - _MAX_END_CHARACTERS)
    after = _AFTER.search(rest, end)
    rest = rest[: after.start()] if after else rest
    return rest if _WORD.search(rest) else text
