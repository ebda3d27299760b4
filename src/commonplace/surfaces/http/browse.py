"""What memory is like: its status, what there is to browse, what hangs together, how a text looks, what was said."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ... import __version__
from ...errors import CommonplaceError, PageNotFound
from ...formats.daily import count_entries
from ...formats.html import render_html
from ...formats.transcripts import parse_turns
from ...home import Home
from ...model import Record
from ...schema import BOOLEAN, INTEGER, TEXT, array, closed_object, integer, object_of, one_of, plain_text
from ...storage.layout import stem
from . import page_access
from .endpoints import MAX_PATH_CHARACTERS, Asked, Endpoint, Given, Parameter
from .link_graph import MOST, as_json, web
from .page_access import list_agents, read_page, record_folders, resolve_page

Row = dict[str, Any]
_NOTE = re.compile(r"^### \S", re.MULTILINE)
_MOST_READ = 400  # days and sessions that are opened to say more of them; the newest
_SHORT = 300  # characters of a value
_LARGEST_SESSION = 2_000_000  # characters: a longer one is not counted through


def outline(home: Home) -> Row:
    """Everything this agent may browse, by what it is. Records come off the index, after it caught up."""
    home.check()
    warnings: list[str] = []
    return {
        "agents": list_agents(home),
        "days": _days(home),
        "topics": _topics(home),
        "globals": _records(home, home.layout.globals, warnings),
        "channels": _channels(home, warnings),
        "skills": _skills(home),
        "sessions": _sessions(home),
        "directives": _directives(home),
        "summaries": _summaries(home),
        "working": _records(home, home.layout.working_folder(home.agent), warnings),
        "others": _others(home),
        "warnings": warnings,
    }


def _days(home: Home) -> list[Row]:
    folder = home.layout.days_folder(home.agent)
    paths = {day: path for path in _list(home, folder, deep=True) if (day := home.layout.day_of(home.agent, path))}
    rows: list[Row] = [{"date": day, "path": paths[day], "title": day} for day in sorted(paths, reverse=True)]
    for row in rows[:_MOST_READ]:
        text, _ = home.text(row["path"])
        row["entries"] = count_entries(text) or len(_NOTE.findall(text)) or int(bool(text.strip()))
    return rows


def _topics(home: Home) -> list[Row]:
    rows = [{"name": home.layout.topic_of(path), "path": path} for path in _list(home, home.layout.world, deep=True)]
    return sorted(rows, key=lambda row: row["name"])


def _records(home: Home, folder: str, warnings: list[str]) -> list[Row]:
    found = _found(home, folder, warnings)
    return [_record(record) for record in sorted(found, key=lambda record: (record.category, record.key))]


def _channels(home: Home, warnings: list[str]) -> list[Row]:
    by_channel: dict[str, list[Row]] = {}
    for record in _found(home, home.layout.channels, warnings):
        by_channel.setdefault(record.scope.name, []).append(_record(record))
    return [{"name": name, "records": rows} for name, rows in sorted(by_channel.items())]


def _found(home: Home, folder: str, warnings: list[str]) -> list[Record]:
    """The records below a folder; what is wrong with any of them is told in the warnings."""
    try:
        found, problems = home.records(folder)
    except CommonplaceError as error:
        warnings.append(str(error))
        return []
    warnings.extend(problems)
    return found


def _record(record: Record) -> Row:
    text = record.text
    return {
        "key": record.key,
        "category": record.category,
        "tags": list(record.tags),
        "value": text[:_SHORT],
        "cut": len(text) > _SHORT,
        "updated": record.updated_at,
        "path": record.path,
    }


def _skills(home: Home) -> list[Row]:
    return [
        {"name": skill.name, "description": skill.description, "owner": skill.owner, "path": skill.path,
         "progress": skill.training_progress, "updated": skill.updated_at}
        for skill in home.skills.all()
    ]  # fmt: skip


def _sessions(home: Home) -> list[Row]:
    folder = f"{home.layout.agent_folder(home.agent)}/sessions"
    rows: list[Row] = [
        {"id": stem(path).removesuffix(".jsonl"), "path": path} for path in _list(home, folder, ".jsonl")
    ]
    for row in rows:
        row["at"] = home.written(row["path"]) or ""
    rows.sort(key=lambda row: row["at"], reverse=True)
    for row in rows[:_MOST_READ]:
        text, _ = home.text(row["path"])
        said = parse_turns(text[:_LARGEST_SESSION])[0]
        first = next((turn.text.partition(": ")[2] for turn in said if turn.text.strip()), "")
        row |= {"turns": len(said), "title": " ".join(first.split())[:120] or row["id"]}
    return rows


def _directives(home: Home) -> list[Row]:
    folders = (home.layout.directives, home.layout.agent_directives(home.agent))
    return [
        {"name": stem(path), "path": path, "mine": folder == folders[1]}
        for folder in folders
        for path in _list(home, folder)
    ]


def _summaries(home: Home) -> list[Row]:
    """The curated pages: what all share, and this agent's own."""
    pages = dict.fromkeys((home.layout.shared_curated, home.layout.curated_page(home.agent)))
    return [{"path": path, "title": resolve_page(home, path).title} for path in pages if home.storage.exists(path)]


def _others(home: Home) -> list[Row]:
    """Pages that people put beside all of these."""
    layout = home.layout
    listed = (layout.world, layout.days_folder(home.agent), *record_folders(home))
    folders = tuple(f"{folder}/" for folder in listed)
    found = [*_list(home, layout.path(layout.loose), deep=True), *_list(home, layout.notes_tree(home.agent), deep=True)]
    found = [path for path in dict.fromkeys(found) if not path.startswith(folders)]
    known = {layout.shared_curated, layout.curated_page(home.agent)}
    return [
        {"path": path, "title": stem(path)}
        for path in found
        if path not in known and (place := layout.place(path)) and home.may_see(place)
    ]


