"""What a person browses: status, outline, sessions as conversations, and Markdown as HTML."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ... import __version__
from ...errors import CommonplaceError, PageNotFound
from ...formats import blocks, frontmatter
from ...formats.blocks import count_entries
from ...formats.html import render_html
from ...formats.timestamps import sort_key
from ...formats.transcripts import parse_turns
from ...home import Home, modified_timestamp
from ...model import Block, Record
from ...schema import BOOLEAN, INTEGER, TEXT, array, closed_object, object_of, plain_text
from ...storage.layout import stem
from ...storage.records import read_text
from .endpoints import MAX_PATH_CHARACTERS, ApiRequest, Endpoint, Parameter, ResponseSpec
from .pages import LinkResolver, list_known_pages, read_page, record_folders, resolve_page

Row = dict[str, Any]
MAX_OPENED_PAGES = 400  # only the newest days and sessions are opened to count their entries
MAX_VALUE_CHARACTERS = 300  # shown of a record or page in the outline
MAX_TITLE_CHARACTERS = 120
MAX_COUNTED_CHARACTERS = 2_000_000  # read of a session; later turns are not counted
MAX_TURNS = 2000
_NOTE = re.compile(r"^### \S", re.MULTILINE)
_LIST_MARKER = re.compile(r"^([-*+>]|\d+[.)])\s+")
_USER_ROLES = frozenset({"user", "human"})


def get_status(request: ApiRequest) -> dict[str, Any]:
    home = request.home
    grant = request.grant
    fixed = request.caller.fixed.get("agent")
    agents = dict.fromkeys([*(grant.agents or ()), *([fixed] if fixed else home.list_agents())])
    try:
        owners = {skill.owner for skill in home.skills.all()}
    except CommonplaceError:
        owners = set()
    return {
        **limit_counts(request, request.memory.status()),
        "version": __version__,
        "role": grant.role,
        "read_only": grant.is_read_only_server,
        "may_export": grant.role == "admin" and grant.agents is None,
        "agents": [name for name in agents if grant.may_be(name)],
        "channels": home.channels.names()[0],
        "users": sorted(owners - {"global"}),
    }


def limit_counts(request: ApiRequest, counts: dict[str, Any]) -> dict[str, Any]:
    """Return counts without other agents' pages, if the caller may act only for some agents. Such callers do not learn
    where on this machine the home is, either: they get its name."""
    if request.grant.agents is None:
        return counts
    of_all = ("passages", "spaces", "pages_of_all_agents", "passages_of_all_agents")
    own = {name: value for name, value in counts.items() if name not in of_all}
    if "home" in own:
        own["home"] = os.path.basename(own["home"])
    return {**own, "pages": len(list_known_pages(request.home))}


def get_outline(request: ApiRequest) -> dict[str, Any]:
    outline = build_outline(request.home)
    return {**outline, "agents": [name for name in outline["agents"] if request.grant.may_be(name)]}


def build_outline(home: Home) -> Row:
    """Return everything this agent may browse, by kind. Records are read from the index, once it is up to date."""
    home.storage.check()
    warnings: list[str] = []
    days = _list_days(home)
    return {
        "agents": home.list_agents(),
        "days": days,
        "notes": _list_notes(home, [row["path"] for row in days[:MAX_OPENED_PAGES]]),
        "topics": _list_topics(home),
        "globals": _list_records(home, home.layout.globals, warnings),
        "channels": _list_channels(home, warnings),
        "skills": _list_skills(home),
        "sessions": _list_sessions(home),
        "directives": _list_directives(home),
        "summaries": _list_summaries(home),
        "working": _list_records(home, home.layout.working_folder(home.agent), warnings),
        "others": _list_others(home),
        "warnings": warnings,
    }


def _list_days(home: Home) -> list[Row]:
    folder = home.layout.days_folder(home.agent)
    paths = [(day, path) for path in _list(home, folder, deep=True) if (day := home.layout.day_of(home.agent, path))]
    rows: list[Row] = [{"date": day, "path": path, "title": day} for day, path in sorted(paths, reverse=True)]
    for row in rows[:MAX_OPENED_PAGES]:
        text, _ = read_text(home.storage.pages, row["path"])
        row["entries"] = count_entries(text) or len(_NOTE.findall(text)) or int(bool(text.strip()))
    return rows


def _list_notes(home: Home, days: list[str]) -> list[Row]:
    """Return the keyed notes of the curated page and of some days."""
    paths = dict.fromkeys([home.layout.curated_page(home.agent), *days])
    notes = ((path, blocks.parse(read_text(home.storage.pages, path)[0])) for path in paths)
    return [_describe_note(path, block) for path, stored in notes for block in reversed(stored)]


def _describe_note(path: str, block: Block) -> Row:
    return {
        "key": block.key,
        "path": path,
        "from": block.first_line,
        "to": block.last_line,
        "value": block.content[:MAX_VALUE_CHARACTERS],
        "tags": list(block.tags),
        "updated": block.at,
    }


def _list_topics(home: Home) -> list[Row]:
    topics = {path: home.layout.topic_of(path) for path in _list(home, home.layout.world, deep=True)}
    rows: list[Row] = [{"name": topics[path], "path": path} for path in sorted(topics, key=topics.__getitem__)]
    return _add_beginnings(home, rows)


def _add_beginnings(home: Home, rows: list[Row]) -> list[Row]:
    """Add the beginnings of the pages to the first rows, without headings."""
    for row in rows[:MAX_OPENED_PAGES]:
        _, body = frontmatter.split(read_text(home.storage.pages, row["path"])[0])
        lines = (_LIST_MARKER.sub("", line.strip()) for line in body.splitlines())
        row["value"] = next((line for line in lines if line and not line.startswith("#")), "")[:MAX_VALUE_CHARACTERS]
    return rows


def _list_records(home: Home, folder: str, warnings: list[str]) -> list[Row]:
    def by_key(record: Record) -> tuple[str, str]:
        return record.category, record.key

    return [_describe_record(record) for record in sorted(_read_records(home, folder, warnings), key=by_key)]


def _list_channels(home: Home, warnings: list[str]) -> list[Row]:
    by_channel: dict[str, list[Row]] = {}
    for record in _read_records(home, home.layout.channels, warnings):
        by_channel.setdefault(record.scope.name, []).append(_describe_record(record))
    return [{"name": name, "records": rows} for name, rows in sorted(by_channel.items())]


def _read_records(home: Home, folder: str, warnings: list[str]) -> list[Record]:
    """Return the records below a folder; what is wrong with any of them is added to the warnings."""
    try:
        records, problems = home.list_records(folder)
    except CommonplaceError as error:
        warnings.append(str(error))
        return []
    warnings.extend(problems)
    return records


def _describe_record(record: Record) -> Row:
    text = record.text
    return {
        "key": record.key,
        "category": record.category,
        "tags": list(record.tags),
        "value": text[:MAX_VALUE_CHARACTERS],
        "cut": len(text) > MAX_VALUE_CHARACTERS,
        "updated": record.updated_at,
        "path": record.path,
    }


def _list_skills(home: Home) -> list[Row]:
    return [
        {
            "name": skill.name,
            "description": skill.description,
            "owner": skill.owner,
            "path": skill.path,
            "progress": skill.training_progress,
            "updated": skill.updated_at,
        }
        for skill in home.skills.all()
    ]


def _list_sessions(home: Home) -> list[Row]:
    """Return the sessions, newest first: by their last turn, or by their file if a turn has no time."""
    folder = home.layout.sessions_folder(home.agent)
    times = {path: modified_timestamp(home, path) or "" for path in _list(home, folder, ".jsonl")}
    newest = sorted(times, key=times.__getitem__, reverse=True)
    rows: list[Row] = [{"id": _session_id(path), "path": path, "at": times[path]} for path in newest]
    for row in rows[:MAX_OPENED_PAGES]:
        text, _ = read_text(home.storage.pages, row["path"])
        turns, _ = parse_turns(text[:MAX_COUNTED_CHARACTERS])
        row["turns"] = len(turns)
        row["title"] = _session_title(row["path"], (turn.content for turn in turns))
        row["at"] = next((turn.at for turn in reversed(turns) if sort_key(turn.at) > -math.inf), row["at"])

    def by_time(row: Row) -> float:
        return -sort_key(row["at"])

    return sorted(rows, key=by_time)


def _session_id(path: str) -> str:
    return stem(path).removesuffix(".jsonl")


def _session_title(path: str, texts: Iterable[str]) -> str:
    """Return how a session begins."""
    first = next(iter(texts), "")
    return " ".join(first.split())[:MAX_TITLE_CHARACTERS] or _session_id(path)


def _list_directives(home: Home) -> list[Row]:
    shared = [(path, False) for path in _list(home, home.layout.directives)]
    own = [(path, True) for path in _list(home, home.layout.agent_directives(home.agent))]
    return _add_beginnings(home, [{"name": stem(path), "path": path, "mine": mine} for path, mine in (*shared, *own)])


def _list_summaries(home: Home) -> list[Row]:
    """Return the curated pages: the shared one and this agent's own."""
    pages = dict.fromkeys((home.layout.shared_curated, home.layout.curated_page(home.agent)))
    rows = [{"path": path, "title": resolve_page(home, path).title} for path in pages if home.storage.exists(path)]
    return _add_beginnings(home, rows)


