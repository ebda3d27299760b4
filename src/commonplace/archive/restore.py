"""An archive that was read, put into a home: what is new is added, what differs is replaced only when that is wanted.

Everything is compared before anything is written. A page is written whole or not at all, so an import that was
interrupted is simply run again.
"""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .. import directive, settings
from ..errors import Conflict, PageNotFound, Refused, SettingsError, StaleVersion, StorageError
from ..home import Home
from ..pages import ABSENT, Sentences
from ..pages.files import make_folders, read_bytes, read_bytes_or_none, storage_errors, sync_folder
from ..pages.locks import lock
from ..pages.sign import Signature, signed
from .extent import HISTORY, extent, holds
from .spool import Item, Spool
from .whole import whole_file

_LOCKS = settings.OURS[1]
_MOST_NAMED = 10  # pages in one sentence
_LONG_NAME = 200  # bytes: with a longer one a page has no room for the temporary name it is written under


class Plan(NamedTuple):
    """What an import does. `different`: pages that say something else here."""

    new: tuple[str, ...]
    different: tuple[str, ...]
    same: tuple[str, ...]
    warnings: tuple[str, ...]


def plan(home: Home, items: dict[str, Item], spool: Spool) -> Plan:
    """Compare an archive with a home. Refused when it brings what has no place in one."""
    warnings: Sentences = []
    _check_places(home, items, spool, warnings)
    kinds: dict[str, list[str]] = {"new": [], "different": [], "same": [], "kept": []}
    for path, item in items.items():
        kinds[_kind(home, path, _standing(home, path), item, spool)].append(path)
    if kinds["kept"]:
        warnings.append("the home has a history of its own, which stays; that of the archive is not imported")
        kinds = {name: [path for path in paths if not _is_history(path)] for name, paths in kinds.items()}
    return Plan(tuple(kinds["new"]), tuple(kinds["different"]), tuple(kinds["same"]), tuple(warnings))


def _kind(home: Home, path: str, standing: bytes | None, item: Item, spool: Spool) -> str:
    if standing is not None and len(standing) == item.size and standing == spool.read(item):
        return "same"
    if standing is None or _is_untouched(home, path, standing):
        return "new"
    return "kept" if _is_history(path) else "different"


def _is_untouched(home: Home, path: str, standing: bytes) -> bool:
    """The directive every new home is given is nobody's work yet."""
    return path == f"{home.layout.directives}/memory.md" and standing == directive.TEXT.encode()


def _is_history(path: str) -> bool:
    return path.startswith(f"{HISTORY}/")


def _standing(home: Home, path: str) -> bytes | None:
    try:
        home.pages.modified(path)  # refuses a path that leads through a link
        with storage_errors(path):
            return read_bytes(_place(home, path), path)
    except PageNotFound:
        return None


def _place(home: Home, path: str) -> str:
    return os.path.join(os.path.realpath(home.root), path)


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
        if search.provider in ("openai", "ollama") or search.base_url:
            where = search.base_url or search.provider
            warnings.append(f"the archive's {settings.FILE} has passages sent to {where}: look at it before you search")
    return home


def carry_out(home: Home, steps: Plan, items: dict[str, Item], spool: Spool, *, overwrite: bool) -> Sentences:
    """Write; what is to be said about it."""
    if steps.different and not overwrite:
        raise Conflict(f"{_listed(steps.different)}: nothing was imported; --overwrite replaces them")
    # History that comes along tells of its pages already; to write it again would be to say that they were removed.
    told = any(_is_history(path) for path in (*steps.new, *steps.same))
    with signed(Signature("import", home.agent, home.session)) as writing:
        for path in steps.same:
            _settle(home, path, items[path], spool.read(items[path]), only_earlier=True)
        for path in steps.new:
            _add(home, path, items[path], spool.read(items[path]), told=told)
        for path in steps.different:
            _replace(home, path, items[path], spool.read(items[path]))
    return [*dict.fromkeys(writing.warnings)]


def _listed(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more (--dry-run lists them)" if paths[_MOST_NAMED:] else ""
    return f"{shown}{more} {'differs' if len(paths) == 1 else 'differ'} from what stands here"


def _add(home: Home, path: str, item: Item, data: bytes, *, told: bool) -> None:
    standing = _standing(home, path)
    if standing is not None and not _is_untouched(home, path, standing):
        raise StaleVersion(path)
    text = None if told else _text(path, data)
    if text is None:
        _put_bytes(home, path, data, item)
        return
    home.pages.write(path, text, if_version=ABSENT if standing is None else None)
    _settle(home, path, item, data)


def _replace(home: Home, path: str, item: Item, data: bytes) -> None:
    text = _text(path, data)
    if text is None:
        home.pages.notice([path])
        _put_bytes(home, path, data, item)
    else:
        home.pages.write(path, text)
        _settle(home, path, item, data)


def _text(path: str, data: bytes) -> str | None:
    """What is to be written as a page; None for what no page can be."""
    if len(os.path.basename(path).encode()) > _LONG_NAME:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _put_bytes(home: Home, path: str, data: bytes, item: Item) -> None:
    place = _place(home, path)
    with storage_errors(path), lock(_place(home, _LOCKS), "page", path):
        made = make_folders(os.path.dirname(place))
        with whole_file(place, replace=True) as file:
            file.write(data)
        for folder in made:
            sync_folder(folder)
        _stamp(place, item)


def _settle(home: Home, path: str, item: Item, data: bytes, *, only_earlier: bool = False) -> None:
    """Give a page the rights and the time it had, unless somebody wrote it just now.

    For a page that was here already the earlier time is the true one: it has said the same since then.
    """
    place = _place(home, path)
    if only_earlier and os.stat(place).st_mtime_ns <= item.modified:
        return
    with storage_errors(path), lock(_place(home, _LOCKS), "page", path):
        if read_bytes_or_none(place, path) == data:
            _stamp(place, item)


def _stamp(place: str, item: Item) -> None:
    """The time last: an import that was interrupted sees by it what is left to do."""
    os.chmod(place, item.mode | 0o400)
    os.utime(place, ns=(item.modified, item.modified))
