"""What the names, the kinds and the rights of files tell, before any of them is read."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator

from ...errors import CommonplaceError, NotFound
from ...formats.json_text import is_unicode
from ...home import HISTORY_FOLDER, Home
from ...settings import INTERNAL_FOLDERS
from ...storage.deltas import version_of
from ...storage.files import page_of_leftover, read_bytes, read_bytes_or_none
from ...storage.skills import PAGE
from .scan import Entry, Finding, Folder, Survey

_UNFINISHED = 60.0  # seconds: a younger temporary file may belong to a write that is under way
_PAGES = (".md", ".markdown")
_EVERYBODY = 0o077  # but the owner


def links(found: Survey) -> Iterator[Finding]:
    """Links are not followed, whoever made them."""
    root = os.path.realpath(found.home.root)
    for entry in found.entries():
        if entry.kind != "link" or _in_ours(entry.path):
            continue
        place = os.path.join(root, entry.path)
        real = os.path.realpath(place)
        inside = real.startswith(root + os.sep)
        where = "" if inside else " out of the home"
        missing = "" if os.path.exists(place) else ", which is not there"
        what = f"is a link{where}, to {os.readlink(place)}{missing}"
        advice = (
            "put the page or folder itself in its place; links are not followed, nothing behind it is read or written"
        )
        yield Finding("links", entry.path, what, advice)


def names(found: Survey) -> Iterator[Finding]:
    """Names that are one name on another system, or no text at all; folders that can not be opened."""
    for folder in found.folders:
        if folder.problem:
            advice = "check that it is a folder, who owns it and its access rights; until then nothing in it is read"
            yield Finding("unreadable", folder.path or ".", f"can not be read as a folder ({folder.problem})", advice)
        alike: dict[str, list[Entry]] = {}
        for entry in folder.entries:
            if is_unicode(entry.name):
                alike.setdefault(_folded(entry.name), []).append(entry)
            else:
                advice = "rename it; until then it is not read"
                yield Finding("names", entry.path, "has a name that is not UTF-8", advice)
        for first, *others in alike.values():
            yield from (_one_name(first, other) for other in others)


def _folded(name: str) -> str:
    """A name as a file system takes it that ignores case and the way accents are written."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _one_name(first: Entry, other: Entry) -> Finding:
    by = "case" if first.name.casefold() == other.name.casefold() else "the way accents are written"
    what = f"differs from {first.path} only by {by}"
    return Finding("names", other.path, what, "on many systems both are one file, and one is lost: rename one of them")


def unread(found: Survey) -> Iterator[Finding]:
    """Pages where nobody looks for pages."""
    skills = f"{found.home.layout.skills}/"
    folders = {entry.path.removesuffix(f"/{PAGE}") for entry in found.entries() if entry.name == PAGE}
    for entry in found.entries():
        if entry.kind != "file" or entry.name[0] == "." or not entry.name.lower().endswith(_PAGES):
            continue
        if not is_unicode(entry.path) or found.scope.place(entry.path) or found.is_directive(entry.path):
            continue
        if entry.path.startswith(skills) and _owner(entry.path, skills) in folders:
            continue  # what a skill brings along is read by whoever follows the skill
        loose = found.home.layout.path(found.home.layout.loose)
        yield Finding("unread", entry.path, "is in a place where no tool and no search looks", _where_to(entry, loose))


def _owner(path: str, skills: str) -> str:
    return skills + path.removeprefix(skills).split("/")[0]


def _where_to(entry: Entry, loose: str) -> str:
    if not entry.name.endswith(".md"):
        return "give it a name that ends in `.md`, in small letters"
    return f"move it into {loose}/, or name its folder under `extraPaths` in commonplace.yaml"


