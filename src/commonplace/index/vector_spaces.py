"""Meaning in the SQLite index: which passage has which row of a vector file, one file a space.

Passages are numbered in the order they came, so that a space needs one number to know what it has not seen. A vector
belongs to a text and an owner: the same text keeps its vector wherever it is moved to within what one agent may see.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import Unavailable
from ..formats.passages import embedding_text
from ..model import EVERYTHING, Filters, Viewer
from .base import Coverage, PassageEmbedding, PendingBatch
from .visibility import allowed, placeholders, visible_owners

if TYPE_CHECKING:
    from ..embedding.base import Vectors
    from .vectors import VectorFile

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
_COPIES = 3  # passages of one and the same text that are worth finding
_MANY = 400  # values in one statement
_SLACK = 1_000  # rows that stand for nothing any more and are not worth tidying up


class Spaces:
    """The spaces of one index file. `stem` is its path without the ending, or None when it is kept in memory."""

    def __init__(self, db: sqlite3.Connection, stem: str | None) -> None:
        self._db, self._stem = db, stem
        self._open: dict[str, tuple[tuple[int, int], VectorFile]] = {}
        self._unwanted: list[str] = []  # files to remove once the transaction that gave them up is committed

    def accepts_dimensions(self, name: str, dims: int) -> bool:
        row = self._db.execute("SELECT dims FROM spaces WHERE name = ? AND rows > 0", (name,)).fetchone()
        return not row or row[0] == dims

    def names(self) -> list[str]:
        return [row[0] for row in self._db.execute("SELECT name FROM spaces ORDER BY id")]

    def coverage(self, name: str) -> Coverage:
        total = self._passages()
        row = self._db.execute("SELECT seen, rows FROM spaces WHERE name = ?", (name,)).fetchone()
        if not row:
            return Coverage(0, total, 0)
        behind = self._db.execute("SELECT count(*) FROM passages WHERE id > ?", (row[0],)).fetchone()[0]
        return Coverage(total - behind, total, row[1])

    def next_pending(self, name: str, limit: int) -> PendingBatch | None:
        space, seen = self._db.execute("SELECT id, seen FROM spaces WHERE name = ?", (name,)).fetchone() or (0, 0)
        rows = self._db.execute(
            """SELECT passages.id, passages.owner, passages.hash, lead, text, vectors.row IS NULL FROM passages
            LEFT JOIN vectors ON vectors.space = ? AND vectors.owner = passages.owner AND vectors.hash = passages.hash
            WHERE passages.id > ? ORDER BY passages.id LIMIT ?""",
            (space, seen, limit),
        ).fetchall()
        if not rows:
            return None
        texts = {(owner, hashed): embedding_text(lead, text) for _, owner, hashed, lead, text, new in rows if new}
        return PendingBatch(seen, rows[-1][0], texts, space)

    def add(self, name: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]) -> None:
        """Within a transaction. Another process may have done some of it, or moved on."""
        import numpy as np

        from .vectors import as_rows

        dims = len(next(iter(embedded.values())).vector) if embedded else 0
        space, known_dims, _, count, seen = self._made(name, dims)
        if pending.space not in (0, space):  # what had a vector then may have none now: look again
            return
        new = self._wanted(space, list(embedded))
        if new and dims != known_dims:  # another model stands behind the name now
            self.drop(name)
            return
        if new:
            rows = as_rows(np.stack([embedded[key].vector for key in new]), [owner for owner, _ in new])
            self._write(name, count, rows)
            numbered = ((space, owner, hashed, count + n) for n, (owner, hashed) in enumerate(new))
            self._db.executemany("INSERT INTO vectors VALUES(?, ?, ?, ?)", numbered)
            by_token = ((space, *key, embedded[key].tokens) for key in new if embedded[key].tokens)
            self._db.executemany("INSERT OR REPLACE INTO tokens VALUES(?, ?, ?, ?)", by_token)
        upto = pending.upto if seen >= pending.after else seen
        self._db.execute(
            "UPDATE spaces SET rows = ?, seen = max(seen, ?) WHERE id = ?", (count + len(new), upto, space)
        )
        if count + len(new) > 2 * self._passages() + _SLACK:  # most rows stand for texts that are gone
            self.compact(name)

    def nearest(
        self, name: str, question: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        import numpy as np

        space, file = self._seen(name)
        if file is None or len(question) != file.dims:
            return []
        owners = np.array(visible_owners(self._db, viewer, filters), np.int32)
        sql, values = allowed(viewer, filters)
        among = None
        if filters != EVERYTHING:
            filtered = f"SELECT DISTINCT row FROM passages JOIN vectors USING(owner, hash) WHERE space = ? AND {sql}"
            among = _within(file, [row for (row,) in self._db.execute(filtered, (space, *values))])
        asked = limit
        while True:
            rows, likeness = file.nearest(question, owners, limit, among)
            found = self._passages_of(space, dict(zip(rows.tolist(), likeness.tolist(), strict=True)), sql, values)
            if len(found) >= asked or len(rows) < limit:
                return found[:asked]
            limit *= 4  # many rows stood for texts that are gone

    def _passages_of(
        self, space: int, likely: dict[int, float], sql: str, values: Sequence[str | int]
    ) -> list[tuple[int, float]]:
        """The passages that rows stand for, best first; of a text that stands on many pages, a few."""
        # CROSS JOIN keeps SQLite to the order written: it has no statistics, and guesses wrong
        found = f"""
            SELECT passages.id, row FROM vectors CROSS JOIN passages USING(owner, hash)
            WHERE space = {space} AND row IN (%s) AND {sql}"""
        pages: dict[int, list[int]] = {}
        for number, row in sorted(_each(self._db, found, list(likely), values)):
            pages.setdefault(row, []).append(number)
        pairs = ((number, likely[row]) for row, numbers in pages.items() for number in numbers[:_COPIES])
        return sorted(pairs, key=lambda each: (-each[1], each[0]))

    def cosines(self, name: str, question: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        space, file = self._seen(name)
        if file is None or len(question) != file.dims or not numbers:
            return {}
        sql = f"""
            SELECT passages.id, row FROM passages CROSS JOIN vectors USING(owner, hash)
            WHERE space = {space} AND passages.id IN (%s)"""
        pairs = _each(self._db, sql, numbers, ())
        if not pairs:
            return {}
        ids, rows = zip(*pairs, strict=True)
        return dict(zip(ids, file.cosines(question, _within(file, rows)).tolist(), strict=True))

    def token_vectors(self, name: str, numbers: Sequence[int]) -> dict[int, bytes]:
        from ..embedding.late_interaction import BYTES

        sql = """
            SELECT passages.id, tokens FROM spaces CROSS JOIN passages CROSS JOIN tokens
            ON tokens.space = spaces.id AND tokens.owner = passages.owner AND tokens.hash = passages.hash
            WHERE passages.id IN (%s) AND spaces.name = ?"""
        found = _each(self._db, sql, numbers, (name,))
        if any(not isinstance(tokens, bytes) or not tokens or len(tokens) % BYTES for _, tokens in found):
            raise sqlite3.DatabaseError("the tokens of a passage are not there")
        return dict(found)

    def similarity_stats(self, name: str) -> tuple[float, float] | None:
        _, file = self._seen(name)
        return file.similarity_stats() if file else None

    def drop(self, name: str) -> None:
        """Within a transaction: forget a space, and its file."""
        row = self._db.execute("SELECT id, epoch FROM spaces WHERE name = ?", (name,)).fetchone()
        if row:
            for table in ("vectors", "tokens"):
                self._db.execute(f"DELETE FROM {table} WHERE space = ?", (row[0],))
            self._db.execute("DELETE FROM spaces WHERE id = ?", (row[0],))
            self._give_up(*row)
            self._open.pop(name, None)

    def promote_space(self, new: str, name: str) -> None:
        """Within a transaction: a space takes the name, and the place, of another."""
        if not self._db.execute("SELECT 1 FROM spaces WHERE name = ?", (new,)).fetchone():
            return
        self.drop(name)
        self._db.execute("UPDATE spaces SET name = ? WHERE name = ?", (name, new))
        if new in self._open:
            self._open[name] = self._open.pop(new)

    def clear_away(self) -> None:
        """After a transaction: remove the files it gave up."""
        while self._unwanted:
            with suppress(OSError):
                os.unlink(self._unwanted.pop())

    def keep(self) -> None:
        """After a transaction that did not count: its files stay."""
        self._unwanted.clear()

    def _made(self, name: str, dims: int) -> tuple[int, int, int, int, int]:
        sql = "SELECT id, dims, epoch, rows, seen FROM spaces WHERE name = ?"
        self._db.execute("INSERT OR IGNORE INTO spaces VALUES(NULL, ?, ?, 0, 0, 0)", (name, dims))
        if dims:  # a first batch may have had nothing to embed
            self._db.execute("UPDATE spaces SET dims = ? WHERE name = ? AND rows = 0", (dims, name))
        found: tuple[int, int, int, int, int] = self._db.execute(sql, (name,)).fetchone()
        return found

    def _wanted(self, space: int, keys: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Of these texts, those without a vector that still stand somewhere: one may have been forgotten meanwhile."""
        found: list[tuple[int, bytes]] = []
        for start in range(0, len(keys), _MANY):
            some = keys[start : start + _MANY]
            sql = f"""
                WITH asked(owner, hash) AS (VALUES {",".join(["(?, ?)"] * len(some))}) SELECT owner, hash FROM asked
                WHERE EXISTS (SELECT 1 FROM passages WHERE passages.owner = asked.owner AND passages.hash = asked.hash)
                AND NOT EXISTS (SELECT 1 FROM vectors
                  WHERE space = {space} AND vectors.owner = asked.owner AND vectors.hash = asked.hash)"""
            found += self._db.execute(sql, [value for key in some for value in key]).fetchall()
        return found

    def _write(self, name: str, count: int, rows: Any) -> None:
        try:
            self._file(name).write(count, rows)
        except EOFError as error:
            raise sqlite3.DatabaseError(str(error)) from error
        except OSError as error:
            raise Unavailable(f"vectors can not be kept in the index ({error.strerror})") from error

    def _seen(self, name: str) -> tuple[int, VectorFile | None]:
        """A space as it counts now. Rows that are not in the file (somebody removed it) are damage like any other."""
        row = self._db.execute("SELECT id, rows FROM spaces WHERE name = ?", (name,)).fetchone()
        if not row or not row[1]:
            return 0, None
        file = self._file(name)
        if not file.see(row[1]):
            raise sqlite3.DatabaseError(f"the vectors of {name} are not there")
        return row[0], file

    def _file(self, name: str) -> VectorFile:
        from .vectors import VectorFile

        space, dims, epoch = self._db.execute("SELECT id, dims, epoch FROM spaces WHERE name = ?", (name,)).fetchone()
        known = self._open.get(name)
        if known and known[0] == (space, epoch) and known[1].dims == dims:
            return known[1]
        file = VectorFile(self._path(space, epoch), dims)
        self._open[name] = ((space, epoch), file)
        return file

    def _path(self, space: int, epoch: int) -> str | None:
        return f"{self._stem}-{space}-{epoch}.vectors" if self._stem else None

    def _give_up(self, space: int, epoch: int) -> None:
        if path := self._path(space, epoch):
            self._unwanted.append(path)

    def _passages(self) -> int:
        found: int = self._db.execute("SELECT coalesce(sum(passages), 0) FROM owners").fetchone()[0]
        return found

    def compact(self, name: str) -> None:
        """Within a transaction: keep the rows that stand for a passage, in a new file."""
        space, _, epoch, count, _ = self._made(name, 0)
        for table in ("vectors", "tokens"):
            self._db.execute(
                f"""DELETE FROM {table} WHERE space = ? AND NOT EXISTS
                (SELECT 1 FROM passages WHERE passages.owner = {table}.owner AND passages.hash = {table}.hash)""",
                (space,),
            )
        kept = self._db.execute(
            "SELECT owner, hash, row FROM vectors WHERE space = ? ORDER BY row", (space,)
        ).fetchall()
        old = self._file(name)
        old.see(count)
        rows = old.rows(_within(old, [row for _, _, row in kept]))
        self._db.execute("UPDATE spaces SET epoch = ?, rows = ? WHERE id = ?", (epoch + 1, len(kept), space))
        self._write(name, 0, rows)
        renumbered = ((number, space, owner, hashed) for number, (owner, hashed, _) in enumerate(kept))
        self._db.executemany("UPDATE vectors SET row = ? WHERE space = ? AND owner = ? AND hash = ?", renumbered)
        self._give_up(space, epoch)


def _within(file: VectorFile, rows: Sequence[int]) -> Any:
    """Numbers of rows, all of them in the file. One that is not is damage like any other."""
    import numpy as np

    found = np.array(rows)
    if len(found) and (found.dtype.kind != "i" or found.min() < 0 or found.max() >= file.count):
        raise sqlite3.DatabaseError("a passage stands for a vector that is not there")
    return found.astype(np.int64)


def _each(db: sqlite3.Connection, sql: str, values: Sequence[int], more: Sequence[Any]) -> list[tuple[Any, ...]]:
    """A statement over many values, a few hundred at a time."""
    out: list[tuple[Any, ...]] = []
    for start in range(0, len(values), _MANY):
        some = values[start : start + _MANY]
        out += db.execute(sql % placeholders(some), (*some, *more)).fetchall()
    return out
