"""Does the index say what the pages say? And is there an index that nobody uses any more?"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple
from urllib.parse import quote

from ...errors import CommonplaceError, PageNotFound
from ...home import INDEX_FOLDER
from ...index.sqlite import SCHEMA, SqliteIndex
from .scan import Entry, Finding, Survey

_UNUSED = 86400.0  # seconds: somebody may still use an index that was opened later
_STEM = re.compile(r"words-\d+(?:-[0-9a-f]{8})?(?=[.-])")
_SHOWN = 3


class Known(NamedTuple):
    """What an index knows: stamps and versions of pages, and what it has to say about any."""

    stamps: dict[str, int]
    versions: dict[str, str]
    warnings: dict[str, str]


def index(found: Survey) -> Iterator[Finding]:
    """The index against the pages as they were just read. It is not caught up by looking."""
    path = f"{INDEX_FOLDER}/{stem(found)}.sqlite"
    place = os.path.join(found.home.root, path)
    if os.path.islink(os.path.dirname(place)) or os.path.islink(place):
        return  # told as a link, and not used
    if not os.path.isfile(place) or not os.path.getsize(place):
        if found.versions:
            advice = "the next search makes it; --fix does it now"
            yield Finding("index", path, "there is no index", advice, fixable=True, about=("behind",))
        return
    try:
        known = _known(place)
    except sqlite3.DatabaseError as error:
        yield _damaged(path, error)
        return
    yield from compared(found, path, known, lambda: _seen(found, known))


def _seen(found: Survey, known: Known) -> set[str]:
    """What a sweep over the files would find changed."""
    seen = found.home.storage.pages.changes(known.stamps, found.scope.roots())
    return {*seen.changed, *seen.removed}


def stem(found: Survey) -> str:
    """What the files of the index of this home are called, by this version and these settings."""
    return f"words-{SCHEMA}-{found.scope.fingerprint}"


def _known(place: str) -> Known:
    with closing(sqlite3.connect(f"file:{quote(place)}?mode=ro", uri=True, timeout=2.0)) as db:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(str(verdict).split("\n")[-1])
    with closing(SqliteIndex(place)) as opened:
        stamps = opened.stamps()
        return Known(stamps, opened.versions(stamps), dict(opened.warnings()))


def _damaged(path: str, error: sqlite3.DatabaseError) -> Finding:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Finding("index", path, "the index is in use and could not be looked at", "try again in a moment")
    advice = "the next search that notices makes it anew; --fix does it now. Nothing is lost by it"
    return Finding("index", path, f"the index is damaged ({error})", advice, fixable=True, about=("damaged",))


def compared(found: Survey, path: str, known: Known, changed: Callable[[], set[str] | None]) -> Iterator[Finding]:
    """`changed`: the pages that the index would see to have changed; None: all."""
    told = {page: sentence for page, sentence in known.warnings.items() if page not in found.told}
    senseless = known.warnings.keys() - told.keys()  # to us as well: it was said why
    other = {page for page, version in found.versions.items() if known.versions.get(page) != version} - senseless
    gone = known.stamps.keys() - found.versions.keys()
    seen = changed() if other or gone or told else set()
    behind = other | gone if seen is None else (other | gone) & seen
    wrong = {page for page in (other | gone) - behind - told.keys() if _is_wrong(found, page, known)}
    if wrong:  # but for those that somebody wrote since: the index will see that they changed
        wrong -= changed() or set()
    if behind:
        advice = "the next search catches up by itself; --fix does it now"
        what = f"the index has not seen the last change of {_some(behind)}"
        yield Finding("index", path, what, advice, fixable=True, about=("behind",))
    if wrong:
        what = f"the index says something else than {_some(wrong)}, and would not notice"
        yield Finding("index", path, what, "--fix makes it anew from the pages", fixable=True, about=("wrong",))
    for page in sorted(told.keys() - behind):
        yield Finding(
            "index", page, told[page].removeprefix(page).lstrip(": "), "look at the page, and mend it by hand"
        )


def _is_wrong(found: Survey, page: str, known: Known) -> bool:
    """Whether the index still says something else than the page: either may have changed while we looked."""
    try:
        return found.home.storage.pages.read(page).version != known.versions.get(page)
    except PageNotFound:
        return False
    except CommonplaceError:
        return known.versions.get(page) != ""


def _some(pages: set[str]) -> str:
    shown = ", ".join(sorted(pages)[:_SHOWN]) + (", …" if len(pages) > _SHOWN else "")
    return f"{len(pages)} {'page' if len(pages) == 1 else 'pages'} ({shown})"


def old_indexes(found: Survey) -> Iterator[Finding]:
    """The indexes of other versions and settings, when nobody has opened them lately."""
    mine = stem(found)
    others: dict[str, list[Entry]] = {}
    for entry in found.entries():
        named = _STEM.match(entry.name) if entry.path.startswith(f"{INDEX_FOLDER}/") else None
        if named and entry.kind == "file" and named[0] != mine:
            others.setdefault(named[0], []).append(entry)
    for name, entries in sorted(others.items()):
        used = max(entry.info.st_mtime for entry in entries)
        if found.now - used > _UNUSED:
            size = sum(entry.info.st_size for entry in entries)
            what = f"an index of another version or of other settings ({size / 1e6:.1f} MB), not used for a day or more"
            about = tuple(entry.path for entry in entries)
            advice = "--fix removes it; it can be made again from the pages"
            yield Finding("old-indexes", f"{INDEX_FOLDER}/{name}", what, advice, fixable=True, about=about)
