"""Database logins that the server binds to a tenant: whatever they send, they reach no other tenant's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import InvalidArgument, StorageError
from .connection import MEMBER_ROLE, Database

if TYPE_CHECKING:
    from .connection import Connection

_MAX_ROLE_BYTES = 63


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
                " WHERE rolname = %s ON CONFLICT (login, tenant) DO UPDATE SET role = EXCLUDED.role",
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
    """StorageError where the login of a connection is bound to other tenants only."""
    rows = connection.execute(
        "SELECT DISTINCT session_user, tenant FROM commonplace.logins WHERE login = session_user::text"
        " OR role = to_regrole(quote_ident(session_user::text))::oid ORDER BY tenant"
    ).fetchall()
    tenants = [row[1] for row in rows]
    if tenants and tenant not in tenants:
        raise StorageError(
            f"the login {rows[0][0]} is for the tenant {', '.join(tenants)}:"
            f" name that in the URL, as ?tenant={tenants[0]}"
        )
