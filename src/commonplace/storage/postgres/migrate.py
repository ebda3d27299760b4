"""Schema migrations (numbered SQL files, each applied once, in order), and logins that are bound to a tenant.

Whoever migrates owns the tables. Concurrent migrations queue at a row. A database that a newer program has migrated is
left as it is; the first line of each file says whether older programs can go on with it. Whatever a login
of a tenant sends, it reaches no other tenant's rows.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ...errors import InvalidArgument, StorageError
from ...wording import format_command
from .connection import MEMBER_ROLE, Database
from .url import Address

if TYPE_CHECKING:
    from .connection import Connection

_FOLDER = os.path.join(os.path.dirname(__file__), "migrations")
_FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
_SINCE = re.compile(rb"-- For programs from (\d{4}) on\b")  # the migration a program must know; by default the file's
_MIN_SERVER_VERSION = 150000
_migrated: set[Address] = set()  # databases that this process has found up to date
_BOOTSTRAP = """
CREATE SCHEMA IF NOT EXISTS commonplace;
CREATE TABLE IF NOT EXISTS commonplace.migrations (
  number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE commonplace.migrations ADD COLUMN IF NOT EXISTS since integer;
CREATE TABLE IF NOT EXISTS commonplace.migrating (it boolean PRIMARY KEY CHECK (it));
INSERT INTO commonplace.migrating VALUES (true) ON CONFLICT DO NOTHING;
"""
_MAX_ROLE_BYTES = 63


class Migration(NamedTuple):
    """`since`: the oldest program, by the last migration it knows, that works with the tables afterwards."""

    number: int
    name: str
    since: int

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


class Status(NamedTuple):
    """Migrations that were applied, that are still to apply, and that only a newer program knows."""

    applied: tuple[Migration, ...]
    pending: tuple[Migration, ...]
    unknown: tuple[Migration, ...]

    @property
    def is_too_new(self) -> bool:
        """Whether a newer program changed something that this one cannot work with."""
        latest = max((each.number for each in known_migrations()), default=0)
        return any(each.since > latest for each in self.unknown)

    @property
    def is_ready(self) -> bool:
        return not self.pending and not self.is_too_new


@cache
def known_migrations(folder: str = _FOLDER) -> tuple[Migration, ...]:
    """Return the migrations that this program brings, in order."""
    matches = (_FILE_NAME.fullmatch(name) for name in sorted(os.listdir(folder)))
    return tuple(Migration(int(match[1]), match[2], _read_since(folder, match)) for match in matches if match)


def _read_since(folder: str, file_name: re.Match[str]) -> int:
    with open(os.path.join(folder, file_name[0]), "rb") as file:
        header = _SINCE.match(file.readline())
    return int(header[1]) if header else int(file_name[1])


def migration_status(database: Database) -> Status:
    with database.admin_connection() as connection:
        return _read_status(connection)


def require_migrated(database: Database, display_url: str) -> None:
    """StorageError, naming the command that helps, where the tables are missing or of another version.

    Asked on a connection outside the pools, so that a failure to connect is reported at once.
    """
    if database.address in _migrated:
        return
    with database.admin_connection() as connection:
        status = _read_status(connection)
        if status.is_ready:
            require_tenant(connection, database.tenant)
    if status.is_too_new:
        newest = status.unknown[-1]
        raise StorageError(f"{display_url} was made by a newer commonplace (it has {newest}): update this one")
    if not status.applied:
        raise StorageError(f"{display_url} has no tables yet: run `{format_command('db', 'init', display_url)}`")
    if status.pending:
        raise StorageError(f"{display_url} has older tables: run `{format_command('db', 'migrate', display_url)}`")
    _migrated.add(database.address)


def migrate(database: Database) -> tuple[Migration, ...]:
    """Apply what is pending and return it. Doing it again changes nothing."""
    with database.admin_connection() as connection:
        if _read_status(connection).is_ready:
            return ()
        _require_server(connection)
        _bootstrap(connection)
        applied: list[Migration] = []
        while migration := _apply_next(connection):
            applied.append(migration)
        return tuple(applied)


def _apply_next(connection: Connection) -> Migration | None:
    """Apply the next migration in a transaction of its own; None when none is left."""
    with connection.transaction():
        connection.execute("SELECT 1 FROM commonplace.migrating FOR UPDATE")
        status = _read_status(connection)
        if status.unknown and not status.is_ready:
            raise StorageError(
                f"the database was made by a newer commonplace (it has {status.unknown[-1]}): update this program; "
                "nothing was changed"
            )
        if not status.pending:
            return None
        migration = status.pending[0]
        _apply(connection, migration)
        connection.execute("INSERT INTO commonplace.migrations (number, name, since) VALUES (%s, %s, %s)", migration)
        return migration


def _apply(connection: Connection, migration: Migration) -> None:
    import psycopg

    with open(os.path.join(_FOLDER, f"{migration}.sql"), "rb") as file:
        sql = file.read()
    try:
        connection.execute(sql)
    except psycopg.errors.InsufficientPrivilege as error:
        reason = error.diag.message_primary
        raise StorageError(f"{migration} could not be applied ({reason}): migrate as a user who may do that") from error


def _read_status(connection: Connection) -> Status:
    known = known_migrations()
    exists = connection.execute("SELECT to_regclass('commonplace.migrations') IS NOT NULL").fetchone()
    if exists != (True,):
        return Status((), known, ())
    # The oldest databases have no column `since`.
    since = "coalesce((to_jsonb(done) ->> 'since')::integer, number)"
    statement = f"SELECT number, name, {since} FROM commonplace.migrations AS done ORDER BY number"
    applied = tuple(Migration(*row) for row in connection.execute(statement.encode()).fetchall())
    applied_numbers = {each.number for each in applied}
    known_numbers = {each.number for each in known}
    return Status(
        applied,
        tuple(each for each in known if each.number not in applied_numbers),
        tuple(each for each in applied if each.number not in known_numbers),
    )


def _require_server(connection: Connection) -> None:
    """StorageError if the server is too old or does not store text as UTF-8."""
    if connection.info.server_version < _MIN_SERVER_VERSION:
        raise StorageError(f"this is PostgreSQL {connection.info.server_version // 10000}: 15 or newer is needed")
    row = connection.execute("SELECT current_setting('server_encoding')").fetchone()
    if row != ("UTF8",):
        raise StorageError("the database does not store text as UTF-8: make one with CREATE DATABASE … ENCODING 'UTF8'")


def _bootstrap(connection: Connection) -> None:
    """Create the schema and the row that migrations queue at. Two that do so at once may collide: then try again."""
    import psycopg

    collisions = (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateSchema, psycopg.errors.DuplicateTable)
    for tries_left in (2, 1, 0):
        try:
            with connection.transaction():
                connection.execute(_BOOTSTRAP)
            return
        except psycopg.errors.InsufficientPrivilege as error:
            reason = error.diag.message_primary
            raise StorageError(f"this user may not create tables ({reason}): do it as the database's owner") from error
        except collisions:
            if not tries_left:
                raise


def bind_login(database: Database, login: str) -> bool:
    """Bind a login to the tenant of this address; return whether the login was created.

    A login may be bound to several tenants. InvalidArgument for one that row-level security does not restrict.
    """
    import psycopg
    from psycopg.sql import SQL, Identifier

    if not login or "\0" in login or len(login.encode("utf-8", "replace")) > _MAX_ROLE_BYTES:
        raise InvalidArgument(f"a login is a name of at most {_MAX_ROLE_BYTES} bytes")
    try:
        with database.admin_connection() as connection, connection.transaction():
            is_new = not _login_exists(connection, login)
            if is_new:
                connection.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(login)))
            connection.execute(
                "INSERT INTO commonplace.logins (login, tenant, role) SELECT rolname, %s, oid FROM pg_roles"
                " WHERE rolname = %s ON CONFLICT (reverse(login), reverse(tenant)) DO UPDATE SET role = EXCLUDED.role",
                (database.tenant, login),
            )
            connection.execute(SQL("GRANT {} TO {}").format(Identifier(MEMBER_ROLE), Identifier(login)))
            return is_new
    except StorageError as error:
        if isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
            raise StorageError(
                f"this user may not bind {login}: do it as an owner of the tables who may create roles"
            ) from error
        raise


_UNRESTRICTED = """
    SELECT rolname FROM pg_roles JOIN pg_class ON pg_class.oid = 'commonplace.pages'::regclass
    WHERE pg_has_role(%(login)s, pg_roles.oid, 'MEMBER') AND (
      rolsuper OR rolbypassrls OR rolcreaterole OR rolreplication OR pg_roles.oid = relowner
      OR rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
    ORDER BY rolname = %(login)s DESC, rolname LIMIT 1"""


def _login_exists(connection: Connection, login: str) -> bool:
    """InvalidArgument for a login that gets past row-level security, by itself or as a member of another role.

    Who may create roles can take over other logins; who may replicate, or read the server's files, reads all rows.
    """
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (login,)).fetchone() is None:
        return False
    row = connection.execute(_UNRESTRICTED, {"login": login}).fetchone()
    if row:
        role = "" if row[0] == login else f"is a member of {row[0]}, which "
        raise InvalidArgument(
            f"{login} {role}is a superuser, owns the tables or bypasses row-level security (as do roles that may create"
            " roles, replicate or read the server's files): name another login"
        )
    return True


def require_tenant(connection: Connection, tenant: str) -> None:
    """StorageError if the login of a connection is bound to other tenants only."""
    rows = connection.execute(
        "SELECT DISTINCT session_user, tenant FROM commonplace.logins WHERE login = session_user::text"
        " OR role = to_regrole(quote_ident(session_user::text))::oid ORDER BY tenant"
    ).fetchall()
    tenants = [row[1] for row in rows]
    if tenants and tenant not in tenants:
        raise StorageError(
            f"the login {rows[0][0]} can reach only the tenant {', '.join(tenants)}:"
            f" name that in the URL, as ?tenant={tenants[0]}"
        )
