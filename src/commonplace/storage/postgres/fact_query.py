"""The query for passages by the keys of their facts. Every write makes it, so its text is built once for a viewer."""

from __future__ import annotations

from typing import Any

from ...caching import cache_within
from ...index.base import MAX_PASSAGES_PER_FACT_KEY
from ...model import EVERYTHING, Filters, Viewer
from .index_tables import OWN_ROWS, owners_cte, passage_sql
from .query import CANDIDATE_COLUMNS

_IDENTITY = "tenant, territory, id, owner"
# One row by its primary key, even if the server has no statistics of a table. Then it takes any index that begins with
# the tenant for as good, and would read all rows of one for each; but only the primary key has them in this order.
_OWN_ROW = f"{OWN_ROWS} AND id >= rarest.id AND id <= rarest.id ORDER BY id LIMIT 1"


@cache_within(500_000)
def build_fact_query(viewer: Viewer, limit: int, filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return the query and its values, but for the keys. Do not change the values: they are cached."""
    owners, values = owners_cte(viewer)
    condition, more = passage_sql(viewer, filters)
    sees_all = "false"
    source = f"commonplace.index_facts AS facts JOIN commonplace.index_passages AS passages USING ({_IDENTITY})"
    if filters == EVERYTHING:  # the owner decides, and is in the table of facts, too
        sees_all = "(SELECT sees_all FROM size)"
        source = "commonplace.index_facts AS passages"
    sql = f"""WITH {owners}, shared AS MATERIALIZED (
          SELECT place, id, count(*) OVER (PARTITION BY place) AS passages
          FROM unnest(%(keys)s::bigint[]) WITH ORDINALITY AS asked(fact, place) CROSS JOIN LATERAL (
            SELECT id FROM {source} WHERE {OWN_ROWS} AND fact = asked.fact AND ({sees_all} OR ({condition}))
            ORDER BY id DESC LIMIT {MAX_PASSAGES_PER_FACT_KEY}) AS newest),
        rarest AS MATERIALIZED (
          SELECT id, array_agg(place) AS places FROM shared GROUP BY id
          ORDER BY sum(1 / passages::float8) DESC, min(place), id DESC LIMIT {limit:d}),
        frequent AS MATERIALIZED (
          SELECT array_agg(DISTINCT place) AS frequent FROM shared WHERE passages >= {MAX_PASSAGES_PER_FACT_KEY})
        SELECT places || frequent, numbers, parsed, {CANDIDATE_COLUMNS}
        FROM frequent CROSS JOIN rarest
        CROSS JOIN LATERAL (SELECT * FROM commonplace.index_passages WHERE {_OWN_ROW}) AS passages
        JOIN owners ON owners.id = passages.owner
        LEFT JOIN LATERAL (SELECT numbers, parsed FROM commonplace.index_statements WHERE {_OWN_ROW}) AS statements
        ON true"""
    return sql, dict(values | more)
