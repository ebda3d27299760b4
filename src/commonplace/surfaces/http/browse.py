"""What memory is like: its status, what there is to browse, what hangs together, how a text looks, what was said."""

from __future__ import annotations

from typing import Any

from ... import __version__
from ...errors import CommonplaceError
from ...formats.html import html
from . import page_access as seen
from .conversation import talk
from .endpoints import (
    LONGEST_PATH,
    TEXT,
    WHOLE,
    YES,
    Asked,
    Endpoint,
    Given,
    Parameter,
    array,
    closed,
    of,
    one_of,
    whole,
    words,
)
from .link_graph import MOST, as_json, web
from .outline import outline

_NAMES = array(TEXT)
_STATUS = of(
    {
        "version": TEXT,
        "home": TEXT,
        "agent": TEXT,
        "agents": _NAMES,
        "role": TEXT,
        "read_only": YES,
        "may_export": YES,
        "channels": _NAMES,
        "users": _NAMES,
        "pages": WHOLE,
        "search": TEXT,
        "index_up_to_date": YES,
        "warnings": _NAMES,
    },
    passages=WHOLE,
    layout=TEXT,
    timezone=TEXT,
)
_RECORD = of({"key": TEXT, "category": TEXT, "tags": _NAMES, "value": TEXT, "cut": YES, "updated": TEXT, "path": TEXT})
_OUTLINE = of(
    {
        "agents": _NAMES,
        "days": array(of({"date": TEXT, "path": TEXT, "title": TEXT}, entries=WHOLE)),
        "topics": array(of({"name": TEXT, "path": TEXT})),
        "globals": array(_RECORD),
        "channels": array(of({"name": TEXT, "records": array(_RECORD)})),
        "skills": array(
            of({"name": TEXT, "description": TEXT, "owner": TEXT, "path": TEXT, "progress": WHOLE, "updated": TEXT})
        ),
        "sessions": array(of({"id": TEXT, "path": TEXT, "at": TEXT}, turns=WHOLE, title=TEXT)),
        "directives": array(of({"name": TEXT, "path": TEXT, "mine": YES})),
        "summaries": array(of({"path": TEXT, "title": TEXT})),
        "working": array(_RECORD),
        "others": array(of({"path": TEXT, "title": TEXT})),
        "warnings": _NAMES,
    }
)
_MAP = of(
    {
        "nodes": array(of({"id": TEXT, "label": TEXT, "kind": TEXT, "scope": TEXT, "size": WHOLE})),
        "edges": array(of({"a": TEXT, "b": TEXT, "why": one_of("link", "tag", "key"), "label": TEXT})),
        "left_out": WHOLE,
    }
)
_TURN = of({"line": WHOLE, "role": TEXT, "name": TEXT, "at": TEXT, "text": TEXT, "html": TEXT})
_RENDER = closed(
    {"text": words("Markdown.")}, path=words("Where it stands, for links to pages beside it.", most=LONGEST_PATH)
)


def status(asked: Asked) -> dict[str, Any]:
    home, grant = asked.home, asked.grant
    every = [asked.asker.held["agent"]] if "agent" in asked.asker.held else seen.agents(home)
    every = [*dict.fromkeys([*(grant.agents or ()), *every])]
    try:
        owners = {skill.owner for skill in home.skills.all()}
    except CommonplaceError:
        owners = set()
    return {
        **held_to_own(asked, asked.memory.status()),
        "version": __version__,
        "role": grant.role,
        "read_only": grant.is_held_to_reading,
        "may_export": grant.role == "admin" and grant.agents is None,
        "agents": [name for name in every if grant.may_be(name)],
        "channels": home.channels.names()[0],
        "users": sorted(owners - {"global"}),
    }


def held_to_own(asked: Asked, counted: dict[str, Any]) -> dict[str, Any]:
    """What is counted, for who may be some agents alone: without what the others' pages weigh in."""
    if asked.grant.agents is None:
        return counted
    told = {name: value for name, value in counted.items() if name not in ("passages", "spaces")}
    return {**told, "pages": len(seen.known_pages(asked.home))}


def outlined(asked: Asked) -> dict[str, Any]:
    found = outline(asked.home)
    return {**found, "agents": [name for name in found["agents"] if asked.grant.may_be(name)]}


def render(asked: Asked) -> dict[str, Any]:
    path = asked.body.get("path", "")
    return {"html": html(asked.body["text"], path, seen.Names(asked.home).find)}


def session(asked: Asked) -> dict[str, Any]:
    path = asked.given["path"]
    said = talk(asked.home, path)
    return {"path": path, "turns": [{**turn._asdict(), "html": html(turn.text)} for turn in said]}


ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/status",
        status,
        "Where memory is, what it holds, and what you may do.",
        answers={200: Given("How memory is.", _STATUS)},
    ),
    Endpoint(
        "GET",
        "/v1/outline",
        outlined,
        "What there is to browse.",
        answers={200: Given("Days, topics, records, channels, skills, sessions.", _OUTLINE)},
    ),
    Endpoint(
        "GET",
        "/v1/map",
        lambda asked: as_json(web(asked.home, asked.given.get("limit", MOST))),
        "Which pages hang together: by links, keys and tags.",
        takes=[Parameter("limit", whole(1, MOST), "How many pages at the most.")],
        answers={200: Given("A graph.", _MAP)},
    ),
    Endpoint(
        "GET",
        "/v1/sessions/{path}",
        session,
        "A transcript as turns; secrets are taken out.",
        takes=[Parameter("path", TEXT, "The path of the session.", "path", required=True)],
        answers={200: Given("What was said.", of({"path": TEXT, "turns": array(_TURN)}))},
        problems=[404, 422],
    ),
    Endpoint(
        "POST",
        "/v1/render",
        render,
        "Markdown as HTML that is safe to show.",
        body=_RENDER,
        answers={200: Given("Sanitised HTML.", of({"html": TEXT}))},
    ),
]
