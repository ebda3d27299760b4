"""An archive that was read, put into a home: what is new is added, what differs is replaced only when that is wanted.

Everything is compared before anything is written. A page is written whole or not at all: an import that was interrupted
is simply run again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ... import directive, settings
from ...errors import Conflict, PageNotFound, Refused, SettingsError, StorageError
from ...home import HISTORY_FOLDER, Home
from ...storage.author import Author, write_as
from ...storage.base import ABSENT, Sentences
from ...storage.deltas import version_of
from ...storage.file_locks import lock
from ...storage.files import open_atomic, read_bytes, read_bytes_or_none, storage_errors
from ...storage.postgres.backend import PostgresStorage
from .bulk_folder import add_all, place_of, stamp
from .scope import extent, holds, locks_of
from .spool import Item, Spool

_MOST_NAMED = 10  # pages in one sentence


class Plan(NamedTuple):
    """What an import does. `different`: pages that say something else here; `there`: versions of what was seen."""

    new: tuple[str, ...]
    different: tuple[str, ...]
    same: tuple[str, ...]
    warnings: tuple[str, ...]
    there: dict[str, str]


def plan(home: Home, items: dict[str, Item], spool: Spool) -> Plan:
    """Compare an archive with a home. Refused when it brings what has no place in one."""
    warnings: Sentences = []
    _check_places(home, items, spool, warnings)
    kinds: dict[str, list[str]] = {"new": [], "different": [], "same": [], "kept": []}
    there = _versions(home, items)
    for path, item in items.items():
        kinds[_kind(home, path, there.get(path, ABSENT), version_of(spool.read(item)))].append(path)
    if kinds["kept"]:
        warnings.append("the home has a history of its own, which stays; that of the archive is not imported")
        kinds = {name: [path for path in paths if not _is_history(path)] for name, paths in kinds.items()}
    if not home.storage.folder:
        from .restore_postgres import refuse_rows

        refuse_rows((*kinds["new"], *kinds["different"]), there)
    lists = tuple(kinds["new"]), tuple(kinds["different"]), tuple(kinds["same"])
    return Plan(*lists, tuple(warnings), there)


def _versions(home: Home, paths: Iterable[str]) -> dict[str, str]:
    """The versions of what stands in a home under some paths."""
    if isinstance(home.storage, PostgresStorage):
        from .snapshot_postgres import versions_there

        return versions_there(home.storage, paths)
    found = ((path, _standing(home, path)) for path in paths)
    return {path: version_of(data) for path, data in found if data is not None}


def _kind(home: Home, path: str, standing: str, brought: str) -> str:
    if standing == brought:
        return "same"
    if standing == ABSENT or _is_untouched(home, path, standing):
        return "new"
    return "kept" if _is_history(path) else "different"


def _is_untouched(home: Home, path: str, standing: str) -> bool:
    """The directive every new home is given is nobody's work yet."""
    return path == _directive(home) and standing == version_of(directive.TEXT.encode())


def _directive(home: Home) -> str:
    return f"{home.layout.directives}/memory.md"


def _is_history(path: str) -> bool:
    return path.startswith(f"{HISTORY_FOLDER}/")


def _standing(home: Home, path: str) -> bytes | None:
    if not home.storage.folder:
        return home.storage.read_bytes(path)
    try:
        with storage_errors(path):
            return read_bytes(place_of(home, path), path)
    except PageNotFound:
        return None


def _check_places(home: Home, items: dict[str, Item], spool: Spool, warnings: Sentences) -> None:
    """Where memory stands, the settings say: those of the archive if it has some, else those of the home."""
    own = _standing(home, settings.FILE)
    brought = spool.read(items[settings.FILE]) if settings.FILE in items else None
    if brought is None or brought == own:
        roots = extent(home, history=True)
    else:
        with TemporaryDirectory() as folder:
            roots = extent(_home_with(brought, folder, warnings), history=True)
    for path in items:
        if not holds(roots, path):
            raise Refused(f"{path!a} is no place for memory under these settings: nothing was imported")


def _home_with(brought: bytes, folder: str, warnings: Sentences) -> Home:
    with open(os.path.join(folder, settings.FILE), "wb") as file:
        file.write(brought)
    try:
        home = Home(folder)
    except SettingsError as error:
        raise StorageError(f"the archive's {str(error).replace(folder + os.sep, '')}: nothing was imported") from error
    for search in {home.settings.search, *dict(home.settings.agents).values()}:
        if settings.PROVIDERS[search.provider].is_remote or search.base_url:
            where = search.base_url or search.provider
            warnings.append(f"the archive's {settings.FILE} has passages sent to {where}: look at it before you search")
    return home


def carry_out(home: Home, steps: Plan, items: dict[str, Item], spool: Spool, *, overwrite: bool) -> Sentences:
    """Write; what is to be said about it."""
    if steps.different and not overwrite:
        raise Conflict(f"{_listed(steps.different)}: nothing was imported; --overwrite replaces them")
    with write_as(Author("import", home.agent, home.session)) as writing:
        if isinstance(home.storage, PostgresStorage):
            from .restore_postgres import put_rows

            put_rows(home, home.storage, steps, items, spool)
        else:
            _put_files(home, steps, items, spool)
    home.index.invalidate()
    return [*dict.fromkeys(writing.warnings)]


def _put_files(home: Home, steps: Plan, items: dict[str, Item], spool: Spool) -> None:
    # History that comes along tells of its pages already; to tell again would be to say that they were removed before.
    told = any(_is_history(path) for path in (*steps.new, *steps.same))
    for path in steps.same:
        _settle(home, path, items[path], spool.read(items[path]), only_earlier=True)
    new = {path: items[path] for path in steps.new}
    add_all(home, new, spool, instead={_directive(home): directive.TEXT.encode()}, told=told)
    for path in steps.different:
        _replace(home, path, items[path], spool.read(items[path]))


def _listed(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more (--dry-run lists them)" if paths[_MOST_NAMED:] else ""
    return f"{shown}{more} {'differs' if len(paths) == 1 else 'differ'} from what stands here"


def _replace(home: Home, path: str, item: Item, data: bytes) -> None:
    """As a page, where it can be one, so that history keeps what stood there."""
    try:
        home.storage.pages.write(path, data.decode())
        _settle(home, path, item, data)
    except UnicodeDecodeError:
        home.storage.pages.record_outside_edits([path])
        place = place_of(home, path)
        with storage_errors(path), lock(locks_of(home), "page", path):
            with open_atomic(place, replace=True) as file:
                file.write(data)
            stamp(place, item)


def _settle(home: Home, path: str, item: Item, data: bytes, *, only_earlier: bool = False) -> None:
    """Give a page the rights and the time it had, unless somebody wrote it just now.

    For a page that was here already the earlier time is the true one: it has said the same since then.
    """
    place = place_of(home, path)
    with storage_errors(path):
        if only_earlier and os.stat(place).st_mtime_ns <= item.modified:
            return
        with lock(locks_of(home), "page", path):
            if read_bytes_or_none(place, path) == data:
                stamp(place, item)
