"""The shared backend: a memory as rows of a PostgreSQL database, one tenant of it, with its tokens and audit log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from ... import settings as settings_of
from ...errors import CommonplaceError, NotFound, OutsideHome, SettingsError
from ...model import Clock
from ..base import Backend, BulkStore, HistoryStore, OnWrite, Pages, Retention, Storage, TokenStore
from ..tokens import Call, Role, Token
from ..tree import FileTree, PageTree
from .connection import Database, Row
from .history import PostgresHistory
from .listen import flush_notices
from .pages import PostgresPages
from .transcripts import PostgresTranscript
from .url import DATABASE_SCHEMES, parse_url, replica_address, with_tenant

if TYPE_CHECKING:
    from ...index.handle import IndexHandle
    from ...index.sync import IndexScope
    from ..base import SetupProblem
    from .connection import Connection


_PASSWORD = re.compile(r"(://[^:/?#@]*):(?!\d*(?:[/?,]|$)).*@", re.DOTALL)  # and not a port
_REPLICA = re.compile(r"(?<=[?&])search=([^&]*)")
_NAMED_PASSWORD = re.compile(r"(?<=[?&])(?:ssl)?password=[^&]*&?")


class PostgresStorage(Storage):
    local_folder = ""
    cache_folder = ""
    settings_check_seconds = 1.0  # a check is a round trip to the server

    def __init__(self, address: str, clock: Clock, on_write: OnWrite) -> None:
        from .migrate import require_migrated

        self.name = hide_passwords(address)
        self.database = Database(parse_url(address))
        require_migrated(self.database, self.name)
        self._clock = clock
        self._history = PostgresHistory(self.database, clock)
        self.history: HistoryStore = self._history
        self._pages = PostgresPages(self.database, on_write, self._history)
        self.pages: Pages = self._pages
        self.tokens: TokenStore = PostgresTokens(self.database)
        self.tree: FileTree = PageTree(self._pages)
        self.settings_version = self.current_settings_version()
        self.settings = settings_of.load("", self.read_settings_text)
        self._history.retention = Retention.of(self.settings.history)

    def read_settings_text(self, path: str) -> str | None:
        data = self.read_bytes(path)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 text (byte {error.start})"
            raise SettingsError(problem, path=path, advice="save it as UTF-8") from error

    def current_settings_version(self) -> object:
        return self._pages.version(settings_of.FILE)

    def read_bytes(self, path: str) -> bytes | None:
        return self._pages.read_bytes(path)

    def modified_times(self, paths: Iterable[str]) -> dict[str, float]:
        # One query for all pages is as fast as one for some.
        times = self._pages.modified_times()
        return {path: times[path] for path in paths if path in times}

    def exists(self, path: str) -> bool:
        try:
            return self._pages.find_page(path) is not None
        except OutsideHome:
            return False

    def open_transcript(self, path: str) -> PostgresTranscript:
        return PostgresTranscript(self.database, path)

    def open_index(self, scope: IndexScope) -> IndexHandle:
        from .index_handle import PostgresIndexHandle, ReplicaIndexHandle

        if not self.database.address.search:
            return PostgresIndexHandle(self.database, self._pages, scope)
        replica = Database(replica_address(self.database.address), is_primary=False)
        return ReplicaIndexHandle(self.database, self._pages, scope, replica)

    @cached_property
    def bulk(self) -> BulkStore:
        from .bulk import PostgresBulk

        return PostgresBulk(self.database, self._clock, self._history)

    def close(self) -> None:
        flush_notices(self.database)
        self.database.close()


class PostgresBackend(Backend):
    has_tenants = True

    def open_storage(self, address: str, clock: Clock, on_write: OnWrite) -> PostgresStorage:
        return PostgresStorage(address, clock, on_write)

    def open_tokens(self, address: str) -> PostgresTokens:
        return PostgresTokens(Database(parse_url(address)))

    def display_name(self, address: str) -> str:
        return hide_passwords(address)

    def require_ready(self, address: str) -> None:
        from .migrate import require_migrated

        require_migrated(Database(parse_url(address)), hide_passwords(address))

    def tenant_address(self, address: str, tenant: str) -> str:
        return with_tenant(address, tenant)

    def diagnose(self, address: str) -> list[SetupProblem]:
        from ..base import SetupProblem
        from .migrate import migration_status

        status = migration_status(Database(parse_url(address)))
        if status.is_too_new:
            problem = f"a newer commonplace changed the tables (there is {status.unknown[-1]})"
            return [SetupProblem("commonplace", problem, "update this program; nothing else was checked")]
        if status.pending:
            problem = f"the tables are not up to date ({', '.join(map(str, status.pending))} not applied)"
            command = "migrate" if status.applied else "init"
            advice = f"run `commonplace db {command}`; until then nothing else is checked"
            return [SetupProblem("commonplace", problem, advice)]
        return []


BACKEND = PostgresBackend()


def hide_passwords(url: str) -> str:
    """Return a URL without its passwords, those of replicas included."""
    head, question, rest = url.partition("?")
    bare, count = _PASSWORD.subn(r"\1@", head)
    shown = f"{bare}{question}{rest}" if count else _PASSWORD.sub(r"\1@", url)
    return _REPLICA.sub(_hide_replica_password, _NAMED_PASSWORD.sub("", shown).rstrip("?&"))


def _hide_replica_password(match: re.Match[str]) -> str:
    replica = unquote(match[1])
    if not replica.startswith(DATABASE_SCHEMES):
        return match[0]
    return f"search={quote(hide_passwords(replica), safe='')}"


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
        rows = self._database.query(statement, values)
        if not rows:
            raise NotFound(f"there is no token {name}: `commonplace token list` shows them")
        return _parse_token(rows[0])

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
