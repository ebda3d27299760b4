"""A home in a git repository: derived folders stay out of it, and two people who write the same day do not conflict.

Each derived folder gets a `.gitignore` of its own, so that no file of the project changes.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ...errors import CommonplaceError
from ...git_branches import find_repository_root
from ...settings import INTERNAL_FOLDERS
from ..files import CREATE_FLAGS, PRIVATE_FOLDER_MODE, open_own_entry, storage_errors, write_all

IMPORTS_FOLDER = ".imports"  # the log of imports: hashes only, nothing of what was imported
DERIVED_FOLDERS = (*INTERNAL_FOLDERS, IMPORTS_FOLDER)
_IGNORE_FILE = ".gitignore"
_IGNORE_ALL = b"# made by commonplace\n*\n"
_MADE_BEFORE = "# made by commonplace; can be rebuilt\n.index/\n.locks/\n.access/\n"
_GITIGNORE = "# made by commonplace: of this machine alone\n" + "".join(f"{name}/\n" for name in DERIVED_FOLDERS)
_GITATTRIBUTES = """\
# made by commonplace: what is only appended to keeps the lines of both sides
agents/*/memory/daily/*.md merge=union
agents/*/memory/activity/*.md merge=union
agents/*/sessions/*.jsonl merge=union
"""


def ignore_derived_folders(home: str, *, always: bool) -> None:
    """Give the derived folders of a home in a git repository their `.gitignore`. What cannot be written is left.

    `always`: of any home, since it may become a repository before it is opened again.
    """
    if not always and find_repository_root(home) is None:
        return
    for folder in _folders(home):
        file = os.path.join(folder, _IGNORE_FILE)
        if os.path.lexists(file):
            continue
        with suppress(OSError, CommonplaceError), open_own_entry(file) as entry:
            handle = entry.open(CREATE_FLAGS)
            try:
                write_all(handle, _IGNORE_ALL)
            finally:
                os.close(handle)


def _folders(home: str) -> list[str]:
    return [folder for name in DERIVED_FOLDERS if os.path.isdir(folder := os.path.join(home, name))]


def write_git_files(home: str) -> None:
    """Write the `.gitignore` and the `.gitattributes` of a new home. Files of the user's own stay as they are."""
    with storage_errors(home):
        os.makedirs(home, mode=PRIVATE_FOLDER_MODE, exist_ok=True)
        _write_unless_changed(os.path.join(home, _IGNORE_FILE), _GITIGNORE, _MADE_BEFORE)
        _write_unless_changed(os.path.join(home, ".gitattributes"), _GITATTRIBUTES)


def _write_unless_changed(path: str, text: str, made_before: str = "") -> None:
    """Write a file that does not exist, or is unchanged since an earlier version wrote it."""
    if os.path.isfile(path) and not os.path.islink(path) and made_before:
        with open(path, encoding="utf-8", errors="replace") as file:
            if file.read() != made_before:
                return
        os.unlink(path)
    with suppress(FileExistsError), open(path, "x", encoding="utf-8") as file:
        file.write(text)
