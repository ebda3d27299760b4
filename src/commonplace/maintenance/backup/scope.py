"""What of a home is memory, and so belongs in a backup: asked when one is made, and of everything that one brings."""

from __future__ import annotations

from collections.abc import Sequence

from ... import settings as settings_module
from ...settings import Settings
from ...storage.base import HISTORY_FOLDER, Root, Sentences
from ...storage.layout import Layout
from ...storage.names import compile_glob, fixed_folder

HISTORY_ROOT = Root(HISTORY_FOLDER, "")
_MAX_NAMES_SHOWN = 5


def backup_scope(layout: Layout, settings: Settings) -> list[Root]:
    """Return the pages and folders that are memory: all files in our folders, only Markdown in extra ones."""
    folders = [
        layout.path(layout.loose),
        layout.skills,
        layout.directives,
        layout.path("agents"),
        layout.shared_memories,
        layout.earlier_memories,
    ]
    pages = [settings_module.FILE, layout.shared_curated]
    if layout.main_diary:
        pages.append(layout.path(layout.main_diary.curated))
        folders.append(layout.path(layout.main_diary.tree))
    roots = [Root(path, "", is_page=True) for path in pages] + [Root(folder, "") for folder in folders]
    if layout.world_folder:
        roots.append(Root(layout.world_folder))
    searches = (settings.search, *dict(settings.agents).values())
    patterns = [pattern for search in searches for pattern in search.extra_paths]
    roots += [Root(fixed_folder(pattern), pattern=compile_glob(pattern)) for pattern in patterns]
    return [*dict.fromkeys(roots)]


def warn_untracked(names: Sequence[str]) -> Sentences:
    """Return a warning that names what lies beside memory and is not backed up; nothing if there is nothing."""
    if not names:
        return []
    shown = ", ".join(f"{name!a}" for name in names[:_MAX_NAMES_SHOWN])
    more = f" and {len(names) - _MAX_NAMES_SHOWN} more" if names[_MAX_NAMES_SHOWN:] else ""
    return [f"not memory, and left out: {shown}{more} (extraPaths in {settings_module.FILE} names Markdown that is)"]
