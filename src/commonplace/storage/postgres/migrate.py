"""How the tables come to be, and change from version to version: numbered files of SQL, each applied once, in order.

Who migrates owns the tables. Two that migrate at once stand in line at a row. A database that a newer program has
changed is left as it is; whether an older one can go on with it, each file says in its first line (`_SINCE`).
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import StorageError
from .connection import Address, Database
from .logins import require_tenant

if TYPE_CHECKING:
    from psycopg import Connection

_FOLDER = os.path.join(os.path.dirname(__file__), "migrations")
_NAMED = re.compile(r"(\d{4})_(\w+)\.sql")
_SINCE = re.compile(rb"-- For programs from (\d{4}) on\b")  # which migration a program must know; else this one
_OLDEST = 150000  # the server's version, as it says it
_ready: set[Address] = set()  # databases that this process has found to be so
_BEGIN = """
CREATE SCHEMA IF NOT EXISTS commonplace;
CREATE TABLE IF NOT EXISTS commonplace.migrations (
  number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE commonplace.migrations ADD COLUMN IF NOT EXISTS since integer;
CREATE TABLE IF NOT EXISTS commonplace.migrating (it boolean PRIMARY KEY CHECK (it));
INSERT INTO commonplace.migrating VALUES (true) ON CONFLICT DO NOTHING;
"""


class Migration(NamedTuple):
    """`since`: what a program must know at the least to work with the tables afterwards."""

    number: int
    name: str
    since: int

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


class Status(NamedTuple):
    """What was applied, what waits, and what only a newer program knows."""

    applied: tuple[Migration, ...]
    pending: tuple[Migration, ...]
    unknown: tuple[Migration, ...]

    @property
    def is_too_new(self) -> bool:
        """Whether something was changed that this program can not go on with."""
        mine = max((each.number for each in known()), default=0)
        return any(each.since > mine for each in self.unknown)

    @property
    def is_ready(self) -> bool:
        return not self.pending and not self.is_too_new


@cache
def known(folder: str = _FOLDER) -> tuple[Migration, ...]:
    """What this program brings, in order."""
    found = (_NAMED.fullmatch(name) for name in sorted(os.listdir(folder)))
    return tuple(Migration(int(match[1]), match[2], _since(folder, match)) for match in found if match)


def _since(folder: str, named: re.Match[str]) -> int:
    with open(os.path.join(folder, named[0]), "rb") as file:
        said = _SINCE.match(file.readline())
    return int(said[1]) if said else int(named[1])


def status(database: Database) -> Status:
    with database.maintenance() as connection:
        return _status(connection)


def require(database: Database, shown: str) -> None:
    """StorageError where a database has no tables, or those of another version; with the command that helps.

    Asked on a connection of its own, so that one that can not be made says why at once.
    """
    if database.address in _ready:
        return
    with database.maintenance() as connection:
        now = _status(connection)
        if now.is_ready:
            require_tenant(connection, database.tenant)
    if now.is_too_new:
        raise StorageError(f"{shown} was made by a newer commonplace (it has {now.unknown[-1]}): update this one")
    if not now.applied:
        raise StorageError(f"{shown} has no tables yet: run `commonplace db init '{shown}'`")
    if now.pending:
        raise StorageError(f"{shown} has older tables: run `commonplace db migrate '{shown}'`")
    _ready.add(database.address)


def migrate(database: Database) -> tuple[Migration, ...]:
    """Apply what waits; what was applied now. Doing it again changes nothing."""
    with database.maintenance() as connection:
        now = _status(connection)
        if now.is_ready:
            return ()
        _fit(connection)
        _begin(connection)
        done: list[Migration] = []
        while step := _next(connection):
            done.append(step)
        return tuple(done)


def _next(connection: Connection[tuple[Any, ...]]) -> Migration | None:
    """Apply one, in a transaction of its own; None when there is none left."""
    with connection.transaction():
        connection.execute("SELECT 1 FROM commonplace.migrating FOR UPDATE")
        now = _status(connection)
        if now.unknown and not now.is_ready:
            raise StorageError(
                f"the database was made by a newer commonplace (it has {now.unknown[-1]}): update this program; "
                "nothing was changed"
            )
        if not now.pending:
            return None
        step = now.pending[0]
        _apply(connection, step)
        connection.execute("INSERT INTO commonplace.migrations (number, name, since) VALUES (%s, %s, %s)", step)
        return step


def _apply(connection: Connection[tuple[Any, ...]], step: Migration) -> None:
    import psycopg

    with open(os.path.join(_FOLDER, f"{step}.sql"), "rb") as file:
        text = file.read()
    try:
        connection.execute(text)
    except psycopg.errors.InsufficientPrivilege as error:
        what = str(error).partition("\n")[0]
        raise StorageError(f"{step} could not be applied ({what}): migrate as a user who may do that") from error


def _status(connection: Connection[tuple[Any, ...]]) -> Status:
    mine = known()
    there = connection.execute("SELECT to_regclass('commonplace.migrations') IS NOT NULL").fetchone()
    if there != (True,):
        return Status((), mine, ())
    # Tables that were made before a migration said so have no such column.
    since = "coalesce((to_jsonb(done) ->> 'since')::integer, number)"
    asked = f"SELECT number, name, {since} FROM commonplace.migrations AS done ORDER BY number"
    rows = connection.execute(asked.encode()).fetchall()
    applied = tuple(Migration(*row) for row in rows)
    numbers, own = {each.number for each in applied}, {each.number for each in mine}
    return Status(
        applied,
        tuple(each for each in mine if each.number not in numbers),
        tuple(each for each in applied if each.number not in own),
    )


def _fit(connection: Connection[tuple[Any, ...]]) -> None:
    """See that the server can keep pages as they are."""
    if connection.info.server_version < _OLDEST:
        raise StorageError(f"this is PostgreSQL {connection.info.server_version // 10000}: 15 or newer is needed")
    row = connection.execute("SELECT current_setting('server_encoding')").fetchone()
    if row != ("UTF8",):
        raise StorageError("the database does not keep text as UTF-8: make one with CREATE DATABASE … ENCODING 'UTF8'")


def _begin(connection: Connection[tuple[Any, ...]]) -> None:
    """The schema, and the row to stand in line at. Two who make them at once get in each other's way."""
    import psycopg

    made_meanwhile = (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateSchema, psycopg.errors.DuplicateTable)
    for left in (2, 1, 0):
        try:
            with connection.transaction():
                connection.execute(_BEGIN)
            return
        except psycopg.errors.InsufficientPrivilege as error:
            what = str(error).partition("\n")[0]
            raise StorageError(f"this user may not make tables ({what}): do it as who owns the database") from error
        except made_meanwhile:
            if not left:
                raise