def _list(home: Home, folder: str, suffix: str = ".md", *, deep: bool = False) -> list[str]:
    try:
        return home.storage.pages.list(folder, suffix, deep=deep)
    except CommonplaceError:  # status and doctor say what is wrong with it
        return []


_MOST = 2000  # turns
_USERS = frozenset({"user", "human"})


class Said(NamedTuple):
    """`line` is that of the transcript, counted from 1. `role` is user or assistant."""

    line: int
    role: str
    name: str
    at: str
    text: str


def talk(home: Home, path: str) -> list[Said]:
    """The turns of a session; PageNotFound for what is no session of this agent."""
    if resolve_page(home, path).kind != "session":
        raise PageNotFound(path)
    found, _ = parse_turns(read_page(home, path).text)
    return [_said(turn.line, turn.text, turn.at, turn.role) for turn in found[:_MOST]]


def _said(line: int, said: str, at: str, role: str) -> Said:
    name, _, text = said.partition(": ")
    return Said(line, "user" if role in _USERS else "assistant", name, at, text)


_NAMES = array(TEXT)
_STATUS = object_of(
    {
        "version": TEXT,
        "home": TEXT,
        "agent": TEXT,
        "agents": _NAMES,
        "role": TEXT,
        "read_only": BOOLEAN,
        "may_export": BOOLEAN,
        "channels": _NAMES,
        "users": _NAMES,
        "pages": INTEGER,
        "search": TEXT,
        "index_up_to_date": BOOLEAN,
        "warnings": _NAMES,
    },
    passages=INTEGER,
    layout=TEXT,
    timezone=TEXT,
)
_RECORD = object_of(
    {"key": TEXT, "category": TEXT, "tags": _NAMES, "value": TEXT, "cut": BOOLEAN, "updated": TEXT, "path": TEXT}
)
_OUTLINE = object_of(
    {
        "agents": _NAMES,
        "days": array(object_of({"date": TEXT, "path": TEXT, "title": TEXT}, entries=INTEGER)),
        "topics": array(object_of({"name": TEXT, "path": TEXT})),
        "globals": array(_RECORD),
        "channels": array(object_of({"name": TEXT, "records": array(_RECORD)})),
        "skills": array(
            object_of(
                {"name": TEXT, "description": TEXT, "owner": TEXT, "path": TEXT, "progress": INTEGER, "updated": TEXT}
            )
        ),
        "sessions": array(object_of({"id": TEXT, "path": TEXT, "at": TEXT}, turns=INTEGER, title=TEXT)),
        "directives": array(object_of({"name": TEXT, "path": TEXT, "mine": BOOLEAN})),
        "summaries": array(object_of({"path": TEXT, "title": TEXT})),
        "working": array(_RECORD),
        "others": array(object_of({"path": TEXT, "title": TEXT})),
        "warnings": _NAMES,
    }
)
_MAP = object_of(
    {
        "nodes": array(object_of({"id": TEXT, "label": TEXT, "kind": TEXT, "scope": TEXT, "size": INTEGER})),
        "edges": array(object_of({"a": TEXT, "b": TEXT, "why": one_of("link", "tag", "key"), "label": TEXT})),
        "left_out": INTEGER,
    }
)
_TURN = object_of({"line": INTEGER, "role": TEXT, "name": TEXT, "at": TEXT, "text": TEXT, "html": TEXT})
_RENDER = closed_object(
    {"text": plain_text("Markdown.")},
    path=plain_text("Where it stands, for links to pages beside it.", max_length=MAX_PATH_CHARACTERS),
)


def status(asked: Asked) -> dict[str, Any]:
    home, grant = asked.home, asked.grant
    every = [asked.caller.fixed["agent"]] if "agent" in asked.caller.fixed else page_access.list_agents(home)
    every = [*dict.fromkeys([*(grant.agents or ()), *every])]
    try:
        owners = {skill.owner for skill in home.skills.all()}
    except CommonplaceError:
        owners = set()
    return {
        **held_to_own(asked, asked.memory.status()),
        "version": __version__,
        "role": grant.role,
        "read_only": grant.is_read_only_server,
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
    return {**told, "pages": len(page_access.list_known_pages(asked.home))}


def outlined(asked: Asked) -> dict[str, Any]:
    found = outline(asked.home)
    return {**found, "agents": [name for name in found["agents"] if asked.grant.may_be(name)]}


def render(asked: Asked) -> dict[str, Any]:
    path = asked.body.get("path", "")
    return {"html": render_html(asked.body["text"], path, page_access.LinkResolver(asked.home).resolve)}


def session(asked: Asked) -> dict[str, Any]:
    path = asked.given["path"]
    said = talk(asked.home, path)
    return {"path": path, "turns": [{**turn._asdict(), "html": render_html(turn.text)} for turn in said]}


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
        takes=[Parameter("limit", integer(1, MOST), "How many pages at the most.")],
        answers={200: Given("A graph.", _MAP)},
    ),
    Endpoint(
        "GET",
        "/v1/sessions/{path}",
        session,
        "A transcript as turns; secrets are taken out.",
        takes=[Parameter("path", TEXT, "The path of the session.", "path", required=True)],
        answers={200: Given("What was said.", object_of({"path": TEXT, "turns": array(_TURN)}))},
        problems=[404, 422],
    ),
    Endpoint(
        "POST",
        "/v1/render",
        render,
        "Markdown as HTML that is safe to show.",
        body=_RENDER,
        answers={200: Given("Sanitised HTML.", object_of({"html": TEXT}))},
    ),
]
