"""How the index in PostgreSQL is reached: one writer at a time by a lock on its row, readers on one state of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ..database import Database
from ..errors import LockTimeout
from .postgres_visible import OWN, mark_of

if TYPE_CHECKING:
    from psycopg import Connection

_PATIENCE = "2s"  # to wait for another process that writes; then the answer is marked stale instead
_LONG = 300_000  # milliseconds that a statement of a writer may take
TABLES = ("pages", "owners", "frequencies", "passages", "words", "records", "spaces", "vectors")


class Counters:
    """The last numbers given out. Only who writes has them, and puts them back when it is done."""

    def __init__(self, connection: Connection[tuple[Any, ...]], passages: int, owners: int, spaces: int) -> None:
        self.connection = connection
        self.passages, self.owners, self.spaces = passages, owners, spaces


class Tables:
    """The rows of one tenant and territory. Safe to share between threads."""

    def __init__(self, database: Database, territory: str) -> None:
        self.database = database
        self.own = {"tenant": database.tenant, "territory": territory, "mark": mark_of(database.tenant, territory)}
        self._here = threading.local()

    def rows(
        self, sql: str, values: Mapping[str, Any] | None = None, settings: Mapping[str, str] | None = None
    ) -> list[tuple[Any, ...]]:
        """What a statement answers: in one round trip, or as a part of what this thread has begun."""
        later: ExitStack | None = getattr(self._here, "later", None)
        if later is not None:
            later.enter_context(self.database.transaction(snapshot=True))
            self._here.later = None
        return self.database.rows(sql, {**self.own, **(values or {})}, settings)

    def write(self, sql: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Within `writing`: what a statement gives back."""
        cursor = self.counters.connection.execute(sql, {**self.own, **(values or {})})
        return cursor.fetchall() if cursor.description else []

    def write_many(self, sql: str, values: list[dict[str, Any]]) -> None:
        if values:
            self.counters.connection.cursor().executemany(sql, [{**self.own, **each} for each in values])

    @property
    def counters(self) -> Counters:
        counters: Counters | None = getattr(self._here, "counters", None)
        if counters is None:
            raise RuntimeError("an index is written within `writing`")
        return counters

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state for all that is asked; it begins with the first statement, since many blocks need none."""
        if getattr(self._here, "reads", False) or getattr(self._here, "counters", None):
            yield
            return
        with ExitStack() as stack:
            self._here.reads, self._here.later = True, stack
            try:
                yield
            finally:
                self._here.reads, self._here.later = False, None

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Within `reading`: for a statement that sees one state by itself, and needs none of those around it."""
        later, self._here.later = getattr(self._here, "later", None), None
        try:
            yield
        finally:
            self._here.later = later

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.database.transaction(statement_ms=_LONG) as connection:
            counters = self._here.counters = self._taken(connection)
            try:
                yield
                self.write(
                    f"UPDATE commonplace.indexes SET passages = %(p)s, owners = %(o)s, spaces = %(s)s WHERE {OWN}",
                    {"p": counters.passages, "o": counters.owners, "s": counters.spaces},
                )
            finally:
                self._here.counters = None

    def _taken(self, connection: Connection[tuple[Any, ...]]) -> Counters:
        """Hold the row of this index until the transaction ends."""
        from psycopg.errors import LockNotAvailable

        sql = f"SELECT passages, owners, spaces FROM commonplace.indexes WHERE {OWN} FOR UPDATE"
        try:
            connection.execute("SELECT set_config('lock_timeout', %s, true)", (_PATIENCE,))
            row = connection.execute(sql, self.own).fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO commonplace.indexes VALUES (%(tenant)s, %(territory)s, 0, 0, 0)"
                    " ON CONFLICT DO NOTHING",
                    self.own,
                )
                row = connection.execute(sql, self.own).fetchone()
            connection.execute("SELECT set_config('lock_timeout', '0', true)")
        except LockNotAvailable as error:
            raise LockTimeout("another process writes to the index: it follows with the next search") from error
        assert row is not None
        return Counters(connection, *row)
