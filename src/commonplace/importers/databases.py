"""SQLite databases of two tools: keyed working notes, and a registry of records and skills.

A copy is read, so that nothing is left beside a database that another program may have open.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgument, StorageError
from ..formats import json_text as jsontext
from ..model import Json, Record, Scope, Skill
from .source import Single, Source, only_file, the_file
from .values import Into, Item, Keyed, Missed, Taught, Text, moment

if TYPE_CHECKING:
    from sqlite3 import Connection

_MAGIC = b"SQLite format 3\0"
_LOG = re.compile(r"activity-log-(\d{4}-\d\d-\d\d)")
_RESERVED = ("session-handoff", "scratchpad")  # empty ones say nothing
_CHANNEL = "channel_memories_"
_PARTS = ("", "-wal")  # what a database is made of; the rest is made anew

Row = dict[str, Any]


def recognise(source: Source) -> bool:
    return isinstance(source, Single) and source.peek(only_file(source)).startswith(_MAGIC)


def read(source: Source, into: Into) -> Iterator[Item]:
    if not isinstance(source, Single):
        raise InvalidArgument(f"{source.place} is not a database: name the file that is")
    place = os.path.join(source.place, the_file(source))
    with TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.db")
        for part in _PARTS:
            if os.path.isfile(place + part):
                shutil.copyfile(place + part, copy + part)
        yield from _database(copy, place, into)


def _database(copy: str, place: str, into: Into) -> Iterator[Item]:
    import sqlite3

    try:
        connection = sqlite3.connect(copy)
        connection.text_factory = bytes
        try:
            yield from _tables(connection, place, into)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StorageError(f"{place} can not be read as a database ({error}): get a whole copy of it") from error


def _tables(connection: Connection, place: str, into: Into) -> Iterator[Item]:
    listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for (raw,) in listed:
        name = raw.decode("utf-8", "replace")
        if name == "working_memory":
            yield from _each(connection, name, place, lambda row: _note(row, place, into))
        elif name == "global_memories":
            yield from _each(connection, name, place, lambda row: _record(row, place, Scope("global")))
        elif name == "skills":
            yield from _each(connection, name, place, lambda row: _skill(row, place))
        elif name.startswith(_CHANNEL) and name != _CHANNEL:
            scope = Scope("channel", name.removeprefix(_CHANNEL))
            yield from _each(connection, name, place, lambda row, scope=scope: _record(row, place, scope))
        elif not name.startswith("sqlite_"):
            yield Missed(f"table {name}", "is not one that is understood")


def _each(connection: Connection, table: str, place: str, make: Any) -> Iterator[Item]:
    """Every row of a table, as what it is; a row that is not understood is told."""
    import sqlite3

    quoted = table.replace('"', '""')
    rows = connection.execute(f'SELECT * FROM "{quoted}"')
    names = [column[0] for column in rows.description]
    number = 0
    while True:
        number += 1
        try:
            values = rows.fetchone()
        except sqlite3.DatabaseError as error:
            yield Missed(f"table {table}, from row {number} on", f"is damaged ({error})")
            return
        if values is None:
            return
        try:
            row = {
                name: value.decode() if isinstance(value, bytes) else value
                for name, value in zip(names, values, strict=True)
            }
            item = make(row)
        except UnicodeDecodeError:
            item = Missed(f"table {table}, row {number}", "is not UTF-8 text")
        except InvalidArgument as error:
            item = Missed(f"table {table}, row {number}", str(error))
        if item is not None:
            yield item


def _note(row: Row, place: str, into: Into) -> Item | None:
    key, content, at = _key(row, "key"), row.get("content"), moment(row.get("updated_at"))
    if not isinstance(content, str) or not content.strip():
        if key in _RESERVED:
            return None
        raise InvalidArgument(f"{key!r} has no content")
    name = f"{place} {key}"
    if log := _LOG.fullmatch(key):
        page = f"{into.layout.activity_folder(into.agent)}/{log[1]}.md"
        return Text(name, page, f"{content.rstrip()}\n".encode(), 0, page.removesuffix(".md") + "-imported.md")
    return Keyed(name, Scope("agent", into.agent), Record(key, content.strip(), created_at=at, updated_at=at))


def _record(row: Row, place: str, scope: Scope) -> Item:
    key = _key(row, "key")
    value = _json(row.get("value"))
    if value is None:
        raise InvalidArgument(f"{key!r} has no value")
    category = str(row.get("category") or "").strip() or "general"
    tags = str(row.get("tags") or "").split(",")
    found = tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    created, updated = moment(row.get("created_at")), moment(row.get("updated_at"))
    return Keyed(
        f"{place} {scope} {key}", scope, Record(key, value, category, found, created or updated, updated or created)
    )


def _skill(row: Row, place: str) -> Item:
    name = _key(row, "name")
    data = _json(row.get("skill_data"))
    if data in (None, ""):
        data = {}
    if not isinstance(data, dict):
        raise InvalidArgument(f"the data of the skill {name!r} is not an object")
    count = row.get("training_progress")
    created, updated = moment(row.get("created_at")), moment(row.get("updated_at"))
    skill = Skill(
        name,
        str(row.get("description") or ""),
        str(row.get("instructions") or ""),
        str(row.get("owner") or "global"),
        data,
        count if isinstance(count, int) and count > 0 else 0,
        created or updated,
        updated or created,
    )
    return Taught(f"{place} skill {name}", skill)


def _key(row: Row, name: str) -> str:
    key = row.get(name)
    if not isinstance(key, str) or not key.strip():
        raise InvalidArgument(f"has no {name}")
    return key.strip()


def _json(value: Any) -> Json:
    """A value that is JSON as text; one that is not is text itself."""
    if not isinstance(value, str):
        return value
    try:
        return jsontext.parse_json(value)
    except ValueError:
        return value
