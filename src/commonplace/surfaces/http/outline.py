"""What there is to browse: days, topics, records, channels, skills, sessions, directives. One agent sees its own."""

from __future__ import annotations

import re
from typing import Any

from ...errors import CommonplaceError
from ...formats.transcripts import turns
from ...home import Home
from ...model import Record
from ...storage.layout import stem
from .page_access import agents, record_folders, sight

Row = dict[str, Any]
_ENTRY = re.compile(r"^##\s+\S", re.MULTILINE)
_NOTE = re.compile(r"^### \S", re.MULTILINE)
_MOST_READ = 400  # days and sessions that are opened to say more of them; the newest
_SHORT = 300  # characters of a value
_LARGEST_SESSION = 2_000_000  # characters: a longer one is not counted through


def outline(home: Home) -> Row:
    """Everything this agent may browse, by what it is. Records come off the index, after it caught up."""
    home.check()
    warnings: list[str] = []
    return {
        "agents": agents(home),
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
        row["entries"] = len(_ENTRY.findall(text)) or len(_NOTE.findall(text)) or int(bool(text.strip()))
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
        said = turns(text[:_LARGEST_SESSION])[0]
        first = next((turn.said.partition(": ")[2] for turn in said if turn.said.strip()), "")
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
    return [{"path": path, "title": sight(home, path).title} for path in pages if home.ground.has(path)]


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
        return home.pages.list(folder, suffix, deep=deep)
    except CommonplaceError:  # status and doctor say what is wrong with it
        return []
