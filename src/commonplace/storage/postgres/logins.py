"""Logins that are bound to a tenant by the server itself: whatever they send, they reach no other's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import InvalidArgument, StorageError
from .connection import Database
from .errors import ROLE

if TYPE_CHECKING:
    from psycopg import Connection

_LONGEST = 63  # bytes of a role's name


def bind(database: Database, login: str) -> bool:
    """Let a login be the tenant of this address, and no other that it is not bound to as well; whether it was made.

    InvalidArgument for one whom row-level security does not bind.
    """
    import psycopg
    from psycopg.sql import SQL, Identifier

    if not login or "\0" in login or len(login.encode("utf-8", "replace")) > _LONGEST:
        raise InvalidArgument(f"a login is a name of at most {_LONGEST} bytes")
    try:
        with database.maintenance() as connection, connection.transaction():
            is_new = _is_new(connection, login)
            if is_new:
                connection.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(login)))
            connection.execute(
                "INSERT INTO commonplace.logins (login, tenant) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                (login, database.tenant),
            )
            connection.execute(SQL("GRANT {} TO {}").format(Identifier(ROLE), Identifier(login)))
            return is_new
    except StorageError as error:
        if isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
            raise StorageError(
                f"this user may not bind {login}: do it as an owner of the tables who may create roles"
            ) from error
        raise


def _is_new(connection: Connection[tuple[Any, ...]], login: str) -> bool:
    row = connection.execute(
        "SELECT rolsuper OR rolbypassrls OR pg_has_role(rolname, relowner, 'MEMBER') FROM pg_roles, pg_class"
        " WHERE rolname = %s AND pg_class.oid = 'commonplace.pages'::regclass",
        (login,),
    ).fetchone()
    if row and row[0]:
        raise InvalidArgument(
            f"{login} is a superuser, owns the tables or stands above row-level security: name another login"
        )
    return row is None


def require_tenant(connection: Connection[tuple[Any, ...]], tenant: str) -> None:
    """StorageError where the login of a connection is bound to others than this tenant."""
    rows = connection.execute(
        "SELECT login, tenant FROM commonplace.logins WHERE login = session_user::text ORDER BY tenant"
    ).fetchall()
    bound = [row[1] for row in rows]
    if bound and tenant not in bound:
        raise StorageError(
            f"the login {rows[0][0]} is for the tenant {', '.join(bound)}: name that in the URL, as ?tenant={bound[0]}"
        )
