"""Explain a hit: what each factor added to its score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .scoring import WEIGHTS, ScoredHit

if TYPE_CHECKING:
    from .pipeline import SearchResult


def explain_result(result: SearchResult) -> list[dict[str, Any]]:
    return [
        {"citation": hit.citation, "score": hit.score, "text": hit.text, "why": explain_hit(row)}
        for hit, row in zip(result.hits, result.ranked, strict=True)
    ]


def explain_hit(row: ScoredHit) -> dict[str, float]:
    """What each factor adds, weighed; `all` is their sum above the background."""
    found = row.factors._asdict() | {"support": row.support, "close": row.close, "read": row.read}
    parts = {name: round(getattr(WEIGHTS, name) * value, 3) for name, value in found.items() if value}
    deductions = {"repeated": -WEIGHTS.repeated * row.repeats, "background": -row.background}
    parts |= {name: round(value, 3) for name, value in deductions.items() if value}
    return parts | {"all": round(row.odds, 3)}
