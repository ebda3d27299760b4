"""How memory is doing: what doctor finds, the index, sizes and growth, what is recalled and what never."""

from __future__ import annotations

from typing import Any

from ...errors import Refused
from ...maintenance.doctor import CHECKS, examine
from .browse import held_to_own
from .endpoints import ANY, TEXT, WHOLE, WHOLE_OR_NULL, YES, Asked, Endpoint, Given, array, of
from .growth import Day, Sizes, growth, sizes
from .recall_counts import recalled

_FINDING = of({"check": TEXT, "about": TEXT, "path": TEXT, "line": WHOLE, "what": TEXT, "advice": TEXT, "fixable": YES})
_COUNTED = of({"path": TEXT, "title": TEXT}, times=WHOLE, last=TEXT)
_HEALTH = of(
    {
        "findings": array(_FINDING),
        "index": ANY,
        "sizes": of({"pages": WHOLE, "bytes": WHOLE, "history_bytes": WHOLE_OR_NULL, "index_bytes": WHOLE_OR_NULL}),
        "growth": array(of({"day": TEXT, "pages": WHOLE, "bytes": WHOLE, "changes": WHOLE})),
        "recalled": of({"most": array(_COUNTED), "never": array(_COUNTED), "since": TEXT}),
        "notes": array(TEXT),
    }
)


def health(asked: Asked) -> dict[str, Any]:
    home, notes = asked.home, list[str]()
    grown = growth(home)
    return {
        "findings": _findings(asked, notes),
        "index": held_to_own(asked, home.index_status()),
        "sizes": _sizes(asked, grown)._asdict(),
        "growth": [day._asdict() for day in grown],
        "recalled": recalled(home),
        "notes": notes,
    }


def _sizes(asked: Asked, grown: list[Day]) -> Sizes:
    """History and index are everybody's: who may be some agents alone is not told how much others weigh in them."""
    found = sizes(asked.home, grown)
    return found if asked.grant.agents is None else found._replace(history_bytes=None, index_bytes=None)


def _findings(asked: Asked, notes: list[str]) -> list[dict[str, Any]]:
    """What is wrong, as far as this agent may know of it."""
    home = asked.home
    try:
        report = examine(home.address, home.agent, clock=home.clock)
    except Refused as error:
        notes.append(str(error))
        return []
    return [
        {
            "check": each.check,
            "about": CHECKS.get(each.check, each.check),
            "path": each.path,
            "line": each.line,
            "what": each.what,
            "advice": each.advice,
            "fixable": each.fixable,
        }
        for each in report.findings
        if home.may_know(each.path)
    ]


ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/health",
        health,
        "What is wrong, how much there is, and what is recalled.",
        answers={200: Given("How memory is doing.", _HEALTH)},
    ),
]
