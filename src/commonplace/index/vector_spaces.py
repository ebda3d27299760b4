"""The vectors of the SQLite index: which passage has which row of a vector file. One file for each space, that is for
each embedding model.

Passages are numbered in the order they are added, so that one number says what a space has seen. A vector belongs to a
text and an owner: a text that moves to another page of the same owner keeps its vector.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..errors import IndexClosed, LockTimeout, Unavailable
from ..formats.passages import embedding_text
from ..model import EVERYTHING, Filters, Viewer
from .base import NEIGHBOUR_LINES, Coverage, PassageEmbedding, PendingBatch, TokenVectors, find_neighbour_turns
from .passage_cache import StateCache
from .visibility import GIVEN, SqliteConditions, visible_owners

if TYPE_CHECKING:
    from ..embedding.base import Vectors
    from .vector_file import VectorFile

TABLES = """
CREATE TABLE IF NOT EXISTS spaces(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, dims INTEGER NOT NULL, epoch INTEGER NOT NULL,
  rows INTEGER NOT NULL, seen INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vectors(
  space INTEGER NOT NULL, owner INTEGER NOT NULL, hash BLOB NOT NULL, row INTEGER NOT NULL,
  PRIMARY KEY(space, owner, hash)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS vectors_by_row ON vectors(space, row);
CREATE TABLE IF NOT EXISTS tokens(
  space INTEGER NOT NULL, owner INTEGER NOT NULL, hash BLOB NOT NULL, tokens BLOB NOT NULL,
  PRIMARY KEY(space, owner, hash));
"""
_HAS_VECTOR = """EXISTS (SELECT 1 FROM vectors
  WHERE vectors.space = ? AND vectors.owner = passages.owner AND vectors.hash = passages.hash)"""
SAMPLE_SIZE = 64  # vectors that the similarity statistics are taken from
_MAX_COPIES = 3  # passages with the same text that are worth finding
_MAX_SQL_VALUES = 400  # per statement
_UNUSED_ROWS = 1_000  # fewer are not worth compacting a file for


class VectorSpaces:
    """The vector spaces of one index file, and the connection, lock and transactions that the whole index shares.

    `file_prefix` is what the names of vector files begin with; None for an index in memory.
    """

    def __init__(self, db: sqlite3.Connection, file_prefix: str | None) -> None:
        self._db = db
        self._lock = threading.RLock()
        self._is_closed = False
        self._file_prefix = file_prefix
        self._files: dict[str, tuple[tuple[int, int], VectorFile]] = {}  # open ones, by space
        self._of_state = StateCache()
        self._obsolete_files: list[str] = []  # removed once the transaction that replaced them is committed

    @contextmanager
    def write_transaction(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
                self._remove_obsolete_files()
            except BaseException:
                self._discard_pending()
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    self._db.execute("COMMIT")

    def _require_open(self) -> None:
        """Raise IndexClosed if another thread has closed the index. Call it with the lock held."""
        if self._is_closed:
            raise IndexClosed("the index was closed in the meantime")

    def _discard_pending(self) -> None:
        """Forget what a transaction that failed would have done outside the database."""
        self._of_state.clear()
        self._obsolete_files.clear()

    def _remove_obsolete_files(self) -> None:
        while self._obsolete_files:
            with suppress(OSError):
                os.unlink(self._obsolete_files.pop())

    def _count_changes(self) -> tuple[int, int]:
        """Return two numbers, one of which changes with every write: of other connections, or of this one."""
        (others,) = self._db.execute("PRAGMA data_version").fetchone()
        return others, self._db.total_changes

    def _open_table(self, *name: Hashable) -> dict[Any, Any]:
        """Return what is known in this state of the index. Call it with the lock held."""
        return self._of_state.open_table(name, self._count_changes())

    def _visible_owners(self, viewer: Viewer, filters: Filters) -> list[int]:
        """Return the owners that a viewer may see and that the filters name."""
        with self._lock:
            known = self._open_table("owners")
            owners: list[int] | None = known.get((viewer, filters))
            if owners is None:
                owners = known[viewer, filters] = visible_owners(self._db, viewer, filters)
            return owners

    def accepts_dimensions(self, space: str, dims: int) -> bool:
        with self._lock:
            row = self._db.execute("SELECT dims FROM spaces WHERE name = ? AND rows > 0", (space,)).fetchone()
        return not row or row[0] == dims

    def spaces(self) -> list[str]:
        with self._lock:
            return [row[0] for row in self._db.execute("SELECT name FROM spaces ORDER BY id")]

    def coverage(self, space: str, viewer: Viewer | None = None) -> Coverage:
        if viewer is not None:
            return self._coverage_for(space, viewer)
        with self._lock:
            total = self._count_passages()
            row = self._db.execute("SELECT seen, rows FROM spaces WHERE name = ?", (space,)).fetchone()
            if not row:
                return Coverage(0, total, 0)
            behind = self._db.execute("SELECT count(*) FROM passages WHERE id > ?", (row[0],)).fetchone()[0]
            return Coverage(total - behind, total, row[1])

    def _coverage_for(self, space: str, viewer: Viewer) -> Coverage:
        """Return what the space has passed, plus what was embedded ahead of its turn for a waiting viewer."""
        with self._lock:
            conditions = SqliteConditions()
            passes = conditions.passes(viewer, EVERYTHING)
            total = self._db.execute(f"SELECT count(*) FROM passages WHERE {passes}", conditions.values).fetchone()[0]
            number, seen = self._space_position(space)
            sql = f"SELECT count(*) FROM passages WHERE id > ? AND {passes} AND NOT {_HAS_VECTOR}"
            behind = self._db.execute(sql, (seen, *conditions.values, number)).fetchone()[0]
            return Coverage(total - behind, total, total - behind)

    def _space_position(self, space: str) -> tuple[int, int]:
        """Return the number of a space, and the last passage that it has passed."""
        row = self._db.execute("SELECT id, seen FROM spaces WHERE name = ?", (space,)).fetchone()
        return row or (0, 0)

    def _pending_for(self, space: str, limit: int, viewer: Viewer) -> PendingBatch | None:
        conditions = SqliteConditions()
        sql = f"""
            SELECT owner, hash, lead, text FROM passages
            WHERE id > ? AND {conditions.passes(viewer, EVERYTHING)} AND NOT {_HAS_VECTOR} ORDER BY id LIMIT ?"""
        with self._lock:
            self._require_open()
            number, seen = self._space_position(space)
            rows = self._db.execute(sql, (seen, *conditions.values, number, limit)).fetchall()
        if not rows:
            return None
        texts = {(owner, hashed): embedding_text(lead, text) for owner, hashed, lead, text in rows}
        return PendingBatch(seen, seen, texts, number)

    def next_pending(self, space: str, limit: int, viewer: Viewer | None = None) -> PendingBatch | None:
        if viewer is not None:
            return self._pending_for(space, limit, viewer)
        sql = """
            SELECT passages.id, passages.owner, passages.hash, lead, text, vectors.row IS NULL FROM passages
            LEFT JOIN vectors ON vectors.space = ? AND vectors.owner = passages.owner AND vectors.hash = passages.hash
            WHERE passages.id > ? ORDER BY passages.id LIMIT ?"""
        with self._lock:
            self._require_open()
            number, seen = self._space_position(space)
            rows = self._db.execute(sql, (number, seen, limit)).fetchall()
        if not rows:
            return None
        texts = {(owner, hashed): embedding_text(lead, text) for _, owner, hashed, lead, text, is_new in rows if is_new}
        return PendingBatch(seen, rows[-1][0], texts, number)

    def add_vectors(
        self, space: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]
    ) -> None:
        try:
            with self._lock:
                self._require_open()
                with self.write_transaction():
                    self._add_rows(space, pending, embedded)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise LockTimeout("another process writes to the index: vectors are stored by the next search") from error

    def _add_rows(
        self, name: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]
    ) -> None:
        """Add rows within a transaction. Another process may have added some of them, or be further on."""
        import numpy as np

        from .vector_file import quantize

        dims = len(next(iter(embedded.values())).vector) if embedded else 0
        space, known_dims, _, count, seen = self._ensure_space(name, dims)
        if pending.space not in (0, space):  # the space was created again: what had a vector then may have none now
            return
        new = self._without_vector(space, list(embedded))
        if new and dims != known_dims:  # the name means another model now
            self._drop(name)
            return
        if new:
            rows = quantize(np.stack([embedded[key].vector for key in new]), [owner for owner, _ in new])
            self._write(name, count, rows)
            numbered = ((space, owner, hashed, count + n) for n, (owner, hashed) in enumerate(new))
            self._db.executemany("INSERT INTO vectors VALUES(?, ?, ?, ?)", numbered)
            by_token = ((space, *key, embedded[key].tokens) for key in new if embedded[key].tokens)
            self._db.executemany("INSERT OR REPLACE INTO tokens VALUES(?, ?, ?, ?)", by_token)
        upto = pending.upto if seen >= pending.after else seen
        self._db.execute(
            "UPDATE spaces SET rows = ?, seen = max(seen, ?) WHERE id = ?", (count + len(new), upto, space)
        )
        if count + len(new) > 2 * self._count_passages() + _UNUSED_ROWS:  # most rows are of texts that are gone
            self.compact(name)

    def nearest(
        self, space: str, query: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        import numpy as np

        with self._lock:
            number, file = self._open_space(space)
            if file is None or len(query) != file.dims:
                return []
            owners = np.array(self._visible_owners(viewer, filters), np.int32)
            candidates = None if filters == EVERYTHING else self._visible_rows(number, file, viewer, filters)
            row_limit = limit
            while True:
                rows, cosines = file.nearest(query, owners, row_limit, candidates)
                by_row = dict(zip(rows.tolist(), cosines.tolist(), strict=True))
                passages = self._passages_of(number, by_row, filters)
                if len(passages) >= limit or len(rows) < row_limit:
                    return passages[:limit]
                row_limit *= 4  # many rows were of texts that are gone

    def _visible_rows(self, space: int, file: VectorFile, viewer: Viewer, filters: Filters) -> Any:
        conditions = SqliteConditions()
        passes = conditions.passes(viewer, filters)
        # CROSS JOIN as below. Where days are asked for, SQLite finds their passages by the index of days.
        sql = f"SELECT DISTINCT row FROM passages CROSS JOIN vectors USING(owner, hash) WHERE space = ? AND {passes}"
        return _check_rows(file, [row for (row,) in self._db.execute(sql, (space, *conditions.values))])

    def _passages_of(self, space: int, cosines: dict[int, float], filters: Filters) -> list[tuple[int, float]]:
        """Return the passages of these rows, whose owners are visible, best first; only a few of a text that is on many
        pages."""
        by_row = self._list_passages(space, cosines)
        conditions = SqliteConditions()
        if passes := conditions.passes_filters(filters):
            # The SQL index covers what most filters need; rows of passages, with their texts, are far apart.
            sql = f"SELECT id FROM passages INDEXED BY passage_facts WHERE id IN {GIVEN} AND {passes}"
            every = [number for row in cosines for number in by_row[row]]
            passed = {number for (number,) in self._db.execute(sql, (json.dumps(every), *conditions.values))}
            by_row = {row: [number for number in by_row[row] if number in passed] for row in cosines}
        pairs = ((-cosines[row], number) for row in cosines for number in by_row[row][:_MAX_COPIES])
        return [(number, -negative) for negative, number in sorted(pairs)]

    def _list_passages(self, space: int, rows: Iterable[int]) -> dict[int, list[int]]:
        """Return the passages of rows."""
        known: dict[int, list[int]] = self._open_table("passages", space)
        missing = [row for row in rows if row not in known]
        if missing:
            # CROSS JOIN makes SQLite join in this order: without statistics, it would choose a slow one.
            sql = f"""
                SELECT passages.id, row FROM vectors CROSS JOIN passages USING(owner, hash)
                WHERE space = {space} AND row IN {GIVEN}"""
            known |= {row: [] for row in missing}
            for number, row in sorted(self._db.execute(sql, (json.dumps(missing),))):
                known[row].append(number)
        return known

    def cosines(self, space: str, query: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        with self._lock:
            number, file = self._open_space(space)
            if file is None or len(query) != file.dims or not numbers:
                return {}
            by_passage = self._list_rows(number, numbers)
            rows = {each: row for each in sorted({*numbers}) if (row := by_passage[each]) is not None}
            if not rows:
                return {}
            return dict(zip(rows, file.cosines(query, _check_rows(file, [*rows.values()])).tolist(), strict=True))

    def _list_rows(self, space: int, numbers: Iterable[int]) -> dict[int, int | None]:
        """Return the rows of passages; None for one that has no vector yet."""
        known: dict[int, int | None] = self._open_table("rows", space)
        missing = [number for number in numbers if number not in known]
        if missing:
            sql = f"""
                SELECT passages.id, row FROM passages CROSS JOIN vectors USING(owner, hash)
                WHERE space = {space} AND passages.id IN {GIVEN}"""
            known |= dict.fromkeys(missing) | dict(self._db.execute(sql, (json.dumps(missing),)))
        return known

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        with self._lock:
            neighbours = self._neighbour_turns(numbers)
            with_neighbours = list({*numbers, *(other for others in neighbours.values() for other in others)})
            return TokenVectors(self._read_tokens(space, with_neighbours), neighbours)

    def _read_tokens(self, space: str, numbers: Sequence[int]) -> dict[int, bytes]:
        from ..embedding.late_interaction import TOKEN_BYTES

        sql = f"""
            SELECT passages.id, tokens FROM spaces CROSS JOIN passages CROSS JOIN tokens
            ON tokens.space = spaces.id AND tokens.owner = passages.owner AND tokens.hash = passages.hash
            WHERE passages.id IN {GIVEN} AND spaces.name = ?"""
        rows = self._db.execute(sql, (json.dumps(numbers), space)).fetchall()
        if any(not isinstance(tokens, bytes) or not tokens or len(tokens) % TOKEN_BYTES for _, tokens in rows):
            raise sqlite3.DatabaseError("the tokens of a passage are missing")
        return dict(rows)

    def _neighbour_turns(self, numbers: Sequence[int]) -> dict[int, list[int]]:
        sql = f"""
            SELECT passages.id, other.id, other.first - passages.first
            FROM passages CROSS JOIN passages AS other ON other.path = passages.path
            AND other.first BETWEEN passages.first - {NEIGHBOUR_LINES} AND passages.first + {NEIGHBOUR_LINES}
            AND other.id <> passages.id
            WHERE passages.id IN {GIVEN} AND passages.source = 'session'"""
        return find_neighbour_turns(self._db.execute(sql, (json.dumps(numbers),)).fetchall())

    def similarity_stats(self, space: str, viewer: Viewer) -> tuple[float, float] | None:
        """Return the stats of the texts with the lowest hashes, which are as good as a random sample."""
        sql = f"""
            SELECT hash, owner, row FROM vectors WHERE space = ? AND owner = ? AND EXISTS (
              SELECT 1 FROM passages WHERE passages.owner = vectors.owner AND passages.hash = vectors.hash)
            ORDER BY hash LIMIT {SAMPLE_SIZE}"""
        with self._lock:
            number, file = self._open_space(space)
            if file is None:
                return None
            owners = self._visible_owners(viewer, EVERYTHING)
            sample = [key for owner in owners for key in self._db.execute(sql, (number, owner))]
            rows = [row for _, _, row in sorted(sample)[:SAMPLE_SIZE]]
            return file.similarity_stats(_check_rows(file, rows)) if len(rows) == SAMPLE_SIZE else None

    def drop_space(self, space: str) -> None:
        with self.write_transaction():
            self._drop(space)

    def promote_space(self, new: str, space: str) -> None:
        with self.write_transaction():
            if not self._db.execute("SELECT 1 FROM spaces WHERE name = ?", (new,)).fetchone():
                return
            self._drop(space)
            self._db.execute("UPDATE spaces SET name = ? WHERE name = ?", (space, new))
            if new in self._files:
                self._files[space] = self._files.pop(new)

    def build_ann_index(self, space: str) -> bool:
        return False

    def _drop(self, name: str) -> None:
        """Remove a space and its file, within a transaction."""
        row = self._db.execute("SELECT id, epoch FROM spaces WHERE name = ?", (name,)).fetchone()
        if row:
            for table in ("vectors", "tokens"):
                self._db.execute(f"DELETE FROM {table} WHERE space = ?", (row[0],))
            self._db.execute("DELETE FROM spaces WHERE id = ?", (row[0],))
            self._mark_obsolete(*row)
            self._files.pop(name, None)

    def _ensure_space(self, name: str, dims: int) -> tuple[int, int, int, int, int]:
        sql = "SELECT id, dims, epoch, rows, seen FROM spaces WHERE name = ?"
        self._db.execute("INSERT OR IGNORE INTO spaces VALUES(NULL, ?, ?, 0, 0, 0)", (name, dims))
        if dims:  # a first batch may have had nothing to embed
            self._db.execute("UPDATE spaces SET dims = ? WHERE name = ? AND rows = 0", (dims, name))
        row: tuple[int, int, int, int, int] = self._db.execute(sql, (name,)).fetchone()
        return row

    def _without_vector(self, space: int, keys: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Return those of these texts that have no vector yet and are still in a passage: some may be gone since."""
        missing: list[tuple[int, bytes]] = []
        for start in range(0, len(keys), _MAX_SQL_VALUES):
            batch = keys[start : start + _MAX_SQL_VALUES]
            sql = f"""
                WITH asked(owner, hash) AS (VALUES {",".join(["(?, ?)"] * len(batch))}) SELECT owner, hash FROM asked
                WHERE EXISTS (SELECT 1 FROM passages WHERE passages.owner = asked.owner AND passages.hash = asked.hash)
                AND NOT EXISTS (SELECT 1 FROM vectors
                  WHERE space = {space} AND vectors.owner = asked.owner AND vectors.hash = asked.hash)"""
            missing += self._db.execute(sql, [value for key in batch for value in key]).fetchall()
        return missing

    def _write(self, name: str, count: int, rows: Any) -> None:
        try:
            self._file(name).write(count, rows)
        except EOFError as error:
            raise sqlite3.DatabaseError(str(error)) from error
        except OSError as error:
            raise Unavailable(f"vectors cannot be stored in the index ({error.strerror})") from error

    def _open_space(self, name: str) -> tuple[int, VectorFile | None]:
        """Return the id and the file of a space; no file for one without vectors. Too few rows in it are damage."""
        row = self._db.execute("SELECT id, rows FROM spaces WHERE name = ?", (name,)).fetchone()
        if not row or not row[1]:
            return 0, None
        file = self._file(name)
        if not file.load(row[1]):
            raise sqlite3.DatabaseError(f"the vectors of {name} are missing")
        return row[0], file

    def _file(self, name: str) -> VectorFile:
        from .vector_file import VectorFile

        space, dims, epoch = self._db.execute("SELECT id, dims, epoch FROM spaces WHERE name = ?", (name,)).fetchone()
        known = self._files.get(name)
        if known and known[0] == (space, epoch) and known[1].dims == dims:
            return known[1]
        file = VectorFile(self._path(space, epoch), dims)
        self._files[name] = ((space, epoch), file)
        return file

    def _path(self, space: int, epoch: int) -> str | None:
        return f"{self._file_prefix}-{space}-{epoch}.vectors" if self._file_prefix else None

    def _mark_obsolete(self, space: int, epoch: int) -> None:
        if path := self._path(space, epoch):
            self._obsolete_files.append(path)

    def _count_passages(self) -> int:
        count: int = self._db.execute("SELECT coalesce(sum(passages), 0) FROM owners").fetchone()[0]
        return count

    def compact(self, name: str) -> None:
        """Write the rows that belong to a passage to a new file, within a transaction."""
        space, _, epoch, count, _ = self._ensure_space(name, 0)
        for table in ("vectors", "tokens"):
            self._db.execute(
                f"""DELETE FROM {table} WHERE space = ? AND NOT EXISTS
                (SELECT 1 FROM passages WHERE passages.owner = {table}.owner AND passages.hash = {table}.hash)""",
                (space,),
            )
        vectors = self._db.execute(
            "SELECT owner, hash, row FROM vectors WHERE space = ? ORDER BY row", (space,)
        ).fetchall()
        old = self._file(name)
        old.load(count)
        rows = old.rows(_check_rows(old, [row for _, _, row in vectors]))
        self._db.execute("UPDATE spaces SET epoch = ?, rows = ? WHERE id = ?", (epoch + 1, len(vectors), space))
        self._write(name, 0, rows)
        renumbered = ((number, space, owner, hashed) for number, (owner, hashed, _) in enumerate(vectors))
        self._db.executemany("UPDATE vectors SET row = ? WHERE space = ? AND owner = ? AND hash = ?", renumbered)
        self._mark_obsolete(space, epoch)


def _check_rows(file: VectorFile, rows: Sequence[int]) -> Any:
    """Return row numbers as an array. One that is not in the file is damage like any other."""
    import numpy as np

    numbers = np.array(rows)
    if len(numbers) and (numbers.dtype.kind != "i" or numbers.min() < 0 or numbers.max() >= file.count):
        raise sqlite3.DatabaseError("a passage has a vector that is not in the file")
    return numbers.astype(np.int64)
