"""What a store keeps beside the index of a home, to be thrown away at will: when items end, and vectors of the user's
own embedder. Both are read off the pages; a page that looks as before is not read again, and a text that was embedded
once is not embedded again.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...errors import LockTimeout
from ...formats.timestamps import format_timestamp
from ...storage.base import UNSURE
from ...storage.files import make_folders
from .items import Listing, Stored, Terms

if TYPE_CHECKING:
    import numpy as np

Answer = TypeVar("Answer")
Embed = Callable[[list[str]], list[list[float]]]
Read = Callable[[str], tuple[Stored, Terms] | None]
_SCHEMA = 1
_PATIENCE = 5.0  # seconds to wait for another process that writes
_AT_ONCE = 200  # texts: what was embedded is kept after so many, whatever happens to the next
_TABLES = """
PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;
CREATE TABLE IF NOT EXISTS ends(path TEXT PRIMARY KEY, stamp INTEGER NOT NULL, at TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS embedded(path TEXT PRIMARY KEY, stamp INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors(
  path TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(path, text)) WITHOUT ROWID;
"""
_BELOW = "path >= ? AND path < ?"


class Embedding(NamedTuple):
    """How the items of a store are embedded: which texts of an item, by what, and how long the vectors are."""

    texts: Callable[[Stored, Terms], list[str]]
    embed: Embed
    dims: int


class Beside:
    def __init__(self, folder: str, name: str) -> None:
        # Named like the files of the index: who forgets something for good throws this away with them.
        self._path = os.path.join(folder, f"words-items-{_SCHEMA}-{name}.sqlite")
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._is: object = None  # which file is open, by which process

    def over(self, listing: Listing, read: Read, now: datetime) -> set[str]:
        """The pages of a listing whose time is over."""

        def work(db: sqlite3.Connection) -> set[str]:
            changed = _changed(db, "ends", listing)
            rows = [(path, listing.stamps[path], _end(read(path))) for path in changed]
            with db:
                db.executemany("INSERT OR REPLACE INTO ends VALUES(?, ?, ?)", rows)
            sql = f"SELECT path FROM ends WHERE {_BELOW} AND at < ?"
            return {path for (path,) in db.execute(sql, (*_bounds(listing.folder), format_timestamp(now)))}

        return self._ask(work).intersection(listing.stamps) if listing.stamps else set()

    def embed(self, listing: Listing, read: Read, how: Embedding) -> None:
        """Have a vector for every text of every item of a listing."""
        if listing.stamps:
            changed = self._ask(lambda db: _changed(db, "embedded", listing))
            self.embed_pages({path: listing.stamps[path] for path in changed}, read, how)

    def embed_pages(self, stamps: Mapping[str, int], read: Read, how: Embedding) -> None:
        """The same for single pages; nothing is held while the embedder works."""
        wanted: dict[str, dict[bytes, str]] = {}
        texts: dict[bytes, str] = {}
        for path in stamps:
            found = read(path)
            wanted[path] = {_digest(text): text for text in how.texts(*found)} if found else {}
            known = self._ask(lambda db, path=path: _known(db, path))  # type: ignore[misc]
            texts |= {digest: text for digest, text in wanted[path].items() if digest not in known}
            if len(texts) >= _AT_ONCE:
                self._keep(stamps, wanted, _vectors(texts, how))
                wanted, texts = {}, {}
        self._keep(stamps, wanted, _vectors(texts, how))

    def _keep(
        self, stamps: Mapping[str, int], wanted: Mapping[str, Mapping[bytes, str]], vectors: Mapping[bytes, bytes]
    ) -> None:
        def work(db: sqlite3.Connection) -> None:
            with db:
                for path, digests in wanted.items():
                    gone = [(path, digest) for digest in _known(db, path) if digest not in digests]
                    new = [(path, digest, vectors[digest]) for digest in digests if digest in vectors]
                    db.executemany("DELETE FROM vectors WHERE path = ? AND text = ?", gone)
                    db.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)", new)
                    db.execute("INSERT OR REPLACE INTO embedded VALUES(?, ?)", (path, stamps[path]))

        if wanted:
            self._ask(work)

    def likeness(self, folder: str, question: list[float]) -> dict[str, float]:
        """How like a question each item is below a folder: the cosine of its text that is nearest."""
        import numpy as np

        sql = f"SELECT path, vector FROM vectors WHERE {_BELOW}"
        rows = self._ask(lambda db: db.execute(sql, _bounds(folder)).fetchall())
        if not rows:
            return {}
        asked = np.asarray(question, np.float32)
        vectors = np.frombuffer(b"".join(vector for _, vector in rows), np.float32).reshape(len(rows), -1)
        found: dict[str, float] = {}
        for (path, _), cosine in zip(rows, _cosines(vectors, asked), strict=True):
            found[path] = max(float(cosine), found.get(path, -1.0))
        return found

    def close(self) -> None:
        with self._lock:
            if self._db:
                self._db.close()
                self._db = None

    def _ask(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """What the file answers. A damaged one is replaced; where none can be kept, this handle has its own."""
        with self._lock:
            try:
                return work(self._open())
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise LockTimeout("another process writes to what a store keeps: try again") from error
                self._use(":memory:")
            except sqlite3.DatabaseError:
                self.close()
                for end in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        os.unlink(self._path + end)
            return work(self._open())

    def _open(self) -> sqlite3.Connection:
        """A handle of this process, on the file that others see: somebody may have thrown it away."""
        if self._db is None or self._is != self._identity():
            folder = os.path.dirname(self._path)
            if os.path.islink(folder) or os.path.islink(self._path):
                raise sqlite3.OperationalError(f"{self._path} is a link")
            with suppress(OSError):  # SQLite says what is wrong
                make_folders(folder)
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
                os.utime(self._path)
            self._use(self._path)
        assert self._db is not None
        return self._db

    def _use(self, path: str) -> None:
        self.close()
        self._db = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
        self._is = "memory" if path == ":memory:" else self._identity()
        self._db.executescript(_TABLES)

    def _identity(self) -> object:
        if self._is == "memory":
            return "memory"
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return os.getpid(), found.st_dev, found.st_ino


def _changed(db: sqlite3.Connection, table: str, listing: Listing) -> list[str]:
    """The pages that do not look as they did; what is known of those that are gone is dropped."""
    known = dict(db.execute(f"SELECT path, stamp FROM {table} WHERE {_BELOW}", _bounds(listing.folder)))
    gone = [] if listing.stale else [(path,) for path in known if path not in listing.stamps]
    if gone:
        with db:
            for each in (table, "vectors") if table == "embedded" else (table,):
                db.executemany(f"DELETE FROM {each} WHERE path = ?", gone)
    return [path for path, seen in listing.stamps.items() if seen == UNSURE or known.get(path) != seen]


def _known(db: sqlite3.Connection, path: str) -> set[bytes]:
    return {digest for (digest,) in db.execute("SELECT text FROM vectors WHERE path = ?", (path,))}


def _end(found: tuple[Stored, Terms] | None) -> str | None:
    ends = found[1].expires_at if found else None
    return format_timestamp(ends) if ends else None


def _bounds(folder: str) -> tuple[str, str]:
    return f"{folder}/", f"{folder}0"  # `0` is the character after the slash


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def _vectors(texts: Mapping[bytes, str], how: Embedding) -> dict[bytes, bytes]:
    if not texts:
        return {}
    made = how.embed(list(texts.values()))
    if len(made) != len(texts):
        raise ValueError(f"the embedder gave {len(made)} vectors for {len(texts)} texts: it must give one for each")
    return {digest: as_bytes(vector, how.dims) for digest, vector in zip(texts, made, strict=True)}


def as_bytes(vector: Iterable[float], dims: int) -> bytes:
    """A vector as it is kept; ValueError for one of another length."""
    import numpy as np

    numbers = np.asarray(vector, np.float32)
    if numbers.shape != (dims,):
        raise ValueError(f"the embedder gave {numbers.size} numbers, and index['dims'] says {dims}: make them the same")
    return numbers.tobytes()


def _cosines(vectors: np.ndarray[Any, Any], asked: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One that points nowhere is like nothing."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked)
    found: np.ndarray[Any, Any] = np.divide(vectors @ asked, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return found
