"""Items under a namespace and a key, one small record page each: `<store>/<label>/.../<key>.md`; and their cache.

The page is the truth: a person may edit, rename, move or remove it. Labels and keys that file systems do not accept are
encoded, and the page then says `namespace:` and `key:`. The front matter also holds the time to live, and what is
embedded. The cache has what is read off the pages and can be deleted at will: when items expire, and vectors of the
user's own embedder. A page whose stamp is unchanged is not read again, and a text is embedded once.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...errors import BrokenFrontMatter, CommonplaceError, LockTimeout, NotText, PageNotFound, StaleVersion
from ...formats import frontmatter
from ...formats import records as record_format
from ...formats.timestamps import format_timestamp, parse_timestamp
from ...home import Home
from ...model import Json, Record
from ...storage.base import UNSURE
from ...storage.files import make_folders
from ...storage.layout import stem
from ...storage.names import encode_name, file_name, is_plain, path_range
from ...storage.records import page_exists, parse_record

if TYPE_CHECKING:
    import numpy as np

    from ...index.handle import IndexView

Namespace = tuple[str, ...]
IndexedPaths = bool | tuple[str, ...] | None  # which fields are embedded; None: the store's own, False: none
Answer = TypeVar("Answer")
EmbedTexts = Callable[[list[str]], list[list[float]]]
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
_ENCODED_LABEL = re.compile(r".*~[a-z2-7]{16}", re.DOTALL)
_NOT_INDEXED = frozenset({"none", "false", "no", "off"})  # values of `index:` that say that nothing is embedded
_MIN_REFRESH_FRACTION = 0.01  # of the time to live; a read that would extend it by less does not write the page


class ItemOptions(NamedTuple):
    """The time to live of an item, in ttl_minutes, and which of its fields are embedded."""

    ttl_minutes: float | None = None
    expires_at: datetime | None = None
    paths: IndexedPaths = None

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at < now


class StoredItem(NamedTuple):
    """An item, and the path of its page."""

    namespace: Namespace
    key: str
    value: dict[str, Json]
    created_at: datetime
    updated_at: datetime
    path: str


class Listing(NamedTuple):
    """The indexed items below a folder. `stale`: another process is indexing, and pages may be missing."""

    folder: str
    records: list[Record]
    stamps: Mapping[str, int]
    stale: bool
    warnings: tuple[str, ...]


class ItemStore:
    """The items of one agent."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._labels: dict[str, str] = {}  # encoded folder name to label: this never changes

    @property
    def folder(self) -> str:
        return self._home.layout.store_folder(self._home.agent)

    def read(self, namespace: Namespace, key: str) -> tuple[StoredItem, ItemOptions] | None:
        stored = self.read_page(self.path(namespace, key), namespace)
        return stored if stored and stored[0].key == key else None

    def read_page(self, path: str, namespace: Namespace | None = None) -> tuple[StoredItem, ItemOptions] | None:
        """Return the item on a page, or None when there is no such page."""
        try:
            text = self._home.storage.pages.read(path).text
            record = self._record(text, path)
        except PageNotFound:
            return None
        return self.parse_item(record, namespace), parse_options(text)

    def find_indexed(self, paths: list[str]) -> Iterator[str]:
        """Yield the pages that may answer a question: all but those that were put with `index=False`."""
        read = self._home.storage.pages.page_reader(paths)
        for path in paths:
            with suppress(PageNotFound, NotText):
                text = read(path).text
                if "\nindex:" not in text or parse_options(text).paths not in (False, ()):  # few pages need parsing
                    yield path

    def write(self, namespace: Namespace, key: str, value: dict[str, Json], options: ItemOptions) -> str:
        """Write an item and return the path of its page; its creation time stays."""
        path = self.path(namespace, key)
        now = format_timestamp(self._home.clock())
        is_in_path = path == "/".join((self.folder, *namespace, f"{key}.md"))

        def rewrite(old: str) -> str:
            fields = {
                "key": None if stem(path) == key else key,
                "namespace": None if is_in_path else [*namespace],
                "created_at": self._record(old, path).created_at if old else now,
                "updated_at": now,
                **_option_fields(options),
            }
            try:
                return record_format.render_record(old, value, fields)
            except BrokenFrontMatter as error:
                raise BrokenFrontMatter(f"{path}: {error}") from error

        self._home.writer.edit(path, rewrite)
        return path

    def remove(self, namespace: Namespace, key: str) -> None:
        while True:  # a page that a person made for the key may become visible
            stored = self.read(namespace, key)
            if not stored:
                return
            with suppress(PageNotFound):
                self._home.writer.remove(stored[0].path)

    def refresh(self, path: str) -> None:
        """Restart the time to live of an item that was read."""
        now = self._home.clock()

        def rewrite(old: str) -> str:
            options = parse_options(old)
            later = make_options(options.ttl_minutes, options.paths, now)
            if not (options.ttl_minutes and options.expires_at and later.expires_at):
                return old
            if (later.expires_at - options.expires_at).total_seconds() < abs(
                options.ttl_minutes
            ) * 60 * _MIN_REFRESH_FRACTION:
                return old
            head, body = frontmatter.split(old)
            return frontmatter.edit(head, {"expires_at": format_timestamp(later.expires_at)}) + body

        with suppress(PageNotFound, BrokenFrontMatter, NotText, ValueError):  # a page that cannot be read is left alone
            if rewrite(text := self._home.storage.pages.read(path).text) != text:  # most reads take no lock
                self._home.writer.edit(path, rewrite)

    def expire(self, path: str) -> bool:
        """Remove an expired page, unless somebody wrote to it meanwhile; return whether it was removed."""
        with suppress(PageNotFound, NotText, StaleVersion):
            page = self._home.storage.pages.read(path)
            if parse_options(page.text).is_expired(self._home.clock()):
                self._home.writer.remove(path, if_version=page.version)
                return True
        return False

    def list_below(self, prefix: Namespace, *, only_pages: bool) -> Listing:
        """Return the items of a namespace and those below it, or only their pages, once the index caught up."""
        folder = self.folder_of(prefix)
        self._home.storage.check()

        def ask(view: IndexView) -> Listing:
            records = [] if only_pages else view.index.records(folder)
            return Listing(folder, records, view.index.stamps(folder), view.stale, view.warnings)

        return self._home.index.query(ask, folder)

    def parse_item(self, record: Record, namespace: Namespace | None = None) -> StoredItem:
        where = self.namespace(record.path) if namespace is None else namespace
        created, updated = (self._parse_time(text, record.path) for text in (record.created_at, record.updated_at))
        return StoredItem(where, record.key, to_mapping(record.value), created, updated, record.path)

    def namespace(self, path: str) -> Namespace:
        """Return the labels of the folders that a page is in. The page itself explains an unknown encoded label."""
        parts = path.removeprefix(f"{self.folder}/").split("/")[:-1]
        if any(part not in self._labels and _ENCODED_LABEL.fullmatch(part) for part in parts):
            with suppress(CommonplaceError):
                self._remember_labels(
                    record_format.parse_fields(self._home.storage.pages.read(path).text).get("namespace")
                )
        return tuple(self._labels.get(part, part) for part in parts)

    def folder_of(self, namespace: Namespace) -> str:
        """Return the folder of a namespace: ours, or else one that a person named exactly so."""
        folder = self.folder
        self._remember_labels([label for label in namespace if not is_plain(label)])
        for label in namespace:
            name = file_name(label)
            if name != label and not _ENCODED_LABEL.fullmatch(label):  # it may be the encoded form of another label
                name = self._home.layout.named(folder, label)
            folder = f"{folder}/{name}"
        return folder

    def path(self, namespace: Namespace, key: str) -> str:
        """Return the page of a key: the one that this store wrote, or else one to which a person gave that name."""
        folder = self.folder_of(namespace)
        ours = f"{folder}/{file_name(key)}.md"
        theirs = f"{folder}/{key}.md"
        pages = self._home.storage.pages
        by_hand = ours != theirs and page_exists(pages, theirs) and not page_exists(pages, ours)
        # A name that looks encoded may be the page of another key.
        item = self.read_page(theirs, namespace) if by_hand else None
        return theirs if item and item[0].key == key else ours

    def _record(self, text: str, path: str) -> Record:
        place = self._home.layout.place(path)
        if place is None:
            raise PageNotFound(path)
        return parse_record(text, path, place, lambda: self._home.storage.pages.modified_at(path))

    def _remember_labels(self, labels: Any) -> None:
        for label in [labels] if isinstance(labels, str) else labels or ():
            if isinstance(label, str) and not is_plain(label):
                self._labels[encode_name(label)] = label

    def _parse_time(self, text: str, path: str) -> datetime:
        """Return the time that a page says, or else when its file was written."""
        if moment := parse_timestamp(text):
            return moment.astimezone(UTC)
        with suppress(CommonplaceError, OverflowError, ValueError):
            return datetime.fromtimestamp(self._home.storage.pages.modified_at(path), UTC)
        return self._home.clock().astimezone(UTC)