def _list_others(home: Home) -> list[Row]:
    """Return the other pages, which people put there."""
    layout = home.layout
    folders = (layout.world, layout.days_folder(home.agent), *record_folders(home))
    prefixes = tuple(f"{folder}/" for folder in folders)
    curated = {layout.shared_curated, layout.curated_page(home.agent)}
    loose = _list(home, layout.path(layout.loose), deep=True)
    notes = _list(home, layout.notes_tree(home.agent), deep=True)
    return [
        {"path": path, "title": stem(path)}
        for path in dict.fromkeys((*loose, *notes))
        if path not in curated
        and not path.startswith(prefixes)
        and (place := layout.place(path))
        and home.visibility.may_see(place)
    ]


def _list(home: Home, folder: str, suffix: str = ".md", *, deep: bool = False) -> list[str]:
    try:
        return home.storage.pages.list(folder, suffix, deep=deep)
    except CommonplaceError:  # status and doctor report what is wrong with it
        return []


class ConversationTurn(NamedTuple):
    """`line` is that of the transcript, counted from 1. `role` is user or assistant."""

    line: int
    role: str
    name: str
    at: str
    text: str


def get_session(request: ApiRequest) -> dict[str, Any]:
    path = request.parameters["path"]
    turns = read_conversation(request.home, path)
    title = _session_title(path, (turn.text for turn in turns))
    rows = [{**turn._asdict(), "html": render_html(turn.text)} for turn in turns]
    return {"path": path, "title": title, "turns": rows}


