"""How the index in PostgreSQL is reached: one writer at a time by a lock on its row, readers on one state of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import LockTimeout, StorageError
from .connection import Database
from .visibility import OWN, mark_of

if TYPE_CHECKING:
    from psycopg import Connection

Answer = TypeVar("Answer")
PATIENCE = "2s"  # to wait for another process that writes; then the answer is marked stale instead
AT_ONCE = "1ms"  # for who has no need to wait: somebody else is at it
_LONG = 300_000  # milliseconds that a statement of a writer may take
_MANY = 1_000  # passages, from which on it matters what the server knows of the tables
TABLES = ("pages", "owners", "frequencies", "passages", "words", "records", "spaces", "vectors")
_COUNTED = ("passages", "owners", "spaces", "seq")


class Counters:
    """The last numbers given out, and up to which of the pages' the index is. Only who writes has them."""

    def __init__(self, connection: Connection[tuple[Any, ...]], *numbers: int) -> None:
        self.connection = connection
        self.passages, self.owners, self.spaces, self.seq, self.settled = numbers
        self.grew = False  # so much that the server should look at the tables
        self._before = self.numbers()

    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in _COUNTED}

    @property
    def changed(self) -> bool:
        return self.numbers() != self._before


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
        return self.database.query(sql, {**self.own, **(values or {})}, settings)

    def write(self, sql: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Within `writing`: what a statement gives back."""
        cursor = self.counters.connection.execute(sql, {**self.own, **(values or {})})
        return cursor.fetchall() if cursor.description else []

    def send(self, sql: str, values: Mapping[str, Any] | None = None) -> None:
        """Within `writing`: a statement whose answer nobody waits for."""
        self.counters.connection.execute(sql, {**self.own, **(values or {})})

    def send_many(self, sql: str, values: list[dict[str, Any]]) -> None:
        if values:
            self.counters.connection.cursor().executemany(sql, [{**self.own, **each} for each in values])

    def together(self) -> Any:
        """Within `writing`: what is sent in this block goes to the server in one go."""
        return self.counters.connection.pipeline()

    @property
    def counters(self) -> Counters:
        counters: Counters | None = getattr(self._here, "counters", None)
        if counters is None:
            raise RuntimeError("an index is written within `writing`")
        return counters

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
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
    def write_transaction(self) -> Iterator[None]:
        """All or nothing; one inside of another, in the same thread, is a part of it."""
        if getattr(self._here, "counters", None):
            yield
            return
        with self.database.transaction(timeout_ms=_LONG) as connection, self._held(connection, PATIENCE) as counters:
            yield
        self._settle_if_due(counters)

    def written(self, work: Callable[[], Answer], patience: str = PATIENCE) -> Answer:
        """What some work answers that writes, tried again from its beginning when another got in its way; but not
        for who waits for nothing."""
        if getattr(self._here, "counters", None):
            return work()
        met: list[Counters] = []

        def once(connection: Connection[tuple[Any, ...]]) -> Answer:
            with self._held(connection, patience) as counters:
                met.append(counters)
                return work()

        if patience == AT_ONCE:
            with self.database.transaction(timeout_ms=_LONG) as connection:
                answer = once(connection)
        else:
            answer = self.database.run(once, timeout_ms=_LONG)
        self._settle_if_due(met[-1])
        return answer

    @contextmanager
    def _held(self, connection: Connection[tuple[Any, ...]], patience: str) -> Iterator[Counters]:
        counters = self._here.counters = self._taken(connection, patience)
        try:
            yield counters
            if counters.changed:
                numbers = ", ".join(f"{name} = %({name})s" for name in _COUNTED)
                self.send(f"UPDATE commonplace.indexes SET {numbers} WHERE {OWN}", counters.numbers())
        finally:
            self._here.counters = None

    def _taken(self, connection: Connection[tuple[Any, ...]], patience: str) -> Counters:
        """Hold the row of this index until the transaction ends."""
        from psycopg.errors import LockNotAvailable

        sql = f"SELECT {', '.join(_COUNTED)}, settled FROM commonplace.indexes WHERE {OWN} FOR UPDATE"
        try:
            with connection.pipeline():
                connection.execute("SELECT set_config('lock_timeout', %s, true)", (patience,))
                cursor = connection.execute(sql, self.own)
            row = cursor.fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO commonplace.indexes VALUES (%(tenant)s, %(territory)s, 0, 0, 0)"
                    " ON CONFLICT DO NOTHING",
                    self.own,
                )
                row = connection.execute(sql, self.own).fetchone()
        except LockNotAvailable as error:
            raise LockTimeout("another process writes to the index: it follows with the next search") from error
        connection.execute("SELECT set_config('lock_timeout', '0', true)")
        assert row is not None
        return Counters(connection, *row)

    def _settle_if_due(self, counters: Counters) -> None:
        if counters.grew or counters.passages >= 2 * counters.settled + _MANY:
            self.settle(counters.passages)

    def settle(self, passages: int) -> None:
        """Let the server look at tables that grew: what it does not know of them it guesses, and then a question takes
        seconds. It would look by itself, but later. Where it can not now, nothing is lost."""

        def work(connection: Connection[tuple[Any, ...]]) -> None:
            connection.execute("SELECT commonplace.index_settle()")
            sql = f"UPDATE commonplace.indexes SET settled = %(passages)s WHERE {OWN}"
            connection.execute(sql, {**self.own, "passages": passages})

        with suppress(StorageError):
            self.database.run(work, timeout_ms=_LONG)
