"""An import into a database: all of it, and its receipts, in one transaction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import NotText, StaleVersion, StorageError
from ..home import Home
from ..maintenance.backup.bulk_postgres import Coming, Load, put_all
from ..maintenance.backup.snapshot_postgres import versions_there
from ..maintenance.backup.spool import Spool
from ..storage.author import Author, write_as
from ..storage.base import ABSENT
from ..storage.layout import Standing
from ..storage.postgres.backend import PostgresStorage
from ..storage.postgres.pages import MAX_PATH_BYTES, path_conflict
from .folder import text_of
from .plan import Plan, Progress, Step, written
from .receipts import Receipts

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

_KNOWN = "SELECT key, version FROM commonplace.imports WHERE tenant = %(tenant)s"
_ADD = """INSERT INTO commonplace.imports (tenant, key, version) VALUES (%(tenant)s, %(key)s, %(version)s)
  ON CONFLICT (tenant, key) DO UPDATE SET version = excluded.version"""


class InRows:
    def __init__(self, home: Home, storage: PostgresStorage, kind: str) -> None:
        self._home, self._storage, self._kind = home, storage, kind
        self._tenant = storage.database.tenant
        self.receipts = Receipts(kind, dict(storage.database.query(_KNOWN, {"tenant": self._tenant})))
        self._there = versions_there(storage, ())
        self._standing = Standing(self._there)

    def version(self, path: str) -> str:
        if len(path.encode()) > MAX_PATH_BYTES:
            raise StorageError(f"is longer than a path may be ({MAX_PATH_BYTES} bytes)")
        if other := self._standing.in_the_way(path):
            raise path_conflict(path, other)
        return self._there.get(path, ABSENT)

    def write(self, plan: Plan, spool: Spool, source: str, progress: Progress) -> list[str]:
        home = self._home
        for step in [*plan.updates.values()]:
            try:
                text_of(spool.read(step.bytes), step)
            except NotText as error:
                plan.keep(step, str(error))
        steps = {**plan.new, **plan.updates}
        if steps and f"{home.layout.directives}/memory.md" not in plan.new:
            home.welcome()  # before, so that the last change is the import's: `undo` takes that back

        def receive(connection: Connection, put: frozenset[str]) -> None:
            fresh = self.receipts.fresh(
                written(
                    each
                    for each in (*plan.same.values(), *steps.values())
                    if each.path in put or each.path in plan.same
                )
            )
            rows = [{"tenant": self._tenant, "key": key, "version": version} for key, version in fresh.items()]
            with connection.cursor() as cursor:
                cursor.executemany(_ADD, rows)

        coming = [_coming(step, spool) for step in steps.values()]
        with write_as(Author("import", home.agent, home.session, f"from {self._kind}")) as writing:
            left = put_all(
                self._storage, home.clock, Load(coming, also=receive), skip=True,
                told=lambda done: progress("writing", done, len(steps)),
            )  # fmt: skip
        for path, why in left.items():
            stale = f"{path} was changed by somebody else meanwhile: run it again"
            plan.keep(steps[path], stale if isinstance(why, StaleVersion) else str(why))
        home.index.invalidate()
        return [*dict.fromkeys(writing.warnings)]


def _coming(step: Step, spool: Spool) -> Coming:
    return Coming(step.path, step.standing, step.bytes.modified, partial(spool.read, step.bytes))
