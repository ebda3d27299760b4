"""The index in PostgreSQL, for a memory that many machines share: the same answers as `sqlite` gives.

Every row belongs to a tenant and a territory (what is indexed), and the number of the schema is a part of the latter,
so that two versions of the program, or two settings, keep an index each and do not fight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...index.base import (
    BatchQuery,
    Candidate,
    CorpusStats,
    Coverage,
    Entry,
    PassageEmbedding,
    PendingBatch,
    Retriever,
    TokenVectors,
)
from ...index.rows import candidate_of, record_of
from ...model import Filters, Record, Viewer
from .connection import Database
from .hnsw import large_spaces, quicken
from .index_pages import apply
from .index_tables import PATIENCE, TABLES, Tables
from .query import CANDIDATE, ask
from .vectors import QUESTION, Spaces
from .visibility import (
    FREQUENT,
    GIVEN,
    OWN,
    allowed_passages,
    found_by_words,
    seen_owners,
    term,
    terms_of,
)  # fmt: skip

if TYPE_CHECKING:
    from ...embedding.base import Vectors

Answer = TypeVar("Answer")
SCHEMA = 2
_BELOW = "(path = %(prefix)s OR (path >= %(first)s AND path < %(last)s))"


class Standing(NamedTuple):
    written: int
    followed: int
    warnings: tuple[tuple[str, str], ...]


class PostgresIndex:
    """Safe to share between threads; any number of processes may use the same one."""

    def __init__(self, database: Database, fingerprint: str) -> None:
        self._tables = Tables(database, f"{SCHEMA}-{fingerprint}")
        self._spaces = Spaces(self._tables)

    def write_transaction(self) -> AbstractContextManager[None]:
        return self._tables.write_transaction()

    def written(self, work: Callable[[], Answer], patience: str = PATIENCE) -> Answer:
        """What some work answers that writes, tried again from its beginning when another writer got in its way."""
        return self._tables.written(work, patience)

    def read_transaction(self) -> AbstractContextManager[None]:
        return self._tables.read_transaction()

    def standing(self) -> Standing:
        """Up to which number the pages and the index are, and what is wrong with pages."""
        sql = f"""SELECT coalesce((SELECT seq FROM commonplace.tenants WHERE tenant = %(tenant)s), 0),
            coalesce((SELECT seq FROM commonplace.indexes WHERE {OWN}), 0),
            (SELECT json_agg(json_build_array(path, warning) ORDER BY path) FROM commonplace.index_pages
              WHERE {OWN} AND warning <> '')"""
        written, followed, warnings = self._tables.rows(sql)[0]
        return Standing(written, followed, tuple((path, warning) for path, warning in warnings or ()))

    @property
    def seq(self) -> int:
        """Within `written`: up to which number of the pages the index is."""
        return self._tables.counters.seq

    @seq.setter
    def seq(self, seq: int) -> None:
        self._tables.counters.seq = max(self._tables.counters.seq, seq)

    def settle(self) -> None:
        """Let the server look at what was written."""
        self._tables.settle(self.written(lambda: self._tables.counters.passages))

    def stamps(self, below: str | None = None) -> dict[str, int]:
        condition, values = ("true", {}) if below is None else (_BELOW, _below(below))
        sql = f"SELECT path, stamp FROM commonplace.index_pages WHERE {OWN} AND {condition}"
        return dict(self._tables.rows(sql, values))

    def versions(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        condition = "true" if paths is None else "path = ANY(%(paths)s)"
        sql = f"SELECT path, version FROM commonplace.index_pages WHERE {OWN} AND {condition}"
        return dict(self._tables.rows(sql, {"paths": list(paths or ())}))

    def apply(self, entries: Iterable[Entry], removed: Iterable[str]) -> None:
        apply(self._tables, entries, removed)

    def fetch(self, asking: BatchQuery) -> Retriever:
        """In one round trip: see `Fetched`."""
        return ask(self._tables, self._spaces, self, asking)

    def match_terms(self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        owners, values = seen_owners(viewer)
        condition, more = allowed_passages(viewer, filters)
        values |= more | {"words": list(weights), "terms": terms_of(list(weights)), "limit": limit}
        values["weights"] = list(weights.values())
        sql = f"""WITH {owners}, {GIVEN}, {found_by_words(condition, filters)}
            SELECT id FROM by_words ORDER BY place"""
        return [row[0] for row in self._tables.rows(sql, values, QUESTION)]

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        sql = f"""
            SELECT {CANDIDATE} FROM commonplace.index_passages AS passages JOIN commonplace.index_owners AS owners
            ON owners.tenant = %(tenant)s AND owners.territory = %(territory)s AND owners.id = owner
            WHERE passages.tenant = %(tenant)s AND passages.territory = %(territory)s AND passages.id = ANY(%(ids)s)
            ORDER BY passages.id"""
        return [candidate_of(row) for row in self._tables.rows(sql, {"ids": list(numbers)})] if numbers else []

    def preceding_text(self, number: int) -> str:
        sql = f"""
            WITH asked AS MATERIALIZED (
              SELECT path, first FROM commonplace.index_passages WHERE {OWN} AND id = %(id)s)
            SELECT text FROM commonplace.index_passages AS earlier
            WHERE {OWN} AND path = (SELECT path FROM asked) AND last < (SELECT first FROM asked)
            ORDER BY last DESC LIMIT 1"""
        return next((row[0] for row in self._tables.rows(sql, {"id": number})), "")

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        owners, values = seen_owners(viewer)
        sql = f"""WITH {owners}, {FREQUENT} SELECT size.passages, length, term, frequent.passages
            FROM size LEFT JOIN frequent ON frequent.passages > 0"""
        rows = self._tables.rows(sql, values | {"terms": terms_of(words)})
        frequency = {found: int(times) for _, _, found, times in rows if found is not None}
        known = {word: frequency[term(word)] for word in words if term(word) in frequency}
        passages, length = rows[0][:2]
        return CorpusStats(int(passages), length / passages if passages else 1.0, known)

    def nearest(
        self, space: str, question: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        return self._spaces.nearest(space, question, viewer, filters, limit)

    def cosines(self, space: str, question: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        return self._spaces.cosines(space, question, numbers)

    def similarity_stats(self, space: str) -> tuple[float, float] | None:
        return self._spaces.similarity_stats(space)

    def next_pending(self, space: str, limit: int) -> PendingBatch | None:
        return self._spaces.next_pending(space, limit)

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        return self._spaces.token_vectors(space, numbers)

    def add_vectors(
        self, space: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]
    ) -> None:
        self.written(lambda: self._spaces.add(space, pending, embedded))

    def accepts_dimensions(self, space: str, dims: int) -> bool:
        return self._spaces.accepts_dimensions(space, dims)

    def coverage(self, space: str) -> Coverage:
        return self._spaces.coverage(space)

    def spaces(self) -> list[str]:
        return self._spaces.names()

    def drop_space(self, space: str) -> None:
        self.written(lambda: self._spaces.drop(space))

    def promote_space(self, new: str, space: str) -> None:
        self.written(lambda: self._spaces.promote_space(new, space))

    def build_ann_index(self, space: str) -> bool:
        """Make an index of a space's vectors where there are very many; whether there is one now."""
        tables = self._tables
        for each in large_spaces(tables.database):
            if (each.territory, each.name) == (tables.own["territory"], space):
                return each.quick or quicken(tables.database, each)
        return False

    def records(self, prefix: str) -> list[Record]:
        columns = "path, key, value, category, tags, created_at, updated_at, scope, who"
        sql = f"SELECT {columns} FROM commonplace.index_records WHERE {OWN} AND {_BELOW} ORDER BY path"
        return [record_of(row) for row in self._tables.rows(sql, _below(prefix))]

    def warnings(self) -> list[tuple[str, str]]:
        sql = f"SELECT path, warning FROM commonplace.index_pages WHERE {OWN} AND warning <> '' ORDER BY path"
        return [(path, warning) for path, warning in self._tables.rows(sql)]

    def size(self) -> tuple[int, int]:
        """How many pages and how many passages are known."""
        sql = f"""SELECT (SELECT count(*) FROM commonplace.index_pages WHERE {OWN}),
            (SELECT coalesce(sum(passages), 0)::bigint FROM commonplace.index_owners WHERE {OWN})"""
        pages, passages = self._tables.rows(sql)[0]
        return pages, passages

    def purge(self) -> None:
        """Leave nothing of what was removed: not among vectors, nor in indexes of other settings or versions."""
        self.written(self._purged)

    def _purged(self) -> None:
        for name in self.spaces():
            self._spaces.compact(name, self._spaces.look(name).id)
        for table in (*(f"index_{name}" for name in TABLES), "indexes"):
            others = "tenant = %(tenant)s AND territory <> %(territory)s"
            self._tables.send(f"DELETE FROM commonplace.{table} WHERE {others}")


def _below(prefix: str) -> dict[str, Any]:
    """A page, or everything in a folder: `0` is the character after the slash."""
    return {"prefix": prefix, "first": f"{prefix}/", "last": f"{prefix}0"}
