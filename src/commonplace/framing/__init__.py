"""The only way stored text reaches a model: frames, escapes, visible hidden characters, size limits.

Memory is data: it must not close its own frame, pose as part of the prompt around it, or contain anything that people
cannot see. No stored text changes the structure of what a model reads.
"""

from __future__ import annotations

from .frames import (
    TITLES,
    Title,
    close_fence,
    escape_hidden,
    escape_remarks,
    fence,
    introduce,
    list_item,
    quote_citation,
    quote_line,
    quote_name,
    quote_title,
    quote_value,
    show_hidden,
    show_instructions,
    to_json,
    unescape_hidden,
)
from .limits import cut_rules, cut_start, estimate_tokens, weigh_tokens

__all__ = [
    "TITLES",
    "Title",
    "close_fence",
    "cut_rules",
    "cut_start",
    "escape_hidden",
    "escape_remarks",
    "estimate_tokens",
    "fence",
    "introduce",
    "list_item",
    "quote_citation",
    "quote_line",
    "quote_name",
    "quote_title",
    "quote_value",
    "show_hidden",
    "show_instructions",
    "to_json",
    "unescape_hidden",
    "weigh_tokens",
]
