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
                "INSERT INTO commonplace.logins (login, tenant) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                (login, database.tenant),
            )
            connection.execute(SQL("GRANT {} TO {}").format(Identifier(MEMBER_ROLE), Identifier(login)))
            return is_new
    except StorageError as error:
        if isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
            raise StorageError(
                f"this user may not bind {login}: do it as an owner of the tables who may create roles"
            ) from error
        raise


def _login_exists(connection: Connection, login: str) -> bool:
    """InvalidArgument for a role that bypasses row-level security."""
    row = connection.execute(
        "SELECT rolsuper OR rolbypassrls OR pg_has_role(rolname, relowner, 'MEMBER') FROM pg_roles, pg_class"
        " WHERE rolname = %s AND pg_class.oid = 'commonplace.pages'::regclass",
        (login,),
    ).fetchone()
    if row and row[0]:
        raise InvalidArgument(
            f"{login} is a superuser, owns the tables or bypasses row-level security: name another login"
        )
    return row is not None


def require_tenant(connection: Connection, tenant: str) -> None:
    """StorageError where the login of a connection is bound to other tenants only."""
    rows = connection.execute(
        "SELECT login, tenant FROM commonplace.logins WHERE login = session_user::text ORDER BY tenant"
    ).fetchall()
    tenants = [row[1] for row in rows]
    if tenants and tenant not in tenants:
        raise StorageError(
            f"the login {rows[0][0]} is for the tenant {', '.join(tenants)}:"
            f" name that in the URL, as ?tenant={tenants[0]}"
        )
