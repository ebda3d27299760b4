"""How memory is doing: what doctor finds, the index, sizes and growth, what is recalled and what never."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ...errors import Refused
from ...home import Home
from ...index.recalls import recalls
from ...maintenance import timeline
from ...maintenance.doctor import CHECKS, examine
from ...schema import ANY, BOOLEAN, INTEGER, TEXT, array, object_of
from .browse import held_to_own
from .endpoints import INTEGER_OR_NULL, Asked, Endpoint, Given
from .page_access import page_title

_MOST_DAYS = 366


class Day(NamedTuple):
    """What there was at the end of a day. `changes`: how many were made on it."""

    day: str
    pages: int
    bytes: int
    changes: int


class Sizes(NamedTuple):
    """Of what this agent may see; history and index are everybody's, and None where nobody can tell."""

    pages: int
    bytes: int
    history_bytes: int | None
    index_bytes: int | None


def growth(home: Home) -> list[Day]:
    """The days on which something changed that this agent may see, oldest first; the last year of them."""
    timeline.look(home)
    days: dict[str, Day] = {}
    sizes: dict[str, int] = {}
    pages = held = 0
    for change, size in home.storage.history.page_sizes():
        if not timeline.may_see(home, change.path):
            continue
        before, sizes[change.path] = sizes.get(change.path, -1), size
        pages += (size >= 0) - (before >= 0)
        held += max(size, 0) - max(before, 0)
        day = change.at[:10]
        days[day] = Day(day, pages, held, days[day].changes + 1 if day in days else 1)
    return [days[day] for day in sorted(days)][-_MOST_DAYS:]


def sizes(home: Home, grown: list[Day]) -> Sizes:
    """What memory takes now."""
    last = grown[-1] if grown else Day("", 0, 0, 0)
    return Sizes(last.pages, last.bytes, home.storage.history.size(), _index_bytes(home))


def _index_bytes(home: Home) -> int | None:
    if not home.storage.cache_folder:
        return None
    try:
        with os.scandir(home.storage.cache_folder) as found:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in found)
    except OSError:
        return 0


_MOST = 50


def recalled(home: Home) -> dict[str, Any]:
    """The pages that answered most often, and those that never did since anybody counted. A memory in a database is
    not counted: `since` is empty then, and both lists are."""
    found = recalls(home.storage.cache_folder, home.agent)
    if not found.since:
        return {"most": [], "never": [], "since": ""}
    seen = dict(home.visible_pages())
    often = sorted((path for path in found.pages if path in seen), key=lambda path: (-found.pages[path].times, path))
    most = [{**_named(home, path), **found.pages[path]._asdict()} for path in often[:_MOST]]
    never = [path for path, at in seen.items() if path not in found.pages and at]
    return {"most": most, "never": [_named(home, path) for path in never[::-1][:_MOST]], "since": found.since}


def _named(home: Home, path: str) -> dict[str, Any]:
    place = home.index.scope.place(path)
    return {"path": path, "title": page_title(home, path, place) if place else path}


_FINDING = object_of(
    {"check": TEXT, "about": TEXT, "path": TEXT, "line": INTEGER, "what": TEXT, "advice": TEXT, "fixable": BOOLEAN}
)
_COUNTED = object_of({"path": TEXT, "title": TEXT}, times=INTEGER, last=TEXT)
_HEALTH = object_of(
    {
        "findings": array(_FINDING),
        "index": ANY,
        "sizes": object_of(
            {"pages": INTEGER, "bytes": INTEGER, "history_bytes": INTEGER_OR_NULL, "index_bytes": INTEGER_OR_NULL}
        ),
        "growth": array(object_of({"day": TEXT, "pages": INTEGER, "bytes": INTEGER, "changes": INTEGER})),
        "recalled": object_of({"most": array(_COUNTED), "never": array(_COUNTED), "since": TEXT}),
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
