"""An index of the vectors of one space, where there are so many that comparing each takes long (HNSW).

Each has one of its own, so that nobody's vectors stand in the way of another's. Only who owns the tables can make one;
the server uses it by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .connection import Database
from .visibility import EXACT, mark_of

if TYPE_CHECKING:
    from psycopg import Connection as _Connection

    Connection = _Connection[tuple[Any, ...]]

_MOST_DIMS = 2_000  # that such an index takes
_ROOM = 64_000, 4_000_000  # kilobytes to make one in, at least and at the most: with too little it takes many times
_THERE = """
    SELECT relname, indisvalid, EXISTS (SELECT 1 FROM pg_stat_progress_create_index AS made
      WHERE made.index_relid = indexes.indexrelid)
    FROM pg_index AS indexes JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = 'commonplace.index_vectors'::regclass AND starts_with(relname, %s)"""


class Large(NamedTuple):
    """A space of a tenant that such an index helps, and whether there is one."""

    territory: str
    name: str
    id: int
    dims: int
    vectors: int
    quick: bool


def large_spaces(database: Database) -> list[Large]:
    """Those of one tenant, in all its indexes."""
    rows = database.query(
        "SELECT territory, name, id, dims, vectors FROM commonplace.index_spaces"
        " WHERE tenant = %(tenant)s AND vectors > %(exact)s AND dims <= %(dims)s ORDER BY territory, id",
        {"tenant": database.tenant, "exact": EXACT, "dims": _MOST_DIMS},
    )
    if not rows:
        return []
    with database.admin_connection() as connection:
        there = _there(connection, "index_vectors_")
    return [
        Large(territory, name, number, dims, vectors, there.get(_name(database.tenant, territory, number), False))
        for territory, name, number, dims, vectors in rows
    ]


def quicken(database: Database, space: Large) -> bool:
    """Make the index of a space; False for who may not. It takes minutes, and nobody waits for it meanwhile.

    What an earlier try left unfinished is made anew, and what belongs to a space that is gone goes.
    """
    from psycopg import sql

    used = {each.id for each in large_spaces(database) if each.territory == space.territory}
    name = _name(database.tenant, space.territory, space.id)
    making = sql.SQL(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON commonplace.index_vectors"
        " USING hnsw ((vector::vector({})) vector_ip_ops) WITH (m = 16, ef_construction = 64)"
        " WHERE tenant = {} AND territory = {} AND space = {}"
    ).format(
        sql.Identifier(name), sql.Literal(space.dims), sql.Literal(database.tenant), sql.Literal(space.territory),
        sql.Literal(space.id),
    )  # fmt: skip
    room = min(max(_ROOM[0], space.vectors * (4 * space.dims + 600) // 900), _ROOM[1])
    with database.admin_connection() as connection:
        if not _owns(connection):
            return False
        kept = {_name(database.tenant, space.territory, number) for number in used}
        for other in _left_over(connection, name.rpartition("_")[0] + "_", kept):
            connection.execute(
                sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS commonplace.{}").format(sql.Identifier(other))
            )
        connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (str(room),))
        connection.execute(making)
    return True


def _name(tenant: str, territory: str, space: int) -> str:
    return f"index_vectors_{mark_of(tenant, territory)}_{space}"


def _there(connection: Connection, prefix: str) -> dict[str, bool]:
    """The indexes whose names begin like this, and whether they are of use."""
    return {name: valid for name, valid, _ in connection.execute(_THERE, (prefix,))}


def _left_over(connection: Connection, prefix: str, kept: set[str]) -> list[str]:
    rows = connection.execute(_THERE, (prefix,)).fetchall()
    return [name for name, valid, in_the_making in rows if not in_the_making and (not valid or name not in kept)]


def _owns(connection: Connection) -> bool:
    row = connection.execute(
        "SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class"
        " WHERE oid = 'commonplace.index_vectors'::regclass"
    ).fetchone()
    return row == (True,)
