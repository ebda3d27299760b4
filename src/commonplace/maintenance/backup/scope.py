"""What of a home is memory, and so belongs in an archive. Asked when one is made, and again of all that one brings."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ... import settings
from ...errors import PageNotFound
from ...formats.json_text import is_unicode
from ...home import HISTORY_FOLDER, LOCKS_FOLDER, Home
from ...storage.base import Root, Sentences
from ...storage.files import storage_errors
from ...storage.globs import compile_glob, fixed_folder

_MOST_NAMED = 5  # names in one warning
_LONGEST, _DEEPEST = 4096, 100  # bytes of a path, and folders: every step into a folder costs one through all above it


def extent(home: Home, *, history: bool) -> list[Root]:
    """The pages and folders that are memory. All kinds of files in our own, only Markdown where settings lead."""
    layout, said = home.layout, home.settings
    folders = [
        layout.path(layout.loose),
        layout.skills,
        layout.directives,
        layout.path("agents"),
        layout.shared_memories,
        layout.earlier_memories,
    ]
    single = [settings.FILE, layout.shared_curated]
    if layout.main_diary:
        single.append(layout.path(layout.main_diary.curated))
        folders.append(layout.path(layout.main_diary.tree))
    roots = [Root(path, "", is_page=True) for path in single] + [Root(folder, "") for folder in folders]
    if layout.world_folder:
        roots.append(Root(layout.world_folder))
    extra = [pattern for search in (said.search, *dict(said.agents).values()) for pattern in search.extra_paths]
    roots += [Root(fixed_folder(pattern), pattern=compile_glob(pattern)) for pattern in extra]
    return [*dict.fromkeys(roots), *([Root(HISTORY_FOLDER, "")] if history else [])]


def locks_of(home: Home) -> str:
    """Where the locks of a home are; OutsideHome when that is a link."""
    with suppress(PageNotFound):
        home.storage.pages.modified_at(LOCKS_FOLDER)
    return os.path.join(os.path.realpath(home.root), LOCKS_FOLDER)


def holds(roots: Iterable[Root], path: str) -> bool:
    return any(_covers(root, path) for root in roots)


def _covers(root: Root, path: str) -> bool:
    """Whether a path lies below a root. A name that begins with a dot is nobody's page, nor what lies below it."""
    if root.is_page:
        return path == root.path
    above = f"{root.path}/" if root.path else ""
    if not path.startswith(above) or not path.endswith(root.suffix):
        return False
    hidden = any(part.startswith(".") for part in path.removeprefix(above).split("/"))
    return not hidden and (root.pattern is None or root.pattern.fullmatch(path) is not None)


def oddity(path: str) -> str:
    """Why a path can be no page's, whatever the settings; empty when it can."""
    if not is_unicode(path):
        return "has a name that is not UTF-8"
    if "\0" in path or "\\" in path:
        return "has a null character or a backslash in its name"
    if not path or path[0] in "/~" or path[1:2] == ":" or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return "is not a path inside a home"
    too_much = len(path.encode()) > _LONGEST or path.count("/") > _DEEPEST
    return "is longer than any path of a file should be" if too_much else ""


def files(top: str, roots: Iterable[Root], warnings: Sentences) -> Iterator[tuple[str, os.stat_result]]:
    """Every file of memory below a folder, once. What is no plain file, or has an odd name, is told and left out."""
    seen: set[str] = set()
    for root in roots:
        for path, info in _below(top, root, warnings):
            if path not in seen and _covers(root, path):
                seen.add(path)
                if reason := _unfit(path, info):
                    warnings.append(f"{path!a} {reason}: left out")
                else:
                    yield path, info


def _unfit(path: str, info: os.stat_result) -> str:
    if stat.S_ISLNK(info.st_mode):
        return "is a link"
    return oddity(path) if stat.S_ISREG(info.st_mode) else "is not a regular file"


def _below(top: str, root: Root, warnings: Sentences) -> Iterator[tuple[str, os.stat_result]]:
    """All that is not a folder, links included, which are not followed."""
    place = os.path.join(top, root.path) if root.path else top
    folder = os.path.dirname(place) if root.is_page else place
    if os.path.realpath(folder) != folder:
        if os.path.lexists(place):
            warnings.append(f"{root.path!a} is a link, or lies behind one: left out")
        return
    if root.is_page:
        try:
            yield root.path, os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            return
        return
    waiting = [root.path]
    while waiting:
        folder = waiting.pop()
        with storage_errors(folder or top):
            for entry in _entries(os.path.join(top, folder)):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting += [path] if entry.name[0] != "." else []
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # removed just now
                    continue
                yield path, info


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def strangers(home: Home, roots: Iterable[Root], names: Iterable[str] | None = None) -> Sentences:
    """What lies beside memory and is no part of it: who believes it is should know. `names`: what there is, where
    that is no folder."""
    base = home.layout.base
    above = f"{base}/" if base else ""
    known = {root.path.removeprefix(above).partition("/")[0] for root in roots if root.path.startswith(above)}
    if "" in known:
        return []
    if names is None:
        names = [entry.name for entry in _entries(os.path.join(home.root, base))]
    others = sorted(f"{name!a}" for name in {*names} if name not in known and name[0] != ".")
    if not others:
        return []
    shown = ", ".join(others[:_MOST_NAMED]) + (f" and {len(others) - _MOST_NAMED} more" if others[_MOST_NAMED:] else "")
    return [f"not memory, and left out: {shown} (extraPaths in {settings.FILE} names Markdown that is)"]
