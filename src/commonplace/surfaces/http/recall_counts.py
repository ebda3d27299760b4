"""What was recalled most, and what never: pages that nobody asks for may be forgotten, or badly put."""

from __future__ import annotations

import os
from typing import Any

from ...home import Home
from ...index.recalls import recalls
from ...storage.backends import INDEX_FOLDER
from .page_access import title_of

_MOST = 50


def recalled(home: Home) -> dict[str, Any]:
    """The pages that answered most often, and those that never did since anybody counted. A memory in a database is
    not counted: `since` is empty then, and both lists are."""
    found = recalls(os.path.join(home.ground.folder, INDEX_FOLDER), home.agent) if home.ground.folder else None
    if not found or not found.since:
        return {"most": [], "never": [], "since": ""}
    seen = dict(home.visible_pages())
    often = sorted((path for path in found.pages if path in seen), key=lambda path: (-found.pages[path].times, path))
    most = [{**_named(home, path), **found.pages[path]._asdict()} for path in often[:_MOST]]
    never = [path for path, at in seen.items() if path not in found.pages and at]
    return {"most": most, "never": [_named(home, path) for path in never[::-1][:_MOST]], "since": found.since}


def _named(home: Home, path: str) -> dict[str, Any]:
    place = home.index.territory.place(path)
    return {"path": path, "title": title_of(home, path, place) if place else path}