def to_mapping(value: Json) -> dict[str, Json]:
    """Return the value as a mapping: a page that a person wrote may hold plain text, or other JSON."""
    return value if isinstance(value, dict) else {"text" if isinstance(value, str) else "value": value}


def make_options(ttl_minutes: float | None, paths: IndexedPaths, now: datetime) -> ItemOptions:
    """Return the options of an item that is put or read now; ValueError for an invalid time to live."""
    if ttl_minutes is None:
        return ItemOptions(paths=paths)
    if isinstance(ttl_minutes, bool) or not isinstance(ttl_minutes, (int, float)) or not isfinite(ttl_minutes):
        raise ValueError(f"ttl must be a number of minutes, or None for no end, not {ttl_minutes!r}")
    try:
        return ItemOptions(float(ttl_minutes), now + timedelta(minutes=ttl_minutes), paths)
    except OverflowError as error:
        raise ValueError(f"ttl {ttl_minutes!r} is too long: use None for no end") from error


def parse_options(text: str) -> ItemOptions:
    """Return the options that a page says, ignoring what cannot be understood."""
    try:
        fields = record_format.parse_fields(text)
    except BrokenFrontMatter:
        return ItemOptions()
    ends = fields.get("expires_at")
    return ItemOptions(
        _parse_number(fields.get("ttl")),
        parse_timestamp(ends) if isinstance(ends, str) else None,
        _parse_indexed_paths(fields.get("index")),
    )


