"""Access tokens and the audit log as rows. Each tenant sees only its own."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from ...errors import CommonplaceError, NotFound
from ..tokens import Call, Role, Token
from .connection import Database, Row

if TYPE_CHECKING:
    from .connection import Connection

_COLUMNS = "id, digest, agents, role, note, created_at, expires_at, revoked_at"
_AUDIT_TIMEOUT_MS = 2000  # nobody waits longer for an entry of the audit log


class PostgresTokens:
    is_immediate = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self.tenant = database.tenant

    def list_tokens(self) -> list[Token]:
        statement = (
            f"SELECT {_COLUMNS} FROM commonplace.access_tokens WHERE tenant = %(tenant)s ORDER BY created_at, id"
        )
        return [_parse_token(row) for row in self._database.query(statement, {"tenant": self.tenant})]

    def add(self, token: Token) -> None:
        values = {"tenant": self.tenant, **token._asdict()}
        values["agents"] = None if token.agents is None else list(token.agents)
        placeholders = ", ".join(f"%({name})s" for name in Token._fields)
        # A retry may find that the first attempt was committed.
        statement = (
            f"INSERT INTO commonplace.access_tokens (tenant, {_COLUMNS}) VALUES (%(tenant)s, {placeholders})"
            " ON CONFLICT DO NOTHING"
        )

        def insert(connection: Connection) -> None:
            connection.execute(statement.encode(), values)

        self._database.run(insert)

    def revoke(self, name: str, at: str) -> Token:
        statement = (
            "UPDATE commonplace.access_tokens SET revoked_at = CASE revoked_at WHEN '' THEN %(at)s ELSE revoked_at END"
            f" WHERE tenant = %(tenant)s AND id = %(name)s RETURNING {_COLUMNS}"
        )
        values = {"tenant": self.tenant, "name": name, "at": at}
        row = self._database.fetch_one(statement, values)
        if row is None:
            raise NotFound(f"there is no token {name}: `commonplace token list` shows them")
        return _parse_token(row)

    def record_call(self, call: Call) -> None:
        import psycopg

        names = ", ".join(Call._fields)
        placeholders = ", ".join(f"%({name})s" for name in Call._fields)
        statement = f"INSERT INTO commonplace.access_calls (tenant, {names}) VALUES (%(tenant)s, {placeholders})"
        values = {name: value.replace("\0", "") for name, value in call._asdict().items()}
        with (
            suppress(CommonplaceError, psycopg.Error),
            self._database.transaction(timeout_ms=_AUDIT_TIMEOUT_MS) as connection,
        ):
            connection.execute(statement.encode(), {"tenant": self.tenant, **values})

    def recent_calls(self, last: int) -> list[Call]:
        statement = (
            f"SELECT {', '.join(Call._fields)} FROM commonplace.access_calls WHERE tenant = %(tenant)s"
            " ORDER BY at DESC, id LIMIT %(last)s"
        )
        rows = self._database.query(statement, {"tenant": self.tenant, "last": max(1, last)})
        return [Call._make(row) for row in reversed(rows)]

    def close(self) -> None:
        self._database.close()


def _parse_token(row: Row) -> Token:
    token_id, digest, agents, role, *rest = row
    return Token(token_id, digest, None if agents is None else tuple(agents), cast(Role, role), *rest)