def read_conversation(home: Home, path: str) -> list[ConversationTurn]:
    """Return the turns of a session; PageNotFound if the path is no session of this agent."""
    if resolve_page(home, path).kind != "session":
        raise PageNotFound(path)
    turns, _ = parse_turns(read_page(home, path).text)
    conversation: list[ConversationTurn] = []
    for turn in turns[:MAX_TURNS]:
        role = "user" if turn.role in _USER_ROLES else "assistant"
        conversation.append(ConversationTurn(turn.line, role, turn.name or turn.role, turn.at, turn.content))
    return conversation


def render_markdown(request: ApiRequest) -> dict[str, Any]:
    path = request.body.get("path", "")
    return {"html": render_html(request.body["text"], path, LinkResolver(request.home).resolve)}


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
_NOTE_ROW = object_of(
    {"key": TEXT, "path": TEXT, "from": INTEGER, "to": INTEGER, "value": TEXT, "tags": _NAMES, "updated": TEXT}
)
_OUTLINE = object_of(
    {
        "agents": _NAMES,
        "days": array(object_of({"date": TEXT, "path": TEXT, "title": TEXT}, entries=INTEGER)),
        "topics": array(object_of({"name": TEXT, "path": TEXT}, value=TEXT)),
        "globals": array(_RECORD),
        "channels": array(object_of({"name": TEXT, "records": array(_RECORD)})),
        "skills": array(
            object_of(
                {"name": TEXT, "description": TEXT, "owner": TEXT, "path": TEXT, "progress": INTEGER, "updated": TEXT}
            )
        ),
        "sessions": array(object_of({"id": TEXT, "path": TEXT, "at": TEXT}, turns=INTEGER, title=TEXT)),
        "directives": array(object_of({"name": TEXT, "path": TEXT, "mine": BOOLEAN}, value=TEXT)),
        "summaries": array(object_of({"path": TEXT, "title": TEXT}, value=TEXT)),
        "working": array(_RECORD),
        "notes": array(_NOTE_ROW),
        "others": array(object_of({"path": TEXT, "title": TEXT})),
        "warnings": _NAMES,
    }
)
_TURN = object_of({"line": INTEGER, "role": TEXT, "name": TEXT, "at": TEXT, "text": TEXT, "html": TEXT})
_RENDER = closed_object(
    {"text": plain_text("Markdown.")},
    path=plain_text("Its path, for links to pages beside it.", max_length=MAX_PATH_CHARACTERS),
)


ENDPOINTS = [
    Endpoint(
        "GET /v1/status",
        get_status,
        "Where memory is, what it holds, and what you may do.",
        responses={200: ResponseSpec("The status.", _STATUS)},
    ),
    Endpoint(
        "GET /v1/outline",
        get_outline,
        "What there is to browse.",
        responses={200: ResponseSpec("Days, topics, records, channels, skills, sessions.", _OUTLINE)},
    ),
    Endpoint(
        "GET /v1/sessions/{path}",
        get_session,
        "A transcript as turns; secrets are taken out.",
        parameters=[Parameter("path", TEXT, "The path of the session.", "path", required=True)],
        responses={
            200: ResponseSpec("What was said.", object_of({"path": TEXT, "title": TEXT, "turns": array(_TURN)}))
        },
        problems=[404, 422],
    ),
    Endpoint(
        "POST /v1/render",
        render_markdown,
        "Markdown as HTML that is safe to show.",
        body=_RENDER,
        responses={200: ResponseSpec("Sanitised HTML.", object_of({"html": TEXT}))},
    ),
]