def _parse_number(text: Any) -> float | None:
    try:
        number = float(text)
    except (ValueError, TypeError):
        return None
    return number if isfinite(number) else None


def _parse_indexed_paths(value: Any) -> IndexedPaths:
    if isinstance(value, list):
        return tuple(each for each in value if isinstance(each, str))
    if not isinstance(value, str):
        return None
    return False if value.lower() in _NOT_INDEXED else (value,)


def _option_fields(options: ItemOptions) -> dict[str, Json]:
    index: Json = (
        "none" if options.paths in (False, ()) else list(options.paths) if isinstance(options.paths, tuple) else None
    )
    return {
        "expires_at": format_timestamp(options.expires_at) if options.expires_at else None,
        "ttl": None if options.ttl_minutes is None else f"{options.ttl_minutes:.10g}",
        "index": index,
    }


ReadItem = Callable[[str], tuple[StoredItem, ItemOptions] | None]


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
        """Embed every text of a listing that has no vector yet."""
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
            known = self._load_digests(path)
            missing |= {digest: text for digest, text in digests_by_path[path].items() if digest not in known}
            if len(missing) >= _TEXTS_PER_BATCH:
                self._store(stamps, digests_by_path, _embed(missing, embedder))
                digests_by_path = {}
                missing = {}
        self._store(stamps, digests_by_path, _embed(missing, embedder))

    def _load_digests(self, path: str) -> set[bytes]:
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
                self._closing()
                self._db = None

    def _run(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Run `work` on the file. A damaged file is replaced; if none can be written, the cache is kept in memory."""
        with self._lock:
            try:
                return work(self._open())
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise LockTimeout("another process is writing to this store's cache: try again") from error
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
        self._closing = weakref.finalize(self, self._db.close)  # a store that is dropped closes its file, too
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
