"""What --fix does, one function a check. Pages are changed through `pages`, so that history has what they were."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from ...errors import CommonplaceError, Conflict, NotFound, OutsideHome, StorageError
from ...formats import blocks
from ...formats.timestamps import sort_key
from ...home import HISTORY_FOLDER, INDEX_FOLDER, LOCKS_FOLDER, Home
from ...index.base import ignore_progress
from ...index.handle import open_index
from ...storage.author import current_write
from ...storage.deltas import Change
from ...storage.file_locks import lock, lock_slot
from ...storage.files import read_bytes, read_bytes_or_none
from ...storage.records import parse
from .contents import digest_of, digest_of_record
from .folders import held
from .scan import Finding

_OPEN = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MEANWHILE = "it has changed meanwhile: run doctor again"


def fixed(home: Home, finding: Finding) -> Finding:
    """The finding, with what came of mending it."""
    try:
        with home.writer.session("doctor", why=finding.what, defer_index=True):
            done = FIXES[finding.check](home, finding)
    except CommonplaceError as error:
        return finding._replace(advice=f"not mended: {error}")
    except OSError as error:
        return finding._replace(advice=f"not mended: {error.strerror or error}")
    return finding._replace(fixed=True, advice=done)


def _leftover(home: Home, finding: Finding) -> str:
    (page,) = finding.about
    locks = os.path.join(home.root, LOCKS_FOLDER)
    if os.path.islink(locks):
        raise OutsideHome(f"{LOCKS_FOLDER} is a link: put a folder in its place")
    place = os.path.join(home.root, finding.path)
    if page.startswith(f"{HISTORY_FOLDER}/"):
        slot = page.removeprefix(f"{HISTORY_FOLDER}/").partition(".")[0]
        with lock_slot(locks, "page", slot, page):
            os.unlink(place)
        return "removed"
    with lock(locks, "page", page):  # whoever writes the page holds it: nobody does now
        _, is_safe = held(home, finding.path, page)
        told = "removed" if is_safe else _keep(home, finding.path, page)
        os.unlink(place)
    return told


def _keep(home: Home, path: str, page: str) -> str:
    """Put what a temporary file holds into the history of its page, which stays what it is."""
    data = read_bytes(os.path.join(home.root, path), path)
    place = os.path.join(home.root, page)
    standing = read_bytes_or_none(place, page)
    saved = os.stat(place).st_mtime if standing is not None else None
    home.storage.history.record_outside_edit(page, standing, saved)
    made = home.storage.history.record_change(page, standing, data, current_write().author)
    home.storage.history.record_change(page, data, standing, current_write().author)
    return f"removed; {_restore(home, page, made)} puts what it held in the place of that page"


def _tighten(home: Home, finding: Finding) -> str:
    for path in finding.about:
        with suppress(FileNotFoundError):
            handle = os.open(os.path.join(home.root, path), _OPEN)
            try:
                os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) & 0o700)
            finally:
                os.close(handle)
    return "closed to others; `chmod` opens it again"


def _index(home: Home, finding: Finding) -> str:
    """By words alone: vectors follow with the next search, and those of the same text are used again."""
    (how,) = finding.about
    if how == "damaged":
        fresh, _ = open_index(os.path.join(home.root, INDEX_FOLDER), home.index.scope.fingerprint, damaged="doctor")
        fresh.close()
    home.index.build(ignore_progress, anew=how == "wrong")
    return "made anew from the pages" if how != "behind" else "brought up to date"


def _old_index(home: Home, finding: Finding) -> str:
    for path in finding.about:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(home.root, path))
    return "removed"


def _note(home: Home, finding: Finding) -> str:
    key, at, digest, counts = finding.about
    _require_history(home, finding.path)

    def without_copy(text: str) -> str:
        found = blocks.find(text, key)
        newest = max(found, key=lambda block: (sort_key(block.at), block.start), default=None)
        others = [block for block in found if finding.path != counts or block is not newest]
        copies = [block for block in others if block.at == at and digest_of(block.content, *block.tags) == digest]
        if not copies:
            raise Conflict(_MEANWHILE)
        return blocks.remove(text, copies[0])

    home.writer.edit(finding.path, without_copy)
    return _undo(home, finding.path)


def _record(home: Home, finding: Finding) -> str:
    key, counts, digest = finding.about
    version = _require_history(home, finding.path)
    with home.storage.pages.lock(f"global {key}"):
        if any(_digest(home, path) != digest for path in (finding.path, counts)):
            raise Conflict(_MEANWHILE)
        home.writer.remove(finding.path, if_version=version)
    return _undo(home, finding.path)


def _digest(home: Home, path: str) -> str:
    place, text = home.layout.place(path), home.storage.pages.read(path).text
    return digest_of_record(text, parse(text, path, place, lambda: 0.0)) if place else ""


def _require_history(home: Home, path: str) -> str:
    """The version of a page, once history has it: nothing is changed that could not be taken back."""
    version = home.storage.pages.read(path).version
    home.storage.pages.record_outside_edits([path])
    try:
        home.storage.history.read_version(path, version)
    except (NotFound, OSError) as error:
        raise StorageError(f"history does not have what {path} is, so it could not be taken back") from error
    return version


def _undo(home: Home, path: str) -> str:
    change = home.storage.history.changes(path)[-1]
    if change.tool == "doctor":
        return f"removed; `commonplace undo {change.id}{_everyone(home, path)}` takes it back"
    return f"removed; {_restore(home, path, change)} takes it back"


def _restore(home: Home, path: str, change: Change) -> str:
    return f"`commonplace restore {path} --as-of {change.id}{_everyone(home, path)}`"


def _everyone(home: Home, path: str) -> str:
    """Commands that look back show an agent its own, unless they are told to show all."""
    place = home.layout.place(path)
    return "" if place is None or home.visibility.may_see(place) else " --everyone"


FIXES: dict[str, Callable[[Home, Finding], str]] = {
    "leftovers": _leftover,
    "duplicate-notes": _note,
    "duplicate-records": _record,
    "permissions": _tighten,
    "old-indexes": _old_index,
    "index": _index,
}
