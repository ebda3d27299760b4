"""Backup: all of memory in one file as of one moment, and back again, byte for byte.

export_to(home, stream)       a tar, or JSON lines; while others write
export_file(home, path)       the same, as a file that exists once it is complete
import_from(home, stream)     either format; nothing is written unless all of it is valid
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from ...errors import Conflict, Refused, StorageError
from ...home import Home
from ...settings import FILE, INTERNAL_FOLDERS
from ...storage.base import Sentences
from ...storage.bulk import Snapshot, Spool, any_covers
from ...storage.files import PRIVATE_FILE_MODE, open_atomic, remove_leftovers
from .archive import (
    FORMATS,
    HISTORY_ROOT,
    Format,
    Limits,
    backup_scope,
    is_archive,
    read_archive,
    render_settings,
    write_archive,
)
from .restore import carry_out, compare, mark_rules_as_imported

__all__ = [
    "FORMATS",
    "ExportResult",
    "Format",
    "ImportResult",
    "Limits",
    "export_file",
    "export_to",
    "import_from",
    "is_archive",
]
_MAX_NAMES_SHOWN = 5


class ExportResult(NamedTuple):
    """`size`: bytes of all files together. `writers_waited_seconds`: how long writers had to wait."""

    files: int
    size: int
    writers_waited_seconds: float
    warnings: tuple[str, ...]


class ImportResult(NamedTuple):
    """Paths, and in `size` the bytes of all files together. After a dry run it says what would be done."""

    added: tuple[str, ...]
    replaced: tuple[str, ...]
    same: tuple[str, ...]
    size: int
    warnings: tuple[str, ...]


def export_to(
    home: Home,
    stream: BinaryIO,
    format: Format = "tar",  # noqa: A002
    *,
    history: bool = False,
    compress: bool = False,
) -> ExportResult:
    """Write all of memory, as of one moment, to a stream."""
    home.storage.check()
    roots = backup_scope(home.layout, home.settings)
    with home.storage.bulk.snapshot(roots, home.layout.base, history=history) as snapshot:
        snapshot = _add_settings(home, snapshot)
        write_archive(snapshot, stream, format, compress=compress)
        size = sum(file.size for file in snapshot.files.values())
        warnings = (*_warn_of_untracked(snapshot.untracked), *snapshot.warnings)
        return ExportResult(len(snapshot.files), size, snapshot.writers_waited_seconds, warnings)


def _add_settings(home: Home, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot of another system's home with settings: what it is recognised by is no part of a backup."""
    if home.settings.layout == "native" or FILE in snapshot.files:
        return snapshot
    file = snapshot.spool.add(PRIVATE_FILE_MODE, 0, [render_settings(home.settings, home.root)])
    return snapshot._replace(files=dict(sorted({**snapshot.files, FILE: file}.items())))


def _warn_of_untracked(names: Sequence[str]) -> Sentences:
    """Return a warning that names what lies beside memory and is not backed up, if there is any."""
    if not names:
        return []
    shown = ", ".join(f"{name!a}" for name in names[:_MAX_NAMES_SHOWN])
    more = f" and {len(names) - _MAX_NAMES_SHOWN} more" if names[_MAX_NAMES_SHOWN:] else ""
    return [f"not memory, and left out: {shown}{more} (extraPaths in {FILE} names Markdown that is)"]


def export_file(
    home: Home,
    path: str,
    format: Format | None = None,  # noqa: A002
    *,
    history: bool = False,
    force: bool = False,
) -> ExportResult:
    """Write all of memory to a file that exists once it is complete. Its name tells the format if nothing else does."""
    _refuse_inside(home, path)
    if os.path.isdir(path):
        raise Conflict(f"{path} is a folder: give the name of a file")
    if not force and os.path.lexists(path):
        raise Conflict(f"{path} exists already: give another name, or --force to replace it")
    lower = path.lower()
    by_name: Format = "jsonl" if lower.removesuffix(".gz").endswith(".jsonl") else "tar"
    remove_leftovers(path)
    try:
        with open_atomic(path, replace=force) as file:
            compress = lower.endswith((".gz", ".tgz"))
            return export_to(home, file, format or by_name, history=history, compress=compress)
    except FileExistsError as error:
        raise Conflict(f"{path} was made by somebody else meanwhile: give another name") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def _refuse_inside(home: Home, path: str) -> None:
    """Refuse a file among the pages: it would be part of the next backup."""
    if not home.storage.local_folder:
        return
    folder, name = os.path.split(os.path.abspath(path))
    top = os.path.realpath(home.storage.local_folder)
    file = os.path.join(os.path.realpath(folder), name)
    if not file.startswith(top + os.sep):
        return
    inside = os.path.relpath(file, top).replace(os.sep, "/")
    roots = [*backup_scope(home.layout, home.settings), HISTORY_ROOT]
    if inside.split("/")[0] in INTERNAL_FOLDERS or any_covers(roots, inside):
        raise Refused(f"{path} lies among the pages of this memory: choose a place outside of it")


def import_from(
    home: Home, stream: BinaryIO, *, overwrite: bool = False, dry_run: bool = False, limits: Limits | None = None
) -> ImportResult:
    """Import an archive of either format. Conflict, and nothing written, when a page differs from one here.

    With `overwrite` the archive's pages win, and history keeps what they replaced. Open the home anew afterwards if the
    archive may have brought settings.
    """
    home.storage.check()
    with Spool() as spool:
        files = mark_rules_as_imported(home, read_archive(stream, spool, limits or Limits()), spool)
        plan = compare(home, files, spool)
        warnings = [] if dry_run else carry_out(home, plan, files, spool, overwrite=overwrite)
        size = sum(file.size for file in files.values())
        return ImportResult(plan.new, plan.different, plan.same, size, (*plan.warnings, *warnings))
