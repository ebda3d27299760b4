"""The prompt context, what a model should read first: sections in a fixed order, a token budget, and a receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .items import Source

# What receipts say.
OVER_BUDGET = "over the budget"
TOKENS_ARE = "an estimate by script, not a model's own count"


class Context(NamedTuple):
    """The prompt text, and a receipt of what went in and what was cut. `shown`: the lines of pages that went in."""

    text: str
    receipt: dict[str, Any]
    shown: tuple[Source, ...] = ()

    def __str__(self) -> str:
        return self.text
