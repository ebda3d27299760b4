"""What a store caches beside the index of a home: when items expire, and vectors of the user's own embedder.

Both are read off the pages and can be deleted at will. A page whose stamp is unchanged is not read again, and a text
is embedded once.
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
from ...storage.names import path_range
from .items import ItemOptions, Listing, StoredItem

if TYPE_CHECKING:
    import numpy as np

Answer = TypeVar("Answer")
EmbedTexts = Callable[[list[str]], list[list[float]]]
ReadItem = Callable[[str], tuple[StoredItem, ItemOptions] | None]
_SCHEMA = 1
_BUSY_TIMEOUT_SECONDS = 5.0
_TEXTS_PER_BATCH = 200  # stored after each batch, whatever happens to the next
_TABLES = """
PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;
CREATE TABLE IF NOT EXISTS ends(path TEXT PRIMARY KEY, stamp INTEGER NOT NULL, at TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS embedded(path TEXT PRIMARY KEY, stamp INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors(
  path TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(path, text)) WITHOUT ROWID;
"""
_BELOW = "path >= ? AND path < ?"


class ItemEmbedder(NamedTuple):
    """How items are embedded: which texts of an item, by which function, and with how many dimensions."""

    texts: Callable[[StoredItem, ItemOptions], list[str]]
    embed: EmbedTexts
    dims: int


class ItemCache:
    """A small SQLite file; where none can be used, one in memory."""

    def __init__(self, folder: str, name: str) -> None:
        # Named like the files of the index, so that `forget` removes it with them.
        self._path = os.path.join(folder, f"words-items-{_SCHEMA}-{name}.sqlite")
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._opened: object = None  # which file is open, and in which process

    def find_expired(self, listing: Listing, read: ReadItem, now: datetime) -> set[str]:
        """Return the pages of a listing whose items have expired."""

        def work(db: sqlite3.Connection) -> set[str]:
            changed = _find_changed(db, "ends", listing)
            rows = [(path, listing.stamps[path], _expiry(read(path))) for path in changed]
            with db:
                db.executemany("INSERT OR REPLACE INTO ends VALUES(?, ?, ?)", rows)
            sql = f"SELECT path FROM ends WHERE {_BELOW} AND at < ?"
            return {path for (path,) in db.execute(sql, (*path_range(listing.folder), format_timestamp(now)))}

        return self._run(work).intersection(listing.stamps) if listing.stamps else set()

    def embed_listing(self, listing: Listing, read: ReadItem, embedder: ItemEmbedder) -> None:
        """Make sure that every text of every item of a listing has a vector."""
        if listing.stamps:
            changed = self._run(lambda db: _find_changed(db, "embedded", listing))
            self.embed_pages({path: listing.stamps[path] for path in changed}, read, embedder)

    def embed_pages(self, stamps: Mapping[str, int], read: ReadItem, embedder: ItemEmbedder) -> None:
        """Do the same for single pages. No lock is held while the embedder works."""
        digests_by_path: dict[str, dict[bytes, str]] = {}
        missing: dict[bytes, str] = {}
        for path in stamps:
            item = read(path)
            texts = embedder.texts(*item) if item else []
            digests_by_path[path] = {_digest(text): text for text in texts}
            known = self._known_digests(path)
            missing |= {digest: text for digest, text in digests_by_path[path].items() if digest not in known}
            if len(missing) >= _TEXTS_PER_BATCH:
                self._store(stamps, digests_by_path, _embed(missing, embedder))
                digests_by_path = {}
                missing = {}
        self._store(stamps, digests_by_path, _embed(missing, embedder))

    def _known_digests(self, path: str) -> set[bytes]:
        return self._run(lambda db: _read_digests(db, path))

    def _store(
        self,
        stamps: Mapping[str, int],
        digests_by_path: Mapping[str, Mapping[bytes, str]],
        vectors: Mapping[bytes, bytes],
    ) -> None:
        def work(db: sqlite3.Connection) -> None:
            with db:
                for path, digests in digests_by_path.items():
                    obsolete = [(path, digest) for digest in _read_digests(db, path) if digest not in digests]
                    new = [(path, digest, vectors[digest]) for digest in digests if digest in vectors]
                    db.executemany("DELETE FROM vectors WHERE path = ? AND text = ?", obsolete)
                    db.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)", new)
                    db.execute("INSERT OR REPLACE INTO embedded VALUES(?, ?)", (path, stamps[path]))

        if digests_by_path:
            self._run(work)

    def similarities(self, folder: str, question: list[float]) -> dict[str, float]:
        """Return the cosine between a question and the nearest text of each item below a folder."""
        import numpy as np

        sql = f"SELECT path, vector FROM vectors WHERE {_BELOW}"
        rows = self._run(lambda db: db.execute(sql, path_range(folder)).fetchall())
        if not rows:
            return {}
        vectors = np.frombuffer(b"".join(vector for _, vector in rows), np.float32).reshape(len(rows), -1)
        cosines = _cosines(vectors, np.asarray(question, np.float32))
        best: dict[str, float] = {}
        for (path, _), cosine in zip(rows, cosines, strict=True):
            best[path] = max(float(cosine), best.get(path, -1.0))
        return best

    def close(self) -> None:
        with self._lock:
            if self._db:
                self._db.close()
                self._db = None

    def _run(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Run `work` on the file. A damaged file is replaced; where none can be written, use one in memory."""
        with self._lock:
            try:
                return work(self._open())
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise LockTimeout("another process writes to what a store keeps: try again") from error
                self._connect(":memory:")
            except sqlite3.DatabaseError:
                self.close()
                for suffix in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        os.unlink(self._path + suffix)
            return work(self._open())

    def _open(self) -> sqlite3.Connection:
        """Return a connection of this process to the present file: somebody may have deleted the earlier one."""
        if self._db is None or self._opened != self._identity():
            folder = os.path.dirname(self._path)
            if os.path.islink(folder) or os.path.islink(self._path):
                raise sqlite3.OperationalError(f"{self._path} is a link")
            with suppress(OSError):  # SQLite reports what is wrong
                make_folders(folder)
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
                os.utime(self._path)
            self._connect(self._path)
        assert self._db is not None
        return self._db

    def _connect(self, path: str) -> None:
        self.close()
        self._db = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_SECONDS, check_same_thread=False)
        self._opened = "memory" if path == ":memory:" else self._identity()
        self._db.executescript(_TABLES)

    def _identity(self) -> object:
        if self._opened == "memory":
            return "memory"
        try:
            info = os.stat(self._path)
        except OSError:
            return None
        return os.getpid(), info.st_dev, info.st_ino


def _find_changed(db: sqlite3.Connection, table: str, listing: Listing) -> list[str]:
    """Return the pages whose stamp changed, and drop what is known of pages that are gone."""
    known = dict(db.execute(f"SELECT path, stamp FROM {table} WHERE {_BELOW}", path_range(listing.folder)))
    gone = [] if listing.stale else [(path,) for path in known if path not in listing.stamps]
    if gone:
        with db:
            for each in (table, "vectors") if table == "embedded" else (table,):
                db.executemany(f"DELETE FROM {each} WHERE path = ?", gone)
    return [path for path, stamp in listing.stamps.items() if stamp == UNSURE or known.get(path) != stamp]


def _read_digests(db: sqlite3.Connection, path: str) -> set[bytes]:
    return {digest for (digest,) in db.execute("SELECT text FROM vectors WHERE path = ?", (path,))}


def _expiry(item: tuple[StoredItem, ItemOptions] | None) -> str | None:
    expires_at = item[1].expires_at if item else None
    return format_timestamp(expires_at) if expires_at else None


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def _embed(texts: Mapping[bytes, str], embedder: ItemEmbedder) -> dict[bytes, bytes]:
    if not texts:
        return {}
    vectors = embedder.embed(list(texts.values()))
    if len(vectors) != len(texts):
        raise ValueError(f"the embedder gave {len(vectors)} vectors for {len(texts)} texts: it must give one for each")
    return {digest: pack_vector(vector, embedder.dims) for digest, vector in zip(texts, vectors, strict=True)}


def pack_vector(vector: Iterable[float], dims: int) -> bytes:
    """Return a vector as it is stored; ValueError for one of another length."""
    import numpy as np

    numbers = np.asarray(vector, np.float32)
    if numbers.shape != (dims,):
        raise ValueError(f"the embedder gave {numbers.size} numbers, and index['dims'] says {dims}: make them the same")
    return numbers.tobytes()


def _cosines(vectors: np.ndarray[Any, Any], question: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the cosine of each vector with the question; 0 for a vector of zeros."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(question)
    cosines: np.ndarray[Any, Any] = np.divide(
        vectors @ question, lengths, out=np.zeros_like(lengths), where=lengths > 0
    )
    return cosines
