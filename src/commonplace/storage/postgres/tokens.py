"""Tokens and the log of a home in a database: two tables, of which each tenant sees its own rows."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from ...errors import CommonplaceError, NotFound
from ..tokens import Call, Role, Token
from .connection import Database

_COLUMNS = "id, digest, agents, role, note, created_at, expires_at, revoked_at"
_PATIENCE = 2000  # milliseconds for a line of the log: nobody waits for it longer


class PostgresTokens:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.tenant = database.tenant

    def list_tokens(self) -> list[Token]:
        asked = f"SELECT {_COLUMNS} FROM commonplace.access_tokens WHERE tenant = %(tenant)s ORDER BY created_at, id"
        return [_token(row) for row in self._database.query(asked, {"tenant": self._database.tenant})]

    def add(self, token: Token) -> None:
        values = {"tenant": self._database.tenant, **token._asdict()}
        values["agents"] = None if token.agents is None else list(token.agents)
        marks = ", ".join(f"%({name})s" for name in Token._fields)
        # One that was committed although the server's word did not arrive is there already.
        told = (
            f"INSERT INTO commonplace.access_tokens (tenant, {_COLUMNS}) VALUES (%(tenant)s, {marks})"
            " ON CONFLICT DO NOTHING"
        )
        self._database.run(lambda connection: connection.execute(told.encode(), values))

    def revoke(self, name: str, at: str) -> Token:
        told = (
            "UPDATE commonplace.access_tokens SET revoked_at = CASE revoked_at WHEN '' THEN %(at)s ELSE revoked_at END"
            f" WHERE tenant = %(tenant)s AND id = %(name)s RETURNING {_COLUMNS}"
        )
        values = {"tenant": self._database.tenant, "name": name, "at": at}
        row = self._database.run(lambda connection: connection.execute(told.encode(), values).fetchone())
        if row is None:
            raise NotFound(f"there is no token {name}: `commonplace token list` shows them")
        return _token(row)

    def record_call(self, call: Call) -> None:
        import psycopg

        names = ", ".join(Call._fields)
        marks = ", ".join(f"%({name})s" for name in Call._fields)
        told = f"INSERT INTO commonplace.access_calls (tenant, {names}) VALUES (%(tenant)s, {marks})"
        values = {"tenant": self._database.tenant, **{k: v.replace("\0", "") for k, v in call._asdict().items()}}
        with (
            suppress(CommonplaceError, psycopg.Error),
            self._database.transaction(timeout_ms=_PATIENCE) as connection,
        ):
            connection.execute(told.encode(), values)

    def recent_calls(self, last: int) -> list[Call]:
        asked = (
            f"SELECT {', '.join(Call._fields)} FROM commonplace.access_calls WHERE tenant = %(tenant)s"
            " ORDER BY at DESC, id LIMIT %(last)s"
        )
        rows = self._database.query(asked, {"tenant": self._database.tenant, "last": max(1, last)})
        return [Call._make(row) for row in reversed(rows)]

    def close(self) -> None:
        self._database.close()


def _token(row: tuple[Any, ...]) -> Token:
    id, digest, agents, role, *rest = row  # noqa: A001
    return Token(id, digest, None if agents is None else tuple(agents), cast(Role, role), *rest)
