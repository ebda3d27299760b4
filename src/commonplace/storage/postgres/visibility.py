"""Who may see what, and which words and vectors lead to it, in the SQL of PostgreSQL; the rules are `visible`'s."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...index.base import BM25_K1, CONTEXT_WEIGHT
from ...index.visibility import Sql, allowed, visible_rule
from ...model import EVERYTHING, Filters, Viewer
from ..globs import compile_glob

if TYPE_CHECKING:
    from ...embedding.base import Vectors

Values = dict[str, Any]
OWN = "tenant = %(tenant)s AND territory = %(territory)s"
COPIES = 3  # passages of one and the same text that are worth finding
EXACT = 10_000  # vectors a viewer may see, up to which each is compared
# The same of a viewer who sees little of all there is: what an index of all finds is mostly what others keep.
_FEW = f"(passages <= {EXACT} OR (passages <= 50000 AND passages * 10 < all_passages))"
WHERE = "ba"  # what a word begins with where it is looked up: it stands in the body of a passage, or around it
_LONGEST = 120  # characters of a word that is looked up as it is
_OTHER_WORDS = {
    "instr(char(10) || who || char(10), char(10) || ? || char(10))": (
        "strpos(chr(10) || who || chr(10), chr(10) || ? || chr(10)) > 0"
    ),
    "json_each(passages.tags)": "json_array_elements_text(passages.tags::json)",
    "matches(passages.path, ?)": "passages.path ~ ?",
    "who IN ()": "false",  # not NULL, which is neither seen nor hidden
}


def mark_of(tenant: str, territory: str) -> str:
    """What the words of one index begin with where those of all are looked up."""
    return hashlib.blake2b(f"{tenant}\0{territory}".encode(errors="replace"), digest_size=5).hexdigest()


def term(word: str) -> str:
    """A word as it is looked up: of one that goes on and on, its hash."""
    if len(word) <= _LONGEST:
        return word
    return hashlib.blake2b(word.encode(errors="replace"), digest_size=16).hexdigest()


def text_of(vector: Vectors) -> str:
    return json.dumps(vector.astype("float64").round(8).tolist())


def seen_owners(viewer: Viewer) -> tuple[str, Values]:
    """`owners`, and whether the viewer may see what is theirs; `size`, all that weighing needs of them."""
    rule, values = _translated(visible_rule(viewer), "viewer")
    sql = f"""
        owners AS MATERIALIZED (SELECT *, {rule} AS visible FROM commonplace.index_owners WHERE {OWN}),
        size AS MATERIALIZED (
          SELECT coalesce(sum(passages) FILTER (WHERE visible), 0)::float8 AS passages,
            coalesce(sum(length) FILTER (WHERE visible), 0)::float8 AS length,
            coalesce(sum(passages), 0)::float8 AS all_passages,
            coalesce(bool_and(visible OR passages = 0), true) AS sees_all
          FROM owners)"""
    return sql, values


def allowed_passages(viewer: Viewer, filters: Filters) -> tuple[str, Values]:
    """A condition on `passages`, where `owners` are known."""
    sql, values = allowed(viewer, filters)
    whole = [*values[: len(values) - len(filters.paths)], *map(_as_regex, filters.paths)]
    return _translated((sql, whole), "allowed")


def _translated(rule: Sql, name: str) -> tuple[str, Values]:
    sql, values = rule
    for theirs, ours in _OTHER_WORDS.items():
        sql = sql.replace(theirs, ours)
    first, *others = sql.split("?")
    named = [f"%({name}{place})s{rest}" for place, rest in enumerate(others)]
    return first + "".join(named), {f"{name}{place}": value for place, value in enumerate(values)}


def _as_regex(pattern: str) -> str:
    return f"^(?:{compile_glob(pattern).pattern})$"


FREQUENT = """
    frequent AS MATERIALIZED (
      SELECT word AS term, coalesce(sum(frequencies.passages) FILTER (WHERE visible), 0)::float8 AS passages
      FROM commonplace.index_frequencies AS frequencies JOIN owners ON owners.id = frequencies.owner
      WHERE frequencies.tenant = %(tenant)s AND frequencies.territory = %(territory)s AND word = ANY(%(terms)s)
      GROUP BY word)"""
# The words to look up and what each weighs, as they are given.
GIVEN = """
    lookup AS MATERIALIZED (
      SELECT word, term, weight, place FROM unnest(%(words)s::text[], %(terms)s::text[], %(weights)s::float8[])
        WITH ORDINALITY AS given(word, term, weight, place))"""
# The same, chosen here: see `search/words.py`.
CHOSEN = """
    known AS MATERIALIZED (
      SELECT word, term, place, faint, frequent.passages,
        ln(1 + (size.passages + %(background)s - frequent.passages + 0.5) / (frequent.passages + 0.5))
          * CASE WHEN faint THEN %(faintness)s ELSE 1.0 END AS weight
      FROM unnest(%(words)s::text[], %(terms)s::text[], %(faint)s::bool[])
        WITH ORDINALITY AS given(word, term, faint, place) JOIN frequent USING (term) CROSS JOIN size
      WHERE frequent.passages > 0),
    rarest AS (
      SELECT *, row_number() OVER by_number AS turn, sum(passages) OVER by_number AS together FROM known
      WHERE NOT faint OR NOT EXISTS (SELECT 1 FROM known WHERE NOT faint)
      WINDOW by_number AS (ORDER BY passages, place ROWS UNBOUNDED PRECEDING)),
    lookup AS MATERIALIZED (
      SELECT word, term, weight, turn AS place FROM rarest WHERE turn = 1 OR together <= %(most)s)"""


def found_by_words(condition: str, filters: Filters) -> str:
    """`by_words`: the passages that hold the most of the words, in the order in which `sqlite` finds them.

    Passages themselves are only read for who may not see all, and in one go, by all their numbers: by one after
    another, a server that guesses wrong about the tables would go through all of them for each.
    """
    plain = "(SELECT sees_all FROM size)" if filters == EVERYTHING else "false"
    lexemes = " || ".join(f"array_agg(quote_literal(%(mark)s || '{where}' || term) ORDER BY place)" for where in WHERE)
    return f"""
    looked_up AS MATERIALIZED (
      SELECT array_agg(weight ORDER BY place) AS weights, count(*) AS words, {lexemes} AS lexemes FROM lookup),
    held AS MATERIALIZED (
      SELECT place, id FROM commonplace.index_lookup(%(territory)s, (SELECT lexemes FROM looked_up))),
    allowed AS MATERIALIZED (
      SELECT id FROM commonplace.index_passages AS passages WHERE {OWN}
      AND passages.id = ANY(ARRAY(SELECT DISTINCT id FROM held WHERE NOT {plain})) AND {condition}),
    counted AS (
      SELECT id, 1 + mod(place - 1, words) AS word,
        sum(CASE WHEN place <= words THEN 1 ELSE {CONTEXT_WEIGHT} END)::float8 AS times
      FROM held CROSS JOIN looked_up WHERE {plain} OR id IN (SELECT id FROM allowed) GROUP BY 1, 2),
    by_words AS MATERIALIZED (
      SELECT id, row_number() OVER (ORDER BY score DESC, id) AS place FROM (
        SELECT id, sum(weights[word] * times / (times + {BM25_K1}::float8) ORDER BY word) AS score
        FROM counted CROSS JOIN looked_up GROUP BY id) AS scored
      ORDER BY score DESC, id LIMIT %(limit)s)"""


def found_by_meaning(place: int, dims: int, condition: str, filters: Filters) -> str:
    """`near…`: the vectors nearest to a question; `by_meaning…`: the passages they stand for.

    Those of a viewer who sees few are all compared. Of many, an index of that space finds them where there is one.
    """
    question, space = f"%(question{place})s", f"%(space{place})s"
    exact = f"vectors.vector <#> {question}::vector"
    sifted = f"vectors.vector::vector({dims}) <#> {question}::vector({dims})"
    vectors = "commonplace.index_vectors AS vectors"
    mine = f"vectors.tenant = %(tenant)s AND vectors.territory = %(territory)s AND space = {space}"
    if filters == EVERYTHING:
        seen = "owner = ANY(ARRAY(SELECT id FROM owners WHERE visible))"
        some, many = f"{seen} AND (SELECT {_FEW} FROM size)", f"{seen} AND (SELECT NOT {_FEW} FROM size)"
        near = f"""
          (SELECT owner, hash, -({exact}) AS cosine FROM {vectors} WHERE {mine} AND {some}
            ORDER BY {exact} LIMIT %(near)s)
          UNION ALL (SELECT owner, hash, -({sifted}) FROM {vectors} WHERE {mine} AND {many}
            ORDER BY {sifted} LIMIT %(near)s)"""
    else:
        near = f"""
          SELECT owner, hash, -({exact}) AS cosine FROM {vectors} JOIN (
            SELECT DISTINCT owner, hash FROM commonplace.index_passages AS passages WHERE {OWN} AND {condition}
          ) AS asked USING (owner, hash) WHERE {mine} ORDER BY {exact} LIMIT %(near)s"""
    return f"""
    near{place} AS MATERIALIZED ({near}),
    meant{place} AS MATERIALIZED (
      SELECT id, owner, hash, row_number() OVER (PARTITION BY owner, hash ORDER BY id) AS copy
      FROM commonplace.index_passages AS passages WHERE {OWN}
      AND owner = ANY(ARRAY(SELECT DISTINCT owner FROM near{place}))
      AND hash = ANY(ARRAY(SELECT hash FROM near{place})) AND {condition}),
    by_meaning{place} AS MATERIALIZED (
      SELECT id, cosine FROM near{place} JOIN meant{place} USING (owner, hash) WHERE copy <= {COPIES}
      ORDER BY cosine DESC, id LIMIT %(limit)s)"""


def terms_of(words: Sequence[str]) -> list[str]:
    return [term(word) for word in words]