def permissions(found: Survey) -> Iterator[Finding]:
    """What people other than the owner can get at. Below a folder that is closed to them nothing is."""
    if os.name == "nt":  # rights are another matter there
        return
    enters = {"": _EVERYBODY}  # who can look for a name in a folder, by the folder
    for folder in found.folders:
        mode = stat.S_IMODE(folder.info.st_mode)
        above = enters[folder.path.rpartition("/")[0]] if folder.path else _EVERYBODY
        enters[folder.path] = above & _may_search(mode)
        if folder.problem:
            continue
        exposed = mode & above & 0o066 if folder.is_ours else 0
        pages = [entry for entry in folder.entries if _is_exposed(found, entry, enters[folder.path])]
        if exposed or pages:
            yield _open(folder, pages, exposed=bool(exposed))


def _may_search(mode: int) -> int:
    return (0o070 if mode & 0o010 else 0) | (0o007 if mode & 0o001 else 0)


def _is_exposed(found: Survey, entry: Entry, who: int) -> bool:
    if entry.kind != "file" or not stat.S_IMODE(entry.info.st_mode) & who & 0o066 or not is_unicode(entry.path):
        return False
    return _in_ours(entry.path) or found.scope.place(entry.path) is not None or found.is_directive(entry.path)


def _open(folder: Folder, pages: list[Entry], *, exposed: bool) -> Finding:
    """One finding for a folder and the pages in it: where one is open, the others mostly are."""
    paths = [*([folder.path or "."] if exposed else []), *(page.path for page in pages)]
    mode = stat.S_IMODE((folder if exposed else pages[0]).info.st_mode)
    what = f"others than its owner can get at it (mode {mode:04o}; commonplace makes {'0700' if exposed else '0600'})"
    more = len(paths) - 1
    if more:
        what += f", and at {more} {'page' if more == 1 else 'pages'} {'in' if exposed else 'beside'} it"
    advice = "if you did not open it on purpose, --fix closes it; `chmod` opens it again"
    return Finding("permissions", paths[0], what, advice, fixable=True, about=tuple(paths))


def leftovers(found: Survey) -> Iterator[Finding]:
    """Temporary files of processes that were killed while they wrote."""
    for entry in found.entries():
        page = page_of_leftover(entry.path) if entry.kind == "file" and is_unicode(entry.path) else ""
        age = found.now - max(entry.info.st_mtime, entry.info.st_ctime)  # one that changed places has an old mtime
        if not page or age <= _UNFINISHED:
            continue
        if found.scope.place(page) or found.is_directive(page) or page.startswith(f"{HISTORY_FOLDER}/"):
            yield _leftover(found.home, entry.path, page)
        else:
            what = f"is left by a killed process, and was to become {page}, which is no page of memory"
            yield Finding("leftovers", entry.path, what, "look at it by hand, then remove it")


def _leftover(home: Home, path: str, page: str) -> Finding:
    try:
        holds, is_safe = held(home, path, page)
    except (OSError, CommonplaceError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        what = f"is left by a killed process, and can not be compared with {page} and its history ({reason})"
        return Finding("leftovers", path, what, "look at it by hand, then remove it")
    what = f"is left by a process that was killed while it wrote {page}; it holds {holds}"
    if page.startswith(f"{HISTORY_FOLDER}/") and not is_safe:
        return Finding("leftovers", path, what, f"{page} is not there: rename this file to it, then look at the log")
    kept = "" if is_safe else f", after putting what it holds into the history of {page}"
    return Finding("leftovers", path, what, f"--fix removes it{kept}", fixable=True, about=(page,))


def held(home: Home, path: str, page: str) -> tuple[str, bool]:
    """What a temporary file holds, and whether that is anywhere else, too."""
    data = read_bytes(os.path.join(home.root, path), path)
    if not data:
        return "nothing", True
    if page.startswith(f"{HISTORY_FOLDER}/"):
        return "a part of history that was being rewritten", os.path.isfile(os.path.join(home.root, page))
    if data == read_bytes_or_none(os.path.join(home.root, page), page):
        return "the same as that page", True
    try:
        home.storage.history.read_version(page, version_of(data))
    except NotFound:
        return f"{len(data)} bytes that are in no version of that page", False
    return "a version of that page that history has", True


def _in_ours(path: str) -> bool:
    return path.startswith(tuple(f"{name}/" for name in INTERNAL_FOLDERS))
