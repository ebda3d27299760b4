"""What an index knows, read without catching up: for comparing it with the pages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Literal, NamedTuple
from urllib.parse import quote

from .sqlite import SCHEMA, SqliteIndex

_BUSY_TIMEOUT_SECONDS = 2.0
State = Literal["ok", "missing", "damaged", "busy", "unused"]


class IndexInspection(NamedTuple):
    """The state of an index and, where it is ok, the stamps, versions and warnings it has by page.

    `seq`: the sequence number it is up to, where pages have one. `lag_is_normal`: it may be behind the pages without
    anything being wrong, since the next search catches up.
    """

    location: str
    state: State
    problem: str = ""
    stamps: Mapping[str, int] = {}
    versions: Mapping[str, str] = {}
    warnings: Mapping[str, str] = {}
    seq: int = 0
    lag_is_normal: bool = False


def index_file_stem(fingerprint: str) -> str:
    """Return what the files of an index of this program version and these settings are called."""
    return f"words-{SCHEMA}-{fingerprint}"


def inspect_sqlite_index(folder: str, fingerprint: str) -> IndexInspection:
    name = f"{index_file_stem(fingerprint)}.sqlite"
    location = f"{os.path.basename(folder)}/{name}"
    path = os.path.join(folder, name)
    if os.path.islink(folder) or os.path.islink(path):
        return IndexInspection(location, "unused", "it is a link, which is not followed")
    if not os.path.isfile(path) or not os.path.getsize(path):
        return IndexInspection(location, "missing")
    try:
        _check_integrity(path)
        with closing(SqliteIndex(path)) as index:
            stamps = index.stamps()
            versions = index.versions(stamps)
            return IndexInspection(location, "ok", "", stamps, versions, dict(index.warnings()))
    except sqlite3.DatabaseError as error:
        is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        return IndexInspection(location, "busy" if is_busy else "damaged", str(error))


def _check_integrity(path: str) -> None:
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=_BUSY_TIMEOUT_SECONDS)) as db:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(str(verdict).split("\n")[-1])
