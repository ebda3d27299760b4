"""SQLite databases of two tools: keyed working notes, and a registry of records and skills.

A copy is read, so that no journal is left beside a database that another program may have open.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgument, StorageError
from ..formats import json_text
from ..model import Json, Record, Scope, Skill
from ..storage.names import is_blank
from ..wording import list_some
from .source import SingleFile, Source, require_single_file, single_file_name
from .values import Destination, Item, PageItem, RecordItem, SkillItem, Skipped, read_timestamp

if TYPE_CHECKING:
    from sqlite3 import Connection

_MAGIC = b"SQLite format 3\0"
_ACTIVITY_KEY = re.compile(r"activity-log-(\d{4}-\d\d-\d\d)")
_FIXED_KEYS = ("session-handoff", "scratchpad")  # they exist even when empty
_CHANNEL_PREFIX = "channel_memories_"
_FILE_SUFFIXES = ("", "-wal")  # SQLite makes the other files again
# Text in UTF-16 is longer in UTF-8, but not twice as long.
_MAX_CONTENT_FACTOR = 2
_STORED = 0  # of a column, in what SQLite says about a table: it is neither computed nor hidden

Row = dict[str, Any]
Convert = Callable[[Row], Item | None]


def recognise(source: Source) -> bool:
    return isinstance(source, SingleFile) and source.peek(single_file_name(source)).startswith(_MAGIC)


def read(source: Source, into: Destination) -> Iterator[Item]:
    if not isinstance(source, SingleFile):
        raise InvalidArgument(f"{source.location} is not a database: name the file that is")
    location = os.path.join(source.location, require_single_file(source))
    with TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.db")
        for suffix in _FILE_SUFFIXES:
            if os.path.isfile(location + suffix):
                shutil.copyfile(location + suffix, copy + suffix)
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
        yield from _read_database(copy, location, into, _MAX_CONTENT_FACTOR * size)


def _read_database(copy: str, location: str, into: Destination, most_bytes: int) -> Iterator[Item]:
    import sqlite3

    try:
        connection = sqlite3.connect(copy)
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most_bytes)
        try:
            yield from _read_tables(connection, location, into, most_bytes)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StorageError(f"{location} cannot be read as a database ({error}): get a complete copy") from error


def _read_tables(connection: Connection, location: str, into: Destination, most_bytes: int) -> Iterator[Item]:
    """Yield the rows of the tables that are known, as items; StorageError once they are more than the file can hold."""
    left = most_bytes
    # A virtual table has no root page: a module computes what it holds.
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name"
    ).fetchall()
    for (raw,) in rows:
        table = raw.decode("utf-8", "replace")
        convert = _converter_of(table, location, into)
        if convert:
            for size, item in _read_rows(connection, table, convert):
                left -= size
                if left < 0:
                    raise StorageError(f"{location} claims to hold more than its file can: get a copy of the original")
                if item is not None:
                    yield item
        elif not table.startswith("sqlite_"):
            yield Skipped(f"table {table}", "has an unknown structure")


def _converter_of(table: str, location: str, into: Destination) -> Convert | None:
    """Return the function that turns a row of a table into an item, or None for a table that is not known."""
    if table == "working_memory":
        return partial(_convert_note, location, into)
    if table == "skills":
        return partial(_convert_skill, location)
    if table == "global_memories":
        return partial(_convert_record, location, Scope("global"))
    if table.startswith(_CHANNEL_PREFIX) and table != _CHANNEL_PREFIX:
        return partial(_convert_record, location, Scope("channel", table.removeprefix(_CHANNEL_PREFIX)))
    return None


def _read_rows(connection: Connection, table: str, convert: Convert) -> Iterator[tuple[int, Item | None]]:
    """Yield every row of a table as an item, with its size; a row that is not understood is skipped.

    Computed columns are not read: the database says how, and it may take hours.
    """
    import sqlite3

    columns = connection.execute(f"PRAGMA table_xinfo({_quote(table)})").fetchall()
    names = [name.decode("utf-8", "replace") for _, name, *_, hidden in columns if hidden == _STORED]
    computed = [name.decode("utf-8", "replace") for _, name, *_, hidden in columns if hidden != _STORED]
    if computed:
        yield 0, Skipped(f"table {table}, {list_some(computed, 3)}", "is computed by the database, and is not read")
    rows = connection.execute(f"SELECT {', '.join(map(_quote, names))} FROM {_quote(table)}")
    number = 0
    while True:
        number += 1
        try:
            values = rows.fetchone()
        except sqlite3.DatabaseError as error:
            yield 0, Skipped(f"table {table}, from row {number} on", f"is damaged ({error})")
            return
        if values is None:
            return
        size = 1 + sum(len(value) for value in values if isinstance(value, bytes))
        try:
            row = {
                name: value.decode() if isinstance(value, bytes) else value
                for name, value in zip(names, values, strict=True)
            }
            item = convert(row)
        except UnicodeDecodeError:
            item = Skipped(f"table {table}, row {number}", "is not UTF-8 text")
        except InvalidArgument as error:
            item = Skipped(f"table {table}, row {number}", str(error))
        yield size, item


def _quote(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _convert_note(location: str, into: Destination, row: Row) -> Item | None:
    key = _require_key(row, "key")
    content = row.get("content")
    at = read_timestamp(row.get("updated_at"))
    if not isinstance(content, str) or not content.strip():
        if key in _FIXED_KEYS:
            return None
        raise InvalidArgument(f"{key!r} has no content")
    name = f"{location} {key}"
    if day := _ACTIVITY_KEY.fullmatch(key):
        page = f"{into.layout.activity_folder(into.agent)}/{day[1]}.md"
        return PageItem(name, page, f"{content.rstrip()}\n".encode(), 0, page.removesuffix(".md") + "-imported.md")
    return RecordItem(name, Scope("agent", into.agent), Record(key, content.strip(), created_at=at, updated_at=at))


def _convert_record(location: str, scope: Scope, row: Row) -> Item:
    key = _require_key(row, "key")
    value = _parse_json(row.get("value"))
    if value is None:
        raise InvalidArgument(f"{key!r} has no value")
    category = str(row.get("category") or "").strip() or "general"
    tags = str(row.get("tags") or "").split(",")
    unique_tags = tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    record = Record(key, value, category, unique_tags, *_read_times(row))
    return RecordItem(f"{location} {scope} {key}", scope, record)


def _convert_skill(location: str, row: Row) -> Item:
    name = _require_key(row, "name")
    data = _parse_json(row.get("skill_data"))
    if data in (None, ""):
        data = {}
    if not isinstance(data, dict):
        raise InvalidArgument(f"the data of the skill {name!r} is not an object")
    count = row.get("training_progress")
    skill = Skill(
        name,
        str(row.get("description") or ""),
        str(row.get("instructions") or ""),
        str(row.get("owner") or "global"),
        data,
        count if isinstance(count, int) and count > 0 else 0,
        *_read_times(row),
    )
    return SkillItem(f"{location} skill {name}", skill)


def _read_times(row: Row) -> tuple[str, str]:
    """Return when a row was created and updated; if only one is given, it is both."""
    created = read_timestamp(row.get("created_at"))
    updated = read_timestamp(row.get("updated_at"))
    return created or updated, updated or created


def _require_key(row: Row, name: str) -> str:
    key = row.get(name)
    if not isinstance(key, str) or is_blank(key):
        raise InvalidArgument(f"has no {name}")
    return key.strip()


def _parse_json(value: Any) -> Json:
    """Return a value parsed as JSON; text that is not JSON is returned as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json_text.parse_json(value)
    except ValueError:
        return value
